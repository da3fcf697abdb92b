//! The raw formatter behind `printf`: flags, padding, integers, strings and floats.

use super::float::format_float;
use crate::go::quote::{Escape, can_backquote, quote_rune, quote_with};
use crate::go::{count, is_print, runes};

/// Flags, width and precision of one verb.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flags {
    pub(crate) width: Option<usize>,
    pub(crate) precision: Option<usize>,
    pub(crate) minus: bool,
    pub(crate) plus: bool,
    pub(crate) sharp: bool,
    pub(crate) space: bool,
    pub(crate) zero: bool,
    /// `%+v`
    pub(crate) plus_v: bool,
    /// `%#v`
    pub(crate) sharp_v: bool,
}

/// Bytes being formatted and the flags they are formatted with.
#[derive(Debug, Default)]
pub(crate) struct Formatter {
    pub(crate) out: Vec<u8>,
    pub(crate) flags: Flags,
}

impl Formatter {
    pub(crate) fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn padding(&mut self, width: usize) {
        let fill = if self.flags.zero && !self.flags.minus { b'0' } else { b' ' };
        self.out.extend(std::iter::repeat_n(fill, width));
    }

    /// Writes padded to the width, in runes.
    pub(crate) fn pad(&mut self, bytes: &[u8]) {
        let width = self.flags.width.map_or(0, |width| width.saturating_sub(count(bytes)));
        if !self.flags.minus {
            self.padding(width);
        }
        self.out.extend_from_slice(bytes);
        if self.flags.minus {
            self.padding(width);
        }
    }

    /// Padding with blanks even under the zero flag.
    fn pad_blank(&mut self, bytes: &[u8]) {
        let zero = std::mem::replace(&mut self.flags.zero, false);
        self.pad(bytes);
        self.flags.zero = zero;
    }

    pub(crate) fn boolean(&mut self, value: bool) {
        self.pad(if value { b"true" } else { b"false" });
    }

