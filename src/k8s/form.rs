//! The form that every object has, whoever made it: what says which object it is, and the fields of `metadata`.

use serde_json::{Map, Value};

use super::types::{builtin, object_meta};
use super::{At as _, Gvk, catalogue, decode, dns, text};

/// What is wrong with an object, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// JSON pointer of the field.
    pub pointer: String,
    /// What is wrong; one fragment.
    pub message: String,
    /// What to do about it.
    pub hint: &'static str,
}

impl Fault {
    fn new(pointer: impl Into<String>, message: impl Into<String>, hint: &'static str) -> Self {
        Self { pointer: pointer.into(), message: message.into(), hint }
    }
}

const IDENTITY: &str = "Each object needs apiVersion (such as v1 or apps/v1) and kind.";
const OBJECT: &str = "Each object needs apiVersion, kind and metadata.";
const METADATA: &str = "Write objects as `kubectl get -o yaml` prints them.";
const QUOTE: &str =
    "Quote it where a text is meant: in YAML, numbers, true, yes, on, y, n and the like are none.";
const NAME: &str = "Give the object the name that it has in the cluster.";
const OWNERS: &str =
    "An owner reference has apiVersion, kind, name and uid of the owner, as the cluster shows them.";
const DEFINITION: &str = "Hand the definition in as `kubectl get crd NAME -o yaml` prints it.";

/// What a value is, in words.
#[must_use]
pub fn noun(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

/// Whether an object says what kind it is.
///
/// # Errors
/// What is no mapping; `apiVersion` or `kind` that are absent, no texts, or can't be read.
pub fn identity(object: &Value) -> Result<(), Fault> {
    if !object.is_object() {
        return Err(Fault::new("", format!("{}, not a Kubernetes object", noun(object)), OBJECT));
    }
    for key in ["apiVersion", "kind"] {
        match object.get(key) {
            None | Some(Value::Null) => return Err(Fault::new("", format!("{key} is missing"), IDENTITY)),
            Some(Value::String(text)) if text.is_empty() => {
                return Err(Fault::new(format!("/{key}"), format!("{key} is empty"), IDENTITY));
            }
            Some(Value::String(_)) => {}
            Some(other) => {
                let message = format!("{key} is {}, not a text", noun(other));
                return Err(Fault::new(format!("/{key}"), message, IDENTITY));
            }
        }
    }
    let version = text(object, "/apiVersion");
    let parts: Vec<&str> = version.split('/').collect();
    if parts.len() > 2 || parts.iter().any(|part| part.is_empty()) {
        let message = format!("apiVersion {version:?} is neither VERSION nor GROUP/VERSION");
        return Err(Fault::new("/apiVersion", message, IDENTITY));
    }
    Ok(())
}

/// Whether an object can be one that lives in a cluster: it has a name, `metadata` has the fields and types that it can
/// have, a built-in kind can be decoded, and what is known to be outside of or inside of namespaces is.
///
/// # Errors
/// The first thing that is wrong.
pub fn lives(object: &Value) -> Result<(), Fault> {
    identity(object)?;
    let gvk = Gvk::of(object);
    let metadata = match object.get("metadata") {
        None | Some(Value::Null) => return Err(Fault::new("", "metadata is missing", NAME)),
        Some(Value::Object(metadata)) => metadata,
        Some(other) => {
            let message = format!("metadata is {}, not a mapping", noun(other));
            return Err(Fault::new("/metadata", message, METADATA));
        }
    };
    fields(metadata)?;
    name(metadata)?;
    if is_subdomain_kind(&gvk) {
        subdomain(text(object, "/metadata/name"))?;
    }
    if let Some(builtin) = catalogue::by_kind(&gvk.group, &gvk.kind) {
        scope(object, builtin.namespaced)?;
    }
    decodes(object)?;
    if gvk.kind == "CustomResourceDefinition" && gvk.group == "apiextensions.k8s.io" {
        definition(object)?;
    }
    Ok(())
}

/// What a field of `metadata` holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Text,
    Time,
    Integer,
    /// Texts by key.
    Texts,
    /// A list of texts.
    List,
    Owners,
    Mappings,
}

