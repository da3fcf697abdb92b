//! Texts read by a layout, element by element.

use super::super::time::{Civil, Time, Zone};
use super::{DAYS, Element, MONTHS, Offset, complaint, next_element, short};
use crate::go::calendar::days_in;

/// Why an element does not fit.
pub(super) enum Mismatch {
    Bad,
    Range(&'static str),
}

pub(super) type Taken<'a, T> = Result<(T, &'a str), Mismatch>;

/// What has been read so far.
#[derive(Debug, Default)]
pub(super) struct Read {
    year: i64,
    month: Option<i64>,
    day: Option<i64>,
    year_day: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    nano: i64,
    afternoon: Option<bool>,
    utc: bool,
    offset: Option<i32>,
    zone: Option<String>,
}

impl Read {
    /// Reads one element and gives what follows it.
    pub(super) fn element<'a>(
        &mut self,
        element: Element,
        text: &'a str,
        layout: &str,
    ) -> Result<&'a str, Mismatch> {
        let rest;
        match element {
            Element::Year => {
                let (two, after) = fixed_digits(text, 2)?;
                (self.year, rest) = (if two >= 69 { two + 1900 } else { two + 2000 }, after);
            }
            Element::LongYear => (self.year, rest) = fixed_digits(text, 4)?,
            Element::Month | Element::LongMonth => {
                let (index, after) = lookup(&MONTHS, element == Element::Month, text)?;
                (self.month, rest) = (Some(index + 1), after);
            }
            Element::NumMonth | Element::ZeroMonth => {
                let (month, after) = number(text, element == Element::ZeroMonth)?;
                (self.month, rest) = (Some(within(month, 1..=12, "month")?), after);
            }
            Element::WeekDay | Element::LongWeekDay => {
                (_, rest) = lookup(&DAYS, element == Element::WeekDay, text)?;
            }
            Element::Day | Element::UnderDay | Element::ZeroDay => {
                let start = text.strip_prefix(' ').filter(|_| element == Element::UnderDay).unwrap_or(text);
                let (day, after) = number(start, element == Element::ZeroDay)?;
                (self.day, rest) = (Some(day), after);
            }
            Element::UnderYearDay | Element::ZeroYearDay => {
                let (day, after) = year_day(text, element == Element::ZeroYearDay)?;
                (self.year_day, rest) = (Some(day), after);
            }
            Element::Hour => {
                let (hour, after) = number(text, false)?;
                (self.hour, rest) = (within(hour, 0..=23, "hour")?, after);
            }
            Element::Hour12 | Element::ZeroHour12 => {
                let (hour, after) = number(text, element == Element::ZeroHour12)?;
                (self.hour, rest) = (within(hour, 0..=12, "hour")?, after);
            }
            Element::Minute | Element::ZeroMinute => {
                let (minute, after) = number(text, element == Element::ZeroMinute)?;
                (self.minute, rest) = (within(minute, 0..=59, "minute")?, after);
            }
            Element::Second | Element::ZeroSecond => {
                let (second, after) = number(text, element == Element::ZeroSecond)?;
                self.second = within(second, 0..=59, "second")?;
                rest = self.stray_fraction(after, layout)?;
            }
            Element::UpperPm | Element::LowerPm => rest = self.half_day(element, text)?,
            Element::Offset(notation) => rest = self.offset(notation, text)?,
            Element::ZoneName => rest = self.zone_name(text)?,
            Element::Fraction(_, digits, true) => {
                let cut = text.get(..=digits).ok_or(Mismatch::Bad)?;
                self.nano = nanoseconds(cut)?;
                rest = text.get(digits + 1..).unwrap_or_default();
            }
            Element::Fraction(..) => rest = self.optional_fraction(text)?,
        }
        Ok(rest)
    }

    /// A fraction in the text where the layout has none is read all the same.
    pub(super) fn stray_fraction<'a>(&mut self, text: &'a str, layout: &str) -> Result<&'a str, Mismatch> {
        match next_element(layout) {
            Some((_, Element::Fraction(..), ..)) => Ok(text),
            _ => self.optional_fraction(text),
        }
    }

    pub(super) fn optional_fraction<'a>(&mut self, text: &'a str) -> Result<&'a str, Mismatch> {
        let digits = text.strip_prefix(['.', ',']).map_or("", |digits| split_digits(digits).0);
        if digits.is_empty() {
            return Ok(text);
        }
        let (cut, rest) = text.split_at_checked(digits.len() + 1).ok_or(Mismatch::Bad)?;
        self.nano = nanoseconds(cut)?;
        Ok(rest)
    }

    pub(super) fn half_day<'a>(&mut self, element: Element, text: &'a str) -> Result<&'a str, Mismatch> {
        let (half, rest) = text.split_at_checked(2).ok_or(Mismatch::Bad)?;
        let (am, pm) = if element == Element::UpperPm { ("AM", "PM") } else { ("am", "pm") };
        self.afternoon = match half {
            half if half == pm => Some(true),
            // Morning does not undo an afternoon said before.
            half if half == am => Some(self.afternoon.unwrap_or(false)),
            _ => return Err(Mismatch::Bad),
        };
        Ok(rest)
    }

    pub(super) fn offset<'a>(&mut self, notation: Offset, text: &'a str) -> Result<&'a str, Mismatch> {
        if let Some(rest) = text.strip_prefix('Z').filter(|_| notation.z) {
            self.utc = true;
            return Ok(rest);
        }
        let colon = usize::from(notation.colons);
        let length =
            3 + usize::from(notation.minutes) * (2 + colon) + usize::from(notation.seconds) * (2 + colon);
        let (written, rest) = text.split_at_checked(length).ok_or(Mismatch::Bad)?;
        let part =
            |at: usize| written.get(at..at + 2).map_or(Err(Mismatch::Bad), |two| Ok(number(two, true)?.0));
        let colons = [3, 6].iter().filter(|at| **at < length && notation.colons);
        if colons.into_iter().any(|at| written.as_bytes().get(*at) != Some(&b':')) {
            return Err(Mismatch::Bad);
        }
        let hours = part(1)?;
        let minutes = if notation.minutes { part(3 + colon)? } else { 0 };
        let seconds = if notation.seconds { part(5 + 2 * colon)? } else { 0 };
        within(hours, 0..=24, "time zone offset hour")?;
        within(minutes, 0..=60, "time zone offset minute")?;
        within(seconds, 0..=60, "time zone offset second")?;
        let total = i32::try_from((hours * 60 + minutes) * 60 + seconds).unwrap_or(0);
        self.offset = match written.as_bytes().first() {
            Some(b'+') => Some(total),
            Some(b'-') => Some(-total),
            _ => return Err(Mismatch::Bad),
        };
        Ok(rest)
    }

    pub(super) fn zone_name<'a>(&mut self, text: &'a str) -> Result<&'a str, Mismatch> {
        if let Some(rest) = text.strip_prefix("UTC") {
            self.utc = true;
            return Ok(rest);
        }
        let length = zone_length(text).ok_or(Mismatch::Bad)?;
        let (name, rest) = text.split_at_checked(length).ok_or(Mismatch::Bad)?;
        self.zone = Some(name.to_owned());
        Ok(rest)
    }

    pub(super) fn finish(mut self, text: &str, local: &Zone) -> Result<Time, String> {
        self.hour = match self.afternoon {
            Some(true) if self.hour < 12 => self.hour + 12,
            Some(false) if self.hour == 12 => 0,
            _ => self.hour,
        };
        let (month, day) = self.month_and_day(text)?;
        if day < 1 || day > days_in(month, self.year) {
            return Err(complaint(text, ": day out of range"));
        }
        let Self { year, hour, minute, second, nano, .. } = self;
        Ok(self.located(&Civil { year, month, day, hour, minute, second, nano }, local))
    }

    pub(super) fn month_and_day(&self, text: &str) -> Result<(i64, i64), String> {
        let Some(of_year) = self.year_day else {
            return Ok((self.month.unwrap_or(1), self.day.unwrap_or(1)));
        };
        let days = 337 + days_in(2, self.year);
        if of_year < 1 || of_year > days {
            return Err(complaint(text, ": day-of-year out of range"));
        }
        let (mut month, mut day) = (1, of_year);
        while day > days_in(month, self.year) {
            day -= days_in(month, self.year);
            month += 1;
        }
        match (self.month, self.day) {
            (Some(own), _) if own != month => Err(complaint(text, ": day-of-year does not match month")),
            (_, Some(own)) if own != day => Err(complaint(text, ": day-of-year does not match day")),
            _ => Ok((month, day)),
        }
    }

    /// The zone that the text names, the local one if it has that name or offset.
    pub(super) fn located(self, civil: &Civil, local: &Zone) -> Time {
        if self.utc {
            return Time::date(civil, Zone::Utc);
        }
        let wall = Time::date(civil, Zone::Utc);
        let at = |offset: i32, zone: Zone| Time::at(wall.nanos - i128::from(offset) * 1_000_000_000, zone);
        match (self.offset, self.zone) {
            (Some(offset), zone) => {
                let (name, own) = local.lookup(wall.seconds() - i64::from(offset));
                let same = own == offset && zone.as_ref().is_none_or(|zone| *zone == name);
                at(offset, if same { local.clone() } else { Zone::Fixed(zone.unwrap_or_default(), offset) })
            }
            (None, Some(name)) => match local.offset_of(&name, wall.seconds()) {
                Some(offset) => at(offset, local.clone()),
                None => {
                    let hours: i32 =
                        name.strip_prefix("GMT").and_then(|hours| hours.parse().ok()).unwrap_or(0);
                    Time::at(wall.nanos, Zone::Fixed(name, hours * 3600))
                }
            },
            (None, None) => Time::date(civil, local.clone()),
        }
    }
}

