//! DELETE of one object: preconditions, propagation, finalizers.

use std::sync::Arc;

use serde_json::{Value, json};

use super::read::{in_version, ok};
use super::write::Write;
use super::{Answer, key};
use crate::cluster::simulated::definitions::CLEANUP;
use crate::cluster::simulated::discovery::Target;
use crate::cluster::simulated::status::Refusal;
use crate::cluster::simulated::{Simulated, clock};
use crate::cluster::{Propagation, Request};
use crate::k8s::At as _;
use crate::k8s::text;
use crate::schema::FieldError;

impl Simulated {
    pub(super) fn serve_delete(&mut self, write: Write<'_>) -> Answer {
        let Write { target, request, .. } = write;
        check_options(request)?;
        let old = self.existing(target, request)?;
        if target.group.is_empty() && target.kind == "Namespace" && PROTECTED.contains(&request.name.as_str())
        {
            return Err(Refusal::forbidden(target, &request.name, "this namespace may not be deleted"));
        }
        check_preconditions(target, request, &old)?;
        let mut warnings = Vec::new();
        self.admit_delete(write, &old, &mut warnings)?;
        let mut response = self.delete(target, request, &old)?;
        response.warnings.append(&mut warnings);
        if orphans_by_default(target) && propagation(request).is_none() {
            response.warnings.push(JOB_WARNING.to_owned());
        }
        Ok(response)
    }

    /// DELETE of a collection answers with the list as it was.
    pub(super) fn serve_delete_collection(&mut self, write: Write<'_>) -> Answer {
        let Write { target, request, .. } = write;
        if target.group.is_empty() && target.kind == "Namespace" {
            return Err(Refusal::method_not_allowed());
        }
        let listed = self.serve_list(target, request)?;
        let items = listed.body.get("items").and_then(Value::as_array);
        for item in items.into_iter().flatten() {
            let mut one = request.clone();
            text(item, "/metadata/name").clone_into(&mut one.name);
            text(item, "/metadata/namespace").clone_into(&mut one.namespace);
            self.serve_delete(Write { request: &one, ..write })?;
        }
        Ok(listed)
    }

    fn delete(&mut self, target: &Target, request: &Request, old: &Arc<Value>) -> Answer {
        let default = orphans_by_default(target).then_some(Propagation::Orphan);
        let propagation = propagation(request).or(default.filter(|_| !has_gc_finalizer(old)));
        if goes_at_once(target, old, propagation) {
            return self.delete_now(target, request, old);
        }
        let mut object = Value::clone(old);
        add_finalizers(&mut object, propagation);
        match target.kind.as_str() {
            "CustomResourceDefinition" => mark_definition(&mut object, &clock::timestamp(self.now)),
            "Namespace" if target.group.is_empty() => return self.delete_namespace(target, request, object),
            _ => {}
        }
        if !held(&object) {
            return self.delete_now(target, request, old);
        }
        self.terminate(&mut object);
        if object == **old || request.dry_run {
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
        if object.at("/metadata/deletionTimestamp").is_some() {
            return;
        }
        object["metadata"]["deletionTimestamp"] = json!(clock::timestamp(self.now));
        object["metadata"]["deletionGracePeriodSeconds"] = json!(0);
        if let Some(generation) = object.at("/metadata/generation").and_then(Value::as_i64) {
            object["metadata"]["generation"] = json!(generation + 1);
        }
    }

    /// A namespace waits for its contents before it goes.
    fn delete_namespace(&mut self, target: &Target, request: &Request, mut object: Value) -> Answer {
        let terminating = object.at("/metadata/deletionTimestamp").is_some();
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

/// Namespaces that can't be deleted.
const PROTECTED: &[&str] = &["default", "kube-system", "kube-public"];
const JOB_WARNING: &str = "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to \
                           remove them or set propagationPolicy=Orphan to suppress this warning";

/// Jobs leave their pods behind unless told otherwise.
fn orphans_by_default(target: &Target) -> bool {
    target.group == "batch" && target.kind == "Job"
}

fn has_gc_finalizer(object: &Value) -> bool {
    let finalizers = object.at("/metadata/finalizers").and_then(Value::as_array);
    finalizers.into_iter().flatten().any(|f| f == "orphan" || f == "foregroundDeletion")
}

/// Refuses options that contradict each other.
fn check_options(request: &Request) -> Result<(), Refusal> {
    let policy = request.body.as_deref().and_then(|b| b.get("propagationPolicy"));
    let Some(policy) = policy.filter(|p| !p.is_null()) else { return Ok(()) };
    let known = policy.as_str().is_some_and(|p| matches!(p, "Foreground" | "Background" | "Orphan"));
    let orphan =
        request.body.as_deref().is_some_and(|b| b.get("orphanDependents").is_some_and(|o| !o.is_null()));
    let error = if orphan {
        FieldError::invalid(
            "propagationPolicy",
            policy,
            "orphanDependents and deletionPropagation cannot be both set",
        )
    } else if known {
        return Ok(());
    } else {
        let supported = ["Foreground", "Background", "Orphan", "nil"].map(str::to_owned);
        FieldError::not_supported("propagationPolicy", policy, &supported)
    };
    Err(Refusal::invalid_options("DeleteOptions", &[error]))
}

/// Whether a deletion has nothing to wait for, not even to add a finalizer.
fn goes_at_once(target: &Target, old: &Value, propagation: Option<Propagation>) -> bool {
    let waits = matches!(target.kind.as_str(), "CustomResourceDefinition" | "Namespace");
    let followed = matches!(propagation, Some(Propagation::Foreground | Propagation::Orphan));
    !waits && !followed && !held(old)
}

/// Whether a finalizer holds the object.
pub(super) fn held(object: &Value) -> bool {
    object.at("/metadata/finalizers").and_then(Value::as_array).is_some_and(|f| !f.is_empty())
}

/// The propagation of a DELETE, from its parameters or its options.
fn propagation(request: &Request) -> Option<Propagation> {
    let policy = request.body.as_deref().map_or("", |b| text(b, "/propagationPolicy"));
    let orphan = request.body.as_deref().and_then(|b| b.get("orphanDependents")).and_then(Value::as_bool);
    request.propagation.or(match policy {
        "" if orphan == Some(true) => Some(Propagation::Orphan),
        "" if orphan == Some(false) => Some(Propagation::Background),
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
    let parts = [
        ("uid", "/metadata/uid", "UID", "deleted and then recreated"),
        ("resourceVersion", "/metadata/resourceVersion", "ResourceVersion", "modified"),
    ];
    for (field, pointer, what, fate) in parts {
        let (wanted, found) = (preconditions.get(field).and_then(Value::as_str), text(old, pointer));
        if let Some(wanted) = wanted.filter(|w| *w != found) {
            let why = format!(
                "the {what} in the precondition ({wanted}) does not match the {what} in record ({found}). \
                 The object might have been {fate}"
            );
            return Err(Refusal::kind_conflict(target, &request.name, &why));
        }
    }
    Ok(())
}

/// A definition's first deletion adds the finalizer under which its objects go first.
fn mark_definition(object: &mut Value, now: &str) {
    if object.at("/metadata/deletionTimestamp").is_some() {
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
