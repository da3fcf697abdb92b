//! Sets of field paths.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::element::Element;
use crate::k8s::types::Type;

/// A set of field paths: the paths that end here, and those that go on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    members: BTreeSet<Element>,
    children: BTreeMap<Element, FieldSet>,
}

impl FieldSet {
    /// Whether no path is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.values().all(Self::is_empty)
    }

    /// Adds a path of one element.
    pub fn insert(&mut self, element: Element) {
        self.members.insert(element);
    }

    /// Whether the path of one element is in it.
    #[must_use]
    pub fn has(&self, element: &Element) -> bool {
        self.members.contains(element)
    }

    /// The paths below an element.
    #[must_use]
    pub fn below(&self, element: &Element) -> Option<&Self> {
        self.children.get(element)
    }

    /// Every first element: whether a path ends there, and the paths below it.
    pub(super) fn steps(&self) -> impl Iterator<Item = (&Element, bool, Option<&Self>)> {
        let ending = self.members.iter().map(|element| (element, true, self.children.get(element)));
        let going = self.children.iter().filter(|(element, _)| !self.members.contains(element));
        ending.chain(going.map(|(element, below)| (element, false, Some(below))))
    }

    /// Puts paths below an element.
    pub fn put_below(&mut self, element: Element, set: Self) {
        if !set.is_empty() {
            match self.children.get_mut(&element) {
                Some(present) => present.add(set),
                None => {
                    self.children.insert(element, set);
                }
            }
        }
    }

    /// Adds the paths of another set.
    pub(super) fn add(&mut self, other: Self) {
        self.members.extend(other.members);
        for (element, set) in other.children {
            self.put_below(element, set);
        }
    }

    /// The paths in either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut union = self.clone();
        union.add(other.clone());
        union
    }

    /// The paths in this set and not in the other.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        let children = self.children.iter().filter_map(|(element, set)| {
            let rest = other.children.get(element).map_or_else(|| set.clone(), |other| set.difference(other));
            (!rest.is_empty()).then(|| (element.clone(), rest))
        });
        Self {
            members: self.members.difference(&other.members).cloned().collect(),
            children: children.collect(),
        }
    }

    /// Whether every path is in the other set too.
    #[must_use]
    pub fn within(&self, other: &Self) -> bool {
        let below = |(element, set): (&Element, &Self)| {
            set.is_empty() || other.children.get(element).is_some_and(|other| set.within(other))
        };
        self.members.is_subset(&other.members) && self.children.iter().all(below)
    }

    /// The paths in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let children = self.children.iter().filter_map(|(element, set)| {
            let both = set.intersection(other.children.get(element)?);
            (!both.is_empty()).then(|| (element.clone(), both))
        });
        Self {
            members: self.members.intersection(&other.members).cloned().collect(),
            children: children.collect(),
        }
    }

    /// The set without an element and everything below it.
    #[must_use]
    pub fn without(mut self, element: &Element) -> Self {
        self.members.remove(element);
        self.children.remove(element);
        self
    }

    /// The set with every declared field on the way to a path as a path of its own.
    #[must_use]
    pub fn with_named_fields(&self, of: &Type) -> Self {
        let mut members = self.members.clone();
        for element in self.children.keys() {
            if let Element::Field(name) = element
                && of.declares(name)
            {
                members.insert(element.clone());
            }
        }
        let children = self.children.iter().map(|(element, set)| {
            let of = match element {
                Element::Field(name) => of.member(name).unwrap_or(&Type::Any),
                _ => of.item(),
            };
            (element.clone(), set.with_named_fields(of))
        });
        Self { members, children: children.collect() }
    }

    /// Every path as text, in the server's order: paths that end at a level before those that go deeper.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.collect("", &mut paths);
        paths
    }

    fn collect(&self, prefix: &str, paths: &mut Vec<String>) {
        paths.extend(self.members.iter().map(|element| format!("{prefix}{element}")));
        for (element, set) in &self.children {
            set.collect(&format!("{prefix}{element}"), paths);
        }
    }

    /// The `fieldsV1` form.
    #[must_use]
    pub fn encode(&self) -> Value {
        self.encode_with(false)
    }

    fn encode_with(&self, own: bool) -> Value {
        let mut object = Map::new();
        if own {
            object.insert(".".to_owned(), Value::Object(Map::new()));
        }
        for element in &self.members {
            if !self.children.contains_key(element) {
                object.insert(element.encode(), Value::Object(Map::new()));
            }
        }
        for (element, set) in &self.children {
            object.insert(element.encode(), set.encode_with(self.members.contains(element)));
        }
        Value::Object(object)
    }

    /// Reads the `fieldsV1` form; what can't be read is left out.
    #[must_use]
    pub fn decode(fields: &Value) -> Self {
        let mut set = Self::default();
        for (name, value) in fields.as_object().into_iter().flatten() {
            let Some(element) = Element::decode(name) else { continue };
            let below = value.as_object();
            if below.is_none_or(|b| b.is_empty() || b.contains_key(".")) {
                set.members.insert(element.clone());
            }
            set.put_below(element, Self::decode(value));
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn forms_round_trip() {
        let fields = json!({ "f:a": {}, "f:b": { ".": {}, "f:c": {}, "k:{\"name\":\"x\"}": { ".": {}, "f:y": {} } },
            "f:l": { "v:\"s\"": {}, "v:1": {} } });
        assert_eq!(FieldSet::decode(&fields).encode(), fields);
    }

    #[test]
    fn paths_end_before_they_go_deeper() {
        let set = FieldSet::decode(
            &json!({ "f:a": { "f:b": {} }, "f:c": {}, "f:d": { "k:{\"n\":\"x\"}": { "f:y": {} } } }),
        );
        assert_eq!(set.paths(), [".c", ".a.b", ".d[n=\"x\"].y"]);
    }

    #[test]
    fn algebra() {
        let a = FieldSet::decode(&json!({ "f:a": {}, "f:b": { "f:c": {}, "f:d": {} } }));
        let b = FieldSet::decode(&json!({ "f:b": { ".": {}, "f:c": {} } }));
        assert_eq!(a.difference(&b).paths(), [".a", ".b.d"]);
        assert_eq!(a.intersection(&b).paths(), [".b.c"]);
        assert_eq!(a.union(&b).paths(), [".a", ".b", ".b.c", ".b.d"]);
        assert!(a.intersection(&b).within(&a) && a.within(&a.union(&b)) && !b.within(&a));
    }
}
