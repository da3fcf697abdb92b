//! Recorded upgrades of Kubeflow Trainer, played on the simulated server and compared with what really happened.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use seatrial::chart::{Chart, Helm};
use seatrial::cluster::simulated::Simulated;
use seatrial::limits::Limits;
use seatrial::upgrade::actors::Workshop;
use seatrial::upgrade::actors::helm::Forge;
use seatrial::upgrade::fate::Snapshot;
use seatrial::upgrade::outcome::Outcome;
use seatrial::upgrade::renders::{Engines, Renders};
use seatrial::upgrade::scenario::{Inputs, Scenario, ScenarioError, explore, play_through};
use seatrial::upgrade::storage::Records;
use seatrial::upgrade::trace::Step;
use serde_json::{Value, json};

use self::fates::{difference, played, recorded};
use crate::shared::shared;

mod commands;
mod extras;
mod fates;

fn scenario_files() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let mut files: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn archive(shared: &Path, reference: &str) -> Result<Arc<Chart>, String> {
    let file = shared.join("charts-cache").join(format!("{}.tgz", reference.replace('@', "-")));
    let data = fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let chart = Chart::from_archive(&data, Helm::V4, &Limits::default()).map_err(|error| error.message)?;
    Ok(Arc::new(chart))
}

/// Plays scenario files and compares them with their records, with one memory of renders; charts are loaded once.
struct Stagehand {
    shared: PathBuf,
    renders: Renders<Engines>,
    charts: BTreeMap<String, Arc<Chart>>,
}

impl Stagehand {
    fn new(shared: PathBuf) -> Self {
        Self { shared, renders: Renders::new(Engines, Limits::default()), charts: BTreeMap::new() }
    }

    fn play(&mut self, file: &Path, record: &Value) -> Result<Vec<String>, String> {
        let text = fs::read_to_string(file).unwrap();
        let mut scenario = Scenario::parse(&text, &Limits::default()).map_err(|error| error.to_string())?;
        let own = scenario.steps.len();
        extras::extend(&mut scenario, record, &self.shared.join("lab/trainer"));
        let scenario = &scenario;
        let (shared, charts) = (&self.shared, &mut self.charts);
        let mut chart = |reference: &str| {
            if let Some(known) = charts.get(reference) {
                return Ok(Arc::clone(known));
            }
            let loaded = archive(shared, reference)?;
            charts.insert(reference.to_owned(), Arc::clone(&loaded));
            Ok(loaded)
        };
        let mut inputs = Inputs {
            chart: &mut chart,
            file: &mut |name| Err(format!("{name}: no files in these scenarios")),
            limits: &Limits::default(),
            typed: &|name, _| name.to_owned(),
        };
        // Only records in Helm's own format have a size.
        let records = if record["sizes"].is_object() { Records::real() } else { Records::default() };
        let forge = Forge::default();
        let workshop = Workshop { renderer: &self.renders, records: &records, forge: &forge };
        let world = seatrial::upgrade::world::simulated("v1.34.3");
        let text = |error: ScenarioError| error.to_string();
        if !RACES.iter().any(|(name, _)| *name == scenario.name) {
            let (played, end) = play_through(scenario, world, &workshop, &mut inputs).map_err(text)?;
            let run = Run { steps: played.steps, looks: played.looks, own };
            return Ok(run.complaints(record, Some(&end)));
        }
        let mut best: Option<(String, Vec<String>)> = None;
        let mut enough = |outcome: &Outcome, looks: &[Arc<Snapshot>]| {
            let run = Run { steps: outcome.steps.clone(), looks: looks.to_vec(), own };
            let complaints = run.complaints(record, None);
            if best.as_ref().is_none_or(|(_, best)| complaints.len() < best.len()) {
                best = Some((outcome.condition.clone(), complaints));
            }
            best.as_ref().is_some_and(|(_, complaints)| complaints.is_empty())
        };
        explore(scenario, world, &workshop, &mut inputs, &mut enough).map_err(text)?;
        let (condition, complaints) = best.unwrap();
        Ok(complaints.into_iter().map(|complaint| format!("when {condition}: {complaint}")).collect())
    }
}

/// Records that show another member of the set of possible ends than the natural one, and what theirs hangs on. The
/// rehearsal has to come to it under a condition of its own finding.
const RACES: &[(&str, &str)] = &[
    (
        "S3-rollback-helm4-A4",
        "a try of the new manager falls between the return of the runtimes and its own end",
    ),
    ("S5-atomic-helm3-hookhang-10s", "the new manager leads before it is rolled back"),
    (
        "S5-atomic-helm3.17-hookfail",
        "a rollback that meets renewed certificates stops at any of the runtimes",
    ),
    ("S6-novalues-helm3", "one snapshot was taken before the runtimes vanished"),
    ("S11-cert-helm3-upgrade", "one snapshot was taken before the runtimes vanished"),
];

