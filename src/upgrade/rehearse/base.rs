//! Starting states: the old chart installed by whoever may have made the release, with what users have.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};

use super::{Plan, side_by_side};
use crate::cluster::simulated::{Conditions, Simulated, namespace_object};
use crate::cluster::{Cluster, Unreachable};
use crate::finding::ObjectName;
use crate::k8s::{self, At as _, Gvk};
use crate::render::Manifest;
use crate::upgrade::actors::helm::{Dialect, Flags, RELEASE_NAME};
use crate::upgrade::actors::{self, Actor, Command, Subject, Workshop};
use crate::upgrade::course::{Course, Order};
use crate::upgrade::outcome::Origin;
use crate::upgrade::release::{ApplyMethod, RECORD, Release, records_of};
use crate::upgrade::secrets::Secrets;
use crate::upgrade::trace::Step;
use crate::upgrade::{fate, population, record};

mod doubts;
mod leaving;

/// A cluster with the old release.
#[derive(Clone)]
pub(super) struct Base {
    /// The cluster.
    pub(super) course: Course<Simulated>,
    /// Id of the actor that made the release.
    pub(super) made_by: String,
    /// Handed-in objects of kinds that are not served there.
    pub(super) unserved: Vec<ObjectName>,
    /// What else about the state could not be checked, as lines.
    pub(super) doubts: Vec<String>,
}

/// How a state to start from came about, where that is worth a word, and the state itself unless it can't be reached.
type Made = (Option<Origin>, Option<Base>);

/// A state that is made when it is first asked for.
type Place = OnceLock<Result<Made, Unreachable>>;

/// What the rehearsals of one run share: a workshop, and the states that they start from, each made once, as its maker
/// reads the chart.
pub struct Shared<'s> {
    /// Renders, records, prepared objects.
    pub workshop: Workshop<'s>,
    /// The values of Secrets that any of them met.
    pub secrets: Secrets,
    /// Makes an empty cluster of a Kubernetes version.
    fresh: &'s (dyn Fn(&str) -> Simulated + Sync),
    made: Vec<(&'static str, &'s Plan, Place)>,
}

impl<'s> Shared<'s> {
    /// For the actors of one run and their plans.
    pub fn new(
        workshop: Workshop<'s>,
        fresh: &'s (dyn Fn(&str) -> Simulated + Sync),
        plans: impl IntoIterator<Item = (&'static str, &'s Plan)>,
    ) -> Self {
        let made = plans.into_iter().map(|(maker, plan)| (maker, plan, OnceLock::new())).collect();
        Self { workshop, secrets: Secrets::default(), fresh, made }
    }

    /// The state that a maker leaves; `plan` is taken when the maker is no actor of this run.
    fn base(&self, maker: &str, plan: &Plan, workshop: &Workshop<'_>) -> Result<Made, Unreachable> {
        let make = |plan: &Plan| base(maker, plan, workshop, (self.fresh)(&plan.kubernetes));
        match self.made.iter().find(|(known, ..)| *known == maker) {
            Some((_, plan, made)) => made.get_or_init(|| make(plan)).clone(),
            None => make(plan),
        }
    }
}

/// Why nothing can be rehearsed from the state that was handed in.
pub(super) fn obstacle(plan: &Plan, shared: &Shared<'_>) -> Result<Option<String>, Unreachable> {
    let given = plan.state.as_ref().map(|state| state.objects.as_slice()).unwrap_or_default();
    leaving::closing(given, plan, || (shared.fresh)(&plan.kubernetes))
}

