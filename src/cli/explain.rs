//! `seatrial explain`: what a check means.

use super::args::Explain;
use super::exit::{Error, Exit};
use super::terminal;
use crate::checks::{self, CHECKS, Check};

/// Prints one check's words, or the list of checks.
pub(crate) fn run(arguments: &Explain) -> Result<Exit, Error> {
    let text = match &arguments.check {
        None => list(),
        Some(id) => one(checks::find(id).ok_or_else(|| unknown(id))?),
    };
    terminal::print(text.as_bytes()).map(|()| Exit::Safe)
}

fn list() -> String {
    let width = CHECKS.iter().map(|check| check.id.len()).max().unwrap_or(0);
    CHECKS.iter().map(|check| format!("{:width$}  {}\n", check.id, check.title())).collect()
}

fn one(check: &Check) -> String {
    let lines = check.info.doc.lines().map(|line| line.strip_prefix(' ').unwrap_or(line));
    format!("# {}\n\n{}\n", check.id, lines.collect::<Vec<_>>().join("\n").trim())
}

fn unknown(id: &str) -> Error {
    let close: Vec<&str> = CHECKS
        .iter()
        .map(|check| check.id)
        .filter(|known| known.split('_').any(|word| id.split(['_', '-']).any(|typed| typed == word)))
        .collect();
    let hint = if close.is_empty() {
        "`seatrial explain` lists the checks.".to_owned()
    } else {
        format!("Did you mean {}?", close.join(", "))
    };
    Error::new(format!("no check `{id}`")).hint(hint)
}
