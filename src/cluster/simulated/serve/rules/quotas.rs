//! Limit ranges and resource quotas.
//!
//! Source: Kubernetes 1.34.3, `pkg/apis/core/validation/validation.go`, `pkg/apis/core/helper/helpers.go`. Go walks
//! its maps in any order; here it is that of the names.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::asked;
use super::place::{Errors, Place};
use crate::k8s::At as _;
use crate::k8s::items;
use crate::k8s::names;

/// A limit range; the server looks at all of it on updates too.
///
/// Source: `ValidateLimitRange`.
pub(super) fn limit_range(object: &Value, errors: &mut Errors) {
    let spec = Place::top(object.get("spec"), "spec");
    let mut seen = BTreeSet::new();
    for limit in spec.field("limits").items() {
        let kind = limit.field("type");
        limit_type(&kind, errors);
        if !seen.insert(kind.text().to_owned()) {
            kind.duplicate(errors);
        }
        limit_names(&limit, errors);
        let mut resources = BTreeSet::new();
        for field in compared(&limit) {
            resources.extend(limit.field(field).entries().map(|(name, _)| name.to_owned()));
        }
        resources.iter().for_each(|name| limits_of(&limit, name, errors));
    }
}

fn limit_type(kind: &Place<'_>, errors: &mut Errors) {
    let before = errors.len();
    kind.named(names::qualified_name_faults, errors);
    let standard = ["Container", "PersistentVolumeClaim", "Pod"].contains(&kind.text());
    if errors.len() == before && !kind.text().contains('/') && !standard {
        kind.invalid_text("must be a standard limit type or fully qualified", errors);
    }
}

fn is_of_pods(limit: &Place<'_>) -> bool {
    limit.field("type").text() == "Pod"
}

