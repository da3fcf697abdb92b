//! Default runtimes that come, go or change.

use super::{Context, Findings};
use crate::finding::{Evidence, ObjectName, Severity};
use crate::render::facts::Runtime;
use crate::upgrade::diff::fields;

declare_check! {
    /// A default runtime of the chart is added, removed or changed.
    ///
    /// ## What breaks
    /// Jobs that start after the upgrade run with the new image and policy. Suspended and queued jobs are rendered again, and
    /// where fields differ that their JobSet does not let change they can never start. A runtime that goes away takes its
    /// jobs' updates with it: nothing that refers to it is admitted any more.
    ///
    /// ## What to do
    /// Pin what you rely on in a runtime of your own, with another name and without the chart's labels. Let suspended jobs
    /// finish, or give them a snapshot of the old runtime, before the upgrade.
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
    /// # Source: demo/templates/runtime.yaml
    /// apiVersion: trainer.kubeflow.org/v1alpha1
    /// kind: ClusterTrainingRuntime
    /// metadata:
    ///   name: torch
    /// spec:
    ///   mlPolicy: {numNodes: 1}
    ///   template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {containers: [{name: node, image: torch:2.13}]}}}}}]}}
    /// ```
    /// ```text finding
    /// risks: default runtime torch changes: image torch:2.10 → torch:2.13
    /// ```
    ///
    /// Images that stay are not told:
    ///
    /// ```yaml before
    /// # Source: demo/templates/runtime.yaml
    /// apiVersion: trainer.kubeflow.org/v1alpha1
    /// kind: ClusterTrainingRuntime
    /// metadata:
    ///   name: torch
    /// spec:
    ///   mlPolicy: {numNodes: 1}
    ///   template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {containers: [{name: a, image: helper:1}, {name: node, image: torch:2.10}]}}}}}]}}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/runtime.yaml
    /// apiVersion: trainer.kubeflow.org/v1alpha1
    /// kind: ClusterTrainingRuntime
    /// metadata:
    ///   name: torch
    /// spec:
    ///   mlPolicy: {numNodes: 1}
    ///   template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {containers: [{name: a, image: helper:1}, {name: node, image: torch:2.13}]}}}}}]}}
    /// ```
    /// ```text finding
    /// risks: default runtime torch changes: image torch:2.10 → torch:2.13
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
    ///   template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {containers: [{name: node, image: torch:2.10}]}}}}}]}}
    /// ```
    ///
    /// ## References
    /// - kubeflow/trainer v2.3.0 `pkg/runtime/core`
    severity: Risks
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    let (before, after) = (&context.facts_before.runtimes, &context.facts_after.runtimes);
    for new in after {
        match before.iter().find(|old| old.object_name == new.object_name) {
            None => say(findings, new, Severity::Notes, "is new", &[]),
            Some(old) => compare(old, new, findings),
        }
    }
    for old in before.iter().filter(|old| !after.iter().any(|new| new.object_name == old.object_name)) {
        say(findings, old, Severity::Risks, "goes away", &[]);
        findings.claim(&old.object_name, "");
    }
}

fn compare(old: &Runtime, new: &Runtime, findings: &mut Findings) {
    let mut words = Vec::new();
    words.extend(images(old, new));
    if old.ml_policy != new.ml_policy {
        words.push("mlPolicy".to_owned());
    }
    let spec = |runtime: &Runtime| runtime.object.get("spec").cloned().unwrap_or_default();
    let changes = fields(&spec(old), &spec(new));
    let others = changes
        .iter()
        .filter(|change| !change.path.contains("image") && !change.path.starts_with("mlPolicy"));
    words.extend(others.take(4).map(|change| format!("spec.{}", change.path)));
    if words.is_empty() {
        return;
    }
    let evidence: Vec<Evidence> = changes
        .into_iter()
        .take(10)
        .map(|change| Evidence::Change {
            path: format!("spec.{}", change.path),
            before: change.before,
            after: change.after,
        })
        .collect();
    say(findings, new, Severity::Risks, &format!("changes: {}", words.join("; ")), &evidence);
    findings.claim(&new.object_name, "spec");
}

/// The images that are not in both, in order and each once.
fn images(old: &Runtime, new: &Runtime) -> Option<String> {
    let only = |here: &Runtime, there: &Runtime| {
        let mut only: Vec<&str> = Vec::new();
        for image in here.images.iter().filter(|image| !there.images.contains(image)) {
            if !only.contains(&image.as_str()) {
                only.push(image);
            }
        }
        only.join(", ")
    };
    match (only(old, new), only(new, old)) {
        (gone, come) if gone.is_empty() && come.is_empty() => {
            (old.images != new.images).then(|| "images in other places".to_owned())
        }
        (gone, come) if gone.is_empty() => Some(format!("new image {come}")),
        (gone, come) if come.is_empty() => Some(format!("image {gone} goes")),
        (gone, come) => Some(format!("image {gone} → {come}")),
    }
}

/// What to do before a runtime goes or changes; a new one asks for nothing.
fn advice(runtime: &Runtime, severity: Severity) -> Option<String> {
    let ObjectName { kind, name, .. } = &runtime.object_name;
    (severity > Severity::Notes).then(|| format!(
        "before the upgrade: keep what you rely on as a runtime of your own (kubectl get {} {name} -o yaml, another name, without the chart's labels); let suspended jobs finish, or seed each one's <job>-runtime-snapshot ConfigMap from the runtime that is live now",
        kind.to_lowercase()
    ))
}

fn say(findings: &mut Findings, runtime: &Runtime, severity: Severity, what: &str, evidence: &[Evidence]) {
    let message = format!("default runtime {} {what}", runtime.object_name.name);
    let place = Evidence::State {
        object: runtime.object_name.clone(),
        detail: match (&runtime.source, &runtime.applied_by) {
            (Some(source), _) => format!("release object, {source}"),
            (None, Some((hook, config_map, key))) => {
                format!("applied by {hook} from {config_map}, key {key}")
            }
            (None, None) => "in the render".to_owned(),
        },
    };
    let said = findings.say(severity, message, place).about(&runtime.object_name);
    let said = evidence.iter().cloned().fold(said, super::findings::Said::because);
    advice(runtime, severity).into_iter().fold(said, super::findings::Said::advise);
}
