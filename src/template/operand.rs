//! A value with the little of its static type that Go's rules for nil need.

use super::types::Type;
use super::value::Value;

/// What an expression evaluates to: a `reflect.Value`.
#[derive(Clone, Debug, Default)]
pub struct Operand {
    /// The value.
    pub value: Value,
    /// Whether the static type is `interface{}`: a nil of it is a value that has no fields, while an operand of no
    /// type that is nil is no value at all and passes for an empty map.
    pub interface: bool,
}

impl Operand {
    /// A value of a concrete type; nil is no value.
    pub(crate) fn concrete(value: Value) -> Self {
        Self { value, interface: false }
    }

    /// A value whose static type is known, e.g. an element of a map.
    pub(crate) fn typed(value: Value, ty: &Type) -> Self {
        Self { value, interface: *ty == Type::Interface }
    }

    /// Whether it is no value at all (the zero `reflect.Value`).
    pub(crate) fn is_invalid(&self) -> bool {
        !self.interface && matches!(self.value, Value::Nil)
    }

    /// The static type's name.
    pub(crate) fn type_name(&self) -> &'static str {
        if self.interface { Type::Interface.name() } else { self.value.type_name() }
    }
}
