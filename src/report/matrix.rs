//! The one table: a row per actor and way, a column per operation, the worst outcome in each cell.

use crate::upgrade::outcome::{DROP, Operation, REUSING, Rehearsal, Verdict, Way};

/// The table, ready to be laid out.
pub(super) struct Matrix {
    /// Columns: what is done.
    pub(super) columns: Vec<Column>,
    /// Rows.
    pub(super) rows: Vec<Row>,
}

/// One thing that is done.
#[derive(Clone, PartialEq)]
pub(super) struct Column {
    /// Its head.
    pub(super) name: String,
    /// What the head stands for; empty where it is the word on the command line.
    pub(super) means: &'static str,
}

/// One actor on one way.
pub(super) struct Row {
    /// The actor, its version, and who made the release where that was another.
    pub(super) actor: String,
    pub(super) way: String,
    /// Whether it is the way to take.
    pub(super) recommended: bool,
    /// Whether it takes more than the plain command.
    pub(super) has_steps: bool,
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

impl Cell {
    /// The text, with a mark where other outcomes end better.
    pub(super) fn shown(&self) -> String {
        if self.conditional { format!("{}*", self.text) } else { self.text.clone() }
    }
}

impl Matrix {
    pub(super) fn of(rehearsals: &[Rehearsal]) -> Self {
        let columns = columns(rehearsals);
        let mut rows = Vec::new();
        for rehearsal in rehearsals {
            let best: Vec<&Way> =
                rehearsal.makers().into_iter().filter_map(|maker| rehearsal.best(maker)).collect();
            for way in &rehearsal.ways {
                let cells = columns.iter().map(|column| cell(way, &column.name)).collect();
                let made_elsewhere = !way.made_by.is_empty() && way.made_by != rehearsal.actor;
                let born = if made_elsewhere { format!("{BORN}{})", way.made_by) } else { String::new() };
                let actor = format!("{} {}{born}", rehearsal.actor, rehearsal.version);
                let recommended = best.iter().any(|best| std::ptr::eq(*best, way));
                let has_steps =
                    !way.prepare.is_empty() || !way.flags.is_empty() || !way.afterwards.is_empty();
                rows.push(Row { actor, way: way.name.clone(), recommended, has_steps, cells });
            }
        }
        Self { columns, rows }
    }

    /// What the words of this table mean, without those that it does not use. `told` is whether the commands of the way to
    /// take follow.
    pub(super) fn legend(&self, told: bool) -> Vec<(&str, &'static str)> {
        let cells = || self.rows.iter().flat_map(|row| &row.cells);
        let words = WORDS.iter().filter(|(verdict, ..)| cells().any(|cell| cell.verdict == *verdict));
        let mut legend: Vec<(&str, &'static str)> = words.map(|(_, word, means)| (*word, *means)).collect();
        let taken = || self.rows.iter().filter(|row| row.recommended);
        if told && taken().any(|row| row.has_steps) {
            legend.push(("→", "the way to take; its commands are under \"What to do\""));
        } else if taken().next().is_some() {
            legend.push(("→", "the way to take"));
        }
        if self.rows.iter().any(|row| row.actor.contains(BORN)) {
            legend.push((
                "(release of …)",
                "the release was installed by the other Helm, which decides how later commands write",
            ));
        }
        if cells().any(|cell| cell.conditional) {
            legend.push(("*", "the worst that can happen; under other conditions it ends better"));
        }
        let columns = self.columns.iter().filter(|column| !column.means.is_empty());
        legend.extend(columns.map(|column| (column.name.as_str(), column.means)));
        legend
    }
}

/// What stands before the maker of a release that another made.
const BORN: &str = " (release of ";

/// The words in cells.
const WORDS: &[(Option<Verdict>, &str, &str)] = &[
    (
        Some(Verdict::Keeps),
        "keeps",
        "no definition, custom object, Job, volume, claim or namespace is deleted or made anew",
    ),
    (
        Some(Verdict::Refused),
        "refused",
        "ends with an error and has changed nothing but the release's own records",
    ),
    (
        Some(Verdict::Breaks),
        "breaks",
        "ends with an error halfway, or leaves objects that can't go on without help; nothing is lost",
    ),
    (Some(Verdict::Loses), "loses N", "N such objects are deleted or made anew, whatever the exit code says"),
    (None, "–", "not reached on this way"),
];

fn columns(rehearsals: &[Rehearsal]) -> Vec<Column> {
    let mut found: Vec<Column> = Vec::new();
    let ways = || rehearsals.iter().flat_map(|rehearsal| &rehearsal.ways);
    let there = |name: &str| ways().any(|way| way.operations.iter().any(|o| column(way, o) == name));
    for (name, means) in ORDER {
        found.extend(there(name).then(|| Column { name: (*name).to_owned(), means }));
    }
    for way in ways() {
        for operation in &way.operations {
            let column = Column { name: column(way, operation), means: "" };
            if !found.iter().any(|known| known.name == column.name) {
                found.push(column);
            }
        }
    }
    found
}

/// Columns that are known, in the order a person thinks of them.
const ORDER: &[(&str, &str)] = &[
    ("upgrade", ""),
    ("undone", "an upgrade that fails and undoes itself: --atomic, --rollback-on-failure"),
    ("again", "the same upgrade once more"),
    ("rollback", ""),
    ("override", "a rollback that overrides: --force, or --server-side=true --force-conflicts"),
    ("uninstall", ""),
    ("drop CRDs", "a later upgrade without the chart's CRDs"),
    ("reuse", "the upgrade with --reuse-values"),
];

/// The column of an operation: what it does, and how its flags change that.
pub(super) fn column(way: &Way, operation: &Operation) -> String {
    let mut beyond = operation.flags.iter().filter(|flag| !way.flags.contains(flag));
    let mut has = |wanted: &[&str]| beyond.any(|flag| wanted.iter().any(|word| flag.starts_with(word)));
    let name = match operation.name.as_str() {
        "upgrade" if has(&["--atomic", "--rollback-on-failure"]) => "undone",
        "rollback" if has(&["--force", "--server-side"]) => "override",
        "upgrade again" => "again",
        DROP => operation.title(),
        REUSING => "reuse",
        name => name,
    };
    name.to_owned()
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
            Verdict::Keeps => "keeps".to_owned(),
            Verdict::Refused => "refused".to_owned(),
            Verdict::Breaks => "breaks".to_owned(),
            Verdict::Loses => format!("loses {}", worst.lost.len()),
        },
        conditional: outcomes().any(|outcome| outcome.verdict != worst.verdict),
    }
}
