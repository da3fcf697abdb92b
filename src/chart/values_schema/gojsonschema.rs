//! How Helm checked values up to 3.18.4: by xeipuuv/gojsonschema v1.2.0, which knows drafts 4, 6 and 7.
//!
//! Source: `validation.go`, `schema.go`, `locales.go` of that version. Problems of one object come in the order of its keys.

mod sound;

use std::collections::HashMap;
use std::fmt::Display;

use regex::Regex;
use serde_json::{Map, Value};

use super::effort::{DEPTH, Effort};
use super::formats;
use crate::chart::Values;
use crate::limits::Limits;
use sound::{resolve, sound};

/// Whether values fit, and if not, why, one reason in a line.
pub(super) fn check(schema: &Value, values: &Values, limits: &Limits) -> Result<(), String> {
    if !schema.is_object() && !schema.is_boolean() {
        return Err("schema is invalid".to_owned());
    }
    sound(schema, schema, 0)?;
    let walk = Walk { root: schema, draft: Draft::of(schema), effort: Effort::new(limits) };
    let mut found = Found::default();
    walk.visit(schema, &Value::Object(values.clone()), &Place(Vec::new()), &mut found);
    if let Some(refusal) = walk.effort.refusal() {
        return Err(refusal);
    }
    if found.problems.is_empty() {
        return Ok(());
    }
    Err(found.problems.iter().map(|problem| format!("- {problem}\n")).collect())
}

/// The drafts that are told apart; one that is not known, or none, takes what any of them has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Draft {
    Four,
    Six,
    Seven,
    Any,
}

impl Draft {
    fn of(schema: &Value) -> Self {
        let name = schema.get("$schema").and_then(Value::as_str).unwrap_or_default().trim_end_matches('#');
        match name {
            "http://json-schema.org/draft-04/schema" => Self::Four,
            "http://json-schema.org/draft-06/schema" => Self::Six,
            "http://json-schema.org/draft-07/schema" => Self::Seven,
            _ => Self::Any,
        }
    }
}

/// Where a value stands: keys and indexes from the root on.
#[derive(Clone)]
struct Place(Vec<String>);

impl Place {
    fn then(&self, part: impl Display) -> Self {
        Self(self.0.iter().cloned().chain([part.to_string()]).collect())
    }

    fn field(&self) -> String {
        if self.0.is_empty() { "(root)".to_owned() } else { self.0.join(".") }
    }
}

/// What a walk found, and how far it got: of alternatives the one that got farthest is told.
#[derive(Default)]
struct Found {
    problems: Vec<String>,
    score: i64,
}

impl Found {
    fn say(&mut self, place: &Place, words: impl Display) {
        self.problems.push(format!("{}: {words}", place.field()));
        self.score -= 2;
    }

    fn merge(&mut self, other: Self) {
        self.problems.extend(other.problems);
        self.score += other.score;
    }

    fn is_valid(&self) -> bool {
        self.problems.is_empty()
    }
}

struct Walk<'s> {
    root: &'s Value,
    draft: Draft,
    effort: Effort,
}