/// The states to start from.
pub(super) fn bases(
    actor: &dyn Actor,
    plan: &Plan,
    workshop: &Workshop<'_>,
    shared: &Shared<'_>,
) -> Result<Vec<Made>, Unreachable> {
    let given = plan.state.as_ref().map(|state| state.objects.as_slice()).unwrap_or_default();
    let record = last_record(given, plan);
    if let Some(record) = record.as_ref().filter(|record| holds_release(given, record)) {
        let mut world = (shared.fresh)(&plan.kubernetes);
        load(&mut world, given);
        world.wait(SETTLING)?;
        let unserved = unserved(&mut world, given)?;
        world.take_exchanges();
        let notes = world.take_notes();
        let mut course = Course::new(world);
        course.ails(&notes);
        let doubts = doubts::doubts(&mut course, given, &notes)?;
        let made_by = maker(record).to_owned();
        return Ok(vec![(None, Some(Base { course, made_by, unserved, doubts }))]);
    }
    // Who made the release is known as soon as its record is there.
    let makers: &[&str] = match record.as_ref().map(maker) {
        Some("helm4") => &["helm4"],
        Some(_) => &["helm3"],
        None if actor.id() == "helm3" => &["helm3"],
        None => &["helm3", "helm4"],
    };
    side_by_side(makers, |maker| shared.base(maker, plan, workshop))
}

/// Seconds after which what was loaded has come to rest: pods run, leases are taken.
const SETTLING: f64 = 60.0;

/// The last revision among handed-in objects, where it can be read.
fn last_record(objects: &[Value], plan: &Plan) -> Option<Release> {
    recorded(objects, &plan.subject).into_iter().max_by_key(|release| release.revision)
}

/// The revisions of a release that handed-in objects record, as far as they can be read.
#[must_use]
pub fn recorded(objects: &[Value], subject: &Subject) -> Vec<Release> {
    let prefix = records_of(&subject.release);
    let secrets = objects.iter().filter(|object| {
        let name = k8s::object_name(object);
        name.kind == "Secret" && name.name.starts_with(&prefix) && name.namespace == subject.namespace
    });
    let releases = secrets.filter_map(|secret| {
        let text = record::unbase64(k8s::text(secret, "/data/release"))?;
        record::decode(&String::from_utf8(text).ok()?).ok()
    });
    releases.collect()
}

/// The releases that handed-in objects have records of: namespace and name.
#[must_use]
pub fn releases(objects: &[Value]) -> BTreeSet<(String, String)> {
    let secrets = objects.iter().map(k8s::object_name).filter(|name| name.kind == "Secret");
    let released = secrets.filter_map(|secret| {
        let (release, _) = secret.name.strip_prefix(RECORD)?.rsplit_once(".v")?;
        Some((secret.namespace.clone(), release.to_owned()))
    });
    released.collect()
}

/// Whether handed-in objects hold what a release runs, so that nothing has to be installed first: its workloads, or, when it
/// has none, any of its objects.
fn holds_release(objects: &[Value], release: &Release) -> bool {
    let there: BTreeSet<(String, String)> =
        objects.iter().map(k8s::object_name).map(|name| (name.kind, name.name)).collect();
    let of_release = || {
        let objects = release.render.manifests.iter().flat_map(Manifest::objects);
        let names = objects.map(|object| k8s::object_name(&object));
        names.map(|name| (name.kind, name.name))
    };
    let is_workload = |kind: &str| matches!(kind, "Deployment" | "DaemonSet" | "StatefulSet");
    if of_release().any(|(kind, _)| is_workload(&kind)) {
        of_release().filter(|(kind, _)| is_workload(kind)).all(|name| there.contains(&name))
    } else {
        of_release().any(|name| there.contains(&name))
    }
}

/// Who wrote a release: only Helm 4 uses server-side apply.
fn maker(record: &Release) -> &'static str {
    if record.apply_method == ApplyMethod::ServerSide { "helm4" } else { "helm3" }
}

fn base(
    maker: &str,
    plan: &Plan,
    workshop: &Workshop<'_>,
    mut world: Simulated,
) -> Result<Made, Unreachable> {
    world.conditions = Conditions::default();
    let given = plan.state.as_ref().map(|state| state.objects.as_slice()).unwrap_or_default();
    world.reserve(given);
    let (mut course, origin) = installed(world, maker, plan, workshop, given)?;
    if origin.as_ref().is_some_and(|origin| !origin.reached) {
        return Ok((origin, None));
    }
    let notes = match &plan.state {
        Some(state) => overlay(&mut course, &state.objects, plan)?,
        None => {
            let populate = |world: &mut Simulated| Ok((population::populate(world)?, Vec::new()));
            course.step("user", "populate", "", "", populate)?.notes
        }
    };
    course.world.take_exchanges();
    let unserved = unserved(&mut course.world, given)?;
    course.forget_troubles();
    course.ails(&notes);
    let doubts = doubts::doubts(&mut course, given, &notes)?;
    Ok((origin, Some(Base { course, made_by: maker.to_owned(), unserved, doubts })))
}

