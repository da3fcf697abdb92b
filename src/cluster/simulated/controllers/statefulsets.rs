//! StatefulSets: numbered pods, replaced from the highest number down when the template changes, and their claims.
//!
//! Behaviour of kube-controller-manager 1.34, `pkg/controller/statefulset` (`stateful_set_control.go`, `stateful_set_utils.go`).

use std::ops::Range;
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

/// The numbers of the pods that a set wants.
fn ordinals(set: &Value) -> Range<i64> {
    let wanted = number(set, "/spec/replicas").unwrap_or(1).clamp(0, 1000);
    let first = number(set, "/spec/ordinals/start").unwrap_or(0).max(0);
    first..first.saturating_add(wanted)
}

/// The number of a pod.
fn ordinal(pod: &Value) -> Option<i64> {
    text(pod, "/metadata/name").rsplit('-').next().and_then(|number| number.parse().ok())
}

fn sync(api: &mut Api<'_>, set: &Value) {
    let wanted = ordinals(set);
    let parallel = text(set, "/spec/podManagementPolicy") == "Parallel";
    let own = pods::of(api, set);
    for pod in &own {
        tie_claims(api, set, pod);
    }
    let has = |index: i64| own.iter().find(|pod| ordinal(pod) == Some(index));
    for index in wanted.clone() {
        match has(index) {
            None => {
                create_claims(api, set, index);
                create(api, set, index);
                if !parallel {
                    break;
                }
            }
            Some(pod) if !parallel && !pods::ready(pod) => break,
            Some(_) => {}
        }
    }
    for pod in own.iter().filter(|pod| ordinal(pod).is_some_and(|number| !wanted.contains(&number))) {
        pods::delete(api, pod);
    }
    update(api, set, &own, parallel);
    report(api, set, wanted.end - wanted.start);
}

fn create(api: &mut Api<'_>, set: &Value, index: i64) {
    let name = format!("{}-{index}", text(set, "/metadata/name"));
    let template = set.at("/spec/template").cloned().unwrap_or(Value::Null);
    let mut pod = pods::from_template(set, &template, &name);
    pod["metadata"]["labels"][REVISION] = json!(revision(set));
    pod["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"] = json!(name);
    mount_claims(set, index, &mut pod);
    pods::create(api, pod);
}

fn claim_templates(set: &Value) -> impl Iterator<Item = &Value> {
    set.at("/spec/volumeClaimTemplates").and_then(Value::as_array).into_iter().flatten()
}

fn claim_name(set: &Value, template: &Value, index: i64) -> String {
    format!("{}-{}-{index}", text(template, "/metadata/name"), text(set, "/metadata/name"))
}

/// Puts the claims in the place of volumes of the same names.
fn mount_claims(set: &Value, index: i64, pod: &mut Value) {
    let mut volumes = pod.at("/spec/volumes").and_then(Value::as_array).cloned().unwrap_or_default();
    for template in claim_templates(set) {
        let name = text(template, "/metadata/name");
        volumes.retain(|volume| text(volume, "/name") != name);
        let claim = json!({"claimName": claim_name(set, template, index)});
        volumes.push(json!({"name": name, "persistentVolumeClaim": claim}));
    }
    if !volumes.is_empty() {
        pod["spec"]["volumes"] = Value::Array(volumes);
    }
}

fn create_claims(api: &mut Api<'_>, set: &Value, index: i64) {
    let namespace = text(set, "/metadata/namespace");
    for template in claim_templates(set) {
        let name = claim_name(set, template, index);
        if api.get("", "PersistentVolumeClaim", namespace, &name).is_some() {
            continue;
        }
        let mut claim = template.clone();
        claim["apiVersion"] = json!("v1");
        claim["kind"] = json!("PersistentVolumeClaim");
        claim["metadata"]["name"] = json!(name);
        claim["metadata"]["namespace"] = json!(namespace);
        let labels = set.at("/spec/selector/matchLabels").cloned().unwrap_or_else(|| json!({}));
        claim["metadata"]["labels"] = labels;
        let resource = Resource::new("", "v1", "persistentvolumeclaims");
        api.send(&Request::create(&resource, namespace, Arc::new(claim)));
    }
}

/// Makes the claims of a pod go with what the set's retention policy ties them to.
fn tie_claims(api: &mut Api<'_>, set: &Value, pod: &Value) {
    let Some(index) = ordinal(pod) else { return };
    let namespace = text(set, "/metadata/namespace");
    for template in claim_templates(set) {
        let name = claim_name(set, template, index);
        let Some(claim) = api.get("", "PersistentVolumeClaim", namespace, &name) else { continue };
        let owners =
            claim.at("/metadata/ownerReferences").and_then(Value::as_array).cloned().unwrap_or_default();
        let mut tied = owners.clone();
        tied.retain(|owner| ![set, pod].iter().any(|one| owner["uid"] == text(one, "/metadata/uid")));
        tied.extend(claim_owner(set, pod, ordinals(set).contains(&index)).map(owner::reference));
        if tied != owners {
            let mut claim = Value::clone(claim);
            claim["metadata"]["ownerReferences"] = Value::Array(tied);
            api.update(Arc::new(claim), "");
        }
    }
}

/// What the claims of a pod belong to: with the set gone or scaled down below the pod they go, if the policy says so.
fn claim_owner<'o>(set: &'o Value, pod: &'o Value, is_wanted: bool) -> Option<&'o Value> {
    let deletes =
        |when: &str| text(set, &format!("/spec/persistentVolumeClaimRetentionPolicy/{when}")) == "Delete";
    match (deletes("whenScaled"), deletes("whenDeleted")) {
        (true, _) if !is_wanted => Some(pod),
        (_, true) => Some(set),
        _ => None,
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
