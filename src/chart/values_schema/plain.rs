//! A look at schemas of the plain kind, as most charts have them: whether values surely fit, found on one walk through both.
//!
//! To prepare a whole schema takes longer than to render a chart. What this walk does not know, or what does not fit, is left
//! to the library ([`super::check`]); it never says that values fit where that would refuse them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use regex::Regex;
use serde_json::{Map, Value};

use super::effort::Patterns;
use super::format_words;
use super::patterns::unreadable;
use super::same::{equal, twins, type_of};

/// Deepest nesting of schemas, and of references between them, that is looked at.
const DEPTH: usize = 60;

/// Schemas that are applied to a value before this look is given up, for references that branch.
const STEPS: u32 = 1 << 18;

/// Whole numbers up to here are the same as floating-point numbers.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Keywords of any draft that are left to the library; all that is no keyword is ignored.
const UNKNOWN: &[&str] = &[
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
    "$vocabulary",
    "additionalItems",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "id",
    "maxContains",
    "minContains",
    "multipleOf",
    "prefixItems",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
];

const DRAFT_7: &str = "http://json-schema.org/draft-07/schema";

const DRAFTS: &[&str] = &[
    DRAFT_7,
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
    "http://json-schema.org/schema",
];

type Keywords = Map<String, Value>;

/// Whether the schema is sound and the values fit; `false` when somebody else must say.
pub(super) fn fits(schema: &Value, values: &Map<String, Value>) -> bool {
    let Some(root) = schema.as_object() else { return false };
    let named = root.get("$schema").map(|dialect| dialect.as_str().unwrap_or("?"));
    let dialect = named.map(|dialect| dialect.strip_suffix('#').unwrap_or(dialect));
    if dialect.is_some_and(|dialect| !DRAFTS.contains(&dialect)) {
        return false;
    }
    let walk = Walk {
        root,
        old: dialect == Some(DRAFT_7),
        steps: Cell::new(STEPS),
        seen: RefCell::default(),
        patterns: Patterns::default(),
    };
    walk.is_sound(schema, 0) && walk.fits(schema, Given::Object(values), 0) == Some(true)
}

/// A value; the outermost map of values stands in none.
#[derive(Clone, Copy)]
enum Given<'v> {
    Object(&'v Map<String, Value>),
    Other(&'v Value),
}

impl<'v> From<&'v Value> for Given<'v> {
    fn from(value: &'v Value) -> Self {
        value.as_object().map_or(Self::Other(value), Self::Object)
    }
}

struct Walk<'s> {
    root: &'s Keywords,
    /// Draft 7, where references hide everything beside them.
    old: bool,
    steps: Cell<u32>,
    /// References that were looked at.
    seen: RefCell<BTreeSet<String>>,
    patterns: Patterns,
}

/// What the schema itself must be, by its metaschema.
impl<'s> Walk<'s> {
    fn is_sound(&self, schema: &Value, depth: usize) -> bool {
        match schema {
            Value::Bool(_) => true,
            Value::Object(keywords) if depth < DEPTH => {
                keywords.iter().all(|(keyword, value)| self.is_keyword(keyword, value, depth))
            }
            _ => false,
        }
    }

