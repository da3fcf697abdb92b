//! From template text to tokens, with Go's trim markers, comments and error texts.

use crate::go::quote;
use crate::go::{decode, is_alphanumeric, is_print, is_space};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The text is no template; [`Lexer::message`] says why.
    Error,
    Bool,
    Char,
    CharConstant,
    Complex,
    Assign,
    Declare,
    Eof,
    Field,
    Identifier,
    LeftDelim,
    LeftParen,
    Number,
    Pipe,
    RawString,
    RightDelim,
    RightParen,
    Space,
    String,
    Text,
    Variable,
    Block,
    Break,
    Continue,
    Dot,
    Define,
    Else,
    End,
    If,
    Nil,
    Range,
    Template,
    With,
}

impl Kind {
    /// Whether errors show the token in angle brackets.
    pub(crate) fn is_keyword(self) -> bool {
        matches!(
            self,
            Self::Block
                | Self::Break
                | Self::Continue
                | Self::Dot
                | Self::Define
                | Self::Else
                | Self::End
                | Self::If
                | Self::Nil
                | Self::Range
                | Self::Template
                | Self::With
        )
    }
}

/// The kind of a word; `break` and `continue` give way to functions of that name.
fn keyword(word: &[u8]) -> Kind {
    match word {
        b"block" => Kind::Block,
        b"break" => Kind::Break,
        b"continue" => Kind::Continue,
        b"define" => Kind::Define,
        b"else" => Kind::Else,
        b"end" => Kind::End,
        b"if" => Kind::If,
        b"range" => Kind::Range,
        b"nil" => Kind::Nil,
        b"template" => Kind::Template,
        b"with" => Kind::With,
        b"true" | b"false" => Kind::Bool,
        _ => Kind::Identifier,
    }
}

/// A token: its kind and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Line it begins on, from 1.
    pub(crate) line: usize,
}

/// Reads tokens from a text.
pub(crate) struct Lexer<'t> {
    text: &'t [u8],
    pos: usize,
    start: usize,
    line: usize,
    start_line: usize,
    parens: usize,
    inside: bool,
    message: String,
    /// Whether `break` is a keyword.
    pub(crate) break_ok: bool,
    /// Whether `continue` is a keyword.
    pub(crate) continue_ok: bool,
}

