//! GET of one object and of collections.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Answer;
use crate::cluster::simulated::Simulated;
use crate::cluster::simulated::discovery::Target;
use crate::cluster::simulated::status::Refusal;
use crate::cluster::{Request, Response};
use crate::k8s::At as _;
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
            if selector.matches(object.at("/metadata/labels")) {
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

/// The object in the version that is asked for; shared when nothing has to change.
///
/// A custom resource is read through the schema of the version it is stored in, then through that of the wanted one:
/// what they do not know is not shown, whatever is stored.
pub(in crate::cluster::simulated) fn in_version(target: &Target, object: &Arc<Value>) -> Arc<Value> {
    let wanted = target.api_version();
    let stored = text(object, "/apiVersion");
    match (&target.custom, stored == wanted) {
        (None, true) => object.clone(),
        (Some(_), true) => target.shown(object, || converted(target, object, stored, &wanted)),
        _ => converted(target, object, stored, &wanted),
    }
}

fn converted(target: &Target, object: &Arc<Value>, stored: &str, wanted: &str) -> Arc<Value> {
    let (_, version) = crate::k8s::split_api_version(stored);
    let mut converted = Value::clone(object);
    if let Some(schema) = target.structural_of(version) {
        schema.prune(&mut converted);
        schema.default(&mut converted);
    }
    if stored != wanted {
        converted["apiVersion"] = json!(wanted);
        if let Some(schema) = target.structural() {
            schema.prune(&mut converted);
        }
    }
    if converted == **object { object.clone() } else { Arc::new(converted) }
}
