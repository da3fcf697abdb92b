//! Go's string and character literals: quoting and unquoting, as package `strconv` does.

use super::unicode::{decode, is_print};

/// How non-ASCII text is quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escape {
    /// Printable runes stand for themselves.
    Unprintable,
    /// Everything beyond ASCII is escaped.
    NonAscii,
}

/// Quotes as `strconv.Quote` does.
pub fn quote(bytes: impl AsRef<[u8]>) -> String {
    quote_with(bytes.as_ref(), '"', Escape::Unprintable)
}

/// Quotes with the given mark and escaping (`strconv.QuoteToASCII`).
pub fn quote_with(bytes: &[u8], mark: char, escape: Escape) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push(mark);
    let mut rest = bytes;
    let plain = |&&byte: &&u8| matches!(byte, b' '..=b'~') && byte != b'\\' && char::from(byte) != mark;
    loop {
        let (run, tail) = rest.split_at(rest.iter().take_while(plain).count());
        out.push_str(&String::from_utf8_lossy(run));
        let Some((rune, width)) = decode(tail) else { break };
        rest = tail;
        match rest.first() {
            Some(byte) if rune == char::REPLACEMENT_CHARACTER && width == 1 => {
                out.push_str(&format!("\\x{byte:02x}"));
            }
            _ => escape_rune(&mut out, rune, mark, escape),
        }
        rest = rest.get(width..).unwrap_or(&[]);
    }
    out.push(mark);
    out
}

/// Quotes one rune as `strconv.QuoteRune` does; numbers that are no rune become U+FFFD.
pub fn quote_rune(rune: u32, escape: Escape) -> String {
    let mut out = String::from("'");
    escape_rune(&mut out, char::from_u32(rune).unwrap_or(char::REPLACEMENT_CHARACTER), '\'', escape);
    out.push('\'');
    out
}

fn escape_rune(out: &mut String, rune: char, mark: char, escape: Escape) {
    let plain = if escape == Escape::NonAscii { rune.is_ascii() && is_print(rune) } else { is_print(rune) };
    match rune {
        '\\' => out.push_str("\\\\"),
        _ if rune == mark => out.extend(['\\', rune]),
        _ if plain => out.push(rune),
        '\x07' => out.push_str("\\a"),
        '\x08' => out.push_str("\\b"),
        '\x0c' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\x0b' => out.push_str("\\v"),
        _ if u32::from(rune) < 0x20 || rune == '\x7f' => out.push_str(&format!("\\x{:02x}", u32::from(rune))),
        _ if u32::from(rune) < 0x1_0000 => out.push_str(&format!("\\u{:04x}", u32::from(rune))),
        _ => out.push_str(&format!("\\U{:08x}", u32::from(rune))),
    }
}

/// Whether a text can stand between backquotes (`strconv.CanBackquote`).
pub fn can_backquote(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    text.chars().all(|c| c == '\t' || !(c < ' ' || matches!(c, '`' | '\x7f' | '\u{feff}')))
}

/// Takes the quotes off a Go string literal (`strconv.Unquote`); `None` when the syntax is wrong.
pub fn unquote(literal: &[u8]) -> Option<Vec<u8>> {
    let (&mark, rest) = literal.split_first()?;
    let (&end, body) = rest.split_last()?;
    if mark != end {
        return None;
    }
    match mark {
        b'`' if body.contains(&b'`') => None,
        // Go drops carriage returns from raw strings.
        b'`' => Some(body.iter().copied().filter(|&byte| byte != b'\r').collect()),
        b'"' => unquote_body(body),
        _ => None,
    }
}

fn unquote_body(body: &[u8]) -> Option<Vec<u8>> {
    let plain = |&byte: &u8| byte.is_ascii() && !matches!(byte, b'\\' | b'"' | b'\n');
    if body.iter().all(plain) {
        return Some(body.to_vec());
    }
    let mut out = Vec::with_capacity(body.len());
    let mut rest = body;
    while !rest.is_empty() {
        rest = match unquote_char(rest, b'"')? {
            (Unit::Byte(byte), tail) => {
                out.push(byte);
                tail
            }
            (Unit::Rune(rune), tail) => {
                out.extend_from_slice(rune.encode_utf8(&mut [0; 4]).as_bytes());
                tail
            }
        };
    }
    Some(out)
}

/// One unit of a literal: `\x41` and `\101` are bytes, all else is a rune.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Byte(u8),
    Rune(char),
}

/// Reads one unit of a literal and what follows it (`strconv.UnquoteChar`).
pub(crate) fn unquote_char(text: &[u8], mark: u8) -> Option<(Unit, &[u8])> {
    let (&first, tail) = text.split_first()?;
    if first == mark || first == b'\n' {
        return None;
    }
    if first != b'\\' {
        let (rune, width) = decode(text)?;
        // Bytes that are no UTF-8 stay as they are.
        let unit = if width == 1 { Unit::Byte(first) } else { Unit::Rune(rune) };
        return Some((unit, text.get(width..)?));
    }
    let (&kind, tail) = tail.split_first()?;
    let simple = |byte| Some((Unit::Byte(byte), tail));
    match kind {
        b'a' => simple(7),
        b'b' => simple(8),
        b'f' => simple(12),
        b'n' => simple(b'\n'),
        b'r' => simple(b'\r'),
        b't' => simple(b'\t'),
        b'v' => simple(11),
        b'\\' => simple(b'\\'),
        b'\'' | b'"' if kind == mark => simple(kind),
        b'x' => digits(tail, 2, 16).and_then(|(n, tail)| Some((Unit::Byte(u8::try_from(n).ok()?), tail))),
        b'u' => digits(tail, 4, 16).and_then(|(n, tail)| Some((Unit::Rune(char::from_u32(n)?), tail))),
        b'U' => digits(tail, 8, 16).and_then(|(n, tail)| Some((Unit::Rune(char::from_u32(n)?), tail))),
        b'0'..=b'7' => {
            digits(text.get(1..)?, 3, 8).and_then(|(n, tail)| Some((Unit::Byte(u8::try_from(n).ok()?), tail)))
        }
        _ => None,
    }
}

fn digits(text: &[u8], count: usize, base: u32) -> Option<(u32, &[u8])> {
    let (head, tail) = text.split_at_checked(count)?;
    let number = head
        .iter()
        .try_fold(0u32, |sum, &byte| sum.checked_mul(base)?.checked_add(char::from(byte).to_digit(base)?))?;
    Some((number, tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_like_go() {
        assert_eq!(quote("a\"b\\\n\u{1}\u{ad}é\u{2028}"), "\"a\\\"b\\\\\\n\\x01\\u00adé\\u2028\"");
        assert_eq!(quote(b"\xff\xc3\xa9".as_slice()), "\"\\xffé\"");
    }
}
