//! `format` of strings and numbers as the API server enforces it.
//!
//! As apiextensions-apiserver 1.34 `pkg/apiserver/validation/formats.go` and `k8s.io/kube-openapi`
//! `pkg/validation/strfmt/default.go`.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use regex::Regex;

use crate::go;
use crate::schema::version::KubeVersion;

/// Formats of strings in every version; a format is looked up without its dashes.
const STRING_FORMATS: &[&str] = &[
    "bsonobjectid",
    "byte",
    "cidr",
    "creditcard",
    "date",
    "datetime",
    "duration",
    "email",
    "hexcolor",
    "hostname",
    "ipv4",
    "ipv6",
    "isbn",
    "isbn10",
    "isbn13",
    "mac",
    "password",
    "rgbcolor",
    "ssn",
    "uri",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
];

/// Formats of strings since 1.34.
const STRING_FORMATS_1_34: &[&str] = &["k8sshortname", "k8slongname"];

/// Whether a format is enforced; others, those of numbers too, are ignored as if they were not written.
pub(super) fn enforced(format: &str, version: KubeVersion) -> bool {
    let format = normal(format);
    STRING_FORMATS.contains(&format.as_str())
        || (version >= KubeVersion::new(1, 34) && STRING_FORMATS_1_34.contains(&format.as_str()))
}

/// Whether a format is one of strings.
pub(super) fn known(format: &str) -> bool {
    let format = normal(format);
    STRING_FORMATS.contains(&format.as_str()) || STRING_FORMATS_1_34.contains(&format.as_str())
}

fn normal(format: &str) -> String {
    format.replace('-', "")
}

/// Whether a text has a format; unknown formats are had by every text.
pub(super) fn matches(format: &str, text: &str) -> bool {
    match normal(format).as_str() {
        "bsonobjectid" => text.len() == 24 && text.bytes().all(|b| b.is_ascii_hexdigit()),
        "byte" => BASE64.is_match(text),
        "cidr" => is_cidr(text),
        "creditcard" => is_credit_card(text),
        "date" => is_date(text),
        "datetime" => is_date_time(text),
        "duration" => parse_duration(text).is_some(),
        "email" => is_email(text),
        "hexcolor" => HEX_COLOR.is_match(text),
        "hostname" => HOSTNAME.is_match(text) && text.split('.').all(|part| part.len() <= 63),
        "ipv4" => ipv4(text).is_some(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "isbn" => is_isbn10(text) || is_isbn13(text),
        "isbn10" => is_isbn10(text),
        "isbn13" => is_isbn13(text),
        "mac" => is_mac(text),
        "rgbcolor" => RGB_COLOR.is_match(text),
        "ssn" => SSN.is_match(text),
        "uri" => is_request_uri(text),
        "uuid" => UUID.is_match(text),
        "uuid3" => UUID3.is_match(text),
        "uuid4" => UUID4.is_match(text),
        "uuid5" => UUID5.is_match(text),
        "k8sshortname" => text.len() <= 63 && LABEL.is_match(text),
        "k8slongname" => text.len() <= 253 && SUBDOMAIN.is_match(text),
        _ => true,
    }
}

macro_rules! pattern {
    ($name:ident, $source:expr) => {
        static $name: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new($source)
                .unwrap_or_else(|_| unreachable!("a constant pattern compiles (a test compiles all)"))
        });
    };
}

