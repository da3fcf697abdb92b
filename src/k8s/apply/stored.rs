//! Managers changed in the form they are stored in.
//!
//! Most writes touch a few fields of an object that has hundreds. Reading every manager's set, changing it and writing
//! it again would cost more than the write itself; here only the paths that the write touches are looked up.

use serde_json::{Map, Value};

use super::compare::compare;
use super::managers::{Identity, MOST_UPDATERS, Managers, Operation, encode_entry, strip};
use super::set::FieldSet;
use crate::k8s::text;
use crate::k8s::types::Type;

/// [`Managers::update`] on the entries of `metadata.managedFields`.
pub fn update_stored(
    entries: &mut Vec<Value>,
    of: &Type,
    (old, new): (Option<&Value>, &Value),
    by: &Identity,
    time: &str,
) {
    if entries.is_empty() && old.is_some() {
        return;
    }
    let empty = Value::Object(Map::new());
    let found = compare(of, Some(old.unwrap_or(&empty)), Some(new));
    let changed = found.modified.union(&found.added);
    let gone = found.removed.union(&changed);
    if !gone.is_empty() {
        entries.retain_mut(|entry| keeps_any(entry, &gone));
    }
    let mine = strip(&changed);
    if !mine.is_empty() {
        join(entries, &mine, by, time);
    }
    let updaters = entries.iter().filter(|entry| text(entry, "/operation") == "Update").count();
    if updaters > MOST_UPDATERS {
        shrink(entries);
    }
}

/// Takes paths away from an entry; whether any are left.
fn keeps_any(entry: &mut Value, gone: &FieldSet) -> bool {
    let Some(fields) = entry.get_mut("fieldsV1").and_then(Value::as_object_mut) else { return false };
    subtract(fields, gone);
    !fields.is_empty()
}

/// Whether the path that leads to these fields is itself a member of the set.
fn is_member(below: &Map<String, Value>) -> bool {
    below.is_empty() || below.contains_key(".")
}

fn subtract(fields: &mut Map<String, Value>, gone: &FieldSet) {
    for (element, ends, deeper) in gone.steps() {
        let key = element.encode();
        let Some(below) = fields.get_mut(&key).and_then(Value::as_object_mut) else { continue };
        let member = is_member(below) && !ends;
        below.remove(".");
        if let Some(deeper) = deeper {
            subtract(below, deeper);
        }
        match (member, below.is_empty()) {
            (false, true) => drop(fields.remove(&key)),
            (true, false) => drop(below.insert(".".to_owned(), Value::Object(Map::new()))),
            _ => {}
        }
    }
}

fn add(fields: &mut Map<String, Value>, set: &FieldSet) {
    for (element, ends, deeper) in set.steps() {
        let (present, below) = match fields.entry(element.encode()) {
            serde_json::map::Entry::Occupied(entry) => (true, entry.into_mut()),
            serde_json::map::Entry::Vacant(entry) => (false, entry.insert(Value::Object(Map::new()))),
        };
        let Some(below) = below.as_object_mut() else { continue };
        let member = ends || present && is_member(below);
        below.remove(".");
        if let Some(deeper) = deeper {
            add(below, deeper);
        }
        if member && !below.is_empty() {
            below.insert(".".to_owned(), Value::Object(Map::new()));
        }
    }
}

/// Adds what was written to the writer's entry.
fn join(entries: &mut Vec<Value>, mine: &FieldSet, by: &Identity, time: &str) {
    let own = entries.iter_mut().find(|entry| is_of(entry, by));
    match own {
        Some(entry) => {
            if let Some(fields) = entry.get_mut("fieldsV1").and_then(Value::as_object_mut) {
                add(fields, mine);
            }
            entry["time"] = Value::from(time);
        }
        None => entries.push(encode_entry(by, mine, &by.api_version, time)),
    }
    entries.sort_by(|a, b| order(a).cmp(&order(b)));
}

fn is_of(entry: &Value, by: &Identity) -> bool {
    let operation = if by.operation == Operation::Apply { "Apply" } else { "Update" };
    text(entry, "/manager") == by.manager
        && text(entry, "/operation") == operation
        && text(entry, "/subresource") == by.subresource
        && (by.operation == Operation::Apply || text(entry, "/apiVersion") == by.api_version)
}

fn order(entry: &Value) -> [&str; 5] {
    ["/operation", "/time", "/manager", "/apiVersion", "/subresource"].map(|pointer| text(entry, pointer))
}

/// Throws the oldest updaters together, which takes the sets as a whole.
fn shrink(entries: &mut Vec<Value>) {
    let mut managers = Managers::decode(Some(&Value::Array(std::mem::take(entries))));
    managers.throw_together_the_oldest();
    if let Value::Array(encoded) = managers.encode() {
        *entries = encoded;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::k8s::types::builtin;

    fn pod(image: &str, labels: &Value, status: &Value) -> Value {
        json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p", "labels": labels },
            "spec": { "containers": [{ "name": "c", "image": image }] }, "status": status,
        })
    }

    fn by(manager: &str, subresource: &str) -> Identity {
        Identity::new(manager, Operation::Update, "v1", subresource)
    }

    /// Every write by both ways.
    fn both(writes: &[(Value, Identity)]) -> (Value, Value) {
        let of = builtin("v1", "Pod").unwrap();
        let (mut managers, mut entries, mut old) = (Managers::default(), Vec::new(), None::<&Value>);
        for (at, (new, by)) in writes.iter().enumerate() {
            let time = format!("t{at:02}");
            managers.update(&of, old, new, by, &time);
            update_stored(&mut entries, &of, (old, new), by, &time);
            old = Some(new);
        }
        (managers.encode(), Value::Array(entries))
    }

    #[test]
    fn the_stored_form_changes_as_the_sets_do() {
        let (none, ready) = (json!({}), json!({ "conditions": [{ "type": "Ready", "status": "True" }] }));
        let unready =
            json!({ "conditions": [{ "type": "Ready", "status": "False", "reason": "x" }], "podIP": "1" });
        let (a, ab) = (json!({ "a": "1" }), json!({ "a": "2", "b": "1" }));
        let writes = [
            (pod("i:1", &a, &none), by("helm", "")),
            (pod("i:1", &a, &ready), by("kubelet", "status")),
            (pod("i:2", &ab, &ready), by("edit", "")),
            (pod("i:2", &none, &unready), by("kubelet", "status")),
            (pod("i:2", &a, &unready), by("helm", "")),
            (pod("i:3", &none, &none), by("edit", "")),
        ];
        for until in 1..=writes.len() {
            let (sets, stored) = both(&writes[..until]);
            assert_eq!(stored, sets, "after {until} writes");
        }
    }

    #[test]
    fn the_oldest_of_many_updaters_are_thrown_together() {
        let many: Vec<(Value, Identity)> = (0..14)
            .map(|at| {
                let labels: Map<String, Value> =
                    (0..=at).map(|label| (format!("l{label}"), json!("x"))).collect();
                (pod("i:1", &Value::Object(labels), &json!({})), by(&format!("m{at}"), ""))
            })
            .collect();
        let (sets, stored) = both(&many);
        assert_eq!(stored, sets);
    }
}
