//! Playing a scenario: start, then every step on the cluster that the start left.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::vet::{CASCADES, PATCHES, Seen, dialect, unknown, unrendered};
use super::written::{object_name, values};
use super::{
    Apply, Create, Delete, Deployment, Patch, Played, Population, Scenario, ScenarioError, Stage, Tagging,
    lines,
};
use crate::chart::{Chart, Values};
use crate::cluster::simulated::Conditions;
use crate::cluster::{Exchange, PatchType, Propagation, Unreachable};
use crate::finding::ObjectName;
use crate::k8s::manifests::{self, Manifest};
use crate::k8s::{self, collection};
use crate::limits::Limits;
use crate::upgrade::actors::helm::{Dialect, Flags, template_options};
use crate::upgrade::actors::{Command, Subject, Terminal, Workshop};
use crate::upgrade::course::{Course, Order};
use crate::upgrade::fate::Snapshot;
use crate::upgrade::kubectl::{self, Kubectl, Tag};
use crate::upgrade::link::Link;
use crate::upgrade::secrets::{Attentive, Secrets};
use crate::upgrade::trace::Step;
use crate::upgrade::words::quoted;
use crate::upgrade::world::World;
use crate::upgrade::{population, snapshots};

/// Where a scenario gets its files from.
pub struct Inputs<'i> {
    /// The chart behind a reference.
    pub chart: &'i mut dyn FnMut(&str) -> Result<Arc<Chart>, String>,
    /// The text of a file beside the scenario.
    pub file: &'i mut dyn FnMut(&str) -> Result<String, String>,
    /// Bounds on files.
    pub limits: &'i Limits,
    /// A reference of a chart, or a file beside the scenario, as it is typed where the program runs.
    pub typed: &'i dyn Fn(&str, Typed) -> String,
}

/// What is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typed {
    /// A chart, quoted and in Helm's words.
    Chart,
    /// A file.
    File,
}

/// Plays a scenario on a cluster.
///
/// # Errors
/// Charts and files that can't be read, flags that the actor does not know, a start that fails, a server that can't be
/// reached. Steps that fail are results.
pub fn play<W: World>(
    scenario: &Scenario,
    world: W,
    workshop: &Workshop<'_>,
    inputs: &mut Inputs<'_>,
) -> Result<Played, ScenarioError> {
    play_through(scenario, world, workshop, inputs).map(|(played, _)| played)
}

/// As [`play`]; also gives the cluster as it is at the end.
///
/// # Errors
/// See [`play`].
pub fn play_through<W: World>(
    scenario: &Scenario,
    world: W,
    workshop: &Workshop<'_>,
    inputs: &mut Inputs<'_>,
) -> Result<(Played, W), ScenarioError> {
    let secrets = Secrets::default();
    let renderer = &Attentive::new(workshop.renderer, &secrets);
    let workshop = &Workshop { renderer, ..*workshop };
    let mut course = Course::new(world);
    course.secrets = secrets.clone();
    let played = play_on(scenario, course, workshop, inputs);
    let redactor = secrets.redactor();
    match played {
        Ok((mut played, world)) => {
            played.steps.iter_mut().for_each(|step| redactor.step(step));
            Ok((played, world))
        }
        Err(mut error) => {
            redactor.lines(&mut error.message);
            Err(error)
        }
    }
}

fn play_on<W: World>(
    scenario: &Scenario,
    course: Course<W>,
    workshop: &Workshop<'_>,
    inputs: &mut Inputs<'_>,
) -> Result<(Played, W), ScenarioError> {
    let mut player = Player::started(scenario, course, workshop, inputs)?;
    let (steps, looks) = player.steps(&|_| {}, &mut |_| {})?;
    let mut notes = std::mem::take(&mut player.notes);
    notes.extend(scenario.unmet(&player.seen, &looks));
    let name = scenario.name.clone();
    Ok((Played { scenario: name, steps, looks, notes, outcomes: Vec::new() }, player.course.world))
}

