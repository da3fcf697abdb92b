//! The ways through an upgrade: the plain command, what is advertised when it stops, and what may follow each.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::base::Base;
use super::gate::{Gate, gates};
use super::gather::{Try, gather};
use super::trial::{Trial, failures, has_jobs, has_webhooks, trials};
use super::{Plan, recorded, values_in_force};
use crate::chart::Chart;
use crate::cluster::Unreachable;
use crate::cluster::simulated::Simulated;
use crate::finding::ObjectName;
use crate::k8s;
use crate::k8s::At as _;
use crate::limits::parallel::side_by_side;
use crate::render::{HookEvent, Manifest, Options, Render};
use crate::upgrade::actors::helm::{Dialect, Flags, template_options};
use crate::upgrade::actors::{Actor, Command, Subject, Workshop};
use crate::upgrade::course::{Course, Order};
use crate::upgrade::outcome::{Operation, Outcome, REUSING, Verdict, Way};
use crate::upgrade::release::records_of;
use crate::upgrade::tape::{Reel, Tape};
use crate::upgrade::words::quoted;

mod care;
mod following;
mod hand;
mod recipe;

use following::Next;
use recipe::Recipe;

/// Takes the new chart's defaults and lays the values of the installed release over them.
const RESET_THEN_REUSE: &str = "--reset-then-reuse-values";

/// States from which follow-ups are tried.
const STATES: usize = 3;

struct Explorer<'e> {
    actor: &'e dyn Actor,
    dialect: Dialect,
    plan: &'e Plan,
    workshop: &'e Workshop<'e>,
    base: &'e Base,
    before: Option<Arc<Render>>,
    after: Option<Arc<Render>>,
    options: Options,
    gate: Option<Gate>,
    /// The installed revision; 0 where no record tells.
    installed: u64,
    /// What uninstalling deletes without any upgrade.
    loses_already: Vec<ObjectName>,
    /// Whether jobs want snapshots before a careful upgrade, once it is known.
    seeds: OnceLock<Result<bool, Unreachable>>,
}

/// Every way from one starting state.
pub(super) fn explore(
    actor: &dyn Actor,
    dialect: Dialect,
    plan: &Plan,
    workshop: &Workshop<'_>,
    base: &Base,
) -> Result<Vec<Way>, Unreachable> {
    let answers = base.course.answers();
    let options =
        Options { is_upgrade: true, revision: 2, answers, ..template_options(dialect.helm, &plan.subject) };
    let render = |chart, values| workshop.renderer.render(chart, values, &options).ok();
    let mut explorer = Explorer {
        actor,
        dialect,
        plan,
        workshop,
        base,
        before: render(&plan.before, &plan.values_before),
        after: render(&plan.after, values_in_force(&plan.values_before, &plan.values_after)),
        gate: gates(
            workshop.renderer,
            &plan.after,
            values_in_force(&plan.values_before, &plan.values_after),
            &options,
        ),
        options,
        installed: installed(base, &plan.subject),
        loses_already: Vec::new(),
        seeds: OnceLock::new(),
    };
    explorer.loses_already = explorer.leaving()?;
    explorer.all()
}

