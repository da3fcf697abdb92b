//! values.schema.json: the JSON Schema that a chart's values must satisfy.

mod bounds;
mod effort;
mod explain;
mod format_words;
mod formats;
mod gojsonschema;
mod metaschema;
mod patterns;
mod plain;
mod problem;
mod references;
mod same;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, ValidationOptions, Validator};
use serde_json::Value;

use self::references::{in_helms_words, refers};
use super::{Chart, Error, Helm, Values};
use crate::limits::Limits;
use crate::yaml::json;

/// Checks the merged values of a chart and its subcharts against their schemas.
///
/// As Helm v4.3.1 `pkg/chart/common/util/jsonschema.go` `ValidateAgainstSchema`, which is also what Helm 3 has since
/// 3.18.5. Problems of one object come in the order of its keys, where Helm's order is random.
///
/// # Errors
/// Everything that does not fit, chart by chart, in Helm's words.
pub fn check(chart: &Chart, values: &Values, helm: Helm, limits: &Limits) -> Result<(), Error> {
    let mut problems = String::new();
    collect(chart, values, (helm, limits), &mut problems);
    if problems.is_empty() {
        return Ok(());
    }
    Err(Error::new(format!(
        "values don't meet the specifications of the schema(s) in the following chart(s):\n{problems}"
    )))
}

fn collect(chart: &Chart, values: &Values, (helm, limits): (Helm, &Limits), problems: &mut String) {
    let check = |schema: &[u8]| match helm.checks_by_gojsonschema() {
        true => check_old(schema, values, limits),
        false => check_one(schema, values, helm, limits),
    };
    if let Some(schema) = &chart.schema
        && let Err(problem) = check(schema)
    {
        problems.push_str(&format!("{}:\n{problem}", chart.name()));
    }
    for subchart in &chart.dependencies {
        match values.get(subchart.name()) {
            None | Some(Value::Null) => {}
            Some(Value::Object(own)) => collect(subchart, own, (helm, limits), problems),
            Some(other) => problems.push_str(&format!(
                "{}:\ninvalid type for values: expected object (map), got {}\n",
                subchart.name(),
                go_type(other)
            )),
        }
    }
}

/// One chart's own schema by the rules of old.
fn check_old(schema: &[u8], values: &Values, limits: &Limits) -> Result<(), String> {
    let schema = json::decode_file(schema).map_err(|error| error.message)?;
    gojsonschema::check(&schema, values, limits)
}

/// One chart's own schema; the problem ends in a line break unless the schema itself is broken.
fn check_one(schema: &[u8], values: &Values, helm: Helm, limits: &Limits) -> Result<(), String> {
    let schema = json::decode_file(schema).map_err(|error| error.message)?;
    if plain::fits(&schema, values) { Ok(()) } else { check_fully(&schema, values, helm, limits) }
}

fn check_fully(schema: &Value, values: &Values, helm: Helm, limits: &Limits) -> Result<(), String> {
    if let Some(refusal) = no_schema(schema) {
        return Err(refusal);
    }
    if let Some(refusal) = schema.get("$schema").and_then(Value::as_str).and_then(no_dialect) {
        return Err(refusal);
    }
    if let Some(refusal) = effort::too_large(schema, limits) {
        return Err(refusal);
    }
    let values = Value::Object(values.clone());
    // The metaschemas of newer drafts the library knows well, and fast; patterns it reads as ECMAScript does.
    let walked =
        explain::is_before_2019(schema) || plain::has_odd_patterns(schema) && explain::knows_all(schema);
    let unreadable = patterns::refusal(schema);
    if (walked || unreadable.is_some())
        && let Some(refusal) = metaschema::refusal(schema).or(unreadable)
    {
        return Err(refusal);
    }
    let refers = refers(schema);
    if walked || refers {
        let explained = explain::explain(schema, &values, helm, limits);
        if let Some(refusal) = explained.refusal {
            return Err(refusal);
        }
        if explained.circular {
            metaschema::refusal(schema).map_or(Ok(()), Err)?;
        } else if walked && refers {
            // The walk passes over references to nothing; the library tells which they are.
            lost_reference(schema).map_or(Ok(()), Err)?;
        }
        // Drafts before 2019-09 the walk knows whole, and most of the later ones.
        if explained.circular || walked {
            return explained.reasons.map_or(Ok(()), |reasons| Err(reasons + "\n"));
        }
    }
    let validator = built(schema)
        .map_err(|error| metaschema::refusal(schema).unwrap_or_else(|| in_helms_words(&error.to_string())))?;
    let Err(first) = validator.validate(&values) else { return Ok(()) };
    let reasons = explain::explain(schema, &values, helm, limits).reasons;
    Err(reasons.unwrap_or_else(|| format!("- at '{}': {first}", first.instance_path())) + "\n")
}

