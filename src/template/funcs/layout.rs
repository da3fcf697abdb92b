//! Go's date layouts: `2006-01-02 15:04:05` shown and read.

use super::time::{Civil, Time, Zone};

/// What a layout may show of an instant.
#[derive(Clone, Debug)]
pub(super) struct Fields {
    /// Date and time of day.
    pub(super) civil: Civil,
    /// Days since Sunday.
    pub(super) weekday: i64,
    /// Day of the year, from 1.
    pub(super) year_day: i64,
    /// The zone's abbreviation, which may be empty.
    pub(super) zone: String,
    /// Seconds east of UTC.
    pub(super) offset: i32,
}

/// One element of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    LongMonth,
    Month,
    NumMonth,
    ZeroMonth,
    LongWeekDay,
    WeekDay,
    Day,
    UnderDay,
    ZeroDay,
    UnderYearDay,
    ZeroYearDay,
    Hour,
    Hour12,
    ZeroHour12,
    Minute,
    ZeroMinute,
    Second,
    ZeroSecond,
    LongYear,
    Year,
    UpperPm,
    LowerPm,
    ZoneName,
    Offset(Offset),
    /// Fractions of a second: separator, digits, whether all of them are always shown.
    Fraction(char, usize, bool),
}

/// How an offset from UTC is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Offset {
    /// `Z` for UTC.
    z: bool,
    colons: bool,
    /// Whether minutes and seconds are written.
    minutes: bool,
    seconds: bool,
}

impl Offset {
    const fn element(z: bool, colons: bool, minutes: bool, seconds: bool) -> Element {
        Element::Offset(Self { z, colons, minutes, seconds })
    }
}

/// Elements by their notation; of those that fit at a place the first is taken.
static ELEMENTS: &[(&str, Element)] = &[
    ("January", Element::LongMonth),
    ("Jan", Element::Month),
    ("Monday", Element::LongWeekDay),
    ("Mon", Element::WeekDay),
    ("MST", Element::ZoneName),
    ("002", Element::ZeroYearDay),
    ("01", Element::ZeroMonth),
    ("02", Element::ZeroDay),
    ("03", Element::ZeroHour12),
    ("04", Element::ZeroMinute),
    ("05", Element::ZeroSecond),
    ("06", Element::Year),
    ("15", Element::Hour),
    ("1", Element::NumMonth),
    ("2006", Element::LongYear),
    ("2", Element::Day),
    ("__2", Element::UnderYearDay),
    ("_2", Element::UnderDay),
    ("3", Element::Hour12),
    ("4", Element::Minute),
    ("5", Element::Second),
    ("PM", Element::UpperPm),
    ("pm", Element::LowerPm),
    ("-070000", Offset::element(false, false, true, true)),
    ("-07:00:00", Offset::element(false, true, true, true)),
    ("-0700", Offset::element(false, false, true, false)),
    ("-07:00", Offset::element(false, true, true, false)),
    ("-07", Offset::element(false, false, false, false)),
    ("Z070000", Offset::element(true, false, true, true)),
    ("Z07:00:00", Offset::element(true, true, true, true)),
    ("Z0700", Offset::element(true, false, true, false)),
    ("Z07:00", Offset::element(true, true, true, false)),
    ("Z07", Offset::element(true, false, false, false)),
];

/// Splits a layout before and after its first element.
fn next_element(layout: &str) -> Option<(&str, Element, &str, &str)> {
    layout.char_indices().find_map(|(at, _)| {
        let (prefix, rest) = layout.split_at_checked(at)?;
        let (element, length) = element_at(rest)?;
        // `_2006` is an underscore and a year.
        let skip = usize::from(element == Element::UnderDay && rest.starts_with("_2006"));
        let (element, length) = if skip == 1 { (Element::LongYear, 4) } else { (element, length) };
        let prefix = layout.get(..prefix.len() + skip)?;
        let notation = rest.get(skip..skip + length)?;
        Some((prefix, element, notation, rest.get(skip + length..)?))
    })
}

