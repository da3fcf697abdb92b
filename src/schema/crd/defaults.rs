//! Defaults in a definition: where there are any, and whether they fit their own schema.
//!
//! As apiextensions-apiserver 1.34 `pkg/apiserver/schema/defaulting/validation.go`; a default is judged as written,
//! nested defaults are not merged in first.

use serde_json::{Map, Value};

use crate::schema::crd::structure::{MAX_DEPTH, below, members};
use crate::schema::error::FieldError;
use crate::schema::path::Path;
use crate::schema::same::same;
use crate::schema::structural::Structural;
use crate::schema::version::KubeVersion;

/// Whether a schema has a default anywhere.
pub(super) fn has_defaults(schema: &Value) -> bool {
    let mut rest = vec![schema];
    while let Some(at) = rest.pop() {
        let Value::Object(map) = at else { continue };
        if map.get("default").is_some_and(|default| !default.is_null()) {
            return true;
        }
        let properties = map.get("properties").and_then(Value::as_object);
        rest.extend(properties.into_iter().flatten().map(|(_, schema)| schema));
        for key in ["items", "additionalProperties", "not"] {
            rest.extend(map.get(key));
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            rest.extend(map.get(key).and_then(Value::as_array).into_iter().flatten());
        }
    }
    false
}

/// Defaults that are not pruned or do not fit.
pub(super) fn check(schema: &Value, at: &Path<'_>, kube: KubeVersion) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if let Value::Object(schema) = schema {
        walk(schema, at, kube, 0, &mut errors);
    }
    errors
}

fn walk(
    schema: &Map<String, Value>,
    at: &Path<'_>,
    kube: KubeVersion,
    depth: usize,
    errors: &mut Vec<FieldError>,
) {
    if depth > MAX_DEPTH {
        return;
    }
    if let Some(default) = schema.get("default").filter(|default| !default.is_null()) {
        judge(default, schema, &at.field("default"), kube, errors);
    }
    if let Some(items) = below(schema, "items") {
        walk(items, &at.field("items"), kube, depth + 1, errors);
    }
    let properties = at.field("properties");
    for (name, property) in members(schema, "properties") {
        let top_meta = depth == 0 && matches!(name.as_str(), "apiVersion" | "kind" | "metadata");
        if !top_meta {
            walk(property, &properties.key(name), kube, depth + 1, errors);
        }
    }
}

fn judge(
    default: &Value,
    schema: &Map<String, Value>,
    at: &Path<'_>,
    kube: KubeVersion,
    errors: &mut Vec<FieldError>,
) {
    let Ok(compiled) = Structural::compile(&Value::Object(schema.clone()), kube) else { return };
    let mut pruned = default.clone();
    compiled.prune_value(&mut pruned);
    if !same(&pruned, default) {
        errors.push(FieldError::invalid(at.to_string(), default, "must not have unknown fields"));
    }
    let outcome = compiled.validate_part(default, &at.to_string());
    errors.extend(outcome);
}
