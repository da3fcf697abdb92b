//! CRDs that change between `crds/` and the release.

use super::context::{is_crd, rendered};
use super::crd_unprotected::keeps;
use super::{Context, Findings};
use crate::finding::Severity;
use crate::upgrade::diff::{Change, ChangeKind};
use crate::upgrade::inventory::{Item, Place};

declare_check! {
    /// A CustomResourceDefinition moves between `crds/` and the templates.
    ///
    /// ## What breaks
    /// Helm creates what lies in `crds/` once and never owns it. A CRD that moves into the templates becomes part of
    /// the release: the upgrade meets an object without ownership metadata and stops, and once adopted the CRD is
    /// deleted by every rollback across the move, by an upgrade that drops it from the release, and by uninstalling. A
    /// CRD that moves the other way leaves the manifest: the upgrade deletes it, and with it every object of its kind.
    ///
    /// ## What to do
    /// Into the templates: annotate the live CRD with `helm.sh/resource-policy=keep`, then label and annotate it for
    /// the release, or keep CRDs out of the release by the chart's switch and apply them with kubectl. Out of the
    /// templates: annotate the live CRD with keep before the upgrade, and go on applying CRDs by hand.
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
    /// risks: CRD widgets.example.test moves from crds/ to the release
    /// ```
    ///
    /// Where `--state` has the definition, its own annotations count, not those that the chart once gave it:
    ///
    /// ```yaml before
    /// # Source: demo/templates/widgets.yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata:
    ///   name: widgets.example.test
    ///   annotations: {helm.sh/resource-policy: keep}
    /// spec: {group: example.test, names: {kind: Widget, plural: widgets}, scope: Namespaced, versions: []}
    /// ```
    /// ```yaml after
    /// # Source: demo/crds/widgets.yaml
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
    /// spec: {group: example.test, names: {kind: Widget, plural: widgets}, scope: Namespaced, versions: []}
    /// ```
    /// ```text finding
    /// loses: CRD widgets.example.test moves from the release to crds/
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
    /// # Source: demo/crds/moved-within.yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata:
    ///   name: widgets.example.test
    /// spec: {group: example.test, names: {kind: Widget, plural: widgets}, scope: Namespaced, versions: []}
    /// ```
    ///
    /// ## References
    /// - Helm v4.3.1 `pkg/action/install.go` `installCRDs`, `pkg/action/validate.go` `checkOwnership`
    severity: Loses
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    for change in &context.changes {
        let ChangeKind::Moved { from, to } = change.kind else { continue };
        if change.object.kind != "CustomResourceDefinition" {
            continue;
        }
        let Some(item) = context.after.iter().find(|item| is_crd(item) && item.name == change.object) else {
            continue;
        };
        let severity = if from == Place::Templates && !kept(context, change) {
            Severity::Loses
        } else {
            Severity::Risks
        };
        let message = format!("CRD {} moves from {from} to {to}", change.object.name);
        let said = findings.say(severity, message, rendered(item)).about(&change.object);
        advice(item, from, context).into_iter().fold(said, super::findings::Said::advise);
        findings.claim(&change.object, "");
    }
}

fn kept(context: &Context<'_>, change: &Change) -> bool {
    let old = context.before.iter().find(|item| item.name == change.object);
    old.is_some_and(|old| context.is_kept(old))
}

fn advice(item: &Item, from: Place, context: &Context<'_>) -> Vec<String> {
    let name = &item.name.name;
    let live = context.live(item);
    let keep = format!("kubectl annotate crd {name} helm.sh/resource-policy=keep --overwrite");
    let keep = live.is_none_or(|live| !keeps(live)).then_some(keep);
    if from == Place::Templates {
        return keep.map(|keep| format!("before the upgrade: {keep}")).into_iter().collect();
    }
    // A live one that the release owns already asks for protection alone.
    if live.is_some_and(|live| super::ownership_missing::missing(context, live).is_empty()) {
        return keep.into_iter().collect();
    }
    let (release, namespace) = (context.scene.release, context.scene.namespace);
    let labels = [
        format!("kubectl label crd {name} app.kubernetes.io/managed-by=Helm --overwrite"),
        format!(
            "kubectl annotate crd {name} meta.helm.sh/release-name={release} meta.helm.sh/release-namespace={namespace} --overwrite"
        ),
    ];
    let adoption: Vec<String> = keep.into_iter().chain(labels).collect();
    super::ownership_missing::advice(context, adoption.join("\n"))
}
