//! From TrainJob and runtime to JobSet, as each version renders it.
//!
//! Source of behaviour: `pkg/runtime/core/trainingruntime.go` and the plugins under `pkg/runtime/framework/plugins`.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::super::managers::Version;
use super::super::owner;
use super::super::status::number;
use super::policies;
use crate::k8s::At as _;
use crate::k8s::text;

/// What a TrainJob is rendered into.
#[derive(Debug)]
pub(super) struct Rendered {
    /// The JobSet's apply configuration.
    pub(super) set: Arc<Value>,
    /// ConfigMaps and Secrets that go with it.
    pub(super) companions: Vec<Arc<Value>>,
}

/// A TrainJob on its way into a JobSet.
pub(super) struct Draft<'a> {
    /// Version of the manager that renders.
    pub(super) version: Version,
    /// The TrainJob.
    pub(super) job: &'a Value,
    /// `spec.mlPolicy` of the runtime; null when absent.
    pub(super) policy: Value,
    /// `spec.template.spec` of the runtime, changed step by step.
    pub(super) spec: Value,
    /// Pods per replicated Job.
    pub(super) counts: Vec<i64>,
    /// The JobSet that exists already.
    pub(super) live: Option<&'a Value>,
    /// ConfigMaps and Secrets that go with the JobSet.
    pub(super) companions: Vec<Value>,
}

/// Where a replicated Job keeps its containers.
pub(super) const CONTAINERS: &str = "/template/spec/template/spec/containers";

/// Renders a TrainJob.
pub(super) fn render(
    version: Version,
    job: &Value,
    runtime: &Value,
    live: Option<&Value>,
) -> Result<Rendered, String> {
    let template = runtime.at("/spec/template").cloned().unwrap_or_else(|| json!({}));
    let mut draft = Draft {
        version,
        job,
        policy: runtime.at("/spec/mlPolicy").cloned().unwrap_or(Value::Null),
        spec: template.get("spec").cloned().unwrap_or_else(|| json!({})),
        counts: Vec::new(),
        live,
        companions: Vec::new(),
    };
    let mut metadata =
        json!({"name": text(job, "/metadata/name"), "namespace": text(job, "/metadata/namespace")});
    for field in ["labels", "annotations"] {
        let merged = propagated(version, job, &template, field);
        if !merged.is_empty() {
            metadata[field] = Value::Object(merged);
        }
    }
    metadata["ownerReferences"] = json!([owner::reference(job)]);
    draft.overlay();
    draft.count();
    draft.resources();
    policies::enforce(&mut draft)?;
    draft.initializers();
    draft.trainer();
    draft.parallelism();
    draft.spec["suspend"] = job.at("/spec/suspend").cloned().unwrap_or(json!(false));
    let set = json!({
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata, "spec": draft.spec,
    });
    let companions = draft.companions.into_iter().map(Arc::new).collect();
    Ok(Rendered { set: Arc::new(set), companions })
}

/// Labels or annotations that the JobSet gets.
fn propagated(version: Version, job: &Value, template: &Value, field: &str) -> Map<String, Value> {
    let map = |value: Option<&Value>| value.and_then(Value::as_object).cloned().unwrap_or_default();
    let mut merged = map(template.at(&format!("/metadata/{field}")));
    if version < (2, 2) {
        merged.extend(map(job.at(&format!("/spec/{field}"))));
    }
    for patch in list(job, "/spec/runtimePatches") {
        merged.extend(map(patch.at(&format!("/trainingRuntimeSpec/template/metadata/{field}"))));
    }
    merged
}

/// The items of a list.
pub(super) fn list<'v>(object: &'v Value, pointer: &str) -> impl Iterator<Item = &'v Value> {
    object.at(pointer).and_then(Value::as_array).into_iter().flatten()
}

/// The step of a training that a replicated Job stands for.
pub(super) fn ancestor(replicated: &Value) -> &str {
    text(replicated, "/template/metadata/labels/trainer.kubeflow.org~1trainjob-ancestor-step")
}