impl Explorer<'_> {
    fn all(&self) -> Result<Vec<Way>, Unreachable> {
        let (mut ways, stderr) = self.ways(&self.plain())?;
        if stderr.contains("invalid ownership metadata") {
            let mut recipes = self.around_ownership();
            // What the values do is the same on every way.
            recipes.iter_mut().skip(1).for_each(|recipe| recipe.reuse = false);
            // Each way goes on its own copy of the cluster.
            let around = side_by_side(&recipes, |recipe| self.ways(recipe))?;
            ways.extend(around.into_iter().flat_map(|(ways, _)| ways));
        } else if ways.iter().any(loses_at_once) && !self.outgoing(&mut self.base.course.fork())?.is_empty() {
            ways.extend(self.ways(&self.keeping())?.0);
        }
        Ok(ways)
    }

    /// Whether the release's own records were handed in.
    fn numbered(&self) -> bool {
        let given = self.plan.state.as_ref().map(|state| state.objects.as_slice()).unwrap_or_default();
        !recorded(given, &self.plan.subject).is_empty()
    }

    /// A way with everything that follows, and after it the one that forces past conflicts which stopped it; also the
    /// upgrade's stderr.
    fn ways(&self, recipe: &Recipe) -> Result<(Vec<Way>, String), Unreachable> {
        let upgraded = self.upgraded(recipe)?;
        let done = side_by_side(&self.jobs(recipe, &upgraded), |job| self.work(recipe, &upgraded, job))?;
        let (mut operations, mut more, mut afterwards) = (vec![upgraded.operation], Vec::new(), Vec::new());
        for one in done {
            match one {
                Done::Operations(of_this_way) => operations.extend(of_this_way),
                Done::Ways(ways) => more.extend(ways),
                Done::Afterwards(lines) => afterwards.extend(lines),
            }
        }
        let sets = recipe.sets.iter().map(|set| format!("--set {set}"));
        let way = Way {
            name: recipe.name.clone(),
            summary: recipe.summary.clone(),
            made_by: self.base.made_by.clone(),
            flags: recipe.flags.iter().cloned().chain(sets).collect(),
            prepare: upgraded.prepare,
            afterwards,
            loses_already: self.loses_already.clone(),
            numbered: self.numbered(),
            values: self
                .gate
                .as_ref()
                .filter(|_| !recipe.sets.is_empty())
                .map(|gate| Arc::clone(&gate.values)),
            operations,
        };
        Ok((std::iter::once(way).chain(more).collect(), upgraded.stderr))
    }

    /// The upgrade of a way, under every condition that comes into play.
    fn upgraded(&self, recipe: &Recipe) -> Result<Upgraded, Unreachable> {
        let (mut start, prepare) = self.started(recipe)?;
        let webhooks = has_webhooks(start.snapshot()?.as_ref());
        let hooks = self.hooks(&[HookEvent::PreUpgrade, HookEvent::PostUpgrade]);
        let (mut reached, mut tries) = (Vec::new(), Vec::new());
        let mut tape = Tape::default();
        let order = self.upgrade(recipe, &[]);
        for (course, one) in self.ends(&start, &trials(hooks, webhooks), &order, "", Some(&mut tape))? {
            let condition = one.conditions.first().cloned().unwrap_or_default();
            reached.push((condition, course, one.command_verdict(), one.step.exit_code));
            tries.push(one);
        }
        let stderr = tries.first().map(|one| one.step.stderr.clone()).unwrap_or_default();
        let flags = recipe.flags.clone();
        let operation = Operation { name: "upgrade".to_owned(), flags, outcomes: gather(tries) };
        let refused = reached.iter().all(|(_, _, verdict, _)| *verdict == Verdict::Refused);
        let reached = distinct(reached);
        Ok(Upgraded { start, prepare, hooks, webhooks, refused, reached, operation, stderr, tape })
    }

    /// What is done besides and after an upgrade, the longest first; nothing of its own after one that was refused.
    fn jobs(&self, recipe: &Recipe, upgraded: &Upgraded) -> Vec<Job> {
        let mut jobs: Vec<Job> = self.forced(recipe, &upgraded.stderr).map(Job::Force).into_iter().collect();
        if !upgraded.refused {
            jobs.extend([Job::Undo, Job::Reuse]);
            jobs.extend(self.what_follows(recipe, upgraded.webhooks).into_iter().map(Job::Follow));
            jobs.push(Job::Help);
        }
        jobs
    }

    fn work(&self, recipe: &Recipe, upgraded: &Upgraded, job: &Job) -> Result<Done, Unreachable> {
        let one = |operation: Option<Operation>| Done::Operations(operation.into_iter().collect());
        Ok(match job {
            Job::Force(forced) => Done::Ways(self.ways(forced)?.0),
            Job::Undo => one(self.undoing(recipe, upgraded)?),
            Job::Reuse => one(self.reusing(&upgraded.start, recipe)?),
            Job::Follow(next) => Done::Operations(self.insisting(&upgraded.reached, next)?),
            Job::Help => Done::Afterwards(self.helped(recipe, upgraded)?),
        })
    }

    /// What uninstalling the installed release deletes; only definitions in it take more along than themselves.
    fn leaving(&self) -> Result<Vec<ObjectName>, Unreachable> {
        let owns = |render: &Arc<Render>| {
            let mut objects = render.manifests.iter().flat_map(Manifest::objects);
            objects.any(|object| k8s::text(&object, "/kind") == "CustomResourceDefinition")
        };
        if !self.before.as_ref().is_some_and(owns) {
            return Ok(Vec::new());
        }
        let (_, one) = self.attempt(&self.base.course, &Trial::calm(), &self.uninstall(), "", Reel::None)?;
        Ok(one.step.lost_objects)
    }

    /// How a command ends under the first set of conditions, and under those of the others that came into play then.
    fn ends(
        &self,
        start: &Course<Simulated>,
        trials: &[Trial],
        order: &Order<'_>,
        prefix: &str,
        tape: Option<&mut Tape>,
    ) -> Result<Vec<End>, Unreachable> {
        let Some((first, others)) = trials.split_first() else { return Ok(Vec::new()) };
        let mut own = Tape::default();
        // Two trials seldom differ, and a tape costs more than it saves then.
        let wanted = tape.is_some() || trials.len() > 2;
        let tape = tape.unwrap_or(&mut own);
        let reel = if wanted { Reel::Record(tape) } else { Reel::None };
        let (course, mut one) = self.attempt(start, first, order, prefix, reel)?;
        let tape = &*tape;
        let differs =
            |trial: &&Trial| course.world.consulted().tells_apart(&first.conditions, &trial.conditions);
        let (others, alike): (Vec<&Trial>, Vec<&Trial>) = others.iter().partition(differs);
        one.conditions.extend(alike.into_iter().map(|trial| joined(prefix, &trial.condition)));
        let more =
            side_by_side(&others, |trial| self.attempt(start, trial, order, prefix, Reel::Play(tape)))?;
        Ok(std::iter::once((course, one)).chain(more).collect())
    }

    fn hooks(&self, events: &[HookEvent]) -> bool {
        self.after.as_ref().is_some_and(|render| has_jobs(render, events))
    }

    /// The upgrade with the flag that undoes it.
    fn undoing(&self, recipe: &Recipe, upgraded: &Upgraded) -> Result<Option<Operation>, Unreachable> {
        let Upgraded { start, hooks, webhooks, tape, .. } = upgraded;
        let flag = self.actor.undo_flag().to_owned();
        let order = self.upgrade(recipe, std::slice::from_ref(&flag));
        let tries = side_by_side(&failures(*hooks, *webhooks, &self.new_images()), |trial| {
            self.attempt(start, trial, &order, "", Reel::Play(tape)).map(|(_, one)| one)
        })?;
        let mut flags = recipe.flags.clone();
        flags.push(flag);
        Ok((!tries.is_empty()).then(|| Operation {
            name: "upgrade".to_owned(),
            flags,
            outcomes: gather(tries),
        }))
    }

    /// The upgrade with the old chart's defaults in place of the new one's, where that renders something else.
    fn reusing(&self, start: &Course<Simulated>, recipe: &Recipe) -> Result<Option<Operation>, Unreachable> {
        if !recipe.reuse || !self.reuse_matters() {
            return Ok(None);
        }
        let flag = "--reuse-values".to_owned();
        let order = self.upgrade(recipe, std::slice::from_ref(&flag));
        let (_, one) = self.attempt(start, &Trial::calm(), &order, "", Reel::None)?;
        let flags = recipe.flags.iter().cloned().chain([flag]).collect();
        Ok(Some(Operation { name: REUSING.to_owned(), flags, outcomes: gather(vec![one]) }))
    }

    /// Whether the new chart's templates make something else of the old chart's defaults, or can't work with them.
    fn reuse_matters(&self) -> bool {
        let (Some(before), Some(after)) = (&self.before, &self.after) else { return false };
        if before.chart.values == after.chart.values {
            return false;
        }
        let chart = Chart { values: (*before.values).clone(), ..Chart::clone(&self.plan.after) };
        let values = values_in_force(&self.plan.values_before, &self.plan.values_after);
        let render = self.workshop.renderer.render(&Arc::new(chart), values, &self.options);
        !render.is_ok_and(|render| texts(&render).eq(texts(after)))
    }

    /// Images of workloads that only the new chart has.
    fn new_images(&self) -> Vec<String> {
        let (Some(before), Some(after)) = (&self.before, &self.after) else { return Vec::new() };
        images(after).difference(&images(before)).cloned().collect()
    }

    fn attempt(
        &self,
        start: &Course<Simulated>,
        trial: &Trial,
        order: &Order<'_>,
        prefix: &str,
        reel: Reel<'_>,
    ) -> Result<End, Unreachable> {
        let mut course = start.fork();
        course.world.assume(&trial.conditions);
        let step = course.run_taped(self.workshop, order, reel)?;
        Ok((course, Try { conditions: vec![joined(prefix, &trial.condition)], step }))
    }

    fn order(&self, command: Command, words: &str, flags: &[String]) -> Order<'_> {
        let parsed = Flags::parse(flags, self.dialect).unwrap_or_default();
        let tail: String = flags.iter().map(|flag| format!(" {flag}")).collect();
        let line = format!("helm {words} -n {}{tail}", quoted(&self.plan.subject.namespace));
        Order {
            actor: self.actor.id(),
            dialect: self.dialect,
            subject: &self.plan.subject,
            command,
            flags: parsed,
            line,
        }
    }

    fn upgrade(&self, recipe: &Recipe, more: &[String]) -> Order<'_> {
        let flags: Vec<String> = recipe.flags.iter().chain(more).cloned().collect();
        let values = &self.plan.words_after;
        let sets: String = recipe.sets.iter().map(|set| format!(" --set {set}")).collect();
        let release = quoted(&self.plan.subject.release);
        let words = format!("upgrade {release} {}{values}{sets}", self.plan.after_name);
        let command =
            Command::Upgrade { chart: Arc::clone(&self.plan.after), values: Arc::clone(&recipe.values) };
        self.order(command, &words, &flags)
    }

    /// `helm template` of the new chart with the values that are in force.
    fn template(&self) -> String {
        let words = match self.plan.values_after.is_empty() {
            true => &self.plan.words_before,
            false => &self.plan.words_after,
        };
        let Subject { release, namespace } = &self.plan.subject;
        let (release, namespace) = (quoted(release), quoted(namespace));
        format!("helm template {release} {} -n {namespace}{words}", self.plan.after_name)
    }

    fn rollback(&self, flags: &[String]) -> Order<'_> {
        // The revision is named: after a rollback that failed, the one before is that of the upgrade.
        let revision = self.installed;
        let number = if revision == 0 { String::new() } else { format!(" {revision}") };
        let words = format!("rollback {}{number}", quoted(&self.plan.subject.release));
        self.order(Command::Rollback { revision }, &words, flags)
    }

    fn uninstall(&self) -> Order<'_> {
        self.order(Command::Uninstall, &format!("uninstall {}", quoted(&self.plan.subject.release)), &[])
    }
}

