//! ConfigMaps and Secrets: keys, sizes, immutability, required keys of typed Secrets.

use serde_json::{Map, Value, json};

use crate::k8s::names;
use crate::k8s::text;
use crate::schema::FieldError;

/// Largest sum of the values of a ConfigMap or Secret, in bytes.
const MOST_BYTES: usize = 1024 * 1024;
const IMMUTABLE: &str = "field is immutable when `immutable` is set";

fn object_at<'v>(object: &'v Value, field: &str) -> Option<&'v Map<String, Value>> {
    object.get(field).and_then(Value::as_object)
}

/// Length of base64 text after decoding.
fn decoded_len(text: &str) -> usize {
    let padding = text.bytes().rev().take_while(|b| *b == b'=').count();
    (text.len() / 4 * 3).saturating_sub(padding)
}

/// Source: Kubernetes 1.34.3 `pkg/apis/core/validation/validation.go`, `ValidateConfigMap`, `ValidateConfigMapUpdate`.
pub(super) fn config_map(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    frozen(object, old, &["data", "binaryData"], errors);
    let (data, binary) = (object_at(object, "data"), object_at(object, "binaryData"));
    let mut bytes = 0;
    for (key, value) in data.into_iter().flatten() {
        key_faults("data", key, errors);
        if binary.is_some_and(|b| b.contains_key(key)) {
            let field = format!("data[{key}]");
            errors.push(FieldError::invalid(field, &json!(key), "duplicate of key present in binaryData"));
        }
        bytes += value.as_str().map_or(0, str::len);
    }
    for (key, value) in binary.into_iter().flatten() {
        key_faults("binaryData", key, errors);
        bytes += value.as_str().map_or(0, decoded_len);
    }
    if bytes > MOST_BYTES {
        errors.push(FieldError::too_long("", 1_048_576));
    }
}

fn frozen(object: &Value, old: Option<&Value>, fields: &[&str], errors: &mut Vec<FieldError>) {
    let Some(old) = old.filter(|old| old.get("immutable") == Some(&json!(true))) else { return };
    if object.get("immutable") != Some(&json!(true)) {
        errors.push(FieldError::forbidden("immutable", IMMUTABLE));
    }
    for field in fields {
        if object.get(*field) != old.get(*field) {
            errors.push(FieldError::forbidden(*field, IMMUTABLE));
        }
    }
}

fn key_faults(map: &str, key: &str, errors: &mut Vec<FieldError>) {
    let faults = names::config_key_faults(key);
    let told = |fault: &String| FieldError::invalid(format!("{map}[{key}]"), &json!(key), fault);
    errors.extend(faults.iter().map(told));
}

/// Source: Kubernetes 1.34.3 `pkg/apis/core/validation/validation.go`, `ValidateSecret`, `ValidateSecretUpdate`.
pub(super) fn secret(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    if let Some(old) = old.filter(|old| old.get("type") != object.get("type")) {
        let kind = object.get("type").or(old.get("type")).unwrap_or(&Value::Null);
        errors.push(FieldError::invalid("type", kind, "field is immutable"));
    }
    frozen(object, old, &["data"], errors);
    let data = object_at(object, "data");
    let mut bytes = 0;
    for (key, value) in data.into_iter().flatten() {
        key_faults("data", key, errors);
        bytes += value.as_str().map_or(0, decoded_len);
    }
    if bytes > MOST_BYTES {
        errors.push(FieldError::too_long("data", 1_048_576));
    }
    by_type(text(object, "/type"), object, data, errors);
}

fn by_type(kind: &str, object: &Value, data: Option<&Map<String, Value>>, errors: &mut Vec<FieldError>) {
    let value = |key: &str| data.and_then(|data| data.get(key)?.as_str());
    let mut needs = |key: &str| errors.push(FieldError::required(format!("data[{key}]"), ""));
    match kind {
        "kubernetes.io/tls" => {
            ["tls.crt", "tls.key"].into_iter().filter(|key| value(key).is_none()).for_each(needs);
        }
        "kubernetes.io/ssh-auth" if value("ssh-privatekey").is_none_or(str::is_empty) => {
            needs("ssh-privatekey");
        }
        "kubernetes.io/dockerconfigjson" => registries(".dockerconfigjson", data, errors),
        "kubernetes.io/dockercfg" => registries(".dockercfg", data, errors),
        "kubernetes.io/basic-auth" => basic_auth(data, errors),
        "kubernetes.io/service-account-token" => token(object, errors),
        _ => {}
    }
}

/// A key must hold an object in JSON; the server never shows what it holds instead.
fn registries(key: &str, data: Option<&Map<String, Value>>, errors: &mut Vec<FieldError>) {
    use base64::Engine as _;
    let field = format!("data[{key}]");
    let Some(encoded) = data.and_then(|data| data.get(key)) else {
        return errors.push(FieldError::required(field, ""));
    };
    let encoded = encoded.as_str().unwrap_or_default();
    let bytes = base64::engine::general_purpose::STANDARD.decode(encoded).unwrap_or_default();
    let fault = match crate::yaml::json::decode(&bytes) {
        Ok(Value::Object(_) | Value::Null) => return,
        Ok(other) => {
            let kind = match other {
                Value::Bool(_) => "bool",
                Value::Number(_) => "number",
                Value::Array(_) => "array",
                _ => "string",
            };
            format!("json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}")
        }
        Err(error) => error.message,
    };
    errors.push(FieldError::invalid(field, &json!("<secret contents redacted>"), &fault));
}

fn basic_auth(data: Option<&Map<String, Value>>, errors: &mut Vec<FieldError>) {
    if ["username", "password"].iter().all(|key| data.is_none_or(|d| !d.contains_key(*key))) {
        errors.push(FieldError::required("data[username]", ""));
        errors.push(FieldError::required("data[password]", ""));
    }
}

fn token(object: &Value, errors: &mut Vec<FieldError>) {
    const ACCOUNT: &str = "kubernetes.io/service-account.name";
    if crate::k8s::annotation(object, ACCOUNT).is_none_or(str::is_empty) {
        errors.push(FieldError::required(format!("metadata.annotations[{ACCOUNT}]"), ""));
    }
}
