//! Objects that their controller can't bring on any more, workloads whose pods do not get ready among them, read from a
//! step's notes.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::ObjectName;
use crate::upgrade::rollout::UNFINISHED;
use crate::upgrade::trace::{Action, Step};

const FAILED: &str = " reconciliation failed: ";
const SUCCEEDED: &str = " reconciliation succeeded";
/// Takes the place of [`FAILED`] about objects that were in trouble before anything was done.
const AS_BEFORE: &str = " reconciliation fails as before: ";

/// Errors that go away by themselves: the next try may get through.
const PASSING: &[&str] = &[
    "failed calling webhook",
    "storage is (re)initializing",
    "the object has been modified",
    "connection refused",
    "context deadline exceeded",
];

/// Objects about which the last word of a step is an error that stays, and that are still there.
#[must_use]
pub fn stuck(step: &Step) -> BTreeMap<ObjectName, &str> {
    let mut last = in_trouble(&step.notes);
    let gone = |object: &ObjectName| {
        let gone = |action| matches!(action, Action::Deleted | Action::Terminating);
        step.events.iter().any(|event| event.object == *object && gone(event.action))
    };
    last.retain(|object, _| !gone(object));
    last.extend(doomed(step).map(|object| (object.clone(), DOOMED)));
    last
}

/// Why a definition that waits to be deleted is not well, though its objects are all there.
const DOOMED: &str = "it is being deleted, which can't be taken back: every object of its kind goes as soon as no finalizer holds it";

/// Definitions that a step has begun to delete.
fn doomed(step: &Step) -> impl Iterator<Item = &ObjectName> {
    let begun = step.events.iter().filter(|event| event.action == Action::Terminating);
    begun.map(|event| &event.object).filter(|object| object.kind == "CustomResourceDefinition")
}

/// Objects about which the last word is an error that stays.
#[must_use]
pub fn in_trouble(notes: &[String]) -> BTreeMap<ObjectName, &str> {
    let mut last = BTreeMap::new();
    for note in notes {
        match word(note) {
            Some((object, Some(error))) => drop(last.insert(object, error)),
            Some((object, None)) => drop(last.remove(&object)),
            None => {}
        }
    }
    last.retain(|_, error| !PASSING.iter().any(|passing| error.contains(passing)));
    last
}

/// A note as it is told when these objects were in trouble before: that is nobody's doing until they got out of it.
pub(super) fn as_before(note: String, ailing: &mut BTreeSet<ObjectName>) -> String {
    match word(&note) {
        Some((object, Some(_))) if ailing.contains(&object) => note.replacen(FAILED, AS_BEFORE, 1),
        Some((object, None)) => {
            ailing.remove(&object);
            note
        }
        _ => note,
    }
}

/// The object that the API server refuses to change, by kind with group and by name: `Kind.group "name" is invalid`.
///
/// A field that can't be changed is the usual reason; long errors are cut before they say so.
#[must_use]
pub fn refused(error: &str) -> Option<(&str, &str)> {
    let (before, _) = error.split_once("\" is invalid")?;
    let (kind, name) = before.rsplit_once(" \"").or_else(|| before.split_once('"'))?;
    let kind = kind.rsplit(char::is_whitespace).next().filter(|kind| !kind.is_empty())?;
    Some((kind, name))
}

/// What controllers said in a step about objects that are stuck when it is over; an uninstall takes their controller away,
/// and with it what it said. Workloads are looked at anew after every step.
#[must_use]
pub fn remaining(step: &Step) -> Vec<String> {
    let stuck = if step.operation == "uninstall" { BTreeMap::new() } else { stuck(step) };
    let mut last = BTreeMap::new();
    for note in &step.notes {
        if let Some((object, Some(_))) = word(note)
            && !note.contains(UNFINISHED)
            && stuck.contains_key(&object)
        {
            last.insert(object, note.clone());
        }
    }
    last.into_values().collect()
}

