//! Decimal numbers of any length, as shopspring/decimal v1.4.0 computes for Sprig's `addf` and its kind.

use std::cmp::Ordering;

use super::Fault;

/// Places after the point that a quotient is rounded to.
const DIVISION_PLACES: i64 = 16;

/// `±digits × 10^exponent`.
#[derive(Clone, Debug)]
pub(super) struct Decimal {
    negative: bool,
    /// Decimal digits, lowest first, without zeros at the high end.
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    /// The shortest decimal that reads back as this float.
    ///
    /// # Errors
    /// Infinity and NaN.
    pub(super) fn new(value: f64) -> Result<Self, Fault> {
        if !value.is_finite() {
            return Err(Fault::new(format!("Cannot create a Decimal from {}", spell(value))));
        }
        let text = format!("{:e}", value.abs());
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let places = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let digits = mantissa.bytes().rev().filter(u8::is_ascii_digit).map(|b| b - b'0').collect();
        let exponent = exponent.parse().unwrap_or(0_i64) - i64::try_from(places).unwrap_or(0);
        Ok(Self { negative: value < 0.0, digits: trimmed(digits), exponent })
    }

    /// The nearest float.
    pub(super) fn to_f64(&self) -> f64 {
        let digits: String = self.digits.iter().rev().map(|d| char::from(b'0' + d)).collect();
        let value: f64 = format!("0{digits}e{}", self.exponent).parse().unwrap_or(0.0);
        if self.negative && value != 0.0 { -value } else { value }
    }

    pub(super) fn add(&self, other: &Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        let (a, b) = (self.digits_at(exponent), other.digits_at(exponent));
        let (negative, digits) = match (self.negative == other.negative, compare(&a, &b)) {
            (true, _) => (self.negative, sum(&a, &b)),
            (false, Ordering::Less) => (other.negative, difference(&b, &a)),
            (false, _) => (self.negative, difference(&a, &b)),
        };
        Self { negative, digits, exponent }
    }

    pub(super) fn sub(&self, other: &Self) -> Self {
        self.add(&Self { negative: !other.negative, ..other.clone() })
    }

    pub(super) fn mul(&self, other: &Self) -> Self {
        let mut digits = vec![0_u32; self.digits.len() + other.digits.len() + 1];
        for (i, a) in self.digits.iter().enumerate() {
            for (place, b) in digits.iter_mut().skip(i).zip(&other.digits) {
                *place += u32::from(*a) * u32::from(*b);
            }
        }
        let negative = self.negative != other.negative;
        Self { negative, digits: carried(digits), exponent: self.exponent + other.exponent }
    }

    /// The quotient, rounded half away from zero; `None` for a division by zero.
    pub(super) fn div(&self, other: &Self) -> Option<Self> {
        if other.digits.is_empty() {
            return None;
        }
        let shift = self.exponent - other.exponent + DIVISION_PLACES;
        let (a, b) = (shifted(&self.digits, shift), shifted(&other.digits, -shift));
        let (mut digits, rest) = quotient(&a, &b);
        if compare(&sum(&rest, &rest), &b) != Ordering::Less {
            digits = sum(&digits, &[1]);
        }
        Some(Self { negative: self.negative != other.negative, digits, exponent: -DIVISION_PLACES })
    }

    fn digits_at(&self, exponent: i64) -> Vec<u8> {
        shifted(&self.digits, self.exponent - exponent)
    }
}

fn spell(value: f64) -> &'static str {
    match value {
        value if value.is_nan() => "NaN",
        value if value > 0.0 => "+Inf",
        _ => "-Inf",
    }
}

/// Digits times a power of ten; a negative power changes nothing.
fn shifted(digits: &[u8], power: i64) -> Vec<u8> {
    if digits.is_empty() {
        return Vec::new();
    }
    let zeros = usize::try_from(power).unwrap_or(0);
    std::iter::repeat_n(0, zeros).chain(digits.iter().copied()).collect()
}

fn trimmed(mut digits: Vec<u8>) -> Vec<u8> {
    while digits.last() == Some(&0) {
        digits.pop();
    }
    digits
}

fn compare(a: &[u8], b: &[u8]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

fn sum(a: &[u8], b: &[u8]) -> Vec<u8> {
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let short = short.iter().copied().chain(std::iter::repeat(0));
    let mut digits: Vec<u32> = long.iter().zip(short).map(|(a, b)| u32::from(*a) + u32::from(b)).collect();
    digits.push(0);
    carried(digits)
}

/// `a - b`, where `a` is not smaller.
fn difference(a: &[u8], b: &[u8]) -> Vec<u8> {
    let mut borrow = 0;
    let subtrahend = b.iter().copied().chain(std::iter::repeat(0));
    let digits = a.iter().zip(subtrahend).map(|(a, b)| {
        let taken = b + borrow;
        borrow = u8::from(*a < taken);
        a + 10 * borrow - taken
    });
    trimmed(digits.collect())
}

fn carried(digits: Vec<u32>) -> Vec<u8> {
    let mut carry = 0;
    let carried = digits.into_iter().map(|digit| {
        let total = digit + carry;
        carry = total / 10;
        u8::try_from(total % 10).unwrap_or(0)
    });
    trimmed(carried.collect())
}

/// Long division: whole quotient and remainder.
fn quotient(a: &[u8], b: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut rest: Vec<u8> = Vec::new();
    let mut digits = Vec::with_capacity(a.len());
    for digit in a.iter().rev() {
        rest.insert(0, *digit);
        rest = trimmed(rest);
        let mut times = 0;
        while compare(&rest, b) != Ordering::Less {
            rest = difference(&rest, b);
            times += 1;
        }
        digits.push(times);
    }
    digits.reverse();
    (trimmed(digits), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_is_exact() {
        let of = |value| Decimal::new(value).unwrap();
        assert_eq!(of(0.1).add(&of(0.2)).to_f64(), 0.3);
        assert_eq!(of(0.3).sub(&of(0.1)).to_f64(), 0.2);
        assert_eq!(of(-1.5).mul(&of(3.0)).to_f64(), -4.5);
        assert_eq!(of(1.0).div(&of(3.0)).unwrap().to_f64(), 0.333_333_333_333_333_3);
        assert_eq!(of(2.0).div(&of(-3.0)).unwrap().to_f64(), -0.666_666_666_666_666_7);
        assert_eq!(of(1e300).div(&of(1e-8)).unwrap().to_f64(), 1e308);
        assert_eq!(of(1e-300).div(&of(7.0)).unwrap().to_f64(), 0.0);
        assert!(of(1.0).div(&of(0.0)).is_none());
        assert!(Decimal::new(f64::NAN).is_err());
    }
}
