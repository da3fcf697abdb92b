//! What differs between two renders: objects that come, go, move or change, field by field.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::finding::ObjectName;
use crate::k8s;
use crate::render::Render;
use crate::upgrade::inventory::{Item, Place, inventory};

/// What became of an object between two renders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// Only in the new render.
    Added,
    /// Only in the old render.
    Removed,
    /// In both, brought by the same means, with other content.
    Changed,
    /// In both, brought by other means; the content may differ as well.
    Moved {
        /// Who brought it before.
        from: Place,
        /// Who brings it now.
        to: Place,
    },
}

/// One object's difference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The object.
    pub object: ObjectName,
    /// API group, empty for core.
    pub group: String,
    /// What became of it.
    #[serde(flatten)]
    pub kind: ChangeKind,
    /// Where the old render has it: template, file, or ConfigMap and key.
    pub source_before: Option<String>,
    /// Where the new render has it.
    pub source_after: Option<String>,
    /// Fields that differ; empty for objects that come or go whole.
    pub fields: Vec<FieldChange>,
}

/// One field's difference; a whole subtree that comes or goes is one change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FieldChange {
    /// Path, e.g. `spec.template.spec.containers[manager].image`; list items with a name go by it, others by position.
    pub path: String,
    /// Value before; `None` when absent.
    pub before: Option<Value>,
    /// Value after; `None` when absent.
    pub after: Option<Value>,
}

/// Every difference, in order of kind, namespace and name.
#[must_use]
pub fn diff(before: &Render, after: &Render) -> Vec<Change> {
    let (old, new) = (by_name(before), by_name(after));
    let names: BTreeSet<_> = old.keys().chain(new.keys()).collect();
    names.into_iter().filter_map(|name| change(old.get(name), new.get(name))).collect()
}

type Key = (ObjectName, String);

/// Objects by name; of several documents for one object the last brings it.
fn by_name(render: &Render) -> BTreeMap<Key, Item> {
    inventory(render).into_iter().map(|item| ((item.name.clone(), item.group.clone()), item)).collect()
}

fn change(old: Option<&Item>, new: Option<&Item>) -> Option<Change> {
    let any = new.or(old)?;
    let (kind, fields) = match (old, new) {
        (Some(old), Some(new)) => {
            let fields = if Arc::ptr_eq(&old.object, &new.object) {
                Vec::new()
            } else {
                fields(&old.object, &new.object)
            };
            match old.place == new.place {
                true if fields.is_empty() => return None,
                true => (ChangeKind::Changed, fields),
                false => (ChangeKind::Moved { from: old.place, to: new.place }, fields),
            }
        }
        (None, _) => (ChangeKind::Added, Vec::new()),
        (_, None) => (ChangeKind::Removed, Vec::new()),
    };
    Some(Change {
        object: any.name.clone(),
        group: any.group.clone(),
        kind,
        source_before: old.map(|item| item.source.clone()),
        source_after: new.map(|item| item.source.clone()),
        fields,
    })
}

/// The fields in which two objects differ, in order of their paths; rules of roles are compared by what they allow.
#[must_use]
pub fn fields(before: &Value, after: &Value) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    compare(&mut String::new(), &by_permission(before), &by_permission(after), &mut changes);
    changes
}

/// A role with its rules as a map from what they are about to the verbs; everything else as it is.
fn by_permission(object: &Value) -> Cow<'_, Value> {
    let is_role = k8s::text(object, "/apiVersion").starts_with("rbac.authorization.k8s.io/");
    let rules = object.get("rules").and_then(Value::as_array).filter(|_| is_role);
    let Some(rules) = rules else { return Cow::Borrowed(object) };
    let mut permissions: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for rule in rules {
        for about in subjects(rule) {
            permissions.entry(about).or_default().extend(texts(rule, "verbs"));
        }
    }
    let mut object = object.clone();
    object["rules"] = permissions
        .into_iter()
        .map(|(about, verbs)| (about, verbs.into_iter().collect::<Vec<_>>().join(",").into()))
        .collect::<Map<String, Value>>()
        .into();
    Cow::Owned(object)
}

