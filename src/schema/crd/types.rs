//! The types that CEL sees in a schema.
//!
//! As `k8s.io/apiserver` 1.34 `pkg/cel/common/schemas.go`, `SchemaDeclType`.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cel::{self, Decl, MAX_REQUEST};
use crate::schema::node::{Kind, Node};
use crate::schema::version::KubeVersion;

/// The type of a node and the least bytes that a value of it takes in a request; `None` when CEL can't see it.
pub(super) fn decl(node: &Node, resource: bool, kube: KubeVersion) -> Option<(Decl, u64)> {
    let values = node.values.as_deref();
    let max_length = values.and_then(|values| values.max_length).map(count);
    if node.int_or_string {
        return Some((Decl::Dyn { max: max_length.map_or(MAX_REQUEST - 2, |max| max.saturating_mul(4)) }, 1));
    }
    match node.kind? {
        Kind::Boolean => Some((Decl::Bool, 4)),
        Kind::Integer => Some((Decl::Int, 1)),
        Kind::Number => Some((Decl::Double, 1)),
        Kind::String => Some(text(node, max_length)),
        Kind::Array => {
            let items = node.items.as_deref()?;
            let (item, least) = decl(items, items.embedded, kube)?;
            let max =
                values.and_then(|values| values.max_items).map_or((MAX_REQUEST - 2) / (least + 1), count);
            Some((Decl::List { item: Arc::new(item), max }, 2))
        }
        Kind::Object => object(node, resource || node.embedded, kube),
    }
}

fn count(bound: i64) -> u64 {
    u64::try_from(bound).unwrap_or(0)
}

fn text(node: &Node, max_length: Option<u64>) -> (Decl, u64) {
    let values = node.values.as_deref();
    match values.map_or("", |values| &values.written_format) {
        "byte" => return (Decl::Bytes { max: max_length.unwrap_or(MAX_REQUEST - 2) }, 2),
        "duration" => return (Decl::Duration, 3),
        "date" => return (Decl::Timestamp, 12),
        "date-time" => return (Decl::Timestamp, 21),
        _ => {}
    }
    let choices = values.map_or(&[][..], |values| &values.choices);
    let longest = choices.iter().filter_map(|choice| choice.as_str()).map(|choice| choice.len() as u64).max();
    let max = match max_length {
        Some(max) => max.saturating_mul(4),
        None => longest.unwrap_or(MAX_REQUEST - 2),
    };
    (Decl::Text { max }, 2)
}

fn object(node: &Node, resource: bool, kube: KubeVersion) -> Option<(Decl, u64)> {
    if let Some(extra) = node.additional_schema().filter(|_| node.properties.is_empty()) {
        let (value, least) = decl(extra, extra.embedded, kube)?;
        let bound = node.values.as_deref().and_then(|values| values.max_properties);
        let max = bound.map_or((MAX_REQUEST - 2) / (least + 6), count);
        return Some((Decl::Map { value: Arc::new(value), max }, 2));
    }
    let required = node.values.as_deref().map_or(&[][..], |values| &values.required);
    let mut fields = BTreeMap::new();
    let mut least = 2;
    for (name, property) in &node.properties {
        if resource && matches!(&**name, "apiVersion" | "kind" | "metadata") {
            continue;
        }
        let Some((field, size)) = decl(property, property.embedded, kube) else { continue };
        if required.contains(name) && property.default.is_none() {
            least += name.len() as u64 + size + 4;
        }
        if cel::is_reserved(name) && kube >= KubeVersion::new(1, 32) {
            fields.insert(name.to_string(), field.clone());
        }
        if let Some(escaped) = cel::escape(name) {
            fields.insert(escaped, field);
        }
    }
    if resource {
        let text = Decl::Text { max: MAX_REQUEST - 2 };
        let names = ["name", "generateName"].map(|name| (name.to_owned(), text.clone()));
        fields.insert("metadata".to_owned(), Decl::Object(Arc::new(names.into())));
        fields.insert("apiVersion".to_owned(), text.clone());
        fields.insert("kind".to_owned(), text);
    }
    Some((Decl::Object(Arc::new(fields)), least))
}
