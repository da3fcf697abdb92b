//! Starting states from handed-in objects: what is installed, what is laid over it, and when nothing is installed.

use serde_json::json;

use super::*;
use crate::chart::{Chart, File, Helm, Values};
use crate::limits::Limits;
use crate::upgrade::actors::Subject;
use crate::upgrade::actors::helm::Forge;
use crate::upgrade::rehearse::State;
use crate::upgrade::renders::Engines;
use crate::upgrade::storage::Records;

const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.test}\nspec:\n  group: example.test\n  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}\n  scope: Cluster\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}\n";
const WIDGETS: &str = "apiVersion: example.test/v1\nkind: Widget\nmetadata: {name: one}\n---\napiVersion: example.test/v1\nkind: Widget\nmetadata: {name: two}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b}\n";
const WORKLOAD: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: app}\nspec:\n  selector: {matchLabels: {app: a}}\n  template:\n    metadata: {labels: {app: a}}\n    spec: {containers: [{name: c, image: demo:1}]}\n";

fn chart(files: &[(&str, &str)]) -> Arc<Chart> {
    let metadata = [("Chart.yaml", "apiVersion: v2\nname: demo\nversion: 1.0.0\n")];
    let file = |(path, text): &(&str, &str)| File {
        path: (*path).to_owned(),
        data: text.as_bytes().to_vec().into(),
    };
    let files = metadata.iter().chain(files).map(file).collect();
    Arc::new(Chart::from_files(files, Helm::V4, &Limits::default()).expect("a chart"))
}

fn full() -> Arc<Chart> {
    chart(&[("crds/c.yaml", DEFINITION), ("templates/w.yaml", WIDGETS), ("templates/d.yaml", WORKLOAD)])
}

fn plan(chart: &Arc<Chart>, state: Vec<Value>) -> Plan {
    Plan {
        before: Arc::clone(chart),
        after: Arc::clone(chart),
        before_name: "demo".to_owned(),
        after_name: "demo".to_owned(),
        words_before: crate::upgrade::words::ValuesWords::default(),
        words_after: crate::upgrade::words::ValuesWords::default(),
        values_before: Arc::new(Values::new()),
        values_after: Arc::new(Values::new()),
        subject: Subject { release: "r".to_owned(), namespace: "ns".to_owned() },
        kubernetes: "v1.34.3".to_owned(),
        state: (!state.is_empty()).then(|| State { name: "state".to_owned(), objects: state }),
    }
}

/// The states for an actor: who made the release, and the objects.
fn states(actor: &str, plan: &Plan, real: bool) -> Vec<(String, Vec<Value>)> {
    let records = if real { Records::real() } else { Records::default() };
    let forge = Forge::default();
    let workshop = Workshop { renderer: &Engines, records: &records, forge: &forge };
    let actor = actors::find(actor).expect("an actor");
    let shared = Shared::new(workshop, &crate::upgrade::world::simulated, []);
    let bases = bases(actor, plan, &workshop, &shared).expect("an answer");
    let state = |(_, base): Made| {
        let base = base.expect("a state");
        let objects = Simulated::objects(&base.course.world).map(|object| Value::clone(object)).collect();
        (base.made_by, objects)
    };
    bases.into_iter().map(state).collect()
}

fn names(objects: &[Value], kind: &str) -> Vec<String> {
    let of_kind = objects.iter().filter(|object| k8s::text(object, "/kind") == kind);
    of_kind.map(|object| k8s::text(object, "/metadata/name").to_owned()).collect()
}

fn widget(name: &str) -> Value {
    json!({"apiVersion": "example.test/v1", "kind": "Widget", "metadata": {"name": name}})
}

#[test]
fn custom_kinds_are_held_completely_and_others_are_not() {
    let settings =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "mine", "namespace": "ns"}});
    let found = states("helm3", &plan(&full(), vec![widget("one"), widget("own"), settings]), false);
    let [(made_by, objects)] = &found[..] else { panic!("one state") };
    assert_eq!(made_by, "helm3");
    assert_eq!(
        names(objects, "Widget"),
        ["one", "own"],
        "what the state lacks of a custom kind is not there"
    );
    let settings = names(objects, "ConfigMap");
    assert!(
        settings.contains(&"settings".to_owned()) && settings.contains(&"mine".to_owned()),
        "{settings:?}"
    );
    assert_eq!(names(objects, "Deployment"), ["app"]);
    assert_eq!(names(objects, "CustomResourceDefinition"), ["widgets.example.test"]);
}

#[test]
fn a_live_object_replaces_the_installed_one() {
    let mut live = widget("one");
    live["metadata"]["annotations"] = json!({"helm.sh/resource-policy": "keep"});
    live["metadata"]["uid"] = json!("6f1c0d4e-0000-4000-8000-000000000001");
    let mut crd = crate::yaml::to_json(DEFINITION.as_bytes(), &Limits::default()).expect("yaml");
    crd["metadata"]["annotations"] = json!({"helm.sh/resource-policy": "keep"});
    let found = states("helm3", &plan(&full(), vec![crd, live]), false);
    let object = |kind: &str| {
        found[0].1.iter().find(|object| k8s::text(object, "/kind") == kind).expect("an object").clone()
    };
    assert_eq!(k8s::text(&object("Widget"), "/metadata/uid"), "6f1c0d4e-0000-4000-8000-000000000001");
    let definition = object("CustomResourceDefinition");
    assert_eq!(k8s::annotation(&definition, "helm.sh/resource-policy"), Some("keep"));
}

