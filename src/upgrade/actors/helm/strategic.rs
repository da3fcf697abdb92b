//! The strategic merge patch between old manifest, new manifest and live object.
//!
//! Source: k8s.io/apimachinery, `pkg/util/strategicpatch/patch.go` (`CreateThreeWayMergePatch` with overwrite).

use std::cmp::Ordering;

use serde_json::{Map, Value, json};

use super::patch::same;

/// How a list of a built-in type is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strategy {
    /// Replaced whole.
    Atomic,
    /// Merged element by element, found by this key.
    Key(&'static str),
    /// A set of plain values.
    Set,
}

/// Lists that are merged: name of the field, what its path must hold (empty: anything), strategy. The first row that fits counts.
///
/// Source: the `patchStrategy` and `patchMergeKey` tags of `k8s.io/api`.
const LISTS: &[(&str, &str, Strategy)] = &[
    ("containers", "spec", Strategy::Key("name")),
    ("initContainers", "spec", Strategy::Key("name")),
    ("ephemeralContainers", "spec", Strategy::Key("name")),
    ("env", "ontainers", Strategy::Key("name")),
    ("ports", "ontainers", Strategy::Key("containerPort")),
    ("ports", "Service", Strategy::Key("port")),
    ("volumeMounts", "ontainers", Strategy::Key("mountPath")),
    ("volumeDevices", "ontainers", Strategy::Key("devicePath")),
    ("resizePolicy", "", Strategy::Atomic),
    ("volumes", "spec", Strategy::Key("name")),
    ("hostAliases", "spec", Strategy::Key("ip")),
    ("imagePullSecrets", "spec", Strategy::Key("name")),
    ("topologySpreadConstraints", "spec", Strategy::Key("topologyKey")),
    ("schedulingGates", "spec", Strategy::Key("name")),
    ("resourceClaims", "spec", Strategy::Key("name")),
    ("secrets", "ServiceAccount", Strategy::Key("name")),
    ("webhooks", "WebhookConfiguration", Strategy::Key("name")),
    ("matchConditions", "", Strategy::Key("name")),
    ("variables", "AdmissionPolicy", Strategy::Key("name")),
    ("ownerReferences", "metadata", Strategy::Key("uid")),
    ("finalizers", "metadata", Strategy::Set),
    ("conditions", "status", Strategy::Key("type")),
];

/// Objects whose absent keys are cleared: a changed `Recreate` must drop `rollingUpdate`.
const RETAIN_KEYS: &[(&str, &str)] = &[("strategy", "Deployment")];

fn strategy(field: &str, path: &[&str]) -> Strategy {
    let fits = |within: &str| within.is_empty() || path.iter().any(|part| part.contains(within));
    LISTS
        .iter()
        .find(|(name, within, _)| *name == field && fits(within))
        .map_or(Strategy::Atomic, |(_, _, strategy)| *strategy)
}

fn retains_keys(field: &str, path: &[&str]) -> bool {
    RETAIN_KEYS.iter().any(|(name, kind)| *name == field && path.first() == Some(kind))
        || path.last() == Some(&"volumes")
}

/// Which differences a pass looks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// Live object to new manifest: additions and changes.
    Changes,
    /// Old manifest to new manifest: deletions.
    Deletions,
}

/// The patch for one object of a built-in kind; empty when there is nothing to send.
pub(crate) fn three_way(original: &Value, modified: &Value, live: &Value, kind: &str) -> Value {
    let empty = Map::new();
    let Some(modified) = modified.as_object() else { return json!({}) };
    let mut path = vec![kind];
    let changes = diff_maps(live.as_object().unwrap_or(&empty), modified, Pass::Changes, &mut path);
    let deletions = diff_maps(original.as_object().unwrap_or(&empty), modified, Pass::Deletions, &mut path);
    Value::Object(merge(deletions, changes))
}

fn diff_maps<'a>(
    from: &'a Map<String, Value>,
    to: &'a Map<String, Value>,
    pass: Pass,
    path: &mut Vec<&'a str>,
) -> Map<String, Value> {
    let mut patch = Map::new();
    for (key, old) in from {
        match to.get(key) {
            None if pass == Pass::Deletions => {
                patch.insert(key.clone(), Value::Null);
            }
            None => {}
            Some(new) => diff_field(key, old, new, pass, path, &mut patch),
        }
    }
    if pass == Pass::Changes {
        for (key, new) in to.iter().filter(|(key, _)| !from.contains_key(*key)) {
            patch.insert(key.clone(), new.clone());
        }
    }
    patch
}

