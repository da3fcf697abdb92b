//! Formats of strings, and why a text has none, as the library that Helm uses tells it.
//!
//! Source: santhosh-tekuri/jsonschema v6.0.3 `format.go`. `regex` is looked at elsewhere.

use std::net::Ipv6Addr;

use crate::go::calendar::days_in;
use crate::go::quote;
use crate::go::quote::{Escape, quote_rune};

type Check = fn(&str) -> Result<(), String>;

/// The formats by name; others fit anything.
const FORMATS: &[(&str, Check)] = &[
    ("json-pointer", json_pointer),
    ("relative-json-pointer", relative_json_pointer),
    ("uuid", uuid),
    ("duration", duration),
    ("period", period),
    ("ipv4", ipv4),
    ("ipv6", ipv6),
    ("hostname", hostname),
    ("email", email),
    ("date", date),
    ("time", time),
    ("date-time", date_time),
    ("uri", uri),
    ("iri", uri),
    ("uri-reference", uri_reference),
    ("iri-reference", uri_reference),
    ("uri-template", uri_template),
    ("semver", semver),
    ("regex", regex),
];

/// Formats that the validator knows and the library does not: they fit anything.
const UNKNOWN: &[&str] = &["idn-email", "idn-hostname"];

/// The names of all formats, also of those that fit anything.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().map(|(name, _)| *name).chain(UNKNOWN.iter().copied())
}

/// Whether a text has a format, and why not.
pub(super) fn check(name: &str, text: &str) -> Result<(), String> {
    FORMATS.iter().find(|(known, _)| *known == name).map_or(Ok(()), |(_, check)| check(text))
}

fn fail<T>(words: impl Into<String>) -> Result<T, String> {
    Err(words.into())
}

fn ensure(holds: bool, words: &str) -> Result<(), String> {
    if holds { Ok(()) } else { fail(words) }
}

/// A rune as Go's `%q` shows it.
fn rune(c: char) -> String {
    quote_rune(c.into(), Escape::Unprintable)
}

/// Every character is one that may be there.
fn all(text: &str, fits: impl Fn(char) -> bool, words: impl Fn(String) -> String) -> Result<(), String> {
    text.chars().find(|c| !fits(*c)).map_or(Ok(()), |c| fail(words(rune(c))))
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Go's `strconv.Atoi`.
fn atoi(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| {
        let number = text.strip_prefix(['+', '-']).unwrap_or(text);
        let why = if !number.is_empty() && digits(number) == number.len() {
            "value out of range"
        } else {
            "invalid syntax"
        };
        format!("strconv.Atoi: parsing {}: {why}", quote(text))
    })
}

pub(super) fn json_pointer(text: &str) -> Result<(), String> {
    ensure(text.is_empty() || text.starts_with('/'), "not starting with /")?;
    let sound = |(at, _): (usize, &str)| matches!(text.as_bytes().get(at + 1), Some(b'0' | b'1'));
    ensure(text.match_indices('~').all(sound), "~ must be followed by 0 or 1")
}

pub(super) fn relative_json_pointer(text: &str) -> Result<(), String> {
    let count = digits(text);
    ensure(count > 0, "must start with non-negative integer")?;
    ensure(count == 1 || !text.starts_with('0'), "starts with zero")?;
    match text.get(count..).unwrap_or_default() {
        "#" => Ok(()),
        pointer => json_pointer(pointer),
    }
}

fn regex(text: &str) -> Result<(), String> {
    crate::go::pattern::translate(text).map(|_| ()).map_err(|error| error.to_string())
}

fn uuid(text: &str) -> Result<(), String> {
    const LENGTHS: [usize; 5] = [8, 4, 4, 4, 12];
    let groups: Vec<&str> = text.split('-').collect();
    ensure(groups.len() == LENGTHS.len(), "must have 5 elements")?;
    for (index, (group, length)) in groups.iter().zip(LENGTHS).enumerate() {
        ensure(group.len() == length, &format!("element {} must be {length} characters long", index + 1))?;
        all(group, |c| c.is_ascii_hexdigit(), |c| format!("non-hex character {c}"))?;
    }
    Ok(())
}

