//! Text for a terminal: verdict first, then the table, then what is lost and why, then findings.

use std::io::{self, Write};

use anstyle::AnsiColor;

use super::changes::short;
use super::counsel::{AFTERWARDS, Counsel, counsels};
use super::ends::{Back, whenever};
use super::escape::line;
use super::matrix::{Cell, Matrix, Row, column};
use super::model::{Losing, by_kind, grouped};
use super::steps::Step;
use super::wrap::wrapped;
use super::{Report, Style};
use crate::finding::Evidence;
use crate::upgrade::outcome::{CUT_OFF, Rehearsal, Verdict};

mod alike;
mod brief;
mod findings;
mod pen;

use pen::Pen;

pub(super) fn write(report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let pen = Pen { colored: style.colored, width: style.width };
    head(report, pen, out)?;
    table_with(&Matrix::of(&report.rehearsals), true, style, pen, out)?;
    if !style.full {
        return brief::write(report, pen, out);
    }
    counsel(report, pen, out)?;
    ownership(report, pen, out)?;
    losses(report, pen, out)?;
    findings::findings(report, pen, out)?;
    rest(report, pen, out)
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
    if !report.verdict.answer.is_empty() {
        pen.say(out, 0, &pen.bold(&line(&report.verdict.answer)))?;
    }
    pen.say(out, 0, &line(&report.verdict.summary))?;
    let circumstances = format!(
        "release {} in {}, Kubernetes {}, engine {}, {}",
        report.release, report.namespace, report.kubernetes, report.engine, report.start
    );
    pen.say(out, 0, &line(&circumstances))?;
    writeln!(out)
}

/// The table of what was rehearsed, where no way is told afterwards.
pub(super) fn table(rehearsals: &[Rehearsal], style: Style, out: &mut dyn Write) -> io::Result<()> {
    let pen = Pen { colored: style.colored, width: style.width };
    table_with(&Matrix::of(rehearsals), false, style, pen, out)
}

fn table_with(matrix: &Matrix, told: bool, style: Style, pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    let labels = matrix.rows.iter().flat_map(|row| [row.actor.chars().count(), row.way.chars().count() + 2]);
    let mut widths: Vec<usize> = (0..matrix.columns.len()).map(|column| width(matrix, column)).collect();
    let first = first_column(labels.max().unwrap_or(0), &widths, pen);
    // Nothing stands behind the last column.
    if let Some(last) = widths.last_mut() {
        *last = 0;
    }
    for (actors, rows) in fared(matrix, style.full) {
        heading(&actors.join(", "), first, matrix, &widths, pen, out)?;
        rows.into_iter().try_for_each(|row| table_row(row, first, &widths, pen, out))?;
    }
    legend(matrix, told, pen, out)
}

/// Actors with their rows; in brief, those that fare alike on every way together.
fn fared(matrix: &Matrix, full: bool) -> Vec<(Vec<&str>, Vec<&Row>)> {
    let by_actor = grouped(matrix.rows.iter().map(|row| (row.actor.as_str(), row)));
    if full {
        return by_actor.into_iter().map(|(actor, rows)| (vec![actor], rows)).collect();
    }
    let shown = |row: &Row| {
        let cells: Vec<String> = row.cells.iter().map(Cell::shown).collect();
        (row.way.clone(), row.recommended, cells)
    };
    let alike = grouped(by_actor.into_iter().map(|(actor, rows)| {
        let seen: Vec<_> = rows.iter().map(|row| shown(row)).collect();
        (seen, (actor, rows))
    }));
    let alike = alike.into_iter().map(|(_, of)| of.into_iter().unzip());
    alike
        .map(|(actors, rows): (Vec<_>, Vec<Vec<_>>)| (actors, rows.into_iter().next().unwrap_or_default()))
        .collect()
}

fn table_row(row: &Row, first: usize, widths: &[usize], pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    let label = line(&format!("{} {}", if row.recommended { "→" } else { " " }, row.way));
    let label = wrapped(&label, HANG, first);
    let (begin, more) = label.split_once('\n').unwrap_or((&label, ""));
    write!(out, "{begin:first$}")?;
    for (cell, width) in row.cells.iter().zip(widths) {
        write!(out, "  {}", pen.paint(color(cell.verdict), &format!("{:width$}", cell.shown())))?;
    }
    writeln!(out)?;
    more.lines().try_for_each(|line| writeln!(out, "{line}"))
}

/// Blanks before what follows of a way's name.
const HANG: usize = 4;

/// Characters of the least that is left for the names of ways.
const NAMES: usize = 24;

/// How wide the column of ways is: what its names take, unless the table would not fit into the terminal.
fn first_column(names: usize, widths: &[usize], pen: Pen) -> usize {
    let cells: usize = widths.iter().map(|width| width + 2).sum();
    if pen.width == 0 { names } else { names.min(pen.width.saturating_sub(cells).max(NAMES)) }
}

/// The line above the ways of an actor: the first has the heads of the columns too.
fn heading(
    actor: &str,
    first: usize,
    matrix: &Matrix,
    widths: &[usize],
    pen: Pen,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut actor = line(actor);
    if actor.chars().count() > first {
        writeln!(out, "{}", pen.bold(&std::mem::take(&mut actor)))?;
    }
    write!(out, "{}", pen.bold(&format!("{actor:first$}")))?;
    for (column, width) in matrix.columns.iter().zip(widths) {
        write!(out, "  {}", pen.bold(&format!("{:width$}", column.name)))?;
    }
    writeln!(out)
}

