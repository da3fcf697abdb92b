//! A played scenario as text: what it comes to first, then the trace, then the names of what its ends lose.

use std::io::{self, Write};

use super::Style;
use super::ends::when;
use super::escape::line as flat;
use super::model::{by_kind, grouped};
use super::trace::{self, by};
use super::wrap::wrapped;
use crate::finding::ObjectName;
use crate::upgrade::outcome::{Outcome, Verdict};
use crate::upgrade::scenario::Played;
use crate::upgrade::stuck::stuck;
use crate::upgrade::trace::Step;

/// Writes all of it.
///
/// # Errors
/// When the writer fails.
pub fn write(played: &Played, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let natural = Outcome::of(String::new(), played.steps.clone());
    let several = played.outcomes.len() > 1;
    let ends = if several { grouped_ends(&played.outcomes) } else { Vec::new() };
    let worst = played.outcomes.first().filter(|_| several).unwrap_or(&natural);
    let how = if several { "at worst it" } else { "it" };
    writeln!(out, "{}: {how} {}", flat(&played.scenario), End::of(worst).verdict)?;
    steps(&played.steps, several, style, out)?;
    possible(&ends, style, out)?;
    writeln!(out, "Trace{}", if several { ", in the natural course" } else { "" })?;
    played.steps.iter().try_for_each(|step| trace::step(step, out))?;
    notes(&played.notes, out)?;
    names(&ends, style, out)
}

fn say(style: Style, hang: usize, text: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", wrapped(text, hang, style.width))
}

/// A line for each step: how it ends and what it loses.
fn steps(steps: &[Step], several: bool, style: Style, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nSteps{}", if several { ", in the natural course" } else { "" })?;
    for (n, step) in steps.iter().enumerate() {
        let lost = match step.lost_objects.as_slice() {
            [] => "loses nothing".to_owned(),
            lost => format!("loses {}", by_kind(lost)),
        };
        let stuck: Vec<ObjectName> = stuck(step).into_keys().collect();
        let stuck =
            if stuck.is_empty() { String::new() } else { format!("; {} can't go on", by_kind(&stuck)) };
        let command = flat(&step.command);
        // Commands are for copying: never broken.
        writeln!(out, "  {}. {command}   [{}exit code {}]", n + 1, by(step), step.exit_code)?;
        say(style, 5, &format!("     {lost}{stuck}"), out)?;
    }
    writeln!(out)
}

