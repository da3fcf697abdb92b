//! The one table: a row per actor and way, a column per operation, the worst outcome in each cell.

use crate::upgrade::outcome::{Operation, Verdict};

use super::model::Report;

/// The table, ready to be laid out.
pub(super) struct Matrix {
    /// Column heads: names of operations.
    pub(super) operations: Vec<String>,
    /// Rows.
    pub(super) rows: Vec<Row>,
}

/// One actor on one way.
pub(super) struct Row {
    pub(super) actor: String,
    pub(super) way: String,
    /// One per column.
    pub(super) cells: Vec<Cell>,
}

/// The worst outcome of an operation.
#[derive(Clone)]
pub(super) struct Cell {
    /// `None`: not reached on this way.
    pub(super) verdict: Option<Verdict>,
    /// Short text, e.g. `loses 37`.
    pub(super) text: String,
    /// Whether another outcome ends better: the worst one has a condition.
    pub(super) conditional: bool,
}

impl Matrix {
    pub(super) fn of(report: &Report) -> Self {
        let operations = columns(report);
        let mut rows = Vec::new();
        for rehearsal in &report.rehearsals {
            for way in &rehearsal.ways {
                let cells = operations.iter().map(|name| cell(&way.operations, name)).collect();
                let actor = format!("{} {}", rehearsal.actor, rehearsal.version);
                rows.push(Row { actor, way: way.name.clone(), cells });
            }
        }
        Self { operations, rows }
    }
}

fn columns(report: &Report) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let ways = report.rehearsals.iter().flat_map(|rehearsal| &rehearsal.ways);
    for operation in ways.flat_map(|way| &way.operations) {
        if !names.contains(&operation.name) {
            names.push(operation.name.clone());
        }
    }
    names
}

fn cell(operations: &[Operation], name: &str) -> Cell {
    let outcomes = || operations.iter().filter(|operation| operation.name == name).flat_map(|o| &o.outcomes);
    let worst = outcomes().max_by_key(|outcome| (outcome.verdict, outcome.lost.len()));
    let Some(worst) = worst else {
        return Cell { verdict: None, text: "–".to_owned(), conditional: false };
    };
    Cell {
        verdict: Some(worst.verdict),
        text: match worst.verdict {
            Verdict::Keeps => "keeps all".to_owned(),
            Verdict::Refused => "refused".to_owned(),
            Verdict::Breaks => "breaks".to_owned(),
            Verdict::Loses => format!("loses {}", worst.lost.len()),
        },
        conditional: outcomes().any(|outcome| outcome.verdict != worst.verdict),
    }
}
