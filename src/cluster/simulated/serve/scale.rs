//! The `scale` subresource: the replicas of an object seen and changed as a `Scale`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Answer;
use super::body::{Decoded, check_place};
use super::read::{in_version, ok};
use super::write::Write;
use crate::cluster::simulated::Simulated;
use crate::cluster::simulated::discovery::Target;
use crate::cluster::simulated::status::Refusal;
use crate::cluster::{PatchType, Verb};
use crate::k8s::At as _;
use crate::k8s::text;
use crate::schema::FieldError;

/// Where an object keeps what a Scale shows, as JSON pointers.
struct Paths {
    replicas: String,
    status: String,
    selector: Option<String>,
}

impl Paths {
    fn of(target: &Target) -> Self {
        let Some(scale) = target.scale() else {
            let selector = Some("/spec/selector".to_owned());
            return Self {
                replicas: "/spec/replicas".to_owned(),
                status: "/status/replicas".to_owned(),
                selector,
            };
        };
        let pointer = |field: &str| {
            let path = scale.get(field).and_then(Value::as_str).filter(|p| !p.is_empty());
            path.map(|p| p.replace('.', "/"))
        };
        Self {
            replicas: pointer("specReplicasPath").unwrap_or_default(),
            status: pointer("statusReplicasPath").unwrap_or_default(),
            selector: pointer("labelSelectorPath"),
        }
    }
}

impl Simulated {
    pub(super) fn serve_scale(&mut self, write: Write<'_>) -> Answer {
        let Write { target, request, .. } = write;
        let old = self.existing(target, request)?;
        let paths = Paths::of(target);
        let shown = in_version(target, &old);
        let mut scale = show(&paths, &shown);
        if request.verb == Verb::Get {
            return ok(200, Arc::new(scale));
        }
        let body = request.body.as_ref().ok_or_else(|| Refusal::bad_request("no body"))?;
        let new = match (request.verb, request.patch_type) {
            (Verb::Patch, Some(PatchType::Json)) => {
                crate::k8s::patch::json(&mut scale, body).map_err(Refusal::bad_request)?;
                scale
            }
            (Verb::Patch, _) => {
                crate::k8s::patch::merge(&mut scale, body);
                scale
            }
            _ => Value::clone(body),
        };
        check_place(target, request, &new)?;
        self.rescale(write, &old, &shown, &paths, &new)
    }

    fn rescale(
        &mut self,
        write: Write<'_>,
        old: &Arc<Value>,
        shown: &Value,
        paths: &Paths,
        new: &Value,
    ) -> Answer {
        let replicas = new.at("/spec/replicas").cloned().unwrap_or_else(|| json!(0));
        if replicas.as_i64().is_none_or(|n| n < 0) {
            let error = FieldError::invalid("spec.replicas", &replicas, "must be greater than or equal to 0");
            let name = &write.request.name;
            return Err(Refusal::invalid_as("autoscaling", "Scale", name, &[error]));
        }
        let mut object = shown.clone();
        if let Some(version) = new.at("/metadata/resourceVersion") {
            object["metadata"]["resourceVersion"] = version.clone();
        }
        put(&mut object, &paths.replicas, replicas);
        let mut request = write.request.clone();
        request.subresource = String::new();
        let decoded = Decoded { object, warnings: Vec::new() };
        let mut response = self.replace(Write { request: &request, ..write }, old, decoded)?;
        response.body = Arc::new(show(paths, &response.body));
        Ok(response)
    }
}

/// The object as a Scale.
fn show(paths: &Paths, object: &Value) -> Value {
    let mut metadata = json!({});
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = object.get("metadata").and_then(|m| m.get(field)) {
            metadata[field] = value.clone();
        }
    }
    let count = |pointer: &str| object.at(pointer).cloned().unwrap_or_else(|| json!(0));
    let mut scale = json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata,
        "spec": {}, "status": { "replicas": count(&paths.status) },
    });
    if count(&paths.replicas) != 0 {
        scale["spec"]["replicas"] = count(&paths.replicas);
    }
    let selector = match paths.selector.as_deref().and_then(|p| object.at(p)) {
        Some(Value::String(text)) => text.clone(),
        Some(selector) => selector_text(selector),
        None => String::new(),
    };
    if !selector.is_empty() {
        scale["status"]["selector"] = json!(selector);
    }
    scale
}

fn selector_text(selector: &Value) -> String {
    let labels = selector.get("matchLabels").and_then(Value::as_object);
    let equal = labels.into_iter().flatten().map(|(k, v)| format!("{k}={}", v.as_str().unwrap_or("")));
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    let others = expressions.into_iter().flatten().map(|e| {
        let values: Vec<&str> = e
            .get("values")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        match text(e, "/operator") {
            "In" => format!("{} in ({})", text(e, "/key"), values.join(",")),
            "NotIn" => format!("{} notin ({})", text(e, "/key"), values.join(",")),
            "Exists" => text(e, "/key").to_owned(),
            _ => format!("!{}", text(e, "/key")),
        }
    });
    equal.chain(others).collect::<Vec<_>>().join(",")
}

/// Sets a value at a pointer, making objects on the way.
fn put(object: &mut Value, pointer: &str, value: Value) {
    let mut at = object;
    for part in pointer.split('/').filter(|p| !p.is_empty()) {
        if !at.is_object() {
            *at = json!({});
        }
        let Value::Object(map) = at else { return };
        at = map.entry(part).or_insert(Value::Null);
    }
    *at = value;
}
