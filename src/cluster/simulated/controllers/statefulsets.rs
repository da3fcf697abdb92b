//! StatefulSets: numbered pods, replaced from the highest number down when the template changes.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::api::{Api, Controller};
use super::status::number;
use super::turn::Turn;
use super::{owner, pods, status};
use crate::cluster::{Request, Resource};
use crate::k8s::At as _;
use crate::k8s::text;

const REVISION: &str = "controller-revision-hash";

/// The StatefulSet controller.
#[derive(Clone, Debug, Default)]
pub(super) struct StatefulSets {
    turn: Turn,
}

impl Controller for StatefulSets {
    fn name(&self) -> &'static str {
        "statefulset-controller"
    }

    fn run(&mut self, api: &mut Api<'_>) -> Option<f64> {
        if self.turn.idle(api, &["StatefulSet", "Pod"]) {
            return self.turn.due();
        }
        let sets: Vec<Arc<Value>> = api.list("apps", "StatefulSet", "").cloned().collect();
        for set in sets.iter().filter(|s| !owner::terminating(s)) {
            sync(api, set);
        }
        self.turn.end(None)
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

fn revision(set: &Value) -> String {
    let hash = owner::template_hash(set.at("/spec/template").unwrap_or(&Value::Null));
    format!("{}-{hash}", text(set, "/metadata/name"))
}

fn sync(api: &mut Api<'_>, set: &Value) {
    let wanted = number(set, "/spec/replicas").unwrap_or(1).clamp(0, 1000);
    let parallel = text(set, "/spec/podManagementPolicy") == "Parallel";
    let own = pods::of(api, set);
    let number_of =
        |pod: &Value| text(pod, "/metadata/name").rsplit('-').next().and_then(|n| n.parse::<i64>().ok());
    let has = |index: i64| own.iter().find(|p| number_of(p) == Some(index));
    for index in 0..wanted {
        match has(index) {
            None => {
                claims(api, set, index);
                create(api, set, index);
                if !parallel {
                    break;
                }
            }
            Some(pod) if !parallel && !pods::ready(pod) => break,
            Some(_) => {}
        }
    }
    for pod in own.iter().filter(|p| number_of(p).is_some_and(|n| n >= wanted)) {
        pods::delete(api, pod);
    }
    update(api, set, &own, parallel);
    report(api, set, wanted);
}

fn create(api: &mut Api<'_>, set: &Value, index: i64) {
    let name = format!("{}-{index}", text(set, "/metadata/name"));
    let template = set.at("/spec/template").cloned().unwrap_or(Value::Null);
    let mut pod = pods::from_template(set, &template, &name);
    pod["metadata"]["labels"][REVISION] = json!(revision(set));
    pod["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"] = json!(name);
    pods::create(api, pod);
}

fn claims(api: &mut Api<'_>, set: &Value, index: i64) {
    let namespace = text(set, "/metadata/namespace");
    let templates =
        set.at("/spec/volumeClaimTemplates").and_then(Value::as_array).cloned().unwrap_or_default();
    for template in templates {
        let claim_name =
            format!("{}-{}-{index}", text(&template, "/metadata/name"), text(set, "/metadata/name"));
        if api.get("", "PersistentVolumeClaim", namespace, &claim_name).is_some() {
            continue;
        }
        let mut claim = template.clone();
        claim["apiVersion"] = json!("v1");
        claim["kind"] = json!("PersistentVolumeClaim");
        claim["metadata"]["name"] = json!(claim_name);
        claim["metadata"]["namespace"] = json!(namespace);
        let labels = set.at("/spec/selector/matchLabels").cloned().unwrap_or_else(|| json!({}));
        claim["metadata"]["labels"] = labels;
        let resource = Resource::new("", "v1", "persistentvolumeclaims");
        api.send(&Request::create(&resource, namespace, Arc::new(claim)));
    }
}

/// Replaces at most one pod of an old template, the one with the highest number: once all are ready, or, where pods do not
/// wait for each other, once those above it are.
fn update(api: &mut Api<'_>, set: &Value, own: &[Arc<Value>], parallel: bool) {
    let on_delete = text(set, "/spec/updateStrategy/type") == "OnDelete";
    let wanted = revision(set);
    // A pod that some other program created carries a revision that this model can't compare.
    let outdated = |pod: &&Arc<Value>| {
        let current = text(pod, "/metadata/labels/controller-revision-hash");
        current.starts_with(text(set, "/metadata/name")) && current != wanted && made_here(current, set)
    };
    if on_delete || !parallel && own.iter().any(|p| !pods::ready(p)) {
        return;
    }
    let next = own.iter().rev().find(|pod| outdated(pod) || !pods::ready(pod));
    if let Some(pod) = next.filter(outdated) {
        pods::delete(api, pod);
    }
}

/// Whether a pod's revision is older than a template change that this rehearsal has seen.
fn made_here(current: &str, set: &Value) -> bool {
    text(set, "/status/updateRevision") == current || text(set, "/status/currentRevision") == current
}

fn report(api: &mut Api<'_>, set: &Value, wanted: i64) {
    let own = pods::of(api, set);
    let target = revision(set);
    let ready = own.iter().filter(|p| pods::ready(p)).count();
    let label = |p: &&Arc<Value>| text(p, "/metadata/labels/controller-revision-hash") == target;
    let updated = own.iter().filter(label).count();
    let done = i64::try_from(updated).is_ok_and(|u| u >= wanted);
    let before = text(set, "/status/currentRevision");
    let current = if done || before.is_empty() { target.as_str() } else { before };
    let state = json!({
        "observedGeneration": number(set, "/metadata/generation").unwrap_or(1),
        "replicas": own.len(), "readyReplicas": ready, "availableReplicas": ready, "currentReplicas": own.len(),
        "updatedReplicas": updated, "currentRevision": current, "updateRevision": target, "collisionCount": 0,
    });
    status::write(api, set, state);
}
