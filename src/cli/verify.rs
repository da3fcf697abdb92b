//! `seatrial verify` and `seatrial demo`: render, rehearse, judge, report.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::args::{Demo, Engine, EngineFlags, Gate, Global, OutputFlags, Verify};
use super::blind::{not_checked, scaled_claims, unanswered, unasked, unexecuted, unscheduled};
use super::engine::{self, Part};
use super::exit::{Error, Exit};
use super::pair::Pair;
use super::state::Given;
use super::terminal::Terminal;
use super::{output, settings, state, ways};
use crate::chart::Values;
use crate::checks::{self, Compared, Context, Scene};
use crate::finding::{Finding, ObjectName, Severity};
use crate::limits::{Limits, stack};
use crate::render::facts::{self, Home};
use crate::render::{Options, Render};
use crate::report::judgement::{Evidence, judge};
use crate::report::model::{Ownership, Report, SCHEMA_VERSION};
use crate::report::{self, FORMATS, Style};
use crate::source::reference::HOMES;
use crate::upgrade::actors::{Actor, Renderer, Subject};
use crate::upgrade::lookups;
use crate::upgrade::outcome::Rehearsal;
use crate::upgrade::population;
use crate::upgrade::rehearse::{Plan, State, values_in_force};
use crate::upgrade::release::Release;
use crate::upgrade::renders::{Engines, Renders};
use crate::upgrade::sizes::Sizes;
use crate::upgrade::words::quoted;

/// The main job.
pub(crate) fn run(arguments: &Verify, global: &Global) -> Result<Exit, Error> {
    let formats: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    let targets = output::targets(&arguments.output.output, &formats)?;
    let full = full(&arguments.output, &targets)?;
    let pair = Pair::load(&arguments.pair, global)?;
    let report = verify(&pair, &arguments.engine, &arguments.output, global)?;
    finish(report, &targets, full, global)
}

/// The main job on what the program carries.
pub(crate) fn demo(arguments: &Demo, global: &Global) -> Result<Exit, Error> {
    let formats: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    let targets = output::targets(&arguments.output.output, &formats)?;
    let full = full(&arguments.output, &targets)?;
    Terminal::new(global.color)
        .say("demo: stand-in charts carried inside the program; they mimic a training operator and install nothing real");
    let pair = Pair::carried(global)?;
    let engine = EngineFlags {
        actor: arguments.actor.clone(),
        way: arguments.way.clone(),
        state: None,
        engine: Engine::Sim,
        kind_image: None,
        preload: Vec::new(),
        keep: false,
        kubeconfig: None,
        settle: 0,
        context: None,
    };
    let report = verify(&pair, &engine, &arguments.output, global)?;
    finish(report, &targets, full, global)
}

fn verify(pair: &Pair, flags: &EngineFlags, gate: &OutputFlags, global: &Global) -> Result<Report, Error> {
    let limits = settings::limits(&global.limits);
    let given = flags.state.as_deref().map(|path| state::read(path, &limits)).transpose()?;
    let renderer = Renders::new(Engines, limits.clone());
    let parts = parts(pair, flags, given.as_ref().map(|given| &given.state), global)?;
    // Before anything is rehearsed on a state that is another release's.
    let doubtful = match (&given, parts.last()) {
        (Some(given), Some(part)) => given.agrees(&part.plan)?,
        _ => Vec::new(),
    };
    let sizes = Arc::new(Sizes::default());
    let set_up = |values| Scenery::new(pair, &parts, values, &renderer, (given.as_ref(), &doubtful), &limits);
    let rehearse = || engine::run(&parts, &renderer, &sizes, flags, Terminal::new(global.color));
    let (scenery, mut rehearsals) = match flags.engine {
        Engine::Sim => std::thread::scope(|scope| {
            // Found out beside the rehearsals, which need none of it; a size only as far as that it fits.
            let scenery = stack::spawn(scope, || {
                let scenery = set_up(None)?;
                let _ = (scenery.compared(), scenery.open(), sizes.of(&scenery.release()));
                Ok(scenery)
            });
            let rehearsals = rehearse();
            Ok::<_, Error>((engine::joined(scenery)?, rehearsals?))
        }),
        // No cluster is made or changed for charts that can't be rendered.
        Engine::Kind | Engine::Cluster => Ok((set_up(None)?, rehearse()?)),
    }?;
    let unjudged = ways::only(&mut rehearsals, &flags.way)?;
    let values = Some(ways::values(&rehearsals)).filter(|_| !flags.way.is_empty()).flatten();
    let mut scenery = values.map_or(Ok(scenery), |values| set_up(Some(values)))?;
    scenery.unjudged = unjudged;
    let findings = scenery.findings(&rehearsals, &sizes);
    // The program is about to end, and the system is quicker to take memory back than its owners to give it.
    std::mem::forget(renderer);
    Ok(scenery.report(pair, flags, severity(gate.gate), rehearsals, findings))
}

