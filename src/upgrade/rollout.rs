//! Workloads that are not brought up: their new pods crash, are never Ready, or can't be made.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::finding::ObjectName;
use crate::k8s::At as _;
use crate::k8s::selector::Selector;
use crate::k8s::{self, condition, text};
use crate::upgrade::actors::helm::rollout_status;
use crate::upgrade::fate::Snapshot;

/// Kinds that keep pods running.
pub const WORKLOADS: &[&str] = &["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"];

/// How a note on such a workload begins; the reason follows.
pub const UNFINISHED: &str = " its pods do not get ready: ";

/// What containers wait for in the ordinary course of things.
const STARTING: &[&str] = &["", "ContainerCreating", "PodInitializing"];

/// The workloads of a cluster whose pods do not get ready although somebody runs them, and why.
///
/// Where nobody runs pods (a control plane without nodes) nothing is known, and nothing is told.
#[must_use]
pub fn unfinished(snapshot: &Snapshot) -> BTreeMap<ObjectName, String> {
    let workloads = snapshot.objects().filter(|object| is_workload(object));
    workloads
        .filter(|workload| rollout_status(workload).is_some())
        .filter_map(|workload| Some((k8s::object_name(workload), reason(snapshot, workload)?)))
        .collect()
}

/// A note on a workload that is not brought up, as [`crate::upgrade::stuck`] reads it.
#[must_use]
pub fn note(name: &ObjectName, reason: &str) -> String {
    format!("{} {}/{}:{UNFINISHED}{reason}", name.kind, name.namespace, name.name)
}

/// A workload that is nobody's part; those of a Deployment are told with it.
fn is_workload(object: &Value) -> bool {
    let kind = text(object, "/kind");
    WORKLOADS.contains(&kind) && (kind != "ReplicaSet" || object.at("/metadata/ownerReferences").is_none())
}

fn reason(snapshot: &Snapshot, workload: &Value) -> Option<String> {
    let (namespace, selector) = (text(workload, "/metadata/namespace"), workload.at("/spec/selector"));
    let selector = Selector::of(selector);
    let own = |pod: &&Arc<Value>| {
        text(pod, "/metadata/namespace") == namespace && selector.matches(pod.at("/metadata/labels"))
    };
    let pods: Vec<_> = snapshot.pods().filter(own).collect();
    // Pods are named by chance, so their names say nothing here.
    pods.into_iter().find_map(|pod| trouble(pod)).or_else(|| refusal(workload))
}

/// Why a pod that a kubelet has taken on is not Ready.
fn trouble(pod: &Value) -> Option<String> {
    let ready = condition(pod, "Ready").filter(|ready| text(ready, "/status") != "True")?;
    let containers = |field: &str| pod.at(field).and_then(Value::as_array).into_iter().flatten();
    let all = containers("/status/initContainerStatuses").chain(containers("/status/containerStatuses"));
    let idle = all.filter(|container| container.at("/ready") != Some(&Value::Bool(true)));
    let states: Vec<[&str; 2]> = idle.map(state).collect();
    if let Some(words) = states.iter().find(|[reason, _]| !STARTING.contains(reason)) {
        return Some(joined(words));
    }
    let runs = !states.is_empty() && states.iter().all(|[reason, _]| reason.is_empty());
    runs.then(|| joined(&["not Ready", text(ready, "/message")]))
}

/// What a container waits for or how it ended: reason and message.
fn state(container: &Value) -> [&str; 2] {
    let state = |name: &str| container.at(&format!("/state/{name}"));
    state("waiting")
        .or_else(|| state("terminated"))
        .map_or(["", ""], |state| [text(state, "/reason"), text(state, "/message")])
}

/// Why a workload's pods can't even be made.
fn refusal(workload: &Value) -> Option<String> {
    let failed = k8s::held(workload, "ReplicaFailure")?;
    Some(joined(&[text(failed, "/reason"), text(failed, "/message")]))
}

fn joined(words: &[&str; 2]) -> String {
    let words = words.iter().filter(|word| !word.is_empty());
    words.copied().collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn unready(state: &Value, message: &str) -> Snapshot {
        let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "shop", "uid": "1", "generation": 1},
            "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}},
            "status": {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 1, "readyReplicas": 1}});
        let pod = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "web-1", "namespace": "shop", "uid": "2", "labels": {"app": "web"}},
            "status": {"conditions": [{"type": "Ready", "status": "False", "message": message}],
                       "containerStatuses": [{"name": "c", "ready": false, "state": state}]}});
        Snapshot::new(vec![Arc::new(deployment), Arc::new(pod)])
    }

    fn told(state: &Value, message: &str) -> Option<String> {
        unfinished(&unready(state, message)).into_values().next()
    }

    #[test]
    fn crashing_and_never_ready_pods_are_told() {
        let crash = json!({"waiting": {"reason": "CrashLoopBackOff", "message": "unknown field"}});
        assert_eq!(told(&crash, "").as_deref(), Some("CrashLoopBackOff: unknown field"));
        let running = json!({"running": {}});
        assert_eq!(told(&running, "no cache").as_deref(), Some("not Ready: no cache"));
    }

    #[test]
    fn pods_that_start_or_that_nobody_runs_are_not() {
        assert_eq!(told(&json!({"waiting": {"reason": "ContainerCreating"}}), ""), None);
        let mut idle = unready(&json!({}), "").objects().cloned().collect::<Vec<_>>();
        idle.retain(|object| text(object, "/kind") == "Deployment");
        assert!(unfinished(&Snapshot::new(idle)).is_empty());
    }

    #[test]
    fn a_note_reads_as_stuck() {
        let name = ObjectName { kind: "Deployment".into(), namespace: "shop".into(), name: "web".into() };
        assert_eq!(note(&name, "why"), "Deployment shop/web: its pods do not get ready: why");
    }
}
