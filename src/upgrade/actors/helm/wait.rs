//! Waiting: for hooks, for readiness by Helm 3's rules and by kstatus', for deletion.
//!
//! Source: Helm, `pkg/kube/{client,ready,wait,statuswait}.go`; kstatus, `pkg/kstatus/status/core.go`.

use serde_json::Value;

use super::dialect::Dialect;
use super::objects::Target;
use crate::k8s;
use crate::k8s::At as _;
use crate::upgrade::link::{Fault, Link};

/// How long and in whose words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Seconds.
    pub(crate) timeout: f64,
    /// Version.
    pub(crate) dialect: Dialect,
}

/// Seconds between two looks.
const POLL: f64 = 2.0;
/// Seconds between two looks at a hook, whose end is watched and not polled by real clients.
const HOOK_POLL: f64 = 0.5;
/// Seconds from the start of a wait in which the end is expected.
const SOON: f64 = 30.0;
/// Seconds between two looks after that.
const LATER: f64 = 10.0;

/// What a look at an object says.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// Done, or nothing to wait for.
    Current,
    /// Not yet, with kstatus' message.
    InProgress(String),
    /// It will not get better, with the message of the version at hand.
    Failed(String),
    /// Not there any more.
    NotFound,
    /// Its kind is not served.
    Unknown,
}

/// Waits until Jobs and Pods of a hook have ended.
///
/// # Errors
/// Failure or timeout, in the version's words.
pub(crate) fn hook_ready(link: &mut Link<'_>, targets: &[Target], bounds: Bounds) -> Result<(), String> {
    let look = if bounds.dialect.is_v4() { kstatus_hook } else { legacy_hook };
    let states = until(link, targets, bounds.timeout, HOOK_POLL, look)?;
    let timed_out = states.iter().any(|state| matches!(state, State::InProgress(_)));
    if bounds.dialect.is_v4() {
        return not_ready(targets, &states, timed_out);
    }
    let errors: Vec<String> = states
        .iter()
        .filter_map(|state| match state {
            State::Failed(text) => Some(text.clone()),
            State::InProgress(_) => Some("timed out waiting for the condition".to_owned()),
            _ => None,
        })
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(bounds.dialect.join(&errors)) }
}

/// Waits until everything is ready by Helm 3's rules.
///
/// # Errors
/// `context deadline exceeded`, or why an object never will be.
pub(crate) fn ready_legacy(
    link: &mut Link<'_>,
    targets: &[Target],
    jobs: bool,
    timeout: f64,
) -> Result<(), String> {
    let look = if jobs { legacy_with_jobs } else { legacy };
    let states = until(link, targets, timeout, POLL, look)?;
    if let Some(State::Failed(text)) = states.iter().find(|state| matches!(state, State::Failed(_))) {
        return Err(text.clone());
    }
    let open = states.iter().any(|state| *state != State::Current);
    if open { Err("context deadline exceeded".to_owned()) } else { Ok(()) }
}

/// Waits until everything is current by kstatus' rules.
///
/// # Errors
/// One line per object that is not, and `context deadline exceeded` when time ran out.
pub(crate) fn ready_watched(
    link: &mut Link<'_>,
    targets: &[Target],
    jobs: bool,
    timeout: f64,
) -> Result<(), String> {
    let look = if jobs { kstatus_with_jobs } else { kstatus };
    let states = until(link, targets, timeout, POLL, look)?;
    let timed_out =
        states.iter().any(|state| matches!(state, State::InProgress(_) | State::NotFound | State::Unknown));
    not_ready(targets, &states, timed_out)
}

