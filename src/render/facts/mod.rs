//! What a render says about the things an upgrade can lose: CRDs, hooks, default runtimes, large objects.

mod access;
mod crds;
mod impure;
mod hooks;
mod runtimes;
mod sizes;

use std::sync::Arc;

use serde_json::Value;

use super::{Manifest, Render};
use crate::finding::ObjectName;
use crate::{k8s, yaml};

pub use access::{Grant, grants};
pub use crds::{Crd, Home, Owner};
pub use hooks::HookFacts;
pub use impure::{IMPURE, UNANSWERED, impure, is_impure};
pub use runtimes::Runtime;
pub use sizes::{ETCD_REQUEST_BYTES, LAST_APPLIED_BYTES, SECRET_BYTES, Size, sizes};

/// Everything at once; [`sizes`] is apart, it has to write every object out.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Every CRD, wherever it lives.
    pub crds: Vec<Crd>,
    /// Every hook, in the order of [`Render::hooks`].
    pub hooks: Vec<HookFacts>,
    /// Default runtimes, release objects and those a hook applies.
    pub runtimes: Vec<Runtime>,
}

/// Reads a render.
#[must_use]
pub fn read(render: &Render) -> Facts {
    let hooks: Vec<_> = render.hooks.iter().flat_map(|hook| hooks::read(hook, render)).collect();
    let applied = applied(&hooks, render);
    Facts { crds: crds::read(render, &applied), runtimes: runtimes::read(render, &applied), hooks }
}

/// A document inside a ConfigMap that a hook mounts.
#[derive(Clone, Debug)]
struct Applied {
    hook: ObjectName,
    config_map: ObjectName,
    key: String,
    object: Arc<Value>,
}

/// The objects inside the ConfigMaps that hooks mount.
fn applied(hooks: &[HookFacts], render: &Render) -> Vec<Applied> {
    let mut found = Vec::new();
    for hook in hooks {
        for config_map in render.manifests.iter().flat_map(Manifest::objects) {
            let name = k8s::object_name(&config_map);
            if name.kind != "ConfigMap" || !hook.config_maps.contains(&name.name) {
                continue;
            }
            let entries = config_map.get("data").and_then(Value::as_object);
            for (key, text) in entries.into_iter().flatten() {
                found.extend(documents(text).map(|object| Applied {
                    hook: hook.object.clone(),
                    config_map: name.clone(),
                    key: key.clone(),
                    object,
                }));
            }
        }
    }
    found
}

/// The Kubernetes objects of a text, if it is YAML.
fn documents(text: &Value) -> impl Iterator<Item = Arc<Value>> {
    let text = text.as_str().filter(|text| text.contains("kind:")).unwrap_or_default().to_owned();
    let limits = crate::limits::Limits::default();
    let objects: Vec<_> = yaml::documents(&text)
        .filter_map(|(_, document)| yaml::to_json(document.as_bytes(), &limits).ok())
        .flat_map(|document| k8s::members(&Arc::new(document)))
        .filter(|object| object.get("kind").is_some() && object.get("apiVersion").is_some())
        .collect();
    objects.into_iter()
}

/// Every `image` of the containers in a pod template, in order, without repetition.
fn images(object: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect_images(object, 0, &mut found);
    found
}

fn collect_images(value: &Value, depth: usize, found: &mut Vec<String>) {
    if depth > 64 {
        return;
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_images(item, depth + 1, found)),
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::Array(items) if is_containers(key) => {
                        let images = items.iter().filter_map(|item| item.get("image")?.as_str());
                        for image in images {
                            if !found.iter().any(|known| known == image) {
                                found.push(image.to_owned());
                            }
                        }
                    }
                    other => collect_images(other, depth + 1, found),
                }
            }
        }
        _ => {}
    }
}

fn is_containers(key: &str) -> bool {
    matches!(key, "containers" | "initContainers" | "ephemeralContainers")
}

#[cfg(test)]
mod tests;