/// The newest revision of a release that is deployed, by the labels of its records; 0 without one.
fn installed(base: &Base, subject: &Subject) -> u64 {
    let prefix = records_of(&subject.release);
    let records = base.course.world.list("", "Secret", &subject.namespace);
    let deployed = records.filter(|record| k8s::label(record, "status") == Some("deployed"));
    let revisions =
        deployed.filter_map(|record| k8s::text(record, "/metadata/name").strip_prefix(&prefix)?.parse().ok());
    revisions.max().unwrap_or(0)
}

/// Whether the upgrade itself loses objects, or begins to delete a definition.
fn loses_at_once(way: &Way) -> bool {
    let outcomes = way.operations.iter().take(1).flat_map(|upgrade| &upgrade.outcomes);
    let doomed = |outcome: &Outcome| outcome.stuck().iter().any(|object| object.kind == DEFINITION);
    outcomes.into_iter().any(|one| one.verdict == Verdict::Loses || doomed(one))
}

const DEFINITION: &str = "CustomResourceDefinition";

/// A condition after the one that its state came about under.
fn joined(prefix: &str, condition: &str) -> String {
    let parts: Vec<&str> = [prefix, condition].into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("; ")
}

/// Where a command led, and how it ended.
type End = (Course<Simulated>, Try);

