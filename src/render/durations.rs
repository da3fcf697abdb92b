//! Functions on durations that Helm 4.3 has (Helm v4.3.1 `pkg/engine/funcs.go`).

use crate::template::funcs::duration::{self, in_unit, named};
use crate::template::funcs::{Fault, Func, Int64, parse_float};
use crate::template::object::Named;
use crate::template::printf;
use crate::template::value::Value;

pub(super) static FUNCS: &[Func] = &[
    crate::func!("durationDays", |value: &Value| hours(value) / 24.0),
    crate::func!("durationHours", |value: &Value| hours(value)),
    crate::func!("durationMicroseconds", |value: &Value| Int64(nanos(value) / 1_000)),
    crate::func!("durationMilliseconds", |value: &Value| Int64(nanos(value) / 1_000_000)),
    crate::func!("durationMinutes", |value: &Value| in_unit(nanos(value), 60 * SECOND)),
    crate::func!("durationNanoseconds", |value: &Value| Int64(nanos(value))),
    crate::func!("durationRoundTo", round_to),
    crate::func!("durationSeconds", |value: &Value| in_unit(nanos(value), SECOND)),
    crate::func!("durationTruncateTo", truncate_to),
    crate::func!("durationWeeks", |value: &Value| hours(value) / 24.0 / 7.0),
    crate::func!("mustToDuration", must_to_duration),
];

/// One second in nanoseconds.
const SECOND: i64 = 1_000_000_000;

/// Nanoseconds of what is a duration, 0 for what is none.
fn nanos(value: &Value) -> i64 {
    read(value).unwrap_or_default()
}

fn hours(value: &Value) -> f64 {
    in_unit(nanos(value), 3_600 * SECOND)
}

fn must_to_duration(value: &Value) -> Result<Named, Fault> {
    read(value).map(named).map_err(Fault::new)
}

fn round_to(value: &Value, unit: &Value) -> Named {
    let nanos = nanos(value);
    named(read(unit).map_or(nanos, |unit| duration::round(nanos, unit)))
}

fn truncate_to(value: &Value, unit: &Value) -> Named {
    let nanos = nanos(value);
    named(read(unit).map_or(nanos, |unit| duration::truncate(nanos, unit)))
}

/// Nanoseconds of a duration, a text with units, or a number of seconds.
fn read(value: &Value) -> Result<i64, String> {
    match value {
        Value::Nil => Err("invalid duration".to_owned()),
        Value::String(text) => {
            let whole = text.lossy();
            read_text(whole.trim())
                .unwrap_or_else(|| Err(format!("could not parse duration {}", crate::go::quote(text))))
        }
        Value::Float(seconds) => of_seconds(*seconds),
        Value::Uint64(seconds) => whole_seconds(i128::from(*seconds)),
        Value::Object(object) => match object.number() {
            Some(Value::Int64(nanos)) if object.type_name() == "time.Duration" => Ok(*nanos),
            Some(number) => read(number),
            None => Err(unsupported(value)),
        },
        other => other.as_int().map_or_else(|| Err(unsupported(other)), |n| whole_seconds(n.into())),
    }
}

fn unsupported(value: &Value) -> String {
    format!("unsupported duration type {}", value.type_name())
}

/// `None` where a text is neither a duration nor a number.
fn read_text(text: &str) -> Option<Result<i64, String>> {
    if text.is_empty() {
        return Some(Err("empty duration".to_owned()));
    }
    match duration::parse(text) {
        Ok(nanos) => Some(Ok(nanos)),
        Err(_) => parse_float(text).map(of_seconds),
    }
}

fn whole_seconds(seconds: i128) -> Result<i64, String> {
    let nanos = seconds.checked_mul(SECOND.into()).and_then(|nanos| i64::try_from(nanos).ok());
    nanos.ok_or_else(|| format!("duration seconds overflow: {seconds}"))
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "as Go computes it")]
fn of_seconds(seconds: f64) -> Result<i64, String> {
    let most = i64::MAX as f64 / SECOND as f64;
    if !seconds.is_finite() {
        return Err(format!("invalid duration seconds: {}", shown(seconds)));
    }
    if seconds.abs() > most {
        return Err(format!("duration seconds overflow: {}", shown(seconds)));
    }
    let nanos = seconds * SECOND as f64;
    // What is one too large becomes the smallest number, as Go's conversion has it on amd64.
    Ok(if nanos >= i64::MAX as f64 { i64::MIN } else { nanos as i64 })
}

/// A float as `%v` prints it.
fn shown(number: f64) -> String {
    let text = printf::sprint(&[Value::Float(number)]).unwrap_or_default();
    String::from_utf8_lossy(&text).into_owned()
}
