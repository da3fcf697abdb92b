//! Strategic merge patch: lists merge by key, `$patch`, `$retainKeys`, `$deleteFromPrimitiveList`, `$setElementOrder`.
//!
//! Behaviour of Kubernetes apimachinery 0.34.3, `pkg/util/strategicpatch/patch.go`.

use serde_json::{Map, Value};

use super::types::{List, Type};

const DIRECTIVE: &str = "$patch";
const RETAIN: &str = "$retainKeys";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";
const ORDER: &str = "$setElementOrder/";

/// Applies a strategic merge patch to an object of a built-in type.
///
/// # Errors
/// A list element without its key or a directive that does not exist, in the server's words.
pub fn merge(of: &Type, target: &mut Value, patch: &Value) -> Result<(), String> {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return Ok(());
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    match target {
        Value::Object(target) => members(of, target, patch),
        _ => Ok(()),
    }
}

fn members(of: &Type, target: &mut Map<String, Value>, patch: &Map<String, Value>) -> Result<(), String> {
    match patch.get(DIRECTIVE).and_then(Value::as_str) {
        Some("replace") => {
            *target =
                patch.iter().filter(|(k, _)| *k != DIRECTIVE).map(|(k, v)| (k.clone(), v.clone())).collect();
            return Ok(());
        }
        Some("delete") => {
            target.clear();
            return Ok(());
        }
        Some("merge") | None => {}
        Some(other) => return Err(format!("unknown patch type found: {other}")),
    }
    retain(target, patch);
    for (key, value) in patch {
        if let Some(field) = key.strip_prefix(DELETE_FROM) {
            delete_from(target, field, value);
        } else if !key.starts_with('$') {
            member(of, target, patch, (key, value))?;
        }
    }
    // An order may stand alone, without a change of the list itself.
    for (key, order) in patch {
        if let Some(field) = key.strip_prefix(ORDER)
            && let Some(Value::Array(items)) = target.get_mut(field)
            && let Type::List(list) = of.member(field).unwrap_or(&Type::Any).resolve()
        {
            let server = items.clone();
            sort_by_order(list, items, order.as_array().map_or(&[], Vec::as_slice), &server);
        }
    }
    Ok(())
}

fn member(
    of: &Type,
    target: &mut Map<String, Value>,
    patch: &Map<String, Value>,
    (key, value): (&String, &Value),
) -> Result<(), String> {
    let of = of.member(key).unwrap_or(&Type::Any);
    match (value, of.resolve()) {
        (Value::Null, _) => {
            target.remove(key);
        }
        (Value::Object(_), Type::Scalar(_)) => {
            target.insert(key.clone(), value.clone());
        }
        (Value::Object(change), _) => {
            if change.get(DIRECTIVE).and_then(Value::as_str) == Some("delete") {
                target.remove(key);
                return Ok(());
            }
            merge(of, target.entry(key.clone()).or_insert_with(|| Value::Object(Map::new())), value)?;
        }
        (Value::Array(change), Type::List(list)) if list.merge.is_some() => {
            let present = target.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
            let order = patch.get(&format!("{ORDER}{key}")).and_then(Value::as_array);
            let merged = lists(list, present, change, order.map(Vec::as_slice))?;
            target.insert(key.clone(), Value::Array(merged));
        }
        _ => {
            target.insert(key.clone(), value.clone());
        }
    }
    Ok(())
}

fn retain(target: &mut Map<String, Value>, patch: &Map<String, Value>) {
    if let Some(keys) = patch.get(RETAIN).and_then(Value::as_array) {
        target.retain(|key, _| keys.iter().any(|k| k == key));
    }
}

fn delete_from(target: &mut Map<String, Value>, field: &str, values: &Value) {
    if let (Some(Value::Array(list)), Some(values)) = (target.get_mut(field), values.as_array()) {
        list.retain(|item| !values.contains(item));
    }
}

