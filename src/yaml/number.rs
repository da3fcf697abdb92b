//! Numbers as Go reads and writes them: `strconv` and the float format of `encoding/json`.

/// `strconv.ParseInt(text, 0, 64)`.
pub(super) fn parse_int(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let magnitude = parse_uint(digits)?;
    if negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

/// `strconv.ParseUint(text, 0, 64)`; the text holds no underscores.
pub(super) fn parse_uint(text: &str) -> Option<u64> {
    let (radix, digits) = match text.as_bytes() {
        [b'0', b'x' | b'X', _, ..] => (16, &text[2..]),
        [b'0', b'o' | b'O', _, ..] => (8, &text[2..]),
        [b'0', b'b' | b'B', _, ..] => (2, &text[2..]),
        [b'0', _, ..] => (8, &text[1..]),
        _ => (10, text),
    };
    // Rust would take a sign here, Go does not.
    digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u64::from_str_radix(digits, radix).ok())?
}

/// `strconv.ParseInt(text, 2, 64)` of what follows `0b`, where Go accepts a sign.
pub(super) fn parse_binary(text: &str) -> Option<i64> {
    i64::from_str_radix(text, 2).ok()
}

/// A decimal float that fits; overflow is an error in Go.
fn parse_finite(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|f| f.is_finite())
}

/// A float of the form `[-+]?(.digits|digits[.digits])[e[-+]digits]`, the only one go-yaml tries.
pub(super) fn parse_yaml_float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let some_digits = !whole.is_empty() || !fraction.is_empty();
    let fits = some_digits && digits(whole) && digits(fraction);
    (fits && exponent.is_none_or(|e| !e.is_empty() && digits(e))).then(|| parse_finite(text))?
}

/// `strconv.ParseFloat` of a text that begins with a point; underscores may stand between digits.
pub(super) fn parse_point_float(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let lone = |i: usize| {
        let digit = |at: Option<&u8>| at.is_some_and(|b| b.is_ascii_digit() || *b == b'_');
        let before = i.checked_sub(1).and_then(|b| bytes.get(b)).is_some_and(u8::is_ascii_digit);
        !(before && digit(bytes.get(i + 1)) && bytes.get(i + 1) != Some(&b'_'))
    };
    if bytes.iter().enumerate().any(|(i, &b)| b == b'_' && lone(i)) {
        return None;
    }
    parse_yaml_float(&text.replace('_', ""))
}

/// Shortest digits that read back as the same number, and the decimal exponent of the first.
struct Shortest {
    negative: bool,
    digits: String,
    exponent: i32,
}

impl Shortest {
    /// Takes Rust's `{:e}` apart, which yields the same digits as Go's shortest form.
    fn of(scientific: &str) -> Self {
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
        let unsigned = mantissa.strip_prefix('-');
        Self {
            negative: unsigned.is_some(),
            digits: unsigned.unwrap_or(mantissa).chars().filter(char::is_ascii_digit).collect(),
            exponent: exponent.parse().unwrap_or(0),
        }
    }

    fn sign(&self) -> &'static str {
        if self.negative { "-" } else { "" }
    }

    fn scientific(&self, least_digits: usize) -> String {
        let (first, rest) = self.digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let sign = if self.exponent < 0 { '-' } else { '+' };
        let exponent = self.exponent.unsigned_abs();
        format!("{}{first}{point}{rest}e{sign}{exponent:0least_digits$}", self.sign())
    }

    fn positional(&self) -> String {
        let sign = self.sign();
        match usize::try_from(self.exponent) {
            Err(_) => {
                let zeros = "0".repeat(self.exponent.unsigned_abs() as usize - 1);
                format!("{sign}0.{zeros}{}", self.digits)
            }
            Ok(exponent) if exponent + 1 >= self.digits.len() => {
                format!("{sign}{}{}", self.digits, "0".repeat(exponent + 1 - self.digits.len()))
            }
            Ok(exponent) => {
                let (whole, fraction) = self.digits.split_at(exponent + 1);
                format!("{sign}{whole}.{fraction}")
            }
        }
    }

    /// `strconv.FormatFloat(f, 'g', -1, …)`: exponents below -4 or from 6 on are written as such.
    fn general(&self) -> String {
        if (-4..6).contains(&self.exponent) { self.positional() } else { self.scientific(2) }
    }
}

/// `strconv.FormatFloat(f, 'g', -1, 64)` with YAML's words for what is no number.
pub(super) fn format_general(f: f64) -> String {
    if f.is_finite() { Shortest::of(&format!("{f:e}")).general() } else { special(f).to_owned() }
}

/// `strconv.FormatFloat(f, 'g', -1, 32)` with YAML's words for what is no number.
pub(super) fn format_general_32(f: f64) -> String {
    let narrow = f as f32;
    if narrow.is_finite() {
        Shortest::of(&format!("{narrow:e}")).general()
    } else {
        special(f64::from(narrow)).to_owned()
    }
}

const fn special(f: f64) -> &'static str {
    if f.is_nan() {
        ".nan"
    } else if f > 0.0 {
        ".inf"
    } else {
        "-.inf"
    }
}

/// A finite float as `encoding/json` writes it (Go 1.26, `encode.go`, `floatEncoder`).
pub(super) fn format_json(f: f64) -> String {
    let size = f.abs();
    let shortest = Shortest::of(&format!("{f:e}"));
    if size != 0.0 && !(1e-6..1e21).contains(&size) { shortest.scientific(1) } else { shortest.positional() }
}
