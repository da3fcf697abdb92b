//! Text for a terminal: verdict first, then the table, then what is lost and why, then findings.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style as Ansi};

use super::changes::short;
use super::counsel::{counsels, when};
use super::escape::{line, terminal};
use super::matrix::{Cell, Matrix};
use super::model::by_kind;
use super::{Report, Style};
use crate::finding::{Evidence, Finding, Severity};
use crate::upgrade::outcome::Verdict;

pub(super) fn write(report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let pen = Pen { colored: style.colored };
    head(report, pen, out)?;
    table(report, pen, out)?;
    counsel(report, pen, out)?;
    losses(report, pen, out)?;
    findings(report, pen, out)?;
    rest(report, pen, out)
}

#[derive(Clone, Copy)]
struct Pen {
    colored: bool,
}

impl Pen {
    fn paint(self, color: AnsiColor, text: &str) -> String {
        if !self.colored {
            return text.to_owned();
        }
        let style = Ansi::new().bold().fg_color(Some(color.into()));
        format!("{style}{text}{style:#}")
    }

    fn bold(self, text: &str) -> String {
        if self.colored { format!("{0}{text}{0:#}", Ansi::new().bold()) } else { text.to_owned() }
    }
}

fn head(report: &Report, pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    let (word, color) = match report.verdict.level {
        "loses" => ("LOSES OBJECTS", AnsiColor::Red),
        "findings" => ("FINDINGS", AnsiColor::Yellow),
        "not-checked" => ("COULD NOT CHECK", AnsiColor::Yellow),
        _ => ("SAFE", AnsiColor::Green),
    };
    let charts = format!("{} {} → {}", report.after.name, report.before.version, report.after.version);
    writeln!(out, "{}  {}", pen.paint(color, word), line(&charts))?;
    writeln!(out, "{}", line(&report.verdict.summary))?;
    writeln!(
        out,
        "release {} in {}, Kubernetes {}, engine {}, {}\n",
        line(&report.release),
        line(&report.namespace),
        line(&report.kubernetes),
        report.engine,
        line(&report.start)
    )
}

fn table(report: &Report, pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    let matrix = Matrix::of(report);
    let label = |actor: &str, way: &str| line(&format!("{actor}, {way}"));
    let first = matrix.rows.iter().map(|row| label(&row.actor, &row.way).chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..matrix.operations.len()).map(|column| width(&matrix, column)).collect();
    write!(out, "{:first$}", "")?;
    for (name, width) in matrix.operations.iter().zip(&widths) {
        write!(out, "  {}", pen.bold(&format!("{name:width$}")))?;
    }
    writeln!(out)?;
    for row in &matrix.rows {
        write!(out, "{:first$}", label(&row.actor, &row.way))?;
        for (cell, width) in row.cells.iter().zip(&widths) {
            write!(out, "  {}", pen.paint(color(cell.verdict), &format!("{:width$}", shown(cell))))?;
        }
        writeln!(out)?;
    }
    if matrix.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.conditional) {
        writeln!(out, "* the worst outcome; under other conditions it ends better")?;
    }
    writeln!(out)
}

fn shown(cell: &Cell) -> String {
    if cell.conditional { format!("{}*", cell.text) } else { cell.text.clone() }
}

fn width(matrix: &Matrix, column: usize) -> usize {
    let cells =
        matrix.rows.iter().filter_map(|row| row.cells.get(column)).map(|cell| shown(cell).chars().count());
    cells.chain([matrix.operations[column].chars().count()]).max().unwrap_or(0)
}

fn color(verdict: Option<Verdict>) -> AnsiColor {
    match verdict {
        None => AnsiColor::BrightBlack,
        Some(Verdict::Keeps) => AnsiColor::Green,
        Some(Verdict::Refused | Verdict::Breaks) => AnsiColor::Yellow,
        Some(Verdict::Loses) => AnsiColor::Red,
    }
}

fn losses(report: &Report, pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    let losing = report.losing_outcomes();
    if losing.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", pen.bold("What is lost"))?;
    for losing in losing {
        let outcome = losing.outcome;
        writeln!(out, "  {}: {}", line(&losing.label()), line(&by_kind(&outcome.lost)))?;
        if !outcome.condition.is_empty() {
            writeln!(out, "    {}", line(&when(&outcome.condition)))?;
        }
        for also in &outcome.also {
            writeln!(out, "    also {}", line(&when(also)))?;
        }
        if let Some(step) = outcome.steps.last() {
            writeln!(out, "    $ {}   [exit code {}]", line(&step.command), step.exit_code)?;
        }
    }
    writeln!(out)
}

fn counsel(report: &Report, pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    let counsels = counsels(report);
    if counsels.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", pen.bold("What to do"))?;
    for counsel in &counsels {
        writeln!(out, "  {}: {}", line(&counsel.label), line(&counsel.summary))?;
        for (n, command) in counsel.commands.iter().enumerate() {
            writeln!(out, "    {}. {}", n + 1, line(command))?;
        }
        for end in &counsel.ends {
            writeln!(out, "       {}", line(end))?;
        }
    }
    writeln!(out)
}

fn findings(report: &Report, pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    if report.causes().next().is_none() {
        return Ok(());
    }
    writeln!(out, "{}", pen.bold("Findings"))?;
    report.causes().try_for_each(|finding| one_finding(finding, pen, out))?;
    writeln!(out, "`seatrial explain NAME` says what a check in [brackets] means and what to do.\n")
}

/// Longest list of objects that is shown in full.
const OBJECTS: usize = 8;

fn one_finding(finding: &Finding, pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    let (word, color) = match finding.severity {
        Severity::Loses => ("loses", AnsiColor::Red),
        Severity::Breaks => ("breaks", AnsiColor::Yellow),
        Severity::Risks => ("risks", AnsiColor::Cyan),
        Severity::Notes => ("notes", AnsiColor::BrightBlack),
    };
    writeln!(out, "  {} {}  [{}]", pen.paint(color, word), line(&finding.message), finding.check)?;
    if let Some(condition) = &finding.condition {
        writeln!(out, "    {}", line(&when(condition)))?;
    }
    for object in finding.objects.iter().take(OBJECTS) {
        writeln!(out, "    {}", line(&object.to_string()))?;
    }
    if finding.objects.len() > OBJECTS {
        writeln!(out, "    … and {} more", finding.objects.len() - OBJECTS)?;
    }
    for evidence in finding.evidence.iter().take(OBJECTS) {
        writeln!(out, "    because {}", line(&describe(evidence)))?;
    }
    for advice in &finding.advice {
        writeln!(out, "    → {}", terminal(advice).replace('\n', "\n      "))?;
    }
    Ok(())
}

/// One line on what backs a finding.
pub(super) fn describe(evidence: &Evidence) -> String {
    match evidence {
        Evidence::Answer { request, status, message } => format!("{request} → {status} {message}"),
        Evidence::Change { path, before, after } => {
            format!("{path}: {} → {}", short(before.as_ref()), short(after.as_ref()))
        }
        Evidence::Render(location) if location.line > 0 => format!("{}:{}", location.file, location.line),
        Evidence::Render(location) => location.file.clone(),
        Evidence::State { object, detail } => format!("{object}: {detail}"),
        Evidence::Figure { what, value, limit, unit } => format!("{what}: {value} of {limit} {unit}"),
    }
}

fn rest(report: &Report, pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    if !report.not_checked.is_empty() {
        writeln!(out, "{}", pen.bold("Could not check"))?;
    }
    report.not_checked.iter().try_for_each(|gap| writeln!(out, "  {}", line(gap)))
}
