//! Recorded upgrades of Kubeflow Trainer, played on the simulated server and compared with what really happened.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use seatrial::chart::{Chart, Helm};
use seatrial::limits::Limits;
use seatrial::upgrade::actors::Workshop;
use seatrial::upgrade::actors::helm::Forge;
use seatrial::upgrade::renders::{Engines, Renders};
use seatrial::upgrade::scenario::{Inputs, Played, Scenario, play};
use seatrial::upgrade::storage::Records;
use seatrial::upgrade::trace::{Action, Step};
use serde_json::Value;

use crate::shared::shared;

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

/// Plays scenario files with one memory of renders; charts are loaded once.
struct Stagehand {
    shared: PathBuf,
    renders: Renders<Engines>,
    charts: BTreeMap<String, Arc<Chart>>,
}

impl Stagehand {
    fn new(shared: PathBuf) -> Self {
        Self { shared, renders: Renders::new(Engines), charts: BTreeMap::new() }
    }

    fn play(&mut self, file: &Path) -> Result<Played, String> {
        let text = fs::read_to_string(file).unwrap();
        let scenario = Scenario::parse(&text, &Limits::default()).map_err(|error| error.to_string())?;
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
        };
        let (records, forge) = (Records::default(), Forge::default());
        let workshop = Workshop { renderer: &self.renders, records: &records, forge: &forge };
        let world = seatrial::upgrade::world::simulated("v1.34.3");
        play(&scenario, world, &workshop, &mut inputs).map_err(|error| error.to_string())
    }
}

/// `created`, `updated`, `recreated` or `deleted` by object, names that controllers make up cut to what is fixed.
type Fates = BTreeSet<String>;

fn cut(object: &str) -> String {
    let parts: Vec<&str> = object.splitn(3, '/').collect();
    let [kind, namespace, name] = parts[..] else { return object.to_owned() };
    let keep = match kind {
        "Pod" => 2,
        "ReplicaSet" => 1,
        _ => 0,
    };
    let words: Vec<&str> = name.split('-').collect();
    // Pods of Jobs carry one made-up word, pods of Deployments two.
    let keep = if kind == "Pod" && (namespace != "kubeflow-system" || name.contains("installer")) {
        1
    } else {
        keep
    };
    format!("{kind}/{namespace}/{}", words[..words.len() - keep].join("-"))
}

fn recorded(record: &Value) -> (Fates, BTreeSet<String>) {
    let events = record["events"].as_array().unwrap();
    let fates = events.iter().map(|event| {
        format!("{} {}", event["action"].as_str().unwrap(), cut(event["object"].as_str().unwrap()))
    });
    let lost = record["lost_objects"].as_array().unwrap().iter().map(|name| cut(name.as_str().unwrap()));
    (fates.collect(), lost.collect())
}

/// The fates over all steps: a UID at the beginning against the one at the end.
fn played(steps: &[Step]) -> (Fates, BTreeSet<String>) {
    let mut whole: BTreeMap<String, (Option<String>, Option<String>, bool, bool)> = BTreeMap::new();
    for event in steps.iter().flat_map(|step| &step.events) {
        let entry =
            whole.entry(event.object.to_string()).or_insert((event.uid_before.clone(), None, false, false));
        entry.1.clone_from(&event.uid_after);
        entry.2 |= event.action == Action::Updated;
        entry.3 |= event.action == Action::Terminating;
    }
    let fate = |(name, (before, after, updated, terminating)): (
        String,
        (Option<String>, Option<String>, bool, bool),
    )| {
        let word = match (before, after) {
            (None, Some(_)) => "created",
            (Some(_), None) => "deleted",
            (Some(before), Some(after)) if before != after => "recreated",
            (Some(_), Some(_)) if terminating => "terminating",
            (Some(_), Some(_)) if updated => "updated",
            _ => return None,
        };
        Some(format!("{word} {}", cut(&name)))
    };
    let lost = steps.iter().flat_map(|step| &step.lost_objects).map(|name| cut(&name.to_string())).collect();
    (whole.into_iter().filter_map(fate).collect(), lost)
}

/// What other managers write again and again, sometimes with another text; the records themselves differ in it.
fn is_restless(line: &str) -> bool {
    line == "updated ConfigMap/team-a/susp-mpi-mpi-hostfile"
}

fn difference(expected: &BTreeSet<String>, found: &BTreeSet<String>) -> Vec<String> {
    let missing = expected.difference(found).map(|line| format!("  - {line}"));
    let extra = found.difference(expected).map(|line| format!("  + {line}"));
    missing.chain(extra).filter(|line| !is_restless(&line[4..])).collect()
}

fn same_text(expected: &str, found: &str) -> bool {
    // Errors that came up side by side are joined in any order.
    let lines = |text: &str| {
        text.lines()
            .map(|line| line.trim_start_matches("Error: INSTALLATION FAILED: ").to_owned())
            .collect::<BTreeSet<_>>()
    };
    expected == found || lines(expected) == lines(found)
}

/// Records whose objects hang on moments that the record does not tell: what is possible is a set, of which the record
/// and the rehearsal may show different members. Exit code and error text must agree all the same.
const RACES: &[(&str, &str)] = &[
    (
        "S3-rollback-helm4-A4",
        "whether one of the old manager's ever rarer tries falls between the return of the runtimes and its own end",
    ),
    (
        "S5-atomic-helm3-hookhang-10s",
        "the new manager may or may not lead for a moment before it is rolled back",
    ),
    (
        "S5-atomic-helm3.17-hookhang-10s",
        "the new manager may or may not lead for a moment before it is rolled back",
    ),
    (
        "S5-atomic-helm3.17-hookfail",
        "a rollback that meets renewed certificates stops at any of the runtimes",
    ),
    (
        "S5-failed-upgrade-then-manual-rollback-helm3-rep1",
        "the record was taken at another moment after the failed upgrade",
    ),
    (
        "S5-failed-upgrade-then-manual-rollback-helm3-rep2",
        "the record was taken at another moment after the failed upgrade",
    ),
    ("S6-novalues-helm3", "one snapshot was taken before the runtimes vanished"),
];

fn compare(record: &Value, played_scenario: &Played) -> Vec<String> {
    let last = played_scenario.steps.last().unwrap();
    let mut complaints = Vec::new();
    if record["rc"].as_i64() != Some(i64::from(last.exit_code)) {
        complaints.push(format!(
            "rc {} expected, {} found: {}",
            record["rc"],
            last.exit_code,
            last.stderr.trim_end()
        ));
    }
    // Scripts print their own lines.
    let expected = record["stderr"].as_str().unwrap_or("");
    let is_script = expected.starts_with('+');
    if !is_script && !same_text(expected, &last.stderr) {
        complaints.push(format!("stderr\n  - {expected}\n  + {}", last.stderr));
    }
    if RACES.iter().any(|(name, _)| *name == played_scenario.scenario) {
        return complaints;
    }
    let (fates, lost) = recorded(record);
    let (found_fates, found_lost) = played(&played_scenario.steps);
    complaints.extend(difference(&fates, &found_fates));
    let lost_differs = difference(&lost, &found_lost);
    if !lost_differs.is_empty() {
        complaints.push(format!("lost:\n{}", lost_differs.join("\n")));
    }
    complaints
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
        let complaints = match stagehand.play(&file) {
            Ok(played) => compare(&record, &played),
            Err(error) => vec![error],
        };
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
