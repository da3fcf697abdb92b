//! DaemonSets, on a cluster of one node.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::api::{Api, Controller};
use super::status::number;
use super::turn::Turn;
use super::{owner, pods, status};
use crate::k8s::At as _;
use crate::k8s::text;

/// The DaemonSet controller.
#[derive(Clone, Debug, Default)]
pub(super) struct DaemonSets {
    turn: Turn,
}

impl Controller for DaemonSets {
    fn name(&self) -> &'static str {
        "daemonset-controller"
    }

    fn run(&mut self, api: &mut Api<'_>) -> Option<f64> {
        if self.turn.idle(api, &["DaemonSet", "Pod"]) {
            return self.turn.due();
        }
        let sets: Vec<Arc<Value>> = api.list("apps", "DaemonSet", "").cloned().collect();
        for set in sets.iter().filter(|s| !owner::terminating(s)) {
            sync(api, set);
        }
        self.turn.end(None)
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

fn sync(api: &mut Api<'_>, set: &Value) {
    let template = set.at("/spec/template").cloned().unwrap_or(Value::Null);
    let hash = owner::template_hash(&template);
    let own: Vec<Arc<Value>> = pods::of(api, set).into_iter().filter(|p| pods::active(p)).collect();
    let generation = number(set, "/metadata/generation").unwrap_or(1);
    let current = |pod: &Value| {
        let label = text(pod, "/metadata/labels/controller-revision-hash");
        label == hash || number(set, "/status/observedGeneration").is_none_or(|seen| seen == generation)
    };
    if own.is_empty() {
        let name = pods::next_name(api, set, text(set, "/metadata/name"));
        let mut pod = pods::from_template(set, &template, &name);
        pod["metadata"]["labels"]["controller-revision-hash"] = json!(hash);
        pods::create(api, pod);
    }
    let on_delete = text(set, "/spec/updateStrategy/type") == "OnDelete";
    for pod in own.iter().filter(|p| !current(p) && !on_delete) {
        pods::delete(api, pod);
    }
    let own = pods::of(api, set);
    let ready = own.iter().filter(|p| pods::ready(p)).count();
    let updated = own.iter().filter(|p| on_delete || current(p)).count();
    if updated < own.len() {
        return;
    }
    let mut state = json!({
        "observedGeneration": generation, "desiredNumberScheduled": 1, "currentNumberScheduled": own.len(),
        "numberMisscheduled": 0, "numberReady": ready, "updatedNumberScheduled": updated,
    });
    state[if ready > 0 { "numberAvailable" } else { "numberUnavailable" }] = json!(1);
    status::write(api, set, state);
}