/// Waits until all are gone.
///
/// # Errors
/// What is still there when time is up.
pub(crate) fn gone(link: &mut Link<'_>, targets: &[Target], bounds: Bounds) -> Result<(), String> {
    let states = until(link, targets, bounds.timeout, POLL, presence)?;
    let left: Vec<String> = targets
        .iter()
        .zip(&states)
        .filter(|(_, state)| matches!(state, State::InProgress(_)))
        .map(|(target, state)| {
            format!("resource {} still exists. status: {}", short_name(target), describe(state))
        })
        .collect();
    match (left.is_empty(), bounds.dialect.is_v4()) {
        (true, _) => Ok(()),
        (false, true) => Err(format!("{}\ncontext deadline exceeded", left.join("\n"))),
        (false, false) => Err("context deadline exceeded".to_owned()),
    }
}

/// Looks until nothing is in progress any more or the time is up; answers the last look.
fn until(
    link: &mut Link<'_>,
    targets: &[Target],
    timeout: f64,
    poll: f64,
    look: fn(&Target, Result<&Value, &Fault>) -> State,
) -> Result<Vec<State>, String> {
    let began = link.now();
    let deadline = began + timeout;
    loop {
        let states: Vec<State> =
            targets.iter().map(|target| look(target, link.get(&target.address).as_deref())).collect();
        let pending = states.iter().any(|state| !matches!(state, State::Current | State::Failed(_)));
        let left = deadline - link.now();
        if !pending || left <= 0.0 {
            return Ok(states);
        }
        // Whatever takes longer than the first moments is looked at more rarely.
        let pause = if deadline - left - began < SOON { poll } else { LATER };
        link.wait_for_change(pause, left).map_err(|fault| fault.text)?;
    }
}

fn not_ready(targets: &[Target], states: &[State], timed_out: bool) -> Result<(), String> {
    let mut lines: Vec<String> = targets
        .iter()
        .zip(states)
        .filter(|(_, state)| **state != State::Current)
        .map(|(target, state)| {
            format!("resource {} not ready. status: {}", short_name(target), describe(state))
        })
        .collect();
    if timed_out {
        lines.push("context deadline exceeded".to_owned());
    }
    if lines.is_empty() { Ok(()) } else { Err(lines.join("\n")) }
}

fn short_name(target: &Target) -> String {
    format!("{}/{}/{}", target.gvk.kind, target.address.namespace, target.address.name)
}

fn describe(state: &State) -> String {
    match state {
        State::Current => "Current, message: Resource is current".to_owned(),
        State::InProgress(message) => format!("InProgress, message: {message}"),
        State::Failed(message) => format!("Failed, message: {message}"),
        State::NotFound => "NotFound, message: Resource not found".to_owned(),
        State::Unknown => "Unknown, message: ".to_owned(),
    }
}

fn absent(fault: &Fault) -> State {
    if fault.not_found() && fault.reason == "NotFound" { State::NotFound } else { State::Unknown }
}

fn presence(_: &Target, answer: Result<&Value, &Fault>) -> State {
    match answer {
        Ok(_) => State::InProgress("Resource is still there".to_owned()),
        Err(_) => State::Current,
    }
}

fn legacy_hook(target: &Target, answer: Result<&Value, &Fault>) -> State {
    let name = &target.address.name;
    let Ok(live) = answer else { return State::Current };
    match target.gvk.kind.as_str() {
        "Job" => match job_end(live) {
            Some((true, _)) => State::Current,
            Some((false, reason)) => State::Failed(format!("job {name} failed: {reason}")),
            None => State::InProgress(String::new()),
        },
        "Pod" => match k8s::text(live, "/status/phase") {
            "Succeeded" => State::Current,
            "Failed" => State::Failed(format!("pod {name} failed")),
            _ => State::InProgress(String::new()),
        },
        _ => State::Current,
    }
}

fn kstatus_hook(target: &Target, answer: Result<&Value, &Fault>) -> State {
    let live = match answer {
        Ok(live) => live,
        // Only what has ended goes by itself; Helm watches and has seen how.
        Err(fault) if fault.not_found() && expires(target) => return State::Current,
        Err(fault) => return absent(fault),
    };
    match target.gvk.kind.as_str() {
        "Job" => job_ended(live),
        "Pod" => match k8s::text(live, "/status/phase") {
            "Succeeded" => State::Current,
            "Failed" => State::Failed(format!("Pod Failed. {}", k8s::text(live, "/status/message"))),
            _ => State::InProgress("Pod in progress".to_owned()),
        },
        _ => State::Current,
    }
}

