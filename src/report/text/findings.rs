//! Findings in full: each with its condition, objects, reasons and advice.

use std::io::{self, Write};

use anstyle::AnsiColor;

use super::describe;
use super::pen::Pen;
use crate::finding::{Finding, Severity};
use crate::report::Report;
use crate::report::ends::when;
use crate::report::escape::{line, terminal};
use crate::report::model::grouped;

pub(super) fn findings(report: &Report, pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    if report.causes().next().is_none() {
        return Ok(());
    }
    writeln!(out, "{}", pen.bold("Findings"))?;
    let causes = report.causes().map(|finding| ((finding.severity, finding.check), finding));
    for ((severity, check), findings) in grouped(causes) {
        let word = painted(severity, pen);
        if severity == Severity::Notes {
            notes(&word, check, &findings, pen, out)?;
        } else {
            one_group(&word, check, &findings, pen, out)?;
        }
    }
    let more = "`seatrial explain NAME` says what a check in [brackets] means and what to do; what backs each note is in `-o html=FILE`.";
    pen.say(out, 0, more)?;
    writeln!(out)
}

/// The word of a severity in its colour.
pub(super) fn painted(severity: Severity, pen: Pen) -> String {
    let (word, color) = match severity {
        Severity::Loses => ("loses", AnsiColor::Red),
        Severity::Breaks => ("breaks", AnsiColor::Yellow),
        Severity::Risks => ("risks", AnsiColor::Cyan),
        Severity::Notes => ("notes", AnsiColor::BrightBlack),
    };
    pen.paint(color, word)
}

/// Longest list of objects that is shown in full.
pub(super) const OBJECTS: usize = 8;

/// Most pieces of evidence that are shown for one finding.
pub(super) const REASONS: usize = 3;

/// Findings of one check: each with its reasons, advice that several share once.
fn one_group(
    word: &str,
    check: &str,
    findings: &[&Finding],
    pen: Pen,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut advised: Vec<&str> = Vec::new();
    for finding in findings {
        pen.say(out, 4, &format!("  {word} {} [{check}]", line(&finding.message)))?;
        if let Some(condition) = &finding.condition {
            pen.say(out, 6, &format!("    {}", line(&when(condition))))?;
        }
        unnamed(finding, out)?;
        for evidence in finding.evidence.iter().take(REASONS) {
            pen.say(out, 6, &format!("    because {}", line(&describe(evidence))))?;
        }
        if finding.evidence.len() > REASONS {
            writeln!(out, "    … and {} more", finding.evidence.len() - REASONS)?;
        }
        for advice in &finding.advice {
            if !advised.contains(&advice.as_str()) {
                for (n, part) in terminal(advice).lines().enumerate() {
                    let mark = if n == 0 { "→" } else { " " };
                    pen.say(out, 6, &format!("    {mark} {part}"))?;
                }
                advised.push(advice);
            }
        }
    }
    Ok(())
}

/// Objects that the message does not name already.
pub(super) fn unnamed(finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let objects: Vec<_> =
        finding.objects.iter().filter(|object| !finding.message.contains(&object.name)).collect();
    for object in objects.iter().take(OBJECTS) {
        writeln!(out, "    {}", line(&object.to_string()))?;
    }
    if objects.len() > OBJECTS {
        writeln!(out, "    … and {} more", objects.len() - OBJECTS)?;
    }
    Ok(())
}

/// Notes of one check in a line each; those that say the same of several objects in one.
fn notes(word: &str, check: &str, findings: &[&Finding], pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    let said = findings.iter().map(|finding| {
        let subject = finding.objects.first().map(|object| format!("{} {}", object.kind, object.name));
        let subject = subject.filter(|subject| finding.message.starts_with(subject.as_str()));
        let rest = subject.as_ref().and_then(|subject| finding.message.strip_prefix(subject.as_str()));
        let rest = rest.unwrap_or(&finding.message);
        ((rest, finding.condition.as_deref(), finding.advice.first()), subject)
    });
    for ((rest, condition, advice), subjects) in grouped(said) {
        let subjects: Vec<String> = subjects.into_iter().flatten().collect();
        let condition = condition.map(|condition| format!(", {}", when(condition))).unwrap_or_default();
        let advice = advice.map(|advice| format!(" → {advice}")).unwrap_or_default();
        let said = format!("{}{rest}{condition}{advice}", subjects.join(", "));
        pen.say(out, 4, &format!("  {word} {} [{check}]", line(&said)))?;
    }
    Ok(())
}
