//! StatefulSets and what their retention policy does to claims.

use serde_json::{Value, json};

use super::{cluster, create, delete, names, patch, wait};
use crate::cluster::simulated::Simulated;

fn with_set(policy: &Value) -> Simulated {
    let mut cluster = cluster();
    create(
        &mut cluster,
        json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "namespace": "team-a"},
            "spec": {"replicas": 2, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}},
                "persistentVolumeClaimRetentionPolicy": policy, "ordinals": {"start": 3},
                "template": {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "c", "image": "db:1"}]}},
                "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1Gi"}}}}]}}),
    );
    wait(&mut cluster, 60.0);
    cluster
}

fn claims(cluster: &Simulated) -> Vec<String> {
    names(cluster, "", "PersistentVolumeClaim", "team-a")
}

fn after(policy: &Value, change: impl Fn(&mut Simulated)) -> Vec<String> {
    let mut cluster = with_set(policy);
    assert_eq!(claims(&cluster), ["data-db-3", "data-db-4"]);
    change(&mut cluster);
    wait(&mut cluster, 60.0);
    claims(&cluster)
}

#[test]
fn claims_go_as_the_retention_policy_says() {
    let scale = |cluster: &mut Simulated| {
        patch(cluster, "apps", "StatefulSet", "team-a", "db", json!({"spec": {"replicas": 1}}));
    };
    let remove = |cluster: &mut Simulated| delete(cluster, "apps", "StatefulSet", "team-a", "db");
    let policy = |scaled: &str, deleted: &str| json!({"whenScaled": scaled, "whenDeleted": deleted});
    let both = ["data-db-3", "data-db-4"];
    assert_eq!(after(&policy("Retain", "Retain"), scale), both);
    assert_eq!(after(&policy("Retain", "Retain"), remove), both);
    assert_eq!(after(&policy("Delete", "Retain"), scale), ["data-db-3"]);
    assert_eq!(after(&policy("Delete", "Retain"), remove), both);
    assert_eq!(after(&policy("Retain", "Delete"), scale), both);
    assert!(after(&policy("Retain", "Delete"), remove).is_empty());
    assert!(after(&policy("Delete", "Delete"), remove).is_empty());
}

#[test]
fn a_bound_claim_grows_and_never_shrinks() {
    let mut cluster = with_set(&json!({}));
    let mut resize = |size: &str| {
        let change = json!({"spec": {"resources": {"requests": {"storage": size}}}});
        patch(&mut cluster, "", "PersistentVolumeClaim", "team-a", "data-db-3", change)
    };
    assert!(resize("2Gi").ok());
    let refused = resize("512Mi");
    assert_eq!(refused.status, 422);
    assert!(
        refused.message().contains("field can not be less than status.capacity"),
        "{}",
        refused.message()
    );
}
