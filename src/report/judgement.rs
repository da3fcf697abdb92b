//! From outcomes and findings to one verdict and one exit code.

use std::collections::BTreeSet;

use crate::finding::{Finding, ObjectName, Severity};
use crate::upgrade::outcome::{DROP, Operation, REUSING, ROAD, Rehearsal, Verdict, Way};

use super::answer::answer;
use super::ends::Known;
use super::model::{Judgement, by_kind, is_cause, who};

/// What the judgement is made from.
pub struct Evidence<'e> {
    /// What was rehearsed.
    pub rehearsals: &'e [Rehearsal],
    /// What the checks say.
    pub findings: &'e [Finding],
    /// Findings of this severity or worse fail the run.
    pub gate: Severity,
    /// Whether something that was met decides about objects and could not be looked into.
    pub open: bool,
    /// Names of the ways that are judged alone; empty for all.
    pub ways: &'e [String],
    /// Objects that the charts themselves deliver: uninstalling them is what uninstalling means.
    pub delivered: &'e BTreeSet<ObjectName>,
}

/// Judges: losses on the road first, then losses by leaving it, then what could not be rehearsed, then findings.
#[must_use]
pub fn judge(evidence: &Evidence<'_>) -> Judgement {
    let known = Known::new(evidence.delivered.iter(), evidence.findings);
    let ways = evidence.ways.to_vec();
    let answer = answer(evidence.rehearsals, &known, !ways.is_empty());
    let judgement = judged(evidence);
    let summary = format!("{}{}", scope(&ways), judgement.summary);
    Judgement { answer, ways, summary, ..judgement }
}

/// What is judged, where that is not all that was rehearsed.
fn scope(ways: &[String]) -> String {
    match ways {
        [] => String::new(),
        [way] => format!("Only one way was judged (--way): {way}. "),
        several => format!("Only these ways were judged (--way): {}. ", several.join("; ")),
    }
}

fn judged(evidence: &Evidence<'_>) -> Judgement {
    let losing: Vec<Loss<'_>> =
        evidence.rehearsals.iter().flat_map(|r| losses(r, evidence.delivered)).collect();
    if !losing.is_empty() {
        return lost(&losing, evidence.gate);
    }
    let mut judgement = without_losses(evidence);
    if evidence.rehearsals.iter().any(|rehearsal| leaves_with_losses(rehearsal, evidence.delivered)) {
        judgement.summary.push_str(STANDING);
    }
    judgement
}

/// Said when leaving the release loses what it would have lost before the upgrade too.
const STANDING: &str = " Leaving the release deletes users' objects with its definitions, before this upgrade as after it: that is the state of the release, not the upgrade's doing.";

/// Whether uninstalling loses objects of users, and did so before.
fn leaves_with_losses(rehearsal: &Rehearsal, delivered: &BTreeSet<ObjectName>) -> bool {
    rehearsal.ways.iter().any(|way| !users_own(&way.loses_already, delivered).is_empty())
}

fn without_losses(evidence: &Evidence<'_>) -> Judgement {
    let rough = rough(evidence.rehearsals);
    if let Some(rehearsal) = evidence.rehearsals.iter().find(|rehearsal| !rehearsal.obstacle.is_empty()) {
        return Judgement {
            level: "not-checked",
            summary: format!("Nothing could be rehearsed for {}: {}", rehearsal.actor, rehearsal.obstacle),
            answer: String::new(),
            ways: Vec::new(),
            gate: evidence.gate,
            exit_code: 1,
        };
    }
    let gated: Vec<&Finding> =
        evidence.findings.iter().filter(|finding| finding.severity >= evidence.gate).collect();
    if !gated.is_empty() {
        // What is lost has its own list; where it is all there is to tell, it is counted.
        let causes = gated.iter().filter(|finding| is_cause(finding)).count();
        let of_leaving =
            || counted(gated.len(), "finding of what is lost is", "findings of what is lost are");
        let count = match causes {
            0 => format!("leaving the release does: {}", of_leaving()),
            causes => counted(causes, "finding is", "findings are"),
        };
        return Judgement {
            level: "findings",
            summary: format!(
                "No rehearsed upgrade, repetition or rollback loses an object, but {count} at or above the gate.{rough}",
            ),
            answer: String::new(),
            ways: Vec::new(),
            gate: evidence.gate,
            exit_code: 2,
        };
    }
    if evidence.open {
        return Judgement {
            level: "not-checked",
            summary: format!(
                "No rehearsed operation loses an object, but not everything could be checked; see below.{rough}"
            ),
            answer: String::new(),
            ways: Vec::new(),
            gate: evidence.gate,
            exit_code: 1,
        };
    }
    Judgement {
        level: "safe",
        summary: format!(
            "No rehearsed operation loses a custom object, a definition, a claim, a namespace or work that runs.{rough}"
        ),
        answer: String::new(),
        ways: Vec::new(),
        gate: evidence.gate,
        exit_code: 0,
    }
}

