//! Functions on dates and durations; the engine's host has the clock and the local zone.

use super::duration::{self, SECOND};
use super::layout;
use super::time::{At, Time, Zone};
use super::{Engine, Fault, Func};
use crate::func;
use crate::template::value::Value;

/// Rows of this family, sorted by name.
pub(super) static FUNCS: &[Func] = &[
    func!(engine "ago", ago),
    func!(engine "date", date),
    func!(engine "dateInZone", date_in_zone),
    func!("dateModify", date_modify),
    func!(engine "date_in_zone", date_in_zone),
    func!("date_modify", date_modify),
    func!("duration", duration),
    func!(engine "durationRound", duration_round),
    func!(engine "htmlDate", html_date),
    func!(engine "htmlDateInZone", html_date_in_zone),
    func!("mustDateModify", must_date_modify),
    func!(engine "mustToDate", must_to_date),
    func!("must_date_modify", must_date_modify),
    func!(engine "now", now),
    func!(engine "toDate", to_date),
    func!("unixEpoch", unix_epoch),
];

/// Reads a time by a layout, in a zone of the given name that has no offset; UTC where none is given.
pub(crate) fn time_at(layout: &str, text: &str, zone: Option<&str>) -> Option<Value> {
    let zone = zone.map_or(Zone::Utc, |name| Zone::Fixed(name.to_owned(), 0));
    let time = layout::parse(layout, text, &zone).ok()?;
    Some(Value::Object(std::rc::Rc::new(time)))
}

/// A time as TOML has it; nothing for other values.
pub(crate) fn toml_time(value: &Value) -> String {
    let layout = |time: &Time| match time.zone {
        Zone::Fixed(ref name, _) if name == "datetime-local" => "2006-01-02T15:04:05.999999999",
        Zone::Fixed(ref name, _) if name == "date-local" => "2006-01-02",
        Zone::Fixed(ref name, _) if name == "time-local" => "15:04:05.999999999",
        _ => "2006-01-02T15:04:05.999999999Z07:00",
    };
    value.object::<Time>().map(|time| time.format(layout(time))).unwrap_or_default()
}

/// The local time zone.
pub(super) fn local(engine: &mut dyn Engine) -> Zone {
    Zone::from(engine.host().zone())
}

/// How long ago a date was, to the second.
///
/// ```tmpl
/// {{ ago (now) }} → 0s
/// ```
fn ago(engine: &mut dyn Engine, date: &Value) -> String {
    let at = instant(engine, date);
    let passed = now(engine).nanos - at.nanos;
    duration::print(duration::round(saturated(passed), SECOND))
}

fn saturated(nanos: i128) -> i64 {
    i64::try_from(nanos.clamp(i64::MIN.into(), i64::MAX.into())).unwrap_or(0)
}

/// A date as it is, a number as Unix seconds, anything else as the present.
fn instant(engine: &mut dyn Engine, date: &Value) -> Time {
    match (date.object::<Time>(), date) {
        (Some(time), _) => time.clone(),
        (None, Value::Int(seconds) | Value::Int64(seconds)) => Time::unix(*seconds, local(engine)),
        (None, Value::Int32(seconds)) => Time::unix(i64::from(*seconds), local(engine)),
        _ => now(engine),
    }
}

/// A date by a Go layout, in the local zone.
///
/// ```tmpl
/// {{ date "2006-01-02 15:04:05" 0 }} → 1970-01-01 00:00:00
/// ```
fn date(engine: &mut dyn Engine, layout: &str, date: &Value) -> String {
    date_in_zone(engine, layout, date, "Local")
}

/// A date by a Go layout, in a named zone; UTC where there is no such zone.
///
/// ```tmpl
/// {{ dateInZone "2006-01-02T15:04:05Z07:00" 1700000000 "UTC" }} → 2023-11-14T22:13:20Z
/// ```
fn date_in_zone(engine: &mut dyn Engine, layout: &str, date: &Value, zone: &str) -> String {
    let at = instant(engine, date);
    let zone = Zone::load(zone, &local(engine)).unwrap_or(Zone::Utc);
    at.shown_in(zone).format(layout)
}

