//! A rehearsal's trace: every step with its requests, answers and the fate of every object.

use std::io::{self, Write};

use super::Style;
use super::escape::line as flat;
use super::model::grouped;
use crate::finding::ObjectName;
use crate::upgrade::outcome::{Outcome, Rehearsal, Verdict};
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
fn by(step: &Step) -> String {
    if step.actor.starts_with("helm") { format!("{}, ", flat(&step.actor)) } else { String::new() }
}

/// Writes words of a scenario that met nothing.
///
/// # Errors
/// When the writer fails.
pub fn notes(notes: &[String], out: &mut dyn Write) -> io::Result<()> {
    notes.iter().try_for_each(|note| writeln!(out, "note: {}", flat(note)))?;
    if notes.is_empty() { Ok(()) } else { writeln!(out) }
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
    for (end, conditions) in grouped(outcomes.iter().map(|outcome| (End::of(outcome), whens(outcome)))) {
        let codes: Vec<String> = end.codes.iter().map(ToString::to_string).collect();
        let when = gathered(&conditions.concat()).join(", or ");
        writeln!(out, "  {}, exit {}: {}", end.verdict, codes.join(" "), flat(&when))?;
        for (word, objects) in [("LOST", end.lost), ("BROKEN", end.broken.as_slice())] {
            let names: Vec<String> = objects.iter().map(ToString::to_string).collect();
            if !names.is_empty() {
                writeln!(out, "    {word} {}", flat(&names.join(", ")))?;
            }
        }
    }
    writeln!(out)
}

/// What a reader sees of an end; ends that look alike are one.
#[derive(PartialEq)]
struct End<'o> {
    verdict: String,
    codes: Vec<i32>,
    lost: &'o [ObjectName],
    broken: Vec<ObjectName>,
}

impl<'o> End<'o> {
    fn of(outcome: &'o Outcome) -> Self {
        let verdict = match outcome.verdict {
            Verdict::Loses => format!("loses {}", outcome.lost.len()),
            Verdict::Breaks => "breaks".to_owned(),
            Verdict::Refused => "refused".to_owned(),
            Verdict::Keeps => "keeps".to_owned(),
        };
        let codes = outcome.steps.iter().map(|step| step.exit_code).collect();
        Self { verdict, codes, lost: &outcome.lost, broken: outcome.stuck() }
    }
}

/// When an outcome comes about. The natural course has no words.
fn whens(outcome: &Outcome) -> Vec<String> {
    let natural = ["in the natural course"].into_iter().filter(|_| outcome.condition.is_empty());
    natural.chain(outcome.conditions()).map(str::to_owned).collect()
}

/// Conditions that differ in a number or a name only, as one: what stands before it, and what behind it.
const SERIES: &[(&str, &str)] =
    &[("webhook certificates are renewed after ", " call"), ("looks at TrainJob ", " before it lets")];

/// Conditions, those of one series gathered: `renewed after 1, 2 or 3 calls`.
fn gathered(conditions: &[String]) -> Vec<String> {
    let parts = conditions.iter().map(|condition| {
        let split = SERIES.iter().find_map(|(before, behind)| {
            let at = condition.find(before)? + before.len();
            let (head, tail) = condition.split_at(at);
            let end = tail.find(behind)?;
            let (item, tail) = tail.split_at(end);
            Some(((head, tail.replacen(" call;", " calls;", 1)), item))
        });
        split.map_or(((condition.as_str(), String::new()), ""), |(around, item)| (around, item))
    });
    // One call and several are the same series.
    let parts = parts.map(|((head, tail), item)| {
        let tail = if tail == " call" { " calls".to_owned() } else { tail };
        ((head, tail), item)
    });
    let series = grouped(parts).into_iter().map(|((head, tail), items)| {
        let tail = if items == ["1"] { tail.replacen(" calls", " call", 1) } else { tail };
        format!("{head}{}{tail}", listed(&items))
    });
    series.collect()
}

/// `a`, `a or b`, `a, b or c`.
fn listed(items: &[&str]) -> String {
    match items.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
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
                        format!("== {}, {}, {}: {condition}", rehearsal.actor, way.name, operation.title());
                    writeln!(out, "{}", flat(&head))?;
                    outcome.steps.iter().try_for_each(|one| step(one, out))?;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upgrade::sample;

    #[test]
    fn conditions_of_one_series_are_one() {
        let conditions = [
            "a hook fails",
            "webhook certificates are renewed after 1 call",
            "webhook certificates are renewed after 2 calls",
            "the hook hangs; webhook certificates are renewed after 1 call",
            "webhook certificates are renewed after 5 calls",
            "the new controller looks at TrainJob x before it lets its runtime go",
            "the new controller looks at TrainJob y before it lets its runtime go",
        ];
        let wanted = [
            "a hook fails",
            "webhook certificates are renewed after 1, 2 or 5 calls",
            "the hook hangs; webhook certificates are renewed after 1 call",
            "the new controller looks at TrainJob x or y before it lets its runtime go",
        ];
        assert_eq!(gathered(&conditions.map(str::to_owned)), wanted);
    }

    fn end(condition: &str, verdict: Verdict, stderr: &str) -> Outcome {
        let step = Step {
            command: "helm upgrade r c".into(),
            exit_code: 1,
            stderr: stderr.into(),
            ..sample::step("upgrade")
        };
        let (condition, also, lost) = (condition.to_owned(), Vec::new(), Vec::new());
        Outcome { condition, also, verdict, lost, steps: vec![step] }
    }

    #[test]
    fn ends_that_look_alike_are_told_once() {
        let outcomes = [
            end("webhook certificates are renewed after 1 call", Verdict::Breaks, "one"),
            end("webhook certificates are renewed after 2 calls", Verdict::Breaks, "two"),
            end("", Verdict::Refused, ""),
        ];
        let mut out = Vec::new();
        ends(&outcomes, &mut out).unwrap();
        let wanted = "possible ends, worst first\n  breaks, exit 1: webhook certificates are renewed after 1 or 2 calls\n  \
                      refused, exit 1: in the natural course\n\n";
        assert_eq!(String::from_utf8(out).unwrap(), wanted);
    }
}
