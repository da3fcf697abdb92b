//! Go's static types, as far as templates, Sprig and Helm meet them.

use std::fmt;

use super::object::Method;

/// A Go type; `Display` writes it as `%T` does.
#[derive(Clone, Copy, Debug)]
pub enum Type {
    /// `interface {}`
    Interface,
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `int32`
    Int32,
    /// `int64`
    Int64,
    /// `uint8`
    Uint8,
    /// `uint64`
    Uint64,
    /// `float64`
    Float64,
    /// `string`
    String,
    /// `[]uint8`
    Bytes,
    /// A slice other than `[]byte`.
    Slice(&'static SliceType),
    /// A map with string keys.
    Map(&'static MapType),
    /// A struct, a pointer or a named type, by its full name.
    Object(&'static str),
    /// A function.
    Func,
    /// `reflect.Value`: the argument as it stands, for Go's own functions.
    Reflect,
    /// Results that templates can't take, with Go's words for it: such a method is there, but can't be called.
    Uncallable(&'static str),
}

/// A slice type: its name, what it holds and the methods of a named one.
#[derive(Debug)]
pub struct SliceType {
    /// As `%T` prints it, e.g. `[]interface {}` or `common.VersionSet`.
    pub name: &'static str,
    /// Static type of the elements.
    pub elem: Type,
    /// Methods of a named type.
    pub methods: &'static [Method],
}

/// A map type with string keys: its name, what it holds and the methods of a named one.
#[derive(Debug)]
pub struct MapType {
    /// As `%T` prints it, e.g. `map[string]interface {}` or `common.Values`.
    pub name: &'static str,
    /// Static type of the elements.
    pub elem: Type,
    /// Methods of a named type.
    pub methods: &'static [Method],
}

/// `[]interface {}`
pub static LIST: SliceType = SliceType { name: "[]interface {}", elem: Type::Interface, methods: &[] };
/// `[]string`
pub static STRINGS: SliceType = SliceType { name: "[]string", elem: Type::String, methods: &[] };
/// `[]int`
pub static INTS: SliceType = SliceType { name: "[]int", elem: Type::Int, methods: &[] };
/// `map[string]interface {}`
pub static DICT: MapType = MapType { name: "map[string]interface {}", elem: Type::Interface, methods: &[] };
/// `map[string]string`
pub static STRING_MAP: MapType = MapType { name: "map[string]string", elem: Type::String, methods: &[] };

impl Type {
    /// The type's name as `%T` prints it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Interface => "interface {}",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Uint8 => "uint8",
            Self::Uint64 => "uint64",
            Self::Float64 => "float64",
            Self::String => "string",
            Self::Bytes => "[]uint8",
            Self::Slice(ty) => ty.name,
            Self::Map(ty) => ty.name,
            Self::Object(name) => name,
            Self::Func => "func()",
            Self::Reflect => "reflect.Value",
            Self::Uncallable(why) => why,
        }
    }

    /// The name of the type's `reflect.Kind`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Interface => "interface",
            Self::Bytes | Self::Slice(_) => "slice",
            Self::Map(_) => "map",
            Self::Object("complex128") => "complex128",
            Self::Object(name) if name.starts_with('*') => "ptr",
            Self::Object(_) | Self::Reflect => "struct",
            Self::Func => "func",
            simple => simple.name(),
        }
    }

    /// Whether nil is a value of this type.
    pub fn can_be_nil(&self) -> bool {
        match self {
            Self::Interface | Self::Bytes | Self::Slice(_) | Self::Map(_) | Self::Func | Self::Reflect => {
                true
            }
            Self::Object(name) => name.starts_with('*'),
            _ => false,
        }
    }
}

impl PartialEq for Type {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Type {}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
