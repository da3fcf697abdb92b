//! CustomResourceDefinitions: names, versions, and what stays once they are established.
//!
//! Source: Kubernetes apiextensions-apiserver 0.34.3, `pkg/apis/apiextensions/validation/validation.go`.

use serde_json::{Value, json};

use super::immutable;
use crate::cluster::simulated::discovery::condition;
use crate::k8s::At as _;
use crate::k8s::text;
use crate::schema::FieldError;

pub(super) fn definition(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let (plural, group) = (text(object, "/spec/names/plural"), text(object, "/spec/group"));
    let wanted = format!("{plural}.{group}");
    if text(object, "/metadata/name") != wanted {
        let detail = "must be spec.names.plural+\".\"+spec.group";
        errors.push(FieldError::invalid("metadata.name", &json!(text(object, "/metadata/name")), detail));
    }
    let versions = object.at("/spec/versions").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let storage: Vec<&Value> = versions.iter().filter(|v| v.get("storage") == Some(&json!(true))).collect();
    if storage.len() != 1 {
        let detail = "must have exactly one version marked as storage version";
        errors.push(FieldError::invalid("spec.versions", &json!(versions), detail));
    }
    for (at, version) in versions.iter().enumerate() {
        if version.at("/schema/openAPIV3Schema").is_none() {
            let field = format!("spec.versions[{at}].schema.openAPIV3Schema");
            errors.push(FieldError::required(field, "schemas are required"));
        }
    }
    stored_versions(object, versions, errors);
    if old.is_some_and(|old| condition(old, "Established")) {
        immutable(object, old, "/spec/scope", "spec.scope", errors);
        immutable(object, old, "/spec/names/kind", "spec.names.kind", errors);
    }
    immutable(object, old, "/spec/group", "spec.group", errors);
    immutable(object, old, "/spec/names/plural", "spec.names.plural", errors);
}

/// A version that objects may still be stored in can't be dropped.
fn stored_versions(object: &Value, versions: &[Value], errors: &mut Vec<FieldError>) {
    let stored = object.at("/status/storedVersions").and_then(Value::as_array);
    for (at, name) in stored.into_iter().flatten().enumerate() {
        if !versions.iter().any(|v| v.get("name") == Some(name)) {
            let field = format!("status.storedVersions[{at}]");
            let detail = "missing from spec.versions; v1 was previously a storage version, and must remain in \
                          spec.versions until a storage migration ensures no data remains persisted in v1 and removes \
                          v1 from status.storedVersions";
            let name_text = name.as_str().unwrap_or("");
            errors.push(FieldError::invalid(field, name, &detail.replace("v1", name_text)));
        }
    }
}
