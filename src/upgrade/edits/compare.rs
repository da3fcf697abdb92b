//! Where a live object differs from what the server makes of its manifest, field by field as the type of the object has
//! them.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::is_bookkeeping;
use super::path::{Part, Path};
use crate::k8s::quantity;
use crate::k8s::types::{List, ListKind, Scalar, Type};
use crate::upgrade::actors::helm::same;

/// One field that differs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Difference {
    /// Where it is.
    pub(super) path: Path,
    /// What the manifest makes of it.
    pub(super) chart: Option<Value>,
    /// What it is in the cluster.
    pub(super) live: Option<Value>,
}

/// Which parts of objects are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parts {
    /// Labels, annotations and whatever is no metadata and no status.
    All,
    /// Labels and annotations.
    Tags,
}

/// Members of objects that nobody edits.
const APART: &[&str] = &["apiVersion", "kind", "metadata", "status"];

/// Everything in which a live object differs.
pub(super) fn differences(of: &Type, chart: &Value, live: &Value, parts: Parts) -> Vec<Difference> {
    let mut found = Vec::new();
    let metadata = Path::default().member("metadata");
    for part in ["labels", "annotations"] {
        let [chart, live] = [chart, live].map(|object| object.get("metadata").and_then(|all| all.get(part)));
        let tags = Type::Any;
        walk(&tags, chart, live, &metadata.member(part), &mut found);
    }
    found.retain(|one| !one.path.ends_with(is_bookkeeping));
    let none = Map::new();
    let [chart, live] = [chart, live].map(|object| object.as_object().unwrap_or(&none));
    let keys = keys(chart, live).into_iter().filter(|key| !APART.contains(key));
    for key in keys.filter(|_| parts == Parts::All) {
        let member = of.member(key).unwrap_or(&Type::Any);
        walk(member, chart.get(key), live.get(key), &Path::default().member(key), &mut found);
    }
    found
}

fn keys<'v>(a: &'v Map<String, Value>, b: &'v Map<String, Value>) -> BTreeSet<&'v str> {
    a.keys().chain(b.keys()).map(String::as_str).collect()
}

fn walk(of: &Type, chart: Option<&Value>, live: Option<&Value>, path: &Path, found: &mut Vec<Difference>) {
    match (chart, live) {
        (Some(Value::Object(_)) | None, Some(Value::Object(new))) if !of.is_atomic() => {
            walk_maps(of, chart.and_then(Value::as_object), new, path, found);
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) => walk_lists(of, old, new, path, found),
        (Some(old), Some(new)) if alike(of, old, new) => {}
        // Nothing and what is empty are one.
        (old, new) if old.is_none_or(is_empty) && new.is_none_or(is_empty) => {}
        (old, new) => {
            found.push(Difference { path: path.clone(), chart: old.cloned(), live: new.cloned() });
        }
    }
}

fn walk_maps(
    of: &Type,
    chart: Option<&Map<String, Value>>,
    live: &Map<String, Value>,
    path: &Path,
    found: &mut Vec<Difference>,
) {
    let none = Map::new();
    let chart = chart.unwrap_or(&none);
    for key in keys(chart, live) {
        let member = of.member(key).unwrap_or(&Type::Any);
        walk(member, chart.get(key), live.get(key), &path.member(key), found);
    }
}

fn walk_lists(of: &Type, chart: &[Value], live: &[Value], path: &Path, found: &mut Vec<Difference>) {
    let identities = || Some((identities(of, chart)?, identities(of, live)?));
    let Some((old, new)) = identities() else {
        let equal = chart.len() == live.len() && chart.iter().zip(live).all(|(a, b)| alike(of.item(), a, b));
        if !equal {
            let whole = |list: &[Value]| Some(Value::Array(list.to_vec()));
            found.push(Difference { path: path.clone(), chart: whole(chart), live: whole(live) });
        }
        return;
    };
    let all = old.iter().chain(new.iter().filter(|part| !old.contains(part)));
    for part in all {
        walk_items(of.item(), part.among(chart), part.among(live), &path.then(part.clone()), found);
    }
}

/// An item that comes or goes is one difference.
fn walk_items(
    of: &Type,
    chart: Option<&Value>,
    live: Option<&Value>,
    path: &Path,
    found: &mut Vec<Difference>,
) {
    match (chart, live) {
        (None, Some(_)) | (Some(_), None) => {
            found.push(Difference { path: path.clone(), chart: chart.cloned(), live: live.cloned() });
        }
        _ => walk(of, chart, live, path, found),
    }
}

/// What tells the items of a list apart; `None` where nothing does.
fn identities(of: &Type, items: &[Value]) -> Option<Vec<Part>> {
    let (keys, defaults) = match of.resolve() {
        Type::List(list) => identifying(list)?,
        _ => (vec!["name".to_owned()], vec![None]),
    };
    let part = |item: &Value| {
        let value = |(key, default): (&String, &Option<Value>)| {
            Some((key.clone(), item.get(key).or(default.as_ref())?.clone()))
        };
        let of: Option<Vec<(String, Value)>> = keys.iter().zip(&defaults).map(value).collect();
        Some(Part::Item(of?, defaults.clone()))
    };
    let parts: Vec<Part> = items.iter().map(part).collect::<Option<_>>()?;
    let distinct = parts.iter().enumerate().all(|(at, part)| !parts[..at].contains(part));
    distinct.then_some(parts)
}

/// The keys of a list's items with their defaults, as apply or else strategic patches know them.
fn identifying(list: &List) -> Option<(Vec<String>, Vec<Option<Value>>)> {
    let keys = match (&list.kind, &list.merge) {
        (ListKind::Keyed(keys), _) => keys.clone(),
        (_, Some(key)) if !key.is_empty() => vec![key.clone()],
        _ => return None,
    };
    let default = |key: &String| match list.item.resolve() {
        Type::Struct(of) => of.fields.get(key).and_then(|field| field.default.clone()),
        _ => None,
    };
    let defaults = keys.iter().map(default).collect();
    Some((keys, defaults))
}

/// Whether two values are one: quantities are by what they say, numbers by their value.
fn alike(of: &Type, a: &Value, b: &Value) -> bool {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match of.resolve() {
        Type::Scalar(Scalar::Quantity) => match [a, b].map(|value| quantity::canonical(&text(value))) {
            [Ok(a), Ok(b)] => a == b,
            _ => a == b,
        },
        _ => same(a, b),
    }
}

/// Whether a value says nothing.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

/// Whether a value still says all that another says.
pub(super) fn covers(value: &Value, of: &Value) -> bool {
    match (value, of) {
        (Value::Object(value), Value::Object(of)) => {
            of.iter().all(|(key, of)| is_empty(of) || value.get(key).is_some_and(|value| covers(value, of)))
        }
        _ => same(value, of),
    }
}