/// Whether an object goes by itself when it has ended.
fn expires(target: &Target) -> bool {
    target.object.at("/spec/ttlSecondsAfterFinished").is_some()
}

/// Whether a Job has ended: success and reason.
fn job_end(job: &Value) -> Option<(bool, &str)> {
    let conditions = job.at("/status/conditions")?.as_array()?;
    conditions.iter().find_map(|condition| {
        let holds = k8s::text(condition, "/status") == "True";
        match k8s::text(condition, "/type") {
            "Complete" if holds => Some((true, "")),
            "Failed" if holds => Some((false, k8s::text(condition, "/reason"))),
            _ => None,
        }
    })
}

fn job_ended(job: &Value) -> State {
    let figure = |pointer: &str, default: i64| job.at(pointer).and_then(Value::as_i64).unwrap_or(default);
    match job_end(job) {
        Some((true, _)) => State::Current,
        Some((false, _)) => {
            let completions = figure("/spec/completions", figure("/spec/parallelism", 1));
            State::Failed(format!("Job Failed. failed: {}/{completions}", figure("/status/failed", 0)))
        }
        None => State::InProgress("Job in progress".to_owned()),
    }
}

fn legacy_with_jobs(target: &Target, answer: Result<&Value, &Fault>) -> State {
    match (answer, target.gvk.kind.as_str()) {
        (Ok(live), "Job") => match job_end(live) {
            Some((true, _)) => State::Current,
            Some((false, _)) => {
                State::Failed(format!("job is failed: {}/{}", target.address.namespace, target.address.name))
            }
            None => State::InProgress(String::new()),
        },
        _ => legacy(target, answer),
    }
}

fn legacy(target: &Target, answer: Result<&Value, &Fault>) -> State {
    let live = match answer {
        Ok(live) => live,
        // Kinds that the readiness check does not look at are not read either.
        Err(_) if !is_watched(&target.gvk.kind) => return State::Current,
        Err(_) => return State::InProgress(String::new()),
    };
    let ready = match target.gvk.kind.as_str() {
        "Pod" => condition(live, "Ready") == "True",
        "Deployment" => deployment_ready(live),
        "DaemonSet" => figure(live, "/status/numberReady") >= figure(live, "/status/desiredNumberScheduled"),
        "StatefulSet" | "ReplicaSet" | "ReplicationController" => {
            figure(live, "/status/readyReplicas") >= wanted(live)
        }
        "PersistentVolumeClaim" => k8s::text(live, "/status/phase") == "Bound",
        "Service" => service_ready(live),
        "CustomResourceDefinition" => condition(live, "Established") == "True",
        _ => true,
    };
    if ready { State::Current } else { State::InProgress(String::new()) }
}

fn is_watched(kind: &str) -> bool {
    const WATCHED: &[&str] = &[
        "Pod",
        "Deployment",
        "StatefulSet",
        "DaemonSet",
        "ReplicaSet",
        "ReplicationController",
        "PersistentVolumeClaim",
        "Service",
        "CustomResourceDefinition",
    ];
    WATCHED.contains(&kind)
}

fn figure(live: &Value, pointer: &str) -> i64 {
    live.at(pointer).and_then(Value::as_i64).unwrap_or(0)
}

fn wanted(live: &Value) -> i64 {
    live.at("/spec/replicas").and_then(Value::as_i64).unwrap_or(1)
}

fn condition<'v>(live: &'v Value, kind: &str) -> &'v str {
    k8s::condition(live, kind).map_or("", |condition| k8s::text(condition, "/status"))
}

fn observed(live: &Value) -> bool {
    figure(live, "/status/observedGeneration") >= figure(live, "/metadata/generation")
}

