use serde_json::json;

use super::*;
use crate::chart::Metadata;

fn object(value: Value) -> Values {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is no map"),
    }
}

fn chart(name: &str, values: Value, dependencies: Vec<Chart>) -> Chart {
    let metadata = Metadata { name: name.to_owned(), ..Metadata::default() };
    Chart { metadata, values: object(values), dependencies, ..Chart::default() }
}

fn merged(chart: &Chart, user: Value, helm: Helm) -> (Value, Vec<String>) {
    let mut notices = Notices::new(helm);
    let values = coalesce(chart, &object(user), &mut notices).unwrap();
    (Value::Object(values), notices.into_lines())
}

#[test]
fn nulls_follow_the_version() {
    let chart = chart("c", json!({"n": null, "m": {"d": null, "k": 1}, "t": 5}), Vec::new());
    let user = json!({"t": null, "m": {"k": null, "x": null}, "new": null});
    let (values, _) = merged(&chart, user.clone(), Helm::V3);
    assert_eq!(values, json!({"n": null, "m": {"d": null, "x": null}, "new": null}));
    let (values, _) = merged(&chart, user.clone(), Helm::V4);
    assert_eq!(values, json!({"m": {"x": null}, "new": null}));
    let (values, _) = merged(&chart, user, Helm::parse("4.1.2").unwrap());
    assert_eq!(values["m"], json!({"d": null}));
    let (values, _) = merged(&chart, json!({"m": {"d": null}}), Helm::parse("3.19.4").unwrap());
    assert_eq!(values["m"], json!({"k": 1}));
}

#[test]
fn globals_go_down_and_deep_maps_are_shared() {
    let child = chart("kid", json!({"global": {"deep": {"map": {"own": 1}}, "flat": 2}}), Vec::new());
    let parent = chart("par", json!({"global": {"deep": {"map": {"given": 3}}}}), vec![child]);
    let (values, _) = merged(&parent, json!({}), Helm::V4);
    assert_eq!(values["kid"]["global"], json!({"deep": {"map": {"own": 1, "given": 3}}, "flat": 2}));
    // Helm copies globals one level deep only: what the subchart adds below shows in the parent too.
    assert_eq!(values["global"], json!({"deep": {"map": {"own": 1, "given": 3}}}));
}

#[test]
fn conflicts_are_told_in_each_helms_form() {
    let parent = chart("par", json!({"t": {"a": 1}, "s": "x"}), Vec::new());
    let user = json!({"t": "flat", "s": {"b": 1}});
    let (_, lines) = merged(&parent, user.clone(), Helm::V3);
    assert_eq!(lines, ["coalesce.go:237: warning: skipped value for par.s: Not a table."]);
    let (_, lines) = merged(&parent, user, Helm::V4);
    assert_eq!(lines, ["level=INFO msg=\"warning: skipped value for par.s: Not a table.\""]);
    let child = chart("kid", json!({}), Vec::new());
    let parent = chart("par", json!({}), vec![child]);
    let error = coalesce(&parent, &object(json!({"kid": "x"})), &mut Notices::new(Helm::V4)).unwrap_err();
    assert_eq!(error.message, "type mismatch on kid: %!t(string=x)");
}

#[test]
fn streams_are_read_by_helm_4_only() {
    let text = b"a: 1\nb: {c: 1}\n---\nb: {d: 2}\n";
    let limits = Limits::default();
    assert_eq!(Value::Object(decode(text, Helm::V3, &limits).unwrap()), json!({"a": 1.0, "b": {"c": 1.0}}));
    assert_eq!(
        Value::Object(decode(text, Helm::V4, &limits).unwrap()),
        json!({"a": 1.0, "b": {"c": 1.0, "d": 2.0}})
    );
    let error = decode(b"- x\n", Helm::V4, &limits).unwrap_err();
    assert!(error.message.starts_with("cannot unmarshal yaml document: error unmarshaling JSON"), "{error}");
}
