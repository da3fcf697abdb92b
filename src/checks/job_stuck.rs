//! Objects that their controller can't reconcile any more, and workloads whose pods do not get ready.

use std::collections::{BTreeMap, BTreeSet};

use super::context::called;
use super::met::{Met, condition, ends, listed, operations};
use super::rehearsal_failed::shortened;
use super::{Context, Findings};
use crate::finding::{Evidence, ObjectName, Severity};
use crate::upgrade::outcome::Way;
use crate::upgrade::rollout::WORKLOADS;
use crate::upgrade::stuck::{refused, stuck};

declare_check! {
    /// The controller of an object can't reconcile it any more after a rehearsed operation, or a workload's pods do not get ready.
    ///
    /// ## What breaks
    /// The object stays where it was, but what its controller makes of it now is refused every time it tries: a suspended or
    /// queued job never starts, and nobody tells but an Event of the object. The usual reason is that the controller renders
    /// a dependent object anew from something that the upgrade changed, in fields that can't be changed. The command's exit
    /// code says nothing about it.
    ///
    /// A manager that crashes or never gets Ready does more harm: its webhooks have no endpoints, so that every write to
    /// the kinds they look at is refused, for the whole cluster. Helm without `--wait` reports success all the same.
    ///
    /// ## What to do
    /// Let such jobs finish before the upgrade, or keep what they are rendered from. For TrainJobs there are three ways:
    /// seed the ConfigMap `<job>-runtime-snapshot` from the live runtime before the upgrade; or upgrade in two steps, first
    /// with the runtimes kept and switched off until every unfinished TrainJob has its snapshot, then with the runtimes on;
    /// or, while the job is suspended, delete its JobSet, which is made anew. An MPI job needs the last one in any case.
    /// Where a field is not declared in a schema, the definition is older than the controller: apply that of the new chart.
    /// A manager that crashes on its new configuration runs an older image than its chart: leave `image.tag` to the chart. One
    /// that can't read a stored object gets Ready when that object is gone or was written anew before the upgrade.
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
    /// ```text notes
    /// Widget shop/blue: Widget parts reconciliation failed: Part.example.test "blue" is invalid: spec.size: field is immutable
    /// ```
    /// ```text finding
    /// breaks: Widget shop/blue can't be reconciled any more (helm3 upgrade: plain): Part.example.test "blue" is invalid: spec.size: field is immutable
    /// ```
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
    /// ```text notes
    /// Deployment shop/manager: its pods do not get ready: CrashLoopBackOff: unknown field "fast"
    /// ```
    /// ```text finding
    /// breaks: Deployment shop/manager does not get ready (helm3 upgrade: plain): CrashLoopBackOff: unknown field "fast"
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
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// ```
    /// ```text notes
    /// Widget shop/blue: Widget parts reconciliation failed: Part.example.test "blue" is invalid: spec.size: field is immutable
    /// Widget shop/blue: Widget parts reconciliation succeeded
    /// Widget shop/red: Widget parts reconciliation failed: failed calling webhook "parts.example.test": no endpoints available
    /// ```
    ///
    /// ## References
    /// - kubeflow/trainer v2.3.0 `pkg/controller/trainjob_controller.go`, `pkg/runtime/core`
    /// - The notes of each step in `-o json` and `-o html`.
    severity: Breaks
}

/// Most characters of an error in a message.
const GIST: usize = 300;

/// Where an object was left stuck, and by which error.
#[derive(Clone, Copy)]
struct Stuck<'s> {
    met: Met<'s>,
    error: &'s str,
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    let mut found: BTreeMap<ObjectName, Vec<Stuck<'_>>> = BTreeMap::new();
    for (met, step) in ends(context) {
        for (object, error) in stuck(step) {
            found.entry(object).or_default().push(Stuck { met, error });
        }
    }
    for (object, all) in &found {
        say(object, all, findings);
    }
}

fn places<'s>(all: &[Stuck<'s>]) -> Vec<Met<'s>> {
    all.iter().map(|stuck| stuck.met).collect()
}

