//! Arithmetic. Integers are 64 bits wide and wrap around, whatever goes in becomes one.

use super::cast::{Int64, display, to_float64, to_int64};
use super::decimal::Decimal;
use super::{Engine, Fault, Func, Param};
use crate::func;
use crate::template::types::Type;
use crate::template::value::Value;

/// Rows of this family, sorted by name.
pub(super) static FUNCS: &[Func] = &[
    func!("add", add),
    func!("add1", add1),
    func!("add1f", add1f),
    func!("addf", addf),
    func!("atoi", atoi),
    func!("biggest", max),
    func!("ceil", ceil),
    func!("div", div),
    func!("divf", divf),
    func!("float64", float64),
    func!("floor", floor),
    func!("int", int),
    func!("int64", int64),
    func!("max", max),
    func!("maxf", maxf),
    func!("min", min),
    func!("minf", minf),
    func!("mod", modulo),
    func!("mul", mul),
    func!("mulf", mulf),
    func!("round", round),
    func!(engine "seq", seq),
    func!("sub", sub),
    func!("subf", subf),
    func!("toDecimal", to_decimal),
    func!(engine "until", until),
    func!(engine "untilStep", until_step),
];

/// The arguments of a variadic `...int`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ints<'a>(&'a [Value]);

impl Param for Ints<'_> {
    const TYPE: Type = Type::Int;
    const VARIADIC: bool = true;
    type Arg<'a> = Ints<'a>;

    fn take<'a>(arguments: &mut &'a [Value]) -> Ints<'a> {
        Ints(std::mem::take(arguments))
    }
}

/// The arguments of a variadic `...float64`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Floats<'a>(&'a [Value]);

impl Param for Floats<'_> {
    const TYPE: Type = Type::Float64;
    const VARIADIC: bool = true;
    type Arg<'a> = Floats<'a>;

    fn take<'a>(arguments: &mut &'a [Value]) -> Floats<'a> {
        Floats(std::mem::take(arguments))
    }
}

/// The sum.
///
/// ```tmpl
/// {{ add 1 2 3 }} → 6
/// {{ add 1.9 "2" }} → 3
/// ```
fn add(numbers: &[Value]) -> Int64 {
    Int64(numbers.iter().map(to_int64).fold(0, i64::wrapping_add))
}

/// One more.
///
/// ```tmpl
/// {{ add1 2 }} → 3
/// ```
fn add1(number: &Value) -> Int64 {
    Int64(to_int64(number).wrapping_add(1))
}

/// One more, in decimal arithmetic.
///
/// ```tmpl
/// {{ add1f 1.5 }} → 2.5
/// ```
fn add1f(number: &Value) -> Result<f64, Fault> {
    decimal(number, &[Value::Int(1)], |a, b| Ok(a.add(b)))
}

/// The sum, in decimal arithmetic.
///
/// ```tmpl
/// {{ addf 0.1 0.2 }} → 0.3
/// ```
fn addf(numbers: &[Value]) -> Result<f64, Fault> {
    decimal(&Value::Float(0.0), numbers, |a, b| Ok(a.add(b)))
}

/// The first number as decimal, changed by each of the others in turn.
fn decimal(
    first: &Value,
    others: &[Value],
    change: fn(&Decimal, &Decimal) -> Result<Decimal, Fault>,
) -> Result<f64, Fault> {
    let mut result = Decimal::new(to_float64(first))?;
    for other in others {
        result = change(&result, &Decimal::new(to_float64(other))?)?;
    }
    Ok(result.to_f64())
}

/// A string of decimal digits as `int`, 0 for anything else.
///
/// ```tmpl
/// {{ atoi "08" }} → 8
/// {{ atoi "1.5" }} → 0
/// ```
fn atoi(text: &str) -> i64 {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return 0;
    }
    // A number too large leaves the largest one behind.
    text.parse().unwrap_or(if text.starts_with('-') { i64::MIN } else { i64::MAX })
}

/// The largest number.
///
/// ```tmpl
/// {{ max 1 3 2 }} → 3
/// ```
fn max(first: &Value, others: &[Value]) -> Int64 {
    Int64(others.iter().map(to_int64).fold(to_int64(first), i64::max))
}

/// The next whole number above.
///
/// ```tmpl
/// {{ ceil 1.1 }} → 2
/// ```
fn ceil(number: &Value) -> f64 {
    to_float64(number).ceil()
}