fn diff_field<'a>(
    key: &'a str,
    old: &'a Value,
    new: &'a Value,
    pass: Pass,
    path: &mut Vec<&'a str>,
    patch: &mut Map<String, Value>,
) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let retain = retains_keys(key, path);
            path.push(key);
            let mut inner = diff_maps(old, new, pass, path);
            path.pop();
            if inner.is_empty() {
                return;
            }
            if retain {
                inner.insert("$retainKeys".to_owned(), sorted_keys(new));
            }
            patch.insert(key.to_owned(), Value::Object(inner));
        }
        (Value::Array(old), Value::Array(new)) => diff_lists(key, old, new, pass, path, patch),
        _ if pass == Pass::Changes && !same(old, new) => {
            patch.insert(key.to_owned(), new.clone());
        }
        _ => {}
    }
}

fn sorted_keys(map: &Map<String, Value>) -> Value {
    let mut keys: Vec<&String> = map.keys().collect();
    keys.sort();
    json!(keys)
}

fn diff_lists<'a>(
    key: &'a str,
    old: &'a [Value],
    new: &'a [Value],
    pass: Pass,
    path: &mut Vec<&'a str>,
    patch: &mut Map<String, Value>,
) {
    match strategy(key, path) {
        Strategy::Atomic => {
            let equal = old.len() == new.len() && old.iter().zip(new).all(|(a, b)| same(a, b));
            if pass == Pass::Changes && !equal {
                patch.insert(key.to_owned(), json!(new));
            }
        }
        Strategy::Set => diff_sets(key, old, new, pass, patch),
        Strategy::Key(merge_key) => {
            path.push(key);
            diff_keyed(key, merge_key, old, new, pass, path, patch);
            path.pop();
        }
    }
}

fn diff_sets(key: &str, old: &[Value], new: &[Value], pass: Pass, patch: &mut Map<String, Value>) {
    let (found, name) = match pass {
        Pass::Changes => (missing(new, old), key.to_owned()),
        Pass::Deletions => (missing(old, new), format!("$deleteFromPrimitiveList/{key}")),
    };
    if !found.is_empty() {
        patch.insert(name, Value::Array(found));
        patch.insert(format!("$setElementOrder/{key}"), json!(new));
    }
}

fn missing(from: &[Value], other: &[Value]) -> Vec<Value> {
    from.iter().filter(|value| !other.contains(value)).cloned().collect()
}

fn diff_keyed<'a>(
    key: &str,
    merge_key: &'static str,
    old: &'a [Value],
    new: &'a [Value],
    pass: Pass,
    path: &mut Vec<&'a str>,
    patch: &mut Map<String, Value>,
) {
    if old.is_empty() {
        if pass == Pass::Changes && !new.is_empty() {
            patch.insert(key.to_owned(), json!(new));
        }
        return;
    }
    let mut items = changed(merge_key, old, new, pass, path);
    items.sort_by_key(|item| new.iter().position(|element| element.get(merge_key) == item.get(merge_key)));
    if pass == Pass::Deletions {
        items.extend(gone(merge_key, old, new));
    }
    let reordered = pass == Pass::Changes && !same_order(old, new, merge_key);
    if !items.is_empty() || reordered {
        let order: Vec<Value> =
            new.iter().map(|element| json!({merge_key: element.get(merge_key)})).collect();
        patch.insert(format!("$setElementOrder/{key}"), Value::Array(order));
    }
    if !items.is_empty() {
        patch.insert(key.to_owned(), Value::Array(items));
    }
}

/// Pairs of elements in the order of their keys: both where the keys are equal, else the one whose key comes first.
///
/// A key may stand in a list more than once, as a port does that is open for two protocols: then elements meet that have
/// little in common, and what the server makes of the patch is not what anybody wrote.
fn pairs<'a>(
    merge_key: &str,
    old: &'a [Value],
    new: &'a [Value],
) -> Vec<(Option<&'a Value>, Option<&'a Value>)> {
    let (old, new) = (by_key(merge_key, old), by_key(merge_key, new));
    let (mut left, mut right) = (old.into_iter().peekable(), new.into_iter().peekable());
    let mut found = Vec::new();
    while left.peek().is_some() || right.peek().is_some() {
        let order = match (left.peek(), right.peek()) {
            (Some((a, _)), Some((b, _))) => a.cmp(b),
            (Some(_), None) => Ordering::Less,
            _ => Ordering::Greater,
        };
        let one = if order == Ordering::Greater { None } else { left.next() };
        let other = if order == Ordering::Less { None } else { right.next() };
        found.push((one.map(|(_, element)| element), other.map(|(_, element)| element)));
    }
    found
}

