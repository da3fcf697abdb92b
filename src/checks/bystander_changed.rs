//! Objects of others that the programs of hooks change.

use std::collections::BTreeMap;

use super::context::{called, first_few, hook_place, operand, sayable, told};
use super::met::{Met, condition, ends, listed, operations};
use super::object_rewritten::{LEAVING, is_of_charts};
use super::{Context, Findings};
use crate::finding::{Evidence, ObjectName, Severity};
use crate::render::HookEvent;
use crate::render::facts::HookFacts;
use crate::upgrade::diff::FieldChange;
use crate::upgrade::rewrites::Rewrite;

declare_check! {
    /// A hook changes an object that neither chart brings.
    ///
    /// ## What breaks
    /// Hooks run with rights of their own, and what their programs patch, label or scale need not belong to the release. The object
    /// keeps its UID, so nothing looks lost, but it is no longer what its user made: a workload that runs no pods any more, a key that
    /// is gone from a ConfigMap, a label that a policy selects by. Neither a rollback nor an uninstall brings it back.
    ///
    /// ## What to do
    /// Read the hook's program and find out what it wants of the object. Keep a copy before the upgrade, and bring back afterwards what
    /// is yours; or switch the hook off in the values and do by hand what has to be done.
    ///
    /// ## Example
    /// ```yaml before
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: demo}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: demo}
    /// # Source: demo/templates/hook.yaml
    /// apiVersion: batch/v1
    /// kind: Job
    /// metadata: {name: quiesce, annotations: {helm.sh/hook: pre-upgrade}}
    /// spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: "kubectl:1", command: [kubectl, scale, deployment, web, -n, shop, --replicas=0]}]}}}
    /// ```
    /// ```yaml alive before
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: web, namespace: shop, uid: "1"}
    /// spec: {replicas: 3}
    /// ```
    /// ```yaml alive after
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: web, namespace: shop, uid: "1"}
    /// spec: {replicas: 0}
    /// ```
    /// ```text exchanges
    /// hook PATCH /apis/apps/v1/namespaces/shop/deployments/web/scale
    /// ```
    /// ```text finding
    /// breaks: hook Job quiesce changes Deployment shop/web (helm3 upgrade: plain): spec.replicas: 3 → 0
    /// ```
    ///
    /// What only comes new takes nothing from anybody, and may still decide something:
    ///
    /// ```yaml before
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: demo}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: demo}
    /// ```
    /// ```yaml alive before
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata: {name: shop, uid: "1", labels: {team: a}}
    /// ```
    /// ```yaml alive after
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata: {name: shop, uid: "1", labels: {team: a, mesh: enabled}}
    /// ```
    /// ```text exchanges
    /// hook PATCH /api/v1/namespaces/shop
    /// ```
    /// ```text finding
    /// risks: a Job's program changes Namespace shop (helm3 upgrade: plain): metadata.labels.mesh: none → "enabled"
    /// ```
    ///
    /// ## Not reported
    /// What the charts bring themselves, and what a hook writes without changing anything; what a hook deletes is a loss, which the
    /// rehearsal counts:
    ///
    /// ```yaml before
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: demo}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: demo}
    /// ```
    /// ```yaml alive before
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: demo, namespace: ns, uid: "1"}
    /// data: {a: "1"}
    /// ---
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: other, namespace: ns, uid: "2", resourceVersion: "1"}
    /// data: {a: "1"}
    /// ```
    /// ```yaml alive after
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: demo, namespace: ns, uid: "1"}
    /// data: {a: "2"}
    /// ---
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: other, namespace: ns, uid: "2", resourceVersion: "2"}
    /// data: {a: "1"}
    /// ```
    /// ```text exchanges
    /// hook PATCH /api/v1/namespaces/ns/configmaps/demo
    /// hook PATCH /api/v1/namespaces/ns/configmaps/other
    /// ```
    ///
    /// ## References
    /// - Helm v4.3.1 `pkg/action/hooks.go`: what a hook's Job does is not part of the release
    severity: Breaks
}