impl Draft<'_> {
    /// The replicated Jobs.
    pub(super) fn replicated(&mut self) -> &mut [Value] {
        match self.spec.get_mut("replicatedJobs") {
            Some(Value::Array(jobs)) => jobs.as_mut_slice(),
            _ => &mut [],
        }
    }

    /// Position of the replicated Job that trains.
    pub(super) fn trainer_at(&self) -> Option<usize> {
        list(&self.spec, "/replicatedJobs").position(|job| ancestor(job) == "trainer")
    }

    /// Puts the TrainJob's patches and overrides onto the template.
    fn overlay(&mut self) {
        let order: Vec<String> =
            list(&self.spec, "/replicatedJobs").map(|j| text(j, "/name").to_owned()).collect();
        for patch in list(self.job, "/spec/runtimePatches") {
            if let Some(spec) = patch.at("/trainingRuntimeSpec/template/spec") {
                overlay(&mut self.spec, spec);
            }
        }
        if let Some(Value::Array(jobs)) = self.spec.get_mut("replicatedJobs") {
            jobs.sort_by_key(|job| order.iter().position(|name| name == text(job, "/name")).unwrap_or(0));
        }
        if self.version < (2, 2) {
            self.overrides();
        }
    }

    /// `podTemplateOverrides` of 2.1 and `podSpecOverrides` of 2.0.
    fn overrides(&mut self) {
        let job = self.job;
        for (field, whole) in [("podTemplateOverrides", true), ("podSpecOverrides", false)] {
            for entry in list(job, &format!("/spec/{field}")) {
                let mut patch = json!({});
                for part in ["metadata", "spec"].iter().filter(|p| whole && entry.get(**p).is_some()) {
                    patch[*part] = entry[*part].clone();
                }
                if !whole {
                    patch["spec"] = entry.clone();
                    patch["spec"].as_object_mut().map(|spec| spec.remove("targetJobs"));
                }
                let targets: Vec<&str> = list(entry, "/targetJobs").map(|t| text(t, "/name")).collect();
                for replicated in self.replicated() {
                    if targets.contains(&text(replicated, "/name")) {
                        overlay(&mut replicated["template"]["spec"]["template"], &patch);
                    }
                }
            }
        }
    }

    /// How many pods each replicated Job has before the policies have their say.
    fn count(&mut self) {
        let policy = self.policy.clone();
        let nodes = number(&policy, "/numNodes").unwrap_or(1);
        self.counts = list(&self.spec, "/replicatedJobs")
            .map(|job| match ancestor(job) == "trainer" && !policy.is_null() {
                true => nodes,
                false => number(job, "/template/spec/parallelism").unwrap_or(1),
            })
            .collect();
    }

    /// `resourcesPerNode`: merged into the runtime's since 2.3, in its place before.
    fn resources(&mut self) {
        let Some(wanted) = self.job.at("/spec/trainer/resourcesPerNode").cloned() else { return };
        let (version, policy) = (self.version, self.policy.clone());
        let launcher = policy.at("/mpi/runLauncherAsNode").and_then(Value::as_bool).unwrap_or(false);
        for job in self.replicated() {
            let trains = ancestor(job) == "trainer" && (version < (2, 3) || !policy.is_null());
            let node = version >= (2, 3) && launcher && text(job, "/name") == "node";
            if !trains && !node {
                continue;
            }
            if let Some(container) = node_container(job) {
                if version < (2, 3) {
                    container["resources"] = wanted.clone();
                } else {
                    overlay(&mut container["resources"], &wanted);
                }
            }
        }
    }

    /// Storage, environment and credentials of the initializers.
    fn initializers(&mut self) {
        let job = self.job;
        for (step, field) in [("dataset-initializer", "dataset"), ("model-initializer", "model")] {
            let source = job.at(&format!("/spec/initializer/{field}")).cloned();
            for replicated in self.replicated().iter_mut().filter(|r| ancestor(r) == step) {
                replicated["replicas"] = json!(1);
                let Some(source) = &source else { continue };
                let Some(container) = named_container(replicated, step) else { continue };
                if let Some(uri) = source.get("storageUri") {
                    set_env(container, json!({"name": "STORAGE_URI", "value": uri}));
                }
                for variable in list(source, "/env") {
                    set_env(container, variable.clone());
                }
                if let Some(secret) = source.at("/secretRef/name") {
                    push(container, "envFrom", json!({"secretRef": {"name": secret}}));
                }
            }
        }
    }

    /// Image, command, arguments and environment of the training container.
    fn trainer(&mut self) {
        let trainer = self.job.at("/spec/trainer").cloned().unwrap_or(Value::Null);
        let live = self.live.and_then(live_command);
        let tune = tunes(self.job);
        let launcher = self.policy.at("/mpi/runLauncherAsNode").and_then(Value::as_bool).unwrap_or(false);
        for job in self.replicated() {
            let trains = ancestor(job) == "trainer";
            if trains {
                job["replicas"] = json!(1);
            }
            let node = trains || launcher && text(job, "/name") == "node";
            let Some(container) = node_container(job).filter(|_| node) else { continue };
            for field in ["image", "command", "args"].iter().filter(|f| trains && trainer.get(**f).is_some())
            {
                container[*field] = trainer[*field].clone();
            }
            // The arguments of torchtune are worked out by the manager; an existing JobSet knows them.
            if let Some(command) = live.as_ref().filter(|_| trains && tune) {
                container["command"] = command.clone();
            }
            for variable in list(&trainer, "/env") {
                set_env(container, variable.clone());
            }
        }
    }

    fn parallelism(&mut self) {
        let counts = self.counts.clone();
        for (job, count) in self.replicated().iter_mut().zip(counts) {
            job["template"]["spec"]["parallelism"] = json!(count);
            job["template"]["spec"]["completions"] = json!(count);
        }
    }
}

