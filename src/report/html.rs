//! One self-contained HTML page: no script, no network, readable on a phone and in the dark.

use std::fmt;
use std::io::{self, Write};

use askama::Template;

use super::counsel::{AFTERWARDS, Counsel, counsels};
use super::ends::{when, whenever};
use super::escape::{html_with_code, terminal};
use super::matrix::{Cell, Column, Matrix};
use super::model::{Losing, by_kind, who};
use super::steps::Step as Numbered;
use super::text::describe;
use super::{Report, Style};
use crate::finding::Severity;
use crate::upgrade::outcome::{Outcome, Rehearsal, Verdict, Way};
use crate::upgrade::trace::Step;

pub(super) fn write(report: &Report, _: Style, out: &mut dyn Write) -> io::Result<()> {
    let page = Page::of(report).render().map_err(io::Error::other)?;
    out.write_all(page.as_bytes())
}

/// HTML that may be written as it stands: foreign text is escaped in it, what stood between backticks is code.
struct Html(String);

impl Html {
    fn of(text: &str) -> Self {
        Self(html_with_code(text))
    }
}

impl fmt::Display for Html {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page {
    title: String,
    level: &'static str,
    word: &'static str,
    answer: Option<Html>,
    summary: Html,
    circumstances: Html,
    heads: Vec<String>,
    rows: Vec<RowView>,
    legend: Vec<(String, &'static str)>,
    ownership: Vec<OwnershipView>,
    counsels: Vec<CounselView>,
    losses: Vec<LossView>,
    upgrades: Vec<LossView>,
    findings: Vec<FindingView>,
    not_checked: Vec<Html>,
    generator: String,
}

struct RowView {
    label: String,
    cells: Vec<CellView>,
}

struct CellView {
    class: &'static str,
    head: String,
    text: String,
}

struct OwnershipView {
    name: String,
    before: String,
    after: String,
    class: &'static str,
}

struct LossView {
    label: String,
    class: &'static str,
    what: String,
    condition: String,
    objects: String,
    steps: Vec<StepView>,
}

struct CounselView {
    label: String,
    summary: Html,
    steps: Vec<NumberedView>,
    note: &'static str,
    afterwards: Vec<NumberedView>,
    ends: Vec<Html>,
    back: bool,
    back_command: String,
    back_note: Html,
}

struct NumberedView {
    first: usize,
    last: usize,
    command: String,
    note: String,
}

struct StepView {
    command: String,
    exit_code: i32,
    stderr: String,
    lines: Vec<String>,
}

struct FindingView {
    severity: &'static str,
    open: bool,
    message: Html,
    check: &'static str,
    condition: String,
    objects: Vec<String>,
    evidence: Vec<String>,
    advice: Vec<Html>,
}

impl Page {
    fn of(report: &Report) -> Self {
        let matrix = Matrix::of(&report.rehearsals);
        Self {
            title: terminal(&format!(
                "{} {} → {}",
                report.after.name, report.before.version, report.after.version
            )),
            level: report.verdict.level,
            word: word(report.verdict.level),
            answer: Some(&report.verdict.answer)
                .filter(|answer| !answer.is_empty())
                .map(|text| Html::of(text)),
            summary: Html::of(&report.verdict.summary),
            circumstances: Html::of(&format!(
                "release {} in {}, Kubernetes {}, engine {}, {}",
                report.release, report.namespace, report.kubernetes, report.engine, report.start
            )),
            rows: matrix.rows.iter().map(|row| row_view(row, &matrix.columns)).collect(),
            legend: matrix.legend(true).into_iter().map(|(word, means)| (word.to_owned(), means)).collect(),
            heads: matrix.columns.into_iter().map(|column| column.name).collect(),
            ownership: ownership(report),
            counsels: counsels(report).iter().map(counsel).collect(),
            losses: losses(report),
            upgrades: upgrades(report),
            findings: findings(report),
            not_checked: report.not_checked.iter().map(|line| Html::of(line)).collect(),
            generator: report.generator.clone(),
        }
    }
}

fn word(level: &str) -> &'static str {
    match level {
        "loses" => "Loses objects",
        "findings" => "Findings",
        "not-checked" => "Could not check",
        _ => "Safe",
    }
}

fn row_view(row: &super::matrix::Row, heads: &[Column]) -> RowView {
    let cell = |(cell, head): (&Cell, &Column)| CellView {
        class: class(cell.verdict),
        head: head.name.clone(),
        text: cell.shown(),
    };
    RowView {
        label: terminal(&format!("{}{}, {}", if row.recommended { "→ " } else { "" }, row.actor, row.way)),
        cells: row.cells.iter().zip(heads).map(cell).collect(),
    }
}

fn class(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        None => "none",
        Some(Verdict::Keeps) => "keeps",
        Some(Verdict::Refused) => "refused",
        Some(Verdict::Breaks) => "breaks",
        Some(Verdict::Loses) => "loses",
    }
}

