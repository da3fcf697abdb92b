//! Deployments: one ReplicaSet per template, rolled out without dropping below what is wanted.
//!
//! Behaviour of kube-controller-manager 1.34, `pkg/controller/deployment` (`rolling.go`, `recreate.go`, `sync.go`).

use std::cell::LazyCell;
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::api::{Api, Controller};
use super::status::{Condition, number};
use super::turn::{Seen, Turn, version};
use super::{owner, pods, status};
use crate::cluster::{PatchType, Request, Resource};
use crate::k8s::At as _;
use crate::k8s::{annotation, text};

const HASH: &str = "pod-template-hash";

/// Annotation by which a ReplicaSet is known again although the server has filled in defaults.
const TEMPLATE: &str = "deployment.kubernetes.io/template";

/// The Deployment controller.
#[derive(Clone, Debug, Default)]
pub(super) struct Deployments {
    turn: Turn,
    seen: Seen,
}

impl Controller for Deployments {
    fn name(&self) -> &'static str {
        "deployment-controller"
    }

    fn run(&mut self, api: &mut Api<'_>) -> Option<f64> {
        if self.turn.idle(api, &["Deployment", "ReplicaSet", "Pod"]) {
            return self.turn.due();
        }
        let deployments: Vec<Arc<Value>> = api.list("apps", "Deployment", "").cloned().collect();
        for deployment in deployments.iter().filter(|d| !owner::terminating(d)) {
            let sets = own(api, deployment);
            let versions = versions(api, deployment, &sets);
            self.seen.look(api, deployment, versions, |api| {
                sync(api, deployment, sets);
                None
            });
        }
        self.turn.end(None)
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

fn replica_sets() -> Resource {
    Resource::new("apps", "v1", "replicasets")
}

fn replicas(set: &Value) -> i64 {
    number(set, "/spec/replicas").unwrap_or(1)
}

/// The ReplicaSets of a Deployment.
fn own(api: &Api<'_>, deployment: &Value) -> Vec<Arc<Value>> {
    let mut sets = api.owned_by(deployment, "apps", "ReplicaSet");
    sets.retain(|set| owner::controls(deployment, set));
    sets
}

/// The versions of a Deployment, its ReplicaSets and their pods.
fn versions(api: &Api<'_>, deployment: &Value, sets: &[Arc<Value>]) -> Vec<u64> {
    let mut versions = vec![version(deployment)];
    for set in sets {
        versions.push(version(set));
        versions.extend(pods::of(api, set).iter().map(|pod| version(pod)));
    }
    versions
}

fn sync(api: &mut Api<'_>, deployment: &Value, sets: Vec<Arc<Value>>) {
    let namespace = text(deployment, "/metadata/namespace").to_owned();
    let template = Template::of(deployment);
    let (new, old): (Vec<_>, Vec<_>) = sets.into_iter().partition(|set| template.runs_in(set));
    let recreate = text(deployment, "/spec/strategy/type") == "Recreate";
    let waiting = recreate && old.iter().any(|set| replicas(set) > 0 || !pods::of(api, set).is_empty());
    match new.first() {
        None if !waiting => create(api, deployment, &template, &old),
        Some(set) if !waiting => {
            renumber(api, set, &old);
            let set = api.get("apps", "ReplicaSet", &namespace, text(set, "/metadata/name")).cloned();
            if let Some(set) = set {
                grow(api, deployment, &set, &old);
            }
        }
        _ => {}
    }
    let shrunk = if recreate { old.clone() } else { Vec::new() };
    for set in shrunk {
        scale(api, &set, 0);
    }
    if let (false, Some(set)) = (recreate, new.first()) {
        shrink(api, deployment, set, &old);
    }
    report(api, deployment, &namespace, &template);
}

/// The pods that a Deployment wants, and the hash that their ReplicaSet is named by.
struct Template<'d> {
    value: &'d Value,
    hash: LazyCell<String, Box<dyn FnOnce() -> String + 'd>>,
}

impl<'d> Template<'d> {
    fn of(deployment: &'d Value) -> Self {
        let value = deployment.at("/spec/template").unwrap_or(&Value::Null);
        Self { value, hash: LazyCell::new(Box::new(|| owner::template_hash(value))) }
    }

    /// Whether a ReplicaSet runs this template; its own label is not part of the comparison.
    fn runs_in(&self, set: &Value) -> bool {
        let own = set.at("/spec/template").unwrap_or(&Value::Null);
        same_without(own, self.value, &["metadata", "labels", HASH])
            || annotation(set, TEMPLATE).is_some_and(|hash| hash == *self.hash)
    }
}

