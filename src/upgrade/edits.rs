//! What others than Helm changed in objects of a release, and what a step sets back of it.
//!
//! Compared are the live object and what the server makes of the installed manifest: defaults are no edits. An edit that
//! an operation keeps is nobody's concern; what it takes back is an [`Undone`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::cluster::{Request, Resource, Unreachable};
use crate::finding::ObjectName;
use crate::k8s::At as _;
use crate::k8s::types::{self, Type};
use crate::k8s::{self, Gvk};
use crate::render::Render;
use crate::upgrade::actors::Subject;
use crate::upgrade::fate::{Snapshot, is_terminating};
use crate::upgrade::inventory::{Item, Place, inventory};
use crate::upgrade::link::Link;
use crate::upgrade::release::Status;
use crate::upgrade::secrets::LAST_APPLIED;
use crate::upgrade::storage::{Records, Storage};
use crate::upgrade::world::World;

mod compare;
mod path;

use compare::{Difference, covers, differences, is_empty};
use path::Path;

/// The field manager under which the server is asked.
const HELM: &str = "helm";

/// Whether a field manager is a Helm: it is called as its program is, and others carry it inside.
fn is_helm(manager: &str) -> bool {
    manager.to_lowercase().contains(HELM)
}

/// What somebody changed in an object of the release before anything was done.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    group: String,
    object: ObjectName,
    difference: Difference,
    /// Who has written the field beside Helm.
    by: BTreeSet<String>,
    /// Whether a hook brings the object, not Helm.
    hook: bool,
}

/// What a step took back of the edits of one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Undone {
    /// The object.
    pub object: ObjectName,
    /// The fields, in order of their paths.
    pub fields: Vec<UndoneField>,
}

/// One field that was set back.
#[derive(Clone, Debug, PartialEq)]
pub struct UndoneField {
    /// Path, e.g. `spec.template.spec.containers[manager].image`.
    pub path: String,
    /// What it was in the cluster; `None` where somebody had taken it away.
    pub live: Option<Value>,
    /// What the installed manifest makes of it.
    pub chart: Option<Value>,
    /// What it is now.
    pub now: Option<Value>,
    /// Who had written it, as far as the object tells.
    pub by: BTreeSet<String>,
}

/// The edits in what is alive of an installed release; `given` are objects that somebody handed in. The server is asked
/// what it would make of the manifests; it keeps nothing.
///
/// # Errors
/// When the server can't be reached.
pub fn edits(
    world: &mut dyn World,
    alive: &Snapshot,
    records: &Records,
    subject: &Subject,
    given: &[Value],
) -> Result<Vec<Edit>, Unreachable> {
    let Some(render) = installed(world, records, subject) else { return Ok(Vec::new()) };
    edits_over(world, alive, &render, &subject.namespace, given)
}

/// As [`edits`], over what one render brings.
///
/// # Errors
/// When the server can't be reached.
pub fn edits_over(
    world: &mut dyn World,
    alive: &Snapshot,
    render: &Render,
    namespace: &str,
    given: &[Value],
) -> Result<Vec<Edit>, Unreachable> {
    let key = |object: &Value| (Gvk::of(object).group, k8s::object_name(object));
    let given: BTreeSet<(String, ObjectName)> = given.iter().map(key).collect();
    let mut found = Vec::new();
    for item in brought(render) {
        let Some(live) = live(alive, &item, namespace) else { continue };
        if !is_terminating(live) && (given.contains(&key(live)) || has_strangers(live)) {
            found.extend(of_object(world, &item, live)?);
        }
    }
    Ok(found)
}

/// The revision whose objects are taken for live.
fn installed(world: &mut dyn World, records: &Records, subject: &Subject) -> Option<Arc<Render>> {
    let mut link = Link::new(world, "seatrial", HELM);
    let history = Storage::new(records, &subject.namespace, "helm3").history(&mut link, &subject.release);
    let history = history.ok()?;
    let deployed = history.iter().rev().find(|release| release.status == Status::Deployed);
    deployed.or(history.last()).map(|release| Arc::clone(&release.render))
}

