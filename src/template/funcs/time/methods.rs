//! The methods of Go's `time.Time`, `*time.Location`, `time.Month` and `time.Weekday`.
//!
//! Source: Go 1.26, `time/time.go`, `time/format.go`, `time/zoneinfo.go`.

use std::cmp::Ordering;

use super::{At, Location, NANOS, Time, ZERO, Zone};
use crate::func;
use crate::template::funcs::cast::Int64;
use crate::template::funcs::dates::local;
use crate::template::funcs::duration::{self, Nanos};
use crate::template::funcs::layout::{DAYS, MONTHS};
use crate::template::funcs::{Engine, Fault, Output, Param};
use crate::template::object::{Method, Named, Object};
use crate::template::types::Type;
use crate::template::value::Value;

macro_rules! methods {
    (@row engine $name:literal, $function:expr) => {
        Method { name: $name, func: func!(engine $name, $function) }
    };
    (@row $name:literal, $function:expr) => {
        Method { name: $name, func: func!($name, $function) }
    };
    ($($($engine:ident)? $name:literal => $function:expr),+ $(,)?) => {
        &[$(methods!(@row $($engine)? $name, $function)),+]
    };
}

/// The only method of places.
pub(super) static LOCATION: &[Method] = methods! { "String" => location_name };

fn location_name(own: &Value) -> String {
    own.object::<Location>().and_then(Object::text).unwrap_or_default()
}

/// The only method of months and weekdays.
static NAME: &[Method] = methods! { "String" => name };

fn name(own: &Value) -> String {
    own.object::<Named>().map(|own| own.text.clone()).unwrap_or_default()
}

/// The methods of instants. Go finds those of pointers, such as `UnmarshalText`, in no template: what functions give has no
/// address.
pub(super) static TIME: &[Method] = methods! {
    "Add" => add,
    "AddDate" => add_date,
    "After" => after,
    "AppendBinary" => append_binary,
    "AppendFormat" => append_format,
    "AppendText" => append_text,
    "Before" => before,
    "Clock" => |_: At<'_>| Clock,
    "Compare" => compare,
    "Date" => |_: At<'_>| Date,
    "Day" => day,
    "Equal" => equal,
    "Format" => format,
    "GoString" => |at: At<'_>| at.get().in_go(),
    "GobEncode" => binary,
    "Hour" => hour,
    "ISOWeek" => |_: At<'_>| IsoWeek,
    "In" => within,
    "IsDST" => is_summer,
    "IsZero" => is_zero,
    engine "Local" => to_local,
    "Location" => location,
    "MarshalBinary" => binary,
    "MarshalJSON" => json,
    "MarshalText" => text,
    "Minute" => minute,
    "Month" => month,
    "Nanosecond" => nanosecond,
    "Round" => round,
    "Second" => second,
    "String" => string,
    "Sub" => sub,
    "Truncate" => truncate,
    "UTC" => utc,
    "Unix" => unix,
    "UnixMicro" => unix_micro,
    "UnixMilli" => unix_milli,
    "UnixNano" => unix_nano,
    "Weekday" => weekday,
    "Year" => year,
    "YearDay" => year_day,
    "Zone" => |_: At<'_>| ZoneName,
    "ZoneBounds" => |_: At<'_>| ZoneBounds,
};

/// Results of methods that Go's templates refuse to call, with their words.
macro_rules! uncallable {
    ($($name:ident: $why:literal),+ $(,)?) => {$(
        struct $name;

        impl Output for $name {
            const TYPE: Type = Type::Uncallable($why);

            fn output(self) -> Result<Value, Fault> {
                Err(Fault::new($why))
            }
        }
    )+};
}

uncallable! {
    Clock: "function Clock has 3 return values; should be 1 or 2",
    Date: "function Date has 3 return values; should be 1 or 2",
    IsoWeek: "invalid function signature for ISOWeek: second return value should be error; is int",
    ZoneName: "invalid function signature for Zone: second return value should be error; is int",
    ZoneBounds: "invalid function signature for ZoneBounds: second return value should be error; is time.Time",
}