/// The fields of `metadata`. Source: `k8s.io/apimachinery` 0.34.3, `pkg/apis/meta/v1/types.go`, `ObjectMeta`; `clusterName`
/// was there up to 1.24.
const FIELDS: &[(&str, Shape)] = &[
    ("annotations", Shape::Texts),
    ("clusterName", Shape::Text),
    ("creationTimestamp", Shape::Time),
    ("deletionGracePeriodSeconds", Shape::Integer),
    ("deletionTimestamp", Shape::Time),
    ("finalizers", Shape::List),
    ("generateName", Shape::Text),
    ("generation", Shape::Integer),
    ("labels", Shape::Texts),
    ("managedFields", Shape::Mappings),
    ("name", Shape::Text),
    ("namespace", Shape::Text),
    ("ownerReferences", Shape::Owners),
    ("resourceVersion", Shape::Text),
    ("selfLink", Shape::Text),
    ("uid", Shape::Text),
];

fn fields(metadata: &Map<String, Value>) -> Result<(), Fault> {
    for (key, value) in metadata.iter().filter(|(_, value)| !value.is_null()) {
        let Ok(at) = FIELDS.binary_search_by_key(&key.as_str(), |(name, _)| name) else {
            let known: Vec<&str> = FIELDS.iter().map(|(name, _)| *name).collect();
            let message = format!("metadata.{key} is no field of metadata; known are {}", known.join(", "));
            return Err(Fault::new(pointer("/metadata", key), message, METADATA));
        };
        if let Some((_, shape)) = FIELDS.get(at) {
            field(key, value, *shape)?;
        }
    }
    Ok(())
}

fn field(key: &str, value: &Value, shape: Shape) -> Result<(), Fault> {
    let (place, path) = (pointer("/metadata", key), format!("metadata.{key}"));
    let not = |wanted: &str| {
        let message = format!("{path} is {}, not {wanted}", noun(value));
        let hint = if wanted == "a text" { QUOTE } else { METADATA };
        Err(Fault::new(place.clone(), message, hint))
    };
    match (shape, value) {
        (Shape::Text, Value::String(_)) => Ok(()),
        (Shape::Time, Value::String(text)) if is_time(text) => Ok(()),
        (Shape::Time, Value::String(text)) => {
            let message = format!("{path} {text:?} is no time such as 2006-01-02T15:04:05Z");
            Err(Fault::new(place, message, METADATA))
        }
        (Shape::Integer, Value::Number(number)) if number.as_i64().is_some() => Ok(()),
        (Shape::Texts, Value::Object(map)) => texts(&place, &path, map),
        (Shape::List, Value::Array(items)) => {
            items.iter().enumerate().try_for_each(|(at, item)| match item {
                Value::String(text) if !text.is_empty() => Ok(()),
                Value::String(_) => {
                    Err(Fault::new(format!("{place}/{at}"), format!("{path}[{at}] is empty"), METADATA))
                }
                other => {
                    let message = format!("{path}[{at}] is {}, not a text", noun(other));
                    Err(Fault::new(format!("{place}/{at}"), message, METADATA))
                }
            })
        }
        (Shape::Owners, Value::Array(items)) => items
            .iter()
            .enumerate()
            .try_for_each(|(at, item)| owner(&format!("{place}/{at}"), &format!("{path}[{at}]"), item)),
        (Shape::Mappings, Value::Array(items)) if items.iter().all(Value::is_object) => Ok(()),
        (Shape::Text | Shape::Time, _) => not("a text"),
        (Shape::Integer, _) => not("an integer"),
        (Shape::Texts, _) => not("a mapping"),
        (Shape::List, _) => not("a list of texts"),
        (Shape::Owners | Shape::Mappings, _) => not("a list of mappings"),
    }
}

fn texts(place: &str, path: &str, map: &Map<String, Value>) -> Result<(), Fault> {
    let odd = map.iter().find(|(_, value)| !value.is_string() && !value.is_null());
    odd.map_or(Ok(()), |(key, value)| {
        let message = format!("{path}: the value of {key:?} is {}, not a text", noun(value));
        Err(Fault::new(pointer(place, key), message, QUOTE))
    })
}