pub(super) struct Player<'p, 'i, W> {
    scenario: &'p Scenario,
    subject: Subject,
    pub(super) course: Course<W>,
    workshop: &'p Workshop<'p>,
    inputs: &'p mut Inputs<'i>,
    /// What the renders of its charts brought.
    pub(super) seen: Seen,
    /// What there is to tell about the start.
    pub(super) notes: Vec<String>,
}

/// What to do about a start that fails.
const START: &str = "Put the step right, or set `mayFail: true` on it where its error is part of the start.";

fn unreachable(error: Unreachable) -> ScenarioError {
    ScenarioError::new(error.0)
}

impl<'p, 'i, W: World> Player<'p, 'i, W> {
    /// A player whose scenario has come to its first step.
    pub(super) fn started(
        scenario: &'p Scenario,
        course: Course<W>,
        workshop: &'p Workshop<'p>,
        inputs: &'p mut Inputs<'i>,
    ) -> Result<Self, ScenarioError> {
        let subject = Subject { release: scenario.release.clone(), namespace: scenario.namespace.clone() };
        let mut player =
            Self { scenario, subject, course, workshop, inputs, seen: Seen::default(), notes: Vec::new() };
        player.start()?;
        Ok(player)
    }

    /// Plays the steps under the scenario's conditions, each changed by `change`; `after` sees the cluster after every one.
    /// Also gives how the cluster looked before the first step and after each.
    pub(super) fn steps(
        &mut self,
        change: &dyn Fn(&mut Conditions),
        after: &mut dyn FnMut(&W),
    ) -> Result<(Vec<Step>, Vec<Arc<Snapshot>>), ScenarioError> {
        let mut conditions = self.scenario.conditions.clone();
        let mut steps = Vec::new();
        let mut looks = vec![self.course.snapshot().map_err(unreachable)?];
        for stage in &self.scenario.steps {
            if let Some(changed) = &stage.conditions {
                conditions.clone_from(changed);
            }
            let mut conditions = conditions.clone();
            change(&mut conditions);
            steps.push(self.stage(stage, &conditions).map_err(|error| stage.at(error))?);
            after(&self.course.world);
            looks.push(self.course.snapshot().map_err(unreachable)?);
        }
        Ok((steps, looks))
    }

    fn start(&mut self) -> Result<(), ScenarioError> {
        let calm = Conditions::default();
        for stage in &self.scenario.start.steps {
            let conditions = stage.conditions.as_ref().unwrap_or(&calm).clone();
            let step = self.stage(stage, &conditions).map_err(|error| stage.at(error))?;
            if step.exit_code != 0 && !stage.may_fail {
                let (command, stderr) = (&step.command, step.stderr.trim_end());
                let message = format!("start: {command} fails: {stderr}");
                return Err(stage.at(ScenarioError::new(message).hint(START)));
            }
        }
        let populated = self.scenario.start.steps.iter().any(|stage| stage.populate.is_some());
        if self.scenario.start.population == Population::BuiltIn && !populated {
            let step = self.populate()?;
            went_well(&step, "the population")?;
        }
        let Some(file) = self.scenario.start.state.clone() else { return Ok(()) };
        self.load(&file)
    }

    /// Applies the objects of a state; what the garbage collector then takes away again is noted.
    fn load(&mut self, file: &str) -> Result<(), ScenarioError> {
        let found = collection::checked(self.documents(file)?)?;
        let objects: Vec<Arc<Value>> = found.into_iter().map(|manifest| Arc::new(manifest.object)).collect();
        let typed = (self.inputs.typed)(file, Typed::File);
        let step = self.by_hand(
            "populate",
            &format!("kubectl apply -f {}", quoted(&typed)),
            |kubectl, namespace| {
                kubectl.apply(
                    &objects,
                    namespace,
                    kubectl::Apply { server_side: true, force_conflicts: true, lenient: false },
                );
            },
        )?;
        went_well(&step, "the state")?;
        self.delete_again(&objects)?;
        let alive = self.course.world.objects().map_err(unreachable)?;
        let owned = objects.iter().filter(|object| object.pointer("/metadata/ownerReferences/0").is_some());
        let gone = owned.filter(|object| !alive.iter().any(|other| same(object, other)));
        self.notes
            .extend(gone.map(|object| format!("start.state: {}: {COLLECTED}", k8s::object_name(object))));
        Ok(())
    }

