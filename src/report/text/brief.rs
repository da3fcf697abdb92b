//! The report for one sitting: what decides stays in full, everything else is a line each.

use std::io::{self, Write};

use super::alike::{Told, cut, masked, told, word};
use super::findings::{OBJECTS, REASONS, painted, unnamed};
use super::pen::Pen;
use super::{describe, ownership, procedure, way_back};
use crate::finding::{Evidence, Finding, Severity};
use crate::report::Report;
use crate::report::counsel::{Counsel, counsels};
use crate::report::ends::{Back, when};
use crate::report::escape::{line, terminal};
use crate::report::matrix::column;
use crate::report::model::{Losing, by_kind, distinct, grouped};

/// What stands below the table.
pub(super) fn write(report: &Report, pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    counsel(report, pen, out)?;
    ownership(report, pen, out)?;
    losses(report, pen, out)?;
    findings(report, pen, out)?;
    not_checked(report, pen, out)?;
    closing(report, pen, out)
}

fn counsel(report: &Report, pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    let counsels = counsels(report);
    if counsels.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", pen.bold("What to do"))?;
    let first = |counsel: &Counsel| counsels.iter().find(|told| told.summary == counsel.summary);
    for told in
        counsels.iter().filter(|counsel| first(counsel).is_some_and(|told| std::ptr::eq(told, *counsel)))
    {
        pen.say(out, 4, &format!("  {}: {}", line(&told.label), line(&told.summary)))?;
        let earlier = counsels.iter().take_while(|counsel| !std::ptr::eq(*counsel, told));
        procedure(told, &untold(told, earlier), pen, out)?;
        let others = counsels.iter().filter(|counsel| counsel.summary == told.summary).skip(1);
        as_told(told, others, pen, out)?;
    }
    writeln!(out)
}

/// How a way's operations can end; those that end as on the way of somebody before are named only.
fn untold<'c>(counsel: &Counsel, earlier: impl Iterator<Item = &'c Counsel>) -> Vec<String> {
    let Some(first) = earlier.into_iter().next() else { return counsel.in_brief.clone() };
    let (same, mut lines): (Vec<String>, Vec<String>) =
        counsel.in_brief.iter().cloned().partition(|line| first.in_brief.contains(line));
    let names: Vec<&str> = same.iter().filter_map(|line| line.split(": ").next()).collect();
    if !names.is_empty() {
        lines.push(format!("{}: as for {}", names.join(", "), first.who));
    }
    lines
}

/// Who else should do what was told, and what is different there.
fn as_told<'c>(
    told: &Counsel,
    others: impl Iterator<Item = &'c Counsel>,
    pen: Pen,
    out: &mut dyn Write,
) -> io::Result<()> {
    let different = others.map(|counsel| {
        let mut text = Vec::new();
        other_than(counsel, told, pen, &mut text).map(|()| (text, counsel.who.as_str()))
    });
    for (text, who) in grouped(different.collect::<io::Result<Vec<_>>>()?.into_iter()) {
        pen.say(out, 4, &format!("  {}: as for {}", line(&who.join(" and ")), line(&told.who)))?;
        out.write_all(&text)?;
    }
    Ok(())
}

/// Only what is not as it was told to somebody else.
fn other_than(counsel: &Counsel, told: &Counsel, pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    let same = format!("as for {}", told.who);
    let steps = counsel.steps.iter().chain(&counsel.afterwards);
    for step in steps.filter(|step| !step.command.is_empty() || step.note != same) {
        super::numbered(step, out)?;
    }
    for end in counsel.in_brief.iter().filter(|end| !told.in_brief.contains(end)) {
        pen.say(out, 9, &format!("       but {}", line(end)))?;
    }
    let Some(back) = counsel.back.as_ref().filter(|back| Some(*back) != told.back.as_ref()) else {
        return Ok(());
    };
    let known = told.back.as_ref().is_some_and(|told| told.note == back.note && !back.command.is_empty());
    let note = if known { String::new() } else { back.note.clone() };
    way_back(&Back { note, ..back.clone() }, pen, out)
}

/// What the numbers of the table stand for.
fn losses(report: &Report, pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    let losing = report.losing_outcomes();
    if losing.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", pen.bold("What is lost"))?;
    let worst = losing.iter().filter(|losing| losing.is_worst());
    let of = |losing: &Losing<'_>| (losing.outcome.lost.len(), by_kind(&losing.outcome.lost));
    for ((n, kinds), losing) in grouped(worst.map(|losing| (of(losing), losing))) {
        let columns = distinct(losing.iter().map(|losing| column(losing.way, losing.operation)));
        pen.say(out, 4, &format!("  loses {n} ({}): {}", line(&columns.join(", ")), line(&kinds)))?;
    }
    writeln!(out)
}

fn findings(report: &Report, pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    if report.causes().next().is_none() {
        return Ok(());
    }
    writeln!(out, "{}", pen.bold("Findings"))?;
    let causes = report.causes().map(|finding| ((finding.severity, finding.check), finding));
    let mut below = false;
    for ((severity, check), findings) in grouped(causes) {
        if severity >= report.verdict.gate {
            in_full(severity, check, &findings, pen, out)?;
            continue;
        }
        if !below {
            let gate = painted(report.verdict.gate, pen);
            writeln!(out, "  Below the gate ({gate}), a line each:")?;
        }
        below = true;
        in_a_line(severity, check, &findings, pen, out)?;
    }
    writeln!(out)
}

/// Characters of a message that is told in full: what errors say goes on and on.
const MESSAGE: usize = 500;