fn say(object: &ObjectName, all: &[Stuck<'_>], findings: &mut Findings) {
    let forward: Vec<Stuck<'_>> = all.iter().filter(|stuck| stuck.met.is_forward()).copied().collect();
    let (severity, told) =
        if forward.is_empty() { (Severity::Risks, all.to_vec()) } else { (Severity::Breaks, forward) };
    let met = places(&told);
    let always = told.iter().find(|stuck| stuck.met.outcome.condition.is_empty());
    let Some(first) = always.or(told.first()) else { return };
    let fate = if is_workload(object) { "does not get ready" } else { "can't be reconciled any more" };
    let message = format!("{} {fate} ({}): {}", called(object), listed(&met), shortened(first.error, GIST));
    let mut evidence = evidence(object, all).into_iter();
    let Some(leading) = evidence.next() else { return };
    let said = findings.say(severity, message, leading).about(object).during(operations(&met));
    let said = evidence.fold(said, super::findings::Said::because);
    let errors: Vec<&str> = told.iter().map(|stuck| stuck.error).collect();
    let careful = told.iter().all(|stuck| is_careful(stuck.met.way));
    let said = advice(object, &errors, careful).into_iter().fold(said, super::findings::Said::advise);
    if let Some(condition) = condition(&met) {
        said.when(condition);
    }
}

fn is_workload(object: &ObjectName) -> bool {
    WORKLOADS.contains(&object.kind.as_str())
}

/// One piece of evidence for each error: where it was the last word.
fn evidence(object: &ObjectName, all: &[Stuck<'_>]) -> Vec<Evidence> {
    let mut groups: BTreeMap<String, Vec<Met<'_>>> = BTreeMap::new();
    for stuck in all {
        groups.entry(shortened(stuck.error, 2 * GIST)).or_default().push(stuck.met);
    }
    let detail = |error: &str, same: &[Met<'_>]| {
        let under = condition(same).map_or_else(String::new, |condition| format!(", when {condition}"));
        format!("{error} ({}{under})", listed(same))
    };
    let told = groups.iter().map(|(error, same)| detail(error, same));
    told.map(|detail| Evidence::State { object: object.clone(), detail }).collect()
}

/// Whether a way has seeded snapshots before the upgrade: there is nothing to be had from that any more.
fn is_careful(way: &Way) -> bool {
    way.prepare.iter().any(|command| command.contains("runtime-snapshot"))
}

fn advice(object: &ObjectName, errors: &[&str], careful: bool) -> Vec<String> {
    match is_workload(object) {
        true => errors.iter().map(|error| cure(error)).collect(),
        false => help(object, errors, careful),
    }
}

/// What to do about a workload whose pods do not get ready.
fn cure(error: &str) -> String {
    if let Some((kind, namespace, name)) = culprit(error) {
        let kind = kind.to_lowercase();
        return format!(
            "{kind} {name} in {namespace} is stored in a form that the new program can't read: delete it, before the upgrade \
             with kubectl delete {kind} {name} -n {namespace} --cascade=orphan (what it started runs on) or after it \
             without --cascade, and make it anew in the new form"
        );
    }
    match error.split(':').next().unwrap_or_default() {
        "ErrImagePull" | "ImagePullBackOff" => "see that the cluster can pull the image: name, tag, registry, credentials",
        "CrashLoopBackOff" => {
            "let the chart choose its image (leave the pinned tag or digest out of the values): a program of another version \
             does not know this chart's configuration and arguments; kubectl logs --previous of the pod says more"
        }
        _ => "kubectl describe and kubectl logs of the pod say what it waits for; upgrade with --wait, so that Helm tells",
    }
    .to_owned()
}

/// The object that an error names as the one that can't be read: `… (as in TrainJob team/x)`.
fn culprit(error: &str) -> Option<(&str, &str, &str)> {
    let (_, rest) = error.rsplit_once("(as in ")?;
    let (kind, path) = rest.split(')').next()?.split_once(' ')?;
    let (namespace, name) = path.split_once('/')?;
    Some((kind, namespace, name))
}

/// What to do about an object that its controller can't reconcile.
fn help(object: &ObjectName, errors: &[&str], careful: bool) -> Vec<String> {
    let (kind, name, namespace) = (&object.kind, &object.name, &object.namespace);
    let mut advice = Vec::new();
    let outdated: BTreeSet<&str> = errors.iter().filter_map(|error| undeclared(error)).collect();
    for kind in &outdated {
        advice.push(format!(
            "bring the definition of {kind} up to date, before the upgrade or now: Helm does not touch what lies in crds/; kubectl apply --server-side --force-conflicts -f the new chart's file"
        ));
    }
    if errors.iter().all(|error| undeclared(error).is_some()) {
        return advice;
    }
    if kind == "TrainJob" && !careful {
        advice.push("keep the job's runtime through the upgrade (helm.sh/resource-policy=keep on the live one): while it is gone every write to the job is refused, seeded or not; running the upgrade once more brings the chart's own runtimes back".to_owned());
        advice.push(format!(
            "so that the job is rendered as before: before the upgrade, seed ConfigMap {name}-runtime-snapshot in {namespace}: key `runtime` is the YAML of the job's live runtime with apiVersion, kind and metadata.name, and an ownerReference with controller: true names the TrainJob's uid"
        ));
        advice.push("or in two steps: keep on the live runtimes and an upgrade with the chart's runtimes switched off, until every unfinished TrainJob has its snapshot; then the same upgrade with the runtimes on".to_owned());
    }
    if let Some((resource, dependent)) = errors.iter().find_map(|error| refused(error)) {
        advice.push(format!(
            "kubectl delete {} {dependent} -n {namespace} while {kind} {name} is suspended and its runtime or snapshot is there: it is made anew (an MPI job needs this in any case)",
            resource.to_lowercase()
        ));
    }
    if advice.is_empty() {
        advice.push(format!("let {kind} {name} finish before, or put right what the error names"));
    }
    advice
}

/// The kind whose definition lacks a field that its writer knows: `… Kind=Part): .spec.size: field not declared in schema`.
fn undeclared(error: &str) -> Option<&str> {
    let (_, rest) = error.split_once("failed to create typed patch object")?;
    let (_, rest) = rest.split_once("Kind=")?;
    rest.split_once(')').map(|(kind, _)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_object_that_holds_a_manager_up_is_named() {
        let advice = cure("not Ready: cannot unmarshal (as in Widget shop/blue)");
        assert!(advice.contains("kubectl delete widget blue -n shop --cascade=orphan"), "{advice}");
        assert!(cure("CrashLoopBackOff: unknown flag").contains("let the chart choose its image"));
        assert!(cure("ImagePullBackOff: x").contains("pull the image"));
    }

    #[test]
    fn an_outdated_definition_is_to_be_brought_up_to_date() {
        let object = ObjectName { kind: "TrainJob".into(), namespace: "n".into(), name: "x".into() };
        let error = r#"failed to create typed patch object (n/x; example.test/v1, Kind=Part): .spec.size: field not declared in schema"#;
        let advice = advice(&object, &[error], false);
        assert_eq!(advice.len(), 1, "{advice:?}");
        assert!(advice[0].starts_with("bring the definition of Part up to date"), "{advice:?}");
    }
}