/// One part per actor, each with charts and values as its Helm version reads them.
pub(crate) fn parts(
    pair: &Pair,
    flags: &EngineFlags,
    given: Option<&State>,
    global: &Global,
) -> Result<Vec<Part>, Error> {
    let limits = settings::limits(&global.limits);
    let part = |actor: &'static dyn Actor| {
        let helm = actor.version();
        let (before, after) = pair.sides(helm, &limits)?;
        let options = pair.options(helm, &limits);
        let plan = Plan {
            before: before.chart,
            after: after.chart,
            before_name: as_helm_names(&pair.before.info.reference),
            after_name: as_helm_names(&pair.after.info.reference),
            words_before: pair.words_before(),
            words_after: pair.words_after(),
            values_before: before.values,
            values_after: after.values,
            subject: Subject { release: options.release.clone(), namespace: options.namespace.clone() },
            kubernetes: kubernetes(&options),
            state: given.cloned(),
        };
        Ok(Part { actor, plan })
    };
    let actors = engine::actors(&flags.actor)?;
    std::thread::scope(|scope| {
        let part = &part;
        let threads: Vec<_> = actors.iter().map(|actor| stack::spawn(scope, move || part(*actor))).collect();
        threads.into_iter().map(engine::joined).collect()
    })
}

/// A chart in the words of Helm's command line, which knows neither `NAME@VERSION` nor tags in references.
pub(crate) fn as_helm_names(reference: &str) -> String {
    let home = reference.split_once('@').and_then(|(name, version)| {
        let (_, home) = HOMES.iter().find(|(known, _)| *known == name)?;
        Some(((*home).to_owned(), version))
    });
    let tagged = || {
        let (path, tag) = reference.strip_prefix("oci://")?.rsplit_once(':')?;
        (!tag.contains('/') && !path.contains('@')).then(|| (format!("oci://{path}"), tag))
    };
    match home.or_else(tagged) {
        Some((chart, version)) => format!("{} --version {}", quoted(&chart), quoted(version)),
        None => quoted(reference),
    }
}

/// Kubernetes version of a rehearsal that names none: the one whose answers were recorded.
pub(crate) const KUBERNETES: &str = "v1.34.3";

fn kubernetes(options: &Options) -> String {
    options.kube_version.as_deref().map_or_else(|| KUBERNETES.to_owned(), full_version)
}

// `1.34` becomes `v1.34.0`.
fn full_version(text: &str) -> String {
    let plain = text.trim_start_matches('v');
    if plain.matches('.').count() < 2 { format!("v{plain}.0") } else { format!("v{plain}") }
}

fn severity(gate: Gate) -> Severity {
    match gate {
        Gate::Loses => Severity::Loses,
        Gate::Breaks => Severity::Breaks,
        Gate::Risks => Severity::Risks,
        Gate::Notes => Severity::Notes,
    }
}

/// The new release as the next upgrade would render it, where its templates ask the clock or chance.
fn again(
    renderer: &dyn Renderer,
    plan: &Plan,
    (after, values): (&Arc<Render>, &Arc<Values>),
    state: &[Arc<Value>],
    upgrade: &Options,
) -> Result<Option<Arc<Render>>, String> {
    if facts::impure(&after.chart).is_empty() {
        return Ok(None);
    }
    let next = Options { revision: 3, answers: lookups::installed(state, after), ..upgrade.clone() };
    renderer.render(&plan.after, values_in_force(&plan.values_before, values), &next).map(Some)
}

