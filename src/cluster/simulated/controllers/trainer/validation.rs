//! Trainer's webhooks: what is refused when TrainJobs and runtimes are written.
//!
//! Source of behaviour: `pkg/webhooks` and the `Validate` functions of the plugins. The runtime is looked up live, on
//! updates as well, in all versions up to 2.3.0.

use serde_json::{Value, json};

use super::super::super::api::Api;
use super::super::super::webhooks::{WebhookAnswer, WebhookCall};
use super::super::managers::Version;
use super::super::{jobset, status};
use super::rendering::{CONTAINERS, ancestor, list};
use super::{GROUP, runtime_of};
use crate::k8s::At as _;
use crate::k8s::{label, text};

const POLICY: &str =
    "https://trainer.kubeflow.org/en/latest/operator-guides/runtime.html#runtime-deprecation-policy";
/// Environment variables that users may not set, by policy.
const RESERVED: &[(&str, &[&str])] = &[
    ("torch", &["PET_MASTER_ADDR", "PET_MASTER_PORT", "PET_NNODES", "PET_NODE_RANK", "PET_NPROC_PER_NODE"]),
    ("xgboost", &["DMLC_NUM_WORKER", "DMLC_TASK_ID", "DMLC_TRACKER_PORT", "DMLC_TRACKER_URI"]),
    (
        "mpi",
        &[
            "OMPI_MCA_orte_default_hostfile",
            "OMPI_MCA_orte_keep_fqdn_hostnames",
            "OMPI_MCA_orte_set_default_slots",
            "OMPI_MCA_plm_rsh_args",
        ],
    ),
];

/// Answers one call.
pub(super) fn answer(api: &Api<'_>, version: Version, call: &WebhookCall) -> WebhookAnswer {
    let Some(object) = call.object.as_deref().filter(|_| call.subresource.is_empty()) else {
        return WebhookAnswer::allowed();
    };
    match (call.resource.plural.as_str(), call.mutating) {
        ("trainjobs", true) => stamp(api, object, call.old.as_deref()),
        ("trainjobs", false) => trainjob(api, version, object, call.old.as_deref()),
        ("clustertrainingruntimes", false) => runtime(object, call.old.is_none()),
        ("trainingruntimes", false) if call.old.is_none() => denied(replicated_jobs(object)),
        _ => WebhookAnswer::allowed(),
    }
}

/// Errors as Go joins them.
fn denied(mut errors: Vec<String>) -> WebhookAnswer {
    match errors.len() {
        0 => WebhookAnswer::allowed(),
        1 => WebhookAnswer::Denied(errors.remove(0)),
        _ => WebhookAnswer::Denied(format!("[{}]", errors.join(", "))),
    }
}

/// The times of runtime patches.
fn stamp(api: &Api<'_>, job: &Value, old: Option<&Value>) -> WebhookAnswer {
    let now = json!(super::super::super::clock::timestamp(api.now()));
    let mut operations = Vec::new();
    for (index, patch) in list(job, "/spec/runtimePatches").enumerate() {
        let path = format!("/spec/runtimePatches/{index}/time");
        let same_manager = |p: &&Value| text(p, "/manager") == text(patch, "/manager");
        let before = old.and_then(|o| list(o, "/spec/runtimePatches").find(same_manager));
        let timeless = |p: &Value| {
            let mut p = p.clone();
            p.as_object_mut().map(|map| map.remove("time"));
            p
        };
        let time = match before {
            Some(before) if timeless(before) == timeless(patch) => before.get("time").cloned(),
            None if patch.get("time").is_some() => None,
            _ => Some(now.clone()),
        };
        if let Some(time) = time.filter(|t| patch.get("time") != Some(t)) {
            operations.push(json!({"op": "add", "path": path, "value": time}));
        }
    }
    let patch = (!operations.is_empty()).then_some(Value::Array(operations));
    WebhookAnswer::Allowed { warnings: Vec::new(), patch }
}

/// The runtime reference as Go writes it.
fn reference(job: &Value) -> String {
    let (kind, _, name) = runtime_of(job);
    let group = match text(job, "/spec/runtimeRef/apiGroup") {
        "" => GROUP,
        group => group,
    };
    format!("{{\"name\":\"{name}\",\"apiGroup\":\"{group}\",\"kind\":\"{kind}\"}}")
}

fn trainjob(api: &Api<'_>, version: Version, job: &Value, old: Option<&Value>) -> WebhookAnswer {
    let (kind, namespace, name) = runtime_of(job);
    let Some(runtime) = api.get(GROUP, kind, namespace, name) else {
        let (field, noun) = match kind {
            "TrainingRuntime" => ("runtimeRef", "trainingRuntime"),
            _ => ("RuntimeRef", "clusterTrainingRuntime"),
        };
        return WebhookAnswer::Denied(format!(
            "spec.{field}: Invalid value: {}: {kind}.{GROUP} \"{name}\" not found: specified {noun} must be created \
             before the TrainJob is created",
            reference(job)
        ));
    };
    let mut errors = initializers(version, job, runtime);
    errors.extend(patches(api, job, old));
    errors.extend(reserved(version, job, runtime));
    if !errors.is_empty() {
        return denied(errors);
    }
    let deprecated = kind == "ClusterTrainingRuntime" && is_deprecated(runtime);
    let warning = format!(
        "Referenced ClusterTrainingRuntime \"{name}\" is deprecated and will be removed in a future release of Kubeflow \
         Trainer. See runtime deprecation policy: {POLICY}"
    );
    WebhookAnswer::Allowed { warnings: deprecated.then_some(warning).into_iter().collect(), patch: None }
}

