//! ConfigMaps and Secrets: keys, sizes, immutability, required keys of typed Secrets.

use serde_json::{Map, Value, json};

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

pub(super) fn config_map(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let (data, binary) = (object_at(object, "data"), object_at(object, "binaryData"));
    let mut bytes = 0;
    for (key, value) in data.into_iter().flatten() {
        key_fault("data", key, errors);
        if binary.is_some_and(|b| b.contains_key(key)) {
            let field = format!("data[{key}]");
            errors.push(FieldError::invalid(field, &json!(key), "duplicate of key present in binaryData"));
        }
        bytes += value.as_str().map_or(0, str::len);
    }
    for (key, value) in binary.into_iter().flatten() {
        key_fault("binaryData", key, errors);
        bytes += value.as_str().map_or(0, decoded_len);
    }
    if bytes > MOST_BYTES {
        errors.push(FieldError::too_long("", 1_048_576));
    }
    frozen(object, old, &["data", "binaryData"], errors);
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

fn key_fault(map: &str, key: &str, errors: &mut Vec<FieldError>) {
    let valid =
        !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
    let detail = match key {
        _ if key.len() > 253 => "must be no more than 253 bytes",
        "." => "must not be '.'",
        ".." => "must not be '..'",
        _ if key.starts_with("..") => "must not start with '..'",
        _ if valid => return,
        _ => {
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or \
             'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
        }
    };
    errors.push(FieldError::invalid(format!("{map}[{key}]"), &json!(key), detail));
}

pub(super) fn secret(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    if let Some(old) = old.filter(|old| old.get("type") != object.get("type")) {
        let kind = object.get("type").or(old.get("type")).unwrap_or(&Value::Null);
        errors.push(FieldError::invalid("type", kind, "field is immutable"));
    }
    frozen(object, old, &["data"], errors);
    let data = object_at(object, "data");
    let mut bytes = 0;
    for (key, value) in data.into_iter().flatten() {
        key_fault("data", key, errors);
        bytes += value.as_str().map_or(0, decoded_len);
    }
    if bytes > MOST_BYTES {
        errors.push(FieldError::too_long("data", 1_048_576));
    }
    let required: &[&str] = match text(object, "/type") {
        "kubernetes.io/tls" => &["tls.crt", "tls.key"],
        "kubernetes.io/dockerconfigjson" => &[".dockerconfigjson"],
        "kubernetes.io/dockercfg" => &[".dockercfg"],
        "kubernetes.io/ssh-auth" => &["ssh-privatekey"],
        "kubernetes.io/basic-auth" => return basic_auth(data, errors),
        "kubernetes.io/service-account-token" => return token(object, errors),
        _ => return,
    };
    for key in required.iter().filter(|key| data.is_none_or(|d| !d.contains_key(**key))) {
        errors.push(FieldError::required(format!("data[{key}]"), ""));
    }
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
