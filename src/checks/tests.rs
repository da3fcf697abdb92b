//! Laws that every check obeys.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::*;
use crate::chart::{Chart, File, Helm, Values};
use crate::cluster::Exchange;
use crate::cluster::simulated::namespace_object;
use crate::render::host::Offline;
use crate::render::{self, Options, Render};
use crate::upgrade::edits::{self, Undone};
use crate::upgrade::fate::Snapshot;
use crate::upgrade::outcome::{Operation, Outcome, Rehearsal, Verdict};
use crate::upgrade::rewrites::{Rewrite, rewrites};
use crate::upgrade::sample;
use crate::upgrade::trace::Step;
use crate::upgrade::world;

/// One fixture of a check's doc: blocks by their info string.
struct Fixture {
    before: String,
    after: String,
    state: String,
    values: String,
    values_before: Option<String>,
    notes: Vec<String>,
    alive_before: String,
    alive_after: String,
    exchanges: Vec<String>,
    finding: Option<String>,
}

fn fixtures(doc: &str, section: &str) -> Vec<Fixture> {
    let mut found = Vec::new();
    let mut blocks: Vec<(String, String)> = Vec::new();
    let mut inside = None;
    let mut here = false;
    for line in doc.lines().map(|line| line.strip_prefix(' ').unwrap_or(line)) {
        if let Some(title) = line.strip_prefix("## ") {
            flush(&mut blocks, &mut found);
            here = title.trim() == section;
        } else if let Some(info) = line.strip_prefix("```") {
            inside = match inside {
                None => {
                    if info == "yaml before" {
                        flush(&mut blocks, &mut found);
                    }
                    if here {
                        blocks.push((info.to_owned(), String::new()));
                    }
                    Some(())
                }
                Some(()) => None,
            };
        } else if inside.is_some() && here {
            let last = blocks.last_mut().unwrap();
            last.1.push_str(line);
            last.1.push('\n');
        }
    }
    flush(&mut blocks, &mut found);
    found
}

fn flush(blocks: &mut Vec<(String, String)>, found: &mut Vec<Fixture>) {
    if blocks.is_empty() {
        return;
    }
    let block = |info: &str| blocks.iter().find(|(name, _)| name == info).map(|(_, text)| text.clone());
    found.push(Fixture {
        before: block("yaml before").unwrap_or_default(),
        after: block("yaml after").unwrap_or_default(),
        state: block("yaml state").unwrap_or_default(),
        values: block("yaml values").unwrap_or_default(),
        values_before: block("yaml values before"),
        notes: block("text notes").unwrap_or_default().lines().map(str::to_owned).collect(),
        alive_before: block("yaml alive before").unwrap_or_default(),
        alive_after: block("yaml alive after").unwrap_or_default(),
        exchanges: block("text exchanges").unwrap_or_default().lines().map(str::to_owned).collect(),
        finding: block("text finding"),
    });
    blocks.clear();
}

/// A chart whose files are the documents of a fixture, each below its `# Source:`; `# Values:` starts values.yaml.
fn chart(text: &str, version: &str) -> Chart {
    let mut files =
        vec![("Chart.yaml".to_owned(), format!("apiVersion: v2\nname: demo\nversion: {version}\n"))];
    for line in text.lines() {
        if let Some(source) = line.strip_prefix("# Source: demo/") {
            match files.iter().position(|(path, _)| path == source) {
                Some(at) => {
                    let mut file = files.remove(at);
                    file.1.push_str("---\n");
                    files.push(file);
                }
                None => files.push((source.to_owned(), String::new())),
            }
        } else {
            let last = files.last_mut().unwrap();
            last.1.push_str(line);
            last.1.push('\n');
        }
    }
    let files = files.into_iter().map(|(path, text)| File { path, data: text.into_bytes().into() }).collect();
    Chart::from_files(files, Helm::V4, &crate::limits::Limits::default()).unwrap()
}

fn options(revision: u64) -> Options {
    Options {
        helm: Helm::V4,
        release: "demo".into(),
        namespace: "ns".into(),
        revision,
        is_upgrade: revision > 1,
        kube_version: Some("v1.34.0".into()),
        ..Options::default()
    }
}

