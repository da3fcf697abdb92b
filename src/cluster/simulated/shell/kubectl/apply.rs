//! `kubectl apply`, server-side and client-side.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::manifests::Manifest;
use super::{Flow, Kubectl, Named, Stop};
use crate::cluster::{PatchType, Request, Response};
use crate::k8s::annotation;

/// Where client-side apply keeps what it applied.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// `kubectl apply`
pub(super) fn main(kubectl: &mut Kubectl<'_, '_>) -> Flow {
    if kubectl.arguments.on("prune") {
        return Err(Stop::Unknown("kubectl apply --prune".to_owned()));
    }
    if let Some(subcommand) = kubectl.arguments.operands.first() {
        return Err(Stop::Unknown(format!("kubectl apply {subcommand}")));
    }
    let manifests = match kubectl.manifests()? {
        Ok(manifests) => manifests,
        Err(status) => return Ok(status),
    };
    let mut status = 0;
    for manifest in manifests {
        status = kubectl.apply(manifest)?.max(status);
    }
    Ok(status)
}

impl Kubectl<'_, '_> {
    fn apply(&mut self, manifest: Manifest) -> Flow {
        let Manifest { source, mut object } = manifest;
        let named = match self.named(&object, &source) {
            Ok(named) => named,
            Err(status) => return Ok(status),
        };
        if !named.namespace.is_empty() {
            object["metadata"]["namespace"] = json!(named.namespace);
        }
        if self.arguments.on("server-side") {
            self.server_side(&named, object)
        } else {
            self.client_side(&named, object)
        }
    }

    fn server_side(&mut self, named: &Named, object: Value) -> Flow {
        let manager = self.arguments.value("field-manager").unwrap_or("kubectl").to_owned();
        let force = self.arguments.on("force-conflicts");
        let resource = &named.resource.resource;
        let mut request = Request::apply(resource, &named.namespace, &manager, force, Arc::new(object));
        request.field_validation = "Strict";
        let response = self.send(request)?;
        self.outcome(named, &response, "serverside-applied")
    }

    fn outcome(&mut self, named: &Named, response: &Response, done: &str) -> Flow {
        if !response.ok() {
            return Ok(self.refused(response));
        }
        self.report(named, &response.body, done)?;
        Ok(0)
    }

    fn client_side(&mut self, named: &Named, object: Value) -> Flow {
        let response = self.send(named.get())?;
        if response.ok() {
            return self.change(named, object, &response.body);
        }
        if response.status != 404 {
            return Ok(self.refused(&response));
        }
        let object = remembered(object);
        if self.client_dry_run() {
            self.report(named, &object, "created")?;
            return Ok(0);
        }
        let create = Request::create(&named.resource.resource, &named.namespace, Arc::new(object));
        let response = self.validated(create)?;
        self.outcome(named, &response, "created")
    }

    fn validated(&mut self, request: Request) -> Flow<Response> {
        let mut request = request.by("kubectl-client-side-apply");
        request.field_validation = "Strict";
        self.send(request)
    }

    fn change(&mut self, named: &Named, object: Value, live: &Value) -> Flow {
        let original = annotation(live, LAST_APPLIED).and_then(|text| serde_json::from_str(text).ok());
        let modified = remembered(object);
        let patch = three_way(&original.unwrap_or(Value::Null), &modified, live);
        if patch.as_object().is_none_or(Map::is_empty) {
            self.report(named, live, "unchanged")?;
            return Ok(0);
        }
        if self.client_dry_run() {
            self.report(named, live, "configured")?;
            return Ok(0);
        }
        let resource = &named.resource.resource;
        let request =
            Request::patch(resource, &named.namespace, &named.name, PatchType::Merge, Arc::new(patch));
        let response = self.validated(request)?;
        self.outcome(named, &response, "configured")
    }
}

/// The object with itself in the annotation of client-side apply.
fn remembered(mut object: Value) -> Value {
    let empty = json!({});
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        let annotations = metadata.entry("annotations").or_insert(empty);
        if let Some(annotations) = annotations.as_object_mut() {
            annotations.remove(LAST_APPLIED);
        }
    }
    let text = format!("{object}\n");
    object["metadata"]["annotations"][LAST_APPLIED] = json!(text);
    object
}

/// A JSON merge patch from the live object to the modified one, deleting what the original had and the modified lacks.
///
/// Source: apimachinery 0.34, `pkg/util/jsonmergepatch/patch.go`, `CreateThreeWayJSONMergePatch`.
pub(super) fn three_way(original: &Value, modified: &Value, live: &Value) -> Value {
    let mut patch = Map::new();
    let (Some(modified), Some(live)) = (modified.as_object(), live.as_object()) else { return Value::Null };
    for (key, value) in modified {
        let before = original.get(key).unwrap_or(&Value::Null);
        match live.get(key) {
            Some(current) if current == value && !value.is_object() => {}
            Some(current) if current.is_object() && value.is_object() => {
                let inner = three_way(before, value, current);
                if inner.as_object().is_some_and(|m| !m.is_empty()) {
                    patch.insert(key.clone(), inner);
                }
            }
            _ => {
                patch.insert(key.clone(), value.clone());
            }
        }
    }
    for key in original.as_object().into_iter().flat_map(Map::keys) {
        if !modified.contains_key(key) && live.contains_key(key) {
            patch.insert(key.clone(), Value::Null);
        }
    }
    Value::Object(patch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_way_deletes_only_what_it_owned() {
        let original = json!({"spec": {"a": 1, "b": 2}});
        let modified = json!({"spec": {"a": 3}});
        let live = json!({"spec": {"a": 1, "b": 2, "c": 4}});
        assert_eq!(three_way(&original, &modified, &live), json!({"spec": {"a": 3, "b": null}}));
        assert_eq!(three_way(&Value::Null, &live, &live), json!({}));
    }
}
