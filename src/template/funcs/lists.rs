//! Functions on lists.

use std::rc::Rc;

use super::cast::{strval, to_int64};
use super::strings::{characters, find};
use super::{Fault, Func};
use crate::func;
use crate::limits::stack::levels;
use crate::template::types::{LIST, SliceType, Type};
use crate::template::value::{GoStr, List, Value};

/// Rows of this family, sorted by name.
pub(super) static FUNCS: &[Func] = &[
    func!("append", append),
    func!("chunk", chunk),
    func!("compact", compact),
    func!("concat", concat),
    func!("first", first),
    func!("has", has),
    func!("initial", initial),
    func!("join", join),
    func!("last", last),
    func!("list", list),
    func!("mustAppend", append),
    func!("mustChunk", chunk),
    func!("mustCompact", compact),
    func!("mustFirst", first),
    func!("mustHas", has),
    func!("mustInitial", initial),
    func!("mustLast", last),
    func!("mustPrepend", prepend),
    func!("mustPush", append),
    func!("mustRest", rest),
    func!("mustReverse", reverse),
    func!("mustSlice", slice),
    func!("mustUniq", uniq),
    func!("mustWithout", without),
    func!("prepend", prepend),
    func!("push", append),
    func!("rest", rest),
    func!("reverse", reverse),
    func!("slice", slice),
    func!("sortAlpha", sort_alpha),
    func!("split", split),
    func!("splitList", split_list),
    func!("splitn", splitn),
    func!("toStrings", to_strings),
    func!("tuple", list),
    func!("uniq", uniq),
    func!("without", without),
];

static CHUNKS: SliceType = SliceType { name: "[][]interface {}", elem: Type::Slice(&LIST), methods: &[] };

/// What Go's runtime says where a function looks into nil.
pub(super) const NIL_POINTER: &str = "runtime error: invalid memory address or nil pointer dereference";

/// The items of any slice; `None` for what is none.
fn items(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::List(list) => Some(list.items().to_vec()),
        Value::Bytes(bytes) => Some(bytes.iter().map(|b| Value::Uint8(*b)).collect()),
        _ => None,
    }
}

/// The items of a slice, or the words `Cannot …` with the kind that is none.
fn need(value: &Value, complaint: &str) -> Result<Vec<Value>, Fault> {
    items(value).ok_or_else(|| match value {
        Value::Nil => Fault::new(NIL_POINTER),
        other => Fault::new(format!("{complaint} {}", other.kind())),
    })
}

/// A new list with a value at its end.
///
/// ```tmpl
/// {{ append (list 1 2) 3 }} → [1 2 3]
/// ```
fn append(list: &Value, value: &Value) -> Result<Vec<Value>, Fault> {
    let mut out = need(list, "Cannot push on type")?;
    out.push(value.clone());
    Ok(out)
}

/// Cuts a list into lists of `size` items.
///
/// ```tmpl
/// {{ chunk 2 (list 1 2 3) }} → [[1 2] [3]]
/// ```
fn chunk(size: i64, list: &Value) -> Result<Value, Fault> {
    let all = need(list, "Cannot chunk type")?;
    let too_large = || Fault::new("runtime error: makeslice: len out of range");
    let pieces: Vec<Value> = match usize::try_from(size) {
        Ok(0) => return Err(too_large()),
        Ok(size) => all.chunks(size).map(|piece| Value::list(piece.to_vec())).collect(),
        // Go rounds down what it divides: a negative size gives one piece, none, or fewer than none.
        Err(_) if all.len() == 1 && size < -1 => vec![Value::list(all)],
        Err(_) if all.len() > 1 && size.unsigned_abs() >= all.len() as u64 - 1 => Vec::new(),
        Err(_) => return Err(too_large()),
    };
    Ok(Value::List(List::new(&CHUNKS, pieces)))
}

