//! The way to take: which one keeps every object on the road, the commands that lead there, and how each of its
//! operations can end.

use std::collections::BTreeSet;

use super::answer::nobody;
use super::ends::{Back, Known, back, ends, in_brief};
use super::model::{Report, grouped, who};
use super::steps::{Command, Step, steps};
use crate::finding::{Finding, ObjectName};
use crate::upgrade::outcome::{Outcome, Rehearsal, Verdict, Way};

/// What one actor should do.
pub(super) struct Counsel {
    /// Actors, with who made the release, and the way.
    pub(super) label: String,
    /// The same without the way.
    pub(super) who: String,
    /// What is done, or that nothing helps.
    pub(super) summary: String,
    /// Commands in order; empty when every way loses objects.
    pub(super) steps: Vec<Step>,
    /// Commands that go on with the count when the upgrade is through, for objects that can't go on.
    pub(super) afterwards: Vec<Step>,
    /// Which of the commands were rehearsed how; empty without commands.
    pub(super) rehearsed: String,
    /// How each operation can end.
    pub(super) ends: Vec<String>,
    /// The same, a line for each operation.
    pub(super) in_brief: Vec<String>,
    /// How to go back; nothing where that was not rehearsed.
    pub(super) back: Option<Back>,
}

/// What stands above the commands that follow the upgrade.
pub(super) const AFTERWARDS: &str = "when the upgrade is through, for what can't go on:";

/// One counsel per actor and maker of the release; none where the plain upgrade keeps everything whatever follows.
pub(super) fn counsels(report: &Report) -> Vec<Counsel> {
    let (known, judged) = (report.known(), !report.verdict.ways.is_empty());
    let mut counsels = Vec::new();
    for rehearsal in &report.rehearsals {
        let makers = rehearsal.makers();
        counsels.extend(makers.into_iter().filter_map(|maker| advice_of(rehearsal, maker, &known, judged)));
    }
    let alike = grouped(counsels.into_iter().map(|(who, advice)| (advice, who)));
    let mut told: Vec<(String, Vec<Command>)> = Vec::new();
    alike.into_iter().map(|(advice, who)| advice.given_to(&who, report, &mut told)).collect()
}

/// The check that says how to bring objects on.
const STUCK: &str = "job_stuck";

/// What the same advice says to all who should follow it.
#[derive(PartialEq)]
struct Advice {
    way: String,
    summary: String,
    commands: Vec<Command>,
    afterwards: Vec<Command>,
    ends: Vec<String>,
    in_brief: Vec<String>,
    back: Option<Back>,
    stuck: Vec<ObjectName>,
}

impl Advice {
    /// `told` has the commands of every counsel before this one, with whom they are for.
    fn given_to(self, who: &[String], report: &Report, told: &mut Vec<(String, Vec<Command>)>) -> Counsel {
        let Self { way, summary, commands, afterwards, mut ends, mut in_brief, back, stuck } = self;
        let about = |finding: &&Finding| finding.objects.iter().any(|object| stuck.contains(object));
        let helpful = report.causes().filter(|finding| !finding.advice.is_empty()).filter(about);
        let mut checks: BTreeSet<&str> = helpful.map(|finding| finding.check).collect();
        // Others are about the same objects, and seldom about what holds them up.
        if checks.contains(STUCK) {
            checks.retain(|check| *check == STUCK);
        }
        if !checks.is_empty() {
            let checks = checks.into_iter().collect::<Vec<_>>().join(", ");
            let helps = format!("what helps those that can't go on: see the findings of {checks}");
            in_brief.push(helps.clone());
            ends.push(helps);
        }
        let who = who.join(" and ");
        let label = if way.is_empty() { who.clone() } else { format!("{who}, {way}") };
        let rehearsed = rehearsed(commands.len(), afterwards.len());
        let before = commands.len();
        let all = [commands, afterwards].concat();
        let mut steps = steps(&all, before, told);
        let later = steps.iter().position(|step| step.first > before).unwrap_or(steps.len());
        let afterwards = steps.split_off(later);
        told.push((who.clone(), all));
        Counsel { label, who, summary, steps, afterwards, rehearsed, ends, in_brief, back }
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
    known: &Known<'_>,
    judged: bool,
) -> Option<(String, Advice)> {
    let plain = rehearsal.ways.iter().find(|way| way.made_by == maker);
    match (rehearsal.best(maker), plain) {
        (Some(way), _) if is_plain(way) && way.verdict() == Verdict::Keeps => None,
        (Some(way), _) => Some(advice(rehearsal, way, known)),
        (None, Some(plain)) => Some((who(rehearsal, plain), nothing_helps(judged))),
        (None, None) => None,
    }
}

/// Whether a way is the command alone.
fn is_plain(way: &Way) -> bool {
    way.prepare.is_empty() && way.flags.is_empty() && way.afterwards.is_empty()
}

fn nothing_helps(judged: bool) -> Advice {
    Advice {
        way: String::new(),
        summary: format!("{}; do not upgrade before one does", nobody(judged)),
        commands: Vec::new(),
        afterwards: Vec::new(),
        ends: Vec::new(),
        in_brief: Vec::new(),
        back: None,
        stuck: Vec::new(),
    }
}

fn advice(rehearsal: &Rehearsal, way: &Way, known: &Known<'_>) -> (String, Advice) {
    let upgrade = way.operations.iter().flat_map(|operation| &operation.outcomes).next();
    let command = upgrade.and_then(|outcome| outcome.steps.last()).map(|step| &step.command);
    let outcomes = way.operations.iter().flat_map(|operation| &operation.outcomes);
    let commands = |commands: Vec<&String>| -> Vec<Command> {
        commands.into_iter().map(|command| Command::of(command, &rehearsal.start)).collect()
    };
    let advice = Advice {
        way: way.name.clone(),
        summary: way.summary.clone(),
        commands: commands(way.prepare.iter().chain(command).collect()),
        afterwards: commands(way.afterwards.iter().collect()),
        ends: way.operations.iter().flat_map(|operation| ends(way, operation, known)).collect(),
        in_brief: way.operations.iter().map(|operation| in_brief(way, operation, known)).collect(),
        back: back(way),
        stuck: outcomes.flat_map(Outcome::stuck).collect(),
    };
    (who(rehearsal, way), advice)
}
