//! Whether a schema is structural.
//!
//! As apiextensions-apiserver 1.34 `pkg/apiserver/schema/validation.go` and `complete.go`.

use regex::Regex;
use serde_json::{Map, Value, json};

use crate::schema::crd::{is_true, text};
use crate::schema::error::FieldError;
use crate::schema::path::Path;

/// Deepest nesting that is walked; compiling refuses deeper schemas by name.
pub(super) const MAX_DEPTH: usize = 160;

#[derive(Clone, Copy, PartialEq)]
enum Level {
    Root,
    Item,
    Field,
}

/// Everything that keeps a schema from being structural, sorted as the server sorts it.
pub(super) fn check(schema: &Value, at: &Path<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if let Value::Object(schema) = schema {
        invariants(schema, Level::Root, at, 0, &mut errors);
        complete(schema, schema, at, at, 0, &mut errors);
    }
    errors.sort_by_key(FieldError::to_string);
    errors
}

/// The members of an object-valued keyword.
pub(super) fn members<'v>(
    schema: &'v Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = (&'v String, &'v Map<String, Value>)> {
    let map = schema.get(key).and_then(Value::as_object);
    map.into_iter().flatten().filter_map(|(name, value)| Some((name, value.as_object()?)))
}

/// The schemas of a list-valued keyword.
pub(super) fn listed<'v>(
    schema: &'v Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = (usize, &'v Map<String, Value>)> {
    let list = schema.get(key).and_then(Value::as_array);
    list.into_iter().flatten().enumerate().filter_map(|(i, value)| Some((i, value.as_object()?)))
}

/// A schema-valued keyword.
pub(super) fn below<'v>(schema: &'v Map<String, Value>, key: &str) -> Option<&'v Map<String, Value>> {
    schema.get(key).and_then(Value::as_object)
}

fn invariants(
    schema: &Map<String, Value>,
    level: Level,
    at: &Path<'_>,
    depth: usize,
    errors: &mut Vec<FieldError>,
) {
    if depth > MAX_DEPTH {
        errors.push(FieldError::forbidden(at.to_string(), &format!("nested deeper than {MAX_DEPTH} levels")));
        return;
    }
    if text(schema, "type") == "array" && !schema.contains_key("items") {
        errors.push(FieldError::required(at.field("items").to_string(), "must be specified"));
    }
    if let Some(items) = below(schema, "items") {
        invariants(items, Level::Item, &at.field("items"), depth + 1, errors);
    }
    let properties = at.field("properties");
    for (name, property) in members(schema, "properties") {
        invariants(property, Level::Field, &properties.key(name), depth + 1, errors);
    }
    let additional = schema.get("additionalProperties").filter(|value| !value.is_null());
    if additional.is_some() && level == Level::Root {
        let words = "must not be used at the root";
        errors.push(FieldError::forbidden(at.field("additionalProperties").to_string(), words));
    }
    if let Some(Value::Object(additional)) = additional {
        invariants(additional, Level::Field, &at.field("additionalProperties"), depth + 1, errors);
    }
    exclusive_flags(schema, at, errors);
    let integer_or_string = is_int_or_string(schema.get("anyOf"));
    let first_all_of =
        schema.get("allOf").and_then(|all_of| all_of.get(0)).and_then(|first| first.get("anyOf"));
    values(schema, integer_or_string, is_int_or_string(first_all_of), at, depth, errors);
    types(schema, level, at, errors);
    metadata(schema, level, at, errors);
}

/// The one place where types may stand in an `anyOf`.
fn is_int_or_string(any_of: Option<&Value>) -> bool {
    any_of == Some(&json!([{"type": "integer"}, {"type": "string"}]))
}

fn exclusive_flags(schema: &Map<String, Value>, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    if !is_true(schema, "x-kubernetes-int-or-string") {
        return;
    }
    for key in ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] {
        if is_true(schema, key) {
            let words = "must be false if x-kubernetes-int-or-string is true";
            errors.push(FieldError::invalid(at.field(key).to_string(), &Value::Bool(true), words));
        }
    }
}

fn types(schema: &Map<String, Value>, level: Level, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let kind = text(schema, "type");
    let path = || at.field("type").to_string();
    let embedded = is_true(schema, "x-kubernetes-embedded-resource");
    let free = is_true(schema, "x-kubernetes-int-or-string")
        || is_true(schema, "x-kubernetes-preserve-unknown-fields");
    if embedded && kind != "object" {
        let words = "must be object if x-kubernetes-embedded-resource is true";
        errors.push(if kind.is_empty() {
            FieldError::required(path(), words)
        } else {
            FieldError::invalid(path(), &Value::from(kind), words)
        });
    } else if kind.is_empty() && !free {
        let words = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        errors.push(FieldError::required(path(), words));
    }
    if embedded && schema.get("additionalProperties").is_some_and(|value| !value.is_null()) {
        let words = "must not be used if x-kubernetes-embedded-resource is set";
        errors.push(FieldError::forbidden(at.field("additionalProperties").to_string(), words));
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        errors.push(FieldError::invalid(path(), &Value::from(kind), "must be object at the root"));
    }
    let bare = below(schema, "properties").is_none_or(Map::is_empty);
    if embedded && bare && !is_true(schema, "x-kubernetes-preserve-unknown-fields") {
        let words = "must not be empty if x-kubernetes-embedded-resource is true without \
                     x-kubernetes-preserve-unknown-fields";
        errors.push(FieldError::required(at.field("properties").to_string(), words));
    }
}

