//! Whether a schema makes sense, as gojsonschema v1.2.0 looks at it before any values.

use serde_json::{Map, Value};

use super::{DEPTH, object, types};

/// Whether every pattern, type and reference of a schema can be read.
pub(super) fn sound(schema: &Value, root: &Value, depth: usize) -> Result<(), String> {
    let Value::Object(map) = schema else { return Ok(()) };
    if depth > DEPTH {
        return Ok(());
    }
    if let Some(Value::String(reference)) = map.get("$ref") {
        return resolve(root, reference).map(|_| ());
    }
    if map.get("pattern").and_then(Value::as_str).is_some_and(|pattern| regex::Regex::new(pattern).is_err()) {
        return Err("pattern must be a valid regex".to_owned());
    }
    types(map).iter().try_for_each(|name| known_type(name))?;
    for pattern in object(map, "patternProperties").keys() {
        regex::Regex::new(pattern).map_err(|_| format!("Invalid regex pattern '{pattern}'"))?;
    }
    below(map).into_iter().try_for_each(|inner| sound(inner, root, depth + 1))
}

/// The schemas inside of a schema.
fn below(map: &Map<String, Value>) -> Vec<&Value> {
    const ONE: &[&str] = &[
        "additionalItems",
        "additionalProperties",
        "contains",
        "else",
        "if",
        "not",
        "propertyNames",
        "then",
    ];
    const MANY: &[&str] = &["allOf", "anyOf", "items", "oneOf"];
    const NAMED: &[&str] = &["definitions", "dependencies", "patternProperties", "properties"];
    let mut found: Vec<&Value> = ONE.iter().chain(MANY).filter_map(|key| map.get(*key)).collect();
    found.extend(MANY.iter().filter_map(|key| map.get(*key)?.as_array()).flatten());
    found.extend(NAMED.iter().filter_map(|key| map.get(*key)?.as_object()).flat_map(Map::values));
    found
}

const TYPES: &[&str] = &["array", "boolean", "integer", "number", "null", "object", "string"];

fn known_type(name: &str) -> Result<(), String> {
    if TYPES.contains(&name) {
        return Ok(());
    }
    Err(format!(
        "has a primitive type that is NOT VALID -- given: /{name}/ Expected valid values are:[{}]",
        TYPES.join(" ")
    ))
}

pub(super) fn resolve<'s>(root: &'s Value, reference: &str) -> Result<&'s Value, String> {
    let Some(pointer) = reference.strip_prefix('#') else {
        return Err(format!("the schema refers to {reference}, and nothing is fetched"));
    };
    root.pointer(pointer).ok_or_else(|| {
        let name = pointer.rsplit('/').next().unwrap_or_default();
        format!("Object has no key '{name}'")
    })
}
