//! Hooks that delete whatever carries a label.

use super::context::hook_place;
use super::{Context, Findings};
use crate::finding::Severity;

declare_check! {
    /// A hook deletes objects by a label selector.
    ///
    /// ## What breaks
    /// Whatever carries the label goes, also a copy that a user made from an object of the chart, labels included.
    ///
    /// ## What to do
    /// Remove the label from your own copies before the upgrade. List what would go:
    /// `kubectl get KIND -l SELECTOR`.
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
    ///         command: [sh, -c, "kubectl delete widgets -l app=demo"]
    /// ```
    /// ```text finding
    /// risks: hook Job demo-setup deletes by label: app=demo
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
    ///         command: [sh, -c, "kubectl delete widget demo"]
    /// ```
    severity: Risks
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    for hook in &context.facts_after.hooks {
        for command in &hook.commands {
            let Some(selector) = prunes(command) else { continue };
            let message =
                format!("hook {} {} deletes by label: {selector}", hook.object.kind, hook.object.name);
            let said = findings.say(Severity::Risks, message, hook_place(hook)).about(&hook.object);
            let carrying = context.scene.state.iter().filter(|object| carries(object, &selector));
            let said = carrying.fold(said, |said, object| said.about(&crate::k8s::object_name(object)));
            said.advise(format!("take the label off your own copies before the upgrade; `kubectl get KIND -A -l {selector}` finds what the hook would delete"));
        }
    }
}

// `kubectl delete … -l X`, or a loop that deletes what `kubectl get … -l X` lists.
fn prunes(script: &str) -> Option<String> {
    let deletes = script.contains("kubectl delete") || script.contains("delete \"$");
    let commands = script.split(['\n', ';', '|', '(', ')']).filter(|line| {
        line.contains("kubectl delete") || (line.contains("kubectl get") && script.contains("kubectl delete"))
    });
    let selector = commands.into_iter().find_map(selector);
    if deletes { selector } else { None }
}

fn selector(command: &str) -> Option<String> {
    let mut words = command.split_whitespace();
    while let Some(word) = words.next() {
        match word {
            "-l" | "--selector" => return words.next().map(clean),
            _ => {
                let inline = word.strip_prefix("--selector=").or_else(|| word.strip_prefix("-l="));
                if let Some(selector) = inline {
                    return Some(clean(selector));
                }
            }
        }
    }
    None
}

fn clean(selector: &str) -> String {
    selector.trim_matches(['"', '\'']).to_owned()
}

fn carries(object: &serde_json::Value, selector: &str) -> bool {
    selector.split(',').all(|term| match term.split_once('=') {
        Some((key, value)) => crate::k8s::label(object, key) == Some(value.trim_start_matches('=')),
        None => crate::k8s::label(object, term).is_some(),
    })
}
