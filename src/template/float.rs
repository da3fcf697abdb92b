//! Floating-point numbers as text, as package `strconv` writes them.

/// The digits of a number: `0.d1d2… × 10^point`, without trailing zeros.
struct Decimal {
    digits: Vec<u8>,
    point: i32,
}

/// Writes a float as `strconv.FormatFloat(f, verb, precision, 64)`; `None` is the shortest that reads back.
pub fn format_float(float: f64, verb: char, precision: Option<usize>) -> String {
    if float.is_nan() {
        return "NaN".to_owned();
    }
    let sign = if float.is_sign_negative() { "-" } else { "" };
    let float = float.abs();
    let magnitude = match verb {
        _ if float.is_infinite() => return format!("{}Inf", if sign.is_empty() { "+" } else { "-" }),
        'e' | 'E' => exponential(float, verb, precision),
        'f' => {
            precision.map_or_else(|| positional(&shortest(float)), |precision| format!("{float:.precision$}"))
        }
        'g' | 'G' => general(float, verb, precision),
        'x' | 'X' => hexadecimal(float, verb, precision),
        'b' => binary(float),
        _ => return format!("%{verb}"),
    };
    format!("{sign}{magnitude}")
}

fn shortest(float: f64) -> Decimal {
    decimal(&format!("{float:e}"))
}

/// Reads what Rust's `{:e}` wrote.
fn decimal(text: &str) -> Decimal {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let mut digits: Vec<u8> = mantissa.bytes().filter(|&byte| byte != b'.').collect();
    while digits.last() == Some(&b'0') {
        digits.pop();
    }
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let point = if digits.is_empty() { 0 } else { exponent + 1 };
    Decimal { digits, point }
}

/// Go writes at least two digits of the exponent, with its sign.
fn exponential(float: f64, verb: char, precision: Option<usize>) -> String {
    let text = precision.map_or_else(|| format!("{float:e}"), |precision| format!("{float:.precision$e}"));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!("{mantissa}{verb}{exponent:+03}")
}

fn positional(decimal: &Decimal) -> String {
    let point = usize::try_from(decimal.point).unwrap_or(0);
    let mut out: String = decimal.digits.iter().take(point).copied().map(char::from).collect();
    out.extend(std::iter::repeat_n('0', point.saturating_sub(decimal.digits.len())));
    if out.is_empty() {
        out.push('0');
    }
    let fraction = decimal.digits.get(point..).unwrap_or(&[]);
    if !fraction.is_empty() {
        out.push('.');
        out.extend(std::iter::repeat_n('0', usize::try_from(-decimal.point).unwrap_or(0)));
        out.extend(fraction.iter().copied().map(char::from));
    }
    out
}

/// `%g`: exponents below -4 or beyond the precision are written with `e`.
fn general(float: f64, verb: char, precision: Option<usize>) -> String {
    let wanted = precision.map(|precision| precision.max(1));
    let decimal = match wanted {
        Some(precision) => decimal(&format!("{float:.*e}", precision - 1)),
        None => shortest(float),
    };
    let count = decimal.digits.len();
    let fits = i32::try_from(count).is_ok_and(|count| count >= decimal.point);
    let threshold = match wanted {
        Some(precision) if precision > count && fits => count,
        Some(precision) => precision,
        None => 6,
    };
    let exponent = decimal.point - 1;
    if exponent >= -4 && i64::from(exponent) < i64::try_from(threshold).unwrap_or(i64::MAX) {
        return positional(&decimal);
    }
    let e = if verb == 'G' { 'E' } else { 'e' };
    let mut out = String::new();
    for (at, digit) in decimal.digits.iter().enumerate() {
        out.push_str(if at == 1 { "." } else { "" });
        out.push(char::from(*digit));
    }
    format!("{out}{e}{exponent:+03}")
}

/// `%b`: the mantissa as an integer and a power of two.
fn binary(float: f64) -> String {
    let (mantissa, exponent) = parts(float);
    format!("{mantissa}p{exponent:+}")
}

/// Mantissa with its hidden bit and the exponent of its last bit.
fn parts(float: f64) -> (u64, i32) {
    let bits = float.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    match i32::try_from((bits >> 52) & 0x7ff).unwrap_or(0) {
        0 => (fraction, -1074),
        biased => (fraction | 1 << 52, biased - 1075),
    }
}

/// `%x`: `0x1.8p+01`.
fn hexadecimal(float: f64, verb: char, precision: Option<usize>) -> String {
    let (mut mantissa, mut exponent) = parts(float);
    exponent = if mantissa == 0 { 0 } else { exponent + 52 };
    while mantissa != 0 && mantissa >> 52 == 0 {
        mantissa <<= 1;
        exponent -= 1;
    }
    if let Some(precision) = precision.filter(|&precision| precision < 13) {
        (mantissa, exponent) = round_hex(mantissa, exponent, precision);
    }
    let mut digits = format!("{:013x}", mantissa & ((1 << 52) - 1));
    match precision {
        Some(precision) if precision > 13 => digits.extend(std::iter::repeat_n('0', precision - 13)),
        Some(precision) => digits.truncate(precision),
        None => digits.truncate(digits.trim_end_matches('0').len()),
    }
    let point = if digits.is_empty() { "" } else { "." };
    let text = format!("0x{}{point}{digits}p{exponent:+03}", mantissa >> 52);
    if verb == 'X' { text.to_uppercase() } else { text }
}

/// Rounds half to even at a hexadecimal digit.
fn round_hex(mantissa: u64, exponent: i32, precision: usize) -> (u64, i32) {
    let shift = 4 * (13 - precision);
    let (kept, lost, half) = (mantissa >> shift, mantissa & ((1 << shift) - 1), 1u64 << (shift - 1));
    let up = lost > half || (lost == half && kept & 1 == 1);
    let rounded = (kept + u64::from(up)) << shift;
    if rounded >> 53 == 1 { (rounded >> 1, exponent + 1) } else { (rounded, exponent) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Golden: `strconv.FormatFloat` of Go 1.26.
    #[test]
    fn floats_print_as_in_go() {
        let cases: &[(f64, char, Option<usize>, &str)] = &[
            (0.0, 'g', None, "0"),
            (1e6, 'g', None, "1e+06"),
            (123_456.0, 'g', None, "123456"),
            (1_234_567.0, 'g', None, "1.234567e+06"),
            (0.000_01, 'g', None, "1e-05"),
            (0.000_1, 'g', None, "0.0001"),
            (-2.5, 'g', None, "-2.5"),
            (100.0, 'g', Some(3), "100"),
            (100.0, 'g', Some(2), "1e+02"),
            (3.0, 'e', Some(2), "3.00e+00"),
            (0.0, 'e', None, "0e+00"),
            (2.5, 'f', Some(0), "2"),
            (0.05, 'f', None, "0.05"),
            (1e21, 'f', None, "1000000000000000000000"),
            (3.0, 'x', None, "0x1.8p+01"),
            (1.0, 'b', None, "4503599627370496p-52"),
            (f64::INFINITY, 'g', None, "+Inf"),
        ];
        for (float, verb, precision, text) in cases {
            assert_eq!(format_float(*float, *verb, *precision), *text, "{float} {verb} {precision:?}");
        }
    }
}