/// What a release and its hooks bring; of several documents for one object the last counts.
fn brought(render: &Render) -> Vec<Item> {
    let mut brought: BTreeMap<(String, ObjectName), Item> = BTreeMap::new();
    for item in inventory(render) {
        if matches!(item.place, Place::Templates | Place::HookConfigMap) {
            brought.insert((item.group.clone(), item.name.clone()), item);
        }
    }
    brought.into_values().collect()
}

/// The live object of a manifest, whose namespace may be left out.
fn live<'s>(alive: &'s Snapshot, item: &Item, namespace: &str) -> Option<&'s Arc<Value>> {
    let placed = ObjectName { namespace: namespace.to_owned(), ..item.name.clone() };
    let here = || item.name.namespace.is_empty().then(|| alive.find(&item.group, &placed)).flatten();
    alive.find(&item.group, &item.name).or_else(here)
}

fn managers(object: &Value) -> impl Iterator<Item = &Value> {
    let entries = object.at("/metadata/managedFields").and_then(Value::as_array).into_iter().flatten();
    entries.filter(|entry| k8s::text(entry, "/subresource") != "status")
}

/// Whether anybody beside Helm has written an object.
fn has_strangers(object: &Value) -> bool {
    managers(object).any(|entry| !is_helm(k8s::text(entry, "/manager")))
}

fn of_object(world: &mut dyn World, item: &Item, live: &Value) -> Result<Vec<Edit>, Unreachable> {
    let asked = asked(world, item, live)?;
    let chart = asked.as_ref().unwrap_or(&item.object);
    let of = types::builtin(k8s::text(live, "/apiVersion"), &item.name.kind).unwrap_or(Type::Any);
    let edit = |difference: Difference| {
        let owners = owners(live, &difference.path);
        let by = owners.iter().filter(|owner| !is_helm(owner)).cloned().collect();
        let edit = Edit {
            group: item.group.clone(),
            object: k8s::object_name(live),
            difference,
            by,
            hook: item.place == Place::HookConfigMap,
        };
        edit.counts(&item.object, &owners).then_some(edit)
    };
    let differences = differences(&of, chart, live, parts(item, live)).into_iter();
    Ok(differences.filter_map(edit).collect())
}

/// What is compared. Definitions are read from the cluster by the checks on them; a built-in kind in another version has
/// other fields.
fn parts(item: &Item, live: &Value) -> compare::Parts {
    let versions = [&*item.object, live].map(|object| k8s::text(object, "/apiVersion"));
    let builtin = types::builtin(versions[1], &item.name.kind).is_some();
    let tags_only = item.name.kind == "CustomResourceDefinition" || builtin && versions[0] != versions[1];
    if tags_only { compare::Parts::Tags } else { compare::Parts::All }
}

/// What the server would make of a manifest, defaults and all; `None` where it refuses it.
fn asked(world: &mut dyn World, item: &Item, live: &Value) -> Result<Option<Arc<Value>>, Unreachable> {
    if matches!(parts(item, live), compare::Parts::Tags) {
        return Ok(None);
    }
    let gvk = Gvk::of(&item.object);
    let served = world.discover()?;
    let found = served.iter().find(|api| {
        let Resource { group, version, plural } = &api.resource;
        api.kind == gvk.kind && (group, version) == (&gvk.group, &gvk.version) && !plural.contains('/')
    });
    let Some(api) = found else { return Ok(None) };
    let namespace = k8s::text(live, "/metadata/namespace").to_owned();
    let mut object = Value::clone(&item.object);
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        // The name is taken; what the server makes of the rest does not hang on it.
        metadata.insert("name".to_owned(), Value::from(PROBE));
        if api.namespaced {
            metadata.insert("namespace".to_owned(), Value::from(namespace.as_str()));
        }
    }
    let mut request = Request::create(&api.resource, &namespace, Arc::new(object)).by(HELM);
    request.dry_run = true;
    let response = world.send(&request)?;
    Ok(response.ok().then_some(response.body))
}

