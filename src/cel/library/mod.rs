//! The Kubernetes libraries, one file each.

pub(super) mod formats;
pub(super) mod lists;
pub(super) mod network;
pub(super) mod quantity;
pub(super) mod semver;
pub(super) mod sets;

use std::sync::Arc;

use ::cel::Value;
use ::cel::objects::Opaque;

/// The string in an argument.
fn text(value: Option<&Value>) -> Result<&str, String> {
    match value {
        Some(Value::String(text)) => Ok(text),
        _ => Err("no such overload".to_owned()),
    }
}

/// The list in an argument.
fn list(value: Option<&Value>) -> Result<&[Value], String> {
    match value {
        Some(Value::List(list)) => Ok(list),
        _ => Err("no such overload".to_owned()),
    }
}

/// One of our own values in an argument.
fn opaque<T: std::any::Any>(value: Option<&Value>) -> Result<&T, String> {
    match value {
        Some(Value::Opaque(opaque)) => {
            opaque.downcast_ref::<T>().ok_or_else(|| "no such overload".to_owned())
        }
        _ => Err("no such overload".to_owned()),
    }
}

fn wrap(value: impl Opaque) -> Value {
    Value::Opaque(Arc::new(value))
}

fn string(text: impl Into<String>) -> Value {
    Value::String(Arc::new(text.into()))
}
