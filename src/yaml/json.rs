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
