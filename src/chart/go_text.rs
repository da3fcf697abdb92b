//! Go's `%q` and `%v`, for the few values that Helm prints in its messages about charts.

use std::fmt::Write as _;

use serde_json::Value;

/// A string as `strconv.Quote` writes it.
#[must_use]
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        quote_char(&mut out, c);
    }
    out.push('"');
    out
}

fn quote_char(out: &mut String, c: char) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{b}' => out.push_str("\\v"),
        c if is_print(c) => out.push(c),
        c if u32::from(c) < 0x80 => {
            let _ = write!(out, "\\x{:02x}", u32::from(c));
        }
        c if u32::from(c) < 0x1_0000 => {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        }
        c => {
            let _ = write!(out, "\\U{:08x}", u32::from(c));
        }
    }
}

/// Go's `unicode.IsPrint`: letters, marks, numbers, punctuation, symbols and the ASCII space.
#[must_use]
pub fn is_print(c: char) -> bool {
    match c {
        ' ' | '\'' | '"' | '\\' => true,
        // Combining marks are printable in Go, though Rust's debug form escapes them.
        c if u32::from(c) >= 0x300 && !c.is_control() && !c.is_whitespace() => {
            c.escape_debug().len() == 1 || is_mark(c)
        }
        c => c.escape_debug().len() == 1 && !c.is_whitespace(),
    }
}

fn is_mark(c: char) -> bool {
    matches!(u32::from(c), 0x300..=0x36f | 0x483..=0x489 | 0x591..=0x5bd | 0x610..=0x61a | 0x64b..=0x65f
        | 0x900..=0x903 | 0x93a..=0x94f | 0xe31..=0xe3a | 0xe47..=0xe4e | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff
        | 0x20d0..=0x20ff | 0xfe00..=0xfe0f | 0xfe20..=0xfe2f | 0xe0100..=0xe01ef)
}

/// A value as `fmt.Sprintf("%v", v)` prints it.
#[must_use]
pub fn print(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::String(text) => text.clone(),
        Value::Number(number) => print_number(number),
        Value::Array(items) => format!("[{}]", items.iter().map(print).collect::<Vec<_>>().join(" ")),
        Value::Object(map) => {
            let entries: Vec<_> = map.iter().map(|(key, value)| format!("{key}:{}", print(value))).collect();
            format!("map[{}]", entries.join(" "))
        }
    }
}

fn print_number(number: &serde_json::Number) -> String {
    match (number.as_i64(), number.as_f64()) {
        (Some(integer), _) => integer.to_string(),
        (None, Some(float)) => float_g(float),
        (None, None) => number.to_string(),
    }
}

/// A `float64` as `strconv.FormatFloat(v, 'g', -1, 64)` does, which is also `%v`.
#[must_use]
pub fn float_g(value: f64) -> String {
    format_g(&format!("{value:e}"))
}

/// A number as `strconv.FormatFloat(v, 'g', -1, 32)`, which is how `sigs.k8s.io/yaml` makes strings of floats.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "the rounding to 32 bits is what is copied")]
pub fn float_g32(value: f64) -> String {
    format_g(&format!("{:e}", value as f32))
}

/// Rewrites Rust's shortest `1.5e3` as Go's `%g`: plain for exponents from -4 to 5, else `1.5e+08`.
fn format_g(scientific: &str) -> String {
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific.to_owned() };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    if !(-4..6).contains(&exponent) {
        let direction = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{mantissa}e{direction}{:02}", exponent.abs());
    }
    format!("{sign}{}", place_point(&digits, exponent))
}

fn place_point(digits: &str, exponent: i32) -> String {
    let Ok(point) = usize::try_from(exponent + 1) else { return leading_zeros(digits, exponent) };
    match (point, digits.len()) {
        (0, _) => leading_zeros(digits, exponent),
        (point, length) if point >= length => format!("{digits}{}", "0".repeat(point - length)),
        (point, _) => {
            let (whole, fraction) = digits.split_at(point);
            format!("{whole}.{fraction}")
        }
    }
}

fn leading_zeros(digits: &str, exponent: i32) -> String {
    let zeros = usize::try_from(-exponent - 1).unwrap_or_default();
    format!("0.{}{digits}", "0".repeat(zeros))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_like_go() {
        let value = serde_json::json!({"b": [1, 2.5, null], "a": {"x": true}});
        assert_eq!(print(&value), "map[a:map[x:true] b:[1 2.5 <nil>]]");
    }

    #[test]
    fn quotes_like_go() {
        assert_eq!(quote("a\"b\\\n\u{1}é\u{2028}"), "\"a\\\"b\\\\\\n\\x01é\\u2028\"");
    }
}
