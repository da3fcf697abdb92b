//! Durations as Go reads them: `1h2m3.5s`.

use super::quote;

/// `time.ParseDuration`, in nanoseconds.
///
/// Source: Go 1.26, `time/format.go`.
///
/// # Errors
/// Go's words for what is no duration.
pub fn parse(text: &str) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {}", quote(text));
    let (negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, text.get(1..).unwrap_or_default()),
        Some(b'+') => (false, text.get(1..).unwrap_or_default()),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let (nanos, after) = component(text, rest)?;
        total = total.checked_add(nanos).filter(|total| *total <= 1 << 63).ok_or_else(invalid)?;
        rest = after;
    }
    match (negative, i64::try_from(total)) {
        (true, _) => Ok(0_i64.wrapping_sub_unsigned(total)),
        (false, Ok(total)) => Ok(total),
        (false, Err(_)) => Err(invalid()),
    }
}

/// One number with its unit, in nanoseconds, and what follows.
fn component<'a>(whole: &str, text: &'a str) -> Result<(u64, &'a str), String> {
    let invalid = || format!("time: invalid duration {}", quote(whole));
    let (digits, rest) = split_digits(text);
    let (fraction, rest) = rest.strip_prefix('.').map_or(("", rest), split_digits);
    if digits.is_empty() && fraction.is_empty() {
        return Err(invalid());
    }
    let number = if digits.is_empty() { 0 } else { digits.parse().map_err(|_| invalid())? };
    let end = rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len());
    let (unit, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let nanos: u64 = match unit {
        "" => return Err(format!("time: missing unit in duration {}", quote(whole))),
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        unit => return Err(format!("time: unknown unit {} in duration {}", quote(unit), quote(whole))),
    };
    let whole_part = Some(number).filter(|n: &u64| *n <= 1 << 63).and_then(|n| n.checked_mul(nanos));
    let total = whole_part.and_then(|n| n.checked_add(fraction_of(fraction, nanos)));
    total.filter(|total| *total <= 1 << 63).map(|total| (total, after)).ok_or_else(invalid)
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// The fraction of a unit; digits beyond what 63 bits hold are dropped.
fn fraction_of(digits: &str, nanos: u64) -> u64 {
    let (mut value, mut scale) = (0_u64, 1.0_f64);
    for digit in digits.bytes().map(|b| u64::from(b - b'0')) {
        let Some(next) = value.checked_mul(10).and_then(|v| v.checked_add(digit)).filter(|v| *v <= 1 << 63)
        else {
            break;
        };
        value = next;
        scale *= 10.0;
    }
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "as Go computes it"
    )]
    let part = (value as f64 * (nanos as f64 / scale)) as u64;
    part
}
