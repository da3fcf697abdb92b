//! How mergo v1.0.1 (`deepMerge`) merges dictionaries, quirks included.

use super::Fault;
use crate::limits::stack::levels;
use crate::template::types::Type;
use crate::template::value::{Map, Value};

/// What happens to a value that is there and not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overwrite {
    /// It stays.
    Never,
    /// It stays where the other value is a map (mergo v0.3.13).
    ButByMaps,
    /// It goes.
    Always,
}

/// Merges `from` into `into`: missing and empty values are filled, with `overwrite` the others change too.
///
/// Values are shared, not copied: what `into` takes from `from` belongs to both afterwards.
///
/// # Errors
/// A value does not fit the type of `into`, or the maps nest too deeply.
pub(super) fn merge_into(into: &Map, from: &Map, overwrite: Overwrite) -> Result<(), Fault> {
    merge_level(into, from, overwrite, 0)
}

fn merge_level(into: &Map, from: &Map, overwrite: Overwrite, depth: usize) -> Result<(), Fault> {
    // A map may hold itself.
    if depth > levels() {
        return Err(Fault::new("the dictionaries nest too deeply to be merged"));
    }
    for (key, value) in from.snapshot() {
        let own = into.get(&key);
        // A missing key whose value is a typed nil is skipped too, an untyped nil counts as one.
        if matches!(value, Value::Nil) {
            if overwrite != Overwrite::Never {
                fits(into, from)?;
                into.set(key, value);
            }
            continue;
        }
        if let (Value::Map(from), Some(Value::Map(into))) = (&value, &own)
            && !into.is_nil()
        {
            merge_level(into, from, overwrite, depth + 1)?;
        }
        // Looked at again: the merge above may have filled it.
        let kept = own.as_ref().filter(|own| own.truth());
        let replaced = match (&value, kept) {
            (_, None) => true,
            (Value::Map(_), Some(Value::Map(_))) => false,
            (Value::Map(_), _) => overwrite == Overwrite::Always,
            _ => overwrite != Overwrite::Never,
        };
        if replaced {
            fits(into, from)?;
            into.set(key, value);
        }
    }
    Ok(())
}

/// A map of strings takes nothing from a map of anything, even if it is a string.
fn fits(into: &Map, from: &Map) -> Result<(), Fault> {
    let (wanted, found) = (into.ty().elem, from.ty().elem);
    if wanted == Type::Interface || wanted == found {
        return Ok(());
    }
    Err(Fault::new(format!(
        "reflect.Value.SetMapIndex: value of type {found} is not assignable to type {wanted}"
    )))
}