/// A cluster with the old chart, and what there is to tell of its install. The namespaces of the state are there before it,
/// as a chart may write into them; where that keeps it from being installed, it brought them.
fn installed(
    world: Simulated,
    maker: &str,
    plan: &Plan,
    workshop: &Workshop<'_>,
    given: &[Value],
) -> Result<(Course<Simulated>, Option<Origin>), Unreachable> {
    let (mut course, places) = (Course::new(world.clone()), namespaces(&world, given));
    let own = |place: &Value| k8s::annotation(place, RELEASE_NAME) == Some(plan.subject.release.as_str());
    let foreign: Vec<Value> = places.into_iter().filter(|place| !own(place)).collect();
    let is_alone = foreign.is_empty();
    course.world.load(foreign);
    let origin = install(&mut course, maker, plan, workshop)?;
    if is_alone || origin.as_ref().is_none_or(|origin| origin.reached) {
        return Ok((course, origin));
    }
    let mut course = Course::new(world);
    let origin = install(&mut course, maker, plan, workshop)?;
    Ok((course, origin))
}

/// The namespaces that handed-in objects tell of and a cluster lacks: what lives in one proves that it is there, as states
/// seldom hold namespaces.
fn namespaces(world: &Simulated, objects: &[Value]) -> Vec<Value> {
    let is_namespace = |object: &&Value| k8s::text(object, "/kind") == "Namespace";
    let given: Vec<&Value> = objects.iter().filter(is_namespace).collect();
    let mut missing: BTreeSet<String> =
        objects.iter().map(|object| k8s::object_name(object).namespace).collect();
    missing.remove("");
    for place in &given {
        missing.remove(k8s::text(place, "/metadata/name"));
    }
    let stays = given.into_iter().filter(|place| !leaving::is_gone(place)).cloned();
    let proven = missing.iter().map(|name| namespace_object(name));
    let is_new = |place: &Value| world.get("", "Namespace", "", k8s::text(place, "/metadata/name")).is_none();
    stays.chain(proven).filter(is_new).collect()
}

/// Loads handed-in objects. What is about to go and what nothing can be read from stays out ([`leaving::is_gone`],
/// [`doubts::is_old_definition`]).
fn load(world: &mut Simulated, objects: &[Value]) {
    world.load(namespaces(world, objects));
    let stays = |object: &&Value| !leaving::is_gone(object) && !doubts::is_old_definition(object);
    let tracked: Vec<Value> = objects.iter().filter(stays).map(|object| tracked(world, object)).collect();
    world.load(tracked);
}

/// An object as a server would hold it, whoever wrote it down. What the installed release wrote is its own, and what a
/// controller made is. Where `managedFields` were left out, as kubectl does unless it is told otherwise, nobody else is
/// taken for one who keeps its fields: a first apply would put the whole object down to "before-first-apply", and what the
/// controller takes away later would stay.
fn tracked(world: &Simulated, object: &Value) -> Value {
    let mut object = world.completed(object);
    let (Gvk { group, kind, .. }, name) = (Gvk::of(&object), k8s::object_name(&object));
    let installed = world.get(&group, &kind, &name.namespace, &name.name);
    let known = installed.and_then(|installed| installed.at("/metadata/managedFields")).cloned();
    let is_made = k8s::controller(&object).is_some();
    let is_released = k8s::annotation(&object, RELEASE_NAME).is_some();
    let nobody = json!([{"manager": "unknown", "operation": "Update", "apiVersion": k8s::text(&object, "/apiVersion"),
        "fieldsType": "FieldsV1", "fieldsV1": {}}]);
    let managers = known.or_else(|| (is_made || is_released).then_some(nobody));
    if let (Some(managers), Some(metadata)) =
        (managers, object.get_mut("metadata").and_then(Value::as_object_mut))
    {
        metadata.entry("managedFields").or_insert(managers);
    }
    object
}

