//! Where every object of a render lives: in `crds/`, in the release, in a hook, or inside a ConfigMap that a hook applies.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::finding::ObjectName;
use crate::k8s::At as _;
use crate::k8s::{self, Gvk};
use crate::limits::Limits;
use crate::render::{Manifest, Render};
use crate::yaml;

/// Who brings an object to the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// A file below `crds/`: created on install, never touched again by Helm.
    Crds,
    /// The release manifest.
    Templates,
    /// A hook.
    Hook,
    /// A document inside a ConfigMap that a hook's pod mounts.
    HookConfigMap,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Crds => "crds/",
            Self::Templates => "the release",
            Self::Hook => "a hook",
            Self::HookConfigMap => "a ConfigMap that a hook applies",
        })
    }
}

/// One object of a render.
#[derive(Clone, Debug)]
pub struct Item {
    /// API group, empty for core.
    pub group: String,
    /// Name; the namespace is filled in from the release where the document leaves it out.
    pub name: ObjectName,
    /// Who brings it.
    pub place: Place,
    /// Template or file it comes from; for documents in a ConfigMap followed by `#` and the key.
    pub source: String,
    /// The object.
    pub object: Arc<Value>,
}

/// Every object of a render; namespaced kinds can't be told from others here, so an absent namespace stays empty.
#[must_use]
pub fn inventory(render: &Render) -> Vec<Item> {
    let mut items = Vec::new();
    for file in &render.crds {
        items.extend(file.objects.iter().filter_map(|object| item(object, Place::Crds, &file.source)));
    }
    items.extend(
        render
            .manifests
            .iter()
            .filter_map(|manifest| item(&manifest.object, Place::Templates, &manifest.source)),
    );
    items.extend(
        render
            .hooks
            .iter()
            .filter_map(|hook| item(&hook.manifest.object, Place::Hook, &hook.manifest.source)),
    );
    let mounted = mounted_config_maps(render);
    let config_maps = render.manifests.iter().chain(render.hooks.iter().map(|hook| &hook.manifest));
    for manifest in config_maps.filter(|manifest| is_mounted(manifest, &mounted)) {
        items.extend(documents(manifest));
    }
    items
}

fn item(object: &Arc<Value>, place: Place, source: &str) -> Option<Item> {
    let name = k8s::object_name(object);
    let named = !name.kind.is_empty() && !name.name.is_empty();
    named.then(|| Item {
        group: Gvk::of(object).group,
        name,
        place,
        source: source.to_owned(),
        object: Arc::clone(object),
    })
}

/// Names of ConfigMaps that pods of hooks mount.
fn mounted_config_maps(render: &Render) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for hook in &render.hooks {
        let object = &hook.manifest.object;
        let spec = object.at("/spec/template/spec").or_else(|| object.get("spec"));
        let volumes =
            spec.and_then(|spec| spec.get("volumes")).and_then(Value::as_array).into_iter().flatten();
        names.extend(volumes.map(|volume| k8s::text(volume, "/configMap/name").to_owned()));
    }
    names
}

fn is_mounted(manifest: &Manifest, mounted: &BTreeSet<String>) -> bool {
    k8s::text(&manifest.object, "/kind") == "ConfigMap"
        && mounted.contains(k8s::text(&manifest.object, "/metadata/name"))
}

/// The Kubernetes documents in a ConfigMap's values; texts that hold none give none.
fn documents(manifest: &Manifest) -> Vec<Item> {
    let data = manifest.object.get("data").and_then(Value::as_object).into_iter().flatten();
    data.filter_map(|(key, text)| Some((key, text.as_str()?)))
        .flat_map(|(key, text)| {
            let source = format!("{}#{key}", manifest.source);
            let objects = yaml::documents(text)
                .filter_map(|(_, text)| yaml::to_json(text.as_bytes(), &Limits::default()).ok());
            objects
                .filter_map(|object| item(&Arc::new(object), Place::HookConfigMap, &source))
                .collect::<Vec<_>>()
        })
        .collect()
}