/// One change of one object, and where it was met.
struct Told<'s> {
    rewrite: &'s Rewrite,
    met: Vec<Met<'s>>,
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    let mut found: BTreeMap<(&ObjectName, Vec<String>), Told<'_>> = BTreeMap::new();
    for (met, _) in
        ends(context).into_iter().filter(|(met, _)| !LEAVING.contains(&met.operation.name.as_str()))
    {
        let rewritten = met.outcome.steps.iter().flat_map(|step| &step.rewritten);
        for rewrite in rewritten.filter(|one| one.writer.hook && !is_of_charts(context, one)) {
            let paths = weighty(&rewrite.fields).map(told).collect();
            let told =
                found.entry((&rewrite.object, paths)).or_insert_with(|| Told { rewrite, met: Vec::new() });
            told.met.push(met);
        }
    }
    for told in found.values() {
        say(context, told, findings);
    }
}

fn say(context: &Context<'_>, one: &Told<'_>, findings: &mut Findings) {
    let (rewrite, met) = (one.rewrite, &one.met);
    let fields: Vec<FieldChange> =
        rewrite.fields.iter().map(|field| sayable(&rewrite.object, field.clone())).collect();
    let takes = fields.iter().any(|field| field.before.is_some());
    let severity = if takes && met.iter().any(Met::is_forward) { Severity::Breaks } else { Severity::Risks };
    let hooks = hooks(context, &rewrite.object, met);
    let words: Vec<String> = weighty(&fields).map(told).collect();
    let (subject, place) = (subject(&hooks), listed(met));
    let message = format!("{subject} {} ({place}): {}", called(&rewrite.object), first_few(&words));
    let detail = "the same UID before and after, other contents; neither chart brings it".to_owned();
    let evidence = Evidence::State { object: rewrite.object.clone(), detail };
    let said = findings.say(severity, message, evidence).about(&rewrite.object).about_all(&rewrite.owners);
    let said = hooks.iter().fold(said, |said, hook| said.about(&hook.object).because(hook_place(hook)));
    let said =
        weighty(&fields).take(MOST).cloned().fold(said, |said, FieldChange { path, before, after }| {
            said.because(Evidence::Change { path, before, after })
        });
    let said = said.during(operations(met)).advise(advice(&rewrite.object));
    if let Some(condition) = condition(met) {
        said.when(condition);
    }
}

/// Most fields that are evidence of one finding.
const MOST: usize = 20;

/// What is taken or replaced; only where nothing is, what comes new: defaults do with any write.
fn weighty(fields: &[FieldChange]) -> impl Iterator<Item = &FieldChange> {
    let takes = |field: &FieldChange| field.before.is_some();
    let any = fields.iter().any(takes);
    fields.iter().filter(move |field| !any || takes(field))
}

fn advice(object: &ObjectName) -> String {
    let operand = operand(object);
    format!(
        "before the upgrade keep a copy: kubectl get {operand} -o yaml > {}.yaml; see afterwards what is missing, and bring it back: kubectl edit {operand}",
        object.name
    )
}

/// Hooks that run programs in these operations; where several do, those whose program names the object.
fn hooks<'c>(context: &'c Context<'_>, object: &ObjectName, met: &[Met<'_>]) -> Vec<&'c HookFacts> {
    use HookEvent::{PostRollback, PostUpgrade, PreRollback, PreUpgrade};
    let is_back = |met: &Met<'_>| met.operation.name.starts_with("rollback");
    let runs = |hook: &&HookFacts, events: [HookEvent; 2]| {
        !hook.commands.is_empty() && hook.events.iter().any(|event| events.contains(event))
    };
    let forward = context.facts_after.hooks.iter().filter(|hook| runs(hook, [PreUpgrade, PostUpgrade]));
    let back = context.facts_before.hooks.iter().filter(|hook| runs(hook, [PreRollback, PostRollback]));
    let forward = forward.filter(|_| met.iter().any(|met| !is_back(met)));
    let mut hooks: Vec<&HookFacts> = forward.chain(back.filter(|_| met.iter().any(is_back))).collect();
    let names = |hook: &&HookFacts| hook.commands.iter().any(|command| command.contains(&object.name));
    if hooks.iter().any(names) {
        hooks.retain(names);
    }
    hooks
}

/// Who does it: a hook, one of several, or a program of the release or of a user where no hook runs any.
fn subject(hooks: &[&HookFacts]) -> String {
    let names: Vec<String> =
        hooks.iter().map(|hook| format!("{} {}", hook.object.kind, hook.object.name)).collect();
    match names.as_slice() {
        [] => "a Job's program changes".to_owned(),
        [only] => format!("hook {only} changes"),
        many => format!("one of the hooks {} changes", many.join(", ")),
    }
}
