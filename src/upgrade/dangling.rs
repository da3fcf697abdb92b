//! References that lead nowhere: what workloads need for their pods and is gone, or was never seen.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::finding::ObjectName;
use crate::k8s::references::{self, Reference};
use crate::k8s::{self, At as _, text};
use crate::upgrade::actors::helm::HOOK;
use crate::upgrade::fate::Snapshot;

/// Words of notes on references that may or may not lead somewhere.
pub const UNSEEN: &str = "whether its pods get ready could not be checked";

/// What lies open when a course begins: it is taken to be there unseen, as what refers to it was up and running.
#[derive(Clone, Debug, Default)]
pub struct Beginning {
    snapshot: Arc<Snapshot>,
    presumed: BTreeSet<Reference>,
}

/// What workloads lack and did not lack when the course began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dangling {
    /// Why pods of these can't be started any more.
    pub gone: BTreeMap<ObjectName, String>,
    /// Notes on what was never seen.
    pub unseen: Vec<String>,
}

impl Beginning {
    /// Looks at the cluster that a course begins with.
    #[must_use]
    pub fn new(snapshot: &Arc<Snapshot>) -> Self {
        let open = |one: &Reference| !is_met(snapshot, one);
        let presumed =
            references(snapshot, open).into_iter().flat_map(|(_, references)| references).collect();
        Self { snapshot: Arc::clone(snapshot), presumed }
    }

    /// What workloads lack after a step; `before` is the cluster before it.
    #[must_use]
    pub fn dangling(&self, before: &Snapshot, after: &Snapshot) -> Dangling {
        let earlier = [&*self.snapshot, before];
        let emptied = |one: &Reference| earlier.iter().any(|then| is_held(then, one)) && !is_held(after, one);
        let mut found = Dangling::default();
        for (workload, references) in references(after, |one| !is_met(after, one) || emptied(one)) {
            // A pod that runs already needs nothing more.
            if workload.kind == "Pod" && before.find("", &workload).is_some() {
                continue;
            }
            let new = references.into_iter().filter(|reference| !self.presumed.contains(reference));
            let (known, unseen): (Vec<_>, Vec<_>) = new.partition(|one| {
                [&*self.snapshot, before, after].iter().any(|then| holder(then, one).is_some())
            });
            if let Some(first) = known.first() {
                found.gone.insert(
                    workload.clone(),
                    format!("{first} is not there (any more), no pod starts without it"),
                );
            }
            found.unseen.extend(unseen.iter().map(|one| unseen_note(&workload, one)));
        }
        found
    }
}

fn unseen_note(workload: &ObjectName, reference: &Reference) -> String {
    format!(
        "{workload} refers to {reference}, which neither the charts nor the starting state has: {UNSEEN} \
         (hand it in with --state, if your cluster has it)"
    )
}

fn holder<'s>(snapshot: &'s Snapshot, reference: &Reference) -> Option<&'s Arc<Value>> {
    let Reference { group, kind, namespace, name, .. } = reference;
    let name = ObjectName { kind: (*kind).to_owned(), namespace: namespace.clone(), name: name.clone() };
    snapshot.find(group, &name)
}

fn is_met(snapshot: &Snapshot, reference: &Reference) -> bool {
    holder(snapshot, reference).is_some_and(|object| reference.is_met_by(object))
}

fn is_held(snapshot: &Snapshot, reference: &Reference) -> bool {
    holder(snapshot, reference).is_some_and(|object| reference.is_held_by(object))
}

/// Workloads with those of their references that are wanted.
fn references(snapshot: &Snapshot, wanted: impl Fn(&Reference) -> bool) -> Vec<(ObjectName, Vec<Reference>)> {
    let templates = snapshot.objects().filter_map(|object| Some((object, template(object)?)));
    let found = templates.map(|(object, spec)| {
        let mut references = references::of_pod(text(object, "/metadata/namespace"), spec);
        references.retain(&wanted);
        (k8s::object_name(object), references)
    });
    found.filter(|(_, references)| !references.is_empty()).collect()
}