/// The fields that are compared with each other.
fn compared(limit: &Place<'_>) -> &'static [&'static str] {
    if is_of_pods(limit) {
        return &["max", "min", "maxLimitRequestRatio"];
    }
    &["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"]
}

fn limit_names(limit: &Place<'_>, errors: &mut Errors) {
    let kind = limit.field("type");
    let check = match kind.text() {
        "Pod" | "Container" => asked::container_resource_name,
        _ => asked::resource_name,
    };
    let each = |field: &str, errors: &mut Errors| {
        limit.field(field).entries().for_each(|(name, place)| check(name, &place, errors));
    };
    each("max", errors);
    each("min", errors);
    for field in ["default", "defaultRequest"] {
        if !is_of_pods(limit) {
            each(field, errors);
        } else if !limit.field(field).is_empty() {
            limit.field(field).forbidden("may not be specified when `type` is 'Pod'", errors);
        }
    }
    let storage = |field: &str| limit.value.get(field).is_some_and(|map| map.get("storage").is_some());
    if kind.text() == "PersistentVolumeClaim" && !storage("min") && !storage("max") {
        let detail = "either minimum or maximum storage value is required, but neither was provided";
        limit.field("limits").required(detail, errors);
    }
    each("maxLimitRequestRatio", errors);
}

/// A bound of one resource: how it is called, its value, and its text.
type Bound = Option<(i128, String)>;

/// How the limits of one resource go together.
fn limits_of(limit: &Place<'_>, name: &str, errors: &mut Errors) {
    let bound = |field: &str| -> Bound {
        if !compared(limit).contains(&field) {
            return None;
        }
        let amounts = limit.field(field);
        let amount = amounts.field(name);
        Some((amount.quantity()?, amount.spelled()))
    };
    let (least, most) = (bound("min"), bound("max"));
    let (given, asked) = (bound("default"), bound("defaultRequest"));
    let least = ("min value", &least);
    let most = ("max value", &most);
    let default = ("default value", &given);
    let request = ("default request value", &asked);
    let mut not_above = |field: &str, lower: (&str, &Bound), upper: (&str, &Bound), shown: &Bound| {
        let ((lower_word, Some(low)), (upper_word, Some(high)), Some(shown)) = (lower, upper, shown) else {
            return;
        };
        if low.0 > high.0 {
            let detail = format!("{lower_word} {} is greater than {upper_word} {}", low.1, high.1);
            keyed(limit, field, name, &shown.1, &detail, errors);
        }
    };
    not_above("min", least, most, least.1);
    not_above("defaultRequest", least, request, request.1);
    not_above("defaultRequest", request, most, request.1);
    not_above("defaultRequest", request, ("default limit value", &given), request.1);
    not_above("default", least, default, least.1);
    not_above("default", default, most, most.1);
    ratio(limit, name, (least.1, most.1, &bound("maxLimitRequestRatio")), errors);
    if let (Some(given), Some(asked)) = (&given, &asked)
        && !asked::is_shared(name)
        && given.0 != asked.0
    {
        let detail =
            format!("default value {} must equal to defaultRequest value {} in {name}", given.1, asked.1);
        keyed(limit, "defaultRequest", name, &asked.1, &detail, errors);
    }
}

fn keyed(limit: &Place<'_>, field: &str, name: &str, shown: &str, detail: &str, errors: &mut Errors) {
    let field = format!("{}[{name}]", limit.field(field).name());
    Place::top(None, &field).invalid_as(shown, detail, errors);
}

fn ratio(limit: &Place<'_>, name: &str, (least, most, ratio): (&Bound, &Bound, &Bound), errors: &mut Errors) {
    const FIELD: &str = "maxLimitRequestRatio";
    let Some((value, text)) = ratio else { return };
    if *value < 1_000_000_000 {
        keyed(limit, FIELD, name, text, &format!("ratio {text} is less than 1"), errors);
    }
    let (Some(least), Some(most)) = (least, most) else { return };
    // Floats are what the server compares here.
    #[expect(clippy::cast_precision_loss)]
    let (ratio, bound) = (*value as f64 / 1e9, most.0 as f64 / least.0 as f64);
    if ratio > bound {
        let detail = format!("ratio {text} is greater than max/min = {bound:.6}");
        keyed(limit, FIELD, name, text, &detail, errors);
    }
}

/// A quota.
///
/// Source: `ValidateResourceQuotaSpec`, `ValidateResourceQuotaUpdate`.
pub(super) fn quota(object: &Value, old: Option<&Value>, errors: &mut Errors) {
    let spec = Place::top(object.get("spec"), "spec");
    for (name, place) in spec.field("hard").entries() {
        asked::resource_name(name, &place, errors);
        if !name.contains('/') && !asked::is_of_quotas(name) {
            place.invalid_as(name, "must be a standard resource for quota", errors);
        }
        asked::amount(name, &place, errors);
    }
    scopes(&spec, errors);
    scope_selector(&spec, errors);
    let set = |object: &Value| -> BTreeSet<String> {
        items(object, "/spec/scopes").filter_map(Value::as_str).map(str::to_owned).collect()
    };
    if old.is_some_and(|old| set(old) != set(object)) {
        spec.field("scopes").invalid(asked::IMMUTABLE, errors);
    }
}

const EXISTING: &[&str] =
    &["BestEffort", "CrossNamespacePodAffinity", "NotBestEffort", "NotTerminating", "Terminating"];

fn is_scope(scope: &str) -> bool {
    EXISTING.contains(&scope) || matches!(scope, "PriorityClass" | "VolumeAttributesClass")
}

/// Whether a scope says anything of a resource.
///
/// Source: `IsResourceQuotaScopeValidForResource`.
fn applies(scope: &str, resource: &str) -> bool {
    const COMPUTE: &[&str] =
        &["cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"];
    match scope {
        "BestEffort" => resource == "pods",
        "VolumeAttributesClass" => matches!(resource, "persistentvolumeclaims" | "requests.storage"),
        _ if is_scope(scope) => resource == "pods" || COMPUTE.contains(&resource),
        _ => true,
    }
}

/// How many of the limited resources a scope does not apply to.
fn inapplicable(spec: &Place<'_>, scope: &str) -> usize {
    let hard = spec.field("hard");
    hard.entries().filter(|(name, _)| asked::is_of_quotas(name) && !applies(scope, name)).count()
}

/// Scopes that say the opposite of each other.
fn conflicts(scopes: &[&str]) -> usize {
    let pairs = [["BestEffort", "NotBestEffort"], ["Terminating", "NotTerminating"]];
    pairs.iter().filter(|pair| pair.iter().all(|scope| scopes.contains(scope))).count()
}

/// Source: `validateResourceQuotaScopes`.
fn scopes(spec: &Place<'_>, errors: &mut Errors) {
    let place = spec.field("scopes");
    let scopes = place.texts();
    for scope in &scopes {
        if !is_scope(scope) {
            place.invalid("unsupported scope", errors);
        }
        for _ in 0..inapplicable(spec, scope) {
            place.invalid("unsupported scope applied to resource", errors);
        }
    }
    for _ in 0..conflicts(&scopes) {
        place.invalid("conflicting scopes", errors);
    }
}

/// Source: `validateScopedResourceSelectorRequirement`; none of its errors says which requirement it means.
fn scope_selector(spec: &Place<'_>, errors: &mut Errors) {
    let selector = spec.field("scopeSelector");
    let list = selector.field("matchExpressions");
    let mut scopes = Vec::new();
    for one in list.items() {
        let scope = one.value.at("/scopeName").and_then(Value::as_str).unwrap_or_default();
        if !is_scope(scope) {
            list.field("scopeName").invalid_as(scope, "unsupported scope", errors);
        }
        for _ in 0..inapplicable(spec, scope) {
            let shown = shown_selector(&selector);
            list.invalid_shown(&shown, "unsupported scope applied to resource", errors);
        }
        requirement(&list, &one, scope, errors);
        scopes.push(scope);
    }
    for _ in 0..conflicts(&scopes) {
        // The server shows the scopes of the spec, in the place of the selector.
        Place::top(Some(spec.field("scopes").value), &list.name()).invalid("conflicting scopes", errors);
    }
}

fn requirement(list: &Place<'_>, one: &Place<'_>, scope: &str, errors: &mut Errors) {
    let (operator, values) = (one.field("operator"), one.field("values"));
    let word = operator.text();
    let told = |detail: &str, errors: &mut Errors| list.field("operator").invalid_as(word, detail, errors);
    if EXISTING.contains(&scope) && word != "Exists" {
        let detail = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, \
                      ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort \
                      or ResourceQuotaScopeCrossNamespacePodAffinity";
        told(detail, errors);
    }
    match (word, values.is_empty()) {
        ("In" | "NotIn", true) => {
            let detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
            list.field("values").required(detail, errors);
        }
        ("Exists" | "DoesNotExist", false) => {
            let detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
            list.field("values").invalid_shown(&json!(values.texts()).to_string(), detail, errors);
        }
        ("In" | "NotIn" | "Exists" | "DoesNotExist", _) => {}
        _ => told("not a valid selector operator", errors),
    }
}

/// A selector as the server's own type has it.
fn shown_selector(selector: &Place<'_>) -> String {
    let list = selector.field("matchExpressions");
    let shown = list.items().map(|one| {
        let text = |field: &str| json!(one.field(field).text());
        let values = one.field("values").value;
        let (scope, operator) = (text("scopeName"), text("operator"));
        format!("{{\"ScopeName\":{scope},\"Operator\":{operator},\"Values\":{values}}}")
    });
    format!("{{\"MatchExpressions\":[{}]}}", shown.collect::<Vec<_>>().join(","))
}
