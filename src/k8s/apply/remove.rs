//! Removing a field set from an object.

use serde_json::{Map, Value};

use super::element::Element;
use super::set::FieldSet;
use crate::k8s::types::{ListKind, Type};

/// The value without the fields of the set; `None` when a container has nothing left.
#[must_use]
pub fn remove(of: &Type, value: &Value, set: &FieldSet) -> Option<Value> {
    match value {
        Value::Object(_) | Value::Array(_) if of.is_atomic() => None,
        Value::Object(object) => members(of, object, set),
        Value::Array(items) => elements(of, items, set),
        scalar => Some(scalar.clone()),
    }
}

fn members(of: &Type, object: &Map<String, Value>, set: &FieldSet) -> Option<Value> {
    let mut left = Map::new();
    for (name, child) in object {
        let element = Element::Field(name.clone());
        if set.has(&element) {
            continue;
        }
        let child = match set.below(&element).filter(|s| !s.is_empty()) {
            Some(below) => remove(of.member(name).unwrap_or(&Type::Any), child, below).unwrap_or(Value::Null),
            None => child.clone(),
        };
        left.insert(name.clone(), child);
    }
    (!left.is_empty()).then_some(Value::Object(left))
}

fn elements(of: &Type, items: &[Value], set: &FieldSet) -> Option<Value> {
    let list = match of.resolve() {
        Type::List(list) if list.kind != ListKind::Atomic => list,
        _ => return None,
    };
    let mut left = Vec::new();
    for item in items {
        let Ok(element) = Element::of(list, item) else {
            left.push(item.clone());
            continue;
        };
        if set.has(&element) {
            continue;
        }
        left.push(match set.below(&element).filter(|s| !s.is_empty()) {
            Some(below) => remove(&list.item, item, below).unwrap_or(Value::Null),
            None => item.clone(),
        });
    }
    (!left.is_empty()).then_some(Value::Array(left))
}
