//! Go's decoding of a YAML document into structs: which field a key fills, what is coerced, what is refused.

use serde_json::{Map, Value};

use super::Error;
use super::go_text::float_g32;

/// A place in a Go struct, for messages.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Name of the innermost struct; empty for an anonymous one.
    pub owner: &'a str,
    /// Field names from the outermost struct, joined by dots.
    pub path: &'a str,
}

impl<'a> Place<'a> {
    /// A field of a named struct.
    #[must_use]
    pub fn new(owner: &'a str, path: &'a str) -> Self {
        Self { owner, path }
    }

    /// Go's refusal of a value.
    #[must_use]
    pub fn refuse(self, value: &Value, wanted: &str) -> Error {
        unmarshal(&format!(
            "cannot unmarshal {} into Go struct field {}.{} of type {wanted}",
            kind(value),
            self.owner,
            self.path
        ))
    }
}

/// Wraps a message of `encoding/json` as `sigs.k8s.io/yaml` does.
#[must_use]
pub fn unmarshal(message: &str) -> Error {
    Error::new(format!("error unmarshaling JSON: while decoding JSON: json: {message}"))
}

/// What `encoding/json` calls a value.
#[must_use]
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A string field; numbers and booleans become their text, null is no value.
///
/// # Errors
/// For lists and maps.
pub fn string(value: &Value, place: Place<'_>) -> Result<Option<String>, Error> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.clone())),
        Value::Bool(flag) => Ok(Some(flag.to_string())),
        Value::Number(number) => Ok(Some(match (number.is_f64(), number.as_f64()) {
            (true, Some(float)) => float_g32(float),
            _ => number.to_string(),
        })),
        Value::Array(_) | Value::Object(_) => Err(place.refuse(value, "string")),
    }
}

/// A boolean field.
///
/// # Errors
/// For anything else but null.
pub fn boolean(value: &Value, place: Place<'_>) -> Result<Option<bool>, Error> {
    match value {
        Value::Null => Ok(None),
        Value::Bool(flag) => Ok(Some(*flag)),
        other => Err(place.refuse(other, "bool")),
    }
}

/// A `[]string` field; null items are empty strings.
///
/// # Errors
/// For anything but a list of scalars or null.
pub fn strings(value: &Value, place: Place<'_>) -> Result<Option<Vec<String>>, Error> {
    match value {
        Value::Null => Ok(None),
        Value::Array(items) => {
            let texts = items.iter().map(|item| Ok(string(item, place)?.unwrap_or_default()));
            texts.collect::<Result<_, _>>().map(Some)
        }
        other => Err(place.refuse(other, "[]string")),
    }
}

/// A `map[string]string` field; null values are empty strings.
///
/// # Errors
/// For anything but a map of scalars or null.
pub fn string_map(value: &Value, place: Place<'_>) -> Result<Option<Map<String, Value>>, Error> {
    match value {
        Value::Null => Ok(None),
        Value::Object(map) => {
            let entries = map.iter().map(|(key, value)| {
                Ok((key.clone(), Value::String(string(value, place)?.unwrap_or_default())))
            });
            entries.collect::<Result<_, _>>().map(Some)
        }
        other => Err(place.refuse(other, "map[string]string")),
    }
}

/// The field of `names` that a key fills: the same name, or else the same but for case.
#[must_use]
pub fn field<'n>(names: &[&'n str], key: &str) -> Option<&'n str> {
    let exact = names.iter().find(|name| **name == key);
    exact.or_else(|| names.iter().find(|name| name.eq_ignore_ascii_case(key))).copied()
}
