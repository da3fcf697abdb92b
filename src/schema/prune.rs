//! Pruning of unknown fields and of nulls.
//!
//! As apiextensions-apiserver 1.34 `pkg/apiserver/schema/pruning/algorithm.go` and `defaulting/prunenulls.go`.

use serde_json::Value;

use crate::schema::node::{Additional, Node};
use crate::schema::structural::Structural;

const META_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

impl Structural {
    /// Removes the fields that the schema does not know; returns their paths, sorted.
    ///
    /// `apiVersion`, `kind` and `metadata` of the object and of embedded resources stay; unknown fields inside
    /// metadata are the business of [`Structural::coerce`].
    pub fn prune(&self, object: &mut Value) -> Vec<String> {
        let mut walk = Walk { path: Vec::new(), pruned: Vec::new() };
        walk.prune(object, Some(&self.root), true);
        walk.pruned.sort();
        walk.pruned
    }

    /// Prunes a value that is not a whole object, such as a default.
    pub(super) fn prune_value(&self, value: &mut Value) {
        let mut walk = Walk { path: Vec::new(), pruned: Vec::new() };
        walk.prune(value, Some(&self.root), false);
    }

    /// The paths that [`Structural::prune`] would remove.
    #[must_use]
    pub fn unknown_fields(&self, object: &Value) -> Vec<String> {
        self.prune(&mut object.clone())
    }

    /// Removes nulls where they are neither allowed nor replaced by a default.
    pub fn drop_nulls(&self, object: &mut Value) {
        drop_nulls(object, &self.root);
    }
}

struct Walk {
    path: Vec<String>,
    pruned: Vec<String>,
}

impl Walk {
    fn prune(&mut self, value: &mut Value, node: Option<&Node>, root: bool) {
        match node {
            Some(node) if node.preserve_unknown => self.skip(value, node, root),
            Some(node) => self.known(value, node, root),
            None => self.unknown(value),
        }
    }

    /// Prunes under a schema.
    fn known(&mut self, value: &mut Value, node: &Node, root: bool) {
        match value {
            Value::Object(map) => {
                let keeps_meta = node.embedded || root;
                let mut gone = Vec::new();
                for (name, member) in map.iter_mut() {
                    if keeps_meta && META_FIELDS.contains(&name.as_str()) {
                        continue;
                    }
                    match next(node, name) {
                        Some(below) => self.under(key_step(name), |walk| walk.prune(member, below, false)),
                        None => gone.push(name.clone()),
                    }
                }
                for name in gone {
                    map.remove(&name);
                    self.record(&name);
                }
            }
            Value::Array(list) => {
                for (i, item) in list.iter_mut().enumerate() {
                    self.under(format!("[{i}]"), |walk| walk.prune(item, node.items.as_deref(), false));
                }
            }
            _ => {}
        }
    }

    /// Keeps what is unknown, prunes below what is specified.
    fn skip(&mut self, value: &mut Value, node: &Node, root: bool) {
        match value {
            Value::Object(map) => {
                let keeps_meta = node.embedded || root;
                for (name, member) in map.iter_mut() {
                    if keeps_meta && META_FIELDS.contains(&name.as_str()) {
                        continue;
                    }
                    if let Some(below) = next(node, name) {
                        self.under(key_step(name), |walk| walk.prune(member, below, false));
                    }
                }
            }
            Value::Array(list) => {
                let Some(items) = node.items.as_deref() else { return };
                for (i, item) in list.iter_mut().enumerate() {
                    self.under(format!("[{i}]"), |walk| walk.skip(item, items, false));
                }
            }
            _ => {}
        }
    }

    /// Where no schema applies every member goes; lists of lists are walked without recursion.
    fn unknown(&mut self, value: &mut Value) {
        let mut rest = vec![(value, String::new())];
        while let Some((value, at)) = rest.pop() {
            match value {
                Value::Object(map) => {
                    for name in map.keys() {
                        self.pruned.push(join(&format!("{}{at}", self.here()), name));
                    }
                    map.clear();
                }
                Value::Array(list) => {
                    for (i, item) in list.iter_mut().enumerate() {
                        rest.push((item, format!("{at}[{i}]")));
                    }
                }
                _ => {}
            }
        }
    }

    fn under(&mut self, step: String, walk: impl FnOnce(&mut Self)) {
        self.path.push(step);
        walk(self);
        self.path.pop();
    }

    fn here(&self) -> String {
        self.path.concat().trim_start_matches('.').to_owned()
    }

    fn record(&mut self, name: &str) {
        self.pruned.push(join(&self.here(), name));
    }
}

fn key_step(name: &str) -> String {
    format!(".{name}")
}

fn join(parent: &str, name: &str) -> String {
    if parent.is_empty() { name.to_owned() } else { format!("{parent}.{name}") }
}

/// The schema below a member: outer `None` when the member is unknown, inner `None` when anything goes away below it.
fn next<'n>(node: &'n Node, name: &str) -> Option<Option<&'n Node>> {
    if let Some(property) = node.property(name) {
        return Some(Some(property));
    }
    match node.additional.as_deref()? {
        Additional::Schema(node) => Some(Some(node)),
        // `additionalProperties: false` counts as present here: only `crd` refuses it.
        Additional::Allowed(_) => Some(None),
    }
}

fn drop_nulls(value: &mut Value, node: &Node) {
    match value {
        Value::Object(map) => {
            map.retain(|name, member| match node.member(name) {
                Some(below) if member.is_null() => below.nullable || below.default.is_some(),
                Some(below) => {
                    drop_nulls(member, below);
                    true
                }
                None => true,
            });
        }
        Value::Array(list) => {
            let Some(items) = node.items.as_deref() else { return };
            for item in list {
                drop_nulls(item, items);
            }
        }
        _ => {}
    }
}
