use serde_json::json;

use super::*;

fn fault(object: &Value) -> (String, String) {
    let fault = lives(object).unwrap_err();
    (fault.pointer, fault.message)
}

fn with(key: &str, value: Value) -> Value {
    let mut object =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n"}});
    object["metadata"][key] = value;
    object
}

#[test]
fn objects_as_servers_print_them_are_sound() {
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}, "metadata": {
        "name": "a", "namespace": "n", "uid": "u", "generation": 3, "creationTimestamp": "2026-01-02T03:04:05Z",
        "deletionTimestamp": null, "labels": {"x": "y", "none": null}, "finalizers": ["example.test/a"],
        "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "q", "controller": true}],
        "managedFields": [{"manager": "m", "fieldsV1": {"f:data": {}}, "time": "2026-01-02T03:04:05.123456Z"}],
    }});
    assert_eq!(lives(&object), Ok(()));
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "system:a"}});
    assert_eq!(lives(&role), Ok(()));
}

#[test]
fn names_and_namespaces_have_to_be_right() {
    let mut object = with("name", Value::Null);
    assert_eq!(fault(&object), ("/metadata".into(), "metadata.name is missing".into()));
    object["metadata"] = Value::Null;
    assert_eq!(fault(&object).1, "metadata is missing");
    object["metadata"] = json!([]);
    assert_eq!(fault(&object).1, "metadata is a list, not a mapping");
    assert_eq!(fault(&with("name", json!(5))).1, "metadata.name is a number, not a text");
    assert_eq!(
        fault(&with("name", json!("a/b"))).1,
        "metadata.name \"a/b\" can't be a name: it is a part of paths"
    );
    assert!(
        fault(&with("name", json!("bad job")))
            .1
            .starts_with("metadata.name \"bad job\" can't be a name: they")
    );
    let service =
        json!({"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1."}});
    assert_eq!(lives(&service), Ok(()));
    assert_eq!(
        fault(&with("namespace", json!("A_B"))).1,
        "metadata.namespace \"A_B\" can't be the name of a namespace"
    );
    assert_eq!(
        fault(&with("namespace", Value::Null)).1,
        "ConfigMap \"a\" has no metadata.namespace, and lives in one"
    );
    let namespace =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a", "namespace": "n"}});
    assert_eq!(
        fault(&namespace),
        (
            "/metadata/namespace".into(),
            "Namespace \"a\" has the namespace \"n\", and lives outside of all".into()
        )
    );
}

#[test]
fn fields_of_the_metadata_have_their_types() {
    let wrong = [
        ("labels", json!({"x": 5}), "metadata.labels: the value of \"x\" is a number, not a text"),
        ("labels", json!(["x"]), "metadata.labels is a list, not a mapping"),
        (
            "annotations",
            json!({"x": {}}),
            "metadata.annotations: the value of \"x\" is a mapping, not a text",
        ),
        ("finalizers", json!("a"), "metadata.finalizers is a text, not a list of texts"),
        ("finalizers", json!(["a", 1]), "metadata.finalizers[1] is a number, not a text"),
        ("ownerReferences", json!({}), "metadata.ownerReferences is a mapping, not a list of mappings"),
        ("ownerReferences", json!(["a"]), "metadata.ownerReferences[0] is a text, not a mapping"),
        ("ownerReferences", json!([{"kind": "A"}]), "metadata.ownerReferences[0].apiVersion is missing"),
        ("generation", json!("5"), "metadata.generation is a text, not an integer"),
        (
            "creationTimestamp",
            json!("x"),
            "metadata.creationTimestamp \"x\" is no time such as 2006-01-02T15:04:05Z",
        ),
        ("uid", json!(7), "metadata.uid is a number, not a text"),
    ];
    for (key, value, message) in wrong {
        assert_eq!(fault(&with(key, value)).1, message);
    }
    let mut owner = json!({"apiVersion": "v1", "kind": "A", "name": "a", "uid": "u", "controller": "yes"});
    let told = fault(&with("ownerReferences", json!([owner])));
    assert_eq!(told.1, "metadata.ownerReferences[0].controller is a text, not a boolean");
    assert_eq!(told.0, "/metadata/ownerReferences/0/controller");
    owner["controller"] = Value::Null;
    owner["id"] = json!(1);
    assert_eq!(
        fault(&with("ownerReferences", json!([owner]))).1,
        "metadata.ownerReferences[0].id is no field of an owner reference"
    );
    assert!(
        fault(&with("lables", json!({})))
            .1
            .starts_with("metadata.lables is no field of metadata; known are annotations")
    );
}

#[test]
fn built_in_kinds_have_to_be_decodable() {
    let object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": "n"}, "spec": {"replicas": "3"}});
    assert_eq!(
        fault(&object),
        (
            "/spec/replicas".into(),
            "Deployment \"a\" can't be decoded: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32".into()
        )
    );
}

#[test]
fn definitions_have_what_they_need_to_serve_their_kind() {
    let sound = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "gears.example.test"}, "spec": {
        "group": "example.test", "scope": "Namespaced", "names": {"plural": "gears", "kind": "Gear"},
        "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]}});
    assert_eq!(lives(&sound), Ok(()));
    let changed = |pointer: &str, value: Value| {
        let mut crd = sound.clone();
        *crd.pointer_mut(pointer).unwrap() = value;
        fault(&crd).1
    };
    assert!(
        changed("/spec", json!(5))
            .contains("cannot unmarshal number into Go struct field CustomResourceDefinition.spec")
    );
    assert_eq!(changed("/spec", Value::Null), "spec.group of the definition is missing");
    assert_eq!(changed("/spec/names/kind", json!("")), "spec.names.kind of the definition is missing");
    assert_eq!(changed("/spec/scope", json!("Nowhere")), "spec.scope is neither Namespaced nor Cluster");
    assert_eq!(
        changed("/metadata/name", json!("gear")),
        "a definition's name is PLURAL.GROUP, here \"gears.example.test\""
    );
    assert_eq!(
        changed("/spec/versions", json!([])),
        "exactly one of spec.versions is stored (storage: true), here 0"
    );
    assert_eq!(
        changed("/spec/versions/0/name", json!("")),
        "spec.versions[0].name of the definition is missing"
    );
}

#[test]
fn times_are_those_of_go() {
    for time in ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.5Z", "2026-01-02T03:04:05+02:00"] {
        assert!(is_time(time), "{time}");
    }
    for time in ["", "2026-01-02", "2026-01-02 03:04:05Z", "2026-01-02T03:04:05", "2026-01-02T03:04:05+2:00"]
    {
        assert!(!is_time(time), "{time}");
    }
}
