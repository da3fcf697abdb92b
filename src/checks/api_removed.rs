//! API versions that the cluster does not serve any more.

use super::context::rendered;
use super::{Context, Findings};
use crate::finding::Severity;
use crate::k8s::{Gvk, catalogue};
use crate::schema::KubeVersion;
use crate::upgrade::inventory::{Item, Place};

declare_check! {
    /// An object of the release is written in an API version that the cluster does not serve.
    ///
    /// ## What breaks
    /// Helm reads every object of the installed and of the new manifest before it writes anything: an unknown version stops the upgrade
    /// with `no matches for kind …`. What the *installed* manifest says counts too, although the live objects are long served in a newer
    /// version: no chart version helps then, and `helm uninstall` fails as well and leaves the release in `uninstalling`.
    ///
    /// ## What to do
    /// For the installed manifest: rewrite the stored release (the `mapkubeapis` plugin does), best before the cluster is upgraded. For
    /// the new chart: take a version of it that knows the cluster's APIs.
    ///
    /// ## Example
    /// ```yaml before
    /// # Source: demo/templates/budget.yaml
    /// apiVersion: policy/v1beta1
    /// kind: PodDisruptionBudget
    /// metadata:
    ///   name: demo
    /// spec: {maxUnavailable: 1, selector: {matchLabels: {app: a}}}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/budget.yaml
    /// apiVersion: policy/v1
    /// kind: PodDisruptionBudget
    /// metadata:
    ///   name: demo
    /// spec: {maxUnavailable: 1, selector: {matchLabels: {app: a}}}
    /// ```
    /// ```text finding
    /// breaks: PodDisruptionBudget demo of the installed release is policy/v1beta1, which Kubernetes 1.34 does not serve
    /// ```
    ///
    /// ## Not reported
    /// ```yaml before
    /// # Source: demo/templates/budget.yaml
    /// apiVersion: policy/v1
    /// kind: PodDisruptionBudget
    /// metadata:
    ///   name: demo
    /// spec: {maxUnavailable: 1, selector: {matchLabels: {app: a}}}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/budget.yaml
    /// apiVersion: policy/v1
    /// kind: PodDisruptionBudget
    /// metadata:
    ///   name: demo
    /// spec: {maxUnavailable: 1, selector: {matchLabels: {app: a}}}
    /// ```
    ///
    /// ## References
    /// - Helm v4.3.1 `pkg/action/upgrade.go` `performUpgrade`; https://kubernetes.io/docs/reference/using-api/deprecation-guide/
    severity: Breaks
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    let Some(cluster) = KubeVersion::parse(context.scene.kubernetes) else { return };
    let sides: [(&[Item], &str, &[&'static str]); 2] = [
        (&context.before, "the installed release", &["upgrade", "rollback", "uninstall"]),
        (&context.after, "the new release", &["install", "upgrade"]),
    ];
    for (items, release, operations) in sides {
        for item in items.iter().filter(|item| item.place == Place::Templates) {
            let gvk = Gvk::of(&item.object);
            if is_served(&gvk, u32::from(cluster.minor)) {
                continue;
            }
            let message = format!(
                "{} {} of {release} is {}/{}, which Kubernetes {}.{} does not serve",
                item.name.kind, item.name.name, gvk.group, gvk.version, cluster.major, cluster.minor
            );
            findings.say(Severity::Breaks, message, rendered(item)).about(&item.name).during(operations);
        }
    }
}

/// Whether a built-in kind is served in this version; kinds of others are not known here.
fn is_served(gvk: &Gvk, minor: u32) -> bool {
    catalogue::by_kind(&gvk.group, &gvk.kind)
        .is_none_or(|kind| kind.served(minor).any(|version| version == gvk.version))
}