/// Whether the manager works out the arguments itself, so that the rendering looks at the JobSet that exists.
pub(super) fn tunes(job: &Value) -> bool {
    let command = list(job, "/spec/trainer/command").map(|word| word.as_str().unwrap_or_default());
    command.eq(["tune", "run"])
}

fn live_command(set: &Value) -> Option<Value> {
    let job = list(set, "/spec/replicatedJobs").find(|job| ancestor(job) == "trainer")?;
    list(job, CONTAINERS).find(|c| text(c, "/name") == "node")?.get("command").cloned()
}

/// The container `node` of a replicated Job.
pub(super) fn node_container(job: &mut Value) -> Option<&mut Value> {
    named_container(job, "node")
}

/// A container of a replicated Job by its name.
pub(super) fn named_container<'v>(job: &'v mut Value, name: &str) -> Option<&'v mut Value> {
    let containers = job.pointer_mut(CONTAINERS)?.as_array_mut()?;
    containers.iter_mut().find(|c| text(c, "/name") == name)
}

/// Adds an item to a list of an object.
pub(super) fn push(object: &mut Value, field: &str, item: Value) {
    if !object[field].is_array() {
        object[field] = json!([]);
    }
    if let Some(list) = object[field].as_array_mut() {
        list.push(item);
    }
}

/// Puts an item into a list in place of the one with the same key, or at its end.
pub(super) fn upsert(object: &mut Value, field: &str, key: &str, item: Value) {
    let list = object.get_mut(field).and_then(Value::as_array_mut);
    match list.and_then(|l| l.iter_mut().find(|old| old.get(key) == item.get(key))) {
        Some(old) => *old = item,
        None => push(object, field, item),
    }
}

/// Sets an environment variable of a container.
pub(super) fn set_env(container: &mut Value, variable: Value) {
    upsert(container, "env", "name", variable);
}

/// The keys by which the lists of a pod or JobSet are merged.
const KEYS: [&str; 4] = ["name", "mountPath", "containerPort", "devicePath"];

/// Merges a patch into a value: maps by key, lists of named items by name, anything else in place of the old.
fn overlay(target: &mut Value, patch: &Value) {
    match (&mut *target, patch) {
        (Value::Object(target), Value::Object(patch)) => {
            for (key, value) in patch {
                if value.is_null() {
                    target.remove(key);
                } else {
                    overlay(target.entry(key).or_insert(Value::Null), value);
                }
            }
        }
        (Value::Array(items), Value::Array(patches)) => match merge_key(patches) {
            Some(key) => {
                for patch in patches {
                    match items.iter_mut().find(|item| item.get(key) == patch.get(key)) {
                        Some(item) => overlay(item, patch),
                        None => items.push(patch.clone()),
                    }
                }
            }
            None => *target = patch.clone(),
        },
        _ => *target = patch.clone(),
    }
}

fn merge_key(items: &[Value]) -> Option<&'static str> {
    KEYS.into_iter().find(|key| !items.is_empty() && items.iter().all(|item| item.get(*key).is_some()))
}
