//! The functions of `text/template` itself (`funcs.go`).

use super::{Fault, compare};
use crate::go::{decode, is_print};
use crate::template::operand::Operand;
use crate::template::printf::{sprint, sprintf, sprintln};
use crate::template::value::{GoStr, List, Value};

/// How a built-in function is called.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// Takes its arguments evaluated.
    Plain(fn(&[Operand]) -> Result<Value, Fault>),
    /// `and`, `or`: stops at the first argument whose truth is this.
    ShortCircuit(bool),
    /// `call`
    Call,
}

/// A function of Go's own; its parameters are `reflect.Value`s or `interface{}`s.
#[derive(Debug)]
pub struct Builtin {
    /// The name templates use.
    pub name: &'static str,
    /// Number of parameters that must be given.
    pub fixed: usize,
    /// Whether more may follow.
    pub variadic: bool,
    /// Whether the first parameter is a string.
    pub format: bool,
    /// What it does.
    pub body: Body,
}

const fn builtin(name: &'static str, fixed: usize, variadic: bool, body: Body) -> Builtin {
    Builtin { name, fixed, variadic, format: false, body }
}

/// All of them, sorted by name.
pub static BUILTINS: &[Builtin] = &[
    builtin("and", 1, true, Body::ShortCircuit(false)),
    builtin("call", 1, true, Body::Call),
    builtin("eq", 1, true, Body::Plain(compare::eq)),
    builtin("ge", 2, false, Body::Plain(compare::ge)),
    builtin("gt", 2, false, Body::Plain(compare::gt)),
    builtin("html", 0, true, Body::Plain(html)),
    builtin("index", 1, true, Body::Plain(index)),
    builtin("js", 0, true, Body::Plain(js)),
    builtin("le", 2, false, Body::Plain(compare::le)),
    builtin("len", 1, false, Body::Plain(len)),
    builtin("lt", 2, false, Body::Plain(compare::lt)),
    builtin("ne", 2, false, Body::Plain(compare::ne)),
    builtin("not", 1, false, Body::Plain(not)),
    builtin("or", 1, true, Body::ShortCircuit(true)),
    builtin("print", 0, true, Body::Plain(print)),
    Builtin { format: true, ..builtin("printf", 1, true, Body::Plain(printf)) },
    builtin("println", 0, true, Body::Plain(println)),
    builtin("slice", 1, true, Body::Plain(slice)),
    builtin("urlquery", 0, true, Body::Plain(urlquery)),
];

/// Finds one by name.
pub fn find(name: &str) -> Option<&'static Builtin> {
    BUILTINS.binary_search_by_key(&name, |builtin| builtin.name).ok().and_then(|at| BUILTINS.get(at))
}

fn not(arguments: &[Operand]) -> Result<Value, Fault> {
    Ok(Value::Bool(!arguments.first().is_some_and(|operand| operand.value.truth())))
}

fn values(arguments: &[Operand]) -> Vec<Value> {
    arguments.iter().map(|operand| operand.value.clone()).collect()
}

fn print(arguments: &[Operand]) -> Result<Value, Fault> {
    sprint(&values(arguments)).map(Value::str)
}

fn println(arguments: &[Operand]) -> Result<Value, Fault> {
    sprintln(&values(arguments)).map(Value::str)
}

fn printf(arguments: &[Operand]) -> Result<Value, Fault> {
    let Some((format, rest)) = arguments.split_first() else { return Ok(Value::str("")) };
    sprintf(format.value.as_str().map_or(&[], GoStr::as_bytes), &values(rest)).map(Value::str)
}

fn len(arguments: &[Operand]) -> Result<Value, Fault> {
    let Some(operand) = arguments.first() else { return Ok(Value::Int(0)) };
    let length = match &operand.value {
        Value::Nil if operand.interface => return Err(Fault::new("len of nil pointer")),
        Value::Nil => return Err(Fault::new("reflect: call of reflect.Value.Type on zero Value")),
        Value::Object(object) if object.is_nil() => return Err(Fault::new("len of nil pointer")),
        Value::String(text) | Value::Bytes(text) => text.len(),
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        other => return Err(Fault::new(format!("len of type {}", pointed(other)))),
    };
    Ok(Value::Int(to_int(length)))
}

fn to_int(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// The type behind a pointer.
fn pointed(value: &Value) -> &'static str {
    let name = value.type_name();
    name.strip_prefix('*').unwrap_or(name)
}

fn index(arguments: &[Operand]) -> Result<Value, Fault> {
    let Some((item, indexes)) = arguments.split_first() else { return Ok(Value::Nil) };
    if matches!(item.value, Value::Nil) {
        return Err(Fault::new("index of untyped nil"));
    }
    indexes.iter().try_fold(item.value.clone(), |item, index| element(&item, &index.value))
}

