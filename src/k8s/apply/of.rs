//! The field set of an object: what its applier owns.

use std::collections::BTreeMap;

use serde_json::Value;

use super::element::Element;
use super::set::FieldSet;
use crate::k8s::types::{List, ListKind, Type};

/// Every field that a value sets.
#[must_use]
pub fn field_set(of: &Type, value: &Value) -> FieldSet {
    let mut set = FieldSet::default();
    match value {
        Value::Object(object) => {
            for (name, child) in object {
                let element = Element::Field(name.clone());
                let of_child = of.member(name).unwrap_or(&Type::Any);
                let empty = child.is_null() || child.as_object().is_some_and(serde_json::Map::is_empty);
                if is_leaf(of_child, child) || empty || !of.declares(name) {
                    set.insert(element.clone());
                }
                set.put_below(element, below(of_child, child));
            }
        }
        Value::Array(items) => {
            if let Type::List(list) = of.resolve() {
                elements(list, items, &mut set);
            }
        }
        _ => {}
    }
    set
}

/// The fields below a value that is not a leaf.
pub(super) fn below(of: &Type, value: &Value) -> FieldSet {
    if is_leaf(of, value) { FieldSet::default() } else { field_set(of, value) }
}

/// Whether the value has no parts that are owned on their own.
pub(super) fn is_leaf(of: &Type, value: &Value) -> bool {
    match value {
        Value::Object(_) => of.is_atomic(),
        Value::Array(_) => !matches!(of.resolve(), Type::List(list) if list.kind != ListKind::Atomic),
        Value::Null => matches!(of.resolve(), Type::Scalar(_)) || of.is_atomic(),
        _ => true,
    }
}

fn elements(list: &List, items: &[Value], set: &mut FieldSet) {
    let mut seen: BTreeMap<Element, (usize, &Value)> = BTreeMap::new();
    for item in items {
        if let Ok(element) = Element::of(list, item) {
            seen.entry(element).or_insert((0, item)).0 += 1;
        }
    }
    for (element, (count, item)) in seen {
        set.insert(element.clone());
        if count == 1 {
            set.put_below(element, below(&list.item, item));
        }
    }
}
