//! Playing a scenario: start, then every step on the cluster that the start left.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    Apply, Create, Delete, Deployment, Patch, Played, Population, Scenario, ScenarioError, Stage, Tagging,
};
use crate::chart::set::{Style, parse_into};
use crate::chart::{Chart, Values};
use crate::cluster::simulated::Conditions;
use crate::cluster::{Exchange, PatchType, Propagation, Unreachable};
use crate::finding::ObjectName;
use crate::k8s;
use crate::limits::Limits;
use crate::render::Helm;
use crate::upgrade::actors::helm::{Dialect, Flags, template_options};
use crate::upgrade::actors::{self, Command, Subject, Terminal, Workshop};
use crate::upgrade::course::{Course, Order};
use crate::upgrade::fate::Snapshot;
use crate::upgrade::kubectl::{self, Kubectl, Tag};
use crate::upgrade::link::Link;
use crate::upgrade::secrets::{Attentive, Secrets, without_contents};
use crate::upgrade::trace::Step;
use crate::upgrade::words::ValuesWords;
use crate::upgrade::world::World;
use crate::upgrade::{population, snapshots};
use crate::yaml;

/// Where a scenario gets its files from.
pub struct Inputs<'i> {
    /// The chart behind a reference.
    pub chart: &'i mut dyn FnMut(&str) -> Result<Arc<Chart>, String>,
    /// The text of a file beside the scenario.
    pub file: &'i mut dyn FnMut(&str) -> Result<String, String>,
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
        Err(ScenarioError(mut text)) => {
            redactor.lines(&mut text);
            Err(ScenarioError(text))
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
    Ok((Played { scenario: scenario.name.clone(), steps, looks, outcomes: Vec::new() }, player.course.world))
}

pub(super) struct Player<'p, 'i, W> {
    scenario: &'p Scenario,
    subject: Subject,
    pub(super) course: Course<W>,
    workshop: &'p Workshop<'p>,
    inputs: &'p mut Inputs<'i>,
}

