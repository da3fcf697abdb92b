//! Managers whose behaviour is modelled: found by their image, in the version of its tag.

use std::sync::Arc;

use serde_json::Value;

use super::super::api::Api;
use super::deployments::{VERSION, WORKLOAD_VERSION};
use super::{certificates, owner, pods, trainer};
use crate::k8s::{self, text};

/// A modelled program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    /// The controller manager of Kubeflow Trainer.
    Trainer,
    /// The controller manager of JobSet.
    JobSet,
}

/// Major and minor version.
pub(super) type Version = (u32, u32);

/// A pod that runs a modelled program.
#[derive(Clone, Debug)]
pub(super) struct Manager {
    /// The program.
    pub(super) program: Program,
    /// Its version.
    pub(super) version: Version,
    /// The pod.
    pub(super) pod: Arc<Value>,
}

/// Why a pod does not get Ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// Its program ends at once, every time.
    Crash(String),
    /// Its program runs but never reports that it is ready.
    NotReady(String),
    /// It waits for something that another controller is about to do.
    Soon,
}

/// The newest version of a program that is modelled: the guess when neither tag nor label tells.
const NEWEST: &[(Program, Version)] = &[(Program::Trainer, (2, 3)), (Program::JobSet, (0, 12))];

/// What may keep the pods of modelled programs from getting Ready.
const OBSTACLES: &[fn(&Api<'_>, &Manager) -> Option<Obstacle>] = &[trainer::obstacle, certificates::obstacle];

/// The program that a pod runs, if it is a modelled one.
pub(super) fn of_pod(api: &Api<'_>, pod: &Arc<Value>) -> Option<Manager> {
    let (program, image) = found(pod)?;
    let version = stated(pod, image).or_else(|| of_workload(api, pod)).unwrap_or_else(|| newest(program));
    Some(Manager { program, version, pod: pod.clone() })
}

fn found(pod: &Value) -> Option<(Program, &str)> {
    pods::images(pod).find_map(|image| Some((program(pod, image)?, image)))
}

/// The running managers of a program, in order of namespace and name.
pub(super) fn running(api: &Api<'_>, program: Program) -> Vec<Manager> {
    let active = api.list("", "Pod", "").filter(|pod| pods::active(pod));
    active.filter_map(|pod| of_pod(api, pod)).filter(|manager| manager.program == program).collect()
}

/// What keeps a pod from getting Ready.
pub(super) fn obstacle(api: &Api<'_>, pod: &Arc<Value>) -> Option<Obstacle> {
    let manager = of_pod(api, pod)?;
    OBSTACLES.iter().find_map(|obstacle| obstacle(api, &manager))
}

fn program(pod: &Value, image: &str) -> Option<Program> {
    let repository = repository(image);
    let base = repository.rsplit('/').next().unwrap_or(repository);
    let label = |key: &str| k8s::label(pod, key).unwrap_or("");
    let named = |name: &str| {
        let managing = || matches!(label("app.kubernetes.io/component"), "manager" | "controller");
        label("app.kubernetes.io/name") == name && managing()
    };
    if base == "trainer-controller-manager" || named("kubeflow-trainer") {
        return Some(Program::Trainer);
    }
    (repository.ends_with("jobset/jobset") || named("jobset")).then_some(Program::JobSet)
}

/// The image without tag and digest.
fn repository(image: &str) -> &str {
    let image = image.split('@').next().unwrap_or(image);
    match image.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => repository,
        _ => image,
    }
}

/// What tag or label say; a tag such as `latest` says nothing.
fn stated(pod: &Value, image: &str) -> Option<Version> {
    let tag = image.strip_prefix(repository(image)).unwrap_or("").trim_start_matches(':');
    parse(tag).or_else(|| parse(k8s::label(pod, VERSION).unwrap_or_default()))
}

/// What the Deployment behind a pod said when it made the pod's ReplicaSet; says now, if nobody remembers.
fn of_workload(api: &Api<'_>, pod: &Value) -> Option<Version> {
    let namespace = text(pod, "/metadata/namespace");
    let behind = |object: &Value, kind: &str| {
        let owner = owner::controller(object).filter(|owner| text(owner, "/kind") == kind)?;
        api.get("apps", kind, namespace, text(owner, "/name")).cloned()
    };
    let set = behind(pod, "ReplicaSet")?;
    if let Some(version) = k8s::annotation(&set, WORKLOAD_VERSION) {
        return parse(version);
    }
    parse(k8s::label(&*behind(&set, "Deployment")?, VERSION)?)
}

fn newest(program: Program) -> Version {
    NEWEST.iter().find(|(known, _)| *known == program).map_or((0, 0), |(_, version)| *version)
}

fn parse(text: &str) -> Option<Version> {
    let mut parts = text.trim_start_matches('v').split('.');
    let version = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    parts.next().map(|_| version)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn images_name_programs_and_versions() {
        let table = [
            ("ghcr.io/kubeflow/trainer/trainer-controller-manager:v2.3.0", Some((Program::Trainer, (2, 3)))),
            ("mirror:5000/x/trainer-controller-manager:v2.1.0@sha256:00", Some((Program::Trainer, (2, 1)))),
            ("mirror:5000/x/trainer-controller-manager", Some((Program::Trainer, (2, 3)))),
            ("registry.k8s.io/jobset/jobset:v0.11.0", Some((Program::JobSet, (0, 11)))),
            ("docker.io/library/nginx:1.27.0", None),
        ];
        for (image, expected) in table {
            let pod = json!({"spec": {"containers": [{"image": image}]}});
            let said = found(&pod).map(|(program, image)| (program, stated(&pod, image)));
            let told = said.map(|(program, version)| (program, version.unwrap_or_else(|| newest(program))));
            assert_eq!(told, expected, "{image}");
        }
    }
}
