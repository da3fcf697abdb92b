//! Documents of a manifest mapped to resources, as Helm builds them before it writes anything.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};

use crate::cluster::{ApiResource, Arrival};
use crate::k8s::types::object_meta;
use crate::k8s::{self, Gvk, decode};
use crate::upgrade::link::Address;

/// One object of a manifest and where it lives.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// Group, version, kind.
    pub(crate) gvk: Gvk,
    /// Where it lives.
    pub(crate) address: Address,
    /// The object, its namespace filled in.
    pub(crate) object: Arc<Value>,
}

impl Target {
    /// Whether both are the same object, whatever the version.
    pub(crate) fn same_object(&self, other: &Self) -> bool {
        self.gvk.kind == other.gvk.kind
            && self.gvk.group == other.gvk.group
            && self.address.name == other.address.name
            && self.address.namespace == other.address.namespace
    }

    /// Whether both are the same object in the same version.
    pub(crate) fn same_key(&self, other: &Self) -> bool {
        self.gvk == other.gvk
            && self.address.name == other.address.name
            && self.address.namespace == other.address.namespace
    }

    /// The object as one that is about to come.
    pub(crate) fn arrival(&self) -> Arrival {
        let Address { namespace, name, .. } = self.address.clone();
        Arrival { group: self.gvk.group.clone(), kind: self.gvk.kind.clone(), namespace, name }
    }

    /// `Kind "name" in namespace "ns"`, as Helm's error texts name objects.
    pub(crate) fn describe(&self) -> String {
        format!("{} \"{}\" in namespace \"{}\"", self.gvk.kind, self.address.name, self.address.namespace)
    }

    /// `ns/name group/version, Kind=Kind`, as Helm 4's error texts name objects.
    pub(crate) fn long_name(&self) -> String {
        let Gvk { group, version, kind } = &self.gvk;
        format!("{}/{} {group}/{version}, Kind={kind}", self.address.namespace, self.address.name)
    }
}

/// Maps documents in their order; documents without an object are left out, lists are flattened.
///
/// # Errors
/// Every object whose kind is not served, in the words of Kubernetes' resource builder.
/// Source: k8s.io/cli-runtime, `pkg/resource/mapper.go` and `builder.go`.
pub(crate) fn build<'o>(
    served: &[ApiResource],
    documents: impl IntoIterator<Item = &'o Arc<Value>>,
    namespace: &str,
    forge: &Forge,
) -> Result<Vec<Target>, String> {
    let mut targets = Vec::new();
    let mut errors = Vec::new();
    for object in documents.into_iter().flat_map(k8s::members) {
        match target(served, &object, namespace, forge) {
            Ok(target) => targets.push(target),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(targets) } else { Err(aggregate(&errors)) }
}

fn target(
    served: &[ApiResource],
    object: &Arc<Value>,
    namespace: &str,
    forge: &Forge,
) -> Result<Target, String> {
    decodes(object)?;
    let gvk = Gvk::of(object);
    let name = k8s::text(object, "/metadata/name").to_owned();
    let own = k8s::text(object, "/metadata/namespace");
    let resource = find(served, &gvk).ok_or_else(|| no_match(&gvk, &name, own))?;
    let (namespace, object) = match (resource.namespaced, own) {
        (false, _) => (String::new(), Arc::clone(object)),
        (true, "") => (namespace.to_owned(), forge.namespaced(object, namespace)),
        (true, own) => (own.to_owned(), Arc::clone(object)),
    };
    let address = Address { resource: resource.resource.clone(), namespace, name };
    Ok(Target { gvk, address, object })
}

/// Whether the client can read an object's metadata, as it does before anything is asked of the server.
///
/// # Errors
/// As Helm 3.22.0 and 4.3.1 print it, e.g. for a name that is a boolean.
fn decodes(object: &Value) -> Result<(), String> {
    let Some(metadata) = object.get("metadata").filter(|metadata| !is_plain(metadata)) else { return Ok(()) };
    let decoded = decode::decode(&object_meta(), &mut metadata.clone());
    decoded.map(drop).map_err(|message| {
        let place = "Go struct field ";
        let told = message.split_once(place).and_then(|(start, rest)| {
            let (owner, field) = rest.split_once('.')?;
            Some(format!("{start}{place}{owner}.metadata.{field}"))
        });
        format!("unable to decode \"\": {}", told.unwrap_or(message))
    })
}

/// Whether metadata holds nothing but names and texts by key, as nearly all manifests do.
fn is_plain(metadata: &Value) -> bool {
    let texts = |value: &Value| value.as_object().is_some_and(|map| map.values().all(Value::is_string));
    let plain = |(key, value): (&String, &Value)| match key.as_str() {
        "name" | "namespace" => value.is_string(),
        "labels" | "annotations" => texts(value),
        _ => false,
    };
    metadata.as_object().is_some_and(|map| map.iter().all(plain))
}

fn find<'s>(served: &'s [ApiResource], gvk: &Gvk) -> Option<&'s ApiResource> {
    let matches = |r: &&ApiResource| {
        r.kind == gvk.kind && r.resource.group == gvk.group && r.resource.version == gvk.version
    };
    served.iter().find(|r| matches(r) && !r.resource.plural.contains('/'))
}

