//! How an operation can end, in a line each, and how to go back.

use std::collections::BTreeSet;

use super::matrix::column;
use super::model::{by_kind, grouped};
use crate::finding::{Finding, ObjectName};
use crate::upgrade::outcome::{DROP, Operation, Outcome, Verdict, Way};
use crate::upgrade::trace::{Action, Event};

mod course;

/// What lines on ends are told from besides the outcomes.
pub(super) struct Known<'r> {
    /// Objects that the charts deliver and whose owners the report names.
    delivered: BTreeSet<&'r ObjectName>,
    /// Objects that [`REWRITTEN`] reports.
    rewritten: BTreeSet<&'r ObjectName>,
    /// Objects that [`HOOKED`] reports.
    hooked: BTreeSet<&'r ObjectName>,
    /// Objects that [`SET_BACK`] reports.
    set_back: BTreeSet<&'r ObjectName>,
}

/// The check that says what living objects lose.
const REWRITTEN: &str = "object_rewritten";

/// The check that says what hooks change.
const HOOKED: &str = "bystander_changed";

/// The check that says which edits are taken back.
const SET_BACK: &str = "edit_set_back";

/// Operations whose purpose it is to take away what objects belong to.
const LEAVING: &[&str] = &["uninstall", DROP];

impl<'r> Known<'r> {
    pub(super) fn new(delivered: impl Iterator<Item = &'r ObjectName>, findings: &'r [Finding]) -> Self {
        // The first object is the one that is rewritten, those behind it own it.
        let told = |check: &str| {
            let of_check = findings.iter().filter(|finding| finding.check == check);
            of_check.filter_map(|finding| finding.objects.first()).collect()
        };
        Self {
            delivered: delivered.collect(),
            rewritten: told(REWRITTEN),
            hooked: told(HOOKED),
            set_back: told(SET_BACK),
        }
    }

    /// Objects that an outcome keeps, but not as they were: those that lose fields, and those that get other values.
    fn rewritten(&self, operation: &Operation, outcome: &Outcome) -> [Vec<ObjectName>; 2] {
        if LEAVING.contains(&operation.name.as_str()) {
            return [Vec::new(), Vec::new()];
        }
        let all = outcome.steps.iter().flat_map(|step| &step.rewritten).filter(|one| !one.writer.hook);
        let told =
            all.filter(|one| self.rewritten.contains(&one.object) && !outcome.lost.contains(&one.object));
        let (mut poorer, mut other) = (BTreeSet::new(), BTreeSet::new());
        for one in told {
            let loses = one.fields.iter().any(|field| field.before.is_some() && field.after.is_none());
            if loses { &mut poorer } else { &mut other }.insert(one.object.clone());
        }
        other.retain(|object| !poorer.contains(object));
        [poorer, other].map(|objects| objects.into_iter().collect())
    }

    /// Objects that an outcome keeps and a hook changes, and those of which it takes back what others edited.
    fn changed(&self, operation: &Operation, outcome: &Outcome) -> [Vec<ObjectName>; 2] {
        if LEAVING.contains(&operation.name.as_str()) {
            return [Vec::new(), Vec::new()];
        }
        let rewritten = outcome.steps.iter().flat_map(|step| &step.rewritten);
        let hooked = rewritten.filter(|one| one.writer.hook).map(|one| &one.object);
        let undone = outcome.steps.iter().flat_map(|step| &step.undone).map(|one| &one.object);
        let hooked: BTreeSet<&ObjectName> = hooked.filter(|object| self.hooked.contains(object)).collect();
        let undone: BTreeSet<&ObjectName> = undone.filter(|object| self.set_back.contains(object)).collect();
        [hooked, undone].map(|objects| {
            objects.into_iter().filter(|object| !outcome.lost.contains(object)).cloned().collect()
        })
    }

    /// What is wrong with objects that an outcome keeps, e.g. `TrainJob ×1 can't go on without help`.
    pub(super) fn troubles(&self, operation: &Operation, outcome: &Outcome) -> Vec<String> {
        let [poorer, other] = self.rewritten(operation, outcome);
        let [hooked, undone] = self.changed(operation, outcome);
        let parts = [
            (outcome.stuck(), "can't go on without help".to_owned(), "can't go on without help".to_owned()),
            (poorer, format!("loses fields, see {REWRITTEN}"), format!("lose fields, see {REWRITTEN}")),
            (other, format!("is rewritten, see {REWRITTEN}"), format!("are rewritten, see {REWRITTEN}")),
            (
                hooked,
                format!("is changed by a hook, see {HOOKED}"),
                format!("are changed by hooks, see {HOOKED}"),
            ),
            (undone, format!("is set back, see {SET_BACK}"), format!("are set back, see {SET_BACK}")),
        ];
        let parts = parts.into_iter().filter(|(objects, ..)| !objects.is_empty());
        parts
            .map(|(objects, one, many)| {
                format!("{} {}", by_kind(&objects), if objects.len() == 1 { one } else { many })
            })
            .collect()
    }
}

