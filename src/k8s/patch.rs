//! JSON merge patch (RFC 7396) and JSON patch (RFC 6902) as the API server applies them.

use serde_json::{Map, Value};

/// Applies a JSON merge patch: nulls delete, objects merge, everything else replaces.
pub fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(target) = target else { return };
    for (key, value) in patch {
        if value.is_null() {
            target.remove(key);
        } else {
            merge(target.entry(key).or_insert(Value::Null), value);
        }
    }
}

/// Applies a JSON patch. As in the library the server uses, a replace of a missing member succeeds and a path
/// may lack its leading slash.
///
/// # Errors
/// The first operation that fails, by position and reason (the server itself shows none of it).
pub fn json(target: &mut Value, patch: &Value) -> Result<(), String> {
    let operations = patch.as_array().ok_or("not an array")?;
    for (at, operation) in operations.iter().enumerate() {
        apply_one(target, operation).map_err(|e| format!("operation {at}: {e}"))?;
    }
    Ok(())
}

fn apply_one(target: &mut Value, operation: &Value) -> Result<(), String> {
    let path = path_of(operation, "path")?;
    let value = || operation.get("value").cloned().unwrap_or(Value::Null);
    match operation.get("op").and_then(Value::as_str).unwrap_or("") {
        "add" => add(target, &path, value()),
        "replace" => replace(target, &path, value()),
        "remove" => remove(target, &path).map(drop),
        "test" => test(target, &path, &value()),
        "move" => {
            let moved = remove(target, &path_of(operation, "from")?)?;
            add(target, &path, moved)
        }
        "copy" => {
            let copied = find(target, &path_of(operation, "from")?).cloned().ok_or("no such source")?;
            add(target, &path, copied)
        }
        other => Err(format!("unknown operation {other:?}")),
    }
}

fn path_of(operation: &Value, field: &str) -> Result<Vec<String>, String> {
    let path = operation.get(field).and_then(Value::as_str).ok_or_else(|| format!("no {field}"))?;
    if path.is_empty() {
        return Ok(Vec::new());
    }
    let path = path.strip_prefix('/').unwrap_or(path);
    Ok(path.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect())
}

fn find<'v>(target: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(target, |at, part| match at {
        Value::Object(map) => map.get(part),
        Value::Array(list) => list.get(part.parse::<usize>().ok()?),
        _ => None,
    })
}

fn find_mut<'v>(target: &'v mut Value, path: &[String]) -> Option<&'v mut Value> {
    path.iter().try_fold(target, |at, part| match at {
        Value::Object(map) => map.get_mut(part),
        Value::Array(list) => list.get_mut(part.parse::<usize>().ok()?),
        _ => None,
    })
}

/// The container that a path's last part lies in, and that part.
fn parent<'v, 'p>(target: &'v mut Value, path: &'p [String]) -> Result<(&'v mut Value, &'p str), String> {
    let (last, before) = path.split_last().ok_or("the whole document")?;
    let container = find_mut(target, before).ok_or_else(|| format!("no parent of {last:?}"))?;
    Ok((container, last))
}

fn add(target: &mut Value, path: &[String], value: Value) -> Result<(), String> {
    if path.is_empty() {
        *target = value;
        return Ok(());
    }
    match parent(target, path)? {
        (Value::Object(map), last) => {
            map.insert(last.to_owned(), value);
        }
        (Value::Array(list), "-") => list.push(value),
        (Value::Array(list), last) => {
            let at = index(last, list.len() + 1)?;
            list.insert(at, value);
        }
        _ => return Err("the parent is no container".to_owned()),
    }
    Ok(())
}

fn replace(target: &mut Value, path: &[String], value: Value) -> Result<(), String> {
    if path.is_empty() {
        *target = value;
        return Ok(());
    }
    match parent(target, path)? {
        (Value::Object(map), last) => {
            map.insert(last.to_owned(), value);
            Ok(())
        }
        (Value::Array(list), last) => {
            let at = index(last, list.len())?;
            *list.get_mut(at).ok_or("no such element")? = value;
            Ok(())
        }
        _ => Err("the parent is no container".to_owned()),
    }
}

fn remove(target: &mut Value, path: &[String]) -> Result<Value, String> {
    match parent(target, path)? {
        (Value::Object(map), last) => map.remove(last).ok_or_else(|| format!("no member {last:?}")),
        (Value::Array(list), last) => {
            let at = index(last, list.len())?;
            Ok(list.remove(at))
        }
        _ => Err("the parent is no container".to_owned()),
    }
}

fn test(target: &Value, path: &[String], expected: &Value) -> Result<(), String> {
    let found = find(target, path).unwrap_or(&Value::Null);
    if found == expected { Ok(()) } else { Err("the test failed".to_owned()) }
}

/// An array index below `len`; negative ones count from the end.
fn index(part: &str, len: usize) -> Result<usize, String> {
    let at = match part.strip_prefix('-') {
        Some(back) => back.parse::<usize>().ok().and_then(|back| len.checked_sub(back)),
        None => part.parse::<usize>().ok(),
    };
    at.filter(|at| *at < len).ok_or_else(|| format!("no index {part:?}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn merge_patch() {
        let mut object = json!({ "a": { "b": 1, "c": 2 }, "l": [1, 2] });
        merge(&mut object, &json!({ "a": { "b": null, "d": { "e": null, "f": 1 } }, "l": [3] }));
        assert_eq!(object, json!({ "a": { "c": 2, "d": { "f": 1 } }, "l": [3] }));
    }

    #[test]
    fn json_patch() {
        let mut object = json!({ "a": [1, 2], "m": { "x/y": 1 } });
        let patch = json!([
            { "op": "test", "path": "/a/0", "value": 1 },
            { "op": "add", "path": "/a/-", "value": 3 },
            { "op": "remove", "path": "/m/x~1y" },
            { "op": "replace", "path": "/missing", "value": true },
            { "op": "move", "from": "/a/0", "path": "/first" },
        ]);
        super::json(&mut object, &patch).unwrap();
        assert_eq!(object, json!({ "a": [2, 3], "m": {}, "missing": true, "first": 1 }));
        assert!(super::json(&mut object, &json!([{ "op": "remove", "path": "/nope" }])).is_err());
        assert!(super::json(&mut object, &json!([{ "op": "test", "path": "/first", "value": 2 }])).is_err());
    }
}
