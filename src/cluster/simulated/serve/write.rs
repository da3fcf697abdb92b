//! POST, PUT and PATCH.

use std::sync::Arc;

use serde_json::{Value, json};

use super::read::{in_version, ok};
use super::{Answer, key};
use crate::cluster::simulated::discovery::Target;
use crate::cluster::simulated::status::{Cause, Refusal};
use crate::cluster::simulated::{Simulated, clock};
use crate::cluster::{PatchType, Request};
use crate::k8s::text;

impl Simulated {
    pub(super) fn serve_create(&mut self, target: &Target, request: &Request, _by: &str) -> Answer {
        let body = request.body.as_ref().ok_or_else(|| Refusal::bad_request("no body"))?;
        self.create(target, request, Value::clone(body))
    }

    fn create(&mut self, target: &Target, request: &Request, mut object: Value) -> Answer {
        self.check_namespace(target, request)?;
        let name = self.prepare_create(target, request, &mut object)?;
        let key = key(target, request, &name);
        if let Some(existing) = self.store.get(&key.group, &key.kind, &key.namespace, &key.name) {
            let terminating = existing.pointer("/metadata/deletionTimestamp").is_some();
            let refuse = if terminating { Refusal::being_deleted } else { Refusal::already_exists };
            return Err(refuse(target, &name));
        }
        if request.dry_run {
            return ok(201, Arc::new(object));
        }
        let stored = self.store_object(&key, object);
        ok(201, in_version(target, &stored))
    }

    fn check_namespace(&self, target: &Target, request: &Request) -> Result<(), Refusal> {
        if !target.namespaced {
            return Ok(());
        }
        let Some(namespace) = self.store.get("", "Namespace", "", &request.namespace) else {
            let message = format!("namespaces \"{}\" not found", request.namespace);
            let details = json!({ "name": request.namespace, "kind": "namespaces" });
            return Err(Refusal::new(404, "NotFound", message, details));
        };
        if namespace.pointer("/metadata/deletionTimestamp").is_none() {
            return Ok(());
        }
        let name = text(request.body.as_deref().unwrap_or(&Value::Null), "/metadata/name");
        let why = format!(
            "unable to create new content in namespace {} because it is being terminated",
            request.namespace
        );
        let mut refusal = Refusal::forbidden(target, name, &why);
        refusal.body["details"]["causes"] = json!([{
            "reason": "NamespaceTerminating",
            "message": format!("namespace {} is being terminated", request.namespace),
            "field": "metadata.namespace",
        }]);
        Err(refusal)
    }

