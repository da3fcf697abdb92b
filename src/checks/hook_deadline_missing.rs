//! Hook Jobs that may run for ever.

use super::context::hook_place;
use super::{Context, Findings};
use crate::finding::Severity;

declare_check! {
    /// A hook Job has no `activeDeadlineSeconds`.
    ///
    /// ## What breaks
    /// A Job that can't start (its image can't be pulled, admission refuses its pods) never fails: Helm waits until its own
    /// timeout, the release ends as `failed`, and the Job goes on trying afterwards. With `--atomic` the wait ends in a
    /// rollback.
    ///
    /// ## What to do
    /// Give hook Jobs a deadline below Helm's `--timeout` (5 minutes by default) and a small `backoffLimit`.
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
    ///   template:
    ///     spec:
    ///       restartPolicy: Never
    ///       containers:
    ///       - name: c
    ///         image: alpine:3.21
    ///         command: [sh, -c, "kubectl get nodes"]
    /// ```
    /// ```text finding
    /// notes: hook Job demo-setup has no deadline
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
    ///       containers:
    ///       - name: c
    ///         image: alpine:3.21
    ///         command: [sh, -c, "kubectl get nodes"]
    /// ```
    ///
    /// ## References
    /// - Helm v4.3.1 `pkg/action/hooks.go` `execHook`
    severity: Notes
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    for hook in &context.facts_after.hooks {
        if hook.object.kind == "Job" && hook.deadline.is_none() {
            let message = format!("hook Job {} has no deadline", hook.object.name);
            findings
                .say(Severity::Notes, message, hook_place(hook))
                .about(&hook.object)
                .advise("set spec.activeDeadlineSeconds below Helm's --timeout");
        }
    }
}