/// Elements with their keys as text, sorted by it. Go's order calls of two equal keys each the smaller one, which turns
/// them round.
///
/// Source: `SortableSliceOfMaps.Less`, and the insertion sort of `sort.Sort` for short lists.
fn by_key<'a>(merge_key: &str, list: &'a [Value]) -> Vec<(String, &'a Value)> {
    let spelled = |element: &Value| match element.get(merge_key) {
        Some(Value::String(text)) => text.clone(),
        Some(key) => key.to_string(),
        None => String::new(),
    };
    let mut keyed: Vec<(String, &Value)> =
        list.iter().rev().map(|element| (spelled(element), element)).collect();
    keyed.sort_by(|(a, _), (b, _)| a.cmp(b));
    keyed
}

fn changed<'a>(
    merge_key: &'static str,
    old: &'a [Value],
    new: &'a [Value],
    pass: Pass,
    path: &mut Vec<&'a str>,
) -> Vec<Value> {
    let pairs = pairs(merge_key, old, new).into_iter();
    pairs.filter_map(|(old, new)| diff_element(merge_key, old, new?, pass, path)).collect()
}

/// Directives that delete elements which are not there any more.
fn gone(merge_key: &'static str, old: &[Value], new: &[Value]) -> Vec<Value> {
    let pairs = pairs(merge_key, old, new).into_iter();
    let gone = pairs.filter_map(|(old, new)| if new.is_none() { old } else { None });
    gone.map(|element| json!({"$patch": "delete", merge_key: element.get(merge_key)})).collect()
}

fn diff_element<'a>(
    merge_key: &str,
    old: Option<&'a Value>,
    new: &'a Value,
    pass: Pass,
    path: &mut Vec<&'a str>,
) -> Option<Value> {
    let (Some(old), Some(fields)) = (old.and_then(Value::as_object), new.as_object()) else {
        return (pass == Pass::Changes).then(|| new.clone());
    };
    let mut inner = diff_maps(old, fields, pass, path);
    if inner.is_empty() {
        return None;
    }
    inner.insert(merge_key.to_owned(), new.get(merge_key).cloned().unwrap_or(Value::Null));
    if path.last() == Some(&"volumes") {
        inner.insert("$retainKeys".to_owned(), sorted_keys(fields));
    }
    Some(Value::Object(inner))
}

fn same_order(old: &[Value], new: &[Value], merge_key: &str) -> bool {
    old.len() == new.len() && old.iter().zip(new).all(|(a, b)| a.get(merge_key) == b.get(merge_key))
}

/// Both passes' patches in one.
fn merge(mut deletions: Map<String, Value>, changes: Map<String, Value>) -> Map<String, Value> {
    for (key, change) in changes {
        let merged = match (deletions.remove(&key), change) {
            (Some(Value::Object(deleted)), Value::Object(changed)) => Value::Object(merge(deleted, changed)),
            (Some(Value::Array(deleted)), Value::Array(changed)) if !key.starts_with('$') => {
                Value::Array(merge_lists(deleted, changed, &key))
            }
            (_, change) => change,
        };
        deletions.insert(key, merged);
    }
    deletions
}

