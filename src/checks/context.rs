//! What a check may see: both renders, their differences, the objects in the cluster, the rehearsals.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use serde_json::Value;

use crate::chart::{Chart, Helm, Values};
use crate::finding::{Evidence, Location, ObjectName};
use crate::k8s;
use crate::k8s::At as _;
use crate::render::facts::{self, Facts};
use crate::render::{Options, Render};
use crate::schema::{KubeVersion, Structural};
use crate::upgrade::diff::{Change, FieldChange, diff};
use crate::upgrade::inventory::{Item, inventory};
use crate::upgrade::outcome::{Rehearsal, Way};
use crate::upgrade::secrets::hide_at;
use crate::upgrade::sizes::Sizes;

/// What is handed to the checks.
pub struct Scene<'s> {
    /// The release as it is rendered now.
    pub before: &'s Arc<Render>,
    /// The release as it will be rendered.
    pub after: &'s Arc<Render>,
    /// The new release rendered once more, as the next upgrade would, where its templates ask the clock or chance.
    pub again: Option<&'s Arc<Render>>,
    /// The chart that runs now, as loaded.
    pub chart_before: &'s Chart,
    /// The chart to upgrade to, as loaded.
    pub chart_after: &'s Chart,
    /// The user's values for the new chart.
    pub values: &'s Values,
    /// Release name.
    pub release: &'s str,
    /// Namespace of the release.
    pub namespace: &'s str,
    /// Kubernetes version of the cluster, e.g. `v1.34.0`.
    pub kubernetes: &'s str,
    /// Objects that live in the cluster before the upgrade; empty when nothing is known.
    pub state: &'s [Arc<Value>],
    /// What was rehearsed.
    pub rehearsals: &'s [Rehearsal],
    /// Sizes of release records.
    pub sizes: &'s Sizes,
}

/// Both renders laid side by side.
pub struct Compared {
    /// Objects of the old render.
    pub before: Vec<Item>,
    /// Objects of the new render.
    pub after: Vec<Item>,
    /// Facts of the old render.
    pub facts_before: Facts,
    /// Facts of the new render.
    pub facts_after: Facts,
    /// Every difference between the renders.
    pub changes: Vec<Change>,
    schemas: Vec<Compiled>,
}

/// A version of a definition and its compiled schema.
type Compiled = (Arc<Value>, String, Option<Arc<Structural>>);

impl Compared {
    /// Reads both.
    #[must_use]
    pub fn new(before: &Arc<Render>, after: &Arc<Render>) -> Self {
        let (items_before, items_after) = (inventory(before), inventory(after));
        let definitions = items_before.iter().chain(&items_after).filter(|item| is_crd(item));
        Self {
            schemas: definitions.flat_map(|item| compiled(&item.object)).collect(),
            before: items_before,
            after: items_after,
            facts_before: facts::read(before),
            facts_after: facts::read(after),
            changes: diff(before, after),
        }
    }

    /// The compiled schema of one version of a definition.
    #[must_use]
    pub fn structural(&self, crd: &Arc<Value>, version: &str) -> Option<Arc<Structural>> {
        let known = self.schemas.iter().find(|(of, name, _)| Arc::ptr_eq(of, crd) && name == version);
        let unknown = || versions(crd).find(|of| k8s::text(of, "/name") == version).and_then(schema);
        known.map_or_else(unknown, |(_, _, schema)| schema.clone())
    }
}

/// Every version of a definition with its schema.
fn compiled(crd: &Arc<Value>) -> impl Iterator<Item = Compiled> {
    versions(crd).map(|version| (Arc::clone(crd), k8s::text(version, "/name").to_owned(), schema(version)))
}

fn versions(crd: &Value) -> impl Iterator<Item = &Value> {
    crd.at("/spec/versions").and_then(Value::as_array).into_iter().flatten()
}

fn schema(version: &Value) -> Option<Arc<Structural>> {
    Structural::compile(version.at("/schema/openAPIV3Schema")?, KubeVersion::default()).ok()
}

/// The annotation that keeps an object, as commands have it.
pub(super) const KEEP: &str = "helm.sh/resource-policy=keep";

/// Whether a way begins with a command that puts a mark on an object.
pub(super) fn prepares(way: &Way, mark: &str, object: &ObjectName) -> bool {
    way.prepare.iter().any(|line| line.contains(mark) && line.split(' ').any(|word| word == object.name))
}

