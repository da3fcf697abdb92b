//! Objects that are to live in one cluster together: each is there once, and what owns another is there as well.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::manifests::{Error, Manifest};
use super::{At as _, Gvk, form, object_name, text};
use crate::finding::ObjectName;

const TWICE: &str = "Keep the one that is true; a cluster holds each object once.";
const UID: &str = "A UID belongs to one object; take it from the cluster, or leave it out.";

/// Checks objects of files one by one and against each other. Two views of one object (the same UID, kind and name in two
/// groups, as Events have) become the first.
///
/// # Errors
/// Objects that can't live in a cluster ([`form::lives`]), that are there twice, or that share a UID.
pub fn checked(manifests: Vec<Manifest>) -> Result<Vec<Manifest>, Error> {
    let keys: Vec<Key> = manifests.iter().map(|manifest| Key::of(&manifest.object)).collect();
    let mut seen = Seen::default();
    let mut views = HashSet::new();
    for (at, (manifest, key)) in manifests.iter().zip(&keys).enumerate() {
        form::lives(&manifest.object).map_err(|fault| manifest.place.fault(&fault))?;
        if !seen.takes(manifest, key)? {
            views.insert(at);
        }
    }
    let kept = manifests.into_iter().enumerate().filter(|(at, _)| !views.contains(at));
    Ok(kept.map(|(_, manifest)| manifest).collect())
}

/// The objects that were met, by what tells them apart.
#[derive(Default)]
struct Seen<'m> {
    names: HashMap<(&'m str, &'m ObjectName), &'m Manifest>,
    uids: HashMap<&'m str, (&'m Manifest, &'m ObjectName)>,
}

impl<'m> Seen<'m> {
    /// Whether an object is a new one, and no other view of one that was met.
    fn takes(&mut self, manifest: &'m Manifest, key: &'m Key) -> Result<bool, Error> {
        let clash = |first: &Manifest, what: String, pointer: &str, hint| {
            let message = format!("{what}, as in {}", first.place.whole());
            Err(manifest.place.fault(&form::Fault { pointer: pointer.to_owned(), message, hint }))
        };
        if let Some(first) = self.names.insert((&key.group, &key.name), manifest) {
            return clash(first, format!("{} is there twice", shown(&key.name)), "", TWICE);
        }
        if key.uid.is_empty() {
            return Ok(true);
        }
        match self.uids.get(key.uid.as_str()) {
            Some((_, name)) if **name == key.name => Ok(false),
            Some((first, _)) => {
                clash(first, format!("{} has the uid {}", shown(&key.name), key.uid), "/metadata/uid", UID)
            }
            None => {
                self.uids.insert(&key.uid, (manifest, &key.name));
                Ok(true)
            }
        }
    }
}

/// What tells an object from others.
struct Key {
    group: String,
    name: ObjectName,
    uid: String,
}

impl Key {
    fn of(object: &Value) -> Self {
        let uid = text(object, "/metadata/uid").to_owned();
        Self { group: Gvk::of(object).group, name: object_name(object), uid }
    }
}

/// `Kind name in namespace`.
fn shown(ObjectName { kind, namespace, name }: &ObjectName) -> String {
    if namespace.is_empty() { format!("{kind} {name}") } else { format!("{kind} {name} in {namespace}") }
}

/// An object none of whose owners is there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Orphan {
    /// The object.
    pub name: ObjectName,
    /// Its first owner, as its reference names it: kind, name and UID.
    pub owner: String,
}

