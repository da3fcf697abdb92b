//! Services and the pods behind them: selector, readiness, and target ports by number or name.

use std::sync::Arc;

use serde_json::Value;

use super::super::api::Api;
use super::{owner, pods};
use crate::k8s::text;

/// The ready pods that a service sends a port's traffic to; `None` when there is no such service.
///
/// A pod without a container port of the target's name is no endpoint, whatever its labels say.
pub(super) fn backends(api: &Api<'_>, namespace: &str, name: &str, port: i64) -> Option<Vec<Arc<Value>>> {
    let service = api.get("", "Service", namespace, name)?;
    let ports = service.pointer("/spec/ports").and_then(Value::as_array);
    let entry = ports.into_iter().flatten().find(|p| p.get("port").and_then(Value::as_i64) == Some(port));
    let Some(selector) =
        service.pointer("/spec/selector").and_then(Value::as_object).filter(|s| !s.is_empty())
    else {
        return Some(Vec::new());
    };
    let selected = |pod: &&Arc<Value>| {
        let labels = pod.pointer("/metadata/labels");
        selector.iter().all(|(key, value)| labels.and_then(|l| l.get(key)) == Some(value))
    };
    let serving = |pod: &&Arc<Value>| pods::ready(pod) && pods::active(pod) && !owner::terminating(pod);
    let reachable = |pod: &&Arc<Value>| entry.is_none_or(|e| has_port(pod, e));
    Some(api.list("", "Pod", namespace).filter(selected).filter(serving).filter(reachable).cloned().collect())
}

fn has_port(pod: &Value, entry: &Value) -> bool {
    let Some(name) = entry.get("targetPort").and_then(Value::as_str) else { return true };
    let containers = pod.pointer("/spec/containers").and_then(Value::as_array);
    let mut ports = containers.into_iter().flatten().filter_map(|c| c.get("ports")?.as_array()).flatten();
    ports.any(|p| text(p, "/name") == name)
}
