//! Go values to JSON values and back.

use serde_json::{Number, Value as Json};

use super::funcs::Fault;
use super::object::{Object, json_members};
use super::value::{List, Map, Value};
use crate::limits::stack::levels;

impl Value {
    /// The value as `encoding/json` decodes into `interface{}`: every number a `float64`.
    pub fn from_json(json: &Json) -> Self {
        Self::decode(json, |number| Self::Float(number.as_f64().unwrap_or(f64::NAN)))
    }

    /// The value with its numbers kept apart: whole ones `int64`, others `float64`.
    pub fn from_json_exact(json: &Json) -> Self {
        Self::decode(json, exact)
    }

    fn decode(json: &Json, number: fn(&Number) -> Self) -> Self {
        match json {
            Json::Null => Self::Nil,
            Json::Bool(b) => Self::Bool(*b),
            Json::Number(n) => number(n),
            Json::String(s) => Self::str(s.as_str()),
            Json::Array(items) => Self::list(items.iter().map(|item| Self::decode(item, number)).collect()),
            Json::Object(entries) => Self::Map(decode_map(entries, number)),
        }
    }

    /// The value as `json.Marshal` sees it.
    ///
    /// # Errors
    /// Functions, numbers that JSON lacks, and maps that hold themselves.
    pub fn to_json(&self) -> Result<Json, Fault> {
        encode(self, 0)
    }
}

impl Map {
    /// A map of JSON, its numbers as in [`Value::from_json_exact`].
    pub fn from_json_exact(entries: &serde_json::Map<String, Json>) -> Self {
        decode_map(entries, exact)
    }
}

fn decode_map(entries: &serde_json::Map<String, Json>, number: fn(&Number) -> Value) -> Map {
    entries.iter().map(|(key, value)| (key.as_str(), Value::decode(value, number))).collect()
}

fn exact(number: &Number) -> Value {
    match number.as_i64() {
        Some(whole) => Value::Int64(whole),
        None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
    }
}

fn encode(value: &Value, depth: usize) -> Result<Json, Fault> {
    // A map may hold itself; templates may nest what they read a little deeper.
    if depth > 2 * levels() {
        return Err(Fault::new("json: unsupported value: encountered a cycle via map[string]interface {}"));
    }
    Ok(match value {
        Value::Nil => Json::Null,
        Value::Bool(b) => Json::Bool(*b),
        Value::Int(n) | Value::Int64(n) => Json::from(*n),
        Value::Int32(n) => Json::from(*n),
        Value::Uint8(n) => Json::from(*n),
        Value::Uint64(n) => Json::from(*n),
        Value::Float(f) => Json::Number(
            Number::from_f64(*f)
                .ok_or_else(|| Fault::new(format!("json: unsupported value: {}", infinite(*f))))?,
        ),
        Value::String(s) => Json::String(text(s)),
        Value::Bytes(b) if b.is_nil() => Json::Null,
        Value::Bytes(b) => Json::String(base64::Engine::encode(&base64::prelude::BASE64_STANDARD, b)),
        Value::List(list) => encode_list(list, depth)?,
        Value::Map(map) => encode_map(map, depth)?,
        Value::Object(object) if object.is_nil() => Json::Null,
        Value::Object(object) if value.kind() == "complex128" => {
            return Err(Fault::new(format!("json: unsupported type: {}", object.type_name())));
        }
        Value::Object(object) if let Some(number) = object.number() => encode(number, depth)?,
        Value::Object(object) if let Some(text) = written(object.as_ref()) => {
            Json::from(text.map_err(|why| {
                let of = object.type_name();
                Fault::new(format!("json: error calling MarshalJSON for type {of}: {why}"))
            })?)
        }
        Value::Object(object) => encode_fields(object.as_ref(), depth)?,
        Value::Func(_) => return Err(Fault::new(format!("json: unsupported type: {}", value.type_name()))),
    })
}

/// The text that an object without fields writes of itself.
fn written(object: &dyn Object) -> Option<Result<String, String>> {
    object.json_text().filter(|_| object.fields().is_empty())
}

/// A text whose bytes that are no UTF-8 are replaced one by one, as Go does.
fn text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '\u{fffd}'));
    }
    text
}

fn encode_fields(object: &dyn Object, depth: usize) -> Result<Json, Fault> {
    let members = json_members(object).into_iter();
    let pairs = members.map(|(name, value)| Ok((name.to_owned(), encode(&value, depth + 1)?)));
    pairs.collect::<Result<_, Fault>>().map(Json::Object)
}

fn infinite(f: f64) -> &'static str {
    match f {
        f if f.is_nan() => "NaN",
        f if f > 0.0 => "+Inf",
        _ => "-Inf",
    }
}

fn encode_list(list: &List, depth: usize) -> Result<Json, Fault> {
    if list.is_nil() {
        return Ok(Json::Null);
    }
    list.iter().map(|item| encode(item, depth + 1)).collect::<Result<_, _>>().map(Json::Array)
}

fn encode_map(map: &Map, depth: usize) -> Result<Json, Fault> {
    if map.is_nil() {
        return Ok(Json::Null);
    }
    let entries = map.entries();
    let pairs = entries.iter().map(|(key, value)| Ok((text(key), encode(value, depth + 1)?)));
    pairs.collect::<Result<_, _>>().map(Json::Object)
}
