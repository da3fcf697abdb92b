//! A rehearsal's trace: every step with its requests, answers and the fate of every object.

use std::io::{self, Write};

use super::Style;
use super::escape::line as flat;
use super::text;
use crate::upgrade::outcome::Rehearsal;
use crate::upgrade::trace::{Action, Step};

/// Writes one step for a terminal; reads are left out, they change nothing.
///
/// # Errors
/// When the writer fails.
pub fn step(step: &Step, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "$ {}   [{}exit code {}]", flat(&step.command), by(step), step.exit_code)?;
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

/// Which Helm runs a command; its line says only `helm`.
pub(super) fn by(step: &Step) -> String {
    if step.actor.starts_with("helm") { format!("{}, ", flat(&step.actor)) } else { String::new() }
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

/// Writes whole rehearsals for a terminal, the table with the worst of each first.
///
/// # Errors
/// When the writer fails.
pub fn rehearsals(rehearsals: &[Rehearsal], style: Style, out: &mut dyn Write) -> io::Result<()> {
    if rehearsals.iter().any(|rehearsal| !rehearsal.ways.is_empty()) {
        text::table(rehearsals, style, out)?;
    }
    for rehearsal in rehearsals {
        for way in &rehearsal.ways {
            for operation in &way.operations {
                for outcome in &operation.outcomes {
                    let condition = if outcome.condition.is_empty() { "always" } else { &outcome.condition };
                    let head =
                        format!("== {}, {}, {}: {condition}", rehearsal.actor, way.name, operation.title());
                    writeln!(out, "{}", flat(&head))?;
                    outcome.steps.iter().try_for_each(|one| step(one, out))?;
                }
            }
        }
    }
    Ok(())
}
