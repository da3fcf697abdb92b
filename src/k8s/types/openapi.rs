//! The shape of a custom resource, from the OpenAPI schema of its definition.
//!
//! Source: Kubernetes apiextensions-apiserver 0.34.3, `pkg/controller/openapi/builder`, and kube-openapi's
//! `pkg/schemaconv`.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::{Empty, Field, List, ListKind, Map, Scalar, Struct, Type, object_meta};

/// The type of a custom resource with this `openAPIV3Schema`; without one everything but the metadata is free.
#[must_use]
pub fn custom_resource(schema: Option<&Value>) -> Type {
    let mut of = schema.map_or_else(free, structure);
    if schema.is_some_and(preserves) {
        of.rest = Some(Type::Any);
    }
    embed(&mut of.fields);
    Type::Struct(Arc::new(of))
}

fn free() -> Struct {
    Struct { name: String::new(), fields: BTreeMap::new(), rest: Some(Type::Any), atomic: false }
}

/// Adds what every object has.
fn embed(fields: &mut BTreeMap<String, Field>) {
    for name in ["apiVersion", "kind"] {
        fields.insert(name.to_owned(), plain(Type::Scalar(Scalar::String)));
    }
    fields.insert("metadata".to_owned(), plain(object_meta()));
}

fn plain(of: Type) -> Field {
    Field { of, default: None, retain_keys: false, empty: Empty::Kept }
}

fn flag(schema: &Value, name: &str) -> bool {
    schema.get(name).and_then(Value::as_bool).unwrap_or(false)
}

fn preserves(schema: &Value) -> bool {
    flag(schema, "x-kubernetes-preserve-unknown-fields")
}

fn convert(schema: &Value) -> Type {
    if flag(schema, "x-kubernetes-int-or-string") {
        return Type::Scalar(Scalar::Untyped);
    }
    match crate::k8s::text(schema, "/type") {
        "string" => Type::Scalar(Scalar::String),
        "boolean" => Type::Scalar(Scalar::Bool),
        "integer" => Type::Scalar(Scalar::Int64),
        "number" => Type::Scalar(Scalar::Number),
        "array" => list(schema),
        "object" => object(schema),
        _ => Type::Any,
    }
}

fn list(schema: &Value) -> Type {
    let item = schema.get("items").map_or(Type::Any, convert);
    let kind = match crate::k8s::text(schema, "/x-kubernetes-list-type") {
        "set" => ListKind::Set,
        "map" => {
            let keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
            ListKind::Keyed(keys.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect())
        }
        _ => ListKind::Atomic,
    };
    Type::List(Arc::new(List { item, kind, merge: None }))
}

fn object(schema: &Value) -> Type {
    let atomic = crate::k8s::text(schema, "/x-kubernetes-map-type") == "atomic";
    let properties = schema.get("properties").and_then(Value::as_object).is_some_and(|p| !p.is_empty());
    if !properties
        && let Some(value) = schema.get("additionalProperties").filter(|a| **a != Value::Bool(false))
    {
        let value = if value.is_object() { convert(value) } else { Type::Any };
        return Type::Map(Arc::new(Map { value, atomic }));
    }
    let embedded = flag(schema, "x-kubernetes-embedded-resource");
    if !properties && !embedded && preserves(schema) {
        return if atomic { Type::Map(Arc::new(Map { value: Type::Any, atomic })) } else { Type::Any };
    }
    let mut of = structure(schema);
    if embedded {
        embed(&mut of.fields);
    }
    Type::Struct(Arc::new(of))
}

fn structure(schema: &Value) -> Struct {
    let properties = schema.get("properties").and_then(Value::as_object);
    let field = |(name, schema): (&String, &Value)| {
        let default = schema.get("default").cloned();
        (name.clone(), Field { of: convert(schema), default, retain_keys: false, empty: Empty::Kept })
    };
    Struct {
        name: String::new(),
        fields: properties.into_iter().flatten().map(field).collect(),
        rest: preserves(schema).then_some(Type::Any),
        atomic: crate::k8s::text(schema, "/x-kubernetes-map-type") == "atomic",
    }
}
