//! Uniqueness of set and map lists.
//!
//! As apiextensions-apiserver 1.34 `pkg/apiserver/schema/listtype/validation.go`.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::schema::error::FieldError;
use crate::schema::node::{ListType, Node};
use crate::schema::path::Path;

/// The duplicates of all set and map lists in a value.
pub(super) fn duplicates(value: &Value, node: &Node) -> Vec<FieldError> {
    let mut errors = Vec::new();
    walk(value, node, &Path::ROOT, &mut errors);
    errors
}

fn walk(value: &Value, node: &Node, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    if !node.has_unique_lists {
        return;
    }
    match value {
        Value::Object(map) => {
            for (name, member) in map {
                if let Some(extra) = node.additional_schema() {
                    walk(member, extra, &at.key(name), errors);
                }
                if let Some(property) = node.property(name) {
                    walk(member, property, &at.field(name), errors);
                }
            }
        }
        Value::Array(list) => {
            match node.list_type {
                ListType::Set => set(list, at, errors),
                ListType::Map => keyed(list, &node.list_keys, at, errors),
                ListType::Unset | ListType::Atomic => {}
            }
            let Some(items) = node.items.as_deref() else { return };
            for (i, item) in list.iter().enumerate() {
                walk(item, items, &at.index(i), errors);
            }
        }
        _ => {}
    }
}

fn set(list: &[Value], at: &Path<'_>, errors: &mut Vec<FieldError>) {
    for i in repeated(list.iter().map(identity)) {
        if let Some(item) = list.get(i) {
            errors.push(FieldError::duplicate(at.index(i).to_string(), item));
        }
    }
}

fn keyed(list: &[Value], keys: &[Box<str>], at: &Path<'_>, errors: &mut Vec<FieldError>) {
    for (i, item) in list.iter().enumerate() {
        if !item.is_object() && !item.is_null() {
            let detail = "must be an object for an array of list-type map";
            errors.push(FieldError::invalid(at.index(i).to_string(), item, detail));
            return;
        }
    }
    let found: Vec<Value> = list.iter().map(|item| key_of(item, keys)).collect();
    for i in repeated(found.iter().map(identity)) {
        if let Some(key) = found.get(i) {
            errors.push(FieldError::duplicate(at.index(i).to_string(), key));
        }
    }
}

/// The key fields of an item that are there.
pub(super) fn key_of(item: &Value, keys: &[Box<str>]) -> Value {
    let mut found = Map::new();
    for key in keys {
        if let Some(value) = item.get(key.as_ref()) {
            found.insert(key.to_string(), value.clone());
        }
    }
    Value::Object(found)
}

/// A text that is equal for equal values and tells `1` from `1.0`.
fn identity(value: &Value) -> String {
    value.to_string()
}

/// The places where a value occurs for the second time.
fn repeated(identities: impl Iterator<Item = String>) -> Vec<usize> {
    let mut times: HashMap<String, usize> = HashMap::new();
    let mut second = Vec::new();
    for (i, identity) in identities.enumerate() {
        let seen = times.entry(identity).or_insert(0);
        *seen += 1;
        if *seen == 2 {
            second.push(i);
        }
    }
    second
}
