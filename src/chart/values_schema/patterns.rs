//! Patterns that Go's regular expressions do not know: a schema with one of them is refused as a whole.
//!
//! Shape and words follow santhosh-tekuri/jsonschema v6.0.3 checking a schema against its metaschema, and Go's
//! `regexp/syntax`.

use serde_json::{Map, Value};

use super::explain::is_before_2019;
use super::problem::{Kind, Problem, quote, written};

/// Deepest nesting of schemas that is looked at.
const DEPTH: usize = 200;

/// Keywords whose value is a schema, a list of schemas, or either.
const SCHEMAS: &[&str] = &[
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "then",
];

/// Keywords whose value holds schemas by name.
const NAMED: &[&str] = &["dependentSchemas", "patternProperties", "properties"];

/// Why the schema is refused; `None` when every pattern can be read.
pub(super) fn refusal(schema: &Value) -> Option<String> {
    let draft = schema.get("$schema").and_then(Value::as_str).unwrap_or(NEWEST).trim_end_matches('#');
    let problem = Look { old: is_before_2019(schema) }.schema(schema, "", 0)?;
    Some(format!(
        "\"file:///values.schema.json#\" is not valid against metaschema: jsonschema validation failed with '{draft}#'\n{}",
        written(problem)
    ))
}

const NEWEST: &str = "https://json-schema.org/draft/2020-12/schema";

struct Look {
    /// Drafts before 2019-09 have one flat metaschema; later ones are put together by `allOf`.
    old: bool,
}

impl Look {
    fn schema(&self, schema: &Value, place: &str, depth: usize) -> Option<Problem> {
        let schema = schema.as_object().filter(|_| depth < DEPTH)?;
        let definitions = self.named(schema, &["definitions", "dependencies"], place, depth);
        let core = self.named(schema, &["$defs"], place, depth);
        let applied = self.applied(schema, place, depth);
        let own: Vec<Problem> = schema
            .get("pattern")
            .and_then(Value::as_str)
            .into_iter()
            .flat_map(|pattern| own(pattern, place))
            .collect();
        if self.old {
            return group(place, definitions.into_iter().chain(core).chain(applied).chain(own).collect());
        }
        let parts = [core, applied, own].into_iter().filter_map(|part| vocabulary(place, part));
        let all: Vec<Problem> = parts.collect();
        let all = (!all.is_empty()).then(|| words(place, "'allOf' failed", all));
        group(place, all.into_iter().chain(definitions).collect())
    }

    fn applied(&self, schema: &Map<String, Value>, place: &str, depth: usize) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (keyword, value) in schema {
            let place = format!("{place}/{keyword}");
            match value {
                _ if !SCHEMAS.contains(&keyword.as_str()) => {}
                Value::Array(list) => {
                    let items = list.iter().enumerate();
                    problems.extend(
                        items.filter_map(|(n, item)| self.schema(item, &format!("{place}/{n}"), depth + 1)),
                    );
                }
                one => problems.extend(self.schema(one, &place, depth + 1)),
            }
        }
        problems.extend(self.named(schema, NAMED, place, depth));
        problems
    }

    fn named(
        &self,
        schema: &Map<String, Value>,
        keywords: &[&str],
        place: &str,
        depth: usize,
    ) -> Vec<Problem> {
        let mut problems = Vec::new();
        for keyword in keywords {
            let place = format!("{place}/{keyword}");
            for (name, value) in schema.get(*keyword).and_then(Value::as_object).into_iter().flatten() {
                if let Some(error) = unreadable(name).filter(|_| *keyword == "patternProperties") {
                    let cause = words("", &error, Vec::new());
                    problems.push(words(
                        &place,
                        &format!("invalid propertyName {}", quote(name)),
                        vec![cause],
                    ));
                }
                let inner = format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"));
                problems.extend(self.schema(value, &inner, depth + 1));
            }
        }
        problems
    }
}

fn own(pattern: &str, place: &str) -> Option<Problem> {
    Some(words(&format!("{place}/pattern"), &unreadable(pattern)?, Vec::new()))
}

fn words(place: &str, text: &str, causes: Vec<Problem>) -> Problem {
    Problem { place: place.to_owned(), kind: Kind::Words(text.to_owned()), causes }
}

/// Problems of one schema side by side.
fn group(place: &str, mut problems: Vec<Problem>) -> Option<Problem> {
    match problems.len() {
        0 | 1 => problems.pop(),
        _ => Some(Problem { place: place.to_owned(), kind: Kind::Group, causes: problems }),
    }
}

/// Problems that one part of a metaschema finds.
fn vocabulary(place: &str, mut problems: Vec<Problem>) -> Option<Problem> {
    match problems.len() {
        0 | 1 => problems.pop(),
        _ => Some(words(place, "validation failed", problems)),
    }
}

/// Takes all patterns out of a schema, but not the schemas that belong to them.
pub(super) fn drop_all(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.retain(|keyword, value| keyword != "pattern" || !value.is_string());
            if let Some(Value::Object(named)) = map.get_mut("patternProperties") {
                let schemas: Vec<Value> =
                    std::mem::take(named).into_iter().map(|(_, schema)| schema).collect();
                named.extend(schemas.into_iter().enumerate().map(|(n, schema)| (format!("{n}"), schema)));
            }
            map.values_mut().for_each(drop_all);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_all),
        _ => {}
    }
}

pub(super) fn unreadable(pattern: &str) -> Option<String> {
    let error = crate::go::pattern::translate(pattern).err()?;
    Some(format!("{} is not valid regex: {error}", quote(pattern)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn refusals_are_gos() {
        for (pattern, error) in [
            ("^(?!x).*$", "invalid or unsupported Perl syntax: `(?!`"),
            ("(?=.*[A-Z])a", "invalid or unsupported Perl syntax: `(?=`"),
            ("x(?>a)", "invalid or unsupported Perl syntax: `(?>`"),
            ("a(?<=x)y", "invalid named capture: `(?<=x)y`"),
            ("(?<!a)x", "invalid named capture: `(?<!a)x`"),
            ("(a)\\1", "invalid escape sequence: `\\1`"),
            ("(", "missing closing ): `(`"),
            ("a)", "unexpected ): `a)`"),
        ] {
            let found = unreadable(pattern).unwrap();
            assert!(found.ends_with(&format!("error parsing regexp: {error}")), "{pattern}: {found}");
        }
        for fine in
            ["^a(b|c)+$", "(?i)x", "(?P<n>a)(?<m>b)", "[(?!]", "\\(?!", "(?i-s:a)", "[]()]", "[^\\]]+"]
        {
            assert_eq!(unreadable(fine), None, "{fine}");
        }
    }

    #[test]
    fn places_nest_as_metaschemas_do() {
        let inner = json!({"properties": {"a": {"properties": {"b": {"pattern": "^(?!x)"}}}}});
        let new = refusal(&inner).unwrap();
        assert!(new.ends_with(
            "schema#'\n- at '': 'allOf' failed\n  - at '/properties/a': 'allOf' failed\n    - at '/properties/a/properties/b': 'allOf' failed\n      - at '/properties/a/properties/b/pattern': '^(?!x)' is not valid regex: error parsing regexp: invalid or unsupported Perl syntax: `(?!`"
        ), "{new}");
        let mut old = inner;
        old["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        let old = refusal(&old).unwrap();
        assert!(old.contains("draft-07/schema#'\n- at '/properties/a/properties/b/pattern': "), "{old}");
        assert_eq!(refusal(&json!({"properties": {"pattern": {"type": "string"}}})), None);
    }
}
