//! Controllers of CustomResourceDefinitions: accepting names, establishing, and emptying a definition that is deleted.
//!
//! Source: Kubernetes apiextensions-apiserver 0.34.3, `pkg/controller/{status,establish,finalizer}`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::api::{Api, Controller};
use super::discovery::condition;
use crate::cluster::{Request, Resource};
use crate::k8s::At as _;
use crate::k8s::text;

/// The finalizer under which the objects of a deleted definition are removed first.
pub(super) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";
const GROUP: &str = "apiextensions.k8s.io";
const KIND: &str = "CustomResourceDefinition";

/// The controllers of definitions.
#[derive(Clone, Debug, Default)]
pub(super) struct Definitions;

impl Controller for Definitions {
    fn name(&self) -> &'static str {
        "crd-controller"
    }

    fn run(&mut self, api: &mut Api<'_>) -> Option<f64> {
        // Names are taken when a definition is written; one that is deleted waits until the last of its objects is gone.
        if !api.changes().iter().any(|change| &*change.key.kind == KIND || change.new.is_none()) {
            return None;
        }
        let pending: Vec<Arc<Value>> =
            api.list(GROUP, KIND, "").filter(|crd| pending(crd)).cloned().collect();
        for crd in pending {
            // One that is handed in without its status is served as well while it is deleted.
            if unestablished(&crd) {
                establish(api, &crd);
            } else {
                clean_up(api, &crd);
            }
        }
        None
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

fn pending(crd: &Value) -> bool {
    unestablished(crd) || is_deleted(crd) && has_cleanup(crd)
}

fn is_deleted(crd: &Value) -> bool {
    crd.at("/metadata/deletionTimestamp").is_some()
}

/// Whether a definition waits for its names; one that is deleted keeps those it has.
fn unestablished(crd: &Value) -> bool {
    !condition(crd, "Established") || !is_deleted(crd) && names_differ(crd)
}

fn has_cleanup(crd: &Value) -> bool {
    let finalizers = crd.at("/metadata/finalizers").and_then(Value::as_array);
    finalizers.into_iter().flatten().any(|f| f == CLEANUP)
}

fn names_differ(crd: &Value) -> bool {
    crd.at("/status/acceptedNames") != crd.at("/spec/names")
}

fn establish(api: &mut Api<'_>, crd: &Value) {
    let now = super::clock::timestamp(api.now());
    let mut object = crd.clone();
    object["status"]["acceptedNames"] = crd.at("/spec/names").cloned().unwrap_or(Value::Null);
    object["status"]["conditions"] = json!([
        { "type": "NamesAccepted", "status": "True", "reason": "NoConflicts", "message": "no conflicts found", "lastTransitionTime": now },
        { "type": "Established", "status": "True", "reason": "InitialNamesAccepted",
          "message": "the initial names have been accepted", "lastTransitionTime": now },
    ]);
    api.store_quietly(object);
}

/// Deletes the objects of a terminating definition; when none is left the finalizer goes and with it the definition.
fn clean_up(api: &mut Api<'_>, crd: &Value) {
    let (group, kind) = (text(crd, "/spec/group"), text(crd, "/spec/names/kind"));
    let storage = crd.at("/spec/versions").and_then(Value::as_array).into_iter().flatten();
    let version =
        storage.clone().find(|v| v.get("served") == Some(&json!(true))).map_or("", |v| text(v, "/name"));
    let resource = Resource::new(group, version, text(crd, "/spec/names/plural"));
    let doomed: Vec<Arc<Value>> = api.list(group, kind, "").cloned().collect();
    for object in &doomed {
        if object.at("/metadata/deletionTimestamp").is_none() {
            let (namespace, name) = (text(object, "/metadata/namespace"), text(object, "/metadata/name"));
            api.send(&Request::delete(&resource, namespace, name, None));
        }
    }
    if api.list(group, kind, "").next().is_none() {
        api.finish_definition(text(crd, "/metadata/name"));
    }
}