fn element_at(text: &str) -> Option<(Element, usize)> {
    if let Some(fraction) = fraction_at(text) {
        return Some(fraction);
    }
    let (notation, element) = ELEMENTS.iter().find(|(notation, element)| {
        let short = matches!(element, Element::Month | Element::WeekDay);
        let rest = text.strip_prefix(notation);
        rest.is_some_and(|rest| !(short && rest.starts_with(|c: char| c.is_ascii_lowercase())))
    })?;
    Some((*element, notation.len()))
}

/// `.000` or `,999`, not followed by another digit.
fn fraction_at(text: &str) -> Option<(Element, usize)> {
    let separator = text.chars().next().filter(|c| matches!(c, '.' | ','))?;
    let rest = text.get(1..)?;
    let digit = rest.chars().next().filter(|c| matches!(c, '0' | '9'))?;
    let after = rest.trim_start_matches(digit);
    let digits = rest.len() - after.len();
    let alone = !after.starts_with(|c: char| c.is_ascii_digit());
    alone.then_some((Element::Fraction(separator, digits, digit == '0'), digits + 1))
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

fn name(names: &'static [&'static str], index: i64) -> &'static str {
    usize::try_from(index).ok().and_then(|index| names.get(index)).copied().unwrap_or_default()
}

fn short(name: &str) -> &str {
    name.get(..3).unwrap_or(name)
}

/// Shows an instant by a layout.
pub(super) fn format(layout: &str, fields: &Fields) -> String {
    let mut out = String::new();
    let mut rest = layout;
    while let Some((prefix, element, _, suffix)) = next_element(rest) {
        out.push_str(prefix);
        out.push_str(&shown(element, fields));
        rest = suffix;
    }
    out.push_str(rest);
    out
}

fn shown(element: Element, fields: &Fields) -> String {
    let Civil { year, month, day, hour, minute, second, nano } = fields.civil;
    let twelve = (hour + 11) % 12 + 1;
    match element {
        Element::LongMonth => name(&MONTHS, month - 1).to_owned(),
        Element::Month => short(name(&MONTHS, month - 1)).to_owned(),
        Element::NumMonth => month.to_string(),
        Element::ZeroMonth => format!("{month:02}"),
        Element::LongWeekDay => name(&DAYS, fields.weekday).to_owned(),
        Element::WeekDay => short(name(&DAYS, fields.weekday)).to_owned(),
        Element::Day => day.to_string(),
        Element::UnderDay => format!("{day:2}"),
        Element::ZeroDay => format!("{day:02}"),
        Element::UnderYearDay => format!("{:3}", fields.year_day),
        Element::ZeroYearDay => format!("{:03}", fields.year_day),
        Element::Hour => format!("{hour:02}"),
        Element::Hour12 => twelve.to_string(),
        Element::ZeroHour12 => format!("{twelve:02}"),
        Element::Minute => minute.to_string(),
        Element::ZeroMinute => format!("{minute:02}"),
        Element::Second => second.to_string(),
        Element::ZeroSecond => format!("{second:02}"),
        Element::LongYear if year < 0 => format!("-{:04}", -year),
        Element::LongYear => format!("{year:04}"),
        Element::Year => format!("{:02}", year.max(0) % 100),
        Element::UpperPm => if hour >= 12 { "PM" } else { "AM" }.to_owned(),
        Element::LowerPm => if hour >= 12 { "pm" } else { "am" }.to_owned(),
        Element::ZoneName => zone_name(fields),
        Element::Offset(notation) => offset(notation, fields.offset),
        Element::Fraction(separator, digits, all) => fraction(separator, digits, all, nano),
    }
}

