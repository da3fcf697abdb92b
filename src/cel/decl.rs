//! Types of values as the checker knows them, with the sizes that cost estimates go by.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Largest request that the server takes, in bytes: what bounds everything without a bound of its own.
pub const MAX_REQUEST: u64 = 3 << 20;

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub enum Decl {
    /// Not known, or several at once.
    Dyn {
        /// Largest size, in bytes.
        max: u64,
    },
    /// `null`.
    Null,
    /// A boolean.
    Bool,
    /// An integer.
    Int,
    /// An unsigned integer.
    Uint,
    /// A float.
    Double,
    /// A string.
    Text {
        /// Longest length, in bytes.
        max: u64,
    },
    /// Bytes.
    Bytes {
        /// Longest length.
        max: u64,
    },
    /// A duration.
    Duration,
    /// A point in time.
    Timestamp,
    /// A type as a value.
    Type,
    /// A list.
    List {
        /// Type of the items.
        item: Arc<Decl>,
        /// Largest number of items.
        max: u64,
    },
    /// A map with string keys, or of unknown members.
    Map {
        /// Type of the values.
        value: Arc<Decl>,
        /// Largest number of members.
        max: u64,
    },
    /// An object with declared fields, by their names in CEL.
    Object(Arc<BTreeMap<String, Decl>>),
    /// A value of one of the Kubernetes libraries.
    Opaque(&'static str),
    /// A value that may be missing.
    Optional(Arc<Decl>),
}

impl Decl {
    /// A type that nothing is known of.
    pub const ANY: Self = Self::Dyn { max: u64::MAX };

    /// The name in cel-go's messages.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Dyn { .. } => "dyn".to_owned(),
            Self::Null => "null".to_owned(),
            Self::Bool => "bool".to_owned(),
            Self::Int => "int".to_owned(),
            Self::Uint => "uint".to_owned(),
            Self::Double => "double".to_owned(),
            Self::Text { .. } => "string".to_owned(),
            Self::Bytes { .. } => "bytes".to_owned(),
            Self::Duration => "google.protobuf.Duration".to_owned(),
            Self::Timestamp => "google.protobuf.Timestamp".to_owned(),
            Self::Type => "type".to_owned(),
            Self::List { item, .. } => format!("list({})", item.name()),
            Self::Map { value, .. } => format!("map(string, {})", value.name()),
            Self::Object(_) => "object".to_owned(),
            Self::Opaque(name) => (*name).to_owned(),
            Self::Optional(held) => format!("optional_type({})", held.name()),
        }
    }

    /// Whether nothing certain is known.
    #[must_use]
    pub fn is_dyn(&self) -> bool {
        matches!(self, Self::Dyn { .. })
    }

    /// Largest size as cost estimates count it: bytes, items, members; one for scalars.
    #[must_use]
    pub fn size(&self) -> u64 {
        match self {
            Self::Dyn { max }
            | Self::Text { max }
            | Self::Bytes { max }
            | Self::List { max, .. }
            | Self::Map { max, .. } => *max,
            Self::Duration | Self::Timestamp => 32,
            _ => 1,
        }
    }

    /// Whether equality looks at the size.
    pub(super) fn is_sized(&self) -> bool {
        matches!(
            self,
            Self::Dyn { .. } | Self::Text { .. } | Self::Bytes { .. } | Self::List { .. } | Self::Map { .. }
        )
    }

    /// Whether values of two types can be compared for equality at all; doubts count as yes.
    pub(super) fn comparable(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Dyn { .. } | Self::Null, _)
            | (_, Self::Dyn { .. } | Self::Null)
            | (Self::Map { .. }, Self::Object(_))
            | (Self::Object(_), Self::Map { .. }) => true,
            (Self::List { item: a, .. }, Self::List { item: b, .. })
            | (Self::Map { value: a, .. }, Self::Map { value: b, .. })
            | (Self::Optional(a), Self::Optional(b)) => a.comparable(b),
            (Self::Opaque(a), Self::Opaque(b)) => a == b,
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        }
    }

    /// The type that covers two branches.
    pub(super) fn join(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Text { max: a }, Self::Text { max: b }) => Self::Text { max: *a.max(b) },
            (a, b) if a == b => a.clone(),
            (Self::List { item: a, max: x }, Self::List { item: b, max: y }) => {
                Self::List { item: Arc::new(a.join(b)), max: *x.max(y) }
            }
            (a, b) => Self::Dyn { max: a.size().max(b.size()) },
        }
    }
}