fn owner(place: &str, path: &str, reference: &Value) -> Result<(), Fault> {
    let Value::Object(map) = reference else {
        return Err(Fault::new(place, format!("{path} is {}, not a mapping", noun(reference)), OWNERS));
    };
    for key in ["apiVersion", "kind", "name", "uid"] {
        let there = map.get(key).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
        if !there {
            let message = match map.get(key) {
                Some(other) if !other.is_null() && !other.is_string() => {
                    format!("{path}.{key} is {}, not a text", noun(other))
                }
                _ => format!("{path}.{key} is missing"),
            };
            return Err(Fault::new(pointer(place, key), message, OWNERS));
        }
    }
    for (key, value) in map.iter().filter(|(_, value)| !value.is_null()) {
        let message = match key.as_str() {
            "apiVersion" | "kind" | "name" | "uid" => continue,
            "blockOwnerDeletion" | "controller" if value.is_boolean() => continue,
            "blockOwnerDeletion" | "controller" => format!("{path}.{key} is {}, not a boolean", noun(value)),
            _ => format!("{path}.{key} is no field of an owner reference"),
        };
        return Err(Fault::new(pointer(place, key), message, OWNERS));
    }
    Ok(())
}

/// RFC 3339, as Go reads times: to seconds, with or without fractions, with a zone.
fn is_time(text: &str) -> bool {
    let digits = |text: &str, pattern: &str| {
        text.len() == pattern.len()
            && text.bytes().zip(pattern.bytes()).all(|(byte, wanted)| match wanted {
                b'0' => byte.is_ascii_digit(),
                _ => byte == wanted,
            })
    };
    let Some((moment, rest)) = text.split_at_checked(19) else { return false };
    let fraction = rest.strip_prefix('.').unwrap_or_default();
    let zone =
        if fraction.is_empty() { rest } else { fraction.trim_start_matches(|c: char| c.is_ascii_digit()) };
    digits(moment, "0000-00-00T00:00:00") && (zone == "Z" || digits(zone, "+00:00") || digits(zone, "-00:00"))
}

/// Names are parts of paths; everything finer hangs on the kind.
fn name(metadata: &Map<String, Value>) -> Result<(), Fault> {
    let of = |key: &str| metadata.get(key).and_then(Value::as_str).unwrap_or_default();
    let (name, namespace) = (of("name"), of("namespace"));
    if name.is_empty() {
        return Err(Fault::new("/metadata", "metadata.name is missing", NAME));
    }
    if name == "." || name == ".." || name.contains(['/', '%']) {
        let message = format!("metadata.name {name:?} can't be a name: it is a part of paths");
        return Err(Fault::new("/metadata/name", message, NAME));
    }
    if !namespace.is_empty() && !is_label(namespace) {
        let message = format!("metadata.namespace {namespace:?} can't be the name of a namespace");
        return Err(Fault::new("/metadata/namespace", message, LABEL));
    }
    Ok(())
}

/// Whether the names of a kind are DNS subdomains: those of custom kinds and of workloads are. Those of roles, API services
/// and addresses may have more in them.
fn is_subdomain_kind(gvk: &Gvk) -> bool {
    let builtin = catalogue::by_kind(&gvk.group, &gvk.kind).is_some() || gvk.group.ends_with(".k8s.io");
    matches!(gvk.group.as_str(), "" | "apps" | "batch") || !builtin
}

/// Whether a name is a DNS subdomain (RFC 1123).
fn subdomain(name: &str) -> Result<(), Fault> {
    if name.len() <= 253 && dns::is_subdomain(name) {
        return Ok(());
    }
    let message = format!(
        "metadata.name {name:?} can't be a name: they are made of lower-case letters, digits, hyphens and dots"
    );
    Err(Fault::new("/metadata/name", message, NAME))
}

/// What the names of namespaces are made of.
pub const LABEL: &str =
    "a namespace has 1 to 63 lower-case letters, digits and hyphens, and no hyphen at its ends";

/// Whether a text is a DNS label (RFC 1123), as the names of namespaces are.
#[must_use]
pub fn is_label(text: &str) -> bool {
    text.len() <= 63 && dns::is_label(text)
}

