//! One step of a field path: a field, a key of a list's element, a value of a set, an index.

use std::cmp::Ordering;
use std::fmt;

use serde_json::{Map, Value};

use crate::k8s::types::{List, ListKind, Type};

/// A scalar as part of a path, ordered as the server orders them: numbers, strings, booleans, the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key(Value);

impl Key {
    /// The scalar itself.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.0
    }

    fn rank(&self) -> u8 {
        match &self.0 {
            Value::Number(_) => 0,
            Value::String(_) => 1,
            Value::Bool(_) => 2,
            _ => 3,
        }
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Value::Number(a), Value::Number(b)) => match (a.as_i64(), b.as_i64()) {
                (Some(a), Some(b)) => a.cmp(&b),
                _ => a.as_f64().unwrap_or(0.0).total_cmp(&b.as_f64().unwrap_or(0.0)),
            },
            (Value::String(a), Value::String(b)) => a.cmp(b),
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<&Value> for Key {
    fn from(value: &Value) -> Self {
        Self(value.clone())
    }
}

/// One step of a field path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Element {
    /// A member of an object.
    Field(String),
    /// An element of a keyed list, by its key fields in the order of their names.
    Keyed(Vec<(String, Key)>),
    /// An element of a set.
    Value(Key),
    /// An element by position.
    Index(usize),
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Keyed(keys) => {
                let keys: Vec<String> = keys.iter().map(|(name, key)| format!("{name}={}", key.0)).collect();
                write!(f, "[{}]", keys.join(","))
            }
            Self::Value(key) => write!(f, "[={}]", key.0),
            Self::Index(at) => write!(f, "[{at}]"),
        }
    }
}

impl Element {
    /// The element of a set or keyed list that a value is.
    ///
    /// # Errors
    /// A value that can't be told apart from others, in the server's words.
    pub fn of(list: &List, child: &Value) -> Result<Self, String> {
        match &list.kind {
            ListKind::Keyed(keys) => keyed(list, keys, child),
            ListKind::Set => match child {
                Value::Object(_) => {
                    Err("associative list without keys has an element that's a map type".to_owned())
                }
                Value::Array(_) => Err("not supported: associative list with lists as elements".to_owned()),
                Value::Null => {
                    Err("associative list without keys has an element that's an explicit null".to_owned())
                }
                scalar => Ok(Self::Value(scalar.into())),
            },
            ListKind::Atomic => Err("invalid indexing of non-associative list".to_owned()),
        }
    }

    /// The form in `fieldsV1`, e.g. `f:spec`, `k:{"name":"a"}`.
    #[must_use]
    pub fn encode(&self) -> String {
        match self {
            Self::Field(name) => format!("f:{name}"),
            Self::Keyed(keys) => {
                let object: Map<String, Value> = keys.iter().map(|(n, k)| (n.clone(), k.0.clone())).collect();
                format!("k:{}", Value::Object(object))
            }
            Self::Value(key) => format!("v:{}", key.0),
            Self::Index(at) => format!("i:{at}"),
        }
    }

    /// Reads the form in `fieldsV1`; `None` for a form that later versions may add.
    #[must_use]
    pub fn decode(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_at_checked(2)?;
        match kind {
            "f:" => Some(Self::Field(rest.to_owned())),
            "v:" => Some(Self::Value(Key(serde_json::from_str(rest).ok()?))),
            "i:" => rest.parse().ok().map(Self::Index),
            "k:" => {
                let object: Map<String, Value> = serde_json::from_str(rest).ok()?;
                let mut keys: Vec<(String, Key)> = object.into_iter().map(|(n, v)| (n, Key(v))).collect();
                keys.sort();
                Some(Self::Keyed(keys))
            }
            _ => None,
        }
    }
}

fn keyed(list: &List, keys: &[String], child: &Value) -> Result<Element, String> {
    let Value::Object(child) = child else {
        let what = if child.is_null() { "a null element" } else { "non-map elements" };
        return Err(format!("associative list with keys may not have {what}"));
    };
    let mut found: Vec<(String, Key)> = Vec::with_capacity(keys.len());
    for key in keys {
        if let Some(value) = child.get(key).or_else(|| default(&list.item, key)) {
            found.push((key.clone(), value.into()));
        }
    }
    if found.is_empty() {
        let quoted: Vec<String> = keys.iter().map(|k| format!("{k:?}")).collect();
        return Err(format!(
            "associative list with keys has an element that omits all key fields [{}] (and doesn't have default values for any key fields)",
            quoted.join(" ")
        ));
    }
    found.sort();
    Ok(Element::Keyed(found))
}

fn default<'t>(item: &'t Type, key: &str) -> Option<&'t Value> {
    match item.resolve() {
        Type::Struct(of) => of.fields.get(key)?.default.as_ref(),
        _ => None,
    }
}
