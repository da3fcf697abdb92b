//! POST, PUT and PATCH: from a body to a stored object.

use std::sync::Arc;

use serde_json::{Value, json};

use super::allocation::Asked;
use super::body::{self, Decoded};
use super::metadata::{self, Birth};
use super::read::in_version;
use super::{Answer, defaults, key, rules};
use crate::cluster::simulated::discovery::Target;
use crate::cluster::simulated::status::Refusal;
use crate::cluster::simulated::{Simulated, clock};
use crate::cluster::{PatchType, Request, Response};
use crate::k8s::At as _;
use crate::k8s::apply::{Identity, Managers, Operation, update_stored};
use crate::k8s::text;
use crate::schema::FieldError;

/// How a new state came about: by whom, and whether its owners are already known (server-side apply).
#[derive(Clone, Copy)]
pub(super) struct Write<'a> {
    pub(super) target: &'a Target,
    pub(super) request: &'a Request,
    pub(super) manager: &'a str,
    pub(super) applied: bool,
}

impl Simulated {
    pub(super) fn serve_create(&mut self, write: Write<'_>) -> Answer {
        let body = write.request.body.as_ref().ok_or_else(|| Refusal::bad_request("no body"))?;
        let decoded = body::decode(write.target, write.request, Value::clone(body))?;
        self.create(write, decoded)
    }

