//! The rim: arguments in, bytes and exit codes out.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

mod alone;
pub mod args;
mod blind;
pub mod exit;
mod charts;
mod diff;
mod engine;
mod explain;
mod golden;
mod golden_difference;
mod helm_flags;
mod machine;
mod misplaced;
mod output;
mod output_dir;
mod pair;
mod postrender;
mod pull;
mod registry;
mod rehearse;
mod settings;
mod standin;
mod state;
mod template;
mod terminal;
mod verify;
mod ways;

use args::{Cli, Command};
use exit::{Error, Exit};
use terminal::Terminal;

use crate::limits::stack;

/// Runs the program with its arguments and tells the exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // Charts may nest as deep as Go allows. Everything is done on one thread: each keeps memory of its own.
    stack::deep(|| parsed(arguments)).unwrap_or_else(|error| {
        Terminal::new(args::Color::Auto).error(&Error::new(format!("can't start: {error}")));
        Exit::NotChecked.into()
    })
}

fn parsed(arguments: Vec<OsString>) -> ExitCode {
    let alone = alone::matches(&arguments).map(Ok);
    let matches = match alone.unwrap_or_else(|| Cli::command().try_get_matches_from(arguments)) {
        Ok(matches) => matches,
        Err(error) => return usage(&error),
    };
    match Cli::from_arg_matches(&matches) {
        Ok(cli) => finish(&cli, misplaced::check(&matches).and_then(|()| dispatch(&cli))),
        Err(error) => usage(&error.format(&mut Cli::command())),
    }
}

// clap exits with 2 on its own, which here means findings.
fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    if error.use_stderr() { Exit::NotChecked.into() } else { Exit::Safe.into() }
}

fn dispatch(cli: &Cli) -> Result<Exit, Error> {
    match &cli.command {
        Command::Verify(verify) => verify::run(verify, &cli.global),
        Command::Demo(demo) => verify::demo(demo, &cli.global),
        Command::Template(template) => template::run(template, &cli.global),
        Command::Diff(diff) => diff::run(diff, &cli.global),
        Command::Pull(pull) => pull::run(pull, &cli.global),
        Command::Golden(golden) => golden::run(golden, &cli.global),
        Command::Explain(explain) => explain::run(explain),
        Command::Rehearse(arguments) => rehearse::run(arguments, &cli.global),
    }
}

fn finish(cli: &Cli, result: Result<Exit, Error>) -> ExitCode {
    let exit = result.unwrap_or_else(|error| {
        Terminal::new(cli.global.color).error(&error);
        Exit::NotChecked
    });
    exit.into()
}
