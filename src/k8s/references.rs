//! What a pod can't be made, scheduled or started without: other objects that its spec names.
//!
//! Source: Kubernetes v1.34, `pkg/api/v1/pod/util.go` (`VisitPodSecretNames`, `VisitPodConfigmapNames`) and the admission plugins
//! `ServiceAccount`, `Priority` and `RuntimeClass` of `plugin/pkg/admission`. Pull secrets are left out: without them an image
//! that anybody may pull is pulled all the same.

use std::fmt;

use serde_json::Value;

use super::{Gvk, items, text};

/// Kinds that pods refer to, with their groups.
pub const KINDS: &[(&str, &str)] = &[
    ("", "ConfigMap"),
    ("", "PersistentVolumeClaim"),
    ("", "Secret"),
    ("", "ServiceAccount"),
    ("certificates.k8s.io", "ClusterTrustBundle"),
    ("node.k8s.io", "RuntimeClass"),
    ("resource.k8s.io", "ResourceClaim"),
    ("resource.k8s.io", "ResourceClaimTemplate"),
    ("scheduling.k8s.io", "PriorityClass"),
];

/// Whether pods may refer to objects of a kind.
#[must_use]
pub fn is_referred_to(gvk: &Gvk) -> bool {
    KINDS.contains(&(gvk.group.as_str(), gvk.kind.as_str()))
}

/// Objects that every cluster makes for itself.
const GIVEN: &[(&str, &str)] = &[
    ("ConfigMap", "kube-root-ca.crt"),
    ("PriorityClass", "system-cluster-critical"),
    ("PriorityClass", "system-node-critical"),
    ("ServiceAccount", "default"),
];

/// An object that a pod refers to and can't do without.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// API group; empty for core.
    pub group: &'static str,
    /// Kind.
    pub kind: &'static str,
    /// Namespace; empty when the kind has none.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// The key that must be in it; empty where the whole object is meant.
    pub key: String,
    /// Whether the key goes into a variable: that of a ConfigMap's `binaryData` can't.
    pub in_variable: bool,
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, namespace, name, key, .. } = self;
        match key.as_str() {
            "" => write!(f, "{kind} ")?,
            key => write!(f, "key {key} of {kind} ")?,
        }
        if namespace.is_empty() { f.write_str(name) } else { write!(f, "{namespace}/{name}") }
    }
}

impl Reference {
    /// Whether an object has what is referred to. One that holds nothing at all is taken to be filled by somebody.
    #[must_use]
    pub fn is_met_by(&self, object: &Value) -> bool {
        // The keys of a token come from its controller.
        let is_token = text(object, "/type") == "kubernetes.io/service-account-token";
        is_token || self.is_held_by(object) || tables(object, TABLES).all(serde_json::Map::is_empty)
    }

    /// Whether an object has what is referred to at this moment.
    #[must_use]
    pub fn is_held_by(&self, object: &Value) -> bool {
        let known = if self.in_variable { TEXTS } else { TABLES };
        self.key.is_empty() || tables(object, known).any(|table| table.contains_key(&self.key))
    }
}

/// Fields of keys that become files, and of those that become variables.
const TABLES: &[&str] = &["data", "binaryData", "stringData"];
const TEXTS: &[&str] = &["data", "stringData"];

fn tables<'v>(
    object: &'v Value,
    fields: &'static [&str],
) -> impl Iterator<Item = &'v serde_json::Map<String, Value>> {
    fields.iter().filter_map(|field| object.get(field)?.as_object())
}

/// What a pod of this spec refers to in its namespace, in order, each once.
#[must_use]
pub fn of_pod(namespace: &str, spec: &Value) -> Vec<Reference> {
    let mut found = Found { namespace, list: Vec::new() };
    for (field, group, kind) in [
        ("serviceAccountName", "", "ServiceAccount"),
        ("priorityClassName", "scheduling.k8s.io", "PriorityClass"),
        ("runtimeClassName", "node.k8s.io", "RuntimeClass"),
    ] {
        found.add(group, kind, spec.get(field).and_then(Value::as_str).unwrap_or_default(), "");
    }
    items(spec, "/volumes").for_each(|volume| found.volume(volume));
    items(spec, "/initContainers").chain(items(spec, "/containers")).for_each(|one| found.container(one));
    for claim in items(spec, "/resourceClaims") {
        found.add("resource.k8s.io", "ResourceClaim", text(claim, "/resourceClaimName"), "");
        found.add("resource.k8s.io", "ResourceClaimTemplate", text(claim, "/resourceClaimTemplateName"), "");
    }
    found.list.sort();
    found.list.dedup();
    found.list
}

struct Found<'p> {
    namespace: &'p str,
    list: Vec<Reference>,
}

