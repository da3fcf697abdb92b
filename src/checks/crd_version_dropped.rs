//! Versions that leave a CRD while objects may still be stored in them.

use serde_json::Value;

use super::context::{Present, rendered};
use super::{Context, Findings};
use crate::finding::{Evidence, Severity};
use crate::k8s;
use crate::k8s::At as _;
use crate::schema::crd;
use crate::upgrade::inventory::{Item, Place};

declare_check! {
    /// A CRD loses a version in which objects are stored.
    ///
    /// ## What breaks
    /// The API server refuses the definition: `status.storedVersions[0]: Invalid value: "v1alpha1": missing from spec.versions`. The
    /// upgrade stops there. The version stays in `status.storedVersions` even when another has become the storage version, until
    /// somebody takes it out; what the charts say does not matter, only the live status does.
    ///
    /// ## What to do
    /// Upgrade to a version whose CRD still has both, write every object once (`kubectl get KIND -A -o json | kubectl replace -f -`),
    /// take the old version out of the status, then go on:
    /// `kubectl patch crd NAME --subresource=status --type=merge -p '{"status":{"storedVersions":["v1"]}}'`.
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
    ///   - name: v1alpha1
    ///     served: true
    ///     storage: true
    ///     schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
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
    ///     schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
    /// ```
    /// ```text finding
    /// breaks: CRD widgets.example.test: version v1alpha1 goes away, but objects are stored in it: the definition is refused
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
    ///   - name: v1alpha1
    ///     served: true
    ///     storage: true
    ///     schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
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
    ///   - name: v1alpha1
    ///     served: true
    ///     storage: false
    ///     schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
    ///   - name: v1
    ///     served: true
    ///     storage: true
    ///     schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
    /// ```
    ///
    /// ## References
    /// - kubernetes v1.34 `apiextensions-apiserver/pkg/apis/apiextensions/validation` `ValidateCustomResourceDefinitionUpdate`
    severity: Breaks
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    for item in context.crds_after().filter(|item| item.place != Place::Crds) {
        let Some(Present { object: old, live }) = context.present(item) else { continue };
        for version in stored(old).into_iter().filter(|version| !versions(&item.object).contains(version)) {
            let known = if live { "live" } else { "old" };
            let evidence = Evidence::State {
                object: item.name.clone(),
                detail: format!("stored versions of the {known} definition: {}", stored(old).join(", ")),
            };
            say(item, &version, evidence, findings);
        }
    }
}

fn say(item: &Item, version: &str, evidence: Evidence, findings: &mut Findings) {
    let name = &item.name.name;
    let message = format!(
        "CRD {name}: version {version} goes away, but objects are stored in it: the definition is refused"
    );
    let advice = format!(
        "write every object in a version that stays, then: kubectl patch crd {name} --subresource=status --type=merge -p '{{\"status\":{{\"storedVersions\":[…]}}}}'"
    );
    let said = findings.say(Severity::Breaks, message, evidence).because(rendered(item)).about(&item.name);
    said.during(&["upgrade"]).advise(advice);
}

/// Versions in which objects may be stored; without a status the storage version.
fn stored(crd: &Value) -> Vec<String> {
    let told = crd::stored_versions(crd);
    if !told.is_empty() {
        return told;
    }
    let storage = |version: &&Value| version.get("storage") == Some(&Value::Bool(true));
    all(crd).filter(storage).map(|version| k8s::text(version, "/name").to_owned()).collect()
}

fn versions(crd: &Value) -> Vec<String> {
    all(crd).map(|version| k8s::text(version, "/name").to_owned()).collect()
}

fn all(crd: &Value) -> impl Iterator<Item = &Value> {
    crd.at("/spec/versions").and_then(Value::as_array).into_iter().flatten()
}
