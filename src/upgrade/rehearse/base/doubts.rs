//! What the state that a rehearsal starts from can't be right about, or what was wrong with it before: told, not judged.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::leaving;
use crate::cluster::simulated::Simulated;
use crate::cluster::{Cluster as _, Unreachable};
use crate::finding::ObjectName;
use crate::k8s::{self, At as _, Gvk, catalogue};
use crate::upgrade::actors::helm::is_typed_group;
use crate::upgrade::course::Course;
use crate::upgrade::{rollout, stuck};

/// Most fields that are named of one object.
const NAMED: usize = 3;

/// Lines about handed-in objects that can't live so in a cluster, and about what was in trouble before anything was done.
pub(super) fn doubts(
    course: &mut Course<Simulated>,
    given: &[Value],
    notes: &[String],
) -> Result<Vec<String>, Unreachable> {
    let mut lines = unknown_fields(&course.world, given);
    lines.extend(leaving::lines(&course.world, given));
    lines.extend(unserved_versions(&mut course.world, given)?);
    lines.extend(stuck::in_trouble(notes).into_iter().map(|(object, error)| {
        format!(
            "{object}: its controller could not bring it on before the upgrade already: {error}; what the upgrade does \
             to it beyond that could not be checked (a state has to hold what its objects refer to)"
        )
    }));
    let unready = rollout::unfinished(&*course.snapshot()?);
    lines.extend(unready.into_iter().map(|(object, reason)| {
        format!("{object}: its pods were not ready before the upgrade already: {reason}")
    }));
    Ok(lines)
}

/// Whether a definition is one of the first form, whose schemas stand elsewhere: they are not read.
pub(super) fn is_old_definition(object: &Value) -> bool {
    let Gvk { group, version, kind } = Gvk::of(object);
    kind == "CustomResourceDefinition" && group == "apiextensions.k8s.io" && version != "v1"
}

/// Lines about built-in objects in versions that the server does not serve.
fn unserved_versions(world: &mut Simulated, given: &[Value]) -> Result<Vec<String>, Unreachable> {
    let kubernetes = world.version()?;
    let mut served: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for api in world.discover()?.iter() {
        let kind = (api.resource.group.clone(), api.kind.clone());
        served.entry(kind).or_default().push(api.resource.version.clone());
    }
    let mut alike: BTreeMap<String, Vec<ObjectName>> = BTreeMap::new();
    for object in given {
        let Gvk { group, version, kind } = Gvk::of(object);
        let Some(builtin) = catalogue::by_kind(&group, &kind) else { continue };
        let known = served.get(&(group.clone(), builtin.kind.to_owned()));
        let Some(known) = known.filter(|known| !known.contains(&version)) else { continue };
        let what = if is_old_definition(object) { LEFT_OUT } else { TAKEN };
        let told = format!(
            "{group}/{version} is not served by Kubernetes {kubernetes}, which has {}; {what}",
            known.join(", ")
        );
        alike.entry(told).or_default().push(k8s::object_name(object));
    }
    Ok(alike.into_iter().filter_map(|(what, objects)| line(&what, &objects)).collect())
}

const LEFT_OUT: &str = "it was left out, as its schemas can't be read; hand it in as `kubectl get crd NAME -o yaml` of a newer kubectl prints it";
const TAKEN: &str = "it was taken as it stands";

/// Fields and versions of custom objects that no definition in force knows: the server keeps no such thing.
fn unknown_fields(world: &Simulated, given: &[Value]) -> Vec<String> {
    let key = |object: &Value| (Gvk::of(object).group, k8s::object_name(object));
    let custom = given.iter().filter(|object| !is_typed_group(&Gvk::of(object).group));
    let custom: BTreeMap<_, _> = custom.map(|object| (key(object), object)).collect();
    if custom.is_empty() {
        return Vec::new();
    }
    let shown = world.shown().filter_map(|shown| Some((*custom.get(&key(&shown))?, shown)));
    let mut alike: BTreeMap<String, Vec<ObjectName>> = BTreeMap::new();
    let versions = versions(world);
    for (given, shown) in shown {
        if let Some(what) = unknown_version(given, &versions).or_else(|| difference(given, &shown)) {
            alike.entry(what).or_default().push(k8s::object_name(given));
        }
    }
    alike.into_iter().filter_map(|(what, objects)| line(&what, &objects)).collect()
}

/// Which versions of each custom kind the definitions have, by group and kind.
fn versions(world: &Simulated) -> BTreeMap<(String, String), Vec<String>> {
    let definitions =
        Simulated::objects(world).filter(|object| k8s::text(object, "/kind") == "CustomResourceDefinition");
    let of = |definition: &Arc<Value>| {
        let kind = ["/spec/group", "/spec/names/kind"].map(|at| k8s::text(definition, at).to_owned());
        let versions = definition.at("/spec/versions").and_then(Value::as_array).into_iter().flatten();
        let [group, kind] = kind;
        ((group, kind), versions.map(|version| k8s::text(version, "/name").to_owned()).collect())
    };
    definitions.map(of).collect()
}

fn unknown_version(given: &Value, versions: &BTreeMap<(String, String), Vec<String>>) -> Option<String> {
    let Gvk { group, version, kind } = Gvk::of(given);
    let known = versions.get(&(group.clone(), kind))?;
    (!known.contains(&version)).then(|| {
        format!(
            "{group}/{version} is no version of its definition, which has {}; it was taken as it stands",
            known.join(", ")
        )
    })
}

pub(super) fn line(what: &str, objects: &[ObjectName]) -> Option<String> {
    let (first, more) = objects.split_first()?;
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    Some(format!("{first}{more}: {what}"))
}

/// What a handed-in object says that the server does not show of it.
fn difference(given: &Value, shown: &Arc<Value>) -> Option<String> {
    let mut paths = Vec::new();
    let fields = given.as_object().into_iter().flatten();
    for (key, value) in
        fields.filter(|(key, _)| !matches!(key.as_str(), "apiVersion" | "kind" | "metadata" | "status"))
    {
        missing(value, shown.get(key), &format!(".{key}"), &mut paths);
    }
    let more = paths.len().saturating_sub(NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let named = paths.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    (!paths.is_empty()).then(|| {
        format!(
            "{named}{more}: not in its definition, so the server drops it (a slip, or a definition that the state has to \
             bring along); what would follow from it could not be checked"
        )
    })
}

/// Paths of what a value holds and another lacks.
fn missing(given: &Value, shown: Option<&Value>, at: &str, paths: &mut Vec<String>) {
    match (given, shown) {
        (Value::Null, _) => {}
        (_, None) => paths.push(at.to_owned()),
        (Value::Object(given), Some(Value::Object(shown))) => {
            for (key, value) in given {
                missing(value, shown.get(key), &format!("{at}.{key}"), paths);
            }
        }
        (Value::Array(given), Some(Value::Array(shown))) => {
            for (index, (value, shown)) in given.iter().zip(shown).enumerate() {
                missing(value, Some(shown), &format!("{at}[{index}]"), paths);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_server_drops_is_named() {
        let given = json!({"kind": "Widget", "metadata": {"x": 1}, "spec": {"size": 1, "suspnd": true, "parts": [{"a": 1, "b": 2}], "none": null}});
        let shown = Arc::new(json!({"spec": {"size": 2, "parts": [{"a": 1}], "more": 1}}));
        let told = difference(&given, &shown).expect("a difference");
        assert!(told.starts_with(".spec.parts[0].b, .spec.suspnd: not in its definition"), "{told}");
        assert_eq!(difference(&json!({"spec": {"size": 1}}), &shown), None);
    }
}
