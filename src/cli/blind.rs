//! What a run could not see or judge, as lines for the reader.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::args::Engine;
use crate::chart::{Chart, Metadata};
use crate::checks::Compared;
use crate::finding::ObjectName;
use crate::k8s::{self, At as _};
use crate::render::facts;
use crate::upgrade::inventory::Place;
use crate::upgrade::outcome::{Rehearsal, Start, unknowns};
use crate::upgrade::trace::decides;

/// Obstacles, what the simulation noted as not modelled, races on real engines.
pub(super) fn not_checked(rehearsals: &[Rehearsal], engine: Engine) -> BTreeSet<String> {
    let mut lines: BTreeSet<String> = BTreeSet::new();
    for rehearsal in rehearsals {
        if !rehearsal.obstacle.is_empty() {
            lines.insert(format!("{}: {}", rehearsal.actor, rehearsal.obstacle));
        }
        lines.extend(rehearsal.origins.iter().filter(|origin| !origin.reached).map(|origin| {
            let (actor, maker) = (&rehearsal.actor, &origin.made_by);
            format!(
                "{actor} with a release of {maker}: {maker} can't install the old chart: {}",
                origin.error
            )
        }));
        // Those that decide about objects are told below, with the operations where they were met.
        let notes = rehearsal.steps().flat_map(|step| step.notes.iter().filter(|note| !decides(note)));
        lines.extend(notes.filter(|note| is_gap(note)).cloned());
        if matches!(rehearsal.start, Start::BuiltIn) {
            lines.insert(
                "your own objects: the rehearsal used a built-in population; give --state (docs/state.md says how to make one)".to_owned(),
            );
        }
    }
    lines.extend(unknowns(rehearsals));
    if engine != Engine::Sim {
        lines.insert("races: on a real cluster each operation shows one outcome".to_owned());
    }
    lines
}

fn is_gap(note: &str) -> bool {
    ["not modelled", "not checked", "could not", "may be touched"].iter().any(|word| note.contains(word))
}

/// Most workloads that a line names.
const NAMED: usize = 3;

/// Pods that the new chart makes otherwise than the old one: no rehearsal has the cluster's nodes and registries.
pub(super) fn unscheduled(compared: &Compared) -> Option<String> {
    let before = |name: &ObjectName| compared.before.iter().find(|item| item.name == *name);
    let differs = |item: &&crate::upgrade::inventory::Item| {
        let pods = pods(&item.object);
        pods.is_some() && before(&item.name).and_then(|old| self::pods(&old.object)) != pods
    };
    let mut names: Vec<String> =
        compared.after.iter().filter(differs).map(|item| item.name.to_string()).collect();
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    (!names.is_empty()).then(|| {
        format!(
            "nodes and registries: that a node has room for the new pods of {}{more} and fits them (requests, selectors, \
             tolerations), and that it can pull their images, was taken for granted",
            names.join(", ")
        )
    })
}

/// Label of a namespace whose pods are held against a standard.
const STANDARD: &str = "pod-security.kubernetes.io/enforce";

/// Objects that decide how many pods there are or which are let in, and that no rehearsal asks: lines for those that the
/// charts or the state have.
pub(super) fn unasked(compared: &Compared, state: &[Arc<Value>]) -> BTreeSet<String> {
    all(compared, state).filter_map(unmodelled).collect()
}

/// Verbs of kubectl that change something.
const CHANGING: &[&str] = &["apply", "create", "delete", "drain", "edit", "patch", "replace", "scale"];

/// Programs in workloads of the new chart that were not in the old one and change objects: only those of Jobs are executed.
pub(super) fn unexecuted(compared: &Compared) -> Vec<String> {
    let own = compared.after.iter().filter(|item| item.place == Place::Templates);
    let lines = own.filter_map(|item| {
        let old = compared.before.iter().find(|old| old.name == item.name);
        let before = old.and_then(|old| pods(&old.object)).map(programs).unwrap_or_default();
        let new = programs(pods(&item.object)?).into_iter().find(|one| !before.contains(one))?;
        let is_job = matches!(item.name.kind.as_str(), "Job" | "Pod");
        (!is_job).then(|| {
            format!(
                "{} {}: {new} was not executed; what it changes could not be checked",
                item.name.kind, item.name.name
            )
        })
    });
    lines.collect()
}

/// Containers of a pod whose programs call kubectl to change something, each with a word on what it does.
fn programs(pod: &Value) -> Vec<String> {
    let containers = ["/initContainers", "/containers"].into_iter().flat_map(|list| k8s::items(pod, list));
    let program = |container: &Value| {
        let words = ["/command", "/args"].into_iter().flat_map(|list| k8s::items(container, list));
        let text = words.filter_map(Value::as_str).collect::<Vec<_>>().join(" ");
        let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).collect();
        let verb =
            CHANGING.iter().find(|verb| words.contains(verb)).filter(|_| words.contains(&"kubectl"))?;
        Some(format!("`kubectl {verb}` of container {}", k8s::text(container, "/name")))
    };
    containers.filter_map(program).collect()
}

/// Claims that go when somebody scales down, where an autoscaler may do so.
pub(super) fn scaled_claims(compared: &Compared, state: &[Arc<Value>]) -> Option<String> {
    let deletes = |object: &&Value| {
        k8s::text(object, "/spec/persistentVolumeClaimRetentionPolicy/whenScaled") == "Delete"
    };
    let set = all(compared, state).find(deletes)?;
    let is_scaler = |object: &Value| k8s::text(object, "/kind") == "HorizontalPodAutoscaler";
    all(compared, state).any(is_scaler).then(|| {
        format!(
            "{}: its claims go when it is scaled down, and no HorizontalPodAutoscaler is rehearsed",
            k8s::object_name(set)
        )
    })
}

fn all<'c>(compared: &'c Compared, state: &'c [Arc<Value>]) -> impl Iterator<Item = &'c Value> {
    let items = compared.before.iter().chain(&compared.after).map(|item| &*item.object);
    items.chain(state.iter().map(|object| &**object))
}

fn unmodelled(object: &Value) -> Option<String> {
    let what = match k8s::text(object, "/kind") {
        "HorizontalPodAutoscaler" => "it is not rehearsed; how many pods there are",
        "ResourceQuota" | "LimitRange" => "it is not asked; whether it lets the pods in",
        "Namespace" if !matches!(k8s::label(object, STANDARD), None | Some("privileged")) => {
            "its pods are not held against its Pod Security standard; whether they are let in"
        }
        _ => return None,
    };
    let name = k8s::object_name(object);
    let place = if name.namespace.is_empty() { String::new() } else { format!("{}/", name.namespace) };
    Some(format!("{} {place}{}: {what}, could not be checked", name.kind, name.name))
}

/// The pods that an object makes, as its template has them.
fn pods(object: &Value) -> Option<&Value> {
    object.at("/spec/template/spec").or_else(|| object.at("/spec/jobTemplate/spec/template/spec"))
}

/// What a chart's templates ask that nobody answers in a rehearsal, as a line.
pub(crate) fn unanswered(chart: &Chart) -> Option<String> {
    let names = facts::impure(chart);
    let names: Vec<&str> = names.into_iter().filter(|name| facts::UNANSWERED.contains(name)).collect();
    let Metadata { name, version, .. } = &chart.metadata;
    (!names.is_empty()).then(|| {
        format!(
            "{name} {version}: its templates call {}; what follows from the answers in your cluster could not be checked",
            names.join(", ")
        )
    })
}