impl Walk<'_> {
    fn visit(&self, schema: &Value, value: &Value, place: &Place, found: &mut Found) {
        self.effort.apply(|| self.apply(schema, value, place, found));
    }

    fn apply(&self, schema: &Value, value: &Value, place: &Place, found: &mut Found) {
        let Value::Object(map) = schema else {
            if *schema == Value::Bool(false) {
                found.say(place, "False always fails validation");
            }
            return;
        };
        if let Some(Value::String(reference)) = map.get("$ref") {
            let target = resolve(self.root, reference).ok();
            return target.into_iter().for_each(|target| self.refer(target, value, place, found));
        }
        if let Some(words) = wrong_type(map, value) {
            return found.say(place, words);
        }
        self.logic(map, value, place, found);
        match value {
            Value::Array(items) => self.array(map, items, place, found),
            Value::Object(entries) => self.object(map, entries, place, found),
            Value::Number(number) => self.number(map, number.as_f64().unwrap_or_default(), place, found),
            _ => {}
        }
        self.common(map, value, place, found);
        if let Value::String(text) = value {
            self.string(map, text, place, found);
        }
        if let Value::Object(entries) = value {
            self.properties(map, entries, place, found);
        }
        found.score += 1;
    }

    /// Follows a reference, unless it goes in circles.
    fn refer(&self, target: &Value, value: &Value, place: &Place, found: &mut Found) {
        if !leads_in_circles(self.root, target) {
            self.visit(target, value, place, found);
        }
    }

    fn sub(&self, schema: &Value, value: &Value, place: &Place) -> Found {
        let mut found = Found::default();
        self.visit(schema, value, place, &mut found);
        found
    }

    fn logic(&self, map: &Map<String, Value>, value: &Value, place: &Place, found: &mut Found) {
        self.any_of(map, value, place, found);
        self.one_of(map, value, place, found);
        self.all_of(map, value, place, found);
        if map.get("not").is_some_and(|not| self.sub(not, value, place).is_valid()) {
            found.say(place, "Must not validate the schema (not)");
        }
        self.dependencies(map, value, place, found);
        if self.draft >= Draft::Seven {
            self.condition(map, value, place, found);
        }
        found.score += 1;
    }

    fn any_of(&self, map: &Map<String, Value>, value: &Value, place: &Place, found: &mut Found) {
        let results: Vec<Found> = list(map, "anyOf").iter().map(|one| self.sub(one, value, place)).collect();
        if results.is_empty() || results.iter().any(Found::is_valid) {
            return;
        }
        found.say(place, "Must validate at least one schema (anyOf)");
        best(results).into_iter().for_each(|best| found.merge(best));
    }

    fn one_of(&self, map: &Map<String, Value>, value: &Value, place: &Place, found: &mut Found) {
        let results: Vec<Found> = list(map, "oneOf").iter().map(|one| self.sub(one, value, place)).collect();
        let fitting = results.iter().filter(|one| one.is_valid()).count();
        if results.is_empty() || fitting == 1 {
            return;
        }
        found.say(place, "Must validate one and only one schema (oneOf)");
        if fitting == 0 {
            best(results).into_iter().for_each(|best| found.merge(best));
        }
    }

    fn all_of(&self, map: &Map<String, Value>, value: &Value, place: &Place, found: &mut Found) {
        let results: Vec<Found> = list(map, "allOf").iter().map(|one| self.sub(one, value, place)).collect();
        let fits = results.iter().all(Found::is_valid);
        results.into_iter().for_each(|one| found.merge(one));
        if !fits {
            found.say(place, "Must validate all the schemas (allOf)");
        }
    }

    fn dependencies(&self, map: &Map<String, Value>, value: &Value, place: &Place, found: &mut Found) {
        let Value::Object(entries) = value else { return };
        for (_, needed) in object(map, "dependencies").iter().filter(|(key, _)| entries.contains_key(*key)) {
            let Value::Array(names) = needed else {
                self.visit(needed, value, place, found);
                continue;
            };
            for name in names.iter().filter_map(Value::as_str).filter(|name| !entries.contains_key(*name)) {
                found.say(place, format!("Has a dependency on {name}"));
            }
        }
    }

    fn condition(&self, map: &Map<String, Value>, value: &Value, place: &Place, found: &mut Found) {
        let Some(condition) = map.get("if") else { return };
        let (branch, words) = match self.sub(condition, value, place).is_valid() {
            true => ("then", "Must validate \"then\" as \"if\" was valid"),
            false => ("else", "Must validate \"else\" as \"if\" was not valid"),
        };
        let result = map.get(branch).map(|branch| self.sub(branch, value, place));
        if let Some(result) = result.filter(|result| !result.is_valid()) {
            found.say(place, words);
            found.merge(result);
        }
    }

    fn common(&self, map: &Map<String, Value>, value: &Value, place: &Place, found: &mut Found) {
        found.score += 1;
        if !map.contains_key("const") && !map.contains_key("enum") {
            return;
        }
        let own = written(value);
        let constant = map.get("const").filter(|_| self.draft >= Draft::Six).map(written);
        if let Some(constant) = constant.filter(|constant| *constant != own) {
            found.say(place, format!("{} does not match: {constant}", place.field()));
        }
        let choices: Vec<String> = list(map, "enum").iter().map(written).collect();
        if !choices.is_empty() && !choices.contains(&own) {
            let words = format!("{} must be one of the following: {}", place.field(), choices.join(", "));
            found.say(place, words);
        }
    }

    fn array(&self, map: &Map<String, Value>, items: &[Value], place: &Place, found: &mut Found) {
        self.items(map, items, place, found);
        if let Some(least) = count(map, "minItems").filter(|least| items.len() < *least) {
            found.say(place, format!("Array must have at least {least} items"));
        }
        if let Some(most) = count(map, "maxItems").filter(|most| items.len() > *most) {
            found.say(place, format!("Array must have at most {most} items"));
        }
        if map.get("uniqueItems") == Some(&Value::Bool(true)) {
            twins(items, place, found);
        }
        if let Some(contains) = map.get("contains").filter(|_| self.draft >= Draft::Six) {
            let results: Vec<Found> = items
                .iter()
                .enumerate()
                .map(|(at, item)| self.sub(contains, item, &place.then(at)))
                .collect();
            if !results.iter().any(Found::is_valid) {
                found.say(place, "At least one of the items must match");
                best(results).into_iter().for_each(|best| found.merge(best));
            }
        }
        found.score += 1;
    }

    fn items(&self, map: &Map<String, Value>, items: &[Value], place: &Place, found: &mut Found) {
        let Some(schema) = map.get("items") else { return };
        let Value::Array(tuple) = schema else {
            for (at, item) in items.iter().enumerate() {
                found.merge(self.sub(schema, item, &place.then(at)));
            }
            return;
        };
        for (at, (schema, item)) in tuple.iter().zip(items).enumerate() {
            found.merge(self.sub(schema, item, &place.then(at)));
        }
        match map.get("additionalItems").filter(|_| !tuple.is_empty() && tuple.len() < items.len()) {
            Some(Value::Bool(false)) => found.say(place, "No additional items allowed on array"),
            Some(more @ Value::Object(_)) => {
                for (at, item) in items.iter().enumerate().skip(tuple.len()) {
                    found.merge(self.sub(more, item, &place.then(at)));
                }
            }
            _ => {}
        }
    }

    fn object(
        &self,
        map: &Map<String, Value>,
        entries: &Map<String, Value>,
        place: &Place,
        found: &mut Found,
    ) {
        if let Some(least) = count(map, "minProperties").filter(|least| entries.len() < *least) {
            found.say(place, format!("Must have at least {least} properties"));
        }
        if let Some(most) = count(map, "maxProperties").filter(|most| entries.len() > *most) {
            found.say(place, format!("Must have at most {most} properties"));
        }
        for name in list(map, "required").iter().filter_map(Value::as_str) {
            match entries.contains_key(name) {
                true => found.score += 1,
                false => found.say(place, format!("{name} is required")),
            }
        }
        for (key, value) in entries {
            self.additional(map, (key, value), place, found);
        }
        if let Some(names) = map.get("propertyNames").filter(|_| self.draft >= Draft::Six) {
            entries.keys().for_each(|key| self.name(names, key, place, found));
        }
        found.score += 1;
    }

    /// What has no property of its own: by pattern, or as additional properties say.
    fn additional(
        &self,
        map: &Map<String, Value>,
        (key, value): (&String, &Value),
        place: &Place,
        found: &mut Found,
    ) {
        let mut matched = false;
        for (_, schema) in
            object(map, "patternProperties").iter().filter(|(pattern, _)| self.matches(pattern, key))
        {
            matched = true;
            found.merge(self.sub(schema, value, &place.then(key)));
        }
        found.score += i64::from(matched);
        if matched || object(map, "properties").contains_key(key) {
            return;
        }
        match map.get("additionalProperties") {
            Some(Value::Bool(false)) => {
                found.say(place, format!("Additional property {key} is not allowed"));
            }
            Some(schema @ Value::Object(_)) => found.merge(self.sub(schema, value, &place.then(key))),
            _ => {}
        }
    }

    fn name(&self, schema: &Value, key: &str, place: &Place, found: &mut Found) {
        let result = self.sub(schema, &Value::from(key), place);
        if !result.is_valid() {
            found.say(place, format!("Property name of \"{key}\" does not match"));
            found.merge(result);
        }
    }

    fn properties(
        &self,
        map: &Map<String, Value>,
        entries: &Map<String, Value>,
        place: &Place,
        found: &mut Found,
    ) {
        for (key, schema) in object(map, "properties") {
            if let Some(value) = entries.get(key) {
                self.visit(schema, value, &place.then(key), found);
            }
        }
    }

    fn string(&self, map: &Map<String, Value>, text: &str, place: &Place, found: &mut Found) {
        let length = text.chars().count();
        if let Some(least) = count(map, "minLength").filter(|least| length < *least) {
            found.say(place, format!("String length must be greater than or equal to {least}"));
        }
        if let Some(most) = count(map, "maxLength").filter(|most| length > *most) {
            found.say(place, format!("String length must be less than or equal to {most}"));
        }
        let words = |key: &str| map.get(key).and_then(Value::as_str);
        if let Some(pattern) = words("pattern").filter(|pattern| !self.matches(pattern, text)) {
            found.say(place, format!("Does not match pattern '{pattern}'"));
        }
        if let Some(format) = words("format").filter(|format| !formats::fits(format, text)) {
            found.say(place, format!("Does not match format '{format}'"));
        }
        found.score += 1;
    }

    fn matches(&self, pattern: &str, text: &str) -> bool {
        self.effort.patterns.matches(pattern, text, |pattern| Regex::new(pattern).ok()) == Some(true)
    }

    fn number(&self, map: &Map<String, Value>, got: f64, place: &Place, found: &mut Found) {
        for (keyword, words, fits) in BOUNDS {
            if let Some(want) = self.bound(map, keyword).filter(|want| !fits(got, *want)) {
                found.say(place, format!("{words} {}", shown(want)));
            }
        }
        if let Some(format) = map.get("format").and_then(Value::as_str).filter(|name| formats::is_known(name))
        {
            found.say(place, format!("Does not match format '{format}'"));
        }
        found.score += 1;
    }

    /// A bound; in draft 4 one that is exclusive is a flag beside the other.
    fn bound(&self, map: &Map<String, Value>, keyword: &str) -> Option<f64> {
        let flag = |name: &str| map.get(name) == Some(&Value::Bool(true));
        let plain = |name: &str| map.get(name).and_then(Value::as_f64);
        match keyword {
            "minimum" if flag("exclusiveMinimum") => None,
            "maximum" if flag("exclusiveMaximum") => None,
            "exclusiveMinimum" if flag(keyword) => plain("minimum"),
            "exclusiveMaximum" if flag(keyword) => plain("maximum"),
            "exclusiveMinimum" | "exclusiveMaximum" if self.draft == Draft::Four => None,
            _ => plain(keyword),
        }
    }
}

