//! `-o FORMAT[=PATH]`: which formats go where.

use std::fs;
use std::path::PathBuf;

use super::exit::Error;
use super::terminal::{self, Terminal};
use crate::report::Style;

/// One wanted output: a format's name and a file, or standard output.
pub(crate) struct Target {
    pub(crate) format: String,
    path: Option<PathBuf>,
}

/// Reads `-o` flags; every format must be one of `known`.
pub(crate) fn targets(flags: &[String], known: &[&str]) -> Result<Vec<Target>, Error> {
    let mut targets = Vec::new();
    for flag in flags {
        let (format, path) = match flag.split_once('=') {
            Some((format, path)) if !path.is_empty() => (format, Some(PathBuf::from(path))),
            Some((format, _)) => (format, None),
            None => (flag.as_str(), None),
        };
        if !known.contains(&format) {
            return Err(Error::new(format!("`-o {flag}`: no such format"))
                .hint(format!("Formats are {}; `FORMAT=PATH` writes to a file.", known.join(", "))));
        }
        targets.push(Target { format: format.to_owned(), path });
    }
    if targets.iter().filter(|target| target.path.is_none()).count() > 1 {
        return Err(Error::new("two formats for standard output")
            .hint("Give all but one a file: `-o json=report.json`."));
    }
    Ok(targets)
}

impl Target {
    /// How text for this target may look.
    pub(crate) fn style(&self, terminal: Terminal) -> Style {
        Style { colored: self.path.is_none() && terminal.colors_stdout() }
    }

    /// Writes the bytes to the file or to standard output.
    pub(crate) fn put(&self, bytes: &[u8]) -> Result<(), Error> {
        match &self.path {
            None => terminal::print(bytes),
            Some(path) => fs::write(path, bytes)
                .map_err(|error| Error::new(format!("can't write {}: {error}", path.display()))),
        }
    }
}
