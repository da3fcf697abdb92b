//! Custom objects of the release with fields that the definition in force does not have.

use std::sync::Arc;

use serde_json::Value;

use super::context::{is_crd, rendered};
use super::{Context, Findings};
use crate::finding::{Evidence, ObjectName, Severity};
use crate::k8s::{self, Gvk};
use crate::upgrade::inventory::{Item, Place};

declare_check! {
    /// A custom object of the release uses fields that its CRD, as it stays in the cluster, does not have.
    ///
    /// ## What breaks
    /// The definition in force is the live one: what lies in `crds/` is not upgraded. Client-side (Helm 3, and Helm 4 on a release that
    /// Helm 3 made) the server drops the unknown fields and only warns: the setting has no effect, and a limit that is dropped is no
    /// limit. Server-side apply (Helm 4) refuses the object: `field not declared in schema`.
    ///
    /// ## What to do
    /// Apply the new definition before the upgrade: `kubectl apply --server-side --force-conflicts -f FILE`.
    ///
    /// ## Example
    /// ```yaml before
    /// # Source: demo/crds/w.yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata:
    ///   name: widgets.example.test
    /// spec:
    ///   group: example.test
    ///   names: {kind: Widget, plural: widgets}
    ///   scope: Namespaced
    ///   versions:
    ///   - name: v1
    ///     served: true
    ///     storage: true
    ///     schema:
    ///       openAPIV3Schema:
    ///         type: object
    ///         properties:
    ///           spec:
    ///             type: object
    ///             properties:
    ///               size: {type: integer}
    /// ```
    /// ```yaml after
    /// # Source: demo/crds/w.yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata:
    ///   name: widgets.example.test
    /// spec:
    ///   group: example.test
    ///   names: {kind: Widget, plural: widgets}
    ///   scope: Namespaced
    ///   versions:
    ///   - name: v1
    ///     served: true
    ///     storage: true
    ///     schema:
    ///       openAPIV3Schema:
    ///         type: object
    ///         properties:
    ///           spec:
    ///             type: object
    ///             properties:
    ///               size: {type: integer}
    ///               limit: {type: integer}
    /// # Source: demo/templates/widget.yaml
    /// apiVersion: example.test/v1
    /// kind: Widget
    /// metadata:
    ///   name: main
    /// spec: {size: 1, limit: 5}
    /// ```
    /// ```text finding
    /// risks: Widget main uses fields that its CRD, which is not upgraded, does not have: spec.limit
    /// ```
    ///
    /// ## Not reported
    /// ```yaml before
    /// # Source: demo/templates/w.yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata:
    ///   name: widgets.example.test
    /// spec:
    ///   group: example.test
    ///   names: {kind: Widget, plural: widgets}
    ///   scope: Namespaced
    ///   versions:
    ///   - name: v1
    ///     served: true
    ///     storage: true
    ///     schema:
    ///       openAPIV3Schema:
    ///         type: object
    ///         properties:
    ///           spec:
    ///             type: object
    ///             properties:
    ///               size: {type: integer}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/w.yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata:
    ///   name: widgets.example.test
    /// spec:
    ///   group: example.test
    ///   names: {kind: Widget, plural: widgets}
    ///   scope: Namespaced
    ///   versions:
    ///   - name: v1
    ///     served: true
    ///     storage: true
    ///     schema:
    ///       openAPIV3Schema:
    ///         type: object
    ///         properties:
    ///           spec:
    ///             type: object
    ///             properties:
    ///               size: {type: integer}
    ///               limit: {type: integer}
    /// # Source: demo/templates/widget.yaml
    /// apiVersion: example.test/v1
    /// kind: Widget
    /// metadata:
    ///   name: main
    /// spec: {size: 1, limit: 5}
    /// ```
    ///
    /// ## References
    /// - kubernetes v1.34 `apiextensions-apiserver/pkg/apiserver/schema/pruning`; Helm v4.3.1 `pkg/kube/client.go`
    severity: Risks
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    for item in context.after.iter().filter(|item| item.place == Place::Templates && !is_crd(item)) {
        let Some((crd, definition)) = in_force(context, item) else { continue };
        let version = Gvk::of(&item.object).version;
        let Some(schema) = context.structural(&definition, &version) else { continue };
        let unknown = schema.unknown_fields(&item.object);
        if unknown.is_empty() {
            continue;
        }
        let message = format!(
            "{} {} uses fields that its CRD, which is not upgraded, does not have: {}",
            item.name.kind,
            item.name.name,
            unknown.join(", ")
        );
        let detail = format!("{version} has no {}", unknown.join(", "));
        findings
            .say(Severity::Risks, message, rendered(item))
            .because(Evidence::State { object: crd.clone(), detail })
            .about(&item.name)
            .about(&crd)
            .during(&["upgrade"]);
    }
}

/// The definition that will be live while the release is applied.
fn in_force(context: &Context<'_>, item: &Item) -> Option<(ObjectName, Arc<Value>)> {
    let defines = |crd: &Value| {
        k8s::text(crd, "/kind") == "CustomResourceDefinition"
            && k8s::text(crd, "/spec/group") == item.group
            && k8s::text(crd, "/spec/names/kind") == item.name.kind
    };
    // The release itself brings a new one before its custom objects.
    if context.crds_after().any(|crd| crd.place != Place::Crds && defines(&crd.object)) {
        return None;
    }
    let live = context.scene.state.iter().find(|object| defines(object));
    let old = || context.before.iter().map(|crd| &crd.object).find(|object| defines(object));
    let definition = live.or_else(old)?;
    Some((k8s::object_name(definition), Arc::clone(definition)))
}
