//! ReplicaSets: as many pods as wanted.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::api::{Api, Controller};
use super::status::{Condition, number};
use super::turn::{Seen, Turn, sooner, version};
use super::{owner, pods, status};
use crate::k8s::At as _;
use crate::k8s::text;

/// Seconds after which a refused pod is tried again.
const RETRY: f64 = 5.0;

/// The ReplicaSet controller.
#[derive(Clone, Debug, Default)]
pub(super) struct ReplicaSets {
    turn: Turn,
    seen: Seen,
}

impl Controller for ReplicaSets {
    fn name(&self) -> &'static str {
        "replicaset-controller"
    }

    fn run(&mut self, api: &mut Api<'_>) -> Option<f64> {
        if self.turn.idle(api, &["ReplicaSet", "Pod"]) {
            return self.turn.due();
        }
        let sets: Vec<Arc<Value>> = api.list("apps", "ReplicaSet", "").cloned().collect();
        let mut due = None;
        for set in sets.iter().filter(|s| !owner::terminating(s)) {
            let own = pods::of(api, set);
            let versions = std::iter::once(version(set)).chain(own.iter().map(|pod| version(pod))).collect();
            let next =
                self.seen.look(api, set, versions, |api| (!sync(api, set, own)).then(|| api.now() + RETRY));
            due = sooner(due, next);
        }
        self.turn.end(due)
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

/// Brings one set to its number; false when a pod was refused.
fn sync(api: &mut Api<'_>, set: &Value, mut own: Vec<Arc<Value>>) -> bool {
    let wanted = usize::try_from(number(set, "/spec/replicas").unwrap_or(1)).unwrap_or(0).min(1000);
    own.retain(|pod| pods::active(pod));
    let mut refused = None;
    while own.len() < wanted && refused.is_none() {
        let template = set.at("/spec/template").cloned().unwrap_or(Value::Null);
        let name = pods::next_name(api, set, text(set, "/metadata/name"));
        let response = pods::create(api, pods::from_template(set, &template, &name));
        if response.ok() {
            own.push(response.body);
        } else {
            // Real ones leave the end of the name to the server, which has not chosen it yet.
            let prefix = format!("{}-", text(set, "/metadata/name"));
            refused = Some(text(&response.body, "/message").replace(&name, &prefix));
        }
    }
    // Pods that are not ready are given up first.
    own.sort_by_key(|pod| !pods::ready(pod));
    while own.len() > wanted {
        if let Some(pod) = own.pop() {
            pods::delete(api, &pod);
        }
    }
    report(api, set, &own, refused.as_deref());
    refused.is_none()
}

fn report(api: &mut Api<'_>, set: &Value, own: &[Arc<Value>], refused: Option<&str>) {
    let ready = own.iter().filter(|p| pods::ready(p)).count();
    let mut state = json!({
        "observedGeneration": number(set, "/metadata/generation").unwrap_or(1), "replicas": own.len(),
    });
    for (field, count) in
        [("fullyLabeledReplicas", own.len()), ("readyReplicas", ready), ("availableReplicas", ready)]
    {
        if count > 0 {
            state[field] = json!(count);
        }
    }
    if let Some(why) = refused {
        let failure = Condition::new("ReplicaFailure", true, "FailedCreate", why);
        state["conditions"] = status::conditions(set, &[failure], api.now());
    }
    status::write(api, set, state);
}
