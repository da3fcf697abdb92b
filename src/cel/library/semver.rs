//! Versions: `semver('1.2.3')` and what can be asked of it.

use ::cel::Value;
use ::cel::objects::Opaque;

use crate::cel::functions::Shape::{self, Bool, Int, Text};
use crate::cel::functions::{Overload, overload};
use crate::cel::library::{opaque, text, wrap};

const NAME: &str = "kubernetes.Semver";
const SEMVER: Shape = Shape::Opaque(NAME);

pub(in crate::cel) const OVERLOADS: &[Overload] = &[
    overload!("semver" (Text) -> SEMVER, semver),
    overload!("semver" (Text, Bool) -> SEMVER, semver),
    overload!("isSemver" (Text) -> Bool, is_semver),
    overload!("isSemver" (Text, Bool) -> Bool, is_semver),
    overload!(member "major" (SEMVER) -> Int, major),
    overload!(member "minor" (SEMVER) -> Int, minor),
    overload!(member "patch" (SEMVER) -> Int, patch),
    overload!(member "isGreaterThan" (SEMVER, SEMVER) -> Bool, is_greater),
    overload!(member "isLessThan" (SEMVER, SEMVER) -> Bool, is_less),
    overload!(member "compareTo" (SEMVER, SEMVER) -> Int, compare_to),
];

/// One dot-separated part of a pre-release: numbers come before words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Number(u64),
    Word(String),
}

/// A version; without a pre-release it comes after every pre-release of the same numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Semver {
    numbers: [i64; 3],
    released: bool,
    pre: Vec<Part>,
}

impl Opaque for Semver {
    fn runtime_type_name(&self) -> &str {
        NAME
    }
}

fn parse(source: &str, lenient: bool) -> Option<Semver> {
    let source = if lenient { source.trim().trim_start_matches('v') } else { source };
    let (source, _build) = source.split_once('+').unwrap_or((source, ""));
    let (numbers, pre) = source.split_once('-').map_or((source, None), |(numbers, pre)| (numbers, Some(pre)));
    let mut parsed = [0; 3];
    let mut parts = numbers.split('.');
    for (i, number) in parsed.iter_mut().enumerate() {
        match parts.next() {
            Some(part) => *number = digits(part, lenient)?,
            None if lenient && i > 0 => {}
            None => return None,
        }
    }
    let pre: Option<Vec<Part>> = pre.into_iter().flat_map(|pre| pre.split('.')).map(part).collect();
    let pre = pre?;
    parts.next().is_none().then_some(Semver { numbers: parsed, released: pre.is_empty(), pre })
}

fn digits(part: &str, lenient: bool) -> Option<i64> {
    let leading_zero = part.len() > 1 && part.starts_with('0');
    if part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()) || (leading_zero && !lenient) {
        return None;
    }
    part.parse().ok()
}

fn part(part: &str) -> Option<Part> {
    if part.is_empty() || !part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
        return None;
    }
    if part.bytes().all(|b| b.is_ascii_digit()) {
        return digits(part, false).and_then(|number| u64::try_from(number).ok()).map(Part::Number);
    }
    Some(Part::Word(part.to_owned()))
}

fn read(args: &[Value]) -> Result<Option<Semver>, String> {
    Ok(parse(text(args.first())?, args.get(1) == Some(&Value::Bool(true))))
}

fn semver(args: &[Value]) -> Result<Value, String> {
    read(args)?.map(wrap).ok_or_else(|| "Invalid semantic version".to_owned())
}

fn is_semver(args: &[Value]) -> Result<Value, String> {
    Ok(Value::Bool(read(args)?.is_some()))
}

fn number(args: &[Value], i: usize) -> Result<Value, String> {
    let version = opaque::<Semver>(args.first())?;
    Ok(Value::Int(version.numbers.get(i).copied().unwrap_or_default()))
}

fn major(args: &[Value]) -> Result<Value, String> {
    number(args, 0)
}

fn minor(args: &[Value]) -> Result<Value, String> {
    number(args, 1)
}

fn patch(args: &[Value]) -> Result<Value, String> {
    number(args, 2)
}

fn order(args: &[Value]) -> Result<std::cmp::Ordering, String> {
    Ok(opaque::<Semver>(args.first())?.cmp(opaque::<Semver>(args.get(1))?))
}

fn is_greater(args: &[Value]) -> Result<Value, String> {
    order(args).map(|order| Value::Bool(order.is_gt()))
}

fn is_less(args: &[Value]) -> Result<Value, String> {
    order(args).map(|order| Value::Bool(order.is_lt()))
}

fn compare_to(args: &[Value]) -> Result<Value, String> {
    order(args).map(|order| Value::Int(order as i64))
}
