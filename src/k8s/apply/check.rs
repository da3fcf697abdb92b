//! Whether a value fits its type: what a server-side apply refuses before anything else.

use std::collections::BTreeSet;

use serde_json::Value;

use super::element::Element;
use crate::k8s::types::{List, ListKind, Scalar, Type};

/// The faults of a value, each as `path: what`, in the server's words.
#[must_use]
pub fn check(of: &Type, value: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    walk(of, value, "", &mut faults);
    faults
}

fn walk(of: &Type, value: &Value, path: &str, faults: &mut Vec<String>) {
    let mut fault = |what: String| {
        faults.push(if path.is_empty() { what } else { format!("{path}: {what}") });
    };
    match (of.resolve(), value) {
        (_, Value::Null) | (Type::Any | Type::Builtin(_), _) => {}
        (Type::Scalar(scalar), value) => {
            if let Some(what) = scalar_fault(*scalar, value) {
                fault(what);
            }
        }
        (Type::List(list), Value::Array(items)) => elements(list, items, path, faults),
        (Type::List(_), other) => fault(format!("expected list, got {}", go(other))),
        (Type::Map(map), Value::Object(object)) => {
            for (name, child) in object {
                walk(&map.value, child, &format!("{path}.{name}"), faults);
            }
        }
        (Type::Struct(of), Value::Object(object)) => {
            for (name, child) in object {
                let path = format!("{path}.{name}");
                match of.fields.get(name).map(|f| &f.of).or(of.rest.as_ref()) {
                    Some(of) => walk(of, child, &path, faults),
                    None => {
                        faults.push(format!("{path}: field not declared in schema"));
                        return;
                    }
                }
            }
        }
        (Type::Map(_) | Type::Struct(_), other) => fault(format!("expected map, got {}", go(other))),
    }
}

fn elements(list: &List, items: &[Value], path: &str, faults: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for (at, item) in items.iter().enumerate() {
        let element =
            if list.kind == ListKind::Atomic { Ok(Element::Index(at)) } else { Element::of(list, item) };
        match element {
            Ok(element) => {
                walk(&list.item, item, &format!("{path}{element}"), faults);
                if seen.contains(&element) {
                    faults.push(format!("{path}: duplicate entries for key {element}"));
                }
                seen.insert(element);
            }
            Err(why) => {
                faults.push(format!("{path}: element {at}: {why}"));
                return;
            }
        }
    }
}

fn scalar_fault(scalar: Scalar, value: &Value) -> Option<String> {
    let fits = match scalar {
        Scalar::String | Scalar::Bytes => value.is_string(),
        Scalar::Bool => value.is_boolean(),
        Scalar::Int32 | Scalar::Int64 | Scalar::Number => value.is_number(),
        Scalar::Time | Scalar::Quantity | Scalar::Untyped => !value.is_object() && !value.is_array(),
    };
    let expected = || match scalar {
        Scalar::String | Scalar::Bytes => format!("expected string, got {}", quoted(value)),
        Scalar::Bool => format!("expected boolean, got {}", go(value)),
        Scalar::Int32 | Scalar::Int64 | Scalar::Number => {
            format!("expected numeric (int or float), got {}", go_type(value))
        }
        Scalar::Time | Scalar::Quantity | Scalar::Untyped => {
            format!("expected any scalar, got {}", go(value))
        }
    };
    (!fits).then(expected)
}

/// A value behind the server's wrapper, as Go's `%#v` prints it.
fn quoted(value: &Value) -> String {
    match value {
        Value::String(text) => format!("&value.valueUnstructured{{Value:{text:?}}}"),
        Value::Bool(_) => format!("&value.valueUnstructured{{Value:{value}}}"),
        Value::Number(number) if number.is_f64() => format!("&value.valueUnstructured{{Value:{number}}}"),
        Value::Number(number) => format!("&value.valueUnstructured{{Value:{number}}}"),
        other => format!("&value.valueUnstructured{{Value:{}}}", go(other)),
    }
}

/// A value as Go's `%v` prints it behind the server's wrapper.
fn go(value: &Value) -> String {
    format!("&{{{}}}", plain(value))
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "<nil>".to_owned(),
        Value::Array(items) => format!("[{}]", items.iter().map(plain).collect::<Vec<_>>().join(" ")),
        Value::Object(object) => {
            let members: Vec<String> = object.iter().map(|(k, v)| format!("{k}:{}", plain(v))).collect();
            format!("map[{}]", members.join(" "))
        }
        other => other.to_string(),
    }
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "string",
        Value::Bool(_) => "bool",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
        Value::Null | Value::Number(_) => "<nil>",
    }
}
