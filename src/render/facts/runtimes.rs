//! Default runtimes: objects of kinds ending in `Runtime`, in the release or in a hook's ConfigMap.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::{Applied, images};
use crate::finding::ObjectName;
use crate::k8s;
use crate::render::Render;

/// The label that names a runtime's framework.
const FRAMEWORK: &str = "trainer.kubeflow.org/framework";

/// One runtime.
#[derive(Clone, Debug)]
pub struct Runtime {
    /// The runtime.
    pub object_name: ObjectName,
    /// Path of the template, for a release object.
    pub source: Option<String>,
    /// The hook that applies it, with the ConfigMap and the key that hold it.
    pub applied_by: Option<(ObjectName, ObjectName, String)>,
    /// The framework its label names.
    pub framework: Option<String>,
    /// Images of its containers.
    pub images: Vec<String>,
    /// `spec.mlPolicy`.
    pub ml_policy: Option<Value>,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// The object.
    pub object: Arc<Value>,
}

pub(super) fn read(render: &Render, applied: &[Applied]) -> Vec<Runtime> {
    let mut found = Vec::new();
    for manifest in &render.manifests {
        let own = |object: &Arc<Value>| Runtime { source: Some(manifest.source.clone()), ..runtime(object) };
        found.extend(manifest.objects().iter().filter(|object| is_runtime(object)).map(own));
    }
    for entry in applied.iter().filter(|entry| is_runtime(&entry.object)) {
        let applied_by = Some((entry.hook.clone(), entry.config_map.clone(), entry.key.clone()));
        found.push(Runtime { applied_by, ..runtime(&entry.object) });
    }
    found
}

/// `RuntimeClass` of `node.k8s.io` does not end in `Runtime`; the kinds meant here do.
fn is_runtime(object: &Value) -> bool {
    k8s::text(object, "/kind").ends_with("Runtime")
}

fn runtime(object: &Arc<Value>) -> Runtime {
    let labels = object.pointer("/metadata/labels").and_then(Value::as_object);
    let labels = labels.into_iter().flatten();
    Runtime {
        object_name: k8s::object_name(object),
        source: None,
        applied_by: None,
        framework: k8s::label(object, FRAMEWORK).map(str::to_owned),
        images: images(object),
        ml_policy: object.pointer("/spec/mlPolicy").cloned(),
        labels: labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect(),
        object: Arc::clone(object),
    }
}
