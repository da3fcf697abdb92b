//! Validation of built-in kinds: required fields that charts get wrong, and what may not change.
//!
//! Source: Kubernetes 1.34.3, `pkg/apis/*/validation` and the strategies in `pkg/registry`.

use serde_json::{Value, json};

use super::super::discovery::Target;
use crate::k8s::At as _;
use crate::k8s::quantity::billionths;
use crate::k8s::text;
use crate::schema::FieldError;

mod configuration;
mod definitions;
mod network;
mod pods;
mod required;
mod workloads;

/// What is wrong with a new state of a built-in object.
pub(super) fn validate(target: &Target, object: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    match (target.group.as_str(), target.kind.as_str()) {
        ("", "ConfigMap") => configuration::config_map(object, old, &mut errors),
        ("", "Secret") => configuration::secret(object, old, &mut errors),
        ("", "Service") => network::service(object, old, &mut errors),
        ("discovery.k8s.io", "EndpointSlice") => {
            immutable(object, old, "/addressType", "addressType", &mut errors);
        }
        ("networking.k8s.io", "Ingress") => network::ingress(object, &mut errors),
        ("", "Pod") => pods::pod(object, old, &mut errors),
        ("", "PersistentVolumeClaim") => claim(object, old, &mut errors),
        ("apps" | "batch", kind) => workloads::validate(kind, object, old, &mut errors),
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => {
            role_reference(object, old, &mut errors);
        }
        ("storage.k8s.io", "StorageClass") => storage_class(object, old, &mut errors),
        ("scheduling.k8s.io", "PriorityClass") => {
            unchanged_or_forbidden(
                object,
                old,
                "/value",
                "value",
                "may not be changed in an update.",
                &mut errors,
            );
        }
        ("networking.k8s.io", "IngressClass") => {
            immutable(object, old, "/spec/controller", "spec.controller", &mut errors);
        }
        ("node.k8s.io", "RuntimeClass") => immutable(object, old, "/handler", "handler", &mut errors),
        ("storage.k8s.io", "CSIDriver") => {
            immutable(object, old, "/spec/attachRequired", "spec.attachRequired", &mut errors);
        }
        ("", "PersistentVolume") => volume_source(object, old, &mut errors),
        ("apiextensions.k8s.io", _) => definitions::definition(object, old, &mut errors),
        _ => {}
    }
    required::fields(target, object, &mut errors);
    errors
}

/// Refuses a change of a field, showing its new value.
fn immutable(object: &Value, old: Option<&Value>, pointer: &str, field: &str, errors: &mut Vec<FieldError>) {
    let Some(old) = old else { return };
    let value = object.at(pointer);
    if value != old.at(pointer) {
        errors.push(FieldError::invalid(field, value.unwrap_or(&Value::Null), "field is immutable"));
    }
}

/// Refuses a change of a field without showing it.
fn unchanged_or_forbidden(
    object: &Value,
    old: Option<&Value>,
    pointer: &str,
    field: &str,
    detail: &str,
    errors: &mut Vec<FieldError>,
) {
    if old.is_some_and(|old| old.at(pointer) != object.at(pointer)) {
        errors.push(FieldError::forbidden(field, detail));
    }
}

fn role_reference(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let changed = old.is_some_and(|old| old.get("roleRef") != object.get("roleRef"));
    if changed {
        let shown = ["apiGroup", "kind", "name"]
            .map(|f| object.at(&format!("/roleRef/{f}")).cloned().unwrap_or_default());
        let [group, kind, name] = shown;
        let value = json!({ "APIGroup": group, "Kind": kind, "Name": name });
        errors.push(FieldError::invalid("roleRef", &value, "cannot change roleRef"));
    }
}

fn storage_class(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let detail = "updates to parameters are forbidden.";
    unchanged_or_forbidden(object, old, "/parameters", "parameters", detail, errors);
    let detail = "updates to provisioner are forbidden.";
    unchanged_or_forbidden(object, old, "/provisioner", "provisioner", detail, errors);
    let detail = "updates to reclaimPolicy are forbidden.";
    unchanged_or_forbidden(object, old, "/reclaimPolicy", "reclaimPolicy", detail, errors);
    immutable(object, old, "/volumeBindingMode", "volumeBindingMode", errors);
}

/// What a volume consists of is none of the fields that every volume has.
fn volume_source(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    const COMMON: &[&str] = &[
        "accessModes",
        "capacity",
        "claimRef",
        "mountOptions",
        "nodeAffinity",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "volumeAttributesClassName",
        "volumeMode",
    ];
    let source = |volume: &Value| -> Vec<(String, Value)> {
        let spec = volume.get("spec").and_then(Value::as_object).into_iter().flatten();
        let own = spec.filter(|(field, _)| !COMMON.contains(&field.as_str()));
        own.map(|(field, value)| (field.clone(), value.clone())).collect()
    };
    if old.is_some_and(|old| source(old) != source(object)) {
        let field = "spec.persistentvolumesource";
        errors.push(FieldError::forbidden(field, "spec.persistentvolumesource is immutable after creation"));
    }
}

fn claim(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let Some(old) = old else { return };
    let bound = text(old, "/status/phase") == "Bound";
    let open = |claim: &Value| {
        let mut spec = claim.get("spec").cloned().unwrap_or_default();
        if let Some(spec) = spec.as_object_mut() {
            spec.remove("volumeAttributesClassName");
            if text(claim, "/spec/volumeName").is_empty() {
                spec.remove("volumeName");
            }
        }
        if bound && let Some(resources) = spec.get_mut("resources").and_then(Value::as_object_mut) {
            resources.remove("requests");
        }
        spec
    };
    if open(object) != open(old) {
        let detail = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
        errors.push(FieldError::forbidden("spec", detail));
    }
    let size = |at: &str, claim: &Value| billionths(text(claim, at));
    let (wanted, had) = (size(REQUEST, object), size(REQUEST, old));
    // Room that no volume has taken yet may be given back, so that a failed expansion is not for ever.
    if wanted < had && wanted <= size("/status/capacity/storage", old) {
        let detail = "field can not be less than status.capacity";
        errors.push(FieldError::forbidden("spec.resources.requests.storage", detail));
    }
}

const REQUEST: &str = "/spec/resources/requests/storage";
