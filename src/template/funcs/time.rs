//! Go's `time.Time`: an instant with a zone to show it in.

use std::rc::Rc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::layout::{self, Fields};
use super::{Fault, Output, Param};
use crate::go::quote;
use crate::template::object::{Method, Object, downcast};
use crate::template::types::Type;
use crate::template::value::Value;

mod methods;

const NANOS: i128 = 1_000_000_000;
const DAY: i64 = 86_400;

/// A place's clock.
#[derive(Clone, Debug)]
pub(super) enum Zone {
    /// UTC.
    Utc,
    /// A fixed offset in seconds with a name that may be empty.
    Fixed(String, i32),
    /// A zone with rules.
    Rules(TimeZone),
    /// The machine's own zone.
    Local(TimeZone),
}

impl Zone {
    /// `time.LoadLocation`: UTC for the empty name, `local` for `Local`; `None` for a name that does not exist.
    pub(super) fn load(name: &str, local: &Self) -> Option<Self> {
        match name {
            "" | "UTC" => Some(Self::Utc),
            "Local" => Some(local.clone()),
            // Names are those of files, upper and lower case count.
            name => TimeZone::get(name).ok().filter(|zone| zone.iana_name() == Some(name)).map(Self::Rules),
        }
    }

    /// Its name as a place: that of its file.
    fn name(&self) -> &str {
        match self {
            Self::Utc => "UTC",
            Self::Fixed(name, _) => name,
            Self::Rules(zone) | Self::Local(zone) => zone.iana_name().unwrap_or("Local"),
        }
    }

    /// Name and offset in seconds east of UTC at an instant in Unix seconds.
    pub(super) fn lookup(&self, seconds: i64) -> (String, i32) {
        match self {
            Self::Utc => ("UTC".to_owned(), 0),
            Self::Fixed(name, offset) => (name.clone(), *offset),
            Self::Rules(zone) | Self::Local(zone) => {
                let latest = if seconds < 0 { Timestamp::MIN } else { Timestamp::MAX };
                let info = zone.to_offset_info(Timestamp::from_second(seconds).unwrap_or(latest));
                // Zones without a name of their own have their offset for one, which is no name to Go's layouts.
                (info.abbreviation().to_owned(), info.offset().seconds())
            }
        }
    }

    /// Whether it is summer there at an instant in Unix seconds.
    fn is_summer(&self, seconds: i64) -> bool {
        match self {
            Self::Utc | Self::Fixed(..) => false,
            Self::Rules(zone) | Self::Local(zone) => {
                Timestamp::from_second(seconds).is_ok_and(|at| zone.to_offset_info(at).dst().is_dst())
            }
        }
    }

    /// The offset of a zone's period with the given name near an instant.
    pub(super) fn offset_of(&self, name: &str, seconds: i64) -> Option<i32> {
        let half_years = [0, -182 * DAY, 182 * DAY];
        half_years
            .iter()
            .map(|shift| self.lookup(seconds + shift))
            .find(|(own, _)| own == name)
            .map(|(_, o)| o)
    }
}

impl From<TimeZone> for Zone {
    fn from(zone: TimeZone) -> Self {
        Self::Local(zone)
    }
}

/// An instant, shown in a zone.
#[derive(Clone, Debug)]
pub(super) struct Time {
    /// Nanoseconds since 1970-01-01 UTC.
    pub(super) nanos: i128,
    /// The zone.
    pub(super) zone: Zone,
    /// Nanoseconds on the program's own clock, of an instant that was read from the clock.
    pub(super) elapsed: Option<i128>,
}

/// A date and time of day without zone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Civil {
    pub(super) year: i64,
    pub(super) month: i64,
    pub(super) day: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
    pub(super) nano: i64,
}

impl Civil {
    /// Seconds since 1970-01-01 as if in UTC; months and days beyond their range carry over.
    pub(super) fn seconds(&self) -> i64 {
        let months = self.year.saturating_mul(12).saturating_add(self.month - 1);
        let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
        let days = days_from_civil(year, month).saturating_add(self.day - 1);
        days.saturating_mul(DAY).saturating_add(self.hour * 3600 + self.minute * 60 + self.second)
    }
}

/// Days from 1970-01-01 to the first of a month; the year begins in March so that leap days come last.
fn days_from_civil(year: i64, month: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era.saturating_mul(146_097) + day_of_era - 719_468
}

