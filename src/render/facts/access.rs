//! What RBAC in a render lets a ServiceAccount do.

use serde_json::Value;

use crate::finding::ObjectName;
use crate::k8s;
use crate::render::{Manifest, Render};

/// One binding that applies to the account.
#[derive(Clone, Debug)]
pub struct Grant {
    /// The RoleBinding or ClusterRoleBinding.
    pub binding: ObjectName,
    /// The Role or ClusterRole it names.
    pub role: ObjectName,
    /// Namespace in which it applies; `None` for the whole cluster.
    pub namespace: Option<String>,
    /// The role's `rules`; `None` when the render does not hold the role (e.g. `cluster-admin`).
    pub rules: Option<Value>,
}

/// All bindings of a render whose subjects name the account.
#[must_use]
pub fn grants(render: &Render, account: &str, namespace: &str) -> Vec<Grant> {
    let hooks = render.hooks.iter().map(|hook| &hook.manifest);
    let objects: Vec<_> = render.manifests.iter().chain(hooks).flat_map(Manifest::objects).collect();
    let bindings = objects.iter().filter(|object| binds(object, account, namespace));
    bindings.map(|binding| grant(binding, objects.iter().map(|object| &**object))).collect()
}

fn binds(object: &Value, account: &str, namespace: &str) -> bool {
    if !matches!(k8s::text(object, "/kind"), "RoleBinding" | "ClusterRoleBinding") {
        return false;
    }
    let own = k8s::text(object, "/metadata/namespace");
    let subjects = object.get("subjects").and_then(Value::as_array).into_iter().flatten();
    subjects.into_iter().any(|subject| {
        let place = match k8s::text(subject, "/namespace") {
            "" => own,
            named => named,
        };
        k8s::text(subject, "/kind") == "ServiceAccount"
            && k8s::text(subject, "/name") == account
            && (place == namespace || place.is_empty() || namespace.is_empty())
    })
}

fn grant<'a>(binding: &Value, mut objects: impl Iterator<Item = &'a Value>) -> Grant {
    let cluster_wide = k8s::text(binding, "/kind") == "ClusterRoleBinding";
    let namespace = k8s::text(binding, "/metadata/namespace").to_owned();
    let (kind, name) = (k8s::text(binding, "/roleRef/kind"), k8s::text(binding, "/roleRef/name"));
    let in_place =
        |role: &Value| kind == "ClusterRole" || k8s::text(role, "/metadata/namespace") == namespace;
    let role = objects.find(|object| {
        k8s::text(object, "/kind") == kind && k8s::text(object, "/metadata/name") == name && in_place(object)
    });
    Grant {
        binding: k8s::object_name(binding),
        role: ObjectName {
            kind: kind.to_owned(),
            namespace: if kind == "Role" { namespace.clone() } else { String::new() },
            name: name.to_owned(),
        },
        namespace: (!cluster_wide).then_some(namespace),
        rules: role.and_then(|role| role.get("rules")).cloned(),
    }
}
