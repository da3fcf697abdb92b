//! Metadata: what the server sets on creation and keeps on updates, and what it refuses.
//!
//! Source: Kubernetes apiserver 0.34.3 `pkg/registry/rest/{create,update}.go`, apimachinery 0.34.3
//! `pkg/api/validation/objectmeta.go`.

use serde_json::{Map, Value, json};

use super::super::discovery::Target;
use super::super::status::Refusal;
use crate::cluster::Request;
use crate::k8s::At as _;
use crate::k8s::names::{
    Faults, label_faults, label_value_faults, qualified_name_faults, segment_faults, service_faults,
    subdomain_faults,
};
use crate::k8s::text;
use crate::schema::{Cause, FieldError};

/// Kinds whose objects count their generations, besides custom resources.
const WITH_GENERATION: &[&str] = &[
    "CronJob",
    "CustomResourceDefinition",
    "DaemonSet",
    "Deployment",
    "FlowSchema",
    "Ingress",
    "IngressClass",
    "Job",
    "MutatingWebhookConfiguration",
    "NetworkPolicy",
    "Pod",
    "PodDisruptionBudget",
    "PodTemplate",
    "PriorityClass",
    "PriorityLevelConfiguration",
    "ReplicaSet",
    "ReplicationController",
    "StatefulSet",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
];

/// Largest sum of keys and values of all annotations, in bytes.
const ANNOTATION_BYTES: usize = 256 * 1024;

/// What the server gives a new object.
pub(super) struct Birth {
    pub(super) uid: String,
    pub(super) suffix: String,
    pub(super) now: String,
}

/// Gives a new object its metadata; returns its name.
pub(super) fn prepare_create(
    target: &Target,
    request: &Request,
    object: &mut Value,
    birth: &Birth,
) -> Result<String, Refusal> {
    let root = object.as_object_mut().ok_or_else(|| Refusal::bad_request("the body is no object"))?;
    root.insert("apiVersion".to_owned(), json!(target.api_version()));
    root.insert("kind".to_owned(), json!(target.kind));
    if target.has_status() {
        reset_status(target, root);
    }
    let metadata = root.entry("metadata").or_insert_with(|| json!({}));
    let metadata = metadata.as_object_mut().ok_or_else(|| Refusal::bad_request("metadata is no object"))?;
    if metadata.get("resourceVersion").and_then(Value::as_str).is_some_and(|v| !v.is_empty()) {
        return Err(Refusal::plain(500, "resourceVersion should not be set on objects to be created"));
    }
    let name = name_of(metadata, &birth.suffix);
    if name.is_empty() {
        let error = FieldError::required("metadata.name", "name or generateName is required");
        return Err(Refusal::invalid(target, "", &[error]));
    }
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] {
        metadata.remove(field);
    }
    metadata.insert("name".to_owned(), json!(name));
    if target.namespaced {
        metadata.insert("namespace".to_owned(), json!(request.namespace));
    }
    metadata.insert("uid".to_owned(), json!(birth.uid));
    metadata.insert("creationTimestamp".to_owned(), json!(birth.now));
    if counts_generations(target) {
        metadata.insert("generation".to_owned(), json!(1));
    }
    Ok(name)
}

fn reset_status(target: &Target, root: &mut Map<String, Value>) {
    if target.builtin.is_some() && root.contains_key("status") {
        // Decoding shows the zero status of built-ins; what a client sent is dropped.
        let mut blank = json!({ "status": {} });
        if crate::k8s::decode::decode(target.shape(), &mut blank).is_ok()
            && let Some(status) = blank.get_mut("status")
        {
            root.insert("status".to_owned(), status.take());
        }
    } else {
        root.remove("status");
    }
}

fn name_of(metadata: &Map<String, Value>, suffix: &str) -> String {
    let field = |name: &str| metadata.get(name).and_then(Value::as_str).unwrap_or("");
    match (field("name"), field("generateName")) {
        ("", "") => String::new(),
        ("", prefix) => format!("{}{suffix}", prefix.get(..58).unwrap_or(prefix)),
        (name, _) => name.to_owned(),
    }
}

