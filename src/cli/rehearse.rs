//! `seatrial rehearse`: only the rehearsal, from two charts or from a scenario file.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::args::{self, Engine, Global, Rehearse};
use super::charts::Loaded;
use super::engine::{self, Engines};
use super::exit::{Error, Exit};
use super::pair::Pair;
use super::terminal::Terminal;
use super::{output, settings, state, verify};
use crate::chart::Helm;
use crate::report::trace;
use crate::source::directory::read_file;
use crate::upgrade::actors::Workshop;
use crate::upgrade::actors::helm::Forge;
use crate::upgrade::outcome::{Rehearsal, Verdict};
use crate::upgrade::renders::Renders;
use crate::upgrade::scenario::{Inputs, Played, Scenario, play};
use crate::upgrade::storage::Records;

const FORMATS: &[&str] = &["text", "json"];

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
    let parts = verify::parts(&pair, &arguments.engine, given.as_ref(), global)?;
    let renderer = Renders::new(Engines);
    let rehearsals =
        engine::run(&parts, &renderer, &Arc::default(), &arguments.engine, Terminal::new(global.color))?;
    for target in targets {
        let bytes = match target.format.as_str() {
            "json" => json(&rehearsals)?,
            _ => text(|out| trace::rehearsals(&rehearsals, target.style(Terminal::new(global.color)), out))?,
        };
        target.put(&bytes)?;
    }
    let lost = rehearsals.iter().any(|rehearsal| rehearsal.verdict() == Verdict::Loses);
    let blind = rehearsals.iter().find(|rehearsal: &&Rehearsal| !rehearsal.obstacle.is_empty());
    match (lost, blind) {
        (true, _) => Ok(Exit::Lost),
        (false, Some(rehearsal)) => Err(Error::new(format!("{}: {}", rehearsal.actor, rehearsal.obstacle))),
        (false, None) => Ok(Exit::Safe),
    }
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
    let played = play_file(path, arguments, global)?;
    for target in targets {
        let bytes = match target.format.as_str() {
            "json" => json(&played)?,
            _ => text(|out| played.steps.iter().try_for_each(|step| trace::step(step, out)))?,
        };
        target.put(&bytes)?;
    }
    let lost = played.steps.iter().any(|step| !step.lost_objects.is_empty());
    Ok(if lost { Exit::Lost } else { Exit::Safe })
}

fn play_file(path: &Path, arguments: &Rehearse, global: &Global) -> Result<Played, Error> {
    let limits = settings::limits(&global.limits);
    let failed = |message: String| {
        Error::new(format!("{}: {message}", path.display()))
            .hint("docs/scenarios.md describes scenario files.")
    };
    let source = read_file(path, limits.file_bytes)?;
    let scenario = Scenario::parse(&String::from_utf8_lossy(&source), &limits).map_err(|e| failed(e.0))?;
    let base = path.parent().unwrap_or(Path::new("")).to_owned();
    let mut chart = |reference: &str| {
        let beside = base.join(reference);
        let reference = if beside.exists() { beside.display().to_string() } else { reference.to_owned() };
        let loaded = Loaded::open(&reference, global).map_err(|error| error.message)?;
        loaded.read(Helm::V4).map_err(|error| error.message)
    };
    let mut file = |name: &str| {
        let data = read_file(&base.join(name), limits.chart_bytes).map_err(|error| error.message)?;
        Ok(String::from_utf8_lossy(&data).into_owned())
    };
    let mut inputs = Inputs { chart: &mut chart, file: &mut file };
    let renderer = Renders::new(Engines);
    let forge = Forge::default();
    let real = arguments.engine.engine != Engine::Sim;
    let records = if real { Records::real() } else { Records::default() };
    let workshop = Workshop { renderer: &renderer, records: &records, forge: &forge };
    let played = match arguments.engine.engine {
        Engine::Sim => {
            let kubernetes = scenario.kubernetes.clone().unwrap_or_else(|| verify::KUBERNETES.to_owned());
            play(&scenario, engine::fresh(&kubernetes), &workshop, &mut inputs)
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
    played.map_err(|error| failed(error.0))
}

fn json<T: Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|error| Error::new(error.to_string()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn text(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    write(&mut bytes).map_err(|error| Error::new(error.to_string()))?;
    Ok(bytes)
}
