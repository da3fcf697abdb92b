//! Runtime snapshots of Kubeflow Trainer 2.3, written ahead of the upgrade.
//!
//! Source: kubeflow/trainer v2.3.0, `pkg/runtime/core/snapshot.go`: ConfigMap `<trainjob>-runtime-snapshot`, key `runtime`.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::k8s;
use crate::k8s::At as _;
use crate::yaml;

/// One ConfigMap for every unfinished TrainJob whose runtime is alive: the runtime as it is now, owned by the job.
#[must_use]
pub fn seeds(objects: &[Arc<Value>]) -> Vec<Arc<Value>> {
    let jobs =
        objects.iter().filter(|object| k8s::text(object, "/kind") == "TrainJob" && !is_finished(object));
    jobs.filter_map(|job| seed(job, objects)).map(Arc::new).collect()
}

/// The seeds of jobs that have no snapshot yet.
#[must_use]
pub fn missing(objects: &[Arc<Value>]) -> Vec<Arc<Value>> {
    let there = |seed: &Arc<Value>| {
        let name = k8s::object_name(seed);
        objects.iter().any(|object| k8s::object_name(object) == name)
    };
    seeds(objects).into_iter().filter(|seed| !there(seed)).collect()
}

/// The command line that writes what [`seeds`] makes, with kubectl and jq. A snapshot's text is JSON, which is YAML too.
#[must_use]
pub fn command() -> String {
    const JOBS: &str = r#".items[] | select(all(.status.conditions[]?; .status != "True" or (.type != "Complete" and (.type != "Failed" or .reason != "DeadlineExceeded")))) | [.metadata.namespace, .metadata.name, .metadata.uid, .apiVersion, .spec.runtimeRef.kind // "ClusterTrainingRuntime", .spec.runtimeRef.name] | @tsv"#;
    const SNAPSHOT: &str = r#"{apiVersion: "v1", kind: "ConfigMap", metadata: {namespace: $ns, name: ($job + "-runtime-snapshot"), ownerReferences: [{apiVersion: $api, kind: "TrainJob", name: $job, uid: $uid, controller: true, blockOwnerDeletion: true}]}, data: {runtime: ({apiVersion, kind, metadata: {name: .metadata.name}, spec} | tojson)}}"#;
    let arguments = r#"--arg ns "$ns" --arg job "$job" --arg uid "$uid" --arg api "$api""#;
    format!(
        r#"kubectl get trainjobs.trainer.kubeflow.org -A -o json | jq -r '{JOBS}' | while read -r ns job uid api kind runtime; do kubectl get "$kind.trainer.kubeflow.org" "$runtime" -n "$ns" -o json | jq {arguments} '{SNAPSHOT}' | kubectl apply --server-side -f -; done"#
    )
}

/// Complete, or failed for good because a deadline passed; other failed jobs count as unfinished to the controller.
fn is_finished(job: &Value) -> bool {
    let conditions = job.at("/status/conditions").and_then(Value::as_array).into_iter().flatten();
    conditions.into_iter().any(|condition| {
        let holds = k8s::text(condition, "/status") == "True";
        let deadline = k8s::text(condition, "/reason") == "DeadlineExceeded";
        holds
            && (k8s::text(condition, "/type") == "Complete"
                || (k8s::text(condition, "/type") == "Failed" && deadline))
    })
}

fn seed(job: &Value, objects: &[Arc<Value>]) -> Option<Value> {
    let kind = match k8s::text(job, "/spec/runtimeRef/kind") {
        "" => "ClusterTrainingRuntime",
        kind => kind,
    };
    let (namespace, name) = (k8s::text(job, "/metadata/namespace"), k8s::text(job, "/metadata/name"));
    let wanted = k8s::text(job, "/spec/runtimeRef/name");
    let runtime = objects.iter().find(|object| {
        let in_place =
            kind == "ClusterTrainingRuntime" || k8s::text(object, "/metadata/namespace") == namespace;
        k8s::text(object, "/kind") == kind && k8s::text(object, "/metadata/name") == wanted && in_place
    })?;
    Some(json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": format!("{name}-runtime-snapshot"),
            "namespace": namespace,
            "ownerReferences": [{
                "apiVersion": k8s::text(job, "/apiVersion"),
                "kind": "TrainJob",
                "name": name,
                "uid": k8s::text(job, "/metadata/uid"),
                "controller": true,
                "blockOwnerDeletion": true,
            }],
        },
        "data": {"runtime": yaml::from_json(runtime)},
    }))
}
