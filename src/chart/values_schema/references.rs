//! References in a schema: which lead nowhere, in the words of the library that Helm uses.

use std::collections::BTreeSet;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::Value;

/// The address that Helm gives a schema.
const FILE: &str = "file:///values.schema.json";

/// What may not stand in an address as it is.
const ODD: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Keywords that lead to another schema of the document by the way that was taken to them.
const DYNAMIC: [&str; 2] = ["$dynamicRef", "$recursiveRef"];

/// Whether a schema has references, which may go in circles.
pub(super) fn refers(schema: &Value) -> bool {
    let leads = |key: &String| key == "$ref" || DYNAMIC.contains(&key.as_str());
    match schema {
        Value::Object(map) => map.keys().any(leads) || map.values().any(refers),
        Value::Array(items) => items.iter().any(refers),
        _ => false,
    }
}

/// Spells references as addresses have to be; Go takes them as they come.
pub(super) fn spell(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::String(reference)) = map.get_mut("$ref") {
                *reference = utf8_percent_encode(reference, ODD).to_string();
            }
            map.values_mut().for_each(spell);
        }
        Value::Array(items) => items.iter_mut().for_each(spell),
        _ => {}
    }
}

/// Takes the references out of definitions that nothing refers to: Helm never follows them, wherever they lead.
pub(super) fn drop_unused(schema: &mut Value) {
    let Some(used) = used(schema) else { return };
    for place in PLACES {
        let Some(Value::Object(definitions)) = schema.get_mut(place) else { continue };
        for (name, definition) in definitions {
            if !used.contains(&(place, name.clone())) {
                drop_references(definition);
            }
        }
    }
}

fn drop_references(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if map.get("$ref").is_some_and(Value::is_string) {
                map.remove("$ref");
            }
            map.values_mut().for_each(drop_references);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_references),
        _ => {}
    }
}

/// Where definitions stand.
const PLACES: [&str; 2] = ["definitions", "$defs"];

/// A definition: its place and its name.
type Definition = (&'static str, String);

/// The definitions that references lead to; `None` when some reference goes by a name.
fn used(schema: &Value) -> Option<BTreeSet<Definition>> {
    let mut used = BTreeSet::new();
    let rules = schema.as_object()?.iter().filter(|(key, _)| !PLACES.contains(&key.as_str()));
    let mut waiting: Vec<&Value> = rules.map(|(_, rule)| rule).collect();
    if let Some(Value::String(own)) = schema.get("$ref") {
        follow(schema, own, &mut used, &mut waiting)?;
    }
    while let Some(next) = waiting.pop() {
        match next {
            Value::Object(map) => {
                if DYNAMIC.iter().any(|keyword| map.contains_key(*keyword)) {
                    return None;
                }
                if let Some(Value::String(reference)) = map.get("$ref") {
                    follow(schema, reference, &mut used, &mut waiting)?;
                }
                waiting.extend(map.values());
            }
            Value::Array(items) => waiting.extend(items),
            _ => {}
        }
    }
    Some(used)
}

/// Notes where a reference leads, and what is there; `None` when it goes by a name.
fn follow<'s>(
    schema: &'s Value,
    reference: &str,
    used: &mut BTreeSet<Definition>,
    waiting: &mut Vec<&'s Value>,
) -> Option<()> {
    let Some(pointer) = reference.strip_prefix('#') else { return reference.contains(':').then_some(()) };
    let pointer = percent_encoding::percent_decode_str(pointer).decode_utf8_lossy();
    let mut steps = pointer.split('/').skip(1);
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return None;
    }
    let place = steps.next().and_then(|first| PLACES.into_iter().find(|place| *place == first));
    if let (Some(place), Some(name)) = (place, steps.next()) {
        let name = name.replace("~1", "/").replace("~0", "~");
        if let Some(found) = schema.get(place).and_then(|all| all.get(&name))
            && used.insert((place, name))
        {
            waiting.push(found);
        }
    }
    Some(())
}

/// Why a schema can't be used.
pub(super) fn in_helms_words(problem: &str) -> String {
    let lost = |what| problem.strip_prefix(what).and_then(|rest| rest.strip_suffix("' does not exist"));
    if let Some(pointer) = lost("Pointer '") {
        return format!("json-pointer in \"{FILE}#{pointer}\" not found");
    }
    if let Some(anchor) = lost("Anchor '") {
        return format!("anchor in \"{FILE}#{anchor}\" not found in schema \"{FILE}\"");
    }
    file(problem).map_or_else(|| problem.to_owned(), |path| no_such_file(&path))
}

