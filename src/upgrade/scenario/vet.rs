//! What can be wrong with a scenario before anything is played: unknown words, missing parts, names that nothing has.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::written::{object_name, values};
use super::{Patch, Scenario, ScenarioError, Stage};
use crate::cluster::simulated::Conditions;
use crate::k8s::{self, catalogue, form};
use crate::limits::Limits;
use crate::render::{Helm, Manifest, Render};
use crate::upgrade::actors::helm::{Dialect, Flags, offered, takes_value};
use crate::upgrade::actors::{self};
use crate::upgrade::fate::Snapshot;
use crate::yaml;

const KEYS: &str = "docs/scenarios.md lists the keys and their values; with docs/scenario.schema.json an editor checks the file while you write it.";
const FLAGS: &str =
    "Flags are those of the Helm version that `actor` names, and values go into `values` and `set`.";
/// Helm 3.22.0 and 4.3.1 on a real control plane: an install with `--timeout 0` or `-5s` and a hook that does not end
/// waits until somebody stops it.
const ENDLESS: &str = "Helm takes it, and then waits for hooks without end; a rehearsal has to end. Write how long is waited, such as 5m.";
const NAMESPACE: &str =
    "A namespace has 1 to 63 lower-case letters, digits and hyphens, and no hyphen at its ends.";
const BOUNDS: &str = "Divide the scenario, or raise the limit by its flag.";
const OBJECTS: &str = "Objects are written Kind/namespace/name, or Kind/name without a namespace.";
const SKELETON: &str = "The least that plays: `{charts: {old: NAME@VERSION, new: NAME@VERSION}, release: NAME, start: {steps: [{install: {chart: old}}]}, steps: [{upgrade: {chart: new}}]}`.";

/// Kinds of patches.
pub(super) const PATCHES: &[&str] = &["merge", "strategic", "json"];
/// What happens to dependents of a deleted object.
pub(super) const CASCADES: &[&str] = &["background", "foreground", "orphan"];

/// A name in a condition that something should have.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    line: usize,
    key: &'static str,
    name: String,
}

impl Scenario {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// Text that is no YAML, unknown or missing keys and words, and steps that do nothing or several things; each names
    /// the line and what is known there.
    pub fn parse(text: &str, limits: &Limits) -> Result<Self, ScenarioError> {
        let refused = |message: String| ScenarioError::new(message).hint(KEYS);
        let file: Value =
            yaml::value(text.as_bytes(), limits).map_err(|error| ScenarioError::new(error.message))?;
        shape(&file)?;
        let mut scenario: Self = yaml::read(text.as_bytes(), limits).map_err(|e| refused(e.message))?;
        scenario.fixed = fixed(&file);
        number(&mut scenario.start.steps, text, "/start/steps");
        number(&mut scenario.steps, text, "/steps");
        let line = |pointer: &str| yaml::locate(text, pointer).unwrap_or(1);
        if scenario.steps.is_empty() {
            return Err(ScenarioError::new(format!("line {}: steps: the list is empty", line("/steps")))
                .hint("Write at least one step, such as `- upgrade: {chart: NAME}`."));
        }
        dialect(&scenario.actor).map_err(|e| e.on(line("/actor")))?;
        if !form::is_label(&scenario.namespace) {
            let message = format!("namespace: {:?} can't be the name of a namespace", scenario.namespace);
            return Err(ScenarioError::new(message).hint(NAMESPACE).on(line("/namespace")));
        }
        for stage in scenario.start.steps.iter().chain(&scenario.steps) {
            stage.vet(&scenario, limits).map_err(|error| stage.at(error))?;
        }
        scenario.bounded(limits)?;
        scenario.wanted = wanted(&scenario, &line);
        Ok(scenario)
    }

    /// Every end that is possible plays all steps, each over the whole cluster.
    fn bounded(&self, limits: &Limits) -> Result<(), ScenarioError> {
        let mut seconds = 0.0;
        for (position, stage) in self.start.steps.iter().chain(&self.steps).enumerate() {
            seconds += stage.wait.unwrap_or_default();
            let met = |what: String| Err(stage.at(ScenarioError::new(what).hint(BOUNDS)));
            if position >= limits.scenario_steps {
                return met(format!("more than {} steps (--limit-scenario-steps)", limits.scenario_steps));
            }
            if seconds > f64::from(limits.scenario_seconds) {
                let most = limits.scenario_seconds;
                return met(format!("wait: more than {most} seconds in all (--limit-scenario-seconds)"));
            }
        }
        Ok(())
    }