const LEFT: &[u8] = b"{{";
const RIGHT: &[u8] = b"}}";

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Self {
        Self {
            text,
            pos: 0,
            start: 0,
            line: 1,
            start_line: 1,
            parens: 0,
            inside: false,
            message: String::new(),
            break_ok: true,
            continue_ok: true,
        }
    }

    /// Why the last token is an error.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The bytes of a token.
    pub(crate) fn bytes(&self, token: Token) -> &'t [u8] {
        self.text.get(token.start..token.end).unwrap_or(&[])
    }

    /// The next token; after the end or an error, `Eof` for ever.
    pub(crate) fn next_token(&mut self) -> Token {
        if !self.message.is_empty() {
            return Token { kind: Kind::Eof, start: 0, end: 0, line: self.start_line };
        }
        if self.inside { self.action() } else { self.outside() }
    }

    fn rest(&self) -> &'t [u8] {
        self.text.get(self.pos..).unwrap_or(&[])
    }

    fn peek(&self) -> Option<char> {
        match self.text.get(self.pos) {
            Some(&byte) if byte.is_ascii() => Some(char::from(byte)),
            _ => decode(self.rest()).map(|(rune, _)| rune),
        }
    }

    fn bump(&mut self) -> Option<char> {
        let (rune, width) = decode(self.rest())?;
        self.pos += width;
        self.line += usize::from(rune == '\n');
        Some(rune)
    }

    /// Passes over what names are made of.
    fn word(&mut self) {
        let ascii = |&&byte: &&u8| byte.is_ascii_alphanumeric() || byte == b'_';
        loop {
            self.pos += self.rest().iter().take_while(ascii).count();
            match self.text.get(self.pos) {
                Some(byte) if !byte.is_ascii() && self.peek().is_some_and(is_alphanumeric) => self.bump(),
                _ => return,
            };
        }
    }

    fn accept(&mut self, set: &str) -> bool {
        let found = self.peek().is_some_and(|rune| set.contains(rune));
        if found {
            self.bump();
        }
        found
    }

    fn accept_run(&mut self, set: &str) {
        while self.accept(set) {}
    }

    /// Moves on and counts the lines.
    fn skip(&mut self, bytes: usize) {
        let end = (self.pos + bytes).min(self.text.len());
        self.line += memchr::memchr_iter(b'\n', self.text.get(self.pos..end).unwrap_or(&[])).count();
        self.pos = end;
    }

    fn ignore(&mut self) {
        self.start = self.pos;
        self.start_line = self.line;
    }

    fn emit(&mut self, kind: Kind) -> Token {
        let token = Token { kind, start: self.start, end: self.pos, line: self.start_line };
        self.ignore();
        token
    }

    fn error(&mut self, message: impl Into<String>) -> Token {
        self.message = message.into();
        Token { kind: Kind::Error, start: self.start, end: self.start, line: self.start_line }
    }

    /// Text, or the left delimiter where there is none; comments are passed over.
    fn outside(&mut self) -> Token {
        loop {
            let Some(at) = find(self.rest(), LEFT) else {
                self.skip(self.rest().len());
                let kind = if self.pos > self.start { Kind::Text } else { Kind::Eof };
                return self.emit(kind);
            };
            if let Some(text) = self.text_before(at) {
                return text;
            }
            match self.left_delimiter() {
                Some(token) => return token,
                None => continue,
            }
        }
    }

    /// The text before a left delimiter, without what its trim marker takes; `None` when nothing is left.
    fn text_before(&mut self, length: usize) -> Option<Token> {
        let text = self.rest().get(..length).unwrap_or(&[]);
        let trim = has_left_marker(self.rest().get(length + LEFT.len()..).unwrap_or(&[]));
        let kept = if trim { text.len() - trailing_spaces(text) } else { length };
        self.skip(kept);
        let token = self.emit(Kind::Text);
        self.skip(length - kept);
        self.ignore();
        (token.end > token.start).then_some(token)
    }

    /// The left delimiter, or `None` after a comment.
    fn left_delimiter(&mut self) -> Option<Token> {
        self.pos += LEFT.len();
        let marker = if has_left_marker(self.rest()) { 2 } else { 0 };
        if self.rest().get(marker..).is_some_and(|rest| rest.starts_with(b"/*")) {
            self.skip(marker);
            self.ignore();
            return self.comment();
        }
        let token = self.emit(Kind::LeftDelim);
        self.inside = true;
        self.skip(marker);
        self.ignore();
        self.parens = 0;
        Some(token)
    }

    /// A comment up to its right delimiter; `None` when it is well formed.
    fn comment(&mut self) -> Option<Token> {
        let Some(length) = find(self.rest().get(2..).unwrap_or(&[]), b"*/") else {
            return Some(self.error("unclosed comment"));
        };
        // The error below stands on the line where the comment begins.
        let after = self.rest().get(length + 4..).unwrap_or(&[]);
        let Some(trim) = right_delimiter(after) else {
            return Some(self.error("comment ends before closing delimiter"));
        };
        self.skip(length + 4);
        self.skip(RIGHT.len() + if trim { 2 } else { 0 });
        if trim {
            self.skip(leading_spaces(self.rest()));
        }
        self.ignore();
        None
    }

    fn close(&mut self) -> Token {
        let trim = right_delimiter(self.rest()) == Some(true);
        if trim {
            self.skip(2);
            self.ignore();
        }
        self.pos += RIGHT.len();
        let token = self.emit(Kind::RightDelim);
        if trim {
            self.skip(leading_spaces(self.rest()));
            self.ignore();
        }
        self.inside = false;
        token
    }

    fn action(&mut self) -> Token {
        if right_delimiter(self.rest()).is_some() {
            return if self.parens == 0 { self.close() } else { self.error("unclosed left paren") };
        }
        let Some(rune) = self.peek() else { return self.error("unclosed action") };
        match rune {
            ' ' | '\t' | '\r' | '\n' => self.space(),
            '+' | '-' | '0'..='9' => self.number(),
            '.' if self.rest().get(1).is_some_and(u8::is_ascii_digit) || self.rest().len() == 1 => {
                self.number()
            }
            _ if is_alphanumeric(rune) => self.identifier(),
            _ => {
                self.bump();
                self.symbol(rune)
            }
        }
    }

    /// A token that its first character, already taken, tells.
    fn symbol(&mut self, rune: char) -> Token {
        match rune {
            '=' => self.emit(Kind::Assign),
            ':' if self.bump() == Some('=') => self.emit(Kind::Declare),
            ':' => self.error("expected :="),
            '|' => self.emit(Kind::Pipe),
            '"' => self.quoted('"', Kind::String, "unterminated quoted string"),
            '\'' => self.quoted('\'', Kind::CharConstant, "unterminated character constant"),
            '`' => self.raw_string(),
            '$' => self.name(Kind::Variable),
            '.' => self.name(Kind::Field),
            '(' => {
                self.parens += 1;
                self.emit(Kind::LeftParen)
            }
            ')' => self.right_paren(),
            _ if rune.is_ascii() && is_print(rune) => self.emit(Kind::Char),
            _ => self.error(format!("unrecognized character in action: {}", unicode_name(rune))),
        }
    }

    fn right_paren(&mut self) -> Token {
        match self.parens.checked_sub(1) {
            Some(parens) => {
                self.parens = parens;
                self.emit(Kind::RightParen)
            }
            None => self.error("unexpected right paren"),
        }
    }

    fn space(&mut self) -> Token {
        while let [space, rest @ ..] = self.rest()
            && is_space(*space)
            && !rest.starts_with(b"-}}")
        {
            self.pos += 1;
            self.line += usize::from(*space == b'\n');
        }
        if self.pos == self.start { self.close() } else { self.emit(Kind::Space) }
    }

    fn identifier(&mut self) -> Token {
        self.word();
        if !self.at_terminator() {
            return self.bad_character();
        }
        let word = self.text.get(self.start..self.pos).unwrap_or(&[]);
        let kind = match keyword(word) {
            Kind::Break if !self.break_ok => Kind::Identifier,
            Kind::Continue if !self.continue_ok => Kind::Identifier,
            kind => kind,
        };
        self.emit(kind)
    }

    /// A field or variable; its `.` or `$` is already taken.
    fn name(&mut self, kind: Kind) -> Token {
        if self.at_terminator() {
            return self.emit(if kind == Kind::Field { Kind::Dot } else { kind });
        }
        self.word();
        if self.at_terminator() { self.emit(kind) } else { self.bad_character() }
    }

    fn bad_character(&mut self) -> Token {
        let rune = self.peek().unwrap_or(char::REPLACEMENT_CHARACTER);
        self.error(format!("bad character {}", unicode_name(rune)))
    }

    fn at_terminator(&self) -> bool {
        match self.peek() {
            None | Some(' ' | '\t' | '\r' | '\n' | '.' | ',' | '|' | ':' | ')' | '(') => true,
            Some(_) => self.rest().starts_with(RIGHT),
        }
    }

    /// A string or character constant; its first quote is already taken.
    fn quoted(&mut self, mark: char, kind: Kind, unterminated: &str) -> Token {
        loop {
            let plain = |&&byte: &&u8| byte.is_ascii() && !matches!(byte, b'\\' | b'\n' | b'"' | b'\'');
            self.pos += self.rest().iter().take_while(plain).count();
            match self.bump() {
                Some('\\') if !matches!(self.bump(), None | Some('\n')) => {}
                Some(rune) if rune == mark => return self.emit(kind),
                None | Some('\\' | '\n') => return self.error(unterminated),
                Some(_) => {}
            }
        }
    }

    fn raw_string(&mut self) -> Token {
        match find(self.rest(), b"`") {
            Some(length) => {
                self.skip(length + 1);
                self.emit(Kind::RawString)
            }
            None => self.error("unterminated raw quoted string"),
        }
    }

    fn number(&mut self) -> Token {
        if !self.scan_number() {
            return self.bad_number();
        }
        if matches!(self.peek(), Some('+' | '-')) {
            // A complex pair must end in i.
            if !self.scan_number() || self.text.get(self.pos - 1) != Some(&b'i') {
                return self.bad_number();
            }
            return self.emit(Kind::Complex);
        }
        self.emit(Kind::Number)
    }

    fn bad_number(&mut self) -> Token {
        let text = quote(self.text.get(self.start..self.pos).unwrap_or(&[]));
        self.error(format!("bad number syntax: {text}"))
    }

    fn scan_number(&mut self) -> bool {
        self.accept("+-");
        let (mut digits, mut exponent) = ("0123456789_", "eE");
        if self.accept("0") {
            (digits, exponent) = match () {
                () if self.accept("xX") => ("0123456789abcdefABCDEF_", "pP"),
                () if self.accept("oO") => ("01234567_", ""),
                () if self.accept("bB") => ("01_", ""),
                () => (digits, exponent),
            };
        }
        self.accept_run(digits);
        if self.accept(".") {
            self.accept_run(digits);
        }
        if self.accept(exponent) {
            self.accept("+-");
            self.accept_run("0123456789_");
        }
        self.accept("i");
        if self.peek().is_some_and(is_alphanumeric) {
            self.bump();
            return false;
        }
        true
    }
}

/// A rune as `%#U` prints it.
fn unicode_name(rune: char) -> String {
    let code = format!("U+{:04X}", u32::from(rune));
    if is_print(rune) { format!("{code} '{rune}'") } else { code }
}

/// Where a right delimiter stands at the front: `Some(true)` with a trim marker.
fn right_delimiter(text: &[u8]) -> Option<bool> {
    match text {
        [b'}', b'}', ..] => Some(false),
        [space, b'-', b'}', b'}', ..] if is_space(*space) => Some(true),
        _ => None,
    }
}

fn has_left_marker(text: &[u8]) -> bool {
    matches!(text, [b'-', space, ..] if is_space(*space))
}

fn trailing_spaces(text: &[u8]) -> usize {
    text.iter().rev().take_while(|&&byte| is_space(byte)).count()
}

fn leading_spaces(text: &[u8]) -> usize {
    text.iter().take_while(|&&byte| is_space(byte)).count()
}

/// The first place of a short needle.
fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    let (&first, tail) = needle.split_first()?;
    let mut from = 0;
    while let Some(at) = memchr::memchr(first, text.get(from..)?) {
        if text.get(from + at + 1..)?.starts_with(tail) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}
