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

/// A quantity in billionths, the finest step that Kubernetes keeps; what is finer is rounded away from zero. None for text
/// that is no quantity.
///
/// As `k8s.io/apimachinery` 1.34 `pkg/api/resource/quantity.go`, `ParseQuantity`.
#[must_use]
pub fn billionths(source: &str) -> Option<i128> {
    let (negative, unsigned) = match source.as_bytes().first()? {
        b'-' => (true, source.get(1..)?),
        b'+' => (false, source.get(1..)?),
        _ => (false, source),
    };
    let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at_checked(end)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let digits: i128 = if whole.len() + fraction.len() > 30 {
        return None;
    } else {
        format!("0{whole}{fraction}").parse().ok()?
    };
    let (factor, exponent) = scale(suffix)?;
    let exponent = exponent + 9 - i32::try_from(fraction.len()).ok()?;
    let scaled = digits.checked_mul(factor)?;
    let nanos = if exponent >= 0 {
        scaled.checked_mul(10_i128.checked_pow(u32::try_from(exponent).ok()?)?)?
    } else {
        let divisor = 10_i128.checked_pow(u32::try_from(-exponent).ok()?)?;
        scaled / divisor + i128::from(scaled % divisor != 0)
    };
    Some(if negative { -nanos } else { nanos })
}

/// Factor and power of ten of a suffix.
fn scale(suffix: &str) -> Option<(i128, i32)> {
    let found = match suffix {
        "" => (1, 0),
        "n" => (1, -9),
        "u" => (1, -6),
        "m" => (1, -3),
        "k" => (1, 3),
        "M" => (1, 6),
        "G" => (1, 9),
        "T" => (1, 12),
        "P" => (1, 15),
        "E" => (1, 18),
        "Ki" => (1 << 10, 0),
        "Mi" => (1 << 20, 0),
        "Gi" => (1 << 30, 0),
        "Ti" => (1 << 40, 0),
        "Pi" => (1 << 50, 0),
        "Ei" => (1 << 60, 0),
        other => (1, other.strip_prefix(['e', 'E'])?.parse().ok().filter(|e: &i32| e.abs() < 30)?),
    };
    Some(found)
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

    #[test]
    fn forms_of_one_value_are_one_number() {
        assert_eq!(billionths("1Gi"), billionths("1024Mi"));
        assert!(billionths("1G") < billionths("1Gi") && billionths("500m") < billionths("1"));
        assert_eq!(billionths("much"), None);
    }
}
