//! The objects that live in a simulated cluster, shared between forks until one of them writes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::k8s::{references, text};

type Objects = BTreeMap<String, BTreeMap<String, Arc<Value>>>;

/// All objects of one group and kind, by namespace and name.
#[derive(Clone, Debug)]
struct Table {
    group: Arc<str>,
    kind: Arc<str>,
    objects: Arc<Objects>,
}

/// Where an object lives: group, kind, namespace (empty when cluster-scoped) and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// API group; empty for core.
    pub group: Arc<str>,
    /// Kind.
    pub kind: Arc<str>,
    /// Namespace; empty when cluster-scoped.
    pub namespace: String,
    /// Name.
    pub name: String,
}

/// One write as it reached the store.
#[derive(Clone, Debug)]
pub struct Change {
    /// Which object.
    pub key: Key,
    /// What was stored before; `None` for a creation.
    pub old: Option<Arc<Value>>,
    /// What is stored now; `None` for a removal.
    pub new: Option<Arc<Value>>,
}

/// The store; a clone shares every object.
#[derive(Clone, Debug, Default)]
pub(super) struct Store {
    tables: Vec<Table>,
    /// Keys of the objects that name a UID among their owners.
    dependents: Arc<BTreeMap<String, Vec<Key>>>,
    /// UIDs of live objects.
    uids: Arc<BTreeMap<String, Key>>,
    /// What pods may refer to and is known not to be there: it was once, or it is about to come.
    gone: Arc<BTreeSet<Key>>,
}

impl Store {
    fn position(&self, group: &str, kind: &str) -> Result<usize, usize> {
        self.tables.binary_search_by(|t| (&*t.group, &*t.kind).cmp(&(group, kind)))
    }

    fn table(&self, group: &str, kind: &str) -> Option<&Table> {
        self.position(group, kind).ok().and_then(|at| self.tables.get(at))
    }

    /// One object.
    pub(super) fn get(&self, group: &str, kind: &str, namespace: &str, name: &str) -> Option<&Arc<Value>> {
        self.table(group, kind)?.objects.get(namespace)?.get(name)
    }

    /// All objects of a kind in a namespace, or in all of them when it is empty, in order of namespace and name.
    pub(super) fn list<'s>(
        &'s self,
        group: &str,
        kind: &str,
        namespace: &'s str,
    ) -> impl Iterator<Item = &'s Arc<Value>> {
        let table = self.table(group, kind);
        table
            .into_iter()
            .flat_map(move |t| {
                t.objects.iter().filter(move |(ns, _)| namespace.is_empty() || *ns == namespace)
            })
            .flat_map(|(_, objects)| objects.values())
    }

    /// Every object, in order of group, kind, namespace and name.
    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Value>> {
        self.tables.iter().flat_map(|t| t.objects.values()).flat_map(BTreeMap::values)
    }

    /// Every object of one namespace with its key.
    pub(super) fn in_namespace(&self, namespace: &str) -> Vec<(Key, Arc<Value>)> {
        let mut found = Vec::new();
        for table in &self.tables {
            for (name, object) in table.objects.get(namespace).into_iter().flatten() {
                found.push((table.key(namespace, name), object.clone()));
            }
        }
        found
    }

    /// Keys of the objects that name this UID among their owners.
    pub(super) fn dependents(&self, uid: &str) -> &[Key] {
        self.dependents.get(uid).map_or(&[], Vec::as_slice)
    }

    /// The live object with this UID.
    pub(super) fn by_uid(&self, uid: &str) -> Option<&Key> {
        self.uids.get(uid)
    }

    /// Notes that an object is not there.
    pub(super) fn miss(&mut self, key: Key) {
        let refers = references::KINDS.contains(&(&*key.group, &*key.kind));
        if refers && self.get(&key.group, &key.kind, &key.namespace, &key.name).is_none() {
            Arc::make_mut(&mut self.gone).insert(key);
        }
    }

    /// Whether an object that pods may refer to is known not to be there.
    pub(super) fn is_gone(&self, group: &str, kind: &str, namespace: &str, name: &str) -> bool {
        let is_it = |key: &Key| {
            (&*key.group, &*key.kind, &*key.namespace, &*key.name) == (group, kind, namespace, name)
        };
        self.gone.iter().any(is_it)
    }

    /// Puts an object in its place; returns what was there.
    pub(super) fn put(&mut self, key: &Key, object: Arc<Value>) -> Option<Arc<Value>> {
        if self.gone.contains(key) {
            Arc::make_mut(&mut self.gone).remove(key);
        }
        let at = match self.position(&key.group, &key.kind) {
            Ok(at) => at,
            Err(at) => {
                let table =
                    Table { group: key.group.clone(), kind: key.kind.clone(), objects: Arc::default() };
                self.tables.insert(at, table);
                at
            }
        };
        let old = self.get(&key.group, &key.kind, &key.namespace, &key.name).cloned();
        self.index(key, old.as_deref(), Some(&object));
        let table = self.tables.get_mut(at)?;
        Arc::make_mut(&mut table.objects)
            .entry(key.namespace.clone())
            .or_default()
            .insert(key.name.clone(), object);
        old
    }

    /// Takes an object away; returns it.
    pub(super) fn remove(&mut self, key: &Key) -> Option<Arc<Value>> {
        let at = self.position(&key.group, &key.kind).ok()?;
        let old = self.get(&key.group, &key.kind, &key.namespace, &key.name).cloned()?;
        self.index(key, Some(&old), None);
        let objects = Arc::make_mut(&mut self.tables.get_mut(at)?.objects);
        let names = objects.get_mut(&key.namespace)?;
        names.remove(&key.name);
        if names.is_empty() {
            objects.remove(&key.namespace);
        }
        self.miss(key.clone());
        Some(old)
    }

    fn index(&mut self, key: &Key, old: Option<&Value>, new: Option<&Value>) {
        let (before, after) = (owners(old), owners(new));
        if before != after {
            let dependents = Arc::make_mut(&mut self.dependents);
            for uid in before {
                if let Some(keys) = dependents.get_mut(uid) {
                    keys.retain(|k| k != key);
                }
            }
            for uid in after {
                dependents.entry(uid.to_owned()).or_default().push(key.clone());
            }
        }
        let (before, after) = (uid(old), uid(new));
        if before != after {
            let uids = Arc::make_mut(&mut self.uids);
            uids.remove(before);
            if !after.is_empty() {
                uids.insert(after.to_owned(), key.clone());
            }
        }
    }
}

impl Table {
    fn key(&self, namespace: &str, name: &str) -> Key {
        Key {
            group: self.group.clone(),
            kind: self.kind.clone(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }
}

fn uid(object: Option<&Value>) -> &str {
    object.map_or("", |o| text(o, "/metadata/uid"))
}

fn owners(object: Option<&Value>) -> Vec<&str> {
    let references = object.and_then(|o| o.get("metadata")?.get("ownerReferences")?.as_array());
    references.into_iter().flatten().map(|r| text(r, "/uid")).collect()
}