/// Operations that keep everything and yet don't end well, as a sentence; empty when all end well.
fn rough(rehearsals: &[Rehearsal]) -> String {
    let of = |verdict: Verdict| {
        let ways =
            rehearsals.iter().flat_map(|rehearsal| rehearsal.ways.iter().map(move |way| (rehearsal, way)));
        let operations =
            ways.flat_map(|(rehearsal, way)| way.operations.iter().map(move |o| (rehearsal, way, o)));
        let judged = operations.filter(|(.., operation)| operation.name != REUSING);
        judged.filter(move |(.., operation)| ends(operation, verdict)).collect::<Vec<_>>()
    };
    let sentences =
        [(of(Verdict::Breaks), HALFWAY, HALFWAY), (of(Verdict::Refused), "is refused", "are refused")];
    let sentences = sentences.iter().filter(|(found, ..)| !found.is_empty());
    sentences.map(|(found, one, many)| sentence(found, one, many)).collect()
}

/// What [`Verdict::Breaks`] means, after the name of an operation.
const HALFWAY: &str = "can break (end halfway, or leave objects that can't go on without help)";

fn ends(operation: &Operation, verdict: Verdict) -> bool {
    operation.outcomes.iter().any(|outcome| outcome.verdict == verdict)
}

fn sentence(found: &[(&Rehearsal, &Way, &Operation)], one: &str, many: &str) -> String {
    let mut names: Vec<String> = Vec::new();
    for (rehearsal, way, operation) in found {
        let flags: String = operation.flags.iter().map(|flag| format!(" {flag}")).collect();
        let name = format!("{}{flags} by {} ({})", operation.title(), who(rehearsal, way), way.name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let (count, more) = (names.len(), names.len().saturating_sub(NAMED));
    names.truncate(NAMED);
    let rest = if more == 0 { String::new() } else { format!(", and {more} more") };
    let verb = if count == 1 { one } else { many };
    format!(" {} {verb}: {}{rest}.", counted(count, "operation", "operations"), names.join(", "))
}

/// Operations that a summary names one by one.
const NAMED: usize = 3;

fn counted(n: usize, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}

struct Loss<'r> {
    rehearsal: &'r Rehearsal,
    way: &'r Way,
    operation: &'r Operation,
    lost: Vec<ObjectName>,
}

fn losses<'r>(rehearsal: &'r Rehearsal, delivered: &BTreeSet<ObjectName>) -> Vec<Loss<'r>> {
    let mut found = Vec::new();
    for way in &rehearsal.ways {
        for operation in way.operations.iter().filter(|operation| operation.name != REUSING) {
            let lost = worst(operation);
            let on_the_road = ROAD.contains(&operation.name.as_str());
            let lost = if on_the_road { lost } else { caused(way, &users_own(&lost, delivered)) };
            if !lost.is_empty() && (on_the_road || !leaves_safely(way, delivered)) {
                found.push(Loss { rehearsal, way, operation, lost });
            }
        }
    }
    found
}

fn worst(operation: &Operation) -> Vec<ObjectName> {
    let losing = operation.outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Loses);
    losing.max_by_key(|outcome| outcome.lost.len()).map(|outcome| outcome.lost.clone()).unwrap_or_default()
}

fn users_own(lost: &[ObjectName], delivered: &BTreeSet<ObjectName>) -> Vec<ObjectName> {
    // A chart may deliver a CRD, but what lives under it is the user's and goes with it.
    let own = |object: &&ObjectName| object.kind == "CustomResourceDefinition" || !delivered.contains(object);
    lost.iter().filter(own).cloned().collect()
}

/// Without what leaving the release deleted before the upgrade too.
fn caused(way: &Way, lost: &[ObjectName]) -> Vec<ObjectName> {
    lost.iter().filter(|object| !way.loses_already.contains(object)).cloned().collect()
}

// There is a way out that keeps everything: CRDs leave the release first, then it is uninstalled.
fn leaves_safely(way: &Way, delivered: &BTreeSet<ObjectName>) -> bool {
    way.operation(DROP).is_some_and(|operation| users_own(&worst(operation), delivered).is_empty())
}

fn lost(losing: &[Loss<'_>], gate: Severity) -> Judgement {
    // Of equal losses the one that is met first on the road is named.
    let worst = losing.iter().rev().max_by_key(|loss| (loss.lost.len(), ordinary(loss.operation)));
    let what = worst.map(|loss| {
        let flags: String = loss.operation.flags.iter().map(|flag| format!(" {flag}")).collect();
        format!(
            "The worst: {}{flags} by {} ({}) loses {}.",
            loss.operation.title(),
            who(loss.rehearsal, loss.way),
            loss.way.name,
            by_kind(&loss.lost)
        )
    });
    Judgement {
        level: "loses",
        summary: format!(
            "{} objects; uninstalls are counted where no way out spares users' objects. {}",
            counted(losing.len(), "rehearsed operation loses", "rehearsed operations lose"),
            what.unwrap_or_default()
        ),
        answer: String::new(),
        ways: Vec::new(),
        gate,
        exit_code: 3,
    }
}

fn ordinary(operation: &Operation) -> usize {
    let place = ROAD.iter().position(|name| *name == operation.name).unwrap_or(ROAD.len());
    usize::MAX - place
}