/// Year, month and day of a day counted from 1970-01-01.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

impl Time {
    /// An instant that no clock was read for.
    pub(super) fn at(nanos: i128, zone: Zone) -> Self {
        Self { nanos, zone, elapsed: None }
    }

    /// Go's zero time, the first day of year 1.
    pub(super) fn zero() -> Self {
        Self::at(ZERO * NANOS, Zone::Utc)
    }

    /// The same instant shown elsewhere; like `setLoc` of Go 1.26 `time/time.go` it forgets the program's own clock.
    pub(super) fn shown_in(self, zone: Zone) -> Self {
        Self::at(self.nanos, zone)
    }

    /// A later instant, or an earlier one.
    pub(super) fn moved(self, by: i64) -> Self {
        let by = i128::from(by);
        Self { nanos: self.nanos + by, elapsed: self.elapsed.map(|elapsed| elapsed + by), ..self }
    }

    /// An instant in Unix seconds.
    pub(super) fn unix(seconds: i64, zone: Zone) -> Self {
        Self::at(i128::from(seconds) * NANOS, zone)
    }

    /// `time.Date`: a wall clock's reading in a zone.
    pub(super) fn date(civil: &Civil, zone: Zone) -> Self {
        let wall = civil.seconds();
        let guess = i64::from(zone.lookup(wall).1);
        let offset = i64::from(zone.lookup(wall - guess).1);
        let offset = if guess == 0 { 0 } else { offset };
        Self::at(i128::from(wall - offset) * NANOS + i128::from(civil.nano), zone)
    }

    /// Unix seconds.
    pub(super) fn seconds(&self) -> i64 {
        i64::try_from(self.nanos.div_euclid(NANOS)).unwrap_or(i64::MAX)
    }

    /// Writes it by a Go layout.
    pub(super) fn format(&self, layout: &str) -> String {
        layout::format(layout, &self.fields())
    }

    /// RFC 3339 with fractions, where it can be written so; as Go 1.26 `time/format_rfc3339.go`, `appendStrictRFC3339`.
    fn strict(&self) -> Result<String, String> {
        let fields = self.fields();
        if !(0..=9999).contains(&fields.civil.year) {
            return Err("year outside of range [0,9999]".to_owned());
        }
        if fields.offset.abs() / 3600 > 23 {
            return Err("timezone hour outside of range [0,23]".to_owned());
        }
        Ok(self.format("2006-01-02T15:04:05.999999999Z07:00"))
    }

    /// `GoString`: how Go's source has it.
    fn in_go(&self) -> String {
        let Civil { year, day, hour, minute, second, nano, .. } = self.fields().civil;
        let month = self.format("January");
        let zone = match &self.zone {
            Zone::Utc => "time.UTC".to_owned(),
            Zone::Local(_) => "time.Local".to_owned(),
            other => format!("time.Location({})", quote(other.name())),
        };
        format!("time.Date({year}, time.{month}, {day}, {hour}, {minute}, {second}, {nano}, {zone})")
    }

    /// `MarshalBinary`; as Go 1.26 `time/time.go`, `appendTo`.
    fn binary(&self) -> Result<Vec<u8>, String> {
        let offset = match &self.zone {
            Zone::Utc => -60,
            other => other.lookup(self.seconds()).1,
        };
        let minutes = offset / 60;
        if minutes == -1 && !matches!(self.zone, Zone::Utc) {
            return Err("unexpected zone offset".to_owned());
        }
        let minutes = i16::try_from(minutes).map_err(|_| "unexpected zone offset".to_owned())?;
        let rest = i8::try_from(offset % 60).unwrap_or(0);
        let seconds = i64::try_from(self.nanos.div_euclid(NANOS) - ZERO).unwrap_or(i64::MAX);
        let nano = u32::try_from(self.nanos.rem_euclid(NANOS)).unwrap_or(0);
        let mut out = vec![if rest == 0 { 1 } else { 2 }];
        out.extend(seconds.to_be_bytes());
        out.extend(nano.to_be_bytes());
        out.extend(minutes.to_be_bytes());
        out.extend((rest != 0).then(|| rest.cast_unsigned()));
        Ok(out)
    }

    /// What is left of the time since the first day of year 1 when it is divided; nothing by what is not positive.
    fn beyond(&self, unit: i64) -> i128 {
        if unit > 0 { (self.nanos - ZERO * NANOS).rem_euclid(unit.into()) } else { 0 }
    }

