//! Letters, words and lines as Go's `unicode`, xstrings and goutils see them.

use super::regexp;
use super::strings::characters;
use crate::template::value::GoStr;

/// `unicode.ToUpper`: one letter for one.
pub(super) fn upper(c: char) -> char {
    single(c, c.to_uppercase())
}

/// `unicode.ToLower`: one letter for one.
pub(super) fn lower(c: char) -> char {
    if c == 'İ' { 'i' } else { single(c, c.to_lowercase()) }
}

/// `unicode.ToTitle`: differs from upper case for digraphs and Georgian.
pub(super) fn title(c: char) -> char {
    match c {
        'Ǆ' | 'ǅ' | 'ǆ' => 'ǅ',
        'Ǉ' | 'ǈ' | 'ǉ' => 'ǈ',
        'Ǌ' | 'ǋ' | 'ǌ' => 'ǋ',
        'Ǳ' | 'ǲ' | 'ǳ' => 'ǲ',
        'ა'..='ჺ' | 'ჽ'..='ჿ' => c,
        c => upper(c),
    }
}

/// Go maps letter by letter; where the full mapping has several, there is none for one.
fn single(c: char, mut mapped: impl Iterator<Item = char>) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

/// `unicode.IsUpper`, or one of the title case digraphs.
pub(super) fn is_upper(c: char) -> bool {
    let letter = !matches!(c, 'Ⅰ'..='Ⅿ' | 'Ⓐ'..='Ⓩ' | '\u{1F130}'..='\u{1F189}');
    c.is_uppercase() && letter
}

/// `unicode.IsLower`.
pub(super) fn is_lower(c: char) -> bool {
    let letter = !matches!(c, 'ª' | 'º' | 'ⅰ'..='ⅿ' | 'ⓐ'..='ⓩ' | '\u{2B0}'..='\u{2E4}' | '\u{345}');
    c.is_lowercase() && letter
}

/// What separates words for `strings.Title`.
pub(super) fn is_separator(c: char) -> bool {
    match c {
        c if c.is_ascii() => !c.is_ascii_alphanumeric() && c != '_',
        c if c.is_alphabetic() || c.is_numeric() => false,
        c => c.is_whitespace(),
    }
}

fn is_connector(c: char) -> bool {
    c == '-' || c == '_' || c.is_whitespace()
}

/// A letter that takes part in words; Chinese characters do not.
fn is_letter(c: char) -> bool {
    let chinese = matches!(c, '\u{3400}'..='\u{4D85}' | '\u{4E00}'..='\u{9FCC}' | '\u{20000}'..='\u{2B81D}');
    c.is_alphabetic() && !chinese
}

fn is_punctuation(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_punctuation() && !"$+<=>^`|~".contains(c);
    }
    regexp::compile(br"\pP").is_ok_and(|p| p.is_match(c.encode_utf8(&mut [0; 4]).as_bytes()))
}

/// As xstrings v1.5.0 `ToPascalCase`.
pub(super) fn pascal_case(text: &str, lowers: bool) -> String {
    let start = text.find(|c| !is_connector(c));
    let Some((head, first, rest)) = start.and_then(|at| split_first(text, at)) else {
        return text.to_owned();
    };
    let mut out = String::from(head);
    let mut upper_run = is_upper(first);
    let mut last = upper(first);
    for c in rest.chars() {
        let mut c = c;
        let before = last;
        if is_connector(before) {
            if is_connector(c) {
                out.push(before);
                last = c;
                continue;
            }
            upper_run = is_upper(c);
            c = upper(c);
        } else {
            if lowers && upper_run && is_upper(c) {
                c = lower(c);
            } else {
                upper_run = false;
            }
            out.push(before);
        }
        last = c;
    }
    out.push(last);
    out
}

fn split_first(text: &str, at: usize) -> Option<(&str, char, &str)> {
    let (head, tail) = text.split_at_checked(at)?;
    let mut chars = tail.chars();
    Some((head, chars.next()?, chars.as_str()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Invalid,
    Number,
    Upper,
    Letters,
    Connector,
    Punctuation,
    Other,
}

/// Cuts a text into words one by one, as xstrings `nextWord`.
struct Words<'a> {
    rest: &'a [u8],
}

impl<'a> Words<'a> {
    fn next(&mut self) -> (Kind, &'a [u8]) {
        let first = self.peek(0);
        let (kind, length) = match first {
            None if self.rest.is_empty() => (Kind::Invalid, 0),
            None => (Kind::Invalid, self.rest.len()),
            Some((c, width)) if is_connector(c) => (Kind::Connector, self.run(width, is_connector)),
            Some((c, width)) if is_punctuation(c) => (Kind::Punctuation, self.run(width, is_punctuation)),
            Some((c, width)) if is_upper(c) => (Kind::Upper, self.upper_word(width)),
            Some((c, width)) if is_letter(c) => (Kind::Letters, self.run(width, is_small)),
            Some((c, width)) if c.is_numeric() => (Kind::Number, self.run(width, char::is_numeric)),
            Some((_, width)) => (Kind::Other, self.run(width, is_other)),
        };
        let (word, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, &[]));
        self.rest = rest;
        (kind, word)
    }

    /// The next valid character from a place on, with the width of the invalid bytes before it.
    fn peek(&self, at: usize) -> Option<(char, usize)> {
        let mut width = 0;
        for piece in characters(self.rest.get(at..)?) {
            width += piece.len();
            if let Ok(text) = std::str::from_utf8(piece) {
                return text.chars().next().map(|c| (c, width));
            }
        }
        None
    }

    fn run(&self, mut at: usize, class: fn(char) -> bool) -> usize {
        while let Some((_, width)) = self.peek(at).filter(|(c, _)| class(*c)) {
            at += width;
        }
        at
    }

    /// `HTTPServer` is `HTTP` and `Server`, `Server` is one word.
    fn upper_word(&self, first: usize) -> usize {
        let end = self.run(first, is_upper);
        match self.peek(end) {
            Some((c, _)) if is_letter(c) && end == first => self.run(first, is_small),
            Some((c, _)) if is_letter(c) => end - self.last_width(first, end),
            _ => end,
        }
    }

    fn last_width(&self, from: usize, to: usize) -> usize {
        characters(self.rest.get(from..to).unwrap_or_default()).last().map_or(0, <[u8]>::len)
    }
}

