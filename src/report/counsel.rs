//! The way to take: which one keeps every object on the road, the commands that lead there, and how each of its
//! operations can end.

use super::judgement::ROAD;
use super::model::{Report, who};
use crate::upgrade::outcome::{Operation, Outcome, Rehearsal, Verdict, Way};

/// What one actor should do.
pub(super) struct Counsel {
    /// Actor, who made the release, way.
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
        counsels.extend(makers.into_iter().filter_map(|maker| counsel(rehearsal, maker)));
    }
    counsels
}

fn counsel(rehearsal: &Rehearsal, maker: &str) -> Option<Counsel> {
    let ways = || rehearsal.ways.iter().filter(|way| way.made_by == maker);
    // Of equals the last is taken: ways are listed from the plainest to the most careful.
    let best = ways().rev().filter(|way| keeps_on_the_road(way)).min_by_key(|way| price(way));
    match (best, ways().next()) {
        (Some(way), Some(plain)) if way.name == plain.name && way.verdict() == Verdict::Keeps => None,
        (Some(way), _) => Some(advice(rehearsal, way)),
        (None, Some(plain)) => Some(Counsel {
            label: who(rehearsal, plain),
            summary: "no rehearsed way keeps every object; do not upgrade before one does".to_owned(),
            commands: Vec::new(),
            ends: Vec::new(),
        }),
        (None, None) => None,
    }
}

fn advice(rehearsal: &Rehearsal, way: &Way) -> Counsel {
    let upgrade = way.operations.iter().flat_map(|operation| &operation.outcomes).next();
    let command = upgrade.and_then(|outcome| outcome.steps.last()).map(|step| step.command.clone());
    Counsel {
        label: format!("{}, {}", who(rehearsal, way), way.name),
        summary: way.summary.clone(),
        commands: way.prepare.iter().cloned().chain(command).collect(),
        ends: way.operations.iter().map(|operation| ends(way, operation)).collect(),
    }
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

/// How an operation can end; those of the way's flags that every upgrade on it has are told with its command.
fn ends(way: &Way, operation: &Operation) -> String {
    let told = |flag: &&String| operation.name.starts_with("upgrade") && way.flags.contains(flag);
    let own = operation.flags.iter().filter(|flag| !told(flag));
    let name = std::iter::once(&operation.name).chain(own).cloned().collect::<Vec<_>>().join(" ");
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
