//! Objects that leave the release for a hook, or come from one.

use super::context::rendered;
use super::{Context, Findings};
use crate::finding::Severity;
use crate::upgrade::diff::ChangeKind;
use crate::upgrade::inventory::Place;

declare_check! {
    /// An object moves between the release and a hook.
    ///
    /// ## What breaks
    /// An object that leaves the manifest is deleted by the upgrade, after everything else is applied and before post-upgrade
    /// hooks run; the hook then makes it anew, with another UID, or applies onto one that is still terminating and soon gone.
    /// Rollback and uninstall no longer treat it as the release's. An object that moves from a hook into the release already
    /// exists without ownership metadata, and the upgrade stops.
    ///
    /// ## What to do
    /// Into a hook: annotate the live object with `helm.sh/resource-policy=keep` before the upgrade, so that Helm leaves it and
    /// the hook updates it in place. Out of a hook: label and annotate it for the release first.
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
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    ///   annotations: {helm.sh/hook: post-upgrade}
    /// ```
    /// ```text finding
    /// risks: ConfigMap demo moves from the release to a hook: the upgrade deletes it before the hook makes it anew
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
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// data: {a: b}
    /// ```
    ///
    /// ## References
    /// - Helm v4.3.1 `pkg/kube/client.go` `Update`
    severity: Risks
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    for change in &context.changes {
        let ChangeKind::Moved { from, to } = change.kind else { continue };
        let hooked = |place: Place| matches!(place, Place::Hook | Place::HookConfigMap);
        if change.object.kind == "CustomResourceDefinition" || hooked(from) == hooked(to) {
            continue;
        }
        let Some(item) = context.after.iter().find(|item| item.name == change.object && item.place == to)
        else {
            continue;
        };
        let what = match (from, to) {
            (Place::Templates, _) if kept(context, item) => {
                "its keep annotation lets the hook update it in place"
            }
            (Place::Templates, _) => "the upgrade deletes it before the hook makes it anew",
            (_, Place::Templates) => "the upgrade meets it without ownership metadata",
            _ => "nobody owned it before",
        };
        let message =
            format!("{} {} moves from {from} to {to}: {what}", change.object.kind, change.object.name);
        let kind = change.object.kind.to_lowercase();
        findings.say(Severity::Risks, message, rendered(item)).about(&change.object).advise(format!(
            "before the upgrade: kubectl annotate {kind} {} helm.sh/resource-policy=keep",
            change.object.name
        ));
        findings.claim(&change.object, "");
    }
}

fn kept(context: &Context<'_>, item: &crate::upgrade::inventory::Item) -> bool {
    context.item_before(item).is_some_and(|old| context.is_kept(old))
}