/// A date moved by a duration; a faulty duration leaves it as it is.
///
/// ```tmpl
/// {{ toDate "2006-01-02" "2024-02-28" | dateModify "24h" | date "2006-01-02" }} → 2024-02-29
/// ```
fn date_modify(by: &str, date: At<'_>) -> Time {
    must_date_modify(by, date).unwrap_or_else(|_| date.get())
}

/// A number of seconds as a duration.
///
/// ```tmpl
/// {{ duration "95" }} → 1m35s
/// ```
fn duration(seconds: &Value) -> String {
    let seconds = match seconds {
        Value::String(text) => parse_seconds(&text.lossy()),
        Value::Int64(seconds) => *seconds,
        _ => 0,
    };
    duration::print(seconds.wrapping_mul(SECOND))
}

/// `strconv.ParseInt`, whose result is the nearest one when the number does not fit.
fn parse_seconds(text: &str) -> i64 {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return 0;
    }
    text.parse().unwrap_or(if text.starts_with('-') { i64::MIN } else { i64::MAX })
}

/// A duration in its largest unit, or how long ago a date was.
///
/// ```tmpl
/// {{ durationRound "2400h10m5s" }} → 3mo
/// ```
fn duration_round(engine: &mut dyn Engine, value: &Value) -> String {
    let nanos = match (value.object::<Time>(), value) {
        (Some(time), _) => saturated(now(engine).nanos - time.nanos),
        (None, Value::String(text)) => duration::parse(&text.lossy()).unwrap_or(0),
        (None, Value::Int64(nanos)) => *nanos,
        _ => 0,
    };
    let seconds = nanos.unsigned_abs();
    let second = SECOND.unsigned_abs();
    let units = [(365 * 86_400, "y"), (30 * 86_400, "mo"), (86_400, "d"), (3600, "h"), (60, "m"), (1, "s")];
    let fits = units.iter().find(|(unit, _)| seconds > unit * second);
    fits.map_or_else(|| "0s".to_owned(), |(unit, name)| format!("{}{name}", seconds / (unit * second)))
}

/// A date as `2006-01-02`, in the local zone.
///
/// ```tmpl
/// {{ htmlDate 0 }} → 1970-01-01
/// ```
fn html_date(engine: &mut dyn Engine, date: &Value) -> String {
    date_in_zone(engine, "2006-01-02", date, "Local")
}

/// A date as `2006-01-02`, in a named zone.
///
/// ```tmpl
/// {{ htmlDateInZone 0 "UTC" }} → 1970-01-01
/// ```
fn html_date_in_zone(engine: &mut dyn Engine, date: &Value, zone: &str) -> String {
    date_in_zone(engine, "2006-01-02", date, zone)
}

/// A date moved by a duration.
///
/// ```tmpl
/// {{ toDate "2006-01-02" "2024-01-01" | mustDateModify "-1s" | unixEpoch }} → 1704067199
/// ```
fn must_date_modify(by: &str, date: At<'_>) -> Result<Time, Fault> {
    let by = duration::parse(by).map_err(Fault::new)?;
    Ok(date.get().moved(by))
}

/// A text read as a date by a Go layout.
///
/// ```tmpl
/// {{ (mustToDate "2006-01-02" "2024-02-29").Year }} → 2024
/// ```
fn must_to_date(engine: &mut dyn Engine, layout: &str, text: &str) -> Result<Time, Fault> {
    layout::parse(layout, text, &local(engine)).map_err(Fault::new)
}

/// The present.
///
/// ```tmpl
/// {{ now | typeOf }} → time.Time
/// ```
fn now(engine: &mut dyn Engine) -> Time {
    let zone = local(engine);
    let host = engine.host();
    Time { elapsed: Some(host.elapsed()), ..Time::at(host.now(), zone) }
}

/// A text read as a date by a Go layout; what is none becomes the first day of year 1.
///
/// ```tmpl
/// {{ toDate "02/01/2006" "31/12/2023" | date "Jan 2, 2006" }} → Dec 31, 2023
/// ```
fn to_date(engine: &mut dyn Engine, layout: &str, text: &str) -> Time {
    layout::parse(layout, text, &local(engine)).unwrap_or_else(|_| Time::zero())
}

/// A date in seconds since 1970.
///
/// ```tmpl
/// {{ toDate "2006-01-02" "2024-01-01" | unixEpoch }} → 1704067200
/// ```
fn unix_epoch(date: At<'_>) -> String {
    date.get().seconds().to_string()
}