impl Found<'_> {
    fn add(&mut self, group: &'static str, kind: &'static str, name: &str, key: &str) {
        if name.is_empty() || GIVEN.contains(&(kind, name)) {
            return;
        }
        let is_everywhere = matches!(kind, "ClusterTrustBundle" | "PriorityClass" | "RuntimeClass");
        let namespace = if is_everywhere { String::new() } else { self.namespace.to_owned() };
        let (name, key) = (name.to_owned(), key.to_owned());
        self.list.push(Reference { group, kind, namespace, name, key, in_variable: false });
    }

    fn variable(&mut self, kind: &'static str, name: &str, key: &str) {
        self.add("", kind, name, key);
        if let Some(last) = self.list.last_mut().filter(|last| last.name == name && last.key == key) {
            last.in_variable = true;
        }
    }

    fn volume(&mut self, volume: &Value) {
        for source in std::iter::once(volume).chain(items(volume, "/projected/sources")) {
            self.files("ConfigMap", source.get("configMap"), "/name");
            let whole = if std::ptr::eq(source, volume) { "/secretName" } else { "/name" };
            self.files("Secret", source.get("secret"), whole);
            let bundle = source.get("clusterTrustBundle").filter(|bundle| !is_optional(bundle));
            let bundle = bundle.map(|bundle| text(bundle, "/name")).unwrap_or_default();
            self.add("certificates.k8s.io", "ClusterTrustBundle", bundle, "");
        }
        self.add("", "PersistentVolumeClaim", text(volume, "/persistentVolumeClaim/claimName"), "");
        self.add("", "Secret", text(volume, "/csi/nodePublishSecretRef/name"), "");
        self.add("", "Secret", text(volume, "/azureFile/secretName"), "");
        for driver in ["cephfs", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos"] {
            self.add("", "Secret", text(volume, &format!("/{driver}/secretRef/name")), "");
        }
    }

    fn files(&mut self, kind: &'static str, source: Option<&Value>, name: &str) {
        let Some(source) = source.filter(|source| !is_optional(source)) else { return };
        let name = text(source, name);
        self.add("", kind, name, "");
        items(source, "/items").for_each(|item| self.add("", kind, name, text(item, "/key")));
    }

    fn container(&mut self, container: &Value) {
        for (kind, whole, key) in
            [("ConfigMap", "configMapRef", "configMapKeyRef"), ("Secret", "secretRef", "secretKeyRef")]
        {
            let named = |holder: &Value, field: &str| {
                holder.get(field).cloned().filter(|source| !is_optional(source))
            };
            for source in items(container, "/envFrom").filter_map(|from| named(from, whole)) {
                self.add("", kind, text(&source, "/name"), "");
            }
            let variables =
                items(container, "/env").filter_map(|variable| named(variable.get("valueFrom")?, key));
            for source in variables {
                self.variable(kind, text(&source, "/name"), text(&source, "/key"));
            }
        }
    }
}

fn is_optional(source: &Value) -> bool {
    source.get("optional") == Some(&Value::Bool(true))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn everything_that_a_pod_names_is_found_once() {
        let spec = json!({
            "serviceAccountName": "runner", "priorityClassName": "urgent", "runtimeClassName": "gvisor",
            "imagePullSecrets": [{"name": "pull"}],
            "volumes": [
                {"configMap": {"name": "files", "items": [{"key": "a", "path": "a"}]}}, {"secret": {"secretName": "tls"}},
                {"persistentVolumeClaim": {"claimName": "data"}}, {"emptyDir": {}},
                {"projected": {"sources": [{"secret": {"name": "part"}}, {"configMap": {"name": "kube-root-ca.crt"}},
                                            {"configMap": {"name": "maybe", "optional": true}},
                                            {"clusterTrustBundle": {"name": "roots", "path": "ca.pem"}}]}},
                {"rbd": {"image": "disk", "secretRef": {"name": "ceph"}}},
            ],
            "initContainers": [{"envFrom": [{"secretRef": {"name": "tls"}}]}],
            "containers": [{"env": [
                {"name": "A", "value": "1"}, {"name": "B", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "k"}}},
                {"name": "C", "valueFrom": {"configMapKeyRef": {"name": "free", "key": "k", "optional": true}}},
            ]}],
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpus"}],
        });
        let found: Vec<String> = of_pod("shop", &spec).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "ConfigMap shop/files",
                "key a of ConfigMap shop/files",
                "PersistentVolumeClaim shop/data",
                "Secret shop/ceph",
                "key k of Secret shop/keys",
                "Secret shop/part",
                "Secret shop/tls",
                "ServiceAccount shop/runner",
                "ClusterTrustBundle roots",
                "RuntimeClass gvisor",
                "ResourceClaimTemplate shop/gpus",
                "PriorityClass urgent",
            ]
        );
    }

    #[test]
    fn what_the_cluster_gives_needs_nobody() {
        let spec = json!({"serviceAccountName": "default", "priorityClassName": "system-node-critical"});
        assert!(of_pod("shop", &spec).is_empty());
    }

    #[test]
    fn a_key_has_to_be_there_unless_somebody_fills_the_object() {
        let spec =
            json!({"containers": [{"env": [{"valueFrom": {"secretKeyRef": {"name": "keys", "key": "k"}}}]}]});
        let key = &of_pod("shop", &spec)[0];
        assert!(key.is_met_by(&json!({"data": {"k": ""}})) && key.is_met_by(&json!({"kind": "Secret"})));
        assert!(!key.is_met_by(&json!({"data": {"other": ""}})));
        assert!(!key.is_met_by(&json!({"binaryData": {"k": ""}})), "no variable holds bytes");
        let file =
            json!({"volumes": [{"configMap": {"name": "keys", "items": [{"key": "k", "path": "k"}]}}]});
        let of_file = of_pod("shop", &file);
        assert!(of_file.iter().all(|one| one.is_met_by(&json!({"binaryData": {"k": ""}}))));
    }
}
