//! Living objects that somebody changes in the course of an upgrade, though neither chart nor user did.

use std::collections::BTreeMap;

use super::context::{called, first_few, operand, told};
use super::met::{Met, condition, ends, listed, operations};
use super::{Context, Findings};
use crate::finding::{Evidence, ObjectName, Severity};
use crate::upgrade::diff::FieldChange;
use crate::upgrade::outcome::DROP;
use crate::upgrade::rewrites::{Rewrite, Writer};

declare_check! {
    /// A living object loses parts of its spec in an upgrade although no chart and no user wrote it.
    ///
    /// ## What breaks
    /// The object keeps its UID, so nothing looks lost, but it is no longer what its user asked for. A new controller renders
    /// what belongs to its own objects anew and leaves out what it no longer knows; a definition without a field hides
    /// the field's value from every reader at once and takes it away at the next write. The known case are
    /// TrainJobs with `podTemplateOverrides` or `podSpecOverrides`: from 2.2 on the definition has neither, and the manager
    /// rewrites the JobSets of suspended jobs without them. The job starts all the same, on any node, without its volumes
    /// or labels. Running ones are not touched.
    ///
    /// ## What to do
    /// Keep a copy of the objects named before the upgrade. Let them end first, or say after the upgrade, before they go on,
    /// what is missing in fields that the new version has; for TrainJobs from 2.2 on `spec.runtimePatches`, which may change
    /// while the job is suspended.
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
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// ```
    /// ```yaml alive before
    /// apiVersion: batch/v1
    /// kind: Job
    /// metadata: {name: train, namespace: shop, uid: "1"}
    /// spec: {suspend: true, template: {spec: {nodeSelector: {pool: gpu}}}}
    /// ```
    /// ```yaml alive after
    /// apiVersion: batch/v1
    /// kind: Job
    /// metadata: {name: train, namespace: shop, uid: "1"}
    /// spec: {suspend: true, template: {spec: {}}}
    /// ```
    /// ```text exchanges
    /// widget-controller PATCH /apis/batch/v1/namespaces/shop/jobs/train
    /// ```
    /// ```text finding
    /// breaks: Job shop/train is rewritten by widget-controller (helm3 upgrade: plain): spec.template.spec.nodeSelector: {"pool":"gpu"} → none
    /// ```
    ///
    /// Nobody writes what a changed definition takes away:
    ///
    /// ```yaml before
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// ```
    /// ```yaml alive before
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata: {name: widgets.example.test, uid: "1"}
    /// spec: {group: example.test, names: {kind: Widget, plural: widgets}, versions: [{name: v1, schema: {openAPIV3Schema: {type: object}}}]}
    /// ---
    /// apiVersion: example.test/v1
    /// kind: Widget
    /// metadata: {name: blue, namespace: shop, uid: "2"}
    /// spec: {size: 1, color: red}
    /// ```
    /// ```yaml alive after
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata: {name: widgets.example.test, uid: "1"}
    /// spec: {group: example.test, names: {kind: Widget, plural: widgets}, versions: [{name: v1, schema: {openAPIV3Schema: {}}}]}
    /// ---
    /// apiVersion: example.test/v1
    /// kind: Widget
    /// metadata: {name: blue, namespace: shop, uid: "2"}
    /// spec: {size: 1}
    /// ```
    /// ```text exchanges
    /// helm3 PATCH /apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.test
    /// ```
    /// ```text finding
    /// breaks: Widget shop/blue loses fields that its changed definition no longer has (helm3 upgrade: plain): spec.color: "red" → none
    /// ```
    ///
    /// ## Not reported
    /// Fields that come new, and what follows from an object that the upgrade itself changed:
    ///
    /// ```yaml before
    /// # Source: demo/templates/deployment.yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: demo}
    /// spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: "a:1"}]}}}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/deployment.yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: demo}
    /// spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: "a:2"}]}}}
    /// ```
    /// ```yaml alive before
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: demo, namespace: ns, uid: "1"}
    /// spec: {template: {spec: {containers: [{name: a, image: "a:1"}]}}}
    /// ---
    /// apiVersion: apps/v1
    /// kind: ReplicaSet
    /// metadata: {name: demo-1, namespace: ns, uid: "2", ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: demo, uid: "1", controller: true}]}
    /// spec: {replicas: 1}
    /// ---
    /// apiVersion: v1
    /// kind: PersistentVolumeClaim
    /// metadata: {name: data, namespace: ns, uid: "3"}
    /// spec: {accessModes: [ReadWriteOnce]}
    /// ```
    /// ```yaml alive after
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: demo, namespace: ns, uid: "1"}
    /// spec: {template: {spec: {containers: [{name: a, image: "a:2"}]}}}
    /// ---
    /// apiVersion: apps/v1
    /// kind: ReplicaSet
    /// metadata: {name: demo-1, namespace: ns, uid: "2", ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: demo, uid: "1", controller: true}]}
    /// spec: {replicas: 0}
    /// ---
    /// apiVersion: v1
    /// kind: PersistentVolumeClaim
    /// metadata: {name: data, namespace: ns, uid: "3"}
    /// spec: {accessModes: [ReadWriteOnce], volumeName: pv-1}
    /// ```
    /// ```text exchanges
    /// helm3 PATCH /apis/apps/v1/namespaces/ns/deployments/demo
    /// deployment-controller PATCH /apis/apps/v1/namespaces/ns/replicasets/demo-1
    /// persistentvolume-binder PATCH /api/v1/namespaces/ns/persistentvolumeclaims/data
    /// ```
    ///
    /// ## References
    /// - kubeflow/trainer v2.3.0 `pkg/runtime/framework/plugins/jobset`; JobSet v0.12.0 `pkg/webhooks/jobset_webhook.go` `ValidateUpdate`
    /// - kubernetes v1.34 `apiextensions-apiserver/pkg/apiserver/schema/pruning`
    severity: Breaks
}

