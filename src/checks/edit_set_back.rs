//! Edits of objects of the release that an operation takes back.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::context::{called, first_few, operand, sayable, told};
use super::met::{Met, condition, ends, listed, operations};
use super::object_rewritten::LEAVING;
use super::{Context, Findings};
use crate::finding::{Evidence, ObjectName, Severity};
use crate::k8s::{self, At as _};
use crate::upgrade::diff::FieldChange;
use crate::upgrade::edits::UndoneField;
use crate::upgrade::outcome::Start;

declare_check! {
    /// What was changed in an object of the release since it was installed is set back.
    ///
    /// ## What breaks
    /// Helm writes what the new chart says over what it finds, also where the chart itself changed nothing: Helm 3 compares the new manifest
    /// with the live object, and server-side apply takes over every field that it names. A value that somebody has edited, an image
    /// that was set, a workload that was scaled, by hand or by an autoscaler, a key that was taken away: without a word they are as
    /// the chart has them. So are values with which the release was installed and that are not given again.
    ///
    /// ## What to do
    /// Say in the values what is to stay, and give the values again in the upgrade. Where the chart has no value for it, keep a copy and
    /// bring the edit back after the upgrade. Replicas of a workload that an autoscaler scales belong in no manifest.
    ///
    /// ## Example
    /// ```yaml before
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: demo}
    /// data: {mode: fast, level: "1"}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: demo}
    /// data: {mode: fast, level: "1"}
    /// ```
    /// ```yaml alive before
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    ///   namespace: ns
    ///   uid: "1"
    ///   managedFields:
    ///   - {manager: helm, operation: Update, fieldsV1: {"f:data": {".": {}, "f:level": {}}}}
    ///   - {manager: kubectl-edit, operation: Update, fieldsV1: {"f:data": {"f:mode": {}}}}
    /// data: {mode: safe, level: "1", own: kept}
    /// ```
    /// ```yaml alive after
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: demo, namespace: ns, uid: "1"}
    /// data: {mode: fast, level: "1", own: kept}
    /// ```
    /// ```text finding
    /// risks: ConfigMap ns/demo is set back (helm3 upgrade: plain): data.mode: "safe" → "fast"; written by kubectl-edit
    /// ```
    ///
    /// Replicas that an autoscaler has set, and a container that was taken out:
    ///
    /// ```yaml before
    /// # Source: demo/templates/app.yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: demo}
    /// spec:
    ///   replicas: 1
    ///   selector: {matchLabels: {app: demo}}
    ///   template:
    ///     metadata: {labels: {app: demo}}
    ///     spec: {containers: [{name: c, image: "demo:1", resources: {limits: {cpu: 1000m}}}, {name: log, image: "log:1"}]}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/app.yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: demo}
    /// spec:
    ///   replicas: 1
    ///   selector: {matchLabels: {app: demo}}
    ///   template:
    ///     metadata: {labels: {app: demo}}
    ///     spec: {containers: [{name: c, image: "demo:1", resources: {limits: {cpu: 1000m}}}, {name: log, image: "log:1"}]}
    /// ```
    /// ```yaml alive before
    /// apiVersion: autoscaling/v2
    /// kind: HorizontalPodAutoscaler
    /// metadata: {name: scaler, namespace: ns, uid: "2"}
    /// spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: demo}, maxReplicas: 9}
    /// ---
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: demo, namespace: ns, uid: "1"}
    /// spec:
    ///   replicas: 5
    ///   selector: {matchLabels: {app: demo}}
    ///   template:
    ///     metadata: {labels: {app: demo}}
    ///     spec: {containers: [{name: c, image: "demo:1", resources: {limits: {cpu: "1"}}}]}
    /// ```
    /// ```yaml alive after
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: demo, namespace: ns, uid: "1"}
    /// spec:
    ///   replicas: 1
    ///   selector: {matchLabels: {app: demo}}
    ///   template:
    ///     metadata: {labels: {app: demo}}
    ///     spec: {containers: [{name: c, image: "demo:1", resources: {limits: {cpu: 1000m}}}, {name: log, image: "log:1"}]}
    /// ```
    /// ```text finding
    /// risks: Deployment ns/demo is set back (helm3 upgrade: plain): spec.replicas: 5 → 1; spec.template.spec.containers[log]: none → {"image":"log:1","name":"log"}; HorizontalPodAutoscaler scaler scales it
    /// ```
    ///
    /// ## Not reported
    /// Edits that stay, what the server fills in, what only the chart changes, and fields that the chart leaves empty for the program that
    /// fills them:
    ///
    /// ```yaml before
    /// # Source: demo/templates/app.yaml
    /// apiVersion: v1
    /// kind: Service
    /// metadata: {name: demo, labels: {version: "1"}}
    /// spec: {selector: {app: demo}, ports: [{name: web, port: 80}]}
    /// # Source: demo/templates/hook.yaml
    /// apiVersion: admissionregistration.k8s.io/v1
    /// kind: ValidatingWebhookConfiguration
    /// metadata: {name: demo}
    /// webhooks: [{name: a.b.c, clientConfig: {caBundle: "", url: "https://demo"}, sideEffects: None, admissionReviewVersions: [v1]}]
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/app.yaml
    /// apiVersion: v1
    /// kind: Service
    /// metadata: {name: demo, labels: {version: "2"}}
    /// spec: {selector: {app: demo}, ports: [{name: web, port: 80}], sessionAffinity: ClientIP}
    /// # Source: demo/templates/hook.yaml
    /// apiVersion: admissionregistration.k8s.io/v1
    /// kind: ValidatingWebhookConfiguration
    /// metadata: {name: demo}
    /// webhooks: [{name: a.b.c, clientConfig: {caBundle: "", url: "https://demo"}, sideEffects: None, admissionReviewVersions: [v1]}]
    /// ```
    /// ```yaml alive before
    /// apiVersion: v1
    /// kind: Service
    /// metadata: {name: demo, namespace: ns, uid: "1", labels: {version: "1", own: "yes"}}
    /// spec: {type: NodePort, clusterIP: 10.0.0.1, sessionAffinity: None, selector: {app: demo}, ports: [{name: web, port: 80, protocol: TCP, targetPort: 80, nodePort: 30080}]}
    /// ---
    /// apiVersion: admissionregistration.k8s.io/v1
    /// kind: ValidatingWebhookConfiguration
    /// metadata:
    ///   name: demo
    ///   uid: "2"
    ///   managedFields:
    ///   - {manager: injector, operation: Update, fieldsV1: {"f:webhooks": {"k:{\"name\":\"a.b.c\"}": {"f:clientConfig": {"f:caBundle": {}}}}}}
    /// webhooks: [{name: a.b.c, clientConfig: {caBundle: QQ==, url: "https://demo"}, sideEffects: None, admissionReviewVersions: [v1]}]
    /// ```
    /// ```yaml alive after
    /// apiVersion: v1
    /// kind: Service
    /// metadata: {name: demo, namespace: ns, uid: "1", labels: {version: "2", own: "yes"}}
    /// spec: {type: NodePort, clusterIP: 10.0.0.1, sessionAffinity: ClientIP, selector: {app: demo}, ports: [{name: web, port: 80, protocol: TCP, targetPort: 80, nodePort: 30080}]}
    /// ---
    /// apiVersion: admissionregistration.k8s.io/v1
    /// kind: ValidatingWebhookConfiguration
    /// metadata: {name: demo, uid: "2"}
    /// webhooks: [{name: a.b.c, clientConfig: {url: "https://demo"}, sideEffects: None, admissionReviewVersions: [v1]}]
    /// ```
    ///
    /// ## References
    /// - Helm v3.22.0 `pkg/kube/client.go` `createPatch`: a three-way patch restores what the live object has otherwise
    /// - Kubernetes documentation, Server-Side Apply: conflicts and forced applies
    severity: Risks
}