/// The name under which the server is asked.
const PROBE: &str = "seatrial-probe";

/// Who owns a field, by `metadata.managedFields`.
fn owners(object: &Value, path: &Path) -> BTreeSet<String> {
    let owning =
        managers(object).filter(|entry| path.is_owned(entry.get("fieldsV1").unwrap_or(&Value::Null)));
    owning.map(|entry| k8s::text(entry, "/manager").to_owned()).collect()
}

/// How the names begin under which people write, as far as kubectl tells.
const BY_HAND: &str = "kubectl";

impl Edit {
    /// Whether it is somebody's edit, and not what the server or a program fills in.
    fn counts(&self, manifest: &Value, owners: &BTreeSet<String>) -> bool {
        let Difference { path, chart, live } = &self.difference;
        // A default that is not known here belongs to who made the object.
        let default = chart.is_none() && live.is_some() && self.by.is_empty() && !owners.is_empty();
        // A default that the live object lacks was never taken out of it: whoever wrote it down left it out. What a Secret
        // gives as text, the server keeps elsewhere.
        let left_out = live.is_none() && path.follow(manifest).is_none() && self.object.kind != "Secret";
        // A field that the chart declares empty is there for its program to be filled in.
        let declared_empty = path.follow(manifest).is_some_and(is_empty);
        let program = !self.by.is_empty() && !self.by.iter().any(|by| by.starts_with(BY_HAND));
        !(default || left_out || declared_empty && program)
    }

    /// What became of it between two looks, where it is no longer as it was.
    fn undone(&self, before: &Value, after: &Value) -> Option<UndoneField> {
        let Difference { path, chart, live } = &self.difference;
        let (was, now) = (path.follow(before), path.follow(after));
        let kept = |value: Option<&Value>| match live {
            Some(live) => value.is_some_and(|value| covers(value, live)),
            None => value.is_none_or(is_empty),
        };
        if !kept(was) || kept(now) || self.is_others(after, now) {
            return None;
        }
        Some(UndoneField {
            path: path.to_string(),
            live: live.clone(),
            chart: chart.clone(),
            now: now.cloned(),
            by: self.by.clone(),
        })
    }

    /// Whether a field has what neither chart gave it: a program has written it anew.
    fn is_others(&self, after: &Value, now: Option<&Value>) -> bool {
        if self.hook || now.is_none() || now == self.difference.chart.as_ref() {
            return false;
        }
        let owners = owners(after, &self.difference.path);
        !owners.is_empty() && !owners.iter().any(|owner| is_helm(owner))
    }
}

/// What is set back between two looks.
#[must_use]
pub fn undone(edits: &[Edit], before: &Snapshot, after: &Snapshot) -> Vec<Undone> {
    let mut found: BTreeMap<(&str, &ObjectName), Vec<UndoneField>> = BTreeMap::new();
    for edit in edits {
        let both = before.find(&edit.group, &edit.object).zip(after.find(&edit.group, &edit.object));
        let Some((old, new)) = both.filter(|(old, new)| !Arc::ptr_eq(old, new)) else { continue };
        let uid = |object: &Value| k8s::text(object, "/metadata/uid").to_owned();
        if uid(old) == uid(new) && !is_terminating(new) {
            found.entry((&edit.group, &edit.object)).or_default().extend(edit.undone(old, new));
        }
    }
    let found = found.into_iter().filter(|(_, fields)| !fields.is_empty());
    found.map(|((_, object), fields)| Undone { object: object.clone(), fields }).collect()
}

/// Annotations that are others' book-keeping.
fn is_bookkeeping(key: &str) -> bool {
    key == LAST_APPLIED || key == "deployment.kubernetes.io/revision"
}

#[cfg(test)]
mod tests;
