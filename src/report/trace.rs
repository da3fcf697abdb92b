//! A rehearsal's trace: every step with its requests, answers and the fate of every object.

use std::io::{self, Write};

use super::Style;
use super::escape::line as flat;
use crate::upgrade::outcome::{Outcome, Rehearsal, Verdict};
use crate::upgrade::trace::{Action, Step};

/// Writes one step for a terminal; reads are left out, they change nothing.
///
/// # Errors
/// When the writer fails.
pub fn step(step: &Step, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "$ {}   [exit code {}]", flat(&step.command), step.exit_code)?;
    for line in step.stderr.lines() {
        writeln!(out, "  ! {}", flat(line))?;
    }
    for e in step.exchanges.iter().filter(|e| !e.request.starts_with("GET") || e.status >= 400) {
        let line = format!("{:8.1} s  {:<20} {} → {} {}", e.at, e.by, e.request, e.status, e.message);
        writeln!(out, "  {}", flat(line.trim_end()))?;
    }
    for note in &step.notes {
        writeln!(out, "  note: {}", flat(note))?;
    }
    for event in step.events.iter().filter(|event| event.action != Action::Unchanged) {
        let changed =
            if event.changed.is_empty() { String::new() } else { format!(" ({})", event.changed.join(", ")) };
        writeln!(out, "  {:<12} {}{changed}", word(event.action), flat(&event.object.to_string()))?;
    }
    for object in &step.lost_objects {
        writeln!(out, "  LOST         {}", flat(&object.to_string()))?;
    }
    writeln!(out)
}

fn word(action: Action) -> &'static str {
    match action {
        Action::Created => "created",
        Action::Updated => "updated",
        Action::Replaced => "replaced",
        Action::Deleted => "deleted",
        Action::Terminating => "terminating",
        Action::Unchanged => "unchanged",
    }
}

/// Writes how a scenario can end, worst first, where more than one end is possible.
///
/// # Errors
/// When the writer fails.
pub fn ends(outcomes: &[Outcome], out: &mut dyn Write) -> io::Result<()> {
    if outcomes.len() < 2 {
        return Ok(());
    }
    writeln!(out, "possible ends, worst first")?;
    for outcome in outcomes {
        let codes: Vec<String> = outcome.steps.iter().map(|step| step.exit_code.to_string()).collect();
        let natural = ["in the natural course"].into_iter().filter(|_| outcome.condition.is_empty());
        let when: Vec<&str> = natural.chain(outcome.conditions()).collect();
        let verdict = match outcome.verdict {
            Verdict::Loses => format!("loses {}", outcome.lost.len()),
            Verdict::Breaks => "breaks".to_owned(),
            Verdict::Refused => "refused".to_owned(),
            Verdict::Keeps => "keeps".to_owned(),
        };
        writeln!(out, "  {verdict}, exit {}: {}", codes.join(" "), flat(&when.join(", or ")))?;
        let lost: Vec<String> = outcome.lost.iter().map(ToString::to_string).collect();
        if !lost.is_empty() {
            writeln!(out, "    LOST {}", flat(&lost.join(", ")))?;
        }
    }
    writeln!(out)
}

/// Writes whole rehearsals for a terminal.
///
/// # Errors
/// When the writer fails.
pub fn rehearsals(rehearsals: &[Rehearsal], _: Style, out: &mut dyn Write) -> io::Result<()> {
    for rehearsal in rehearsals {
        for way in &rehearsal.ways {
            for operation in &way.operations {
                for outcome in &operation.outcomes {
                    let condition = if outcome.condition.is_empty() { "always" } else { &outcome.condition };
                    let head =
                        format!("== {}, {}, {}: {condition}", rehearsal.actor, way.name, operation.name);
                    writeln!(out, "{}", flat(&head))?;
                    outcome.steps.iter().try_for_each(|one| step(one, out))?;
                }
            }
        }
    }
    Ok(())
}