/// The items that are not empty.
///
/// ```tmpl
/// {{ compact (list 1 0 "" "a") }} → [1 a]
/// ```
fn compact(list: &Value) -> Result<Vec<Value>, Fault> {
    Ok(need(list, "Cannot compact on type")?.into_iter().filter(Value::truth).collect())
}

/// All items of several lists in one.
///
/// ```tmpl
/// {{ concat (list 1) (list 2 3) }} → [1 2 3]
/// ```
fn concat(lists: &[Value]) -> Result<Value, Fault> {
    let mut all = Vec::new();
    for list in lists {
        let items = items(list).ok_or_else(|| match list {
            Value::Nil => Fault::new(NIL_POINTER),
            other => Fault::new(format!("Cannot concat type {} as list", other.kind())),
        })?;
        all.extend(items);
    }
    Ok(Value::List(if all.is_empty() { List::nil(&LIST) } else { List::from(all) }))
}

/// The first item, nil when there is none.
///
/// ```tmpl
/// {{ first (list 1 2 3) }} → 1
/// ```
fn first(list: &Value) -> Result<Value, Fault> {
    Ok(need(list, "Cannot find first on type")?.into_iter().next().unwrap_or_default())
}

/// Whether the list (second) has the value (first), of the same type.
///
/// ```tmpl
/// {{ has 2 (list 1 2) }} → true
/// ```
fn has(needle: &Value, list: &Value) -> Result<bool, Fault> {
    if matches!(list, Value::Nil) {
        return Ok(false);
    }
    Ok(need(list, "Cannot find has on type")?.iter().any(|item| deep_equal(needle, item)))
}

/// All items but the last.
///
/// ```tmpl
/// {{ initial (list 1 2 3) }} → [1 2]
/// ```
fn initial(list: &Value) -> Result<Value, Fault> {
    let mut all = need(list, "Cannot find initial on type")?;
    Ok(all.pop().map_or_else(|| Value::List(List::nil(&LIST)), |_| Value::list(all)))
}

/// Joins the items of the list (second) with a separator; nil is left out.
///
/// ```tmpl
/// {{ join "-" (list "a" 1 true) }} → a-1-true
/// ```
fn join(separator: &[u8], list: &Value) -> Result<GoStr, Fault> {
    Ok(GoStr::from(strings(list)?.join(separator)))
}

/// Sprig's `strslice`: anything as a list of strings.
fn strings(value: &Value) -> Result<Vec<GoStr>, Fault> {
    match (items(value), value) {
        (Some(items), _) => items.iter().filter(|item| !matches!(item, Value::Nil)).map(strval).collect(),
        (None, Value::Nil) => Ok(Vec::new()),
        (None, other) => Ok(vec![strval(other)?]),
    }
}

/// The last item, nil when there is none.
///
/// ```tmpl
/// {{ last (list 1 2 3) }} → 3
/// ```
fn last(list: &Value) -> Result<Value, Fault> {
    Ok(need(list, "Cannot find last on type")?.pop().unwrap_or_default())
}

/// A list of the arguments.
///
/// ```tmpl
/// {{ list 1 "a" }} → [1 a]
/// ```
fn list(items: &[Value]) -> Vec<Value> {
    items.to_vec()
}

/// A new list with a value at its front.
///
/// ```tmpl
/// {{ prepend (list 2 3) 1 }} → [1 2 3]
/// ```
fn prepend(list: &Value, value: &Value) -> Result<Vec<Value>, Fault> {
    let mut out = need(list, "Cannot prepend on type")?;
    out.insert(0, value.clone());
    Ok(out)
}

/// All items but the first.
///
/// ```tmpl
/// {{ rest (list 1 2 3) }} → [2 3]
/// ```
fn rest(list: &Value) -> Result<Value, Fault> {
    let all = need(list, "Cannot find rest on type")?;
    Ok(match all.split_first() {
        Some((_, rest)) => Value::list(rest.to_vec()),
        None => Value::List(List::nil(&LIST)),
    })
}