/// A `[]byte`.
struct Bytes(Vec<u8>);

impl Output for Bytes {
    const TYPE: Type = Type::Bytes;

    fn output(self) -> Result<Value, Fault> {
        Ok(Value::Bytes(self.0.into()))
    }
}

/// A `[]byte` as an argument; nil is an empty one.
#[derive(Clone, Copy, Debug)]
struct Before<'a>(&'a [u8]);

impl Before<'_> {
    fn with(self, more: &[u8]) -> Bytes {
        Bytes([self.0, more].concat())
    }
}

impl Param for Before<'_> {
    const TYPE: Type = Type::Bytes;
    type Arg<'a> = Before<'a>;

    fn take<'a>(arguments: &mut &'a [Value]) -> Before<'a> {
        let Some((first, rest)) = arguments.split_first() else { return Before(&[]) };
        *arguments = rest;
        match first {
            Value::Bytes(bytes) => Before(bytes.as_bytes()),
            _ => Before(&[]),
        }
    }
}

/// A `*time.Location` as an argument; `None` for nil.
#[derive(Clone, Copy, Debug)]
struct Place<'a>(Option<&'a Location>);

impl Param for Place<'_> {
    const TYPE: Type = Type::Object("*time.Location");
    type Arg<'a> = Place<'a>;

    fn take<'a>(arguments: &mut &'a [Value]) -> Place<'a> {
        let Some((first, rest)) = arguments.split_first() else { return Place(None) };
        *arguments = rest;
        Place(first.object::<Location>())
    }
}

fn named(method: &str, failed: &str) -> Fault {
    Fault::new(format!("Time.{method}: {failed}"))
}

fn append_binary(at: At<'_>, before: Before<'_>) -> Result<Bytes, Fault> {
    at.get().binary().map(|bytes| before.with(&bytes)).map_err(|why| named("MarshalBinary", &why))
}

fn append_format(at: At<'_>, before: Before<'_>, layout: &str) -> Bytes {
    before.with(at.get().format(layout).as_bytes())
}

fn append_text(at: At<'_>, before: Before<'_>) -> Result<Bytes, Fault> {
    at.get().strict().map(|text| before.with(text.as_bytes())).map_err(|why| named("AppendText", &why))
}

fn binary(at: At<'_>) -> Result<Bytes, Fault> {
    at.get().binary().map(Bytes).map_err(|why| named("MarshalBinary", &why))
}

fn json(at: At<'_>) -> Result<Bytes, Fault> {
    let quoted = |text: String| Bytes(format!("\"{text}\"").into_bytes());
    at.get().strict().map(quoted).map_err(|why| named("MarshalJSON", &why))
}

fn text(at: At<'_>) -> Result<Bytes, Fault> {
    at.get().strict().map(|text| Bytes(text.into_bytes())).map_err(|why| named("MarshalText", &why))
}

fn within(at: At<'_>, place: Place<'_>) -> Result<Time, Fault> {
    let place = place.0.ok_or_else(|| Fault::new("time: missing Location in call to Time.In"))?;
    Ok(at.get().shown_in(place.0.clone()))
}

fn to_local(engine: &mut dyn Engine, at: At<'_>) -> Time {
    at.get().shown_in(local(engine))
}

fn is_summer(at: At<'_>) -> bool {
    let time = at.get();
    time.zone.is_summer(time.seconds())
}

/// Halves go up, to what comes later; like `Truncate` it forgets the program's own clock.
fn round(at: At<'_>, unit: Nanos) -> Time {
    let Time { nanos, zone, .. } = at.get();
    let time = Time::at(nanos, zone);
    let rest = time.beyond(unit.0);
    let by = if rest * 2 < i128::from(unit.0) || rest == 0 { -rest } else { i128::from(unit.0) - rest };
    Time::at(time.nanos + by, time.zone)
}

fn truncate(at: At<'_>, unit: Nanos) -> Time {
    let time = at.get();
    Time::at(time.nanos - time.beyond(unit.0), time.zone)
}