fn no_match(gvk: &Gvk, name: &str, namespace: &str) -> String {
    format!(
        "resource mapping not found for name: \"{name}\" namespace: \"{namespace}\" from \"\": no matches for kind \"{}\" in version \"{}\"\nensure CRDs are installed first",
        gvk.kind,
        gvk.api_version()
    )
}

/// Several errors in one line, as Kubernetes' aggregates print them.
fn aggregate(errors: &[String]) -> String {
    match errors {
        [only] => only.clone(),
        many => format!("[{}]", many.join(", ")),
    }
}

/// Variants of manifest objects that many rehearsals need, made once: with a namespace, with ownership metadata.
///
/// The objects come from renders that live as long as the forge; entries hold their source, so that an address is
/// never reused while it is known.
#[derive(Debug, Default)]
pub struct Forge {
    made: Mutex<BTreeMap<(usize, String), Variant>>,
}

#[derive(Debug)]
struct Variant {
    _source: Arc<Value>,
    made: Arc<Value>,
}

impl Forge {
    /// The object in a namespace.
    pub(crate) fn namespaced(&self, object: &Arc<Value>, namespace: &str) -> Arc<Value> {
        self.variant(object, format!("namespace {namespace}"), |copy| {
            metadata(copy).insert("namespace".to_owned(), Value::from(namespace));
        })
    }

    /// The object with one label and two annotations that say which release owns it.
    /// Source: Helm, `pkg/action/validate.go`, `setMetadataVisitor`.
    pub(crate) fn owned(&self, object: &Arc<Value>, release: &str, namespace: &str) -> Arc<Value> {
        self.variant(object, format!("owner {namespace}/{release}"), |copy| {
            let metadata = metadata(copy);
            child(metadata, "labels").insert(MANAGED_BY.to_owned(), Value::from("Helm"));
            let annotations = child(metadata, "annotations");
            annotations.insert(RELEASE_NAME.to_owned(), Value::from(release));
            annotations.insert(RELEASE_NAMESPACE.to_owned(), Value::from(namespace));
        })
    }

    fn variant(&self, source: &Arc<Value>, what: String, change: impl FnOnce(&mut Value)) -> Arc<Value> {
        let key = (Arc::as_ptr(source) as usize, what);
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let variant = made.entry(key).or_insert_with(|| {
            let mut copy = Value::clone(source);
            change(&mut copy);
            Variant { _source: Arc::clone(source), made: Arc::new(copy) }
        });
        Arc::clone(&variant.made)
    }
}

/// Label that marks Helm's objects; its value is `Helm`.
pub(crate) const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// Annotation with the owning release's name.
pub(crate) const RELEASE_NAME: &str = "meta.helm.sh/release-name";
/// Annotation with the owning release's namespace.
pub(crate) const RELEASE_NAMESPACE: &str = "meta.helm.sh/release-namespace";
/// Annotation that makes a document a hook.
pub(crate) const HOOK: &str = "helm.sh/hook";
/// Annotation that keeps an object from being deleted; its value is `keep`.
pub(crate) const RESOURCE_POLICY: &str = "helm.sh/resource-policy";

