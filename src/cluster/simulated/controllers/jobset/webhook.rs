//! JobSet's webhooks: defaults on creation, and what may not change afterwards.
//!
//! Source of behaviour: `sigs.k8s.io/jobset` 0.12.0, `pkg/webhooks/jobset_webhook.go`.

use serde_json::{Map, Value, json};

use super::super::super::webhooks::{WebhookAnswer, WebhookCall};
use super::super::managers::Version;
use super::replicated;
use crate::k8s::At as _;
use crate::k8s::text;

/// What may change of a pod template while a set is suspended.
const MUTABLE: [&str; 5] = [
    "/metadata/annotations",
    "/metadata/labels",
    "/spec/nodeSelector",
    "/spec/tolerations",
    "/spec/schedulingGates",
];

/// Answers one call.
pub(in super::super) fn answer(version: Version, call: &WebhookCall) -> WebhookAnswer {
    if call.resource.plural != "jobsets" || !call.subresource.is_empty() {
        return WebhookAnswer::allowed();
    }
    match (&call.object, &call.old) {
        (Some(object), None) if call.mutating => defaults(object),
        (Some(object), None) => first_depends(object),
        (Some(object), Some(old)) if !call.mutating => unchanged(version, object, old),
        _ => WebhookAnswer::allowed(),
    }
}

fn missing(object: &Value, pointer: &str) -> bool {
    object.at(pointer).is_none_or(Value::is_null)
}

fn defaults(set: &Value) -> WebhookAnswer {
    let mut operations = Vec::new();
    let mut add = |path: &str, value: Value| {
        if missing(set, path) {
            operations.push(json!({"op": "add", "path": path, "value": value}));
        }
    };
    add("/spec/successPolicy", json!({"operator": "All"}));
    add("/spec/startupPolicy", json!({"startupPolicyOrder": "AnyOrder"}));
    for index in 0..replicated(set).count() {
        let base = format!("/spec/replicatedJobs/{index}/template/spec");
        if !missing(set, &base) {
            add(&format!("{base}/completionMode"), json!("Indexed"));
        }
        if !missing(set, &format!("{base}/template/spec")) {
            add(&format!("{base}/template/spec/restartPolicy"), json!("OnFailure"));
        }
    }
    if missing(set, "/spec/network") {
        add("/spec/network", json!({"enableDNSHostnames": true, "publishNotReadyAddresses": true}));
    } else {
        add("/spec/network/enableDNSHostnames", json!(true));
        add("/spec/network/publishNotReadyAddresses", json!(true));
    }
    let patch = (!operations.is_empty()).then_some(Value::Array(operations));
    WebhookAnswer::Allowed { warnings: Vec::new(), patch }
}

fn first_depends(set: &Value) -> WebhookAnswer {
    let first = replicated(set).next();
    if first.is_some_and(|job| !missing(job, "/dependsOn")) {
        return WebhookAnswer::Denied("DependsOn can't be set for the first ReplicatedJob".to_owned());
    }
    WebhookAnswer::allowed()
}

fn unchanged(version: Version, new: &Value, old: &Value) -> WebhookAnswer {
    let suspended = |set: &Value| set.at("/spec/suspend").and_then(Value::as_bool).unwrap_or(false);
    let lenient = suspended(new) || suspended(old);
    let find = |name: &str| replicated(old).find(|job| text(job, "/name") == name);
    let masked: Vec<Value> = replicated(new)
        .map(|job| match find(text(job, "/name")).filter(|_| lenient) {
            Some(before) => mask(job, before),
            None => job.clone(),
        })
        .collect();
    let before: Vec<Value> = replicated(old).cloned().collect();
    if normal(&Value::Array(masked.clone())) == normal(&Value::Array(before)) {
        return WebhookAnswer::allowed();
    }
    let why = format!("spec.replicatedJobs: Invalid value: {}: field is immutable", Value::Array(masked));
    if version < (0, 12) {
        return WebhookAnswer::Denied(why);
    }
    let name = text(new, "/metadata/name");
    WebhookAnswer::Denied(format!("JobSet.jobset.x-k8s.io \"{name}\" is invalid: {why}"))
}

/// The replicated Job with the old values where a suspended set may change.
fn mask(job: &Value, before: &Value) -> Value {
    let mut masked = job.clone();
    for pointer in MUTABLE {
        let path = format!("/template/spec/template{pointer}");
        let (parent, field) = path.rsplit_once('/').unwrap_or(("", &path));
        let old = before.at(&path).cloned();
        if let Some(map) = masked.pointer_mut(parent).and_then(Value::as_object_mut) {
            match old {
                Some(value) => map.insert(field.to_owned(), value),
                None => map.remove(field),
            };
        }
    }
    masked
}

/// A value without what Go's structs can't tell from absence: nulls and empty maps, lists and texts.
pub(in super::super) fn normal(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept =
                map.iter().map(|(key, inner)| (key.clone(), normal(inner))).filter(|(_, inner)| !void(inner));
            Value::Object(kept.collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.iter().map(normal).collect()),
        other => other.clone(),
    }
}

fn void(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(image: &str, pool: &str, suspend: bool) -> Value {
        json!({"metadata": {"name": "s"}, "spec": {"suspend": suspend, "replicatedJobs": [{
            "name": "node",
            "template": {"metadata": {}, "spec": {"template": {"spec": {
                "containers": [{"name": "node", "image": image}], "nodeSelector": {"pool": pool},
            }}}},
        }]}})
    }

    #[test]
    fn only_placement_may_change_and_only_while_suspended() {
        let denied =
            |new: &Value, old: &Value| matches!(unchanged((0, 12), new, old), WebhookAnswer::Denied(_));
        assert!(!denied(&set("a", "x", true), &set("a", "y", true)));
        assert!(denied(&set("a", "x", false), &set("a", "y", false)));
        assert!(denied(&set("b", "x", true), &set("a", "x", true)));
        assert!(!denied(&set("a", "x", false), &set("a", "x", true)));
    }
}