fn unreachable(error: Unreachable) -> ScenarioError {
    ScenarioError(error.0)
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
        let mut player = Self { scenario, subject, course, workshop, inputs };
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
            steps.push(self.stage(stage, &conditions).map_err(|error| stage.error(&error.0))?);
            after(&self.course.world);
            looks.push(self.course.snapshot().map_err(unreachable)?);
        }
        Ok((steps, looks))
    }

    fn start(&mut self) -> Result<(), ScenarioError> {
        let calm = Conditions::default();
        for stage in &self.scenario.start.steps {
            let conditions = stage.conditions.as_ref().unwrap_or(&calm).clone();
            let step = self.stage(stage, &conditions).map_err(|error| stage.error(&error.0))?;
            if step.exit_code != 0 && !stage.may_fail {
                let (command, stderr) = (&step.command, step.stderr.trim_end());
                return Err(stage.error(&format!("start: {command} fails: {stderr}")));
            }
        }
        let populated = self.scenario.start.steps.iter().any(|stage| stage.populate.is_some());
        if self.scenario.start.population == Population::BuiltIn && !populated {
            let step = self.populate()?;
            went_well(&step, "the population")?;
        }
        let Some(file) = self.scenario.start.state.clone() else { return Ok(()) };
        let objects = self.documents(&file)?;
        self.by_hand("populate", &format!("kubectl apply -f {file}"), |kubectl, namespace| {
            kubectl.apply(
                &objects,
                namespace,
                kubectl::Apply { server_side: true, force_conflicts: true, lenient: false },
            );
        })
        .and_then(|step| went_well(&step, "the state"))
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
            let words = format!("rollback {} {}", self.subject.release, rollback.revision);
            return self.helm(
                stage,
                Command::Rollback { revision: rollback.revision },
                &rollback.flags,
                &words,
            );
        }
        if let Some(uninstall) = &stage.uninstall {
            let words = format!("uninstall {}", self.subject.release);
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
            return self.by_hand(
                "apply",
                "kubectl apply --server-side -f snapshots.yaml",
                |kubectl, namespace| {
                    kubectl.apply(
                        &seeds,
                        namespace,
                        kubectl::Apply { server_side: true, ..kubectl::Apply::default() },
                    );
                },
            );
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
        let values = Arc::new(values(&deployment.values, &deployment.set, dialect.helm)?);
        let reference = self.scenario.charts.get(&deployment.chart).cloned().unwrap_or_default();
        let word = if install { "install" } else { "upgrade" };
        let mut words = format!("{word} {} {reference}", self.subject.release);
        words.push_str(&values_words(deployment).to_string());
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
        let actor = self.actor(stage);
        let dialect = self.dialect(stage)?;
        let parsed = Flags::parse(flags, dialect).map_err(|error| ScenarioError(error.0))?;
        let tail: String = flags.iter().map(|flag| format!(" {flag}")).collect();
        let line = format!("{actor} {words} -n {}{tail}", self.subject.namespace);
        let id = if dialect.is_v4() { "helm4" } else { "helm3" };
        let order = Order { actor: id, dialect, subject: &self.subject, command, flags: parsed, line };
        self.course.run(self.workshop, &order).map_err(unreachable)
    }

    fn actor(&self, stage: &Stage) -> String {
        stage.actor.clone().unwrap_or_else(|| self.scenario.actor.clone())
    }

    /// `helm3`, `helm4`, or a version such as `helm3.17`.
    fn dialect(&self, stage: &Stage) -> Result<Dialect, ScenarioError> {
        let actor = self.actor(stage);
        if let Some(known) = actors::find(&actor) {
            return Ok(Dialect { helm: known.version() });
        }
        let version = actor.strip_prefix("helm").and_then(|version| version.split_once('.'));
        let parsed = version.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        let known: Vec<&str> = actors::ACTORS.iter().map(|actor| actor.id()).collect();
        let (major, minor) = parsed.ok_or_else(|| {
            ScenarioError(format!(
                "unknown actor {actor:?}; known are {} and versions such as helm3.17",
                known.join(", ")
            ))
        })?;
        Ok(Dialect { helm: Helm { major, minor } })
    }

    fn chart(&mut self, name: &str) -> Result<Arc<Chart>, ScenarioError> {
        let reference = self
            .scenario
            .charts
            .get(name)
            .ok_or_else(|| ScenarioError(format!("no chart is named {name:?} in charts")))?;
        (self.inputs.chart)(reference).map_err(ScenarioError)
    }

    fn documents(&mut self, file: &str) -> Result<Vec<Arc<Value>>, ScenarioError> {
        let text = (self.inputs.file)(file).map_err(ScenarioError)?;
        let mut objects = Vec::new();
        for (line, document) in yaml::documents(&text) {
            let object = yaml::to_json(document.as_bytes(), &Limits::default())
                .map_err(|error| ScenarioError(format!("{file}:{line}: {}", error.message)))?;
            match object.get("items").and_then(Value::as_array) {
                Some(items) => objects.extend(items.iter().cloned().map(Arc::new)),
                None if object.is_null() => {}
                None => objects.push(Arc::new(object)),
            }
        }
        objects.iter().for_each(|object| self.course.secrets.add(object));
        Ok(objects)
    }

    fn apply(&mut self, stage: &Stage, apply: &Apply) -> Result<Step, ScenarioError> {
        let mut objects = self.written(&apply.objects, apply.file.as_deref())?;
        if let Some(chart) = &apply.chart {
            objects.extend(self.rendered(stage, chart, apply)?);
        }
        let how = kubectl::Apply {
            server_side: apply.server_side,
            force_conflicts: apply.force_conflicts,
            lenient: false,
        };
        let flags = match (how.server_side, how.force_conflicts) {
            (true, true) => " --server-side --force-conflicts",
            (true, false) => " --server-side",
            _ => "",
        };
        self.by_hand("apply", &format!("kubectl apply{flags} -f -"), |kubectl, namespace| {
            kubectl.apply(&objects, namespace, how);
        })
    }

    fn create(&mut self, create: &Create) -> Result<Step, ScenarioError> {
        let objects = self.written(&create.objects, create.file.as_deref())?;
        self.by_hand("create", "kubectl create -f -", |kubectl, namespace| {
            kubectl.create(&objects, namespace);
        })
    }

    /// Objects written in the scenario, then those of a file.
    fn written(&mut self, objects: &[Value], file: Option<&str>) -> Result<Vec<Arc<Value>>, ScenarioError> {
        let mut objects: Vec<Arc<Value>> = objects.iter().cloned().map(Arc::new).collect();
        objects.iter().for_each(|object| self.course.secrets.add(object));
        if let Some(file) = file {
            objects.extend(self.documents(file)?);
        }
        Ok(objects)
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
        let config = Arc::new(values(&apply.values, &apply.set, helm)?);
        let render = self.workshop.renderer.render(&chart, &config, &options).map_err(ScenarioError)?;
        let crds = render.crds.iter().flat_map(|file| file.objects.iter());
        let hooks = render.hooks.iter().filter(|_| apply.hooks).map(|hook| &hook.manifest);
        let all = crds.chain(render.manifests.iter().chain(hooks).map(|manifest| &*manifest.object));
        let wanted = |list: &[String], word: &str| list.is_empty() || list.iter().any(|known| known == word);
        let fits = |object: &&Arc<Value>| {
            wanted(&apply.kinds, k8s::text(object, "/kind"))
                && wanted(&apply.names, k8s::text(object, "/metadata/name"))
        };
        let mut found: Vec<Arc<Value>> = all.filter(|o| !o.is_null()).filter(fits).cloned().collect();
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
        let pairs: String =
            values.iter().map(|(key, value)| format!(" {key}={}", value.as_deref().unwrap_or("-"))).collect();
        let line = format!("kubectl {word} {}{pairs}", tagging.objects.join(" "));
        self.by_hand(word, &line, |kubectl, _| kubectl.tag(&names, tag, &values))
    }

    fn patch(&mut self, patch: &Patch) -> Result<Step, ScenarioError> {
        let kind = match patch.kind.as_str() {
            "merge" => PatchType::Merge,
            "strategic" => PatchType::Strategic,
            "json" => PatchType::Json,
            other => {
                return Err(ScenarioError(format!(
                    "unknown kind of patch {other:?}; known are merge, strategic, json"
                )));
            }
        };
        let names = self.names(std::slice::from_ref(&patch.object), &BTreeMap::new())?;
        let is_secret = object_name(&patch.object)?.kind == "Secret";
        let shown = if is_secret { without_contents(&patch.patch) } else { patch.patch.clone() };
        if is_secret {
            self.course.secrets.add_patch(&patch.patch);
        }
        let on = match patch.subresource.as_str() {
            "" => String::new(),
            subresource => format!(" --subresource {subresource}"),
        };
        let line = format!("kubectl patch {}{on} --type {} -p {shown}", patch.object, patch.kind);
        self.by_hand("patch", &line, |kubectl, _| {
            names.iter().for_each(|name| kubectl.patch(name, &patch.subresource, kind, &patch.patch));
        })
    }

    fn delete(&mut self, delete: &Delete) -> Result<Step, ScenarioError> {
        let propagation = match delete.cascade.as_deref() {
            None | Some("background") => Propagation::Background,
            Some("foreground") => Propagation::Foreground,
            Some("orphan") => Propagation::Orphan,
            Some(other) => {
                return Err(ScenarioError(format!(
                    "unknown cascade {other:?}; known are background, foreground, orphan"
                )));
            }
        };
        let names = self.names(&delete.objects, &BTreeMap::new())?;
        let cascade = delete.cascade.iter().map(|cascade| format!(" --cascade={cascade}"));
        let line = format!("kubectl delete {}{}", delete.objects.join(" "), cascade.collect::<String>());
        self.by_hand("delete", &line, |kubectl, _| kubectl.delete(&names, propagation))
    }

    /// Names as written; one that ends with `*` is replaced by every object of the kind that is alive and begins so.
    fn names(
        &mut self,
        written: &[String],
        selector: &BTreeMap<String, String>,
    ) -> Result<Vec<ObjectName>, ScenarioError> {
        let objects = self.course.world.objects().map_err(unreachable)?;
        let mut names = Vec::new();
        for text in written {
            let name = object_name(text)?;
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

/// What is refused at the start would be missing from everything that follows.
fn went_well(step: &Step, what: &str) -> Result<(), ScenarioError> {
    if step.exit_code == 0 {
        return Ok(());
    }
    Err(ScenarioError(format!("start: {what} is refused: {}", step.stderr.trim_end())))
}

/// The values of a scenario as flags: those written in the file itself as JSON.
fn values_words(deployment: &Deployment) -> ValuesWords {
    let mut words = ValuesWords::default();
    deployment.values.iter().for_each(|(key, value)| words.json(&format!("{}={value}", escaped(key))));
    deployment.set.iter().for_each(|argument| words.set("--set", argument));
    words
}

/// A key that `--set-json` does not take apart.
fn escaped(key: &str) -> String {
    key.replace('\\', "\\\\").replace('.', "\\.").replace(',', "\\,").replace('=', "\\=")
}

/// Values as Helm would hold them: numbers of files are floats, `--set` is read on top.
fn values(written: &Values, set: &[String], helm: Helm) -> Result<Values, ScenarioError> {
    let mut values: Values = written.iter().map(|(key, value)| (key.clone(), floats(value))).collect();
    for set in set {
        parse_into(set, Style::Typed, helm, &mut values)
            .map_err(|error| ScenarioError(format!("failed parsing --set data: {error}")))?;
    }
    Ok(values)
}

fn floats(value: &Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().map_or_else(|| value.clone(), |number| json!(number)),
        Value::Array(list) => Value::Array(list.iter().map(floats).collect()),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (key.clone(), floats(value))).collect())
        }
        _ => value.clone(),
    }
}

/// Reads `Kind/namespace/name`; cluster-scoped objects may be written `Kind/name`.
fn object_name(text: &str) -> Result<ObjectName, ScenarioError> {
    let parts: Vec<&str> = text.split('/').collect();
    let (kind, namespace, name) = match parts.as_slice() {
        [kind, namespace, name] => (*kind, *namespace, *name),
        [kind, name] => (*kind, "", *name),
        _ => return Err(ScenarioError(format!("{text:?} is no object; write Kind/namespace/name"))),
    };
    Ok(ObjectName { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned() })
}