pattern!(BASE64, "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$");
pattern!(HEX_COLOR, "^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$");
pattern!(
    RGB_COLOR,
    r"^rgb\(\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)$"
);
pattern!(SSN, r"^\d{3}[- ]?\d{2}[- ]?\d{4}$");
pattern!(UUID, "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$");
pattern!(UUID3, "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$");
pattern!(UUID4, "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$");
pattern!(UUID5, "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$");
pattern!(LABEL, "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$");
pattern!(SUBDOMAIN, r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$");
pattern!(
    HOSTNAME,
    r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$"
);
pattern!(TIME, r"^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$");
pattern!(LOOSE_DURATION, r"(\d+)\s*([A-Za-zµ]+)");
pattern!(EMAIL, r#"^[^\s@<>()\[\],;:"]+@[^\s@<>()\[\],;:"]+$"#);

/// An IPv4 address; leading zeros pass, as in Go before 1.17.
fn ipv4(text: &str) -> Option<Ipv4Addr> {
    let mut octets = [0_u8; 4];
    let mut parts = text.split('.');
    for octet in &mut octets {
        let part = parts.next()?;
        if part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        *octet = part
            .trim_start_matches('0')
            .parse()
            .or_else(|_| if part.trim_start_matches('0').is_empty() { Ok(0) } else { Err(()) })
            .ok()?;
    }
    parts.next().is_none().then(|| Ipv4Addr::from(octets))
}

fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    if bits.is_empty() || !bits.bytes().all(|b| b.is_ascii_digit()) {
        return false;
    }
    let Ok(bits) = bits.parse::<u32>() else { return false };
    (ipv4(address).is_some() && bits <= 32) || (address.parse::<Ipv6Addr>().is_ok() && bits <= 128)
}

fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 10
        && bytes
            .iter()
            .enumerate()
            .all(|(i, b)| if i == 4 || i == 7 { *b == b'-' } else { b.is_ascii_digit() })
        && text.parse::<jiff::civil::Date>().is_ok()
}

fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let Some((date, rest)) = lower.split_once('t') else { return false };
    let time = rest.split('t').next().unwrap_or_default();
    let Some(found) = TIME.captures(time) else { return false };
    let at_most = |i: usize, limit: &str| found.get(i).is_some_and(|m| m.as_str() <= limit);
    is_date(date) && at_most(1, "23") && at_most(2, "59") && at_most(3, "59")
}

/// A duration in nanoseconds: Go's form, or words as in `3 weeks`.
pub(super) fn parse_duration(text: &str) -> Option<i64> {
    if let Ok(nanos) = go::duration::parse(text) {
        return Some(nanos);
    }
    let mut total: i64 = 0;
    let mut any = false;
    for found in LOOSE_DURATION.captures_iter(text) {
        let factor: i64 = found.get(1)?.as_str().parse().ok()?;
        let unit = found.get(2)?.as_str().to_lowercase();
        if let Some(nanos) = loose_unit(&unit) {
            any = true;
            total = total.wrapping_add(factor.wrapping_mul(nanos));
        }
    }
    any.then_some(total)
}

/// Nanoseconds of a unit written out; the longest spelling also stands for everything that begins with it.
fn loose_unit(unit: &str) -> Option<i64> {
    const UNITS: &[(&[&str], i64)] = &[
        (&["ns", "nano"], 1),
        (&["us", "µs", "micro"], 1_000),
        (&["ms", "milli"], 1_000_000),
        (&["s", "sec"], 1_000_000_000),
        (&["m", "min"], 60_000_000_000),
        (&["h", "hr", "hour"], 3_600_000_000_000),
        (&["d", "day"], 86_400_000_000_000),
        (&["w", "wk", "week"], 604_800_000_000_000),
    ];
    let fits =
        |names: &[&str]| names.contains(&unit) || names.last().is_some_and(|last| unit.starts_with(last));
    UNITS.iter().find(|(names, _)| fits(names)).map(|(_, nanos)| *nanos)
}

/// An address with or without a name in front; close to Go's `mail.ParseAddress`.
fn is_email(text: &str) -> bool {
    let text = text.trim();
    let address = match (text.rfind('<'), text.strip_suffix('>')) {
        (Some(open), Some(inner)) => inner.get(open + 1..).unwrap_or_default(),
        _ => text,
    };
    EMAIL.is_match(address)
}

fn is_request_uri(text: &str) -> bool {
    if text.starts_with('/') {
        return !text.contains([' ', '\u{7f}']) && !text.bytes().any(|b| b < 0x20);
    }
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let mut letters = scheme.bytes();
    let named = letters.next().is_some_and(|b| b.is_ascii_alphabetic())
        && letters.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    let authority = rest.strip_prefix("//").map_or("", |rest| rest.split('/').next().unwrap_or(""));
    named && !text.bytes().any(|b| b < 0x20 || b == 0x7f) && !authority.contains(' ')
}

