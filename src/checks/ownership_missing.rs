//! Objects that the upgrade would take over but may not.

use std::collections::BTreeSet;

use serde_json::Value;

use super::context::{KEEP, prepares};
use super::context::{is_crd, rendered};
use super::findings::Said;
use super::{Context, Findings};
use crate::finding::{Evidence, Severity};
use crate::k8s::{self, annotation, label};
use crate::upgrade::inventory::{Item, Place};
use crate::upgrade::outcome::{Verdict, Way};

declare_check! {
    /// An object that is new in the release already exists and does not carry the release's ownership metadata.
    ///
    /// ## What breaks
    /// Helm refuses to take over what it did not make: the upgrade stops before its first write with
    /// `invalid ownership metadata`. `--take-ownership` (Helm 3.17 and newer) takes over *everything* it meets, also
    /// what belongs to somebody else.
    ///
    /// ## What to do
    /// Label and annotate exactly the objects that are to be adopted, then upgrade without `--take-ownership`. For
    /// CRDs, add the keep annotation first.
    ///
    /// ## Example
    /// ```yaml before
    /// # Source: demo/crds/widgets.yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata:
    ///   name: widgets.example.test
    /// spec: {group: example.test, names: {kind: Widget, plural: widgets}, scope: Namespaced, versions: []}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/widgets.yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata:
    ///   name: widgets.example.test
    /// spec: {group: example.test, names: {kind: Widget, plural: widgets}, scope: Namespaced, versions: []}
    /// ```
    /// ```text finding
    /// breaks: CustomResourceDefinition widgets.example.test exists and is not owned by release demo: the upgrade stops
    /// ```
    ///
    /// A state that names no definition at all says nothing of them: the old chart's are there.
    ///
    /// ```yaml before
    /// # Source: demo/crds/widgets.yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata:
    ///   name: widgets.example.test
    /// spec: {group: example.test, names: {kind: Widget, plural: widgets}, scope: Namespaced, versions: []}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/widgets.yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata:
    ///   name: widgets.example.test
    /// spec: {group: example.test, names: {kind: Widget, plural: widgets}, scope: Namespaced, versions: []}
    /// ```
    /// ```yaml state
    /// apiVersion: example.test/v1
    /// kind: Widget
    /// metadata: {name: a, namespace: ns}
    /// ```
    /// ```text finding
    /// breaks: CustomResourceDefinition widgets.example.test exists and is not owned by release demo: the upgrade stops
    /// ```
    ///
    /// ## Not reported
    /// ```yaml before
    /// # Source: demo/crds/widgets.yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata:
    ///   name: widgets.example.test
    /// spec: {group: example.test, names: {kind: Widget, plural: widgets}, scope: Namespaced, versions: []}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/widgets.yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata:
    ///   name: widgets.example.test
    /// spec: {group: example.test, names: {kind: Widget, plural: widgets}, scope: Namespaced, versions: []}
    /// ```
    /// ```yaml state
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata:
    ///   name: widgets.example.test
    ///   labels: {app.kubernetes.io/managed-by: Helm}
    ///   annotations: {meta.helm.sh/release-name: demo, meta.helm.sh/release-namespace: ns}
    /// spec: {group: example.test, names: {kind: Widget, plural: widgets}, scope: Namespaced, versions: []}
    /// ```
    ///
    /// ```yaml before
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// data: {a: b}
    /// ```
    ///
    /// ## References
    /// - Helm v4.3.1 `pkg/action/validate.go` `checkOwnership`
    severity: Breaks
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    let release = context.scene.release;
    for item in context.after.iter().filter(|item| item.place == Place::Templates) {
        if context.before.iter().any(|old| same(old, item) && old.place == Place::Templates) {
            continue;
        }
        if context.on_every_way(|way| takes(way) || prepares(way, MANAGED, &item.name)) {
            continue;
        }
        let Some(evidence) = exists_unowned(context, item) else { continue };
        let message = format!(
            "{} {} exists and is not owned by release {release}: the upgrade stops",
            item.name.kind, item.name.name
        );
        let said = findings
            .say(Severity::Breaks, message, evidence)
            .because(rendered(item))
            .about(&item.name)
            .during(&["upgrade"]);
        advice(context, adoption(context, item)).into_iter().fold(said, Said::advise);
        findings.claim(&item.name, "");
    }
}

fn same(old: &Item, item: &Item) -> bool {
    old.name == item.name && old.group == item.group
}

fn exists_unowned(context: &Context<'_>, item: &Item) -> Option<Evidence> {
    if let Some(live) = context.live(item) {
        let missing = missing(context, live);
        return (!missing.is_empty())
            .then(|| Evidence::State { object: k8s::object_name(live), detail: missing });
    }
    // Nothing is known of it: what the old chart's crds/ brought is there, and nobody owns it.
    let old = context.before.iter().find(|old| same(old, item) && old.place == Place::Crds)?;
    may_be_there(context, old).then(|| Evidence::State {
        object: old.name.clone(),
        detail: format!("created from {}, which Helm gives no ownership metadata", old.source),
    })
}

