//! Making CEL values.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use ::cel::Value;
use base64::Engine as _;

use crate::cel::error::EvalError;
use crate::cel::program::Program;

/// A CEL string.
#[must_use]
pub fn text(text: &str) -> Value {
    Value::String(Arc::new(text.to_owned()))
}

/// A CEL list.
#[must_use]
pub fn list(items: Vec<Value>) -> Value {
    Value::List(Arc::new(items))
}

/// A CEL map with string keys.
#[must_use]
pub fn map(members: impl IntoIterator<Item = (String, Value)>) -> Value {
    let members: HashMap<::cel::objects::Key, Value> = members
        .into_iter()
        .map(|(name, value)| (::cel::objects::Key::String(Arc::new(name)), value))
        .collect();
    Value::Map(members.into())
}

/// A timestamp from RFC 3339 text.
///
/// # Errors
/// When the text is no timestamp.
pub fn timestamp(rfc3339: &str) -> Result<Value, EvalError> {
    static CONVERT: LazyLock<Result<Program, String>> = LazyLock::new(|| Program::compile("timestamp(text)"));
    convert(&CONVERT, rfc3339)
}

/// A duration of so many nanoseconds.
///
/// # Errors
/// When the duration is too long for CEL.
pub fn duration(nanoseconds: i64) -> Result<Value, EvalError> {
    static CONVERT: LazyLock<Result<Program, String>> = LazyLock::new(|| Program::compile("duration(text)"));
    convert(&CONVERT, &format!("{nanoseconds}ns"))
}

/// Lets CEL convert a text: its value types of time come from a crate that is none of our own dependencies.
fn convert(program: &Result<Program, String>, from: &str) -> Result<Value, EvalError> {
    let program = program.as_ref().map_err(|why| EvalError::Unsupported(why.clone()))?;
    program.evaluate(&[("text", text(from))])
}

/// Bytes from base64.
///
/// # Errors
/// When the text is no base64.
pub fn decode_base64(encoded: &str) -> Result<Value, EvalError> {
    let bytes = base64::engine::general_purpose::STANDARD.decode(encoded);
    bytes
        .map(|bytes| Value::Bytes(Arc::new(bytes)))
        .map_err(|why| EvalError::Failed(format!("invalid base64: {why}")))
}

/// An optional that holds a value or nothing.
#[must_use]
pub fn optional(value: Option<Value>) -> Value {
    let optional = value.map_or_else(::cel::objects::OptionalValue::none, ::cel::objects::OptionalValue::of);
    Value::Opaque(Arc::new(optional))
}
