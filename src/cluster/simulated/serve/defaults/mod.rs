//! Defaults of built-in kinds: what the server fills in before it stores an object.
//!
//! Source: Kubernetes 1.34.3, `pkg/apis/*/v1/defaults.go` and the strategies in `pkg/registry`.

use serde_json::{Map, Value, json};

use super::super::discovery::Target;
use crate::k8s::text;

mod definitions;
mod network;
mod pods;
mod workloads;

/// Fills in what a client left out; on updates some values come from the stored object.
pub(super) fn defaults(target: &Target, object: &mut Value, old: Option<&Value>) {
    if target.builtin.is_none() {
        return;
    }
    match (target.group.as_str(), target.kind.as_str()) {
        ("", "Secret") => secret(object),
        ("", "Namespace") => namespace(object, old),
        ("", "Pod") => pods::pod(object),
        ("", "PodTemplate") => pods::template(object.get_mut("template")),
        ("", "PersistentVolumeClaim") => claim(object, old),
        ("", "PersistentVolume") => {
            set(object.get_mut("spec"), "persistentVolumeReclaimPolicy", json!("Retain"));
            set(object.get_mut("spec"), "volumeMode", json!("Filesystem"));
        }
        ("", "LimitRange") => limits(object),
        ("", "Service") => network::service(object, old),
        ("networking.k8s.io", "IngressClass") => {
            set(object.pointer_mut("/spec/parameters"), "scope", json!("Cluster"));
        }
        ("networking.k8s.io", "NetworkPolicy") => network::policy(object),
        ("apps" | "batch", _) | ("", "ReplicationController") => {
            workloads::defaults(&target.kind, object, old);
        }
        ("autoscaling", _) => workloads::autoscaler(object, &target.version),
        ("rbac.authorization.k8s.io", _) => bindings(object),
        ("admissionregistration.k8s.io", _) => definitions::webhooks(object, &target.kind),
        ("apiextensions.k8s.io", _) => definitions::definition(object, old),
        ("apiregistration.k8s.io", _) => set(object.pointer_mut("/spec/service"), "port", json!(443)),
        ("scheduling.k8s.io", _) => set(Some(object), "preemptionPolicy", json!("PreemptLowerPriority")),
        ("storage.k8s.io", "StorageClass") => {
            set(Some(object), "reclaimPolicy", json!("Delete"));
            set(Some(object), "volumeBindingMode", json!("Immediate"));
        }
        ("storage.k8s.io", "CSIDriver") => driver(object.get_mut("spec")),
        _ => {}
    }
}

/// Sets a field that is absent.
fn set(object: Option<&mut Value>, field: &str, value: Value) {
    if let Some(object) = object.and_then(Value::as_object_mut) {
        object.entry(field).or_insert(value);
    }
}

/// The object at a field, made when absent.
fn part<'v>(object: &'v mut Value, field: &str) -> Option<&'v mut Map<String, Value>> {
    object.as_object_mut()?.entry(field).or_insert_with(|| json!({})).as_object_mut()
}

/// The elements of a list at a pointer.
fn each<'v>(object: &'v mut Value, pointer: &str) -> impl Iterator<Item = &'v mut Value> {
    object.pointer_mut(pointer).and_then(Value::as_array_mut).into_iter().flatten()
}

fn secret(object: &mut Value) {
    use base64::Engine as _;
    set(Some(object), "type", json!("Opaque"));
    let Some(root) = object.as_object_mut() else { return };
    let Some(Value::Object(texts)) = root.remove("stringData") else { return };
    let Some(data) = root.entry("data").or_insert_with(|| json!({})).as_object_mut() else { return };
    for (key, text) in texts {
        let encoded = base64::engine::general_purpose::STANDARD.encode(text.as_str().unwrap_or(""));
        data.insert(key, json!(encoded));
    }
}

fn namespace(object: &mut Value, old: Option<&Value>) {
    let name = text(object, "/metadata/name").to_owned();
    if let Some(labels) = object.get_mut("metadata").and_then(|m| part(m, "labels")) {
        labels.insert("kubernetes.io/metadata.name".to_owned(), json!(name));
    }
    match old {
        Some(old) => object["spec"] = old.get("spec").cloned().unwrap_or_else(|| json!({})),
        None => {
            object["spec"] = json!({ "finalizers": ["kubernetes"] });
            object["status"] = json!({ "phase": "Active" });
        }
    }
}