    /// Everything that a layout may show.
    pub(super) fn fields(&self) -> Fields {
        let (zone, offset) = self.zone.lookup(self.seconds());
        let wall = self.seconds().saturating_add(i64::from(offset));
        let (days, rest) = (wall.div_euclid(DAY), wall.rem_euclid(DAY));
        let (year, month, day) = civil_from_days(days);
        let nano = i64::try_from(self.nanos.rem_euclid(NANOS)).unwrap_or(0);
        let civil =
            Civil { year, month, day, hour: rest / 3600, minute: rest / 60 % 60, second: rest % 60, nano };
        let year_day = days - days_from_civil(year, 1) + 1;
        Fields { civil, weekday: (days + 4).rem_euclid(7), year_day, zone, offset }
    }
}

/// Unix seconds of Go's zero time.
const ZERO: i128 = -62_135_596_800;

const TYPE_NAME: &str = "time.Time";

impl Object for Time {
    fn type_name(&self) -> &'static str {
        TYPE_NAME
    }

    fn methods(&self) -> &'static [Method] {
        methods::TIME
    }

    fn hidden(&self) -> &'static [&'static str] {
        &["wall", "ext", "loc"]
    }

    // Go compares places by address; those of one name and offset are taken for one.
    fn same(&self, other: &dyn Object) -> bool {
        downcast::<Self>(other).is_some_and(|other| {
            let zones = (&self.zone, &other.zone);
            let place = match zones {
                (Zone::Utc, Zone::Utc) | (Zone::Local(_), Zone::Local(_)) => true,
                (Zone::Fixed(name, offset), Zone::Fixed(other, o)) => name == other && offset == o,
                _ => false,
            };
            place && self.nanos == other.nanos && self.elapsed == other.elapsed
        })
    }

    fn go_text(&self) -> Option<String> {
        Some(self.in_go())
    }

    fn json_text(&self) -> Option<Result<String, String>> {
        Some(self.strict().map_err(|why| format!("Time.MarshalJSON: {why}")))
    }

    fn text(&self) -> Option<String> {
        let mut text = self.format("2006-01-02 15:04:05.999999999 -0700 MST");
        if let Some(elapsed) = self.elapsed {
            let sign = if elapsed < 0 { '-' } else { '+' };
            let nanos = elapsed.unsigned_abs();
            let second = NANOS.unsigned_abs();
            text.push_str(&format!(" m={sign}{}.{:09}", nanos / second, nanos % second));
        }
        Some(text)
    }
}

impl Output for Time {
    const TYPE: Type = Type::Object(TYPE_NAME);

    fn output(self) -> Result<Value, Fault> {
        Ok(Value::from(Rc::new(self)))
    }
}

/// A parameter of type `time.Time`.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<'a>(Option<&'a Time>);

impl At<'_> {
    /// The time; the zero time where there is none.
    pub(super) fn get(self) -> Time {
        self.0.cloned().unwrap_or_else(Time::zero)
    }
}

impl Param for At<'_> {
    const TYPE: Type = Type::Object(TYPE_NAME);
    type Arg<'a> = At<'a>;

    fn take<'a>(arguments: &mut &'a [Value]) -> At<'a> {
        let Some((first, rest)) = arguments.split_first() else { return At(None) };
        *arguments = rest;
        At(first.object::<Time>())
    }
}

/// Go's `*time.Location`.
#[derive(Debug)]
struct Location(Zone);

impl Object for Location {
    fn type_name(&self) -> &'static str {
        "*time.Location"
    }

    fn methods(&self) -> &'static [Method] {
        methods::LOCATION
    }

    fn hidden(&self) -> &'static [&'static str] {
        &["name", "zone", "tx", "extend", "cacheStart", "cacheEnd", "cacheZone"]
    }

    fn json_text(&self) -> Option<Result<String, String>> {
        None
    }

    fn text(&self) -> Option<String> {
        Some(self.0.name().to_owned())
    }

    // All that it has is private.
    fn copy(&self) -> Option<Value> {
        Some(Value::from(Rc::new(Self(Zone::Fixed(String::new(), 0)))))
    }
}

impl Output for Location {
    const TYPE: Type = Type::Object("*time.Location");

    fn output(self) -> Result<Value, Fault> {
        Ok(Value::from(Rc::new(self)))
    }
}