fn ownership(report: &Report) -> Vec<OwnershipView> {
    let view = |row: &super::model::Ownership| OwnershipView {
        name: terminal(&row.object.name),
        before: shown(&row.before),
        after: if row.keep { format!("{}, keep", shown(&row.after)) } else { shown(&row.after) },
        class: match (row.before == row.after, row.keep) {
            (true, _) => "none",
            (false, true) => "keeps",
            (false, false) => "loses",
        },
    };
    report.ownership.iter().map(view).collect()
}

fn shown(place: &str) -> String {
    if place.is_empty() { "absent".to_owned() } else { terminal(place) }
}

fn losses(report: &Report) -> Vec<LossView> {
    let view = |losing: Losing<'_>| LossView {
        label: terminal(&losing.label()),
        class: "loses",
        what: terminal(&by_kind(&losing.outcome.lost)),
        condition: terminal(&whenever(losing.outcome)),
        objects: objects(losing.outcome),
        steps: losing.outcome.steps.iter().map(step).collect(),
    };
    report.losing_outcomes().into_iter().filter(Losing::is_worst).map(view).collect()
}

/// How the upgrade itself goes on every way, under every condition that makes a difference.
fn upgrades(report: &Report) -> Vec<LossView> {
    let ways = report.rehearsals.iter().flat_map(|r| r.ways.iter().map(move |way| (r, way)));
    let view = |(rehearsal, way): (&Rehearsal, &Way)| {
        let label = terminal(&format!("{}, {}", who(rehearsal, way), way.name));
        let outcomes = way.operations.first().map(|upgrade| upgrade.outcomes.as_slice()).unwrap_or_default();
        let one = |outcome: &Outcome| LossView {
            label: label.clone(),
            class: class(Some(outcome.verdict)),
            what: class(Some(outcome.verdict)).to_owned(),
            condition: terminal(&whenever(outcome)),
            objects: objects(outcome),
            steps: outcome.steps.iter().map(step).collect(),
        };
        outcomes.iter().map(one).collect::<Vec<_>>()
    };
    ways.flat_map(view).collect()
}

fn numbered(step: &Numbered) -> NumberedView {
    NumberedView {
        first: step.first,
        last: step.last,
        command: terminal(&step.command),
        note: terminal(&step.note),
    }
}

fn counsel(counsel: &Counsel) -> CounselView {
    let rehearsed = Some(&counsel.rehearsed).filter(|rehearsed| !rehearsed.is_empty());
    let back = counsel.back.as_ref();
    CounselView {
        label: terminal(&counsel.label),
        summary: Html::of(&counsel.summary),
        steps: counsel.steps.iter().map(numbered).collect(),
        note: AFTERWARDS,
        afterwards: counsel.afterwards.iter().map(numbered).collect(),
        ends: rehearsed.into_iter().chain(&counsel.ends).map(|end| Html::of(end)).collect(),
        back: back.is_some(),
        back_command: terminal(back.map(|back| back.command.as_str()).unwrap_or_default()),
        back_note: Html::of(back.map(|back| back.note.as_str()).unwrap_or_default()),
    }
}

fn objects(outcome: &Outcome) -> String {
    let names: Vec<String> = outcome.lost.iter().map(ToString::to_string).collect();
    terminal(&names.join(", "))
}

fn step(step: &Step) -> StepView {
    // Reads change nothing and would drown the writes.
    let writes = step.exchanges.iter().filter(|exchange| !exchange.request.starts_with("GET"));
    StepView {
        command: terminal(&step.command),
        exit_code: step.exit_code,
        stderr: terminal(step.stderr.trim()),
        lines: writes
            .map(|e| terminal(&format!("{:.1} s {}: {} → {} {}", e.at, e.by, e.request, e.status, e.message)))
            .chain(step.notes.iter().map(|note| terminal(note)))
            .collect(),
    }
}

fn findings(report: &Report) -> Vec<FindingView> {
    let view = |finding: &crate::finding::Finding| FindingView {
        severity: severity(finding.severity),
        open: finding.severity >= Severity::Breaks,
        message: Html::of(&finding.message),
        check: finding.check,
        condition: finding
            .condition
            .as_deref()
            .map(|condition| terminal(&when(condition)))
            .unwrap_or_default(),
        objects: finding.objects.iter().map(|object| terminal(&object.to_string())).collect(),
        evidence: finding.evidence.iter().map(|evidence| terminal(&describe(evidence))).collect(),
        advice: finding.advice.iter().map(|advice| Html::of(advice)).collect(),
    };
    report.causes().map(view).collect()
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Loses => "loses",
        Severity::Breaks => "breaks",
        Severity::Risks => "risks",
        Severity::Notes => "notes",
    }
}
