//! PATCH in its four kinds.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Answer;
use super::body::{self, Decoded};
use super::read::in_version;
use super::write::{Write, require_version, set_managers};
use crate::cluster::simulated::status::Refusal;
use crate::cluster::simulated::{Simulated, clock};
use crate::cluster::{PatchType, Request};
use crate::k8s::At as _;
use crate::k8s::apply::{Applied, Conflict, Managers, Refused, compare, field_set};
use crate::k8s::{patch, strategic, text};
use crate::schema::FieldError;

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

impl Simulated {
    pub(super) fn serve_patch(&mut self, write: Write<'_>) -> Answer {
        let Write { target, request, .. } = write;
        if request.patch_type == Some(PatchType::Strategic) && target.builtin.is_none() {
            return Err(Refusal::unsupported_media_type(
                "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
            ));
        }
        let body = request.body.clone().ok_or_else(|| Refusal::bad_request("no body"))?;
        if request.patch_type == Some(PatchType::Apply) {
            return self.serve_apply(write, &body);
        }
        let old = self.existing(target, request)?;
        let patched = || self.patched(write, &old, &body);
        let object = patched()?;
        body::check_place(target, request, &object)?;
        let decoded = decode_patched(write, object, &body, patched)?;
        require_version(target, &request.name, text(&decoded.object, "/metadata/resourceVersion"))?;
        self.replace(write, &old, decoded)
    }

    fn patched(&self, write: Write<'_>, old: &Arc<Value>, body: &Value) -> Result<Value, Refusal> {
        let Write { target, request, .. } = write;
        let mut object = Value::clone(&self.unfolded_for(request, &in_version(target, old)));
        change(write, &mut object, body)?;
        Ok(self.folded_again(request, object))
    }

    /// JSON patches name places inside of schemas, so they are the only ones that need them.
    fn unfolded_for(&self, request: &Request, object: &Arc<Value>) -> Arc<Value> {
        if request.patch_type == Some(PatchType::Json) { self.unfolded(object) } else { Arc::clone(object) }
    }

    fn folded_again(&self, request: &Request, object: Value) -> Value {
        if self.folds && request.patch_type == Some(PatchType::Json) {
            return Value::clone(&self.schemas.fold(&Arc::new(object)));
        }
        object
    }

    fn serve_apply(&mut self, write: Write<'_>, config: &Arc<Value>) -> Answer {
        let Write { target, request, .. } = write;
        check_apply_options(request)?;
        body::check_place(target, request, config)?;
        if config.at("/metadata/managedFields").is_some_and(|m| !m.is_null()) {
            return Err(Refusal::bad_request("metadata.managedFields must be nil"));
        }
        if text(config, "/apiVersion") != target.api_version() {
            let message = format!(
                "Incorrect version specified in apply patch. Specified patch version: {}, expected: {}",
                text(config, "/apiVersion"),
                target.api_version()
            );
            return Err(Refusal::bad_request(message));
        }
        match self.existing(target, request) {
            Ok(old) => {
                let live = in_version(target, &old);
                let (object, managers) = self.applied(write, config, &live, true)?;
                self.finish_apply(write, object, &managers, Some(&old))
            }
            Err(missing) if !request.subresource.is_empty() => Err(missing),
            Err(_) => {
                let (object, managers) = self.applied(write, config, &json!({}), false)?;
                self.finish_apply(write, object, &managers, None)
            }
        }
    }