/// Operations that take away what an object belongs to; what they change is their purpose.
pub(super) const LEAVING: &[&str] = &["uninstall", DROP];

/// One change of one object, who did it, and where it was met.
struct Told<'s> {
    rewrite: &'s Rewrite,
    writer: Writer,
    met: Vec<Met<'s>>,
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    let mut found: BTreeMap<(&ObjectName, Vec<String>), Told<'_>> = BTreeMap::new();
    for (met, _) in ends(context) {
        if LEAVING.contains(&met.operation.name.as_str()) {
            continue;
        }
        let steps = met.outcome.steps.iter();
        for rewrite in steps
            .flat_map(|step| &step.rewritten)
            .filter(|one| !one.writer.hook && !is_of_charts(context, one))
        {
            let paths = rewrite.fields.iter().map(told).collect();
            let writer = Writer { redefined: true, ..Writer::default() };
            let nobody = || Told { rewrite, writer, met: Vec::new() };
            let told = found.entry((&rewrite.object, paths)).or_insert_with(nobody);
            told.writer.known.extend(rewrite.writer.known.iter().cloned());
            // What happens elsewhere without a changed definition is not its doing.
            told.writer.redefined &= rewrite.writer.redefined;
            told.met.push(met);
        }
    }
    for told in found.values() {
        say(told, findings);
    }
}

/// Whether an object, or one above it, is brought by one of the charts: those changes are told by others.
pub(super) fn is_of_charts(context: &Context<'_>, rewrite: &Rewrite) -> bool {
    context.brings(&rewrite.object) || rewrite.owners.iter().any(|owner| context.brings(owner))
}

fn say(one: &Told<'_>, findings: &mut Findings) {
    let (rewrite, met) = (one.rewrite, &one.met);
    let forward: Vec<Met<'_>> = met.iter().filter(|met| met.is_forward()).copied().collect();
    let is_forward = !forward.is_empty();
    let told = if is_forward { forward } else { met.clone() };
    let lost = rewrite.fields.iter().any(|field| field.after.is_none());
    let severity = if is_forward && lost { Severity::Breaks } else { Severity::Risks };
    let message = format!(
        "{} {} ({}): {}",
        called(&rewrite.object),
        happens(&one.writer),
        listed(&told),
        changes(&rewrite.fields)
    );
    let said = findings
        .say(severity, message, evidence(rewrite))
        .about(&rewrite.object)
        .about_all(&rewrite.owners)
        .during(operations(&told));
    let said =
        rewrite.fields.iter().filter(|field| field.before.is_some()).take(MOST).fold(said, |said, field| {
            let FieldChange { path, before, after } = field.clone();
            said.because(Evidence::Change { path, before, after })
        });
    let said = advice(rewrite).into_iter().fold(said, super::findings::Said::advise);
    if let Some(condition) = condition(&told) {
        said.when(condition);
    }
}

/// Most fields that are evidence of one finding.
const MOST: usize = 20;

fn happens(writer: &Writer) -> String {
    let known: Vec<&str> = writer.known.iter().map(String::as_str).collect();
    let known = known.join(", ");
    match (known.is_empty(), writer.redefined) {
        (true, true) => "loses fields that its changed definition no longer has".to_owned(),
        (false, true) => format!("loses fields: its definition changed, and {known} wrote it"),
        (false, false) => format!("is rewritten by {known}"),
        (true, false) => "is rewritten by somebody else".to_owned(),
    }
}

fn evidence(rewrite: &Rewrite) -> Evidence {
    let owners: Vec<String> = rewrite.owners.iter().map(called).collect();
    let of = if owners.is_empty() { String::new() } else { format!(", of {}", owners.join(", of ")) };
    let detail = format!("the same UID before and after, another spec{of}; no chart and no user wrote it");
    Evidence::State { object: rewrite.object.clone(), detail }
}

/// What is lost comes before what has another value; what only came new is not told.
fn changes(fields: &[FieldChange]) -> String {
    let lost = fields.iter().filter(|field| field.after.is_none());
    let other = fields.iter().filter(|field| field.before.is_some() && field.after.is_some());
    first_few(&lost.chain(other).map(told).collect::<Vec<_>>())
}

fn advice(rewrite: &Rewrite) -> Vec<String> {
    let object = &rewrite.object;
    let root = rewrite.owners.last().unwrap_or(object);
    let end = if root.kind.ends_with("Job") { "let it end before, or " } else { "" };
    let copy = format!("kubectl get {} -o yaml > {}.yaml", operand(object), object.name);
    let mut advice = vec![
        format!("before the upgrade keep a copy: {copy}"),
        format!(
            "{end}see after the upgrade, before it is used again, that what is missing is said in fields that the new version has: kubectl edit {}",
            operand(root)
        ),
    ];
    let overridden = rewrite.fields.iter().any(|field| field.path.ends_with("Overrides"));
    if root.kind == "TrainJob" && (overridden || !rewrite.owners.is_empty()) {
        advice.push(format!(
            "what podTemplateOverrides or podSpecOverrides said goes into spec.runtimePatches of TrainJob {} (2.2 and newer), after the upgrade and while the job is suspended; nothing converts it",
            root.name
        ));
    }
    advice
}
