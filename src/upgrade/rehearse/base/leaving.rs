//! Objects of a state that are being deleted: they were on their way out before anything is rehearsed.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::Plan;
use super::doubts::line;
use crate::cluster::simulated::Simulated;
use crate::cluster::{Cluster, Request, Resource, Unreachable};
use crate::finding::ObjectName;
use crate::k8s::{self, At as _, Gvk};
use crate::upgrade::release::records_of;

fn since(object: &Value) -> Option<&str> {
    object.at("/metadata/deletionTimestamp").and_then(Value::as_str).filter(|time| !time.is_empty())
}

fn finalizers(object: &Value) -> Vec<&str> {
    let list = object.at("/metadata/finalizers").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}

fn is_namespace(object: &Value) -> bool {
    k8s::text(object, "/kind") == "Namespace" && Gvk::of(object).group.is_empty()
}

/// Whether an object is being deleted and nothing holds it: it goes within seconds. A namespace waits for its contents.
pub(super) fn is_gone(object: &Value) -> bool {
    since(object).is_some() && finalizers(object).is_empty() && !is_namespace(object)
}

/// Why nothing can be rehearsed in a release's namespace that is being deleted, in the server's words: it takes no new
/// object there, and the first that an upgrade makes is its record.
pub(super) fn closing(
    given: &[Value],
    plan: &Plan,
    fresh: impl FnOnce() -> Simulated,
) -> Result<Option<String>, Unreachable> {
    let namespace = &plan.subject.namespace;
    let named = |object: &&Value| is_namespace(object) && k8s::text(object, "/metadata/name") == namespace;
    let Some((object, since)) = given.iter().find(named).and_then(|object| Some((object, since(object)?)))
    else {
        return Ok(None);
    };
    let mut world = fresh();
    world.load([object.clone()]);
    let record = format!("{}2", records_of(&plan.subject.release));
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": record}});
    let secrets = Resource::new("", "v1", "secrets");
    let answer = world.send(&Request::create(&secrets, namespace, Arc::new(secret)))?;
    Ok(Some(format!(
        "namespace {namespace} of the release has been on its deletion since {since}, everything in it goes, and the server \
         takes nothing new there: {}; let it go and install the new chart, or hand in a state from before",
        answer.message()
    )))
}

/// Lines about objects that were being deleted before anything was done.
pub(super) fn lines(world: &Simulated, given: &[Value]) -> Vec<String> {
    let mut alike: BTreeMap<String, Vec<ObjectName>> = BTreeMap::new();
    for object in given {
        // Pods come and go all the time, and their controllers see to it.
        let Some(since) = since(object).filter(|_| k8s::text(object, "/kind") != "Pod") else { continue };
        let told = format!("was being deleted already (since {since}): {}", end(world, object));
        alike.entry(told).or_default().push(k8s::object_name(object));
    }
    alike.into_iter().filter_map(|(what, objects)| line(&what, &objects)).collect()
}

/// What becomes of an object that is being deleted.
fn end(world: &Simulated, object: &Value) -> String {
    let (group, name) = (Gvk::of(object).group, k8s::object_name(object));
    let finalizers = finalizers(object);
    if world.get(&group, &name.kind, &name.namespace, &name.name).is_none() {
        return "nothing holds it, so it is taken to be gone, and what it held with it".to_owned();
    }
    let held = if finalizers.is_empty() {
        "it waits for what is in it".to_owned()
    } else {
        format!("it waits for {}", finalizers.join(", "))
    };
    let after = match k8s::text(object, "/kind") {
        "CustomResourceDefinition" => {
            "until then no object of its kind can be made, and then every one that is left goes with it; the rehearsal \
             keeps them, and what happens afterwards could not be checked"
        }
        "Namespace" => "no object can be made in it, and what nothing holds in it is gone",
        _ => "the rehearsal keeps it, and what happens once it goes could not be checked",
    };
    format!("{held}; {after}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upgrade::world;

    const TIME: &str = "2026-01-01T00:00:00Z";

    fn map(name: &str, finalizers: &[&str]) -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default",
            "deletionTimestamp": TIME, "finalizers": finalizers}})
    }

    #[test]
    fn what_is_being_deleted_is_named_with_what_holds_it() {
        let (held, loose) = (map("held", &["x.io/a", "x.io/b"]), map("loose", &[]));
        assert!(is_gone(&loose) && !is_gone(&held));
        let mut cluster = world::simulated("v1.34.3");
        cluster.load([held.clone()]);
        let told = lines(&cluster, &[held, loose]);
        assert_eq!(
            told,
            [
                "ConfigMap/default/held: was being deleted already (since 2026-01-01T00:00:00Z): it waits for x.io/a, x.io/b; the rehearsal keeps it, and what happens once it goes could not be checked",
                "ConfigMap/default/loose: was being deleted already (since 2026-01-01T00:00:00Z): nothing holds it, so it is taken to be gone, and what it held with it"
            ]
        );
    }

    #[test]
    fn a_definition_that_is_being_deleted_still_shows_its_objects() {
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "widgets.example.test", "deletionTimestamp": TIME,
                "finalizers": ["customresourcecleanup.apiextensions.k8s.io"]},
            "spec": {"group": "example.test", "names": {"kind": "Widget", "plural": "widgets"}, "scope": "Namespaced",
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
                    {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]},
        });
        let widget = |name: &str, finalizers: &[&str]| {
            json!({"apiVersion": "example.test/v1", "kind": "Widget",
                "metadata": {"name": name, "namespace": "default", "finalizers": finalizers}})
        };
        let mut cluster = world::simulated("v1.34.3");
        cluster.load([definition, widget("held", &["x.io/a"]), widget("loose", &[])]);
        cluster.wait(1.0).unwrap();
        assert!(cluster.resource("example.test", "Widget").is_some());
        let left: Vec<&str> = cluster
            .list("example.test", "Widget", "")
            .map(|object| k8s::text(object, "/metadata/name"))
            .collect();
        assert_eq!(left, ["held"]);
        let resource = Resource::new("example.test", "v1", "widgets");
        let made =
            cluster.send(&Request::create(&resource, "default", Arc::new(widget("new", &[])))).unwrap();
        assert_eq!(
            made.message(),
            "widgets.example.test \"new\" is forbidden: create not allowed while custom resource definition is terminating"
        );
    }
}
