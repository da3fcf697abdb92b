//! Text becomes tokens: indentation, simple keys and indicators of YAML 1.1 as libyaml reads them.
//!
//! Behaviour: go.yaml.in/yaml v2.4.4, `scannerc.go`. Scalars are read in [`super::scalars`], tags, anchors and directives in
//! [`super::properties`].

use std::borrow::Cow;
use std::collections::VecDeque;

use super::input::Input;
use super::problem::Problem;

use fetch::NO_KEY;

mod fetch;

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind<'a> {
    StreamStart,
    StreamEnd,
    Version(u8, u8),
    /// Handle and prefix of a `%TAG` directive.
    TagDirective(Box<(String, String)>),
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias(&'a str),
    Anchor(&'a str),
    /// Handle and suffix of a tag.
    Tag(Box<(String, String)>),
    Scalar {
        value: Cow<'a, str>,
        plain: bool,
    },
}

/// A token with the lines, counted from 0, that it begins and ends on.
#[derive(Clone, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind<'a>,
    pub(super) line: u32,
    pub(super) end_line: u32,
    /// The flow level at which this token may turn out to begin a simple key.
    key_level: u32,
}

/// A place where a key without `?` may have begun.
#[derive(Clone, Copy, Debug, Default)]
struct SimpleKey {
    possible: bool,
    required: bool,
    /// Whether go-yaml's index by token still knows it: closing an empty collection makes it forget the key around it.
    tracked: bool,
    number: usize,
    line: u32,
    column: usize,
}

/// Characters that go-yaml wants to have read before it looks at the next token.
const LOOK_AHEAD: usize = 4;

/// Bytes that go-yaml's buffer holds at first, behind a first byte order mark.
const BUFFER: usize = 509;

