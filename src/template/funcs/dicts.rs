//! Functions on dictionaries; those that change one change it for everybody who holds it.

use super::cast::strval;
use super::merge::{Overwrite, merge_into};
use super::{Fault, Func, Param, Strings};
use crate::func;
use crate::limits::stack::levels;
use crate::template::types::{DICT, Type};
use crate::template::value::{Entries, GoStr, List, Map, Value};

/// Rows of this family, sorted by name.
pub(super) static FUNCS: &[Func] = &[
    func!("deepCopy", deep_copy),
    func!("dict", dict),
    func!("dig", dig),
    func!("get", get),
    func!("hasKey", has_key),
    func!("keys", keys),
    func!("merge", merge),
    func!("mergeOverwrite", merge_overwrite),
    func!("mustDeepCopy", deep_copy),
    func!("mustMerge", must_merge),
    func!("mustMergeOverwrite", must_merge_overwrite),
    func!("omit", omit),
    func!("pick", pick),
    func!("pluck", pluck),
    func!("set", set),
    func!("unset", unset),
    func!("values", values),
];

/// The arguments of a variadic `...map[string]interface{}`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Maps<'a>(&'a [Value]);

impl<'a> Maps<'a> {
    fn iter(self) -> impl Iterator<Item = &'a Map> {
        self.0.iter().filter_map(Value::as_map)
    }
}

impl Param for Maps<'_> {
    const TYPE: Type = Type::Map(&DICT);
    const VARIADIC: bool = true;
    type Arg<'a> = Maps<'a>;

    fn take<'a>(arguments: &mut &'a [Value]) -> Maps<'a> {
        Maps(std::mem::take(arguments))
    }
}

/// A copy that shares nothing with the original.
///
/// ```tmpl
/// {{ $a := dict "k" 1 }}{{ $b := deepCopy $a }}{{ $_ := set $b "k" 2 }}{{ $a.k }} → 1
/// ```
fn deep_copy(value: &Value) -> Result<Value, Fault> {
    if matches!(value, Value::Nil) {
        return Err(Fault::new("reflect: call of reflect.Value.Type on zero Value"));
    }
    copied(value, 0)
}

fn copied(value: &Value, depth: usize) -> Result<Value, Fault> {
    // A map may hold itself.
    if depth > levels() {
        return Err(Fault::new("deepCopy error: the value nests too deeply"));
    }
    Ok(match value {
        Value::List(list) if !list.is_nil() => {
            let items = list.iter().map(|item| copied(item, depth + 1)).collect::<Result<_, _>>()?;
            Value::List(List::new(list.ty(), items))
        }
        Value::Map(map) if !map.is_nil() => {
            let entries =
                map.snapshot().into_iter().map(|(key, value)| Ok((key, copied(&value, depth + 1)?)));
            Value::Map(Map::new(map.ty(), entries.collect::<Result<Entries, Fault>>()?))
        }
        Value::Object(object) => object.copy().unwrap_or_else(|| value.clone()),
        other => other.clone(),
    })
}

/// A dictionary of keys and values; a key without value gets an empty string.
///
/// ```tmpl
/// {{ dict "a" 1 "b" 2 }} → map[a:1 b:2]
/// ```
fn dict(pairs: &[Value]) -> Result<Map, Fault> {
    let dict = Map::dict();
    for pair in pairs.chunks(2) {
        if let Some(key) = pair.first() {
            dict.set(strval(key)?, pair.get(1).cloned().unwrap_or_else(|| Value::str("")));
        }
    }
    Ok(dict)
}

/// The value down a path of keys of the last argument, or the default before it.
///
/// ```tmpl
/// {{ dict "a" (dict "b" 1) | dig "a" "b" 0 }} → 1
/// {{ dict | dig "a" "b" "none" }} → none
/// ```
fn dig(arguments: &[Value]) -> Result<Value, Fault> {
    let [keys @ .., default, dict] = arguments else { return Err(Fault::new(TOO_FEW)) };
    if keys.is_empty() {
        return Err(Fault::new(TOO_FEW));
    }
    let mut here = plain_dict(dict)?;
    let keys = keys.iter().map(|key| key.as_str().ok_or_else(|| not_a("string", key)));
    let keys = keys.collect::<Result<Vec<_>, _>>()?;
    for (i, key) in keys.iter().enumerate() {
        let Some(step) = here.get(key) else { return Ok(default.clone()) };
        if i + 1 == keys.len() {
            return Ok(step);
        }
        here = plain_dict(&step)?;
    }
    Ok(default.clone())
}

const TOO_FEW: &str = "dig needs at least three arguments";

/// A `map[string]interface {}` proper; Go's assertion takes no named type for it.
fn plain_dict(value: &Value) -> Result<Map, Fault> {
    let plain = value.as_map().filter(|map| map.ty().name == DICT.name);
    plain.cloned().ok_or_else(|| not_a(DICT.name, value))
}

fn not_a(wanted: &str, value: &Value) -> Fault {
    let found = value.ty().map_or("nil", |ty| ty.name());
    Fault::new(format!("interface conversion: interface {{}} is {found}, not {wanted}"))
}