    /// Creates an object from a decoded body.
    pub(super) fn create(&mut self, write: Write<'_>, decoded: Decoded) -> Answer {
        let Write { target, request, .. } = write;
        let Decoded { mut object, mut warnings } = decoded;
        self.check_namespace(target, request)?;
        refuse_terminating(target, request)?;
        let birth =
            Birth { uid: self.next_uid(), suffix: self.next_suffix(), now: clock::timestamp(self.now) };
        let name = metadata::prepare_create(target, request, &mut object, &birth)?;
        let asked = Asked::of(&object, request.dry_run);
        defaults::defaults(target, &mut object, None);
        self.own(write, None, &mut object);
        self.plug(target, request, &object)?;
        self.admit(write, None, &mut object, &mut warnings)?;
        let refused = asked.map(|asked| self.refused(&asked)).unwrap_or_default();
        if !refused.is_empty() {
            return Err(Refusal::invalid(target, &name, &refused));
        }
        self.validate(write, &object, None, &mut warnings)?;
        self.approve(write, None, &object, &mut warnings)?;
        let key = key(target, request, &name);
        if let Some(existing) = self.store.get(&key.group, &key.kind, &key.namespace, &key.name) {
            let terminating = existing.at("/metadata/deletionTimestamp").is_some();
            let refuse = if terminating { Refusal::being_deleted } else { Refusal::already_exists };
            return Err(refuse(target, &name));
        }
        if request.dry_run {
            return Ok(Response { status: 201, body: Arc::new(object), warnings });
        }
        let object = to_storage(target, object);
        let stored = self.store_object(&key, object);
        Ok(Response { status: 201, body: in_version(target, &stored), warnings })
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
        if namespace.at("/metadata/deletionTimestamp").is_none() {
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

    pub(super) fn serve_update(&mut self, write: Write<'_>) -> Answer {
        let Write { target, request, .. } = write;
        let body = request.body.as_ref().ok_or_else(|| Refusal::bad_request("no body"))?;
        if let Some(old) = self.differs_in_status(target, request, body) {
            return self.replace_status(write, &old, body);
        }
        let decoded = body::decode(target, request, Value::clone(body))?;
        let old = self.existing(target, request)?;
        let version = text(&decoded.object, "/metadata/resourceVersion");
        require_version(target, &request.name, version)?;
        if !version.is_empty() && version.parse::<u64>().is_err() {
            let message = format!("strconv.ParseUint: parsing {version:?}: invalid syntax");
            return Err(Refusal::plain(500, &message));
        }
        let uid = text(&decoded.object, "/metadata/uid");
        if !uid.is_empty() && uid != text(&old, "/metadata/uid") {
            return Err(Refusal::wrong_uid(target, request, uid, text(&old, "/metadata/uid")));
        }
        self.replace(write, &old, decoded)
    }

    /// The stored object, when a write of a built-in object's status brings everything else as it is stored.
    fn differs_in_status(&self, target: &Target, request: &Request, body: &Value) -> Option<Arc<Value>> {
        if request.subresource != "status" || target.builtin.is_none() {
            return None;
        }
        let old = self.existing(target, request).ok()?;
        let same = || outlines(body, &old) || same_but(&old, body, "status");
        (text(&old, "/apiVersion") == target.api_version() && same()).then_some(old)
    }

    /// What is left of an update when nothing but the status can have changed: most writes of controllers are such.
    fn replace_status(&mut self, write: Write<'_>, old: &Arc<Value>, body: &Value) -> Answer {
        let Write { target, request, .. } = write;
        let Decoded { object: mut part, mut warnings } = body::decode_status(target, request, body)?;
        let mut object = Value::clone(old);
        match part.get_mut("status").map(Value::take) {
            Some(status) => object["status"] = status,
            None => drop(object.as_object_mut().and_then(|root| root.remove("status"))),
        }
        self.own(write, Some(old), &mut object);
        self.admit(write, Some(old), &mut object, &mut warnings)?;
        self.approve(write, Some(old), &object, &mut warnings)?;
        if same(&object, old) {
            return Ok(Response { status: 200, body: Arc::clone(old), warnings });
        }
        if request.dry_run {
            return Ok(Response { status: 200, body: Arc::new(object), warnings });
        }
        let stored = self.store_object(&key(target, request, &request.name), object);
        Ok(Response { status: 200, body: stored, warnings })
    }

    /// Stores a new state of an object.
    pub(super) fn replace(&mut self, write: Write<'_>, old: &Arc<Value>, decoded: Decoded) -> Answer {
        let Write { target, request, .. } = write;
        let Decoded { mut object, mut warnings } = decoded;
        let version = text(&object, "/metadata/resourceVersion");
        if !matches!(version, "" | "0") && version != text(old, "/metadata/resourceVersion") {
            let why =
                "the object has been modified; please apply your changes to the latest version and try again";
            return Err(Refusal::conflict(target, &request.name, why));
        }
        let before = in_version(target, old);
        metadata::prepare_update(target, request, &before, &mut object);
        defaults::defaults(target, &mut object, Some(&before));
        self.own(write, Some(&before), &mut object);
        // Webhooks are asked about writes that change nothing as well.
        self.admit(write, Some(&before), &mut object, &mut warnings)?;
        self.validate(write, &object, Some(&before), &mut warnings)?;
        self.approve(write, Some(&before), &object, &mut warnings)?;
        if same(&object, &before) {
            return Ok(Response { status: 200, body: before, warnings });
        }
        if request.dry_run {
            return Ok(Response { status: 200, body: Arc::new(object), warnings });
        }
        let key = key(target, request, &request.name);
        if finished(&object) {
            self.remove_object(&key);
            return Ok(Response { status: 200, body: Arc::new(object), warnings });
        }
        let stored = self.store_object(&key, to_storage(target, object));
        Ok(Response { status: 200, body: in_version(target, &stored), warnings })
    }

    /// Works out who owns the fields of a new state that was not applied.
    fn own(&self, write: Write<'_>, old: Option<&Value>, object: &mut Value) {
        if write.applied {
            return;
        }
        let Write { target, request, manager, .. } = write;
        let given =
            object.get_mut("metadata").and_then(Value::as_object_mut).and_then(|m| m.remove("managedFields"));
        let live = old.and_then(|o| o.at("/metadata/managedFields"));
        let mut entries = starting_entries(given, live, &request.subresource);
        let by = Identity::new(manager, Operation::Update, &target.api_version(), &request.subresource);
        let now = clock::timestamp(self.now);
        update_stored(&mut entries, target.shape(), (old, object), &by, &now);
        set_entries(object, entries);
    }

    fn validate(
        &mut self,
        write: Write<'_>,
        object: &Value,
        old: Option<&Value>,
        warnings: &mut Vec<String>,
    ) -> Result<(), Refusal> {
        let Write { target, request, .. } = write;
        let mut errors = metadata::validate(target, object, old);
        if old.is_some() {
            // The server looks at metadata twice on updates; messages are said once, causes are not.
            errors.extend(errors.clone());
        }
        match target.structural() {
            Some(schema) => {
                let outcome = schema.validate(object, old, errors);
                errors = outcome.errors;
                warnings.extend(outcome.warnings);
                for unchecked in outcome.unchecked {
                    self.note(unchecked);
                }
            }
            None if request.subresource.is_empty() => errors.extend(rules::validate(target, object, old)),
            None => {}
        }
        if errors.is_empty() {
            return Ok(());
        }
        let mut refusal = Refusal::invalid(target, text(object, "/metadata/name"), &errors);
        refusal.warnings.append(warnings);
        Err(refusal)
    }
}

/// The managers a write starts from: those it brings along, or the ones on record.
fn starting_entries(given: Option<Value>, live: Option<&Value>, subresource: &str) -> Vec<Value> {
    match given {
        Some(Value::Array(given)) if live.and_then(Value::as_array) == Some(&given) => given,
        Some(Value::Array(given)) if subresource.is_empty() => match given.as_slice() {
            [] => given,
            [only] if only.as_object().is_some_and(serde_json::Map::is_empty) => Vec::new(),
            _ if Managers::decode(Some(&Value::Array(given.clone()))).is_empty() => entries(live).to_vec(),
            _ => given,
        },
        _ => entries(live).to_vec(),
    }
}

fn set_entries(object: &mut Value, entries: Vec<Value>) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    if !entries.is_empty() {
        metadata.insert("managedFields".to_owned(), Value::Array(entries));
    }
}

/// Writes the managers into an object's metadata.
pub(super) fn set_managers(object: &mut Value, managers: &Managers) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    if managers.is_empty() {
        metadata.remove("managedFields");
    } else {
        metadata.insert("managedFields".to_owned(), managers.encode());
    }
}

