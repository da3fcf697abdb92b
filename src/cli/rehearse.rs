//! `seatrial rehearse`: only the rehearsal, from two charts or from a scenario file.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

use super::args::{self, Engine, Global, Rehearse};
use super::charts::Loaded;
use super::engine;
use super::exit::{Error, Exit};
use super::pair::Pair;
use super::terminal::Terminal;
use super::{blind, output, settings, state, verify, ways};
use crate::chart::Helm;
use crate::report::{json, played, trace};
use crate::source::directory::read_file;
use crate::upgrade::actors::helm::Forge;
use crate::upgrade::actors::{Renderer as _, Workshop};
use crate::upgrade::outcome::{Outcome, Rehearsal, Verdict};
use crate::upgrade::renders::{Engines, Renders};
use crate::upgrade::scenario::{Inputs, Played, Scenario, ScenarioError, Typed, explore, play};
use crate::upgrade::storage::Records;
use crate::upgrade::trace::Step;
use crate::upgrade::world;

const FORMATS: &[&str] = &["text", "json"];
/// How deep JSON has a line for each member: down to single exchanges and events.
const REHEARSAL_LINES: usize = 11;
const SCENARIO_LINES: usize = 4;

/// Runs it and writes the trace.
pub(crate) fn run(arguments: &Rehearse, global: &Global) -> Result<Exit, Error> {
    let targets = output::targets(&arguments.output, FORMATS)?;
    match (&arguments.scenario, &arguments.before, &arguments.after) {
        (Some(path), ..) => scenario(path, arguments, global, &targets),
        (None, Some(before), Some(after)) => pair(before, after, arguments, global, &targets),
        _ => Err(Error::new("two charts or `--scenario FILE` are wanted")),
    }
}

fn pair(
    before: &str,
    after: &str,
    arguments: &Rehearse,
    global: &Global,
    targets: &[output::Target],
) -> Result<Exit, Error> {
    let limits = settings::limits(&global.limits);
    let pair = Pair::load(&as_pair(before, after, arguments), global)?;
    let given = arguments.engine.state.as_deref().map(|path| state::read(path, &limits)).transpose()?;
    let state = given.as_ref().map(|given| &given.state);
    let parts = verify::parts(&pair, &arguments.engine, state, global)?;
    let renderer = Renders::new(Engines, limits.clone());
    let mut doubtful = Vec::new();
    if let (Some(given), Some(part)) = (&given, parts.last()) {
        let options = pair.options(part.actor.version(), &limits);
        let before = renderer.render(&part.plan.before, &part.plan.values_before, &options);
        before.map_or(Ok(()), |before| given.placed(&before))?;
        doubtful = given.agrees(&part.plan)?;
        doubtful.extend(given.held(&part.plan.kubernetes)?);
    }
    let mut rehearsals =
        engine::run(&parts, &renderer, &Arc::default(), &arguments.engine, Terminal::new(global.color))?;
    for gap in ways::only(&mut rehearsals, &arguments.engine.way)? {
        Terminal::new(global.color).say(&format!("not shown: {gap}"));
    }
    output::put_all(targets, |target, out| match target.format.as_str() {
        "json" => json::value(&rehearsals, REHEARSAL_LINES, out),
        _ => trace::rehearsals(&rehearsals, target.style(Terminal::new(global.color)), out),
    })?;
    if rehearsals.iter().any(hurts) {
        return Ok(Exit::Lost);
    }
    let collected =
        || given.iter().flat_map(|given| given.collected(&rehearsals)).next().or_else(|| doubtful.pop());
    let unchecked = rehearsals.iter().find_map(unchecked).or_else(|| unanswered(&parts)).or_else(collected);
    unchecked.map_or(Ok(Exit::Safe), |reason| Err(Error::new(reason)))
}

/// Whether an object is lost or left broken. That a command can end halfway is the rule where hooks may fail, and hurts
/// nobody by itself.
fn hurts(rehearsal: &Rehearsal) -> bool {
    let operations = rehearsal.ways.iter().flat_map(|way| &way.operations);
    let mut outcomes = operations.flat_map(|operation| &operation.outcomes);
    outcomes.any(|outcome| outcome.verdict == Verdict::Loses || !outcome.stuck().is_empty())
}

/// Why a rehearsal that loses nothing says little: nothing could be played, no upgrade got through, or something that
/// decides could not be looked into.
fn unchecked(rehearsal: &Rehearsal) -> Option<String> {
    let actor = &rehearsal.actor;
    if !rehearsal.obstacle.is_empty() {
        return Some(format!("{actor}: {}", rehearsal.obstacle));
    }
    let upgrades = rehearsal.ways.iter().flat_map(|way| way.operations.first());
    let mut ends =
        upgrades.flat_map(|upgrade| &upgrade.outcomes).filter_map(|outcome| outcome.steps.last()).peekable();
    let Some(first) = ends.peek().copied() else { return Some(format!("{actor}: no step could be played")) };
    if ends.all(|step| step.exit_code != 0) {
        return Some(format!("{actor}: no upgrade gets through: {}", first.stderr.trim_end()));
    }
    let unknown = rehearsal.unknowns().into_iter().next();
    unknown.map(|note| format!("{actor}: not everything could be checked: {note}"))
}

fn unanswered(parts: &[engine::Part]) -> Option<String> {
    let charts = parts.iter().flat_map(|part| [&part.plan.before, &part.plan.after]);
    charts.into_iter().find_map(|chart| blind::unanswered(chart))
}

