//! Keywords that the server refuses, and what the `x-kubernetes-…` keywords ask for.

use serde_json::{Map, Value};

use crate::schema::crd::structure::{MAX_DEPTH, below, listed, members};
use crate::schema::crd::{is_true, text};
use crate::schema::error::FieldError;
use crate::schema::path::Path;

const REASONS: [&str; 4] =
    ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// Judges every node of a schema, alternatives included.
pub(super) fn check(schema: &Value, at: &Path<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if let Value::Object(schema) = schema {
        node(schema, at, 0, None, &mut errors);
    }
    errors
}

fn node(
    schema: &Map<String, Value>,
    at: &Path<'_>,
    depth: usize,
    no_default: Option<&str>,
    errors: &mut Vec<FieldError>,
) {
    if depth > MAX_DEPTH {
        return;
    }
    keywords(schema, at, errors);
    if let Some(why) = no_default.filter(|_| schema.get("default").is_some_and(|default| !default.is_null()))
    {
        errors
            .push(FieldError::forbidden(at.field("default").to_string(), &format!("must not be set {why}")));
    }
    map_type(schema, at, errors);
    list_type(schema, at, errors);
    keyed_list(schema, at, errors);
    rules(schema, at, errors);
    children(schema, at, depth, no_default, errors);
}

fn children(
    schema: &Map<String, Value>,
    at: &Path<'_>,
    depth: usize,
    no_default: Option<&str>,
    errors: &mut Vec<FieldError>,
) {
    if let Some(additional) = below(schema, "additionalProperties") {
        node(additional, &at.field("additionalProperties"), depth + 1, no_default, errors);
    }
    let properties = at.field("properties");
    for (name, property) in members(schema, "properties") {
        let why = format!("in top-level {name}");
        let meta = depth == 0 && matches!(name.as_str(), "apiVersion" | "kind" | "metadata");
        node(property, &properties.key(name), depth + 1, if meta { Some(&why) } else { no_default }, errors);
    }
    for key in ["not", "items"] {
        if let Some(schema) = below(schema, key) {
            node(schema, &at.field(key), depth + 1, no_default, errors);
        }
    }
    for key in ["allOf", "oneOf", "anyOf"] {
        let path = at.field(key);
        for (i, alternative) in listed(schema, key) {
            node(alternative, &path.index(i), depth + 1, no_default, errors);
        }
    }
}

fn keywords(schema: &Map<String, Value>, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let kind = text(schema, "type");
    let kinds = ["array", "boolean", "integer", "number", "object", "string"];
    if !kind.is_empty() && !kinds.contains(&kind) {
        let names = kinds.map(str::to_owned);
        errors.push(FieldError::not_supported(at.field("type").to_string(), &Value::from(kind), &names));
    }
    for key in ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"] {
        if schema.get(key).is_some_and(|value| !value.is_null()) {
            errors.push(FieldError::forbidden(at.field(key).to_string(), &format!("{key} is not supported")));
        }
    }
    if kind == "null" {
        let words = "type cannot be set to null, use nullable as an alternative";
        errors.push(FieldError::forbidden(at.field("type").to_string(), words));
    }
    if schema.get("items").is_some_and(Value::is_array) {
        let words = "items must be a schema object and not an array";
        errors.push(FieldError::forbidden(at.field("items").to_string(), words));
    }
    if is_true(schema, "uniqueItems") {
        let words = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        errors.push(FieldError::forbidden(at.field("uniqueItems").to_string(), words));
    }
    let properties = below(schema, "properties").is_some_and(|properties| !properties.is_empty());
    let additional = schema.get("additionalProperties").filter(|value| !value.is_null());
    if properties && additional.is_some_and(|value| *value != Value::Bool(true)) {
        let words = "additionalProperties and properties are mutual exclusive";
        errors.push(FieldError::forbidden(at.field("additionalProperties").to_string(), words));
    }
    if let Some(value @ Value::Bool(false)) = schema.get("x-kubernetes-preserve-unknown-fields") {
        let path = at.field("x-kubernetes-preserve-unknown-fields").to_string();
        errors.push(FieldError::invalid(path, value, "must be true or undefined"));
    }
}

/// The type that an `x-kubernetes-…-type` asks for.
fn needs_type(
    schema: &Map<String, Value>,
    wanted: &str,
    keyword: &str,
    at: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    let kind = text(schema, "type");
    let words = format!("must be {wanted} if {keyword} is specified");
    let path = at.field("type").to_string();
    if kind.is_empty() {
        errors.push(FieldError::required(path, &words));
    } else if kind != wanted {
        errors.push(FieldError::invalid(path, &Value::from(kind), &words));
    }
}