fn claim(object: &mut Value, old: Option<&Value>) {
    set(object.get_mut("spec"), "volumeMode", json!("Filesystem"));
    data_sources(object.get_mut("spec"), old);
    if old.is_none() {
        object["status"] = json!({ "phase": "Pending" });
        object["metadata"]["finalizers"] = json!(["kubernetes.io/pvc-protection"]);
    }
}

/// The older field for what a claim starts from takes two kinds alone, and the newer one says the same.
///
/// Source: `pkg/api/persistentvolumeclaim/util.go`, `EnforceDataSourceBackwardsCompatibility`, `NormalizeDataSources`.
fn data_sources(spec: Option<&mut Value>, old: Option<&Value>) {
    const OLD: &str = "dataSource";
    const NEW: &str = "dataSourceRef";
    let Some(spec) = spec.and_then(Value::as_object_mut) else { return };
    let known = |source: &Value| {
        let (group, kind) = (text(source, "/apiGroup"), text(source, "/kind"));
        matches!((group, kind), ("", "PersistentVolumeClaim") | ("snapshot.storage.k8s.io", "VolumeSnapshot"))
    };
    let used = |field: &str| old.is_some_and(|old| !old["spec"][field].is_null());
    // Sources in other namespaces are not known yet.
    if !used(NEW) && spec.get(NEW).is_some_and(|source| !text(source, "/namespace").is_empty()) {
        spec.remove(NEW);
    }
    let in_use = used(OLD) || used(NEW);
    if !in_use && !spec.contains_key(NEW) && spec.get(OLD).is_some_and(|source| !known(source)) {
        spec.remove(OLD);
    }
    match (spec.get(OLD).cloned(), spec.get(NEW).cloned()) {
        (Some(source), None) => drop(spec.insert(NEW.to_owned(), source)),
        (None, Some(mut source)) if text(&source, "/namespace").is_empty() => {
            source.as_object_mut().and_then(|source| source.remove("namespace"));
            spec.insert(OLD.to_owned(), source);
        }
        _ => {}
    }
}

/// What containers get without asking follows from the most and the least that they may have.
///
/// Source: `pkg/apis/core/v1/defaults.go`, `SetDefaults_LimitRangeItem`.
fn limits(object: &mut Value) {
    for limit in each(object, "/spec/limits").filter(|limit| text(limit, "/type") == "Container") {
        for (from, to) in [("max", "default"), ("default", "defaultRequest"), ("min", "defaultRequest")] {
            let amounts = limit.get(from).and_then(Value::as_object).cloned().unwrap_or_default();
            let Some(given) = part(limit, to) else { continue };
            for (name, amount) in amounts {
                given.entry(name).or_insert(amount);
            }
        }
    }
}

fn bindings(object: &mut Value) {
    const GROUP: &str = "rbac.authorization.k8s.io";
    if let Some(reference) = object.get_mut("roleRef").and_then(Value::as_object_mut)
        && reference.get("apiGroup").is_none_or(|g| g == "")
    {
        reference.insert("apiGroup".to_owned(), json!(GROUP));
    }
    for subject in each(object, "/subjects") {
        if matches!(text(subject, "/kind"), "User" | "Group") && text(subject, "/apiGroup").is_empty() {
            subject["apiGroup"] = json!(GROUP);
        }
    }
}

fn driver(spec: Option<&mut Value>) {
    let Some(spec) = spec else { return };
    for (field, value) in [
        ("attachRequired", json!(true)),
        ("fsGroupPolicy", json!("ReadWriteOnceWithFSType")),
        ("podInfoOnMount", json!(false)),
        ("requiresRepublish", json!(false)),
        ("seLinuxMount", json!(false)),
        ("storageCapacity", json!(false)),
        ("volumeLifecycleModes", json!(["Persistent"])),
    ] {
        set(Some(spec), field, value);
    }
}