/// Whether a value equals another when what lies at a path is taken out of it.
fn same_without(own: &Value, other: &Value, path: &[&str]) -> bool {
    let (Some((first, rest)), Value::Object(own), Value::Object(other)) = (path.split_first(), own, other)
    else {
        return own == other;
    };
    let left = own.len() - usize::from(rest.is_empty() && own.contains_key(*first));
    let equal = |(key, value): (&String, &Value)| match other.get(key) {
        _ if key == first && rest.is_empty() => true,
        Some(wanted) if key == first => same_without(value, wanted, rest),
        found => found == Some(value),
    };
    left == other.len() && own.iter().all(equal)
}

/// How many pods may be there beyond the wanted number, and how many may be missing.
fn bounds(deployment: &Value) -> (i64, i64) {
    let wanted = replicas(deployment);
    let part = |field: &str, up: bool| {
        let value = deployment.at(&format!("/spec/strategy/rollingUpdate/{field}"));
        match value {
            Some(Value::Number(n)) => n.as_i64().unwrap_or(0),
            Some(Value::String(percent)) => {
                share(percent.trim_end_matches('%').parse().unwrap_or(0), wanted, up)
            }
            _ => share(25, wanted, up),
        }
    };
    let (surge, missing) = (part("maxSurge", true), part("maxUnavailable", false));
    if surge == 0 && missing == 0 { (0, 1) } else { (surge, missing) }
}

fn share(percent: i64, of: i64, up: bool) -> i64 {
    let product = percent.clamp(0, 1000) * of;
    if up { (product + 99) / 100 } else { product / 100 }
}

fn create(api: &mut Api<'_>, deployment: &Value, wanted: &Template<'_>, old: &[Arc<Value>]) {
    let hash = wanted.hash.as_str();
    let mut template = wanted.value.clone();
    template["metadata"]["labels"][HASH] = json!(hash);
    let mut selector = deployment.at("/spec/selector").cloned().unwrap_or_else(|| json!({}));
    selector["matchLabels"][HASH] = json!(hash);
    let wanted = replicas(deployment);
    let (surge, _) = bounds(deployment);
    let running: i64 = old.iter().map(|set| replicas(set)).sum();
    let mut annotations = deployment.at("/metadata/annotations").cloned().unwrap_or_else(|| json!({}));
    if let Some(map) = annotations.as_object_mut() {
        map.remove("kubectl.kubernetes.io/last-applied-configuration");
        map.insert("deployment.kubernetes.io/desired-replicas".to_owned(), json!(wanted.to_string()));
        map.insert("deployment.kubernetes.io/max-replicas".to_owned(), json!((wanted + surge).to_string()));
        map.insert(TEMPLATE.to_owned(), json!(hash));
        map.insert(REVISION.to_owned(), json!((last_revision(old) + 1).to_string()));
        if let Some(version) = crate::k8s::label(deployment, VERSION) {
            map.insert(WORKLOAD_VERSION.to_owned(), json!(version));
        }
    }
    let namespace = text(deployment, "/metadata/namespace");
    let set = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {
            "name": format!("{}-{hash}", text(deployment, "/metadata/name")), "namespace": namespace,
            "labels": template["metadata"]["labels"], "annotations": annotations,
            "ownerReferences": [owner::reference(deployment)],
        },
        "spec": {
            "replicas": wanted.min((wanted + surge - running).max(0)), "selector": selector, "template": template,
        },
    });
    api.send(&Request::create(&replica_sets(), namespace, Arc::new(set)));
}

/// Label with the version of what a workload runs.
pub(super) const VERSION: &str = "app.kubernetes.io/version";

/// Annotation by which a rehearsal remembers that label as it was when a ReplicaSet was made.
pub(super) const WORKLOAD_VERSION: &str = "deployment.kubernetes.io/workload-version";

/// Annotation with a ReplicaSet's place in the history of its Deployment.
const REVISION: &str = "deployment.kubernetes.io/revision";

