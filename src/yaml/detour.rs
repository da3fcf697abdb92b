//! Which values change, or fail, on `sigs.k8s.io/yaml`'s way through JSON before they are written as YAML.

use serde_json::Value;

/// Bytes a key's JSON may have at most, with some room for escapes, so that YAML surely takes it for a simple key.
const SAFE_KEY: usize = 160;

/// Whether the JSON of a value could read back as something else: characters that JSON leaves alone and YAML does not, long
/// keys.
pub(super) fn is_needed(value: &Value) -> bool {
    match value {
        Value::String(text) => is_odd(text),
        Value::Array(items) => items.iter().any(is_needed),
        Value::Object(map) => {
            map.iter().any(|(key, value)| key.len() > SAFE_KEY || is_odd(key) || is_needed(value))
        }
        _ => false,
    }
}

fn is_odd(text: &str) -> bool {
    let ascii_is_fine = text.bytes().all(|b| b < 0x7F);
    !ascii_is_fine && text.chars().any(|c| matches!(c, '\x7F'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}'))
}