fn is_deprecated(runtime: &Value) -> bool {
    label(runtime, "trainer.kubeflow.org/support") == Some("deprecated")
}

/// Initializers need a Job and a container of their name, since 2.3 with the volume `initializer` mounted.
fn initializers(version: Version, job: &Value, runtime: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    for (field, step, noun) in
        [("dataset", "dataset-initializer", "datasetConfig"), ("model", "model-initializer", "modelConfig")]
    {
        if job.at(&format!("/spec/initializer/{field}")).is_none_or(Value::is_null) {
            continue;
        }
        let replicated =
            list(runtime, "/spec/template/spec/replicatedJobs").find(|r| text(r, "/name") == step);
        let container = replicated.and_then(|r| list(r, CONTAINERS).find(|c| text(c, "/name") == step));
        let mounted =
            container.is_some_and(|c| list(c, "/volumeMounts").any(|m| text(m, "/name") == "initializer"));
        let why = match (replicated, container) {
            (None, _) => format!("must have {step} job when trainJob is configured with input {noun}"),
            (_, None) => format!("must have container with name - {step} in the {step} job"),
            _ if version >= (2, 3) && !mounted => {
                format!("must have volumeMount with name - initializer in container {step} of the {step} job")
            }
            _ => continue,
        };
        errors.push(format!("spec.runtimeRef: Invalid value: {}: {why}", reference(job)));
    }
    errors
}

/// Runtime patches may change while the TrainJob is suspended before or after, and its JobSet has no running pods.
fn patches(api: &Api<'_>, job: &Value, old: Option<&Value>) -> Vec<String> {
    let Some(old) = old else { return Vec::new() };
    let of = |object: &Value| list(object, "/spec/runtimePatches").cloned().collect::<Vec<_>>();
    if of(job) == of(old) {
        return Vec::new();
    }
    let suspended = |object: &Value| object.at("/spec/suspend").and_then(Value::as_bool).unwrap_or(false);
    let path = "spec.runtimePatches: Forbidden:";
    if !suspended(job) && !suspended(old) {
        let why =
            "RuntimePatches can only be modified when the TrainJob is suspended before or after the update";
        return vec![format!("{path} {why}")];
    }
    let (namespace, name) = (text(job, "/metadata/namespace"), text(job, "/metadata/name"));
    let Some(set) = api.get(jobset::GROUP, "JobSet", namespace, name) else { return Vec::new() };
    let active =
        list(set, "/status/replicatedJobsStatus").filter(|s| status::number(s, "/active").unwrap_or(0) > 0);
    let why = |s: &Value| {
        let name = text(s, "/name");
        format!(
            "{path} RuntimePatches cannot be modified when the JobSet's ReplicatedJob {name} is still active"
        )
    };
    active.map(why).collect()
}

/// Environment variables that belong to the policy; those of MPI since 2.3.
fn reserved(version: Version, job: &Value, runtime: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    for (policy, names) in RESERVED {
        let applies = runtime.at(&format!("/spec/mlPolicy/{policy}")).is_some_and(|p| !p.is_null());
        if !applies || *policy == "mpi" && version < (2, 3) {
            continue;
        }
        let used = list(job, "/spec/trainer/env").map(|v| text(v, "/name"));
        let mut wrong: Vec<&str> = used.filter(|name| names.contains(name)).collect();
        wrong.sort_unstable();
        wrong.dedup();
        if !wrong.is_empty() {
            let value = job.at("/spec/trainer/env").cloned().unwrap_or(Value::Null);
            errors.push(format!(
                "spec.trainer.env: Invalid value: {value}: must not have reserved envs, invalid envs configured: [{}]",
                wrong.join(" ")
            ));
        }
    }
    errors
}

fn runtime(object: &Value, creation: bool) -> WebhookAnswer {
    let errors = replicated_jobs(object);
    if !errors.is_empty() {
        return denied(errors);
    }
    let name = text(object, "/metadata/name");
    let warning = format!(
        "ClusterTrainingRuntime \"{name}\" is deprecated and will be removed in a future release of Kubeflow Trainer. See \
         runtime deprecation policy: {POLICY}"
    );
    let deprecated = creation && is_deprecated(object);
    WebhookAnswer::Allowed { warnings: deprecated.then_some(warning).into_iter().collect(), patch: None }
}

/// Jobs that stand for a step have one replica and the step's container.
fn replicated_jobs(runtime: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    for (index, job) in list(runtime, "/spec/template/spec/replicatedJobs").enumerate() {
        let step = ancestor(job);
        let container = match step {
            "trainer" => "node",
            "dataset-initializer" | "model-initializer" => step,
            _ => continue,
        };
        let path = format!("spec.template.spec.replicatedJobs[{index}]");
        let replicas = status::number(job, "/replicas").unwrap_or(1);
        if replicas != 1 {
            errors.push(format!("{path}.replicas: Invalid value: {replicas}: always must be 1"));
        }
        if !list(job, CONTAINERS).any(|c| text(c, "/name") == container) {
            let value = job.at(CONTAINERS).cloned().unwrap_or(Value::Null);
            let why = format!("must contain the required container for the ancestor: {step}");
            errors.push(format!(
                "{path}.template.spec.template.spec.containers: Invalid value: {value}: {why}"
            ));
        }
    }
    errors
}
