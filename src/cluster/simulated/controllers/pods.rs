//! Pods as their owners see them: made from templates, counted by readiness.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::api::Api;
use super::owner;
use super::status::holds;
use crate::cluster::{Request, Resource, Response};
use crate::k8s::At as _;
use crate::k8s::text;

/// The resource of pods.
pub(super) fn resource() -> Resource {
    Resource::new("", "v1", "pods")
}

/// A pod of a template.
pub(super) fn from_template(owner_object: &Value, template: &Value, name: &str) -> Value {
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": template.get("metadata").cloned().unwrap_or_else(|| json!({})),
        "spec": template.get("spec").cloned().unwrap_or_else(|| json!({})),
    });
    if !pod["metadata"].is_object() {
        pod["metadata"] = json!({});
    }
    pod["metadata"]["name"] = json!(name);
    pod["metadata"]["namespace"] = json!(text(owner_object, "/metadata/namespace"));
    pod["metadata"]["ownerReferences"] = json!([owner::reference(owner_object)]);
    pod
}

/// Creates a pod.
pub(super) fn create(api: &mut Api<'_>, pod: Value) -> Response {
    let namespace = text(&pod, "/metadata/namespace").to_owned();
    api.send(&Request::create(&resource(), &namespace, Arc::new(pod)))
}

/// Deletes a pod.
pub(super) fn delete(api: &mut Api<'_>, pod: &Value) -> Response {
    let (namespace, name) = (text(pod, "/metadata/namespace"), text(pod, "/metadata/name"));
    api.send(&Request::delete(&resource(), namespace, name, None))
}

/// The pods that an object controls, in order of their names.
pub(super) fn of(api: &Api<'_>, owner_object: &Value) -> Vec<Arc<Value>> {
    let mut pods = api.owned_by(owner_object, "", "Pod");
    pods.retain(|pod| owner::controls(owner_object, pod));
    pods
}

/// Whether a pod is Ready.
pub(super) fn ready(pod: &Value) -> bool {
    holds(pod, "Ready")
}

/// Whether a pod's containers have ended for good.
pub(super) fn ended(pod: &Value) -> bool {
    matches!(text(pod, "/status/phase"), "Succeeded" | "Failed")
}

/// Whether a pod counts for its owner: neither ended nor on its way out.
pub(super) fn active(pod: &Value) -> bool {
    !ended(pod) && !owner::terminating(pod)
}

/// The images of a pod's containers.
pub(super) fn images(pod: &Value) -> impl Iterator<Item = &str> {
    ["/spec/initContainers", "/spec/containers"]
        .into_iter()
        .filter_map(|pointer| pod.at(pointer)?.as_array())
        .flatten()
        .map(|container| text(container, "/image"))
}

/// A name for the next pod of an owner: the prefix with five letters that no pod of the namespace has.
pub(super) fn next_name(api: &Api<'_>, owner_object: &Value, prefix: &str) -> String {
    let (uid, namespace) = (text(owner_object, "/metadata/uid"), text(owner_object, "/metadata/namespace"));
    let moment = api.now();
    let mut attempt = 0_u32;
    loop {
        let letters = owner::suffix(&format!("{uid} {prefix} {moment} {attempt}"));
        let name = format!("{prefix}-{letters}");
        if api.get("", "Pod", namespace, &name).is_none() || attempt > 1000 {
            return name;
        }
        attempt += 1;
    }
}