    /// Words of conditions that nothing had which was rendered or seen.
    pub(super) fn unmet(&self, seen: &Seen, looks: &[Arc<Snapshot>]) -> Vec<String> {
        let alive = |kind: &str, name: &str| {
            looks.iter().any(|look| look.names().any(|known| known.kind == kind && known.name == name))
        };
        let met = |wanted: &Wanted| match wanted.key {
            "hooks.named" => seen.jobs.contains(&wanted.name) || alive("Job", &wanted.name),
            "jobsFirst" => alive("TrainJob", &wanted.name),
            _ => seen.images.iter().any(|image| image.contains(&wanted.name)),
        };
        let unmet = self.wanted.iter().filter(|wanted| !met(wanted));
        unmet
            .map(|Wanted { line, key, name }| {
                let known: Vec<&str> = match *key {
                    "hooks.named" => seen.jobs.iter().map(String::as_str).collect(),
                    _ => Vec::new(),
                };
                let known = if known.is_empty() {
                    String::new()
                } else {
                    format!("; there are {}", known.join(", "))
                };
                format!("line {line}: {key}: nothing is called {name:?}{known}")
            })
            .collect()
    }
}

/// What a scenario's renders brought.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// Jobs that are hooks.
    pub(super) jobs: BTreeSet<String>,
    /// Images of all containers.
    pub(super) images: BTreeSet<String>,
    /// Kinds that definitions bring or brought.
    pub(super) kinds: BTreeSet<String>,
}

impl Seen {
    /// Takes in the kinds that definitions among objects bring.
    pub(super) fn kinds_of<'o>(&mut self, objects: impl Iterator<Item = &'o Value>) {
        let definitions = objects.filter(|object| k8s::text(object, "/kind") == "CustomResourceDefinition");
        self.kinds.extend(definitions.map(|crd| k8s::text(crd, "/spec/names/kind").to_owned()));
    }

    /// A kind that neither the server brings nor any definition brought is a mistake; one whose definition is gone is not.
    pub(super) fn knows(&self, kind: &str) -> Result<(), ScenarioError> {
        if catalogue::is_kind(kind) || self.kinds.contains(kind) {
            return Ok(());
        }
        let own: Vec<&str> = self.kinds.iter().map(String::as_str).collect();
        let message = format!("unknown kind {kind:?}; known are those of Kubernetes, and {}", own.join(", "));
        Err(ScenarioError::new(message).hint(OBJECTS))
    }

    /// Takes in a render.
    pub(super) fn add(&mut self, render: &Render) {
        let hooks: Vec<_> = render.hooks.iter().flat_map(|hook| hook.manifest.objects()).collect();
        let manifests: Vec<_> = render.manifests.iter().flat_map(Manifest::objects).collect();
        let definitions: Vec<_> =
            render.crds.iter().flat_map(|file| file.objects.iter()).flat_map(k8s::members).collect();
        self.kinds_of(definitions.iter().chain(&manifests).map(|object| &**object));
        let jobs = hooks.iter().filter(|object| k8s::text(object, "/kind") == "Job");
        self.jobs.extend(jobs.map(|job| k8s::text(job, "/metadata/name").to_owned()));
        for object in manifests.iter().chain(&hooks) {
            for list in ["containers", "initContainers"] {
                let containers = object.pointer(&format!("/spec/template/spec/{list}"));
                let containers = containers.and_then(Value::as_array).into_iter().flatten();
                self.images.extend(containers.map(|one| k8s::text(one, "/image").to_owned()));
            }
        }
    }
}

/// What a file has to be at all.
fn shape(file: &Value) -> Result<(), ScenarioError> {
    let found = match file {
        Value::Object(_) => return Ok(()),
        Value::Null => "the file is empty",
        Value::Array(_) => "the file is a list",
        _ => "the file is a single value",
    };
    let message = format!("line 1: {found}; a scenario is a mapping with charts, release and steps");
    Err(ScenarioError::new(message).hint(SKELETON))
}

