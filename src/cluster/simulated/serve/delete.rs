//! DELETE of one object: preconditions, propagation, finalizers.

use std::sync::Arc;

use serde_json::{Value, json};

use super::read::{in_version, ok};
use super::{Answer, key};
use crate::cluster::simulated::definitions::CLEANUP;
use crate::cluster::simulated::discovery::Target;
use crate::cluster::simulated::status::Refusal;
use crate::cluster::simulated::{Simulated, clock};
use crate::cluster::{Propagation, Request};
use crate::k8s::text;

impl Simulated {
    pub(super) fn serve_delete(&mut self, target: &Target, request: &Request) -> Answer {
        let old = self.existing(target, request)?;
        check_preconditions(target, request, &old)?;
        let mut object = Value::clone(&old);
        add_finalizers(&mut object, propagation(request));
        match target.kind.as_str() {
            "CustomResourceDefinition" => mark_definition(&mut object, &clock::timestamp(self.now)),
            "Namespace" if target.group.is_empty() => return self.delete_namespace(target, request, object),
            _ => {}
        }
        if !held(&object) {
            return self.delete_now(target, request, &old);
        }
        self.terminate(&mut object);
        if object == *old || request.dry_run {
            return ok(200, in_version(target, &Arc::new(object)));
        }
        let stored = self.store_object(&key(target, request, &request.name), object);
        ok(200, in_version(target, &stored))
    }

    fn delete_now(&mut self, target: &Target, request: &Request, old: &Value) -> Answer {
        if !request.dry_run {
            self.remove_object(&key(target, request, &request.name));
        }
        let mut details = target.details(&request.name);
        details["uid"] = json!(text(old, "/metadata/uid"));
        let status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details,
        });
        ok(200, Arc::new(status))
    }

    /// Sets the deletion's marks on an object that finalizers hold.
    fn terminate(&self, object: &mut Value) {
        if object.pointer("/metadata/deletionTimestamp").is_some() {
            return;
        }
        object["metadata"]["deletionTimestamp"] = json!(clock::timestamp(self.now));
        object["metadata"]["deletionGracePeriodSeconds"] = json!(0);
        if let Some(generation) = object.pointer("/metadata/generation").and_then(Value::as_i64) {
            object["metadata"]["generation"] = json!(generation + 1);
        }
    }

    /// A namespace waits for its contents before it goes.
    fn delete_namespace(&mut self, target: &Target, request: &Request, mut object: Value) -> Answer {
        let terminating = object.pointer("/metadata/deletionTimestamp").is_some();
        if !terminating {
            object["metadata"]["deletionTimestamp"] = json!(clock::timestamp(self.now));
            object["status"]["phase"] = json!("Terminating");
        }
        if terminating || request.dry_run {
            return ok(200, Arc::new(object));
        }
        ok(200, self.store_object(&key(target, request, &request.name), object))
    }
}

/// Whether a finalizer holds the object.
pub(super) fn held(object: &Value) -> bool {
    object.pointer("/metadata/finalizers").and_then(Value::as_array).is_some_and(|f| !f.is_empty())
}

/// The propagation of a DELETE, from its parameters or its options.
fn propagation(request: &Request) -> Option<Propagation> {
    let policy = request.body.as_deref().map_or("", |b| text(b, "/propagationPolicy"));
    request.propagation.or(match policy {
        "Foreground" => Some(Propagation::Foreground),
        "Background" => Some(Propagation::Background),
        "Orphan" => Some(Propagation::Orphan),
        _ => None,
    })
}

fn check_preconditions(target: &Target, request: &Request, old: &Value) -> Result<(), Refusal> {
    let Some(preconditions) = request.body.as_deref().and_then(|b| b.get("preconditions")) else {
        return Ok(());
    };
    for (field, pointer, short) in
        [("uid", "/metadata/uid", "UID"), ("resourceVersion", "/metadata/resourceVersion", "ResourceVersion")]
    {
        let (wanted, found) = (preconditions.get(field).and_then(Value::as_str), text(old, pointer));
        if let Some(wanted) = wanted.filter(|w| *w != found) {
            let why = precondition_failed(short, wanted, found);
            return Err(Refusal::conflict(target, &request.name, &why));
        }
    }
    Ok(())
}

/// The text of a missed precondition, which a delete and an update share.
pub(super) fn precondition_failed(what: &str, wanted: &str, found: &str) -> String {
    match what {
        "UID" => format!("Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}"),
        _ => format!(
            "the {what} in the precondition ({wanted}) does not match the {what} in record ({found}). The object might have been modified"
        ),
    }
}

/// A definition's first deletion adds the finalizer under which its objects go first.
fn mark_definition(object: &mut Value, now: &str) {
    if object.pointer("/metadata/deletionTimestamp").is_some() {
        return;
    }
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let finalizers = metadata.entry("finalizers").or_insert_with(|| json!([]));
    if let Some(list) = finalizers.as_array_mut().filter(|list| !list.iter().any(|f| f == CLEANUP)) {
        list.push(json!(CLEANUP));
    }
    let condition = json!({
        "type": "Terminating", "status": "True", "lastTransitionTime": now, "reason": "InstanceDeletionPending",
        "message": "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    });
    if let Some(conditions) = object.pointer_mut("/status/conditions").and_then(Value::as_array_mut) {
        conditions.push(condition);
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
