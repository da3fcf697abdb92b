use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::cluster::simulated::namespace_object;
use crate::upgrade::world::simulated;

fn item(object: &Value, place: Place) -> Item {
    let object = Arc::new(object.clone());
    let name = k8s::object_name(&object);
    Item { group: Gvk::of(&object).group, name, place, source: String::new(), object }
}

fn found(manifest: &Value, live: &Value) -> Vec<Edit> {
    let mut world = simulated("v1.34.3");
    world.load([namespace_object("ns")]);
    of_object(&mut world, &item(manifest, Place::Templates), live).unwrap()
}

/// Paths of what is set back when a live object becomes another.
fn set_back(edits: &[Edit], before: &Value, after: &Value) -> Vec<String> {
    let look = |object: &Value| Snapshot::new(vec![Arc::new(object.clone())]);
    let all = undone(edits, &look(before), &look(after)).into_iter();
    all.flat_map(|one| one.fields).map(|field| field.path).collect()
}

fn deployment(spec: &Value, managers: &Value) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "ns", "uid": "1", "managedFields": managers}, "spec": spec})
}

fn spec(replicas: u8, containers: &Value) -> Value {
    json!({"replicas": replicas, "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": containers}}})
}

#[test]
fn defaults_and_other_words_for_one_quantity_are_no_edits() {
    let container = json!([{"name": "c", "image": "x:1", "ports": [{"containerPort": 80}], "resources": {"limits": {"cpu": "1000m"}}}]);
    let manifest = deployment(&spec(1, &container), &json!([]));
    let filled = json!([{"name": "c", "image": "x:1", "imagePullPolicy": "IfNotPresent", "terminationMessagePath": "/dev/termination-log",
        "ports": [{"containerPort": 80, "protocol": "TCP"}], "resources": {"limits": {"cpu": "1"}}}]);
    assert_eq!(found(&manifest, &deployment(&spec(1, &filled), &json!([]))), []);
    let helm =
        json!([{"manager": "helm3", "operation": "Update", "fieldsV1": {"f:spec": {"f:strange": {}}}}]);
    let mut strange = deployment(&spec(1, &filled), &helm);
    strange["spec"]["strange"] = json!(1);
    assert_eq!(found(&manifest, &strange), [], "a default that only the real server knows");
}

#[test]
fn what_was_changed_added_and_taken_away_is_set_back_or_stays() {
    let container = |image: &str, env: &Value| json!([{"name": "c", "image": image, "env": env}]);
    let manifest = deployment(&spec(1, &container("x:1", &json!([{"name": "A", "value": "1"}]))), &json!([]));
    let by = json!([{"manager": "kubectl", "operation": "Update", "subresource": "scale", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]);
    let live = deployment(
        &spec(
            3,
            &container("x:2", &json!([{"name": "NEW", "value": "user"}, {"name": "OWN", "value": "1"}])),
        ),
        &by,
    );
    let edits = found(&manifest, &live);
    let after = deployment(
        &spec(
            1,
            &container(
                "x:1",
                &json!([{"name": "A", "value": "1"}, {"name": "NEW", "value": "chart"}, {"name": "OWN", "value": "1"}]),
            ),
        ),
        &json!([]),
    );
    let at = |tail: &str| format!("spec.template.spec.containers[c].{tail}");
    let wanted = ["spec.replicas".to_owned(), at("env[A]"), at("env[NEW]"), at("image")];
    let mut paths = set_back(&edits, &live, &after);
    paths.sort();
    assert_eq!(paths, wanted);
    let replicas = edits.iter().find(|edit| edit.difference.path.to_string() == "spec.replicas").unwrap();
    assert_eq!(replicas.by, BTreeSet::from(["kubectl".to_owned()]));
    assert_eq!(set_back(&edits, &live, &live), [""; 0]);
    assert_eq!(set_back(&edits, &after, &after), [""; 0], "what was set back before is no news");
    let mut anew = after;
    anew["metadata"]["uid"] = json!("2");
    assert_eq!(set_back(&edits, &live, &anew), [""; 0], "another object is a loss");
}

fn config(data: &Value, managers: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "c", "namespace": "ns", "uid": "1", "managedFields": managers}, "data": data})
}

#[test]
fn what_a_program_fills_in_is_its_own_and_what_a_person_fills_in_is_not() {
    let by =
        |who: &str| json!([{"manager": who, "operation": "Update", "fieldsV1": {"f:data": {"f:ca": {}}}}]);
    let manifest = config(&json!({"ca": "", "n": "1"}), &json!([]));
    let live = |who: &str| config(&json!({"ca": "filled", "n": "1"}), &by(who));
    let after = config(&json!({"ca": "", "n": "1"}), &json!([]));
    assert_eq!(found(&manifest, &live("injector")), []);
    assert_eq!(
        set_back(&found(&manifest, &live("kubectl-edit")), &live("kubectl-edit"), &after),
        ["data.ca"]
    );
    let declared = config(&json!({"ca": "old", "n": "1"}), &json!([]));
    assert_eq!(set_back(&found(&declared, &live("injector")), &live("injector"), &after), ["data.ca"]);
}

#[test]
fn what_a_program_writes_anew_is_not_the_charts_doing() {
    let manifest = config(&json!({"ca": "none"}), &json!([]));
    let by = json!([{"manager": "injector", "operation": "Update", "fieldsV1": {"f:data": {"f:ca": {}}}}]);
    let (live, other) = (config(&json!({"ca": "1"}), &by), config(&json!({"ca": "2"}), &by));
    let edits = found(&manifest, &live);
    assert_eq!(set_back(&edits, &live, &other), [""; 0]);
    let helm = json!([{"manager": "helm", "operation": "Apply", "fieldsV1": {"f:data": {"f:ca": {}}}}]);
    assert_eq!(set_back(&edits, &live, &config(&json!({"ca": "2"}), &helm)), ["data.ca"]);
}

#[test]
fn tags_are_compared_where_versions_differ_and_of_definitions() {
    let object = |version: &str, n: u8, label: &str| {
        json!({"apiVersion": version, "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "h", "namespace": "ns", "uid": "1", "labels": {"l.x/y": label}}, "spec": {"maxReplicas": n}})
    };
    let edits = found(&object("autoscaling/v1", 1, "a"), &object("autoscaling/v2", 2, "b"));
    let after = object("autoscaling/v2", 1, "a");
    assert_eq!(set_back(&edits, &object("autoscaling/v2", 2, "b"), &after), ["metadata.labels[\"l.x/y\"]"]);
}

#[test]
fn plain_lists_of_custom_objects_are_one_value_and_named_ones_are_not() {
    let widget = |list: &Value| json!({"apiVersion": "example.test/v1", "kind": "Widget", "metadata": {"name": "w", "uid": "1"}, "spec": {"list": list}});
    let paths = |old: &Value, new: &Value| -> Vec<String> {
        let edits = found(&widget(old), &widget(new));
        edits.iter().map(|edit| edit.difference.path.to_string()).collect()
    };
    assert_eq!(paths(&json!([1, 2]), &json!([1, 3])), ["spec.list"]);
    assert_eq!(paths(&json!([{"name": "a", "x": 1}]), &json!([{"name": "a", "x": 2}])), ["spec.list[a].x"]);
    assert_eq!(paths(&json!([]), &json!(null)), [""; 0]);
}
