//! Lists and regular expressions: `isSorted`, `sum`, `min`, `max`, `indexOf`, `lastIndexOf`, `find`, `findAll`.

use std::cmp::Ordering;

use ::cel::Value;
use ::cel::objects::Key;

use crate::cel::functions::Shape::{Bool, Dyn, Int, List, Map, Text};
use crate::cel::functions::{Overload, overload};
use crate::cel::library::{list, string, text};

pub(in crate::cel) const OVERLOADS: &[Overload] = &[
    overload!(member "isSorted" (List) -> Bool, is_sorted),
    overload!(member "sum" (List) -> Dyn, sum),
    overload!(member "min" (List) -> Dyn, min),
    overload!(member "max" (List) -> Dyn, max),
    overload!(member "indexOf" (List, Dyn) -> Int, index_of),
    overload!(member "lastIndexOf" (List, Dyn) -> Int, last_index_of),
    overload!(member "find" (Text, Text) -> Text, find),
    overload!(member "findAll" (Text, Text) -> List, find_all),
    overload!(member "findAll" (Text, Text, Int) -> List, find_all),
    overload!("@entries" (Dyn) -> List, entries),
    overload!("@insert" (Map, Dyn, Dyn) -> Map, insert),
];

fn compare(a: &Value, b: &Value) -> Result<Ordering, String> {
    a.partial_cmp(b).ok_or_else(|| "no such overload".to_owned())
}

fn is_sorted(args: &[Value]) -> Result<Value, String> {
    for pair in list(args.first())?.windows(2) {
        if let [a, b] = pair
            && compare(a, b)? == Ordering::Greater
        {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

fn sum(args: &[Value]) -> Result<Value, String> {
    let mut items = list(args.first())?.iter();
    let Some(first) = items.next() else { return Ok(Value::Int(0)) };
    items
        .try_fold(first.clone(), |total, item| match (total, item) {
            (Value::Int(a), Value::Int(b)) => a.checked_add(*b).map(Value::Int).ok_or("integer overflow"),
            (Value::UInt(a), Value::UInt(b)) => {
                a.checked_add(*b).map(Value::UInt).ok_or("unsigned integer overflow")
            }
            (Value::Float(a), Value::Float(b)) => Ok(Value::Float(a + b)),
            (Value::Duration(a), Value::Duration(b)) => {
                a.checked_add(b).map(Value::Duration).ok_or("integer overflow")
            }
            _ => Err("no such overload"),
        })
        .map_err(str::to_owned)
}

fn extreme(args: &[Value], wanted: Ordering, name: &str) -> Result<Value, String> {
    let mut items = list(args.first())?.iter();
    let Some(mut best) = items.next() else { return Err(format!("{name} called on empty list")) };
    for item in items {
        if compare(item, best)? == wanted {
            best = item;
        }
    }
    Ok(best.clone())
}

fn min(args: &[Value]) -> Result<Value, String> {
    extreme(args, Ordering::Less, "min")
}

fn max(args: &[Value]) -> Result<Value, String> {
    extreme(args, Ordering::Greater, "max")
}

fn place(index: Option<usize>) -> Value {
    Value::Int(index.and_then(|index| i64::try_from(index).ok()).unwrap_or(-1))
}

fn index_of(args: &[Value]) -> Result<Value, String> {
    Ok(place(list(args.first())?.iter().position(|item| Some(item) == args.get(1))))
}

fn last_index_of(args: &[Value]) -> Result<Value, String> {
    Ok(place(list(args.first())?.iter().rposition(|item| Some(item) == args.get(1))))
}

fn regex(args: &[Value]) -> Result<regex::Regex, String> {
    let pattern = text(args.get(1))?;
    regex::Regex::new(pattern).map_err(|why| format!("Illegal regex: {why}"))
}

fn find(args: &[Value]) -> Result<Value, String> {
    let regex = regex(args)?;
    Ok(string(regex.find(text(args.first())?).map_or("", |found| found.as_str())))
}

fn find_all(args: &[Value]) -> Result<Value, String> {
    let regex = regex(args)?;
    let limit = match args.get(2) {
        Some(Value::Int(limit)) => usize::try_from(*limit).unwrap_or(usize::MAX),
        _ => usize::MAX,
    };
    let found = regex.find_iter(text(args.first())?).take(limit).map(|found| string(found.as_str()));
    Ok(crate::cel::list(found.collect()))
}

/// Index and item of each place of a list, key and value of each member of a map: what two-variable macros run over.
fn entries(args: &[Value]) -> Result<Value, String> {
    let pair = |key: Value, value: &Value| crate::cel::list(vec![key, value.clone()]);
    match args.first() {
        Some(Value::List(items)) => Ok(crate::cel::list(
            (0..).map(Value::Int).zip(items.iter()).map(|(i, item)| pair(i, item)).collect(),
        )),
        Some(Value::Map(map)) => {
            let mut members: Vec<_> = map.map.iter().collect();
            members.sort_by_key(|&(key, _)| key);
            Ok(crate::cel::list(
                members.into_iter().map(|(key, value)| pair(Value::from(key), value)).collect(),
            ))
        }
        _ => Err("no such overload".to_owned()),
    }
}

/// A map with one more member.
fn insert(args: &[Value]) -> Result<Value, String> {
    let (Some(Value::Map(map)), Some(key), Some(value)) = (args.first(), args.get(1), args.get(2)) else {
        return Err("no such overload".to_owned());
    };
    let key = match key {
        Value::Int(i) => Key::Int(*i),
        Value::UInt(u) => Key::Uint(*u),
        Value::Bool(truth) => Key::Bool(*truth),
        Value::String(text) => Key::String(text.clone()),
        _ => return Err("unsupported key type".to_owned()),
    };
    let mut members = (*map.map).clone();
    if members.insert(key, value.clone()).is_some() {
        return Err("insert failed: key already exists".to_owned());
    }
    Ok(Value::Map(members.into()))
}