/// The object under the version it is stored in.
fn to_storage(target: &Target, mut object: Value) -> Value {
    if let Some(custom) = &target.custom {
        let version = custom.storage_version();
        if version != target.version && !version.is_empty() {
            object["apiVersion"] = json!(format!("{}/{version}", target.group));
        }
    }
    object
}

/// Whether two states are equal but for the times of field managers.
fn same(a: &Value, b: &Value) -> bool {
    let (Some(a), Some(b)) = (a.as_object(), b.as_object()) else { return a == b };
    a.len() == b.len()
        && a.iter().all(|(key, value)| match b.get(key) {
            Some(other) if key == "metadata" => same_metadata(value, other),
            Some(other) => value == other,
            None => false,
        })
}

fn same_metadata(a: &Value, b: &Value) -> bool {
    same_but(a, b, "managedFields") && same_managers(a.get("managedFields"), b.get("managedFields"))
}

fn same_managers(a: Option<&Value>, b: Option<&Value>) -> bool {
    let (a, b) = (entries(a), entries(b));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_but(a, b, "time"))
}

fn entries(managed: Option<&Value>) -> &[Value] {
    managed.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Whether two objects are equal but for one member.
fn same_but(a: &Value, b: &Value, member: &str) -> bool {
    let (Some(a), Some(b)) = (a.as_object(), b.as_object()) else { return a == b };
    let rest = |map: &'_ serde_json::Map<String, Value>| map.len() - usize::from(map.contains_key(member));
    rest(a) == rest(b) && a.iter().all(|(key, value)| key == member || b.get(key) == Some(value))
}

/// Whether a body names the stored object, in this very version, and brings nothing but a status.
fn outlines(body: &Value, stored: &Value) -> bool {
    let (Some(root), Some(metadata)) = (body.as_object(), body.get("metadata").and_then(Value::as_object))
    else {
        return false;
    };
    let stored = |field: &str| stored.get("metadata").and_then(|metadata| metadata.get(field));
    root.keys().all(|key| matches!(key.as_str(), "apiVersion" | "kind" | "metadata" | "status"))
        && metadata.len() == 3 + usize::from(stored("namespace").is_some())
        && ["name", "namespace", "resourceVersion", "uid"]
            .iter()
            .all(|field| metadata.get(*field) == stored(field))
}

fn refuse_terminating(target: &Target, request: &Request) -> Result<(), Refusal> {
    if target.custom.as_ref().is_none_or(|c| !c.terminating) {
        return Ok(());
    }
    let name = text(request.body.as_deref().unwrap_or(&Value::Null), "/metadata/name");
    let why = "create not allowed while custom resource definition is terminating";
    Err(Refusal::forbidden(target, name, why))
}

/// Whether a terminating object has lost its last finalizer.
fn finished(object: &Value) -> bool {
    object.at("/metadata/deletionTimestamp").is_some()
        && !super::delete::held(object)
        && !is_namespace(object)
}

fn is_namespace(object: &Value) -> bool {
    text(object, "/kind") == "Namespace" && text(object, "/apiVersion") == "v1"
}

/// The field manager of a request: the one it names, or its sender.
pub(super) fn manager<'a>(request: &'a Request, by: &'a str) -> &'a str {
    if request.field_manager.is_empty() { by } else { &request.field_manager }
}

/// Whether a request is a server-side apply.
pub(super) fn is_apply(request: &Request) -> bool {
    request.patch_type == Some(PatchType::Apply)
}

/// Custom objects and their definitions are never written without the version that was read.
pub(super) fn require_version(target: &Target, name: &str, version: &str) -> Result<(), Refusal> {
    let definition = target.plural == "customresourcedefinitions";
    if !matches!(version, "" | "0") || (target.builtin.is_some() && !definition) {
        return Ok(());
    }
    let error = FieldError::invalid("metadata.resourceVersion", &json!(0), "must be specified for an update");
    Err(Refusal::invalid_resource(target, name, &[error]))
}