/// How an operation, as the table calls it, can end, a line for each; ends that read alike are one.
pub(super) fn ends(way: &Way, operation: &Operation, known: &Known<'_>) -> Vec<String> {
    let name = column(way, operation);
    let command = rehearsed(way, operation).filter(|_| operation.name == ROLLBACK);
    let command = command.map(|command| format!(", `{command}`")).unwrap_or_default();
    let ends = operation.outcomes.iter().map(|outcome| (end(operation, outcome, known), whenever(outcome)));
    let lines = gathered(ends).into_iter().enumerate().map(|(n, end)| match n {
        0 => format!("{name}{command}: {end}"),
        _ => format!("or {end}"),
    });
    lines.collect()
}

/// The same in one line, without commands, what errors say and what becomes of objects that are not in trouble; the only
/// end needs no condition.
pub(super) fn in_brief(way: &Way, operation: &Operation, known: &Known<'_>) -> String {
    let end = |outcome: &Outcome| word(outcome, None) + &troubled(&known.troubles(operation, outcome));
    let ends = grouped(operation.outcomes.iter().map(|outcome| (end(outcome), outcome)));
    let told = match ends.as_slice() {
        [(only, _)] => only.clone(),
        several => {
            let all: Vec<&str> = operation.outcomes.iter().flat_map(Outcome::conditions).collect();
            let told = several.iter().map(|(end, outcomes)| {
                let own: Vec<&str> = outcomes.iter().flat_map(|outcome| outcome.conditions()).collect();
                format!("{end} {}", course::clauses(&own, &all).join(", or ")).trim_end().to_owned()
            });
            told.collect::<Vec<_>>().join("; or ")
        }
    };
    format!("{}: {told}", column(way, operation))
}

/// Ends with their conditions, those that read alike as one.
fn gathered(ends: impl Iterator<Item = (String, String)>) -> Vec<String> {
    let ends = grouped(ends).into_iter().map(|(end, whens)| {
        let whens: Vec<String> = whens.into_iter().filter(|when| !when.is_empty()).collect();
        format!("{end} {}", whens.join(", or ")).trim_end().to_owned()
    });
    ends.collect()
}

/// The operation that leads back.
const ROLLBACK: &str = "rollback";

/// The command that an operation is. Where nobody knows the numbers of the user's revisions, that of the rehearsal is none.
fn rehearsed(way: &Way, operation: &Operation) -> Option<String> {
    let step = operation.outcomes.first()?.steps.last()?;
    let command = Some(&step.command).filter(|command| !command.is_empty())?;
    if way.numbered || operation.name != ROLLBACK {
        return Some(command.clone());
    }
    let words = command.split(' ').enumerate();
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    let words = words.map(|(at, word)| if at == NUMBER && is_number(word) { REVISION } else { word });
    Some(words.collect::<Vec<_>>().join(" "))
}

/// Which word of `helm rollback RELEASE NUMBER` is the number, and what stands there where it is not known.
const NUMBER: usize = 3;
const REVISION: &str = "REVISION";

fn end(operation: &Operation, outcome: &Outcome, known: &Known<'_>) -> String {
    let error = outcome.steps.last().map(|step| gist(&step.stderr)).unwrap_or_default();
    word(outcome, Some(&error))
        + &fates(outcome, &known.delivered)
        + &troubled(&known.troubles(operation, outcome))
}

/// How an outcome ends, in the table's word first, with what the error says where that is wanted.
fn word(outcome: &Outcome, error: Option<&str>) -> String {
    let said = || error.map(|error| format!(" (ends with an error: {error})")).unwrap_or_default();
    match outcome.verdict {
        Verdict::Keeps => "keeps all".to_owned(),
        Verdict::Refused => format!("is refused{}", said()),
        Verdict::Breaks if outcome.succeeds() => "breaks, loses nothing".to_owned(),
        Verdict::Breaks => format!("breaks{}, loses nothing", said()),
        Verdict::Loses => format!("loses {}", by_kind(&outcome.lost)),
    }
}

fn troubled(troubles: &[String]) -> String {
    if troubles.is_empty() { String::new() } else { format!(", but {}", troubles.join(" and ")) }
}

