//! The way to take: which one keeps every object on the road, the commands that lead there, and how each of its
//! operations can end.

use std::collections::BTreeSet;

use super::judgement::ROAD;
use super::matrix::column;
use super::model::{Report, grouped, who};
use crate::finding::{Finding, ObjectName};
use crate::upgrade::outcome::{Operation, Outcome, Rehearsal, Verdict, Way};

/// What one actor should do.
pub(super) struct Counsel {
    /// Actors, with who made the release, and the way.
    pub(super) label: String,
    /// What is done, or that nothing helps.
    pub(super) summary: String,
    /// Commands in order; empty when no way keeps every object.
    pub(super) commands: Vec<String>,
    /// How each operation can end.
    pub(super) ends: Vec<String>,
}

/// One counsel per actor and maker of the release; none where the plain upgrade keeps everything whatever follows.
pub(super) fn counsels(report: &Report) -> Vec<Counsel> {
    let mut counsels = Vec::new();
    for rehearsal in &report.rehearsals {
        let mut makers: Vec<&str> = rehearsal.ways.iter().map(|way| way.made_by.as_str()).collect();
        makers.dedup();
        counsels.extend(makers.into_iter().filter_map(|maker| advice_of(rehearsal, maker)));
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
    ends: Vec<String>,
    stuck: Vec<ObjectName>,
}

impl Advice {
    fn given_to(self, who: &[String], report: &Report) -> Counsel {
        let Self { way, summary, commands, mut ends, stuck } = self;
        let about = |finding: &&Finding| finding.objects.iter().any(|object| stuck.contains(object));
        let helpful = report.causes().filter(|finding| !finding.advice.is_empty()).filter(about);
        let checks: BTreeSet<&str> = helpful.map(|finding| finding.check).collect();
        if !checks.is_empty() {
            let checks = checks.into_iter().collect::<Vec<_>>().join(", ");
            ends.push(format!("what helps those that can't go on: see the findings of {checks}"));
        }
        let who = who.join(" and ");
        let label = if way.is_empty() { who } else { format!("{who}, {way}") };
        Counsel { label, summary, commands, ends }
    }
}

fn advice_of(rehearsal: &Rehearsal, maker: &str) -> Option<(String, Advice)> {
    let ways = || rehearsal.ways.iter().filter(|way| way.made_by == maker);
    // Of equals the last is taken: ways are listed from the plainest to the most careful.
    let best = ways().rev().filter(|way| keeps_on_the_road(way)).min_by_key(|way| price(way));
    match (best, ways().next()) {
        (Some(way), Some(plain)) if way.name == plain.name && way.verdict() == Verdict::Keeps => None,
        (Some(way), _) => Some(advice(rehearsal, way)),
        (None, Some(plain)) => Some((who(rehearsal, plain), nothing_helps())),
        (None, None) => None,
    }
}

fn nothing_helps() -> Advice {
    Advice {
        way: String::new(),
        summary: "no rehearsed way keeps every object; do not upgrade before one does".to_owned(),
        commands: Vec::new(),
        ends: Vec::new(),
        stuck: Vec::new(),
    }
}

fn advice(rehearsal: &Rehearsal, way: &Way) -> (String, Advice) {
    let upgrade = way.operations.iter().flat_map(|operation| &operation.outcomes).next();
    let command = upgrade.and_then(|outcome| outcome.steps.last()).map(|step| step.command.clone());
    let outcomes = way.operations.iter().flat_map(|operation| &operation.outcomes);
    let advice = Advice {
        way: way.name.clone(),
        summary: way.summary.clone(),
        commands: way.prepare.iter().cloned().chain(command).collect(),
        ends: way.operations.iter().map(|operation| ends(way, operation)).collect(),
        stuck: outcomes.flat_map(Outcome::stuck).collect(),
    };
    (who(rehearsal, way), advice)
}

/// Whether an upgrade can get through on this way and nothing that belongs to the road loses anything.
fn keeps_on_the_road(way: &Way) -> bool {
    let on_the_road = way.operations.iter().filter(|operation| ROAD.contains(&operation.name.as_str()));
    let upgrade = way.operations.first().map(|operation| operation.outcomes.as_slice()).unwrap_or_default();
    upgrade.iter().any(gets_through)
        && on_the_road.into_iter().all(|operation| operation.verdict() != Verdict::Loses)
}

/// The command succeeds; at worst there are objects that need a hand afterwards.
fn gets_through(outcome: &Outcome) -> bool {
    outcome.verdict == Verdict::Keeps || outcome.verdict == Verdict::Breaks && outcome.succeeds()
}

/// What a way costs: operations that lose something, then operations that can end with an error.
fn price(way: &Way) -> (usize, usize) {
    let count = |verdict: Verdict| way.operations.iter().filter(|o| o.verdict() == verdict).count();
    (count(Verdict::Loses), count(Verdict::Breaks))
}

/// How an operation, as the table calls it, can end.
fn ends(way: &Way, operation: &Operation) -> String {
    let name = column(way, operation);
    let ends: Vec<String> = operation.outcomes.iter().map(end).collect();
    format!("{name}: {}", ends.join("; "))
}

fn end(outcome: &Outcome) -> String {
    let word = match outcome.verdict {
        Verdict::Keeps => "keeps all".to_owned(),
        Verdict::Refused => "is refused".to_owned(),
        Verdict::Breaks if outcome.succeeds() => "keeps all".to_owned(),
        Verdict::Breaks => "ends with an error, keeps all".to_owned(),
        Verdict::Loses => format!("loses {}", super::model::by_kind(&outcome.lost)),
    };
    let stuck = match outcome.stuck().as_slice() {
        [] => String::new(),
        stuck => format!(", but {} can't go on without help", super::model::by_kind(stuck)),
    };
    [word + &stuck, whenever(outcome)].join(" ").trim_end().to_owned()
}

/// Every condition of an outcome as clauses; empty when it hangs on none.
pub(super) fn whenever(outcome: &Outcome) -> String {
    outcome.conditions().map(when).collect::<Vec<_>>().join(", or ")
}

/// A condition as a clause.
pub(super) fn when(condition: &str) -> String {
    if condition.starts_with("after ") { condition.to_owned() } else { format!("when {condition}") }
}