type Bound = (&'static str, &'static str, fn(f64, f64) -> bool);

const BOUNDS: [Bound; 5] = [
    ("multipleOf", "Must be a multiple of", |got, want| (got / want).fract() == 0.0),
    ("maximum", "Must be less than or equal to", |got, want| got <= want),
    ("exclusiveMaximum", "Must be less than", |got, want| got < want),
    ("minimum", "Must be greater than or equal to", |got, want| got >= want),
    ("exclusiveMinimum", "Must be greater than", |got, want| got > want),
];

/// The alternative that got farthest, the first one of several.
fn best(results: Vec<Found>) -> Option<Found> {
    results.into_iter().reduce(|best, next| if next.score > best.score { next } else { best })
}

fn twins(items: &[Value], place: &Place, found: &mut Found) {
    let texts: Vec<String> = items.iter().map(written).collect();
    let mut seen = HashMap::new();
    for (second, text) in texts.iter().enumerate() {
        if let Some(first) = seen.insert(text, second) {
            found.say(place, format!("array items[{first},{second}] must be unique"));
        }
    }
}

fn types(map: &Map<String, Value>) -> Vec<&str> {
    match map.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn wrong_type(map: &Map<String, Value>, value: &Value) -> Option<String> {
    let wanted = types(map);
    let given = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.as_f64().is_some_and(|number| number.fract() == 0.0) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    if wanted.is_empty() || wanted.contains(&given) || given == "integer" && wanted.contains(&"number") {
        return None;
    }
    let expected = if let [one] = wanted[..] { one.to_owned() } else { format!("[{}]", wanted.join(",")) };
    Some(format!("Invalid type. Expected: {expected}, given: {given}"))
}

/// Whether references lead from one to the next and never to a schema.
fn leads_in_circles(root: &Value, target: &Value) -> bool {
    let mut at = target;
    for _ in 0..DEPTH {
        let Some(reference) = at.get("$ref").and_then(Value::as_str) else { return false };
        let Ok(next) = resolve(root, reference) else { return false };
        at = next;
    }
    true
}

fn object<'m>(map: &'m Map<String, Value>, key: &str) -> &'m Map<String, Value> {
    static NONE: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    map.get(key).and_then(Value::as_object).unwrap_or(&NONE)
}