    fn applied(
        &self,
        write: Write<'_>,
        config: &Value,
        live: &Value,
        exists: bool,
    ) -> Result<(Value, Managers), Refusal> {
        let Write { target, request, .. } = write;
        let time = clock::timestamp(self.now);
        let ignored: &[&str] = match (target.has_status(), request.subresource.as_str()) {
            (true, "") => &["status"],
            (_, "status") => &["spec", "metadata"],
            _ => &[],
        };
        let version = target.api_version();
        let mut apply = Applied {
            live,
            config,
            api_version: &version,
            manager: &request.field_manager,
            subresource: &request.subresource,
            force: request.force,
            ignored,
            tracked_from_now: exists,
            time: &time,
        };
        let mut managers = Managers::decode(live.at("/metadata/managedFields"));
        let shape = target.shape();
        let mut merged = managers.apply(shape, &apply);
        if let Err(Refused::Conflicts(conflicts)) = &merged
            && request.field_manager == "kubectl"
            && migrates(shape, live, conflicts)
        {
            apply.force = true;
            merged = managers.apply(shape, &apply);
        }
        let mut merged = merged.map_err(|refused| refusal(write, config, refused))?;
        if request.field_manager == "kubectl" {
            refresh_last_applied(&mut merged, config);
        }
        Ok((merged, managers))
    }

    fn finish_apply(
        &mut self,
        write: Write<'_>,
        object: Value,
        managers: &Managers,
        old: Option<&Arc<Value>>,
    ) -> Answer {
        let why = |why: String| Refusal::plain(500, &why);
        let (mut object, _) = body::coerce(write.target, object).map_err(why)?;
        set_managers(&mut object, managers);
        let decoded = Decoded { object, warnings: Vec::new() };
        match old {
            Some(old) => self.replace(write, old, decoded),
            None => self.create(write, decoded),
        }
    }
}

fn check_apply_options(request: &Request) -> Result<(), Refusal> {
    let error = match request.field_manager.len() {
        0 => FieldError::required("fieldManager", "is required for apply patch"),
        1..=128 => return Ok(()),
        _ => FieldError::too_long("fieldManager", 128),
    };
    Err(Refusal::invalid_options("PatchOptions", &[error]))
}

fn change(write: Write<'_>, object: &mut Value, body: &Value) -> Result<(), Refusal> {
    match write.request.patch_type {
        Some(PatchType::Json) => {
            if !body.is_array() {
                return Err(Refusal::bad_request("Invalid JSON Patch"));
            }
            patch::json(object, body).map_err(|_| {
                let message = "the server rejected our request due to an error in our request";
                Refusal::new(422, "Invalid", message, json!({}))
            })
        }
        Some(PatchType::Strategic) => {
            strategic::merge(write.target.shape(), object, body).map_err(|why| Refusal::plain(500, &why))
        }
        _ if !body.is_object() => {
            let message = "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}";
            Err(Refusal::bad_request(message))
        }
        _ => {
            patch::merge(object, body);
            Ok(())
        }
    }
}

/// Decodes what a patch made; its errors quote the patch, or what it made, which is made `again` for them.
fn decode_patched(
    write: Write<'_>,
    object: Value,
    body: &Value,
    again: impl Fn() -> Result<Value, Refusal>,
) -> Result<Decoded, Refusal> {
    let Write { target, request, .. } = write;
    let quoted = || match request.patch_type {
        Some(PatchType::Strategic) => json!(go_map(body)),
        _ => json!(again().unwrap_or_default().to_string()),
    };
    check_type(write, &object)?;
    let invalid = |why: &str| {
        let error = FieldError::invalid("patch", &quoted(), why);
        Refusal::invalid_patch(&[error])
    };
    let (decoded, unknown) = body::coerce(target, object).map_err(|why| invalid(&why))?;
    let said: Vec<String> = unknown.iter().map(|path| format!("unknown field \"{path}\"")).collect();
    match request.field_validation {
        "Strict" if !said.is_empty() => Err(invalid(&format!("strict decoding error: {}", said.join(", ")))),
        "Ignore" => Ok(Decoded { object: decoded, warnings: Vec::new() }),
        _ => Ok(Decoded { object: decoded, warnings: said }),
    }
}

