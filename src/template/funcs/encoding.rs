//! Base 32, base 64 and JSON.

use super::json::{Style, decode, encode};
use super::{Fault, Func};
use crate::func;
use crate::template::value::{GoStr, Value};

/// Rows of this family, sorted by name.
pub(super) static FUNCS: &[Func] = &[
    func!("b32dec", b32dec),
    func!("b32enc", b32enc),
    func!("b64dec", b64dec),
    func!("b64enc", b64enc),
    func!("fromJson", from_json),
    func!("mustFromJson", must_from_json),
    func!("mustToJson", must_to_json),
    func!("mustToPrettyJson", must_to_pretty_json),
    func!("mustToRawJson", must_to_raw_json),
    func!("toJson", to_json),
    func!("toPrettyJson", to_pretty_json),
    func!("toRawJson", must_to_raw_json),
];

/// Decodes base 32; what is none gives Go's error text as result.
///
/// ```tmpl
/// {{ b32dec "NBUQ====" }} → hi
/// ```
fn b32dec(text: &[u8]) -> GoStr {
    let text: Vec<u8> = text.iter().copied().filter(|b| !matches!(b, b'\r' | b'\n')).collect();
    decode_base32(&text)
        .map_or_else(|at| GoStr::from(format!("illegal base32 data at input byte {at}")), GoStr::from)
}

/// As Go `encoding/base32`; an error is the place of the offending byte.
fn decode_base32(text: &[u8]) -> Result<Vec<u8>, usize> {
    let mut out = Vec::new();
    let mut start = 0;
    while let Some(group) = text.get(start..).filter(|group| !group.is_empty()) {
        let mut bits = 0_u64;
        for j in 0..8 {
            let at = start + j;
            let byte = *group.get(j).ok_or(start)?;
            let left = text.len() - at - 1;
            if byte == b'=' && j >= 2 && left < 8 {
                padding(text, at, j)?;
                let whole = (bits << (5 * (8 - j))).to_be_bytes();
                out.extend_from_slice(whole.get(3..3 + j * 5 / 8).unwrap_or_default());
                return Ok(out);
            }
            let value = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'2'..=b'7' => byte - b'2' + 26,
                _ => return Err(at),
            };
            bits = bits << 5 | u64::from(value);
        }
        out.extend_from_slice(bits.to_be_bytes().get(3..).unwrap_or_default());
        start += 8;
    }
    Ok(out)
}

/// Checks the padding that begins at a place, after `j` characters of the group.
fn padding(text: &[u8], at: usize, j: usize) -> Result<(), usize> {
    let after = text.get(at + 1..).unwrap_or_default();
    if after.len() + j < 7 {
        return Err(text.len());
    }
    let wrong = after.iter().take(7 - j).position(|b| *b != b'=');
    match wrong {
        Some(k) => Err(at + k),
        None if matches!(j, 1 | 3 | 6) => Err(at),
        None => Ok(()),
    }
}

/// Encodes in base 32.
///
/// ```tmpl
/// {{ b32enc "hi" }} → NBUQ====
/// ```
fn b32enc(text: &[u8]) -> String {
    const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let mut out = String::with_capacity(text.len().div_ceil(5) * 8);
    for group in text.chunks(5) {
        let bits = group.iter().fold(0_u64, |bits, b| bits << 8 | u64::from(*b)) << (8 * (5 - group.len()));
        let used = (group.len() * 8).div_ceil(5);
        for j in 0..8 {
            let value = usize::try_from(bits >> (35 - 5 * j) & 31).unwrap_or(0);
            out.push(if j < used { ALPHABET.get(value).map_or('=', |b| char::from(*b)) } else { '=' });
        }
    }
    out
}

/// Decodes base 64; what is none gives Go's error text as result.
///
/// ```tmpl
/// {{ b64dec "aGk=" }} → hi
/// ```
fn b64dec(text: &[u8]) -> GoStr {
    decode_base64(text)
        .map_or_else(|at| GoStr::from(format!("illegal base64 data at input byte {at}")), GoStr::from)
}

