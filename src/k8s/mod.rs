//! Nouns of Kubernetes: kinds and resources, object access, names, labels.

use std::sync::Arc;

use serde_json::Value;

use crate::finding::ObjectName;

pub mod apply;
pub mod catalogue;
pub mod collection;
pub mod decode;
pub mod dns;
pub mod form;
pub mod manifests;
pub mod names;
pub mod patch;
pub mod quantity;
pub mod references;
pub mod selector;
pub mod strategic;
pub mod types;

/// Group, version and kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gvk {
    /// API group; empty for the core group.
    pub group: String,
    /// Version, e.g. `v1alpha1`.
    pub version: String,
    /// Kind.
    pub kind: String,
}

impl Gvk {
    /// Reads `apiVersion` and `kind` of an object; missing ones are empty.
    #[must_use]
    pub fn of(object: &Value) -> Self {
        let (group, version) = split_api_version(text(object, "/apiVersion"));
        Self { group: group.to_owned(), version: version.to_owned(), kind: text(object, "/kind").to_owned() }
    }

    /// `group/version`, or the version alone in the core group.
    #[must_use]
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }
}

/// Splits an `apiVersion` into group (empty for core) and version.
#[must_use]
pub fn split_api_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

/// A string at a JSON pointer; empty when absent or of another type.
#[must_use]
pub fn text<'v>(object: &'v Value, pointer: &str) -> &'v str {
    object.at(pointer).and_then(Value::as_str).unwrap_or("")
}

/// JSON pointers without allocations: rehearsals follow millions of them.
pub trait At {
    /// As [`Value::pointer`].
    fn at(&self, pointer: &str) -> Option<&Value>;
}

impl At for Value {
    fn at(&self, pointer: &str) -> Option<&Value> {
        let (mut value, mut rest) = (self, pointer);
        while let Some(path) = rest.strip_prefix('/') {
            let end = path.bytes().position(|byte| matches!(byte, b'/' | b'~')).unwrap_or(path.len());
            let (part, tail) = path.split_at(end);
            if tail.starts_with('~') {
                return value.pointer(rest);
            }
            value = step(value, part)?;
            rest = tail;
        }
        rest.is_empty().then_some(value)
    }
}

fn step<'v>(value: &'v Value, part: &str) -> Option<&'v Value> {
    match value {
        Value::Object(map) if map.len() <= FEW => member(map, part),
        Value::Object(map) => map.get(part),
        Value::Array(items) => items.get(index(part)?),
        _ => None,
    }
}

/// Members up to which looking at each is quicker than searching: most names differ in length already.
const FEW: usize = 11;

fn member<'v>(map: &'v serde_json::Map<String, Value>, part: &str) -> Option<&'v Value> {
    map.iter().find(|(key, _)| key.len() == part.len() && *key == part).map(|(_, value)| value)
}

/// A position in a list: digits without leading zeros.
fn index(part: &str) -> Option<usize> {
    let plain = part == "0" || !part.starts_with(['0', '+']);
    part.parse().ok().filter(|_| plain)
}

/// The object's name in reports.
#[must_use]
pub fn object_name(object: &Value) -> ObjectName {
    ObjectName {
        kind: text(object, "/kind").to_owned(),
        namespace: text(object, "/metadata/namespace").to_owned(),
        name: text(object, "/metadata/name").to_owned(),
    }
}

/// The objects of a document: the items of a `…List`, of those in it too, or the object itself; none for a document that
/// holds only comments.
///
/// Source: k8s.io/cli-runtime v0.34, `pkg/resource/visitor.go`, `FlattenListVisitor`.
#[must_use]
pub fn members(document: &Arc<Value>) -> Vec<Arc<Value>> {
    let items = |object: &Arc<Value>| -> Option<Vec<Arc<Value>>> {
        let items = object.get("items").and_then(Value::as_array)?;
        text(object, "/kind").ends_with("List").then(|| items.iter().cloned().map(Arc::new).collect())
    };
    let mut queue = vec![Arc::clone(document)];
    let mut found = Vec::new();
    while !queue.is_empty() {
        let mut inner = Vec::new();
        for object in queue {
            match items(&object) {
                Some(items) => inner.extend(items),
                None if object.is_null() => {}
                None => found.push(object),
            }
        }
        queue = inner;
    }
    found
}

/// A condition of an object's status, by its type.
#[must_use]
pub fn condition<'v>(object: &'v Value, kind: &str) -> Option<&'v Value> {
    object.at("/status/conditions")?.as_array()?.iter().find(|condition| text(condition, "/type") == kind)
}

/// A condition of an object's status that holds, by its type.
#[must_use]
pub fn held<'v>(object: &'v Value, kind: &str) -> Option<&'v Value> {
    condition(object, kind).filter(|condition| text(condition, "/status") == "True")
}

/// The reference to the owner that controls an object.
#[must_use]
pub fn controller(object: &Value) -> Option<&Value> {
    items(object, "/metadata/ownerReferences")
        .find(|owner| owner.get("controller") == Some(&Value::Bool(true)))
}

/// The elements of a list at a JSON pointer; none where there is no list.
pub fn items<'v>(object: &'v Value, pointer: &str) -> impl Iterator<Item = &'v Value> {
    object.at(pointer).and_then(Value::as_array).into_iter().flatten()
}

/// One annotation's value.
#[must_use]
pub fn annotation<'v>(object: &'v Value, key: &str) -> Option<&'v str> {
    object.get("metadata")?.get("annotations")?.get(key)?.as_str()
}

/// One label's value.
#[must_use]
pub fn label<'v>(object: &'v Value, key: &str) -> Option<&'v str> {
    object.get("metadata")?.get("labels")?.get(key)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_taken_apart_and_comments_are_no_objects() {
        let named = |name: &str| serde_json::json!({"kind": "ConfigMap", "metadata": {"name": name}});
        let inner = serde_json::json!({"kind": "ConfigMapList", "items": [named("b")]});
        let list = serde_json::json!({"kind": "List", "items": [inner, named("a"), null]});
        let names = |document: Value| -> Vec<String> {
            members(&Arc::new(document)).iter().map(|one| object_name(one).name).collect()
        };
        assert_eq!(names(list), ["a", "b"]);
        assert_eq!(names(named("c")), ["c"]);
        assert!(names(Value::Null).is_empty());
        // Of other kinds `items` is a field like any other.
        let menu = serde_json::json!({"kind": "Menu", "metadata": {"name": "m"}, "items": [named("d")]});
        assert_eq!(names(menu), ["m"]);
    }

    #[test]
    fn pointers_are_followed_as_json_has_them() {
        let object = serde_json::json!({"a": {"b~c": [1, {"d/e": 2, "": 3}]}, "wide": (0..20).map(|n| (n.to_string(), n)).collect::<std::collections::BTreeMap<_, _>>()});
        let pointers = [
            "",
            "/",
            "a",
            "/a",
            "/a/",
            "/a/b~0c/0",
            "/a/b~0c/01",
            "/a/b~0c/1/d~1e",
            "/a/b~0c/1/",
            "/x/b~0c",
            "/wide/7",
            "/wide/77",
        ];
        for pointer in pointers {
            assert_eq!(object.at(pointer), object.pointer(pointer), "{pointer}");
        }
    }
}
