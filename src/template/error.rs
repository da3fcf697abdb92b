//! Errors of parsing and executing templates, in Go's words.

use std::error;
use std::fmt;
use std::sync::Arc;

/// What went wrong when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The text is not a template.
    Parse,
    /// An action failed.
    Execute,
    /// A bound of [`crate::limits`] was met.
    Limit,
}

/// Where an action stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Name under which the text was parsed.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: usize,
    /// Byte column as Go counts it: from 0; `None` in parse errors.
    pub column: Option<usize>,
    /// The template that was executing; empty in parse errors.
    pub executing: Arc<str>,
    /// The action's node, shortened as Go does; empty in parse errors.
    pub context: String,
}

/// An error with its place; `Display` is `err.Error()` of Go.
#[derive(Debug)]
pub struct Error {
    /// When it happened.
    pub stage: Stage,
    /// Where; `None` when no node is known, then `name` says which template.
    pub place: Option<Place>,
    /// The template's name, for errors without place.
    pub name: Arc<str>,
    /// What, without the cause's text, e.g. `error calling include: `.
    pub message: String,
    /// The error of a template that a function executed, whose text follows the message.
    pub cause: Option<Box<Error>>,
}

impl Error {
    /// The innermost error, where the trouble began.
    pub fn root(&self) -> &Self {
        let mut error = self;
        while let Some(cause) = &error.cause {
            error = cause;
        }
        error
    }

    /// The message with the texts of all causes, without the place.
    pub fn detail(&self) -> String {
        match &self.cause {
            Some(cause) => format!("{}{cause}", self.message),
            None => self.message.clone(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "template: {place}: ")?,
            None if self.name.is_empty() => {}
            None => write!(f, "template: {}: ", self.name)?,
        }
        f.write_str(&self.message)?;
        self.cause.as_ref().map_or(Ok(()), |cause| write!(f, "{cause}"))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if let Some(column) = self.column {
            write!(
                f,
                ":{column}: executing {} at <{}>",
                crate::go::quote(self.executing.as_bytes()),
                self.context
            )?;
        }
        Ok(())
    }
}

impl error::Error for Error {}