fn duration(text: &str) -> Result<(), String> {
    let rest = text.strip_prefix('P').ok_or("must start with P")?;
    ensure(!rest.is_empty(), "nothing after P")?;
    if let Some(weeks) = rest.strip_suffix('W') {
        ensure(!weeks.is_empty(), "no number in week")?;
        return ensure(digits(weeks) == weeks.len(), "invalid week");
    }
    for (index, part) in rest.split('T').enumerate() {
        ensure(index == 0 || !part.is_empty(), "no time elements")?;
        elements(part, ["YMD", "HMS"].get(index).ok_or("more than one T")?)?;
    }
    Ok(())
}

/// Numbers with units, each unit once and in order.
fn elements(mut text: &str, units: &str) -> Result<(), String> {
    let mut left = units;
    while !text.is_empty() {
        let count = digits(text);
        ensure(count > 0, "missing number")?;
        let mut rest = text.get(count..).unwrap_or_default().chars();
        let unit = rest.next().ok_or("missing unit")?;
        left = match left.split_once(unit) {
            Some((_, later)) => later,
            None if units.contains(unit) => return fail(format!("unit {} out of order", rune(unit))),
            None => return fail(format!("invalid unit {}", rune(unit))),
        };
        text = rest.as_str();
    }
    Ok(())
}

fn ipv4(text: &str) -> Result<(), String> {
    let groups: Vec<&str> = text.split('.').collect();
    ensure(groups.len() == 4, "expected four decimals")?;
    for group in groups {
        ensure(group.len() < 2 || !group.starts_with('0'), "leading zeros")?;
        ensure((0..=255).contains(&atoi(group)?), "decimal must be between 0 and 255")?;
    }
    Ok(())
}

fn ipv6(text: &str) -> Result<(), String> {
    ensure(text.contains(':'), "missing colon")?;
    let (address, zone) = text.split_once('%').unwrap_or((text, ""));
    if address.parse::<Ipv6Addr>().is_err() || (zone.is_empty() && text.contains('%')) {
        return fail(format!("ParseAddr({}): unable to parse IP", quote(text)));
    }
    ensure(zone.is_empty(), "zone id is not a part of ipv6 address")
}

fn hostname(text: &str) -> Result<(), String> {
    let text = text.strip_suffix('.').unwrap_or(text);
    ensure(text.len() <= 253, "more than 253 characters long")?;
    for label in text.split('.') {
        ensure((1..=63).contains(&label.len()), "label must be 1 to 63 characters long")?;
        ensure(!label.starts_with('-'), "label starts with hyphen")?;
        ensure(!label.ends_with('-'), "label ends with hyphen")?;
        all(label, |c| c.is_ascii_alphanumeric() || c == '-', |c| format!("invalid character {c}"))?;
    }
    Ok(())
}

fn email(text: &str) -> Result<(), String> {
    ensure(text.len() <= 254, "more than 255 characters long")?;
    let (local, domain) = text.rsplit_once('@').ok_or("missing @")?;
    ensure(local.len() <= 64, "local part more than 64 characters long")?;
    match local.strip_prefix('"').and_then(|local| local.strip_suffix('"')) {
        Some(quoted) => ensure(
            !quoted.contains(['\\', '"']),
            "backslash and quote are not allowed within quoted local part",
        )?,
        None => local_part(local)?,
    }
    let literal = domain.strip_prefix('[').and_then(|domain| domain.strip_suffix(']'));
    match literal.map(|literal| (literal, literal.strip_prefix("IPv6:"))) {
        Some((_, Some(address))) => ipv6(address).map_err(|why| format!("invalid ipv6 address: {why}")),
        Some((address, None)) => ipv4(address).map_err(|why| format!("invalid ipv4 address: {why}")),
        None => hostname(domain).map_err(|why| format!("invalid domain: {why}")),
    }
}