/// Objects of kinds that neither the server nor any definition knows: no request can reach them, so they are taken out
/// again.
fn unserved(world: &mut Simulated, objects: &[Value]) -> Result<Vec<ObjectName>, Unreachable> {
    let served: BTreeSet<(String, String)> =
        world.discover()?.iter().map(|api| (api.resource.group.clone(), api.kind.clone())).collect();
    let strangers = objects.iter().filter(|object| fate::counts(object) && !served.contains(&kind(object)));
    let strangers: Vec<&Value> = strangers.collect();
    strangers.iter().for_each(|object| world.unload(object));
    let names: BTreeSet<ObjectName> = strangers.into_iter().map(k8s::object_name).collect();
    Ok(names.into_iter().collect())
}

/// Installs the old chart; when that fails, once more with what a person would try. Answers what there is to tell.
fn install(
    course: &mut Course<Simulated>,
    maker: &str,
    plan: &Plan,
    workshop: &Workshop<'_>,
) -> Result<Option<Origin>, Unreachable> {
    let told = |error: &str, reached| {
        Some(Origin { made_by: maker.to_owned(), error: error.trim_end().to_owned(), reached })
    };
    let Some(actor) = actors::find(maker) else { return Ok(told("unknown actor", false)) };
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
        return Ok(None);
    }
    let flags = Flags { force_conflicts: dialect.is_v4(), ..Flags::default() };
    let second = command(course, workshop, plan, dialect, Command::Upgrade { chart, values }, flags)?;
    Ok(told(&first.stderr, second.exit_code == 0))
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

/// Lays handed-in objects over the installed ones.
///
/// Custom kinds that the state holds are taken to be held completely, as `kubectl get KIND -A` gives them: what the chart
/// installed of them and the state lacks is not there. Of other kinds a state usually holds a selection. Handed-in records
/// of the release take the place of the installed one. Answers what was said meanwhile.
fn overlay(
    course: &mut Course<Simulated>,
    objects: &[Value],
    plan: &Plan,
) -> Result<Vec<String>, Unreachable> {
    let key = |object: &Value| (kind(object), k8s::object_name(object));
    let held: BTreeSet<_> = objects.iter().map(key).collect();
    let prefix = records_of(&plan.subject.release);
    let is_record = |object: &Value| k8s::text(object, "/metadata/name").starts_with(&prefix);
    let with_records = last_record(objects, plan).is_some();
    let custom = custom_kinds(&course.world, objects);
    let complete: BTreeSet<(String, String)> =
        objects.iter().map(kind).filter(|kind| custom.contains(kind)).collect();
    let surplus: Vec<Arc<Value>> = Simulated::objects(&course.world)
        .filter(|object| complete.contains(&kind(object)) || with_records && is_record(object))
        .filter(|object| !held.contains(&key(object)))
        .cloned()
        .collect();
    for object in surplus {
        course.world.unload(&object);
    }
    load(&mut course.world, objects);
    course.world.wait(SETTLING)?;
    let notes = course.world.take_notes();
    *course = Course::new(course.world.clone());
    Ok(notes)
}

/// Groups and kinds that definitions define, installed or handed in.
fn custom_kinds(world: &Simulated, objects: &[Value]) -> BTreeSet<(String, String)> {
    let installed = Simulated::objects(world).map(AsRef::as_ref);
    let definitions =
        installed.chain(objects).filter(|object| k8s::text(object, "/kind") == "CustomResourceDefinition");
    definitions
        .map(|crd| (k8s::text(crd, "/spec/group").to_owned(), k8s::text(crd, "/spec/names/kind").to_owned()))
        .collect()
}

fn kind(object: &Value) -> (String, String) {
    let gvk = Gvk::of(object);
    (gvk.group, gvk.kind)
}

#[cfg(test)]
mod tests;
