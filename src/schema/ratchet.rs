//! Ratcheting: which old value a new one is held against, and whether they are equal.
//!
//! As `k8s.io/apiserver` 1.34 `pkg/cel/common/equality.go`.

use std::collections::HashMap;

use serde_json::Value;

use crate::schema::lists::key_of;
use crate::schema::node::{ListType, Node};
use crate::schema::same::same;

/// A new value with the old value of the same place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<'v> {
    pub(super) new: &'v Value,
    pub(super) old: &'v Value,
    pub(super) node: &'v Node,
}

impl<'v> Pair<'v> {
    /// The pair of a member; `None` when it is new, gone or without a schema.
    pub(super) fn key(self, name: &str) -> Option<Self> {
        let (new, old) = (self.new.get(name)?, self.old.get(name)?);
        Some(Self { new, old, node: self.node.member(name)? })
    }

    /// The old items by their keys, when the list is one whose items can be told apart.
    pub(super) fn old_items(self) -> Option<OldItems<'v>> {
        let list = self.old.as_array()?;
        OldItems::of(list, self.node)
    }

    /// The pair of an item, found by its keys among the old items.
    pub(super) fn item(self, index: usize, old_items: Option<&OldItems<'v>>) -> Option<Self> {
        let new = self.new.as_array()?.get(index)?;
        let old = old_items?.find(new)?;
        Some(Self { new, old, node: self.node.items.as_deref()? })
    }

    /// Whether nothing changed: keyed lists match by key, everything else exactly.
    ///
    /// A map with a member that has no schema never counts as unchanged, as on the server.
    pub(super) fn unchanged(self) -> bool {
        match (self.new, self.old) {
            (Value::Array(new), Value::Array(old)) => new.len() == old.len() && self.items_unchanged(new),
            (Value::Object(new), Value::Object(old)) => {
                new.len() == old.len() && new.keys().all(|name| self.key(name).is_some_and(Self::unchanged))
            }
            (new, old) => same(new, old),
        }
    }

    fn items_unchanged(self, new: &[Value]) -> bool {
        let Some(old_items) = self.old_items() else { return same(self.new, self.old) };
        (0..new.len()).all(|i| self.item(i, Some(&old_items)).is_some_and(Self::unchanged))
    }
}

/// The items of an old keyed list by their keys.
#[derive(Debug)]
pub(super) struct OldItems<'v> {
    keys: &'v [Box<str>],
    items: HashMap<String, &'v Value>,
}

impl<'v> OldItems<'v> {
    /// `None` for lists that are not keyed.
    pub(super) fn of(list: &'v [Value], node: &'v Node) -> Option<Self> {
        if node.list_type != ListType::Map {
            return None;
        }
        let keys = &*node.list_keys;
        let items = list.iter().filter(|item| item.is_object());
        Some(Self { keys, items: items.map(|item| (key_of(item, keys).to_string(), item)).collect() })
    }

    /// The old item with the keys of a new one.
    pub(super) fn find(&self, new: &Value) -> Option<&'v Value> {
        if !new.is_object() {
            return None;
        }
        self.items.get(&key_of(new, self.keys).to_string()).copied()
    }
}