/// A scene with what several checks ask of it.
pub struct Context<'s> {
    /// The scene.
    pub scene: &'s Scene<'s>,
    compared: &'s Compared,
    live: BTreeMap<(String, ObjectName), Arc<Value>>,
}

impl Deref for Context<'_> {
    type Target = Compared;

    fn deref(&self) -> &Compared {
        self.compared
    }
}

impl<'s> Context<'s> {
    /// What the upgrade's render is made for, by one Helm line.
    #[must_use]
    pub fn upgrade_options(&self, helm: Helm) -> Options {
        Options {
            helm,
            release: self.scene.release.to_owned(),
            namespace: self.scene.namespace.to_owned(),
            revision: 2,
            is_upgrade: true,
            kube_version: Some(self.scene.kubernetes.to_owned()),
            ..Options::default()
        }
    }

    /// Prepares a scene.
    #[must_use]
    pub fn new(scene: &'s Scene<'s>, compared: &'s Compared) -> Self {
        let live = scene
            .state
            .iter()
            .map(|object| ((k8s::Gvk::of(object).group, k8s::object_name(object)), Arc::clone(object)));
        Self { scene, compared, live: live.collect() }
    }

    /// CRDs of the new render, wherever they live.
    pub fn crds_after(&self) -> impl Iterator<Item = &Item> {
        self.after.iter().filter(|item| is_crd(item))
    }

    /// The live object of a rendered one; namespaced ones are looked for in the release's namespace too.
    #[must_use]
    pub fn live(&self, item: &Item) -> Option<&Arc<Value>> {
        let mut name = item.name.clone();
        let found = self.live.get(&(item.group.clone(), name.clone()));
        found.or_else(|| {
            self.scene.namespace.clone_into(&mut name.namespace);
            self.live.get(&(item.group.clone(), name))
        })
    }

    /// What stands in the cluster under the name of a rendered object, or stood in the old chart.
    #[must_use]
    pub fn present<'c>(&'c self, item: &'c Item) -> Option<Present<'c>> {
        let live = self.live(item).map(|object| Present { object, live: true });
        live.or_else(|| self.item_before(item).map(|old| Present { object: &old.object, live: false }))
    }

    /// Whether an upgrade that no longer brings an object of the old render leaves it alone: Helm asks the live object,
    /// where it is known.
    #[must_use]
    pub fn is_kept(&self, old: &Item) -> bool {
        super::crd_unprotected::keeps(self.live(old).unwrap_or(&old.object))
            || self.on_every_way(|way| prepares(way, KEEP, &old.name))
    }

    /// Whether something holds on all ways that were rehearsed and are judged; where the plain one is among them, nothing
    /// is prepared.
    pub fn on_every_way(&self, holds: impl Fn(&Way) -> bool) -> bool {
        let mut ways = self.scene.rehearsals.iter().flat_map(|rehearsal| &rehearsal.ways).peekable();
        ways.peek().is_some() && ways.all(holds)
    }

    /// Live objects of a CRD's kind.
    pub fn instances<'c>(&'c self, crd: &'c Value) -> impl Iterator<Item = &'c Arc<Value>> {
        let (group, kind) = (k8s::text(crd, "/spec/group"), k8s::text(crd, "/spec/names/kind"));
        self.scene
            .state
            .iter()
            .filter(move |object| k8s::text(object, "/kind") == kind && k8s::Gvk::of(object).group == group)
    }

    /// Objects of a CRD's kind with which the rehearsals began: the live ones, or those of the built-in population.
    #[must_use]
    pub fn alive<'c>(&'c self, crd: &'c Value) -> Vec<&'c Arc<Value>> {
        let live: Vec<&Arc<Value>> = self.instances(crd).collect();
        if !self.scene.state.is_empty() {
            return live;
        }
        let (group, kind) = (k8s::text(crd, "/spec/group"), k8s::text(crd, "/spec/names/kind"));
        let alive = self.scene.rehearsals.iter().flat_map(|rehearsal| &rehearsal.alive);
        let own =
            alive.filter(|object| k8s::text(object, "/kind") == kind && k8s::Gvk::of(object).group == group);
        // Every rehearsal has the same objects under the same names.
        let named: BTreeMap<ObjectName, &Arc<Value>> =
            own.map(|object| (k8s::object_name(object), object)).collect();
        named.into_values().collect()
    }