/// A field that was set back, and where.
type Field<'s> = (&'s UndoneField, Vec<Met<'s>>);

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    let mut found: BTreeMap<&ObjectName, BTreeMap<&str, Field<'_>>> = BTreeMap::new();
    for (met, _) in
        ends(context).into_iter().filter(|(met, _)| !LEAVING.contains(&met.operation.name.as_str()))
    {
        for undone in met.outcome.steps.iter().flat_map(|step| &step.undone) {
            let fields = found.entry(&undone.object).or_default();
            for field in undone.fields.iter().filter(|field| !is_emptied(context, &undone.object, field)) {
                let told = fields.entry(&field.path).or_insert_with(|| (field, Vec::new()));
                // What the way forward makes of it is what counts.
                if met.is_forward() && !told.1.iter().any(Met::is_forward) {
                    told.0 = field;
                }
                told.1.push(met);
            }
        }
    }
    for (object, fields) in found.into_iter().filter(|(object, _)| !is_told(context, object)) {
        for fields in alike(fields.into_values()) {
            say(context, object, &fields, findings);
        }
    }
}

/// Contents of Secrets that the chart leaves empty: `secret_emptied` tells what becomes of them.
fn is_emptied(context: &Context<'_>, object: &ObjectName, field: &UndoneField) -> bool {
    let empty = |value: &Option<Value>| value.as_ref().is_none_or(|value| value.as_str() == Some(""));
    let contents = object.kind == "Secret" && field.path.starts_with("data");
    contents && empty(&field.chart) && empty(&field.now) && context.writes_client_side()
}

