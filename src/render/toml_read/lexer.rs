//! The tokens of a TOML document, with the errors that Go finds among them.
//!
//! As BurntSushi/toml v1.6.0 `lex.go`: each state is a function that may hand out tokens and names the next state.

use std::collections::VecDeque;

use crate::go::quote;
use crate::go::quote::{Escape, quote_rune};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    End,
    Text,
    Str,
    /// A string with escapes.
    Escaped,
    /// A string of several lines, with escapes.
    Lines,
    Raw,
    RawLines,
    Bool,
    Integer,
    Float,
    Datetime,
    Array,
    ArrayEnd,
    Table,
    TableEnd,
    Tables,
    TablesEnd,
    Key,
    KeyEnd,
    Comment,
    Inline,
    InlineEnd,
    /// The text says what is wrong.
    Error,
}

/// A token with its line.
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) text: String,
    pub(super) line: usize,
}

#[derive(Clone, Copy)]
enum State {
    Top,
    TopEnd,
    TableStart,
    TableEnd,
    TablesEnd,
    TableName,
    TableNameEnd,
    BareName,
    QuotedName,
    KeyStart,
    KeyName,
    KeyEnd,
    Value,
    ArrayValue,
    ArrayValueEnd,
    InlineValue,
    InlineValueEnd,
    Str,
    Lines,
    Raw,
    RawLines,
    Comment,
}

/// Where to go on; nothing after an error or at the end.
type Next = Option<State>;

/// Stands for the end of the text, as in Go.
const END: char = '\0';

/// Stands for a character that was refused.
const BAD: char = char::REPLACEMENT_CHARACTER;