fn map_type(schema: &Map<String, Value>, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let Some(map_type) = schema.get("x-kubernetes-map-type").and_then(Value::as_str) else { return };
    needs_type(schema, "object", "x-kubernetes-map-type", at, errors);
    if !["atomic", "granular"].contains(&map_type) {
        let names = ["atomic", "granular"].map(str::to_owned);
        let path = at.field("x-kubernetes-map-type").to_string();
        errors.push(FieldError::not_supported(path, &Value::from(map_type), &names));
    }
}

fn list_type(schema: &Map<String, Value>, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let Some(list_type) = schema.get("x-kubernetes-list-type").and_then(Value::as_str) else { return };
    needs_type(schema, "array", "x-kubernetes-list-type", at, errors);
    if !["atomic", "set", "map"].contains(&list_type) {
        let names = ["atomic", "set", "map"].map(str::to_owned);
        let path = at.field("x-kubernetes-list-type").to_string();
        errors.push(FieldError::not_supported(path, &Value::from(list_type), &names));
    }
    let Some(items) = below(schema, "items") else { return };
    let path = at.field("items");
    if matches!(list_type, "set" | "map") && is_true(items, "nullable") {
        let words = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
        errors.push(FieldError::forbidden(path.field("nullable").to_string(), &words));
    }
    if list_type != "set" {
        return;
    }
    let words = "must be atomic as item of a list with x-kubernetes-list-type=set";
    let said = |key: &str| items.get(key).and_then(Value::as_str);
    match text(items, "type") {
        "array" if said("x-kubernetes-list-type").is_some_and(|kind| kind != "atomic") => {
            let path = path.field("x-kubernetes-list-type").to_string();
            errors.push(FieldError::invalid(path, &Value::from(said("x-kubernetes-list-type")), words));
        }
        "object" if said("x-kubernetes-map-type") != Some("atomic") => {
            let path = path.field("x-kubernetes-map-type").to_string();
            errors.push(FieldError::invalid(path, &Value::from(said("x-kubernetes-list-type")), words));
        }
        _ => {}
    }
}

fn keyed_list(schema: &Map<String, Value>, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let keys_at = at.field("x-kubernetes-list-map-keys").to_string();
    let type_at = at.field("x-kubernetes-list-type").to_string();
    let empty = Vec::new();
    let keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array).unwrap_or(&empty);
    let list_type = schema.get("x-kubernetes-list-type").and_then(Value::as_str);
    let words = "must be map if x-kubernetes-list-map-keys is non-empty";
    match list_type {
        None if !keys.is_empty() => errors.push(FieldError::required(type_at, words)),
        Some(other) if other != "map" && !keys.is_empty() => {
            errors.push(FieldError::invalid(type_at, &Value::from(other), words));
        }
        _ => {}
    }
    if list_type != Some("map") {
        return;
    }
    if keys.is_empty() {
        errors.push(FieldError::required(
            keys_at.as_str(),
            "must not be empty if x-kubernetes-list-type is map",
        ));
    }
    let items_at = at.field("items");
    let Some(items) = below(schema, "items") else {
        errors.push(FieldError::required(
            items_at.to_string(),
            "must have a schema if x-kubernetes-list-type is map",
        ));
        return;
    };
    if text(items, "type") != "object" {
        let words = "must be object if parent array's x-kubernetes-list-type is map";
        errors.push(FieldError::invalid(
            items_at.field("type").to_string(),
            &Value::from(text(items, "type")),
            words,
        ));
        return;
    }
    for (i, key) in keys.iter().enumerate() {
        if keys.iter().take(i).any(|earlier| earlier == key) {
            let all = Value::Array(keys.clone());
            errors.push(FieldError::invalid(keys_at.as_str(), &all, "must not contain duplicate entries"));
        }
        list_key(key.as_str().unwrap_or(""), keys, items, &items_at, &keys_at, errors);
    }
}