/// Objects that a garbage collector deletes at once, as none of their owners is among the others. An owner is another
/// object with the UID that a reference names, outside of namespaces or in the dependent's own.
///
/// Source: Kubernetes 1.34.3, `pkg/controller/garbagecollector/garbagecollector.go`, `attemptToDeleteItem`; a reference
/// whose owner is absent does no harm as long as another owner is there.
pub fn orphans<'o>(objects: impl Iterator<Item = &'o Value> + Clone) -> Vec<Orphan> {
    let uids: HashMap<&str, &str> = objects
        .clone()
        .map(|object| (text(object, "/metadata/uid"), text(object, "/metadata/namespace")))
        .filter(|(uid, _)| !uid.is_empty())
        .collect();
    let alive = objects.filter(|object| object.at("/metadata/deletionTimestamp").is_none_or(Value::is_null));
    let mut orphans: Vec<Orphan> = alive.filter_map(|object| orphan(object, &uids)).collect();
    orphans.sort();
    orphans
}

fn orphan(object: &Value, uids: &HashMap<&str, &str>) -> Option<Orphan> {
    let references = object.at("/metadata/ownerReferences")?.as_array()?;
    let namespace = text(object, "/metadata/namespace");
    let there = |reference: &Value| {
        uids.get(text(reference, "/uid")).is_some_and(|place| place.is_empty() || *place == namespace)
    };
    let first = references.first().filter(|_| !references.iter().any(there))?;
    let [kind, name, uid] = ["/kind", "/name", "/uid"].map(|pointer| text(first, pointer));
    Some(Orphan { name: object_name(object), owner: format!("{kind} {name} with uid {uid}") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::k8s::manifests;
    use crate::limits::Limits;

    fn read(text: &str) -> Result<Vec<Manifest>, Error> {
        checked(manifests::read("s.yaml", text.as_bytes(), &Limits::default())?)
    }

    fn config_map(name: &str, more: &str) -> String {
        format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, namespace: ns{more}}}}}\n")
    }

    #[test]
    fn each_object_is_there_once() {
        let (a, b) = (config_map("a", ""), config_map("b", ""));
        assert_eq!(read(&format!("{a}---\n{b}")).unwrap().len(), 2);
        let twice = read(&format!("{a}---\n{b}---\n{a}")).unwrap_err();
        assert_eq!(
            twice.message,
            "s.yaml:5: document 3: ConfigMap a in ns is there twice, as in s.yaml:1: document 1"
        );
        let versions = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: a, namespace: ns}}\n- {apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a, namespace: ns}}\n";
        let twice = read(versions).unwrap_err();
        assert_eq!(
            twice.message,
            "s.yaml:5: document 1, item 2: HorizontalPodAutoscaler a in ns is there twice, as in s.yaml:4: document 1, item 1"
        );
    }

    #[test]
    fn a_uid_belongs_to_one_object() {
        let (a, b) = (config_map("a", ", uid: x"), config_map("b", ", uid: x"));
        let shared = read(&format!("{a}---\n{b}")).unwrap_err();
        assert_eq!(
            shared.message,
            "s.yaml:3: document 2: ConfigMap b in ns has the uid x, as in s.yaml:1: document 1"
        );
        let event = |version: &str| {
            format!("{{apiVersion: {version}, kind: Event, metadata: {{name: e, namespace: ns, uid: x}}}}\n")
        };
        let views = read(&format!("{}---\n{}", event("v1"), event("events.k8s.io/v1"))).unwrap();
        assert_eq!(views.iter().map(|view| text(&view.object, "/apiVersion")).collect::<Vec<_>>(), ["v1"]);
    }

    #[test]
    fn owners_that_are_not_there_are_named() {
        let owned = |name: &str, uids: &[&str]| {
            let reference = |uid: &&str| format!("{{apiVersion: v1, kind: Pod, name: p, uid: {uid}}}");
            let references: Vec<String> = uids.iter().map(reference).collect();
            config_map(name, &format!(", ownerReferences: [{}]", references.join(", ")))
        };
        let all = [config_map("owner", ", uid: o"), owned("kept", &["gone", "o"]), owned("lost", &["gone"])];
        let read = read(&all.join("---\n")).unwrap();
        assert_eq!(
            orphans(read.iter().map(|manifest| &manifest.object)),
            [Orphan { name: object_name(&read[2].object), owner: "Pod p with uid gone".to_owned() }]
        );
    }
}