fn rendered(chart: &Chart, values: &Values, revision: u64) -> Render {
    render::render(chart, values, &options(revision)).unwrap()
}

/// The new chart rendered at another time, with other luck.
fn again(chart: &Chart, values: &Values) -> Render {
    let answers = Arc::new(Offline::at(3));
    render::render(chart, values, &Options { answers, ..options(3) }).unwrap()
}

fn run_on(fixture: &Fixture) -> Vec<Finding> {
    let (chart_before, chart_after) = (chart(&fixture.before, "1.0.0"), chart(&fixture.after, "2.0.0"));
    let values =
        crate::yaml::to_values(fixture.values.as_bytes(), &crate::limits::Limits::default()).unwrap();
    let values_before = fixture.values_before.as_ref().map_or_else(
        || values.clone(),
        |text| crate::yaml::to_values(text.as_bytes(), &crate::limits::Limits::default()).unwrap(),
    );
    let in_force = crate::upgrade::rehearse::values_in_force(&values_before, &values);
    let (before, after) =
        (Arc::new(rendered(&chart_before, &values_before, 1)), Arc::new(rendered(&chart_after, in_force, 2)));
    let state = objects(&fixture.state);
    let scene = Scene {
        before: &before,
        after: &after,
        again: Some(&Arc::new(again(&chart_after, in_force))),
        chart_before: &chart_before,
        chart_after: &chart_after,
        values: &values,
        release: "demo",
        namespace: "ns",
        kubernetes: "v1.34.0",
        state: &state,
        rehearsals: &rehearsals(fixture),
        sizes: &crate::upgrade::sizes::Sizes::default(),
    };
    run(&Context::new(&scene, &Compared::new(scene.before, scene.after)))
}

fn objects(text: &str) -> Vec<Arc<serde_json::Value>> {
    let limits = crate::limits::Limits::default();
    let documents = crate::yaml::documents(text);
    let read = documents.map(|(_, text)| Arc::new(crate::yaml::to_json(text.as_bytes(), &limits).unwrap()));
    read.filter(|object| object.is_object()).collect()
}

/// What somebody else changed between the two looks of a fixture.
fn rewritten(fixture: &Fixture) -> Vec<Rewrite> {
    let look = |text: &str| Snapshot::new(objects(text));
    let exchange = |line: &String| {
        let (by, request) = line.split_once(' ').unwrap();
        Exchange { at: 0.0, by: by.into(), request: request.into(), status: 200, message: String::new() }
    };
    let exchanges: Vec<Exchange> = fixture.exchanges.iter().map(exchange).collect();
    rewrites(&look(&fixture.alive_before), &look(&fixture.alive_after), &exchanges, "helm3")
}

/// What the second look of a fixture has set back of what the first has otherwise than the old chart.
fn undone(fixture: &Fixture) -> Vec<Undone> {
    let mut world = world::simulated("v1.34.0");
    world.load([namespace_object("ns")]);
    let render = rendered(&chart(&fixture.before, "1.0.0"), &Values::new(), 1);
    let given = objects(&fixture.alive_before);
    let look = |objects: Vec<Arc<serde_json::Value>>| Snapshot::new(objects);
    let (before, after) = (look(given.clone()), look(objects(&fixture.alive_after)));
    let given: Vec<serde_json::Value> = given.iter().map(|object| (**object).clone()).collect();
    let edits = edits::edits_over(&mut world, &before, &render, "ns", &given).unwrap();
    edits::undone(&edits, &before, &after)
}

