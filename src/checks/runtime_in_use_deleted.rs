//! Runtimes that the upgrade deletes while jobs refer to them.

use std::sync::Arc;

use serde_json::Value;

use super::{Context, Findings};
use crate::finding::{Evidence, ObjectName, Severity};
use crate::k8s::{self, text};
use crate::upgrade::diff::ChangeKind;
use crate::upgrade::inventory::{Item, Place};

declare_check! {
    /// A runtime that jobs refer to leaves the release, or is already being deleted.
    ///
    /// ## What breaks
    /// The upgrade deletes it. A finalizer of the old manager holds it, a hook may apply the new one onto it while it is
    /// terminating, the command succeeds, and when the new manager takes over it removes the finalizer and the runtime is
    /// gone. Jobs that refer to it can't be updated, suspended ones can't resume, and no snapshot of it was taken.
    ///
    /// ## What to do
    /// Annotate the runtimes with `helm.sh/resource-policy=keep` before the upgrade: they are then updated in place, with the
    /// same UID. If they vanished already, run the same upgrade again.
    ///
    /// ## Example
    /// ```yaml before
    /// # Source: demo/templates/runtime.yaml
    /// apiVersion: trainer.kubeflow.org/v1alpha1
    /// kind: ClusterTrainingRuntime
    /// metadata:
    ///   name: torch
    /// spec:
    ///   mlPolicy: {numNodes: 1}
    ///   template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {containers: [{name: node, image: torch:2.10}]}}}}}]}}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// ```
    /// ```yaml state
    /// apiVersion: trainer.kubeflow.org/v1alpha1
    /// kind: ClusterTrainingRuntime
    /// metadata:
    ///   name: torch
    /// spec:
    ///   mlPolicy: {numNodes: 1}
    ///   template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {containers: [{name: node, image: torch:2.10}]}}}}}]}}
    /// ---
    /// apiVersion: trainer.kubeflow.org/v1alpha1
    /// kind: TrainJob
    /// metadata: {name: job, namespace: team}
    /// spec: {runtimeRef: {name: torch}}
    /// ```
    /// ```text finding
    /// loses: ClusterTrainingRuntime torch leaves the release while 1 TrainJob refers to it
    /// ```
    ///
    /// ## Not reported
    /// ```yaml before
    /// # Source: demo/templates/runtime.yaml
    /// apiVersion: trainer.kubeflow.org/v1alpha1
    /// kind: ClusterTrainingRuntime
    /// metadata:
    ///   name: torch
    /// spec:
    ///   mlPolicy: {numNodes: 1}
    ///   template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {containers: [{name: node, image: torch:2.10}]}}}}}]}}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/runtime.yaml
    /// apiVersion: trainer.kubeflow.org/v1alpha1
    /// kind: ClusterTrainingRuntime
    /// metadata:
    ///   name: torch
    /// spec:
    ///   mlPolicy: {numNodes: 1}
    ///   template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {containers: [{name: node, image: torch:2.13}]}}}}}]}}
    /// ```
    /// ```yaml state
    /// apiVersion: trainer.kubeflow.org/v1alpha1
    /// kind: ClusterTrainingRuntime
    /// metadata:
    ///   name: torch
    /// spec:
    ///   mlPolicy: {numNodes: 1}
    ///   template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {containers: [{name: node, image: torch:2.10}]}}}}}]}}
    /// ---
    /// apiVersion: trainer.kubeflow.org/v1alpha1
    /// kind: TrainJob
    /// metadata: {name: job, namespace: team}
    /// spec: {runtimeRef: {name: torch}}
    /// ```
    ///
    /// ## References
    /// - kubeflow/trainer v2.3.0 `pkg/controller/clustertrainingruntime_controller.go`
    severity: Loses
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    for change in &context.changes {
        let leaves =
            matches!(change.kind, ChangeKind::Removed | ChangeKind::Moved { from: Place::Templates, .. });
        if !leaves || !change.object.kind.ends_with("Runtime") {
            continue;
        }
        let Some(item) = context.before.iter().find(|item| item.name == change.object) else { continue };
        let users = users(context, item);
        if users.is_empty() || context.is_kept(item) {
            continue;
        }
        say(item, &users, "leaves the release", findings);
        findings.claim(&item.name, "");
    }
    terminating(context, findings);
}

fn terminating(context: &Context<'_>, findings: &mut Findings) {
    let runtimes =
        context.scene.state.iter().filter(|object| text(object, "/kind").ends_with("TrainingRuntime"));
    for runtime in runtimes.filter(|object| !text(object, "/metadata/deletionTimestamp").is_empty()) {
        let item = Item {
            group: k8s::Gvk::of(runtime).group,
            name: k8s::object_name(runtime),
            place: Place::Templates,
            source: String::new(),
            object: Arc::clone(runtime),
        };
        let users = users(context, &item);
        if !users.is_empty() {
            say(&item, &users, "is already being deleted", findings);
        }
    }
}

fn say(item: &Item, users: &[ObjectName], what: &str, findings: &mut Findings) {
    let n = users.len();
    let (jobs, refer) = if n == 1 { ("TrainJob", "refers") } else { ("TrainJobs", "refer") };
    let message = format!("{} {} {what} while {n} {jobs} {refer} to it", item.name.kind, item.name.name);
    let first = Evidence::State { object: users[0].clone(), detail: "spec.runtimeRef names it".to_owned() };
    findings
        .say(Severity::Loses, message, first)
        .about(&item.name)
        .because(Evidence::State {
            object: item.name.clone(),
            detail: format!(
                "referred to by {}",
                users.iter().map(|user| user.to_string()).collect::<Vec<_>>().join(", ")
            ),
        })
        .during(&["upgrade"])
        .advise(format!(
            "kubectl annotate {} {} helm.sh/resource-policy=keep",
            item.name.kind.to_lowercase(),
            item.name.name
        ));
}

/// Jobs whose `spec.runtimeRef` names the runtime.
fn users(context: &Context<'_>, runtime: &Item) -> Vec<ObjectName> {
    let refers = |object: &Value| {
        let kind = match text(object, "/spec/runtimeRef/kind") {
            "" => "ClusterTrainingRuntime",
            kind => kind,
        };
        let here = runtime.name.namespace.is_empty()
            || runtime.name.namespace == text(object, "/metadata/namespace");
        text(object, "/spec/runtimeRef/name") == runtime.name.name && kind == runtime.name.kind && here
    };
    context
        .scene
        .state
        .iter()
        .filter(|object| refers(object))
        .map(|object| k8s::object_name(object))
        .collect()
}
