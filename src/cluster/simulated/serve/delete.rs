//! DELETE of one object: finalizers, propagation, preconditions.

use std::sync::Arc;

use serde_json::{Value, json};

use super::read::ok;
use super::{Answer, key};
use crate::cluster::simulated::discovery::Target;
use crate::cluster::simulated::status::Refusal;
use crate::cluster::simulated::{Simulated, clock};
use crate::cluster::{Propagation, Request};
use crate::k8s::text;

impl Simulated {
    pub(super) fn serve_delete(&mut self, target: &Target, request: &Request) -> Answer {
        let key = key(target, request, &request.name);
        let found = self.store.get(&key.group, &key.kind, &key.namespace, &key.name).cloned();
        let old = found.ok_or_else(|| Refusal::not_found(target, &request.name))?;
        let mut object = Value::clone(&old);
        add_finalizers(&mut object, request.propagation);
        let held =
            object.pointer("/metadata/finalizers").and_then(Value::as_array).is_some_and(|f| !f.is_empty());
        if !held {
            self.remove_object(&key);
            let details = target.details(&request.name);
            let mut status = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details });
            status["details"]["uid"] = json!(text(&old, "/metadata/uid"));
            return ok(200, Arc::new(status));
        }
        if object.pointer("/metadata/deletionTimestamp").is_none() {
            object["metadata"]["deletionTimestamp"] = json!(clock::timestamp(self.now));
            object["metadata"]["deletionGracePeriodSeconds"] = json!(0);
            if let Some(generation) = object.pointer("/metadata/generation").and_then(Value::as_i64) {
                object["metadata"]["generation"] = json!(generation + 1);
            }
        }
        if object == *old {
            return ok(200, old);
        }
        ok(200, self.store_object(&key, object))
    }
}

/// Turns the propagation into the finalizer that the garbage collector works off.
fn add_finalizers(object: &mut Value, propagation: Option<Propagation>) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let wanted = match propagation {
        Some(Propagation::Foreground) => Some("foregroundDeletion"),
        Some(Propagation::Orphan) => Some("orphan"),
        Some(Propagation::Background) => None,
        None => return,
    };
    let finalizers = metadata.entry("finalizers").or_insert_with(|| json!([]));
    let Some(list) = finalizers.as_array_mut() else { return };
    list.retain(|f| f != "foregroundDeletion" && f != "orphan");
    list.extend(wanted.map(|w| json!(w)));
    if list.is_empty() {
        metadata.remove("finalizers");
    }
}