/// A patch may not turn a custom resource into something else.
fn check_type(write: Write<'_>, object: &Value) -> Result<(), Refusal> {
    let target = write.target;
    let (version, kind) = (text(object, "/apiVersion"), text(object, "/kind"));
    let (group, _) = crate::k8s::split_api_version(version);
    let error = if target.builtin.is_some() {
        return Ok(());
    } else if version != target.api_version() {
        FieldError::invalid("apiVersion", &json!(version), &format!("must be {}", target.api_version()))
    } else if kind != target.kind {
        FieldError::invalid("kind", &json!(kind), &format!("must be {}", target.kind))
    } else {
        return Ok(());
    };
    Err(Refusal::invalid_as(group, kind, &write.request.name, &[error]))
}

/// A value as Go's `%v` prints it.
fn go_map(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let members: Vec<String> = object.iter().map(|(k, v)| format!("{k}:{}", go_map(v))).collect();
            format!("map[{}]", members.join(" "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(go_map).collect::<Vec<_>>().join(" ")),
        Value::String(text) => text.clone(),
        Value::Null => "<nil>".to_owned(),
        other => other.to_string(),
    }
}

fn refusal(write: Write<'_>, config: &Value, refused: Refused) -> Refusal {
    match refused {
        Refused::Conflicts(conflicts) => conflict(&conflicts),
        Refused::Untyped(faults) => {
            let target = write.target;
            let what = match faults.as_slice() {
                [one] => one.clone(),
                many => format!(
                    "errors:\n{}",
                    many.iter().map(|f| format!("  {f}")).collect::<Vec<_>>().join("\n")
                ),
            };
            let place = format!("{}/{}", text(config, "/metadata/namespace"), text(config, "/metadata/name"));
            let gvk = format!("{}/{}, Kind={}", target.group, target.version, target.kind);
            Refusal::plain(500, &format!("failed to create typed patch object ({place}; {gvk}): {what}"))
        }
    }
}

fn conflict(conflicts: &[Conflict]) -> Refusal {
    let message = match conflicts {
        [one] => format!("Apply failed with 1 conflict: conflict with {}: {}", one.manager, one.path),
        many => {
            let mut lines = Vec::new();
            let mut manager = "";
            for conflict in many {
                if conflict.manager != manager {
                    manager = &conflict.manager;
                    lines.push(format!("conflicts with {manager}:"));
                }
                lines.push(format!("- {}", conflict.path));
            }
            format!("Apply failed with {} conflicts: {}", many.len(), lines.join("\n"))
        }
    };
    let causes: Vec<Value> = conflicts
        .iter()
        .map(|c| {
            json!({ "reason": "FieldManagerConflict", "message": format!("conflict with {}", c.manager), "field": c.path })
        })
        .collect();
    Refusal::new(409, "Conflict", message, json!({ "causes": causes }))
}

/// Whether all conflicts are about fields that `kubectl apply` set client-side and that still have its values.
fn migrates(shape: &crate::k8s::types::Type, live: &Value, conflicts: &[Conflict]) -> bool {
    let Some(last) = crate::k8s::annotation(live, LAST_APPLIED) else { return false };
    let Ok(last) = serde_json::from_str::<Value>(last) else { return false };
    if text(&last, "/apiVersion") != text(live, "/apiVersion") {
        return false;
    }
    let found = compare(shape, Some(&last), Some(live));
    let set = field_set(shape, &last)
        .difference(&found.modified)
        .difference(&found.added)
        .difference(&found.removed);
    let allowed = set.paths();
    conflicts.iter().all(|c| allowed.contains(&c.path))
}

/// Keeps the client-side annotation in step when `kubectl` applies server-side.
fn refresh_last_applied(object: &mut Value, config: &Value) {
    if crate::k8s::annotation(object, LAST_APPLIED).is_none_or(str::is_empty) {
        return;
    }
    let mut config = config.clone();
    if let Some(annotations) = config.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
        annotations.remove(LAST_APPLIED);
    }
    object["metadata"]["annotations"][LAST_APPLIED] = json!(format!("{config}\n"));
}