pub(super) struct Lexer<'t> {
    text: &'t [u8],
    start: usize,
    pos: usize,
    line: usize,
    state: Next,
    stack: Vec<State>,
    tokens: VecDeque<Token>,
    /// Widths of the last four characters, the latest first.
    widths: [usize; 4],
    at_end: bool,
    /// Whether the string that is being read has escapes.
    escaped: bool,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        Self {
            text,
            start: 0,
            pos: 0,
            line: 1,
            state: Some(State::Top),
            stack: Vec::new(),
            tokens: VecDeque::new(),
            widths: [0; 4],
            at_end: false,
            escaped: false,
        }
    }

    /// The next token; the end again and again once it is reached.
    pub(super) fn token(&mut self) -> Token {
        loop {
            if let Some(token) = self.tokens.pop_front() {
                return token;
            }
            let Some(state) = self.state else {
                return Token { kind: Kind::End, text: String::new(), line: self.line };
            };
            self.state = self.step(state);
        }
    }

    fn step(&mut self, state: State) -> Next {
        match state {
            State::Top => self.top(),
            State::TopEnd => self.top_end(),
            State::TableStart => self.table_start(),
            State::TableEnd => self.emit_then(Kind::TableEnd, State::TopEnd),
            State::TablesEnd => self.tables_end(),
            State::TableName => self.table_name(),
            State::TableNameEnd => self.table_name_end(),
            State::BareName => self.bare_name(),
            State::QuotedName => self.quoted_name(),
            State::KeyStart => self.key_start(),
            State::KeyName => self.key_name(),
            State::KeyEnd => self.key_end(),
            State::Value => self.value(),
            State::ArrayValue => self.array_value(),
            State::ArrayValueEnd => self.array_value_end(),
            State::InlineValue => self.inline_value(),
            State::InlineValueEnd => self.inline_value_end(),
            State::Str => self.string(),
            State::Lines => self.lines(),
            State::Raw => self.raw(),
            State::RawLines => self.raw_lines(),
            State::Comment => self.comment(),
        }
    }

    fn current(&self) -> &'t [u8] {
        self.text.get(self.start..self.pos).unwrap_or_default()
    }

    fn current_text(&self) -> String {
        String::from_utf8_lossy(self.current()).into_owned()
    }

    fn hand_out(&mut self, kind: Kind, text: String, line: usize) {
        self.tokens.push_back(Token { kind, text, line });
    }

    fn emit(&mut self, kind: Kind) {
        let text = self.current_text();
        self.hand_out(kind, text, self.line);
        self.start = self.pos;
    }

    fn emit_then(&mut self, kind: Kind, next: State) -> Next {
        self.emit(kind);
        Some(next)
    }

    fn emit_and_return(&mut self, kind: Kind) -> Next {
        self.emit(kind);
        self.stack.pop()
    }

    fn ignore(&mut self) {
        self.start = self.pos;
    }

    fn skip_to(&mut self, next: State) -> Next {
        self.ignore();
        Some(next)
    }

    fn push(&mut self, back: State, next: State) -> Next {
        self.stack.push(back);
        Some(next)
    }

    fn next(&mut self) -> char {
        let Some(&byte) = self.text.get(self.pos) else {
            self.at_end = true;
            return END;
        };
        if byte == b'\n' {
            self.line += 1;
        }
        self.widths = [self.widths[0], self.widths[0], self.widths[1], self.widths[2]];
        let rest = self.text.get(self.pos..).unwrap_or_default();
        let (c, width) = crate::go::decode(rest).unwrap_or((BAD, 1));
        if c == BAD && width == 1 {
            return self.refuse(format!("invalid UTF-8 byte: 0x{byte:02x}"));
        }
        let lone_return = c == '\r' && self.text.get(self.pos + 1) != Some(&b'\n');
        if lone_return || c.is_ascii_control() && !matches!(c, '\t' | '\r' | '\n') {
            let words = "TOML files cannot contain control characters";
            return self.refuse(format!("{words}: '0x{:02x}'", u32::from(c)));
        }
        self.widths[0] = width;
        self.pos += width;
        c
    }

    fn refuse(&mut self, words: String) -> char {
        self.hand_out(Kind::Error, words, self.line);
        BAD
    }

    /// Steps back over one character.
    fn backup(&mut self) {
        if std::mem::take(&mut self.at_end) {
            return;
        }
        let [width, rest @ ..] = self.widths;
        self.widths = [rest[0], rest[1], rest[2], rest[2]];
        self.pos = self.pos.saturating_sub(width);
        if self.text.get(self.pos) == Some(&b'\n') {
            self.line = self.line.saturating_sub(1);
        }
    }

    fn backup_by(&mut self, characters: usize) {
        (0..characters).for_each(|_| self.backup());
    }

    fn accept(&mut self, wanted: char) -> bool {
        let met = self.next() == wanted;
        if !met {
            self.backup();
        }
        met
    }

    fn peek(&mut self) -> char {
        let c = self.next();
        self.backup();
        c
    }

    /// Reads on while characters are of a kind; the first other one is left.
    fn run(&mut self, of: impl Fn(char) -> bool) {
        while of(self.next()) {}
        self.backup();
    }

    fn skip_blanks(&mut self) {
        self.run(is_blank);
        self.ignore();
    }

    /// An error in words of its own (Go's `errorf`).
    fn fail(&mut self, words: impl Into<String>) -> Next {
        let behind_break =
            self.at_end && self.pos.checked_sub(1).and_then(|at| self.text.get(at)) == Some(&b'\n');
        self.hand_out(Kind::Error, words.into(), self.line - usize::from(behind_break));
        None
    }

    /// An error told at the line before, where a line break is what is wrong (Go's `errorPrevLine`).
    fn fail_before(&mut self, words: impl Into<String>) -> Next {
        self.hand_out(Kind::Error, words.into(), self.line.saturating_sub(1));
        None
    }

    fn fail_at(&mut self, c: char, words: String) -> Next {
        if c == '\n' { self.fail_before(words) } else { self.fail(words) }
    }

    fn top(&mut self) -> Next {
        match self.next() {
            ' ' | '\t' | '\n' | '\r' => self.skip_to(State::Top),
            '#' => self.comment_start(State::Top),
            '[' => Some(State::TableStart),
            END => {
                self.emit(Kind::End);
                None
            }
            _ => {
                self.backup();
                self.push(State::TopEnd, State::KeyStart)
            }
        }
    }

    fn top_end(&mut self) -> Next {
        match self.next() {
            '#' => self.comment_start(State::Top),
            ' ' | '\t' => Some(State::TopEnd),
            '\n' | '\r' => self.skip_to(State::Top),
            END => {
                self.emit(Kind::End);
                None
            }
            c => self.fail(format!(
                "expected a top-level item to end with a newline, comment, or EOF, but got {} instead",
                shown(c)
            )),
        }
    }

    fn table_start(&mut self) -> Next {
        if self.peek() == '[' {
            self.next();
            self.emit(Kind::Tables);
            return self.push(State::TablesEnd, State::TableName);
        }
        self.emit(Kind::Table);
        self.push(State::TableEnd, State::TableName)
    }

    fn tables_end(&mut self) -> Next {
        match self.next() {
            ']' => self.emit_then(Kind::TablesEnd, State::TopEnd),
            c => self.fail(format!(
                "expected end of table array name delimiter ']', but got {} instead",
                shown(c)
            )),
        }
    }

    fn table_name(&mut self) -> Next {
        self.skip_blanks();
        match self.peek() {
            ']' | END => self.fail("unexpected end of table name (table names cannot be empty)"),
            '.' => self.fail("unexpected table separator (table names cannot be empty)"),
            '"' | '\'' => self.push(State::TableNameEnd, State::QuotedName),
            _ => self.push(State::TableNameEnd, State::BareName),
        }
    }

    fn table_name_end(&mut self) -> Next {
        self.skip_blanks();
        match self.next() {
            '.' => self.skip_to(State::TableName),
            ']' => self.stack.pop(),
            c => self.fail(format!("expected '.' or ']' to end table name, but got {} instead", shown(c))),
        }
    }

    fn bare_name(&mut self) -> Next {
        self.run(is_bare);
        self.emit_and_return(Kind::Text)
    }

    fn quoted_name(&mut self) -> Next {
        let quote = self.next();
        self.skip_to(if quote == '"' { State::Str } else { State::Raw })
    }

    fn key_start(&mut self) -> Next {
        self.skip_blanks();
        match self.peek() {
            '=' | END => self.fail("unexpected '=': key name appears blank"),
            '.' => self.fail("unexpected '.': keys cannot start with a '.'"),
            _ => self.emit_then(Kind::Key, State::KeyName),
        }
    }

    fn key_name(&mut self) -> Next {
        self.skip_blanks();
        match self.peek() {
            '=' | END => self.fail("unexpected '='"),
            '.' => self.fail("unexpected '.'"),
            '"' | '\'' => self.push(State::KeyEnd, State::QuotedName),
            _ => self.push(State::KeyEnd, State::BareName),
        }
    }

    fn key_end(&mut self) -> Next {
        self.skip_blanks();
        match self.next() {
            END => self.fail("unexpected EOF; expected key separator '='"),
            '.' => self.skip_to(State::KeyName),
            '=' => {
                self.emit(Kind::KeyEnd);
                self.skip_to(State::Value)
            }
            c => self.fail_at(c, format!("expected '.' or '=', but got {} instead", shown(c))),
        }
    }

    fn value(&mut self) -> Next {
        let c = self.next();
        match c {
            ' ' | '\t' => return self.skip_to(State::Value),
            '0'..='9' => {
                self.backup();
                return self.number_or_date();
            }
            '[' => {
                self.ignore();
                return self.emit_then(Kind::Array, State::ArrayValue);
            }
            '{' => {
                self.ignore();
                return self.emit_then(Kind::Inline, State::InlineValue);
            }
            '"' => return self.opened('"', State::Str, State::Lines),
            '\'' => return self.opened('\'', State::Raw, State::RawLines),
            '.' => return self.fail("floats must start with a digit, not '.'"),
            'i' | 'n' if self.accept('n') && self.accept('f') || self.accept('a') && self.accept('n') => {
                return self.emit_and_return(Kind::Float);
            }
            '-' | '+' => return self.signed_number(),
            END => return self.fail("unexpected EOF; expected value"),
            _ => {}
        }
        if c.is_alphabetic() {
            self.backup();
            return self.bool();
        }
        self.fail_at(c, format!("expected value but found {} instead", shown(c)))
    }

    /// A string of one line, or of several behind three quotes.
    fn opened(&mut self, quote: char, one: State, several: State) -> Next {
        if self.accept(quote) {
            if self.accept(quote) {
                return self.skip_to(several);
            }
            self.backup();
        }
        self.skip_to(one)
    }

    fn array_value(&mut self) -> Next {
        match self.next() {
            ' ' | '\t' | '\n' | '\r' => self.skip_to(State::ArrayValue),
            '#' => self.comment_start(State::ArrayValue),
            ',' => self.fail("unexpected comma"),
            ']' => self.closed(Kind::ArrayEnd),
            _ => {
                self.backup();
                self.push(State::ArrayValueEnd, State::Value)
            }
        }
    }

    fn array_value_end(&mut self) -> Next {
        match self.next() {
            ' ' | '\t' | '\n' | '\r' => self.skip_to(State::ArrayValueEnd),
            '#' => self.comment_start(State::ArrayValueEnd),
            ',' => self.skip_to(State::ArrayValue),
            ']' => self.closed(Kind::ArrayEnd),
            c => self.fail(format!(
                "expected a comma (',') or array terminator (']'), but got {}",
                bare_or_end(c)
            )),
        }
    }

    fn inline_value(&mut self) -> Next {
        match self.next() {
            ' ' | '\t' | '\n' | '\r' => self.skip_to(State::InlineValue),
            '#' => self.comment_start(State::InlineValue),
            ',' => self.fail("unexpected comma"),
            '}' => self.closed(Kind::InlineEnd),
            _ => {
                self.backup();
                self.push(State::InlineValueEnd, State::KeyStart)
            }
        }
    }

    fn inline_value_end(&mut self) -> Next {
        match self.next() {
            ' ' | '\t' | '\n' | '\r' => self.skip_to(State::InlineValueEnd),
            '#' => self.comment_start(State::InlineValueEnd),
            ',' => {
                self.ignore();
                self.skip_blanks();
                Some(if self.peek() == '}' { State::InlineValueEnd } else { State::InlineValue })
            }
            '}' => self.closed(Kind::InlineEnd),
            c => self.fail(format!(
                "expected a comma or an inline table terminator '}}', but got {} instead",
                bare_or_end(c)
            )),
        }
    }

    fn closed(&mut self, kind: Kind) -> Next {
        self.ignore();
        self.emit_and_return(kind)
    }

    fn string(&mut self) -> Next {
        match self.next() {
            END => self.fail("unexpected EOF; expected '\"'"),
            '\n' | '\r' => self.fail_before("strings cannot contain newlines"),
            '\\' => self.escape(State::Str),
            '"' => {
                let kind = if std::mem::take(&mut self.escaped) { Kind::Escaped } else { Kind::Str };
                self.end_of_string(kind, 1)
            }
            _ => Some(State::Str),
        }
    }

    /// Hands out a string whose closing quotes have been read.
    fn end_of_string(&mut self, kind: Kind, quotes: usize) -> Next {
        self.backup_by(quotes);
        self.emit(kind);
        for _ in 0..quotes {
            self.next();
        }
        self.ignore();
        self.stack.pop()
    }

    fn lines(&mut self) -> Next {
        match self.next() {
            END => self.fail("unexpected EOF; expected '\"\"\"'"),
            '\\' => {
                if matches!(self.next(), '\n' | '\r') {
                    return Some(State::Lines);
                }
                self.backup();
                self.escape(State::Lines)
            }
            '"' => self.closing('"', State::Lines, Kind::Lines),
            _ => Some(State::Lines),
        }
    }

    fn raw(&mut self) -> Next {
        match self.next() {
            END => self.fail("unexpected EOF; expected \"'\""),
            '\n' | '\r' => self.fail_before("strings cannot contain newlines"),
            '\'' => self.end_of_string(Kind::Raw, 1),
            _ => Some(State::Raw),
        }
    }

    fn raw_lines(&mut self) -> Next {
        match self.next() {
            END => self.fail("unexpected EOF; expected \"'''\""),
            '\'' => self.closing('\'', State::RawLines, Kind::RawLines),
            _ => Some(State::RawLines),
        }
    }

    /// A quote in a string of several lines has been read: three of them close it, and up to two before those belong to it.
    fn closing(&mut self, quote: char, state: State, kind: Kind) -> Next {
        if !self.accept(quote) {
            return Some(state);
        }
        if !self.accept(quote) {
            self.backup();
            return Some(state);
        }
        if self.peek() != quote {
            self.escaped &= kind != Kind::Lines;
            return self.end_of_string(kind, 3);
        }
        if self.has_too_many(quote) {
            return self.fail(if quote == '"' {
                "unexpected '\"\"\"\"\"\"'"
            } else {
                "unexpected \"''''''\""
            });
        }
        self.backup_by(2);
        Some(state)
    }

    fn has_too_many(&self, quote: char) -> bool {
        match quote {
            '"' => self.current().ends_with(b"\"\"\"\"\"") && !self.current().ends_with(b"\\\"\"\"\"\""),
            _ => self.current().ends_with(b"'''''"),
        }
    }

    fn escape(&mut self, back: State) -> Next {
        self.escaped = true;
        match self.next() {
            'e' | 'b' | 't' | 'n' | 'f' | 'r' | '"' | ' ' | '\t' | '\\' => Some(back),
            'x' => self.hex(2, "two hexadecimal digits after '\\x'", back),
            'u' => self.hex(4, "four hexadecimal digits after '\\u'", back),
            'U' => self.hex(8, "eight hexadecimal digits after '\\U'", back),
            c => {
                let words = format!("invalid escape in string '\\{c}'");
                if self.at_end { self.fail_before(words) } else { self.fail(words) }
            }
        }
    }

    fn hex(&mut self, digits: usize, wanted: &str, back: State) -> Next {
        for _ in 0..digits {
            if !self.next().is_ascii_hexdigit() {
                return self.fail(format!("expected {wanted}, but got {} instead", quote(self.current())));
            }
        }
        Some(back)
    }

    fn number_or_date(&mut self) -> Next {
        if self.next() == '0' {
            return self.behind_zero();
        }
        self.digits_or_date()
    }

    fn digits_or_date(&mut self) -> Next {
        loop {
            match self.next() {
                '0'..='9' => {}
                '-' | ':' => return self.datetime(),
                '_' => return self.decimal(),
                '.' | 'e' | 'E' => return self.float(),
                _ => return self.end_of_number(Kind::Integer),
            }
        }
    }

    fn end_of_number(&mut self, kind: Kind) -> Next {
        self.backup();
        self.emit_and_return(kind)
    }

    fn datetime(&mut self) -> Next {
        self.run(|c| c.is_ascii_digit() || matches!(c, '-' | ':' | 'T' | 't' | ' ' | '.' | 'Z' | 'z' | '+'));
        let text = self.current_text().trim().to_owned();
        self.hand_out(Kind::Datetime, text, self.line);
        self.ignore();
        self.stack.pop()
    }

    fn decimal(&mut self) -> Next {
        loop {
            match self.next() {
                '0'..='9' | '_' => {}
                '.' | 'e' | 'E' => return self.float(),
                _ => return self.end_of_number(Kind::Integer),
            }
        }
    }

    fn float(&mut self) -> Next {
        self.run(|c| c.is_ascii_digit() || matches!(c, '_' | '.' | '-' | '+' | 'e' | 'E'));
        self.emit_and_return(Kind::Float)
    }

    fn signed_number(&mut self) -> Next {
        let c = self.next();
        match c {
            'i' | 'n' => {
                let rest = if c == 'i' { ['n', 'f'] } else { ['a', 'n'] };
                if !rest.into_iter().all(|wanted| self.accept(wanted)) {
                    return self.fail(format!("invalid float: '{}'", self.current_text()));
                }
                return self.emit_and_return(Kind::Float);
            }
            '0' => {
                let base = self.peek();
                if matches!(base, 'b' | 'o' | 'x') {
                    let text = self.current_text();
                    return self.fail(format!("cannot use sign with non-decimal numbers: '{text}{base}'"));
                }
            }
            '.' => return self.fail("floats must start with a digit, not '.'"),
            _ => {}
        }
        if c.is_ascii_digit() {
            self.decimal()
        } else {
            self.fail(format!("expected a digit but got {}", shown(c)))
        }
    }

    fn behind_zero(&mut self) -> Next {
        match self.next() {
            '0'..='9' => self.digits_or_date(),
            '_' => self.decimal(),
            '.' | 'e' | 'E' => self.float(),
            'b' => self.based("a binary", |c| matches!(c, '0' | '1')),
            'o' => self.based("an octal", |c| matches!(c, '0'..='7')),
            'x' => self.based("a hexadecimal", |c| c.is_ascii_hexdigit()),
            _ => self.end_of_number(Kind::Integer),
        }
    }

    fn based(&mut self, what: &str, digit: fn(char) -> bool) -> Next {
        let c = self.peek();
        if !digit(c) {
            let text = self.current_text();
            return self.fail(format!("not {what} number: '{text}{c}'"));
        }
        self.run(|c| digit(c) || c == '_');
        self.emit_and_return(Kind::Integer)
    }

    fn bool(&mut self) -> Next {
        // What looked like `inf` may have been read in part.
        let from = self.pos;
        self.run(char::is_alphabetic);
        let word = self.text.get(from..self.pos).unwrap_or_default();
        if matches!(word, b"true" | b"false") {
            return self.emit_and_return(Kind::Bool);
        }
        self.fail(format!("expected value but found {} instead", quote(word)))
    }

    fn comment_start(&mut self, back: State) -> Next {
        self.stack.push(back);
        self.ignore();
        self.emit_then(Kind::Comment, State::Comment)
    }

    fn comment(&mut self) -> Next {
        match self.next() {
            '\n' | '\r' | END => {
                self.backup();
                self.emit_and_return(Kind::Text)
            }
            _ => Some(State::Comment),
        }
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

/// Whether a character needs no quotes in a key.
pub(super) fn is_bare(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

fn shown(c: char) -> String {
    quote_rune(u32::from(c), Escape::Unprintable)
}

fn bare_or_end(c: char) -> String {
    if c == END { "end of file".to_owned() } else { format!("'{c}'") }
}
