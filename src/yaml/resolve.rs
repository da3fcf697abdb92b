//! What type a scalar's text has under YAML 1.1 as go-yaml reads it.
//!
//! Behaviour: go.yaml.in/yaml v2.4.4 and v3.0.5, `resolve.go`.

use super::number;
use super::timestamp;

/// A scalar with its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scalar<'t> {
    Null,
    Bool(bool),
    Int(i64),
    /// An integer beyond `i64`.
    Uint(u64),
    Float(f64),
    Text(&'t str),
    /// A date or time; it stays the text it was.
    Timestamp(&'t str),
}

impl Scalar<'_> {
    /// The short tag of the type.
    pub(super) const fn tag(&self) -> &'static str {
        match self {
            Self::Null => "!!null",
            Self::Bool(_) => "!!bool",
            Self::Int(_) | Self::Uint(_) => "!!int",
            Self::Float(_) => "!!float",
            Self::Text(_) => "!!str",
            Self::Timestamp(_) => "!!timestamp",
        }
    }
}

const LONG_PREFIX: &str = "tag:yaml.org,2002:";

/// `!!x` for YAML's own tags, other tags as they are.
pub(super) fn short_tag(tag: &str) -> String {
    tag.strip_prefix(LONG_PREFIX).map_or_else(|| tag.to_owned(), |name| format!("!!{name}"))
}

/// The type of a plain scalar.
pub(super) fn plain(text: &str) -> Scalar<'_> {
    let Some(&first) = text.as_bytes().first() else { return Scalar::Null };
    match first {
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~' => word(text),
        b'.' | b'+' | b'-' | b'0'..=b'9' => numeric(text, true),
        _ => Scalar::Text(text),
    }
}

/// Words that stand for null and booleans.
fn word(text: &str) -> Scalar<'_> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Scalar::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Scalar::Bool(false)
        }
        "~" | "null" | "Null" | "NULL" => Scalar::Null,
        _ => Scalar::Text(text),
    }
}

fn numeric(text: &str, timestamps: bool) -> Scalar<'_> {
    match text {
        ".nan" | ".NaN" | ".NAN" => return Scalar::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Scalar::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Scalar::Float(f64::NEG_INFINITY),
        _ => {}
    }
    if text.starts_with('.') {
        return number::parse_point_float(text).map_or(Scalar::Text(text), Scalar::Float);
    }
    if timestamps && timestamp::is_timestamp(text) {
        return Scalar::Timestamp(text);
    }
    if text.contains('_') {
        return digits(&text.replace('_', "")).unwrap_or(Scalar::Text(text));
    }
    digits(text).unwrap_or(Scalar::Text(text))
}

/// A number without underscores.
fn digits<'r>(plain: &str) -> Option<Scalar<'r>> {
    // Most texts that begin with a digit or a dash are words; nothing below takes other letters than these.
    if plain
        .bytes()
        .any(|b| !(b.is_ascii_hexdigit() || matches!(b, b'+' | b'-' | b'.' | b'x' | b'X' | b'o' | b'O')))
    {
        return None;
    }
    let integer = number::parse_int(plain).map(Scalar::Int);
    let integer = integer.or_else(|| number::parse_uint(plain).map(Scalar::Uint));
    integer.or_else(|| number::parse_yaml_float(plain).map(Scalar::Float)).or_else(|| {
        let binary = plain.strip_prefix("0b").map(str::to_owned);
        let binary = binary.or_else(|| plain.strip_prefix("-0b").map(|rest| format!("-{rest}")));
        number::parse_binary(&binary?).map(Scalar::Int)
    })
}

/// The type of a scalar with an explicit tag; `None` for tags that mean nothing to go-yaml.
///
/// # Errors
/// When the text is none of the tag's type: go-yaml's message.
pub(super) fn tagged<'t>(tag: &str, text: &'t str) -> Result<Option<Scalar<'t>>, String> {
    let wanted = short_tag(tag);
    let known = ["!!str", "!!bool", "!!int", "!!float", "!!null", "!!timestamp"];
    if !tag.starts_with(LONG_PREFIX) || !known.contains(&wanted.as_str()) {
        return Ok(None);
    }
    if wanted == "!!str" {
        return Ok(Some(Scalar::Text(text)));
    }
    let found = match text.as_bytes().first() {
        Some(b'.' | b'+' | b'-' | b'0'..=b'9') => numeric(text, wanted == "!!timestamp"),
        _ => plain(text),
    };
    match found {
        Scalar::Int(i) if wanted == "!!float" => Ok(Some(Scalar::Float(i as f64))),
        found if found.tag() == wanted => Ok(Some(found)),
        found => Err(format!("cannot decode {} `{text}` as a {wanted}", found.tag())),
    }
}

/// Whether yaml.v2 may write a text plain: it reads back as text, and is no sexagesimal number of YAML 1.1.
pub(super) fn stays_text(text: &str) -> bool {
    matches!(plain(text), Scalar::Text(_)) && !is_sexagesimal(text)
}

/// The same for yaml.v3, whose own words for booleans are fewer but which still quotes the old ones.
pub(super) fn stays_text_v3(text: &str) -> bool {
    let old_word = !matches!(word(text), Scalar::Text(_));
    !old_word && stays_text(text) && octal(text).is_none()
}

/// Octal numbers of YAML 1.2 with a sign or underscores; yaml.v2 takes `0o17` as Go does.
fn octal(text: &str) -> Option<i64> {
    if !text.starts_with(['0', '-']) {
        return None;
    }
    let plain = text.replace('_', "");
    let digits = plain.strip_prefix("0o").map(str::to_owned);
    let digits = digits.or_else(|| plain.strip_prefix("-0o").map(|rest| format!("-{rest}")));
    i64::from_str_radix(&digits?, 8).ok()
}

/// `^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$`
fn is_sexagesimal(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let mut parts = unsigned.split(':');
    let first = parts.next().unwrap_or("");
    if !first.starts_with(|c: char| c.is_ascii_digit()) || !unsigned.contains(':') {
        return false;
    }
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    let (rest, fraction) = match unsigned.split_once('.') {
        Some((rest, fraction)) => (rest, fraction),
        None => (unsigned, ""),
    };
    let sixties = rest.split(':').skip(1).all(|part| match part.as_bytes() {
        [d] => d.is_ascii_digit(),
        [t, d] => (b'0'..=b'5').contains(t) && d.is_ascii_digit(),
        _ => false,
    });
    rest.contains(':') && digits(first) && digits(fraction) && sixties
}
