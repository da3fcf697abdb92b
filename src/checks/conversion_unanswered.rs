//! Definitions whose versions are converted by a webhook that is not there.

use serde_json::Value;

use super::context::rendered;
use super::{Context, Findings};
use crate::finding::{Evidence, Severity};
use crate::k8s::At as _;
use crate::k8s::text;
use crate::upgrade::inventory::Item;

declare_check! {
    /// A CRD has its versions converted by a webhook that nobody answers.
    ///
    /// ## What breaks
    /// Every read and write of an object in a version other than the one in which it is stored goes through the webhook. While nobody
    /// answers, `kubectl get` fails, controllers can't list, and what is stored in an old version is out of reach; to delete the
    /// definition does not help, as its objects have to be read for that.
    ///
    /// ## What to do
    /// Install what answers the webhook first, in the namespace and under the name that the definition says, or set
    /// `spec.conversion.strategy` to `None` where the versions differ in nothing but their names.
    ///
    /// ## Example
    /// ```yaml before
    /// # Source: demo/templates/crd.yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata: {name: parts.example.test}
    /// spec: {group: example.test, names: {kind: Part, plural: parts}, scope: Namespaced, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/crd.yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata: {name: parts.example.test}
    /// spec: {group: example.test, names: {kind: Part, plural: parts}, scope: Namespaced, conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: converter, namespace: ns}}}}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}, {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}]}
    /// ```
    /// ```text finding
    /// breaks: CRD parts.example.test: its versions are converted by Service ns/converter, which neither the chart nor the state has
    /// ```
    ///
    /// ## Not reported
    /// ```yaml before
    /// # Source: demo/templates/crd.yaml
    /// apiVersion: v1
    /// kind: Service
    /// metadata: {name: converter}
    /// spec: {ports: [{port: 443}]}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/crd.yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata: {name: parts.example.test}
    /// spec: {group: example.test, names: {kind: Part, plural: parts}, scope: Namespaced, conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: converter, namespace: ns}}}}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}, {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}]}
    /// # Source: demo/templates/service.yaml
    /// apiVersion: v1
    /// kind: Service
    /// metadata: {name: converter}
    /// spec: {ports: [{port: 443}]}
    /// ```
    ///
    /// ## References
    /// - Kubernetes documentation, "Versions in CustomResourceDefinitions", Webhook conversion
    severity: Breaks
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    for item in context.crds_after() {
        let Some((namespace, name)) = converter(&item.object) else { continue };
        let before = context.present(item).map(|present| present.object);
        // What was so before is nobody's doing now, as long as its Service has not gone.
        let as_before = before.is_some_and(|old| converter(old) == converter(&item.object));
        if is_there(context, namespace, name) || as_before && !was_brought(context, namespace, name) {
            continue;
        }
        say(item, &format!("{namespace}/{name}"), findings);
    }
}

fn say(item: &Item, service: &str, findings: &mut Findings) {
    let message = format!(
        "CRD {}: its versions are converted by Service {service}, which neither the chart nor the state has",
        item.name.name
    );
    let conversion = item.object.at("/spec/conversion").cloned();
    let change = Evidence::Change { path: "spec.conversion".to_owned(), before: None, after: conversion };
    findings
        .say(Severity::Breaks, message, rendered(item))
        .because(change)
        .about(&item.name)
        .during(&["upgrade"])
        .advise("hand the Service in with --state, if your cluster has it");
    findings.claim(&item.name, "spec.conversion");
}

/// Namespace and name of the Service that converts, where more than one version is served.
fn converter(crd: &Value) -> Option<(&str, &str)> {
    let versions = crd.at("/spec/versions").and_then(Value::as_array).map_or(0, Vec::len);
    let service = crd.at("/spec/conversion/webhook/clientConfig/service")?;
    let by_webhook = text(crd, "/spec/conversion/strategy") == "Webhook" && versions > 1;
    by_webhook.then(|| (text(service, "/namespace"), text(service, "/name")))
}

fn is_there(context: &Context<'_>, namespace: &str, name: &str) -> bool {
    let brought = context.after.iter().any(|item| is_service(context, item, namespace, name));
    let alive = context.scene.state.iter().any(|object| {
        text(object, "/kind") == "Service"
            && text(object, "/metadata/namespace") == namespace
            && text(object, "/metadata/name") == name
    });
    brought || alive
}

fn was_brought(context: &Context<'_>, namespace: &str, name: &str) -> bool {
    context.before.iter().any(|item| is_service(context, item, namespace, name))
}

fn is_service(context: &Context<'_>, item: &Item, namespace: &str, name: &str) -> bool {
    let own = if item.name.namespace.is_empty() { context.scene.namespace } else { &item.name.namespace };
    item.name.kind == "Service" && own == namespace && item.name.name == name
}
