//! `toYamlPretty`: a Go value as yaml.v3 sees it.

use crate::limits::stack::levels;
use crate::template::funcs::Fault;
use crate::template::object::Object;
use crate::template::value::{GoStr, Value};
use crate::yaml::{self, Tree};

/// Why a value has no YAML.
enum Problem {
    /// Go's encoder answers with an error, which Helm swallows.
    Error,
    /// Go's encoder panics.
    Panic(Fault),
}

pub(super) fn to_yaml_pretty(value: &Value) -> Result<String, Fault> {
    let mut text = match tree(value, 0) {
        Ok(tree) => yaml::from_tree(&tree, 2),
        Err(Problem::Error) => String::new(),
        Err(Problem::Panic(fault)) => return Err(fault),
    };
    if text.ends_with('\n') {
        text.pop();
    }
    Ok(text)
}

fn tree(value: &Value, depth: usize) -> Result<Tree, Problem> {
    if depth > levels() {
        return Err(Problem::Error);
    }
    Ok(match value {
        Value::Nil => plain("null"),
        Value::Bool(b) => plain(b),
        Value::Float(f) => Tree::float(*f),
        Value::Uint64(n) => plain(n),
        Value::String(text) => string(text),
        Value::Bytes(bytes) => Tree::List(bytes.iter().map(plain).collect()),
        Value::List(list) => {
            Tree::List(list.iter().map(|item| tree(item, depth + 1)).collect::<Result<_, _>>()?)
        }
        Value::Map(map) => {
            let entry =
                |(key, value): (GoStr, Value)| Ok((key.lossy().into_owned(), tree(&value, depth + 1)?));
            Tree::Map(map.snapshot().into_iter().map(entry).collect::<Result<_, _>>()?)
        }
        Value::Object(object) if value.kind() != "complex128" => of_object(object.as_ref(), depth)?,
        Value::Func(_) | Value::Object(_) => return Err(panic(value)),
        number => plain(&number.as_int().unwrap_or_default()),
    })
}

fn plain<T: ToString + ?Sized>(text: &T) -> Tree {
    Tree::Plain(text.to_string())
}

fn panic(value: &Value) -> Problem {
    Problem::Panic(Fault::new(format!("cannot marshal type: {}", value.type_name())))
}

/// A string; bytes that are no UTF-8 go into Base64.
fn string(text: &GoStr) -> Tree {
    match std::str::from_utf8(text) {
        Ok(text) => Tree::Text(text.to_owned()),
        Err(_) => {
            let encoded = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, text);
            Tree::Plain(format!("!!binary {encoded}"))
        }
    }
}

fn of_object(object: &dyn Object, depth: usize) -> Result<Tree, Problem> {
    if object.is_nil() {
        return Ok(plain("null"));
    }
    match object.type_name() {
        "time.Time" => return Ok(plain(&written(object)?)),
        "time.Duration" => return Ok(Tree::Text(object.text().unwrap_or_default())),
        "*semver.Version" | "semver.Version" => return Ok(Tree::Text(written(object)?)),
        _ => {}
    }
    if let Some(number) = object.number() {
        return tree(number, depth);
    }
    // Tags for JSON mean nothing here.
    let field = |field: &crate::template::object::Field| {
        Ok((field.name.to_lowercase(), tree(&field.value, depth + 1)?))
    };
    Ok(Tree::Struct(object.fields().iter().map(field).collect::<Result<_, _>>()?))
}

/// The text that a type writes of itself.
fn written(object: &dyn Object) -> Result<String, Problem> {
    object.json_text().and_then(Result::ok).ok_or(Problem::Error)
}
