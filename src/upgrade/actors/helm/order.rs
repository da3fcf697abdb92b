//! The order in which kinds are uninstalled.
//!
//! Source: Helm, `pkg/releaseutil/kind_sorter.go`, `UninstallOrder`.

use std::sync::Arc;

use serde_json::Value;

use crate::k8s;

/// Helm 4 deletes these before everything else; to Helm 3 they are unknown kinds.
const FIRST_IN_V4: &[&str] = &["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"];

const UNINSTALL: &[&str] = &[
    "APIService",
    "Ingress",
    "IngressClass",
    "Service",
    "CronJob",
    "Job",
    "StatefulSet",
    "HorizontalPodAutoscaler",
    "Deployment",
    "ReplicaSet",
    "ReplicationController",
    "Pod",
    "DaemonSet",
    "RoleBindingList",
    "RoleBinding",
    "RoleList",
    "Role",
    "ClusterRoleBindingList",
    "ClusterRoleBinding",
    "ClusterRoleList",
    "ClusterRole",
    "CustomResourceDefinition",
    "PersistentVolumeClaim",
    "PersistentVolume",
    "StorageClass",
    "ConfigMap",
    "SecretList",
    "Secret",
    "ServiceAccount",
    "PodDisruptionBudget",
    "PodSecurityPolicy",
    "LimitRange",
    "ResourceQuota",
    "NetworkPolicy",
    "Namespace",
    "PriorityClass",
];

/// Sorts documents for uninstall: known kinds by the list, unknown ones behind them by name, equal ones as they were.
pub(super) fn for_uninstall(documents: &mut [&Arc<Value>], v4: bool) {
    documents.sort_by_key(|object| rank(k8s::text(object, "/kind"), v4));
}

fn rank(kind: &str, v4: bool) -> (usize, String) {
    let first = if v4 { FIRST_IN_V4 } else { &[] };
    let known = first.iter().chain(UNINSTALL).position(|known| *known == kind);
    known.map_or_else(|| (usize::MAX, kind.to_owned()), |position| (position, String::new()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn custom_resources_go_last_and_webhooks_first_in_v4() {
        let objects: Vec<Arc<Value>> =
            ["Widget", "CustomResourceDefinition", "ValidatingWebhookConfiguration", "Deployment", "Gadget"]
                .map(|kind| Arc::new(json!({"kind": kind})))
                .into();
        let kinds = |v4| {
            let mut documents: Vec<&Arc<Value>> = objects.iter().collect();
            for_uninstall(&mut documents, v4);
            documents.iter().map(|o| k8s::text(o, "/kind").chars().next()).collect::<Option<String>>()
        };
        assert_eq!(kinds(false).as_deref(), Some("DCGVW"));
        assert_eq!(kinds(true).as_deref(), Some("VDCGW"));
    }
}