/// Skips the text between elements; runs of spaces match runs of spaces.
pub(super) fn skip<'a>(text: &'a str, prefix: &str) -> Result<&'a str, &'a str> {
    let (mut text, mut prefix) = (text, prefix);
    while let Some(c) = prefix.chars().next() {
        if c == ' ' {
            if !text.is_empty() && !text.starts_with(' ') {
                return Err(text);
            }
            prefix = prefix.trim_start_matches(' ');
            text = text.trim_start_matches(' ');
        } else {
            text = text.strip_prefix(c).ok_or(text)?;
            prefix = prefix.get(c.len_utf8()..).unwrap_or_default();
        }
    }
    Ok(text)
}

pub(super) fn within(
    value: i64,
    range: std::ops::RangeInclusive<i64>,
    what: &'static str,
) -> Result<i64, Mismatch> {
    if range.contains(&value) { Ok(value) } else { Err(Mismatch::Range(what)) }
}

/// A name regardless of case; gives its index.
pub(super) fn lookup<'a>(names: &[&str], shortened: bool, text: &'a str) -> Taken<'a, i64> {
    let found = names.iter().zip(0..).find_map(|(name, index)| {
        let name = if shortened { short(name) } else { name };
        let (own, rest) = text.split_at_checked(name.len())?;
        own.eq_ignore_ascii_case(name).then_some((index, rest))
    });
    found.ok_or(Mismatch::Bad)
}

