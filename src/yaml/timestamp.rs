//! Dates and times as go-yaml recognises them, with Go's leniency.
//!
//! Behaviour: go.yaml.in/yaml v2.4.4, `resolve.go`, `parseTimestamp`; Go 1.26, `time/format.go`, `Parse`.

use crate::go::calendar::days_in;

/// Whether a text is a date (`2001-1-2`) or a date with a time, as one of go-yaml's four layouts.
pub(super) fn is_timestamp(text: &str) -> bool {
    let Some(rest) = after_date(text.as_bytes()) else { return false };
    match rest {
        [] => true,
        [b'T' | b't', time @ ..] => after_time(time).is_some_and(is_zone),
        [b' ', ..] => after_time(rest.skip_spaces()).is_some_and(<[u8]>::is_empty),
        _ => false,
    }
}

trait Spaces {
    fn skip_spaces(&self) -> &[u8];
}

impl Spaces for [u8] {
    /// Go takes any number of spaces where a layout has one.
    fn skip_spaces(&self) -> &[u8] {
        self.iter().position(|&b| b != b' ').and_then(|at| self.get(at..)).unwrap_or(&[])
    }
}

/// What follows `YYYY-M-D`.
fn after_date(text: &[u8]) -> Option<&[u8]> {
    let (year, rest) = text.split_at_checked(4)?;
    let year = year.iter().try_fold(0u32, |n, b| b.is_ascii_digit().then(|| n * 10 + u32::from(b - b'0')))?;
    let (month, rest) = number(rest.strip_prefix(b"-")?)?;
    let (day, rest) = number(rest.strip_prefix(b"-")?)?;
    let fits = (1..=12).contains(&month) && (1..=days_in(month.into(), year.into())).contains(&day.into());
    fits.then_some(rest)
}

/// What follows `H:M:S` and a fraction.
fn after_time(text: &[u8]) -> Option<&[u8]> {
    let (hour, rest) = number(text)?;
    let (minute, rest) = number(rest.strip_prefix(b":")?)?;
    let (second, rest) = number(rest.strip_prefix(b":")?)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    match rest {
        [b'.' | b',', digit, ..] if digit.is_ascii_digit() => {
            let digits = rest.iter().skip(1).take_while(|b| b.is_ascii_digit()).count();
            rest.get(1 + digits..)
        }
        _ => Some(rest),
    }
}

/// `Z` or `±HH:MM`.
fn is_zone(text: &[u8]) -> bool {
    match text {
        [b'Z'] => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] => {
            let digits = [h1, h2, m1, m2].iter().all(|d| d.is_ascii_digit());
            let pair = |tens: &u8, ones: &u8| u32::from(tens & 0xF) * 10 + u32::from(ones & 0xF);
            digits && pair(h1, h2) <= 24 && pair(m1, m2) <= 60
        }
        _ => false,
    }
}

/// A number of one or two digits and what follows it.
fn number(text: &[u8]) -> Option<(u32, &[u8])> {
    let digit = |b: &u8| b.is_ascii_digit().then(|| u32::from(b - b'0'));
    let (first, rest) = text.split_first()?;
    let tens = digit(first)?;
    match rest.split_first().and_then(|(second, rest)| Some((digit(second)?, rest))) {
        Some((ones, rest)) => Some((tens * 10 + ones, rest)),
        None => Some((tens, rest)),
    }
}
