//! A JSON value becomes YAML text, byte for byte as go-yaml writes it.
//!
//! Behaviour: go.yaml.in/yaml v2.4.4 and v3.0.5, `emitterc.go` and `encode.go`.

use std::fmt::Write as _;

use serde_json::{Map, Number, Value};

use super::analysis::{self, Analysis};
use super::number;
use super::order::{self, Version};
use super::resolve::{self, Scalar};

/// Columns after which yaml.v2 breaks a line at the next space.
const WIDTH: usize = 80;

/// Longest key, in bytes, that is written without `? `.
const SIMPLE_KEY: usize = 128;

/// What a node stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parent {
    Document,
    Sequence,
    Mapping,
}

/// What can be written.
pub(super) trait Written {
    /// Writes it as a node.
    fn write(&self, emitter: &mut Emitter, parent: Parent);
}

impl Written for Value {
    fn write(&self, emitter: &mut Emitter, parent: Parent) {
        emitter.node(self, parent);
    }
}

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
}

pub(super) struct Emitter {
    out: String,
    version: Version,
    best_indent: usize,
    width: usize,
    indent: Option<usize>,
    column: usize,
    /// The last character was whitespace.
    whitespace: bool,
    /// Only indentation and `-`, `?`, `:` stand on this line.
    indention: bool,
}

impl Emitter {
    /// The writer of yaml.v2 with its defaults.
    pub(super) const fn v2() -> Self {
        Self::new(Version::V2, 2, WIDTH)
    }

    /// The writer of yaml.v3 after `SetIndent`.
    pub(super) fn v3(indent: usize) -> Self {
        let indent = if (2..=9).contains(&indent) { indent } else { 2 };
        Self::new(Version::V3, indent, usize::MAX)
    }

    const fn new(version: Version, best_indent: usize, width: usize) -> Self {
        Self {
            out: String::new(),
            version,
            best_indent,
            width,
            indent: None,
            column: 0,
            whitespace: true,
            indention: true,
        }
    }

    /// Writes one document.
    pub(super) fn document(mut self, value: &impl Written) -> String {
        value.write(&mut self, Parent::Document);
        self.write_indent();
        self.out
    }

    fn node(&mut self, value: &Value, parent: Parent) {
        match value {
            Value::Null => self.scalar("null", Style::Plain, parent),
            Value::Bool(b) => self.scalar(if *b { "true" } else { "false" }, Style::Plain, parent),
            Value::Number(n) => self.scalar(&self.number(n), Style::Plain, parent),
            Value::String(text) => self.text(text, parent, false),
            Value::Array(items) => self.sequence(items, parent),
            Value::Object(map) => self.object(map, parent),
        }
    }

    /// A number's text: yaml.v3 is handed Go's floats, yaml.v2 what Go's JSON reads back as.
    fn number(&self, number: &Number) -> String {
        let Some(float) = number.as_f64().filter(|_| number.is_f64()) else { return number.to_string() };
        if self.version == Version::V3 {
            return number::format_general(float);
        }
        let json = number::format_json(float);
        match resolve::plain(&json) {
            Scalar::Int(i) => i.to_string(),
            Scalar::Uint(u) => u.to_string(),
            _ => number::format_general(float),
        }
    }

    // Collections.

    fn empty(&mut self, open: &str, close: &str) {
        self.indicator(open, true, true, false);
        self.indicator(close, false, false, false);
    }

    pub(super) fn sequence(&mut self, items: &[impl Written], parent: Parent) {
        if items.is_empty() {
            return self.empty("[", "]");
        }
        let outer = self.indent;
        let indentless = self.version == Version::V2 && parent == Parent::Mapping && !self.indention;
        if !indentless {
            self.increase_indent(parent);
        }
        for item in items {
            self.write_indent();
            self.indicator("-", true, false, true);
            item.write(self, Parent::Sequence);
        }
        self.indent = outer;
    }

    fn object(&mut self, map: &Map<String, Value>, parent: Parent) {
        let mut entries: Vec<(&str, &Value)> = map.iter().map(|(key, value)| (key.as_str(), value)).collect();
        order::sort(&mut entries, self.version);
        self.mapping(&entries, parent);
    }

