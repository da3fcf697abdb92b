//! The built-in starting population: what users have in a cluster when nobody hands in a state.
//!
//! For Kubeflow Trainer it is a namespace with jobs in every stage of life, on the chart's runtimes and on one of the
//! users' own, and an edited default runtime, whatever the runtimes are called; of every other kind that a
//! CustomResourceDefinition serves it is one object made from the schema.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::cluster::{ApiResource, PatchType, Unreachable};
use crate::finding::ObjectName;
use crate::k8s;
use crate::k8s::At as _;
use crate::upgrade::actors::Terminal;
use crate::upgrade::kubectl::{Apply, Kubectl};
use crate::upgrade::link::Link;
use crate::upgrade::specimen::{SPECIMEN, specimen};
use crate::upgrade::world::World;

/// Objects of the population are made for all versions of a schema; what one does not know is left out.
const LENIENT: Apply = Apply { server_side: false, force_conflicts: false, lenient: true };

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
    let objects: Vec<Arc<Value>> = world.objects()?.iter().map(|object| world.unfolded(object)).collect();
    world.speaks_for("user");
    let mut link = Link::new(world, "user", "kubectl-client-side-apply");
    let mut kubectl = Kubectl::new(&mut link);
    let namespace =
        Arc::new(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}));
    kubectl.apply(&[namespace], "", LENIENT);
    let with_jobs = KINDS.iter().all(|kind| serves(&served, TRAINER, kind));
    let modelled = |crd: &Value| with_jobs && MODELLED.contains(&k8s::text(crd, "/spec/group"));
    let specimens: Vec<Arc<Value>> = objects
        .iter()
        .filter(|crd| !modelled(crd))
        .filter_map(|crd| specimen(crd, NAMESPACE))
        .map(Arc::new)
        .collect();
    if with_jobs {
        trainer(&mut kubectl, &objects);
    }
    kubectl.apply(&specimens, NAMESPACE, LENIENT);
    Ok(kubectl.finish())
}

/// Kinds without which there is no Trainer to give jobs to.
const KINDS: &[&str] = &["TrainJob", "TrainingRuntime", "ClusterTrainingRuntime"];

/// Groups whose objects come from the jobs.
const MODELLED: &[&str] = &[TRAINER, "jobset.x-k8s.io"];

fn serves(served: &[ApiResource], group: &str, kind: &str) -> bool {
    served.iter().any(|api| {
        api.resource.group == group
            && api.kind == kind
            && format!("{group}/{}", api.resource.version) == TRAINER_VERSION
    })
}

