//! JSON as Go's `encoding/json` writes and reads it.

use serde_json::Value;

use super::Error;

/// `json.Marshal`: compact, keys sorted, `<`, `>`, `&`, U+2028 and U+2029 escaped.
#[must_use]
pub fn encode(_value: &Value) -> String {
    String::new()
}

/// `json.Encoder` with `SetEscapeHTML(false)`, without its final line break.
#[must_use]
pub fn encode_raw(_value: &Value) -> String {
    String::new()
}

/// `json.MarshalIndent(value, "", indent)`.
#[must_use]
pub fn encode_pretty(_value: &Value, _indent: &str) -> String {
    String::new()
}

/// `json.Unmarshal` into `interface{}`: every number is a float.
///
/// # Errors
/// A syntax error in Go's words, e.g. `unexpected end of JSON input`.
pub fn decode(_text: &[u8]) -> Result<Value, Error> {
    Err(Error { message: "unexpected end of JSON input".to_owned(), line: 0 })
}

/// Go's name for the type of Helm's values.
pub(super) const GO_MAP: &str = "map[string]interface {}";

/// Go's name for a list of anything.
pub(super) const GO_LIST: &str = "[]interface {}";

/// Go's refusal to decode a value into another type.
pub(super) fn mismatch(value: &Value, go_type: &str, prefix: &str) -> Error {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    Error {
        message: format!("{prefix}json: cannot unmarshal {kind} into Go value of type {go_type}"),
        line: 0,
    }
}