    /// Deletes what a state shows as being deleted, so that it is again.
    fn delete_again(&mut self, objects: &[Arc<Value>]) -> Result<(), ScenarioError> {
        let leaving =
            objects.iter().filter(|object| !k8s::text(object, "/metadata/deletionTimestamp").is_empty());
        let names: Vec<ObjectName> = leaving.map(|object| k8s::object_name(object)).collect();
        if names.is_empty() {
            return Ok(());
        }
        let line = lines::delete(&[], None, &names);
        let step =
            self.by_hand("populate", &line, |kubectl, _| kubectl.delete(&names, Propagation::Background))?;
        self.notes.extend(names.iter().map(|name| format!("start.state: {name}: {LEAVING}")));
        went_well(&step, "the deletion of what is being deleted in the state")
    }

    fn stage(&mut self, stage: &Stage, conditions: &Conditions) -> Result<Step, ScenarioError> {
        self.course.world.assume(conditions);
        if let Some(install) = &stage.install {
            return self.deploy(stage, install, true);
        }
        if let Some(upgrade) = &stage.upgrade {
            return self.deploy(stage, upgrade, false);
        }
        if let Some(rollback) = &stage.rollback {
            let revision = match rollback.revision {
                0 => String::new(),
                revision => format!(" {revision}"),
            };
            let words = format!("rollback {}{revision}", quoted(&self.subject.release));
            return self.helm(
                stage,
                Command::Rollback { revision: rollback.revision },
                &rollback.flags,
                &words,
            );
        }
        if let Some(uninstall) = &stage.uninstall {
            let words = format!("uninstall {}", quoted(&self.subject.release));
            return self.helm(stage, Command::Uninstall, &uninstall.flags, &words);
        }
        self.by_kubectl(stage)
    }

    fn populate(&mut self) -> Result<Step, ScenarioError> {
        let step = self.course.step("user", "populate", "the built-in population", "", |world| {
            Ok((population::populate(world)?, Vec::new()))
        });
        step.map_err(unreachable)
    }

    fn by_kubectl(&mut self, stage: &Stage) -> Result<Step, ScenarioError> {
        if let Some(apply) = &stage.apply {
            return self.apply(stage, apply);
        }
        if let Some(create) = &stage.create {
            return self.create(create);
        }
        if let Some(tagging) = &stage.annotate {
            return self.tag(tagging, Tag::Annotations);
        }
        if let Some(tagging) = &stage.label {
            return self.tag(tagging, Tag::Labels);
        }
        if let Some(patch) = &stage.patch {
            return self.patch(patch);
        }
        if let Some(delete) = &stage.delete {
            return self.delete(delete);
        }
        if stage.populate.is_some() {
            return self.populate();
        }
        if stage.seed_snapshots.is_some() {
            let objects = self.course.world.objects().map_err(unreachable)?;
            let seeds = snapshots::seeds(&objects);
            let how = kubectl::Apply { server_side: true, ..kubectl::Apply::default() };
            return self.by_hand("apply", &snapshots::command(), |kubectl, namespace| {
                kubectl.apply(&seeds, namespace, how);
            });
        }
        let seconds = stage.wait.unwrap_or(0.0);
        let step =
            self.course.step("user", "wait", &format!("sleep {seconds}"), &self.subject.namespace, |world| {
                world.wait(seconds)?;
                Ok((Terminal::default(), Vec::new()))
            });
        step.map_err(unreachable)
    }

    fn deploy(
        &mut self,
        stage: &Stage,
        deployment: &Deployment,
        install: bool,
    ) -> Result<Step, ScenarioError> {
        let chart = self.chart(&deployment.chart)?;
        let dialect = self.dialect(stage)?;
        let values = Arc::new(values(&deployment.values, &deployment.set, dialect.helm, self.inputs.limits)?);
        self.look_into(&chart, &values, dialect);
        let word = if install { "install" } else { "upgrade" };
        let typed = self.typed_chart(&deployment.chart);
        let words = lines::deployment(word, &self.subject.release, &typed, deployment);
        let command =
            if install { Command::Install { chart, values } } else { Command::Upgrade { chart, values } };
        self.helm(stage, command, &deployment.flags, &words)
    }

