//! The patch that Helm computes when it applies on the client side.
//!
//! Source: Helm, `pkg/kube/client.go`, `createPatch`.

use serde_json::{Map, Value};

use super::objects::Target;
use super::strategic;
use crate::cluster::PatchType;
use crate::k8s::Gvk;

/// Groups whose kinds Helm's client knows as Go types; everything else is patched as plain JSON.
///
/// Source: k8s.io/client-go `kubernetes/scheme/register.go` plus `k8s.io/apiextensions-apiserver`.
const TYPED_GROUPS: &[&str] = &[
    "",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "extensions",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
];

/// Whether objects of a kind are merged field by field with the live object; others only see what the chart changed.
pub(crate) fn is_typed(gvk: &Gvk) -> bool {
    let beta_crd = gvk.group == "apiextensions.k8s.io" && gvk.version == "v1beta1";
    is_typed_group(&gvk.group) && !beta_crd
}

/// Whether Helm's client knows a group's kinds as Go types.
pub(crate) fn is_typed_group(group: &str) -> bool {
    TYPED_GROUPS.contains(&group)
}

/// The patch from `original` to the target, and its content type; `None` when there is nothing to send.
pub(crate) fn compute(
    original: &Value,
    target: &Target,
    live: &Value,
    three_way: bool,
) -> Option<(PatchType, Value)> {
    let (kind, patch) = if is_typed(&target.gvk) {
        (PatchType::Strategic, strategic::three_way(original, &target.object, live, &target.gvk.kind))
    } else if three_way {
        (PatchType::Merge, three_way_merge(original, &target.object, live))
    } else {
        (PatchType::Merge, merge_patch(original, &target.object))
    };
    if is_empty(&patch) { None } else { Some((kind, patch)) }
}

fn is_empty(patch: &Value) -> bool {
    patch.as_object().is_some_and(Map::is_empty)
}

/// The patch that brings additions and changes over the live object and removes what the old manifest had and the new has not.
///
/// Source: k8s.io/apimachinery, `pkg/util/jsonmergepatch/patch.go`.
pub(crate) fn three_way_merge(original: &Value, modified: &Value, live: &Value) -> Value {
    let mut patch = without_nulls(merge_patch(live, modified)).unwrap_or_else(|| Value::Object(Map::new()));
    if let Some(removals) = only_nulls(merge_patch(original, modified)) {
        overlay(&mut patch, removals);
    }
    patch
}

/// A patch without its deletions; `None` when nothing is left of an object that was not empty.
fn without_nulls(patch: Value) -> Option<Value> {
    let Value::Object(map) = patch else { return Some(patch).filter(|value| !value.is_null()) };
    let was_empty = map.is_empty();
    let kept: Map<_, _> =
        map.into_iter().filter_map(|(key, value)| Some((key, without_nulls(value)?))).collect();
    (was_empty || !kept.is_empty()).then_some(Value::Object(kept))
}

/// Only the deletions of a patch.
fn only_nulls(patch: Value) -> Option<Value> {
    match patch {
        Value::Null => Some(Value::Null),
        Value::Object(map) => {
            let kept: Map<_, _> =
                map.into_iter().filter_map(|(key, value)| Some((key, only_nulls(value)?))).collect();
            (!kept.is_empty()).then_some(Value::Object(kept))
        }
        _ => None,
    }
}

/// Lays deletions under a patch: what the patch sets stays.
fn overlay(patch: &mut Value, removals: Value) {
    let (Value::Object(patch), Value::Object(removals)) = (patch, removals) else { return };
    for (key, value) in removals {
        match patch.get_mut(&key) {
            Some(mine) => overlay(mine, value),
            None => {
                patch.insert(key, value);
            }
        }
    }
}

/// The RFC 7386 patch that turns `from` into `to`; lists are taken whole.
pub(crate) fn merge_patch(from: &Value, to: &Value) -> Value {
    match (from, to) {
        (Value::Object(from), Value::Object(to)) => Value::Object(merge_objects(from, to)),
        _ => to.clone(),
    }
}

fn merge_objects(from: &Map<String, Value>, to: &Map<String, Value>) -> Map<String, Value> {
    let mut patch = Map::new();
    for (key, new) in to {
        match (from.get(key), new) {
            // Each level is looked at once: only equal objects leave nothing.
            (Some(Value::Object(old)), Value::Object(new)) => {
                let inner = merge_objects(old, new);
                if !inner.is_empty() {
                    patch.insert(key.clone(), Value::Object(inner));
                }
            }
            (Some(old), new) if same(old, new) => {}
            _ => {
                patch.insert(key.clone(), new.clone());
            }
        }
    }
    for key in from.keys().filter(|key| !to.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    patch
}

/// Equality as JSON sees it: `1` and `1.0` are one number.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => x == y || x.as_f64() == y.as_f64(),
        (Value::Array(x), Value::Array(y)) => x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y)),
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len()
                && x.iter().all(|(key, value)| y.get(key).is_some_and(|other| same(value, other)))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_merge_patch_names_only_what_differs() {
        let old = json!({"spec": {"a": "1", "list": ["x"], "gone": 1, "n": 1}});
        let new = json!({"spec": {"a": "2", "list": ["x", "y"], "n": 1.0}, "metadata": {}});
        assert_eq!(
            merge_patch(&old, &new),
            json!({"spec": {"a": "2", "list": ["x", "y"], "gone": null}, "metadata": {}})
        );
    }

    #[test]
    fn three_ways_keep_what_others_added() {
        let patch = three_way_merge(
            &json!({"spec": {"a": 1, "gone": 1}}),
            &json!({"spec": {"a": 2}}),
            &json!({"spec": {"a": 1, "gone": 1, "theirs": 1}}),
        );
        assert_eq!(patch, json!({"spec": {"a": 2, "gone": null}}));
    }

    #[test]
    fn custom_resources_are_not_typed_and_crds_are() {
        let gvk = |group: &str, version: &str, kind: &str| Gvk {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
        };
        assert!(is_typed(&gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition")));
        assert!(!is_typed(&gvk("apiextensions.k8s.io", "v1beta1", "CustomResourceDefinition")));
        assert!(!is_typed(&gvk("trainer.kubeflow.org", "v1alpha1", "TrainJob")));
        assert!(!is_typed(&gvk("apiregistration.k8s.io", "v1", "APIService")));
    }
}