/// The path of the file that a reference leads to.
fn file(problem: &str) -> Option<String> {
    let rest = problem.strip_prefix("Resource '")?;
    let (name, why) = rest.split_once("' is not present in a registry and retrieving it failed: ")?;
    let name = name.split_once('#').map_or(name, |(name, _)| name);
    if why == "No base URI is available" {
        return Some(joined(name));
    }
    name.strip_prefix("file://").filter(|path| path.starts_with('/')).map(str::to_owned)
}

/// A path beside the schema, which stands at the root.
fn joined(name: &str) -> String {
    let mut steps = Vec::new();
    for step in name.split('/') {
        match step {
            "" | "." => {}
            ".." => drop(steps.pop()),
            step => steps.push(step),
        }
    }
    format!("/{}", steps.join("/"))
}

/// Files beside charts are never read here, and hardly ever there: the path starts at the root.
fn no_such_file(path: &str) -> String {
    let plain = percent_encoding::percent_decode_str(path).decode_utf8_lossy();
    format!("failing loading \"file://{path}\": open {plain}: no such file or directory")
}

#[cfg(test)]
mod tests {
    use super::super::{Limits, check_one};
    use crate::chart::{Helm, Values};

    #[test]
    fn references_to_nothing_are_told_as_helm_tells_them() {
        // As both Helms print them (3.22.0, 4.3.1).
        let file = |path: &str, plain: &str| {
            format!("failing loading \"file://{path}\": open {plain}: no such file or directory")
        };
        let cases = [
            (r##"{"properties":{"a":{"$ref":"./schemas/../foo.json#/a"}}}"##, file("/foo.json", "/foo.json")),
            (r#"{"$ref":"../foo.json"}"#, file("/foo.json", "/foo.json")),
            (r#"{"$id":"x.json","$ref":"sub/foo.json"}"#, file("/sub/foo.json", "/sub/foo.json")),
            (r#"{"$ref":"file:///nope/foo.json"}"#, file("/nope/foo.json", "/nope/foo.json")),
            (r#"{"$ref":"foo bar.json"}"#, file("/foo%20bar.json", "/foo bar.json")),
            (
                r##"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"f.json"}}}"##,
                file("/f.json", "/f.json"),
            ),
            (
                r##"{"$ref":"#anchor"}"##,
                "anchor in \"file:///values.schema.json#anchor\" not found in schema \"file:///values.schema.json\"".to_owned(),
            ),
            (
                r##"{"$ref":"#/definitions/x"}"##,
                "json-pointer in \"file:///values.schema.json#/definitions/x\" not found".to_owned(),
            ),
        ];
        for (schema, expected) in cases {
            assert_eq!(
                check_one(schema.as_bytes(), &Values::new(), Helm::V4, &Limits::default()),
                Err(expected),
                "{schema}"
            );
        }
    }

    #[test]
    fn definitions_that_nobody_uses_may_lead_anywhere() {
        // As both Helms take them (3.22.0, 4.3.1).
        let unused = [
            r##"{"$defs":{"q":{"properties":{"z":{"$ref":"foo.json"}}}},"not":{"type":"string"}}"##,
            r##"{"definitions":{"q":{"$ref":"https://example.invalid/x"},"r":{"$ref":"#/definitions/q"}},"not":{"type":"string"}}"##,
            r##"{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"q":{"$ref":"foo.json"},"r":{}},"not":{"$ref":"#/definitions/s"},"$defs":{}}"##,
        ];
        let told =
            unused.map(|schema| check_one(schema.as_bytes(), &Values::new(), Helm::V4, &Limits::default()));
        let lost = "json-pointer in \"file:///values.schema.json#/definitions/s\" not found".to_owned();
        assert_eq!(told, [Ok(()), Ok(()), Err(lost)]);
        let used = r##"{"$ref":"#/definitions/r","definitions":{"q":{"$ref":"foo.json"},"r":{"items":{"$ref":"#/definitions/q"}}}}"##;
        assert!(check_one(used.as_bytes(), &Values::new(), Helm::V4, &Limits::default()).is_err());
    }

    #[test]
    fn names_in_references_may_have_spaces() {
        let schema =
            r##"{"properties":{"a":{"$ref":"#/definitions/a b"}},"definitions":{"a b":{"type":"object"}}}"##;
        let values: Values = serde_json::from_str(r#"{"a":"x"}"#).unwrap();
        let told = check_one(schema.as_bytes(), &values, Helm::V4, &Limits::default());
        assert_eq!(told, Err("- at '/a': got string, want object\n".to_owned()));
    }
}