    fn is_keyword(&self, keyword: &str, value: &Value, depth: usize) -> bool {
        let sound = |schema: &Value| self.is_sound(schema, depth + 1);
        match keyword {
            "$schema" => depth == 0,
            "$id" => depth == 0 && value.as_str().is_some_and(is_plain_url),
            "$ref" => value.as_str().is_some_and(|reference| self.is_reference(reference, depth)),
            "properties" | "definitions" | "$defs" => {
                value.as_object().is_some_and(|named| named.values().all(sound))
            }
            "patternProperties" => value.as_object().is_some_and(|named| {
                named.iter().all(|(name, schema)| self.patterns.can_read(name, regex) && sound(schema))
            }),
            "pattern" => value.as_str().is_some_and(|pattern| self.patterns.can_read(pattern, regex)),
            "items" | "additionalProperties" | "not" | "if" | "then" | "else" => sound(value),
            "allOf" | "anyOf" | "oneOf" => {
                value.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(sound))
            }
            _ => is_plain(keyword, value, self.old),
        }
    }

    /// Whether a reference leads to a schema, wherever that is.
    fn is_reference(&self, reference: &str, depth: usize) -> bool {
        let Some(schema) = self.resolve(reference) else { return false };
        let known = !self.seen.borrow_mut().insert(reference.to_owned());
        known || self.is_sound(schema, depth + 1)
    }

    /// What a reference within the schema names.
    fn resolve(&self, reference: &str) -> Option<&'s Value> {
        let path = reference.strip_prefix("#/").filter(|path| !path.contains(['~', '%']))?;
        let mut steps = path.split('/').peekable();
        let mut at = self.root;
        while let Some(step) = steps.next() {
            let found = at.get(step)?;
            if steps.peek().is_none() {
                return Some(found);
            }
            at = found.as_object().filter(|inner| !inner.contains_key("$id"))?;
        }
        None
    }
}

/// Whether the value of a keyword that holds no schemas is as it must be.
fn is_plain(keyword: &str, value: &Value, old: bool) -> bool {
    match keyword {
        "type" => is_type(value),
        "required" => is_set_of_strings(value),
        "enum" if old => value.as_array().is_some_and(|all| !all.is_empty() && twins(all).is_none()),
        "enum" | "examples" => value.is_array(),
        "title" | "description" | "$comment" | "format" => value.is_string(),
        "readOnly" | "writeOnly" | "deprecated" | "uniqueItems" => value.is_boolean(),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => exact(value).is_some(),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            value.is_u64() && exact(value).is_some()
        }
        other => !UNKNOWN.contains(&other),
    }
}

fn is_type(value: &Value) -> bool {
    let known = |name: &str| {
        matches!(name, "null" | "boolean" | "number" | "integer" | "string" | "array" | "object")
    };
    match value {
        Value::String(one) => known(one),
        Value::Array(many) => {
            !many.is_empty() && is_set_of_strings(value) && many.iter().filter_map(Value::as_str).all(known)
        }
        _ => false,
    }
}

fn is_set_of_strings(value: &Value) -> bool {
    let Some(items) = value.as_array() else { return false };
    let mut seen = BTreeSet::new();
    items.iter().all(|item| item.as_str().is_some_and(|item| seen.insert(item)))
}

/// A number that is the same in every notation.
fn exact(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| number.abs() <= EXACT)
}

/// An address that says nothing of where references lead.
fn is_plain_url(url: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    rest.is_some_and(|rest| rest.chars().all(plain) && !rest.contains("json-schema.org"))
}

/// Whether a schema has patterns that dialects of regular expressions take for different things.
pub(super) fn has_odd_patterns(schema: &Value) -> bool {
    let odd = |pattern: &str| regex(pattern).is_none();
    match schema {
        Value::Object(map) => map.iter().any(|(keyword, value)| match (keyword.as_str(), value) {
            ("pattern", Value::String(pattern)) if odd(pattern) => true,
            ("patternProperties", Value::Object(named)) if named.keys().any(|name| odd(name)) => true,
            _ => has_odd_patterns(value),
        }),
        Value::Array(items) => items.iter().any(has_odd_patterns),
        _ => false,
    }
}

/// A pattern that means the same in every dialect of regular expressions.
fn regex(pattern: &str) -> Option<Regex> {
    let odd = |part: &&str| pattern.contains(*part);
    if !has_plain_escapes(pattern) || !has_plain_counts(pattern) {
        return None;
    }
    if ["(?", "[[", "[]", "[^]", "&&", "~~", "--"].iter().any(odd) || unreadable(pattern).is_some() {
        return None;
    }
    Regex::new(pattern).ok()
}

/// Whether backslashes stand before punctuation only.
fn has_plain_escapes(pattern: &str) -> bool {
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        if letter == '\\' && !letters.next().is_some_and(|next| "./+*?()|^$".contains(next)) {
            return false;
        }
    }
    true
}

