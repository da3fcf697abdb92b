//! Go's date layouts: `2006-01-02 15:04:05` shown and read.

use super::time::{Civil, Time, Zone};

use read::{Mismatch, Read, skip};

mod read;

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

pub(super) const MONTHS: [&str; 12] = [
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

pub(super) const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

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
