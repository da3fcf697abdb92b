//! The way to take: which one keeps every object on the road, the commands that lead there, and how each of its
//! operations can end.

use std::collections::BTreeSet;

use super::matrix::column;
use super::model::{Report, grouped, who};
use crate::finding::{Finding, ObjectName};
use crate::upgrade::outcome::{Operation, Outcome, Rehearsal, Verdict, Way};
use crate::upgrade::trace::{Action, Event};

/// What one actor should do.
pub(super) struct Counsel {
    /// Actors, with who made the release, and the way.
    pub(super) label: String,
    /// What is done, or that nothing helps.
    pub(super) summary: String,
    /// Commands in order; empty when no way keeps every object.
    pub(super) commands: Vec<String>,
    /// Commands that go on with the count when the upgrade is through, for objects that can't go on.
    pub(super) afterwards: Vec<String>,
    /// Which of the commands were rehearsed how; empty without commands.
    pub(super) rehearsed: String,
    /// How each operation can end.
    pub(super) ends: Vec<String>,
}

/// What stands above the commands that follow the upgrade.
pub(super) const AFTERWARDS: &str = "when the upgrade is through, for what can't go on:";

/// One counsel per actor and maker of the release; none where the plain upgrade keeps everything whatever follows.
pub(super) fn counsels(report: &Report) -> Vec<Counsel> {
    let delivered: BTreeSet<&ObjectName> = report.ownership.iter().map(|row| &row.object).collect();
    let mut counsels = Vec::new();
    for rehearsal in &report.rehearsals {
        let makers = rehearsal.makers();
        counsels.extend(makers.into_iter().filter_map(|maker| advice_of(rehearsal, maker, &delivered)));
    }
    let alike = grouped(counsels.into_iter().map(|(who, advice)| (advice, who)));
    alike.into_iter().map(|(advice, who)| advice.given_to(&who, report)).collect()
}

/// What the same advice says to all who should follow it.
#[derive(PartialEq)]
struct Advice {
    way: String,
    summary: String,
    commands: Vec<String>,
    afterwards: Vec<String>,
    ends: Vec<String>,
    stuck: Vec<ObjectName>,
}

impl Advice {
    fn given_to(self, who: &[String], report: &Report) -> Counsel {
        let Self { way, summary, commands, afterwards, mut ends, stuck } = self;
        let about = |finding: &&Finding| finding.objects.iter().any(|object| stuck.contains(object));
        let helpful = report.causes().filter(|finding| !finding.advice.is_empty()).filter(about);
        let checks: BTreeSet<&str> = helpful.map(|finding| finding.check).collect();
        if !checks.is_empty() {
            let checks = checks.into_iter().collect::<Vec<_>>().join(", ");
            ends.push(format!("what helps those that can't go on: see the findings of {checks}"));
        }
        let who = who.join(" and ");
        let label = if way.is_empty() { who } else { format!("{who}, {way}") };
        let rehearsed = rehearsed(commands.len(), afterwards.len());
        Counsel { label, summary, commands, afterwards, rehearsed, ends }
    }
}

/// Which steps were played, and how.
fn rehearsed(before: usize, after: usize) -> String {
    let steps = |from: usize, to: usize| match from == to {
        true => format!("step {from}"),
        false => format!("steps {from} to {to}"),
    };
    match (before, after) {
        (0, _) => String::new(),
        (before, 0) => format!("rehearsed: {}, under every condition below", steps(1, before)),
        (before, after) => format!(
            "rehearsed: {}, under every condition below; {} after an upgrade in its natural course, and it helped",
            steps(1, before),
            steps(before + 1, before + after)
        ),
    }
}

fn advice_of(
    rehearsal: &Rehearsal,
    maker: &str,
    delivered: &BTreeSet<&ObjectName>,
) -> Option<(String, Advice)> {
    let plain = rehearsal.ways.iter().find(|way| way.made_by == maker);
    match (rehearsal.best(maker), plain) {
        (Some(way), Some(plain)) if way.name == plain.name && way.verdict() == Verdict::Keeps => None,
        (Some(way), _) => Some(advice(rehearsal, way, delivered)),
        (None, Some(plain)) => Some((who(rehearsal, plain), nothing_helps())),
        (None, None) => None,
    }
}

fn nothing_helps() -> Advice {
    Advice {
        way: String::new(),
        summary: "no rehearsed way keeps every object; do not upgrade before one does".to_owned(),
        commands: Vec::new(),
        afterwards: Vec::new(),
        ends: Vec::new(),
        stuck: Vec::new(),
    }
}

fn advice(rehearsal: &Rehearsal, way: &Way, delivered: &BTreeSet<&ObjectName>) -> (String, Advice) {
    let upgrade = way.operations.iter().flat_map(|operation| &operation.outcomes).next();
    let command = upgrade.and_then(|outcome| outcome.steps.last()).map(|step| step.command.clone());
    let outcomes = way.operations.iter().flat_map(|operation| &operation.outcomes);
    let advice = Advice {
        way: way.name.clone(),
        summary: way.summary.clone(),
        commands: way.prepare.iter().cloned().chain(command).collect(),
        afterwards: way.afterwards.clone(),
        ends: way.operations.iter().flat_map(|operation| ends(way, operation, delivered)).collect(),
        stuck: outcomes.flat_map(Outcome::stuck).collect(),
    };
    (who(rehearsal, way), advice)
}

/// How an operation, as the table calls it, can end, a line for each; ends that read alike are one.
fn ends(way: &Way, operation: &Operation, delivered: &BTreeSet<&ObjectName>) -> Vec<String> {
    let name = column(way, operation);
    let ends = operation.outcomes.iter().map(|outcome| (end(outcome, delivered), whenever(outcome)));
    let ends = grouped(ends).into_iter().map(|(end, whens)| {
        let whens: Vec<String> = whens.into_iter().filter(|when| !when.is_empty()).collect();
        format!("{end} {}", whens.join(", or ")).trim_end().to_owned()
    });
    let lines = ends.enumerate().map(|(n, end)| match n {
        0 => format!("{name}: {end}"),
        _ => format!("or {end}"),
    });
    lines.collect()
}

fn end(outcome: &Outcome, delivered: &BTreeSet<&ObjectName>) -> String {
    let error = || outcome.steps.last().map(|step| gist(&step.stderr)).unwrap_or_default();
    let word = match outcome.verdict {
        Verdict::Keeps => "keeps all".to_owned(),
        Verdict::Refused => format!("is refused ({})", error()),
        Verdict::Breaks if outcome.succeeds() => "keeps all".to_owned(),
        Verdict::Breaks => format!("ends with an error ({}), keeps all", error()),
        Verdict::Loses => format!("loses {}", super::model::by_kind(&outcome.lost)),
    };
    let stuck = match outcome.stuck().as_slice() {
        [] => String::new(),
        stuck => format!(", but {} can't go on without help", super::model::by_kind(stuck)),
    };
    word + &fates(outcome, delivered) + &stuck
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
    groups
        .into_iter()
        .map(|(word, objects)| format!(", {} {word}", super::model::by_kind(&objects)))
        .collect()
}

/// Every condition of an outcome as clauses; empty when it hangs on none.
pub(super) fn whenever(outcome: &Outcome) -> String {
    outcome.conditions().map(when).collect::<Vec<_>>().join(", or ")
}

/// A condition as a clause.
pub(super) fn when(condition: &str) -> String {
    if condition.starts_with("after ") { condition.to_owned() } else { format!("when {condition}") }
}
