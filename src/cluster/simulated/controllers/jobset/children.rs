//! What a JobSet creates: its headless Service, and Jobs with the labels that tell their place.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use sha1::{Digest as _, Sha1};

use super::super::super::api::Api;
use super::super::owner;
use super::super::status::{holds, number};
use super::{jobs, own, patch, replicas, replicated, suspended, tally};
use crate::cluster::{Request, Resource};
use crate::k8s::At as _;
use crate::k8s::text;

/// The fields of a pod template that may change while a Job is suspended.
const MUTABLE: [&str; 3] = ["nodeSelector", "tolerations", "schedulingGates"];

/// Name of the headless Service of a set.
pub(super) fn subdomain(set: &Value) -> &str {
    match text(set, "/spec/network/subdomain") {
        "" => text(set, "/metadata/name"),
        subdomain => subdomain,
    }
}

fn hostnames(set: &Value) -> bool {
    set.at("/spec/network/enableDNSHostnames").and_then(Value::as_bool).unwrap_or(false)
}

/// Creates the headless Service of a set.
pub(super) fn service(api: &mut Api<'_>, set: &Value) {
    let namespace = text(set, "/metadata/namespace");
    if !hostnames(set) || api.get("", "Service", namespace, subdomain(set)).is_some() {
        return;
    }
    let publish = set.at("/spec/network/publishNotReadyAddresses").and_then(Value::as_bool).unwrap_or(true);
    let service = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {
            "name": subdomain(set), "namespace": namespace, "ownerReferences": [owner::reference(set)],
        },
        "spec": {
            "clusterIP": "None", "publishNotReadyAddresses": publish,
            "selector": {"jobset.sigs.k8s.io/jobset-name": text(set, "/metadata/name")},
        },
    });
    api.send(&Request::create(&Resource::new("", "v1", "services"), namespace, Arc::new(service)));
}

/// Whether the replicated Jobs that this one depends on have come far enough.
pub(super) fn dependencies_met(api: &Api<'_>, set: &Value, job: &Value) -> bool {
    let jobs = own(api, set);
    let dependencies = job.get("dependsOn").and_then(Value::as_array);
    dependencies.into_iter().flatten().all(|dependency| {
        let name = text(dependency, "/name");
        let counts = tally(&jobs, name);
        let wanted = replicated(set).find(|r| text(r, "/name") == name).map_or(1, replicas);
        let succeeded = number(&counts, "/succeeded").unwrap_or(0);
        match text(dependency, "/status") {
            "Ready" => succeeded + number(&counts, "/ready").unwrap_or(0) >= wanted,
            _ => succeeded >= wanted,
        }
    })
}

/// Creates the Jobs of one replicated Job that are missing; false when one was refused.
pub(super) fn create(api: &mut Api<'_>, set: &Value, job: &Value, position: usize) -> bool {
    let namespace = text(set, "/metadata/namespace").to_owned();
    let mut accepted = true;
    for index in 0..replicas(job) {
        let name = format!("{}-{}-{index}", text(set, "/metadata/name"), text(job, "/name"));
        if api.get("batch", "Job", &namespace, &name).is_none() {
            let object = construct(set, job, &name, index, position);
            accepted &= api.send(&Request::create(&jobs(), &namespace, Arc::new(object))).ok();
        }
    }
    accepted
}

fn construct(set: &Value, job: &Value, name: &str, index: i64, position: usize) -> Value {
    let template = job.get("template").cloned().unwrap_or_else(|| json!({}));
    let mut spec = template.get("spec").cloned().unwrap_or_else(|| json!({}));
    spec["suspend"] = json!(suspended(set));
    let place = place(set, job, name, index, position);
    extend(&mut spec["template"]["metadata"], &place);
    if hostnames(set) {
        spec["template"]["spec"]["subdomain"] = json!(subdomain(set));
    }
    let mut metadata = template.get("metadata").cloned().unwrap_or_else(|| json!({}));
    extend(&mut metadata, &place);
    metadata["name"] = json!(name);
    metadata["namespace"] = json!(text(set, "/metadata/namespace"));
    metadata["ownerReferences"] = json!([owner::reference(set)]);
    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec})
}

/// The labels, which are annotations as well, that tell where in its set a Job stands.
fn place(set: &Value, job: &Value, name: &str, index: i64, position: usize) -> Map<String, Value> {
    let namespace = text(set, "/metadata/namespace");
    let key: String =
        Sha1::digest(format!("{namespace}/{name}")).iter().map(|b| format!("{b:02x}")).collect();
    let group = match text(job, "/groupName") {
        "" => "default",
        group => group,
    };
    let in_group =
        |r: &&Value| group == text(r, "/groupName") || text(r, "/groupName").is_empty() && group == "default";
    let before: i64 = replicated(set).take(position).map(replicas).sum();
    let before_in_group: i64 = replicated(set).take(position).filter(in_group).map(replicas).sum();
    let pairs = [
        ("jobset-name", text(set, "/metadata/name").to_owned()),
        ("jobset-uid", text(set, "/metadata/uid").to_owned()),
        ("replicatedjob-name", text(job, "/name").to_owned()),
        ("restart-attempt", number(set, "/status/restarts").unwrap_or(0).to_string()),
        ("replicatedjob-replicas", replicas(job).to_string()),
        ("global-replicas", replicated(set).map(replicas).sum::<i64>().to_string()),
        ("job-index", index.to_string()),
        ("job-key", key),
        ("job-global-index", (before + index).to_string()),
        ("group-name", group.to_owned()),
        ("group-replicas", replicated(set).filter(in_group).map(replicas).sum::<i64>().to_string()),
        ("job-group-index", (before_in_group + index).to_string()),
    ];
    pairs.into_iter().map(|(key, value)| (format!("jobset.sigs.k8s.io/{key}"), json!(value))).collect()
}

fn extend(metadata: &mut Value, place: &Map<String, Value>) {
    if !metadata.is_object() {
        *metadata = json!({});
    }
    for field in ["labels", "annotations"] {
        if !metadata[field].is_object() {
            metadata[field] = json!({});
        }
        if let Some(map) = metadata[field].as_object_mut() {
            map.extend(place.clone());
        }
    }
}

/// Suspends or resumes a Job as its set says; a Job that resumes takes over what may change of its pods.
pub(super) fn follow(api: &mut Api<'_>, set: &Value, job: &Value) {
    let stopped = job.at("/spec/suspend").and_then(Value::as_bool).unwrap_or(false);
    if stopped == suspended(set) || holds(job, "Complete") || holds(job, "Failed") {
        return;
    }
    let mut change = json!({"spec": {"suspend": suspended(set)}});
    let name = text(job, "/metadata/labels/jobset.sigs.k8s.io~1replicatedjob-name");
    let source = replicated(set).find(|r| text(r, "/name") == name);
    if let Some(pods) = source.and_then(|r| r.at("/template/spec/template/spec")).filter(|_| stopped) {
        for field in MUTABLE {
            let wanted = pods.get(field).cloned().unwrap_or(Value::Null);
            let current = job.at(&format!("/spec/template/spec/{field}")).cloned().unwrap_or(Value::Null);
            if wanted != current {
                change["spec"]["template"]["spec"][field] = wanted;
            }
        }
    }
    patch(api, job, change);
}
