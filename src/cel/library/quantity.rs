//! Quantities: `quantity('1.5Gi')` and what can be asked of it.

use ::cel::Value;
use ::cel::objects::Opaque;

use crate::cel::functions::Shape::{self, Bool, Double, Int, Text};
use crate::cel::functions::{Overload, overload};
use crate::cel::library::{opaque, text, wrap};

const NAME: &str = "kubernetes.Quantity";
const QUANTITY: Shape = Shape::Opaque(NAME);

pub(in crate::cel) const OVERLOADS: &[Overload] = &[
    overload!("quantity" (Text) -> QUANTITY, quantity),
    overload!("isQuantity" (Text) -> Bool, is_quantity),
    overload!(member "sign" (QUANTITY) -> Int, sign),
    overload!(member "isInteger" (QUANTITY) -> Bool, is_integer),
    overload!(member "asInteger" (QUANTITY) -> Int, as_integer),
    overload!(member "asApproximateFloat" (QUANTITY) -> Double, as_float),
    overload!(member "isGreaterThan" (QUANTITY, QUANTITY) -> Bool, is_greater),
    overload!(member "isLessThan" (QUANTITY, QUANTITY) -> Bool, is_less),
    overload!(member "compareTo" (QUANTITY, QUANTITY) -> Int, compare_to),
    overload!(member "add" (QUANTITY, QUANTITY) -> QUANTITY, add),
    overload!(member "add" (QUANTITY, Int) -> QUANTITY, add),
    overload!(member "sub" (QUANTITY, QUANTITY) -> QUANTITY, sub),
    overload!(member "sub" (QUANTITY, Int) -> QUANTITY, sub),
];

const NANOS: i128 = 1_000_000_000;

/// A quantity in billionths, the finest step that Kubernetes keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Quantity(i128);

impl Opaque for Quantity {
    fn runtime_type_name(&self) -> &str {
        NAME
    }
}

/// Reads a quantity; what is finer than a billionth is rounded away from zero.
///
/// As `k8s.io/apimachinery` 1.34 `pkg/api/resource/quantity.go`, `ParseQuantity`.
fn parse(source: &str) -> Option<Quantity> {
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
    Some(Quantity(if negative { -nanos } else { nanos }))
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

fn quantity(args: &[Value]) -> Result<Value, String> {
    let words = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
    parse(text(args.first())?).map(wrap).ok_or_else(|| words.to_owned())
}

fn is_quantity(args: &[Value]) -> Result<Value, String> {
    Ok(Value::Bool(parse(text(args.first())?).is_some()))
}

fn both(args: &[Value]) -> Result<(Quantity, Quantity), String> {
    let other = match args.get(1) {
        Some(Value::Int(whole)) => Quantity(i128::from(*whole) * NANOS),
        other => *opaque::<Quantity>(other)?,
    };
    Ok((*opaque::<Quantity>(args.first())?, other))
}

fn sign(args: &[Value]) -> Result<Value, String> {
    Ok(Value::Int(opaque::<Quantity>(args.first())?.0.signum() as i64))
}

fn whole(quantity: Quantity) -> Option<i64> {
    if quantity.0 % NANOS == 0 { i64::try_from(quantity.0 / NANOS).ok() } else { None }
}

fn is_integer(args: &[Value]) -> Result<Value, String> {
    Ok(Value::Bool(whole(*opaque::<Quantity>(args.first())?).is_some()))
}

fn as_integer(args: &[Value]) -> Result<Value, String> {
    let whole = whole(*opaque::<Quantity>(args.first())?);
    whole.map(Value::Int).ok_or_else(|| "cannot convert value to integer".to_owned())
}

fn as_float(args: &[Value]) -> Result<Value, String> {
    Ok(Value::Float(opaque::<Quantity>(args.first())?.0 as f64 / NANOS as f64))
}

fn is_greater(args: &[Value]) -> Result<Value, String> {
    both(args).map(|(a, b)| Value::Bool(a > b))
}

fn is_less(args: &[Value]) -> Result<Value, String> {
    both(args).map(|(a, b)| Value::Bool(a < b))
}

fn compare_to(args: &[Value]) -> Result<Value, String> {
    both(args).map(|(a, b)| Value::Int(a.cmp(&b) as i64))
}

fn add(args: &[Value]) -> Result<Value, String> {
    let (a, b) = both(args)?;
    a.0.checked_add(b.0).map(|sum| wrap(Quantity(sum))).ok_or_else(|| "integer overflow".to_owned())
}

fn sub(args: &[Value]) -> Result<Value, String> {
    let (a, b) = both(args)?;
    a.0.checked_sub(b.0).map(|rest| wrap(Quantity(rest))).ok_or_else(|| "integer overflow".to_owned())
}
