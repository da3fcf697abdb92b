//! The one table: a row per actor and way, a column per operation, the worst outcome in each cell.

use crate::upgrade::outcome::{Operation, Verdict, Way};

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
                let cells = operations.iter().map(|column| cell(way, column)).collect();
                let actor = format!("{} {}", rehearsal.actor, rehearsal.version);
                let made_elsewhere = !way.made_by.is_empty() && way.made_by != rehearsal.actor;
                let born =
                    if made_elsewhere { format!(" (release of {})", way.made_by) } else { String::new() };
                rows.push(Row { actor, way: format!("{}{born}", way.name), cells });
            }
        }
        Self { operations, rows }
    }
}

fn columns(report: &Report) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let ways = || report.rehearsals.iter().flat_map(|rehearsal| &rehearsal.ways);
    for name in ORDER {
        names.extend(
            ways()
                .any(|way| way.operations.iter().any(|o| column(way, o) == *name))
                .then(|| (*name).to_owned()),
        );
    }
    for way in ways() {
        for operation in &way.operations {
            let name = column(way, operation);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// Columns that are known, in the order a person thinks of them.
const ORDER: &[&str] = &[
    "upgrade",
    "self-undoing upgrade",
    "upgrade again",
    "rollback",
    "forced rollback",
    "uninstall",
    "crds off",
];

/// The column of an operation: what it does, and how its flags change that.
fn column(way: &Way, operation: &Operation) -> String {
    let beyond = operation.flags.iter().filter(|flag| !way.flags.contains(flag)).map(String::as_str);
    let beyond: Vec<&str> = beyond.collect();
    let has = |wanted: &[&str]| beyond.iter().any(|flag| wanted.iter().any(|word| flag.starts_with(word)));
    match operation.name.as_str() {
        "upgrade" if has(&["--atomic", "--rollback-on-failure"]) => "self-undoing upgrade".to_owned(),
        "rollback" if has(&["--force", "--server-side"]) => "forced rollback".to_owned(),
        name => name.to_owned(),
    }
}

fn cell(way: &Way, name: &str) -> Cell {
    let operations = || way.operations.iter().filter(|operation| column(way, operation) == name);
    let outcomes = || operations().flat_map(|operation| &operation.outcomes);
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
