//! The shape of objects: which fields exist, which lists are sets or keyed, what merges and what is one value.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

mod openapi;
mod table;

pub use openapi::custom_resource;

/// A scalar's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// A string.
    String,
    /// Base64 of bytes.
    Bytes,
    /// A boolean.
    Bool,
    /// A 32-bit integer.
    Int32,
    /// A 64-bit integer.
    Int64,
    /// Any number.
    Number,
    /// A point in time.
    Time,
    /// A quantity such as `500m` or `1Gi`.
    Quantity,
    /// Any scalar: integers or strings.
    Untyped,
}

/// What identifies an element of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// Nothing: the list is one value.
    Atomic,
    /// The element itself.
    Set,
    /// Some of its fields.
    Keyed(Vec<String>),
}

/// A list.
#[derive(Clone, Debug, PartialEq)]
pub struct List {
    /// Type of the elements.
    pub item: Type,
    /// How elements are told apart by server-side apply.
    pub kind: ListKind,
    /// Whether a strategic merge patch merges it, and by which field (empty for scalars).
    pub merge: Option<String>,
}

/// A map with free keys.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// Type of the values.
    pub value: Type,
    /// Whether it is one value.
    pub atomic: bool,
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its type.
    pub of: Type,
    /// Its default, where a list's key depends on it.
    pub default: Option<serde_json::Value>,
    /// Whether a strategic merge patch drops what `$retainKeys` does not name.
    pub retain_keys: bool,
    /// What becomes of its empty value when an object is decoded and encoded again.
    pub empty: Empty,
}

/// What becomes of a field's empty value (zero, empty text, list, map or struct).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Empty {
    /// It is left out.
    LeftOut,
    /// It stays as it was given.
    Kept,
    /// It is there even when it was not given.
    Shown,
}

/// A struct.
#[derive(Clone, Debug, PartialEq)]
pub struct Struct {
    /// Its name among the built-ins; empty elsewhere.
    pub name: String,
    /// Declared fields.
    pub fields: BTreeMap<String, Field>,
    /// Type of undeclared fields, if they may exist.
    pub rest: Option<Type>,
    /// Whether it is one value.
    pub atomic: bool,
}

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// One value without parts.
    Scalar(Scalar),
    /// A list.
    List(Arc<List>),
    /// A map.
    Map(Arc<Map>),
    /// A struct.
    Struct(Arc<Struct>),
    /// A built-in struct by its place in the table; see [`Type::resolve`].
    Builtin(usize),
    /// Unknown: lists in it are one value, objects merge field by field.
    Any,
}

static ANY: Type = Type::Any;

impl Type {
    /// The type with references to built-ins followed.
    #[must_use]
    pub fn resolve(&self) -> &Self {
        match self {
            Self::Builtin(at) => builtins().types.get(*at).unwrap_or(&ANY),
            other => other,
        }
    }

    /// The type of a member of an object; `None` when the type does not declare it.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&Self> {
        match self.resolve() {
            Self::Struct(of) => of.fields.get(name).map(|f| &f.of).or(of.rest.as_ref()),
            Self::Map(of) => Some(&of.value),
            Self::Any => Some(&ANY),
            _ => None,
        }
    }

    /// Whether the field is declared by name.
    #[must_use]
    pub fn declares(&self, name: &str) -> bool {
        matches!(self.resolve(), Self::Struct(of) if of.fields.contains_key(name))
    }

    /// The type of a list's elements.
    #[must_use]
    pub fn item(&self) -> &Self {
        match self.resolve() {
            Self::List(of) => &of.item,
            _ => &ANY,
        }
    }

    /// Whether values of this type have no parts that are owned on their own.
    #[must_use]
    pub fn is_atomic(&self) -> bool {
        match self.resolve() {
            Self::Scalar(_) => true,
            Self::List(of) => of.kind == ListKind::Atomic,
            Self::Map(of) => of.atomic,
            Self::Struct(of) => of.atomic,
            Self::Builtin(_) | Self::Any => false,
        }
    }
}

fn builtins() -> &'static table::Table {
    static TABLE: OnceLock<table::Table> = OnceLock::new();
    TABLE.get_or_init(|| table::Table::read(include_str!("builtin.types")))
}

/// The type of a built-in kind.
#[must_use]
pub fn builtin(api_version: &str, kind: &str) -> Option<Type> {
    builtins().kind(api_version, kind).map(Type::Builtin)
}

/// The type of `metadata`.
#[must_use]
pub fn object_meta() -> Type {
    builtins().named("meta.v1.ObjectMeta").map_or(Type::Any, Type::Builtin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_resolves() {
        assert_eq!(builtins().faults, Vec::<String>::new());
        assert!(builtins().types.len() > 400);
    }

    #[test]
    fn deployments_have_their_shape() {
        let deployment = builtin("apps/v1", "Deployment").unwrap();
        let spec = deployment.member("spec").unwrap();
        assert!(spec.member("selector").unwrap().is_atomic());
        assert!(!spec.declares("nonsense"));
        let containers =
            spec.member("template").unwrap().member("spec").unwrap().member("containers").unwrap();
        let Type::List(list) = containers.resolve() else { panic!("{containers:?}") };
        assert_eq!(list.kind, ListKind::Keyed(vec!["name".to_owned()]));
        let Type::List(ports) = containers.item().member("ports").unwrap().resolve() else { panic!() };
        assert_eq!(ports.kind, ListKind::Keyed(vec!["containerPort".to_owned(), "protocol".to_owned()]));
        assert_eq!(ports.merge.as_deref(), Some("containerPort"));
        let Type::Struct(port) = ports.item.resolve() else { panic!() };
        assert_eq!(port.fields["protocol"].default, Some(serde_json::json!("TCP")));
    }

    #[test]
    fn every_served_kind_has_a_shape() {
        for kind in crate::k8s::catalogue::BUILTINS {
            let virtuals = ["Binding", "ComponentStatus"];
            for version in kind.served(34).filter(|_| !virtuals.contains(&kind.kind)) {
                let of = if kind.group.is_empty() {
                    version.to_owned()
                } else {
                    format!("{}/{version}", kind.group)
                };
                assert!(builtin(&of, kind.kind).is_some(), "{of} {}", kind.kind);
            }
        }
    }
}
