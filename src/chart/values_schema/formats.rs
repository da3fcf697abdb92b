//! Formats of strings as gojsonschema v1.2.0 `format_checkers.go` knows them.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::format_words::{json_pointer, relative_json_pointer};

type Check = fn(&str) -> bool;

/// The formats by name; others fit anything.
const FORMATS: &[(&str, Check)] = &[
    ("date", is_date),
    ("time", is_time),
    ("date-time", |text| is_date_time(text) || is_date(text) || is_time(text)),
    ("hostname", is_hostname),
    ("email", is_email),
    ("idn-email", is_email),
    ("ipv4", |text| is_address(text) && text.contains('.')),
    ("ipv6", |text| is_address(text) && text.contains(':')),
    ("uri", |text| has_scheme(text) && is_reference(text)),
    ("iri", |text| has_scheme(text) && is_reference(text)),
    ("uri-reference", is_reference),
    ("iri-reference", is_reference),
    ("uri-template", is_reference),
    ("uuid", is_uuid),
    ("regex", |text| regex::Regex::new(text).is_ok()),
    ("json-pointer", |text| json_pointer(text).is_ok()),
    ("relative-json-pointer", |text| relative_json_pointer(text).is_ok()),
];

/// Whether a format is one that is looked at.
pub(super) fn is_known(name: &str) -> bool {
    FORMATS.iter().any(|(known, _)| *known == name)
}

/// Whether a text has a format.
pub(super) fn fits(name: &str, text: &str) -> bool {
    FORMATS.iter().find(|(known, _)| *known == name).is_none_or(|(_, check)| check(text))
}

fn is_address(text: &str) -> bool {
    text.parse::<Ipv4Addr>().is_ok() || text.parse::<Ipv6Addr>().is_ok()
}

/// Digits in the shape of a pattern of `0`s, everything else as it stands there.
fn has_shape(text: &str, shape: &str) -> bool {
    let fits = |(c, shape): (u8, u8)| if shape == b'0' { c.is_ascii_digit() } else { c == shape };
    text.len() == shape.len() && text.bytes().zip(shape.bytes()).all(fits)
}

fn number(text: &str, at: std::ops::Range<usize>) -> u32 {
    text.get(at).and_then(|digits| digits.parse().ok()).unwrap_or(u32::MAX)
}

fn is_date(text: &str) -> bool {
    if !has_shape(text, "0000-00-00") {
        return false;
    }
    let (year, month) = (number(text, 0..4), number(text, 5..7));
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&number(text, 8..10))
}

/// `15:04:05`, with fractions, and with a zone or without.
fn is_time(text: &str) -> bool {
    let Some((clock, rest)) = text.split_at_checked(8) else { return false };
    let zone = rest.strip_prefix(['.', ',']).map_or(Some(rest), |rest| {
        let zone = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        (zone.len() < rest.len()).then_some(zone)
    });
    let in_range = number(clock, 0..2) < 24 && number(clock, 3..5) < 60 && number(clock, 6..8) < 60;
    has_shape(clock, "00:00:00") && in_range && zone.is_some_and(is_zone)
}

fn is_zone(zone: &str) -> bool {
    let offset = zone.strip_prefix(['+', '-']);
    matches!(zone, "" | "Z")
        || offset.is_some_and(|offset| has_shape(offset, "00:00") && number(offset, 0..2) <= 24)
}

fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once('T') else { return false };
    is_date(date) && is_time(time) && time.contains(['Z', '+', '-'])
}

fn is_hostname(text: &str) -> bool {
    let label = |label: &str| {
        let inner = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        (1..=63).contains(&label.len()) && inner && !label.starts_with('-') && !label.ends_with('-')
    };
    text.len() < 256 && text.split('.').all(label)
}

/// Go's `mail.ParseAddress`, comments and routes aside.
fn is_email(text: &str) -> bool {
    let text = text.trim();
    let address = match text.strip_suffix('>') {
        Some(text) => text.rsplit_once('<').map_or("", |(_, address)| address),
        None => text,
    };
    let atom = |text: &str| {
        let plain = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "!#$%&'*+/=?^_`{|}~-".contains(c);
        text.split('.').all(|part| !part.is_empty() && part.chars().all(plain))
    };
    let quoted = |text: &str| text.len() > 1 && text.starts_with('"') && text.ends_with('"');
    address.rsplit_once('@').is_some_and(|(local, domain)| (atom(local) || quoted(local)) && atom(domain))
}

fn has_scheme(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else { return false };
    let inner = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(inner)
}

/// Go's `url.Parse`, as far as it refuses what people write.
fn is_reference(text: &str) -> bool {
    let escaped = |(at, _): (usize, &str)| {
        text.get(at + 1..at + 3).is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    let controls = text.chars().any(|c| c.is_ascii_control());
    let host =
        text.split_once("//").map_or("", |(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let first = text.split(['/', '?', '#']).next().unwrap_or_default();
    let colon = first.contains(':') && !has_scheme(text);
    !controls && !text.contains('\\') && !host.contains(' ') && !colon && text.match_indices('%').all(escaped)
}

fn is_uuid(text: &str) -> bool {
    let part = |(part, length): (&str, &usize)| {
        part.len() == *length && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    text.split('-').count() == 5 && text.split('-').zip(&[8, 4, 4, 4, 12]).all(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_fit_what_the_library_takes() {
        for (name, good, bad) in [
            ("date", "2024-02-29", "2023-02-29"),
            ("time", "10:11:12.5Z", "24:00:00"),
            ("date-time", "2024-01-01T10:11:12+01:00", "2024-01-01T10:11:12"),
            ("date-time", "2024-01-01", "today"),
            ("hostname", "a-b.example.com", "-a.example.com"),
            ("email", "Somebody <some.body@example.com>", "nobody"),
            ("ipv4", "10.0.0.1", "10.0.0"),
            ("ipv6", "::1", "10.0.0.1"),
            ("uri", "https://example.com/a?b#c", "example.com"),
            ("uri-reference", "../a", "%zz"),
            ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123E4567-e89b-12d3-a456-426614174000"),
            ("regex", "^a$", "("),
            ("json-pointer", "/a~0b", "a"),
            ("relative-json-pointer", "1/a", "01"),
        ] {
            assert!(fits(name, good), "{name} {good}");
            assert!(!fits(name, bad), "{name} {bad}");
        }
        assert!(fits("unknown", "anything") && !is_known("unknown"));
    }
}
