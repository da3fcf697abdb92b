//! Roles and their bindings.
//!
//! Source: Kubernetes 1.34.3, `pkg/apis/rbac/validation/validation.go`.

use serde_json::{Value, json};

use super::place::{Errors, Place};
use crate::k8s::At as _;
use crate::k8s::items;
use crate::k8s::names;
use crate::schema::FieldError;

const GROUP: &str = "rbac.authorization.k8s.io";

/// A Role, which grants nothing outside its namespace.
pub(super) fn role(object: &Value, errors: &mut Errors) {
    rules(object, true, errors);
}

/// A ClusterRole, which may be put together from others.
pub(super) fn cluster_role(object: &Value, old: Option<&Value>, errors: &mut Errors) {
    rules(object, false, errors);
    let aggregation = Place::top(object.get("aggregationRule"), "aggregationRule");
    if !aggregation.is_set() {
        return;
    }
    let selectors = aggregation.field("clusterRoleSelectors");
    if selectors.is_empty() {
        let detail = "at least one clusterRoleSelector required if aggregationRule is non-nil";
        selectors.required(detail, errors);
    }
    let stored = old.into_iter().flat_map(|old| items(old, "/aggregationRule/clusterRoleSelectors"));
    let lenient = stored.into_iter().find(|selector| super::asked::has_invalid_value(selector));
    for selector in selectors.items() {
        selector.selector_after(lenient, errors);
        let mut strict = Errors::new();
        selector.selector(&mut strict);
        if !strict.is_empty() {
            selector.invalid_shown("null", "invalid label selector.", errors);
        }
    }
}

fn rules(object: &Value, is_namespaced: bool, errors: &mut Errors) {
    let rules = Place::top(object.get("rules"), "rules");
    rules.items().for_each(|one| rule(&one, is_namespaced, errors));
}

/// Source: `ValidatePolicyRule`.
fn rule(rule: &Place<'_>, is_namespaced: bool, errors: &mut Errors) {
    let urls = rule.field("nonResourceURLs");
    let lacks = |field: &str, detail: &str, errors: &mut Errors| {
        if rule.field(field).is_empty() {
            rule.field(field).required(detail, errors);
        }
    };
    lacks("verbs", "verbs must contain at least one value", errors);
    if urls.is_empty() {
        lacks("apiGroups", "resource rules must supply at least one api group", errors);
        lacks("resources", "resource rules must supply at least one resource", errors);
        return;
    }
    if is_namespaced {
        urls.invalid("namespaced rules cannot apply to non-resource URLs", errors);
    }
    if ["apiGroups", "resources", "resourceNames"].iter().any(|field| !rule.field(field).is_empty()) {
        urls.invalid("rules cannot apply to both regular resources and non-resource URLs", errors);
    }
}

/// A RoleBinding or ClusterRoleBinding.
pub(super) fn binding(object: &Value, old: Option<&Value>, is_namespaced: bool, errors: &mut Errors) {
    let role = Place::top(object.get("roleRef"), "roleRef");
    role.field("apiGroup").supported(&[GROUP], errors);
    let kinds: &[&str] = if is_namespaced { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
    role.field("kind").supported(kinds, errors);
    role.field("name").needed_named(names::segment_faults, errors);
    let subjects = Place::top(object.get("subjects"), "subjects");
    subjects.items().for_each(|one| subject(&one, is_namespaced, errors));
    role_reference(object, old, errors);
}

/// Source: `ValidateRoleBindingSubject`.
fn subject(subject: &Place<'_>, is_namespaced: bool, errors: &mut Errors) {
    let (name, group) = (subject.field("name"), subject.field("apiGroup"));
    name.needed(errors);
    match subject.field("kind").text() {
        "ServiceAccount" => {
            name.named_if_any(names::subdomain_faults, errors);
            group.supported(&[""], errors);
            if !is_namespaced {
                subject.field("namespace").needed(errors);
            }
        }
        "User" | "Group" => group.supported(&[GROUP], errors),
        _ => subject.field("kind").supported(&["ServiceAccount", "User", "Group"], errors),
    }
}

/// Source: `ValidateRoleBindingUpdate`; the server shows its own type.
fn role_reference(object: &Value, old: Option<&Value>, errors: &mut Errors) {
    if old.is_some_and(|old| old.get("roleRef") != object.get("roleRef")) {
        let shown = ["apiGroup", "kind", "name"]
            .map(|field| object.at(&format!("/roleRef/{field}")).cloned().unwrap_or_default());
        let [group, kind, name] = shown;
        let value = json!({ "APIGroup": group, "Kind": kind, "Name": name });
        errors.push(FieldError::invalid("roleRef", &value, "cannot change roleRef"));
    }
}