/// What one rule is about: resources as `group/resource`, single ones with their names, and paths of the server.
fn subjects(rule: &Value) -> Vec<String> {
    let names: Vec<&str> = texts(rule, "resourceNames").collect();
    let names = if names.is_empty() { String::new() } else { format!(" {}", names.join(",")) };
    let mut subjects: Vec<String> = texts(rule, "nonResourceURLs").map(str::to_owned).collect();
    for group in texts(rule, "apiGroups") {
        let slash = if group.is_empty() { "" } else { "/" };
        subjects.extend(texts(rule, "resources").map(|resource| format!("{group}{slash}{resource}{names}")));
    }
    subjects
}

fn texts<'v>(rule: &'v Value, field: &str) -> impl Iterator<Item = &'v str> {
    rule.get(field).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn compare(path: &mut String, before: &Value, after: &Value, changes: &mut Vec<FieldChange>) {
    match (before, after) {
        (Value::Object(old), Value::Object(new)) => compare_maps(path, old, new, changes),
        (Value::Array(old), Value::Array(new)) => compare_lists(path, old, new, changes),
        _ if before == after => {}
        _ => changes.push(FieldChange {
            path: path.clone(),
            before: Some(before.clone()),
            after: Some(after.clone()),
        }),
    }
}

fn compare_maps(
    path: &mut String,
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    changes: &mut Vec<FieldChange>,
) {
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for key in keys {
        let length = path.len();
        push_key(path, key);
        compare_optional(path, old.get(key), new.get(key), changes);
        path.truncate(length);
    }
}

/// Lists whose items all carry distinct names are compared by name, others by position.
fn compare_lists(path: &mut String, old: &[Value], new: &[Value], changes: &mut Vec<FieldChange>) {
    if let (Some(old), Some(new)) = (named(old), named(new)) {
        let names: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
        for name in names {
            let length = path.len();
            path.push_str(&format!("[{name}]"));
            compare_optional(path, old.get(name).copied(), new.get(name).copied(), changes);
            path.truncate(length);
        }
        return;
    }
    for position in 0..old.len().max(new.len()) {
        let length = path.len();
        path.push_str(&format!("[{position}]"));
        compare_optional(path, old.get(position), new.get(position), changes);
        path.truncate(length);
    }
}

fn named(list: &[Value]) -> Option<BTreeMap<&str, &Value>> {
    let names: Option<BTreeMap<&str, &Value>> =
        list.iter().map(|item| Some((item.get("name")?.as_str()?, item))).collect();
    names.filter(|names| names.len() == list.len())
}

fn compare_optional(
    path: &mut String,
    old: Option<&Value>,
    new: Option<&Value>,
    changes: &mut Vec<FieldChange>,
) {
    match (old, new) {
        (Some(old), Some(new)) => compare(path, old, new, changes),
        (None, None) => {}
        (old, new) => {
            changes.push(FieldChange { path: path.clone(), before: old.cloned(), after: new.cloned() });
        }
    }
}

