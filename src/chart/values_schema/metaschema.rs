//! What is wrong with a schema itself, in the words of the library that Helm uses.

use std::sync::LazyLock;

use jsonschema::{Draft, Registry, uri};
use serde_json::{Map, Value, json};

use super::explain;

/// The dialect of a schema that names none, or one that nobody knows.
const LATEST: &str = "https://json-schema.org/draft/2020-12/schema";

/// Why a schema's metaschema refuses it.
pub(super) fn refusal(schema: &Value) -> Option<String> {
    let named = schema.get("$schema").and_then(Value::as_str).unwrap_or(LATEST);
    let dialect = spelled(named.trim_end_matches('#'));
    let metaschema = metaschema(&dialect)?;
    let reasons = explain::explain_schema(metaschema, schema)?;
    Some(format!(
        "\"file:///values.schema.json#\" is not valid against metaschema: jsonschema validation failed with '{dialect}#'\n{reasons}"
    ))
}

/// A dialect as its metaschema spells it; either scheme will do.
fn spelled(dialect: &str) -> String {
    let bare = dialect.strip_prefix("https://").or_else(|| dialect.strip_prefix("http://"));
    match bare {
        Some("json-schema.org/schema") => LATEST.to_owned(),
        Some(bare) if bare.starts_with("json-schema.org/draft-0") => format!("http://{bare}"),
        Some(bare) if bare.starts_with("json-schema.org/draft/") => format!("https://{bare}"),
        _ => dialect.to_owned(),
    }
}

/// The metaschema of a dialect.
fn metaschema(dialect: &str) -> Option<&'static Value> {
    static KNOWN: [(&str, LazyLock<Option<Value>>); 5] = [
        ("http://json-schema.org/draft-04/schema", LazyLock::new(|| joined(KNOWN[0].0))),
        ("http://json-schema.org/draft-06/schema", LazyLock::new(|| joined(KNOWN[1].0))),
        ("http://json-schema.org/draft-07/schema", LazyLock::new(|| joined(KNOWN[2].0))),
        ("https://json-schema.org/draft/2019-09/schema", LazyLock::new(|| joined(KNOWN[3].0))),
        (LATEST, LazyLock::new(|| joined(LATEST))),
    ];
    KNOWN.iter().find(|(name, _)| *name == dialect).and_then(|(_, whole)| whole.as_ref())
}

/// A metaschema as one document, with its vocabularies inside.
fn joined(dialect: &str) -> Option<Value> {
    if let Some(draft) =
        ["04", "06", "07"].into_iter().find(|draft| dialect.contains(&format!("/draft-{draft}/")))
    {
        return Some(flat(dialect, draft));
    }
    let mut whole = document(dialect)?;
    let base = dialect.strip_suffix("/schema")?;
    let parts = whole.get("allOf").and_then(Value::as_array).into_iter().flatten();
    let names: Vec<String> = parts.filter_map(|part| part.get("$ref")?.as_str().map(str::to_owned)).collect();
    localise(&mut whole, "");
    let mut inside = Map::new();
    for name in names {
        let mut vocabulary = document(&format!("{base}/{name}"))?;
        let place = format!("/$defs/{}", name.replace('/', "~1"));
        localise(&mut vocabulary, &place);
        inside.insert(name, vocabulary);
    }
    if !inside.is_empty()
        && let Value::Object(map) = &mut whole
    {
        map.insert("$defs".to_owned(), Value::Object(inside));
    }
    Some(whole)
}

fn document(address: &str) -> Option<Value> {
    // A registry holds of the known metaschemas what somebody refers to.
    let asks = json!({ "$ref": address });
    let draft = if address.contains("/2019-09/") { Draft::Draft201909 } else { Draft::Draft202012 };
    let registry = Registry::new().draft(draft).add("urn:asks", asks).ok()?.prepare().ok()?;
    let resolver = registry.resolver(uri::from_str("urn:asks").ok()?);
    resolver.lookup(address).ok().map(|found| found.contents().clone())
}