/// The edit of a default runtime that the built-in population has made up: where the runtime changes, that is told.
fn is_told(context: &Context<'_>, object: &ObjectName) -> bool {
    let made_up = context.scene.rehearsals.iter().all(|rehearsal| rehearsal.start == Start::BuiltIn);
    let spec = |facts: &crate::render::facts::Facts| {
        let runtime = facts.runtimes.iter().find(|runtime| runtime.object_name == *object);
        runtime.and_then(|runtime| runtime.object.get("spec").cloned())
    };
    let (old, new) = (spec(&context.facts_before), spec(&context.facts_after));
    made_up && old.is_some() && old != new
}

/// Fields by where they are set back, those of the first first.
fn alike<'s>(fields: impl Iterator<Item = Field<'s>>) -> Vec<Vec<Field<'s>>> {
    let mut groups: Vec<(String, Vec<Field<'s>>)> = Vec::new();
    for field in fields {
        let place = listed(&field.1);
        match groups.iter_mut().find(|(known, _)| *known == place) {
            Some((_, group)) => group.push(field),
            None => groups.push((place, vec![field])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

fn say(context: &Context<'_>, object: &ObjectName, fields: &[Field<'_>], findings: &mut Findings) {
    let Some((_, met)) = fields.first() else { return };
    let changes: Vec<FieldChange> = fields.iter().map(|(field, _)| change(object, field)).collect();
    let by: BTreeSet<&str> = fields.iter().flat_map(|(field, _)| &field.by).map(String::as_str).collect();
    let by: Vec<&str> = by.into_iter().collect();
    let scaler = scaler(context, object).filter(|_| changes.iter().any(|change| change.path == REPLICAS));
    let words: Vec<String> = changes.iter().map(told).collect();
    let mut message = format!("{} is set back ({}): {}", called(object), listed(met), first_few(&words));
    if !by.is_empty() {
        message.push_str(&format!("; written by {}", by.join(", ")));
    }
    if let Some(scaler) = &scaler {
        message.push_str(&format!("; HorizontalPodAutoscaler {} scales it", scaler.name));
    }
    let evidence = Evidence::State { object: object.clone(), detail: DETAIL.to_owned() };
    let said = findings.say(Severity::Risks, message, evidence).about(object).about_all(&scaler);
    let said = changes.into_iter().take(MOST).fold(said, |said, FieldChange { path, before, after }| {
        said.because(Evidence::Change { path, before, after })
    });
    let said = advice(object, scaler.as_ref()).into_iter().fold(said, super::findings::Said::advise);
    let said = said.during(operations(met));
    if let Some(condition) = condition(met) {
        said.when(condition);
    }
}

const DETAIL: &str = "it differs from the installed manifest, and the new one does not have it so either";

/// Most fields that are evidence of one finding.
const MOST: usize = 20;

const REPLICAS: &str = "spec.replicas";

fn change(object: &ObjectName, field: &UndoneField) -> FieldChange {
    let UndoneField { path, live, now, .. } = field.clone();
    sayable(object, FieldChange { path, before: live, after: now })
}

/// The autoscaler of a workload, among what was alive.
fn scaler(context: &Context<'_>, object: &ObjectName) -> Option<ObjectName> {
    let alive = context.scene.rehearsals.iter().flat_map(|rehearsal| &rehearsal.alive);
    let mut scalers = alive.chain(context.scene.state).filter(|one| {
        let target = one.at("/spec/scaleTargetRef").unwrap_or(&Value::Null);
        k8s::text(one, "/kind") == "HorizontalPodAutoscaler"
            && k8s::text(one, "/metadata/namespace") == object.namespace
            && [k8s::text(target, "/kind"), k8s::text(target, "/name")] == [&object.kind, &object.name]
    });
    scalers.next().map(|scaler| k8s::object_name(scaler))
}

fn advice(object: &ObjectName, scaler: Option<&ObjectName>) -> Vec<String> {
    let operand = operand(object);
    let mut advice = vec![format!(
        "say in the values of the upgrade what is to stay; where the chart has no value for it, keep a copy before (kubectl get {operand} -o yaml > {}.yaml) and bring it back after: kubectl edit {operand}",
        object.name
    )];
    advice.extend(scaler.map(|scaler| {
        format!(
            "{} {} scales it again after the upgrade, from the number that the chart says; where the values can leave replicas out of the manifest, leave them out",
            scaler.kind, scaler.name
        )
    }));
    advice
}