/// How to go back after the upgrade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Back {
    /// The command; empty where none succeeds.
    pub(super) command: String,
    /// What is to be known of it, or that nothing helps.
    pub(super) note: String,
}

/// What leads back from a way: the plain rollback where it always succeeds, else the one that overrides; nothing for a way on
/// which no rollback was rehearsed.
pub(super) fn back(way: &Way) -> Option<Back> {
    let rollbacks: Vec<&Operation> =
        way.operations.iter().filter(|operation| operation.name == ROLLBACK).collect();
    let plain = rollbacks.iter().find(|operation| column(way, operation) == ROLLBACK)?;
    let overriding = rollbacks.iter().find(|operation| column(way, operation) != ROLLBACK);
    let succeeds = |operation: &Operation| operation.outcomes.iter().any(Outcome::gets_back);
    if plain.outcomes.iter().all(Outcome::gets_back) {
        return Some(led_by(way, plain, String::new()));
    }
    match overriding.filter(|operation| succeeds(operation)) {
        Some(overriding) => Some(led_by(
            way,
            overriding,
            "the rollback without these flags does not always succeed".to_owned(),
        )),
        None if succeeds(plain) => Some(led_by(way, plain, String::new())),
        None => Some(Back { command: String::new(), note: NO_WAY_BACK.to_owned() }),
    }
}

/// Said where there is no way back.
pub(super) const NO_WAY_BACK: &str = "no rehearsed rollback succeeds; there is no way back but by hand";

fn led_by(way: &Way, operation: &Operation, note: String) -> Back {
    let failing = operation.outcomes.iter().filter(|outcome| !outcome.gets_back());
    let fails: Vec<String> = failing.map(whenever).filter(|when| !when.is_empty()).collect();
    let fails = Some(fails).filter(|fails| !fails.is_empty());
    let fails = fails.map(|fails| format!("it does not succeed {}", fails.join(", or ")));
    let stuck: BTreeSet<ObjectName> = operation.outcomes.iter().flat_map(Outcome::stuck).collect();
    let stuck = Some(stuck.into_iter().collect::<Vec<_>>()).filter(|stuck| !stuck.is_empty());
    let stuck = stuck.map(|stuck| format!("{} can't go on without help after it", by_kind(&stuck)));
    let command = rehearsed(way, operation).unwrap_or_default();
    let which = command.contains(REVISION).then(|| {
        format!("{REVISION}: the one before the upgrade, `helm history` shows it, or hand in the release's records by --state")
    });
    let notes: Vec<String> =
        [Some(note).filter(|note| !note.is_empty()), fails, stuck, which].into_iter().flatten().collect();
    Back { command, note: notes.join("; ") }
}

/// Longest gist of an error, in characters.
const GIST: usize = 240;

/// The beginning of an error, the first of several, cut behind a word.
fn gist(stderr: &str) -> String {
    // Helm 4 logs before it says what is wrong.
    let said = stderr.rfind("Error: ").map_or(stderr, |at| stderr.get(at..).unwrap_or(stderr));
    let first = said.trim_start_matches("Error: ").split(" && ").next().unwrap_or_default();
    let text = first.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= GIST {
        return text;
    }
    let cut: String = text.chars().take(GIST).collect();
    format!("{} …", cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words))
}

/// What becomes of the objects that charts deliver besides their workloads, such as default runtimes, where they are not
/// lost: `, ClusterTrainingRuntime ×8 change in place`.
fn fates(outcome: &Outcome, delivered: &BTreeSet<&ObjectName>) -> String {
    let events = outcome.steps.iter().flat_map(|step| &step.events);
    let told = events.filter(|event| event.object.kind != "CustomResourceDefinition");
    let told =
        told.filter(|event| delivered.contains(&event.object) && !outcome.lost.contains(&event.object));
    let word = |event: &Event| match event.action {
        Action::Created => "come new",
        Action::Terminating => "wait to be deleted",
        Action::Deleted | Action::Replaced => "go",
        Action::Updated if event.changed.contains(&"spec") => "change in place",
        Action::Updated | Action::Unchanged => "stay as they are",
    };
    let groups = grouped(told.map(|event| (word(event), event.object.clone())));
    groups.into_iter().map(|(word, objects)| format!(", {} {word}", by_kind(&objects))).collect()
}

/// Every condition of an outcome as clauses; empty when it hangs on none.
pub(super) fn whenever(outcome: &Outcome) -> String {
    outcome.conditions().map(when).collect::<Vec<_>>().join(", or ")
}

/// A condition as a clause.
pub(super) fn when(condition: &str) -> String {
    if condition.starts_with("after ") { condition.to_owned() } else { format!("when {condition}") }
}
