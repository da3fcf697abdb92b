//! The built-in starting population: what users have in a cluster when nobody hands in a state.
//!
//! For Kubeflow Trainer it is a namespace with jobs in every stage of life, on the chart's runtimes and on one of the
//! users' own, and an edited default runtime; for any other chart it is one object of every kind that the chart's
//! CustomResourceDefinitions serve.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::cluster::{ApiResource, PatchType, Unreachable};
use crate::finding::ObjectName;
use crate::k8s;
use crate::upgrade::actors::Terminal;
use crate::upgrade::kubectl::{Apply, Kubectl};
use crate::upgrade::link::Link;
use crate::upgrade::specimen::specimen;
use crate::upgrade::world::World;

/// Namespace of the population.
pub const NAMESPACE: &str = "team-a";

const TRAINER: &str = "trainer.kubeflow.org";
const TRAINER_VERSION: &str = "trainer.kubeflow.org/v1alpha1";

/// Brings the population to a cluster on which the old chart is installed.
///
/// # Errors
/// When the server can't be reached.
pub fn populate(world: &mut dyn World) -> Result<Terminal, Unreachable> {
    let served = world.discover()?;
    let objects = world.objects()?;
    world.speaks_for("user");
    let mut link = Link::new(world, "user", "kubectl-client-side-apply");
    let mut kubectl = Kubectl::new(&mut link);
    let namespace =
        Arc::new(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}));
    kubectl.apply(&[namespace], "", Apply::default());
    if serves(&served, TRAINER, "TrainJob") {
        trainer(&mut kubectl, &objects);
    } else {
        let specimens: Vec<Arc<Value>> =
            objects.iter().filter_map(|crd| specimen(crd, NAMESPACE)).map(Arc::new).collect();
        kubectl.apply(&specimens, NAMESPACE, Apply::default());
    }
    Ok(kubectl.finish())
}

fn serves(served: &[ApiResource], group: &str, kind: &str) -> bool {
    served.iter().any(|api| api.resource.group == group && api.kind == kind)
}

/// Jobs, a runtime of the users' own and an edit, over whatever runtimes the chart brought.
fn trainer(kubectl: &mut Kubectl<'_, '_>, objects: &[Arc<Value>]) {
    let runtimes: Vec<&Arc<Value>> =
        objects.iter().filter(|object| k8s::text(object, "/kind") == "ClusterTrainingRuntime").collect();
    if runtimes.is_empty() {
        let own =
            [("torch-distributed", "torch"), ("jax-distributed", "jax"), ("deepspeed-distributed", "mpi")];
        let own: Vec<Arc<Value>> =
            own.iter().map(|(name, policy)| Arc::new(cluster_runtime(name, policy))).collect();
        kubectl.apply(&own, "", Apply::default());
    }
    let named = |policy: &str, fallback: &str| {
        let found =
            runtimes.iter().find(|runtime| runtime.pointer(&format!("/spec/mlPolicy/{policy}")).is_some());
        found.map_or(fallback.to_owned(), |runtime| k8s::text(runtime, "/metadata/name").to_owned())
    };
    let (torch, jax, mpi) = (
        named("torch", "torch-distributed"),
        named("jax", "jax-distributed"),
        named("mpi", "deepspeed-distributed"),
    );
    let jobs = [
        job("running", &cluster(&torch), "train", 1, false),
        job("susp-torch", &cluster(&torch), "train", 1, true),
        job("susp-jax", &cluster(&jax), "train", 1, true),
        job("susp-mpi", &cluster(&mpi), "train", 1, true),
        job("done", &cluster(&torch), "true", 1, false),
        job("failed", &custom(), "false", 1, false),
        job("failed-nojs", &custom(), "false", 1, false),
        job("run-custom", &custom(), "train", 2, false),
    ];
    kubectl.apply(&[Arc::new(custom_runtime())], NAMESPACE, Apply::default());
    kubectl.apply(&jobs.map(Arc::new), NAMESPACE, Apply::default());
    if let Some(unused) = runtimes
        .iter()
        .map(|runtime| k8s::object_name(runtime))
        .find(|name| is_unused(&name.name, &[&torch, &jax, &mpi]))
    {
        kubectl.patch(&unused, PatchType::Merge, json!({"spec": {"mlPolicy": {"numNodes": 5}}}));
    }
}

/// The runtime that the user has edited: xgboost's where there is one, else the last that no job uses.
fn is_unused(name: &str, used: &[&String]) -> bool {
    name.contains("xgboost") && !used.iter().any(|other| *other == name)
}

fn cluster(name: &str) -> Value {
    json!({"name": name})
}

fn custom() -> Value {
    json!({"kind": "TrainingRuntime", "name": "custom"})
}

fn job(name: &str, runtime: &Value, command: &str, nodes: u32, suspend: bool) -> Value {
    let mut spec = json!({"runtimeRef": runtime, "trainer": {"command": [command], "numNodes": nodes}});
    if suspend && let Some(spec) = spec.as_object_mut() {
        spec.insert("suspend".to_owned(), Value::Bool(true));
    }
    json!({"apiVersion": TRAINER_VERSION, "kind": "TrainJob", "metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec})
}

fn node_job(image: &str) -> Value {
    json!({
        "name": "node",
        "template": {
            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
            "spec": {"backoffLimit": 0, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "node", "image": image}]}}},
        },
    })
}

fn custom_runtime() -> Value {
    json!({
        "apiVersion": TRAINER_VERSION,
        "kind": "TrainingRuntime",
        "metadata": {"name": "custom", "namespace": NAMESPACE},
        "spec": {"mlPolicy": {"numNodes": 1, "torch": {}}, "template": {"spec": {"replicatedJobs": [node_job("example/custom:1")]}}},
    })
}

fn cluster_runtime(name: &str, policy: &str) -> Value {
    let jobs = match policy {
        "mpi" => {
            let mut launcher = node_job("example/mpi:1");
            if let Some(map) = launcher.as_object_mut() {
                map.insert("name".to_owned(), Value::from("launcher"));
            }
            json!([launcher, node_job("example/mpi:1")])
        }
        _ => json!([node_job("example/training:1")]),
    };
    json!({
        "apiVersion": TRAINER_VERSION,
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": name},
        "spec": {"mlPolicy": {"numNodes": 1, policy: {}}, "template": {"spec": {"replicatedJobs": jobs}}},
    })
}

/// Objects of the population that are alive in a look at the cluster.
#[must_use]
pub fn census(objects: &[Arc<Value>]) -> Vec<ObjectName> {
    let mut names: Vec<ObjectName> = objects
        .iter()
        .map(|object| k8s::object_name(object))
        .filter(|name| name.namespace == NAMESPACE)
        .collect();
    names.sort();
    names
}
