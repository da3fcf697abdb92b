//! Conversions that Sprig's functions make before they work: `cast.ToInt64`, `cast.ToFloat64`, `strval`.

use super::{Fault, Output};
use crate::template::object::Named;
use crate::template::printf;
use crate::template::types::Type;
use crate::template::value::{GoStr, Value};

/// A Go `int64` result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Int64(pub(crate) i64);

impl Output for Int64 {
    const TYPE: Type = Type::Int64;

    fn output(self) -> Result<Value, Fault> {
        Ok(Value::Int64(self.0))
    }
}

/// Any number, numeric string or bool as an integer, 0 for what is none. As spf13/cast v1.7.0 `ToInt64E`.
pub(super) fn to_int64(value: &Value) -> i64 {
    match value {
        Value::Bool(b) => i64::from(*b),
        Value::Float(f) => truncate(*f),
        Value::Uint64(n) => n.cast_signed(),
        Value::String(text) => parse_int(text.lossy().as_ref()).unwrap_or(0),
        other => plain(other).unwrap_or(0),
    }
}

/// An integer; of named numbers `cast` knows months and weekdays alone.
fn plain(value: &Value) -> Option<i64> {
    let known = |name: &str| matches!(name, "time.Month" | "time.Weekday");
    value.integer().filter(|_| value.object::<Named>().is_none_or(|named| known(named.name)))
}

/// Go's `int64(f)` on amd64: what does not fit becomes the smallest number.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn truncate(f: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&f) { f as i64 } else { i64::MIN }
}

/// `strconv.ParseInt(trimZeroDecimal(s), 0, 64)`: prefixes `0x`, `0o`, `0b`, `0` and underscores between digits.
fn parse_int(text: &str) -> Option<i64> {
    let text = trim_zero_decimal(text);
    let (negative, body) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let lower = body.to_ascii_lowercase();
    let (radix, digits) = if let Some(rest) = lower.strip_prefix("0x") {
        (16, rest)
    } else if let Some(rest) = lower.strip_prefix("0b") {
        (2, rest)
    } else if let Some(rest) = lower.strip_prefix("0o") {
        (8, rest)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (8, lower.get(1..)?)
    } else {
        (10, lower.as_str())
    };
    if !underscores_separate(digits, radix != 10) {
        return None;
    }
    let digits = digits.replace('_', "");
    // Neither a second sign nor an empty number.
    if digits.is_empty() || digits.starts_with(['+', '-']) {
        return None;
    }
    let magnitude = i128::from(u64::from_str_radix(&digits, radix).ok()?);
    i64::try_from(if negative { -magnitude } else { magnitude }).ok()
}

/// An underscore must stand between digits, or between a base prefix and a digit.
fn underscores_separate(digits: &str, prefixed: bool) -> bool {
    let mut before = if prefixed { '0' } else { '_' };
    for c in digits.chars() {
        if c == '_' && before == '_' {
            return false;
        }
        before = c;
    }
    !digits.ends_with('_')
}

/// Cuts `.000` off the end.
fn trim_zero_decimal(text: &str) -> &str {
    match text.trim_end_matches('0').strip_suffix('.') {
        Some(whole) if text.ends_with('0') => whole,
        _ => text,
    }
}

/// Any number, numeric string or bool as a float, 0 for what is none. As spf13/cast v1.7.0 `ToFloat64E`.
#[expect(clippy::cast_precision_loss, reason = "Go rounds alike")]
pub(super) fn to_float64(value: &Value) -> f64 {
    match value {
        Value::Bool(b) => f64::from(u8::from(*b)),
        Value::Float(f) => *f,
        Value::Uint64(n) => *n as f64,
        Value::String(text) => parse_float(text.lossy().as_ref()).unwrap_or(0.0),
        other => plain(other).map_or(0.0, |n| n as f64),
    }
}

/// `strconv.ParseFloat`: decimal and hexadecimal floats, `inf` and `nan`.
pub(crate) fn parse_float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned.len() > 1 && unsigned.as_bytes().get(..2).is_some_and(|p| p.eq_ignore_ascii_case(b"0x")) {
        let value = parse_hex_float(unsigned.get(2..)?)?;
        return Some(if text.starts_with('-') { -value } else { value });
    }
    let digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    if text.match_indices('_').any(|(at, _)| at == 0 || !digit(at - 1) || !digit(at + 1)) {
        return None;
    }
    let value: f64 = text.replace('_', "").parse().ok()?;
    // Too large a number is an error in Go, unless it is written as infinity.
    let spelt = unsigned.as_bytes().first().is_some_and(|b| b.eq_ignore_ascii_case(&b'i'));
    // Go knows `nan` without a sign only.
    let signed_nan = value.is_nan() && unsigned.len() != text.len();
    (!signed_nan && (spelt || !value.is_infinite())).then_some(value)
}

/// What follows `0x`: a mantissa and an obligatory binary exponent.
fn parse_hex_float(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    if !underscores_separate(&mantissa.replace('.', ""), true) || exponent.contains('_') {
        return None;
    }
    let mantissa = mantissa.replace('_', "");
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((&mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || digits.len() > 13 {
        return None;
    }
    let bits = u64::from_str_radix(&digits, 16).ok()?;
    let exponent: i32 = exponent.parse().ok()?;
    let shift = exponent.checked_sub(i32::try_from(fraction.len()).ok()?.checked_mul(4)?)?;
    #[expect(clippy::cast_precision_loss, reason = "at most 52 bits")]
    let value = bits as f64 * 2f64.powi(shift);
    value.is_finite().then_some(value)
}

/// Sprig's `strval`: strings and bytes as they are, everything else as `%v` prints it.
///
/// # Errors
/// The value is too deep to be printed.
pub(super) fn strval(value: &Value) -> Result<GoStr, Fault> {
    match value {
        Value::String(text) | Value::Bytes(text) => Ok(text.clone()),
        other => display(other),
    }
}

/// `fmt.Sprintf("%v", value)`
///
/// # Errors
/// The value is too deep to be printed.
pub(super) fn display(value: &Value) -> Result<GoStr, Fault> {
    printf::sprint(std::slice::from_ref(value)).map(GoStr::from)
}