/// Records that were taken while the garbage collector was still at work: what they have as deleted is deleted here as
/// well, and more.
const UNSETTLED: &[&str] = &["S5-failed-upgrade-then-manual-rollback-helm3-rep2"];

/// One way in which a scenario went.
#[derive(Clone)]
struct Run {
    steps: Vec<Step>,
    /// The cluster before the first step and after each.
    looks: Vec<Arc<Snapshot>>,
    /// How many steps the scenario's file has; more may have been added.
    own: usize,
}

impl Run {
    /// Everything in which a record differs from it; `end` is the cluster at the end, if it is at hand.
    fn complaints(&self, record: &Value, end: Option<&Simulated>) -> Vec<String> {
        let steps = &self.steps;
        let pairs = match commands::paired(record, steps) {
            Ok(pairs) => pairs,
            Err(complaint) => return vec![complaint],
        };
        let main = pairs.iter().find(|(_, command)| command["cmd"] == record["command"]);
        let main = main.map_or(self.own - 1, |(at, _)| *at);
        let told = pairs.iter().flat_map(|(at, command)| commands::compare(&steps[*at], command));
        let mut complaints: Vec<String> = told.collect();
        if !pairs.iter().any(|(at, _)| *at == main) && record["rc"] != json!(null) {
            // A script prints its own lines.
            let command = json!({"rc": record["rc"], "stderr": steps[main].stderr});
            complaints.extend(commands::compare(&steps[main], &command));
        }
        if let Some(end) = end {
            complaints.extend(extras::Seen { record, steps, main, end }.complaints());
        }
        if record["events"].is_array() {
            complaints.extend(self.fates(record, main));
            complaints.extend(rewrites(record, &steps[main]));
        }
        complaints
    }

    /// Differences in fates over the steps that a record's events cover: all of them, or those until its command when more
    /// came afterwards.
    fn fates(&self, record: &Value, main: usize) -> Vec<String> {
        let afterwards = extras::AFTERWARDS.iter().any(|field| !record[*field].is_null());
        let last = if afterwards { main + 1 } else { self.steps.len() };
        let (fates, lost) = recorded(record);
        let (found_fates, found_lost) = played(&self.looks[0], &self.looks[last]);
        let unsettled = UNSETTLED.contains(&record["scenario"].as_str().unwrap());
        let (mut complaints, mut lost_differs) =
            (difference(&fates, &found_fates), difference(&lost, &found_lost));
        if unsettled {
            complaints
                .retain(|line| !line.starts_with("  + deleted") && !line.starts_with("  - updated Pod/"));
            lost_differs.retain(|line| !line.starts_with("  + "));
        }
        if !lost_differs.is_empty() {
            complaints.push(format!("lost:\n{}", lost_differs.join("\n")));
        }
        complaints
    }
}

/// Kinds of objects that only users and managers write: no chart brings one.
const USERS: &[&str] = &["JobSet", "TrainJob"];

/// Differences between the users' objects that were not as before when Helm was through, and those of which the step says
/// that somebody else rewrote them.
fn rewrites(record: &Value, step: &Step) -> Vec<String> {
    if !step.actor.starts_with("helm") || record["command"].as_str().is_none_or(|it| !it.starts_with("helm"))
    {
        return Vec::new();
    }
    let is_users = |object: &str| USERS.iter().any(|kind| object.split('/').next() == Some(kind));
    let parts = ["spec", "labels", "annotations"].map(Value::from);
    let events = record["events"].as_array().unwrap().iter().filter(|event| {
        let changed = event["changed"].as_array().into_iter().flatten();
        event["action"] == "updated" && changed.into_iter().any(|part| parts.contains(part))
    });
    let recorded: BTreeSet<&str> =
        events.filter_map(|event| event["object"].as_str()).filter(|object| is_users(object)).collect();
    let told: BTreeSet<String> =
        step.rewritten.iter().map(|one| one.object.to_string()).filter(|object| is_users(object)).collect();
    if told.iter().map(String::as_str).eq(recorded.iter().copied()) {
        return Vec::new();
    }
    vec![format!("rewritten were {recorded:?}, told are {told:?}")]
}

#[test]
fn recorded_upgrades_come_out_alike() {
    let Some(shared) = shared() else { return };
    let only = std::env::var("SCENARIO").ok();
    let mut stagehand = Stagehand::new(shared.clone());
    let mut failures = Vec::new();
    let mut passed = 0;
    for file in scenario_files() {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let record = fs::read_to_string(shared.join("lab/trainer").join(format!("{name}.json"))).unwrap();
        let record: Value = serde_json::from_str(&record).unwrap();
        let complaints = stagehand.play(&file, &record).unwrap_or_else(|error| vec![error]);
        if complaints.is_empty() {
            passed += 1;
        } else {
            failures.push(format!("{name}:\n{}", complaints.join("\n")));
        }
    }
    assert!(
        failures.is_empty(),
        "{passed} came out alike, {} did not:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