/// Whether each brace begins a count that every engine takes.
fn has_plain_counts(pattern: &str) -> bool {
    pattern.split('{').skip(1).all(|rest| {
        let count = rest.split('}').next().unwrap_or_default();
        let (least, most) = count.split_once(',').unwrap_or((count, count));
        let small = |number: &str| number.parse().is_ok_and(|number: u32| number <= 1_000);
        rest.contains('}') && small(least) && (most.is_empty() || small(most))
    })
}

/// How values are held against a sound schema; `None` when the library must say.
impl<'s> Walk<'s> {
    fn fits(&self, schema: &'s Value, value: Given<'_>, depth: usize) -> Option<bool> {
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            other => return other.as_bool(),
        };
        self.steps.set(self.steps.get().checked_sub(1).filter(|_| depth < DEPTH)?);
        let referred = match keywords.get("$ref").and_then(Value::as_str) {
            Some(reference) => self.fits(self.resolve(reference)?, value, depth + 1)?,
            None => true,
        };
        if self.old && keywords.contains_key("$ref") {
            return Some(referred);
        }
        let own = match value {
            Given::Object(object) => self.object(keywords, object, depth)?,
            Given::Other(Value::Array(items)) => self.array(keywords, items, depth)?,
            Given::Other(Value::String(text)) => self.string(keywords, text)?,
            Given::Other(Value::Number(_)) => number(keywords, value)?,
            Given::Other(_) => true,
        };
        Some(
            self.combined(keywords, value, depth)?
                & own
                & referred
                & is_of_type(keywords, value)
                & is_chosen(keywords, value)?,
        )
    }

    fn object(&self, schema: &'s Keywords, object: &Map<String, Value>, depth: usize) -> Option<bool> {
        let properties = schema.get("properties").and_then(Value::as_object);
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        let rest = schema.get("additionalProperties");
        let mut fit = within(schema, "minProperties", "maxProperties", object.len());
        for (name, value) in object {
            let own = properties.and_then(|all| all.get(name)).into_iter();
            let alike = patterns.into_iter().flatten().filter(|(pattern, _)| self.matches(pattern, name));
            let mut schemas = own.chain(alike.map(|(_, schema)| schema)).peekable();
            let rest = rest.filter(|_| schemas.peek().is_none());
            for schema in schemas.chain(rest) {
                fit &= self.fits(schema, value.into(), depth + 1)?;
            }
        }
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        Some(fit && required.filter_map(Value::as_str).all(|name| object.contains_key(name)))
    }

    fn array(&self, schema: &'s Keywords, items: &[Value], depth: usize) -> Option<bool> {
        let unique = schema.get("uniqueItems").and_then(Value::as_bool) == Some(true);
        let mut fit =
            within(schema, "minItems", "maxItems", items.len()) && !(unique && twins(items).is_some());
        if let Some(each) = schema.get("items") {
            for item in items {
                fit &= self.fits(each, item.into(), depth + 1)?;
            }
        }
        Some(fit)
    }

    /// How many of a list of schemas a value fits, and how many there are.
    fn count(
        &self,
        schemas: Option<&'s Value>,
        value: Given<'_>,
        depth: usize,
    ) -> Option<Option<(usize, usize)>> {
        let Some(schemas) = schemas.and_then(Value::as_array) else { return Some(None) };
        let mut fit = 0;
        for schema in schemas {
            fit += usize::from(self.fits(schema, value, depth + 1)?);
        }
        Some(Some((fit, schemas.len())))
    }

    fn combined(&self, schema: &'s Keywords, value: Given<'_>, depth: usize) -> Option<bool> {
        let count = |keyword: &str| self.count(schema.get(keyword), value, depth);
        let all = count("allOf")?.is_none_or(|(fit, of)| fit == of);
        let any = count("anyOf")?.is_none_or(|(fit, _)| fit > 0);
        let one = count("oneOf")?.is_none_or(|(fit, _)| fit == 1);
        let not = match schema.get("not") {
            Some(not) => !self.fits(not, value, depth + 1)?,
            None => true,
        };
        Some(all && any && one && not && self.branch(schema, value, depth)?)
    }

    fn string(&self, schema: &Keywords, text: &str) -> Option<bool> {
        // Later drafts take a format for a remark.
        let format = schema.get("format").and_then(Value::as_str).filter(|_| self.old);
        if format.is_some_and(|name| format_words::check(name, text).is_err()) {
            return Some(false);
        }
        let pattern = schema.get("pattern").and_then(Value::as_str);
        let alike = pattern.is_none_or(|pattern| self.matches(pattern, text));
        Some(alike && within(schema, "minLength", "maxLength", text.chars().count()))
    }

    /// Whether a text has a match of a pattern, of which it is known that it can be read.
    fn matches(&self, pattern: &str, text: &str) -> bool {
        self.patterns.matches(pattern, text, regex) == Some(true)
    }

    fn branch(&self, schema: &'s Keywords, value: Given<'_>, depth: usize) -> Option<bool> {
        let Some(condition) = schema.get("if") else { return Some(true) };
        let branch = if self.fits(condition, value, depth + 1)? { "then" } else { "else" };
        schema.get(branch).map_or(Some(true), |branch| self.fits(branch, value, depth + 1))
    }
}

