//! Bytes become text that a scanner may trust: byte order marks, UTF-16, characters that YAML forbids.
//!
//! Behaviour: go.yaml.in/yaml v2.4.4, `readerc.go`.

use std::borrow::Cow;

use super::problem::Problem;

/// Bytes that go-yaml takes from its source at once; a bad character is noticed when its chunk is decoded.
const CHUNK: usize = 512;

/// A text whose every character is allowed in YAML.
pub(super) struct Input<'a> {
    /// The text, or its part before the chunk that holds the first bad character.
    pub(super) text: Cow<'a, str>,
    /// Why the text ends early.
    pub(super) problem: Option<Problem>,
    /// Whether `\n` is the only line break in the text.
    pub(super) unix: bool,
}

impl<'a> Input<'a> {
    fn new(text: Cow<'a, str>, problem: Option<&'static str>) -> Self {
        let unix = !has_other_breaks(text.as_bytes());
        Self { text, problem: problem.map(Problem::reader), unix }
    }

    /// Decodes and checks `bytes`.
    pub(super) fn read(bytes: &'a [u8]) -> Self {
        match bytes {
            [0xFF, 0xFE, rest @ ..] => read_utf16(rest, u16::from_le_bytes),
            [0xFE, 0xFF, rest @ ..] => read_utf16(rest, u16::from_be_bytes),
            [0xEF, 0xBB, 0xBF, rest @ ..] => read_utf8(rest),
            _ => read_utf8(bytes),
        }
    }
}

fn read_utf8(bytes: &[u8]) -> Input<'_> {
    let checked = match std::str::from_utf8(bytes) {
        Ok(text) => first_forbidden(text).map_or(Ok(text), |at| Err((at, CONTROL))),
        Err(error) => {
            let valid =
                bytes.get(..error.valid_up_to()).and_then(|b| std::str::from_utf8(b).ok()).unwrap_or("");
            let at = first_forbidden(valid);
            Err(at.map_or_else(
                || (valid.len(), malformed(bytes.get(valid.len()..).unwrap_or(&[]))),
                |at| (at, CONTROL),
            ))
        }
    };
    match checked {
        Ok(text) => Input::new(Cow::Borrowed(text), None),
        Err((at, words)) => {
            // A character that the text's end cuts in two is noticed when somebody asks for it.
            let cut = if words == INCOMPLETE { at } else { chunk_start(bytes, at) };
            let text = bytes.get(..cut).and_then(|b| std::str::from_utf8(b).ok()).unwrap_or("");
            Input::new(Cow::Borrowed(text), Some(words))
        }
    }
}

const INCOMPLETE: &str = "incomplete UTF-8 octet sequence";

const CONTROL: &str = "control characters are not allowed";

/// Where the chunk that holds offset `at` begins; a character never straddles two chunks.
fn chunk_start(bytes: &[u8], at: usize) -> usize {
    let mut start = 0;
    loop {
        let mut next = start + CHUNK;
        while next > start && bytes.get(next).is_some_and(|b| b & 0xC0 == 0x80) {
            next -= 1;
        }
        if next > at || next == start {
            return start;
        }
        start = next;
    }
}

/// What is wrong with the first character of `bytes`.
fn malformed(bytes: &[u8]) -> &'static str {
    let Some(&lead) = bytes.first() else { return INCOMPLETE };
    let (width, mut value) = match lead {
        0..=0x7F => (1, u32::from(lead)),
        0xC0..=0xDF => (2, u32::from(lead & 0x1F)),
        0xE0..=0xEF => (3, u32::from(lead & 0x0F)),
        0xF0..=0xF7 => (4, u32::from(lead & 0x07)),
        _ => return "invalid leading UTF-8 octet",
    };
    if bytes.len() < width {
        return INCOMPLETE;
    }
    for &octet in bytes.iter().take(width).skip(1) {
        if octet & 0xC0 != 0x80 {
            return "invalid trailing UTF-8 octet";
        }
        value = (value << 6) | u32::from(octet & 0x3F);
    }
    match (width, value) {
        (2, ..0x80) | (3, ..0x800) | (4, ..0x10000) => "invalid length of a UTF-8 sequence",
        _ => "invalid Unicode character",
    }
}

/// Offset of the first character that YAML forbids.
fn first_forbidden(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let blocks = bytes.chunks(BLOCK).enumerate();
    // Without an early exit the loop over a block runs on many bytes at once.
    let blocks = blocks.filter(|(_, block)| block.iter().fold(false, |found, &b| found | suspicious(b)));
    let mut places = blocks.flat_map(|(index, block)| (index * BLOCK..).take(block.len()));
    places.find(|&at| forbidden(bytes.get(at..).unwrap_or(&[])))
}

/// Bytes that are looked at together.
const BLOCK: usize = 64;

/// Whether a text has a line break that is no `\n`.
fn has_other_breaks(bytes: &[u8]) -> bool {
    memchr::memchr3_iter(b'\r', 0xC2, 0xE2, bytes).any(|at| {
        let here = bytes.get(at..).unwrap_or(&[]);
        matches!(here, [b'\r', ..] | [0xC2, 0x85, ..] | [0xE2, 0x80, 0xA8 | 0xA9, ..])
    })
}

/// Bytes that are, or begin, a forbidden character.
const fn suspicious(byte: u8) -> bool {
    let control = (byte < 0x20) & (byte != b'\t') & (byte != b'\n') & (byte != b'\r');
    control | (byte == 0x7F) | (byte == 0xC2) | (byte == 0xEF)
}

fn forbidden(at: &[u8]) -> bool {
    match at {
        [0xC2, 0x85, ..] | [] => false,
        [0xC2, 0x80..=0x9F, ..] | [0xEF, 0xBF, 0xBE | 0xBF, ..] => true,
        [0xC2 | 0xEF, ..] => false,
        [byte, ..] => suspicious(*byte),
    }
}

fn read_utf16<'a>(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Input<'a> {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(bytes.len());
    let mut marks = vec![(0, 0)];
    let mut offset = 0;
    let mut problem = None;
    for decoded in char::decode_utf16(pairs.iter().map(|&pair| unit(pair))) {
        let Ok(c) = decoded else {
            problem = Some(surrogate(pairs, offset / 2, unit));
            break;
        };
        if offset >= marks.last().map_or(0, |&(raw, _)| raw + CHUNK) {
            marks.push((offset, text.len()));
        }
        offset += c.len_utf16() * 2;
        text.push(c);
    }
    if problem.is_none() && !odd.is_empty() {
        problem = Some("incomplete UTF-16 character");
    }
    let mut end = text.len();
    if let Some(at) = first_forbidden(&text) {
        (problem, end) = (Some(CONTROL), at);
    }
    if problem.is_some() {
        text.truncate(marks.iter().map(|&(_, at)| at).take_while(|&at| at <= end).last().unwrap_or(0));
    }
    Input::new(Cow::Owned(text), problem)
}

/// What is wrong with the surrogate at unit `at`.
fn surrogate(pairs: &[[u8; 2]], at: usize, unit: fn([u8; 2]) -> u16) -> &'static str {
    match (pairs.get(at).map(|&p| unit(p)), pairs.get(at + 1)) {
        (Some(0xDC00..=0xDFFF), _) => "unexpected low surrogate area",
        (_, None) => "incomplete UTF-16 surrogate pair",
        _ => "expected low surrogate area",
    }
}