fn as_pair(before: &str, after: &str, arguments: &Rehearse) -> args::Pair {
    args::Pair {
        before: before.to_owned(),
        after: after.to_owned(),
        release: arguments.release.clone(),
        values: arguments.values.clone(),
        values_before: arguments.values_before.clone(),
        values_after: arguments.values_after.clone(),
        set_before: arguments.set_before.clone(),
        set_after: arguments.set_after.clone(),
    }
}

fn scenario(
    path: &Path,
    arguments: &Rehearse,
    global: &Global,
    targets: &[output::Target],
) -> Result<Exit, Error> {
    let (played, unanswered) = play_file(path, arguments, global)?;
    output::put_all(targets, |target, out| match target.format.as_str() {
        "json" => json::value(&played, SCENARIO_LINES, out),
        _ => played::write(&played, target.style(Terminal::new(global.color)), out),
    })?;
    if ends(&played).any(|verdict| verdict >= Verdict::Breaks) {
        return Ok(Exit::Lost);
    }
    let failed = |reason: String| Error::new(format!("{}: {reason}", path.display()));
    unplayed(&played).or(unanswered).map_or(Ok(Exit::Safe), |reason| Err(failed(reason)))
}

/// How the scenario ends: the natural course and whatever else was found.
fn ends(played: &Played) -> impl Iterator<Item = Verdict> {
    let natural = Outcome::of(String::new(), played.steps.clone()).verdict;
    std::iter::once(natural).chain(played.outcomes.iter().map(|outcome| outcome.verdict))
}

/// Why a scenario that hurts nobody says little. A step that fails is a result, unless every step fails.
fn unplayed(played: &Played) -> Option<String> {
    let Some(last) = played.steps.last() else { return Some("no step could be played".to_owned()) };
    if played.steps.iter().all(|step| step.exit_code != 0) {
        return Some(format!("every step is refused: {}", last.stderr.trim_end()));
    }
    let unknown = played.steps.iter().flat_map(Step::unknowns).next();
    unknown.map(|note| format!("not everything could be checked: {note}"))
}

/// Plays a file; also tells what its charts ask and nobody answers.
fn play_file(path: &Path, arguments: &Rehearse, global: &Global) -> Result<(Played, Option<String>), Error> {
    let limits = settings::limits(&global.limits);
    // What could not be fetched or read has a hint of its own.
    let fetching = RefCell::new(String::new());
    let told = |error: Error| {
        *fetching.borrow_mut() = error.hint;
        error.message
    };
    let failed = |error: ScenarioError| {
        let hint = if error.hint.is_empty() { fetching.take() } else { error.hint.to_owned() };
        Error::new(format!("{}: {}", path.display(), error.message)).hint(hint)
    };
    let source = read_file(path, limits.file_bytes)?;
    let source =
        String::from_utf8(source).map_err(|_| failed(ScenarioError::new("the text is not UTF-8")))?;
    let mut scenario = Scenario::parse(&source, &limits).map_err(failed)?;
    if scenario.name.is_empty() {
        scenario.name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    }
    let base = path.parent().unwrap_or(Path::new("")).to_owned();
    let placed = |reference: &str| {
        let beside = base.join(reference);
        if beside.exists() { beside.display().to_string() } else { reference.to_owned() }
    };
    let mut unanswered = None;
    let mut chart = |reference: &str| {
        let loaded = Loaded::open(&placed(reference), global).map_err(told)?;
        let chart = loaded.read(Helm::V4).map_err(|error| error.message)?;
        if unanswered.is_none() {
            unanswered = blind::unanswered(&chart);
        }
        Ok(chart)
    };
    let mut file = |name: &str| {
        let data = read_file(&base.join(name), limits.chart_bytes).map_err(|error| told(error.into()))?;
        String::from_utf8(data).map_err(|_| format!("{name}: the text is not UTF-8"))
    };
    let typed = |name: &str, what| match what {
        Typed::Chart => verify::as_helm_names(&placed(name)),
        Typed::File => base.join(name).display().to_string(),
    };
    let mut inputs = Inputs { chart: &mut chart, file: &mut file, limits: &limits, typed: &typed };
    let renderer = Renders::new(Engines, limits.clone());
    let forge = Forge::default();
    let real = arguments.engine.engine != Engine::Sim;
    let records = if real { Records::real() } else { Records::default() };
    let workshop = Workshop { renderer: &renderer, records: &records, forge: &forge };
    let played = match arguments.engine.engine {
        Engine::Sim => {
            let kubernetes = scenario.kubernetes.clone().unwrap_or_else(|| verify::KUBERNETES.to_owned());
            let world = world::simulated(&kubernetes);
            explore(&scenario, world, &workshop, &mut inputs, &mut |_, _| false).map(|(played, _)| played)
        }
        Engine::Cluster => {
            let live = engine::connect(&arguments.engine).map_err(|error| Error::new(error.0))?;
            play(&scenario, engine::real(live, &arguments.engine), &workshop, &mut inputs)
        }
        Engine::Kind => {
            let cluster = engine::kind(&arguments.engine, Terminal::new(global.color))?;
            let live = cluster.connect().map_err(|error| Error::new(error.0))?;
            play(&scenario, engine::real(live, &arguments.engine), &workshop, &mut inputs)
        }
    };
    played.map(|played| (played, unanswered)).map_err(failed)
}