/// An upgrade that was tried, and what led to it.
struct Upgraded {
    /// The cluster before it, with what was prepared by hand.
    start: Course<Simulated>,
    /// The commands of that.
    prepare: Vec<String>,
    /// Whether the upgrade runs hooks.
    hooks: bool,
    /// Whether anybody guards writes with a webhook.
    webhooks: bool,
    /// Whether it ended before it changed anything, under every condition.
    refused: bool,
    reached: Vec<Reached>,
    operation: Operation,
    /// What the first try said.
    stderr: String,
    /// What the first try asked.
    tape: Tape,
}

/// What is done besides and after an upgrade; none waits for another.
enum Job {
    /// The same way, forced past conflicts.
    Force(Recipe),
    /// The upgrade with the flag that undoes it.
    Undo,
    /// The upgrade with the old chart's values.
    Reuse,
    /// What comes after it.
    Follow(Next),
    /// What helps those that it left stuck.
    Help,
}

/// What a job came to.
enum Done {
    Operations(Vec<Operation>),
    /// Ways of their own.
    Ways(Vec<Way>),
    /// Commands for the time after the upgrade.
    Afterwards(Vec<String>),
}

/// A state that an upgrade led to: under which condition, the cluster, verdict, exit code.
type Reached = (String, Course<Simulated>, Verdict, i32);