/// Changed elements first, deletions of others behind them.
fn merge_lists(deleted: Vec<Value>, changed: Vec<Value>, key: &str) -> Vec<Value> {
    let merge_key = deleted.iter().chain(&changed).find_map(|element| {
        LISTS.iter().filter(|(name, ..)| *name == key).find_map(|(_, _, strategy)| match strategy {
            Strategy::Key(merge_key) if element.get(merge_key).is_some() => Some(*merge_key),
            _ => None,
        })
    });
    let Some(merge_key) = merge_key else { return changed };
    let mut out = changed;
    for element in deleted {
        match out.iter_mut().find(|candidate| candidate.get(merge_key) == element.get(merge_key)) {
            Some(Value::Object(mine)) => {
                if let Value::Object(theirs) = element {
                    *mine = merge(theirs, std::mem::take(mine));
                }
            }
            _ => out.push(element),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Golden: what Helm 3.22.0 sent to kube-apiserver 1.34.3 in the recorded upgrades of a small chart.
    #[test]
    fn a_deployments_containers_and_their_env_are_merged_by_name() {
        let old = json!({"spec": {"template": {"spec": {"containers": [
            {"name": "main", "image": "a:1", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
            {"name": "side", "image": "s:1"}]}}}});
        let new = json!({"spec": {"template": {"spec": {"containers": [
            {"name": "main", "image": "a:2", "env": [{"name": "A", "value": "1"}, {"name": "C", "value": "3"}]}]}}}});
        let patch = three_way(&old, &new, &old, "Deployment");
        assert_eq!(
            patch,
            json!({"spec": {"template": {"spec": {
            "$setElementOrder/containers": [{"name": "main"}],
            "containers": [
                {"name": "main", "image": "a:2", "$setElementOrder/env": [{"name": "A"}, {"name": "C"}],
                 "env": [{"name": "C", "value": "3"}, {"name": "B", "$patch": "delete"}]},
                {"name": "side", "$patch": "delete"}]}}}})
        );
    }

    #[test]
    fn service_ports_are_merged_by_port() {
        let old = json!({"spec": {"ports": [{"name": "http", "port": 80}, {"name": "admin", "port": 81}]}});
        let new = json!({"spec": {"ports": [{"name": "http", "port": 80}, {"name": "metrics", "port": 82}]}});
        let live = json!({"spec": {"clusterIP": "10.0.0.1", "ports": [
            {"name": "http", "port": 80, "protocol": "TCP", "targetPort": 80}, {"name": "admin", "port": 81, "protocol": "TCP"}]}});
        let patch = three_way(&old, &new, &live, "Service");
        assert_eq!(
            patch,
            json!({"spec": {
            "$setElementOrder/ports": [{"port": 80}, {"port": 82}],
            "ports": [{"name": "metrics", "port": 82}, {"port": 81, "$patch": "delete"}]}})
        );
    }

    /// Golden: what Helm 3.22.0 sent to kube-apiserver 1.34.3 when a port was opened for a second protocol, and closed again.
    #[test]
    fn one_port_for_two_protocols_is_one_key() {
        let udp = json!({"name": "u", "port": 53, "protocol": "UDP"});
        let tcp = json!({"name": "t", "port": 53, "protocol": "TCP"});
        let (one, both) = (json!({"spec": {"ports": [udp]}}), json!({"spec": {"ports": [udp, tcp]}}));
        assert_eq!(
            three_way(&one, &both, &one, "Service"),
            json!({"spec": {"$setElementOrder/ports": [{"port": 53}, {"port": 53}], "ports": [tcp, udp]}})
        );
        let closed = json!({"$patch": "delete", "name": "u", "port": 53, "protocol": "UDP"});
        assert_eq!(
            three_way(&both, &one, &both, "Service"),
            json!({"spec": {"$setElementOrder/ports": [{"port": 53}], "ports": [closed]}})
        );
    }

    #[test]
    fn nothing_changed_nothing_sent_and_others_additions_stay() {
        let manifest = json!({"metadata": {"name": "a"}, "data": {"x": "1"}});
        let live = json!({"metadata": {"name": "a", "uid": "u"}, "data": {"x": "1", "mine": "y"}});
        assert_eq!(three_way(&manifest, &manifest, &live, "ConfigMap"), json!({}));
    }

    #[test]
    fn versions_of_a_crd_are_replaced_whole() {
        let old = json!({"spec": {"versions": [{"name": "v1", "schema": {"a": 1}}]}});
        let new = json!({"spec": {"versions": [{"name": "v1", "schema": {"b": 1}}]}});
        assert_eq!(
            three_way(&old, &new, &old, "CustomResourceDefinition"),
            json!({"spec": {"versions": [{"name": "v1", "schema": {"b": 1}}]}})
        );
    }

    #[test]
    fn a_changed_deployment_strategy_drops_its_old_parameters() {
        let old = json!({"spec": {"strategy": {"type": "RollingUpdate"}}});
        let new = json!({"spec": {"strategy": {"type": "Recreate"}}});
        let live =
            json!({"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%"}}}});
        assert_eq!(
            three_way(&old, &new, &live, "Deployment"),
            json!({"spec": {"strategy": {"type": "Recreate", "$retainKeys": ["type"]}}})
        );
    }
}