/// The keys below `conditions` of the scenario and of its steps; what only the start says holds only there.
fn fixed(file: &Value) -> BTreeSet<String> {
    let steps = file.get("steps").and_then(Value::as_array).into_iter().flatten();
    let all = std::iter::once(file).chain(steps).filter_map(|part| part.get("conditions")?.as_object());
    all.flat_map(|conditions| conditions.keys().cloned()).collect()
}

/// Gives every step its line.
fn number(stages: &mut [Stage], text: &str, list: &str) {
    for (position, stage) in stages.iter_mut().enumerate() {
        stage.line = yaml::locate(text, &format!("{list}/{position}")).unwrap_or_default();
    }
}

/// Names in the conditions of a scenario and of its steps, each with its line.
fn wanted(scenario: &Scenario, line: &dyn Fn(&str) -> usize) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    let mut collect = |conditions: &Conditions, place: &str| {
        let hooks = conditions.hooks.named.keys().map(|name| ("hooks.named", "hooks/named", name));
        let jobs = conditions.jobs_first.iter().map(|name| ("jobsFirst", "jobsFirst", name));
        let images = conditions.images.iter().map(|name| ("images", "images", name));
        wanted.extend(hooks.chain(jobs).chain(images).map(|(key, path, name)| Wanted {
            line: line(&format!("{place}/conditions/{path}")),
            key,
            name: name.clone(),
        }));
    };
    collect(&scenario.conditions, "");
    for (list, stages) in [("/start/steps", &scenario.start.steps), ("/steps", &scenario.steps)] {
        for (position, stage) in stages.iter().enumerate() {
            stage.conditions.iter().for_each(|c| collect(c, &format!("{list}/{position}")));
        }
    }
    wanted
}

/// `helm3`, `helm4`, or a version such as `helm3.17`.
pub(super) fn dialect(actor: &str) -> Result<Dialect, ScenarioError> {
    if let Some(known) = actors::find(actor) {
        return Ok(Dialect { helm: known.version() });
    }
    let version = actor.strip_prefix("helm").and_then(|version| version.split_once('.'));
    let parsed = version.and_then(|(major, minor)| Helm::known(major.parse().ok()?, minor.parse().ok()?));
    let helm = parsed.ok_or_else(|| {
        let known: Vec<&str> = actors::ACTORS.iter().map(|actor| actor.id()).collect();
        ScenarioError::new(format!(
            "unknown actor {actor:?}; known are {} and versions such as helm3.17, of Helm {}",
            known.join(", "),
            Helm::KNOWN
        ))
    })?;
    Ok(Dialect { helm })
}

impl ScenarioError {
    /// The same error on a line.
    fn on(self, line: usize) -> Self {
        Self { message: format!("line {line}: {}", self.message), ..self }
    }
}

/// A word that is not among the known ones.
pub(super) fn unknown(what: &str, word: &str, known: &[&str]) -> ScenarioError {
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    ScenarioError::new(format!("unknown {what} {word:?}; known are {known}"))
}

impl Stage {
    /// An error of this step, with its line.
    pub(super) fn at(&self, error: ScenarioError) -> ScenarioError {
        error.on(self.line)
    }

    fn vet(&self, scenario: &Scenario, limits: &Limits) -> Result<(), ScenarioError> {
        self.single()?;
        if let Some(wait) = self.wait.filter(|wait| wait.is_nan() || *wait < 0.0) {
            return Err(ScenarioError::new(format!("wait: {wait} seconds are less than no time")));
        }
        let dialect = dialect(self.actor.as_deref().unwrap_or(&scenario.actor))?;
        self.vet_helm(dialect)?;
        self.vet_charts(scenario, dialect, limits)?;
        self.vet_objects()
    }

    /// One thing is done in one step.
    fn single(&self) -> Result<(), ScenarioError> {
        let there: Vec<&str> = self.deeds().into_iter().filter(|(_, there)| *there).map(|(n, _)| n).collect();
        let found = match there.as_slice() {
            [_] => return Ok(()),
            [] => "none is there".to_owned(),
            several => format!("{} are there", several.join(" and ")),
        };
        let known: Vec<&str> = self.deeds().into_iter().map(|(name, _)| name).collect();
        let message = format!("exactly one of {} is wanted, {found}", known.join(", "));
        Err(ScenarioError::new(message).hint(
            "A key without a value counts as missing; write `uninstall: {}`. Two things are two steps.",
        ))
    }