fn zone_name(fields: &Fields) -> String {
    if !fields.zone.is_empty() {
        return fields.zone.clone();
    }
    let minutes = fields.offset / 60;
    let sign = if minutes < 0 { '-' } else { '+' };
    format!("{sign}{:02}{:02}", minutes.abs() / 60, minutes.abs() % 60)
}

fn offset(notation: Offset, seconds: i32) -> String {
    if notation.z && seconds == 0 {
        return "Z".to_owned();
    }
    let minutes = seconds / 60;
    let sign = if minutes < 0 { '-' } else { '+' };
    let colon = if notation.colons { ":" } else { "" };
    let mut out = format!("{sign}{:02}", minutes.abs() / 60);
    if notation.minutes {
        out += &format!("{colon}{:02}", minutes.abs() % 60);
    }
    if notation.seconds {
        out += &format!("{colon}{:02}", seconds.abs() % 60);
    }
    out
}

fn fraction(separator: char, digits: usize, all: bool, nano: i64) -> String {
    let padded = format!("{nano:09}{:0<1$}", "", digits.saturating_sub(9));
    let cut = padded.get(..digits).unwrap_or(&padded);
    let kept = if all { cut } else { cut.trim_end_matches('0') };
    if kept.is_empty() { String::new() } else { format!("{separator}{kept}") }
}

/// Reads an instant by a layout, in a zone unless the text names another. As Go 1.26 `time/format.go`, `parse`.
///
/// # Errors
/// Go's words, with text, layout and the place where they part.
pub(super) fn parse(layout: &str, text: &str, local: &Zone) -> Result<Time, String> {
    let mut read = Read::default();
    let mut rest_layout = layout;
    let mut rest = text;
    loop {
        let next = next_element(rest_layout);
        let prefix = next.map_or(rest_layout, |(prefix, ..)| prefix);
        rest = skip(rest, prefix).map_err(|at| cannot(text, layout, at, prefix))?;
        let Some((_, element, notation, suffix)) = next else {
            let extra = format!(": extra text: {}", quoted(rest));
            return if rest.is_empty() { read.finish(text, local) } else { Err(complaint(text, &extra)) };
        };
        rest_layout = suffix;
        match read.element(element, rest, suffix) {
            Ok(after) => rest = after,
            Err(Mismatch::Bad) => return Err(cannot(text, layout, rest, notation)),
            Err(Mismatch::Range(what)) => return Err(complaint(text, &format!(": {what} out of range"))),
        }
    }
}

fn cannot(text: &str, layout: &str, at: &str, notation: &str) -> String {
    format!(
        "parsing time {} as {}: cannot parse {} as {}",
        quoted(text),
        quoted(layout),
        quoted(at),
        quoted(notation)
    )
}

fn complaint(text: &str, message: &str) -> String {
    format!("parsing time {}{message}", quoted(text))
}

/// Quotes as package `time` does: bytes that are not printable ASCII as `\x..`.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' | '\x7f' => out.push(c),
            c => c.encode_utf8(&mut [0; 4]).bytes().for_each(|b| out += &format!("\\x{b:02x}")),
        }
    }
    out.push('"');
    out
}

