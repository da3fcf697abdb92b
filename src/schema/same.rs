//! Deep equality of JSON values without recursion.

use serde_json::Value;

/// Whether two values are equal as Go's `reflect.DeepEqual` sees decoded JSON: `1` and `1.0` differ.
#[must_use]
pub fn same(a: &Value, b: &Value) -> bool {
    let mut pairs = vec![(a, b)];
    while let Some((a, b)) = pairs.pop() {
        match (a, b) {
            (Value::Object(a), Value::Object(b)) => {
                if a.len() != b.len() {
                    return false;
                }
                for (key, value) in a {
                    let Some(other) = b.get(key) else { return false };
                    pairs.push((value, other));
                }
            }
            (Value::Array(a), Value::Array(b)) => {
                if a.len() != b.len() {
                    return false;
                }
                pairs.extend(a.iter().zip(b));
            }
            (a, b) if a == b => {}
            _ => return false,
        }
    }
    true
}
