//! CustomResourceDefinitions themselves: what the API server fills in, refuses, and in which order it lists versions.
//!
//! As apiextensions-apiserver 1.34 `pkg/apis/apiextensions/validation/validation.go` and
//! `pkg/registry/customresourcedefinition/strategy.go`.

mod defaults;
mod expressions;
mod extensions;
mod names;
mod priority;
mod structure;
mod types;
mod versions;

use serde_json::{Map, Value, json};

use crate::k8s::At as _;
use crate::schema::error::FieldError;
use crate::schema::outcome::Outcome;
use crate::schema::version::KubeVersion;

pub use priority::{sort_versions, version_order};

/// Fills in what the server fills in before it validates: names, conversion, and the stored versions of the status.
///
/// `old` is the stored definition on update; its status is taken over.
pub fn prepare(crd: &mut Value, old: Option<&Value>) {
    if let Some(names) = crd.pointer_mut("/spec/names").and_then(Value::as_object_mut) {
        fill_names(names);
    }
    if let Some(spec) = crd.get_mut("spec").and_then(Value::as_object_mut) {
        spec.entry("conversion").or_insert_with(|| json!({"strategy": "None"}));
    }
    let mut stored: Vec<String> = old.map(stored_versions).unwrap_or_default();
    let versions = crd.at("/spec/versions").and_then(Value::as_array);
    let storage = versions.into_iter().flatten().find(|version| version["storage"] == true);
    if let Some(name) = storage.and_then(|version| version["name"].as_str())
        && !stored.iter().any(|known| known == name)
    {
        stored.push(name.to_owned());
    }
    if let Some(object) = crd.as_object_mut() {
        let status = object.entry("status").or_insert_with(|| json!({}));
        if let Some(old) = old.and_then(|old| old.get("status")) {
            *status = old.clone();
        }
        if let Some(status) = status.as_object_mut()
            && !stored.is_empty()
        {
            status.insert("storedVersions".to_owned(), json!(stored));
        }
    }
}

fn fill_names(names: &mut Map<String, Value>) {
    let Some(kind) = names.get("kind").and_then(Value::as_str).map(str::to_owned) else { return };
    let missing = |names: &Map<String, Value>, key: &str| {
        names.get(key).and_then(Value::as_str).is_none_or(str::is_empty)
    };
    if missing(names, "singular") {
        names.insert("singular".to_owned(), json!(kind.to_lowercase()));
    }
    if missing(names, "listKind") {
        names.insert("listKind".to_owned(), json!(format!("{kind}List")));
    }
}

/// `status.storedVersions`.
#[must_use]
pub fn stored_versions(crd: &Value) -> Vec<String> {
    let list = crd.at("/status/storedVersions").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Judges a definition that was prepared; `old` is the stored one on update.
///
/// A definition that is refused has errors worded as the server words them. Rules whose types could not be followed
/// here are in `unchecked`.
#[must_use]
pub fn validate(new: &Value, old: Option<&Value>, version: KubeVersion) -> Outcome {
    let mut outcome = Outcome::default();
    let empty = Map::new();
    let spec = new.get("spec").and_then(Value::as_object).unwrap_or(&empty);
    outcome.errors.extend(names::metadata(new, spec));
    outcome.errors.extend(names::group_and_scope(spec));
    check_preserve(spec, old, &mut outcome.errors);
    versions::check(spec, old.is_some(), version, &mut outcome);
    outcome.errors.extend(names::names(spec));
    outcome.errors.extend(versions::conversion(spec));
    outcome.errors.extend(versions::stored(new, spec));
    outcome.errors.extend(names::approval(new, spec, old));
    if let Some(old) = old {
        outcome.errors.extend(names::immutable(spec, old));
    }
    outcome
}

/// `preserveUnknownFields` may stay true, not become true, and excludes defaults.
fn check_preserve(spec: &Map<String, Value>, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let preserves = |spec: Option<&Value>| {
        spec.and_then(|spec| spec.get("preserveUnknownFields")) == Some(&Value::Bool(true))
    };
    if spec.get("preserveUnknownFields") != Some(&Value::Bool(true)) {
        return;
    }
    let at = "spec.preserveUnknownFields";
    let schemas = spec.get("versions").and_then(Value::as_array).into_iter().flatten();
    if schemas.filter_map(|version| version.at("/schema/openAPIV3Schema")).any(defaults::has_defaults) {
        let words = "must be false in order to use defaults in the schema";
        errors.push(FieldError::invalid(at, &Value::Bool(true), words));
    }
    if !preserves(old.and_then(|old| old.get("spec"))) {
        let words = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        errors.push(FieldError::invalid(at, &Value::Bool(true), words));
    }
}

/// A text member; empty when absent or no text.
fn text<'v>(map: &'v Map<String, Value>, key: &str) -> &'v str {
    map.get(key).and_then(Value::as_str).unwrap_or("")
}

/// A member that is true.
fn is_true(map: &Map<String, Value>, key: &str) -> bool {
    map.get(key) == Some(&Value::Bool(true))
}