    /// A map whose entries are in order.
    pub(super) fn mapping(&mut self, entries: &[(&str, &impl Written)], parent: Parent) {
        if entries.is_empty() {
            return self.empty("{", "}");
        }
        let outer = self.indent;
        self.increase_indent(parent);
        for (key, value) in entries {
            self.write_indent();
            let simple = key.len() <= SIMPLE_KEY && !key.contains(analysis::is_break);
            if simple {
                self.text(key, Parent::Mapping, true);
                self.indicator(":", false, false, false);
            } else {
                self.indicator("?", true, false, true);
                self.text(key, Parent::Mapping, false);
                self.write_indent();
                self.indicator(":", true, false, true);
            }
            value.write(self, Parent::Mapping);
        }
        self.indent = outer;
    }

    /// The indentation of a collection below one in `parent`.
    fn increase_indent(&mut self, parent: Parent) {
        self.indent = Some(match (self.indent, self.version) {
            (None, _) => 0,
            (Some(indent), Version::V2) => indent + self.best_indent,
            (Some(indent), Version::V3) => self.aligned(indent, parent),
        });
    }

    /// Yaml.v3 skips `- ` inside a sequence and aligns everything else.
    const fn aligned(&self, indent: usize, parent: Parent) -> usize {
        match parent {
            Parent::Sequence => indent + 2,
            _ => (indent / self.best_indent + 1) * self.best_indent,
        }
    }

    // Scalars.

    /// A string, as a value or as a key that stands before its `:` (`simple_key`).
    pub(super) fn text(&mut self, text: &str, parent: Parent, simple_key: bool) {
        let analysis = Analysis::of(text, self.version == Version::V3);
        let stays_text = match self.version {
            Version::V2 => resolve::stays_text(text),
            Version::V3 => resolve::stays_text_v3(text),
        };
        let style = match (text.contains('\n'), stays_text) {
            (true, _) if analysis.literal && !simple_key => Style::Literal,
            (false, true) if analysis.plain && !(simple_key && text.is_empty()) => Style::Plain,
            (false, true) if analysis.single_quoted && !(simple_key && analysis.multiline) => {
                Style::SingleQuoted
            }
            _ => Style::DoubleQuoted,
        };
        if simple_key { self.styled(text, style, false) } else { self.scalar(text, style, parent) }
    }

    pub(super) fn plain_scalar(&mut self, text: &str, parent: Parent) {
        self.scalar(text, Style::Plain, parent);
    }

    /// A scalar whose further lines are indented below its parent.
    fn scalar(&mut self, text: &str, style: Style, parent: Parent) {
        let outer = self.indent;
        self.indent = Some(match (outer, self.version) {
            (None, _) => self.best_indent,
            (Some(indent), Version::V2) => indent + self.best_indent,
            (Some(indent), Version::V3) => self.aligned(indent, parent),
        });
        self.styled(text, style, true);
        self.indent = outer;
    }

    fn styled(&mut self, text: &str, style: Style, fold: bool) {
        match style {
            Style::Plain => self.plain(text, fold),
            Style::SingleQuoted => self.single_quoted(text, fold),
            Style::DoubleQuoted => self.double_quoted(text, fold),
            Style::Literal => self.literal(text),
        }
    }

    fn plain(&mut self, text: &str, fold: bool) {
        if !self.whitespace {
            self.put(' ');
        }
        if fold && self.may_fold(text) {
            self.folding(text, false);
        } else {
            self.put_all(text);
        }
        self.whitespace = false;
        self.indention = false;
    }

    fn single_quoted(&mut self, text: &str, fold: bool) {
        self.indicator("'", true, false, false);
        if fold || text.contains(['\'', '\u{2028}', '\u{2029}']) {
            let width = self.width;
            self.width = if fold { width } else { usize::MAX };
            self.folding(text, true);
            self.width = width;
        } else {
            self.put_all(text);
        }
        self.indicator("'", false, false, false);
    }

    /// Whether a text reaches beyond the width.
    fn may_fold(&self, text: &str) -> bool {
        self.column.saturating_add(text.len()) > self.width || text.contains(['\u{2028}', '\u{2029}'])
    }