fn list<'m>(map: &'m Map<String, Value>, key: &str) -> &'m [Value] {
    map.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn count(map: &Map<String, Value>, key: &str) -> Option<usize> {
    let number = map.get(key)?.as_f64().filter(|number| number.fract() == 0.0 && *number >= 0.0)?;
    format!("{number:.0}").parse().ok()
}

/// A number as Go's `big.Float` prints it.
fn shown(number: f64) -> String {
    if number == 0.0 || (1e-4..1e10).contains(&number.abs()) {
        number.to_string()
    } else {
        format!("{number:e}")
    }
}

/// Compact JSON with sorted keys, whole numbers without a fraction and Go's escapes for HTML.
fn written(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(written).collect::<Vec<_>>().join(",")),
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let entries = entries.into_iter().map(|(key, value)| format!("{}:{}", text(key), written(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
        }
        Value::String(string) => text(string),
        Value::Number(number) => match number.as_f64() {
            Some(float) if float.fract() == 0.0 && float.abs() < 1e21 => format!("{float:.0}"),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

fn text(string: &str) -> String {
    let quoted = Value::from(string).to_string();
    quoted.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(schema: &str, values: &str) -> String {
        let values: Values = serde_json::from_str(values).unwrap();
        check(&serde_json::from_str(schema).unwrap(), &values, &Limits::default()).err().unwrap_or_default()
    }

    #[test]
    fn drafts_differ_in_what_they_look_at() {
        let exclusive = r#"{"properties":{"a":{"minimum":1,"exclusiveMinimum":true}}}"#;
        assert_eq!(problems(exclusive, r#"{"a":1}"#), "- a: Must be greater than 1\n");
        let four = r#"{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"const":2}}}"#;
        assert_eq!(problems(four, r#"{"a":1}"#), "");
        let six = four.replace("04", "06");
        assert_eq!(problems(&six, r#"{"a":1}"#), "- a: a does not match: 2\n");
    }

    #[test]
    fn schemas_that_make_no_sense_are_refused() {
        assert_eq!(
            problems(r#"{"properties":{"a":{"pattern":"(?=x)"}}}"#, "{}"),
            "pattern must be a valid regex"
        );
        assert_eq!(problems(r##"{"$ref":"#/definitions/x"}"##, "{}"), "Object has no key 'x'");
        assert!(problems(r#"{"type":"text"}"#, "{}").starts_with("has a primitive type that is NOT VALID"));
        assert_eq!(
            problems(r##"{"definitions":{"a":{"$ref":"#/definitions/a"}},"$ref":"#/definitions/a"}"##, "{}"),
            ""
        );
    }

    #[test]
    fn circles_through_values_end() {
        let schema = r##"{"properties":{"a":{"$ref":"#"}},"additionalProperties":false}"##;
        assert_eq!(
            problems(schema, r#"{"a":{"a":{"b":1}}}"#),
            "- a.a: Additional property b is not allowed\n"
        );
    }

    #[test]
    fn schemas_without_end_are_given_up() {
        let circle = r##"{"allOf":[{"$ref":"#/definitions/a"}],"definitions":{"a":{"anyOf":[{"$ref":"#/definitions/b"}]},"b":{"not":{"$ref":"#/definitions/a"}}}}"##;
        let both = |at: u32| {
            let next = format!(r##"{{"$ref":"#/definitions/a{}"}}"##, at + 1);
            format!(r##","a{at}":{{"allOf":[{next},{next}]}}"##)
        };
        let branching: String = (0..60).map(both).collect();
        let branching = format!(r##"{{"$ref":"#/definitions/a0","definitions":{{"a60":{{}}{branching}}}}}"##);
        for schema in [circle, &branching] {
            let few = Limits { template_steps: 100_000, ..Limits::default() };
            let told = check(&serde_json::from_str(schema).unwrap(), &Values::new(), &few).unwrap_err();
            assert!(told.contains("--limit-template-steps"), "{told}");
        }
    }

    #[test]
    fn twins_in_long_lists_are_found_soon() {
        let list = (0..100_000).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
        let told =
            problems(r#"{"properties":{"a":{"uniqueItems":true}}}"#, &format!(r#"{{"a":[{list},7,7]}}"#));
        assert_eq!(
            told,
            "- a: array items[7,100000] must be unique\n- a: array items[100000,100001] must be unique\n"
        );
    }
}