/// A key of a keyed list is a scalar property that every item has.
fn list_key(
    key: &str,
    keys: &[Value],
    items: &Map<String, Value>,
    at: &Path<'_>,
    keys_at: &str,
    errors: &mut Vec<FieldError>,
) {
    let Some(property) = below(items, "properties").and_then(|properties| below(properties, key)) else {
        let words = "entries must all be names of item properties";
        errors.push(FieldError::invalid(keys_at, &Value::Array(keys.to_vec()), words));
        return;
    };
    let properties = at.field("properties");
    let at = properties.key(key);
    if matches!(text(property, "type"), "array" | "object") {
        let words = "must be a scalar type if parent array's x-kubernetes-list-type is map";
        errors.push(FieldError::invalid(
            at.field("type").to_string(),
            &Value::from(text(items, "type")),
            words,
        ));
    }
    let required = items.get("required").and_then(Value::as_array);
    let is_required = required.into_iter().flatten().any(|name| name == key);
    if !is_required && property.get("default").is_none_or(Value::is_null) {
        let words = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
        errors.push(FieldError::required(at.field("default").to_string(), words));
    }
    if is_true(property, "nullable") {
        let words = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
        errors.push(FieldError::forbidden(at.field("nullable").to_string(), words));
    }
}

fn rules(schema: &Map<String, Value>, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let path = at.field("x-kubernetes-validations");
    for (i, rule) in listed(schema, "x-kubernetes-validations") {
        rule_texts(rule, schema, &path.index(i), errors);
    }
}

fn rule_texts(
    rule: &Map<String, Value>,
    schema: &Map<String, Value>,
    at: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    let (source, message) = (text(rule, "rule").trim(), text(rule, "message"));
    let invalid = |key: &str, words: &str| {
        FieldError::invalid(at.field(key).to_string(), &Value::from(text(rule, key)), words)
    };
    if source.is_empty() {
        errors.push(FieldError::required(at.field("rule").to_string(), "rule is not specified"));
    } else if !message.is_empty() && message.trim().is_empty() {
        errors.push(invalid("message", "must be non-empty if specified"));
    } else if message.trim().contains('\n') {
        errors.push(invalid("message", "must not contain line breaks"));
    } else if source.contains('\n') && message.is_empty() {
        let words = "message must be specified if rule contains line breaks";
        errors.push(FieldError::required(at.field("message").to_string(), words));
    }
    let expression = text(rule, "messageExpression");
    if !expression.is_empty() && expression.trim().is_empty() {
        let words = "messageExpression must be non-empty if specified";
        errors.push(FieldError::required(at.field("messageExpression").to_string(), words));
    }
    if let Some(reason) = rule.get("reason").filter(|reason| !reason.is_null())
        && !REASONS.iter().any(|known| reason == known)
    {
        let names = REASONS.map(str::to_owned);
        errors.push(FieldError::not_supported(at.field("reason").to_string(), reason, &names));
    }
    let field_path = text(rule, "fieldPath");
    if !field_path.is_empty() {
        if field_path.trim().is_empty() {
            errors.push(invalid("fieldPath", "must be non-empty if specified"));
        }
        if field_path.contains('\n') {
            errors.push(invalid("fieldPath", "must not contain line breaks"));
        }
        if find(&Value::Object(schema.clone()), field_path).is_err() {
            errors.push(invalid("fieldPath", "must be a valid path"));
        }
    }
}

/// The schema that a path like `.a['b c'].d` leads to.
///
/// # Errors
/// Why it leads nowhere.
pub(super) fn find<'v>(schema: &'v Value, path: &str) -> Result<&'v Value, String> {
    let mut at = schema;
    let mut rest = path;
    while !rest.is_empty() {
        let name;
        (name, rest) = step(rest)?;
        at = match (at.get("properties"), at.get("additionalProperties")) {
            (Some(properties), _) => properties.get(&name),
            (None, Some(additional)) if additional.is_object() => Some(additional),
            _ => None,
        }
        .ok_or("does not refer to a valid field")?;
    }
    Ok(at)
}

fn step(rest: &str) -> Result<(String, &str), String> {
    if let Some(rest) = rest.strip_prefix('.') {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (name, rest) = rest.split_at_checked(end).unwrap_or((rest, ""));
        if name.is_empty() {
            return Err("unexpected end of JSON path".to_owned());
        }
        return Ok((name.to_owned(), rest));
    }
    let quoted = rest.strip_prefix('[').ok_or_else(|| format!("expected [ or . but got: {rest}"))?;
    let (name, rest) = quoted
        .strip_prefix('\'')
        .and_then(|quoted| quoted.split_once("']"))
        .ok_or_else(|| format!("expected single quoted string but got {quoted}"))?;
    Ok((name.replace("\\'", "'").replace("\\\\", "\\"), rest))
}