fn revision(set: &Value) -> i64 {
    annotation(set, REVISION).and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn last_revision(sets: &[Arc<Value>]) -> i64 {
    sets.iter().map(|set| revision(set)).max().unwrap_or(0)
}

/// A ReplicaSet that comes back becomes the newest revision.
fn renumber(api: &mut Api<'_>, set: &Arc<Value>, old: &[Arc<Value>]) {
    let (last, own) = (last_revision(old), revision(set));
    if own > last {
        return;
    }
    let history = annotation(set, "deployment.kubernetes.io/revision-history").unwrap_or("");
    let history = if history.is_empty() { own.to_string() } else { format!("{history},{own}") };
    let patch = json!({"metadata": {"annotations": {
        REVISION: (last + 1).to_string(), "deployment.kubernetes.io/revision-history": history,
    }}});
    let (namespace, name) = (text(set, "/metadata/namespace"), text(set, "/metadata/name"));
    let request =
        Request::patch(&replica_sets(), namespace, name, crate::cluster::PatchType::Merge, Arc::new(patch));
    api.send(&request);
}

fn grow(api: &mut Api<'_>, deployment: &Value, set: &Value, old: &[Arc<Value>]) {
    let wanted = replicas(deployment);
    let (surge, _) = bounds(deployment);
    let running: i64 = old.iter().map(|set| replicas(set)).sum();
    let target = wanted.min((wanted + surge - running).max(replicas(set).min(wanted)));
    scale(api, set, target);
}

/// Takes pods from the old ReplicaSets as far as the ready ones allow.
fn shrink(api: &mut Api<'_>, deployment: &Value, new: &Value, old: &[Arc<Value>]) {
    let (_, missing) = bounds(deployment);
    let least = replicas(deployment) - missing;
    let ready = |set: &Value| pods::of(api, set).iter().filter(|p| pods::ready(p) && pods::active(p)).count();
    let mut available = i64::try_from(ready(new)).unwrap_or(0);
    let counts: Vec<i64> = old.iter().map(|set| i64::try_from(ready(set)).unwrap_or(0)).collect();
    available += counts.iter().sum::<i64>();
    for (set, ready) in old.iter().zip(counts) {
        // Pods that are not ready go first: nothing is lost with them.
        let broken = (replicas(set) - ready).max(0);
        let spare = (available - least).clamp(0, ready);
        let target = replicas(set) - broken - spare;
        available -= spare;
        scale(api, set, target);
    }
}

fn scale(api: &mut Api<'_>, set: &Value, target: i64) {
    if replicas(set) == target {
        return;
    }
    let patch = Arc::new(json!({"spec": {"replicas": target}}));
    let (namespace, name) = (text(set, "/metadata/namespace"), text(set, "/metadata/name"));
    api.send(&Request::patch(&replica_sets(), namespace, name, PatchType::Merge, patch));
}

fn report(api: &mut Api<'_>, deployment: &Value, namespace: &str, template: &Template<'_>) {
    let (mut total, mut updated, mut ready) = (0, 0, 0);
    let mut name = String::new();
    let mut failure = None;
    for set in own(api, deployment) {
        let current = template.runs_in(&set);
        if current && name.is_empty() {
            text(&set, "/metadata/name").clone_into(&mut name);
            failure = refused(&set);
        }
        for pod in pods::of(api, &set).iter().filter(|p| pods::active(p)) {
            total += 1;
            updated += i64::from(current);
            ready += i64::from(pods::ready(pod));
        }
    }
    let wanted = replicas(deployment);
    let (_, missing) = bounds(deployment);
    let complete = updated == wanted && total == wanted && ready == wanted;
    let mut conditions = rollout_conditions(ready >= wanted - missing, complete, &name).to_vec();
    conditions.extend(failure);
    let mut state = json!({
        "observedGeneration": number(deployment, "/metadata/generation").unwrap_or(1),
        "conditions": status::conditions(deployment, &conditions, api.now()),
    });
    let counts = [
        ("replicas", total),
        ("updatedReplicas", updated),
        ("readyReplicas", ready),
        ("availableReplicas", ready),
        ("unavailableReplicas", (total.max(wanted) - ready).max(0)),
    ];
    for (field, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        state[field] = json!(count);
    }
    let current = api.get("apps", "Deployment", namespace, text(deployment, "/metadata/name")).cloned();
    if let Some(current) = current {
        status::write(api, &current, state);
    }
}

/// What a Deployment takes over from the ReplicaSet whose pods are refused.
fn refused(set: &Value) -> Option<Condition> {
    let failure = crate::k8s::held(set, "ReplicaFailure")?;
    let (reason, message) = (text(failure, "/reason"), text(failure, "/message"));
    Some(Condition::new("ReplicaFailure", true, reason, message))
}

fn rollout_conditions(available: bool, complete: bool, set: &str) -> [Condition; 2] {
    let enough = if available {
        Condition::new("Available", true, "MinimumReplicasAvailable", "Deployment has minimum availability.")
    } else {
        let message = "Deployment does not have minimum availability.";
        Condition::new("Available", false, "MinimumReplicasUnavailable", message)
    };
    let progress = if complete {
        let message = format!("ReplicaSet \"{set}\" has successfully progressed.");
        Condition::new("Progressing", true, "NewReplicaSetAvailable", message)
    } else {
        Condition::new(
            "Progressing",
            true,
            "ReplicaSetUpdated",
            format!("ReplicaSet \"{set}\" is progressing."),
        )
    };
    [enough, progress]
}
