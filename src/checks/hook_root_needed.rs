//! Hooks whose pods may run as root.

use super::context::hook_place;
use super::{Context, Findings};
use crate::finding::Severity;

declare_check! {
    /// A hook's pod may run as root: nothing forbids it.
    ///
    /// ## What breaks
    /// In a namespace that enforces the restricted Pod Security level the pods are refused: the Job never starts, Helm waits
    /// until its timeout and fails, with the chart applied and old objects deleted.
    ///
    /// ## What to do
    /// Look at the namespace's labels (`kubectl get ns NAME --show-labels`). Where `pod-security.kubernetes.io/enforce` is
    /// `restricted`, install into another namespace, or run with `--no-hooks` and do the hook's work by hand.
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
    /// # Source: demo/templates/job.yaml
    /// apiVersion: batch/v1
    /// kind: Job
    /// metadata:
    ///   name: demo-setup
    ///   annotations:
    ///     helm.sh/hook: post-install,post-upgrade
    /// spec:
    ///   activeDeadlineSeconds: 120
    ///   template:
    ///     spec:
    ///       restartPolicy: Never
    ///       containers:
    ///       - name: c
    ///         image: alpine:3.21
    ///         command: [sh, -c, "kubectl get nodes"]
    /// ```
    /// ```text finding
    /// notes: hook Job demo-setup may run as root
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
    /// # Source: demo/templates/job.yaml
    /// apiVersion: batch/v1
    /// kind: Job
    /// metadata:
    ///   name: demo-setup
    ///   annotations:
    ///     helm.sh/hook: post-install,post-upgrade
    /// spec:
    ///   activeDeadlineSeconds: 120
    ///   template:
    ///     spec:
    ///       restartPolicy: Never
    ///       securityContext: {runAsNonRoot: true, runAsUser: 1000}
    ///       containers:
    ///       - name: c
    ///         image: alpine:3.21
    ///         command: [sh, -c, "kubectl get nodes"]
    /// ```
    severity: Breaks
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    let restricted = context.scene.state.iter().any(|object| {
        crate::k8s::text(object, "/kind") == "Namespace"
            && crate::k8s::text(object, "/metadata/name") == context.scene.namespace
            && crate::k8s::label(object, "pod-security.kubernetes.io/enforce") == Some("restricted")
    });
    for hook in context.facts_after.hooks.iter().filter(|hook| hook.may_be_root) {
        let (severity, end) = if restricted {
            (Severity::Breaks, ", which the namespace forbids")
        } else {
            (Severity::Notes, "")
        };
        let message = format!("hook {} {} may run as root{end}", hook.object.kind, hook.object.name);
        findings
            .say(severity, message, hook_place(hook))
            .about(&hook.object)
            .advise(advice(context.scene.namespace, restricted));
    }
}

fn advice(namespace: &str, restricted: bool) -> String {
    let around = "use another namespace, or run with --no-hooks and do the hook's work by hand";
    if restricted {
        around.to_owned()
    } else {
        format!(
            "kubectl get ns {namespace} --show-labels; where pod-security.kubernetes.io/enforce is restricted, {around}"
        )
    }
}
