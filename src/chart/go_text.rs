//! Go's `%v`, for the few values that Helm prints in its messages about charts.

use serde_json::Value;

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
}