/// What a note says about an object: `Kind namespace/name: … reconciliation failed: ERROR` or `… reconciliation succeeded`,
/// or of a workload why its pods do not get ready.
fn word(note: &str) -> Option<(ObjectName, Option<&str>)> {
    let (subject, rest) = note.split_once(": ")?;
    let (kind, path) = subject.split_once(' ')?;
    let (namespace, name) = path.split_once('/').unwrap_or(("", path));
    let object = ObjectName { kind: kind.into(), namespace: namespace.into(), name: name.into() };
    match rest.split_once(FAILED).or_else(|| Some(("", note.split_once(UNFINISHED)?.1))) {
        Some((_, error)) => Some((object, Some(error))),
        None => rest.ends_with(SUCCEEDED).then_some((object, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upgrade::sample;

    fn step(notes: &[&str]) -> Step {
        Step { notes: notes.iter().map(|note| (*note).to_owned()).collect(), ..sample::step("upgrade") }
    }

    #[test]
    fn the_last_word_counts() {
        let (failed, well) =
            ("A n/x: A reconciliation failed: field is immutable", "A n/x: A reconciliation succeeded");
        assert_eq!(stuck(&step(&[failed])).len(), 1);
        assert_eq!(stuck(&step(&[failed, well])).len(), 0);
        assert_eq!(stuck(&step(&[failed, well, failed])).len(), 1);
        assert_eq!(stuck(&step(&["the leader changed: nothing else"])).len(), 0);
    }

    #[test]
    fn what_ailed_before_is_told_but_does_not_count() {
        let object = ObjectName { kind: "A".into(), namespace: "n".into(), name: "x".into() };
        let (failed, well) =
            ("A n/x: A reconciliation failed: no such part", "A n/x: A reconciliation succeeded");
        let mut ailing = BTreeSet::from([object]);
        let told = as_before(failed.to_owned(), &mut ailing);
        assert_eq!(told, "A n/x: A reconciliation fails as before: no such part");
        assert!(stuck(&step(&[&told])).is_empty());
        as_before(well.to_owned(), &mut ailing);
        assert_eq!(as_before(failed.to_owned(), &mut ailing), failed);
    }

    #[test]
    fn workloads_count_and_are_looked_at_anew() {
        let name = ObjectName { kind: "Deployment".into(), namespace: "n".into(), name: "x".into() };
        let note = crate::upgrade::rollout::note(&name, "pod x-1: CrashLoopBackOff");
        let step = step(&[&note]);
        assert_eq!(stuck(&step).get(&name), Some(&"pod x-1: CrashLoopBackOff"));
        assert!(remaining(&step).is_empty());
    }

    #[test]
    fn what_stays_stuck_is_told_by_its_last_word() {
        let (first, last) =
            ("A n/x: A reconciliation failed: one", "A n/x: A reconciliation failed: field is immutable");
        assert_eq!(remaining(&step(&[first, "more", last])), [last]);
        assert!(remaining(&step(&[first, "A n/x: A reconciliation succeeded"])).is_empty());
        let mut gone = step(&[last]);
        gone.operation = "uninstall".into();
        assert!(remaining(&gone).is_empty());
    }

    #[test]
    fn what_is_gone_is_not_stuck() {
        let mut step = step(&["A n/x: A reconciliation failed: field is immutable"]);
        let object = ObjectName { kind: "A".into(), namespace: "n".into(), name: "x".into() };
        step.events.push(crate::upgrade::trace::Event {
            action: Action::Deleted,
            object,
            uid_before: None,
            uid_after: None,
            changed: Vec::new(),
        });
        assert!(stuck(&step).is_empty());
    }

    #[test]
    fn the_refused_object_is_read_from_the_error() {
        let error = r#"admission webhook "v.example.test" denied the request: Part.example.test "blue" is invalid: spec: field is immutable"#;
        assert_eq!(refused(error), Some(("Part.example.test", "blue")));
        assert_eq!(refused("something else"), None);
    }
}