    fn prepare_create(
        &mut self,
        target: &Target,
        request: &Request,
        object: &mut Value,
    ) -> Result<String, Refusal> {
        let (uid, suffix, now) = (self.next_uid(), self.next_suffix(), clock::timestamp(self.now));
        let has_status = target.has_status();
        let root = object.as_object_mut().ok_or_else(|| Refusal::bad_request("the body is no object"))?;
        root.insert("apiVersion".to_owned(), json!(target.api_version()));
        root.insert("kind".to_owned(), json!(target.kind));
        if has_status {
            root.remove("status");
        }
        let metadata = root.entry("metadata").or_insert_with(|| json!({}));
        let metadata =
            metadata.as_object_mut().ok_or_else(|| Refusal::bad_request("metadata is no object"))?;
        let given = metadata.get("name").and_then(Value::as_str).unwrap_or("").to_owned();
        let prefix = metadata.get("generateName").and_then(Value::as_str).unwrap_or("");
        let name = if given.is_empty() && !prefix.is_empty() { format!("{prefix}{suffix}") } else { given };
        if name.is_empty() {
            let cause = Cause::required("metadata.name", "name or generateName is required");
            return Err(Refusal::invalid(target, "", &[cause]));
        }
        for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] {
            metadata.remove(field);
        }
        metadata.insert("name".to_owned(), json!(name));
        if target.namespaced {
            metadata.insert("namespace".to_owned(), json!(request.namespace));
        }
        metadata.insert("uid".to_owned(), json!(uid));
        metadata.insert("creationTimestamp".to_owned(), json!(now));
        metadata.insert("generation".to_owned(), json!(1));
        Ok(name)
    }

    pub(super) fn serve_update(&mut self, target: &Target, request: &Request, _by: &str) -> Answer {
        let body = request.body.as_ref().ok_or_else(|| Refusal::bad_request("no body"))?;
        let old = self.existing(target, request)?;
        self.replace(target, request, &old, Value::clone(body))
    }

    pub(super) fn serve_patch(&mut self, target: &Target, request: &Request, _by: &str) -> Answer {
        let patch = request.body.as_ref().ok_or_else(|| Refusal::bad_request("no body"))?;
        let old = match self.existing(target, request) {
            Err(missing) if request.patch_type != Some(PatchType::Apply) => return Err(missing),
            Err(_) => return self.create(target, request, Value::clone(patch)),
            Ok(old) => old,
        };
        let mut object = Value::clone(&in_version(target, &old));
        match request.patch_type {
            Some(PatchType::Json) => crate::k8s::patch::json(&mut object, patch).map_err(|_| {
                let message = "the server rejected our request due to an error in our request";
                Refusal::new(422, "Invalid", message, json!({}))
            })?,
            _ => crate::k8s::patch::merge(&mut object, patch),
        }
        self.replace(target, request, &old, object)
    }

    fn replace(&mut self, target: &Target, request: &Request, old: &Arc<Value>, mut object: Value) -> Answer {
        let version = text(&object, "/metadata/resourceVersion");
        if !version.is_empty() && version != text(old, "/metadata/resourceVersion") {
            let why =
                "the object has been modified; please apply your changes to the latest version and try again";
            return Err(Refusal::conflict(target, &request.name, why));
        }
        prepare_update(target, request, old, &mut object);
        if object == **old {
            return ok(200, in_version(target, old));
        }
        let key = key(target, request, &request.name);
        if finished(&object) {
            self.remove_object(&key);
            return ok(200, Arc::new(object));
        }
        let stored = self.store_object(&key, object);
        ok(200, in_version(target, &stored))
    }
}

/// Whether a terminating object has lost its last finalizer.
fn finished(object: &Value) -> bool {
    let finalizers = object.pointer("/metadata/finalizers").and_then(Value::as_array);
    object.pointer("/metadata/deletionTimestamp").is_some() && finalizers.is_none_or(Vec::is_empty)
}

/// Restores what an update may not touch and counts the generation.
fn prepare_update(target: &Target, request: &Request, old: &Value, object: &mut Value) {
    let Some(root) = object.as_object_mut() else { return };
    let copy = |root: &mut serde_json::Map<String, Value>, field: &str| match old.get(field) {
        Some(value) => {
            root.insert(field.to_owned(), value.clone());
        }
        None => {
            root.remove(field);
        }
    };
    if request.subresource == "status" {
        let fields: Vec<String> =
            root.keys().chain(old.as_object().into_iter().flat_map(|o| o.keys())).cloned().collect();
        for field in fields.iter().filter(|f| *f != "status") {
            copy(root, field);
        }
        return;
    }
    if target.has_status() {
        copy(root, "status");
    }
    copy(root, "apiVersion");
    copy(root, "kind");
    let changed = root.iter().any(|(k, v)| k != "metadata" && k != "status" && old.get(k) != Some(v))
        || old.as_object().is_some_and(|o| o.keys().any(|k| k != "status" && !root.contains_key(k)));
    let generation = old.pointer("/metadata/generation").and_then(Value::as_i64).unwrap_or(0);
    let Some(metadata) = root.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    for field in [
        "name",
        "namespace",
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "resourceVersion",
    ] {
        match old.get("metadata").and_then(|m| m.get(field)) {
            Some(value) => metadata.insert(field.to_owned(), value.clone()),
            None => metadata.remove(field),
        };
    }
    if generation > 0 {
        metadata.insert("generation".to_owned(), json!(generation + i64::from(changed)));
    }
}
