//! One valid object of a custom kind, made from its schema.

use serde_json::{Map, Value, json};

use crate::k8s;
use crate::k8s::At as _;

/// Name of every object made here.
pub const SPECIMEN: &str = "sample";

/// Deepest nesting of required fields that is followed.
const DEPTH: usize = 16;

/// An object of the kind that a CustomResourceDefinition defines: its required fields, filled as the schema asks.
///
/// `None` for other objects and for definitions that serve nothing.
#[must_use]
pub fn specimen(crd: &Value, namespace: &str) -> Option<Value> {
    if k8s::text(crd, "/kind") != "CustomResourceDefinition" {
        return None;
    }
    let versions = crd.at("/spec/versions")?.as_array()?;
    let version = versions
        .iter()
        .find(|version| {
            version.get("storage") == Some(&Value::Bool(true))
                && version.get("served") == Some(&Value::Bool(true))
        })
        .or_else(|| versions.iter().find(|version| version.get("served") == Some(&Value::Bool(true))))?;
    let group = k8s::text(crd, "/spec/group");
    let mut object = match version.at("/schema/openAPIV3Schema") {
        Some(schema) => fill_object(schema, DEPTH),
        None => Map::new(),
    };
    let mut metadata = json!({"name": SPECIMEN});
    if k8s::text(crd, "/spec/scope") == "Namespaced" {
        metadata = json!({"name": SPECIMEN, "namespace": namespace});
    }
    object.insert("apiVersion".to_owned(), Value::from(format!("{group}/{}", k8s::text(version, "/name"))));
    object.insert("kind".to_owned(), Value::from(k8s::text(crd, "/spec/names/kind")));
    object.insert("metadata".to_owned(), metadata);
    object.remove("status");
    Some(Value::Object(object))
}

fn fill_object(schema: &Value, depth: usize) -> Map<String, Value> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let mut object = Map::new();
    for name in required {
        let of_name = properties.and_then(|properties| properties.get(name)).unwrap_or(&Value::Null);
        object.insert(name.to_owned(), fill(of_name, depth.saturating_sub(1)));
    }
    let least = schema.get("minProperties").and_then(Value::as_u64).unwrap_or(0);
    for (name, of_name) in properties.into_iter().flatten() {
        if object.len() as u64 >= least {
            break;
        }
        if !object.contains_key(name) {
            object.insert(name.clone(), fill(of_name, depth.saturating_sub(1)));
        }
    }
    object
}

fn fill(schema: &Value, depth: usize) -> Value {
    if depth == 0 {
        return Value::Null;
    }
    if let Some(value) = schema.get("default").or_else(|| schema.at("/enum/0")) {
        return value.clone();
    }
    if schema.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true)) {
        return json!(1);
    }
    match k8s::text(schema, "/type") {
        "object" => Value::Object(fill_object(schema, depth)),
        "array" => {
            let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0).min(8);
            let item = schema.get("items").unwrap_or(&Value::Null);
            Value::Array((0..least).map(|_| fill(item, depth - 1)).collect())
        }
        "string" => Value::from(text(schema)),
        "integer" | "number" => number(schema),
        "boolean" => Value::Bool(false),
        _ => json!({}),
    }
}

/// A string of the asked length or format; patterns are only met by luck.
fn text(schema: &Value) -> String {
    match k8s::text(schema, "/format") {
        "date-time" => return "2026-01-01T00:00:00Z".to_owned(),
        "duration" => return "1h".to_owned(),
        "uri" => return "https://example.com".to_owned(),
        "byte" => return "YQ==".to_owned(),
        _ => {}
    }
    let bound = |key: &str, default: usize| {
        schema.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok()).unwrap_or(default)
    };
    let least = bound("minLength", 1).min(256);
    let mut text = "sample".to_owned();
    while text.len() < least {
        text.push('x');
    }
    text.truncate(bound("maxLength", usize::MAX).max(least));
    text
}

fn number(schema: &Value) -> Value {
    let bound = |key: &str| schema.get(key).cloned().filter(Value::is_number);
    match (bound("minimum"), bound("maximum")) {
        (Some(minimum), _) => minimum,
        (None, Some(maximum)) if maximum.as_f64().is_some_and(|maximum| maximum < 1.0) => maximum,
        _ => json!(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn required_fields_are_filled_as_the_schema_asks() {
        let crd = json!({"kind": "CustomResourceDefinition", "spec": {"group": "x.io", "scope": "Namespaced", "names": {"kind": "Widget"},
            "versions": [{"name": "v1beta1", "served": true, "storage": false}, {"name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": {"type": "object", "required": ["spec"], "properties": {"spec": {"type": "object",
                "required": ["mode", "size", "items"], "properties": {"mode": {"type": "string", "enum": ["a", "b"]},
                "size": {"type": "integer", "minimum": 3}, "items": {"type": "array", "minItems": 1, "items": {"type": "string"}},
                "free": {"type": "string"}}}}}}}]}});
        let object = specimen(&crd, "team").expect("the definition serves v1");
        assert_eq!(
            object,
            json!({"apiVersion": "x.io/v1", "kind": "Widget", "metadata": {"name": "sample", "namespace": "team"},
                "spec": {"mode": "a", "size": 3, "items": ["sample"]}})
        );
    }

    #[test]
    fn other_objects_give_none() {
        assert_eq!(specimen(&json!({"kind": "ConfigMap"}), "team"), None);
    }
}