fn lists(
    list: &List,
    mut present: Vec<Value>,
    change: &[Value],
    order: Option<&[Value]>,
) -> Result<Vec<Value>, String> {
    let key = list.merge.as_deref().unwrap_or("");
    let server = present.clone();
    if key.is_empty() {
        let new: Vec<Value> = change.iter().filter(|v| !present.contains(v)).cloned().collect();
        present.extend(new);
        sort_by_order(list, &mut present, order.unwrap_or(change), &server);
        return Ok(present);
    }
    if change.iter().any(|item| directive(item) == Some("replace")) {
        let rest = change.iter().filter(|item| directive(item) != Some("replace"));
        return Ok(rest.cloned().collect());
    }
    for item in change {
        let Some(id) = item.get(key) else {
            return Err(format!("map: {} does not contain declared merge key: {key}", go_map(item)));
        };
        let at = present.iter().position(|p| p.get(key) == Some(id));
        match (directive(item), at.and_then(|at| present.get_mut(at))) {
            (Some("delete"), _) => present.retain(|p| p.get(key) != Some(id)),
            (_, Some(found)) => merge(&list.item, found, item)?,
            (_, None) => {
                let mut fresh = Value::Object(Map::new());
                merge(&list.item, &mut fresh, item)?;
                present.push(fresh);
            }
        }
    }
    sort_by_order(list, &mut present, order.unwrap_or(change), &server);
    Ok(present)
}

fn directive(item: &Value) -> Option<&str> {
    item.get(DIRECTIVE)?.as_str()
}

/// Sorts the elements that an order names; the others keep their places relative to those the server had.
fn sort_by_order(list: &List, items: &mut Vec<Value>, order: &[Value], server: &[Value]) {
    let key = list.merge.as_deref().unwrap_or("");
    let same = |a: &Value, b: &Value| if key.is_empty() { a == b } else { a.get(key) == b.get(key) };
    let place = |item: &Value, among: &[Value]| among.iter().position(|o| same(o, item));
    let (mut named, mut others): (Vec<Value>, Vec<Value>) =
        std::mem::take(items).into_iter().partition(|item| place(item, order).is_some());
    named.sort_by_key(|item| place(item, order));
    others.sort_by_key(|item| place(item, server));
    let (mut left, mut right) = (others.into_iter().peekable(), named.into_iter().peekable());
    while let (Some(l), Some(r)) = (left.peek(), right.peek()) {
        let before = matches!((place(l, server), place(r, server)), (Some(l), Some(r)) if l < r);
        items.extend(if before { left.next() } else { right.next() });
    }
    items.extend(left);
    items.extend(right);
}

/// An object as Go's `%v` prints it.
fn go_map(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let members: Vec<String> = object.iter().map(|(k, v)| format!("{k}:{}", go_map(v))).collect();
            format!("map[{}]", members.join(" "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(go_map).collect::<Vec<_>>().join(" ")),
        Value::String(text) => text.clone(),
        Value::Null => "<nil>".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::k8s::types::builtin;

    fn patched(kind: (&str, &str), mut object: Value, patch: &Value) -> Value {
        merge(&builtin(kind.0, kind.1).unwrap(), &mut object, patch).unwrap();
        object
    }

    #[test]
    fn containers_merge_by_name() {
        let pod = json!({ "spec": { "containers": [{ "name": "a", "image": "1" }, { "name": "b", "image": "1" }] } });
        let patch = json!({ "spec": {
            "$setElementOrder/containers": [{ "name": "b" }, { "name": "a" }],
            "containers": [{ "name": "a", "image": "2" }, { "name": "b", "$patch": "delete" }, { "name": "c" }] } });
        assert_eq!(
            patched(("v1", "Pod"), pod, &patch),
            json!({ "spec": { "containers": [{ "name": "a", "image": "2" }, { "name": "c" }] } })
        );
    }

    #[test]
    fn retain_keys_drops_the_rest() {
        let object = json!({ "spec": { "strategy": { "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1 } } } });
        let patch = json!({ "spec": { "strategy": { "$retainKeys": ["type"], "type": "Recreate" } } });
        assert_eq!(
            patched(("apps/v1", "Deployment"), object, &patch),
            json!({ "spec": { "strategy": { "type": "Recreate" } } })
        );
    }

    #[test]
    fn primitives_and_nulls() {
        let object = json!({ "metadata": { "finalizers": ["a", "b"], "labels": { "x": "1", "y": "2" } } });
        let patch = json!({ "metadata": { "$deleteFromPrimitiveList/finalizers": ["a"], "finalizers": ["c"],
            "labels": { "x": null } } });
        assert_eq!(
            patched(("v1", "ConfigMap"), object, &patch),
            json!({ "metadata": { "finalizers": ["c", "b"], "labels": { "y": "2" } } })
        );
    }

    #[test]
    fn an_element_without_its_key_is_refused() {
        let of = builtin("apps/v1", "Deployment").unwrap();
        let patch = json!({ "spec": { "template": { "spec": { "containers": [{ "image": "x:1" }] } } } });
        let error = merge(&of, &mut json!({}), &patch).unwrap_err();
        assert_eq!(error, "map: map[image:x:1] does not contain declared merge key: name");
    }
}