pub(super) fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// One or two digits, exactly two when `fixed`.
pub(super) fn number(text: &str, fixed: bool) -> Taken<'_, i64> {
    let length = split_digits(text).0.len().min(2);
    if length == 0 || fixed && length < 2 {
        return Err(Mismatch::Bad);
    }
    fixed_digits(text, length)
}

pub(super) fn fixed_digits(text: &str, length: usize) -> Taken<'_, i64> {
    let (digits, rest) = text.split_at_checked(length).ok_or(Mismatch::Bad)?;
    let all = digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|_| all).map(|value| (value, rest)).ok_or(Mismatch::Bad)
}

/// One to three digits, exactly three when `fixed`; else up to two spaces may stand before them.
pub(super) fn year_day(text: &str, fixed: bool) -> Taken<'_, i64> {
    let mut text = text;
    for _ in 0..2 {
        text = text.strip_prefix(' ').filter(|_| !fixed).unwrap_or(text);
    }
    let length = split_digits(text).0.len().min(3);
    if length == 0 || fixed && length < 3 {
        return Err(Mismatch::Bad);
    }
    fixed_digits(text, length)
}

/// A separator and digits as nanoseconds; digits after the ninth are dropped.
pub(super) fn nanoseconds(text: &str) -> Result<i64, Mismatch> {
    let digits = text.strip_prefix(['.', ',']).ok_or(Mismatch::Bad)?;
    let digits = digits.get(..9).unwrap_or(digits);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Mismatch::Bad);
    }
    format!("{digits:0<9}").parse().map_err(|_| Mismatch::Bad)
}

/// Length of what looks like a zone's abbreviation at the start of a text.
pub(super) fn zone_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    if bytes.len() < 3 {
        return None;
    }
    if text.starts_with("ChST") || text.starts_with("MeST") {
        return Some(4);
    }
    if let Some(after) = text.strip_prefix("GMT") {
        return Some(3 + signed_hours(after));
    }
    if text.starts_with(['+', '-']) {
        return Some(signed_hours(text)).filter(|length| *length > 0);
    }
    match bytes.iter().take(6).take_while(|b| b.is_ascii_uppercase()).count() {
        3 => Some(3),
        4 if bytes.get(3) == Some(&b'T') || text.starts_with("WITA") => Some(4),
        5 if bytes.get(4) == Some(&b'T') => Some(5),
        _ => None,
    }
}

/// Length of `+3` or `-11`, 0 for what is none.
pub(super) fn signed_hours(text: &str) -> usize {
    let Some(rest) = text.strip_prefix(['+', '-']) else { return 0 };
    let digits = split_digits(rest).0;
    match digits.parse::<u32>() {
        Ok(hours) if hours <= 23 => digits.len() + 1,
        _ => 0,
    }
}