fn metadata(schema: &Map<String, Value>, level: Level, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let resource = level == Level::Root || is_true(schema, "x-kubernetes-embedded-resource");
    let Some(properties) = below(schema, "properties") else { return };
    let path = at.field("properties");
    for name in ["kind", "apiVersion"] {
        if let Some(kind) = below(properties, name).map(|property| text(property, "type"))
            && resource
            && kind != "string"
        {
            let at = path.key(name).field("type").to_string();
            errors.push(FieldError::invalid(at, &Value::from(kind), "must be string"));
        }
    }
    let Some(meta) = below(properties, "metadata") else { return };
    if resource && text(meta, "type") != "object" {
        let at = path.key("metadata").field("type").to_string();
        errors.push(FieldError::invalid(at, &Value::from(text(meta, "type")), "must be object"));
    }
    if level == Level::Root && !only_names(meta) {
        let words = "must not specify anything other than name and generateName, but metadata is implicitly specified";
        errors.push(FieldError::forbidden(path.key("metadata").to_string(), words));
    }
}

/// Whether a metadata schema speaks of nothing but name and generateName.
fn only_names(meta: &Map<String, Value>) -> bool {
    let silent = |key: &str| matches!(key, "type" | "default" | "properties");
    let names = below(meta, "properties")
        .is_none_or(|map| map.keys().all(|key| key == "name" || key == "generateName"));
    names && meta.iter().all(|(key, value)| silent(key) || value.is_null() || *value == Value::Bool(false))
}

fn values(
    schema: &Map<String, Value>,
    skip_any_of: bool,
    skip_first_all_of: bool,
    at: &Path<'_>,
    depth: usize,
    errors: &mut Vec<FieldError>,
) {
    for key in ["anyOf", "allOf", "oneOf"] {
        if key == "anyOf" && skip_any_of {
            continue;
        }
        let path = at.field(key);
        for (i, alternative) in listed(schema, key) {
            let skip = key == "allOf" && i == 0 && skip_first_all_of;
            nested(alternative, skip, &path.index(i), depth + 1, errors);
        }
    }
    if let Some(not) = below(schema, "not") {
        nested(not, false, &at.field("not"), depth + 1, errors);
    }
    let pattern = text(schema, "pattern");
    if let Err(why) = Regex::new(pattern) {
        let words = format!("must be a valid regular expression, but isn't: {why}");
        errors.push(FieldError::invalid(at.field("pattern").to_string(), &Value::from(pattern), &words));
    }
}

/// What alternatives must not say.
fn nested(
    schema: &Map<String, Value>,
    skip_any_of: bool,
    at: &Path<'_>,
    depth: usize,
    errors: &mut Vec<FieldError>,
) {
    if depth > MAX_DEPTH {
        errors.push(FieldError::forbidden(at.to_string(), &format!("nested deeper than {MAX_DEPTH} levels")));
        return;
    }
    values(schema, skip_any_of, false, at, depth, errors);
    if let Some(items) = below(schema, "items") {
        nested(items, false, &at.field("items"), depth + 1, errors);
    }
    let properties = at.field("properties");
    for (name, property) in members(schema, "properties") {
        nested(property, false, &properties.key(name), depth + 1, errors);
        if name == "metadata" {
            let words = "must not be specified in a nested context";
            errors.push(FieldError::forbidden(properties.key(name).to_string(), words));
        }
    }
    const FORBIDDEN: &[(&str, &str)] = &[
        ("type", "must be empty to be structural"),
        ("additionalProperties", "must be undefined to be structural"),
        ("default", "must be undefined to be structural"),
        ("title", "must be empty to be structural"),
        ("description", "must be empty to be structural"),
        ("nullable", "must be false to be structural"),
        ("x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
        ("x-kubernetes-embedded-resource", "must be false to be structural"),
        ("x-kubernetes-int-or-string", "must be false to be structural"),
        ("x-kubernetes-list-map-keys", "must be empty to be structural"),
        ("x-kubernetes-list-type", "must be undefined to be structural"),
        ("x-kubernetes-map-type", "must be undefined to be structural"),
        ("x-kubernetes-validations", "must be empty to be structural"),
    ];
    for (key, words) in FORBIDDEN {
        if schema.get(*key).is_some_and(|value| !is_empty(value)) {
            errors.push(FieldError::forbidden(at.field(key).to_string(), words));
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}

/// Everything that an alternative speaks of must be declared outside of it.
fn complete(
    alternatives_of: &Map<String, Value>,
    declared: &Map<String, Value>,
    at: &Path<'_>,
    said_at: &Path<'_>,
    depth: usize,
    errors: &mut Vec<FieldError>,
) {
    if depth > MAX_DEPTH {
        return;
    }
    if let Some(not) = below(alternatives_of, "not") {
        complete_nested(not, Some(declared), at, &said_at.field("not"), depth + 1, errors);
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        let path = said_at.field(key);
        for (i, alternative) in listed(alternatives_of, key) {
            complete_nested(alternative, Some(declared), at, &path.index(i), depth + 1, errors);
        }
    }
}

fn complete_nested(
    said: &Map<String, Value>,
    declared: Option<&Map<String, Value>>,
    at: &Path<'_>,
    said_at: &Path<'_>,
    depth: usize,
    errors: &mut Vec<FieldError>,
) {
    let Some(declared) = declared else {
        errors.push(FieldError::required(at.to_string(), &format!("because it is defined in {said_at}")));
        return;
    };
    complete(said, declared, at, said_at, depth, errors);
    if let Some(items) = below(said, "items") {
        let declared = below(declared, "items");
        complete_nested(items, declared, &at.field("items"), &said_at.field("items"), depth + 1, errors);
    }
    let (properties, said_properties) = (at.field("properties"), said_at.field("properties"));
    for (name, property) in members(said, "properties") {
        let declared = below(declared, "properties").and_then(|properties| below(properties, name));
        let (at, said_at) = (properties.key(name), said_properties.key(name));
        complete_nested(property, declared, &at, &said_at, depth + 1, errors);
    }
}