/// What the table's words mean, a few to a line.
fn legend(matrix: &Matrix, told: bool, pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    let width = if pen.width == 0 { LINE } else { pen.width };
    let mut parts = String::new();
    for (word, means) in matrix.legend(told) {
        let part = format!("{word}: {means}");
        if !parts.is_empty() && parts.chars().count() + part.chars().count() + 2 > width {
            pen.say(out, 2, &parts)?;
            parts.clear();
        }
        parts.push_str(if parts.is_empty() { "" } else { "; " });
        parts.push_str(&part);
    }
    pen.say(out, 2, &parts)?;
    writeln!(out)
}

/// Where a line of the legend ends if nothing else says so.
const LINE: usize = 118;

fn width(matrix: &Matrix, column: usize) -> usize {
    let cells =
        matrix.rows.iter().filter_map(|row| row.cells.get(column)).map(|cell| cell.shown().chars().count());
    cells.chain([matrix.columns[column].name.chars().count()]).max().unwrap_or(0)
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
    for (what, ways) in grouped(losing.iter().map(|losing| (by_kind(&losing.outcome.lost), *losing))) {
        pen.say(out, 4, &format!("  {what}"))?;
        let by_way = grouped(ways.iter().map(|losing| (losing.way_label(), operation(losing))));
        let alike = grouped(by_way.into_iter().map(|(way, operations)| (operations.join("; "), way)));
        for (operations, ways) in alike {
            pen.say(out, 6, &format!("    {}: {}", line(&ways.join(" / ")), line(&operations)))?;
        }
    }
    let cut_off = |losing: &&Losing<'_>| losing.outcome.conditions().any(|when| when.contains("--timeout"));
    if losing.iter().any(|losing| cut_off(&losing)) {
        pen.say(out, 4, &format!("  {CUT_OFF}"))?;
    }
    writeln!(out, "  Every command with its requests and answers is in `-o html=FILE` and `-o json=FILE`.\n")
}

/// An operation that loses something, as the table calls it, and when.
fn operation(losing: &Losing<'_>) -> String {
    let name = column(losing.way, losing.operation);
    match whenever(losing.outcome).as_str() {
        "" => name,
        when => format!("{name} ({when})"),
    }
}

fn counsel(report: &Report, pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    let counsels = counsels(report);
    if counsels.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", pen.bold("What to do"))?;
    for counsel in &counsels {
        pen.say(out, 4, &format!("  {}: {}", line(&counsel.label), line(&counsel.summary)))?;
        procedure(counsel, &counsel.ends, pen, out)?;
    }
    writeln!(out)
}

/// The commands of a way, how it can end, and how to go back.
fn procedure(counsel: &Counsel, ends: &[String], pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    counsel.steps.iter().try_for_each(|step| numbered(step, out))?;
    if !counsel.afterwards.is_empty() {
        writeln!(out, "       {AFTERWARDS}")?;
    }
    counsel.afterwards.iter().try_for_each(|step| numbered(step, out))?;
    let rehearsed = Some(&counsel.rehearsed).filter(|rehearsed| !rehearsed.is_empty());
    for end in rehearsed.into_iter().chain(ends) {
        pen.say(out, 9, &format!("       {}", line(end)))?;
    }
    counsel.back.as_ref().map_or(Ok(()), |back| way_back(back, pen, out))
}

/// A step with its number; commands are for copying: never broken.
fn numbered(step: &Step, out: &mut dyn Write) -> io::Result<()> {
    let number = step.number();
    match (step.command.as_str(), step.note.as_str()) {
        ("", note) => writeln!(out, "    {number} {}", line(note)),
        (command, "") => writeln!(out, "    {number} {}", line(command)),
        (command, note) => writeln!(out, "    {number} {}\n       ({note})", line(command)),
    }
}

fn way_back(back: &Back, pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    if back.command.is_empty() {
        return pen.say(out, 9, &format!("       to go back: {}", line(&back.note)));
    }
    writeln!(out, "       to go back: {}", line(&back.command))?;
    if back.note.is_empty() { Ok(()) } else { pen.say(out, 9, &format!("         ({})", line(&back.note))) }
}

/// Where definitions and default runtimes live before and after, those that go the same way in one line.
fn ownership(report: &Report, pen: Pen, out: &mut dyn Write) -> io::Result<()> {
    let moved = report.ownership.iter().filter(|row| row.before != row.after);
    // The file within the release is in HTML and JSON.
    let moves =
        grouped(moved.map(|row| ((&row.object.kind, owner(&row.before), owner(&row.after), row.keep), row)));
    if moves.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", pen.bold("Who owns what"))?;
    for ((kind, before, after, keep), rows) in moves {
        let names: Vec<&str> = rows.iter().map(|row| row.object.name.as_str()).collect();
        let keep = if keep { ", keep" } else { "" };
        let text = format!("{kind} {}: {before} → {after}{keep}", names.join(", "));
        pen.say(out, 4, &format!("  {}", line(&text)))?;
    }
    writeln!(out)
}

/// A place without its file.
fn owner(place: &str) -> &str {
    match place.split_once(", ") {
        Some((owner, _)) => owner,
        None if place.is_empty() => "absent",
        None => place,
    }
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
    report.not_checked.iter().try_for_each(|gap| pen.say(out, 4, &format!("  {}", line(gap))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_fits_into_the_terminal_as_long_as_names_can_be_read() {
        let first = |width| first_column(42, &[8, 8, 5], Pen { colored: false, width });
        assert_eq!([first(0), first(120), first(60), first(30)], [42, 42, 33, NAMES]);
    }
}
