//! What operators and functions give, and what they cost.

use std::sync::Arc;

use ::cel::common::ast::LiteralValue;

use crate::cel::decl::Decl;
use crate::cel::functions::{self, Shape};

/// The accumulator after all turns.
pub(super) fn grown(before: &Decl, step: &Decl, turns: u64) -> Decl {
    match (before, step) {
        (Decl::List { .. }, Decl::List { item, .. }) => Decl::List { item: item.clone(), max: turns },
        (before, Decl::Dyn { .. }) => before.clone(),
        (_, step) => step.clone(),
    }
}

pub(super) fn literal(value: &LiteralValue) -> Decl {
    match value {
        LiteralValue::Boolean(_) => Decl::Bool,
        LiteralValue::Bytes(bytes) => Decl::Bytes { max: bytes.inner().len() as u64 },
        LiteralValue::Double(_) => Decl::Double,
        LiteralValue::Int(_) => Decl::Int,
        LiteralValue::Null => Decl::Null,
        LiteralValue::String(text) => Decl::Text { max: text.inner().chars().count() as u64 },
        LiteralValue::UInt(_) => Decl::Uint,
    }
}

pub(super) fn item_of(decl: &Decl) -> Decl {
    match decl {
        Decl::List { item: held, .. } | Decl::Map { value: held, .. } => (**held).clone(),
        _ => Decl::ANY,
    }
}

/// A tenth, rounded up: what walking a string costs.
pub(super) fn tenth(size: u64) -> u64 {
    size.div_ceil(10)
}

pub(super) fn equality(a: &Decl, b: &Decl) -> u64 {
    if a.is_sized() || b.is_sized() { tenth(a.size().min(b.size())).max(1) } else { 1 }
}

pub(super) fn ordered(a: &Decl, b: &Decl) -> bool {
    let numeric = |decl: &Decl| matches!(decl, Decl::Int | Decl::Uint | Decl::Double);
    let sorted = |decl: &Decl| {
        matches!(decl, Decl::Bool | Decl::Text { .. } | Decl::Bytes { .. } | Decl::Duration | Decl::Timestamp)
    };
    a.is_dyn()
        || b.is_dyn()
        || (numeric(a) && numeric(b))
        || (sorted(a) && std::mem::discriminant(a) == std::mem::discriminant(b))
}

pub(super) fn sum(a: &Decl, b: &Decl) -> Option<Decl> {
    Some(match (a, b) {
        (Decl::Text { max: a }, Decl::Text { max: b }) => Decl::Text { max: a.saturating_add(*b) },
        (Decl::Bytes { max: a }, Decl::Bytes { max: b }) => Decl::Bytes { max: a.saturating_add(*b) },
        (Decl::List { item: a, max: x }, Decl::List { item: b, max: y }) => {
            let item = if a.is_dyn() { b.clone() } else { Arc::new(a.join(b)) };
            Decl::List { item, max: x.saturating_add(*y) }
        }
        (Decl::Timestamp, Decl::Duration) | (Decl::Duration, Decl::Timestamp) => Decl::Timestamp,
        (Decl::Int | Decl::Uint | Decl::Double | Decl::Duration, b) if a == b => a.clone(),
        (a, b) if a.is_dyn() => Decl::Dyn { max: a.size().saturating_add(b.size()) },
        (a, b) if b.is_dyn() => Decl::Dyn { max: a.size().saturating_add(b.size()) },
        _ => return None,
    })
}

