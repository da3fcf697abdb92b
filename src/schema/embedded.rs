//! Metadata: its types, its unknown fields, and what embedded resources must have.
//!
//! As apiextensions-apiserver 1.34 `pkg/apiserver/schema/objectmeta` (algorithm.go, coerce.go, validation.go).

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use crate::schema::error::FieldError;
use crate::schema::node::Node;
use crate::schema::path::Path;
use crate::schema::structural::Structural;
use crate::schema::validate::json_kind;

/// The Go type of a metadata field, as far as decoding tells types apart.
enum Shape {
    Text,
    Whole,
    Truth,
    Time,
    Texts,
    TextMap,
    Free,
    Structs(&'static str, &'static [(&'static str, Shape)]),
}

const OBJECT_META: &[(&str, Shape)] = &[
    ("name", Shape::Text),
    ("generateName", Shape::Text),
    ("namespace", Shape::Text),
    ("selfLink", Shape::Text),
    ("uid", Shape::Text),
    ("resourceVersion", Shape::Text),
    ("generation", Shape::Whole),
    ("creationTimestamp", Shape::Time),
    ("deletionTimestamp", Shape::Time),
    ("deletionGracePeriodSeconds", Shape::Whole),
    ("labels", Shape::TextMap),
    ("annotations", Shape::TextMap),
    ("ownerReferences", Shape::Structs("OwnerReference", OWNER_REFERENCE)),
    ("finalizers", Shape::Texts),
    ("managedFields", Shape::Structs("ManagedFieldsEntry", MANAGED_FIELDS)),
];

const OWNER_REFERENCE: &[(&str, Shape)] = &[
    ("apiVersion", Shape::Text),
    ("kind", Shape::Text),
    ("name", Shape::Text),
    ("uid", Shape::Text),
    ("controller", Shape::Truth),
    ("blockOwnerDeletion", Shape::Truth),
];

const MANAGED_FIELDS: &[(&str, Shape)] = &[
    ("manager", Shape::Text),
    ("operation", Shape::Text),
    ("apiVersion", Shape::Text),
    ("time", Shape::Time),
    ("fieldsType", Shape::Text),
    ("fieldsV1", Shape::Free),
    ("subresource", Shape::Text),
];

impl Structural {
    /// What decoding does to an object: checks the types of metadata, prunes unknown fields, drops nulls.
    ///
    /// Returns the paths of unknown fields: those in metadata first, then the pruned ones, then those in the metadata
    /// of embedded resources. They become `unknown field "…"` in warnings and in strict decoding errors.
    ///
    /// # Errors
    /// The server's words for metadata of the wrong type, to follow `… cannot be handled as a …: `.
    pub fn coerce(&self, object: &mut Value) -> Result<Vec<String>, String> {
        let mut unknown = Vec::new();
        if let Some(meta) = object.get_mut("metadata") {
            coerce_meta(meta, "metadata", &mut unknown)?;
        }
        unknown.extend(self.prune(object));
        self.drop_nulls(object);
        let mut embedded = Vec::new();
        coerce_embedded(object, &self.root, &Path::ROOT, &mut embedded)?;
        embedded.sort();
        unknown.extend(embedded);
        Ok(unknown)
    }
}

/// Checks a metadata object and removes its unknown fields and empty values, as a round trip through Go's struct does.
fn coerce_meta(meta: &mut Value, path: &str, unknown: &mut Vec<String>) -> Result<(), String> {
    match meta {
        Value::Null => Ok(()),
        Value::Object(map) => coerce_struct(map, "ObjectMeta", "", OBJECT_META, path, unknown),
        other => {
            Err(format!("json: cannot unmarshal {} into Go value of type v1.ObjectMeta", go_json(other)))
        }
    }
}

fn coerce_struct(
    map: &mut Map<String, Value>,
    name: &str,
    prefix: &str,
    fields: &[(&str, Shape)],
    path: &str,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    let mut extra: Vec<String> =
        map.keys().filter(|key| fields.iter().all(|(known, _)| known != key)).cloned().collect();
    extra.sort();
    for key in extra {
        map.remove(&key);
        unknown.push(format!("{path}.{key}"));
    }
    map.retain(|_, value| !value.is_null());
    for (key, shape) in fields {
        if let Some(value) = map.get_mut(*key) {
            coerce_shape(value, name, &format!("{prefix}{key}"), shape, &format!("{path}.{key}"), unknown)?;
        }
    }
    Ok(())
}

fn coerce_shape(
    value: &mut Value,
    owner: &str,
    field: &str,
    shape: &Shape,
    path: &str,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    let refuse = |got: &Value, wanted: &str| {
        Err(format!(
            "json: cannot unmarshal {} into Go struct field {owner}.{field} of type {wanted}",
            go_json(got)
        ))
    };
    match (shape, value) {
        (Shape::Text | Shape::Time, Value::String(_)) | (Shape::Truth, Value::Bool(_)) | (Shape::Free, _) => {
            Ok(())
        }
        (Shape::Whole, value) if value.as_i64().is_some() => Ok(()),
        (Shape::TextMap, Value::Object(map)) => {
            map.values().find(|v| !v.is_string() && !v.is_null()).map_or(Ok(()), |got| refuse(got, "string"))
        }
        (Shape::Texts, Value::Array(list)) => {
            list.iter().find(|v| !v.is_string() && !v.is_null()).map_or(Ok(()), |got| refuse(got, "string"))
        }
        (Shape::Structs(name, fields), Value::Array(list)) => {
            for (i, item) in list.iter_mut().enumerate() {
                let Value::Object(map) = item else { return refuse(item, &format!("v1.{name}")) };
                coerce_struct(map, name, &format!("{field}."), fields, &format!("{path}[{i}]"), unknown)?;
            }
            Ok(())
        }
        (shape, value) => refuse(value, go_type(shape)),
    }
}

fn go_type(shape: &Shape) -> &'static str {
    match shape {
        Shape::Text | Shape::Time => "string",
        Shape::Whole => "int64",
        Shape::Truth => "bool",
        Shape::Texts => "[]string",
        Shape::TextMap => "map[string]string",
        Shape::Free => "object",
        Shape::Structs("OwnerReference", _) => "[]v1.OwnerReference",
        Shape::Structs(..) => "[]v1.ManagedFieldsEntry",
    }
}

/// The JSON kind in the words of Go's decoder.
fn go_json(value: &Value) -> &'static str {
    match json_kind(value) {
        "boolean" => "bool",
        "integer" => "number",
        kind => kind,
    }
}

fn coerce_embedded(
    value: &mut Value,
    node: &Node,
    at: &Path<'_>,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    if !node.has_embedded {
        return Ok(());
    }
    match value {
        Value::Object(map) => {
            if node.embedded {
                coerce_resource(map, at, unknown)?;
            }
            for (name, member) in map.iter_mut() {
                if let Some(property) = node.property(name) {
                    coerce_embedded(member, property, &at.field(name), unknown)?;
                } else if let Some(extra) = node.additional_schema() {
                    coerce_embedded(member, extra, &at.key(name), unknown)?;
                }
            }
        }
        Value::Array(list) => {
            let Some(items) = node.items.as_deref() else { return Ok(()) };
            for (i, item) in list.iter_mut().enumerate() {
                coerce_embedded(item, items, &at.index(i), unknown)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn coerce_resource(
    map: &mut Map<String, Value>,
    at: &Path<'_>,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    for name in ["apiVersion", "kind"] {
        if let Some(value) = map.get(name).filter(|value| !value.is_string()) {
            return Err(
                FieldError::invalid(at.field(name).to_string(), value, "must be a string").to_string()
            );
        }
    }
    if let Some(meta) = map.get_mut("metadata") {
        let path = at.field("metadata").to_string();
        let before = meta.clone();
        coerce_meta(meta, &path, unknown)
            .map_err(|why| FieldError::invalid(path.as_str(), &before, &why).to_string())?;
    }
    Ok(())
}

/// What embedded resources lack or have wrong: apiVersion, kind, labels.
pub(super) fn check(object: &Value, root: &Node) -> Vec<FieldError> {
    let mut errors = Vec::new();
    walk(object, root, &Path::ROOT, &mut errors);
    errors
}

fn walk(value: &Value, node: &Node, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    if !node.has_embedded {
        return;
    }
    match value {
        Value::Object(map) => {
            if node.embedded {
                check_resource(map, at, errors);
            }
            for (name, member) in map {
                if let Some(property) = node.property(name) {
                    walk(member, property, &at.field(name), errors);
                } else if let Some(extra) = node.additional_schema() {
                    walk(member, extra, &at.key(name), errors);
                }
            }
        }
        Value::Array(list) => {
            let Some(items) = node.items.as_deref() else { return };
            for (i, item) in list.iter().enumerate() {
                walk(item, items, &at.index(i), errors);
            }
        }
        _ => {}
    }
}

fn check_resource(map: &Map<String, Value>, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    check_api_version(map.get("apiVersion"), &at.field("apiVersion").to_string(), errors);
    check_kind(map.get("kind"), &at.field("kind").to_string(), errors);
    let meta = at.field("metadata");
    if let Some(Value::Object(labels)) = map.get("metadata").and_then(|meta| meta.get("labels")) {
        check_labels(labels, &meta.field("labels").to_string(), errors);
    }
}

fn check_api_version(value: Option<&Value>, at: &str, errors: &mut Vec<FieldError>) {
    match value {
        None => errors.push(FieldError::required(at, "")),
        Some(value) => match value.as_str() {
            None => errors.push(FieldError::invalid(at, value, "must be a string")),
            Some("") => errors.push(FieldError::invalid(at, value, "must not be empty")),
            Some(text) if text.matches('/').count() > 1 => {
                errors.push(FieldError::invalid(
                    at,
                    value,
                    &format!("unexpected GroupVersion string: {text}"),
                ));
            }
            Some(_) => {}
        },
    }
}

const KIND_WORDS: &str = "may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower \
     case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character \
     (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

fn check_kind(value: Option<&Value>, at: &str, errors: &mut Vec<FieldError>) {
    static LABEL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("^[a-z]([-a-z0-9]*[a-z0-9])?$").ok());
    let fits = |text: &str| LABEL.as_ref().is_some_and(|label| label.is_match(&text.to_lowercase()));
    match value {
        None => errors.push(FieldError::required(at, "")),
        Some(value) => match value.as_str() {
            None => errors.push(FieldError::invalid(at, value, "must be a string")),
            Some("") => errors.push(FieldError::invalid(at, value, "must not be empty")),
            Some(text) if text.len() > 63 || !fits(text) => {
                errors.push(FieldError::invalid(at, value, KIND_WORDS));
            }
            Some(_) => {}
        },
    }
}

const NAME_WORDS: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
     alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
     '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

fn check_labels(labels: &Map<String, Value>, at: &str, errors: &mut Vec<FieldError>) {
    for (key, value) in labels {
        let name = key.rsplit('/').next().unwrap_or(key);
        if !is_label_text(name) || name.is_empty() {
            errors.push(FieldError::invalid(
                at,
                &Value::from(key.as_str()),
                &format!("name part {NAME_WORDS}"),
            ));
        }
        if let Some(text) = value.as_str().filter(|text| !is_label_text(text) || text.len() > 63) {
            let words = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and \
                must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex \
                used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
            errors.push(FieldError::invalid(at, &Value::from(text), words));
        }
    }
}

fn is_label_text(text: &str) -> bool {
    let outer = |b: &u8| b.is_ascii_alphanumeric();
    let inner = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    text.is_empty()
        || (text.bytes().all(inner)
            && text.as_bytes().first().is_some_and(outer)
            && text.as_bytes().last().is_some_and(outer))
}