/// An upgrade in whose course the notes of a fixture were made, from and to what it shows alive.
fn rehearsals(fixture: &Fixture) -> Vec<Rehearsal> {
    if fixture.notes.is_empty() && fixture.alive_before.is_empty() {
        return Vec::new();
    }
    let upgrade = || "upgrade".to_owned();
    let step = Step {
        command: "helm upgrade demo demo".into(),
        notes: fixture.notes.clone(),
        rewritten: rewritten(fixture),
        undone: undone(fixture),
        ..sample::step("upgrade")
    };
    let outcome = Outcome {
        condition: String::new(),
        also: Vec::new(),
        verdict: Verdict::Keeps,
        lost: Vec::new(),
        steps: vec![step],
    };
    let way = sample::way(vec![Operation { name: upgrade(), flags: Vec::new(), outcomes: vec![outcome] }]);
    vec![Rehearsal { alive: objects(&fixture.alive_before), ..sample::rehearsal(vec![way]) }]
}

fn lines(findings: &[Finding], check: &str) -> String {
    let of_check = findings.iter().filter(|finding| finding.check == check);
    let word = |severity: Severity| serde_json::to_value(severity).unwrap().as_str().unwrap().to_owned();
    of_check.map(|finding| format!("{}: {}\n", word(finding.severity), finding.message)).collect()
}

#[test]
fn every_example_gives_exactly_its_finding() {
    let mut wrong = String::new();
    for check in CHECKS {
        for (n, fixture) in fixtures(check.info.doc, "Example").iter().enumerate() {
            let found = lines(&run_on(fixture), check.id);
            let wanted = fixture.finding.clone().unwrap_or_default();
            if found != wanted {
                wrong.push_str(&format!("{} example {n}\nfound:  {found}wanted: {wanted}\n", check.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_is_not_reported_gives_nothing() {
    for check in CHECKS {
        for (n, fixture) in fixtures(check.info.doc, "Not reported").iter().enumerate() {
            assert_eq!(lines(&run_on(fixture), check.id), "", "{} not reported {n}", check.id);
        }
    }
}

/// Checks whose evidence is a rehearsal have no example of manifests alone.
const REHEARSED: &[&str] =
    &["hook_undoes_release", "rehearsal_failed", "rehearsal_lost", "rollback_impossible"];

#[test]
fn every_check_says_what_it_means_and_shows_it() {
    for check in CHECKS {
        let doc = check.info.doc;
        assert!(check.title().ends_with('.'), "{}: {}", check.id, check.title());
        for section in ["## What breaks", "## What to do"] {
            assert!(doc.contains(section), "{} lacks {section}", check.id);
        }
        let shown = !fixtures(doc, "Example").is_empty() && !fixtures(doc, "Not reported").is_empty();
        assert!(shown || REHEARSED.contains(&check.id), "{} has no example or no counterexample", check.id);
    }
}

#[test]
fn findings_have_evidence_and_keep_their_severity() {
    for check in CHECKS {
        for fixture in fixtures(check.info.doc, "Example") {
            for finding in run_on(&fixture) {
                assert!(!finding.evidence.is_empty(), "{}", finding.message);
                let info = find(finding.check).unwrap().info;
                assert!(finding.severity <= info.severity, "{}: {:?}", finding.check, finding.severity);
            }
        }
    }
}

#[test]
fn checks_stand_in_order_and_every_file_is_listed() {
    let ids: Vec<&str> = CHECKS.iter().map(|check| check.id).collect();
    let (last, others) = ids.split_last().unwrap();
    assert_eq!(*last, "unexplained");
    assert!(others.is_sorted(), "{ids:?}");
    let framework = ["mod", "context", "findings", "met", "tests"];
    let files: BTreeSet<String> = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/checks"))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .filter(|name| !framework.contains(&name.as_str()))
        .collect();
    assert_eq!(files, ids.into_iter().map(str::to_owned).collect());
}

#[test]
fn docs_are_fresh() {
    let mut text = String::from(
        "# Checks\n\nGenerated from the checks' own words; `seatrial explain CHECK` prints the same.\n",
    );
    for check in CHECKS {
        let doc: Vec<&str> =
            check.info.doc.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end()).collect();
        let body = doc.join("\n").replace("\n## ", "\n### ");
        text.push_str(&format!("\n## {}\n\n{}\n", check.id, body.trim()));
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/checks.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(written, text, "docs/checks.md is stale: run UPDATE_DOCS=1 cargo test");
}