/// Findings of one check at or above the gate. Reasons and advice that differ from earlier ones in names only, and
/// reasons that say what the message says, are not told again.
fn in_full(
    severity: Severity,
    check: &str,
    findings: &[&Finding],
    pen: Pen,
    out: &mut dyn Write,
) -> io::Result<()> {
    let word = painted(severity, pen);
    let (mut advised, mut reasons) = (Vec::new(), Vec::new());
    let mut condition = None;
    for Told { message, findings } in told(findings, MESSAGE) {
        pen.say(out, 4, &format!("  {word} {} [{check}]", line(&message)))?;
        let Some(first) = findings.first() else { continue };
        if first.condition.is_some() && first.condition != condition {
            let holds = first.condition.as_deref().map(when).unwrap_or_default();
            pen.say(out, 6, &format!("    {}", line(&holds)))?;
        }
        condition.clone_from(&first.condition);
        unnamed(first, out)?;
        because(first, &mut reasons, pen, out)?;
        advice(&findings, &mut advised, pen, out)?;
    }
    Ok(())
}

fn because(finding: &Finding, told: &mut Vec<String>, pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    let says = |evidence: &&Evidence| !repeats(&finding.message, evidence);
    let new: Vec<String> = finding.evidence.iter().filter(says).map(describe).collect();
    let new: Vec<&String> = new.iter().filter(|reason| !told.contains(&masked(finding, reason))).collect();
    for reason in new.iter().take(REASONS) {
        pen.say(out, 6, &format!("    because {}", line(&cut(reason, REASON))))?;
    }
    if new.len() > REASONS {
        writeln!(out, "    … and {} more", new.len() - REASONS)?;
    }
    told.extend(new.into_iter().map(|reason| masked(finding, reason)));
    Ok(())
}

/// Characters of a reason.
const REASON: usize = 200;

/// Characters at the beginning of a reason by which it is known again.
const BEGINNING: usize = 60;

/// Whether a message says itself how a reason begins.
fn repeats(message: &str, evidence: &Evidence) -> bool {
    let Evidence::State { detail, .. } = evidence else { return false };
    let beginning: String = detail.chars().take(BEGINNING).collect();
    !beginning.is_empty() && message.contains(&beginning)
}

fn advice(findings: &[&Finding], told: &mut Vec<String>, pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    for finding in findings {
        for advice in &finding.advice {
            let known = [advice.clone(), masked(finding, advice)];
            if known.iter().any(|known| told.contains(known)) {
                continue;
            }
            told.extend(known);
            for (n, part) in terminal(advice).lines().enumerate() {
                let mark = if n == 0 { "→" } else { " " };
                pen.say(out, 6, &format!("    {mark} {part}"))?;
            }
        }
    }
    Ok(())
}

/// Characters of a message in one line, besides names.
const GIST: usize = 120;

/// Findings of one check below the gate: one line for all that say the same.
fn in_a_line(
    severity: Severity,
    check: &str,
    findings: &[&Finding],
    pen: Pen,
    out: &mut dyn Write,
) -> io::Result<()> {
    let word = painted(severity, pen);
    // A note has no more to it than its line, and may be all that is said of a change.
    let longest = if severity == Severity::Notes { usize::MAX } else { GIST };
    for Told { message, findings } in told(findings, longest) {
        let condition = findings.first().and_then(|finding| finding.condition.as_deref());
        let condition = condition.map(|condition| format!(", {}", when(condition))).unwrap_or_default();
        let others = others(&findings);
        pen.say(out, 4, &format!("  {word} {}{}{others} [{check}]", line(&message), line(&condition)))?;
    }
    Ok(())
}

/// Objects of findings that their messages don't name: ` (Widget//a, Widget//b)`.
fn others(findings: &[&Finding]) -> String {
    let unnamed = findings.iter().flat_map(|finding| {
        let named = |name: &str| word(&finding.message, name).is_some();
        finding.objects.iter().filter(move |object| !named(&object.name))
    });
    let mut names = distinct(unnamed.map(|object| line(&object.to_string())));
    let more = names.len().saturating_sub(OBJECTS);
    names.truncate(OBJECTS);
    if more > 0 {
        names.push(format!("and {more} more"));
    }
    if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
}

fn not_checked(report: &Report, pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    if report.not_checked.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", pen.bold("Could not check"))?;
    // Most begin with an object.
    let split = report.not_checked.iter().map(|gap| match gap.split_once(' ') {
        Some((object, said)) if object.contains('/') => (said, object),
        _ => (gap.as_str(), ""),
    });
    for (said, objects) in grouped(split) {
        let objects = objects.join(", ");
        let gap = if objects.is_empty() { line(said) } else { line(&format!("{objects} {said}")) };
        pen.say(out, 4, &format!("  {gap}"))?;
    }
    writeln!(out)
}

/// What was left out, and how to see it.
fn closing(report: &Report, pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    let any = |there: bool, what: &'static str| Some(what).filter(|_| there);
    let below = report.causes().any(|finding| finding.severity < report.verdict.gate);
    let left_out = [
        any(!counsels(report).is_empty(), "what errors say"),
        any(!report.losing_outcomes().is_empty(), "when and on which way each loss comes about"),
        any(below, "evidence and advice of findings below the gate"),
        any(report.causes().next().is_some(), "advice that differs in names only"),
    ];
    let left_out: Vec<&str> = left_out.into_iter().flatten().collect();
    if !left_out.is_empty() {
        let left_out = left_out.join("; ");
        pen.say(out, 0, &format!("This is the report in brief. `--full` also tells {left_out}."))?;
    }
    let more = "`seatrial explain NAME` says what a check in [brackets] means; `-o html=FILE` and `-o json=FILE` have every request and answer.";
    pen.say(out, 0, more)
}