/// Result type and own cost of a function on its arguments, the receiver first.
pub(super) fn function(name: &str, args: &[&Decl]) -> (Decl, u64) {
    let size = |i: usize| args.get(i).map_or(u64::MAX, |decl| decl.size());
    let own = tenth(size(0));
    match name {
        "startsWith" | "endsWith" => (Decl::Bool, tenth(size(1))),
        "contains" => (Decl::Bool, own.saturating_mul(tenth(size(1)))),
        "matches" => (Decl::Bool, tenth(size(0).saturating_add(1)).saturating_mul(size(1).div_ceil(4))),
        "find" => (
            Decl::Text { max: size(0) },
            tenth(size(0).saturating_add(1)).saturating_mul(size(1).div_ceil(4)),
        ),
        "findAll" => {
            let item = Arc::new(Decl::Text { max: size(0) });
            let cost = tenth(size(0).saturating_add(1)).saturating_mul(size(1).div_ceil(4));
            (Decl::List { item, max: size(0) }, cost)
        }
        "lowerAscii" | "upperAscii" | "substring" | "trim" => (Decl::Text { max: size(0) }, own),
        "charAt" => (Decl::Text { max: 4 }, 1),
        "replace" => {
            let longest = size(0).saturating_mul(size(2).max(1));
            (Decl::Text { max: longest }, own)
        }
        "split" => (Decl::List { item: Arc::new(Decl::Text { max: size(0) }), max: size(0) }, own),
        "join" => {
            let item = args.first().map_or(Decl::ANY, |list| item_of(list));
            let separator = args.get(1).map_or(0, |decl| decl.size());
            let max = size(0).saturating_mul(item.size().saturating_add(separator));
            (Decl::Text { max }, tenth(max))
        }
        "format" | "quote" | "strings.quote" => (Decl::Text { max: u64::MAX }, own),
        "string" => {
            let max = match args.first() {
                Some(Decl::Text { max } | Decl::Bytes { max }) => *max,
                _ => u64::MAX,
            };
            (Decl::Text { max }, if max == u64::MAX { tenth(max) } else { own.max(1) })
        }
        "size" | "int" | "getFullYear" | "getMonth" | "getDate" | "getDayOfMonth" | "getDayOfWeek"
        | "getDayOfYear" | "getHours" | "getMinutes" | "getSeconds" | "getMilliseconds" => (Decl::Int, 1),
        "uint" => (Decl::Uint, 1),
        "double" => (Decl::Double, 1),
        "bool" | "hasValue" => (Decl::Bool, 1),
        "bytes" => (Decl::Bytes { max: size(0) }, 1),
        "duration" => (Decl::Duration, 1),
        "timestamp" => (Decl::Timestamp, 1),
        "type" => (Decl::Type, 1),
        "isSorted" | "sum" | "min" | "max" | "indexOf" | "lastIndexOf" => list_function(name, args),
        _ => library_function(name, size(0)),
    }
}

pub(super) fn list_function(name: &str, args: &[&Decl]) -> (Decl, u64) {
    let receiver = args.first().copied().unwrap_or(&Decl::ANY);
    let item = item_of(receiver);
    let each = match &item {
        Decl::Text { max } | Decl::Bytes { max } => tenth(*max).saturating_add(1),
        _ => 1,
    };
    let cost = match receiver {
        Decl::List { max, .. } => max.saturating_mul(each),
        other => tenth(other.size()),
    };
    let decl = match name {
        "isSorted" => Decl::Bool,
        "indexOf" | "lastIndexOf" => Decl::Int,
        _ => item,
    };
    (decl, cost)
}

pub(super) fn library_function(name: &str, size: u64) -> (Decl, u64) {
    let parses = matches!(
        name,
        "quantity" | "isQuantity" | "url" | "ip" | "isIP" | "cidr" | "isCIDR" | "semver" | "isSemver"
    );
    let gives = functions::all().find(|overload| overload.name == name).map(|overload| overload.gives);
    let decl = match gives {
        Some(Shape::Bool) => Decl::Bool,
        Some(Shape::Int) => Decl::Int,
        Some(Shape::Double) => Decl::Double,
        Some(Shape::Text) => Decl::Text { max: size },
        Some(Shape::List) => Decl::List { item: Arc::new(Decl::ANY), max: size },
        Some(Shape::Map) => Decl::Map { value: Arc::new(Decl::ANY), max: size },
        Some(Shape::Opaque(name)) => Decl::Opaque(name),
        Some(Shape::Optional) => Decl::Optional(Arc::new(Decl::ANY)),
        Some(Shape::Dyn) | None => Decl::ANY,
    };
    (decl, if parses { tenth(size).max(1) } else { 1 })
}
