//! Runes: decoding bytes as Go does and Go's classes of characters.

use std::sync::LazyLock;

use regex::Regex;

/// Decodes the first rune and its width; an invalid byte is U+FFFD of width 1. `None` at the end.
pub(crate) fn decode(bytes: &[u8]) -> Option<(char, usize)> {
    let first = *bytes.first()?;
    if first < 0x80 {
        return Some((char::from(first), 1));
    }
    let head = bytes.get(..bytes.len().min(4)).unwrap_or(bytes);
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) => {
            head.get(..error.valid_up_to()).and_then(|head| std::str::from_utf8(head).ok()).unwrap_or("")
        }
    };
    Some(valid.chars().next().map_or((char::REPLACEMENT_CHARACTER, 1), |rune| (rune, rune.len_utf8())))
}

/// The runes of a byte string with their widths; `(U+FFFD, 1)` for invalid bytes.
pub(crate) fn runes(bytes: &[u8]) -> impl Iterator<Item = (char, usize)> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (rune, width) = decode(rest)?;
        rest = rest.get(width..).unwrap_or(&[]);
        Some((rune, width))
    })
}

/// `utf8.RuneCount`
pub(crate) fn count(bytes: &[u8]) -> usize {
    if bytes.is_ascii() { bytes.len() } else { runes(bytes).count() }
}

fn in_class(class: &LazyLock<Option<Regex>>, rune: char) -> bool {
    class.as_ref().is_some_and(|class| class.is_match(rune.encode_utf8(&mut [0; 4])))
}

/// `unicode.IsLetter` or `unicode.IsDigit` or an underscore.
pub(crate) fn is_alphanumeric(rune: char) -> bool {
    static CLASS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[\p{L}\p{Nd}]$").ok());
    if rune.is_ascii() { rune == '_' || rune.is_ascii_alphanumeric() } else { in_class(&CLASS, rune) }
}

/// `strconv.IsPrint` and `unicode.IsPrint`: letters, marks, numbers, punctuation, symbols and the ASCII space.
pub(crate) fn is_print(rune: char) -> bool {
    static CLASS: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"^[\p{L}\p{M}\p{N}\p{P}\p{S}]$").ok());
    if rune.is_ascii() { rune == ' ' || rune.is_ascii_graphic() } else { in_class(&CLASS, rune) }
}

/// Space to templates: blank, tab, carriage return, newline.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}