/// Appends a key; keys with dots or slashes are quoted in brackets.
fn push_key(path: &mut String, key: &str) {
    if key.contains(['.', '/', '[']) {
        path.push_str(&format!("[\"{key}\"]"));
        return;
    }
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(key);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::chart::{Chart, Values};
    use crate::render::{CrdFile, Manifest};

    fn render(crds: &[Value], manifests: &[Value]) -> Render {
        Render {
            chart: Arc::new(Chart::default()),
            values: Arc::new(Values::new()),
            config: Arc::new(Values::new()),
            crds: vec![CrdFile {
                source: "c/crds/x.yaml".into(),
                data: b"".as_slice().into(),
                objects: crds.iter().cloned().map(Arc::new).collect::<Vec<_>>().into(),
            }],
            manifests: manifests
                .iter()
                .map(|object| Manifest {
                    source: "c/templates/x.yaml".into(),
                    text: "".into(),
                    object: Arc::new(object.clone()).into(),
                })
                .collect(),
            hooks: Vec::new(),
            notes: None,
            warnings: Vec::new(),
        }
    }

    #[test]
    fn a_moved_object_keeps_its_field_changes() {
        let crd = |version: &str| json!({"kind": "CustomResourceDefinition", "metadata": {"name": "w.x"}, "spec": {"v": version}});
        let changes = diff(&render(&[crd("1")], &[]), &render(&[], &[crd("2")]));
        assert_eq!(changes.len(), 1);
        assert_eq!(changes[0].kind, ChangeKind::Moved { from: Place::Crds, to: Place::Templates });
        assert_eq!(
            changes[0].fields,
            [FieldChange { path: "spec.v".into(), before: Some(json!("1")), after: Some(json!("2")) }]
        );
    }

    #[test]
    fn what_lies_in_lists_is_compared_as_outside_of_them() {
        let hook = json!({"kind": "Job", "metadata": {"name": "install"}, "spec": {"template": {"spec": {
            "containers": [], "volumes": [{"configMap": {"name": "runtimes"}}]}}}});
        let list = |items: Value| json!({"apiVersion": "v1", "kind": "List", "items": items});
        let runtime = |image: &str| json!({"apiVersion": "example.test/v1", "kind": "Runtime", "metadata": {"name": "torch"}, "spec": {"image": image}});
        let config = |text: Value| json!({"kind": "ConfigMap", "metadata": {"name": "runtimes"}, "data": {"r.yaml": crate::yaml::from_json(&text)}});
        let with = |manifests: &[Value]| {
            let mut render = render(&[], manifests);
            let hooks = self::render(&[], &[list(json!([hook]))]).manifests.into_iter();
            render.hooks = hooks
                .map(|manifest| crate::render::Hook {
                    manifest,
                    events: Vec::new(),
                    weight: 0,
                    delete_policies: Vec::new(),
                })
                .collect();
            render
        };
        let before = with(&[list(json!([runtime("1"), config(json!({}))]))]);
        let after = with(&[list(json!([config(list(json!([runtime("2")])))]))]);
        let changes = diff(&before, &after);
        let moved = changes.iter().find(|change| change.object.name == "torch").expect("it moves");
        assert_eq!(moved.kind, ChangeKind::Moved { from: Place::Templates, to: Place::HookConfigMap });
        assert_eq!(moved.source_after.as_deref(), Some("c/templates/x.yaml#r.yaml"));
        assert_eq!(moved.fields.len(), 1, "{moved:?}");
        let facts = crate::render::facts::read(&after);
        assert_eq!(facts.runtimes.len(), 1);
    }

    #[test]
    fn paths_name_list_items_and_quote_odd_keys() {
        let old = json!({"spec": {"containers": [{"name": "a", "image": "1"}], "args": ["x"]}, "metadata": {"labels": {"a.b/c": "1"}}});
        let new = json!({"spec": {"containers": [{"name": "b"}, {"name": "a", "image": "2"}], "args": ["x", "y"]}, "metadata": {"labels": {}}});
        let paths: Vec<_> = fields(&old, &new).into_iter().map(|change| change.path).collect();
        assert_eq!(
            paths,
            ["metadata.labels[\"a.b/c\"]", "spec.args[1]", "spec.containers[a].image", "spec.containers[b]"]
        );
    }

    #[test]
    fn rules_of_roles_are_compared_by_what_they_allow() {
        let role = |rules: Value| json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "rules": rules});
        let rule = |resources: &[&str], verbs: &[&str]| json!({"apiGroups": ["", "apps"], "resources": resources, "verbs": verbs});
        let split = role(json!([rule(&["a"], &["get"]), rule(&["b"], &["list"]), rule(&["a"], &["list"])]));
        let joined = role(json!([rule(&["b"], &["list"]), rule(&["a"], &["list", "get"])]));
        assert_eq!(fields(&split, &joined), []);
        let more = role(json!([rule(&["b"], &["list", "delete"]), rule(&["a"], &["list", "get"])]));
        let found: Vec<_> = fields(&joined, &more)
            .into_iter()
            .map(|change| (change.path, change.before, change.after))
            .collect();
        let verbs = |path: &str| (path.to_owned(), Some(json!("list")), Some(json!("delete,list")));
        assert_eq!(found, [verbs("rules[\"apps/b\"]"), verbs("rules.b")]);
    }

    #[test]
    fn same_renders_do_not_differ() {
        let object = json!({"kind": "ConfigMap", "metadata": {"name": "c"}});
        assert_eq!(
            diff(&render(&[], std::slice::from_ref(&object)), &render(&[], std::slice::from_ref(&object))),
            []
        );
    }
}