fn is_mac(text: &str) -> bool {
    let grouped = |separator: char, width: usize, counts: &[usize]| {
        let parts: Vec<&str> = text.split(separator).collect();
        counts.contains(&parts.len())
            && parts.iter().all(|part| part.len() == width && part.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    grouped(':', 2, &[6, 8, 20]) || grouped('-', 2, &[6, 8, 20]) || grouped('.', 4, &[3, 4, 10])
}

fn is_credit_card(text: &str) -> bool {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(10)).collect();
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(i, d)| {
            if i % 2 == 1 {
                let d = d * 2;
                if d > 9 { d - 9 } else { d }
            } else {
                *d
            }
        })
        .sum();
    (13..=16).contains(&digits.len()) && matches!(digits.first(), Some(2..=6)) && sum.is_multiple_of(10)
}

fn isbn_digits(text: &str) -> Vec<char> {
    text.chars().filter(|c| !c.is_whitespace() && *c != '-').collect()
}

fn is_isbn10(text: &str) -> bool {
    let digits = isbn_digits(text);
    let value = |(i, c): (usize, &char)| match c {
        'X' if i == 9 => Some(10),
        c => c.to_digit(10),
    };
    let values: Option<Vec<u32>> = digits.iter().enumerate().map(value).collect();
    digits.len() == 10
        && values.is_some_and(|v| v.iter().zip(1_u32..).map(|(d, i)| d * i).sum::<u32>() % 11 == 0)
}

fn is_isbn13(text: &str) -> bool {
    let values: Option<Vec<u32>> = isbn_digits(text).iter().map(|c| c.to_digit(10)).collect();
    values.is_some_and(|v| {
        v.len() == 13
            && v.iter().enumerate().map(|(i, d)| if i % 2 == 1 { d * 3 } else { *d }).sum::<u32>() % 10 == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_formats_apart() {
        let good = [
            ("date-time", "2020-01-01T00:00:00Z"),
            ("date-time", "2020-01-01T23:59:59.5+02:00"),
            ("date", "2024-02-29"),
            ("duration", "1h30m"),
            ("duration", "3 weeks"),
            ("byte", "aGk="),
            ("ipv4", "010.0.0.1"),
            ("ipv6", "::1"),
            ("cidr", "10.0.0.0/8"),
            ("uuid", "00000000-0000-0000-0000-000000000000"),
            ("email", "A <a@b.c>"),
            ("uri", "https://a/b"),
            ("uri", "/a"),
            ("mac", "00:11:22:33:44:55"),
            ("hostname", "a.example.com"),
            ("isbn10", "0321751043"),
            ("isbn13", "978-0321751041"),
            ("ssn", "123-45-6789"),
            ("hexcolor", "#fff"),
            ("rgbcolor", "rgb(1,2,255)"),
            ("k8s-short-name", "a-b"),
            ("k8s-long-name", "a.b"),
            ("nonsense", "x"),
            ("creditcard", "4111 1111 1111 1111"),
            ("bsonobjectid", "507f1f77bcf86cd799439011"),
            ("uuid3", "bcd02e22-68f0-3046-a512-327cca9def8f"),
            ("uuid4", "025b0d74-00a2-4048-bf57-227c5111bb34"),
            ("uuid5", "886313e1-3b8a-5372-9b90-0c9aee199e5d"),
        ];
        for (format, text) in good {
            assert!(matches(format, text), "{format} {text}");
        }
        let bad = [
            ("date-time", "yesterday"),
            ("date-time", "2020-01-01T24:00:00Z"),
            ("date", "2023-02-29"),
            ("duration", "soon"),
            ("byte", "a"),
            ("byte", ""),
            ("ipv4", "1.2.3"),
            ("ipv4", "1.2.3.256"),
            ("ipv6", "1.2.3.4"),
            ("cidr", "10.0.0.0/33"),
            ("uuid", "x"),
            ("email", "a"),
            ("uri", "a b"),
            ("mac", "00:11"),
            ("hostname", "-a"),
            ("k8s-short-name", "A"),
            ("isbn10", "0321751044"),
        ];
        for (format, text) in bad {
            assert!(!matches(format, text), "{format} {text}");
        }
    }
}