fn local_part(local: &str) -> Result<(), String> {
    ensure(!local.starts_with('.'), "starts with dot")?;
    ensure(!local.ends_with('.'), "ends with dot")?;
    ensure(!local.contains(".."), "consecutive dots")?;
    let fits = |c: char| c.is_ascii_alphanumeric() || ".!#$%&'*+-/=?^_`{|}~".contains(c);
    all(local, fits, |c| format!("invalid character {c}"))
}

/// Go's `time.Parse` by `2006-01-02`.
fn date(text: &str) -> Result<(), String> {
    let parsing = format!("parsing time {}", quote(text));
    let mut rest = text;
    let mut numbers = [0; 3];
    for (index, (layout, number)) in ["2006", "01", "02"].into_iter().zip(&mut numbers).enumerate() {
        let failed = |rest: &str, what: &str| {
            format!("{parsing} as \"2006-01-02\": cannot parse {} as \"{what}\"", quote(rest))
        };
        if index > 0 {
            rest = rest.strip_prefix('-').ok_or_else(|| failed(rest, "-"))?;
        }
        let digits = rest.get(..layout.len()).filter(|part| digits(part) == part.len());
        *number = digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| failed(rest, layout))?;
        ensure(index != 1 || (1..=12).contains(number), &format!("{parsing}: month out of range"))?;
        rest = rest.get(layout.len()..).unwrap_or_default();
    }
    ensure(rest.is_empty(), &format!("{parsing}: extra text: {}", quote(rest)))?;
    let [year, month, day] = numbers;
    ensure((1..=days_in(month, year)).contains(&day), &format!("{parsing}: day out of range"))
}

fn time(text: &str) -> Result<(), String> {
    ensure(text.len() >= 9, "less than 9 characters long")?;
    let colon = |at: usize| text.as_bytes().get(at) == Some(&b':');
    ensure(colon(2) && colon(5), "missing colon in correct place")?;
    let clock = text.get(..8).ok_or("invalid hour/min/sec")?;
    let [hour, minute, second] = numbers(clock, "hour/min/sec")?;
    ensure(hour <= 23 && minute <= 59 && second <= 60, "hour/min/sec out of range")?;
    let mut rest = text.get(8..).unwrap_or_default();
    if let Some(fraction) = rest.strip_prefix('.') {
        ensure(digits(fraction) > 0, "no digits in second fraction")?;
        rest = fraction.get(digits(fraction)..).unwrap_or_default();
    }
    let moved = offset(rest)?;
    let at = (hour * 60 + minute - moved).rem_euclid(24 * 60);
    ensure(second < 60 || at == 24 * 60 - 1, "invalid leap second")
}

/// Minutes by which a zone is ahead.
fn offset(zone: &str) -> Result<i64, String> {
    if zone.eq_ignore_ascii_case("z") {
        return Ok(0);
    }
    ensure(zone.len() == 6, "offset must be 6 characters long")?;
    let sign = match zone.as_bytes().first() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return fail("offset must begin with plus/minus"),
    };
    ensure(zone.as_bytes().get(3) == Some(&b':'), "missing colon in offset in correct place")?;
    let [hours, minutes] = numbers(zone.get(1..).unwrap_or_default(), "hour/min in offset")?;
    ensure(hours <= 23 && minutes <= 59, "hour/min in offset out of range")?;
    Ok(sign * (hours * 60 + minutes))
}

/// Numbers between colons, none below zero.
fn numbers<const N: usize>(text: &str, what: &str) -> Result<[i64; N], String> {
    let mut numbers = [0; N];
    let mut parts = text.splitn(N, ':');
    for number in &mut numbers {
        let part = parts.next().ok_or_else(|| format!("missing {what}"))?;
        *number = part.parse().map_err(|_| format!("invalid {what}"))?;
        ensure(*number >= 0, &format!("non-positive {what}"))?;
    }
    Ok(numbers)
}