/// Skips the text between elements; runs of spaces match runs of spaces.
fn skip<'a>(text: &'a str, prefix: &str) -> Result<&'a str, &'a str> {
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

/// Why an element does not fit.
enum Mismatch {
    Bad,
    Range(&'static str),
}

type Taken<'a, T> = Result<(T, &'a str), Mismatch>;

/// What has been read so far.
#[derive(Debug, Default)]
struct Read {
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
    fn element<'a>(&mut self, element: Element, text: &'a str, layout: &str) -> Result<&'a str, Mismatch> {
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
    fn stray_fraction<'a>(&mut self, text: &'a str, layout: &str) -> Result<&'a str, Mismatch> {
        match next_element(layout) {
            Some((_, Element::Fraction(..), ..)) => Ok(text),
            _ => self.optional_fraction(text),
        }
    }

    fn optional_fraction<'a>(&mut self, text: &'a str) -> Result<&'a str, Mismatch> {
        let digits = text.strip_prefix(['.', ',']).map_or("", |digits| split_digits(digits).0);
        if digits.is_empty() {
            return Ok(text);
        }
        let (cut, rest) = text.split_at_checked(digits.len() + 1).ok_or(Mismatch::Bad)?;
        self.nano = nanoseconds(cut)?;
        Ok(rest)
    }

    fn half_day<'a>(&mut self, element: Element, text: &'a str) -> Result<&'a str, Mismatch> {
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

    fn offset<'a>(&mut self, notation: Offset, text: &'a str) -> Result<&'a str, Mismatch> {
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

    fn zone_name<'a>(&mut self, text: &'a str) -> Result<&'a str, Mismatch> {
        if let Some(rest) = text.strip_prefix("UTC") {
            self.utc = true;
            return Ok(rest);
        }
        let length = zone_length(text).ok_or(Mismatch::Bad)?;
        let (name, rest) = text.split_at_checked(length).ok_or(Mismatch::Bad)?;
        self.zone = Some(name.to_owned());
        Ok(rest)
    }

    fn finish(mut self, text: &str, local: &Zone) -> Result<Time, String> {
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

    fn month_and_day(&self, text: &str) -> Result<(i64, i64), String> {
        let Some(of_year) = self.year_day else {
            return Ok((self.month.unwrap_or(1), self.day.unwrap_or(1)));
        };
        let days = if is_leap(self.year) { 366 } else { 365 };
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
    fn located(self, civil: &Civil, local: &Zone) -> Time {
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

fn within(value: i64, range: std::ops::RangeInclusive<i64>, what: &'static str) -> Result<i64, Mismatch> {
    if range.contains(&value) { Ok(value) } else { Err(Mismatch::Range(what)) }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(month: i64, year: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// A name regardless of case; gives its index.
fn lookup<'a>(names: &[&str], shortened: bool, text: &'a str) -> Taken<'a, i64> {
    let found = names.iter().zip(0..).find_map(|(name, index)| {
        let name = if shortened { short(name) } else { name };
        let (own, rest) = text.split_at_checked(name.len())?;
        own.eq_ignore_ascii_case(name).then_some((index, rest))
    });
    found.ok_or(Mismatch::Bad)
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// One or two digits, exactly two when `fixed`.
fn number(text: &str, fixed: bool) -> Taken<'_, i64> {
    let length = split_digits(text).0.len().min(2);
    if length == 0 || fixed && length < 2 {
        return Err(Mismatch::Bad);
    }
    fixed_digits(text, length)
}

fn fixed_digits(text: &str, length: usize) -> Taken<'_, i64> {
    let (digits, rest) = text.split_at_checked(length).ok_or(Mismatch::Bad)?;
    let all = digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|_| all).map(|value| (value, rest)).ok_or(Mismatch::Bad)
}

/// One to three digits, exactly three when `fixed`; else up to two spaces may stand before them.
fn year_day(text: &str, fixed: bool) -> Taken<'_, i64> {
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
fn nanoseconds(text: &str) -> Result<i64, Mismatch> {
    let digits = text.strip_prefix(['.', ',']).ok_or(Mismatch::Bad)?;
    let digits = digits.get(..9).unwrap_or(digits);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Mismatch::Bad);
    }
    format!("{digits:0<9}").parse().map_err(|_| Mismatch::Bad)
}

/// Length of what looks like a zone's abbreviation at the start of a text.
fn zone_length(text: &str) -> Option<usize> {
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
fn signed_hours(text: &str) -> usize {
    let Some(rest) = text.strip_prefix(['+', '-']) else { return 0 };
    let digits = split_digits(rest).0;
    match digits.parse::<u32>() {
        Ok(hours) if hours <= 23 => digits.len() + 1,
        _ => 0,
    }
}