/// Whether an object is where its kind lives: in a namespace, or outside of all.
///
/// # Errors
/// A namespace that is missing or too much.
pub fn scope(object: &Value, namespaced: bool) -> Result<(), Fault> {
    let (kind, name) = (text(object, "/kind"), text(object, "/metadata/name"));
    let namespace = text(object, "/metadata/namespace");
    match (namespaced, namespace.is_empty()) {
        (true, true) => Err(Fault::new(
            "/metadata",
            format!("{kind} {name:?} has no metadata.namespace, and lives in one"),
            "Write the namespace that it lives in; `kubectl get -A -o yaml` does.",
        )),
        (false, false) => Err(Fault::new(
            "/metadata/namespace",
            format!("{kind} {name:?} has the namespace {namespace:?}, and lives outside of all"),
            "Take metadata.namespace out; the kind is cluster-scoped.",
        )),
        _ => Ok(()),
    }
}

/// Whether a server could decode the object: built-in kinds as a whole, of others the metadata.
fn decodes(object: &Value) -> Result<(), Fault> {
    let (version, kind) = (text(object, "/apiVersion"), text(object, "/kind"));
    let (of, mut copy) = match builtin(version, kind) {
        Some(of) => (of, object.clone()),
        None => (object_meta(), object.get("metadata").cloned().unwrap_or_default()),
    };
    decode::decode(&of, &mut copy).map(drop).map_err(|message| {
        // `…: cannot unmarshal number into Go struct field T.spec.replicas of type int32`
        let field = message.split("Go struct field ").nth(1).and_then(|rest| rest.split(' ').next());
        let path = field.and_then(|field| field.split_once('.')).map_or("", |(_, path)| path);
        let pointer = format!("/{}", path.replace('.', "/"));
        let name = text(object, "/metadata/name");
        Fault::new(pointer, format!("{kind} {name:?} can't be decoded: {message}"), METADATA)
    })
}

/// What a definition needs to serve its kind.
fn definition(crd: &Value) -> Result<(), Fault> {
    let need = |pointer: &str| {
        let path = pointer.trim_start_matches('/').replace('/', ".");
        let message = format!("{path} of the definition is missing");
        (text(crd, pointer).is_empty()).then(|| Fault::new(pointer, message, DEFINITION))
    };
    let needed = ["/spec/group", "/spec/names/plural", "/spec/names/kind", "/spec/scope"];
    if let Some(fault) = needed.into_iter().find_map(need) {
        return Err(fault);
    }
    let full = format!("{}.{}", text(crd, "/spec/names/plural"), text(crd, "/spec/group"));
    if text(crd, "/metadata/name") != full {
        let message = format!("a definition's name is PLURAL.GROUP, here {full:?}");
        return Err(Fault::new("/metadata/name", message, DEFINITION));
    }
    if !matches!(text(crd, "/spec/scope"), "Namespaced" | "Cluster") {
        return Err(Fault::new("/spec/scope", "spec.scope is neither Namespaced nor Cluster", DEFINITION));
    }
    versions(crd)
}

fn versions(crd: &Value) -> Result<(), Fault> {
    // v1beta1 has one version beside the list.
    let single = !text(crd, "/spec/version").is_empty();
    let versions = crd.at("/spec/versions").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if let Some(at) = versions.iter().position(|version| text(version, "/name").is_empty()) {
        let pointer = format!("/spec/versions/{at}");
        return Err(Fault::new(
            pointer,
            format!("spec.versions[{at}].name of the definition is missing"),
            DEFINITION,
        ));
    }
    let stored = versions.iter().filter(|v| v.get("storage").and_then(Value::as_bool) == Some(true)).count();
    if stored != 1 && !(single && versions.is_empty()) {
        let message = format!("exactly one of spec.versions is stored (storage: true), here {stored}");
        return Err(Fault::new("/spec/versions", message, DEFINITION));
    }
    Ok(())
}

/// A pointer one step on.
fn pointer(above: &str, key: &str) -> String {
    format!("{above}/{}", key.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests;
