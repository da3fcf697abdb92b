//! Choices between values, and the refusal of all.

use super::{Fault, Func};
use crate::func;
use crate::template::value::Value;

/// Rows of this family, sorted by name.
pub(super) static FUNCS: &[Func] = &[
    func!("all", all),
    func!("any", any),
    func!("coalesce", coalesce),
    func!("default", default),
    func!("empty", empty),
    func!("fail", fail),
    func!("ternary", ternary),
];

/// Whether no argument is empty.
///
/// ```tmpl
/// {{ all 1 "a" true }} → true
/// ```
fn all(values: &[Value]) -> bool {
    values.iter().all(Value::truth)
}

/// Whether some argument is not empty.
///
/// ```tmpl
/// {{ any 0 "" 1 }} → true
/// ```
fn any(values: &[Value]) -> bool {
    values.iter().any(Value::truth)
}

/// The first argument that is not empty, else nil.
///
/// ```tmpl
/// {{ coalesce 0 "" "a" }} → a
/// ```
fn coalesce(values: &[Value]) -> Value {
    values.iter().find(|value| value.truth()).cloned().unwrap_or_default()
}

/// The second argument, or the first when the second is empty.
///
/// ```tmpl
/// {{ "" | default "none" }} → none
/// ```
fn default(default: &Value, given: &[Value]) -> Value {
    given.first().filter(|value| value.truth()).unwrap_or(default).clone()
}

/// Whether a value is nil, zero, false or without contents.
///
/// ```tmpl
/// {{ empty 0 }} → true
/// ```
fn empty(value: &Value) -> bool {
    !value.truth()
}

/// Fails with the given words.
///
/// ```tmpl
/// {{ if false }}{{ fail "never" }}{{ end }}ok → ok
/// ```
fn fail(message: &str) -> Result<&'static str, Fault> {
    Err(Fault::new(message))
}

/// The first value if the third argument is true, else the second.
///
/// ```tmpl
/// {{ ternary "yes" "no" true }} → yes
/// ```
fn ternary(yes: &Value, no: &Value, choice: bool) -> Value {
    if choice { yes.clone() } else { no.clone() }
}