/// The quotient without its fraction.
///
/// ```tmpl
/// {{ div 7 2 }} → 3
/// ```
fn div(a: &Value, b: &Value) -> Result<Int64, Fault> {
    let divisor = to_int64(b);
    if divisor == 0 {
        return Err(Fault::new("runtime error: integer divide by zero"));
    }
    Ok(Int64(to_int64(a).wrapping_div(divisor)))
}

/// The quotient in decimal arithmetic, to 16 places.
///
/// ```tmpl
/// {{ divf 10 4 }} → 2.5
/// ```
fn divf(first: &Value, others: &[Value]) -> Result<f64, Fault> {
    decimal(first, others, |a, b| a.div(b).ok_or_else(|| Fault::new("decimal division by 0")))
}

/// The value as `float64`, 0 for what is no number.
///
/// ```tmpl
/// {{ float64 "1.50" }} → 1.5
/// ```
fn float64(value: &Value) -> f64 {
    to_float64(value)
}

/// The next whole number below.
///
/// ```tmpl
/// {{ floor 1.9 }} → 1
/// ```
fn floor(number: &Value) -> f64 {
    to_float64(number).floor()
}

/// The value as `int`, 0 for what is no number; a leading zero means octal.
///
/// ```tmpl
/// {{ int "0123" }} → 83
/// {{ int "12abc" }} → 0
/// ```
fn int(value: &Value) -> i64 {
    to_int64(value)
}

/// The value as `int64`, 0 for what is no number; a leading zero means octal.
///
/// ```tmpl
/// {{ int64 1.9 }} → 1
/// ```
fn int64(value: &Value) -> Int64 {
    Int64(to_int64(value))
}

/// The largest number, as `float64`.
///
/// ```tmpl
/// {{ maxf 1 2.5 }} → 2.5
/// ```
fn maxf(first: &Value, others: &[Value]) -> f64 {
    others.iter().map(to_float64).fold(to_float64(first), |a, b| pick(a, b, a > b))
}

/// NaN wins, and of two zeros the one that `math.Max` and `math.Min` want.
fn pick(a: f64, b: f64, first: bool) -> f64 {
    if a.is_nan() || first && !b.is_nan() { a } else { b }
}

/// The smallest number.
///
/// ```tmpl
/// {{ min 3 1 2 }} → 1
/// ```
fn min(first: &Value, others: &[Value]) -> Int64 {
    Int64(others.iter().map(to_int64).fold(to_int64(first), i64::min))
}

/// The smallest number, as `float64`.
///
/// ```tmpl
/// {{ minf 1.5 2 }} → 1.5
/// ```
fn minf(first: &Value, others: &[Value]) -> f64 {
    others.iter().map(to_float64).fold(to_float64(first), |a, b| pick(a, b, a < b))
}

/// The remainder, with the sign of the first number.
///
/// ```tmpl
/// {{ mod 7 3 }} → 1
/// ```
fn modulo(a: &Value, b: &Value) -> Result<Int64, Fault> {
    let divisor = to_int64(b);
    if divisor == 0 {
        return Err(Fault::new("runtime error: integer divide by zero"));
    }
    Ok(Int64(to_int64(a).wrapping_rem(divisor)))
}

/// The product.
///
/// ```tmpl
/// {{ mul 2 3 4 }} → 24
/// ```
fn mul(first: &Value, others: &[Value]) -> Int64 {
    Int64(others.iter().map(to_int64).fold(to_int64(first), i64::wrapping_mul))
}

/// The product in decimal arithmetic.
///
/// ```tmpl
/// {{ mulf 1.1 3 }} → 3.3
/// ```
fn mulf(first: &Value, others: &[Value]) -> Result<f64, Fault> {
    decimal(first, others, |a, b| Ok(a.mul(b)))
}

/// Rounds to a number of decimal places, up from .5 or from the third argument on.
///
/// ```tmpl
/// {{ round 123.5555 3 }} → 123.556
/// {{ round 1.6 0 0.7 }} → 1
/// ```
fn round(number: &Value, places: i64, from: Floats<'_>) -> f64 {
    let from = match from.0.first() {
        Some(Value::Float(from)) => *from,
        _ => 0.5,
    };
    let power = power_of_ten(places);
    let digits = power * to_float64(number);
    let rounded = if digits.fract() >= from { digits.ceil() } else { digits.floor() };
    rounded / power
}

