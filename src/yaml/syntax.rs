//! Values in Go's own syntax, `fmt`'s `%#v`, which messages of go-yaml show.

use super::number;
use super::resolve::Scalar;
use crate::go::quote;

/// Longest text a message shows; Go would print all of it.
const LONGEST: usize = 64 << 10;

/// A scalar on its own.
pub(super) fn of_scalar(scalar: &Scalar<'_>) -> String {
    match scalar {
        Scalar::Null => "<nil>".to_owned(),
        Scalar::Bool(b) => b.to_string(),
        Scalar::Int(i) => i.to_string(),
        Scalar::Uint(u) => format!("{u:#x}"),
        Scalar::Float(f) if f.is_nan() => "NaN".to_owned(),
        Scalar::Float(f) if f.is_infinite() => if *f > 0.0 { "+Inf" } else { "-Inf" }.to_owned(),
        Scalar::Float(f) => number::format_general(*f),
        Scalar::Text(text) | Scalar::Timestamp(text) => quote(text),
    }
}

/// A value as messages show it, everything below it included.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shown {
    Nil,
    /// The rank of its type among keys, and the text.
    Scalar(u8, Place, String),
    List(Vec<Self>),
    Mapping(Vec<(Self, Self)>),
}

/// Where a scalar stands among those of its type.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Text(String),
    Number(i128),
    /// A float by the order of its bits.
    Float(i64),
}

impl Shown {
    pub(super) fn of_text(text: &str) -> Self {
        Self::Scalar(0, Place::Text(text.to_owned()), quote(text))
    }

    /// Go orders keys of several types by the types' addresses, which are these in Helm's programs.
    pub(super) fn of_scalar(scalar: &Scalar<'_>) -> Self {
        let (rank, place) = match scalar {
            Scalar::Null => return Self::Nil,
            Scalar::Text(text) | Scalar::Timestamp(text) => return Self::of_text(text),
            Scalar::Uint(u) => (1, Place::Number(i128::from(*u))),
            Scalar::Int(i) => (2, Place::Number(i128::from(*i))),
            Scalar::Float(f) if f.is_nan() => (3, Place::Float(i64::MIN)),
            Scalar::Float(f) => (3, Place::Float(order_of(*f))),
            Scalar::Bool(b) => (4, Place::Number(i128::from(*b))),
        };
        Self::Scalar(rank, place, of_scalar(scalar))
    }

    /// Go prints maps in the order of their keys.
    pub(super) fn of_map(mut entries: Vec<(Self, Self)>) -> Self {
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        Self::Mapping(entries)
    }

    /// The text of a value that stands for itself.
    pub(super) fn alone(&self) -> String {
        let mut out = String::new();
        match self {
            Self::Nil => out.push_str("<nil>"),
            shown => shown.write(&mut out, 0),
        }
        out
    }

    fn write(&self, out: &mut String, depth: usize) {
        if out.len() >= LONGEST || depth >= 100 {
            out.push('…');
            return;
        }
        match self {
            Self::Nil => out.push_str("interface {}(nil)"),
            Self::Scalar(_, _, text) => out.push_str(text),
            Self::List(items) => {
                out.push_str("[]interface {}{");
                for (nth, item) in items.iter().enumerate() {
                    out.push_str(if nth > 0 { ", " } else { "" });
                    item.write(out, depth + 1);
                }
                out.push('}');
            }
            Self::Mapping(entries) => {
                out.push_str("map[interface {}]interface {}{");
                for (nth, (key, value)) in entries.iter().enumerate() {
                    out.push_str(if nth > 0 { ", " } else { "" });
                    key.write(out, depth + 1);
                    out.push(':');
                    value.write(out, depth + 1);
                }
                out.push('}');
            }
        }
    }
}

/// Floats in the order of numbers.
const fn order_of(float: f64) -> i64 {
    let bits = float.to_bits().cast_signed();
    if bits < 0 { i64::MIN ^ !bits } else { bits }
}
