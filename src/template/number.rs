//! Number constants: Go's literal syntax and the types a constant fits.

use super::float::format_float;
use super::object::Object;
use crate::go::quote::{Unit, quote, unquote_char};

/// A `complex128`, which templates can write and print, and nothing more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Complex {
    /// The real part.
    pub real: f64,
    /// The imaginary part.
    pub imaginary: f64,
}

impl Object for Complex {
    fn type_name(&self) -> &'static str {
        "complex128"
    }

    fn text(&self) -> Option<String> {
        let (real, imaginary) = (format_float(self.real, 'g', None), format_float(self.imaginary, 'g', None));
        let sign = if imaginary.starts_with(['-', '+']) { "" } else { "+" };
        Some(format!("({real}{sign}{imaginary}i)"))
    }
}

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
    pub complex: Option<Complex>,
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
            complex: Some(Complex { real, imaginary }),
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
    let (digits, base) = match lower.as_bytes() {
        [b'0', b'x', ..] => (&lower[2..], 16),
        [b'0', b'o', ..] => (&lower[2..], 8),
        [b'0', b'b', ..] => (&lower[2..], 2),
        [b'0', _, ..] => (&lower[1..], 8),
        _ => (lower.as_str(), 10),
    };
    if digits.starts_with('+') || !underscores_fit(text) {
        return None;
    }
    u64::from_str_radix(&digits.replace('_', ""), base).ok()
}

/// Underscores stand only between digits, or between a base prefix and a digit (`underscoreOK`).
fn underscores_fit(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let prefixed = matches!(text.as_bytes(), [b'0', b'x' | b'X' | b'o' | b'O' | b'b' | b'B', ..]);
    let hex = matches!(text.as_bytes(), [b'0', b'x' | b'X', ..]);
    let mut after_digit = prefixed;
    let mut after_underscore = false;
    for byte in text.bytes().skip(if prefixed { 2 } else { 0 }) {
        let digit = byte.is_ascii_digit() || hex && byte.is_ascii_hexdigit();
        let underscore = byte == b'_';
        if underscore && !after_digit || after_underscore && !digit {
            return false;
        }
        (after_digit, after_underscore) = (digit, underscore);
    }
    !after_underscore
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
    if !text.starts_with(|c: char| c.is_ascii_digit() || c == '.') || !underscores_fit(text) {
        return None;
    }
    text.replace('_', "").parse().ok()
}

/// The part after `0x`; the exponent after `p` is required.
fn parse_hex_float(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.len() + fraction.len() == 0 || !underscores_fit(&format!("0x{text}")) {
        return None;
    }
    let mut bits = HexBits::default();
    for (digits, fractional) in [(whole, false), (fraction, true)] {
        for digit in digits.chars().filter(|&c| c != '_') {
            bits.push(digit.to_digit(16)?, fractional);
        }
    }
    Some(bits.round(parse_exponent(exponent)?))
}

/// An exponent; beyond what a float can hold it is only large.
fn parse_exponent(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = digits.replace('_', "");
    let valid = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    valid.then(|| sign * digits.parse::<i64>().unwrap_or(i64::MAX).min(1 << 40))
}

/// The leading bits of a hexadecimal mantissa.
#[derive(Default)]
struct HexBits {
    bits: u64,
    /// Power of two of the last bit.
    exponent: i64,
    /// Whether a bit was lost behind the last one.
    sticky: bool,
}

impl HexBits {
    fn push(&mut self, digit: u32, fractional: bool) {
        if self.bits >> 60 != 0 {
            self.sticky |= digit != 0;
            self.exponent += if fractional { 0 } else { 4 };
            return;
        }
        self.bits = self.bits << 4 | u64::from(digit);
        self.exponent -= if fractional { 4 } else { 0 };
    }

    /// The nearest float, ties to even; infinite when there is none.
    fn round(&self, exponent: i64) -> f64 {
        let length = 64 - i64::from(self.bits.leading_zeros());
        let mut exponent = exponent + self.exponent;
        let leading = exponent + length - 1;
        // Below the normal range fewer bits remain.
        let precision = if leading >= -1022 { 53 } else { 53 - (-1022 - leading) };
        let shift = length - precision;
        let mut bits = self.bits;
        if self.bits == 0 || shift > 64 {
            return 0.0;
        }
        if shift > 0 {
            let wide = u128::from(self.bits);
            let (kept, lost, half) = (wide >> shift, wide & ((1 << shift) - 1), 1u128 << (shift - 1));
            let up = lost > half || (lost == half && (self.sticky || kept & 1 == 1));
            bits = (kept + u128::from(up)) as u64;
            exponent += shift;
        }
        scale(bits as f64, exponent)
    }
}

/// `float × 2^exponent`, in steps that stay in range.
fn scale(mut float: f64, mut exponent: i64) -> f64 {
    while exponent != 0 && float != 0.0 && float.is_finite() {
        let step = exponent.clamp(-1000, 1000);
        float *= 2f64.powi(step as i32);
        exponent -= step;
    }
    float
}
