//! The fate of every object, as records and rehearsals tell it.

use std::collections::{BTreeMap, BTreeSet};

use seatrial::upgrade::trace::{Action, Step};
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

/// The fates over all steps: a UID at the beginning against the one at the end.
pub(super) fn played(steps: &[Step]) -> (Fates, BTreeSet<String>) {
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
    // What came and went within the steps was never there.
    let there = |name: &String| whole.get(name).is_some_and(|(before, ..)| before.is_some());
    let lost = steps.iter().flat_map(|step| &step.lost_objects).map(ToString::to_string).filter(there);
    let lost = lost.map(|name| cut(&name)).collect();
    (whole.into_iter().filter_map(fate).collect(), lost)
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
