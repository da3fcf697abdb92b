//! Variables of containers and where their values come from.

use serde_json::Value;

use super::super::place::{Errors, Place};
use super::resources;
use crate::k8s::names;

const ONE_ONLY: &str = "may not have more than one field specified at a time";

/// Fields of a pod that a variable may be filled from, and those that a file may.
const FOR_VARIABLES: &[&str] = &[
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];
const FOR_FILES: &[&str] =
    &["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];

pub(super) fn variables(list: &Place<'_>, errors: &mut Errors) {
    for variable in list.items() {
        let name = variable.field("name");
        if name.needed(errors) {
            name.named(names::variable_faults, errors);
        }
        let from = variable.field("valueFrom");
        if from.is_set() {
            value(&from, !variable.field("value").is_empty(), errors);
        }
    }
}

fn value(from: &Place<'_>, is_given: bool, errors: &mut Errors) {
    let sources = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef"];
    let [field, resource, map, secret] = sources.map(|source| from.field(source));
    let all = [field, resource, map, secret];
    if field.is_set() {
        field_of_pod(&field, FOR_VARIABLES, errors);
    }
    if resource.is_set() {
        resources::field(&resource, errors);
    }
    [map, secret].iter().filter(|one| one.is_set()).for_each(|one| key(one, errors));
    let shown = from.name();
    let none = Value::from("");
    let whole = Place::top(Some(&none), &shown);
    match all.iter().filter(|one| one.is_set()).count() {
        0 => {
            let detail =
                "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`";
            whole.invalid(detail, errors);
        }
        _ if is_given => whole.invalid("may not be specified when `value` is not empty", errors),
        1 => {}
        _ => whole.invalid(ONE_ONLY, errors),
    }
}

fn key(source: &Place<'_>, errors: &mut Errors) {
    source.field("name").named(names::subdomain_faults, errors);
    let key = source.field("key");
    if key.needed(errors) {
        key.named(names::config_key_faults, errors);
    }
}

/// A field of the pod itself, for a file.
pub(super) fn field_for_file(source: &Place<'_>, errors: &mut Errors) {
    field_of_pod(source, FOR_FILES, errors);
}

/// Source: `validateObjectFieldSelector` and `pkg/apis/core/pods/helpers.go`, `ConvertDownwardAPIFieldLabel`.
fn field_of_pod(source: &Place<'_>, supported: &[&str], errors: &mut Errors) {
    let path = source.field("fieldPath");
    if !path.needed(errors) {
        return;
    }
    let text = path.text();
    let subscript = text.split_once("['").and_then(|(of, rest)| Some((of, rest.strip_suffix("']")?)));
    if let Some((of, key)) = subscript {
        let shown = Value::from(key);
        let (name, of_metadata) = (source.name(), ["metadata.annotations", "metadata.labels"].contains(&of));
        let place = Place::top(Some(&shown), &name);
        return match of_metadata {
            true => place.named(names::qualified_name_faults, errors),
            false => path.invalid(&unknown(of), errors),
        };
    }
    let known = FOR_VARIABLES.contains(&text) || FOR_FILES.contains(&text) || text == "spec.host";
    match known {
        false => path.invalid(&unknown(text), errors),
        true => path.one_of(supported, errors),
    }
}

fn unknown(field: &str) -> String {
    format!("error converting fieldPath: field label not supported: {field}")
}

pub(super) fn sources(list: &Place<'_>, errors: &mut Errors) {
    let (shown, none) = (list.name(), Value::from(""));
    for source in list.items() {
        source.field("prefix").named_if_any(names::variable_faults, errors);
        let both = ["configMapRef", "secretRef"].map(|field| source.field(field));
        let set = || both.iter().filter(|one| one.is_set());
        for one in set() {
            let name = one.field("name");
            if name.needed(errors) {
                name.named(names::subdomain_faults, errors);
            }
        }
        let whole = Place::top(Some(&none), &shown);
        match set().count() {
            0 => whole.invalid("must specify one of: `configMapRef` or `secretRef`", errors),
            1 => {}
            _ => whole.invalid(ONE_ONLY, errors),
        }
    }
}