/// The items from last to first.
///
/// ```tmpl
/// {{ reverse (list 1 2 3) }} → [3 2 1]
/// ```
fn reverse(list: &Value) -> Result<Vec<Value>, Fault> {
    let mut all = need(list, "Cannot find reverse on type")?;
    all.reverse();
    Ok(all)
}

/// The items from one index up to another.
///
/// ```tmpl
/// {{ slice (list 1 2 3 4) 1 3 }} → [2 3]
/// ```
fn slice(list: &Value, indices: &[Value]) -> Result<Value, Fault> {
    let all = need(list, "list should be type of slice or array but")?;
    if all.is_empty() {
        return Ok(Value::Nil);
    }
    let start = indices.first().map_or(0, to_int64);
    let end = indices.get(1).map_or_else(|| i64::try_from(all.len()).unwrap_or(i64::MAX), to_int64);
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    let cut = range.and_then(|(start, end)| all.get(start..end));
    let cut = cut.ok_or_else(|| Fault::new("reflect.Value.Slice: slice index out of bounds"))?;
    Ok(match list {
        Value::List(list) => Value::List(List::new(list.ty(), cut.to_vec())),
        _ => Value::Bytes(
            cut.iter()
                .map(|b| b.as_int().map_or(0, |b| u8::try_from(b).unwrap_or(0)))
                .collect::<Vec<u8>>()
                .into(),
        ),
    })
}

/// The items as strings, sorted.
///
/// ```tmpl
/// {{ sortAlpha (list "b" "a" 10 9) }} → [10 9 a b]
/// ```
fn sort_alpha(list: &Value) -> Result<Value, Fault> {
    let mut all = if matches!(list, Value::Nil) { vec![strval(list)?] } else { strings(list)? };
    all.sort();
    Ok(Value::strings(all))
}

/// The parts of the second string between occurrences of the first, as a map `_0`, `_1`, …
///
/// ```tmpl
/// {{ (split "/" "a/b")._1 }} → b
/// ```
fn split(separator: &[u8], text: &[u8]) -> Value {
    numbered(parts(text, separator, -1))
}

/// The parts of the second string between occurrences of the first.
///
/// ```tmpl
/// {{ splitList "/" "a/b" }} → [a b]
/// ```
fn split_list(separator: &[u8], text: &[u8]) -> Value {
    Value::strings(parts(text, separator, -1))
}

/// Like `split`, into at most `n` parts.
///
/// ```tmpl
/// {{ (splitn "/" 2 "a/b/c")._1 }} → b/c
/// ```
fn splitn(separator: &[u8], n: i64, text: &[u8]) -> Value {
    numbered(parts(text, separator, n))
}

fn numbered(parts: Vec<&[u8]>) -> Value {
    Value::string_map(parts.into_iter().enumerate().map(|(i, part)| (format!("_{i}"), part)))
}

/// `strings.SplitN`: all parts when `n` is negative; an empty separator splits into characters.
fn parts<'t>(text: &'t [u8], separator: &[u8], n: i64) -> Vec<&'t [u8]> {
    let limit = usize::try_from(n).unwrap_or(usize::MAX);
    let mut out = Vec::new();
    let mut rest = text;
    while out.len() + 1 < limit {
        let (end, skip) = match (separator.is_empty(), find(rest, separator)) {
            (true, _) => match characters(rest).next() {
                Some(c) if c.len() < rest.len() => (c.len(), 0),
                _ => break,
            },
            (false, Some(at)) => (at, separator.len()),
            (false, None) => break,
        };
        out.push(rest.get(..end).unwrap_or_default());
        rest = rest.get(end + skip..).unwrap_or_default();
    }
    let nothing = limit == 0 || separator.is_empty() && text.is_empty();
    if !nothing {
        out.push(rest);
    }
    out
}

/// The items as strings.
///
/// ```tmpl
/// {{ toStrings (list 1 2) | join "+" }} → 1+2
/// ```
fn to_strings(list: &Value) -> Result<Value, Fault> {
    strings(list).map(Value::strings)
}