/// `math.Pow(10, n)`: squares of the fraction 0.625, so that the last bits are Go's.
fn power_of_ten(n: i64) -> f64 {
    let (mut result, mut exponent) = (1.0_f64, 0_i32);
    let (mut base, mut base_exponent) = (0.625_f64, 4_i32);
    let mut left = n.unsigned_abs();
    while left != 0 {
        if base_exponent > 1 << 12 {
            exponent = exponent.saturating_add(base_exponent);
            break;
        }
        if left & 1 == 1 {
            result *= base;
            exponent += base_exponent;
        }
        base *= base;
        base_exponent <<= 1;
        if base < 0.5 {
            base += base;
            base_exponent -= 1;
        }
        left >>= 1;
    }
    if n < 0 { scale(1.0 / result, -exponent) } else { scale(result, exponent) }
}

/// `math.Ldexp` in steps that do not overflow on their own.
fn scale(mut value: f64, mut exponent: i32) -> f64 {
    while exponent != 0 {
        let step = exponent.clamp(-1000, 1000);
        value *= 2_f64.powi(step);
        exponent -= step;
        if value == 0.0 || value.is_infinite() {
            break;
        }
    }
    value
}

/// Whole numbers from a start (1) by a step (1 or -1) up to an end, separated by spaces.
///
/// ```tmpl
/// {{ seq 3 }} → 1 2 3
/// {{ seq 0 2 6 }} → 0 2 4 6
/// {{ seq 2 0 }} → 2 1 0
/// ```
fn seq(engine: &mut dyn Engine, bounds: Ints<'_>) -> Result<String, Fault> {
    let bounds: Vec<i64> = bounds.0.iter().filter_map(Value::as_int).collect();
    let (start, step, end) = match *bounds.as_slice() {
        [end] => (1, None, end),
        [start, end] => (start, None, end),
        [start, step, end] => (start, Some(step), end),
        _ => return Ok(String::new()),
    };
    let direction = if end < start { -1 } else { 1 };
    if direction < 0 && step.is_some_and(|step| step > 0) {
        return Ok(String::new());
    }
    let numbers = steps(engine, start, end.wrapping_add(direction), step.unwrap_or(direction))?;
    Ok(numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(" "))
}

/// The difference.
///
/// ```tmpl
/// {{ sub 5 2 }} → 3
/// ```
fn sub(a: &Value, b: &Value) -> Int64 {
    Int64(to_int64(a).wrapping_sub(to_int64(b)))
}

/// The difference in decimal arithmetic.
///
/// ```tmpl
/// {{ subf 0.3 0.1 }} → 0.2
/// ```
fn subf(first: &Value, others: &[Value]) -> Result<f64, Fault> {
    decimal(first, others, |a, b| Ok(a.sub(b)))
}

/// Octal digits, as file modes have them, as a number.
///
/// ```tmpl
/// {{ toDecimal "0777" }} → 511
/// ```
fn to_decimal(value: &Value) -> Result<Int64, Fault> {
    let text = display(value)?;
    let text = text.lossy();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(&text);
    let octal = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    Ok(Int64(if octal { i64::from_str_radix(&text, 8).unwrap_or(0) } else { 0 }))
}

/// The numbers from 0 up or down to `count`, without it.
///
/// ```tmpl
/// {{ until 3 }} → [0 1 2]
/// ```
fn until(engine: &mut dyn Engine, count: i64) -> Result<Vec<i64>, Fault> {
    steps(engine, 0, count, if count < 0 { -1 } else { 1 })
}

/// The numbers from `start` by `step` to `stop`, without it.
///
/// ```tmpl
/// {{ untilStep 3 9 2 }} → [3 5 7]
/// ```
fn until_step(engine: &mut dyn Engine, start: i64, stop: i64, step: i64) -> Result<Vec<i64>, Fault> {
    steps(engine, start, stop, step)
}

fn steps(engine: &mut dyn Engine, start: i64, stop: i64, step: i64) -> Result<Vec<i64>, Fault> {
    if step == 0 || (stop < start) != (step < 0) {
        return Ok(Vec::new());
    }
    engine.spend(start.abs_diff(stop) / step.unsigned_abs())?;
    let next = |n: &i64| n.checked_add(step);
    let inside = |n: &i64| if step > 0 { *n < stop } else { *n > stop };
    Ok(std::iter::successors(Some(start), next).take_while(inside).collect())
}
