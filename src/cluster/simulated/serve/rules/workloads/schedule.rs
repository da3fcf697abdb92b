//! Schedules of CronJobs, read as `robfig/cron` reads them, and time zones.
//!
//! Source: github.com/robfig/cron v3.0.1, `parser.go`.

use jiff::tz::TimeZone;

use super::super::place::{Errors, Place};
use crate::go;

/// What a field of a schedule can be.
struct Bounds {
    least: u64,
    most: u64,
    names: &'static [&'static str],
}

const MONTHS: &[&str] = &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: &[&str] = &["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Minutes, hours, days of the month, months, days of the week.
const FIELDS: [Bounds; 5] = [
    Bounds { least: 0, most: 59, names: &[] },
    Bounds { least: 0, most: 23, names: &[] },
    Bounds { least: 1, most: 31, names: &[] },
    Bounds { least: 1, most: 12, names: MONTHS },
    Bounds { least: 0, most: 6, names: DAYS },
];

const DESCRIPTORS: &[&str] =
    &["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/// Whether a text is a schedule.
///
/// # Errors
/// What is wrong with it.
pub(super) fn parse(text: &str) -> Result<(), String> {
    let rest = match text.strip_prefix("CRON_TZ=").or_else(|| text.strip_prefix("TZ=")) {
        Some(zoned) => zoned.split_once(' ').map_or("", |(_, rest)| rest.trim()),
        None => text,
    };
    if rest.starts_with('@') {
        return descriptor(rest);
    }
    let fields: Vec<&str> = rest.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        let (count, list) = (fields.len(), fields.join(" "));
        return Err(format!("expected exactly 5 fields, found {count}: [{list}]"));
    }
    fields.iter().zip(&FIELDS).try_for_each(|(field, bounds)| {
        let mut ranges = field.split(',').filter(|range| !range.is_empty());
        ranges.try_for_each(|range| check_range(range, bounds))
    })
}

fn descriptor(text: &str) -> Result<(), String> {
    if let Some(every) = text.strip_prefix("@every ") {
        let read = go::duration::parse(every);
        return read.map(|_| ()).map_err(|error| format!("failed to parse duration {text}: {error}"));
    }
    match DESCRIPTORS.contains(&text) {
        true => Ok(()),
        false => Err(format!("unrecognized descriptor: {text}")),
    }
}

fn check_range(text: &str, bounds: &Bounds) -> Result<(), String> {
    let parts: Vec<&str> = text.split('/').collect();
    let ends: Vec<&str> = parts.first().map(|range| range.split('-').collect()).unwrap_or_default();
    let (start, mut end) = match ends.as_slice() {
        ["*" | "?", ..] => (bounds.least, bounds.most),
        [only] => named(only, bounds).map(|number| (number, number))?,
        [low, high] => (named(low, bounds)?, named(high, bounds)?),
        _ => return Err(format!("too many hyphens: {text}")),
    };
    let step = match parts.as_slice() {
        [_] => 1,
        [_, step] => number(step)?,
        _ => return Err(format!("too many slashes: {text}")),
    };
    if parts.len() == 2 && ends.len() == 1 {
        end = bounds.most;
    }
    let Bounds { least, most, .. } = bounds;
    let wrong = match () {
        () if start < *least => format!("beginning of range ({start}) below minimum ({least})"),
        () if end > *most => format!("end of range ({end}) above maximum ({most})"),
        () if start > end => format!("beginning of range ({start}) beyond end of range ({end})"),
        () if step == 0 => "step of range should be a positive number".to_owned(),
        () => return Ok(()),
    };
    Err(format!("{wrong}: {text}"))
}

fn named(text: &str, bounds: &Bounds) -> Result<u64, String> {
    let lower = text.to_lowercase();
    match bounds.names.iter().position(|name| *name == lower) {
        Some(at) => Ok(bounds.least + at as u64),
        None => number(text),
    }
}

fn number(text: &str) -> Result<u64, String> {
    let fault = |why: &str| {
        format!("failed to parse int from {text}: strconv.Atoi: parsing {}: {why}", go::quote(text))
    };
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(fault("invalid syntax"));
    }
    match text.parse::<i64>() {
        Ok(number) if number < 0 => Err(format!("negative number ({number}) not allowed: {text}")),
        Ok(number) => Ok(number.unsigned_abs()),
        Err(_) => Err(fault("value out of range")),
    }
}

/// A time zone that the server knows.
pub(super) fn zone(place: &Place<'_>, errors: &mut Errors) {
    if !place.is_set() {
        return;
    }
    let name = place.text();
    if name.is_empty() {
        return place.invalid("timeZone must be nil or non-empty string", errors);
    }
    let is_plain = |part: &str| {
        let letters = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b'+');
        !part.is_empty() && !matches!(part, "." | "..") && !part.starts_with('-') && part.bytes().all(letters)
    };
    if name.split('/').all(is_plain) && name.eq_ignore_ascii_case("local") {
        let detail = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
        return place.invalid(detail, errors);
    }
    let is_known = name == "UTC" || TimeZone::get(name).is_ok_and(|zone| zone.iana_name() == Some(name));
    if !name.split('/').all(is_plain) || !is_known {
        place.invalid(&format!("unknown time zone {name}"), errors);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cron_takes() {
        for text in [
            "* * * * *",
            "*/5 0-6,12 1 JAN-mar mon",
            "@every 1h30m",
            "? ? ? * ?",
            "5/15 * * * *",
            "TZ=UTC * * * * *",
        ] {
            assert_eq!(parse(text), Ok(()), "{text}");
        }
    }

    /// What github.com/robfig/cron v3.0.1 says.
    #[test]
    fn what_cron_does_not_take() {
        for (text, fault) in [
            ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
            ("1/2/3 * * * *", "too many slashes: 1/2/3"),
            ("@every soon", "failed to parse duration @every soon: time: invalid duration \"soon\""),
            (
                "99999999999999999999 * * * *",
                "failed to parse int from 99999999999999999999: strconv.Atoi: parsing \"99999999999999999999\": value out of range",
            ),
        ] {
            assert_eq!(parse(text), Err(fault.to_owned()), "{text}");
        }
    }
}
