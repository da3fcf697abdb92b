//! `seatrial diff`: what differs between two renders.

use super::args::{Diff, Global};
use super::charts;
use super::exit::{Error, Exit};
use super::pair;
use super::terminal::Terminal;
use super::{output, settings};
use crate::report::changes::{self, CHANGES_FORMATS};
use crate::upgrade::diff;

/// Renders both charts and writes their differences.
pub(crate) fn run(arguments: &Diff, global: &Global) -> Result<Exit, Error> {
    let known: Vec<&str> = CHANGES_FORMATS.iter().map(|format| format.name).collect();
    let targets = output::targets(&arguments.output, &known)?;
    let helm = charts::helm_version(&arguments.helm)?;
    let pair = pair::Pair::load(&arguments.pair, global)?;
    let (before, after) = pair.render(helm, &settings::limits(&global.limits))?;
    let mut found = diff::diff(&before, &after);
    changes::redact(&mut found);
    for target in targets {
        let Some(format) = CHANGES_FORMATS.iter().find(|format| format.name == target.format) else {
            continue;
        };
        let mut bytes = Vec::new();
        (format.write)(&found, target.style(Terminal::new(global.color)), &mut bytes)
            .map_err(|error| Error::new(format!("can't write the differences: {error}")))?;
        target.put(&bytes)?;
    }
    Ok(if arguments.exit_code && !found.is_empty() { Exit::Findings } else { Exit::Safe })
}
