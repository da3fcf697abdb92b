//! What controllers see of the server: requests under their own name, direct reads, the changes since their last turn.

use std::sync::Arc;

use serde_json::Value;

use super::Simulated;
use super::conditions::{Conditions, Consulted};
use super::store::{Change, Key};
use crate::cluster::{ApiResource, Request, Resource, Response};
use crate::k8s::At as _;
use crate::k8s::references::Reference;

/// A controller: gets its turn after every write and when its due time is reached, and acts through [`Api`].
pub trait Controller: Send + Sync {
    /// The name its requests carry in the trace.
    fn name(&self) -> &'static str;

    /// One turn; returns the next due time in seconds since the rehearsal began, if it waits for one.
    fn run(&mut self, api: &mut Api<'_>) -> Option<f64>;

    /// A copy for a fork of the cluster.
    fn fork(&self) -> Box<dyn Controller>;
}

/// The server as one controller sees it.
pub struct Api<'a> {
    pub(super) server: &'a mut Simulated,
    pub(super) by: &'static str,
    pub(super) changes: Vec<Arc<Change>>,
}

impl Api<'_> {
    /// Sends a request under the controller's name; it is recorded in the trace.
    pub fn send(&mut self, request: &Request) -> Response {
        self.server.try_again(request, self.by)
    }

    /// Seconds since the rehearsal began.
    #[must_use]
    pub fn now(&self) -> f64 {
        self.server.now
    }

    /// The writes since this controller's last turn, oldest first.
    #[must_use]
    pub fn changes(&self) -> &[Arc<Change>] {
        &self.changes
    }

    /// One object as stored, without a request.
    #[must_use]
    pub fn get(&self, group: &str, kind: &str, namespace: &str, name: &str) -> Option<&Arc<Value>> {
        self.server.get(group, kind, namespace, name)
    }

    /// Whether a pod lacks what it refers to: the object was there once, or it has other keys. What was never there is taken
    /// to live in the cluster unseen.
    pub(super) fn lacks(&self, reference: &Reference) -> bool {
        self.server.lacks(reference)
    }

    /// An object as the server shows it: without what its definition does not know (any more), defaults filled in.
    #[must_use]
    pub fn shown(&self, object: &Arc<Value>) -> Arc<Value> {
        let gvk = crate::k8s::Gvk::of(object);
        let target = self.server.discovery.by_kind(&gvk.group, &gvk.kind, self.server.minor);
        target.map_or_else(|| object.clone(), |target| super::serve::in_version(&target, object))
    }

    /// The objects of a kind in a namespace (empty: in all of them), without a request.
    pub fn list<'s>(
        &'s self,
        group: &str,
        kind: &str,
        namespace: &'s str,
    ) -> impl Iterator<Item = &'s Arc<Value>> {
        self.server.list(group, kind, namespace)
    }

    /// The resource that serves a kind at this moment, in its preferred version.
    #[must_use]
    pub fn resource(&mut self, group: &str, kind: &str) -> Option<ApiResource> {
        self.server.resource(group, kind)
    }

    /// Everything the server serves at this moment.
    #[must_use]
    pub fn discover(&mut self) -> Arc<Vec<ApiResource>> {
        self.server.discovery.resources(self.server.minor)
    }

    /// A definition, or a list of them, with the schemas in place; everything else as it is.
    #[must_use]
    pub fn unfolded(&self, body: &Arc<Value>) -> Arc<Value> {
        let server = &*self.server;
        let Some(items) = body.get("items").and_then(Value::as_array).filter(|items| {
            crate::k8s::text(body, "/kind") == "CustomResourceDefinitionList" && !items.is_empty()
        }) else {
            return server.unfolded(body);
        };
        let items = items.iter().map(|item| Value::clone(&server.unfolded(&Arc::new(item.clone()))));
        let mut list = Value::clone(body);
        list["items"] = items.collect();
        Arc::new(list)
    }

    /// The outside world's part.
    #[must_use]
    pub fn conditions(&self) -> &Conditions {
        &self.server.conditions
    }

    /// Where controllers note which conditions came into play.
    pub(super) fn consulted(&self) -> &Consulted {
        &self.server.consulted
    }

    /// Whether an image can be pulled.
    #[must_use]
    pub fn pullable(&self, image: &str) -> bool {
        self.server.consulted.image(image);
        self.server.conditions.pullable(image)
    }

    /// Keys of the objects that name a UID among their owners.
    #[must_use]
    pub fn dependents(&self, uid: &str) -> Vec<Key> {
        self.server.store.dependents(uid).to_vec()
    }

    /// The objects of a kind that name an object among their owners, in order of their names; owners live beside them.
    #[must_use]
    pub fn owned_by(&self, owner: &Value, group: &str, kind: &str) -> Vec<Arc<Value>> {
        let text = |pointer: &str| crate::k8s::text(owner, pointer);
        let mut keys: Vec<&Key> = self.server.store.dependents(text("/metadata/uid")).iter().collect();
        keys.retain(|key| {
            &*key.kind == kind && &*key.group == group && key.namespace == text("/metadata/namespace")
        });
        keys.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        keys.into_iter().filter_map(|key| self.by_key(key)).cloned().collect()
    }

    /// The object at a key, without a request.
    #[must_use]
    pub fn by_key(&self, key: &Key) -> Option<&Arc<Value>> {
        self.server.store.get(&key.group, &key.kind, &key.namespace, &key.name)
    }

    /// Where the object with a UID lives.
    #[must_use]
    pub fn key_of_uid(&self, uid: &str) -> Option<Key> {
        self.server.store.by_uid(uid).cloned()
    }

    /// Every object of a namespace.
    pub(super) fn in_namespace(&self, namespace: &str) -> Vec<(Key, Arc<Value>)> {
        self.server.store.in_namespace(namespace)
    }

    /// Stores an object of the server's own bookkeeping (conditions of definitions), which no trace needs to show.
    pub(super) fn store_quietly(&mut self, object: Value) {
        let key = super::serve::key_of(&object);
        self.server.store_object(&key, object);
    }

    /// Lets an emptied namespace go.
    pub(super) fn finish_namespace(&mut self, name: &str) {
        self.finish("", "Namespace", name, |namespace| namespace["spec"]["finalizers"] = Value::Null);
    }

    /// Lets an emptied definition go, unless another finalizer holds it.
    pub(super) fn finish_definition(&mut self, name: &str) {
        self.finish("apiextensions.k8s.io", "CustomResourceDefinition", name, |crd| {
            if let Some(list) = crd.pointer_mut("/metadata/finalizers").and_then(Value::as_array_mut) {
                list.retain(|f| f != super::definitions::CLEANUP);
            }
        });
    }

    fn finish(&mut self, group: &str, kind: &str, name: &str, release: impl Fn(&mut Value)) {
        let Some(object) = self.server.get(group, kind, "", name) else { return };
        let mut object = Value::clone(object);
        release(&mut object);
        let key = super::serve::key_of(&object);
        let held = object.at("/metadata/finalizers").and_then(Value::as_array).is_some_and(|f| !f.is_empty());
        if held {
            self.server.store_object(&key, object);
        } else {
            self.server.remove_object(&key);
        }
    }

    /// Adds a note to the trace.
    pub fn note(&mut self, text: impl Into<String>) {
        self.server.note(text.into());
    }

    /// Sends an update of an object to the resource that serves its kind; `subresource` may be empty.
    pub fn update(&mut self, object: Arc<Value>, subresource: &str) -> Option<Response> {
        let gvk = crate::k8s::Gvk::of(&object);
        let served = self.resource(&gvk.group, &gvk.kind)?;
        let resource = Resource { version: gvk.version, ..served.resource };
        let namespace = crate::k8s::text(&object, "/metadata/namespace").to_owned();
        Some(self.send(&Request::update(&resource, &namespace, object).on(subresource)))
    }
}
