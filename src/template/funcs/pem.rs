//! Go's `encoding/pem` without headers' values, and as much DER as keys and certificates take.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::encoding::decode_base64;

/// A block of a PEM text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// What stands behind `BEGIN`.
    pub(super) label: String,
    /// The decoded bytes.
    pub(super) data: Vec<u8>,
}

/// Writes a block in lines of 64 characters.
pub(super) fn encode(label: &str, data: &[u8]) -> String {
    let text = BASE64_STANDARD.encode(data);
    let mut out = format!("-----BEGIN {label}-----\n");
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at_checked(64).unwrap_or((rest, ""));
        out.push_str(line);
        out.push('\n');
        rest = after;
    }
    out + "-----END " + label + "-----\n"
}

/// The first block of a text that is one (Go `encoding/pem` `Decode`).
pub(super) fn decode(text: &[u8]) -> Option<Block> {
    const BEGIN: &[u8] = b"-----BEGIN ";
    let mut rest = text;
    loop {
        let at = memchr::memmem::find(rest, BEGIN)?;
        let starts_a_line = at == 0 || rest.get(at - 1) == Some(&b'\n');
        rest = rest.get(at + BEGIN.len()..)?;
        if let Some(block) = block(rest).filter(|_| starts_a_line) {
            return Some(block);
        }
    }
}

/// A block whose text begins with its label.
fn block(text: &[u8]) -> Option<Block> {
    let (line, mut body) = line(text)?;
    let label = line.strip_suffix(b"-----")?;
    while let Some((header, after)) = self::line(body).filter(|(header, _)| header.contains(&b':')) {
        let _ = header;
        body = after;
    }
    let end = [b"-----END ", label, b"-----"].concat();
    let at = memchr::memmem::find(body, &end)?;
    let (encoded, after) = body.split_at_checked(at)?;
    let closed = self::line(after).is_some_and(|(last, _)| last == end);
    if !closed || !(encoded.is_empty() || encoded.ends_with(b"\n")) {
        return None;
    }
    let encoded: Vec<u8> = encoded.iter().copied().filter(|b| !matches!(b, b' ' | b'\t')).collect();
    Some(Block { label: String::from_utf8_lossy(label).into_owned(), data: decode_base64(&encoded).ok()? })
}

/// The first line without blanks at its end, and what follows it.
fn line(text: &[u8]) -> Option<(&[u8], &[u8])> {
    if text.is_empty() {
        return None;
    }
    let end = memchr::memchr(b'\n', text).unwrap_or(text.len());
    let (line, after) = text.split_at_checked(end)?;
    Some((line.trim_ascii_end(), after.get(1..).unwrap_or_default()))
}

/// Tags of DER.
pub(super) mod tag {
    pub(in super::super) const BOOLEAN: u8 = 0x01;
    pub(in super::super) const INTEGER: u8 = 0x02;
    pub(in super::super) const BIT_STRING: u8 = 0x03;
    pub(in super::super) const OCTET_STRING: u8 = 0x04;
    pub(in super::super) const NULL: u8 = 0x05;
    pub(in super::super) const OBJECT: u8 = 0x06;
    pub(in super::super) const UTF8: u8 = 0x0c;
    pub(in super::super) const PRINTABLE: u8 = 0x13;
    pub(in super::super) const UTC_TIME: u8 = 0x17;
    pub(in super::super) const TIME: u8 = 0x18;
    pub(in super::super) const SEQUENCE: u8 = 0x30;
    pub(in super::super) const SET: u8 = 0x31;
}

/// One element of DER from its parts.
pub(super) fn element(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let bytes = length.to_be_bytes();
    let digits = bytes.iter().position(|b| *b != 0).and_then(|at| bytes.get(at..)).unwrap_or(&[0]);
    let mut out = vec![tag];
    match digits {
        [short] if *short < 0x80 => out.push(*short),
        _ => {
            out.push(0x80 | u8::try_from(digits.len()).unwrap_or_default());
            out.extend_from_slice(digits);
        }
    }
    parts.iter().for_each(|part| out.extend_from_slice(part));
    out
}

/// A number that is not negative.
pub(super) fn integer(big_endian: &[u8]) -> Vec<u8> {
    let start = big_endian.iter().position(|b| *b != 0).unwrap_or(big_endian.len());
    let digits = big_endian.get(start..).unwrap_or_default();
    let pad: &[u8] = if digits.first().is_none_or(|b| *b >= 0x80) { &[0] } else { &[] };
    element(tag::INTEGER, &[pad, digits])
}

/// A bit string of whole bytes.
pub(super) fn bits(bytes: &[u8]) -> Vec<u8> {
    element(tag::BIT_STRING, &[&[0], bytes])
}

/// One element that was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element<'a> {
    /// Its tag.
    pub(super) tag: u8,
    /// What it holds.
    pub(super) content: &'a [u8],
    /// The whole of it.
    pub(super) whole: &'a [u8],
}

/// Takes one element from the front.
pub(super) fn take<'a>(input: &mut &'a [u8]) -> Option<Element<'a>> {
    let all = *input;
    let (tag, rest) = all.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = if *first < 0x80 {
        (usize::from(*first), rest)
    } else {
        let (digits, rest) =
            rest.split_at_checked(usize::from(first & 0x7f)).filter(|(d, _)| (1..=4).contains(&d.len()))?;
        (digits.iter().fold(0_usize, |sum, digit| sum << 8 | usize::from(*digit)), rest)
    };
    let (content, after) = rest.split_at_checked(length)?;
    *input = after;
    Some(Element { tag: *tag, content, whole: all.get(..all.len() - after.len())? })
}

/// Takes one element of a kind from the front.
pub(super) fn expect<'a>(input: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    take(input).filter(|element| element.tag == tag).map(|element| element.content)
}

/// The elements of a sequence that is all of the input; `None` when one is broken.
pub(super) fn sequence(mut input: &[u8]) -> Option<Vec<Element<'_>>> {
    let mut content = expect(&mut input, tag::SEQUENCE).filter(|_| input.is_empty())?;
    let mut out = Vec::new();
    while !content.is_empty() {
        out.push(take(&mut content)?);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let text = encode("A THING", &[7; 100]);
        assert!(text.lines().all(|line| line.len() <= 64));
        assert_eq!(decode(text.as_bytes()), Some(Block { label: "A THING".to_owned(), data: vec![7; 100] }));
        assert_eq!(decode(format!("junk -----BEGIN x\n{text}").as_bytes()).unwrap().data.len(), 100);
        let headed = text.replacen('\n', "\nProc-Type: 4\n\n", 1);
        assert_eq!(decode(headed.as_bytes()).unwrap().data.len(), 100);
        assert_eq!(decode(b"-----BEGIN A-----\nAAAA\n-----END B-----\n"), None);
    }

    #[test]
    fn elements_have_short_and_long_lengths() {
        for length in [0, 1, 127, 128, 255, 256, 70_000] {
            let content = vec![1; length];
            let written = element(tag::OCTET_STRING, &[&content]);
            let mut input = written.as_slice();
            assert_eq!(expect(&mut input, tag::OCTET_STRING), Some(content.as_slice()));
            assert!(input.is_empty());
        }
        assert_eq!(integer(&[0, 0, 0x80]), [2, 2, 0, 0x80]);
        assert_eq!(integer(&[]), [2, 1, 0]);
        assert!(take(&mut &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff][..]).is_none());
    }
}
