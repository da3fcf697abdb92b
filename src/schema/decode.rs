//! Stored values that a typed client of the new schema can't decode.
//!
//! A typed list fails as a whole when one object of it does, and an informer never syncs.

use serde_json::Value;

use crate::schema::node::{Kind, Node};
use crate::schema::path::Path;
use crate::schema::structural::Structural;
use crate::schema::validate::json_kind;

/// One value that does not fit the type a client was generated with.
#[derive(Clone, Debug, PartialEq)]
pub struct Undecodable {
    /// Path of the value.
    pub path: String,
    /// The stored value.
    pub value: Value,
    /// The type that a client expects, e.g. `int32`.
    pub wanted: String,
}

/// The values of a stored object that a client generated from the schema can't decode.
///
/// Go's decoder refuses a string for a number, a fraction or an out-of-range number for an integer; null fits all.
#[must_use]
pub fn undecodable(after: &Structural, object: &Value) -> Vec<Undecodable> {
    let mut found = Vec::new();
    walk(object, &after.root, &Path::ROOT, &mut found);
    found
}

fn walk(value: &Value, node: &Node, at: &Path<'_>, found: &mut Vec<Undecodable>) {
    if value.is_null() {
        return;
    }
    if let Some(wanted) = misfit(value, node) {
        found.push(Undecodable { path: at.to_string(), value: value.clone(), wanted });
        return;
    }
    match value {
        Value::Object(map) => {
            for (name, member) in map {
                if let Some(below) = node.member(name) {
                    walk(member, below, &at.field(name), found);
                }
            }
        }
        Value::Array(list) => {
            let Some(items) = node.items.as_deref() else { return };
            for (i, item) in list.iter().enumerate() {
                walk(item, items, &at.index(i), found);
            }
        }
        _ => {}
    }
}

/// The type that was wanted, when the value does not fit it.
fn misfit(value: &Value, node: &Node) -> Option<String> {
    let format = node.values.as_deref().map_or("", |values| &values.written_format);
    if node.int_or_string {
        let fits = value.is_string() || value.as_i64().is_some_and(|i| i32::try_from(i).is_ok());
        return (!fits).then(|| "int32 or string".to_owned());
    }
    let kind = node.kind?;
    let fits = match kind {
        Kind::Integer => value.as_i64().is_some_and(|i| format != "int32" || i32::try_from(i).is_ok()),
        Kind::Number => value.is_number(),
        kind => json_kind(value) == kind.name(),
    };
    let named = if kind == Kind::Integer && !format.is_empty() { format } else { kind.name() };
    (!fits).then(|| named.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::undecodable;
    use crate::schema::{KubeVersion, Structural};

    #[test]
    fn finds_the_string_in_a_number() {
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "n": {"type": "integer", "format": "int32"}, "q": {"x-kubernetes-int-or-string": true}}}}});
        let schema = Structural::compile(&schema, KubeVersion::RECORDED).unwrap();
        let good = json!({"spec": {"n": 4, "q": "1Gi"}});
        assert!(undecodable(&schema, &good).is_empty());
        let bad = json!({"spec": {"n": "auto", "q": 1}});
        let found = undecodable(&schema, &bad);
        assert_eq!((found[0].path.as_str(), found[0].wanted.as_str(), found.len()), ("spec.n", "int32", 1));
        assert_eq!(undecodable(&schema, &json!({"spec": {"n": 3_000_000_000_i64}})).len(), 1);
    }
}
