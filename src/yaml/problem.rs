//! What a reader, scanner or parser found wrong, before go-yaml's words are put around it.

use std::borrow::Cow;

use super::Error;

/// Which part of go-yaml complains; it decides how the line is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Reader,
    Scanner,
    Parser,
    /// Our own limits: lines are named as an editor shows them.
    Limit,
    /// Composing and decoding: the text carries its own line, if any.
    Unnumbered,
    /// What comes after go-yaml: the text stands without go-yaml's name.
    Converter,
}

/// A failure with its place; lines count from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    part: Part,
    text: Cow<'static, str>,
    line: u32,
    context_line: u32,
}

impl Problem {
    pub(super) fn reader(text: &'static str) -> Self {
        Self { part: Part::Reader, text: text.into(), line: 0, context_line: 0 }
    }

    pub(super) fn scanner(text: impl Into<Cow<'static, str>>, line: u32, context_line: u32) -> Self {
        Self { part: Part::Scanner, text: text.into(), line, context_line }
    }

    pub(super) fn parser(text: &'static str, line: u32, context_line: u32) -> Self {
        Self { part: Part::Parser, text: text.into(), line, context_line }
    }

    /// A limit of ours that is met at a node.
    pub(super) fn limit(text: impl Into<Cow<'static, str>>, line: u32) -> Self {
        Self { part: Part::Limit, text: text.into(), line, context_line: 0 }
    }

    /// A failure whose text names no line, or names lines itself.
    pub(super) fn unnumbered(text: impl Into<Cow<'static, str>>, line: u32) -> Self {
        Self { part: Part::Unnumbered, text: text.into(), line, context_line: 0 }
    }

    /// A failure of the conversion from YAML to JSON.
    pub(super) fn converter(text: String, line: u32) -> Self {
        Self { part: Part::Converter, text: text.into(), line, context_line: 0 }
    }

    /// Go-yaml's message (go.yaml.in/yaml v2.4.4, `decode.go`, `parser.fail`).
    ///
    /// Lines are counted as go-yaml does: a parser's line is one less than an editor shows, and the first line of a text is
    /// never named.
    pub(super) fn message(&self) -> String {
        if self.part == Part::Converter {
            return self.text.to_string();
        }
        let named = match (self.part, self.line, self.context_line) {
            (Part::Limit, line, _) => line + 1,
            (Part::Unnumbered, ..) | (_, 0, 0) => 0,
            (_, 0, context) => context,
            (Part::Scanner, line, _) => line + 1,
            (_, line, _) => line,
        };
        if named == 0 { format!("yaml: {}", self.text) } else { format!("yaml: line {named}: {}", self.text) }
    }

    /// The error as callers see it; its line is the true one, counted from 1.
    pub(super) fn into_error(self, prefix: &str) -> Error {
        let line = if self.part == Part::Reader { 0 } else { self.line as usize + 1 };
        Error { message: format!("{prefix}{}", self.message()), line }
    }
}