/// A state that holds definitions holds all of them; one that holds objects of a kind has its definition, named or not.
fn may_be_there(context: &Context<'_>, crd: &Item) -> bool {
    let definitions = context.scene.state.iter().filter(|object| k8s::text(object, "/kind") == crd.name.kind);
    definitions.count() == 0 || context.instances(&crd.object).next().is_some()
}

/// What a live object lacks to belong to the release, in words; nothing when it does.
pub(super) fn missing(context: &Context<'_>, live: &Value) -> String {
    let wanted = [
        (label(live, "app.kubernetes.io/managed-by"), "Helm", "label app.kubernetes.io/managed-by"),
        (
            annotation(live, "meta.helm.sh/release-name"),
            context.scene.release,
            "annotation meta.helm.sh/release-name",
        ),
        (
            annotation(live, "meta.helm.sh/release-namespace"),
            context.scene.namespace,
            "annotation meta.helm.sh/release-namespace",
        ),
    ];
    let missing = wanted.iter().filter(|(found, wanted, _)| *found != Some(*wanted));
    let words: Vec<String> = missing
        .map(|(found, wanted, what)| match found {
            None => format!("no {what}"),
            Some(found) => format!("{what} is `{found}`, not `{wanted}`"),
        })
        .collect();
    words.join(", ")
}

/// What to do about an object that the release does not own. Where the report tells to take a way on which it stays
/// outside of the release, adoption is named as the alternative, with what it costs.
pub(super) fn advice(context: &Context<'_>, adoption: String) -> Vec<String> {
    let ways = || context.scene.rehearsals.iter().flat_map(|rehearsal| &rehearsal.ways);
    let best = context.scene.rehearsals.iter().flat_map(|r| r.makers().into_iter().filter_map(|m| r.best(m)));
    let best: Vec<&Way> = best.collect();
    if best.is_empty() || best.iter().any(|way| way.operations.is_empty() || adopts(way) || stops(way)) {
        return vec![adoption];
    }
    let names: BTreeSet<&str> = best.iter().map(|way| way.name.as_str()).collect();
    let names = names.into_iter().collect::<Vec<_>>().join("; ");
    let losing = ways().filter(|way| adopts(way) && keeps(way)).flat_map(|way| &way.operations);
    let losing: BTreeSet<&str> =
        losing.filter(|one| one.verdict() == Verdict::Loses).map(|one| one.title()).collect();
    let cost = match losing.into_iter().collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => "the release owns it from then on".to_owned(),
        losing => {
            format!("the release owns it from then on, and even with keep these lose objects: {losing}")
        }
    };
    vec![
        format!(
            "take the way under \"What to do\" ({names}): it stays outside the release, nothing is adopted"
        ),
        format!("only if you want it in the release, at a price ({cost}):\n{adoption}"),
    ]
}

/// The label of what a release owns, as commands have it.
const MANAGED: &str = "app.kubernetes.io/managed-by=Helm";

/// Whether the release takes objects in on this way.
fn adopts(way: &Way) -> bool {
    takes(way) || way.prepare.iter().any(|line| line.contains(MANAGED))
}

/// Whether the upgrade itself takes in what it meets.
fn takes(way: &Way) -> bool {
    way.flags.iter().any(|flag| flag == "--take-ownership")
}

/// Whether what it takes in is protected.
fn keeps(way: &Way) -> bool {
    way.prepare.iter().any(|line| line.contains(KEEP))
}

/// Whether its upgrade gets nowhere.
fn stops(way: &Way) -> bool {
    way.operation("upgrade").is_some_and(|upgrade| upgrade.verdict() == Verdict::Refused)
}

/// The commands that hand an object to the release.
pub(super) fn adoption(context: &Context<'_>, item: &Item) -> String {
    let scope =
        if item.name.namespace.is_empty() { String::new() } else { format!(" -n {}", item.name.namespace) };
    let what = format!("{} {}{scope}", resource(item), item.name.name);
    let keep = if is_crd(item) { " helm.sh/resource-policy=keep" } else { "" };
    format!(
        "kubectl label {what} app.kubernetes.io/managed-by=Helm --overwrite\nkubectl annotate {what} meta.helm.sh/release-name={} meta.helm.sh/release-namespace={}{keep} --overwrite",
        context.scene.release, context.scene.namespace
    )
}

fn resource(item: &Item) -> String {
    let kind = item.name.kind.to_lowercase();
    match item.group.as_str() {
        _ if is_crd(item) => "crd".to_owned(),
        "" => kind,
        group => format!("{kind}.{group}"),
    }
}
