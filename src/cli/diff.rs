//! `seatrial diff`: what differs between two renders.

use super::args::{Diff, Global};
use super::charts;
use super::exit::{Error, Exit};
use super::pair;
use super::terminal::Terminal;
use super::{output, settings, state};
use crate::report::changes::{self, CHANGES_FORMATS};
use crate::upgrade::diff;
use crate::upgrade::secrets::Secrets;

/// Renders both charts and writes their differences.
pub(crate) fn run(arguments: &Diff, global: &Global) -> Result<Exit, Error> {
    let known: Vec<&str> = CHANGES_FORMATS.iter().map(|format| format.name).collect();
    let targets = output::targets(&arguments.output, &known)?;
    let helm = charts::helm_version(&arguments.helm)?;
    let pair = pair::Pair::load(&arguments.pair, global)?;
    let limits = settings::limits(&global.limits);
    let (before, after) = pair.render(helm, &limits, state::answers(&arguments.state, &limits)?)?;
    let mut found = diff::diff(&before, &after);
    let secrets = Secrets::default();
    [&before, &after].into_iter().for_each(|render| secrets.add_render(render));
    changes::redact(&mut found, &secrets);
    output::put_all(&targets, |target, out| {
        let mut formats = CHANGES_FORMATS.iter().filter(|format| format.name == target.format);
        formats.try_for_each(|format| (format.write)(&found, target.style(Terminal::new(global.color)), out))
    })?;
    Ok(if arguments.exit_code && !found.is_empty() { Exit::Findings } else { Exit::Safe })
}
