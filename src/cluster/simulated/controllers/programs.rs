//! Pods of Jobs and pods on their own: their programs are executed, with the outcome that the conditions give to hooks.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::api::{Api, Controller};
use super::super::conditions::{HookOutcome, LeaderTiming};
use super::super::shell::process::Process;
use super::super::shell::{Ending, Run};
use super::kubelet::{self, ends, unpullable};
use super::status::number;
use super::turn::{Turn, sooner};
use super::{containers, election, owner, pods, rights, status};
use crate::k8s::At as _;
use crate::k8s::{annotation, text};

/// The longest time that a hook is held back for the sake of a leader change.
const PATIENCE: f64 = 90.0;

/// Where a pod's program stands.
#[derive(Clone, Debug)]
enum Stage {
    /// It starts at this moment.
    Starting(f64),
    /// It runs: the container's index among all, and its process.
    Running(usize, Box<Process>),
    /// It runs on for ever.
    Endless,
}

/// The kubelet of Jobs.
#[derive(Clone, Debug, Default)]
pub(super) struct Programs {
    turn: Turn,
    stages: BTreeMap<String, Stage>,
    /// What was said already.
    said: std::collections::BTreeSet<String>,
}

impl Controller for Programs {
    fn name(&self) -> &'static str {
        "hook"
    }

    fn run(&mut self, api: &mut Api<'_>) -> Option<f64> {
        if self.turn.idle(api, &["Pod", "Job", "Lease", "ConfigMap", "Secret"]) {
            return self.turn.due();
        }
        let own = |pod: &&Arc<Value>| ends(pod) && pods::active(pod);
        let waiting: Vec<Arc<Value>> = api.list("", "Pod", "").filter(own).cloned().collect();
        self.stages.retain(|uid, _| waiting.iter().any(|pod| text(pod, "/metadata/uid") == uid));
        let mut due = None;
        for pod in waiting {
            due = sooner(due, self.sync(api, &pod));
        }
        self.turn.end(due)
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

/// The Job of a pod; a pod on its own stands for itself.
fn job_of(api: &Api<'_>, pod: &Value) -> Option<Arc<Value>> {
    let Some(controller) = owner::controller(pod) else { return Some(Arc::new(pod.clone())) };
    let name = text(controller, "/name");
    api.get("batch", "Job", text(pod, "/metadata/namespace"), name).cloned()
}

fn is_hook(job: &Value) -> bool {
    annotation(job, "helm.sh/hook").is_some()
}

/// Whether a hook holds back until a change of the lead is over.
fn waits_for_leader(api: &Api<'_>, job: &Value) -> bool {
    if !is_hook(job) || !election::pending(api) {
        return false;
    }
    api.consulted().leader();
    api.conditions().leader == LeaderTiming::BeforeHook
}

impl Programs {
    fn sync(&mut self, api: &mut Api<'_>, pod: &Value) -> Option<f64> {
        let job = job_of(api, pod)?;
        let uid = text(pod, "/metadata/uid").to_owned();
        let hook = is_hook(&job);
        let outcome = if hook {
            api.consulted().hooks();
            api.conditions().hooks.outcome(text(&job, "/metadata/name"))
        } else {
            HookOutcome::Succeeds
        };
        if outcome == HookOutcome::NeverScheduled {
            let state = kubelet::unready(pod, "Pending", "ContainerCreating", "", api.now());
            status::write(api, pod, state);
            return None;
        }
        if let Some(image) = unpullable(api, pod) {
            let message = format!("Back-off pulling image \"{image}\"");
            let state = kubelet::unready(pod, "Pending", "ImagePullBackOff", &message, api.now());
            status::write(api, pod, state);
            return None;
        }
        if let Some((reason, message)) = kubelet::unmet(api, pod) {
            self.say(api, format!("{} can't start: {message}", path(&job)));
            let state = kubelet::unready(pod, "Pending", reason, &message, api.now());
            status::write(api, pod, state);
            return None;
        }
        match self.stages.get(&uid).cloned() {
            None if text(pod, "/status/phase") == "Running" && owned_by_set(&job) => None,
            None => {
                let start = api.now() + api.conditions().timing.hook_start;
                self.stages.insert(uid, Stage::Starting(start));
                Some(start)
            }
            Some(Stage::Starting(start)) => self.start(api, pod, &job, outcome, start),
            Some(Stage::Running(index, process)) => self.advance(api, pod, &job, index, *process),
            Some(Stage::Endless) => None,
        }
    }

    fn start(
        &mut self,
        api: &mut Api<'_>,
        pod: &Value,
        job: &Value,
        outcome: HookOutcome,
        start: f64,
    ) -> Option<f64> {
        if api.now() < start {
            return Some(start);
        }
        if waits_for_leader(api, job) && api.now() < start + PATIENCE {
            return Some(start + PATIENCE);
        }
        let uid = text(pod, "/metadata/uid").to_owned();
        let restarts = number(pod, "/status/containerStatuses/0/restartCount").unwrap_or(0);
        let mut state = kubelet::running(pod, api.now());
        state["containerStatuses"][0]["restartCount"] = json!(restarts);
        match outcome {
            HookOutcome::Hangs => {
                status::write(api, pod, state);
                self.stages.insert(uid, Stage::Endless);
                None
            }
            HookOutcome::Fails => self.finish(api, pod, job, 1, ""),
            _ => {
                status::write(api, pod, state);
                let current = api
                    .get("", "Pod", text(pod, "/metadata/namespace"), text(pod, "/metadata/name"))
                    .cloned()?;
                self.execute(api, &current, job, 0)
            }
        }
    }

    /// Starts the program of the container with this index, init containers first.
    fn execute(&mut self, api: &mut Api<'_>, pod: &Value, job: &Value, index: usize) -> Option<f64> {
        let container = container(pod, index)?;
        let user = containers::user(pod);
        let program = match unseen_account(api, pod) {
            Some(account) if is_hook(job) => Err(account),
            _ => containers::program(api, pod, &container),
        };
        match program {
            Ok(program) => self.advance(api, pod, job, index, Process::new(program, api.now())),
            Err(missing) => self.unknown(api, pod, job, index, &missing, &user),
        }
    }

    /// What nobody can execute: part of a training job runs on, everything else is taken to end well, and it is said.
    fn unknown(
        &mut self,
        api: &mut Api<'_>,
        pod: &Value,
        job: &Value,
        index: usize,
        what: &str,
        user: &str,
    ) -> Option<f64> {
        if owned_by_set(job) {
            self.stages.insert(text(pod, "/metadata/uid").to_owned(), Stage::Endless);
            return None;
        }
        let rights = rights::changes(api, user);
        let line = format!(
            "{} could not be executed ({what}); taken to end well; what it may change: {rights}",
            path(job)
        );
        self.say(api, line);
        self.next(api, pod, job, index)
    }

    fn say(&mut self, api: &mut Api<'_>, line: String) {
        if self.said.insert(line.clone()) {
            api.note(line);
        }
    }

    fn advance(
        &mut self,
        api: &mut Api<'_>,
        pod: &Value,
        job: &Value,
        index: usize,
        mut process: Process,
    ) -> Option<f64> {
        let Run { ending, output, .. } = process.run(api);
        if is_hook(job) && !process.downloads().is_empty() {
            let what = process.downloads().join(", ");
            self.say(api, format!("hook {} fetches from outside the cluster: {what}", path(job)));
        }
        let uid = text(pod, "/metadata/uid").to_owned();
        match ending {
            Ending::Paused(pause) => {
                self.stages.insert(uid, Stage::Running(index, Box::new(process)));
                Some(pause.until)
            }
            Ending::Exited(0) => self.next(api, pod, job, index),
            Ending::Exited(code) => self.finish(api, pod, job, code, &output),
            Ending::Unknown(what) => {
                let user = process.user().to_owned();
                self.unknown(api, pod, job, index, &what, &user)
            }
        }
    }

    /// Goes on to the next container, or ends the pod well.
    fn next(&mut self, api: &mut Api<'_>, pod: &Value, job: &Value, index: usize) -> Option<f64> {
        if container(pod, index + 1).is_none() {
            return self.finish(api, pod, job, 0, "");
        }
        self.execute(api, pod, job, index + 1)
    }

    fn finish(
        &mut self,
        api: &mut Api<'_>,
        pod: &Value,
        job: &Value,
        code: i32,
        output: &str,
    ) -> Option<f64> {
        let uid = text(pod, "/metadata/uid").to_owned();
        if code != 0 && !output.is_empty() {
            let lines: Vec<&str> = output.lines().rev().take(3).collect();
            let last: Vec<&str> = lines.into_iter().rev().collect();
            self.say(api, format!("{} failed with exit code {code}: {}", path(job), last.join(" | ")));
        }
        if code != 0 && text(pod, "/spec/restartPolicy") == "OnFailure" {
            return self.restart(api, pod, code);
        }
        self.stages.remove(&uid);
        let state = kubelet::finished(pod, code, api.now());
        status::write(api, pod, state);
        None
    }

    /// Starts a failed container again, later each time.
    fn restart(&mut self, api: &mut Api<'_>, pod: &Value, code: i32) -> Option<f64> {
        let restarts = number(pod, "/status/containerStatuses/0/restartCount").unwrap_or(0) + 1;
        let mut state = kubelet::unready(pod, "Running", "CrashLoopBackOff", "", api.now());
        state["containerStatuses"][0]["restartCount"] = json!(restarts);
        state["containerStatuses"][0]["lastState"] =
            json!({"terminated": {"exitCode": code, "reason": "Error"}});
        status::write(api, pod, state);
        let wait = 10.0 * 2_f64.powi(i32::try_from(restarts - 1).unwrap_or(5).min(5));
        let next = api.now() + wait.min(300.0);
        self.stages.insert(text(pod, "/metadata/uid").to_owned(), Stage::Starting(next));
        Some(next)
    }
}

/// Whether a Job belongs to a set of training Jobs: a program that is not known runs on there.
fn owned_by_set(job: &Value) -> bool {
    owner::controller(job).is_some_and(|r| text(r, "/kind") == "JobSet")
}

fn container(pod: &Value, index: usize) -> Option<Value> {
    let list = |pointer: &str| pod.at(pointer).and_then(Value::as_array).cloned().unwrap_or_default();
    list("/spec/initContainers").into_iter().chain(list("/spec/containers")).nth(index)
}

/// The ServiceAccount of a pod, if nobody has seen it: what it may do is not known.
fn unseen_account(api: &Api<'_>, pod: &Value) -> Option<String> {
    let (namespace, account) = (text(pod, "/metadata/namespace"), text(pod, "/spec/serviceAccountName"));
    let is_seen =
        matches!(account, "" | "default") || api.get("", "ServiceAccount", namespace, account).is_some();
    (!is_seen).then(|| containers::unseen("ServiceAccount", namespace, account))
}

fn path(object: &Value) -> String {
    crate::k8s::object_name(object).to_string()
}
