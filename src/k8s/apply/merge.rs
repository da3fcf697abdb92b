//! Merging an applied configuration into a live object.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value};

use super::element::Element;
use super::of::is_leaf;
use crate::k8s::types::{List, Type};

/// The live object with everything the configuration says.
#[must_use]
pub fn merge(of: &Type, live: &Value, config: &Value) -> Value {
    join(of, Some(live), Some(config)).unwrap_or(Value::Null)
}

fn join(of: &Type, live: Option<&Value>, config: Option<&Value>) -> Option<Value> {
    let (Some(live), Some(config)) = (live, config) else {
        return config.or(live).cloned();
    };
    if config.is_null() || is_leaf(of, config) || live.is_object() != config.is_object() {
        return Some(config.clone());
    }
    match (live, config) {
        (Value::Object(live), Value::Object(config)) => {
            if live.is_empty() && config.is_empty() {
                return Some(Value::Object(Map::new()));
            }
            Some(Value::Object(members(of, live, config)))
        }
        (Value::Array(live), Value::Array(config)) => match of.resolve() {
            Type::List(list) => Some(Value::Array(elements(list, live, config))),
            _ => Some(Value::Array(config.clone())),
        },
        (_, config) => Some(config.clone()),
    }
}

fn members(of: &Type, live: &Map<String, Value>, config: &Map<String, Value>) -> Map<String, Value> {
    let names: BTreeSet<&String> = live.keys().chain(config.keys()).collect();
    let merged = names.into_iter().filter_map(|name| {
        let of = of.member(name).unwrap_or(&Type::Any);
        let value = join(of, live.get(name), config.get(name))?;
        Some((name.clone(), value))
    });
    merged.collect()
}

/// Merges keyed lists: the configuration's order where both have an element, the live one's for the rest.
fn elements(list: &List, live: &[Value], config: &[Value]) -> Vec<Value> {
    let indexed = |items: &[Value]| -> Vec<(Element, Value)> {
        items.iter().filter_map(|i| Element::of(list, i).ok().map(|e| (e, i.clone()))).collect()
    };
    let (left, right) = (indexed(live), indexed(config));
    let mut lives: BTreeMap<&Element, Option<&Value>> = BTreeMap::new();
    for (element, value) in &left {
        // Elements that are there twice are replaced as one, not merged with either.
        lives.entry(element).and_modify(|v| *v = None).or_insert(Some(value));
    }
    let configs: BTreeMap<&Element, &Value> = right.iter().map(|(e, v)| (e, v)).collect();
    let shared: VecDeque<&Element> = right.iter().map(|(e, _)| e).filter(|e| lives.contains_key(e)).collect();
    Zipper {
        list,
        left: &left,
        right: &right,
        lives,
        configs,
        shared,
        done: BTreeSet::new(),
        out: Vec::new(),
    }
    .run()
}

/// The state of walking two keyed lists side by side.
struct Zipper<'v> {
    list: &'v List,
    left: &'v [(Element, Value)],
    right: &'v [(Element, Value)],
    lives: BTreeMap<&'v Element, Option<&'v Value>>,
    configs: BTreeMap<&'v Element, &'v Value>,
    /// Elements of both lists that are still to come, in the configuration's order.
    shared: VecDeque<&'v Element>,
    done: BTreeSet<&'v Element>,
    out: Vec<Value>,
}

impl<'v> Zipper<'v> {
    fn run(mut self) -> Vec<Value> {
        let (mut l, mut r) = (0, 0);
        while l < self.left.len() || r < self.right.len() {
            let (left, right) = (self.left.get(l), self.right.get(r));
            if let (Some((a, _)), Some((b, _))) = (left, right) {
                if a == b {
                    self.take(b);
                    (l, r) = (l + 1, r + 1);
                    self.shared.pop_front();
                    continue;
                }
                if self.configs.contains_key(a) && self.shared.front().is_some_and(|next| *next != a) {
                    l += 1;
                    continue;
                }
            }
            if let Some((a, value)) = left {
                if !self.configs.contains_key(a) {
                    self.out.push(value.clone());
                    l += 1;
                    continue;
                }
                if self.done.contains(a) {
                    l += 1;
                }
            }
            if let Some((b, _)) = right {
                self.take(b);
                r += 1;
                if self.shared.front() == Some(&b) {
                    self.shared.pop_front();
                }
            }
        }
        self.out
    }

    fn take(&mut self, element: &'v Element) {
        self.done.insert(element);
        let live = self.lives.get(element).copied().flatten();
        self.out.extend(join(&self.list.item, live, self.configs.get(element).copied()));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::k8s::types::builtin;

    #[test]
    fn keyed_lists_keep_foreign_elements() {
        let of = builtin("v1", "Pod").unwrap();
        let live = json!({ "spec": { "containers": [{ "name": "a", "image": "1" }, { "name": "side", "image": "s" }] } });
        let config = json!({ "spec": { "containers": [{ "name": "b", "image": "2" }, { "name": "a", "tty": true }] } });
        assert_eq!(
            merge(&of, &live, &config),
            json!({ "spec": { "containers": [
                { "name": "b", "image": "2" }, { "name": "a", "image": "1", "tty": true }, { "name": "side", "image": "s" }
            ] } })
        );
    }
}
