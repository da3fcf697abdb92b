//! When two values of JSON are the same: numbers by what they are worth, not by how they are written.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::Value;

pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Equality with numbers compared by value.
pub(super) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let same =
                |(key, value): (&String, &Value)| right.get(key).is_some_and(|other| equal(value, other));
            left.len() == right.len() && left.iter().all(same)
        }
        (left, right) => left == right,
    }
}

pub(super) fn twins(items: &[Value]) -> Option<(usize, usize)> {
    let mut seen: HashMap<u64, Vec<usize>> = HashMap::new();
    for (second, item) in items.iter().enumerate() {
        let mut sketch = DefaultHasher::new();
        sketch_into(item, &mut sketch);
        let alike = seen.entry(sketch.finish()).or_default();
        let same = |first: &&usize| items.get(**first).is_some_and(|other| equal(item, other));
        if let Some(first) = alike.iter().find(same) {
            return Some((*first, second));
        }
        alike.push(second);
    }
    None
}

/// Hashes a value so that those that are [`equal`] come to the same.
fn sketch_into(value: &Value, sketch: &mut DefaultHasher) {
    match value {
        // Both zeros are the same.
        Value::Number(number) => (number.as_f64().unwrap_or_default() + 0.0).to_bits().hash(sketch),
        Value::Array(items) => items.iter().for_each(|item| sketch_into(item, sketch)),
        Value::Object(map) => map.len().hash(sketch),
        Value::String(text) => text.hash(sketch),
        Value::Bool(on) => on.hash(sketch),
        Value::Null => {}
    }
}