fn built(schema: &Value) -> Result<Validator, ValidationError<'static>> {
    options().build(&spelled(schema))
}

fn spelled(schema: &Value) -> Value {
    let mut spelled = schema.clone();
    references::drop_unused(&mut spelled);
    references::spell(&mut spelled);
    spelled
}

fn options() -> ValidationOptions<'static> {
    format_words::names().fold(jsonschema::options(), |options, name| {
        options.with_format(name, move |text: &str| format_words::check(name, text).is_ok())
    })
}

/// What is said of a reference that leads nowhere.
fn lost_reference(schema: &Value) -> Option<String> {
    let mut schema = spelled(schema);
    // The library stops at patterns that it can't read, which are sound in Go.
    patterns::drop_all(&mut schema);
    let error = options().build(&schema).err()?;
    matches!(error.kind(), ValidationErrorKind::Referencing(_)).then(|| in_helms_words(&error.to_string()))
}

/// Why a `$schema` is refused before anything is looked for: it is no URL, or one of a scheme that Helm doesn't know.
fn no_dialect(name: &str) -> Option<String> {
    let name = name.split('#').next().unwrap_or_default();
    if let Err(why) = format_words::url(name) {
        return Some(format!("invalid $schema in \"file:///values.schema.json#\": {why}"));
    }
    let scheme = name.split_once(':').map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
    let name = crate::go::quote(name);
    let known = ["file", "http", "https", "urn"].contains(&scheme.as_str());
    (!known).then(|| format!("failing loading {name}: no URLLoader registered for {name}"))
}

