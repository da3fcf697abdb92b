//! The difference of two objects as field sets.

use std::collections::BTreeMap;

use serde_json::Value;

use super::element::Element;
use super::of::is_leaf;
use super::set::FieldSet;
use crate::k8s::types::{List, Type};

/// What differs between two objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Fields that only the new object has.
    pub added: FieldSet,
    /// Fields that both have, with different values.
    pub modified: FieldSet,
    /// Fields that only the old object had.
    pub removed: FieldSet,
}

impl Comparison {
    /// The comparison without a top-level field.
    #[must_use]
    pub fn without(self, element: &Element) -> Self {
        Self {
            added: self.added.without(element),
            modified: self.modified.without(element),
            removed: self.removed.without(element),
        }
    }

    fn put_below(&mut self, element: &Element, other: Self) {
        self.added.put_below(element.clone(), other.added);
        self.modified.put_below(element.clone(), other.modified);
        self.removed.put_below(element.clone(), other.removed);
    }
}

/// Compares two values of a type; the root itself is never part of the result.
#[must_use]
pub fn compare(of: &Type, old: Option<&Value>, new: Option<&Value>) -> Comparison {
    below(of, old, new, 0)
}

/// Down to which level values are first compared as a whole, which is quick where nothing differs. Doing so at each level
/// would take the square of an object's depth.
const WHOLE: usize = 64;

fn below(of: &Type, old: Option<&Value>, new: Option<&Value>, depth: usize) -> Comparison {
    let mut out = Comparison::default();
    match (old, new) {
        (Some(Value::Array(_)), _) | (_, Some(Value::Array(_))) => {
            if let Type::List(list) = of.resolve() {
                elements(list, items(old), items(new), depth, &mut out);
            }
        }
        _ => members(of, old, new, depth, &mut out),
    }
    out
}

fn members(of: &Type, old: Option<&Value>, new: Option<&Value>, depth: usize, out: &mut Comparison) {
    let (old, new) = (old.and_then(Value::as_object), new.and_then(Value::as_object));
    for (name, before) in old.into_iter().flatten() {
        let after = new.and_then(|n| n.get(name));
        let pair = (Some(before), after);
        step(of.member(name).unwrap_or(&Type::Any), &Element::Field(name.clone()), pair, depth, out);
    }
    for (name, after) in new.into_iter().flatten() {
        if !old.is_some_and(|o| o.contains_key(name)) {
            step(
                of.member(name).unwrap_or(&Type::Any),
                &Element::Field(name.clone()),
                (None, Some(after)),
                depth,
                out,
            );
        }
    }
}

/// What one element holds before and after.
type Pair<'v> = (Option<&'v Value>, Option<&'v Value>);

/// Compares what lies at one element.
fn step(of: &Type, element: &Element, (old, new): Pair<'_>, depth: usize, out: &mut Comparison) {
    let alike = || old.is_some() && old == new;
    if depth < WHOLE && alike() {
        return;
    }
    let deeper = !leaf(of, old, new);
    match (old, new) {
        (None, _) => out.added.insert(element.clone()),
        (_, None) => out.removed.insert(element.clone()),
        _ if !deeper && !alike() => out.modified.insert(element.clone()),
        _ => {}
    }
    if deeper {
        out.put_below(element, below(of, old, new, depth + 1));
    }
}

/// Whether a pair is compared as one value: atomic ones, and pairs that are both empty.
fn leaf(of: &Type, old: Option<&Value>, new: Option<&Value>) -> bool {
    let shape = new.filter(|v| !v.is_null()).or(old).unwrap_or(&Value::Null);
    let mixed = matches!((old, new), (Some(o), Some(n)) if o.is_object() != n.is_object() && !o.is_null() && !n.is_null());
    is_leaf(of, shape) || mixed || (empty(old) && empty(new))
}

fn empty(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::Array(list)) => list.is_empty(),
        Some(Value::Object(object)) => object.is_empty(),
        Some(_) => false,
    }
}

fn items(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn elements(list: &List, old: &[Value], new: &[Value], depth: usize, out: &mut Comparison) {
    let (old, new) = (by_element(list, old), by_element(list, new));
    for (element, before) in &old {
        match (before.as_slice(), new.get(element).map_or(&[][..], Vec::as_slice)) {
            ([before], []) => step(&list.item, element, (Some(before), None), depth, out),
            ([before], [after]) => step(&list.item, element, (Some(before), Some(after)), depth, out),
            ([before], _) => {
                step(&list.item, element, (Some(before), None), depth, out);
                out.added.insert(element.clone());
            }
            (_, []) => out.removed.insert(element.clone()),
            (_, [after]) => {
                step(&list.item, element, (None, Some(after)), depth, out);
                out.removed.insert(element.clone());
            }
            (before, after) if before != after => out.modified.insert(element.clone()),
            _ => {}
        }
    }
    for (element, after) in new.iter().filter(|(element, _)| !old.contains_key(element)) {
        match after.as_slice() {
            [after] => step(&list.item, element, (None, Some(after)), depth, out),
            _ => out.added.insert(element.clone()),
        }
    }
}

fn by_element<'v>(list: &List, items: &'v [Value]) -> BTreeMap<Element, Vec<&'v Value>> {
    let mut found: BTreeMap<Element, Vec<&Value>> = BTreeMap::new();
    for item in items {
        if let Ok(element) = Element::of(list, item) {
            found.entry(element).or_default().push(item);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::k8s::types::builtin;

    #[test]
    fn new_parents_count_themselves() {
        let of = builtin("v1", "ConfigMap").unwrap();
        let new = json!({ "metadata": { "annotations": { "a": "1" } }, "data": { "k": "v" } });
        let found = compare(&of, Some(&json!({})), Some(&new));
        assert_eq!(
            found.added.encode(),
            json!({ "f:metadata": { ".": {}, "f:annotations": { ".": {}, "f:a": {} } }, "f:data": { ".": {}, "f:k": {} } })
        );
    }

    #[test]
    fn keyed_lists_compare_by_key() {
        let of = builtin("v1", "Pod").unwrap();
        let pod = |image: &str| json!({ "spec": { "containers": [{ "name": "a", "image": image, "args": ["x"] }] } });
        let found = compare(&of, Some(&pod("one")), Some(&pod("two")));
        assert_eq!(found.modified.paths(), [".spec.containers[name=\"a\"].image"]);
        assert!(found.added.is_empty() && found.removed.is_empty());
    }

    #[test]
    fn deep_values_are_compared_once_and_as_shallow_ones() {
        let nested = |leaf: i64| {
            let mut value = json!({ "same": { "a": [1] }, "other": leaf });
            for _ in 0..4 * WHOLE {
                value = json!({ "a": value, "same": 1 });
            }
            json!({ "apiVersion": "x.io/v1", "kind": "X", "spec": value })
        };
        let found = compare(&Type::Any, Some(&nested(1)), Some(&nested(2)));
        let wanted = format!(".spec{}.other", ".a".repeat(4 * WHOLE));
        assert_eq!(found.modified.paths(), [wanted]);
        assert!(found.added.is_empty() && found.removed.is_empty());
    }
}