/// The value of a key, or an empty string.
///
/// ```tmpl
/// {{ get (dict "a" 1) "a" }} → 1
/// ```
fn get(dict: &Map, key: &[u8]) -> Value {
    dict.get(key).unwrap_or_else(|| Value::str(""))
}

/// Whether the key is there.
///
/// ```tmpl
/// {{ hasKey (dict "a" nil) "a" }} → true
/// ```
fn has_key(dict: &Map, key: &[u8]) -> bool {
    dict.contains(key)
}

/// The keys of all dictionaries. Go gives them in random order, here they are sorted.
///
/// ```tmpl
/// {{ keys (dict "b" 1 "a" 2) | sortAlpha }} → [a b]
/// ```
fn keys(dicts: Maps<'_>) -> Value {
    Value::strings(dicts.iter().flat_map(|dict| dict.entries().keys().cloned().collect::<Vec<_>>()))
}

/// Fills what is missing or empty in the first dictionary from the others.
///
/// ```tmpl
/// {{ merge (dict "a" 1) (dict "a" 2 "b" 3) }} → map[a:1 b:3]
/// ```
fn merge(into: &Map, from: Maps<'_>) -> Result<Value, Fault> {
    merged(into, from, Overwrite::Never)
}

/// Like `merge`, but later dictionaries win.
///
/// ```tmpl
/// {{ mergeOverwrite (dict "a" 1) (dict "a" 2 "b" 3) }} → map[a:2 b:3]
/// ```
fn merge_overwrite(into: &Map, from: Maps<'_>) -> Result<Value, Fault> {
    merged(into, from, Overwrite::Always)
}

/// As `merge`.
///
/// ```tmpl
/// {{ mustMerge (dict "a" (dict "x" 1)) (dict "a" (dict "y" 2)) }} → map[a:map[x:1 y:2]]
/// ```
fn must_merge(into: &Map, from: Maps<'_>) -> Result<Value, Fault> {
    merged(into, from, Overwrite::Never)
}

/// As `mergeOverwrite`.
///
/// ```tmpl
/// {{ mustMergeOverwrite (dict "a" 1) (dict "a" 2) }} → map[a:2]
/// ```
fn must_merge_overwrite(into: &Map, from: Maps<'_>) -> Result<Value, Fault> {
    merged(into, from, Overwrite::Always)
}

/// What Sprig 3.2.3 had otherwise.
pub(super) static FUNCS_3_2: &[Func] =
    &[func!("mergeOverwrite", overwrite_3_2), func!("mustMergeOverwrite", overwrite_3_2)];

fn overwrite_3_2(into: &Map, from: Maps<'_>) -> Result<Value, Fault> {
    merged(into, from, Overwrite::ButByMaps)
}

fn merged(into: &Map, from: Maps<'_>, overwrite: Overwrite) -> Result<Value, Fault> {
    let mut into = into.clone();
    for from in from.iter() {
        if into.is_nil() && !from.is_nil() {
            into = Map::dict();
        }
        merge_into(&into, from, overwrite)?;
    }
    Ok(Value::Map(into))
}

/// A new dictionary without the given keys.
///
/// ```tmpl
/// {{ omit (dict "a" 1 "b" 2) "a" }} → map[b:2]
/// ```
fn omit(dict: &Map, keys: Strings<'_>) -> Map {
    let omitted = |key: &GoStr| keys.iter().any(|omitted| *key == *omitted);
    Map::from(dict.snapshot().into_iter().filter(|(key, _)| !omitted(key)).collect::<Entries>())
}

/// A new dictionary with the given keys only.
///
/// ```tmpl
/// {{ pick (dict "a" 1 "b" 2) "a" "c" }} → map[a:1]
/// ```
fn pick(dict: &Map, keys: Strings<'_>) -> Map {
    keys.iter().filter_map(|key| dict.get(key).map(|value| (key, value))).collect()
}

/// The values of one key in several dictionaries.
///
/// ```tmpl
/// {{ pluck "a" (dict "a" 1) (dict "b" 2) (dict "a" 3) }} → [1 3]
/// ```
fn pluck(key: &[u8], dicts: Maps<'_>) -> Vec<Value> {
    dicts.iter().filter_map(|dict| dict.get(key)).collect()
}

/// Sets a key, changing the dictionary, and gives it back.
///
/// ```tmpl
/// {{ set (dict "a" 1) "b" 2 }} → map[a:1 b:2]
/// ```
fn set(dict: &Map, key: &[u8], value: &Value) -> Result<Map, Fault> {
    if dict.is_nil() {
        return Err(Fault::new("assignment to entry in nil map"));
    }
    dict.set(key, value.clone());
    Ok(dict.clone())
}

/// Removes a key, changing the dictionary, and gives it back.
///
/// ```tmpl
/// {{ unset (dict "a" 1 "b" 2) "a" }} → map[b:2]
/// ```
fn unset(dict: &Map, key: &[u8]) -> Map {
    dict.remove(key);
    dict.clone()
}

/// The values of a dictionary. Go gives them in random order, here they are in the order of their keys.
///
/// ```tmpl
/// {{ values (dict "a" 1) }} → [1]
/// ```
fn values(dict: &Map) -> Vec<Value> {
    dict.entries().values().cloned().collect()
}
