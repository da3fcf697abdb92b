//! Number constants: Go's literal syntax and the types a constant fits.

use super::quote::{Unit, quote, unquote_char};

/// A number constant with every type it can take.
#[derive(Clone, Debug, Default)]
pub struct Number {
    /// As written.
    pub text: String,
    /// Its value as a signed integer.
    pub int: Option<i64>,
    /// Its value as an unsigned integer.
    pub uint: Option<u64>,
    /// Its value as a floating-point number.
    pub float: Option<f64>,
    /// Its value as a complex number, for constants that end in `i`.
    pub complex: Option<(f64, f64)>,
}

impl Number {
    /// Reads a character constant with its quotes.
    pub(crate) fn character(text: &[u8]) -> Result<Self, String> {
        let syntax = || "invalid syntax".to_owned();
        let (unit, tail) = text.get(1..).and_then(|body| unquote_char(body, b'\'')).ok_or_else(syntax)?;
        let text = String::from_utf8_lossy(text).into_owned();
        if tail != b"'" {
            return Err(format!("malformed character constant: {text}"));
        }
        let rune = match unit {
            Unit::Byte(byte) if byte < 0x80 || text.starts_with("'\\") => u32::from(byte),
            Unit::Byte(_) => u32::from(char::REPLACEMENT_CHARACTER),
            Unit::Rune(rune) => u32::from(rune),
        };
        Ok(Self {
            text,
            int: Some(i64::from(rune)),
            uint: Some(u64::from(rune)),
            float: Some(f64::from(rune)),
            complex: None,
        })
    }

    /// Reads a pair like `1+2i`.
    pub(crate) fn complex(text: &str) -> Result<Self, String> {
        let body = text.strip_suffix('i').unwrap_or(text);
        let cut = body
            .char_indices()
            .skip(1)
            .filter(|&(at, c)| matches!(c, '+' | '-') && !body[..at].ends_with(['e', 'E', 'p', 'P']))
            .map(|(at, _)| at)
            .last();
        let pair = cut.and_then(|at| Some((parse_float(&body[..at])?, parse_float(&body[at..])?)));
        let (real, imaginary) = pair.ok_or_else(|| "syntax error scanning complex number".to_owned())?;
        Ok(Self::from_complex(text, real, imaginary))
    }

    /// Reads any other number.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if let Some(imaginary) = text.strip_suffix('i').and_then(parse_float) {
            return Ok(Self::from_complex(text, 0.0, imaginary));
        }
        let mut number =
            Self { text: text.to_owned(), int: parse_int(text), uint: parse_uint(text), ..Self::default() };
        if number.int == Some(0) {
            // "-0" is an unsigned zero too.
            number.uint = number.uint.or(Some(0));
        }
        number.float = match (number.int, number.uint) {
            (Some(int), _) => Some(int as f64),
            (None, Some(uint)) => Some(uint as f64),
            (None, None) => return number.promote(parse_float(text)),
        };
        Ok(number)
    }

    /// Completes a number that is only a float with the integers it equals.
    fn promote(mut self, float: Option<f64>) -> Result<Self, String> {
        let float = float.ok_or_else(|| format!("illegal number syntax: {}", quote(&self.text)))?;
        if !self.text.contains(['.', 'e', 'E', 'p', 'P']) {
            return Err(format!("integer overflow: {}", quote(&self.text)));
        }
        self.float = Some(float);
        self.int = exact_int(float);
        self.uint = exact_uint(float);
        Ok(self)
    }

    fn from_complex(text: &str, real: f64, imaginary: f64) -> Self {
        let simple = imaginary == 0.0;
        Self {
            text: text.to_owned(),
            int: exact_int(real).filter(|_| simple),
            uint: exact_uint(real).filter(|_| simple),
            float: Some(real).filter(|_| simple),
            complex: Some((real, imaginary)),
        }
    }
}

fn exact_int(float: f64) -> Option<i64> {
    let int = float as i64;
    // 2^63 saturates to i64::MAX and compares equal after rounding.
    (int as f64 == float && float < 9_223_372_036_854_775_808.0).then_some(int)
}

fn exact_uint(float: f64) -> Option<u64> {
    let uint = float as u64;
    (uint as f64 == float && (0.0..18_446_744_073_709_551_616.0).contains(&float)).then_some(uint)
}

/// `strconv.ParseUint(text, 0, 64)`
pub(crate) fn parse_uint(text: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    let (digits, base, prefixed) = match lower.as_bytes() {
        [b'0', b'x', ..] => (&lower[2..], 16, true),
        [b'0', b'o', ..] => (&lower[2..], 8, true),
        [b'0', b'b', ..] => (&lower[2..], 2, true),
        [b'0', _, ..] => (&lower[1..], 8, true),
        _ => (lower.as_str(), 10, false),
    };
    if digits.starts_with('+') || !underscores_fit(digits, prefixed) {
        return None;
    }
    u64::from_str_radix(&digits.replace('_', ""), base).ok()
}

/// Underscores stand only between digits, or between a base prefix and a digit.
fn underscores_fit(digits: &str, prefixed: bool) -> bool {
    if digits.contains('_') && digits.is_empty() {
        return false;
    }
    !digits.ends_with('_') && !digits.contains("__") && (prefixed || !digits.starts_with('_'))
}

/// `strconv.ParseInt(text, 0, 64)`
pub(crate) fn parse_int(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let magnitude = i128::from(parse_uint(digits)?);
    i64::try_from(if negative { -magnitude } else { magnitude }).ok()
}

/// `strconv.ParseFloat(text, 64)` for the texts that the lexer lets through.
pub(crate) fn parse_float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let lower = unsigned.to_ascii_lowercase();
    let magnitude = match lower.strip_prefix("0x") {
        Some(hex) => parse_hex_float(hex)?,
        None => parse_decimal_float(&lower)?,
    };
    // Out of range is an error in Go, not an infinity.
    magnitude.is_finite().then_some(if text.starts_with('-') { -magnitude } else { magnitude })
}

fn parse_decimal_float(text: &str) -> Option<f64> {
    // Underscores are only allowed with a base prefix.
    if !text.starts_with(|c: char| c.is_ascii_digit() || c == '.') || text.contains('_') {
        return None;
    }
    text.parse().ok()
}

/// The part after `0x`; the exponent after `p` is required.
fn parse_hex_float(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: String = whole.chars().chain(fraction.chars()).filter(|&c| c != '_').collect();
    if digits.is_empty() || !underscores_fit(whole, true) {
        return None;
    }
    let fraction_digits = i32::try_from(fraction.replace('_', "").len()).ok()?;
    let value = digits.chars().try_fold(0.0, |sum, c| Some(sum * 16.0 + f64::from(c.to_digit(16)?)))?;
    let exponent: i32 = exponent.parse().ok()?;
    Some(value * 2f64.powi(exponent.checked_sub(fraction_digits.checked_mul(4)?)?))
}
