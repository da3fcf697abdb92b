//! Quantities: `quantity('1.5Gi')` and what can be asked of it.

use ::cel::Value;
use ::cel::objects::Opaque;

use crate::cel::functions::Shape::{self, Bool, Double, Int, Text};
use crate::cel::functions::{Overload, overload};
use crate::cel::library::{opaque, text, wrap};
use crate::k8s::quantity::billionths;

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

fn parse(source: &str) -> Option<Quantity> {
    billionths(source).map(Quantity)
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
