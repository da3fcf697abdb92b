//! Questions about Go's types.

use super::Func;
use super::lists::deep_equal as deeply_equal;
use crate::func;
use crate::template::value::Value;

/// Rows of this family, sorted by name.
pub(super) static FUNCS: &[Func] = &[
    func!("deepEqual", deep_equal),
    func!("kindIs", kind_is),
    func!("kindOf", kind_of),
    func!("typeIs", type_is),
    func!("typeIsLike", type_is_like),
    func!("typeOf", type_of),
];

/// Whether two values have the same type and the same contents.
///
/// ```tmpl
/// {{ deepEqual (list 1 2) (list 1 2) }} → true
/// {{ deepEqual 1 (int64 1) }} → false
/// ```
fn deep_equal(a: &Value, b: &Value) -> bool {
    deeply_equal(a, b)
}

/// Whether the second argument is of the kind named by the first.
///
/// ```tmpl
/// {{ kindIs "slice" (list 1) }} → true
/// ```
fn kind_is(kind: &str, value: &Value) -> bool {
    value.kind() == kind
}

/// The kind of a value: `string`, `int`, `float64`, `bool`, `map`, `slice`, `invalid` for nil, …
///
/// ```tmpl
/// {{ kindOf (dict) }} → map
/// ```
fn kind_of(value: &Value) -> &'static str {
    value.kind()
}

/// Whether the second argument is of the type named by the first.
///
/// ```tmpl
/// {{ typeIs "int" 1 }} → true
/// ```
fn type_is(name: &str, value: &Value) -> bool {
    value.type_name() == name
}

/// Whether the second argument is of the type named by the first, or a pointer to it.
///
/// ```tmpl
/// {{ typeIsLike "string" "a" }} → true
/// ```
fn type_is_like(name: &str, value: &Value) -> bool {
    let own = value.type_name();
    own == name || own.strip_prefix('*') == Some(name)
}

/// The type of a value as Go writes it.
///
/// ```tmpl
/// {{ typeOf (list) }} → []interface {}
/// ```
fn type_of(value: &Value) -> &'static str {
    value.type_name()
}
