//! What a ServiceAccount may change: the bound of what a program does that can't be executed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::api::Api;
use crate::k8s::text;

const CHANGING: &[&str] = &["*", "create", "delete", "deletecollection", "patch", "update"];

/// What a user may change, as one line; for `system:serviceaccount:<namespace>:<name>`.
pub(super) fn changes(api: &Api<'_>, user: &str) -> String {
    let mut parts = user.split(':').skip(2);
    let (namespace, name) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    let mut granted: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for kind in ["ClusterRoleBinding", "RoleBinding"] {
        let bindings = api.list("rbac.authorization.k8s.io", kind, "").filter(|b| binds(b, namespace, name));
        for binding in bindings {
            collect(api, binding, &mut granted);
        }
    }
    if granted.is_empty() {
        let is_seen = name == "default" || api.get("", "ServiceAccount", namespace, name).is_some();
        return if is_seen { "nothing" } else { "whatever its ServiceAccount may" }.to_owned();
    }
    let line = |(resource, verbs): (String, BTreeSet<String>)| {
        let verbs = verbs.into_iter().collect::<Vec<_>>().join(", ");
        if verbs.is_empty() { resource } else { format!("{resource} ({verbs})") }
    };
    let lines: Vec<String> = granted.into_iter().map(line).collect();
    lines.join("; ")
}

fn binds(binding: &Value, namespace: &str, name: &str) -> bool {
    let subjects = binding.get("subjects").and_then(Value::as_array);
    subjects.into_iter().flatten().any(|s| match text(s, "/kind") {
        "ServiceAccount" => text(s, "/name") == name && text(s, "/namespace") == namespace,
        "Group" => {
            let group = text(s, "/name");
            group == "system:serviceaccounts" || group == format!("system:serviceaccounts:{namespace}")
        }
        _ => false,
    })
}

fn collect(api: &Api<'_>, binding: &Value, granted: &mut BTreeMap<String, BTreeSet<String>>) {
    let namespace = match text(binding, "/roleRef/kind") {
        "Role" => text(binding, "/metadata/namespace"),
        _ => "",
    };
    let role = api.get(
        "rbac.authorization.k8s.io",
        text(binding, "/roleRef/kind"),
        namespace,
        text(binding, "/roleRef/name"),
    );
    if role.is_none() {
        // Roles that every cluster has are in no chart and seldom in a state.
        let (kind, name) = (text(binding, "/roleRef/kind"), text(binding, "/roleRef/name"));
        granted.entry(format!("whatever {kind} {name} allows")).or_default();
    }
    let rules = role.and_then(|r| r.get("rules")?.as_array());
    for rule in rules.into_iter().flatten() {
        let strings = |field: &str| {
            let list = rule.get(field).and_then(Value::as_array).cloned().unwrap_or_default();
            list.into_iter().filter_map(|v| v.as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        let verbs: Vec<String> =
            strings("verbs").into_iter().filter(|v| CHANGING.contains(&v.as_str())).collect();
        for group in strings("apiGroups").iter().filter(|_| !verbs.is_empty()) {
            for resource in strings("resources") {
                let name = if group.is_empty() { resource } else { format!("{resource}.{group}") };
                granted.entry(name).or_default().extend(verbs.iter().cloned());
            }
        }
    }
}