fn element(item: &Value, index: &Value) -> Result<Value, Fault> {
    match item {
        Value::Nil => Err(Fault::new("index of nil pointer")),
        Value::Object(object) if object.is_nil() => Err(Fault::new("index of nil pointer")),
        Value::String(text) | Value::Bytes(text) => {
            let at = position(index, text.len())?;
            let kind = if matches!(item, Value::String(_)) { "string" } else { "slice" };
            text.get(at).map(|&byte| Value::Uint8(byte)).ok_or_else(|| outside(kind))
        }
        Value::List(list) => list.get(position(index, list.len())?).cloned().ok_or_else(|| outside("slice")),
        Value::Map(map) => match index {
            Value::String(key) => Ok(map.get(key).unwrap_or_else(|| Value::zero(&map.ty().elem))),
            Value::Nil => Err(Fault::new("value is nil; should be of type string")),
            other => Err(Fault::new(format!("value has type {}; should be string", other.type_name()))),
        },
        other => Err(Fault::new(format!("can't index item of type {}", pointed(other)))),
    }
}

fn outside(kind: &str) -> Fault {
    Fault::new(format!("reflect: {kind} index out of range"))
}

fn position(index: &Value, bound: usize) -> Result<usize, Fault> {
    let number = match index {
        Value::Nil => return Err(Fault::new("cannot index slice/array with nil")),
        Value::Uint64(n) => n.cast_signed(),
        other => match other.integer() {
            Some(number) => number,
            None => {
                return Err(Fault::new(format!("cannot index slice/array with type {}", other.type_name())));
            }
        },
    };
    usize::try_from(number)
        .ok()
        .filter(|&at| at <= bound)
        .ok_or_else(|| Fault::new(format!("index out of range: {number}")))
}

fn slice(arguments: &[Operand]) -> Result<Value, Fault> {
    let Some((item, indexes)) = arguments.split_first() else { return Ok(Value::Nil) };
    let length = match &item.value {
        Value::Nil => return Err(Fault::new("slice of untyped nil")),
        Value::Object(object) if object.is_nil() => return Err(Fault::new("slice of nil pointer")),
        _ if indexes.len() > 3 => {
            return Err(Fault::new(format!("too many slice indexes: {}", indexes.len())));
        }
        Value::String(_) if indexes.len() == 3 => return Err(Fault::new("cannot 3-index slice a string")),
        Value::String(text) | Value::Bytes(text) => text.len(),
        Value::List(list) => list.len(),
        other => return Err(Fault::new(format!("can't slice item of type {}", pointed(other)))),
    };
    let bounds = indexes.iter().map(|index| bound(index, length)).collect::<Result<Vec<_>, _>>()?;
    let from = bounds.first().copied().unwrap_or(0);
    let to = bounds.get(1).copied().unwrap_or(length);
    ordered(from, to)?;
    if let Some(&capacity) = bounds.get(2) {
        ordered(to, capacity)?;
    }
    Ok(part(&item.value, from, to))
}

/// Unlike `index`, `slice` does not look into an interface, even when a number is inside.
fn bound(index: &Operand, length: usize) -> Result<usize, Fault> {
    if index.interface {
        return Err(Fault::new("cannot index slice/array with type interface {}"));
    }
    position(&index.value, length)
}

fn ordered(from: usize, to: usize) -> Result<(), Fault> {
    if from > to { Err(Fault::new(format!("invalid slice index: {from} > {to}"))) } else { Ok(()) }
}

fn part(item: &Value, from: usize, to: usize) -> Value {
    match item {
        Value::String(text) => Value::str(text.get(from..to).unwrap_or(&[])),
        Value::Bytes(bytes) => Value::Bytes(GoStr::from(bytes.get(from..to).unwrap_or(&[]))),
        Value::List(list) => Value::List(List::new(list.ty(), list.get(from..to).unwrap_or(&[]).to_vec())),
        _ => Value::Nil,
    }
}

/// The text of the arguments as the escapers see it.
fn text(arguments: &[Operand]) -> Result<Vec<u8>, Fault> {
    if let [Operand { value: Value::String(text), .. }] = arguments {
        return Ok(text.to_vec());
    }
    let printable = |operand: &Operand| match &operand.value {
        Value::Nil => Value::str("<no value>"),
        other => other.clone(),
    };
    sprint(&arguments.iter().map(printable).collect::<Vec<_>>())
}

fn html(arguments: &[Operand]) -> Result<Value, Fault> {
    let text = text(arguments)?;
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            0 => out.extend_from_slice("\u{fffd}".as_bytes()),
            b'"' => out.extend_from_slice(b"&#34;"),
            b'\'' => out.extend_from_slice(b"&#39;"),
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            _ => out.push(byte),
        }
    }
    Ok(Value::str(out))
}

fn js(arguments: &[Operand]) -> Result<Value, Fault> {
    let text = text(arguments)?;
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_slice();
    while let Some((rune, width)) = decode(rest) {
        match rune {
            '\\' | '\'' | '"' => out.extend([b'\\', rest.first().copied().unwrap_or(b'\\')]),
            '<' | '>' | '&' | '=' | '\0'..' ' => {
                out.extend_from_slice(format!("\\u{:04X}", u32::from(rune)).as_bytes());
            }
            _ if rune.is_ascii() || is_print(rune) => {
                out.extend_from_slice(rest.get(..width).unwrap_or(rest));
            }
            _ => out.extend_from_slice(format!("\\u{:04X}", u32::from(rune)).as_bytes()),
        }
        rest = rest.get(width..).unwrap_or(&[]);
    }
    Ok(Value::str(out))
}

fn urlquery(arguments: &[Operand]) -> Result<Value, Fault> {
    let text = text(arguments)?;
    let mut out = String::with_capacity(text.len());
    for byte in text {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    Ok(Value::str(out))
}
