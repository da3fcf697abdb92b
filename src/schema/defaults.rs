//! Defaults: filled in below parents that are present.
//!
//! As apiextensions-apiserver 1.34 `pkg/apiserver/schema/defaulting/algorithm.go`.

use serde_json::Value;

use crate::schema::node::Node;
use crate::schema::structural::Structural;

impl Structural {
    /// Drops nulls that are not allowed, then fills in defaults below parents that are present.
    pub fn default(&self, object: &mut Value) {
        self.drop_nulls(object);
        if self.root.has_defaults {
            fill(object, &self.root);
        }
    }
}

fn fill(value: &mut Value, node: &Node) {
    if !node.has_defaults {
        return;
    }
    match value {
        Value::Object(map) => {
            for (name, property) in &node.properties {
                let Some(default) = property.default.as_deref() else { continue };
                let missing =
                    map.get(name.as_ref()).is_none_or(|value| value.is_null() && !property.nullable);
                if missing {
                    map.insert(name.to_string(), default.clone());
                }
            }
            for (name, member) in map.iter_mut() {
                match node.property(name) {
                    Some(property) => fill(member, property),
                    None => fill_undeclared(member, node.additional_schema()),
                }
            }
        }
        Value::Array(list) => {
            for item in list {
                fill_undeclared(item, node.items.as_deref());
            }
        }
        _ => {}
    }
}

/// Items and members of maps: a null that is not allowed becomes the default.
fn fill_undeclared(value: &mut Value, node: Option<&Node>) {
    let Some(node) = node else { return };
    if value.is_null()
        && !node.nullable
        && let Some(default) = node.default.as_deref()
    {
        *value = default.clone();
    }
    fill(value, node);
}