fn metadata(object: &mut Value) -> &mut Map<String, Value> {
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    match object {
        Value::Object(map) => child(map, "metadata"),
        _ => unreachable!("made an object above"),
    }
}

fn child<'m>(map: &'m mut Map<String, Value>, key: &str) -> &'m mut Map<String, Value> {
    let entry = map.entry(key).or_insert_with(|| Value::Object(Map::new()));
    if !entry.is_object() {
        *entry = Value::Object(Map::new());
    }
    match entry {
        Value::Object(map) => map,
        _ => unreachable!("made an object above"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cluster::Resource;

    fn served() -> Vec<ApiResource> {
        let resource = |group: &str, plural: &str| Resource {
            group: group.into(),
            version: "v1".into(),
            plural: plural.into(),
        };
        vec![
            ApiResource { resource: resource("", "configmaps"), kind: "ConfigMap".into(), namespaced: true },
            ApiResource { resource: resource("", "namespaces"), kind: "Namespace".into(), namespaced: false },
        ]
    }

    /// Each text is that of Helm 4.3.1 on a real control plane.
    #[test]
    fn metadata_is_decoded_before_anything_is_asked() {
        let told = |metadata: Value| {
            let object = Arc::new(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}));
            build(&served(), [&object], "ns", &Forge::default()).map(drop)
        };
        for (metadata, wanted) in [
            (json!({"name": true}), "bool into Go struct field ObjectMeta.metadata.name of type string"),
            (
                json!({"name": "a", "labels": {"a": 1}}),
                "number into Go struct field ObjectMeta.metadata.labels of type string",
            ),
            (
                json!({"name": "a", "finalizers": 5}),
                "number into Go struct field ObjectMeta.metadata.finalizers of type []string",
            ),
            (
                json!({"name": "a", "ownerReferences": [{"name": 1}]}),
                "number into Go struct field OwnerReference.metadata.ownerReferences.name of type string",
            ),
        ] {
            assert_eq!(
                told(metadata),
                Err(format!("unable to decode \"\": json: cannot unmarshal {wanted}"))
            );
        }
        assert_eq!(told(json!({"name": "a", "labels": {"a": null}, "creationTimestamp": null})), Ok(()));
    }

    #[test]
    fn fills_in_the_namespace_and_flattens_lists() {
        let list = Arc::new(json!({"apiVersion": "v1", "kind": "List", "items": [
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}},
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}]}));
        let forge = Forge::default();
        let targets =
            build(&served(), [&list, &Arc::new(Value::Null)], "prod", &forge).expect("both are served");
        let names: Vec<_> = targets.iter().map(Target::describe).collect();
        assert_eq!(names, [r#"ConfigMap "a" in namespace "prod""#, r#"Namespace "n" in namespace """#]);
        assert_eq!(k8s::text(&targets[0].object, "/metadata/namespace"), "prod");
    }

    #[test]
    fn names_every_kind_that_is_not_served() {
        let pdb = Arc::new(
            json!({"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget", "metadata": {"name": "p"}}),
        );
        let one = build(&served(), [&pdb], "x", &Forge::default()).expect_err("not served");
        assert_eq!(
            one,
            "resource mapping not found for name: \"p\" namespace: \"\" from \"\": no matches for kind \"PodDisruptionBudget\" in version \"policy/v1beta1\"\nensure CRDs are installed first"
        );
        let two = build(&served(), [&pdb, &pdb], "x", &Forge::default()).expect_err("not served");
        assert!(two.starts_with('[') && two.ends_with(']'));
    }

    #[test]
    fn ownership_metadata_overwrites_what_the_chart_says() {
        let object = Arc::new(json!({"metadata": {"labels": {MANAGED_BY: "someone"}}}));
        let owned = Forge::default().owned(&object, "rel", "ns");
        assert_eq!(k8s::label(&owned, MANAGED_BY), Some("Helm"));
        assert_eq!(k8s::annotation(&owned, RELEASE_NAME), Some("rel"));
    }
}
