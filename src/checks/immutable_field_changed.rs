//! Fields that the API server does not let change.

use super::{Context, Findings};
use crate::finding::{Evidence, Severity};
use crate::upgrade::diff::{ChangeKind, FieldChange};
use crate::upgrade::inventory::Place;

declare_check! {
    /// A field changes that the API server does not let change.
    ///
    /// ## What breaks
    /// The upgrade stops at this object with `field is immutable`; everything before it is already applied, and the release is
    /// `failed`. Every retry fails in the same place.
    ///
    /// ## What to do
    /// Delete the object before the upgrade (with `--cascade=orphan` where its pods should run on), or set the value that keeps
    /// the field as it was.
    ///
    /// ## Example
    /// ```yaml before
    /// # Source: demo/templates/app.yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: demo
    /// spec:
    ///   selector: {matchLabels: {app: a}}
    ///   template:
    ///     metadata: {labels: {app: a}}
    ///     spec: {containers: [{name: c, image: demo:1}]}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/app.yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: demo
    /// spec:
    ///   selector: {matchLabels: {app: b}}
    ///   template:
    ///     metadata: {labels: {app: b}}
    ///     spec: {containers: [{name: c, image: demo:1}]}
    /// ```
    /// ```text finding
    /// breaks: Deployment demo: spec.selector can't change: spec.selector.matchLabels.app
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
    ///   selector: {matchLabels: {app: a}}
    ///   template:
    ///     metadata: {labels: {app: a}}
    ///     spec: {containers: [{name: c, image: demo:1}]}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/app.yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: demo
    /// spec:
    ///   selector: {matchLabels: {app: a}}
    ///   template:
    ///     metadata: {labels: {app: a}}
    ///     spec: {containers: [{name: c, image: demo:2}]}
    /// ```
    ///
    /// ## References
    /// - kubernetes v1.34 `pkg/apis/apps/validation`, `pkg/apis/batch/validation`, `pkg/apis/core/validation`
    severity: Breaks
}

/// Kind, and the fields of it that can't change.
const IMMUTABLE: &[(&str, &[&str])] = &[
    ("ClusterRoleBinding", &["roleRef"]),
    ("ConfigMap", &[]),
    ("DaemonSet", &["spec.selector"]),
    ("Deployment", &["spec.selector"]),
    ("IngressClass", &["spec.controller"]),
    (
        "Job",
        &[
            "spec.selector",
            "spec.template",
            "spec.completions",
            "spec.completionMode",
            "spec.podFailurePolicy",
        ],
    ),
    (
        "PersistentVolumeClaim",
        &[
            "spec.accessModes",
            "spec.selector",
            "spec.storageClassName",
            "spec.volumeMode",
            "spec.volumeName",
            "spec.dataSource",
        ],
    ),
    ("PriorityClass", &["value", "preemptionPolicy"]),
    ("ReplicaSet", &["spec.selector"]),
    ("RoleBinding", &["roleRef"]),
    ("RuntimeClass", &["handler"]),
    ("Secret", &["type"]),
    ("Service", &["spec.clusterIP", "spec.clusterIPs"]),
    (
        "StatefulSet",
        &["spec.selector", "spec.serviceName", "spec.podManagementPolicy", "spec.volumeClaimTemplates"],
    ),
    ("StorageClass", &["provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"]),
];

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    for change in &context.changes {
        let stays = matches!(
            change.kind,
            ChangeKind::Changed | ChangeKind::Moved { from: Place::Templates, to: Place::Templates }
        );
        // Hooks are deleted before they are created again.
        let is_hook =
            context.after.iter().any(|item| item.name == change.object && item.place != Place::Templates);
        let Some((_, fields)) =
            IMMUTABLE.iter().find(|(kind, _)| stays && !is_hook && *kind == change.object.kind)
        else {
            continue;
        };
        for field in *fields {
            let touched: Vec<&FieldChange> =
                change.fields.iter().filter(|f| is_below(&f.path, field)).collect();
            let Some(first) = touched.first() else { continue };
            let paths: Vec<&str> = touched.iter().map(|f| f.path.as_str()).collect();
            let message = format!(
                "{} {}: {field} can't change: {}",
                change.object.kind,
                change.object.name,
                paths.join(", ")
            );
            let evidence = Evidence::Change {
                path: first.path.clone(),
                before: first.before.clone(),
                after: first.after.clone(),
            };
            findings.say(Severity::Breaks, message, evidence).about(&change.object).during(&["upgrade"]);
            findings.claim(&change.object, field);
        }
    }
}

fn is_below(path: &str, field: &str) -> bool {
    path.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}