/// The items without repetitions.
///
/// ```tmpl
/// {{ uniq (list 1 2 1) }} → [1 2]
/// ```
fn uniq(list: &Value) -> Result<Vec<Value>, Fault> {
    let mut out: Vec<Value> = Vec::new();
    for item in need(list, "Cannot find uniq on type")? {
        if !out.iter().any(|known| deep_equal(known, &item)) {
            out.push(item);
        }
    }
    Ok(out)
}

/// The items without the given values.
///
/// ```tmpl
/// {{ without (list 1 2 3) 2 }} → [1 3]
/// ```
fn without(list: &Value, omitted: &[Value]) -> Result<Vec<Value>, Fault> {
    let all = need(list, "Cannot find without on type")?;
    Ok(all.into_iter().filter(|item| !omitted.iter().any(|omit| deep_equal(omit, item))).collect())
}

/// Go's `reflect.DeepEqual`: same types, same contents.
pub(super) fn deep_equal(a: &Value, b: &Value) -> bool {
    equal(a, b, 0)
}

fn equal(a: &Value, b: &Value, depth: usize) -> bool {
    // A map may hold itself.
    if depth > levels() {
        return true;
    }
    match (a, b) {
        (Value::Nil, Value::Nil) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Int(a), Value::Int(b)) | (Value::Int64(a), Value::Int64(b)) => a == b,
        (Value::Int32(a), Value::Int32(b)) => a == b,
        (Value::Uint8(a), Value::Uint8(b)) => a == b,
        (Value::Uint64(a), Value::Uint64(b)) => a == b,
        (Value::Float(a), Value::Float(b)) => a == b,
        (Value::String(a), Value::String(b)) | (Value::Bytes(a), Value::Bytes(b)) => a == b,
        (Value::List(a), Value::List(b)) => {
            a.ty().name == b.ty().name
                && a.is_nil() == b.is_nil()
                && a.len() == b.len()
                && a.iter().zip(b.iter()).all(|(a, b)| equal(a, b, depth + 1))
        }
        (Value::Map(a), Value::Map(b)) => {
            a.ty().name == b.ty().name
                && a.is_nil() == b.is_nil()
                && a.len() == b.len()
                && a.snapshot().iter().all(|(key, x)| b.get(key).is_some_and(|y| equal(x, &y, depth + 1)))
        }
        (Value::Object(a), Value::Object(b)) => {
            Rc::ptr_eq(a, b)
                || a.type_name() == b.type_name()
                    && a.text() == b.text()
                    && a.fields().len() == b.fields().len()
                    && a.fields().iter().zip(b.fields()).all(|(a, b)| equal(&a.value, &b.value, depth + 1))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::types::STRINGS;

    #[test]
    fn parts_are_those_of_go() {
        let check = |text: &str, separator: &str, n, expected: &[&str]| {
            let found: Vec<_> = parts(text.as_bytes(), separator.as_bytes(), n).into_iter().collect();
            assert_eq!(
                found,
                expected.iter().map(|part| part.as_bytes()).collect::<Vec<_>>(),
                "{text} {separator} {n}"
            );
        };
        check("a,b,c", ",", -1, &["a", "b", "c"]);
        check("a,b,c", ",", 2, &["a", "b,c"]);
        check("a,b,c", ",", 1, &["a,b,c"]);
        check("a,b,c", ",", 0, &[]);
        check("", ",", -1, &[""]);
        check("", "", -1, &[]);
        check("aé", "", -1, &["a", "é"]);
        check("abc", "", 2, &["a", "bc"]);
        check("abc", "", 0, &[]);
    }

    #[test]
    fn numbers_of_different_types_differ() {
        assert!(!deep_equal(&Value::Int(1), &Value::Int64(1)));
        assert!(!deep_equal(&Value::strings(["a"]), &Value::list(vec![Value::str("a")])));
        assert!(!deep_equal(&Value::List(List::nil(&STRINGS)), &Value::strings::<&str>([])));
        assert!(deep_equal(&Value::strings(["a"]), &Value::strings(["a"])));
    }
}
