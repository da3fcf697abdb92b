//! TrainJobs: rendered into JobSets while they are unfinished, their states mirrored.
//!
//! Behaviour of `pkg/controller/trainjob_controller.go`: a Failed TrainJob counts as unfinished unless its deadline
//! passed, so that it is run again when its JobSet is gone. Deadlines themselves are not modelled.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::super::api::Api;
use super::super::super::conditions::Retries;
use super::super::super::memory::Memory;
use super::super::managers::Version;
use super::super::status::{self, Condition, find, holds};
use super::super::{jobset, owner, turn};
use super::rendering::Rendered;
use super::{GROUP, Trainer, rendering, runtime_of, snapshots};
use crate::cluster::{Request, Resource};
use crate::k8s::At as _;
use crate::k8s::text;

/// The longest pause between two tries, in seconds.
const LONGEST: f64 = 300.0;
/// How much of an error an Event shows.
const SHOWN: usize = 950;

/// What went wrong with a TrainJob the last time.
#[derive(Clone, Debug, Default)]
pub(super) struct Trouble {
    message: String,
    tries: i32,
    next: f64,
    seen: Vec<u64>,
}

impl Trouble {
    /// A new leader knows nothing of earlier tries: it begins at once, and tells again what goes wrong.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

/// Whether a try that failed for want of a runtime happens to be due when the runtime is back.
fn comes_back(api: &Api<'_>, trouble: &Trouble, job: &Value) -> bool {
    let (kind, namespace, name) = runtime_of(job);
    if !trouble.message.ends_with("not found") || api.get(GROUP, kind, namespace, name).is_none() {
        return false;
    }
    api.consulted().retries();
    api.conditions().retries == Retries::Prompt
}

/// What was applied for a TrainJob, and the JobSet that came of it.
#[derive(Debug)]
pub(super) struct Applied {
    wanted: Arc<Value>,
    generation: Option<i64>,
    tags: [Value; 2],
}

impl Applied {
    /// What an apply claims, without what the JobSet's own controller writes meanwhile.
    fn new(wanted: &Arc<Value>, set: &Value) -> Self {
        let tag = |pointer: &str| set.at(pointer).cloned().unwrap_or_default();
        Self {
            wanted: Arc::clone(wanted),
            generation: status::number(set, "/metadata/generation"),
            tags: [tag("/metadata/labels"), tag("/metadata/annotations")],
        }
    }

