//! The comparisons of `text/template`: `eq`, `ne`, `lt`, `le`, `gt`, `ge`.

use std::rc::Rc;

use crate::template::funcs::Fault;
use crate::template::number::Complex;
use crate::template::operand::Operand;
use crate::template::printf::sprintf;
use crate::template::value::Value;

/// A value of a basic kind; values of different kinds are not compared.
#[derive(Clone, Copy)]
enum Basic<'v> {
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Complex(Complex),
    String(&'v [u8]),
}

fn basic(value: &Value) -> Option<Basic<'_>> {
    Some(match value {
        Value::Bool(b) => Basic::Bool(*b),
        Value::Int(n) | Value::Int64(n) => Basic::Int(*n),
        Value::Int32(n) => Basic::Int(i64::from(*n)),
        Value::Uint8(n) => Basic::Uint(u64::from(*n)),
        Value::Uint64(n) => Basic::Uint(*n),
        Value::Float(f) => Basic::Float(*f),
        Value::String(text) => Basic::String(text),
        Value::Object(object) => return complex(value).or_else(|| object.number().and_then(basic)),
        _ => return None,
    })
}

fn complex(value: &Value) -> Option<Basic<'_>> {
    value.object::<Complex>().map(|complex| Basic::Complex(*complex))
}

fn bad_type() -> Fault {
    Fault::new("invalid type for comparison")
}

fn incompatible(left: &Value, right: &Value) -> Fault {
    Fault::new(format!("incompatible types for comparison: {} and {}", left.type_name(), right.type_name()))
}

fn pair(arguments: &[Operand]) -> (&Value, &Value) {
    let at = |at: usize| arguments.get(at).map_or(&Value::Nil, |operand| &operand.value);
    (at(0), at(1))
}

pub(super) fn eq(arguments: &[Operand]) -> Result<Value, Fault> {
    let (first, _) = pair(arguments);
    if arguments.len() < 2 {
        return Err(Fault::new("missing argument for comparison"));
    }
    for other in arguments.iter().skip(1) {
        if equal(first, &other.value)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn equal(left: &Value, right: &Value) -> Result<bool, Fault> {
    match (basic(left), basic(right)) {
        (None, None) => equal_other(left, right),
        (Some(l), Some(r)) => match (l, r) {
            (Basic::Bool(l), Basic::Bool(r)) => Ok(l == r),
            (Basic::Int(l), Basic::Int(r)) => Ok(l == r),
            (Basic::Uint(l), Basic::Uint(r)) => Ok(l == r),
            (Basic::Int(l), Basic::Uint(r)) | (Basic::Uint(r), Basic::Int(l)) => {
                Ok(u64::try_from(l) == Ok(r))
            }
            (Basic::Float(l), Basic::Float(r)) => Ok(l == r),
            (Basic::Complex(l), Basic::Complex(r)) => Ok(l == r),
            (Basic::String(l), Basic::String(r)) => Ok(l == r),
            _ => Err(incompatible(left, right)),
        },
        _ if matches!(left, Value::Nil) || matches!(right, Value::Nil) => Ok(false),
        _ => Err(incompatible(left, right)),
    }
}

/// Values that only compare with nil, and pointers.
fn equal_other(left: &Value, right: &Value) -> Result<bool, Fault> {
    let nil = matches!(left, Value::Nil) || matches!(right, Value::Nil);
    if left.kind() != right.kind() && !nil {
        let types = (Value::str(left.type_name()), Value::str(right.type_name()));
        let values = [left.clone(), types.0, types.1, right.clone()];
        return Err(explain(b"non-comparable types %s: %v, %s: %v", &values));
    }
    if left.is_nil() || right.is_nil() {
        return Ok(left.is_nil() == right.is_nil());
    }
    match (left, right) {
        (Value::Object(l), Value::Object(r)) => Ok(Rc::ptr_eq(l, r) || l.same(r.as_ref())),
        _ => Err(explain(b"non-comparable type %s: %v", &[right.clone(), Value::str(right.type_name())])),
    }
}

fn explain(format: &[u8], values: &[Value]) -> Fault {
    match sprintf(format, values) {
        Ok(text) => Fault::new(String::from_utf8_lossy(&text)),
        Err(fault) => fault,
    }
}

fn less(left: &Value, right: &Value) -> Result<bool, Fault> {
    let l = basic(left).ok_or_else(bad_type)?;
    let r = basic(right).ok_or_else(bad_type)?;
    match (l, r) {
        (Basic::Bool(_), Basic::Bool(_)) | (Basic::Complex(_), Basic::Complex(_)) => Err(bad_type()),
        (Basic::Int(l), Basic::Int(r)) => Ok(l < r),
        (Basic::Uint(l), Basic::Uint(r)) => Ok(l < r),
        (Basic::Int(l), Basic::Uint(r)) => Ok(u64::try_from(l).map_or(true, |l| l < r)),
        (Basic::Uint(l), Basic::Int(r)) => Ok(u64::try_from(r).is_ok_and(|r| l < r)),
        (Basic::Float(l), Basic::Float(r)) => Ok(l < r),
        (Basic::String(l), Basic::String(r)) => Ok(l < r),
        _ => Err(incompatible(left, right)),
    }
}

fn less_or_equal(left: &Value, right: &Value) -> Result<bool, Fault> {
    Ok(less(left, right)? || equal(left, right)?)
}

pub(super) fn ne(arguments: &[Operand]) -> Result<Value, Fault> {
    let (left, right) = pair(arguments);
    equal(left, right).map(|equal| Value::Bool(!equal))
}

pub(super) fn lt(arguments: &[Operand]) -> Result<Value, Fault> {
    let (left, right) = pair(arguments);
    less(left, right).map(Value::Bool)
}

pub(super) fn le(arguments: &[Operand]) -> Result<Value, Fault> {
    let (left, right) = pair(arguments);
    less_or_equal(left, right).map(Value::Bool)
}

pub(super) fn gt(arguments: &[Operand]) -> Result<Value, Fault> {
    let (left, right) = pair(arguments);
    less_or_equal(left, right).map(|at_most| Value::Bool(!at_most))
}

pub(super) fn ge(arguments: &[Operand]) -> Result<Value, Fault> {
    let (left, right) = pair(arguments);
    less(left, right).map(|less| Value::Bool(!less))
}