    fn helm(
        &mut self,
        stage: &Stage,
        command: Command,
        flags: &[String],
        words: &str,
    ) -> Result<Step, ScenarioError> {
        let dialect = self.dialect(stage)?;
        let parsed = Flags::parse(flags, dialect).map_err(|error| ScenarioError::new(error.0))?;
        let namespace = quoted(&self.subject.namespace);
        let line = format!("helm {words} -n {namespace}{}", lines::flags(flags));
        let id = if dialect.is_v4() { "helm4" } else { "helm3" };
        let order = Order { actor: id, dialect, subject: &self.subject, command, flags: parsed, line };
        self.course.run(self.workshop, &order).map_err(unreachable)
    }

    fn dialect(&self, stage: &Stage) -> Result<Dialect, ScenarioError> {
        dialect(stage.actor.as_deref().unwrap_or(&self.scenario.actor))
    }

    /// A chart as it is typed behind a command of Helm.
    fn typed_chart(&self, name: &str) -> String {
        let reference = self.scenario.charts.get(name).map(String::as_str).unwrap_or_default();
        (self.inputs.typed)(reference, Typed::Chart)
    }

    /// Remembers which hooks and images a chart brings.
    fn look_into(&mut self, chart: &Arc<Chart>, values: &Arc<Values>, dialect: Dialect) {
        let options = template_options(dialect.helm, &self.subject);
        if let Ok(render) = self.workshop.renderer.render(chart, values, &options) {
            self.seen.add(&render);
        }
    }

    fn chart(&mut self, name: &str) -> Result<Arc<Chart>, ScenarioError> {
        let reference = self.scenario.charts.get(name).ok_or_else(|| unknown("chart", name, &[]))?;
        (self.inputs.chart)(reference).map_err(ScenarioError::new)
    }

    /// The objects of a file, as kubectl reads it.
    fn documents(&mut self, file: &str) -> Result<Vec<Manifest>, ScenarioError> {
        let text = (self.inputs.file)(file).map_err(ScenarioError::new)?;
        let found = manifests::read(file, text.as_bytes(), self.inputs.limits)?;
        if found.is_empty() {
            let message = format!("{file}: no Kubernetes object in it");
            return Err(ScenarioError::new(message).hint(EMPTY));
        }
        found.iter().for_each(|manifest| self.course.secrets.add(&manifest.object));
        Ok(found)
    }

    fn apply(&mut self, stage: &Stage, apply: &Apply) -> Result<Step, ScenarioError> {
        let written = self.written(&apply.objects);
        let mut objects = written.clone();
        objects.extend(self.in_file(apply.file.as_deref())?);
        if let Some(chart) = &apply.chart {
            objects.extend(self.rendered(stage, chart, apply)?);
        }
        let how = kubectl::Apply {
            server_side: apply.server_side,
            force_conflicts: apply.force_conflicts,
            lenient: false,
        };
        let file = apply.file.as_deref().map(|file| (self.inputs.typed)(file, Typed::File));
        let chart = apply.chart.as_deref().map(|name| self.typed_chart(name));
        let line = lines::apply(apply, &written, file.as_deref(), chart.as_deref(), &self.subject);
        self.by_hand("apply", &line, |kubectl, namespace| {
            kubectl.apply(&objects, namespace, how);
        })
    }

    fn create(&mut self, create: &Create) -> Result<Step, ScenarioError> {
        let written = self.written(&create.objects);
        let file = create.file.as_deref().map(|file| (self.inputs.typed)(file, Typed::File));
        let line = lines::create(&written, file.as_deref(), &self.subject.namespace);
        let objects: Vec<Arc<Value>> =
            written.into_iter().chain(self.in_file(create.file.as_deref())?).collect();
        self.by_hand("create", &line, |kubectl, namespace| {
            kubectl.create(&objects, namespace);
        })
    }

