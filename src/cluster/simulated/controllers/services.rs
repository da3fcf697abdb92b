//! Services and the pods behind them: selector, readiness, and target ports by number or name.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::super::api::Api;
use super::pods;
use crate::k8s::At as _;
use crate::k8s::text;

/// The selector of a Service; `None` when it has none, or an empty one.
pub(super) fn selector(service: &Value) -> Option<&Map<String, Value>> {
    service.at("/spec/selector").and_then(Value::as_object).filter(|s| !s.is_empty())
}

/// The ready pods that a service sends a port's traffic to; `None` when there is no such service.
///
/// A pod without a container port of the target's name is no endpoint, whatever its labels say.
pub(super) fn backends(api: &Api<'_>, namespace: &str, name: &str, port: i64) -> Option<Vec<Arc<Value>>> {
    let service = api.get("", "Service", namespace, name)?;
    let entry = entries(service).find(|p| p.get("port").and_then(Value::as_i64) == Some(port));
    let Some(selector) = selector(service) else { return Some(Vec::new()) };
    let serving = |pod: &&Arc<Value>| pods::active(pod) && pods::ready(pod) && labelled(pod, selector);
    let reachable = |pod: &&Arc<Value>| entry.is_none_or(|e| target(Some(pod), e).is_some());
    Some(api.list("", "Pod", namespace).filter(serving).filter(reachable).cloned().collect())
}

/// The pods behind a service, ready or not, that have all of its target ports.
pub(super) fn selected(api: &Api<'_>, service: &Value) -> Vec<Arc<Value>> {
    let Some(selector) = selector(service) else { return Vec::new() };
    let behind = |pod: &&Arc<Value>| pods::active(pod) && labelled(pod, selector);
    let complete = |pod: &&Arc<Value>| entries(service).all(|e| target(Some(pod), e).is_some());
    let pods = api.list("", "Pod", text(service, "/metadata/namespace"));
    pods.filter(behind).filter(complete).cloned().collect()
}

fn entries(service: &Value) -> impl Iterator<Item = &Value> {
    service.at("/spec/ports").and_then(Value::as_array).into_iter().flatten()
}

fn labelled(pod: &Value, selector: &Map<String, Value>) -> bool {
    let labels = pod.at("/metadata/labels");
    selector.iter().all(|(key, value)| labels.and_then(|l| l.get(key)) == Some(value))
}

/// The number of the port that a service's entry leads to in a pod; `None` when the pod has no port of that name.
pub(super) fn target(pod: Option<&Value>, entry: &Value) -> Option<Value> {
    let Some(name) = entry.get("targetPort").and_then(Value::as_str) else {
        return Some(
            entry.get("targetPort").or_else(|| entry.get("port")).cloned().unwrap_or_else(|| json!(0)),
        );
    };
    let containers = pod?.at("/spec/containers").and_then(Value::as_array);
    let mut ports = containers.into_iter().flatten().filter_map(|c| c.get("ports")?.as_array()).flatten();
    ports.find(|p| text(p, "/name") == name).and_then(|p| p.get("containerPort").cloned())
}
