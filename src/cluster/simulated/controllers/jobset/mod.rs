//! The controller manager of JobSet (0.8 to 0.12): JobSets become Jobs, and their states flow back.
//!
//! Behaviour of `sigs.k8s.io/jobset`, `pkg/controllers/jobset_controller.go`. Restarts by a failure policy are not
//! modelled: such a JobSet stays as it is.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::api::{Api, Controller};
use super::election::Election;
use super::managers::Program;
use super::owner;
use super::status::{self, Condition, holds, number};
use super::turn::{Backoff, Seen, Turn, sooner, version};
use crate::cluster::{PatchType, Propagation, Request, Resource};
use crate::k8s::At as _;
use crate::k8s::text;

mod children;
mod webhook;

pub(super) use webhook::answer;
#[cfg(test)]
pub(super) use webhook::normal;

/// API group of JobSets.
pub(super) const GROUP: &str = "jobset.x-k8s.io";

/// The JobSet controller.
#[derive(Clone, Debug, Default)]
pub(super) struct JobSets {
    turn: Turn,
    election: Election,
    backoff: Backoff,
    seen: Seen,
}

impl Controller for JobSets {
    fn name(&self) -> &'static str {
        "jobset-controller"
    }

    fn run(&mut self, api: &mut Api<'_>) -> Option<f64> {
        if self.turn.idle(api, &["JobSet", "Job", "Pod", "Service", "Lease", "CustomResourceDefinition"]) {
            return self.turn.due();
        }
        let ballot = self.election.hold(api, Program::JobSet);
        let mut due = ballot.due;
        if ballot.leader.is_some() {
            let sets: Vec<Arc<Value>> = api.list(GROUP, "JobSet", "").cloned().collect();
            self.backoff.keep(|uid| sets.iter().any(|set| text(set, "/metadata/uid") == uid));
            for set in sets.iter().filter(|s| !owner::terminating(s)) {
                let (versions, backoff) = (versions(api, set, ballot.term), &mut self.backoff);
                due = sooner(due, self.seen.look(api, set, versions, |api| sync(api, set, backoff)));
            }
        }
        self.turn.end(due)
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

fn jobs() -> Resource {
    Resource::new("batch", "v1", "jobs")
}

fn suspended(set: &Value) -> bool {
    set.at("/spec/suspend").and_then(Value::as_bool).unwrap_or(false)
}

/// The replicated Jobs of a set.
fn replicated(set: &Value) -> impl Iterator<Item = &Value> {
    set.at("/spec/replicatedJobs").and_then(Value::as_array).into_iter().flatten()
}

fn replicas(replicated: &Value) -> i64 {
    number(replicated, "/replicas").unwrap_or(1).clamp(0, 1000)
}

/// The Jobs that a set controls.
fn own(api: &Api<'_>, set: &Value) -> Vec<Arc<Value>> {
    let mut jobs = api.owned_by(set, "batch", "Job");
    jobs.retain(|job| owner::controls(set, job));
    jobs
}

/// The versions of everything that decides about a set.
fn versions(api: &Api<'_>, set: &Value, term: u64) -> Vec<u64> {
    let mut versions = vec![term, version(set)];
    let service = api.get("", "Service", text(set, "/metadata/namespace"), children::subdomain(set));
    versions.push(service.map_or(0, |service| version(service)));
    versions.extend(own(api, set).iter().map(|job| version(job)));
    versions
}

fn sync(api: &mut Api<'_>, set: &Value, backoff: &mut Backoff) -> Option<f64> {
    let manager = text(set, "/spec/managedBy");
    if !manager.is_empty() && manager != "jobset.sigs.k8s.io/jobset-controller" {
        return None;
    }
    if holds(set, "Completed") || holds(set, "Failed") {
        return None;
    }
    let due = create(api, set, backoff);
    for job in own(api, set) {
        children::follow(api, set, &job);
    }
    report(api, set);
    due
}

/// Creates what a set misses; the moment of the next try when something was refused.
fn create(api: &mut Api<'_>, set: &Value, backoff: &mut Backoff) -> Option<f64> {
    let uid = text(set, "/metadata/uid");
    if !backoff.open(uid, api.now()) {
        return backoff.next(uid);
    }
    children::service(api, set);
    let mut refused = false;
    for (position, job) in replicated(set).enumerate() {
        if suspended(set) || children::dependencies_met(api, set, job) {
            refused |= !children::create(api, set, job, position);
        }
    }
    backoff.tried(uid, refused, api.now())
}

/// Counts of one replicated Job's Jobs by state.
fn tally(jobs: &[Arc<Value>], name: &str) -> Value {
    let named =
        |job: &&Arc<Value>| text(job, "/metadata/labels/jobset.sigs.k8s.io~1replicatedjob-name") == name;
    let (mut active, mut ready, mut succeeded, mut failed, mut suspended) = (0, 0, 0, 0, 0);
    for job in jobs.iter().filter(named) {
        let complete = holds(job, "Complete");
        succeeded += i64::from(complete);
        failed += i64::from(holds(job, "Failed"));
        active += i64::from(number(job, "/status/active").unwrap_or(0) > 0);
        suspended += i64::from(job.at("/spec/suspend").and_then(Value::as_bool).unwrap_or(false));
        let pods =
            number(job, "/spec/parallelism").unwrap_or(1).min(number(job, "/spec/completions").unwrap_or(1));
        let going = number(job, "/status/ready").unwrap_or(0) + number(job, "/status/succeeded").unwrap_or(0);
        ready += i64::from(!complete && going >= pods && pods > 0);
    }
    json!({
        "name": name, "active": active, "failed": failed, "ready": ready, "succeeded": succeeded,
        "suspended": suspended,
    })
}

fn report(api: &mut Api<'_>, set: &Value) {
    let jobs = own(api, set);
    let mut names: Vec<String> = replicated(set).map(|r| text(r, "/name").to_owned()).collect();
    // The order of an earlier status is kept.
    let before =
        set.at("/status/replicatedJobsStatus").and_then(Value::as_array).cloned().unwrap_or_default();
    names.sort_by_key(|name| before.iter().position(|b| text(b, "/name") == name).unwrap_or(usize::MAX));
    let tallies: Vec<Value> = names.iter().map(|name| tally(&jobs, name)).collect();
    let mut state = set.get("status").cloned().unwrap_or_else(|| json!({}));
    state["replicatedJobsStatus"] = json!(tallies);
    if state.get("restarts").is_none() {
        state["restarts"] = json!(0);
    }
    if let Some((terminal, condition)) = verdict(set, &jobs) {
        state["conditions"] = status::conditions(set, &[condition], api.now());
        state["terminalState"] = json!(terminal);
        stop(api, &jobs);
    } else if let Some(condition) = suspension(set) {
        state["conditions"] = status::conditions(set, &[condition], api.now());
    }
    status::write(api, set, state);
}

fn suspension(set: &Value) -> Option<Condition> {
    if suspended(set) {
        return Some(Condition::new("Suspended", true, "SuspendedJobs", "jobset is suspended"));
    }
    let resumed = Condition::new("Suspended", false, "ResumeJobs", "jobset is resumed");
    status::find(set, "Suspended").map(|_| resumed)
}

/// How a set is over, if it is.
fn verdict(set: &Value, jobs: &[Arc<Value>]) -> Option<(&'static str, Condition)> {
    if let Some(failed) = jobs.iter().find(|job| holds(job, "Failed")) {
        if number(set, "/spec/failurePolicy/maxRestarts").unwrap_or(0) > 0 {
            return None;
        }
        let name = text(failed, "/metadata/name");
        let message = format!("jobset failed due to one or more job failures (first failed job: {name})");
        return Some(("Failed", Condition::new("Failed", true, "FailedJobs", message)));
    }
    let targets: Vec<&str> = set
        .at("/spec/successPolicy/targetReplicatedJobs")
        .and_then(Value::as_array)
        .map(|list| list.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let wanted: Vec<&Value> =
        replicated(set).filter(|r| targets.is_empty() || targets.contains(&text(r, "/name"))).collect();
    let enough =
        |r: &&Value| number(&tally(jobs, text(r, "/name")), "/succeeded").unwrap_or(0) >= replicas(r).max(1);
    let any = text(set, "/spec/successPolicy/operator") == "Any";
    let done = if any { wanted.iter().any(&enough) } else { !wanted.is_empty() && wanted.iter().all(enough) };
    let condition = Condition::new("Completed", true, "AllJobsCompleted", "jobset completed successfully");
    done.then_some(("Completed", condition))
}

/// Deletes the Jobs that still run when their set is over.
fn stop(api: &mut Api<'_>, jobs: &[Arc<Value>]) {
    for job in jobs.iter().filter(|j| !holds(j, "Complete") && !holds(j, "Failed")) {
        let (namespace, name) = (text(job, "/metadata/namespace"), text(job, "/metadata/name"));
        api.send(&Request::delete(&self::jobs(), namespace, name, Some(Propagation::Foreground)));
    }
}

/// Changes a Job by a merge patch.
fn patch(api: &mut Api<'_>, job: &Value, patch: Value) {
    let (namespace, name) = (text(job, "/metadata/namespace"), text(job, "/metadata/name"));
    api.send(&Request::patch(&jobs(), namespace, name, PatchType::Merge, Arc::new(patch)));
}