    /// Whether an apply would claim the same, and the JobSet is still what came of it.
    fn stands(&self, wanted: &Arc<Value>, set: &Value) -> bool {
        let tag = |pointer: &str| set.at(pointer).unwrap_or(&Value::Null);
        let [labels, annotations] = &self.tags;
        self.generation == status::number(set, "/metadata/generation")
            && labels == tag("/metadata/labels")
            && annotations == tag("/metadata/annotations")
            && self.wanted == *wanted
    }
}

/// What was rendered, and read from snapshots, for the very same objects; forks share it.
#[derive(Debug, Default)]
pub(super) struct Remembered {
    snapshots: snapshots::Decoded,
    rendered: Memory<Result<Arc<Rendered>, String>>,
}

impl Remembered {
    fn render(
        &self,
        version: Version,
        job: &Arc<Value>,
        runtime: &Arc<Value>,
        live: Option<&Value>,
    ) -> Result<Arc<Rendered>, String> {
        let render = || rendering::render(version, job, runtime, live).map(Arc::new);
        if rendering::tunes(job) {
            return render();
        }
        let (major, minor) = version;
        self.rendered.of(&[job, runtime], u64::from(major) << 32 | u64::from(minor), render)
    }
}

fn flag(object: &Value, pointer: &str) -> bool {
    object.at(pointer).and_then(Value::as_bool).unwrap_or(false)
}

/// Whether a TrainJob is over as the manager sees it.
fn finished(job: &Value) -> bool {
    let deadline = find(job, "Failed").is_some_and(|c| text(c, "/reason") == "DeadlineExceeded");
    holds(job, "Complete") || holds(job, "Failed") && deadline
}

fn path(job: &Value) -> String {
    format!("{}/{}", text(job, "/metadata/namespace"), text(job, "/metadata/name"))
}

fn set_of(api: &Api<'_>, job: &Value) -> Option<Arc<Value>> {
    let (namespace, name) = (text(job, "/metadata/namespace"), text(job, "/metadata/name"));
    api.get(jobset::GROUP, "JobSet", namespace, name).cloned()
}

/// The versions of everything whose events bring a TrainJob up again. Runtimes are not among them: nothing but the next
/// try finds one that came back.
fn versions(api: &Api<'_>, job: &Value) -> Vec<u64> {
    let (namespace, name) = (text(job, "/metadata/namespace"), text(job, "/metadata/name"));
    let definition =
        |name: &str| version(api.get("apiextensions.k8s.io", "CustomResourceDefinition", "", name));
    vec![
        turn::version(job),
        version(api.get(jobset::GROUP, "JobSet", namespace, name)),
        version(api.get("", "ConfigMap", namespace, &format!("{name}-runtime-snapshot"))),
        definition("jobsets.jobset.x-k8s.io"),
        // A changed definition ends every watch, and the list that follows brings all TrainJobs up again.
        definition("trainjobs.trainer.kubeflow.org"),
    ]
}

fn version(object: Option<&Arc<Value>>) -> u64 {
    object.map_or(0, |object| turn::version(object))
}

/// The versions of everything that a look at a TrainJob takes in.
pub(super) fn looked_at(api: &Api<'_>, job: &Value) -> Vec<u64> {
    let mut versions = versions(api, job);
    let (kind, runtime_namespace, runtime) = runtime_of(job);
    versions.push(version(api.get(GROUP, kind, runtime_namespace, runtime)));
    let (namespace, name) = (text(job, "/metadata/namespace"), text(job, "/metadata/name"));
    // What goes with a JobSet begins with the TrainJob's name.
    for kind in ["ConfigMap", "Secret"] {
        let companions = api.list("", kind, namespace);
        let own = companions.filter(|object| text(object, "/metadata/name").starts_with(name));
        versions.extend(own.map(|object| turn::version(object)));
    }
    versions
}

impl Trainer {
    /// Brings one TrainJob in order; the moment of the next try when something went wrong.
    pub(super) fn sync(&mut self, api: &mut Api<'_>, version: Version, job: &Arc<Value>) -> Option<f64> {
        let manager = text(job, "/spec/managedBy");
        if version >= (2, 3) && !manager.is_empty() && manager != "trainer.kubeflow.org/trainjob-controller" {
            return None;
        }
        let uid = text(job, "/metadata/uid").to_owned();
        let mut due = None;
        if !finished(job) {
            let seen = versions(api, job);
            let waits = |t: &&Trouble| t.seen == seen && api.now() < t.next && !comes_back(api, t, job);
            if let Some(trouble) = self.troubles.get(&uid).filter(waits) {
                due = Some(trouble.next);
            } else {
                match self.apply(api, version, job) {
                    Ok(()) => self.well_again(api, job),
                    Err(message) => due = Some(self.trouble(api, job, message)),
                }
            }
        } else {
            self.well_again(api, job);
        }
        mirror(api, version, job);
        due
    }

    /// Notes the end of a trouble.
    fn well_again(&mut self, api: &mut Api<'_>, job: &Value) {
        if self.troubles.remove(text(job, "/metadata/uid")).is_some() {
            api.note(format!("TrainJob {}: TrainJob resources reconciliation succeeded", path(job)));
        }
    }

    fn trouble(&mut self, api: &mut Api<'_>, job: &Value, message: String) -> f64 {
        let seen = versions(api, job);
        let trouble = self.troubles.entry(text(job, "/metadata/uid").to_owned()).or_default();
        if trouble.message != message {
            let shown: String = message.chars().take(SHOWN).collect();
            let cut = if message.chars().count() > SHOWN { " ..." } else { "" };
            let path = path(job);
            api.note(format!("TrainJob {path}: TrainJob resources reconciliation failed: {shown}{cut}"));
            trouble.message = message;
        }
        trouble.tries = (trouble.tries + 1).min(16);
        trouble.next = api.now() + 2_f64.powi(trouble.tries).min(LONGEST);
        trouble.seen = seen;
        trouble.next
    }

