//! The rim: arguments in, bytes and exit codes out.

use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the program with its arguments and tells the exit code.
pub fn run(_args: impl IntoIterator<Item = OsString>) -> ExitCode {
    ExitCode::SUCCESS
}