fn counts_generations(target: &Target) -> bool {
    target.builtin.is_none() || WITH_GENERATION.contains(&target.kind.as_str())
}

/// Restores what an update may not touch and counts the generation.
pub(super) fn prepare_update(target: &Target, request: &Request, old: &Value, object: &mut Value) {
    let Some(root) = object.as_object_mut() else { return };
    root.insert("apiVersion".to_owned(), json!(target.api_version()));
    root.insert("kind".to_owned(), json!(target.kind));
    if request.subresource == "status" {
        keep_all_but_status(target, root, old);
    } else if target.has_status() {
        restore(root, old, "status");
    }
    let ignored = ["metadata", "status", "apiVersion", "kind"];
    let ignores = |field: &str| ignored.contains(&field) && (field != "status" || target.has_status());
    let changed = request.subresource.is_empty()
        && (root.iter().any(|(k, v)| !ignores(k) && old.get(k) != Some(v))
            || old.as_object().is_some_and(|o| o.keys().any(|k| !ignores(k) && !root.contains_key(k))));
    let generation = old.at("/metadata/generation").and_then(Value::as_i64);
    let Some(metadata) = root.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let Some(before) = old.get("metadata") else { return };
    for field in [
        "name",
        "namespace",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "resourceVersion",
        "generateName",
        "selfLink",
        "generation",
    ] {
        restore(metadata, before, field);
    }
    if metadata.get("uid").and_then(Value::as_str).unwrap_or("").is_empty() {
        restore(metadata, before, "uid");
    }
    if let Some(generation) = generation.filter(|_| changed) {
        metadata.insert("generation".to_owned(), json!(generation + 1));
    }
}

/// A status write leaves everything else alone: of custom resources all metadata, of built-ins the rest of the object.
fn keep_all_but_status(target: &Target, root: &mut Map<String, Value>, old: &Value) {
    let fields: Vec<String> =
        root.keys().chain(old.as_object().into_iter().flat_map(Map::keys)).cloned().collect();
    for field in fields.iter().filter(|f| *f != "status" && (*f != "metadata" || target.builtin.is_none())) {
        let managed =
            (field == "metadata").then(|| root.get("metadata")?.get("managedFields").cloned()).flatten();
        restore(root, old, field);
        if let (Some(managed), Some(metadata)) =
            (managed, root.get_mut("metadata").and_then(Value::as_object_mut))
        {
            metadata.insert("managedFields".to_owned(), managed);
        }
    }
}

fn restore(object: &mut Map<String, Value>, old: &Value, field: &str) {
    match old.get(field) {
        Some(value) => object.insert(field.to_owned(), value.clone()),
        None => object.remove(field),
    };
}

/// What is wrong with an object's metadata.
pub(super) fn validate(target: &Target, object: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if old.is_none() {
        own_names(target, object, &mut errors);
    }
    labels(object, &mut errors);
    annotations(object, &mut errors);
    owners(object, &mut errors);
    finalizer_names(target, object, &mut errors);
    if let Some(old) = old {
        let (uid, before) = (text(object, "/metadata/uid"), text(old, "/metadata/uid"));
        if uid != before {
            errors.push(FieldError::invalid("metadata.uid", &json!(uid), "field is immutable"));
        }
        finalizers(object, old, &mut errors);
    }
    errors
}

/// What is asked of new objects alone: their names, and a generation that is not below zero.
fn own_names(target: &Target, object: &Value, errors: &mut Vec<FieldError>) {
    let prefix = text(object, "/metadata/generateName");
    let mut told = |field: &str, name: &str, faults: Faults| {
        let told = faults.iter().map(|fault| FieldError::invalid(field, &json!(name), fault));
        errors.extend(told);
    };
    if !prefix.is_empty() {
        told("metadata.generateName", prefix, name_faults(target, object, &whole_name(target, prefix)));
    }
    let name = text(object, "/metadata/name");
    told("metadata.name", name, name_faults(target, object, name));
    if let Some(generation) = object.at("/metadata/generation").filter(|g| g.as_i64().is_some_and(|n| n < 0))
    {
        let detail = "must be greater than or equal to 0";
        errors.push(FieldError::invalid("metadata.generation", generation, detail));
    }
}