fn is_small(c: char) -> bool {
    is_letter(c) && !is_upper(c)
}

fn is_other(c: char) -> bool {
    !is_connector(c) && !is_letter(c) && !c.is_numeric() && !is_punctuation(c)
}

/// As xstrings v1.5.0 `camelCaseToLowerCase`: words in lower case with a connector between them.
pub(super) fn lower_case(text: &[u8], connector: char) -> GoStr {
    let mut out = Vec::new();
    let mut words = Words { rest: text };
    if text.is_empty() {
        return GoStr::from(text);
    }
    let (mut kind, mut word) = words.next();
    while !words.rest.is_empty() {
        if kind != Kind::Connector {
            push_lower(&mut out, kind, word, connector);
        }
        let (before, last) = (kind, word);
        (kind, word) = words.next();
        match before {
            Kind::Number => {
                (kind, word) = push_letters(&mut out, &mut words, kind, word, connector);
                push_connector(&mut out, kind, connector, kind != Kind::Invalid);
            }
            Kind::Connector => push_lower(&mut out, before, last, connector),
            Kind::Punctuation => {}
            _ if kind != Kind::Number => push_connector(&mut out, kind, connector, true),
            _ if words.rest.is_empty() => {}
            _ => (kind, word) = after_number(&mut out, &mut words, word, connector),
        }
    }
    push_lower(&mut out, kind, word, connector);
    GoStr::from(out)
}

/// A number behind letters belongs to the letters that follow it, or else to those before it.
fn after_number<'a>(
    out: &mut Vec<u8>,
    words: &mut Words<'a>,
    number: &[u8],
    connector: char,
) -> (Kind, &'a [u8]) {
    let (kind, word) = words.next();
    if kind != Kind::Letters {
        push_lower(out, Kind::Number, number, connector);
        push_connector(out, kind, connector, true);
        return (kind, word);
    }
    push_char(out, connector);
    push_lower(out, Kind::Number, number, connector);
    let (kind, word) = push_letters(out, words, kind, word, connector);
    push_connector(out, kind, connector, kind != Kind::Invalid);
    (kind, word)
}

fn push_letters<'a>(
    out: &mut Vec<u8>,
    words: &mut Words<'a>,
    mut kind: Kind,
    mut word: &'a [u8],
    connector: char,
) -> (Kind, &'a [u8]) {
    while matches!(kind, Kind::Letters | Kind::Number) {
        push_lower(out, kind, word, connector);
        (kind, word) = words.next();
    }
    (kind, word)
}

fn push_connector(out: &mut Vec<u8>, next: Kind, connector: char, wanted: bool) {
    if wanted && !matches!(next, Kind::Connector | Kind::Punctuation) {
        push_char(out, connector);
    }
}

fn push_lower(out: &mut Vec<u8>, kind: Kind, word: &[u8], connector: char) {
    if !matches!(kind, Kind::Upper | Kind::Connector) {
        out.extend_from_slice(word);
        return;
    }
    for c in String::from_utf8_lossy(word).chars() {
        push_char(out, if is_connector(c) { connector } else { lower(c) });
    }
}

fn push_char(out: &mut Vec<u8>, c: char) {
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

/// As goutils v1.1.1 `WrapCustom`: widths are bytes, only a space ends a word.
pub(super) fn wrap(text: &[u8], width: i64, line_break: &[u8], break_words: bool) -> GoStr {
    let width = usize::try_from(width.max(1)).unwrap_or(usize::MAX);
    let mut out = Vec::new();
    let mut rest = text;
    let mut line = |words: &[u8], rest: &mut &[u8], skipped: usize| {
        out.extend_from_slice(words);
        out.extend_from_slice(line_break);
        *rest = rest.get(words.len() + skipped..).unwrap_or_default();
    };
    while rest.len() > width {
        let reach = rest.get(..=width).unwrap_or(rest);
        if rest.starts_with(b" ") {
            rest = rest.get(1..).unwrap_or_default();
        } else if let Some(space) = reach.iter().rposition(|b| *b == b' ') {
            line(rest.get(..space).unwrap_or_default(), &mut rest, 1);
        } else if break_words {
            line(rest.get(..width).unwrap_or_default(), &mut rest, 0);
        } else if let Some(space) = rest.iter().position(|b| *b == b' ') {
            line(rest.get(..space).unwrap_or_default(), &mut rest, 1);
        } else {
            break;
        }
    }
    out.extend_from_slice(rest);
    GoStr::from(out)
}
