//! Exit codes and errors of the program.

use std::process::ExitCode;

/// How a run ended; the discriminant is the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Nothing at or above the gate, nothing lost.
    Safe = 0,
    /// Usage, input or reachability: nothing can be said.
    NotChecked = 1,
    /// Findings at or above the gate.
    Findings = 2,
    /// A rehearsal lost an object; where nothing but a rehearsal is wanted also: left one broken, or can end halfway.
    Lost = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// What went wrong, where and why, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// What failed; one sentence, no full stop.
    pub message: String,
    /// What to do next; empty when there is nothing better to say.
    pub hint: String,
}

impl Error {
    /// An error without a hint.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: String::new() }
    }

    /// The same error with advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}

impl From<crate::source::Error> for Error {
    fn from(error: crate::source::Error) -> Self {
        Self { message: error.message, hint: error.hint }
    }
}
