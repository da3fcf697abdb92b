//! Field ownership of earlier client-side writes, handed over to server-side apply.
//!
//! Source: k8s.io/client-go, `util/csaupgrade/upgrade.go`.

use serde_json::{Map, Value, json};

use crate::k8s;
use crate::k8s::At as _;

/// The JSON patch that turns `manager`'s Update entries into its Apply entry; `None` when there are none.
pub(crate) fn client_side_migration(live: &Value, manager: &str) -> Option<Value> {
    let entries = live.at("/metadata/managedFields")?.as_array()?;
    let updates = |entry: &Value| is_entry(entry, manager, "Update");
    let applies = |entry: &Value| is_entry(entry, manager, "Apply");
    if !entries.iter().any(updates) {
        return None;
    }
    let base = entries.iter().position(applies).or_else(|| entries.iter().position(updates))?;
    let mut merged = Map::new();
    for entry in entries.iter().filter(|entry| updates(entry) || applies(entry)) {
        if let Some(fields) = entry.get("fieldsV1").and_then(Value::as_object) {
            union(&mut merged, fields);
        }
    }
    let mut kept = Vec::new();
    for (position, entry) in entries.iter().enumerate() {
        if position == base {
            kept.push(as_apply(entry, &merged));
        } else if !updates(entry) {
            kept.push(entry.clone());
        }
    }
    let version = k8s::text(live, "/metadata/resourceVersion");
    Some(json!([
        {"op": "replace", "path": "/metadata/managedFields", "value": kept},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": version},
    ]))
}

fn is_entry(entry: &Value, manager: &str, operation: &str) -> bool {
    k8s::text(entry, "/manager") == manager
        && k8s::text(entry, "/operation") == operation
        && k8s::text(entry, "/subresource").is_empty()
}

fn as_apply(entry: &Value, fields: &Map<String, Value>) -> Value {
    let mut entry = entry.clone();
    if let Some(map) = entry.as_object_mut() {
        map.insert("operation".to_owned(), Value::from("Apply"));
        map.insert("fieldsV1".to_owned(), Value::Object(fields.clone()));
    }
    entry
}

/// The union of two field sets.
fn union(into: &mut Map<String, Value>, other: &Map<String, Value>) {
    for (key, value) in other {
        match (into.get_mut(key), value) {
            (Some(Value::Object(mine)), Value::Object(theirs)) => union(mine, theirs),
            (Some(_), _) => {}
            (None, _) => {
                into.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn update_entries_join_the_apply_entry() {
        let live = json!({"metadata": {"resourceVersion": "7", "managedFields": [
            {"manager": "helm", "operation": "Update", "fieldsV1": {"f:data": {"f:a": {}}}},
            {"manager": "helm", "operation": "Update", "subresource": "status", "fieldsV1": {}},
            {"manager": "helm", "operation": "Apply", "fieldsV1": {"f:data": {"f:b": {}}}},
            {"manager": "kubectl", "operation": "Update", "fieldsV1": {}}]}});
        let patch = client_side_migration(&live, "helm").expect("there is an Update entry");
        let entries = patch.at("/0/value").and_then(Value::as_array).expect("entries");
        assert_eq!(entries.len(), 3);
        assert_eq!(entries[1].at("/fieldsV1/f:data"), Some(&json!({"f:a": {}, "f:b": {}})));
        assert_eq!(patch.at("/1/value"), Some(&json!("7")));
    }

    #[test]
    fn without_update_entries_there_is_nothing_to_do() {
        let live = json!({"metadata": {"managedFields": [{"manager": "helm", "operation": "Apply"}]}});
        assert_eq!(client_side_migration(&live, "helm"), None);
    }
}