    /// Whether one of the charts brings an object; a namespace that a document leaves out is the release's.
    #[must_use]
    pub fn brings(&self, name: &ObjectName) -> bool {
        self.before.iter().chain(&self.after).any(|item| {
            let placed = &item.name.namespace;
            let here = if placed.is_empty() { self.scene.namespace } else { placed };
            item.name.kind == name.kind
                && item.name.name == name.name
                && (name.namespace.is_empty() || name.namespace == here)
        })
    }

    /// Whether the release may be written by patches that Helm computes (Helm 3, and Helm 4 on what Helm 3 made).
    pub fn writes_client_side(&self) -> bool {
        let ways = self.scene.rehearsals.iter().flat_map(|rehearsal| &rehearsal.ways);
        let makers: Vec<&str> = ways.map(|way| way.made_by.as_str()).collect();
        makers.is_empty() || makers.contains(&"helm3")
    }

    /// The old render's item of the same object.
    #[must_use]
    pub fn item_before(&self, item: &Item) -> Option<&Item> {
        self.before.iter().find(|old| old.name == item.name && old.group == item.group)
    }
}

/// An object as it is before the upgrade: the live one decides, and the old chart's is what is there when nothing else
/// is known.
pub struct Present<'c> {
    /// The object.
    pub object: &'c Arc<Value>,
    /// Whether it was handed in as live.
    pub live: bool,
}

impl Present<'_> {
    /// Which one it is, in words that fit after "the".
    #[must_use]
    pub fn word(&self) -> &'static str {
        if self.live { "live one" } else { "old chart's" }
    }
}

/// `Kind namespace/name`, or `Kind name`.
#[must_use]
pub(super) fn called(object: &ObjectName) -> String {
    let place = if object.namespace.is_empty() { String::new() } else { format!("{}/", object.namespace) };
    format!("{} {place}{}", object.kind, object.name)
}

/// Most characters of a value in a message.
const VALUE: usize = 80;

/// `path: old → new`.
#[must_use]
pub(super) fn told(field: &FieldChange) -> String {
    let short = |value: &Option<Value>| {
        let text = value.as_ref().map_or("none".to_owned(), Value::to_string);
        let cut = if text.chars().count() > VALUE { "…" } else { "" };
        format!("{}{cut}", text.chars().take(VALUE).collect::<String>())
    };
    format!("{}: {} → {}", field.path, short(&field.before), short(&field.after))
}

/// A change of an object as it may be said: a Secret's contents are nobody's business.
#[must_use]
pub(super) fn sayable(object: &ObjectName, mut field: FieldChange) -> FieldChange {
    if object.kind == "Secret" {
        let values = [&mut field.before, &mut field.after].into_iter().flatten();
        values.for_each(|value| hide_at(&field.path, value));
    }
    field
}

/// Most things that a message names.
const SHOWN: usize = 3;

/// The first of several things, and how many more there are.
#[must_use]
pub(super) fn first_few(all: &[String]) -> String {
    let more = if all.len() > SHOWN { format!("; and {} more", all.len() - SHOWN) } else { String::new() };
    format!("{}{more}", all.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("; "))
}

/// An object as kubectl is told of it: `deployment web -n shop`.
#[must_use]
pub(super) fn operand(object: &ObjectName) -> String {
    let scope = if object.namespace.is_empty() { String::new() } else { format!(" -n {}", object.namespace) };
    format!("{} {}{scope}", object.kind.to_lowercase(), object.name)
}

/// Whether an item is a CustomResourceDefinition.
#[must_use]
pub(super) fn is_crd(item: &Item) -> bool {
    item.name.kind == "CustomResourceDefinition"
}

/// Evidence that points to the template or file an item comes from.
#[must_use]
pub(super) fn rendered(item: &Item) -> Evidence {
    Evidence::Render(Location { file: item.source.clone(), line: 0 })
}

/// Evidence that points to a hook's template.
#[must_use]
pub(super) fn hook_place(hook: &facts::HookFacts) -> Evidence {
    Evidence::Render(Location { file: hook.source.clone(), line: 0 })
}