/// As Go `encoding/base64`: line breaks are skipped; an error is the place of the offending byte.
pub(super) fn decode_base64(text: &[u8]) -> Result<Vec<u8>, usize> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let mut input = text.iter().copied().enumerate().filter(|(_, b)| !matches!(b, b'\r' | b'\n')).peekable();
    while input.peek().is_some() {
        let mut bits = 0_u32;
        for j in 0..4 {
            let Some((at, byte)) = input.next() else { return Err(text.len() - j) };
            let value = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                b'=' if j >= 2 => {
                    if j == 2 {
                        let (second, byte) = input.next().ok_or(text.len())?;
                        if byte != b'=' {
                            return Err(second - 1);
                        }
                    }
                    if let Some((garbage, _)) = input.next() {
                        return Err(garbage);
                    }
                    let whole = (bits << (6 * (4 - j))).to_be_bytes();
                    out.extend_from_slice(whole.get(1..j).unwrap_or_default());
                    return Ok(out);
                }
                _ => return Err(at),
            };
            bits = bits << 6 | u32::from(value);
        }
        out.extend_from_slice(bits.to_be_bytes().get(1..).unwrap_or_default());
    }
    Ok(out)
}

/// Encodes in base 64.
///
/// ```tmpl
/// {{ b64enc "hi" }} → aGk=
/// ```
fn b64enc(text: &[u8]) -> String {
    base64::Engine::encode(&base64::prelude::BASE64_STANDARD, text)
}

/// Reads JSON; what is none gives nil.
///
/// ```tmpl
/// {{ (fromJson "{\"a\":[1,2]}").a }} → [1 2]
/// ```
fn from_json(text: &[u8]) -> Value {
    decode(text).unwrap_or_default()
}

/// Reads JSON.
///
/// ```tmpl
/// {{ mustFromJson "[1, null]" }} → [1 <nil>]
/// ```
fn must_from_json(text: &[u8]) -> Result<Value, Fault> {
    decode(text)
}

const COMPACT: Style = Style { html: true, pretty: false };
const PRETTY: Style = Style { html: true, pretty: true };
const RAW: Style = Style { html: false, pretty: false };

/// Writes JSON on one line.
///
/// ```tmpl
/// {{ mustToJson (dict "a" "<") }} → {"a":"\u003c"}
/// ```
fn must_to_json(value: &Value) -> Result<GoStr, Fault> {
    encode(value, COMPACT).map(GoStr::from)
}

/// Writes JSON, two spaces to a level.
///
/// ```tmpl
/// {{ mustToPrettyJson (list 1) | quote }} → "[\n  1\n]"
/// ```
fn must_to_pretty_json(value: &Value) -> Result<GoStr, Fault> {
    encode(value, PRETTY).map(GoStr::from)
}

/// Writes JSON on one line, without escapes for HTML.
///
/// ```tmpl
/// {{ mustToRawJson (dict "a" "<") }} → {"a":"<"}
/// ```
fn must_to_raw_json(value: &Value) -> Result<GoStr, Fault> {
    encode(value, RAW).map(GoStr::from)
}

/// Writes JSON on one line; what cannot be written gives an empty string.
///
/// ```tmpl
/// {{ toJson (list 1 "a" true nil) }} → [1,"a",true,null]
/// ```
fn to_json(value: &Value) -> GoStr {
    GoStr::from(encode(value, COMPACT).unwrap_or_default())
}

/// Writes JSON, two spaces to a level; what cannot be written gives an empty string.
///
/// ```tmpl
/// {{ toPrettyJson (dict "a" 1) | quote }} → "{\n  \"a\": 1\n}"
/// ```
fn to_pretty_json(value: &Value) -> GoStr {
    GoStr::from(encode(value, PRETTY).unwrap_or_default())
}