/// Which objects are alive; records of a release with their status.
type Alive = Vec<(ObjectName, Option<String>)>;

/// States that differ for what follows: by verdict and exit code, and by which objects are alive.
fn distinct(reached: Vec<Reached>) -> Vec<Reached> {
    let mut kept: Vec<(Alive, Reached)> = Vec::new();
    for mut state in reached {
        let Ok(snapshot) = state.1.snapshot() else { continue };
        let alive: Alive = snapshot
            .objects()
            .filter(|object| !is_passing(object))
            .map(|object| (k8s::object_name(object), release_status(object)))
            .collect();
        if !kept.iter().any(|(known, other)| *known == alive && other.2 == state.2 && other.3 == state.3) {
            kept.push((alive, state));
        }
    }
    kept.into_iter().map(|(_, state)| state).take(STATES).collect()
}

/// Objects that come and go by themselves and decide nothing.
fn is_passing(object: &Value) -> bool {
    matches!(k8s::text(object, "/kind"), "Pod" | "ReplicaSet" | "Job")
}

fn release_status(object: &Value) -> Option<String> {
    k8s::text(object, "/metadata/name")
        .starts_with("sh.helm.release")
        .then(|| k8s::text(object, "/metadata/labels/status").to_owned())
}

/// The documents of a render as Helm sends them.
fn texts(render: &Render) -> impl Iterator<Item = &str> {
    let manifests = render.manifests.iter().chain(render.hooks.iter().map(|hook| &hook.manifest));
    manifests.map(|manifest| &*manifest.text)
}

fn images(render: &Render) -> BTreeSet<String> {
    let mut images = BTreeSet::new();
    for object in render.manifests.iter().flat_map(Manifest::objects) {
        let containers = object.at("/spec/template/spec/containers").and_then(Value::as_array);
        images.extend(
            containers.into_iter().flatten().map(|container| k8s::text(container, "/image").to_owned()),
        );
    }
    images.remove("");
    images
}
