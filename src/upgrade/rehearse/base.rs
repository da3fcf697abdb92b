//! Starting states: the old chart installed by whoever may have made the release, with what users have.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::Plan;
use crate::cluster::simulated::{Conditions, Simulated};
use crate::cluster::{Cluster, Unreachable};
use crate::k8s::{self, Gvk};
use crate::upgrade::actors::helm::{Dialect, Flags};
use crate::upgrade::actors::{self, Actor, Command, Workshop};
use crate::upgrade::course::{Course, Order};
use crate::upgrade::population;
use crate::upgrade::trace::Step;

/// A cluster with the old release.
pub(super) struct Base {
    /// The cluster.
    pub(super) course: Course<Simulated>,
    /// Id of the actor that made the release.
    pub(super) made_by: String,
}

/// The states to start from; an `Err` says why the old chart could not be installed.
pub(super) fn bases(
    actor: &dyn Actor,
    plan: &Plan,
    workshop: &Workshop<'_>,
    fresh: &dyn Fn(&str) -> Simulated,
) -> Result<Vec<Result<Base, String>>, Unreachable> {
    let given = plan.state.as_ref().map(|state| state.objects.as_slice());
    if let Some(objects) = given.filter(|objects| holds_release(objects, plan)) {
        let mut world = fresh(&plan.kubernetes);
        world.load(objects.iter().cloned());
        world.wait(1.0)?;
        return Ok(vec![Ok(Base { course: Course::new(world), made_by: maker(objects).to_owned() })]);
    }
    let makers: &[&str] = if actor.id() == "helm3" { &["helm3"] } else { &["helm3", "helm4"] };
    makers.iter().map(|maker| base(maker, plan, workshop, fresh(&plan.kubernetes))).collect()
}

/// Whether handed-in objects hold the release's record and its objects, so that nothing has to be installed first.
fn holds_release(objects: &[Value], plan: &Plan) -> bool {
    let prefix = format!("sh.helm.release.v1.{}.v", plan.subject.release);
    let record = objects.iter().any(|object| k8s::text(object, "/metadata/name").starts_with(&prefix));
    record && objects.iter().any(|object| k8s::text(object, "/kind") == "Deployment")
}

/// Helm 4 writes by server-side apply, which leaves Apply entries.
fn maker(objects: &[Value]) -> &'static str {
    let applied = objects.iter().any(|object| {
        let entries =
            object.pointer("/metadata/managedFields").and_then(Value::as_array).into_iter().flatten();
        entries
            .into_iter()
            .any(|entry| k8s::text(entry, "/manager") == "helm" && k8s::text(entry, "/operation") == "Apply")
    });
    if applied { "helm4" } else { "helm3" }
}

fn base(
    maker: &str,
    plan: &Plan,
    workshop: &Workshop<'_>,
    mut world: Simulated,
) -> Result<Result<Base, String>, Unreachable> {
    world.conditions = Conditions::default();
    let mut course = Course::new(world);
    if let Err(obstacle) = install(&mut course, maker, plan, workshop)? {
        return Ok(Err(obstacle));
    }
    match &plan.state {
        Some(state) => overlay(&mut course, &state.objects)?,
        None => {
            course
                .step("user", "populate", "", "", |world| Ok((population::populate(world)?, Vec::new())))?;
        }
    }
    course.world.take_exchanges();
    Ok(Ok(Base { course, made_by: maker.to_owned() }))
}

/// Installs the old chart; when that fails, once more with what a person would try.
fn install(
    course: &mut Course<Simulated>,
    maker: &str,
    plan: &Plan,
    workshop: &Workshop<'_>,
) -> Result<Result<(), String>, Unreachable> {
    let Some(actor) = actors::find(maker) else { return Ok(Err(format!("unknown actor {maker}"))) };
    let dialect = Dialect { helm: actor.version() };
    let flags = Flags { create_namespace: true, ..Flags::default() };
    let (chart, values) = (Arc::clone(&plan.before), Arc::clone(&plan.values_before));
    let first = command(
        course,
        workshop,
        plan,
        dialect,
        Command::Install { chart: Arc::clone(&chart), values: Arc::clone(&values) },
        flags,
    )?;
    if first.exit_code == 0 {
        return Ok(Ok(()));
    }
    let flags = Flags { force_conflicts: dialect.is_v4(), ..Flags::default() };
    let second = command(course, workshop, plan, dialect, Command::Upgrade { chart, values }, flags)?;
    Ok(if second.exit_code == 0 { Ok(()) } else { Err(first.stderr.trim_end().to_owned()) })
}

fn command(
    course: &mut Course<Simulated>,
    workshop: &Workshop<'_>,
    plan: &Plan,
    dialect: Dialect,
    command: Command,
    flags: Flags,
) -> Result<Step, Unreachable> {
    let actor = if dialect.is_v4() { "helm4" } else { "helm3" };
    let order = Order { actor, dialect, subject: &plan.subject, command, flags, line: String::new() };
    course.run(workshop, &order)
}

/// Lays handed-in objects over the installed ones. Kinds that the state holds are taken to be held completely.
fn overlay(course: &mut Course<Simulated>, objects: &[Value]) -> Result<(), Unreachable> {
    let kinds: BTreeSet<(String, String)> =
        objects.iter().map(kind).filter(|(_, kind)| !PARTIAL.contains(&kind.as_str())).collect();
    let names: BTreeSet<_> = objects.iter().map(|object| (kind(object), k8s::object_name(object))).collect();
    let surplus: Vec<Arc<Value>> = Simulated::objects(&course.world)
        .filter(|object| {
            kinds.contains(&kind(object)) && !names.contains(&(kind(object), k8s::object_name(object)))
        })
        .cloned()
        .collect();
    for object in surplus {
        course.world.unload(&object);
    }
    course.world.load(objects.iter().cloned());
    course.world.wait(60.0)?;
    *course = Course::new(course.world.clone());
    Ok(())
}

/// Kinds of which a state usually holds a selection.
const PARTIAL: &[&str] = &["Namespace", "Secret", "ConfigMap", "ServiceAccount", "Pod", "Job", "Service"];

fn kind(object: &Value) -> (String, String) {
    let gvk = Gvk::of(object);
    (gvk.group, gvk.kind)
}
