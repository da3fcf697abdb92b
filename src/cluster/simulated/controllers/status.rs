//! Status of objects: conditions that keep their times, and writes only where something changed.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::super::api::Api;
use super::super::clock;
use crate::k8s::At as _;
use crate::k8s::{Gvk, catalogue, text};

/// One condition to be set.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    /// Its type.
    pub(super) kind: &'static str,
    /// Whether it holds.
    pub(super) holds: bool,
    /// Reason.
    pub(super) reason: String,
    /// Message.
    pub(super) message: String,
}

impl Condition {
    /// A condition.
    pub(super) fn new(kind: &'static str, holds: bool, reason: &str, message: impl Into<String>) -> Self {
        Self { kind, holds, reason: reason.to_owned(), message: message.into() }
    }
}

/// Whether an object's condition is `True`.
pub(super) fn holds(object: &Value, kind: &str) -> bool {
    crate::k8s::held(object, kind).is_some()
}

/// A condition of an object's status.
pub(super) fn find<'v>(object: &'v Value, kind: &str) -> Option<&'v Value> {
    crate::k8s::condition(object, kind)
}

/// Conditions as a list, with the times of those that stay as they are.
pub(super) fn conditions(object: &Value, wanted: &[Condition], now: f64) -> Value {
    let stamp = clock::timestamp(now);
    let list = wanted.iter().map(|c| {
        let status = if c.holds { "True" } else { "False" };
        let since = find(object, c.kind).filter(|old| text(old, "/status") == status);
        let since = since.map(|old| text(old, "/lastTransitionTime")).filter(|s| !s.is_empty());
        let mut condition = Map::new();
        condition.insert("type".to_owned(), json!(c.kind));
        condition.insert("status".to_owned(), json!(status));
        condition.insert("lastTransitionTime".to_owned(), json!(since.unwrap_or(&stamp)));
        if !c.reason.is_empty() {
            condition.insert("reason".to_owned(), json!(c.reason));
        }
        if !c.message.is_empty() {
            condition.insert("message".to_owned(), json!(c.message));
        }
        Value::Object(condition)
    });
    Value::Array(list.collect())
}

/// Writes a status if it differs from the stored one; whether the stored one is now as wanted.
pub(super) fn write(api: &mut Api<'_>, object: &Value, status: Value) -> bool {
    if object.get("status") == Some(&status) {
        return true;
    }
    let changed = match catalogue::by_kind(&Gvk::of(object).group, text(object, "/kind")) {
        Some(_) => outline(object, &status),
        None => {
            let mut changed = object.clone();
            changed["status"] = status;
            changed
        }
    };
    api.update(Arc::new(changed), "status").is_some_and(|response| response.ok())
}

/// What says which object a status is for. Real controllers send the whole object; of a built-in one the server takes the
/// status alone, so a copy of the rest would be for nothing.
fn outline(object: &Value, status: &Value) -> Value {
    let mut metadata = Map::new();
    for field in ["name", "namespace", "resourceVersion", "uid"] {
        let value = object.get("metadata").and_then(|metadata| metadata.get(field));
        metadata.extend(value.map(|value| (field.to_owned(), value.clone())));
    }
    json!({
        "apiVersion": text(object, "/apiVersion"), "kind": text(object, "/kind"), "metadata": metadata, "status": status,
    })
}

/// A number in an object.
pub(super) fn number(object: &Value, pointer: &str) -> Option<i64> {
    object.at(pointer).and_then(Value::as_i64)
}