/// A prefix may end with a hyphen, since more follows.
fn whole_name(target: &Target, prefix: &str) -> String {
    match prefix.strip_suffix('-') {
        Some(start) if !start.is_empty() && target.group != "rbac.authorization.k8s.io" => {
            format!("{start}a")
        }
        _ => prefix.to_owned(),
    }
}

fn annotations(object: &Value, errors: &mut Vec<FieldError>) {
    let annotations = object.at("/metadata/annotations").and_then(Value::as_object);
    let bytes: usize =
        annotations.into_iter().flatten().map(|(k, v)| k.len() + v.as_str().map_or(0, str::len)).sum();
    for key in annotations.into_iter().flat_map(Map::keys) {
        for detail in qualified_name_faults(&key.to_lowercase()) {
            errors.push(FieldError::invalid("metadata.annotations", &json!(key), &detail));
        }
    }
    if bytes > ANNOTATION_BYTES {
        errors.push(FieldError::too_long("metadata.annotations", 262_144));
    }
}

fn labels(object: &Value, errors: &mut Vec<FieldError>) {
    for (key, value) in object.at("/metadata/labels").and_then(Value::as_object).into_iter().flatten() {
        for detail in qualified_name_faults(key) {
            errors.push(FieldError::invalid("metadata.labels", &json!(key), &detail));
        }
        let value = value.as_str().unwrap_or("");
        for detail in label_value_faults(value) {
            errors.push(FieldError::invalid("metadata.labels", &json!(value), &detail));
        }
    }
}

/// Groups whose kinds, besides budgets, take any qualified name as a finalizer; of the others it needs a domain.
const FREE_FINALIZERS: &[&str] = &[
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "coordination.k8s.io",
];

fn finalizers_of(object: &Value) -> impl Iterator<Item = &str> {
    let list = object.at("/metadata/finalizers").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str)
}

/// Source of what is asked of built-in kinds beyond a qualified name: Kubernetes 1.34.3,
/// `pkg/apis/core/validation/validation.go`, `validateKubeFinalizerName`.
fn finalizer_names(target: &Target, object: &Value, errors: &mut Vec<FieldError>) {
    const STANDARD: &[&str] = &["kubernetes", "orphan", "foregroundDeletion"];
    let bare = target.builtin.is_none()
        || FREE_FINALIZERS.contains(&target.group.as_str())
        || target.kind == "PodDisruptionBudget";
    for name in finalizers_of(object) {
        for detail in qualified_name_faults(name) {
            errors.push(FieldError::invalid("metadata.finalizers", &json!(name), &detail));
        }
    }
    let all: Vec<&str> = finalizers_of(object).collect();
    if all.contains(&"orphan") && all.contains(&"foregroundDeletion") {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.push(FieldError::invalid("metadata.finalizers", &json!(all), detail));
    }
    for (at, name) in finalizers_of(object).enumerate() {
        if !bare && !name.contains('/') && !STANDARD.contains(&name) {
            let detail = "name is neither a standard finalizer name nor is it fully qualified";
            errors.push(FieldError::invalid(format!("metadata.finalizers[{at}]"), &json!(name), detail));
        }
    }
}

