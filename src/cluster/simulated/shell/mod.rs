//! Hook scripts, executed without a computer: a POSIX shell with the usual text tools and kubectl built in.
//!
//! A script sees virtual files and a [`Host`] that answers its requests; it can't reach anything else. Programs that
//! are not built in end the run with [`Ending::Unknown`], so that nobody takes a guess for a result.
//!
//! A script may have to wait (`sleep`, `kubectl wait`, a deletion held by a finalizer). The host then says
//! [`Pause`], the run ends, and the caller runs the script again later from the beginning, answering from its
//! record what was answered before: [`process`] does that.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cluster::{ApiResource, Request, Response};

mod arithmetic;
mod builtins;
mod conditional;
mod execution;
mod expansion;
mod files;
mod grep;
mod kubectl;
mod lines;
mod parser;
mod pattern;
mod print;
pub(super) mod process;
mod sed;
mod streams;
mod syntax;
#[cfg(test)]
mod tests;
mod tools;

/// The script has to wait until this moment (seconds since the rehearsal began).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pause {
    /// When it may go on.
    pub(super) until: f64,
}

/// What a script can reach.
pub(super) trait Host {
    /// Sends a request to the API server as the script's user.
    ///
    /// # Errors
    /// When the script has to wait first.
    fn send(&mut self, request: Request) -> Result<Response, Pause>;

    /// What the API server serves.
    fn discover(&mut self) -> Arc<Vec<ApiResource>>;

    /// Lets time pass.
    ///
    /// # Errors
    /// When the time has not passed yet.
    fn sleep(&mut self, seconds: f64) -> Result<(), Pause>;

    /// Fetches something from outside the cluster; whether that worked.
    ///
    /// # Errors
    /// When the script has to wait for it.
    fn download(&mut self, what: &str) -> Result<bool, Pause>;

    /// The group and plural behind a short or singular name of a custom resource.
    fn alias(&mut self, name: &str) -> Option<(String, String)>;

    /// Seconds since the rehearsal began, as the script has seen them pass.
    fn now(&self) -> f64;
}

/// What is run.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    /// The command with its arguments, as the container says it.
    pub(super) words: Vec<String>,
    /// Environment.
    pub(super) environment: BTreeMap<String, String>,
    /// Contents of the virtual files by absolute path.
    pub(super) files: BTreeMap<String, String>,
    /// Namespace of the pod.
    pub(super) namespace: String,
    /// User that requests are made as.
    pub(super) user: String,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ending {
    /// With this exit status.
    Exited(i32),
    /// The script waits.
    Paused(Pause),
    /// It met something that is not built in, or took too many steps; the text says what.
    Unknown(String),
}

/// A run's ending and what it wrote.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Run {
    /// How it ended.
    pub(super) ending: Ending,
    /// Standard output and standard error, interleaved.
    pub(super) output: String,
    /// Commands that it took.
    pub(super) steps: u64,
}

/// Runs a program from its beginning.
pub(super) fn run(program: &Program, host: &mut dyn Host) -> Run {
    execution::run(program, host)
}

/// Why execution leaves the normal order.
#[derive(Clone, Debug, PartialEq)]
enum Stop {
    /// The whole shell ends.
    Exit(i32),
    /// A function returns.
    Return(i32),
    /// `break n`.
    Break(usize),
    /// `continue n`.
    Continue(usize),
    /// The script waits.
    Pause(Pause),
    /// Something that is not built in.
    Unknown(String),
}

impl From<Pause> for Stop {
    fn from(pause: Pause) -> Self {
        Self::Pause(pause)
    }
}

/// The result of running something: an exit status, or a reason to leave.
type Flow<T = i32> = Result<T, Stop>;
