//! Hook images that can change under the same name.

use super::context::hook_place;
use super::{Context, Findings};
use crate::finding::Severity;

declare_check! {
    /// A hook runs an image without a digest.
    ///
    /// ## What breaks
    /// The same upgrade runs other code tomorrow, and a registry that can't be reached or refuses stops it: the hook never
    /// starts. Without a tag, or with `latest`, the image is pulled every time.
    ///
    /// ## What to do
    /// Pin the image by digest, mirror it where the cluster can reach it, and set pull secrets for the hook's pods too.
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
    /// notes: hook Job demo-setup runs alpine:3.21, which is pinned by tag only
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
    ///         image: alpine@sha256:4bcff63911fcb4448bd4fdacec207030997caf25e9bea4045fa6c8c44de311d1
    ///         command: [sh, -c, "kubectl get nodes"]
    /// ```
    severity: Risks
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    for hook in &context.facts_after.hooks {
        for image in hook.images.iter().filter(|image| !image.contains("@sha256:")) {
            let (severity, how) = pinned(image);
            let message =
                format!("hook {} {} runs {image}, which is {how}", hook.object.kind, hook.object.name);
            findings.say(severity, message, hook_place(hook)).about(&hook.object).advise(advice(image));
        }
    }
}

fn advice(image: &str) -> String {
    // Advice may have lines of its own; an image may not make any.
    let image = image.escape_debug();
    format!(
        "set the image to NAME@sha256:… in the values (`docker buildx imagetools inspect {image}` prints the digest), from a registry that the cluster reaches"
    )
}

fn pinned(image: &str) -> (Severity, &'static str) {
    let name = image.rsplit('/').next().unwrap_or(image);
    match name.split_once(':') {
        None | Some((_, "" | "latest")) => (Severity::Risks, "not pinned at all"),
        Some(_) => (Severity::Notes, "pinned by tag only"),
    }
}
