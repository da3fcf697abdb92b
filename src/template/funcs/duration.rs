//! Go's `time.Duration`: nanoseconds, read and written as `1h2m3.5s`.

use super::{Int64, Param};
pub(crate) use crate::go::duration::parse;
use crate::template::object::{Method, Named};
use crate::template::types::Type;
use crate::template::value::Value;

/// The type as `%T` prints it.
pub(crate) const TYPE_NAME: &str = "time.Duration";

/// One second.
pub(super) const SECOND: i64 = 1_000_000_000;

/// `Duration.String`: `1h2m3.5s`; below a second the unit is smaller.
pub(super) fn print(nanos: i64) -> String {
    let magnitude = nanos.unsigned_abs();
    let sign = if nanos < 0 { "-" } else { "" };
    let second = SECOND.unsigned_abs();
    let text = match magnitude {
        0 => return "0s".to_owned(),
        n if n < 1_000 => format!("{n}ns"),
        n if n < 1_000_000 => format!("{}µs", fixed(n, 1_000)),
        n if n < second => format!("{}ms", fixed(n, 1_000_000)),
        n => {
            let (minutes, seconds) = (n / (60 * second), n % (60 * second));
            let seconds = fixed(seconds, second);
            match (minutes / 60, minutes % 60) {
                (0, 0) => format!("{seconds}s"),
                (0, minutes) => format!("{minutes}m{seconds}s"),
                (hours, minutes) => format!("{hours}h{minutes}m{seconds}s"),
            }
        }
    };
    format!("{sign}{text}")
}

/// A number in a larger unit, without trailing zeros.
fn fixed(nanos: u64, unit: u64) -> String {
    let (whole, fraction) = (nanos / unit, nanos % unit);
    if fraction == 0 {
        return whole.to_string();
    }
    let digits = format!("{:0width$}", fraction, width = unit.ilog10() as usize);
    format!("{whole}.{}", digits.trim_end_matches('0'))
}

/// A `time.Duration`.
pub(crate) fn named(nanos: i64) -> Named {
    Named { name: TYPE_NAME, number: Value::Int64(nanos), text: print(nanos), methods: METHODS, of: named }
}

/// The methods of a `time.Duration`.
static METHODS: &[Method] = &[
    Method { name: "Abs", func: crate::func!("Abs", |own: Nanos| named(own.0.saturating_abs())) },
    Method { name: "Hours", func: crate::func!("Hours", |own: Nanos| in_unit(own.0, 3_600 * SECOND)) },
    Method { name: "Microseconds", func: crate::func!("Microseconds", |own: Nanos| Int64(own.0 / 1_000)) },
    Method {
        name: "Milliseconds",
        func: crate::func!("Milliseconds", |own: Nanos| Int64(own.0 / 1_000_000)),
    },
    Method { name: "Minutes", func: crate::func!("Minutes", |own: Nanos| in_unit(own.0, 60 * SECOND)) },
    Method { name: "Nanoseconds", func: crate::func!("Nanoseconds", |own: Nanos| Int64(own.0)) },
    Method {
        name: "Round",
        func: crate::func!("Round", |own: Nanos, unit: Nanos| named(round(own.0, unit.0))),
    },
    Method { name: "Seconds", func: crate::func!("Seconds", |own: Nanos| in_unit(own.0, SECOND)) },
    Method { name: "String", func: crate::func!("String", |own: Nanos| print(own.0)) },
    Method {
        name: "Truncate",
        func: crate::func!("Truncate", |own: Nanos, unit: Nanos| named(truncate(own.0, unit.0))),
    },
];

/// A `time.Duration` as an argument, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nanos(pub(super) i64);

impl Param for Nanos {
    const TYPE: Type = Type::Object(TYPE_NAME);
    type Arg<'a> = Nanos;

    fn take(arguments: &mut &[Value]) -> Self {
        let Some((first, rest)) = arguments.split_first() else { return Self(0) };
        *arguments = rest;
        Self(first.object::<Named>().and_then(|named| named.number.as_int()).unwrap_or_default())
    }
}

/// Nanoseconds in a larger unit, added as Go adds them.
#[expect(clippy::cast_precision_loss, reason = "Go rounds alike")]
pub(crate) fn in_unit(nanos: i64, unit: i64) -> f64 {
    (nanos / unit) as f64 + (nanos % unit) as f64 / unit as f64
}

/// `Duration.Truncate`: towards zero; nothing is cut to what is not positive.
pub(crate) fn truncate(nanos: i64, unit: i64) -> i64 {
    if unit > 0 { nanos - nanos % unit } else { nanos }
}

/// `Duration.Round`: halves go away from zero; nothing is rounded to what is not positive.
pub(crate) fn round(nanos: i64, unit: i64) -> i64 {
    if unit <= 0 {
        return nanos;
    }
    let rest = nanos % unit;
    let down = nanos - rest;
    if rest.unsigned_abs() * 2 < unit.unsigned_abs() {
        down
    } else {
        down.saturating_add(unit * rest.signum())
    }
}
