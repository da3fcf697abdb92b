//! Jobs: pods until enough have succeeded or too many have failed.
//!
//! Behaviour of kube-controller-manager 1.34, `pkg/controller/job/job_controller.go`, with its conditions.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::api::{Api, Controller};
use super::super::clock;
use super::status::{Condition, holds, number};
use super::turn::{Seen, Turn, sooner, version};
use super::{owner, pods, status};
use crate::cluster::{Propagation, Request, Resource};
use crate::k8s::At as _;
use crate::k8s::text;

/// What keeps a pod until the Job controller has counted it.
const TRACKING: &str = "batch.kubernetes.io/job-tracking";
/// The wait after the first failure, doubled with each further one, and its limit.
const BACKOFF: (f64, f64) = (10.0, 360.0);
/// Seconds after which a refused pod is tried again.
const RETRY: f64 = 5.0;

/// What the controller remembers of a Job.
#[derive(Clone, Debug)]
struct Memory {
    started: f64,
    failures: i64,
    failed_at: f64,
    finished_at: Option<f64>,
}

/// The Job controller.
#[derive(Clone, Debug, Default)]
pub(super) struct Jobs {
    turn: Turn,
    seen: Seen,
    memory: BTreeMap<String, Memory>,
}

impl Controller for Jobs {
    fn name(&self) -> &'static str {
        "job-controller"
    }

    fn run(&mut self, api: &mut Api<'_>) -> Option<f64> {
        if self.turn.idle(api, &["Job", "Pod"]) {
            return self.turn.due();
        }
        release(api);
        let jobs: Vec<Arc<Value>> = api.list("batch", "Job", "").cloned().collect();
        self.memory.retain(|uid, _| jobs.iter().any(|job| text(job, "/metadata/uid") == uid));
        let mut due = None;
        for job in jobs.iter().filter(|j| !owner::terminating(j)) {
            let now = api.now();
            let memory = self.memory.entry(text(job, "/metadata/uid").to_owned()).or_insert(Memory {
                started: now,
                failures: 0,
                failed_at: now,
                finished_at: None,
            });
            let pods = pods::of(api, job);
            let versions = std::iter::once(version(job)).chain(pods.iter().map(|pod| version(pod))).collect();
            due = sooner(due, self.seen.look(api, job, versions, |api| sync(api, job, memory)));
        }
        self.turn.end(due)
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

/// Lets go of pods that are on their way out or whose Job is gone.
fn release(api: &mut Api<'_>) {
    let tracked = |pod: &&Arc<Value>| {
        let finalizers = pod.at("/metadata/finalizers").and_then(Value::as_array);
        finalizers.is_some_and(|f| f.iter().any(|f| f == TRACKING))
    };
    let held: Vec<Arc<Value>> = api.list("", "Pod", "").filter(tracked).cloned().collect();
    for pod in held {
        let namespace = text(&pod, "/metadata/namespace");
        let job = owner::controller(&pod).and_then(|r| api.get("batch", "Job", namespace, text(r, "/name")));
        let orphan = job.is_none_or(|job| !owner::controls(job, &pod));
        if orphan || owner::terminating(&pod) {
            let mut freed = Value::clone(&pod);
            if let Some(list) = freed.pointer_mut("/metadata/finalizers").and_then(Value::as_array_mut) {
                list.retain(|f| f != TRACKING);
            }
            api.update(Arc::new(freed), "");
        }
    }
}

/// A Job's pods by state.
struct Count {
    active: Vec<Arc<Value>>,
    ready: usize,
    succeeded: i64,
    failed: i64,
    restarts: i64,
}

fn count(api: &Api<'_>, job: &Value) -> Count {
    let own = pods::of(api, job);
    let phase = |wanted: &str| own.iter().filter(|p| text(p, "/status/phase") == wanted).count();
    let active: Vec<Arc<Value>> = own.iter().filter(|p| pods::active(p)).cloned().collect();
    let restarts = active.iter().filter_map(|p| number(p, "/status/containerStatuses/0/restartCount")).sum();
    Count {
        ready: active.iter().filter(|p| pods::ready(p)).count(),
        active,
        // Counted pods may have been removed since.
        succeeded: i64::try_from(phase("Succeeded"))
            .unwrap_or(0)
            .max(number(job, "/status/succeeded").unwrap_or(0)),
        failed: i64::try_from(phase("Failed")).unwrap_or(0).max(number(job, "/status/failed").unwrap_or(0)),
        restarts,
    }
}

fn sync(api: &mut Api<'_>, job: &Value, memory: &mut Memory) -> Option<f64> {
    if holds(job, "Complete") || holds(job, "Failed") {
        return expire(api, job, memory);
    }
    if !text(job, "/spec/managedBy").is_empty()
        && text(job, "/spec/managedBy") != "kubernetes.io/job-controller"
    {
        return None;
    }
    let mut count = count(api, job);
    if job.at("/spec/suspend").and_then(Value::as_bool).unwrap_or(false) {
        suspend(api, job, &count);
        return None;
    }
    if count.failed + count.restarts > memory.failures {
        memory.failures = count.failed + count.restarts;
        memory.failed_at = api.now();
    }
    let deadline = number(job, "/spec/activeDeadlineSeconds").map(|s| memory.started + s as f64);
    if let Some(end) = verdict(job, &count, memory, deadline, api.now()) {
        for pod in count.active.drain(..) {
            pods::delete(api, &pod);
        }
        count.ready = 0;
        memory.finished_at = Some(api.now());
        report(api, job, &count, &end);
        return expire(api, job, memory);
    }
    let due = start(api, job, &mut count, memory);
    let resumed = Condition::new("Suspended", false, "JobResumed", "Job resumed");
    let conditions = status::find(job, "Suspended").map(|_| resumed);
    report(api, job, &count, conditions.as_slice());
    sooner(due, deadline)
}

/// The conditions of a Job that is over.
fn verdict(
    job: &Value,
    count: &Count,
    memory: &Memory,
    deadline: Option<f64>,
    now: f64,
) -> Option<Vec<Condition>> {
    let wanted = completions(job);
    if count.succeeded >= wanted && (count.active.is_empty() || job.at("/spec/completions").is_some()) {
        let message = "Reached expected number of succeeded pods";
        return Some(vec![
            Condition::new("SuccessCriteriaMet", true, "CompletionsReached", message),
            Condition::new("Complete", true, "CompletionsReached", message),
        ]);
    }
    let limit = number(job, "/spec/backoffLimit").unwrap_or(6);
    let (reason, message) = if memory.failures > limit {
        ("BackoffLimitExceeded", "Job has reached the specified backoff limit")
    } else if deadline.is_some_and(|d| now >= d) {
        ("DeadlineExceeded", "Job was active longer than specified deadline")
    } else {
        return None;
    };
    Some(vec![
        Condition::new("FailureTarget", true, reason, message),
        Condition::new("Failed", true, reason, message),
    ])
}

fn completions(job: &Value) -> i64 {
    number(job, "/spec/completions").unwrap_or(1)
}

fn suspend(api: &mut Api<'_>, job: &Value, count: &Count) {
    for pod in &count.active {
        pods::delete(api, pod);
    }
    let idle = Count { active: Vec::new(), ready: 0, ..*count };
    report(api, job, &idle, &[Condition::new("Suspended", true, "JobSuspended", "Job suspended")]);
}

/// Starts the pods that are missing; the moment of the next try when it is too early.
fn start(api: &mut Api<'_>, job: &Value, count: &mut Count, memory: &Memory) -> Option<f64> {
    let parallel = number(job, "/spec/parallelism").unwrap_or(1).min(completions(job) - count.succeeded);
    let missing = usize::try_from(parallel).unwrap_or(0).min(1000).saturating_sub(count.active.len());
    if missing == 0 {
        return None;
    }
    if memory.failures > 0 {
        let doubled = BACKOFF.0 * 2_f64.powi(i32::try_from(memory.failures - 1).unwrap_or(30).min(30));
        let next = memory.failed_at + doubled.min(BACKOFF.1);
        if api.now() < next {
            return Some(next);
        }
    }
    let indexed = text(job, "/spec/completionMode") == "Indexed";
    let free: Vec<i64> =
        (0..completions(job)).filter(|i| !indexed || !taken(api, job, *i)).take(missing).collect();
    for index in free {
        let response = pods::create(api, pod(api, job, indexed.then_some(index)));
        if !response.ok() {
            return Some(api.now() + RETRY);
        }
        count.active.push(response.body);
    }
    None
}

/// Whether a completion index has a pod that runs or has succeeded.
fn taken(api: &Api<'_>, job: &Value, index: i64) -> bool {
    let index = index.to_string();
    pods::of(api, job).iter().any(|p| {
        text(p, "/metadata/annotations/batch.kubernetes.io~1job-completion-index") == index
            && text(p, "/status/phase") != "Failed"
    })
}

fn pod(api: &Api<'_>, job: &Value, index: Option<i64>) -> Value {
    let name = text(job, "/metadata/name");
    let prefix = index.map_or_else(|| name.to_owned(), |i| format!("{name}-{i}"));
    let template = job.at("/spec/template").cloned().unwrap_or(Value::Null);
    let mut pod = pods::from_template(job, &template, &pods::next_name(api, job, &prefix));
    let uid = text(job, "/metadata/uid");
    for (key, value) in [
        ("batch.kubernetes.io/controller-uid", uid),
        ("batch.kubernetes.io/job-name", name),
        ("controller-uid", uid),
        ("job-name", name),
    ] {
        pod["metadata"]["labels"][key] = json!(value);
    }
    if let Some(index) = index {
        let key = "batch.kubernetes.io/job-completion-index";
        pod["metadata"]["labels"][key] = json!(index.to_string());
        pod["metadata"]["annotations"][key] = json!(index.to_string());
        pod["spec"]["hostname"] = json!(format!("{name}-{index}"));
    }
    pod
}

fn report(api: &mut Api<'_>, job: &Value, count: &Count, conditions: &[Condition]) {
    let stamp = clock::timestamp(api.now());
    let started = Some(text(job, "/status/startTime")).filter(|s| !s.is_empty()).unwrap_or(&stamp).to_owned();
    let suspended = conditions.iter().any(|c| c.kind == "Suspended" && c.holds);
    let mut state = json!({"ready": count.ready, "terminating": 0, "uncountedTerminatedPods": {}});
    if !suspended {
        state["startTime"] = json!(started);
    }
    let active = i64::try_from(count.active.len()).unwrap_or(0);
    for (field, value) in [("active", active), ("succeeded", count.succeeded), ("failed", count.failed)] {
        if value > 0 {
            state[field] = json!(value);
        }
    }
    if !conditions.is_empty() {
        state["conditions"] = status::conditions(job, conditions, api.now());
    }
    if conditions.iter().any(|c| c.kind == "Complete") {
        state["completionTime"] = json!(stamp);
    }
    status::write(api, job, state);
}

/// Seconds for which a finished Job stays at least. A real one may go at once, but who watches it has seen its end by then;
/// here others look at it from time to time, and must see it too.
const SEEN: f64 = 12.0;

/// Deletes a finished Job when its time has come.
fn expire(api: &mut Api<'_>, job: &Value, memory: &mut Memory) -> Option<f64> {
    let seconds = number(job, "/spec/ttlSecondsAfterFinished")?;
    let due = *memory.finished_at.get_or_insert(api.now()) + (seconds as f64).max(SEEN);
    if api.now() < due {
        return Some(due);
    }
    let resource = Resource::new("batch", "v1", "jobs");
    let (namespace, name) = (text(job, "/metadata/namespace"), text(job, "/metadata/name"));
    api.send(&Request::delete(&resource, namespace, name, Some(Propagation::Background)));
    None
}