/// What is neither a mapping nor a boolean is no schema.
fn no_schema(schema: &Value) -> Option<String> {
    let found = match schema {
        Value::Object(_) | Value::Bool(_) => return None,
        Value::Null => "null",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
    };
    Some(format!(
        "\"file:///values.schema.json#\" is not valid against metaschema: jsonschema validation failed with 'https://json-schema.org/draft/2020-12/schema#'\n- at '': got {found}, want boolean or object"
    ))
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(schema: &Value, values: Value) -> String {
        let Value::Object(values) = values else { panic!("values are a map") };
        check_one(schema.to_string().as_bytes(), &values, Helm::V4, &Limits::default()).unwrap_err()
    }

    #[test]
    fn what_is_no_json_or_no_schema_is_told_as_helm_tells_it() {
        // As both Helms print them (3.22.0, 4.3.1).
        let cases = [
            ("", "EOF"),
            (" \n", "EOF"),
            ("{", "unexpected EOF"),
            ("\"abc", "unexpected EOF"),
            ("{\"a\":1,}", "invalid character '}' looking for beginning of object key string"),
            ("{} x", "invalid character after top-level value"),
            ("{'a': 1}", "invalid character '\\'' looking for beginning of object key string"),
            ("type: object", "invalid character 'y' in literal true (expecting 'r')"),
            ("{\"a\": 01}", "invalid character '1' after object key:value pair"),
            ("{\"a\": \"\n\"}", "invalid character '\\n' in string literal"),
            ("{\"a\": \"\0\"}", "invalid character '\\x00' in string literal"),
            (
                "[1,2]",
                "\"file:///values.schema.json#\" is not valid against metaschema: jsonschema validation failed with 'https://json-schema.org/draft/2020-12/schema#'\n- at '': got array, want boolean or object",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(
                check_one(text.as_bytes(), &Values::new(), Helm::V4, &Limits::default()),
                Err(expected.to_owned()),
                "{text}"
            );
        }
        let deep = check_one("[".repeat(10_001).as_bytes(), &Values::new(), Helm::V4, &Limits::default());
        assert_eq!(deep, Err("invalid character '[' exceeded max depth".to_owned()));
        for sound in ["true", "{\"a\": 1e999}", "{\"title\":\"\\ud800\"}"] {
            assert_eq!(
                check_one(sound.as_bytes(), &Values::new(), Helm::V4, &Limits::default()),
                Ok(()),
                "{sound}"
            );
        }
    }

    #[test]
    fn schemas_that_make_no_sense_are_refused_in_helms_words() {
        // As both Helms print them (3.22.0, 4.3.1).
        const REFUSED: &str = "\"file:///values.schema.json#\" is not valid against metaschema: jsonschema validation failed with";
        let cases = [
            (
                r#"{"type":"x"}"#,
                "REFUSED 'https://json-schema.org/draft/2020-12/schema#'\n- at '': 'allOf' failed\n  - at '/type': 'anyOf' failed\n    - at '/type': value must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string'\n    - at '/type': got string, want array",
            ),
            (r##"{"$schema":"x#"}"##, "failing loading \"x\": no URLLoader registered for \"x\""),
            (r#"{"$schema":"x:y"}"#, "failing loading \"x:y\": no URLLoader registered for \"x:y\""),
            (
                r#"{"$schema":":"}"#,
                "invalid $schema in \"file:///values.schema.json#\": parse \":\": missing protocol scheme",
            ),
            (
                r#"{"type":["string","string"]}"#,
                "REFUSED 'https://json-schema.org/draft/2020-12/schema#'\n- at '': 'allOf' failed\n  - at '/type': 'anyOf' failed\n    - at '/type': value must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string'\n    - at '/type': items at 0 and 1 are equal",
            ),
            (
                r#"{"unevaluatedProperties":1}"#,
                "REFUSED 'https://json-schema.org/draft/2020-12/schema#'\n- at '': 'allOf' failed\n  - at '/unevaluatedProperties': got number, want boolean or object",
            ),
            (
                r#"{"required":"a"}"#,
                "REFUSED 'https://json-schema.org/draft/2020-12/schema#'\n- at '': 'allOf' failed\n  - at '/required': got string, want array",
            ),
            (
                r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"x","required":[1]}"#,
                "REFUSED 'http://json-schema.org/draft-07/schema#'\n- at '/required/0': got number, want string\n- at '/type': 'anyOf' failed\n  - at '/type': value must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string'\n  - at '/type': got string, want array",
            ),
            (
                r#"{"properties":{"a":{"minimum":"x"},"b":3}}"#,
                "REFUSED 'https://json-schema.org/draft/2020-12/schema#'\n- at '': 'allOf' failed\n  - at '': validation failed\n    - at '/properties/a': 'allOf' failed\n      - at '/properties/a/minimum': got string, want number\n    - at '/properties/b': got number, want boolean or object",
            ),
            (
                r#"{"propertyNames":{"pattern":"["}}"#,
                "REFUSED 'https://json-schema.org/draft/2020-12/schema#'\n- at '': 'allOf' failed\n  - at '/propertyNames': 'allOf' failed\n    - at '/propertyNames/pattern': '[' is not valid regex: error parsing regexp: missing closing ]: `[`",
            ),
            (
                r#"{"minLength":-1,"title":4}"#,
                "REFUSED 'https://json-schema.org/draft/2020-12/schema#'\n- at '': 'allOf' failed\n  - at '/minLength': minimum: got -1, want 0\n  - at '/title': got number, want string",
            ),
            (
                r#"{"allOf":[]}"#,
                "REFUSED 'https://json-schema.org/draft/2020-12/schema#'\n- at '': 'allOf' failed\n  - at '/allOf': minItems: got 0, want 1",
            ),
            (
                r#"{"$schema":"http://json-schema.org/draft-04/schema#","exclusiveMinimum":3}"#,
                "REFUSED 'http://json-schema.org/draft-04/schema#'\n- at '': properties 'minimum' required, if 'exclusiveMinimum' exists\n- at '/exclusiveMinimum': got number, want boolean",
            ),
            (
                r#"{"$defs":{"a":{"type":5}}}"#,
                "REFUSED 'https://json-schema.org/draft/2020-12/schema#'\n- at '': 'allOf' failed\n  - at '/$defs/a': 'allOf' failed\n    - at '/$defs/a/type': 'anyOf' failed\n      - at '/$defs/a/type': value must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string'\n      - at '/$defs/a/type': got number, want array",
            ),
            (r#"{"properties":{"a":true},"unevaluatedProperties":false}"#, "- at '/bcd': false schema"),
            (
                r#"{"$schema":"https://json-schema.org/draft/2019-09/schema","items":4}"#,
                "REFUSED 'https://json-schema.org/draft/2019-09/schema#'\n- at '': 'allOf' failed\n  - at '/items': 'anyOf' failed\n    - at '/items': got number, want boolean or object\n    - at '/items': got number, want array",
            ),
            (
                r#"{"enum":4,"multipleOf":0}"#,
                "REFUSED 'https://json-schema.org/draft/2020-12/schema#'\n- at '': 'allOf' failed\n  - at '': validation failed\n    - at '/enum': got number, want array\n    - at '/multipleOf': exclusiveMinimum: got 0, want 0",
            ),
            (
                r#"{"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":{"type":"string"}}"#,
                "- at '/bcd': got number, want string",
            ),
        ];
        let values = serde_json::json!({"a": 1, "bcd": 2});
        for (schema, expected) in cases {
            let schema = serde_json::from_str(schema).unwrap();
            let told = problem(&schema, values.clone());
            assert_eq!(told.trim_end(), expected.replace("REFUSED", REFUSED), "{schema}");
        }
    }

    #[test]
    fn names_of_properties_are_told_with_their_faults() {
        let schema = serde_json::json!({"propertyNames": {"pattern": "]", "maxLength": 2}});
        assert_eq!(
            problem(&schema, serde_json::json!({"bcd": 2})),
            "- at '': invalid propertyName 'bcd'\n  - at '': maxLength: got 3, want 2\n  - at '': 'bcd' does not match pattern ']'\n"
        );
    }

    #[test]
    fn references_in_circles_end_and_are_told() {
        let circle = |schema: &str, values: Value| problem(&serde_json::from_str(schema).unwrap(), values);
        let empty = || serde_json::json!({});
        assert_eq!(
            circle(r##"{"$ref":"#"}"##, empty()),
            "- at '': both /$ref and  resolve to \"file:///values.schema.json#\" causing reference cycle\n"
        );
        assert_eq!(
            circle(
                r##"{"$ref":"#/definitions/a","definitions":{"a":{"$ref":"#/definitions/b"},"b":{"$ref":"#/definitions/a"}}}"##,
                empty()
            ),
            "- at '': both /$ref/$ref/$ref and /$ref resolve to \"file:///values.schema.json#/definitions/a\" causing reference cycle\n"
        );
        assert_eq!(
            circle(r##"{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}"##, empty()),
            "- at '': 'anyOf' failed\n  - at '': both /anyOf/0/$ref and  resolve to \"file:///values.schema.json#\" causing reference cycle\n  - at '': both /anyOf/1/$ref and  resolve to \"file:///values.schema.json#\" causing reference cycle\n"
        );
        assert_eq!(
            circle(r##"{"properties":{"a":{"$ref":"#/properties/a"}}}"##, serde_json::json!({"a": 1})),
            "- at '/a': both /properties/a/$ref and /properties/a resolve to \"file:///values.schema.json#/properties/a\" causing reference cycle\n"
        );
    }

    #[test]
    fn patterns_are_gos_in_every_draft() {
        // As both Helms judge them (3.22.0, 4.3.1).
        for draft in ["2020-12", "2019-09"] {
            let judged = |rules: Value, text: &str| {
                let schema = serde_json::json!({"$schema": format!("https://json-schema.org/draft/{draft}/schema"), "properties": {"a": rules}});
                let Value::Object(values) = serde_json::json!({"a": text}) else {
                    panic!("values are a map")
                };
                check_one(schema.to_string().as_bytes(), &values, Helm::V4, &Limits::default())
            };
            let sound = [
                ("^[\\w-.]+$", "a-b"),
                ("^\\S+$", "\u{a0}"),
                ("[[:word:]]", "Z"),
                ("^{", "{"),
                ("a{,3}", "a{,3}"),
            ];
            for (pattern, text) in sound {
                assert_eq!(judged(serde_json::json!({"pattern": pattern}), text), Ok(()), "{pattern}");
            }
            assert_eq!(
                judged(serde_json::json!({"pattern": "^[\\w-.]+$"}), "a b"),
                Err("- at '/a': 'a b' does not match pattern '^[\\\\w-.]+$'\n".to_owned())
            );
            let lost = serde_json::json!({"pattern": "[\\w-.]", "$ref": "#/nowhere"});
            assert_eq!(
                judged(lost, "a"),
                Err("json-pointer in \"file:///values.schema.json#/nowhere\" not found".to_owned())
            );
        }
    }

    #[test]
    fn large_numbers_are_told_as_powers_of_ten() {
        // As both Helms print them (3.22.0, 4.3.1).
        let told = |got: f64| {
            problem(&serde_json::json!({"properties": {"a": {"maximum": 0}}}), serde_json::json!({"a": got}))
        };
        for (got, shown) in [
            (999_999.0, "999,999"),
            (1_000_000.0, "1\u{d7}10\u{2070}\u{2076}"),
            (1_234_567.0, "1.234567\u{d7}10\u{2070}\u{2076}"),
            (0.0001, "0.0001"),
            (0.00001, "1\u{d7}10\u{207b}\u{2070}\u{2075}"),
        ] {
            assert_eq!(told(got), format!("- at '/a': maximum: got {shown}, want 0\n"));
        }
    }

    #[test]
    fn older_drafts_are_judged_by_their_own_keywords() {
        // As both Helms print them (3.22.0, 4.3.1); values from files are floats.
        let fourth =
            |rules: &str| format!(r#"{{"$schema":"http://json-schema.org/draft-04/schema#",{rules}}}"#);
        let whole = serde_json::json!({"a": 3.0, "b": 0.3});
        let Value::Object(whole) = whole else { panic!("values are a map") };
        let sound = [
            fourth(r#""properties":{"a":{"type":"integer"}}"#),
            fourth(
                r#""properties":{"a":{"const":4},"b":{"contains":false}},"propertyNames":false,"if":{},"then":false"#,
            ),
            fourth(r#""properties":{"b":{"multipleOf":0.1}}"#),
            r#"{"$schema":"http://json-schema.org/draft-06/schema","examples":{},"if":{},"then":false}"#
                .to_owned(),
            r#"{"$schema":"http://json-schema.org/schema#","properties":{"a":{"type":"integer"}}}"#
                .to_owned(),
        ];
        for schema in sound {
            assert_eq!(
                check_one(schema.as_bytes(), &whole, Helm::V4, &Limits::default()),
                Ok(()),
                "{schema}"
            );
        }
        let told =
            |schema: &str| problem(&serde_json::from_str(schema).unwrap(), Value::Object(whole.clone()));
        assert_eq!(
            told(&fourth(r#""properties":{"a":{"minimum":3,"exclusiveMinimum":true}}"#)),
            "- at '/a': exclusiveMinimum: got 3, want 3\n"
        );
        assert_eq!(
            told(r#"{"properties":{"a":{"enum":[1,2.0]}}}"#),
            "- at '/a': value must be one of 1, 2.0\n"
        );
    }

    #[test]
    fn older_drafts_and_aliases_have_metaschemas_of_their_own() {
        // As both Helms print them (3.22.0, 4.3.1).
        const SEVENTH: &str = "http://json-schema.org/draft-07/schema#";
        const LATEST: &str = "https://json-schema.org/draft/2020-12/schema#";
        let cases = [
            (SEVENTH, r#""enum":[1,1]"#, SEVENTH, "- at '/enum': items at 0 and 1 are equal"),
            (SEVENTH, r#""enum":[]"#, SEVENTH, "- at '/enum': minItems: got 0, want 1"),
            (
                SEVENTH,
                r#""minLength":-1"#,
                SEVENTH,
                "- at '/minLength': 'allOf' failed\n  - at '/minLength': minimum: got -1, want 0",
            ),
            (SEVENTH, r#""$id":5"#, SEVENTH, "- at '/$id': got number, want string"),
            (
                "http://json-schema.org/schema#",
                r#""required":null"#,
                LATEST,
                "- at '': 'allOf' failed\n  - at '/required': got null, want array",
            ),
        ];
        for (dialect, rules, metaschema, expected) in cases {
            let schema = format!(r#"{{"$schema":"{dialect}",{rules}}}"#);
            let told = problem(&serde_json::from_str(&schema).unwrap(), serde_json::json!({}));
            let refused = "\"file:///values.schema.json#\" is not valid against metaschema: jsonschema validation failed with";
            assert_eq!(told.trim_end(), format!("{refused} '{metaschema}'\n{expected}"), "{schema}");
        }
    }

    #[test]
    fn references_that_branch_without_end_are_given_up() {
        for keyword in ["$ref", "$dynamicRef"] {
            let link = |at: u32| serde_json::json!({(keyword): format!("#a{at}")});
            let both = |at: u32| serde_json::json!({"$dynamicAnchor": format!("a{at}"), "allOf": [link(at + 1), link(at + 1)]});
            let mut all: serde_json::Map<_, _> = (0..40).map(|at| (at.to_string(), both(at))).collect();
            all.insert("last".to_owned(), serde_json::json!({"$dynamicAnchor": "a40"}));
            let schema = serde_json::json!({(keyword): "#a0", "$defs": all});
            let few = Limits { template_steps: 100_000, ..Limits::default() };
            let told = check_fully(&schema, &Values::new(), Helm::V4, &few).unwrap_err();
            assert!(told.contains("--limit-template-steps"), "{told}");
        }
    }

    #[test]
    fn problems_read_as_helm_prints_them() {
        let schema = serde_json::json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "required": ["policy"],
            "additionalProperties": false,
            "properties": {
                "policy": {"type": "string", "enum": ["sync", "upsert-only"]},
                "port": {"type": "integer", "minimum": 1, "maximum": 65535},
                "any": {"anyOf": [{"type": "string"}, {"type": "object", "required": ["a", "b"]}]},
                "ref": {"$ref": "#/definitions/name"},
            },
            "definitions": {"name": {"type": ["string", "null"], "minLength": 3}},
        });
        for (values, expected) in [
            (serde_json::json!({"policy": null}), "- at '/policy': got null, want string\n"),
            (serde_json::json!({}), "- at '': missing property 'policy'\n"),
            (
                serde_json::json!({"policy": "x"}),
                "- at '/policy': value must be one of 'sync', 'upsert-only'\n",
            ),
            (
                serde_json::json!({"policy": "sync", "port": 70000.0}),
                "- at '/port': maximum: got 70,000, want 65,535\n",
            ),
            (
                serde_json::json!({"policy": "sync", "x": 1, "y": 2}),
                "- at '': additional properties 'x', 'y' not allowed\n",
            ),
            (
                serde_json::json!({"policy": "sync", "any": {}}),
                "- at '/any': 'anyOf' failed\n  - at '/any': got object, want string\n  - at '/any': missing properties 'a', 'b'\n",
            ),
            (serde_json::json!({"policy": "sync", "ref": "a"}), "- at '/ref': minLength: got 1, want 3\n"),
            (
                serde_json::json!({"port": "x"}),
                "- at '': missing property 'policy'\n- at '/port': got string, want integer\n",
            ),
        ] {
            assert_eq!(problem(&schema, values.clone()), expected, "{values}");
        }
    }
}