/// How it can end, worst first, where more than one end is possible.
fn possible(ends: &[(End<'_>, Vec<String>)], style: Style, out: &mut dyn Write) -> io::Result<()> {
    if ends.is_empty() {
        return Ok(());
    }
    writeln!(out, "Possible ends, worst first")?;
    for (n, (end, conditions)) in ends.iter().enumerate() {
        let lost = if end.lost.is_empty() { String::new() } else { format!(": {}", by_kind(end.lost)) };
        let broken = match end.broken.as_slice() {
            [] => String::new(),
            broken => format!("; {} can't go on", by_kind(broken)),
        };
        say(style, 5, &format!("  {}. {}{lost}{broken}", n + 1, end.verdict), out)?;
        say(style, 5, &format!("     {}", end.failures()), out)?;
        say(style, 5, &format!("     {}", flat(&conditions.join(", or "))), out)?;
    }
    writeln!(out)
}

/// The names of what ends lose or leave broken, by the numbers of the summary.
fn names(ends: &[(End<'_>, Vec<String>)], style: Style, out: &mut dyn Write) -> io::Result<()> {
    let told =
        || ends.iter().enumerate().filter(|(_, (end, _))| !end.lost.is_empty() || !end.broken.is_empty());
    if told().next().is_some() {
        writeln!(out, "What the possible ends lose or leave broken")?;
    }
    for (n, (end, _)) in told() {
        let named =
            |objects: &[ObjectName]| objects.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let parts = [("loses", named(end.lost)), ("leaves broken", named(&end.broken))];
        let parts = parts.iter().filter(|(_, names)| !names.is_empty());
        let parts: Vec<String> = parts.map(|(word, names)| format!("{word} {names}")).collect();
        say(style, 5, &format!("  {}. {}", n + 1, flat(&parts.join("; "))), out)?;
    }
    Ok(())
}

/// Words of a scenario that met nothing.
fn notes(notes: &[String], out: &mut dyn Write) -> io::Result<()> {
    notes.iter().try_for_each(|note| writeln!(out, "note: {}", flat(note)))?;
    if notes.is_empty() { Ok(()) } else { writeln!(out) }
}

/// Ends with the clauses of their conditions; those that look alike are one.
fn grouped_ends(outcomes: &[Outcome]) -> Vec<(End<'_>, Vec<String>)> {
    let ends = grouped(outcomes.iter().map(|outcome| (End::of(outcome), whens(outcome))));
    let clause = |condition: &String| if condition == NATURAL { condition.clone() } else { when(condition) };
    ends.into_iter()
        .map(|(end, conditions)| (end, gathered(&conditions.concat()).iter().map(clause).collect()))
        .collect()
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
            Verdict::Refused => "is refused".to_owned(),
            Verdict::Keeps => "keeps all".to_owned(),
        };
        let codes = outcome.steps.iter().map(|step| step.exit_code).collect();
        Self { verdict, codes, lost: &outcome.lost, broken: outcome.stuck() }
    }

    /// Which steps end with an error.
    fn failures(&self) -> String {
        let failing = self.codes.iter().enumerate().filter(|(_, code)| **code != 0);
        let failing: Vec<String> =
            failing.map(|(n, code)| format!("step {} ends with exit code {code}", n + 1)).collect();
        if failing.is_empty() { "every step succeeds".to_owned() } else { failing.join(", ") }
    }
}

/// Said of the end that nothing has to happen for.
const NATURAL: &str = "in the natural course";

/// When an outcome comes about. The natural course has no words.
fn whens(outcome: &Outcome) -> Vec<String> {
    let natural = [NATURAL].into_iter().filter(|_| outcome.condition.is_empty());
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
        let text = written(outcomes.into());
        let wanted = "Possible ends, worst first\n  1. breaks\n     step 1 ends with exit code 1\n     \
                      when webhook certificates are renewed after 1 or 2 calls\n  2. is refused\n     \
                      step 1 ends with exit code 1\n     in the natural course\n\n";
        assert!(text.contains(wanted), "{text}");
        assert!(text.starts_with("demo: at worst it breaks\n"), "{text}");
    }

    fn written(outcomes: Vec<Outcome>) -> String {
        let steps = outcomes.last().unwrap().steps.clone();
        let (scenario, looks, notes) = ("demo".to_owned(), Vec::new(), Vec::new());
        let mut out = Vec::new();
        write(&Played { scenario, steps, looks, notes, outcomes }, Style::default(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_verdict_stands_above_the_trace_and_all_names_are_told() {
        let object =
            |name: &str| ObjectName { kind: "Widget".into(), namespace: "n".into(), name: name.into() };
        let mut worst = end("the hook fails", Verdict::Loses, "");
        worst.lost = vec![object("a"), object("b")];
        let mut natural = end("", Verdict::Loses, "");
        natural.lost = vec![object("a")];
        natural.steps[0].lost_objects = vec![object("a")];
        let text = written(vec![worst, natural]);
        let at = |wanted: &str| text.find(wanted).unwrap_or_else(|| panic!("no {wanted} in {text}"));
        assert!(
            at("demo: at worst it loses 2")
                < at("1. helm upgrade r c   [helm3, exit code 1]\n     loses Widget ×1")
        );
        assert!(at("1. loses 2: Widget ×2") < at("$ helm upgrade r c"), "{text}");
        assert!(at("$ helm upgrade r c") < at("1. loses Widget/n/a, Widget/n/b"), "{text}");
    }
}