/// The spec of the pods that a workload goes on making; parts of other workloads are told with those.
fn template(object: &Value) -> Option<&Value> {
    // What a hook needs is met or missed while it runs; what is left of it afterwards makes no pods.
    let whole = || {
        k8s::controller(object).is_none()
            && object.at("/metadata/deletionTimestamp").is_none()
            && k8s::annotation(object, HOOK).is_none()
    };
    match text(object, "/kind") {
        "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" if whole() && !is_at_rest(object) => {
            object.at("/spec/template/spec")
        }
        "CronJob" if whole() && !is_at_rest(object) => object.at("/spec/jobTemplate/spec/template/spec"),
        "Pod" if whole() && !matches!(text(object, "/status/phase"), "Succeeded" | "Failed") => {
            object.get("spec")
        }
        "Job" if whole() && !has_ended(object) => object.at("/spec/template/spec"),
        _ => None,
    }
}

/// Whether a workload makes no pods until somebody wants some.
fn is_at_rest(object: &Value) -> bool {
    object.at("/spec/replicas").and_then(Value::as_i64) == Some(0)
        || object.at("/spec/suspend") == Some(&Value::Bool(true))
}

fn has_ended(job: &Value) -> bool {
    ["Complete", "Failed"].into_iter().any(|kind| k8s::held(job, kind).is_some())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn deployment(secret: &str) -> Arc<Value> {
        Arc::new(
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"template": {"spec": {"volumes": [{"secret": {"secretName": secret}}]}}}}),
        )
    }

    fn secret(name: &str) -> Arc<Value> {
        Arc::new(
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "shop"}}),
        )
    }

    fn snapshot(objects: &[Arc<Value>]) -> Arc<Snapshot> {
        Arc::new(Snapshot::new(objects.to_vec()))
    }

    fn after(begin: &[Arc<Value>], end: &[Arc<Value>]) -> Dangling {
        let begin = snapshot(begin);
        Beginning::new(&begin).dangling(&begin, &snapshot(end))
    }

    fn all(object: Arc<Value>) -> Vec<(ObjectName, Vec<Reference>)> {
        references(&snapshot(&[object]), |_| true)
    }

    #[test]
    fn a_key_that_was_there_is_missed_also_where_nothing_is_left() {
        let reads = json!({"env": [{"valueFrom": {"secretKeyRef": {"name": "tls", "key": "k"}}}]});
        let mut reader = Value::clone(&deployment("tls"));
        reader["spec"]["template"]["spec"]["containers"] = json!([reads]);
        let (reader, mut full) = (Arc::new(reader), Value::clone(&secret("tls")));
        full["data"] = json!({"k": ""});
        let found = after(&[Arc::clone(&reader), Arc::new(full)], &[Arc::clone(&reader), secret("tls")]);
        assert_eq!(found.gone.len(), 1);
        assert_eq!(
            after(&[Arc::clone(&reader), secret("tls")], &[reader, secret("tls")]),
            Dangling::default()
        );
    }

    #[test]
    fn what_was_there_and_is_not_any_more_keeps_pods_from_starting() {
        let found = after(&[deployment("tls"), secret("tls")], &[deployment("tls")]);
        let said: Vec<&String> = found.gone.values().collect();
        assert_eq!(said, ["Secret shop/tls is not there (any more), no pod starts without it"]);
        assert!(found.unseen.is_empty());
    }

    #[test]
    fn what_was_never_seen_is_not_known() {
        let found = after(&[deployment("tls"), secret("tls")], &[deployment("new"), secret("tls")]);
        assert!(found.gone.is_empty());
        assert!(found.unseen[0].starts_with("Deployment/shop/web refers to Secret shop/new"), "{found:?}");
    }

    #[test]
    fn what_lay_open_before_is_taken_to_be_there() {
        assert_eq!(after(&[deployment("tls")], &[deployment("tls")]), Dangling::default());
        let both = [deployment("tls"), secret("tls")];
        assert_eq!(after(&both, &both), Dangling::default());
    }

    #[test]
    fn parts_and_what_has_ended_need_nothing() {
        let mut part = Value::clone(&deployment("tls"));
        part["metadata"]["ownerReferences"] = json!([{"controller": true}]);
        let mut job = Value::clone(&deployment("tls"));
        job["kind"] = json!("Job");
        job["status"]["conditions"] = json!([{"type": "Complete", "status": "True"}]);
        let mut hook = Value::clone(&deployment("tls"));
        hook["kind"] = json!("Job");
        hook["metadata"]["annotations"] = json!({HOOK: "pre-upgrade"});
        assert!(all(Arc::new(hook)).is_empty());
        assert!(all(Arc::new(part)).is_empty());
        assert!(all(Arc::new(job)).is_empty());
        let mut idle = Value::clone(&deployment("tls"));
        idle["spec"]["replicas"] = json!(0);
        assert!(all(Arc::new(idle)).is_empty());
    }
}
