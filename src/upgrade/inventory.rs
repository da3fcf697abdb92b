//! Where every object of a render lives: in `crds/`, in the release, in a hook, or inside a ConfigMap that a hook applies.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::finding::ObjectName;
use crate::k8s::At as _;
use crate::k8s::{self, Gvk};
use crate::limits::Limits;
use crate::render::Render;
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
        items.extend(file.objects.iter().flat_map(|object| members(object, Place::Crds, &file.source)));
    }
    let manifests = render.manifests.iter().map(|manifest| (manifest, Place::Templates));
    let hooks = render.hooks.iter().map(|hook| (&hook.manifest, Place::Hook));
    items.extend(
        manifests
            .chain(hooks)
            .flat_map(|(manifest, place)| members(&manifest.object, place, &manifest.source)),
    );
    let mounted = mounted_config_maps(&items);
    let applied: Vec<Item> =
        items.iter().filter(|item| is_mounted(item, &mounted)).flat_map(documents).collect();
    items.extend(applied);
    items
}

/// The objects of a document: Helm sends what a `List` holds, not the list.
fn members(document: &Arc<Value>, place: Place, source: &str) -> Vec<Item> {
    k8s::members(document).iter().filter_map(|object| item(object, place, source)).collect()
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
fn mounted_config_maps(items: &[Item]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for Item { object, .. } in items.iter().filter(|item| item.place == Place::Hook) {
        let spec = object.at("/spec/template/spec").or_else(|| object.get("spec"));
        let volumes =
            spec.and_then(|spec| spec.get("volumes")).and_then(Value::as_array).into_iter().flatten();
        names.extend(volumes.map(|volume| k8s::text(volume, "/configMap/name").to_owned()));
    }
    names
}

fn is_mounted(item: &Item, mounted: &BTreeSet<String>) -> bool {
    let brought = matches!(item.place, Place::Templates | Place::Hook);
    brought && item.name.kind == "ConfigMap" && mounted.contains(&item.name.name)
}

/// The Kubernetes documents in a ConfigMap's values; texts that hold none give none.
fn documents(config_map: &Item) -> Vec<Item> {
    let data = config_map.object.get("data").and_then(Value::as_object).into_iter().flatten();
    data.filter_map(|(key, text)| Some((key, text.as_str()?)))
        .flat_map(|(key, text)| {
            let source = format!("{}#{key}", config_map.source);
            let objects = yaml::documents(text)
                .filter_map(|(_, text)| yaml::to_json(text.as_bytes(), &Limits::default()).ok());
            objects
                .flat_map(|object| members(&Arc::new(object), Place::HookConfigMap, &source))
                .collect::<Vec<_>>()
        })
        .collect()
}
