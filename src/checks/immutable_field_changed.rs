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
            if stays_without(&change.object.kind, field, first) {
                continue;
            }
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

/// Whether the server keeps or fills in a field that the new manifest leaves out.
fn stays_without(kind: &str, field: &str, change: &FieldChange) -> bool {
    let left_out = change.after.as_ref().is_none_or(|after| *after == "" || *after == serde_json::json!([]));
    let opaque = change.before.as_ref().is_none_or(|before| before == "Opaque")
        && change.after.as_ref().is_none_or(|after| after == "Opaque");
    match (kind, field) {
        ("Service", "spec.clusterIP" | "spec.clusterIPs") => left_out,
        ("Secret", "type") => opaque,
        _ => false,
    }
}

fn is_below(path: &str, field: &str) -> bool {
    path.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn change(before: Option<Value>, after: Option<Value>) -> FieldChange {
        FieldChange { path: "x".to_owned(), before, after }
    }

    #[test]
    fn what_the_server_keeps_or_fills_in_is_no_change() {
        let left_out = |before: &str| change(Some(json!(before)), None);
        assert!(stays_without("Service", "spec.clusterIP", &left_out("None")));
        assert!(!stays_without(
            "Service",
            "spec.clusterIP",
            &change(Some(json!("None")), Some(json!("10.0.0.1")))
        ));
        assert!(stays_without(
            "Service",
            "spec.clusterIP",
            &change(Some(json!("10.0.0.1")), Some(json!("")))
        ));
        assert!(stays_without("Secret", "type", &left_out("Opaque")));
        assert!(stays_without("Secret", "type", &change(None, Some(json!("Opaque")))));
        assert!(!stays_without("Secret", "type", &left_out("kubernetes.io/tls")));
        assert!(!stays_without("StorageClass", "parameters", &left_out("a")));
    }
}
