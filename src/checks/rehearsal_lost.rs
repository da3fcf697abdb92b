//! Losses that a rehearsal met.

use super::{Context, Findings};
use crate::finding::{Evidence, ObjectName, Severity};
use crate::upgrade::outcome::{CUT_OFF, Operation, Outcome, REUSING, Rehearsal, Verdict, Way};

declare_check! {
    /// A rehearsed operation deletes objects, or brings them back with another UID.
    ///
    /// ## What breaks
    /// The operation was run, request by request, against an API server with the controllers that decide survival. The
    /// objects named were there before and are gone afterwards, or stand there again as new objects: what they owned
    /// went with the old ones. The exit code of the command says nothing about it.
    ///
    /// ## What to do
    /// Take the way through the upgrade that keeps everything (the table shows them side by side), or protect what is
    /// lost before you start: other findings name the exact commands.
    ///
    /// ## References
    /// - The trace in `-o json` and `-o html` has every request and answer that led there.
    severity: Loses
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    for rehearsal in context.scene.rehearsals {
        for way in &rehearsal.ways {
            for operation in &way.operations {
                let worst = operation.outcomes.iter().find(|outcome| outcome.verdict == Verdict::Loses);
                if let Some(outcome) = worst {
                    say(rehearsal, way, operation, outcome, findings);
                }
            }
        }
    }
}

fn say(rehearsal: &Rehearsal, way: &Way, operation: &Operation, outcome: &Outcome, findings: &mut Findings) {
    let message = format!(
        "{} loses {} objects in {} ({})",
        rehearsal.actor,
        outcome.lost.len(),
        named(operation),
        way.name
    );
    let severity = if operation.name == REUSING { Severity::Risks } else { Severity::Loses };
    let said = findings.say(severity, message, deletion(outcome)).about_all(&outcome.lost);
    let said = if outcome.condition.is_empty() { said } else { said.when(outcome.condition.clone()) };
    if let Some(step) = outcome.steps.last() {
        let said = said.advise(format!("do not run: {}", step.command));
        if outcome.conditions().any(|condition| condition.contains("--timeout")) {
            said.advise(CUT_OFF);
        }
    }
}

fn named(operation: &Operation) -> String {
    if operation.flags.is_empty() {
        operation.title().to_owned()
    } else {
        format!("{} {}", operation.title(), operation.flags.join(" "))
    }
}

// The request that did it, where the trace has one for a lost object; else the object's own fate.
fn deletion(outcome: &Outcome) -> Evidence {
    let exchanges = outcome.steps.iter().flat_map(|step| &step.exchanges);
    let deletes =
        exchanges.filter(|exchange| exchange.request.starts_with("DELETE") && exchange.status < 300);
    let lost: Vec<&str> = outcome.lost.iter().map(|object| object.name.as_str()).collect();
    let mut hits =
        deletes.filter(|exchange| lost.iter().any(|name| exchange.request.ends_with(&format!("/{name}"))));
    if let Some(hit) = hits.next() {
        return Evidence::Answer {
            request: hit.request.clone(),
            status: hit.status,
            message: format!("asked by {}", hit.by),
        };
    }
    let object = outcome.lost.first().cloned().unwrap_or_else(|| ObjectName {
        kind: String::new(),
        namespace: String::new(),
        name: String::new(),
    });
    Evidence::State { object, detail: "there before, gone or another UID after".to_owned() }
}
