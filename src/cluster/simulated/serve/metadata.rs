//! Metadata: what the server sets on creation and keeps on updates, and what it refuses.
//!
//! Source: Kubernetes apiserver 0.34.3 `pkg/registry/rest/{create,update}.go`, apimachinery 0.34.3
//! `pkg/api/validation/objectmeta.go`.

use serde_json::{Map, Value, json};

use super::super::discovery::Target;
use super::super::status::Refusal;
use crate::cluster::Request;
use crate::k8s::At as _;
use crate::k8s::{dns, text};
use crate::schema::FieldError;

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
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation"] {
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
    let name = text(object, "/metadata/name");
    if old.is_none()
        && let Some(detail) = name_fault(target, name)
    {
        errors.push(FieldError::invalid("metadata.name", &json!(name), &detail));
    }
    annotations(object, &mut errors);
    labels(object, &mut errors);
    finalizer_names(target, object, &mut errors);
    controllers(object, &mut errors);
    if let Some(old) = old {
        let (uid, before) = (text(object, "/metadata/uid"), text(old, "/metadata/uid"));
        if uid != before {
            errors.push(FieldError::invalid("metadata.uid", &json!(uid), "field is immutable"));
        }
        finalizers(object, old, &mut errors);
    }
    errors
}

fn annotations(object: &Value, errors: &mut Vec<FieldError>) {
    let annotations = object.at("/metadata/annotations").and_then(Value::as_object);
    let bytes: usize =
        annotations.into_iter().flatten().map(|(k, v)| k.len() + v.as_str().map_or(0, str::len)).sum();
    for key in annotations.into_iter().flat_map(Map::keys) {
        if let Some(detail) = qualified_name_fault(&key.to_lowercase()) {
            errors.push(FieldError::invalid("metadata.annotations", &json!(key), &detail));
        }
    }
    if bytes > ANNOTATION_BYTES {
        errors.push(FieldError::too_long("metadata.annotations", 262_144));
    }
}

fn labels(object: &Value, errors: &mut Vec<FieldError>) {
    for (key, value) in object.at("/metadata/labels").and_then(Value::as_object).into_iter().flatten() {
        if let Some(detail) = qualified_name_fault(key) {
            errors.push(FieldError::invalid("metadata.labels", &json!(key), &detail));
        }
        let value = value.as_str().unwrap_or("");
        if let Some(detail) = label_value_fault(value) {
            errors.push(FieldError::invalid("metadata.labels", &json!(value), &detail));
        }
    }
}

/// Groups whose kinds take any qualified name as a finalizer; of the others it needs a domain.
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
    let bare = target.builtin.is_none() || FREE_FINALIZERS.contains(&target.group.as_str());
    for name in finalizers_of(object) {
        if let Some(detail) = qualified_name_fault(name) {
            errors.push(FieldError::invalid("metadata.finalizers", &json!(name), &detail));
        }
    }
    for (at, name) in finalizers_of(object).enumerate() {
        if !bare && !name.contains('/') && !STANDARD.contains(&name) {
            let detail = "name is neither a standard finalizer name nor is it fully qualified";
            errors.push(FieldError::invalid(format!("metadata.finalizers[{at}]"), &json!(name), detail));
        }
    }
}

/// One owner at most is the controller.
fn controllers(object: &Value, errors: &mut Vec<FieldError>) {
    let references = object.at("/metadata/ownerReferences").and_then(Value::as_array);
    let mut controllers =
        references.into_iter().flatten().filter(|r| r.get("controller") == Some(&json!(true)));
    if let (Some(first), Some(second)) = (controllers.next(), controllers.next()) {
        let [first, second] = [first, second].map(|r| format!("{}/{}", text(r, "/kind"), text(r, "/name")));
        let detail = format!(
            "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {second}"
        );
        let all = json!(references);
        errors.push(FieldError::invalid("metadata.ownerReferences", &all, &detail));
    }
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

/// Names of roles and bindings are path segments, of services DNS-1035 labels, of namespaces labels, of the rest
/// subdomains.
fn name_fault(target: &Target, name: &str) -> Option<String> {
    match (target.group.as_str(), target.kind.as_str()) {
        ("rbac.authorization.k8s.io", _) => segment_fault(name),
        ("", "Namespace") if name.contains('.') => Some("must not contain dots".to_owned()),
        ("", "Namespace") if name.len() > 63 => Some("must be no more than 63 characters".to_owned()),
        ("", "Namespace") => label_fault(name),
        ("", "Service") => service_fault(name),
        _ => subdomain_fault(name),
    }
}

fn segment_fault(name: &str) -> Option<String> {
    let bad = |c: &str| name.contains(c).then(|| format!("may not contain '{c}'"));
    match name {
        "." | ".." => Some(format!("may not be '{name}'")),
        _ => bad("/").or_else(|| bad("%")),
    }
}

/// What is wrong with an RFC 1123 label.
pub(super) fn label_fault(name: &str) -> Option<String> {
    if name.len() > 63 {
        return Some("must be no more than 63 bytes".to_owned());
    }
    (!dns::is_label(name)).then(|| {
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and \
         end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
         '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
            .to_owned()
    })
}

fn service_fault(name: &str) -> Option<String> {
    if name.len() > 63 {
        return Some("must be no more than 63 bytes".to_owned());
    }
    let fits = dns::is_label(name) && name.as_bytes().first().is_some_and(u8::is_ascii_lowercase);
    (!fits).then(|| {
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
         character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for \
         validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
            .to_owned()
    })
}

fn subdomain_fault(name: &str) -> Option<String> {
    if name.len() > 253 {
        return Some("must be no more than 253 bytes".to_owned());
    }
    (!dns::is_subdomain(name)).then(|| {
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
         start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
         '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
            .to_owned()
    })
}

fn is_name_part(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

fn qualified_name_fault(key: &str) -> Option<String> {
    let name = match key.split_once('/') {
        None => key,
        Some((_, name)) if name.contains('/') => {
            return Some(
                "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                 alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
                 '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. \
                 'example.com/MyName')"
                    .to_owned(),
            );
        }
        Some(("", _)) => return Some("prefix part must be non-empty".to_owned()),
        Some((prefix, name)) => match subdomain_fault(prefix) {
            Some(fault) => return Some(format!("prefix part {fault}")),
            None => name,
        },
    };
    if name.is_empty() {
        return Some("name part must be non-empty".to_owned());
    }
    if name.len() > 63 {
        return Some("name part must be no more than 63 bytes".to_owned());
    }
    (!is_name_part(name)).then(|| {
        "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
         alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
         '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
            .to_owned()
    })
}

fn label_value_fault(value: &str) -> Option<String> {
    if value.len() > 63 {
        return Some("must be no more than 63 bytes".to_owned());
    }
    (!value.is_empty() && !is_name_part(value)).then(|| {
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
         start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for \
         validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
            .to_owned()
    })
}