/// Makes references lead to places of the whole document; `place` is where this part of it stands.
fn localise(part: &mut Value, place: &str) {
    match part {
        Value::Object(map) => {
            // Here any schema may stand: the outermost one judges it.
            for dynamic in ["$dynamicRef", "$recursiveRef"] {
                if map.get(dynamic).is_some_and(Value::is_string) {
                    map.remove(dynamic);
                    map.insert("$ref".to_owned(), "#".into());
                    return;
                }
            }
            if let Some(Value::String(reference)) = map.get_mut("$ref") {
                *reference = match reference.strip_prefix('#') {
                    Some(fragment) => format!("#{place}{fragment}"),
                    None => format!("#/$defs/{}", reference.replace('/', "~1")),
                };
            }
            if map.get("$id").is_some_and(Value::is_string) {
                map.remove("$id");
            }
            map.values_mut().for_each(|inner| localise(inner, place));
        }
        Value::Array(items) => items.iter_mut().for_each(|inner| localise(inner, place)),
        _ => {}
    }
}

/// What drafts 4, 6 and 7 ask of keywords.
fn flat(dialect: &str, draft: &str) -> Value {
    let schema = json!({ "$ref": "#" });
    let by_name = json!({ "type": "object", "additionalProperties": schema });
    let count = json!({ "type": "integer", "minimum": 0 });
    let least = json!({ "allOf": [count, { "default": 0 }] });
    let (text, number, flag) =
        (json!({ "type": "string" }), json!({ "type": "number" }), json!({ "type": "boolean" }));
    let schemas = json!({ "$ref": "#/definitions/schemas" });
    let strings = json!({ "$ref": "#/definitions/strings" });
    let (fourth, seventh) = (draft == "04", draft == "07");
    let inner = if fourth { json!({ "anyOf": [flag, schema] }) } else { schema.clone() };
    let bound = if fourth { &flag } else { &number };
    let reference = json!({ "type": "string", "format": "uri-reference" });
    let regex = json!({ "type": "string", "format": "regex" });
    let named = if seventh {
        json!({ "type": "object", "additionalProperties": schema, "propertyNames": { "format": "regex" } })
    } else {
        by_name.clone()
    };
    let divisor = if fourth {
        json!({ "type": "number", "minimum": 0, "exclusiveMinimum": true })
    } else {
        json!({ "type": "number", "exclusiveMinimum": 0 })
    };
    let choices = json!({ "type": "array", "minItems": 1, "uniqueItems": true });
    let mut keywords = json!({
        "$schema": text, "$ref": text, "title": text, "description": text, "format": text,
        "multipleOf": divisor, "maximum": number, "minimum": number, "exclusiveMaximum": bound, "exclusiveMinimum": bound,
        "maxLength": count, "minLength": least, "maxItems": count, "minItems": least,
        "maxProperties": count, "minProperties": least, "pattern": regex, "uniqueItems": flag,
        "additionalItems": inner, "additionalProperties": inner,
        "items": { "anyOf": [schema, schemas] }, "required": strings,
        "definitions": by_name, "properties": by_name, "patternProperties": named,
        "dependencies": { "type": "object", "additionalProperties": { "anyOf": [schema, strings] } },
        "enum": choices,
        "type": { "anyOf": [
            { "$ref": "#/definitions/types" },
            { "type": "array", "items": { "$ref": "#/definitions/types" }, "minItems": 1, "uniqueItems": true },
        ] },
        "allOf": schemas, "anyOf": schemas, "oneOf": schemas, "not": schema,
    });
    let since_sixth =
        json!({ "contains": schema, "propertyNames": schema, "$id": reference, "$ref": reference });
    let since_seventh = json!({
        "$comment": text, "examples": { "type": "array" }, "readOnly": flag, "writeOnly": flag, "if": schema, "then": schema, "else": schema,
        "contentMediaType": text, "contentEncoding": text,
    });
    for (has, more) in [(!fourth, since_sixth), (seventh, since_seventh)] {
        if let (true, Value::Object(all), Value::Object(more)) = (has, &mut keywords, more) {
            all.extend(more);
        }
    }
    let mut whole = json!({
        "$schema": dialect, "type": if fourth { json!("object") } else { json!(["object", "boolean"]) },
        "properties": keywords,
        "definitions": {
            "schemas": { "type": "array", "minItems": 1, "items": schema },
            "strings": { "type": "array", "items": text, "uniqueItems": true },
            "types": { "enum": ["array", "boolean", "integer", "null", "number", "object", "string"] },
        },
    });
    if fourth {
        whole["dependencies"] = json!({ "exclusiveMaximum": ["maximum"], "exclusiveMinimum": ["minimum"] });
        whole["definitions"]["strings"]["minItems"] = 1.into();
    }
    whole
}
