//! Just enough of a server to lead objects through a schema as the API server does.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::k8s::At as _;
use crate::schema::{FieldError, KubeVersion, Structural};

/// What the server says to a write.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) code: u16,
    pub(super) errors: Vec<FieldError>,
    pub(super) message: String,
    pub(super) warnings: Vec<String>,
    pub(super) stored: Value,
    pub(super) unchecked: Vec<String>,
}

/// The schema of one version of a definition.
pub(super) fn schema_of(crd: &Value, version: &str, kube: KubeVersion) -> Arc<Structural> {
    let versions = crd["spec"]["versions"].as_array().expect("versions");
    let found = versions.iter().find(|v| v["name"] == version).expect("version");
    match found.at("/schema/openAPIV3Schema") {
        Some(_) if crd["spec"]["preserveUnknownFields"] == true => Structural::open(kube),
        Some(schema) => Structural::compile(schema, kube).expect("schema"),
        None => Structural::open(kube),
    }
}

/// Creates, or updates when there is an old object.
pub(super) fn write(schema: &Structural, object: &Value, old: Option<&Value>, mode: &str) -> Answer {
    let kind = object["kind"].as_str().unwrap_or_default();
    let (group, version) = crate::k8s::split_api_version(object["apiVersion"].as_str().unwrap_or_default());
    let mut object = object.clone();
    let unknown = match schema.coerce(&mut object) {
        Ok(unknown) => unknown,
        Err(why) => {
            let message = format!("{kind} in version \"{version}\" cannot be handled as a {kind}: {why}");
            return Answer { code: 400, message, ..Answer::default() };
        }
    };
    let said: Vec<String> = unknown.iter().map(|path| format!("unknown field \"{path}\"")).collect();
    if mode == "Strict" && !said.is_empty() {
        let message = format!(
            "{kind} in version \"{version}\" cannot be handled as a {kind}: strict decoding error: {}",
            said.join(", ")
        );
        return Answer { code: 400, message, ..Answer::default() };
    }
    let mut warnings = if mode == "Ignore" { Vec::new() } else { said };
    schema.default(&mut object);
    let outcome = schema.validate(&object, old, Vec::new());
    warnings.extend(outcome.warnings);
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let status = crate::schema::invalid_status(group, kind, name, &outcome.errors);
    let passes = outcome.errors.is_empty();
    Answer {
        code: if passes { if old.is_some() { 200 } else { 201 } } else { 422 },
        message: if passes {
            String::new()
        } else {
            status["message"].as_str().unwrap_or_default().to_owned()
        },
        errors: outcome.errors,
        warnings,
        stored: if passes { as_stored(object) } else { Value::Null },
        unchecked: outcome.unchecked,
    }
}

/// Numbers as they come back from storage: whole floats are integers.
fn as_stored(mut value: Value) -> Value {
    fn walk(value: &mut Value) {
        match value {
            Value::Number(number) if number.is_f64() => {
                let float = number.as_f64().unwrap_or_default();
                if float.fract() == 0.0 && float.abs() < 9e15 {
                    *value = json!(float as i64);
                }
            }
            Value::Object(map) => map.values_mut().for_each(walk),
            Value::Array(list) => list.iter_mut().for_each(walk),
            _ => {}
        }
    }
    walk(&mut value);
    value
}

/// JSON merge patch.
pub(super) fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    let map = target.as_object_mut().expect("object");
    for (key, value) in patch {
        if value.is_null() {
            map.remove(key);
        } else {
            merge(map.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

/// The `add`, `replace` and `remove` of JSON patch, on objects only.
pub(super) fn json_patch(target: &mut Value, patch: &Value) -> Option<()> {
    for step in patch.as_array()? {
        let path = step["path"].as_str()?;
        let (parent, last) = path.rsplit_once('/')?;
        let at = target.pointer_mut(parent)?;
        match step["op"].as_str()? {
            "add" | "replace" if at.is_object() => {
                at.as_object_mut()?.insert(last.to_owned(), step["value"].clone());
            }
            "add" | "replace" => *at.pointer_mut(&format!("/{last}"))? = step["value"].clone(),
            "remove" => drop(at.as_object_mut()?.remove(last)?),
            _ => return None,
        }
    }
    Some(())
}
