//! CRDs in the release without a keep policy.

use serde_json::Value;

use super::context::rendered;
use super::context::{KEEP, prepares};
use super::{Context, Findings};
use crate::finding::{Evidence, Severity};
use crate::k8s;
use crate::upgrade::inventory::{Item, Place};
use crate::upgrade::outcome::DROP;

declare_check! {
    /// A CustomResourceDefinition in the templates carries no `helm.sh/resource-policy: keep`.
    ///
    /// ## What breaks
    /// The release owns the CRD, so Helm deletes it when a later manifest lacks it: on uninstall, on a rollback to a
    /// revision without it, and when the value that gates it is switched off. The API server then deletes every object
    /// of its kind, and the garbage collector everything that those objects own.
    ///
    /// ## What to do
    /// Annotate the live CRD with `helm.sh/resource-policy=keep`: upgrades and rollbacks honour the live annotation.
    /// Uninstall does not, it reads the annotation from the release's stored manifest; so the safe order is: the annotation,
    /// an upgrade with the chart's switch for its CRDs off (which then leaves them in the cluster), a look whether they are
    /// still there, and only then the uninstall.
    ///
    /// ## Example
    /// ```yaml before
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
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
    /// loses: uninstall, rollback and dropping it from the release delete CRD widgets.example.test and every Widget with it
    /// ```
    ///
    /// ## Not reported
    /// ```yaml before
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/widgets.yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata:
    ///   name: widgets.example.test
    ///   annotations:
    ///     helm.sh/resource-policy: keep
    /// spec: {group: example.test, names: {kind: Widget, plural: widgets}, scope: Namespaced, versions: []}
    /// ```
    ///
    /// ## References
    /// - Helm v4.3.1 `pkg/kube/client.go` `Update`, `pkg/action/resource_policy.go` `filterManifestsToKeep`
    severity: Loses
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    let owned = context.crds_after().filter(|item| item.place == Place::Templates && !keeps(&item.object));
    for item in owned {
        let kind = k8s::text(&item.object, "/spec/names/kind");
        let protected = context.live(item).is_some_and(|live| keeps(live))
            || context.on_every_way(|way| prepares(way, KEEP, &item.name));
        // A rollback deletes what only the new manifest has.
        let before = context.item_before(item).is_some_and(|old| old.place == Place::Templates);
        let (severity, what, operations): (_, _, &[&'static str]) = match (protected, before) {
            (true, _) => (Severity::Risks, "uninstall deletes", &["uninstall"]),
            (false, true) => (
                Severity::Loses,
                "uninstall and dropping it from the release delete, as before this upgrade,",
                &["uninstall", DROP],
            ),
            (false, false) => (
                Severity::Loses,
                "uninstall, rollback and dropping it from the release delete",
                &["rollback", "uninstall", DROP],
            ),
        };
        let message = format!("{what} CRD {} and every {kind} with it", item.name.name);
        let said = findings.say(severity, message, rendered(item)).about(&item.name).during(operations);
        let instances = instances(context, item);
        let said = instances.into_iter().fold(said, super::findings::Said::because);
        advice(context, &item.name.name, protected).into_iter().fold(said, super::findings::Said::advise);
    }
}

/// Most stored objects named as evidence for one CRD.
const INSTANCES: usize = 5;

fn instances(context: &Context<'_>, item: &Item) -> Vec<Evidence> {
    let found = context.instances(&item.object).take(INSTANCES);
    found
        .map(|object| Evidence::State {
            object: k8s::object_name(object),
            detail: "lives under this CRD".to_owned(),
        })
        .collect()
}

/// The commands in their safe order, with what each does not do.
fn advice(context: &Context<'_>, name: &str, protected: bool) -> Vec<String> {
    let scene = context.scene;
    let keep = format!("kubectl annotate crd {name} helm.sh/resource-policy=keep --overwrite");
    let caveat = "keep on the live object holds for upgrades and rollbacks; an uninstall deletes the CRD all the same: it reads keep from the release's stored manifest".to_owned();
    let off = format!(
        "to leave safely, in this order: keep on the live CRD; helm upgrade {} CHART -n {} --reset-then-reuse-values {}; see that the CRD is still there; only then helm uninstall {} -n {}",
        scene.release,
        scene.namespace,
        switch(context),
        scene.release,
        scene.namespace
    );
    let first = if protected { None } else { Some(keep) };
    first.into_iter().chain([caveat, off]).collect()
}

/// The flag that takes the CRDs out of the release, where a rehearsal found the chart's value for it.
fn switch<'s>(context: &Context<'s>) -> &'s str {
    let ways = context.scene.rehearsals.iter().flat_map(|rehearsal| &rehearsal.ways);
    let off = ways.filter_map(|way| way.operation(DROP)).find_map(|operation| operation.flags.first());
    off.map_or("--set THE-VALUE-THAT-GATES-THE-CRDS=false", String::as_str)
}

/// Whether an object carries the keep policy, exactly as Helm compares it on upgrade.
pub(super) fn keeps(object: &Value) -> bool {
    k8s::annotation(object, "helm.sh/resource-policy") == Some("keep")
}
