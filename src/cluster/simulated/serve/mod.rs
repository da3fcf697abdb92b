//! Handling of one request: who answers it, and the steps that every write shares.

use std::sync::Arc;

use serde_json::{Value, json};

use super::discovery::Target;
use super::status::Refusal;
use super::store::{Change, Key};
use super::{Simulated, clock, schemas};
use crate::cluster::{Request, Response, Verb};
use crate::k8s::text;

mod access;
mod admit;
mod allocation;
mod body;
mod defaults;
mod delete;
mod inspect;
mod metadata;
mod patch;
mod plugins;
mod read;
mod rules;
mod scale;
mod write;

pub(super) use read::in_version;

/// An answer or a refusal.
pub(super) type Answer = Result<Response, Refusal>;

/// A namespace that exists from the start.
/// A namespace as the server makes it.
#[must_use]
pub fn namespace_object(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": { "name": name, "labels": { "kubernetes.io/metadata.name": name } },
        "spec": { "finalizers": ["kubernetes"] }, "status": { "phase": "Active" },
    })
}

impl Simulated {
    /// Answers one request.
    pub(super) fn serve(&mut self, request: &Request, by: &str) -> Response {
        let answer = match self.folded(request) {
            Some(folded) => self.dispatch(&folded, by),
            None => self.dispatch(request, by),
        };
        answer.unwrap_or_else(Response::from)
    }

    /// The request with its body folded, where that makes a difference.
    fn folded(&self, request: &Request) -> Option<Request> {
        if !self.folds || request.resource.plural != "customresourcedefinitions" {
            return None;
        }
        let body = request.body.as_ref()?;
        let folded = self.schemas.fold(body);
        (!Arc::ptr_eq(&folded, body)).then(|| Request { body: Some(folded), ..request.clone() })
    }

    fn dispatch(&mut self, request: &Request, by: &str) -> Answer {
        let target =
            self.discovery.target(&request.resource, self.minor).ok_or_else(Refusal::no_such_path)?;
        if !target.serves(&request.subresource) {
            return Err(Refusal::no_such_path());
        }
        let manager = write::manager(request, by);
        let write = write::Write { target: &target, request, manager, applied: write::is_apply(request) };
        self.authorize(&target, request)?;
        if matches!(
            (request.subresource.as_str(), request.verb),
            ("status" | "scale", Verb::Create | Verb::Delete)
        ) {
            return Err(Refusal::method_not_allowed());
        }
        if request.subresource == "scale" {
            return self.serve_scale(write);
        }
        match request.verb {
            Verb::Get => self.serve_get(&target, request),
            Verb::List => self.serve_list(&target, request),
            Verb::Create => self.serve_create(write),
            Verb::Update => self.serve_update(write),
            Verb::Patch => self.serve_patch(write),
            Verb::Delete => self.serve_delete(write),
            Verb::DeleteCollection => self.serve_delete_collection(write),
        }
    }

    /// Puts objects into the store as they are: the state a rehearsal starts from. Objects without a UID get one.
    pub fn load(&mut self, objects: impl IntoIterator<Item = Value>) {
        for mut object in objects {
            if self.folds && schemas::is_definition(&object) {
                object = Value::clone(&self.schemas.fold(&Arc::new(object)));
            }
            if text(&object, "/metadata/uid").is_empty() {
                let (uid, now) = (self.next_uid(), clock::timestamp(self.now));
                if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
                    metadata.insert("uid".to_owned(), json!(uid));
                    metadata.entry("creationTimestamp").or_insert(json!(now));
                }
            }
            let key = key_of(&object);
            self.store_object(&key, object);
        }
    }

    /// Stores an object under the next resourceVersion and tells the controllers.
    pub(super) fn store_object(&mut self, key: &Key, mut object: Value) -> Arc<Value> {
        self.revision += 1;
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.insert("resourceVersion".to_owned(), json!(self.revision.to_string()));
        }
        let object = Arc::new(object);
        let old = self.store.put(key, object.clone());
        self.changed(key, old, Some(object.clone()));
        object
    }

    /// Takes an object out of the store without a request: no finalizers, no garbage collection.
    pub fn unload(&mut self, object: &Value) {
        self.remove_object(&key_of(object));
    }

    /// Removes an object from the store and tells the controllers.
    pub(super) fn remove_object(&mut self, key: &Key) -> Option<Arc<Value>> {
        self.revision += 1;
        let old = self.store.remove(key)?;
        self.changed(key, Some(old.clone()), None);
        Some(old)
    }

    fn changed(&mut self, key: &Key, old: Option<Arc<Value>>, new: Option<Arc<Value>>) {
        if &*key.kind == "CustomResourceDefinition" && &*key.group == "apiextensions.k8s.io" {
            self.discovery.learn(old.as_ref(), new.as_ref(), &self.schemas);
        }
        self.changes.push(Arc::new(Change { key: key.clone(), old, new }));
    }

    /// Keeps the UIDs of objects that are loaded later from being given to others: a state may come from another simulation,
    /// which counts alike.
    pub fn reserve<'o>(&mut self, objects: impl IntoIterator<Item = &'o Value>) {
        let uids = objects.into_iter().map(|object| text(object, "/metadata/uid").to_owned());
        Arc::make_mut(&mut self.reserved).extend(uids);
    }

    /// The next UID that no object has or will be loaded with.
    pub(super) fn next_uid(&mut self) -> String {
        loop {
            self.uids += 1;
            let uid = self.counted_uid();
            if self.store.by_uid(&uid).is_none() && !self.reserved.contains(&uid) {
                return uid;
            }
        }
    }

    /// Shaped like a version 4 UUID, counted so that rehearsals repeat byte for byte.
    fn counted_uid(&self) -> String {
        // A multiplicative hash spreads the counter, so that no UID looks like the next one's neighbour.
        let high = self.uids.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        format!(
            "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            (high >> 12) & 0xfff,
            self.uids
        )
    }

    /// The five characters after a generateName.
    pub(super) fn next_suffix(&mut self) -> String {
        const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        self.names += 1;
        let mut n = self.names.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 8;
        (0..5)
            .map(|_| {
                let at = usize::try_from(n % 27).unwrap_or(0);
                n /= 27;
                char::from(ALPHABET.get(at).copied().unwrap_or(b'x'))
            })
            .collect()
    }
}

/// The key of an object by what it says about itself.
pub(super) fn key_of(object: &Value) -> Key {
    let gvk = crate::k8s::Gvk::of(object);
    Key {
        group: gvk.group.into(),
        kind: gvk.kind.into(),
        namespace: text(object, "/metadata/namespace").to_owned(),
        name: text(object, "/metadata/name").to_owned(),
    }
}

/// The key of a request's object.
pub(super) fn key(target: &Target, request: &Request, name: &str) -> Key {
    let namespace = if target.namespaced { request.namespace.clone() } else { String::new() };
    Key {
        group: target.group.as_str().into(),
        kind: target.kind.as_str().into(),
        namespace,
        name: name.to_owned(),
    }
}