    /// Objects written in the scenario itself; lists are taken apart.
    fn written(&self, objects: &[Value]) -> Vec<Arc<Value>> {
        let objects: Vec<Arc<Value>> =
            objects.iter().flat_map(|object| k8s::members(&Arc::new(object.clone()))).collect();
        objects.iter().for_each(|object| self.course.secrets.add(object));
        objects
    }

    fn in_file(&mut self, file: Option<&str>) -> Result<Vec<Arc<Value>>, ScenarioError> {
        let Some(file) = file else { return Ok(Vec::new()) };
        Ok(self.documents(file)?.into_iter().map(|manifest| Arc::new(manifest.object)).collect())
    }

    fn rendered(
        &mut self,
        stage: &Stage,
        name: &str,
        apply: &Apply,
    ) -> Result<Vec<Arc<Value>>, ScenarioError> {
        let chart = self.chart(name)?;
        let helm = self.dialect(stage)?.helm;
        let options = template_options(helm, &self.subject);
        let config = Arc::new(values(&apply.values, &apply.set, helm, self.inputs.limits)?);
        let render = self.workshop.renderer.render(&chart, &config, &options).map_err(ScenarioError::new)?;
        let crds = render.crds.iter().flat_map(|file| file.objects.iter());
        let hooks = render.hooks.iter().filter(|_| apply.hooks).map(|hook| &hook.manifest);
        self.seen.add(&render);
        let all = crds.chain(render.manifests.iter().chain(hooks).map(|manifest| &*manifest.object));
        // kubectl takes lists apart.
        let all: Vec<Arc<Value>> = all.flat_map(k8s::members).collect();
        let words = |pointer: &str| all.iter().map(|object| k8s::text(object, pointer).to_owned()).collect();
        let known = BTreeMap::from([
            ("kinds", (apply.kinds.as_slice(), words("/kind"))),
            ("names", (apply.names.as_slice(), words("/metadata/name"))),
        ]);
        unrendered(name, &known)?;
        let wanted = |list: &[String], word: &str| list.is_empty() || list.iter().any(|known| known == word);
        let fits = |object: &Arc<Value>| {
            wanted(&apply.kinds, k8s::text(object, "/kind"))
                && wanted(&apply.names, k8s::text(object, "/metadata/name"))
        };
        let mut found: Vec<Arc<Value>> = all.into_iter().filter(fits).collect();
        // As behind several `--show-only`: in the order in which they are named.
        found.sort_by_key(|object| {
            apply.names.iter().position(|name| name == k8s::text(object, "/metadata/name"))
        });
        Ok(found)
    }

    fn tag(&mut self, tagging: &Tagging, tag: Tag) -> Result<Step, ScenarioError> {
        let names = self.names(&tagging.objects, &tagging.selector)?;
        let values: Vec<(String, Option<String>)> = tagging.set.clone().into_iter().collect();
        let word = if tag == Tag::Labels { "label" } else { "annotate" };
        let line = lines::tag(word, tagging, &names);
        let step = self.by_hand(word, &line, |kubectl, _| kubectl.tag(&names, tag, &values))?;
        Ok(noted(step, &names, &tagging.objects))
    }

    fn patch(&mut self, patch: &Patch) -> Result<Step, ScenarioError> {
        let kind = match patch.kind.as_str() {
            "merge" => PatchType::Merge,
            "strategic" => PatchType::Strategic,
            "json" => PatchType::Json,
            other => return Err(unknown("kind of patch", other, PATCHES)),
        };
        let names = self.names(std::slice::from_ref(&patch.object), &BTreeMap::new())?;
        let is_secret = object_name(&patch.object)?.kind == "Secret";
        if is_secret {
            self.course.secrets.add_patch(&patch.patch);
        }
        let line = lines::patch(patch, &names, is_secret);
        let step = self.by_hand("patch", &line, |kubectl, _| {
            names.iter().for_each(|name| kubectl.patch(name, &patch.subresource, kind, &patch.patch));
        })?;
        Ok(noted(step, &names, std::slice::from_ref(&patch.object)))
    }