    /// Cut to the precision, in runes.
    fn truncated<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        let Some(precision) = self.flags.precision else { return bytes };
        let length: usize = runes(bytes).take(precision).map(|(_, width)| width).sum();
        bytes.get(..length).unwrap_or(bytes)
    }

    pub(crate) fn string(&mut self, bytes: &[u8]) {
        self.pad(self.truncated(bytes));
    }

    pub(crate) fn quoted(&mut self, bytes: &[u8]) {
        let bytes = self.truncated(bytes);
        if self.flags.sharp && can_backquote(bytes) {
            return self.pad(&[b"`", bytes, b"`"].concat());
        }
        self.pad(quote_with(bytes, '"', self.escape()).as_bytes());
    }

    fn escape(&self) -> Escape {
        if self.flags.plus { Escape::NonAscii } else { Escape::Unprintable }
    }

    pub(crate) fn rune(&mut self, code: u64) {
        let rune = u32::try_from(code).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER);
        self.pad(rune.encode_utf8(&mut [0; 4]).as_bytes());
    }

    pub(crate) fn quoted_rune(&mut self, code: u64) {
        let quoted = quote_rune(u32::try_from(code).unwrap_or(u32::MAX), self.escape());
        self.pad(quoted.as_bytes());
    }

    /// `%U`: `U+0078`, with `#` also the rune.
    pub(crate) fn unicode(&mut self, code: u64) {
        let precision = self.flags.precision.unwrap_or(4).max(4);
        let mut text = format!("U+{code:0precision$X}");
        let rune = u32::try_from(code).ok().and_then(char::from_u32);
        if let Some(rune) = rune.filter(|&rune| self.flags.sharp && is_print(rune)) {
            text.push_str(&format!(" '{rune}'"));
        }
        self.pad_blank(text.as_bytes());
    }

    /// An integer of 64 bits, seen as signed or not.
    pub(crate) fn integer(&mut self, bits: u64, base: u32, signed: bool, verb: char) {
        let negative = signed && bits.cast_signed() < 0;
        let magnitude = if negative { bits.wrapping_neg() } else { bits };
        if self.flags.precision == Some(0) && magnitude == 0 {
            return self.pad_blank(b"");
        }
        let mut digits = match (base, verb) {
            (2, _) => format!("{magnitude:b}"),
            (8, _) => format!("{magnitude:o}"),
            (16, 'X') => format!("{magnitude:X}"),
            (16, _) => format!("{magnitude:x}"),
            _ => magnitude.to_string(),
        };
        let least = self.least_digits(negative);
        if digits.len() < least {
            digits.insert_str(0, &"0".repeat(least - digits.len()));
        }
        digits.insert_str(0, self.prefix(base, verb, &digits));
        digits.insert_str(0, self.sign(negative));
        self.pad_blank(digits.as_bytes());
    }

    /// Zeros come from the precision, or from the zero flag and the width less the sign.
    fn least_digits(&self, negative: bool) -> usize {
        let flags = &self.flags;
        match (flags.precision, flags.width) {
            (Some(precision), _) => precision,
            (None, Some(width)) if flags.zero && !flags.minus => {
                width - usize::from(width > 0 && (negative || flags.plus || flags.space))
            }
            _ => 0,
        }
    }

    fn prefix(&self, base: u32, verb: char, digits: &str) -> &'static str {
        match base {
            _ if verb == 'O' && self.flags.sharp && !digits.starts_with('0') => "0o0",
            _ if verb == 'O' => "0o",
            2 if self.flags.sharp => "0b",
            8 if self.flags.sharp && !digits.starts_with('0') => "0",
            16 if self.flags.sharp && verb == 'X' => "0X",
            16 if self.flags.sharp => "0x",
            _ => "",
        }
    }

    fn sign(&self, negative: bool) -> &'static str {
        match self.flags {
            _ if negative => "-",
            Flags { plus: true, .. } => "+",
            Flags { space: true, .. } => " ",
            _ => "",
        }
    }

    /// `%x` of strings: two digits a byte, with ` ` between them, with `#` prefixed.
    pub(crate) fn hex(&mut self, bytes: &[u8], verb: char) {
        let bytes = bytes.get(..self.flags.precision.unwrap_or(bytes.len())).unwrap_or(bytes);
        let prefix = if verb == 'X' { "0X" } else { "0x" };
        let mut text = String::with_capacity(bytes.len() * 2);
        for (at, byte) in bytes.iter().enumerate() {
            if self.flags.space && at > 0 {
                text.push(' ');
            }
            if self.flags.sharp && (self.flags.space || at == 0) {
                text.push_str(prefix);
            }
            text.push_str(&if verb == 'X' { format!("{byte:02X}") } else { format!("{byte:02x}") });
        }
        self.pad(text.as_bytes());
    }

    /// A float in a verb of `strconv`, with the verb's own precision unless one is given.
    pub(crate) fn float(&mut self, float: f64, verb: char, precision: Option<usize>) {
        let flags = self.flags;
        let precision = flags.precision.or(precision);
        let mut number = format_float(float, verb, precision);
        if !number.starts_with(['-', '+']) {
            number.insert(0, '+');
        }
        if flags.space && number.starts_with('+') && !flags.plus {
            number.replace_range(..1, " ");
        }
        if !float.is_finite() {
            let bare = float.is_nan() && !flags.space && !flags.plus;
            return self.pad_blank(number.get(usize::from(bare)..).unwrap_or("").as_bytes());
        }
        if flags.sharp && verb != 'b' {
            number = with_point(&number, verb, precision);
        }
        self.signed(&number);
    }

    /// Writes a number that begins with its sign; a plus only when asked for, zeros after the sign.
    fn signed(&mut self, number: &str) {
        let flags = self.flags;
        let (sign, digits) = number.split_at(1);
        if !flags.plus && sign == "+" {
            return self.pad(digits.as_bytes());
        }
        match flags.width {
            Some(width) if flags.zero && !flags.minus && width > number.len() => {
                self.text(sign);
                self.padding(width - number.len());
                self.text(digits);
            }
            _ => self.pad(number.as_bytes()),
        }
    }
}

/// The sharp flag: a decimal point always, and trailing zeros up to the precision.
fn with_point(number: &str, verb: char, precision: Option<usize>) -> String {
    let hex = matches!(verb, 'x' | 'X');
    let cut = if hex { number.find(['p', 'P']) } else { number.find(['e', 'E']) };
    let (head, tail) = number.split_at(cut.unwrap_or(number.len()));
    let mut out = head.to_owned();
    let significant = head.chars().skip(1).filter(|&c| c != '.').skip_while(|&c| c == '0').count();
    let wanted = if matches!(verb, 'g' | 'G' | 'x') { precision.unwrap_or(6) } else { 0 };
    let mut missing = wanted.saturating_sub(significant);
    if !head.contains('.') {
        missing -= usize::from(head.len() == 2 && head.ends_with('0') && missing > 0);
        out.push('.');
    }
    out.extend(std::iter::repeat_n('0', missing));
    out.push_str(tail);
    out
}
