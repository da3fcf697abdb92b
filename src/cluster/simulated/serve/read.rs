//! GET of one object and of collections.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Answer;
use crate::cluster::simulated::Simulated;
use crate::cluster::simulated::discovery::Target;
use crate::cluster::simulated::status::Refusal;
use crate::cluster::{Request, Response};
use crate::k8s::selector::Selector;
use crate::k8s::text;

pub(super) fn ok(status: u16, body: Arc<Value>) -> Answer {
    Ok(Response { status, body, warnings: Vec::new() })
}

impl Simulated {
    pub(super) fn serve_get(&self, target: &Target, request: &Request) -> Answer {
        ok(200, in_version(target, &self.existing(target, request)?))
    }

    /// The object a request names.
    pub(super) fn existing(&self, target: &Target, request: &Request) -> Result<Arc<Value>, Refusal> {
        let namespace = if target.namespaced { request.namespace.as_str() } else { "" };
        let found = self.store.get(&target.group, &target.kind, namespace, &request.name);
        found.cloned().ok_or_else(|| Refusal::not_found(target, &request.name))
    }

    pub(super) fn serve_list(&self, target: &Target, request: &Request) -> Answer {
        let selector = Selector::parse(&request.label_selector).map_err(Refusal::bad_request)?;
        let namespace = if target.namespaced { request.namespace.as_str() } else { "" };
        let mut items = Vec::new();
        for object in self.store.list(&target.group, &target.kind, namespace) {
            if selector.matches(object.pointer("/metadata/labels")) {
                items.push(Value::clone(&in_version(target, object)));
            }
        }
        let list_kind =
            target.custom.as_ref().map_or_else(|| format!("{}List", target.kind), |c| c.list_kind.clone());
        let body = json!({
            "apiVersion": target.api_version(), "kind": list_kind,
            "metadata": { "resourceVersion": self.revision.to_string() },
            "items": items,
        });
        ok(200, Arc::new(body))
    }
}

/// The object in the version that is asked for; shared when it is stored in it.
pub(super) fn in_version(target: &Target, object: &Arc<Value>) -> Arc<Value> {
    let wanted = target.api_version();
    if text(object, "/apiVersion") == wanted {
        return object.clone();
    }
    let mut converted = Value::clone(object);
    converted["apiVersion"] = json!(wanted);
    Arc::new(converted)
}