/// Helm 3 looks at the newest ReplicaSet. Its ready pods are at least those ready beyond the pods of older ones.
fn deployment_ready(live: &Value) -> bool {
    if live.at("/spec/paused").and_then(Value::as_bool) == Some(true) {
        return true;
    }
    let replicas = wanted(live);
    let allowed = max_unavailable(live, replicas);
    let status = |key: &str| figure(live, &format!("/status/{key}"));
    let old = (status("replicas") - status("updatedReplicas")).max(0);
    let ready = (status("readyReplicas") - old).min(status("updatedReplicas"));
    observed(live) && ready >= replicas - allowed
}

fn max_unavailable(live: &Value, replicas: i64) -> i64 {
    if k8s::text(live, "/spec/strategy/type") == "Recreate" || replicas == 0 {
        return 0;
    }
    match live.at("/spec/strategy/rollingUpdate/maxUnavailable") {
        Some(Value::Number(number)) => number.as_i64().unwrap_or(0),
        Some(Value::String(text)) => {
            text.trim_end_matches('%').parse::<i64>().map_or(0, |percent| replicas * percent / 100)
        }
        _ => replicas / 4,
    }
}

fn service_ready(live: &Value) -> bool {
    let spec = |key: &str| k8s::text(live, key);
    match spec("/spec/type") {
        "ExternalName" => true,
        "LoadBalancer" => {
            live.at("/spec/externalIPs").is_some() || live.at("/status/loadBalancer/ingress/0").is_some()
        }
        _ => !spec("/spec/clusterIP").is_empty(),
    }
}

fn kstatus_with_jobs(target: &Target, answer: Result<&Value, &Fault>) -> State {
    match (answer, target.gvk.kind.as_str()) {
        (Ok(live), "Job") => job_ended(live),
        _ => kstatus(target, answer),
    }
}

fn kstatus(target: &Target, answer: Result<&Value, &Fault>) -> State {
    let live = match answer {
        Ok(live) => live,
        Err(fault) => return absent(fault),
    };
    if live.at("/metadata/deletionTimestamp").is_some() {
        return State::InProgress("Resource scheduled for deletion".to_owned());
    }
    if let Some(state) = generic(live) {
        return state;
    }
    match target.gvk.kind.as_str() {
        "Deployment" => deployment_status(live),
        "StatefulSet" | "ReplicaSet" => replicas_status(live),
        "DaemonSet" => daemons_status(live),
        "PersistentVolumeClaim" if k8s::text(live, "/status/phase") != "Bound" => {
            State::InProgress(format!("PVC is not Bound. phase: {}", k8s::text(live, "/status/phase")))
        }
        "Pod" if condition(live, "Ready") != "True" && k8s::text(live, "/status/phase") != "Succeeded" => {
            State::InProgress("Pod phase not available".to_owned())
        }
        "CustomResourceDefinition" if condition(live, "Established") != "True" => {
            State::InProgress("Install in progress".to_owned())
        }
        "Job" if job_end(live).is_some_and(|(ended_well, _)| !ended_well) => job_ended(live),
        _ => State::Current,
    }
}

/// What a workload's rollout still waits for, as kstatus sees it; nothing once it is current.
pub(crate) fn rollout_status(live: &Value) -> Option<String> {
    let state = generic(live).unwrap_or_else(|| match k8s::text(live, "/kind") {
        "Deployment" => deployment_status(live),
        "StatefulSet" | "ReplicaSet" => replicas_status(live),
        "DaemonSet" => daemons_status(live),
        _ => State::Current,
    });
    (state != State::Current).then(|| describe(&state))
}

