//! The functions that Kubernetes adds to CEL, as one table for the interpreter and the checker.
//!
//! As `k8s.io/apiserver` 1.34 `pkg/cel/library`.

use ::cel::common::types::{self, Type};
use ::cel::common::value::{CowVal, Val};
use ::cel::{DeclarationError, Env, ExecutionError, Value};

use crate::cel::library::{formats, lists, network, quantity, semver, sets};

/// What a function takes or gives, as far as overloads are told apart by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Anything.
    Dyn,
    /// A boolean.
    Bool,
    /// An integer.
    Int,
    /// A float.
    Double,
    /// A string.
    Text,
    /// A list.
    List,
    /// A map.
    Map,
    /// An optional.
    Optional,
    /// One of the values that Kubernetes adds, by its name.
    Opaque(&'static str),
}

impl Shape {
    fn to_type(self) -> Type {
        match self {
            Self::Dyn => types::DYN_TYPE,
            Self::Bool => types::BOOL_TYPE,
            Self::Int => types::INT_TYPE,
            Self::Double => types::DOUBLE_TYPE,
            Self::Text => types::STRING_TYPE,
            Self::List => types::LIST_TYPE,
            Self::Map => types::MAP_TYPE,
            Self::Optional => types::OPTIONAL_TYPE,
            Self::Opaque(name) => Type::new_opaque_type(name),
        }
    }
}

type Native = for<'b, 'v> fn(Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError>;

/// One overload.
pub(super) struct Overload {
    /// Name, with its namespace.
    pub(super) name: &'static str,
    /// Whether the first argument stands before the dot.
    pub(super) member: bool,
    /// Argument types, the receiver first.
    pub(super) takes: &'static [Shape],
    /// Result type.
    pub(super) gives: Shape,
    /// The implementation.
    pub(super) run: Native,
}

/// Declares an overload that is implemented on plain values.
macro_rules! overload {
    (member $name:literal ($($takes:expr),*) -> $gives:expr, $run:path) => {
        $crate::cel::functions::Overload {
            name: $name, member: true, takes: &[$($takes),*], gives: $gives,
            run: |args| $crate::cel::functions::call($run, &args),
        }
    };
    ($name:literal ($($takes:expr),*) -> $gives:expr, $run:path) => {
        $crate::cel::functions::Overload {
            name: $name, member: false, takes: &[$($takes),*], gives: $gives,
            run: |args| $crate::cel::functions::call($run, &args),
        }
    };
}
pub(super) use overload;

/// Every overload, by library.
pub(super) fn all() -> impl Iterator<Item = &'static Overload> {
    [
        lists::OVERLOADS,
        sets::OVERLOADS,
        quantity::OVERLOADS,
        network::OVERLOADS,
        semver::OVERLOADS,
        formats::OVERLOADS,
    ]
    .into_iter()
    .flatten()
}

/// Adds every overload to an environment.
pub(super) fn register(env: &mut Env) -> Result<(), DeclarationError> {
    for overload in all() {
        let shown: Vec<String> = overload.takes.iter().map(|shape| format!("{shape:?}")).collect();
        let id = format!("kubernetes.{}({})", overload.name, shown.join(","));
        let mut takes: Vec<Type> = overload.takes.iter().map(|shape| shape.to_type()).collect();
        if overload.member && !takes.is_empty() {
            let receiver = takes.remove(0);
            env.add_member_overload(overload.name, &id, receiver, takes, overload.run)?;
        } else {
            env.add_overload(overload.name, &id, takes, overload.run)?;
        }
    }
    Ok(())
}

/// Runs an implementation on plain values.
pub(super) fn call<'b, 'v>(
    run: fn(&[Value]) -> Result<Value, String>,
    args: &[CowVal<'b, 'v>],
) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let values: Result<Vec<Value>, _> = args.iter().map(|arg| Value::try_from(&**arg)).collect();
    let result = run(&values?).map_err(|why| ExecutionError::function_error("", why))?;
    let result: Box<dyn Val> = result.try_into()?;
    Ok(CowVal::Owned(result))
}
