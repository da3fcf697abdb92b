//! Stage 6: findings and outcomes become bytes; one file per format.

use std::io::{self, Write};

mod answer;
pub mod changes;
mod counsel;
mod ends;
pub mod escape;
mod html;
pub mod judgement;
pub mod json;
mod markdown;
mod matrix;
pub mod model;
pub mod played;
mod steps;
mod text;
pub mod trace;
mod wrap;

pub use model::Report;

/// How a report is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// Whether ANSI colours may be used (text only).
    pub colored: bool,
    /// Where lines of running text end, in characters; 0 for nowhere (text only).
    pub width: usize,
    /// Whether everything is told, also what is below the gate and how every way ends (text only).
    pub full: bool,
}

/// One report format.
pub struct Format {
    /// Name on the command line.
    pub name: &'static str,
    /// One line for the help text.
    pub summary: &'static str,
    /// Writes the whole report.
    pub write: fn(&Report, Style, &mut dyn Write) -> io::Result<()>,
}

/// Every format, in the order of the help text.
pub static FORMATS: &[Format] = &[
    Format {
        name: "text",
        summary: "for a terminal: verdict, table, the way to take, findings; the rest in brief without --full",
        write: text::write,
    },
    Format { name: "json", summary: "for programs; schema in docs/report.schema.json", write: json::write },
    Format { name: "markdown", summary: "for a pull request", write: markdown::write },
    Format { name: "html", summary: "one self-contained page", write: html::write },
];

/// The format of a name.
#[must_use]
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

#[cfg(test)]
mod tests;
