//! The controller manager of Kubeflow Trainer, 2.0 to 2.3: whichever version leads decides what happens to runtimes
//! and TrainJobs.
//!
//! Behaviour of `github.com/kubeflow/trainer/v2` at 2.0.1, 2.1.0, 2.2.1 and 2.3.0, `pkg/controller`, `pkg/runtime`,
//! `pkg/webhooks`.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::super::api::{Api, Controller};
use super::super::webhooks::{WebhookAnswer, WebhookCall};
use super::election::Election;
use super::managers::{Manager, Obstacle, Program, Version};
use super::turn::{Seen, Turn, sooner};
use crate::k8s::At as _;
use crate::k8s::text;

mod policies;
mod rendering;
mod runtimes;
mod snapshots;
#[cfg(test)]
mod tests;
mod trainjobs;
mod validation;

/// API group of Trainer.
const GROUP: &str = "trainer.kubeflow.org";
/// The kinds that the controller looks at.
const WATCHED: &[&str] = &[
    "TrainJob",
    "ClusterTrainingRuntime",
    "TrainingRuntime",
    "JobSet",
    "ConfigMap",
    "Pod",
    "Lease",
    "CustomResourceDefinition",
];

/// The Trainer controller.
#[derive(Clone, Debug, Default)]
pub(super) struct Trainer {
    turn: Turn,
    election: Election,
    /// What went wrong with each TrainJob, by UID.
    troubles: BTreeMap<String, trainjobs::Trouble>,
    /// What was applied last for each TrainJob, by UID.
    applied: BTreeMap<String, Arc<trainjobs::Applied>>,
    seen: Seen,
    memory: Arc<trainjobs::Remembered>,
}

impl Controller for Trainer {
    fn name(&self) -> &'static str {
        "trainer-controller"
    }

    fn run(&mut self, api: &mut Api<'_>) -> Option<f64> {
        if self.turn.idle(api, WATCHED) {
            return self.turn.due();
        }
        let ballot = self.election.hold(api, Program::Trainer);
        let mut due = ballot.due;
        if let Some(leader) = ballot.leader {
            if ballot.changed {
                let (major, minor) = leader.version;
                let pod = text(&leader.pod, "/metadata/name");
                api.note(format!("{:.1} s: manager {pod} (Trainer {major}.{minor}) leads", api.now()));
                self.troubles.values_mut().for_each(trainjobs::Trouble::forget);
                self.jobs_first(api, leader.version);
            }
            // Finalizers go before TrainJobs are looked at: a runtime that vanishes leaves no snapshot behind. The real
            // manager does both side by side; the conditions name the jobs that it looks at earlier.
            runtimes::sync(api, leader.version);
            due = sooner(due, self.trainjobs(api, leader.version, ballot.term));
        }
        self.turn.end(due)
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

impl Trainer {
    /// Looks at the TrainJobs that come before the runtimes.
    fn jobs_first(&mut self, api: &mut Api<'_>, version: Version) {
        // Earlier versions hold runtimes as long as they are used, and make no snapshots.
        if version < (2, 3) || !runtimes::leaving(api) {
            return;
        }
        api.consulted().jobs_first();
        let jobs: Vec<Arc<Value>> = api.list(GROUP, "TrainJob", "").cloned().collect();
        for job in jobs {
            if api.conditions().jobs_first.contains(text(&job, "/metadata/name")) {
                self.sync(api, version, &job);
            }
        }
    }

    fn trainjobs(&mut self, api: &mut Api<'_>, version: Version, term: u64) -> Option<f64> {
        let jobs: Vec<Arc<Value>> = api.list(GROUP, "TrainJob", "").cloned().collect();
        let alive = |uid: &String| jobs.iter().any(|job| text(job, "/metadata/uid") == uid);
        self.troubles.retain(|uid, _| alive(uid));
        self.applied.retain(|uid, _| alive(uid));
        let mut due = None;
        let mut seen = std::mem::take(&mut self.seen);
        for job in &jobs {
            let mut versions = trainjobs::looked_at(api, job);
            versions.push(term);
            due = sooner(due, seen.look(api, job, versions, |api| self.sync(api, version, job)));
        }
        self.seen = seen;
        due
    }
}

/// What keeps a manager from getting Ready: a configuration that it can't read, or a TrainJob that it can't.
pub(super) fn obstacle(api: &Api<'_>, manager: &Manager) -> Option<Obstacle> {
    if manager.program != Program::Trainer {
        return None;
    }
    if crashes(api, manager) {
        let message = "failed to decode config file: strict decoding error: unknown field \"statusServer\"";
        return Some(Obstacle::Crash(message.to_owned()));
    }
    let job = unreadable(api).filter(|_| manager.version >= (2, 2))?;
    Some(Obstacle::NotReady(format!(
        "failed to list *v1alpha1.TrainJob: json: cannot unmarshal string into Go struct field \
         Trainer.items.spec.trainer.numProcPerNode of type int32 (as in TrainJob {}/{})",
        text(job, "/metadata/namespace"),
        text(job, "/metadata/name")
    )))
}

/// Whether a manager ends as soon as it has read its configuration.
pub(super) fn crashes(api: &Api<'_>, manager: &Manager) -> bool {
    manager.program == Program::Trainer && manager.version < (2, 2) && newer_configuration(api, manager)
}

/// Whether a manager mounts a configuration with fields that versions before 2.2 don't know.
fn newer_configuration(api: &Api<'_>, manager: &Manager) -> bool {
    let volumes = manager.pod.at("/spec/volumes").and_then(Value::as_array);
    let namespace = text(&manager.pod, "/metadata/namespace");
    volumes.into_iter().flatten().map(|v| text(v, "/configMap/name")).filter(|n| !n.is_empty()).any(|name| {
        let data = api.get("", "ConfigMap", namespace, name).and_then(|c| c.get("data")?.as_object());
        let mut texts = data.into_iter().flatten().filter_map(|(_, value)| value.as_str());
        texts.any(|text| {
            text.lines().any(|l| l.starts_with("statusServer:") || l.starts_with("clientConnection:"))
        })
    })
}

/// A stored TrainJob that can't be read by versions that want a number of processes.
fn unreadable<'a>(api: &'a Api<'_>) -> Option<&'a Arc<Value>> {
    let processes = |job: &Arc<Value>| job.at("/spec/trainer/numProcPerNode").is_some_and(Value::is_string);
    api.list(GROUP, "TrainJob", "").find(|job| processes(job))
}

/// Answers a webhook call.
pub(super) fn answer(api: &Api<'_>, version: Version, call: &WebhookCall) -> WebhookAnswer {
    validation::answer(api, version, call)
}

/// The runtime that a TrainJob refers to: kind, namespace and name.
fn runtime_of(job: &Value) -> (&str, &str, &str) {
    let kind = match text(job, "/spec/runtimeRef/kind") {
        "" => "ClusterTrainingRuntime",
        kind => kind,
    };
    let namespace = if kind == "TrainingRuntime" { text(job, "/metadata/namespace") } else { "" };
    (kind, namespace, text(job, "/spec/runtimeRef/name"))
}