    /// What a step can do, and whether this one does it.
    pub(super) fn deeds(&self) -> [(&'static str, bool); 13] {
        [
            ("install", self.install.is_some()),
            ("upgrade", self.upgrade.is_some()),
            ("rollback", self.rollback.is_some()),
            ("uninstall", self.uninstall.is_some()),
            ("apply", self.apply.is_some()),
            ("create", self.create.is_some()),
            ("annotate", self.annotate.is_some()),
            ("label", self.label.is_some()),
            ("patch", self.patch.is_some()),
            ("delete", self.delete.is_some()),
            ("populate", self.populate.is_some()),
            ("seedSnapshots", self.seed_snapshots.is_some()),
            ("wait", self.wait.is_some()),
        ]
    }

    /// Flags that the command does not have.
    fn vet_helm(&self, dialect: Dialect) -> Result<(), ScenarioError> {
        let deployments = [("install", &self.install), ("upgrade", &self.upgrade)];
        let deployed = deployments.into_iter().filter_map(|(word, one)| Some((word, &one.as_ref()?.flags)));
        let rollback = self.rollback.iter().map(|one| ("rollback", &one.flags));
        let uninstall = self.uninstall.iter().map(|one| ("uninstall", &one.flags));
        for (word, flags) in deployed.chain(rollback).chain(uninstall) {
            let known = offered(word, dialect);
            let mut rest = flags.iter();
            while let Some(flag) = rest.next() {
                let name = flag.split_once('=').map_or(flag.as_str(), |(name, _)| name);
                if !flag.starts_with('-') {
                    continue;
                }
                if takes_value(flag) {
                    // Whatever it begins with.
                    rest.next();
                }
                if !known.contains(&name) {
                    return Err(unknown(&format!("flag of {word}"), name, &known).hint(FLAGS));
                }
            }
            let parsed =
                Flags::parse(flags, dialect).map_err(|error| ScenarioError::new(error.0).hint(FLAGS))?;
            if parsed.timeout <= 0.0 {
                return Err(ScenarioError::new("--timeout: no time above zero").hint(ENDLESS));
            }
        }
        Ok(())
    }

    /// Charts that nobody named, and assignments that can't be read.
    fn vet_charts(
        &self,
        scenario: &Scenario,
        dialect: Dialect,
        limits: &Limits,
    ) -> Result<(), ScenarioError> {
        let deployments = self.install.iter().chain(&self.upgrade);
        let deployed = deployments.map(|one| (one.chart.as_str(), &one.values, &one.set));
        let applied =
            self.apply.iter().filter_map(|one| Some((one.chart.as_deref()?, &one.values, &one.set)));
        for (chart, written, set) in deployed.chain(applied) {
            if !scenario.charts.contains_key(chart) {
                let known: Vec<&str> = scenario.charts.keys().map(String::as_str).collect();
                let message =
                    format!("no chart is named {chart:?} in charts; known are {}", known.join(", "));
                return Err(ScenarioError::new(message)
                    .hint("`chart` is one of the names below `charts`, which says what chart it is."));
            }
            values(written, set, dialect.helm, limits)?;
        }
        Ok(())
    }

    /// Words and objects of what kubectl does.
    fn vet_objects(&self) -> Result<(), ScenarioError> {
        if let Some(patch) = &self.patch {
            vet_patch(patch)?;
        }
        let cascade = self.delete.as_ref().and_then(|one| one.cascade.as_deref());
        if let Some(word) = cascade.filter(|word| !CASCADES.contains(word)) {
            return Err(unknown("cascade", word, CASCADES));
        }
        let tagged = self.annotate.iter().chain(&self.label).flat_map(|one| &one.objects);
        let patched = self.patch.iter().map(|one| &one.object);
        let deleted = self.delete.iter().flat_map(|one| &one.objects);
        for text in tagged.chain(patched).chain(deleted) {
            object_name(text).map_err(|error| error.hint(OBJECTS))?;
        }
        self.written_objects()?;
        self.nothing_missing()
    }

    /// Objects in the file itself that say no kind.
    fn written_objects(&self) -> Result<(), ScenarioError> {
        let applied = self.apply.iter().map(|one| ("apply", &one.objects));
        let created = self.create.iter().map(|one| ("create", &one.objects));
        for (word, objects) in applied.chain(created) {
            for (position, object) in objects.iter().enumerate() {
                let members = k8s::members(&Arc::new(object.clone()));
                members.iter().map(|member| &**member).chain([object]).try_for_each(form::identity).map_err(
                    |fault| {
                        let message = format!("{word}.objects[{position}]: {}", fault.message);
                        ScenarioError::new(message).hint(fault.hint)
                    },
                )?;
            }
        }
        Ok(())
    }

    /// Lists without which a step does nothing.
    fn nothing_missing(&self) -> Result<(), ScenarioError> {
        let tag = |word, one: &Option<super::Tagging>| {
            let one = one.as_ref()?;
            let missing = if one.objects.is_empty() { "objects" } else { "set" };
            (one.objects.is_empty() || one.set.is_empty()).then_some((word, missing))
        };
        let apply =
            self.apply.as_ref().filter(|a| a.file.is_none() && a.objects.is_empty() && a.chart.is_none());
        let create = self.create.as_ref().filter(|one| one.file.is_none() && one.objects.is_empty());
        let delete = self.delete.as_ref().filter(|one| one.objects.is_empty());
        let missing = tag("annotate", &self.annotate)
            .or_else(|| tag("label", &self.label))
            .or_else(|| apply.map(|_| ("apply", "file, objects or chart")))
            .or_else(|| create.map(|_| ("create", "file or objects")))
            .or_else(|| delete.map(|_| ("delete", "objects")));
        match missing {
            None => Ok(()),
            Some((word, what)) => {
                Err(ScenarioError::new(format!("{word}: without {what} there is nothing to do")).hint(KEYS))
            }
        }
    }
}

/// What can be done by an operation of a JSON patch (RFC 6902).
const OPERATIONS: &[&str] = &["add", "copy", "move", "remove", "replace", "test"];
const PATCH: &str = "A patch of kind json is a list of operations such as {op: replace, path: /spec/replicas, value: 1}; others are mappings.";

/// A patch that no server could take, whatever it is for.
fn vet_patch(patch: &Patch) -> Result<(), ScenarioError> {
    if !PATCHES.contains(&patch.kind.as_str()) {
        return Err(unknown("kind of patch", &patch.kind, PATCHES));
    }
    let refused = |message: String| Err(ScenarioError::new(message).hint(PATCH));
    match (patch.kind.as_str(), &patch.patch) {
        ("json", Value::Array(operations)) => {
            operations.iter().enumerate().try_for_each(|(at, operation)| vet_operation(at, operation))
        }
        ("json", other) => refused(format!("patch.patch is {}, not a list", form::noun(other))),
        (_, Value::Object(_)) => Ok(()),
        (_, other) => refused(format!("patch.patch is {}, not a mapping", form::noun(other))),
    }
}

fn vet_operation(at: usize, operation: &Value) -> Result<(), ScenarioError> {
    let word = k8s::text(operation, "/op");
    if !OPERATIONS.contains(&word) {
        return Err(unknown(&format!("operation of patch.patch[{at}]"), word, OPERATIONS).hint(PATCH));
    }
    let wanted: &[&str] = if matches!(word, "copy" | "move") { &["path", "from"] } else { &["path"] };
    let is_pointer = |value: Option<&Value>| {
        value.and_then(Value::as_str).is_some_and(|text| text.is_empty() || text.starts_with('/'))
    };
    match wanted.iter().find(|key| !is_pointer(operation.get(**key))) {
        None => Ok(()),
        Some(key) => {
            let message = format!("patch.patch[{at}].{key} is no path such as /metadata/labels/app");
            Err(ScenarioError::new(message).hint(PATCH))
        }
    }
}

/// Words that a chart's render has none of.
pub(super) fn unrendered(
    chart: &str,
    wanted: &BTreeMap<&'static str, (&[String], BTreeSet<String>)>,
) -> Result<(), ScenarioError> {
    for (what, (words, known)) in wanted {
        if let Some(word) = words.iter().find(|word| !known.contains(*word)) {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let message =
                format!("{what}: chart {chart} renders no {word:?}; it renders {}", known.join(", "));
            return Err(ScenarioError::new(message));
        }
    }
    Ok(())
}
