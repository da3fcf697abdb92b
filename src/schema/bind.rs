//! JSON values as CEL sees them under a schema.
//!
//! As `k8s.io/apiserver` 1.34 `pkg/cel/common/values.go` and apiextensions-apiserver `pkg/apiserver/schema/cel/model`.

use serde_json::Value as Json;

use crate::cel::{self, EvalError, Value};
use crate::schema::node::{Kind, Node};
use crate::schema::version::KubeVersion;

/// Since 1.32 a reserved word is also reachable as written.
const PLAIN_RESERVED_WORDS: KubeVersion = KubeVersion::new(1, 32);

/// Binds a value; `resource` marks the object itself and embedded resources, of whose metadata only names are seen.
///
/// # Errors
/// When the value does not fit the schema in a way that CEL can't express.
pub(super) fn bind(
    value: &Json,
    node: &Node,
    resource: bool,
    version: KubeVersion,
) -> Result<Value, EvalError> {
    match value {
        Json::Null => Ok(Value::Null),
        Json::Bool(truth) => Ok(Value::Bool(*truth)),
        Json::Number(number) => Ok(bind_number(number, node)),
        Json::String(string) => bind_string(string, node),
        Json::Array(list) => match node.items.as_deref() {
            Some(items) => {
                let items: Result<_, _> =
                    list.iter().map(|item| bind(item, items, items.embedded, version)).collect();
                Ok(cel::list(items?))
            }
            None => Ok(cel::list(Vec::new())),
        },
        Json::Object(map) => bind_object(map, node, resource, version),
    }
}

fn bind_number(number: &serde_json::Number, node: &Node) -> Value {
    let wants_float = node.kind == Some(Kind::Number) && !node.int_or_string;
    match number.as_i64() {
        Some(integer) if !wants_float => Value::Int(integer),
        _ => {
            let float = number.as_f64().unwrap_or(f64::NAN);
            let whole = node.kind == Some(Kind::Integer) && float.fract() == 0.0;
            if whole { Value::Int(float as i64) } else { Value::Float(float) }
        }
    }
}

fn bind_string(string: &str, node: &Node) -> Result<Value, EvalError> {
    let format = node.values.as_deref().map_or("", |values| &values.format);
    match format {
        "byte" => cel::decode_base64(string),
        "date" => cel::timestamp(&format!("{string}T00:00:00Z")),
        "date-time" | "datetime" => cel::timestamp(string),
        "duration" => match super::formats::parse_duration(string) {
            Some(nanos) => cel::duration(nanos),
            None => Err(EvalError::Failed(format!("invalid duration: {string}"))),
        },
        _ => Ok(cel::text(string)),
    }
}

fn bind_object(
    map: &serde_json::Map<String, Json>,
    node: &Node,
    resource: bool,
    version: KubeVersion,
) -> Result<Value, EvalError> {
    let mut members = Vec::new();
    if node.properties.is_empty() && !resource {
        if let Some(extra) = node.additional_schema() {
            for (name, member) in map {
                members.push((name.clone(), bind(member, extra, extra.embedded, version)?));
            }
        }
        return Ok(cel::map(members));
    }
    for (name, member) in map {
        let Some(property) = node.property(name).filter(|property| is_visible(property)) else { continue };
        if resource && matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
            continue;
        }
        let value = bind(member, property, property.embedded, version)?;
        push_named(&mut members, name, value, version);
    }
    if resource {
        push_meta(&mut members, map);
    }
    Ok(cel::map(members))
}

fn push_named(members: &mut Vec<(String, Value)>, name: &str, value: Value, version: KubeVersion) {
    if cel::is_reserved(name) && version >= PLAIN_RESERVED_WORDS {
        members.push((name.to_owned(), value.clone()));
    }
    if let Some(escaped) = cel::escape(name) {
        members.push((escaped, value));
    }
}

/// Of a resource only apiVersion, kind, metadata.name and metadata.generateName are seen.
fn push_meta(members: &mut Vec<(String, Value)>, map: &serde_json::Map<String, Json>) {
    for name in ["apiVersion", "kind"] {
        if let Some(text) = map.get(name).and_then(Json::as_str) {
            members.push((name.to_owned(), cel::text(text)));
        }
    }
    if let Some(Json::Object(meta)) = map.get("metadata") {
        let names = ["name", "generateName"];
        let seen = names.into_iter().filter_map(|name| {
            let text = meta.get(name)?.as_str()?;
            Some((name.to_owned(), cel::text(text)))
        });
        members.push(("metadata".to_owned(), cel::map(seen)));
    }
}

/// Whether CEL knows a type for a schema; fields without one can't be named in rules.
pub(super) fn is_visible(node: &Node) -> bool {
    if node.int_or_string {
        return true;
    }
    match node.kind {
        None => false,
        Some(Kind::Array) => node.items.as_deref().is_some_and(is_visible),
        Some(Kind::Object) if node.properties.is_empty() => {
            node.embedded || node.additional.is_none() || node.additional_schema().is_some_and(is_visible)
        }
        Some(_) => true,
    }
}
