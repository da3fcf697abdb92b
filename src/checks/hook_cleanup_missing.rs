//! Hooks that a failed run leaves in the way of the next.

use super::context::hook_place;
use super::{Context, Findings};
use crate::finding::Severity;
use crate::render::{DeletePolicy, HookEvent};

declare_check! {
    /// A hook lists delete policies, but not `before-hook-creation`.
    ///
    /// ## What breaks
    /// A hook object that is still there when the hook runs again stops the command: Helm 3 says `already exists`; Helm 4 with
    /// server-side apply changes nothing on a failed Job and gives up at once, or meets `field is immutable`. With only
    /// `hook-succeeded` one failed run blocks every later upgrade, however right the new chart is; with only `hook-failed` every
    /// successful run does.
    ///
    /// ## What to do
    /// Add `before-hook-creation` to `helm.sh/hook-delete-policy`, or leave the annotation out: it is the default. To get going again,
    /// delete the hook's object by hand.
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
    ///     helm.sh/hook: pre-upgrade
    ///     helm.sh/hook-delete-policy: hook-succeeded
    /// spec:
    ///   activeDeadlineSeconds: 120
    ///   template:
    ///     spec:
    ///       restartPolicy: Never
    ///       containers:
    ///       - name: c
    ///         image: alpine:3.21
    ///         command: [sh, -c, "true"]
    /// ```
    /// ```text finding
    /// breaks: hook Job demo-setup stays after a failed run (hook-succeeded): every later run is blocked
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
    ///     helm.sh/hook: pre-upgrade
    /// spec:
    ///   activeDeadlineSeconds: 120
    ///   template:
    ///     spec:
    ///       restartPolicy: Never
    ///       containers:
    ///       - name: c
    ///         image: alpine:3.21
    ///         command: [sh, -c, "true"]
    /// ```
    ///
    /// ## References
    /// - Helm v4.3.1 `pkg/action/hooks.go` `execHook`: the default policy is set only when none is given
    severity: Breaks
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    for hook in &context.facts_after.hooks {
        let policies = &hook.delete_policies;
        let again = hook.events.iter().any(|event| !matches!(event, HookEvent::Test | HookEvent::PostDelete));
        if !again || policies.contains(&DeletePolicy::BeforeHookCreation) {
            continue;
        }
        let (stays, named) = match (
            policies.contains(&DeletePolicy::HookSucceeded),
            policies.contains(&DeletePolicy::HookFailed),
        ) {
            (true, false) => ("a failed run", "hook-succeeded"),
            (false, true) => ("a successful run", "hook-failed"),
            _ => continue,
        };
        let (kind, name) = (&hook.object.kind, &hook.object.name);
        let message = format!("hook {kind} {name} stays after {stays} ({named}): every later run is blocked");
        findings
            .say(Severity::Breaks, message, hook_place(hook))
            .about(&hook.object)
            .when(format!("{stays} of the hook came before"))
            .advise(format!("kubectl delete {} {name} before the next try", kind.to_lowercase()));
    }
}