/// Reads tokens on demand.
pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
    bytes: &'a [u8],
    pub(super) pos: usize,
    pub(super) line: u32,
    /// Column, in characters, of the offset `column_pos` on the current line.
    column: usize,
    column_pos: usize,
    pub(super) flow_level: usize,
    pub(super) indent: isize,
    indents: Vec<isize>,
    pub(super) simple_key_allowed: bool,
    keys: Vec<SimpleKey>,
    pending_key: u32,
    tokens: VecDeque<Token<'a>>,
    taken: usize,
    ready: bool,
    cut_short: Option<Problem>,
    /// Whether `\n` is the only line break in the text.
    unix: bool,
    /// Whether go-yaml's buffer begins with a byte order mark.
    marked: bool,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(input: &'a Input<'a>) -> Self {
        let start = Token { kind: Kind::StreamStart, line: 0, end_line: 0, key_level: NO_KEY };
        Self {
            text: &input.text,
            bytes: input.text.as_bytes(),
            pos: 0,
            line: 0,
            column: 0,
            column_pos: 0,
            flow_level: 0,
            indent: -1,
            indents: Vec::new(),
            simple_key_allowed: true,
            keys: vec![SimpleKey::default()],
            pending_key: NO_KEY,
            tokens: VecDeque::from([start]),
            taken: 0,
            ready: false,
            cut_short: input.problem.clone(),
            unix: input.unix,
            marked: input.text.starts_with('\u{FEFF}'),
        }
    }

    /// The next token, left in place.
    pub(super) fn peek(&mut self) -> Result<&Token<'a>, Problem> {
        self.fill()?;
        self.tokens.front().ok_or_else(|| Problem::parser("did not find expected <stream-start>", 0, 0))
    }

    /// The next token, taken.
    pub(super) fn next(&mut self) -> Result<Token<'a>, Problem> {
        self.fill()?;
        self.ready = false;
        self.taken += 1;
        self.tokens.pop_front().ok_or_else(|| Problem::parser("did not find expected <stream-start>", 0, 0))
    }

    /// Fetches until it is certain whether the first token of the queue begins a simple key.
    fn fill(&mut self) -> Result<(), Problem> {
        while !self.ready {
            if !self.tokens.is_empty() && !self.front_may_be_key()? {
                self.ready = true;
            } else {
                self.fetch_checked()?;
            }
        }
        Ok(())
    }

    fn front_may_be_key(&mut self) -> Result<bool, Problem> {
        let Some(level) = self.tokens.front().map(|t| t.key_level).filter(|&l| l != NO_KEY) else {
            return Ok(false);
        };
        match self.keys.get(level as usize) {
            Some(key) if key.tracked && key.number == self.taken => self.key_is_valid(level as usize),
            _ => Ok(false),
        }
    }

    /// Fetches one token; in a text that was cut short, its end is the reader's error.
    fn fetch_checked(&mut self) -> Result<(), Problem> {
        let fetched = self.fetch();
        match &self.cut_short {
            Some(problem) if self.pos >= self.bytes.len() => Err(problem.clone()),
            _ => fetched,
        }
    }

    fn fetch(&mut self) -> Result<(), Problem> {
        self.skip_to_token();
        let column = self.column();
        self.unroll_indent(column as isize);
        self.look_ahead()?;
        self.move_buffer();
        if self.at_end() {
            return self.fetch_stream_end();
        }
        if column == 0 {
            if self.at(0) == b'%' {
                return self.fetch_directive();
            }
            if let Some(kind) = self.document_indicator() {
                return self.fetch_document_indicator(kind);
            }
        }
        match self.at(0) {
            b'[' => self.fetch_flow_start(Kind::FlowSequenceStart),
            b'{' => self.fetch_flow_start(Kind::FlowMappingStart),
            b']' => self.fetch_flow_end(Kind::FlowSequenceEnd),
            b'}' => self.fetch_flow_end(Kind::FlowMappingEnd),
            b',' => self.fetch_flow_entry(),
            b'-' if self.blank_or_end(1) => self.fetch_block_entry(),
            b'?' if self.flow_level > 0 || self.blank_or_end(1) => self.fetch_key(),
            b':' if self.flow_level > 0 || self.blank_or_end(1) => self.fetch_value(),
            _ => self.fetch_content(),
        }
    }

    /// Go wants to see four characters before it looks at one; where the text was cut short, it finds out here.
    fn look_ahead(&self) -> Result<(), Problem> {
        let Some(problem) = &self.cut_short else { return Ok(()) };
        let rest = self.bytes.get(self.pos..).unwrap_or(&[]);
        let characters = rest.iter().filter(|byte| **byte & 0xC0 != 0x80).take(LOOK_AHEAD).count();
        if characters < LOOK_AHEAD { Err(problem.clone()) } else { Ok(()) }
    }

    /// Fetches scalars and their properties.
    fn fetch_content(&mut self) -> Result<(), Problem> {
        match self.at(0) {
            b'*' | b'&' => self.fetch_with_key(Self::scan_anchor),
            b'!' => self.fetch_with_key(Self::scan_tag),
            b'\'' | b'"' => self.fetch_with_key(Self::scan_quoted),
            b'|' | b'>' if self.flow_level == 0 => self.fetch_block_scalar(),
            b'#' | b'|' | b'>' | b'%' | b'@' | b'`' | b'\t' => self.no_token(),
            _ => {
                let fetched = self.fetch_plain();
                self.move_buffer();
                fetched
            }
        }
    }

    fn no_token(&self) -> Result<(), Problem> {
        Err(self.problem("found character that cannot start any token", self.line))
    }

    /// A scanner's failure at the current line.
    pub(super) fn problem(&self, text: impl Into<Cow<'static, str>>, context_line: u32) -> Problem {
        Problem::scanner(text, self.line, context_line)
    }

    // Characters.

    /// The byte at `offset` from here; 0 at the end.
    #[inline]
    pub(super) fn at(&self, offset: usize) -> u8 {
        self.bytes.get(self.pos + offset).copied().unwrap_or(0)
    }

    #[inline]
    pub(super) fn at_end(&self) -> bool {
        self.pos >= self.bytes.len()
    }

    /// The bytes from here on.
    #[inline]
    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.pos..).unwrap_or(&[])
    }

    /// The text between two offsets.
    #[inline]
    pub(super) fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or("")
    }

    /// Length in bytes of the line break at `offset` from here; 0 when there is none.
    #[inline]
    pub(super) fn break_len(&self, offset: usize) -> usize {
        match self.at(offset) {
            b'\n' => 1,
            b'\r' => 1 + usize::from(self.at(offset + 1) == b'\n'),
            0xC2 | 0xE2 => self.unicode_break_len(offset),
            _ => 0,
        }
    }

    #[cold]
    fn unicode_break_len(&self, offset: usize) -> usize {
        match (self.at(offset), self.at(offset + 1), self.at(offset + 2)) {
            (0xC2, 0x85, _) => 2,
            (0xE2, 0x80, 0xA8 | 0xA9) => 3,
            _ => 0,
        }
    }

    /// Steps over spaces, at most `most` of them.
    #[inline]
    pub(super) fn skip_spaces(&mut self, most: usize) {
        let count = self.spaces(most);
        if self.column_pos == self.pos {
            self.column += count;
            self.column_pos += count;
        }
        self.pos += count;
    }

    /// How many spaces follow, up to `most`; deeply nested texts are full of them.
    #[inline]
    fn spaces(&self, most: usize) -> usize {
        const WORD: &[u8; 8] = b"        ";
        let rest = self.rest();
        let (words, _) = rest.get(..most).unwrap_or(rest).as_chunks::<8>();
        let whole = words.iter().take_while(|&word| word == WORD).count() * 8;
        let tail = rest.get(whole..most.min(rest.len())).unwrap_or(&[]);
        whole + tail.iter().take_while(|&&b| b == b' ').count()
    }

    /// Whether a space or tab is at `offset` from here.
    #[inline]
    pub(super) fn blank(&self, offset: usize) -> bool {
        matches!(self.at(offset), b' ' | b'\t')
    }

    /// Whether a space, tab, line break or the end is at `offset` from here.
    #[inline]
    pub(super) fn blank_or_end(&self, offset: usize) -> bool {
        matches!(self.at(offset), b' ' | b'\t' | 0) || self.break_len(offset) > 0
    }

    /// The column, in characters.
    #[inline]
    pub(super) fn column(&mut self) -> usize {
        let passed = self.bytes.get(self.column_pos..self.pos).unwrap_or(&[]);
        self.column += passed.iter().filter(|&&b| b & 0xC0 != 0x80).count();
        self.column_pos = self.pos;
        self.column
    }

    /// Bytes of the whole stream.
    pub(super) fn length(&self) -> usize {
        self.bytes.len()
    }

    /// Steps over the line break here, `length` bytes long, and tells how it counts in a scalar.
    pub(super) fn newline(&mut self, length: usize) -> &'static str {
        let counts_as = match (self.at(0), self.at(2)) {
            (0xE2, 0xA8) => "\u{2028}",
            (0xE2, _) => "\u{2029}",
            _ => "\n",
        };
        self.pos += length;
        self.line += 1;
        self.column = 0;
        self.column_pos = self.pos;
        counts_as
    }

    /// Steps to the end of the line.
    pub(super) fn skip_rest_of_line(&mut self) {
        if self.unix {
            self.pos += memchr::memchr(b'\n', self.rest()).unwrap_or(self.rest().len());
            return;
        }
        loop {
            let stop = self.rest().iter().position(|&b| matches!(b, b'\n' | b'\r' | 0xC2 | 0xE2));
            self.pos += stop.unwrap_or(self.rest().len());
            if self.at_end() || self.break_len(0) > 0 {
                return;
            }
            self.pos += 1;
        }
    }

    /// Steps over blanks, a comment and the end of the line; `false` when something else is in the way.
    pub(super) fn skip_to_next_line(&mut self) -> bool {
        while self.blank(0) {
            self.pos += 1;
        }
        if self.at(0) == b'#' {
            self.skip_rest_of_line();
        }
        let length = self.break_len(0);
        if length > 0 {
            self.newline(length);
        }
        length > 0 || self.at_end()
    }

    /// Steps over whitespace and comments. Tabs pass in flow context, and in block context where no key can begin.
    fn skip_to_token(&mut self) {
        loop {
            let tabs = self.flow_level > 0 || !self.simple_key_allowed;
            if self.marked && self.column() == 0 {
                self.skip_mark();
            }
            self.skip_spaces(usize::MAX);
            if tabs && self.at(0) == b'\t' {
                self.pos += 1;
                continue;
            }
            if self.at(0) == b'#' {
                self.skip_rest_of_line();
            }
            let length = self.break_len(0);
            if length == 0 {
                return;
            }
            self.newline(length);
            self.simple_key_allowed |= self.flow_level == 0;
        }
    }

    /// Steps over a byte order mark. Go looks for it where its buffer begins, not where it reads: in a text that begins
    /// with one, each line loses its first character until the buffer moves on.
    #[cold]
    fn skip_mark(&mut self) {
        if let Some(first) = self.slice(self.pos, self.bytes.len()).chars().next() {
            self.pos += first.len_utf8();
        }
    }

    /// Go's buffer moves on when fewer characters are left in it than it wants to see.
    fn move_buffer(&mut self) {
        if self.marked {
            let rest = self.bytes.get(self.pos..self.bytes.len().min(BUFFER)).unwrap_or(&[]);
            self.marked = rest.iter().filter(|byte| **byte & 0xC0 != 0x80).nth(LOOK_AHEAD - 1).is_some();
        }
    }

    /// The document indicator here, if this is the start of a line.
    pub(super) fn document_indicator(&mut self) -> Option<Kind<'a>> {
        let kind = match self.rest() {
            [b'-', b'-', b'-', ..] => Kind::DocumentStart,
            [b'.', b'.', b'.', ..] => Kind::DocumentEnd,
            _ => return None,
        };
        (self.blank_or_end(3) && self.column() == 0).then_some(kind)
    }
}
