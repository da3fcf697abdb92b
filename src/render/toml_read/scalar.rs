//! Strings, numbers and times of TOML.

use super::lexer::{Kind, Token};
use super::{Parser, Stop, bug};
use crate::go::quote;
use crate::template::funcs::{parse_float, time_at};
use crate::template::number::parse_int;
use crate::template::value::Value;

/// Layouts of times with the name of the zone they are in, none for those that name one.
const LAYOUTS: [(&str, Option<&str>); 7] = [
    ("2006-01-02T15:04:05.999999999Z07:00", None),
    ("2006-01-02T15:04:05.999999999", Some("datetime-local")),
    ("2006-01-02", Some("date-local")),
    ("15:04:05.999999999", Some("time-local")),
    ("2006-01-02T15:04Z07:00", None),
    ("2006-01-02T15:04", Some("datetime-local")),
    ("15:04", Some("time-local")),
];

impl Parser<'_> {
    pub(super) fn string(&self, token: &Token) -> Result<String, Stop> {
        match token.kind {
            Kind::Escaped => self.unescape(token, &token.text),
            Kind::Lines => self.unescape(token, &joined(without_first_break(&token.text))),
            Kind::RawLines => Ok(without_first_break(&token.text).to_owned()),
            _ => Ok(token.text.clone()),
        }
    }

    fn unescape(&self, token: &Token, text: &str) -> Result<String, Stop> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('\\') {
            out.push_str(rest.get(..at).unwrap_or_default());
            rest = rest.get(at + 1..).unwrap_or_default();
            let mut chars = rest.chars();
            let letter = chars.next().unwrap_or_default();
            let digits = match letter {
                'x' => 2,
                'u' => 4,
                'U' => 8,
                _ => 0,
            };
            let hex = rest.get(1..=digits).unwrap_or_default();
            out.push(self.escape(token, letter, hex)?);
            rest = rest.get(letter.len_utf8() + hex.len()..).unwrap_or_default();
        }
        Ok(out + rest)
    }

    fn escape(&self, token: &Token, letter: char, hex: &str) -> Result<char, Stop> {
        Ok(match letter {
            'b' => '\u{8}',
            't' => '\t',
            'n' => '\n',
            'f' => '\u{c}',
            'r' => '\r',
            'e' => '\u{1b}',
            '"' | '\\' => letter,
            'x' | 'u' | 'U' => {
                let rune = u32::from_str_radix(hex, 16).ok().and_then(char::from_u32);
                let words = || format!("Escaped character '\\u{hex}' is not valid UTF-8.");
                return rune.ok_or_else(|| self.refused(token.line, &words()));
            }
            ' ' | '\t' => return Err(self.refused(token.line, &format!("invalid escape: '\\{letter}'"))),
            _ => return Err(bug("Expected valid escape code after \\")),
        })
    }

    pub(super) fn integer(&self, token: &Token) -> Result<Value, Stop> {
        let text = &token.text;
        let wrong = |why: &str| self.refused(token.line, &format!("Invalid integer {}: {why}", quote(text)));
        if !underscores_fit(text) {
            return Err(wrong("underscores must be surrounded by digits"));
        }
        if has_leading_zero(text) {
            return Err(wrong("cannot have leading zeroes"));
        }
        parse_int(text)
            .map(Value::Int64)
            .ok_or_else(|| self.refused(token.line, &format!("{text} is out of range for int64")))
    }

    pub(super) fn float(&self, token: &Token) -> Result<Value, Stop> {
        let text = &token.text;
        let wrong = |why: &str| self.refused(token.line, &format!("Invalid float {}: {why}", quote(text)));
        let mut parts = text.split(['.', 'e', 'E']).filter(|part| !part.is_empty());
        if !parts.clone().all(underscores_fit) {
            return Err(wrong("underscores must be surrounded by digits"));
        }
        if parts.next().is_some_and(has_leading_zero) {
            return Err(wrong("cannot have leading zeroes"));
        }
        if !periods_fit(text) {
            return Err(wrong("'.' must be followed by one or more digits"));
        }
        self.float_of(token, &text.replace('_', ""))
    }

    fn float_of(&self, token: &Token, digits: &str) -> Result<Value, Stop> {
        if matches!(digits, "nan" | "+nan" | "-nan") {
            return Ok(Value::Float(f64::NAN));
        }
        if let Some(number) = parse_float(digits) {
            return Ok(Value::Float(number));
        }
        let words = match digits.parse::<f64>() {
            Ok(_) => format!("{} is out of range for float64", token.text),
            Err(_) => format!("Invalid float value: {}", quote(&token.text)),
        };
        Err(self.refused(token.line, &words))
    }

    pub(super) fn datetime(&self, token: &Token) -> Result<Value, Stop> {
        let text = token.text.replace('z', "Z").replace(['t', ' '], "T");
        let read = |(layout, zone): &(&str, Option<&str>)| {
            time_at(layout, &text, *zone).map(|time| (time, lacks_zero(&text, layout)))
        };
        match LAYOUTS.iter().find_map(read) {
            Some((time, false)) => Ok(time),
            _ => Err(self.refused(token.line, &format!("invalid datetime: {}", quote(&text)))),
        }
    }
}

/// Whether a text lacks a zero that the layout has: Go reads it all the same.
fn lacks_zero(text: &str, layout: &str) -> bool {
    let fixed = layout.bytes().take_while(|byte| !matches!(byte, b'.' | b'Z'));
    let mut marks = fixed.enumerate().filter(|(_, byte)| !byte.is_ascii_digit());
    marks.any(|(at, mark)| text.as_bytes().get(at) != Some(&mark))
}

fn without_first_break(text: &str) -> &str {
    text.strip_prefix('\n').or_else(|| text.strip_prefix("\r\n")).unwrap_or(text)
}

/// The text without line breaks that a backslash stands before, and without the blanks behind those.
fn joined(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    let mut from = 0;
    while let Some(at) = rest.get(from..).and_then(|tail| tail.find('\\')).map(|at| from + at) {
        let after = rest.get(at + 1..).unwrap_or_default();
        let next = after.trim_start_matches([' ', '\t', '\r', '\n']);
        let blanks = after.get(..after.len() - next.len()).unwrap_or_default();
        if after.starts_with('\\') {
            from = at + 2;
        } else if blanks.contains('\n') {
            out.push_str(rest.get(..at).unwrap_or_default());
            (rest, from) = (next, 0);
        } else {
            from = at + 1;
        }
    }
    out + rest
}

fn has_leading_zero(text: &str) -> bool {
    match text.as_bytes() {
        [b'0', next, ..] => !matches!(next, b'b' | b'o' | b'x'),
        [b'-' | b'+', b'0', _, ..] => true,
        _ => false,
    }
}

/// Whether digits are on both sides of each underscore.
fn underscores_fit(text: &str) -> bool {
    if matches!(text.trim_start_matches(['+', '-']), "nan" | "inf") {
        return true;
    }
    let mut digit = false;
    for c in text.chars() {
        if c == '_' && !digit {
            return false;
        }
        digit = c.is_ascii_hexdigit();
    }
    digit
}

fn periods_fit(text: &str) -> bool {
    let mut period = false;
    for c in text.chars() {
        if period && !c.is_ascii_digit() {
            return false;
        }
        period = c == '.';
    }
    !period
}