    /// Renders a TrainJob and applies what came out; the error is the one the manager reports.
    fn apply(&mut self, api: &mut Api<'_>, version: Version, job: &Arc<Value>) -> Result<(), String> {
        // The manager is told what the server shows, not what is stored.
        let job = &api.shown(job);
        let runtime = snapshots::runtime(api, version, job, &self.memory.snapshots)?;
        let live = set_of(api, job);
        let rendered = self.memory.render(version, job, &runtime, live.as_deref())?;
        let namespace = text(job, "/metadata/namespace").to_owned();
        for object in &rendered.companions {
            companion(api, &namespace, object)?;
        }
        let running =
            live.as_ref().is_some_and(|set| !flag(set, "/spec/suspend")) && !flag(job, "/spec/suspend");
        if running {
            return Ok(());
        }
        let uid = text(job, "/metadata/uid").to_owned();
        let last = self.applied.get(&uid);
        if live.is_some_and(|set| last.is_some_and(|last| last.stands(&rendered.set, &set))) {
            return Ok(());
        }
        let Some(served) = api.resource(jobset::GROUP, "JobSet") else {
            return Err("no matches for kind \"JobSet\" in version \"jobset.x-k8s.io/v1alpha2\"".to_owned());
        };
        let body = Arc::clone(&rendered.set);
        let response = api.send(&Request::apply(&served.resource, &namespace, "trainer", true, body));
        if !response.ok() {
            return Err(response.message().to_owned());
        }
        self.applied.insert(uid, Arc::new(Applied::new(&rendered.set, &response.body)));
        Ok(())
    }
}

/// Applies a ConfigMap or creates a Secret that goes with the JobSet.
fn companion(api: &mut Api<'_>, namespace: &str, object: &Arc<Value>) -> Result<(), String> {
    let (kind, name) = (text(object, "/kind"), text(object, "/metadata/name"));
    let current = api.get("", kind, namespace, name);
    // Secrets are made once; a ConfigMap with the same content needs no request.
    if current.is_some_and(|c| kind == "Secret" || c.get("data") == object.get("data")) {
        return Ok(());
    }
    let plural = if kind == "Secret" { "secrets" } else { "configmaps" };
    let resource = Resource::new("", "v1", plural);
    let response = api.send(&Request::apply(&resource, namespace, "trainer", true, Arc::clone(object)));
    if response.ok() { Ok(()) } else { Err(response.message().to_owned()) }
}

/// Mirrors the JobSet's state into the TrainJob's.
fn mirror(api: &mut Api<'_>, version: Version, job: &Value) {
    let Some(set) = set_of(api, job).filter(|set| owner::controls(job, set)) else { return };
    let mut wanted = Vec::new();
    if flag(job, "/spec/suspend") {
        wanted.push(Condition::new("Suspended", true, "Suspended", "TrainJob is suspended"));
    } else if find(job, "Suspended").is_some() {
        wanted.push(Condition::new("Suspended", false, "Resumed", "TrainJob is resumed"));
    }
    let over = [("Completed", "Complete"), ("Failed", "Failed")];
    for (source, kind) in over {
        if let Some(condition) = crate::k8s::held(&set, source) {
            wanted.push(Condition::new(kind, true, text(condition, "/reason"), text(condition, "/message")));
        }
    }
    let kept = find(job, "Failed").filter(|c| text(c, "/reason") == "DeadlineExceeded").cloned();
    let mut conditions = status::conditions(job, &wanted, api.now());
    if let (Some(kept), Some(list)) = (kept, conditions.as_array_mut()) {
        list.push(kept);
    }
    let mut state = job.get("status").cloned().unwrap_or_else(|| json!({}));
    if conditions.as_array().is_some_and(|c| !c.is_empty()) {
        state["conditions"] = conditions;
    } else if let Some(map) = state.as_object_mut() {
        map.remove("conditions");
    }
    let jobs = set.at("/status/replicatedJobsStatus").cloned();
    if let Some(Value::Array(counts)) = jobs
        && version >= (2, 0)
    {
        state["jobsStatus"] = counts.iter().map(counted).collect();
    }
    if state.as_object().is_some_and(|s| !s.is_empty()) {
        status::write(api, job, state);
    }
}

fn counted(count: &Value) -> Value {
    let number = |field: &str| count.get(field).cloned().unwrap_or_else(|| json!(0));
    json!({
        "name": text(count, "/name"), "ready": number("ready"), "succeeded": number("succeeded"),
        "failed": number("failed"), "active": number("active"), "suspended": number("suspended"),
    })
}