/// Owners are named in full, and one of them at most is the controller.
///
/// Source: apimachinery 0.34.3, `pkg/api/validation/objectmeta.go`, `ValidateOwnerReferences`.
fn owners(object: &Value, errors: &mut Vec<FieldError>) {
    let references: Vec<&Value> = crate::k8s::items(object, "/metadata/ownerReferences").collect();
    let mut controller: Option<String> = None;
    for reference in &references {
        owner(reference, errors);
        if reference.get("controller") != Some(&json!(true)) {
            continue;
        }
        let own = format!("{}/{}", text(reference, "/kind"), text(reference, "/name"));
        let Some(first) = &controller else {
            controller = Some(own);
            continue;
        };
        let all: Vec<String> = references.iter().map(|reference| shown_owner(reference)).collect();
        let detail = format!(
            "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {own}"
        );
        let shown = format!("[{}]", all.join(","));
        errors.push(FieldError::showing(Cause::Invalid, "metadata.ownerReferences", &shown, &detail));
    }
}

fn owner(reference: &Value, errors: &mut Vec<FieldError>) {
    let version = text(reference, "/apiVersion");
    let lacks_version = version.matches('/').count() > 1 || version.is_empty() || version.ends_with('/');
    let mut invalid = |field: &str, detail: &str| {
        let shown = json!(text(reference, &format!("/{field}")));
        errors.push(FieldError::invalid(format!("metadata.ownerReferences.{field}"), &shown, detail));
    };
    if lacks_version {
        invalid("apiVersion", "version must not be empty");
    }
    for field in ["kind", "name", "uid"] {
        if text(reference, &format!("/{field}")).is_empty() {
            invalid(field, "must not be empty");
        }
    }
    if version == "v1" && text(reference, "/kind") == "Event" {
        let detail = "/v1, Kind=Event is disallowed from being an owner";
        let shown = shown_owner(reference);
        errors.push(FieldError::showing(Cause::Invalid, "metadata.ownerReferences", &shown, detail));
    }
}

/// A reference with its fields in the order in which the server has them.
fn shown_owner(reference: &Value) -> String {
    let needed = ["apiVersion", "kind", "name", "uid"]
        .map(|field| (field, json!(text(reference, &format!("/{field}")))));
    let flags = ["controller", "blockOwnerDeletion"];
    let flags = flags.iter().filter_map(|field| Some((*field, reference.get(*field)?.clone())));
    let members: Vec<String> =
        needed.into_iter().chain(flags).map(|(field, value)| format!("\"{field}\":{value}")).collect();
    format!("{{{}}}", members.join(","))
}

fn finalizers(object: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    if old.at("/metadata/deletionTimestamp").is_none() {
        return;
    }
    let before: Vec<&str> = finalizers_of(old).collect();
    let new: Vec<String> =
        finalizers_of(object).filter(|f| !before.contains(f)).map(|f| json!(f).to_string()).collect();
    if !new.is_empty() {
        let detail = format!(
            "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
            new.join(", ")
        );
        errors.push(FieldError::forbidden("metadata.finalizers", &detail));
    }
}

/// Names of roles, bindings and budgets are path segments, of services DNS-1035 labels, of namespaces and stateful sets labels,
/// of aggregated APIs what they serve, of the rest subdomains.
fn name_faults(target: &Target, object: &Value, name: &str) -> Faults {
    match (target.group.as_str(), target.kind.as_str()) {
        ("rbac.authorization.k8s.io", _) | ("policy", "PodDisruptionBudget") => segment_faults(name),
        ("apiregistration.k8s.io", _) => aggregated_faults(object, name),
        ("", "Namespace") | ("apps", "StatefulSet") => label_faults(name),
        ("", "Service") => service_faults(name),
        _ => subdomain_faults(name),
    }
}

/// Source: kube-aggregator 0.34.3, `pkg/apis/apiregistration/validation/validation.go`, `ValidateAPIService`.
fn aggregated_faults(object: &Value, name: &str) -> Faults {
    let wanted = format!("{}.{}", text(object, "/spec/version"), text(object, "/spec/group"));
    let faults = segment_faults(name);
    if !faults.is_empty() || name == wanted {
        return faults;
    }
    vec![format!("must be `spec.version+\".\"+spec.group`: {}", json!(wanted))]
}
