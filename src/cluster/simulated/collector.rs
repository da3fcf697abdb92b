//! The garbage collector: dependents follow their owners, by the propagation their owners were deleted with.
//!
//! Source: Kubernetes 1.34.3, `pkg/controller/garbagecollector/garbagecollector.go`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::api::{Api, Controller};
use super::store::Key;
use crate::cluster::{PatchType, Propagation, Request};
use crate::k8s::At as _;
use crate::k8s::{split_api_version, text};

const FOREGROUND: &str = "foregroundDeletion";
const ORPHAN: &str = "orphan";

/// The garbage collector.
#[derive(Clone, Debug, Default)]
pub(super) struct Collector;

impl Controller for Collector {
    fn name(&self) -> &'static str {
        "garbage-collector"
    }

    fn run(&mut self, api: &mut Api<'_>) -> Option<f64> {
        for change in api.changes().to_vec() {
            match (&change.old, &change.new) {
                (Some(old), None) => owner_gone(api, old),
                (_, Some(new)) => live(api, &change.key, new),
                (None, None) => {}
            }
        }
        None
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

/// How the owners of an object stand.
#[derive(Default)]
struct Owners {
    solid: usize,
    /// Owners that wait for their dependents.
    waiting: usize,
    /// UIDs of owners that no longer exist.
    dangling: Vec<String>,
}

fn owner_gone(api: &mut Api<'_>, owner: &Value) {
    let absent = text(owner, "/metadata/uid");
    for key in api.dependents(absent) {
        if let Some(object) = api.by_key(&key).cloned() {
            collect(api, &key, &object, absent);
        }
    }
    // The last blocking dependent may have gone: its owners can finish.
    for reference in references(owner) {
        if let Some(key) = api.key_of_uid(text(reference, "/uid"))
            && let Some(object) = api.by_key(&key).cloned()
        {
            live(api, &key, &object);
        }
    }
}

fn live(api: &mut Api<'_>, key: &Key, object: &Arc<Value>) {
    if api.by_key(key).is_none_or(|now| !Arc::ptr_eq(now, object)) {
        return;
    }
    let terminating = object.at("/metadata/deletionTimestamp").is_some();
    if terminating && has_finalizer(object, ORPHAN) {
        orphan(api, key, object);
    } else if terminating && has_finalizer(object, FOREGROUND) {
        foreground(api, key, object);
    } else if !references(object).is_empty() {
        collect(api, key, object, "");
    }
}

/// Deletes a dependent whose owners are all gone, or follows an owner that is deleted in the foreground; `absent` is the
/// UID of an owner that was just seen going.
fn collect(api: &mut Api<'_>, key: &Key, object: &Value, absent: &str) {
    if object.at("/metadata/deletionTimestamp").is_some() {
        return;
    }
    let owners = classify(api, key, object, absent);
    if owners.solid > 0 {
        if !owners.dangling.is_empty() || owners.waiting > 0 {
            drop_references(api, key, object, |r| !owners.dangling.iter().any(|uid| uid == text(r, "/uid")));
        }
        return;
    }
    let propagation = if owners.waiting > 0 && !api.dependents(text(object, "/metadata/uid")).is_empty() {
        Propagation::Foreground
    } else if has_finalizer(object, ORPHAN) {
        Propagation::Orphan
    } else if has_finalizer(object, FOREGROUND) {
        Propagation::Foreground
    } else {
        Propagation::Background
    };
    if owners.waiting > 0 || !owners.dangling.is_empty() {
        delete(api, key, object, propagation);
    }
}

fn classify(api: &mut Api<'_>, key: &Key, object: &Value, absent: &str) -> Owners {
    let mut owners = Owners::default();
    for reference in references(object) {
        let uid = text(reference, "/uid");
        let (group, _) = split_api_version(text(reference, "/apiVersion"));
        let owner = api.key_of_uid(uid).filter(|o| o.namespace.is_empty() || o.namespace == key.namespace);
        match owner.and_then(|o| api.by_key(&o).cloned()) {
            Some(owner) => {
                let waits = owner.at("/metadata/deletionTimestamp").is_some()
                    && has_finalizer(&owner, FOREGROUND)
                    && reference.get("blockOwnerDeletion") == Some(&json!(true));
                if waits { owners.waiting += 1 } else { owners.solid += 1 }
            }
            None if uid == absent => owners.dangling.push(uid.to_owned()),
            // A kind that nothing serves can't be looked up; the collector then leaves the object alone.
            None if api.resource(group, text(reference, "/kind")).is_none() => owners.solid += 1,
            None => owners.dangling.push(uid.to_owned()),
        }
    }
    owners
}

fn orphan(api: &mut Api<'_>, key: &Key, owner: &Value) {
    let uid = text(owner, "/metadata/uid");
    for dependent in api.dependents(uid) {
        if let Some(object) = api.by_key(&dependent).cloned() {
            drop_references(api, &dependent, &object, |r| text(r, "/uid") != uid);
        }
    }
    remove_finalizer(api, key, owner, ORPHAN);
}

fn foreground(api: &mut Api<'_>, key: &Key, owner: &Value) {
    let uid = text(owner, "/metadata/uid");
    for dependent in api.dependents(uid) {
        if let Some(object) = api.by_key(&dependent).cloned() {
            collect(api, &dependent, &object, "");
        }
    }
    let blocking = |object: &Value| {
        references(object)
            .iter()
            .any(|r| text(r, "/uid") == uid && r.get("blockOwnerDeletion") == Some(&json!(true)))
    };
    let held = api.dependents(uid).iter().filter_map(|k| api.by_key(k)).any(|o| blocking(o));
    if !held {
        remove_finalizer(api, key, owner, FOREGROUND);
    }
}

fn delete(api: &mut Api<'_>, key: &Key, object: &Value, propagation: Propagation) {
    let Some(served) = api.resource(&key.group, &key.kind) else { return };
    let mut request = Request::delete(&served.resource, &key.namespace, &key.name, Some(propagation));
    request.body = Some(Arc::new(json!({ "preconditions": { "uid": text(object, "/metadata/uid") } })));
    api.send(&request);
}

fn drop_references(api: &mut Api<'_>, key: &Key, object: &Value, keep: impl Fn(&Value) -> bool) {
    let kept: Vec<&Value> = references(object).iter().filter(|r| keep(r)).collect();
    let kept = if kept.is_empty() { Value::Null } else { json!(kept) };
    patch(api, key, json!({ "metadata": { "ownerReferences": kept, "uid": text(object, "/metadata/uid") } }));
}

fn remove_finalizer(api: &mut Api<'_>, key: &Key, object: &Value, finalizer: &str) {
    let finalizers = object.at("/metadata/finalizers").and_then(Value::as_array);
    let kept: Vec<&Value> = finalizers.into_iter().flatten().filter(|f| *f != finalizer).collect();
    let version = text(object, "/metadata/resourceVersion");
    patch(api, key, json!({ "metadata": { "finalizers": kept, "resourceVersion": version } }));
}

fn patch(api: &mut Api<'_>, key: &Key, patch: Value) {
    let Some(served) = api.resource(&key.group, &key.kind) else { return };
    let request =
        Request::patch(&served.resource, &key.namespace, &key.name, PatchType::Merge, Arc::new(patch));
    api.send(&request);
}

fn references(object: &Value) -> &[Value] {
    object.at("/metadata/ownerReferences").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn has_finalizer(object: &Value, finalizer: &str) -> bool {
    let finalizers = object.at("/metadata/finalizers").and_then(Value::as_array);
    finalizers.into_iter().flatten().any(|f| f == finalizer)
}
