//! The old flag that keeps unknown fields, against the definition that comes.

use serde_json::Value;

use super::context::{Present, rendered};
use super::{Context, Findings};
use crate::finding::{Evidence, Severity};
use crate::k8s::At as _;
use crate::upgrade::inventory::{Item, Place};

declare_check! {
    /// A live CRD keeps unknown fields (`preserveUnknownFields: true`, from the times of v1beta1), and the new definition does not go with that.
    ///
    /// ## What breaks
    /// A new definition that does not mention the flag is merged with the live one, which keeps it: where the new schema has defaults,
    /// the server refuses the result. A definition that says `preserveUnknownFields: false` switches pruning on: fields that the schema
    /// does not know vanish from every stored object on the next read, and are lost at its next write. Only the live definition shows
    /// the flag, so give `--state`.
    ///
    /// ## What to do
    /// Look for unknown fields in stored objects first, then switch the flag off by hand:
    /// `kubectl patch crd NAME --type=merge -p '{"spec":{"preserveUnknownFields":false}}'`.
    ///
    /// ## Example
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
    ///               size: {type: integer, default: 1}
    /// ```
    /// ```yaml state
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata:
    ///   name: widgets.example.test
    /// spec:
    ///   group: example.test
    ///   names: {kind: Widget, plural: widgets}
    ///   scope: Namespaced
    ///   preserveUnknownFields: true
    ///   versions: []
    /// ```
    /// ```text finding
    /// breaks: CRD widgets.example.test keeps unknown fields (preserveUnknownFields: true); a schema with defaults is refused
    /// risks: CRD widgets.example.test: replacing the definition switches pruning on, unknown fields of stored objects are lost
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
    ///               size: {type: integer, default: 1}
    /// ```
    ///
    /// ## References
    /// - kubernetes v1.34 `apiextensions-apiserver/pkg/apis/apiextensions/validation`: `must be false in order to use defaults in the schema`
    severity: Breaks
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    for item in context.crds_after().filter(|item| item.place != Place::Crds) {
        let Some(old) = context.present(item).filter(|old| flag(old.object) == Some(true)) else { continue };
        match flag(&item.object) {
            Some(true) => {}
            Some(false) => pruned(item, &old, "the new definition", findings),
            None => {
                refused(item, &old, findings);
                pruned(item, &old, "replacing the definition", findings);
            }
        }
    }
}

fn flag(crd: &Value) -> Option<bool> {
    crd.at("/spec/preserveUnknownFields").and_then(Value::as_bool)
}

fn evidence(item: &Item, old: &Present<'_>) -> Evidence {
    let detail = format!("spec.preserveUnknownFields of the {} is true", old.word());
    Evidence::State { object: item.name.clone(), detail }
}

// Merged, the flag stays.
fn refused(item: &Item, old: &Present<'_>, findings: &mut Findings) {
    if !has_defaults(&item.object, 0) {
        return;
    }
    let name = &item.name.name;
    let message = format!(
        "CRD {name} keeps unknown fields (preserveUnknownFields: true); a schema with defaults is refused"
    );
    findings
        .say(Severity::Breaks, message, evidence(item, old))
        .because(rendered(item))
        .about(&item.name)
        .during(&["upgrade"])
        .advise(format!(
            "kubectl patch crd {name} --type=merge -p '{{\"spec\":{{\"preserveUnknownFields\":false}}}}'"
        ));
}

fn pruned(item: &Item, old: &Present<'_>, by: &str, findings: &mut Findings) {
    let message = format!(
        "CRD {}: {by} switches pruning on, unknown fields of stored objects are lost",
        item.name.name
    );
    findings.say(Severity::Risks, message, evidence(item, old)).because(rendered(item)).about(&item.name);
}

/// Whether a schema has a default anywhere; a property may be called so too.
fn has_defaults(value: &Value, depth: usize) -> bool {
    if depth > 200 {
        return false;
    }
    match value {
        Value::Array(items) => items.iter().any(|item| has_defaults(item, depth + 1)),
        Value::Object(map) => {
            (map.contains_key("default") && map.contains_key("type"))
                || map.values().any(|member| has_defaults(member, depth + 1))
        }
        _ => false,
    }
}