/// Renders and state that checks look at.
struct Scenery<'p> {
    plan: &'p Plan,
    before: Arc<Render>,
    after: Arc<Render>,
    again: Option<Arc<Render>>,
    given: Option<&'p Given>,
    state: Vec<Arc<Value>>,
    /// The values of the upgrade.
    values: Arc<Values>,
    /// What a server would say to objects of the state, as lines.
    doubtful: Vec<String>,
    /// What was rehearsed and is not judged, as lines.
    unjudged: Vec<String>,
    compared: OnceLock<Compared>,
    open: OnceLock<Vec<String>>,
}

impl<'p> Scenery<'p> {
    fn new(
        pair: &Pair,
        parts: &'p [Part],
        values: Option<Arc<Values>>,
        renderer: &dyn Renderer,
        (given, doubtful): (Option<&'p Given>, &[String]),
        limits: &Limits,
    ) -> Result<Self, Error> {
        let part = parts.last().ok_or_else(|| Error::new("no actor").hint("Name one by `--actor helm3`."))?;
        let plan = &part.plan;
        let options = Options {
            kube_version: Some(plan.kubernetes.clone()),
            ..pair.options(part.actor.version(), limits)
        };
        let refused = |reference: &str| {
            let reference = reference.to_owned();
            move |message: String| Error::new(format!("chart `{reference}`: {message}"))
        };
        let objects = given.iter().flat_map(|given| &given.state.objects);
        let state: Vec<Arc<Value>> = objects.cloned().map(Arc::new).collect();
        let options = Options { answers: lookups::among(state.clone()), ..options };
        let before = renderer
            .render(&plan.before, &plan.values_before, &options)
            .map_err(refused(&pair.before.info.reference))?;
        given.map_or(Ok(()), |given| given.placed(&before))?;
        let mut doubtful = doubtful.to_vec();
        doubtful.extend(given.map_or(Ok(Vec::new()), |given| given.held(&plan.kubernetes))?);
        let answers = lookups::installed(&state, &before);
        let values = values.unwrap_or_else(|| Arc::clone(&plan.values_after));
        let upgrade = Options { revision: 2, is_upgrade: true, answers, ..options };
        let after = renderer
            .render(&plan.after, values_in_force(&plan.values_before, &values), &upgrade)
            .map_err(refused(&pair.after.info.reference))?;
        let again = again(renderer, plan, (&after, &values), &state, &upgrade)
            .map_err(refused(&pair.after.info.reference))?;
        Ok(Self {
            plan,
            before,
            after,
            again,
            given,
            state,
            values,
            doubtful,
            unjudged: Vec::new(),
            compared: OnceLock::new(),
            open: OnceLock::new(),
        })
    }

    /// Both renders laid side by side.
    fn compared(&self) -> &Compared {
        self.compared.get_or_init(|| Compared::new(&self.before, &self.after))
    }

    /// The revision that the upgrade makes.
    fn release(&self) -> Release {
        let Subject { release, namespace } = &self.plan.subject;
        Release::upgraded(release, namespace, &self.after)
    }

    fn findings(&self, rehearsals: &[Rehearsal], sizes: &Sizes) -> Vec<Finding> {
        let scene = Scene {
            before: &self.before,
            after: &self.after,
            again: self.again.as_ref(),
            chart_before: &self.plan.before,
            chart_after: &self.plan.after,
            values: &self.values,
            release: &self.plan.subject.release,
            namespace: &self.plan.subject.namespace,
            kubernetes: &self.plan.kubernetes,
            state: &self.state,
            rehearsals,
            sizes,
        };
        checks::run(&Context::new(&scene, self.compared()))
    }

    fn report(
        &self,
        pair: &Pair,
        flags: &EngineFlags,
        gate: Severity,
        rehearsals: Vec<Rehearsal>,
        findings: Vec<Finding>,
    ) -> Report {
        let delivered = self.delivered();
        let unanswered = self.open();
        let mut collected = self.given.map(|given| given.collected(&rehearsals)).unwrap_or_default();
        collected.extend(self.doubtful.iter().cloned());
        let unknown = rehearsals.iter().any(|rehearsal| !rehearsal.unknowns().is_empty());
        let verdict = judge(&Evidence {
            rehearsals: &rehearsals,
            findings: &findings,
            gate,
            open: !unanswered.is_empty() || !collected.is_empty() || unknown,
            delivered: &delivered,
            ways: &flags.way,
        });
        let mut report = Report {
            schema_version: SCHEMA_VERSION,
            generator: concat!("seatrial ", env!("CARGO_PKG_VERSION")).to_owned(),
            verdict,
            before: pair.before.info.clone(),
            after: pair.after.info.clone(),
            release: self.plan.subject.release.clone(),
            namespace: self.plan.subject.namespace.clone(),
            kubernetes: self.plan.kubernetes.clone(),
            engine: flags.engine.name().to_owned(),
            start: self.start(&rehearsals),
            not_checked: self.not_checked(
                &rehearsals,
                flags.engine,
                &[unanswered, &collected, anywhere(pair).as_slice(), &self.unjudged].concat(),
            ),
            ownership: self.ownership(),
            rehearsals,
            findings,
        };
        report.redact();
        report
    }

    fn start(&self, rehearsals: &[Rehearsal]) -> String {
        let population = rehearsals.iter().map(|rehearsal| rehearsal.population.as_slice());
        let alive = population.max_by_key(|names| names.len()).unwrap_or_default();
        let built_in = || {
            format!(
                "built-in population: {} (give --state for your own objects; docs/state.md says how to make one)",
                population::summary(alive)
            )
        };
        let given = self.given.map(|given| format!("objects of {}", given.state.name));
        given.unwrap_or_else(built_in)
    }

    /// What the run could not see: obstacles, what the simulation noted as not modelled, what a state lacks.
    fn not_checked(&self, rehearsals: &[Rehearsal], engine: Engine, more: &[String]) -> Vec<String> {
        let mut lines = not_checked(rehearsals, engine);
        lines.extend(more.iter().cloned());
        if !self.before.config.is_empty() {
            lines.insert(
                "other values than these: --reset-values, or --set without the complete values, which makes Helm forget those of the installed release"
                    .to_owned(),
            );
        }
        if engine == Engine::Sim {
            lines.extend(unscheduled(self.compared()));
            lines.extend(unasked(self.compared(), &self.state));
        }
        if self.state.is_empty() {
            lines.extend(self.unpopulated(rehearsals));
        } else if self.state.iter().all(|object| object.pointer("/metadata/managedFields").is_none()) {
            lines.insert(
                "conflicts with other managers: the state has no managedFields (kubectl get --show-managed-fields -o yaml, see docs/state.md)"
                    .to_owned(),
            );
        }
        lines.into_iter().collect()
    }

    /// What decides and nobody answers in a rehearsal.
    fn open(&self) -> &[String] {
        let look = || [&self.before, &self.after].into_iter().filter_map(|render| unanswered(&render.chart));
        let claims = || scaled_claims(self.compared(), &self.state);
        self.open.get_or_init(|| look().chain(claims()).chain(unexecuted(self.compared())).collect())
    }

    /// Kinds of the old chart of which the built-in population has no object.
    fn unpopulated(&self, rehearsals: &[Rehearsal]) -> Vec<String> {
        let alive: BTreeSet<&str> = rehearsals
            .iter()
            .flat_map(|rehearsal| &rehearsal.population)
            .map(|name| name.kind.as_str())
            .collect();
        let crds = self.compared().before.iter().filter(|item| item.name.kind == "CustomResourceDefinition");
        let kinds: BTreeSet<String> =
            crds.map(|crd| crate::k8s::text(&crd.object, "/spec/names/kind").to_owned()).collect();
        let missing = kinds.iter().filter(|kind| !alive.is_empty() && !alive.contains(kind.as_str()));
        missing
            .map(|kind| {
                format!("objects of kind {kind}: none could be made from the schema alone; give --state (docs/state.md)")
            })
            .collect()
    }

    /// Everything either chart brings; namespaced objects without a namespace live in the release's.
    fn delivered(&self) -> BTreeSet<ObjectName> {
        let items = self.compared().before.iter().chain(&self.compared().after);
        items
            .flat_map(|item| {
                let namespace = self.plan.subject.namespace.clone();
                [item.name.clone(), ObjectName { namespace, ..item.name.clone() }]
            })
            .collect()
    }

    fn ownership(&self) -> Vec<Ownership> {
        let (before, after) = (&self.compared().facts_before, &self.compared().facts_after);
        let mut rows = std::collections::BTreeMap::new();
        for (facts, is_after) in [(before, false), (after, true)] {
            for crd in &facts.crds {
                let name = ObjectName {
                    kind: "CustomResourceDefinition".into(),
                    namespace: String::new(),
                    name: crd.name.clone(),
                };
                place(&mut rows, name, home(&crd.home), is_after, crd.keep);
            }
            for runtime in &facts.runtimes {
                let text = match (&runtime.source, &runtime.applied_by) {
                    (Some(source), _) => format!("release, {source}"),
                    (None, Some((hook, _, _))) => format!("applied by hook {}", hook.name),
                    (None, None) => "render".to_owned(),
                };
                place(&mut rows, runtime.object_name.clone(), text, is_after, false);
            }
        }
        rows.into_values().map(left_alone).collect()
    }
}

/// What Helm put there from `crds/` stays when a chart no longer brings it.
fn left_alone(mut row: Ownership) -> Ownership {
    if row.after.is_empty() && row.before.starts_with("crds/") {
        "stays (nobody)".clone_into(&mut row.after);
    }
    row
}

/// Said where the namespace was not given.
fn anywhere(pair: &Pair) -> Option<String> {
    let said = "another namespace than `default`: it was taken because -n was not given";
    pair.is_anywhere().then(|| said.to_owned())
}

fn place(
    rows: &mut std::collections::BTreeMap<ObjectName, Ownership>,
    object: ObjectName,
    text: String,
    is_after: bool,
    keep: bool,
) {
    let row = rows.entry(object.clone()).or_insert_with(|| Ownership {
        object,
        before: String::new(),
        after: String::new(),
        keep: false,
    });
    if is_after {
        (row.after, row.keep) = (text, keep);
    } else {
        row.before = text;
    }
}

fn home(home: &Home) -> String {
    match home {
        Home::Template { .. } => "release".to_owned(),
        Home::Directory { subchart: false, .. } => "crds/ (nobody)".to_owned(),
        Home::Directory { subchart: true, .. } => "crds/ of a subchart (nobody)".to_owned(),
        Home::Hook { .. } => "hook".to_owned(),
        Home::HookApplied { hook, .. } => format!("applied by hook {}", hook.name),
    }
}

/// Whether text is wanted in full; other formats always are.
fn full(flags: &OutputFlags, targets: &[output::Target]) -> Result<bool, Error> {
    if flags.full && targets.iter().all(|target| target.format != "text") {
        return Err(Error::new("`--full`: no text is written")
            .hint("It is for the text format, `-o text`; the others always tell everything."));
    }
    Ok(flags.full)
}

/// Writes the report. The program ends then, and the system is quicker to take memory back than its owners to give it.
fn finish(report: Report, targets: &[output::Target], full: bool, global: &Global) -> Result<Exit, Error> {
    let exit = write(&report, targets, full, global);
    std::mem::forget(report);
    exit
}

fn write(report: &Report, targets: &[output::Target], full: bool, global: &Global) -> Result<Exit, Error> {
    output::put_all(targets, |target, out| match report::format(&target.format) {
        Some(format) => {
            let style = Style { full, ..target.style(Terminal::new(global.color)) };
            (format.write)(report, style, out)
        }
        None => Ok(()),
    })?;
    Ok(match report.verdict.exit_code {
        0 => Exit::Safe,
        1 => Exit::NotChecked,
        2 => Exit::Findings,
        _ => Exit::Lost,
    })
}
