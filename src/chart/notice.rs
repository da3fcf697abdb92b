//! What Helm says on standard error while it reads and merges a chart, in each Helm's own form.

use std::fmt::Write as _;

use super::helm::Helm;
use super::helm::differences::moved;
use crate::go::{is_print, quote};

/// Collects the lines that one Helm would print; they are complete but for the line break.
#[derive(Clone, Debug)]
pub struct Notices {
    helm: Helm,
    lines: Vec<String>,
}

impl Notices {
    /// An empty list for one Helm.
    #[must_use]
    pub fn new(helm: Helm) -> Self {
        Self { helm, lines: Vec::new() }
    }

    /// The Helm whose form is used.
    #[must_use]
    pub fn helm(&self) -> Helm {
        self.helm
    }

    /// The lines so far.
    #[must_use]
    pub fn into_lines(self) -> Vec<String> {
        self.lines
    }

    /// A message of Go's `log` package: Helm 3 puts the source line before it (`place`: that of 3.22), Helm 4 makes it a record.
    pub fn log(&mut self, place: &str, text: &str) {
        let line = match self.helm.logs_records() {
            false => format!("{}: {text}", moved(place, self.helm)),
            true => record("INFO", text, &[]),
        };
        self.lines.push(line);
    }

    /// A warning that Helm 4 rewrote into a record with attributes.
    pub fn warn(&mut self, place: &str, helm3: &str, helm4: &str, attributes: &[(&str, &str)]) {
        match self.helm.logs_records() {
            false => self.log(place, helm3),
            true => self.lines.push(record("WARN", helm4, attributes)),
        }
    }

    /// A record of Helm 4 with attributes.
    pub fn info(&mut self, message: &str, attributes: &[(&str, &str)]) {
        self.lines.push(record("INFO", message, attributes));
    }

    /// A warning of Helm's command line: `WARNING: …` in Helm 3.
    pub fn command_warning(&mut self, helm3: &str, helm4: &str) {
        let line = match self.helm.logs_records() {
            false => format!("WARNING: {helm3}"),
            true => record("WARN", helm4, &[]),
        };
        self.lines.push(line);
    }

    /// Lines that were made elsewhere for the same Helm.
    pub fn extend(&mut self, lines: &[String]) {
        self.lines.extend_from_slice(lines);
    }
}

/// One line of Go's `slog.TextHandler` without the time, as Helm 4 sets it up.
#[must_use]
pub fn record(level: &str, message: &str, attributes: &[(&str, &str)]) -> String {
    let mut line = format!("level={level} msg={}", attribute(message));
    for (key, value) in attributes {
        let _ = write!(line, " {key}={}", attribute(value));
    }
    line
}

pub(crate) fn attribute(text: &str) -> String {
    // Go: log/slog text_handler.go needsQuoting.
    let plain = |c: char| match c {
        ' ' | '=' | '"' | '\u{fffd}' => false,
        c => is_print(c),
    };
    if !text.is_empty() && text.chars().all(plain) { text.to_owned() } else { quote(text) }
}