fn date_time(text: &str) -> Result<(), String> {
    ensure(text.len() >= 20, "less than 20 characters long")?;
    ensure(matches!(text.as_bytes().get(10), Some(b't' | b'T')), "11th character must be t or T")?;
    let (day, clock) = (text.get(..10).unwrap_or(text), text.get(11..).unwrap_or_default());
    date(day).map_err(|why| format!("invalid date element: {why}"))?;
    time(clock).map_err(|why| format!("invalid time element: {why}"))
}

fn period(text: &str) -> Result<(), String> {
    let (start, end) = text.split_once('/').ok_or("missing slash")?;
    let side = |text: &str, which: &str, lasts: bool| {
        let (checked, what) =
            if lasts { (duration(text), "duration") } else { (date_time(text), "date-time") };
        checked.map_err(|why| format!("invalid {which} {what}: {why}"))
    };
    let lasts = start.starts_with('P');
    side(start, "start", lasts)?;
    side(end, "end", !lasts && end.starts_with('P'))
}

/// What a text is as a URL: whether it has a scheme. As Go's `url.Parse`, as far as it refuses what people write.
pub(super) fn url(text: &str) -> Result<bool, String> {
    let failed = |why: String| format!("parse {}: {why}", quote(text));
    if text.chars().any(|c| c.is_ascii_control()) {
        return Err(failed("net/url: invalid control character in URL".to_owned()));
    }
    let scheme = text.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c)));
    let scheme = scheme.filter(|at| text.as_bytes().get(*at) == Some(&b':'));
    let scheme = scheme.filter(|_| !text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)));
    if scheme == Some(0) {
        return Err(failed("missing protocol scheme".to_owned()));
    }
    let rest = scheme.map_or(text, |at| text.get(at + 1..).unwrap_or_default());
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    if scheme.is_none() && path.split('/').next().is_some_and(|first| first.contains(':')) {
        return Err(failed("first path segment in URL cannot contain colon".to_owned()));
    }
    if let Some(authority) = path.strip_prefix("//").and_then(|path| path.split('/').next()) {
        host(authority).map_err(failed)?;
    }
    match bad_escape(path).or_else(|| bad_escape(rest.split_once('#').map_or("", |(_, fragment)| fragment))) {
        Some(escape) => Err(failed(format!("invalid URL escape {}", quote(escape)))),
        None => Ok(scheme.is_some()),
    }
}

/// What stands between `//` and the path.
fn host(authority: &str) -> Result<(), String> {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let strange = |c: char| " \"<>\\^`{|}".contains(c);
    if let Some(c) = host.chars().find(|c| strange(*c) && !(host.starts_with('[') && "\"<>".contains(*c))) {
        return fail(format!("invalid character {} in host name", quote(c.encode_utf8(&mut [0; 4]))));
    }
    if let Some(literal) = host.strip_prefix('[') {
        return ensure(literal.contains(']'), "missing ']' in host");
    }
    match host.split_once(':') {
        Some((_, port)) if port.contains(':') || digits(port) != port.len() => {
            let at = host.rfind(':').unwrap_or_default();
            fail(format!("invalid port {} after host", quote(host.get(at..).unwrap_or_default())))
        }
        _ => Ok(()),
    }
}

/// The first `%` that no two digits follow.
fn bad_escape(text: &str) -> Option<&str> {
    let bad = text.match_indices('%').find(|(at, _)| {
        !text.get(at + 1..at + 3).is_some_and(|two| two.bytes().all(|byte| byte.is_ascii_hexdigit()))
    });
    bad.map(|(at, _)| text.get(at..(at + 3).min(text.len())).unwrap_or("%"))
}

