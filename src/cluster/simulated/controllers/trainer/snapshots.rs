//! Snapshots of runtimes: since 2.3 an unfinished TrainJob keeps the runtime as it was when the manager first saw it.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::super::api::Api;
use super::super::super::memory::Memory;
use super::super::managers::Version;
use super::super::owner;
use super::{GROUP, runtime_of};
use crate::cluster::{Request, Resource};
use crate::k8s::text;
use crate::limits::Limits;
use crate::yaml;

/// Key of the runtime in the ConfigMap.
const KEY: &str = "runtime";

/// The runtime that a TrainJob is rendered from; the error is what the manager reports.
pub(super) fn runtime(
    api: &mut Api<'_>,
    version: Version,
    job: &Value,
    decoded: &Decoded,
) -> Result<Arc<Value>, String> {
    if version < (2, 3) {
        return live(api, job);
    }
    let (namespace, name) = (text(job, "/metadata/namespace").to_owned(), snapshot_name(job));
    if let Some(snapshot) = api.get("", "ConfigMap", &namespace, &name).cloned() {
        let doing = if runtime_of(job).0 == "TrainingRuntime" { "unable to get" } else { "getting" };
        return read(job, &snapshot, decoded)
            .map_err(|why| format!("{doing} runtime snapshot: invalid runtime snapshot: {why}"));
    }
    let runtime = live(api, job)?;
    take(api, job, &runtime)?;
    Ok(runtime)
}

fn snapshot_name(job: &Value) -> String {
    format!("{}-runtime-snapshot", text(job, "/metadata/name"))
}

fn live(api: &Api<'_>, job: &Value) -> Result<Arc<Value>, String> {
    let (kind, namespace, name) = runtime_of(job);
    if let Some(runtime) = api.get(GROUP, kind, namespace, name) {
        return Ok(api.shown(runtime));
    }
    let missing = format!("{kind}.{GROUP} \"{name}\" not found");
    Err(match kind {
        "TrainingRuntime" => format!("TrainingRuntime specified in TrainJob is not found: {missing}"),
        _ => format!("not found ClusterTrainingRuntime specified in TrainJob: {missing}"),
    })
}

/// The runtimes that snapshots hold.
pub(super) type Decoded = Memory<Result<Arc<Value>, String>>;

fn read(job: &Value, snapshot: &Arc<Value>, decoded: &Decoded) -> Result<Arc<Value>, String> {
    if !owner::controls(job, snapshot) {
        return Err("a snapshot configmap exists but is owned by another object".to_owned());
    }
    let Some(text_of) = snapshot.get("data").and_then(|d| d.get(KEY)).and_then(Value::as_str) else {
        return Err(format!("snapshot ConfigMap missing \"{KEY}\" data key"));
    };
    let decode = || yaml::to_json(text_of.as_bytes(), &Limits::default()).map(Arc::new);
    let runtime = decoded
        .of(&[snapshot], 0, || decode().map_err(|error| error.message))
        .map_err(|error| format!("unable to unmarshal the snapshot: {error}"))?;
    let (kind, _, name) = runtime_of(job);
    let (group, _) = crate::k8s::split_api_version(text(&runtime, "/apiVersion"));
    let found = (text(&runtime, "/metadata/name"), group, text(&runtime, "/kind"));
    if found != (name, GROUP, kind) {
        return Err(format!(
            "the snapshot refers to the wrong runtime: expecting a runtime with name, api group and kind of \"{name}\", \
             \"{GROUP}\", \"{kind}\" but found runtime with name, api group and kind of \"{}\", \"{}\", \"{}\"",
            found.0, found.1, found.2
        ));
    }
    Ok(runtime)
}

fn take(api: &mut Api<'_>, job: &Value, runtime: &Value) -> Result<(), String> {
    let namespace = text(job, "/metadata/namespace");
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {
            "name": snapshot_name(job), "namespace": namespace, "ownerReferences": [owner::reference(job)],
        },
        "data": {KEY: yaml::from_json(runtime)},
    });
    let resource = Resource::new("", "v1", "configmaps");
    let response = api.send(&Request::apply(&resource, namespace, "trainer", true, Arc::new(object)));
    if response.ok() {
        return Ok(());
    }
    Err(format!("creating runtime snapshot: applying runtime snapshot ConfigMap: {}", response.message()))
}