/// What kstatus reads off any object: an older observed generation, and the conditions Reconciling and Stalled.
fn generic(live: &Value) -> Option<State> {
    let generation = figure(live, "/metadata/generation");
    if let Some(seen) = live.at("/status/observedGeneration").and_then(Value::as_i64)
        && seen != generation
    {
        let kind = k8s::text(live, "/kind");
        return Some(State::InProgress(format!(
            "{kind} generation is {generation}, but latest observed generation is {seen}"
        )));
    }
    if condition(live, "Stalled") == "True" {
        return Some(State::Failed("Stalled".to_owned()));
    }
    (condition(live, "Reconciling") == "True").then(|| State::InProgress("Reconciling".to_owned()))
}

fn deployment_status(live: &Value) -> State {
    let replicas = wanted(live);
    let status = |key: &str| figure(live, &format!("/status/{key}"));
    if condition(live, "Progressing") == "False" {
        return State::Failed("Progress deadline exceeded".to_owned());
    }
    let open = [
        (status("replicas") < replicas, format!("replicas: {}/{replicas}", status("replicas"))),
        (status("updatedReplicas") < replicas, format!("Updated: {}/{replicas}", status("updatedReplicas"))),
        (status("replicas") > replicas, format!("Pending termination: {}", status("replicas") - replicas)),
        (
            status("availableReplicas") < replicas,
            format!("Available: {}/{replicas}", status("availableReplicas")),
        ),
        (status("readyReplicas") < replicas, format!("Ready: {}/{replicas}", status("readyReplicas"))),
        (condition(live, "Available") != "True", "Deployment not Available".to_owned()),
    ];
    first_open(open)
}

fn replicas_status(live: &Value) -> State {
    let replicas = wanted(live);
    let status = |key: &str| figure(live, &format!("/status/{key}"));
    let open = [
        (status("replicas") < replicas, format!("Replicas: {}/{replicas}", status("replicas"))),
        (status("readyReplicas") < replicas, format!("Ready: {}/{replicas}", status("readyReplicas"))),
    ];
    first_open(open)
}

fn daemons_status(live: &Value) -> State {
    let status = |key: &str| figure(live, &format!("/status/{key}"));
    let wanted = status("desiredNumberScheduled");
    let open = [
        (
            status("currentNumberScheduled") < wanted,
            format!("Current: {}/{wanted}", status("currentNumberScheduled")),
        ),
        (
            status("updatedNumberScheduled") < wanted,
            format!("Updated: {}/{wanted}", status("updatedNumberScheduled")),
        ),
        (status("numberAvailable") < wanted, format!("Available: {}/{wanted}", status("numberAvailable"))),
        (status("numberReady") < wanted, format!("Ready: {}/{wanted}", status("numberReady"))),
    ];
    first_open(open)
}

fn first_open<const N: usize>(checks: [(bool, String); N]) -> State {
    checks
        .into_iter()
        .find(|(open, _)| *open)
        .map_or(State::Current, |(_, message)| State::InProgress(message))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_job_is_over_when_its_condition_says_so() {
        let job = |kind: &str| json!({"spec": {"completions": 1}, "status": {"failed": 1, "conditions": [{"type": kind, "status": "True", "reason": "BackoffLimitExceeded"}]}});
        assert_eq!(job_ended(&job("Complete")), State::Current);
        assert_eq!(job_ended(&job("Failed")), State::Failed("Job Failed. failed: 1/1".into()));
        assert_eq!(job_ended(&json!({})), State::InProgress("Job in progress".into()));
    }

    #[test]
    fn old_pods_that_are_ready_do_not_make_a_rollout_ready() {
        let live = json!({"spec": {"replicas": 1}, "status": {"replicas": 2, "updatedReplicas": 1, "readyReplicas": 1}});
        assert!(!deployment_ready(&live));
    }

    #[test]
    fn a_deployment_may_be_one_pod_short_when_it_says_so() {
        let live = json!({"spec": {"replicas": 2, "strategy": {"rollingUpdate": {"maxUnavailable": 1}}},
            "status": {"replicas": 2, "updatedReplicas": 1, "readyReplicas": 2}});
        assert!(deployment_ready(&live));
        assert_eq!(deployment_status(&live), State::InProgress("Updated: 1/2".into()));
    }
}