    fn delete(&mut self, delete: &Delete) -> Result<Step, ScenarioError> {
        let propagation = match delete.cascade.as_deref() {
            None | Some("background") => Propagation::Background,
            Some("foreground") => Propagation::Foreground,
            Some("orphan") => Propagation::Orphan,
            Some(other) => return Err(unknown("cascade", other, CASCADES)),
        };
        let names = self.names(&delete.objects, &BTreeMap::new())?;
        let line = lines::delete(&delete.objects, delete.cascade.as_deref(), &names);
        let step = self.by_hand("delete", &line, |kubectl, _| kubectl.delete(&names, propagation))?;
        Ok(noted(step, &names, &delete.objects))
    }

    /// Names as written; one that ends with `*` is replaced by every object of the kind that is alive and begins so.
    fn names(
        &mut self,
        written: &[String],
        selector: &BTreeMap<String, String>,
    ) -> Result<Vec<ObjectName>, ScenarioError> {
        let objects = self.course.world.objects().map_err(unreachable)?;
        self.seen.kinds_of(objects.iter().map(|object| &**object));
        let mut names = Vec::new();
        for text in written {
            let name = object_name(text)?;
            self.seen.knows(&name.kind)?;
            let selected = |object: &&Arc<Value>| {
                selector.iter().all(|(key, value)| k8s::label(object, key) == Some(value))
            };
            let pattern = name.name.strip_suffix('*');
            if pattern.is_none() && selector.is_empty() {
                names.push(name);
                continue;
            }
            let found = objects.iter().filter(selected).map(|object| k8s::object_name(object));
            let fits = |found: &ObjectName| {
                found.kind == name.kind
                    && pattern.map_or(found.name == name.name, |start| found.name.starts_with(start))
                    && (name.namespace.is_empty() || found.namespace == name.namespace)
            };
            names.extend(found.filter(fits).collect::<BTreeSet<_>>());
        }
        let mut seen = BTreeSet::new();
        names.retain(|name| seen.insert(name.clone()));
        Ok(names)
    }

    fn by_hand(
        &mut self,
        operation: &str,
        line: &str,
        act: impl FnOnce(&mut Kubectl<'_, '_>, &str),
    ) -> Result<Step, ScenarioError> {
        let namespace = self.subject.namespace.clone();
        let step = self.course.step("kubectl", operation, line, &namespace, |world| {
            let mut link = Link::new(world, "kubectl", "kubectl");
            let mut kubectl = Kubectl::new(&mut link);
            act(&mut kubectl, &namespace);
            let terminal = kubectl.finish();
            Ok::<(Terminal, Vec<Exchange>), Unreachable>((terminal, link.exchanges))
        });
        step.map_err(unreachable)
    }
}

/// Why an object of a state is gone.
const COLLECTED: &str = "deleted at once by the garbage collector: UIDs are made anew, so its owners are not there; take metadata.ownerReferences out";
/// What became of an object with a deletionTimestamp.
const LEAVING: &str =
    "is being deleted in the state, and so it is here: it waits for its finalizers, or is gone";
const EMPTY: &str = "Write objects as `kubectl get KIND -A -o yaml` prints them.";

/// Whether two are the same object; without a namespace it went into some.
fn same(written: &Value, alive: &Value) -> bool {
    let (written, alive) = (k8s::object_name(written), k8s::object_name(alive));
    let namespace = written.namespace.is_empty() || written.namespace == alive.namespace;
    written.kind == alive.kind && written.name == alive.name && namespace
}

/// What is refused at the start would be missing from everything that follows.
fn went_well(step: &Step, what: &str) -> Result<(), ScenarioError> {
    if step.exit_code == 0 {
        return Ok(());
    }
    Err(ScenarioError::new(format!("start: {what} is refused: {}", step.stderr.trim_end())))
}

/// A step that says which of the names as they are written nothing has.
fn noted(mut step: Step, names: &[ObjectName], written: &[String]) -> Step {
    let matched = |text: &&String| {
        let Ok(written) = object_name(text) else { return true };
        let start = written.name.strip_suffix('*');
        names.iter().any(|name| {
            name.kind == written.kind
                && start.map_or(name.name == written.name, |start| name.name.starts_with(start))
        })
    };
    let unmatched = written.iter().filter(|text| !matched(text));
    step.notes.extend(unmatched.map(|text| format!("{text} stands for no object at this step")));
    step
}