#[test]
fn objects_prove_their_namespace_and_what_nobody_serves_is_not_there() {
    let object = |version: &str, kind: &str| json!({"apiVersion": version, "kind": kind, "metadata": {"name": "one", "namespace": "team"}});
    let state = vec![object("v1", "ConfigMap"), object("stranger.test/v1", "Stranger")];
    let objects = &states("helm3", &plan(&full(), state), false)[0].1;
    assert!(names(objects, "Namespace").contains(&"team".to_owned()));
    assert_eq!(names(objects, "Stranger"), [""; 0], "it would hold its namespace for ever");
}

#[test]
fn without_records_both_makers_are_tried() {
    let makers = |actor: &str| -> Vec<String> {
        states(actor, &plan(&full(), vec![widget("one")]), false).into_iter().map(|(by, _)| by).collect()
    };
    assert_eq!(makers("helm3"), ["helm3"]);
    assert_eq!(makers("helm4"), ["helm3", "helm4"]);
}

/// A dump of a cluster in which a Helm made the release, as `kubectl get` shows it: without managers.
fn dump(chart: &Arc<Chart>, maker: usize) -> Vec<Value> {
    let mut objects = states("helm4", &plan(chart, Vec::new()), true).remove(maker).1;
    for object in &mut objects {
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("managedFields");
        }
    }
    objects
}

#[test]
fn a_state_with_records_is_taken_as_it_is() {
    for (maker, expected) in [(0, "helm3"), (1, "helm4")] {
        let mut objects = dump(&full(), maker);
        // What an install would bring back.
        objects.retain(|object| k8s::text(object, "/metadata/name") != "settings");
        let found = states("helm4", &plan(&full(), objects), false);
        let [(made_by, objects)] = &found[..] else { panic!("one state") };
        assert_eq!(made_by, expected, "the record says who made it");
        assert!(!names(objects, "ConfigMap").contains(&"settings".to_owned()), "nothing was installed");
        assert_eq!(names(objects, "Secret"), ["sh.helm.release.v1.r.v1"]);
    }
}

#[test]
fn a_release_without_workloads_is_recognised_too() {
    let chart = chart(&[("crds/c.yaml", DEFINITION), ("templates/w.yaml", WIDGETS)]);
    let mut objects = dump(&chart, 0);
    objects.retain(|object| k8s::text(object, "/metadata/name") != "two");
    let found = states("helm3", &plan(&chart, objects), false);
    assert_eq!(names(&found[0].1, "Widget"), ["one", "sample"]);
    assert!(names(&found[0].1, "ConfigMap").contains(&"settings".to_owned()));
}

#[test]
fn records_without_the_objects_take_the_place_of_the_installed_one() {
    let mut objects = dump(&full(), 1);
    objects.retain(|object| k8s::text(object, "/kind") == "Secret");
    let found = states("helm4", &plan(&full(), objects), false);
    let [(made_by, objects)] = &found[..] else { panic!("one state") };
    assert_eq!(made_by, "helm4");
    assert_eq!(names(objects, "Deployment"), ["app"], "the chart was installed");
    assert_eq!(names(objects, "Secret"), ["sh.helm.release.v1.r.v1"]);
    let secret = objects.iter().find(|object| k8s::text(object, "/kind") == "Secret").expect("a record");
    let data = record::unbase64(k8s::text(secret, "/data/release")).expect("base64");
    assert!(record::decode(&String::from_utf8(data).expect("text")).is_ok(), "in Helm's own format");
}

/// What a rehearsal of a state says instead of its ways, and its lines about objects.
fn said(state: Vec<Value>) -> (String, Vec<String>) {
    let (plan, records, forge) = (plan(&full(), state), Records::default(), Forge::default());
    let workshop = Workshop { renderer: &Engines, records: &records, forge: &forge };
    let shared = Shared::new(workshop, &crate::upgrade::world::simulated, []);
    let actor = actors::find("helm3").expect("an actor");
    let obstacle = obstacle(&plan, &shared).expect("an answer").unwrap_or_default();
    let made = bases(actor, &plan, &workshop, &shared).expect("an answer");
    (obstacle, made.into_iter().filter_map(|(_, base)| base).flat_map(|base| base.doubts).collect())
}

#[test]
fn a_release_namespace_that_is_being_deleted_is_told_in_the_servers_words() {
    let mut namespace = namespace_object("ns");
    namespace["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let (obstacle, _) = said(vec![namespace.clone()]);
    let refusal = "secrets \"sh.helm.release.v1.r.v2\" is forbidden: unable to create new content in namespace ns because it is being terminated";
    assert!(obstacle.contains(refusal), "{obstacle}");
    namespace["metadata"]["name"] = json!("other");
    assert_eq!(said(vec![namespace]).0, "");
}

#[test]
fn versions_that_are_not_served_are_named_and_old_definitions_left_out() {
    let mut definition: Value =
        crate::yaml::to_json(DEFINITION.as_bytes(), &Limits::default()).expect("YAML");
    definition["apiVersion"] = json!("apiextensions.k8s.io/v1beta1");
    let budget = json!({"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "ns"}});
    let (_, doubts) = said(vec![definition, budget]);
    let told = |name: &str| doubts.iter().find(|line| line.starts_with(name)).cloned().unwrap_or_default();
    let left_out = told("CustomResourceDefinition//widgets.example.test");
    assert!(
        left_out.contains("v1beta1 is not served by Kubernetes v1.34.3, which has v1; it was left out"),
        "{doubts:?}"
    );
    assert!(
        told("PodDisruptionBudget/ns/b").ends_with("which has v1; it was taken as it stands"),
        "{doubts:?}"
    );
}
