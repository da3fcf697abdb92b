//! Names of a definition: metadata, group, scope, kinds, and what may not change.

use serde_json::{Map, Value};

use crate::k8s::At as _;
use crate::k8s::names;
use crate::schema::crd::text;
use crate::schema::error::FieldError;

const APPROVAL: &str = "api-approved.kubernetes.io";

/// What is wrong with a DNS-1035 label, in the server's words.
pub(super) fn label_faults(label: &str) -> Option<String> {
    told(&names::service_faults(label))
}

fn subdomain_faults(name: &str) -> Option<String> {
    told(&names::subdomain_faults(name))
}

fn told(faults: &[String]) -> Option<String> {
    (!faults.is_empty()).then(|| faults.join(","))
}

/// `metadata.name` is made of plural and group.
pub(super) fn metadata(crd: &Value, spec: &Map<String, Value>) -> Vec<FieldError> {
    let name = crate::k8s::text(crd, "/metadata/name");
    let at = "metadata.name";
    if name.is_empty() {
        return vec![FieldError::required(at, "name or generateName is required")];
    }
    let plural = spec.get("names").and_then(Value::as_object).map_or("", |names| text(names, "plural"));
    let mut errors = Vec::new();
    if let Some(words) = subdomain_faults(name) {
        errors.push(FieldError::invalid(at, &Value::from(name), &words));
    }
    if name != format!("{plural}.{}", text(spec, "group")) {
        let words = "must be spec.names.plural+\".\"+spec.group";
        errors.push(FieldError::invalid(at, &Value::from(name), words));
    }
    errors
}

/// `spec.group` and `spec.scope`.
pub(super) fn group_and_scope(spec: &Map<String, Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let group = text(spec, "group");
    if group.is_empty() {
        errors.push(FieldError::required("spec.group", ""));
    } else if let Some(words) = subdomain_faults(group) {
        errors.push(FieldError::invalid("spec.group", &Value::from(group), &words));
    } else if !group.contains('.') {
        let words = "should be a domain with at least one dot";
        errors.push(FieldError::invalid("spec.group", &Value::from(group), words));
    }
    errors.extend(one_of("spec.scope", text(spec, "scope"), &["Cluster", "Namespaced"]));
    errors
}

/// A required text out of a few.
pub(super) fn one_of(at: &str, value: &str, accepted: &[&str]) -> Option<FieldError> {
    if value.is_empty() {
        return Some(FieldError::required(at, ""));
    }
    let names: Vec<String> = accepted.iter().map(|name| (*name).to_owned()).collect();
    (!accepted.contains(&value)).then(|| FieldError::not_supported(at, &Value::from(value), &names))
}

/// `spec.names`.
pub(super) fn names(spec: &Map<String, Value>) -> Vec<FieldError> {
    let empty = Map::new();
    let names = spec.get("names").and_then(Value::as_object).unwrap_or(&empty);
    let mut errors = Vec::new();
    for key in ["plural", "singular", "kind", "listKind"] {
        let value = text(names, key);
        // Without a kind, singular and listKind could not be filled in; the server then asks for the kind alone.
        let derived = matches!(key, "singular" | "listKind") && text(names, "kind").is_empty();
        if value.is_empty() && !derived {
            errors.push(FieldError::required(format!("spec.names.{key}"), ""));
        }
    }
    for key in ["plural", "singular"] {
        name(&mut errors, format!("spec.names.{key}"), text(names, key), false);
    }
    for key in ["kind", "listKind"] {
        name(&mut errors, format!("spec.names.{key}"), text(names, key), true);
    }
    let listed =
        |key: &str| names.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    for key in ["shortNames", "categories"] {
        for (i, value) in listed(key).enumerate() {
            name(&mut errors, format!("spec.names.{key}[{i}]"), value, false);
        }
    }
    let (kind, list_kind) = (text(names, "kind"), text(names, "listKind"));
    if !kind.is_empty() && kind == list_kind {
        let words = "kind and listKind may not be the same";
        errors.push(FieldError::invalid("spec.names.listKind", &Value::from(list_kind), words));
    }
    errors
}

fn name(errors: &mut Vec<FieldError>, at: String, value: &str, mixed_case: bool) {
    if value.is_empty() {
        return;
    }
    let faults = if mixed_case { label_faults(&value.to_lowercase()) } else { label_faults(value) };
    if let Some(words) = faults {
        let words = if mixed_case {
            format!("may have mixed case, but should otherwise match: {words}")
        } else {
            words
        };
        errors.push(FieldError::invalid(at, &Value::from(value), &words));
    }
}

/// Groups of the Kubernetes community need an approval annotation.
pub(super) fn approval(crd: &Value, spec: &Map<String, Value>, old: Option<&Value>) -> Option<FieldError> {
    let group = text(spec, "group");
    let protected = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|community| group == *community || group.ends_with(&format!(".{community}")));
    let annotation = crate::k8s::annotation(crd, APPROVAL).unwrap_or("");
    if !protected || old.is_some_and(|old| state(old) == state(crd)) {
        return None;
    }
    let at = format!("metadata.annotations[{APPROVAL}]");
    match state(crd) {
        Approval::Missing => Some(FieldError::required(
            at,
            &format!(
                "protected groups must have approval annotation \"{APPROVAL}\", see https://github.com/kubernetes/enhancements/pull/1111"
            ),
        )),
        Approval::Invalid => Some(FieldError::invalid(
            at,
            &Value::from(annotation),
            &format!(
                "protected groups must have approval annotation \"{APPROVAL}\" with either a URL or a reason starting with \"unapproved\", see https://github.com/kubernetes/enhancements/pull/1111"
            ),
        )),
        Approval::Given => None,
    }
}

#[derive(PartialEq)]
enum Approval {
    Missing,
    Invalid,
    Given,
}

fn state(crd: &Value) -> Approval {
    match crate::k8s::annotation(crd, APPROVAL).unwrap_or("") {
        "" => Approval::Missing,
        text if text.starts_with("unapproved") => Approval::Given,
        text => match text.split_once("://") {
            Some((scheme, rest)) if !scheme.is_empty() && !rest.is_empty() && !rest.starts_with('/') => {
                Approval::Given
            }
            _ => Approval::Invalid,
        },
    }
}

/// Group and plural never change; scope and kind not once the definition is established.
pub(super) fn immutable(spec: &Map<String, Value>, old: &Value) -> Vec<FieldError> {
    let conditions = old.at("/status/conditions").and_then(Value::as_array);
    let established = conditions
        .into_iter()
        .flatten()
        .any(|condition| condition["type"] == "Established" && condition["status"] == "True");
    let mut errors = Vec::new();
    for (pointer, field, always) in [
        ("/scope", "spec.scope", false),
        ("/names/kind", "spec.names.kind", false),
        ("/group", "spec.group", true),
        ("/names/plural", "spec.names.plural", true),
    ] {
        let before = crate::k8s::text(old, &format!("/spec{pointer}"));
        let after = spec_text(spec, pointer);
        if (always || established) && before != after {
            errors.push(FieldError::invalid(field, &Value::from(after), "field is immutable"));
        }
    }
    errors
}

fn spec_text<'v>(spec: &'v Map<String, Value>, pointer: &str) -> &'v str {
    let mut steps = pointer.trim_start_matches('/').split('/');
    let first = steps.next().and_then(|step| spec.get(step));
    steps.fold(first, |at, step| at?.get(step)).and_then(Value::as_str).unwrap_or("")
}