fn add(at: At<'_>, duration: Nanos) -> Time {
    at.get().moved(duration.0)
}

fn add_date(at: At<'_>, years: i64, months: i64, days: i64) -> Time {
    let time = at.get();
    let mut civil = time.fields().civil;
    civil.year = civil.year.saturating_add(years);
    civil.month = civil.month.saturating_add(months);
    civil.day = civil.day.saturating_add(days);
    Time::date(&civil, time.zone)
}

fn order(a: At<'_>, b: At<'_>) -> Ordering {
    a.get().nanos.cmp(&b.get().nanos)
}

fn after(a: At<'_>, b: At<'_>) -> bool {
    order(a, b).is_gt()
}

fn before(a: At<'_>, b: At<'_>) -> bool {
    order(a, b).is_lt()
}

fn compare(a: At<'_>, b: At<'_>) -> i64 {
    order(a, b) as i64
}

fn equal(a: At<'_>, b: At<'_>) -> bool {
    order(a, b).is_eq()
}

fn day(at: At<'_>) -> i64 {
    at.get().fields().civil.day
}

fn format(at: At<'_>, layout: &str) -> String {
    at.get().format(layout)
}

fn hour(at: At<'_>) -> i64 {
    at.get().fields().civil.hour
}

fn is_zero(at: At<'_>) -> bool {
    at.get().nanos == ZERO * NANOS
}

fn location(at: At<'_>) -> Location {
    Location(at.get().zone)
}

fn minute(at: At<'_>) -> i64 {
    at.get().fields().civil.minute
}

fn month(at: At<'_>) -> Named {
    month_of(at.get().fields().civil.month)
}

fn month_of(number: i64) -> Named {
    let known = usize::try_from(number - 1).ok().and_then(|at| MONTHS.get(at));
    let text = known.map_or_else(|| format!("%!Month({number})"), |name| (*name).to_owned());
    Named { name: "time.Month", number: Value::Int(number), text, methods: NAME, of: month_of }
}

fn nanosecond(at: At<'_>) -> i64 {
    at.get().fields().civil.nano
}

fn second(at: At<'_>) -> i64 {
    at.get().fields().civil.second
}

fn string(at: At<'_>) -> String {
    at.get().text().unwrap_or_default()
}

fn sub(a: At<'_>, b: At<'_>) -> Named {
    let nanos = (a.get().nanos - b.get().nanos).clamp(i64::MIN.into(), i64::MAX.into());
    duration::named(i64::try_from(nanos).unwrap_or(0))
}

fn utc(at: At<'_>) -> Time {
    at.get().shown_in(Zone::Utc)
}

/// Nanoseconds in another unit, as `int64`; what is too large goes round, as in Go.
#[expect(clippy::cast_possible_truncation, reason = "the upper bits are what goes lost in Go")]
fn scaled(at: At<'_>, nanos: i128) -> Int64 {
    Int64(at.get().nanos.div_euclid(nanos) as i64)
}

fn unix(at: At<'_>) -> Int64 {
    scaled(at, NANOS)
}

fn unix_micro(at: At<'_>) -> Int64 {
    scaled(at, 1_000)
}

fn unix_milli(at: At<'_>) -> Int64 {
    scaled(at, 1_000_000)
}

fn unix_nano(at: At<'_>) -> Int64 {
    scaled(at, 1)
}

fn weekday(at: At<'_>) -> Named {
    weekday_of(at.get().fields().weekday)
}

fn weekday_of(number: i64) -> Named {
    let known = usize::try_from(number).ok().and_then(|at| DAYS.get(at));
    let text = known.map_or_else(|| format!("%!Weekday({number})"), |name| (*name).to_owned());
    Named { name: "time.Weekday", number: Value::Int(number), text, methods: NAME, of: weekday_of }
}

fn year(at: At<'_>) -> i64 {
    at.get().fields().civil.year
}

fn year_day(at: At<'_>) -> i64 {
    at.get().fields().year_day
}
