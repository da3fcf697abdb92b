//! RBAC: what the roles in the store allow a user to do.

use serde_json::Value;

use super::super::discovery::Target;
use super::super::store::Store;
use crate::cluster::{Request, Verb};
use crate::k8s::text;

const GROUP: &str = "rbac.authorization.k8s.io";

/// The verb of a request in rules and texts.
pub(super) fn verb(request: &Request) -> &'static str {
    match request.verb {
        Verb::Get => "get",
        Verb::List => "list",
        Verb::Create => "create",
        Verb::Update => "update",
        Verb::Patch => "patch",
        Verb::Delete => "delete",
        Verb::DeleteCollection => "deletecollection",
    }
}

/// Whether a role allows the request to its user.
pub(super) fn allowed(store: &Store, target: &Target, request: &Request) -> bool {
    if request.user.is_empty() {
        return true;
    }
    let namespace = if target.namespaced { request.namespace.as_str() } else { "" };
    let cluster_wide =
        store.list(GROUP, "ClusterRoleBinding", "").any(|b| grants(store, b, "", target, request));
    let here =
        || store.list(GROUP, "RoleBinding", namespace).any(|b| grants(store, b, namespace, target, request));
    cluster_wide || (!namespace.is_empty() && here())
}

fn grants(store: &Store, binding: &Value, namespace: &str, target: &Target, request: &Request) -> bool {
    let subjects = binding.get("subjects").and_then(Value::as_array);
    if !subjects.into_iter().flatten().any(|s| is_user(s, namespace, &request.user)) {
        return false;
    }
    let (kind, name) = (text(binding, "/roleRef/kind"), text(binding, "/roleRef/name"));
    if kind == "ClusterRole" && name == "cluster-admin" {
        return true;
    }
    let role = store.get(GROUP, kind, if kind == "Role" { namespace } else { "" }, name);
    let rules = role.and_then(|r| r.get("rules")).and_then(Value::as_array);
    rules.into_iter().flatten().any(|rule| allows(rule, target, request))
}

fn is_user(subject: &Value, namespace: &str, user: &str) -> bool {
    let name = text(subject, "/name");
    match text(subject, "/kind") {
        "User" => name == user,
        "Group" => {
            let of_accounts = user.strip_prefix("system:serviceaccount:");
            name == "system:authenticated"
                || of_accounts.is_some_and(|account| {
                    let home = account.split(':').next().unwrap_or("");
                    name == "system:serviceaccounts"
                        || name.strip_prefix("system:serviceaccounts:") == Some(home)
                })
        }
        "ServiceAccount" => {
            let given = text(subject, "/namespace");
            let home = if given.is_empty() { namespace } else { given };
            user == format!("system:serviceaccount:{home}:{name}")
        }
        _ => false,
    }
}

fn allows(rule: &Value, target: &Target, request: &Request) -> bool {
    let list = |field: &str| rule.get(field).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let any = |field: &str, wanted: &str| list(field).iter().any(|v| v == "*" || v == wanted);
    let resource = if request.subresource.is_empty() {
        any("resources", &target.plural)
    } else {
        any("resources", &format!("{}/{}", target.plural, request.subresource))
            || any("resources", &format!("*/{}", request.subresource))
    };
    let names = list("resourceNames");
    let named = names.is_empty() || names.iter().any(|n| n == request.name.as_str());
    any("verbs", verb(request)) && any("apiGroups", &target.group) && resource && named
}
