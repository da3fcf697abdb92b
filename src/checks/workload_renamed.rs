//! Workloads that come back under another name.

use std::collections::BTreeSet;

use serde_json::Value;

use super::context::rendered;
use super::{Context, Findings};
use crate::finding::{ObjectName, Severity};
use crate::k8s;
use crate::k8s::At as _;
use crate::upgrade::diff::{Change, ChangeKind};

declare_check! {
    /// A workload goes away and one of the same kind with the same containers comes under another name.
    ///
    /// ## What breaks
    /// Helm creates the new one before it deletes the old one: both run for a while, which programs that must be alone notice. The pods
    /// are new, history and revision are those of a new object, and whatever addresses the workload by name (autoscalers, monitors,
    /// network policies of others, `kubectl rollout`) does not find it any more. A StatefulSet leaves its volumes behind under the old
    /// name and starts with empty ones.
    ///
    /// ## What to do
    /// Where the old name has to stay, pin it in the values (`fullnameOverride` in most charts), and compare the selectors then.
    ///
    /// ## Example
    /// ```yaml before
    /// # Source: demo/templates/app.yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: demo
    /// spec:
    ///   selector: {matchLabels: {app: demo}}
    ///   template:
    ///     metadata: {labels: {app: demo}}
    ///     spec: {containers: [{name: c, image: "demo:1"}]}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/app.yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: demo-server
    /// spec:
    ///   selector: {matchLabels: {app: demo}}
    ///   template:
    ///     metadata: {labels: {app: demo}}
    ///     spec: {containers: [{name: c, image: "demo:1"}]}
    /// ```
    /// ```text finding
    /// risks: Deployment demo is replaced by demo-server; both may run for a while
    /// ```
    ///
    /// ## Not reported
    /// ```yaml before
    /// # Source: demo/templates/app.yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: demo
    /// spec:
    ///   selector: {matchLabels: {app: demo}}
    ///   template:
    ///     metadata: {labels: {app: demo}}
    ///     spec: {containers: [{name: c, image: "demo:1"}]}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/app.yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: demo
    /// spec:
    ///   selector: {matchLabels: {app: demo}}
    ///   template:
    ///     metadata: {labels: {app: demo}}
    ///     spec: {containers: [{name: c, image: "demo:2"}]}
    /// ```
    ///
    /// ## References
    /// - Helm v4.3.1 `pkg/kube/client.go` `Update`: what the new manifest lacks is deleted last
    severity: Risks
}

const WORKLOADS: &[&str] = &["DaemonSet", "Deployment", "StatefulSet"];

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    let changes = |kind: ChangeKind| {
        context
            .changes
            .iter()
            .filter(move |change| change.kind == kind && WORKLOADS.contains(&change.object.kind.as_str()))
    };
    let mut taken = BTreeSet::new();
    for old in changes(ChangeKind::Removed) {
        let mut heirs = changes(ChangeKind::Added).filter(|new| is_heir(context, old, new));
        let Some(new) = heirs.find(|new| !taken.contains(&new.object)) else { continue };
        taken.insert(new.object.clone());
        say(context, old, new, findings);
    }
}

fn is_heir(context: &Context<'_>, old: &Change, new: &Change) -> bool {
    let before = context.before.iter().find(|item| item.name == old.object);
    let after = context.after.iter().find(|item| item.name == new.object);
    let (Some(before), Some(after)) = (before, after) else { return false };
    let runs = programs(&before.object);
    old.object.kind == new.object.kind && !runs.is_empty() && runs == programs(&after.object)
}

/// Images of the containers without their tags.
fn programs(workload: &Value) -> BTreeSet<String> {
    let containers = workload.at("/spec/template/spec/containers").and_then(Value::as_array);
    let images = containers.into_iter().flatten().map(|container| k8s::text(container, "/image"));
    images.map(without_tag).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn without_tag(image: &str) -> &str {
    let image = image.split('@').next().unwrap_or(image);
    match image.rfind(':') {
        Some(at) if !image[at..].contains('/') => &image[..at],
        _ => image,
    }
}

fn say(context: &Context<'_>, old: &Change, new: &Change, findings: &mut Findings) {
    let item = context.after.iter().find(|item| item.name == new.object);
    let Some(item) = item else { return };
    let ObjectName { kind, name, .. } = &old.object;
    let message = format!("{kind} {name} is replaced by {}; both may run for a while", new.object.name);
    findings
        .say(Severity::Risks, message, rendered(item))
        .about(&old.object)
        .about(&new.object)
        .during(&["upgrade"]);
    findings.claim(&old.object, "");
    findings.claim(&new.object, "");
}
