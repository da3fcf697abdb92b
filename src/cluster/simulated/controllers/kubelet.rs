//! Pods that serve: scheduled, pulled, and Ready after a while unless their program can't get there.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::api::{Api, Controller};
use super::super::clock;
use super::managers::{self, Obstacle};
use super::status::{self, Condition};
use super::turn::{Turn, sooner};
use super::{owner, pods};
use crate::k8s::At as _;
use crate::k8s::references::{self, Reference};
use crate::k8s::text;

/// Kinds whose changes may clear an obstacle.
const WATCHED: &[&str] =
    &["Pod", "Secret", "ConfigMap", "PersistentVolumeClaim", "TrainJob", "CustomResourceDefinition"];

/// The kubelet of serving pods.
#[derive(Clone, Debug, Default)]
pub(super) struct Kubelet {
    turn: Turn,
    /// When each pod gets Ready, by UID.
    ready_at: BTreeMap<String, f64>,
    /// What was said about a pod already.
    said: BTreeMap<String, String>,
}

impl Controller for Kubelet {
    fn name(&self) -> &'static str {
        "kubelet"
    }

    fn run(&mut self, api: &mut Api<'_>) -> Option<f64> {
        if self.turn.idle(api, WATCHED) {
            return self.turn.due();
        }
        let unready = |pod: &&Arc<Value>| pods::active(pod) && !pods::ready(pod) && !ends(pod);
        let waiting: Vec<Arc<Value>> = api.list("", "Pod", "").filter(unready).cloned().collect();
        let mut due = None;
        for pod in waiting {
            due = sooner(due, self.sync(api, &pod));
        }
        self.turn.end(due)
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

/// Whether a pod runs a program that ends: the pods of Jobs, and pods on their own that are not started again.
pub(super) fn ends(pod: &Value) -> bool {
    let once = matches!(text(pod, "/spec/restartPolicy"), "Never" | "OnFailure");
    owner::controller(pod).map_or(once, |r| text(r, "/kind") == "Job")
}

impl Kubelet {
    fn sync(&mut self, api: &mut Api<'_>, pod: &Arc<Value>) -> Option<f64> {
        let uid = text(pod, "/metadata/uid").to_owned();
        if let Some((reason, message)) = unmet(api, pod) {
            self.ready_at.remove(&uid);
            self.hold(api, pod, "Pending", (reason, &message));
            return None;
        }
        if let Some(image) = unpullable(api, pod) {
            let message = format!("Back-off pulling image \"{image}\"");
            self.hold(api, pod, "Pending", ("ImagePullBackOff", &message));
            return None;
        }
        match managers::obstacle(api, pod) {
            Some(Obstacle::Crash(message)) => {
                self.ready_at.remove(&uid);
                self.hold(api, pod, "Running", ("CrashLoopBackOff", &message));
                return None;
            }
            Some(Obstacle::NotReady(message)) => {
                self.ready_at.remove(&uid);
                self.hold(api, pod, "Running", ("", &message));
                return None;
            }
            Some(Obstacle::Soon) => {
                self.ready_at.entry(uid).or_insert(api.now() + api.conditions().timing.pod_ready);
                return None;
            }
            None => {}
        }
        let ready_at =
            *self.ready_at.entry(uid.clone()).or_insert(api.now() + api.conditions().timing.pod_ready);
        if api.now() < ready_at {
            return Some(ready_at);
        }
        self.ready_at.remove(&uid);
        let state = running(pod, api.now());
        status::write(api, pod, state);
        None
    }

    /// A pod that does not get Ready, and why; said once.
    fn hold(&mut self, api: &mut Api<'_>, pod: &Value, phase: &str, (reason, message): (&str, &str)) {
        let name = format!("{}/{}", text(pod, "/metadata/namespace"), text(pod, "/metadata/name"));
        let line = format!("pod {name} does not get Ready: {message}");
        let uid = text(pod, "/metadata/uid").to_owned();
        if self.said.insert(uid, line.clone()).as_ref() != Some(&line) {
            api.note(line);
        }
        let state = unready(pod, phase, reason, message, api.now());
        status::write(api, pod, state);
    }
}

/// Why a pod can't be scheduled or its containers can't be made: reason and message.
///
/// Source: Kubernetes v1.34, `pkg/kubelet/kuberuntime/kuberuntime_container.go`, `pkg/kubelet/kubelet_pods.go`; a real kubelet tells
/// of missing volumes by events alone.
pub(super) fn unmet(api: &Api<'_>, pod: &Value) -> Option<(&'static str, String)> {
    let spec = pod.get("spec")?;
    if spec.get("schedulingGates").and_then(Value::as_array).is_some_and(|gates| !gates.is_empty()) {
        let message = "Scheduling is blocked due to non-empty scheduling gates";
        return Some(("SchedulingGated", message.to_owned()));
    }
    // A priority is written into the pod when it is made.
    let mut wanted = references::of_pod(text(pod, "/metadata/namespace"), spec);
    wanted.retain(|one| one.kind != "PriorityClass");
    let Reference { kind, name, key, namespace, .. } = wanted.into_iter().find(|one| api.lacks(one))?;
    let lower = kind.to_lowercase();
    Some(match (kind, key.as_str()) {
        ("PersistentVolumeClaim" | "ResourceClaim" | "ResourceClaimTemplate", _) => {
            ("Unschedulable", format!("{lower} \"{name}\" not found"))
        }
        (_, "") => ("CreateContainerConfigError", format!("{lower} \"{name}\" not found")),
        (_, key) => {
            ("CreateContainerConfigError", format!("couldn't find key {key} in {kind} {namespace}/{name}"))
        }
    })
}

/// The first image of a pod that can't be pulled.
pub(super) fn unpullable(api: &Api<'_>, pod: &Value) -> Option<String> {
    pods::images(pod).find(|image| !api.pullable(image)).map(str::to_owned)
}

/// The conditions of a pod. A kubelet says which containers are not ready; why is only in their logs, so it is added here.
fn conditions(pod: &Value, ready: bool, message: &str, now: f64) -> Value {
    let why = if ready { "" } else { "ContainersNotReady" };
    let wanted = [
        Condition::new("PodReadyToStartContainers", true, "", ""),
        Condition::new("Initialized", true, "", ""),
        Condition::new("Ready", ready, why, message),
        Condition::new("ContainersReady", ready, why, ""),
        Condition::new("PodScheduled", true, "", ""),
    ];
    status::conditions(pod, &wanted, now)
}

fn containers(pod: &Value, ready: bool, state: &Value) -> Value {
    let list = pod.at("/spec/containers").and_then(Value::as_array).cloned().unwrap_or_default();
    let statuses = list.iter().map(|c| {
        json!({
            "name": text(c, "/name"), "image": text(c, "/image"), "ready": ready, "started": ready,
            "restartCount": 0, "state": state,
        })
    });
    Value::Array(statuses.collect())
}

/// The status of a pod whose containers run.
pub(super) fn running(pod: &Value, now: f64) -> Value {
    let stamp = clock::timestamp(now);
    let address = owner::address(text(pod, "/metadata/uid"));
    json!({
        "phase": "Running", "conditions": conditions(pod, true, "", now), "startTime": stamp, "podIP": address,
        "containerStatuses": containers(pod, true, &json!({"running": {"startedAt": stamp}})),
    })
}

/// The status of a pod whose containers are not ready.
pub(super) fn unready(pod: &Value, phase: &str, reason: &str, message: &str, now: f64) -> Value {
    let state = match reason {
        "" => json!({"running": {}}),
        reason => json!({"waiting": {"reason": reason, "message": message}}),
    };
    let start = Some(text(pod, "/status/startTime")).filter(|s| !s.is_empty());
    json!({
        "phase": phase, "conditions": conditions(pod, false, message, now),
        "startTime": start.map_or_else(|| clock::timestamp(now), str::to_owned),
        "containerStatuses": containers(pod, false, &state),
    })
}

/// The status of a pod whose containers have ended.
pub(super) fn finished(pod: &Value, code: i32, now: f64) -> Value {
    let stamp = clock::timestamp(now);
    let reason = if code == 0 { "Completed" } else { "Error" };
    let state = json!({"terminated": {"exitCode": code, "reason": reason, "finishedAt": stamp}});
    let start = Some(text(pod, "/status/startTime")).filter(|s| !s.is_empty());
    json!({
        "phase": if code == 0 { "Succeeded" } else { "Failed" },
        "conditions": conditions(pod, false, "", now),
        "startTime": start.map_or_else(|| stamp.clone(), str::to_owned),
        "containerStatuses": containers(pod, false, &state),
    })
}
