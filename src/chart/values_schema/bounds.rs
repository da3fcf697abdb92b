//! Keywords that look at one value alone: its type, what it may be, how long it is and how large.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::problem::{Found, quote};
use super::same::{equal, type_of};
use crate::chart::go_text;

/// Type, constant and enumeration: problems that end the check of a schema at once.
pub(super) fn mismatch(schema: &Map<String, Value>, value: &Value, draft: u16) -> Option<String> {
    const ORDER: &[&str] = &["null", "boolean", "number", "integer", "string", "array", "object"];
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let found = type_of(value);
    let whole = value.as_f64().is_some_and(|number| number.fract() == 0.0);
    let fits = |wanted: &&str| *wanted == found || (*wanted == "integer" && found == "number" && whole);
    if !types.is_empty() && !types.iter().any(fits) {
        let wanted: Vec<_> = ORDER.iter().copied().filter(|name| types.contains(name)).collect();
        return Some(format!("got {found}, want {}", wanted.join(" or ")));
    }
    if let Some(wanted) = schema.get("const").filter(|wanted| draft >= 6 && !equal(wanted, value)) {
        return Some(match wanted {
            Value::Array(_) | Value::Object(_) => "'const' failed".to_owned(),
            plain => format!("value must be {}", display(plain)),
        });
    }
    let choices = schema.get("enum").and_then(Value::as_array)?;
    if choices.iter().any(|choice| equal(choice, value)) {
        return None;
    }
    let plain = choices.iter().all(|choice| !choice.is_array() && !choice.is_object());
    let shown: Vec<_> = choices.iter().map(display).collect();
    Some(match shown.as_slice() {
        _ if !plain => "'enum' failed".to_owned(),
        [one] => format!("value must be {one}"),
        more => format!("value must be one of {}", more.join(", ")),
    })
}

pub(super) fn bound(
    schema: &Map<String, Value>,
    keyword: &str,
    got: usize,
    wrong: std::cmp::Ordering,
    found: &mut Found<'_>,
) {
    let Some(want) = schema.get(keyword).and_then(Value::as_f64) else { return };
    if (got as f64).partial_cmp(&want) == Some(wrong) {
        found.say(format!("{keyword}: got {}, want {}", grouped(got as f64), grouped(want)));
    }
}

pub(super) fn number_bounds(schema: &Map<String, Value>, got: f64, found: &mut Found<'_>) {
    type Fits = fn(f64, f64) -> bool;
    let number = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    // Draft 4 says with a flag that the bound beside it is out of bounds itself.
    let flagged = |keyword: &str| schema.get(keyword) == Some(&Value::Bool(true));
    let sides = |plain, strict| match flagged(strict) {
        true => (None, number(plain)),
        false => (number(plain), number(strict)),
    };
    let (least, above) = sides("minimum", "exclusiveMinimum");
    let (most, below) = sides("maximum", "exclusiveMaximum");
    let rules: [(&str, Option<f64>, Fits); 5] = [
        ("minimum", least, |got, want| got >= want),
        ("maximum", most, |got, want| got <= want),
        ("exclusiveMinimum", above, |got, want| got > want),
        ("exclusiveMaximum", below, |got, want| got < want),
        ("multipleOf", number("multipleOf"), is_multiple),
    ];
    for (keyword, want, fits) in rules {
        if let Some(want) = want.filter(|want| !fits(got, *want)) {
            found.say(format!("{keyword}: got {}, want {}", shown(got), shown(want)));
        }
    }
}

/// Whether a number is a multiple of another, as they are written in decimal.
fn is_multiple(got: f64, want: f64) -> bool {
    match (decimal(got), decimal(want)) {
        (Some((got, scale)), Some((want, other))) => {
            let most = scale.max(other);
            let aligned = |digits: i128, scale| digits.checked_mul(10_i128.checked_pow(most - scale)?);
            match (aligned(got, scale), aligned(want, other)) {
                (Some(got), Some(want)) if want != 0 => got % want == 0,
                _ => false,
            }
        }
        _ => (got / want).fract() == 0.0,
    }
}

/// The digits of a number, and how many of them stand behind the point.
fn decimal(number: f64) -> Option<(i128, u32)> {
    let text = number.to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let digits = format!("{whole}{fraction}").parse().ok()?;
    Some((digits, u32::try_from(fraction.len()).ok()?))
}

pub(super) fn display(value: &Value) -> String {
    match value {
        Value::String(text) => quote(text),
        Value::Array(_) | Value::Object(_) => "value".to_owned(),
        // The schema's own spelling is kept there; here it is lost, and the commonest is the best guess.
        Value::Number(number) if number.is_f64() => format!("{:?}", number.as_f64().unwrap_or_default()),
        other => go_text::print(other),
    }
}

/// A number as the library's English printer writes it: very large and very small ones as powers of ten.
fn shown(number: f64) -> String {
    if number == 0.0 || (1e-4..1e6).contains(&number.abs()) {
        return grouped(number);
    }
    let text = format!("{number:e}");
    let Some((digits, exponent)) = text.split_once('e') else { return "\u{221e}".to_owned() };
    let (sign, exponent) = exponent.strip_prefix('-').map_or(("", exponent), |rest| ("\u{207b}", rest));
    let raised = format!("{exponent:0>2}");
    let raised: String =
        raised.bytes().map(|digit| RAISED[usize::from(digit.wrapping_sub(b'0') % 10)]).collect();
    format!("{digits}\u{d7}10{sign}{raised}")
}

const RAISED: [char; 10] = [
    '\u{2070}', '\u{b9}', '\u{b2}', '\u{b3}', '\u{2074}', '\u{2075}', '\u{2076}', '\u{2077}', '\u{2078}',
    '\u{2079}',
];

/// A number with commas between thousands, as the library's English printer writes it.
pub(super) fn grouped(number: f64) -> String {
    let text = number.to_string();
    let (sign, text) = text.strip_prefix('-').map_or(("", text.as_str()), |rest| ("-", rest));
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, rest)| (whole, Some(rest)));
    let mut out = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        let _ = write!(out, ".{fraction}");
    }
    out
}
