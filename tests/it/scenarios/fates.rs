//! The fate of every object, as records and rehearsals tell it.

use std::collections::BTreeSet;

use seatrial::upgrade::fate::{Snapshot, events, lost};
use seatrial::upgrade::trace::{Action, Event};
use serde_json::Value;

/// `created`, `updated`, `recreated` or `deleted` by object, names that controllers make up cut to what is fixed.
pub(super) type Fates = BTreeSet<String>;

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

pub(super) fn recorded(record: &Value) -> (Fates, BTreeSet<String>) {
    let events = record["events"].as_array().unwrap();
    let fates = events.iter().map(|event| {
        format!("{} {}", event["action"].as_str().unwrap(), cut(event["object"].as_str().unwrap()))
    });
    let lost = record["lost_objects"].as_array().unwrap().iter().map(|name| cut(name.as_str().unwrap()));
    (fates.collect(), lost.collect())
}

/// What became of objects between two looks at the cluster, and which users miss.
pub(super) fn played(before: &Snapshot, after: &Snapshot) -> (Fates, BTreeSet<String>) {
    let events = events(before, after);
    let fate = |event: &Event| {
        let word = match event.action {
            Action::Created => "created",
            Action::Updated => "updated",
            Action::Replaced => "recreated",
            Action::Deleted => "deleted",
            Action::Terminating => "terminating",
            Action::Unchanged => return None,
        };
        Some(format!("{word} {}", cut(&event.object.to_string())))
    };
    let lost = lost(before, &events, "kubeflow-system");
    (events.iter().filter_map(fate).collect(), lost.iter().map(|name| cut(&name.to_string())).collect())
}

/// What other managers write again and again, sometimes with another text; the records themselves differ in it.
fn is_restless(line: &str) -> bool {
    line == "updated ConfigMap/team-a/susp-mpi-mpi-hostfile"
}

pub(super) fn difference(expected: &BTreeSet<String>, found: &BTreeSet<String>) -> Vec<String> {
    let missing = expected.difference(found).map(|line| format!("  - {line}"));
    let extra = found.difference(expected).map(|line| format!("  + {line}"));
    missing.chain(extra).filter(|line| !is_restless(&line[4..])).collect()
}

pub(super) fn same_text(expected: &str, found: &str) -> bool {
    // Errors that came up side by side are joined in any order.
    let lines = |text: &str| {
        text.lines()
            .map(|line| line.trim_start_matches("Error: INSTALLATION FAILED: ").to_owned())
            .collect::<BTreeSet<_>>()
    };
    expected == found || lines(expected) == lines(found)
}