/// The chart's runtimes that jobs use.
struct Cast {
    /// What most jobs run on.
    main: String,
    /// Runtimes of policies that treat a suspended job differently, with the word for it.
    suspended: Vec<(&'static str, String)>,
    /// The runtime that a user has edited.
    edited: Option<ObjectName>,
}

/// Policies whose suspended jobs fare differently when a runtime changes.
const POLICIES: &[&str] = &["torch", "jax", "mpi"];

impl Cast {
    /// Chooses among the runtimes that are there, whatever they are called.
    fn of(runtimes: &[&Arc<Value>]) -> Option<Self> {
        let with = |policy: &str| {
            let found =
                runtimes.iter().find(|runtime| runtime.at(&format!("/spec/mlPolicy/{policy}")).is_some());
            found.map(|runtime| k8s::text(runtime, "/metadata/name").to_owned())
        };
        let first = k8s::text(runtimes.first()?, "/metadata/name").to_owned();
        let main = with("torch").unwrap_or_else(|| first.clone());
        let mut suspended: Vec<(&'static str, String)> =
            POLICIES.iter().filter_map(|policy| Some((*policy, with(policy)?))).collect();
        if suspended.is_empty() {
            suspended.push(("any", main.clone()));
        }
        let used = |name: &str| name == main || suspended.iter().any(|(_, runtime)| runtime == name);
        let names: Vec<ObjectName> = runtimes.iter().map(|runtime| k8s::object_name(runtime)).collect();
        let unused: Vec<&ObjectName> = names.iter().filter(|name| !used(&name.name)).collect();
        // An edit is best seen on a runtime that nothing else holds.
        let edited = unused.iter().find(|name| name.name.contains("xgboost")).copied();
        let edited = edited.or(unused.last().copied()).or(names.last()).cloned();
        Some(Self { main, suspended, edited })
    }
}

/// Jobs, a runtime of the users' own and an edit, over whatever runtimes the chart brought.
fn trainer(kubectl: &mut Kubectl<'_, '_>, objects: &[Arc<Value>]) {
    let of_chart: Vec<&Arc<Value>> =
        objects.iter().filter(|object| k8s::text(object, "/kind") == "ClusterTrainingRuntime").collect();
    let own: Vec<Arc<Value>> = if of_chart.is_empty() {
        OWN.iter().map(|(name, policy)| Arc::new(cluster_runtime(name, policy))).collect()
    } else {
        Vec::new()
    };
    kubectl.apply(&own, "", LENIENT);
    let runtimes: Vec<&Arc<Value>> = of_chart.into_iter().chain(&own).collect();
    let Some(cast) = Cast::of(&runtimes) else { return };
    kubectl.apply(&[Arc::new(custom_runtime())], NAMESPACE, LENIENT);
    let jobs: Vec<Arc<Value>> = jobs(&cast).into_iter().map(Arc::new).collect();
    kubectl.apply(&jobs, NAMESPACE, LENIENT);
    if let Some(edited) = cast.edited.filter(|_| own.is_empty()) {
        kubectl.patch(&edited, "", PatchType::Merge, &json!({"spec": {"mlPolicy": {"numNodes": 5}}}));
    }
}

/// Runtimes that users apply themselves when the chart brings none.
const OWN: &[(&str, &str)] =
    &[("torch-distributed", "torch"), ("jax-distributed", "jax"), ("deepspeed-distributed", "mpi")];

/// Jobs in every stage of life.
fn jobs(cast: &Cast) -> Vec<Value> {
    let mut jobs = vec![job("running", &cluster(&cast.main), "train", 1, false)];
    let suspended = cast.suspended.iter();
    jobs.extend(
        suspended
            .map(|(policy, runtime)| job(&format!("susp-{policy}"), &cluster(runtime), "train", 1, true)),
    );
    jobs.extend([
        job("done", &cluster(&cast.main), "true", 1, false),
        job("failed", &custom(), "false", 1, false),
        job("failed-nojs", &custom(), "false", 1, false),
        job("run-custom", &custom(), "train", 2, false),
    ]);
    jobs
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

/// Kinds of the population that are worth a count.
const COUNTED: &[&str] = &["ClusterTrainingRuntime", "JobSet", "Pod", "TrainJob", "TrainingRuntime"];

/// What the population holds, in words: the users' objects by kind, and which of them are made from schemas only.
#[must_use]
pub fn summary(alive: &[ObjectName]) -> String {
    let (mut by_kind, mut made) = (BTreeMap::new(), BTreeSet::new());
    let users = |name: &&ObjectName| {
        name.namespace == NAMESPACE || name.name == SPECIMEN || name.kind == "ClusterTrainingRuntime"
    };
    for name in alive.iter().filter(users) {
        if name.name == SPECIMEN {
            made.insert(name.kind.as_str());
        } else if COUNTED.contains(&name.kind.as_str()) {
            *by_kind.entry(name.kind.as_str()).or_insert(0_usize) += 1;
        }
    }
    let mut parts: Vec<String> = by_kind.into_iter().map(|(kind, n)| format!("{kind} ×{n}")).collect();
    if !made.is_empty() {
        let kinds: Vec<&str> = made.into_iter().collect();
        parts.push(format!("one object each of {}, made from the schema alone", kinds.join(", ")));
    }
    if parts.is_empty() { "no custom objects".to_owned() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runtime(name: &str, policy: &str) -> Arc<Value> {
        Arc::new(cluster_runtime(name, policy))
    }

    #[test]
    fn jobs_use_the_runtimes_that_are_there() {
        let there = [runtime("our-jax", "jax"), runtime("our-other", "plain"), runtime("our-torch", "torch")];
        let cast = Cast::of(&there.iter().collect::<Vec<_>>()).expect("runtimes");
        assert_eq!(cast.main, "our-torch");
        assert_eq!(cast.edited.as_ref().map(|name| name.name.as_str()), Some("our-other"));
        let used: Vec<String> = jobs(&cast)
            .iter()
            .map(|job| {
                format!("{} {}", k8s::text(job, "/metadata/name"), k8s::text(job, "/spec/runtimeRef/name"))
            })
            .collect();
        assert_eq!(
            used,
            [
                "running our-torch",
                "susp-torch our-torch",
                "susp-jax our-jax",
                "done our-torch",
                "failed custom",
                "failed-nojs custom",
                "run-custom custom"
            ]
        );
    }

    #[test]
    fn unknown_policies_still_get_every_kind_of_job() {
        let there = [runtime("alone", "plain")];
        let cast = Cast::of(&there.iter().collect::<Vec<_>>()).expect("runtimes");
        assert_eq!((cast.main.as_str(), cast.suspended.len()), ("alone", 1));
        assert_eq!(cast.edited.map(|name| name.name), Some("alone".to_owned()));
        assert!(Cast::of(&[]).is_none());
    }

    #[test]
    fn the_summary_names_what_is_only_made_from_a_schema() {
        let name = |kind: &str, namespace: &str, name: &str| ObjectName {
            kind: kind.into(),
            namespace: namespace.into(),
            name: name.into(),
        };
        let alive = [
            name("TrainJob", NAMESPACE, "a"),
            name("TrainJob", NAMESPACE, "b"),
            name("Widget", "", SPECIMEN),
        ];
        assert_eq!(summary(&alive), "TrainJob ×2, one object each of Widget, made from the schema alone");
        assert_eq!(summary(&[]), "no custom objects");
    }
}