    /// Writes a text, breaking lines at single spaces beyond the width; quoted texts never break at their ends.
    fn folding(&mut self, text: &str, quoted: bool) {
        let (mut spaces, mut breaks) = (false, false);
        let last = text.len().saturating_sub(1);
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            if c == ' ' {
                let inside = !quoted || (at > 0 && at < last);
                let alone = chars.peek().is_none_or(|&(_, next)| next != ' ');
                if !spaces && self.column > self.width && inside && alone {
                    self.write_indent();
                } else {
                    self.put(c);
                }
                spaces = true;
            } else if analysis::is_break(c) {
                self.put_own_break(c);
                breaks = true;
            } else {
                if breaks {
                    self.write_indent();
                }
                if quoted && c == '\'' {
                    self.put('\'');
                }
                self.put(c);
                self.indention = false;
                (spaces, breaks) = (false, false);
            }
        }
    }

    fn double_quoted(&mut self, text: &str, fold: bool) {
        self.indicator("\"", true, false, false);
        // go-yaml looks for a byte order mark at the start of the text, whichever character it is about to write.
        let marked = text.starts_with('\u{FEFF}');
        let last = text.len().saturating_sub(1);
        let mut spaces = false;
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let escaped =
                marked || !analysis::is_printable(c) || analysis::is_break(c) || matches!(c, '"' | '\\');
            if escaped {
                self.put_escape(c);
                spaces = false;
            } else if c == ' ' {
                if fold && !spaces && self.column > self.width && at > 0 && at < last {
                    self.write_indent();
                    if chars.peek().is_some_and(|&(_, next)| next == ' ') {
                        self.put('\\');
                    }
                } else {
                    self.put(c);
                }
                spaces = true;
            } else {
                self.put(c);
                spaces = false;
            }
        }
        self.indicator("\"", false, false, false);
    }

    fn put_escape(&mut self, c: char) {
        let from = self.out.len();
        let code = u32::from(c);
        self.out.push('\\');
        match (named_escape(c), code) {
            (Some(name), _) => self.out.push(name),
            (None, ..=0xFF) => {
                let _ = write!(self.out, "x{code:02X}");
            }
            (None, ..=0xFFFF) => {
                let _ = write!(self.out, "u{code:04X}");
            }
            (None, _) => {
                let _ = write!(self.out, "U{code:08X}");
            }
        }
        self.column += self.out.len() - from;
    }

    fn literal(&mut self, text: &str) {
        self.indicator("|", true, false, false);
        if text.starts_with(|c| c == ' ' || analysis::is_break(c)) {
            let hint = self.best_indent.to_string();
            self.indicator(&hint, false, false, false);
        }
        let mut ends = text.chars().rev().map(analysis::is_break);
        match (ends.next(), ends.next()) {
            (Some(true), None | Some(true)) => self.indicator("+", false, false, false),
            (Some(true), _) => {}
            _ => self.indicator("-", false, false, false),
        }
        self.put_break();
        self.indention = true;
        self.whitespace = true;
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find(analysis::is_break).unwrap_or(rest.len());
            let (line, after) = rest.split_at(end);
            if !line.is_empty() {
                self.write_indent();
                self.put_all(line);
                self.indention = false;
            }
            let mut after = after.chars();
            if let Some(c) = after.next() {
                self.put_own_break(c);
            }
            rest = after.as_str();
        }
    }

    // Characters.

    fn put(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
    }

    fn put_all(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += if text.is_ascii() { text.len() } else { text.chars().count() };
    }

    fn put_spaces(&mut self, mut count: usize) {
        const SPACES: &str = "                                                                ";
        while count > 0 {
            let spaces = SPACES.get(..count).unwrap_or(SPACES);
            self.out.push_str(spaces);
            count -= spaces.len();
        }
    }

    fn put_break(&mut self) {
        self.out.push('\n');
        self.column = 0;
        self.indention |= self.version == Version::V3;
    }

    /// Copies a line break of a text.
    fn put_own_break(&mut self, c: char) {
        self.out.push(c);
        self.column = 0;
        self.indention = true;
    }

    fn write_indent(&mut self) {
        let indent = self.indent.unwrap_or(0);
        if !self.indention || self.column > indent || (self.column == indent && !self.whitespace) {
            self.put_break();
        }
        let missing = indent.saturating_sub(self.column);
        self.put_spaces(missing);
        self.column += missing;
        self.whitespace = true;
        self.indention |= self.version == Version::V2;
    }

    fn indicator(&mut self, text: &str, space_before: bool, is_space: bool, is_indention: bool) {
        if space_before && !self.whitespace {
            self.put(' ');
        }
        self.put_all(text);
        self.whitespace = is_space;
        self.indention &= is_indention;
    }
}

/// The letter after the backslash for characters that have one.
const fn named_escape(c: char) -> Option<char> {
    Some(match c {
        '\0' => '0',
        '\x07' => 'a',
        '\x08' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\x0B' => 'v',
        '\x0C' => 'f',
        '\r' => 'r',
        '\x1B' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{A0}' => '_',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        _ => return None,
    })
}