fn is_of_type(schema: &Keywords, value: Given<'_>) -> bool {
    let (found, whole) = match value {
        Given::Object(_) => ("object", false),
        Given::Other(value) => (type_of(value), value.as_f64().is_some_and(|number| number.fract() == 0.0)),
    };
    let fits = |wanted: &Value| *wanted == found || (*wanted == "integer" && whole);
    match schema.get("type") {
        None => true,
        Some(Value::Array(many)) => many.iter().any(fits),
        Some(one) => fits(one),
    }
}

/// `enum` and `const`; maps are left to the library.
fn is_chosen(schema: &Keywords, value: Given<'_>) -> Option<bool> {
    let choices = schema.get("enum").and_then(Value::as_array);
    let only = schema.get("const");
    if choices.is_none() && only.is_none() {
        return Some(true);
    }
    let Given::Other(value) = value else { return None };
    let chosen = choices.is_none_or(|choices| choices.iter().any(|choice| equal(choice, value)));
    Some(chosen && only.is_none_or(|only| equal(only, value)))
}

fn within(schema: &Keywords, least: &str, most: &str, length: usize) -> bool {
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
    let length = length as u64;
    bound(least).is_none_or(|least| length >= least) && bound(most).is_none_or(|most| length <= most)
}

fn number(schema: &Keywords, value: Given<'_>) -> Option<bool> {
    let Given::Other(value) = value else { return None };
    let number = exact(value)?;
    let bound = |keyword: &str, fits: fn(&f64, &f64) -> bool| {
        schema.get(keyword).and_then(Value::as_f64).is_none_or(|bound| fits(&number, &bound))
    };
    let inclusive = bound("minimum", f64::ge) && bound("maximum", f64::le);
    Some(inclusive && bound("exclusiveMinimum", f64::gt) && bound("exclusiveMaximum", f64::lt))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn scalar() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(json!(null)),
            Just(json!(true)),
            Just(json!(1)),
            Just(json!(1.0)),
            Just(json!(2.5)),
            Just(json!("")),
            Just(json!("ab")),
        ]
    }

    fn value() -> impl Strategy<Value = Value> {
        scalar().prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
                prop::collection::btree_map("[abc]", inner, 0..3)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn keyword(
        inner: impl Strategy<Value = Value> + Clone + 'static,
    ) -> impl Strategy<Value = (String, Value)> {
        let named = |name: &'static str, value: BoxedStrategy<Value>| {
            value.prop_map(move |value| (name.to_owned(), value)).boxed()
        };
        let types = prop::sample::select(vec![
            "null", "boolean", "number", "integer", "string", "array", "object", "odd",
        ]);
        let kind = prop_oneof![
            types.clone().prop_map(Value::from),
            prop::collection::vec(types, 0..3).prop_map(Value::from),
        ];
        let some = prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array);
        let map = prop::collection::btree_map("[abc]", inner.clone(), 0..3)
            .prop_map(|map| Value::Object(map.into_iter().collect()));
        let patterns = prop::collection::btree_map("[\\^]?[abc.][$]?", inner.clone(), 0..3)
            .prop_map(|map| Value::Object(map.into_iter().collect()));
        let words = ["minimum", "maxLength", "minItems", "maxProperties", "exclusiveMinimum", "uniqueItems"];
        let scalars = prop::sample::select(words.to_vec());
        prop_oneof![
            3 => named("type", kind.boxed()),
            2 => named("properties", map.clone().boxed()),
            1 => named("definitions", map.boxed()),
            1 => named("patternProperties", patterns.boxed()),
            1 => named("additionalProperties", inner.clone().boxed()),
            1 => named("items", inner.clone().boxed()),
            1 => named("anyOf", some.clone().boxed()),
            1 => named("allOf", some.clone().boxed()),
            1 => named("oneOf", some.boxed()),
            1 => named("not", inner.clone().boxed()),
            1 => named("if", inner.clone().boxed()),
            1 => named("else", inner.boxed()),
            1 => named("enum", prop::collection::vec(scalar(), 0..3).prop_map(Value::Array).boxed()),
            1 => named("required", prop::collection::vec("[abc]", 0..2).prop_map(Value::from).boxed()),
            1 => named("pattern", prop::sample::select(vec!["^a", "b$", "^[a-c]{1,2}$", "\\.", "(?=a)", "["]).prop_map(Value::from).boxed()),
            1 => named("$ref", prop::sample::select(vec!["#/definitions/a", "#", "#/definitions/b/properties/a", "#/else"]).prop_map(Value::from).boxed()),
            1 => named("format", prop::sample::select(vec!["email", "date", "ipv4", "idn-email", "odd"]).prop_map(Value::from).boxed()),
            1 => (scalars, scalar()).prop_map(|(name, value)| (name.to_owned(), value)),
        ]
    }

    fn schema() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![Just(json!({})), any::<bool>().prop_map(Value::from), scalar()];
        leaf.prop_recursive(4, 24, 3, |inner| {
            let sound = prop_oneof![4 => inner.prop_filter("schemas", |s| s.is_object() || s.is_boolean()), 1 => Just(json!({"type": "string"}))];
            prop::collection::vec(keyword(sound), 1..4).prop_map(|all| Value::Object(all.into_iter().collect()))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_surely_fits_is_what_the_library_takes(mut schema in schema(), old: bool, values in value()) {
            if let (true, Value::Object(root)) = (old, &mut schema) {
                root.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
            }
            if let Value::Object(values) = values
                && fits(&schema, &values)
            {
                prop_assert_eq!(super::super::check_fully(&schema, &values, crate::chart::Helm::V4, &crate::limits::Limits::default()), Ok(()));
            }
        }
    }

    #[test]
    fn the_plain_kind_is_seen_and_the_rest_is_left() {
        let schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "definitions": {"port": {"type": "integer", "minimum": 1, "maximum": 65_535}},
            "type": "object",
            "required": ["name"],
            "additionalProperties": false,
            "properties": {
                "name": {"type": "string", "pattern": "^[a-z]+$", "minLength": 1},
                "port": {"$ref": "#/definitions/port"},
                "more": {"anyOf": [{"type": "null"}, {"type": "array", "items": {"enum": ["a", 1]}}]},
                "mail": {"type": "string", "format": "email"},
            },
        });
        let fits = |values: Value| super::fits(&schema, values.as_object().unwrap());
        assert!(fits(json!({"name": "abc", "port": 80.0, "more": ["a", 1.0]})));
        assert!(fits(json!({"name": "abc", "more": null, "mail": "a@b"})));
        for left in [
            json!({}),
            json!({"name": "A"}),
            json!({"name": "a", "port": 0}),
            json!({"name": "a", "other": 1}),
            json!({"name": "a", "more": ["b"]}),
            json!({"name": "a", "mail": "a"}),
        ] {
            assert!(!fits(left.clone()), "{left}");
        }
    }
}