fn uri(text: &str) -> Result<(), String> {
    ensure(url(text)?, "relative url")
}

fn uri_reference(text: &str) -> Result<(), String> {
    ensure(!text.contains('\\'), "contains \\")?;
    url(text).map(|_| ())
}

fn uri_template(text: &str) -> Result<(), String> {
    url(text)?;
    let path = text.split(['?', '#']).next().unwrap_or_default();
    for part in path.split('/') {
        let mut open = false;
        for brace in part.chars().filter(|c| matches!(c, '{' | '}')) {
            ensure((brace == '{') != open, "nested curly braces")?;
            open = !open;
        }
        ensure(!open, "no matching closing brace")?;
    }
    Ok(())
}

fn semver(text: &str) -> Result<(), String> {
    let (text, build) = text.split_once('+').map_or((text, None), |(text, build)| (text, Some(build)));
    if let Some(build) = build {
        ensure(!build.is_empty(), "build is empty")?;
        build.split('.').try_for_each(|part| identifier(part, "build"))?;
    }
    let (core, before) = text.split_once('-').map_or((text, None), |(core, before)| (core, Some(before)));
    for part in before.into_iter().flat_map(|before| before.split('.')) {
        identifier(part, "pre-release")?;
        let zero = part.len() > 1 && part.starts_with('0') && digits(part) == part.len();
        ensure(!zero, "pre-release numeric identifier starts with zero")?;
    }
    let numbers: Vec<&str> = core.split('.').collect();
    ensure(numbers.len() == 3, "versionCore must have 3 numbers separated by dot")?;
    for (number, name) in numbers.iter().zip(["major", "minor", "patch"]) {
        ensure(!number.is_empty(), &format!("{name} is empty"))?;
        ensure(number.len() == 1 || !number.starts_with('0'), &format!("{name} starts with zero"))?;
        ensure(digits(number) == number.len(), &format!("{name} contains non-digit"))?;
    }
    Ok(())
}

fn identifier(text: &str, of: &str) -> Result<(), String> {
    ensure(!text.is_empty(), &format!("{of} identifier is empty"))?;
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
    all(text, fits, |c| format!("invalid character {c} in {of} identifier"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_without_their_format_are_told_as_the_library_tells_them() {
        for (name, text, wanted) in [
            ("email", "a@-b", Err("invalid domain: label starts with hyphen")),
            ("email", "", Err("missing @")),
            ("email", "some.body@example.com", Ok(())),
            ("hostname", "a_b", Err("invalid character '_'")),
            ("hostname", "a.example.com.", Ok(())),
            ("ipv4", "1.2.3.x", Err("strconv.Atoi: parsing \"x\": invalid syntax")),
            ("ipv6", "::1", Ok(())),
            ("date", "2024-13-01", Err("parsing time \"2024-13-01\": month out of range")),
            (
                "date",
                "today",
                Err("parsing time \"today\" as \"2006-01-02\": cannot parse \"today\" as \"2006\""),
            ),
            ("date-time", "2024-01-01T10:11:12Z", Ok(())),
            ("time", "23:59:60Z", Ok(())),
            ("time", "10:00:60Z", Err("invalid leap second")),
            ("uri", "a:b:c", Ok(())),
            ("uri", "/a", Err("relative url")),
            ("uri", "http://a b", Err("parse \"http://a b\": invalid character \" \" in host name")),
            ("uri-reference", "%zz", Err("parse \"%zz\": invalid URL escape \"%zz\"")),
            ("duration", "P1D2Y", Err("unit 'Y' out of order")),
            ("uuid", "x", Err("must have 5 elements")),
            ("semver", "1.02.3", Err("minor starts with zero")),
            ("idn-email", "nothing", Ok(())),
        ] {
            assert_eq!(check(name, text), wanted.map_err(str::to_owned), "{name} {text}");
        }
    }
}
