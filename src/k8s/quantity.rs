//! Quantities: `0.5`, `500m` and `5e-1` are one value, and the server writes it in one way.
//!
//! Source: Kubernetes apimachinery 0.34.3, `pkg/api/resource/quantity.go`.

const MALFORMED: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/// Decimal suffixes by exponent of ten.
const DECIMAL: &[(&str, i32)] = &[
    ("n", -9),
    ("u", -6),
    ("m", -3),
    ("", 0),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
];

/// Binary suffixes by power of 1024.
const BINARY: &[(&str, u32)] = &[("Ki", 1), ("Mi", 2), ("Gi", 3), ("Ti", 4), ("Pi", 5), ("Ei", 6)];

/// The canonical form of a quantity: no fraction, the largest suffix that allows it.
///
/// # Errors
/// Text that is no quantity, in the server's words.
pub fn canonical(text: &str) -> Result<String, String> {
    let split =
        text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '+' | '-'))).unwrap_or(text.len());
    let (number, suffix) = text.split_at_checked(split).ok_or(MALFORMED)?;
    let (digits, fraction) = digits(number).ok_or(MALFORMED)?;
    if let Some((_, power)) = BINARY.iter().find(|(s, _)| *s == suffix) {
        return Ok(binary(digits, fraction, *power).unwrap_or_else(|| text.to_owned()));
    }
    if let Some((_, exponent)) = DECIMAL.iter().find(|(s, _)| *s == suffix) {
        return Ok(decimal(digits, exponent - fraction).unwrap_or_else(|| text.to_owned()));
    }
    let exponent = suffix.strip_prefix(['e', 'E']).and_then(|e| e.parse::<i32>().ok()).ok_or(MALFORMED)?;
    Ok(scientific(digits, exponent.saturating_sub(fraction)).unwrap_or_else(|| text.to_owned()))
}

/// A number without its point, and how many digits stood behind it.
fn digits(number: &str) -> Option<(i128, i32)> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.trim_start_matches(['+', '-']).is_empty() && fraction.is_empty()
        || fraction.contains(['.', '+', '-'])
    {
        return None;
    }
    let all = format!("{whole}{fraction}");
    Some((all.parse().ok()?, i32::try_from(fraction.len()).ok()?))
}

/// `digits × 10^exponent` with a decimal suffix; rounded up below a billionth.
fn decimal(mut digits: i128, mut exponent: i32) -> Option<String> {
    if digits == 0 {
        return Some("0".to_owned());
    }
    while exponent < -9 {
        digits = digits / 10 + i128::from(digits % 10 > 0);
        exponent += 1;
    }
    while exponent.rem_euclid(3) != 0 {
        digits = digits.checked_mul(10)?;
        exponent -= 1;
    }
    while digits % 1000 == 0 && exponent < 18 {
        digits /= 1000;
        exponent += 3;
    }
    let (suffix, _) = DECIMAL.iter().find(|(_, e)| *e == exponent)?;
    Some(format!("{digits}{suffix}"))
}

fn scientific(mut digits: i128, mut exponent: i32) -> Option<String> {
    while digits != 0 && digits % 10 == 0 {
        digits /= 10;
        exponent += 1;
    }
    while exponent.rem_euclid(3) != 0 {
        digits = digits.checked_mul(10)?;
        exponent -= 1;
    }
    Some(if exponent == 0 { digits.to_string() } else { format!("{digits}e{exponent}") })
}

/// A binary quantity: as bytes, then with the largest suffix; thousandths when bytes do not come out even.
fn binary(digits: i128, fraction: i32, power: u32) -> Option<String> {
    let scale = 10_i128.checked_pow(u32::try_from(fraction).ok()?)?;
    let scaled = digits.checked_mul(1024_i128.checked_pow(power)?)?;
    if scaled % scale != 0 {
        return decimal(scaled, -fraction);
    }
    let mut bytes = scaled / scale;
    let mut step = 0;
    while bytes != 0 && bytes % 1024 == 0 && step < BINARY.len() {
        bytes /= 1024;
        step += 1;
    }
    let suffix = step.checked_sub(1).and_then(|at| BINARY.get(at)).map_or("", |(s, _)| s);
    Some(format!("{bytes}{suffix}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_one_form() {
        for (given, canonical_form) in [
            ("1", "1"),
            ("0.5", "500m"),
            ("1000m", "1"),
            ("3.5", "3500m"),
            ("1500m", "1500m"),
            ("1.5Gi", "1536Mi"),
            ("1024Mi", "1Gi"),
            ("100M", "100M"),
            ("1000k", "1M"),
            ("2000", "2k"),
            ("0", "0"),
            ("1e3", "1e3"),
        ] {
            assert_eq!(canonical(given).unwrap(), canonical_form, "{given}");
        }
        assert!(canonical("1 core").is_err());
        assert!(canonical("").is_err());
    }
}
