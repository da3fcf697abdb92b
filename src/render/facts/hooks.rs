//! Hooks: when they run, what they run, and what they may do.

use serde_json::Value;

use super::access::{Grant, grants};
use super::images;
use crate::finding::ObjectName;
use crate::k8s;
use crate::render::{DeletePolicy, Hook, HookEvent, Render};

/// One hook.
#[derive(Clone, Debug)]
pub struct HookFacts {
    /// The hook's object.
    pub object: ObjectName,
    /// Path of its template.
    pub source: String,
    /// When it runs.
    pub events: Vec<HookEvent>,
    /// Its weight.
    pub weight: i64,
    /// When its object is deleted; the default policy when the chart gives none.
    pub delete_policies: Vec<DeletePolicy>,
    /// Images of its containers.
    pub images: Vec<String>,
    /// Commands and arguments of its containers, each joined by blanks.
    pub commands: Vec<String>,
    /// Names of the ConfigMaps it mounts or reads.
    pub config_maps: Vec<String>,
    /// The ServiceAccount of its pods; empty when it runs none.
    pub service_account: String,
    /// What RBAC lets that ServiceAccount do, as far as the render says.
    pub grants: Vec<Grant>,
    /// `activeDeadlineSeconds` of the Job, if any.
    pub deadline: Option<i64>,
    /// Whether some container may run as root: nothing forbids it.
    pub may_be_root: bool,
}

/// A hook's object, or all that its `List` holds.
pub(super) fn read(hook: &Hook, render: &Render) -> Vec<HookFacts> {
    hook.manifest.objects().iter().map(|object| facts(hook, object, render)).collect()
}

fn facts(hook: &Hook, object: &Value, render: &Render) -> HookFacts {
    let pod = pod_spec(object);
    let service_account = pod.map(service_account).unwrap_or_default();
    let name = k8s::object_name(object);
    HookFacts {
        source: hook.manifest.source.clone(),
        events: hook.events.clone(),
        weight: hook.weight,
        delete_policies: match hook.delete_policies.as_slice() {
            [] => vec![DeletePolicy::BeforeHookCreation],
            given => given.to_vec(),
        },
        images: images(object),
        commands: pod.map(commands).unwrap_or_default(),
        config_maps: pod.map(config_maps).unwrap_or_default(),
        grants: match service_account.as_str() {
            "" => Vec::new(),
            account => grants(render, account, &name.namespace),
        },
        service_account,
        deadline: object.pointer("/spec/activeDeadlineSeconds").and_then(Value::as_i64),
        may_be_root: pod.is_some_and(may_be_root),
        object: name,
    }
}

/// The pod spec of a Job, CronJob, Pod or workload.
fn pod_spec(object: &Value) -> Option<&Value> {
    let path = match k8s::text(object, "/kind") {
        "Pod" => "/spec",
        "CronJob" => "/spec/jobTemplate/spec/template/spec",
        _ => "/spec/template/spec",
    };
    object.pointer(path).filter(|spec| spec.get("containers").is_some())
}

fn service_account(pod: &Value) -> String {
    let named = pod.get("serviceAccountName").or_else(|| pod.get("serviceAccount")).and_then(Value::as_str);
    named.unwrap_or("default").to_owned()
}

fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["initContainers", "containers"].into_iter().filter_map(|key| pod.get(key)?.as_array());
    lists.flatten()
}

fn commands(pod: &Value) -> Vec<String> {
    let words = |container: &Value| {
        let lists = ["command", "args"].into_iter().filter_map(|key| container.get(key)?.as_array());
        lists.flatten().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
    };
    containers(pod).map(words).filter(|command| !command.is_empty()).collect()
}

fn config_maps(pod: &Value) -> Vec<String> {
    let volumes = pod.get("volumes").and_then(Value::as_array).into_iter().flatten();
    let mut names: Vec<String> = volumes.flat_map(volume_config_maps).collect();
    for container in containers(pod) {
        let sources = container.get("envFrom").and_then(Value::as_array).into_iter().flatten();
        names.extend(
            sources.filter_map(|source| Some(source.pointer("/configMapRef/name")?.as_str()?.to_owned())),
        );
    }
    names
}

fn volume_config_maps(volume: &Value) -> Vec<String> {
    let own = volume.pointer("/configMap/name");
    let projected = volume.pointer("/projected/sources").and_then(Value::as_array).into_iter().flatten();
    let projected = projected.filter_map(|source| source.pointer("/configMap/name"));
    own.into_iter().chain(projected).filter_map(Value::as_str).map(str::to_owned).collect()
}

fn may_be_root(pod: &Value) -> bool {
    let bound = |context: Option<&Value>| {
        let context = context?;
        let user = context.get("runAsUser").and_then(Value::as_i64).map(|user| user != 0);
        context.get("runAsNonRoot").and_then(Value::as_bool).filter(|flag| *flag).or(user)
    };
    let default = bound(pod.get("securityContext")).unwrap_or(false);
    containers(pod).any(|container| !bound(container.get("securityContext")).unwrap_or(default))
}
