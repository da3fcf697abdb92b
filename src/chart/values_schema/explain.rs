//! Why values do not fit a schema, in the words and the nesting of the library that Helm uses.
//!
//! Order and nesting follow santhosh-tekuri/jsonschema v6.0.3 `validator.go` and `output.go`, the words `kind/kind.go`.
//! Whether values fit at all is decided elsewhere; this walk only has to find the reasons again.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use regex::Regex;
use serde_json::{Map, Value};

use super::bounds::{bound, grouped, mismatch, number_bounds};
use super::effort::{DEPTH, Effort};
use super::problem::{Found, Kind, Problem, quote, quoted, written};
use super::same::twins;
use super::{format_words, patterns};
use crate::chart::Helm;
use crate::limits::Limits;

/// Values that are looked at as fast as a schema is applied.
const LOOKS: u64 = 16;

/// What a walk found.
pub(super) struct Explained {
    /// The reasons, one per line; `None` when there are none.
    pub(super) reasons: Option<String>,
    /// Whether a reference led back to where it came from.
    pub(super) circular: bool,
    /// Why the walk was given up, if it was.
    pub(super) refusal: Option<String>,
}

/// The reasons why values do not fit.
pub(super) fn explain(schema: &Value, values: &Value, helm: Helm, limits: &Limits) -> Explained {
    walk(schema, values, (helm, limits), false)
}

/// The reasons why a schema does not fit its metaschema, which looks at formats too.
pub(super) fn explain_schema(metaschema: &Value, schema: &Value) -> Option<String> {
    walk(metaschema, schema, (Helm::V4, &Limits::default()), true).reasons
}

fn walk(schema: &Value, values: &Value, (helm, limits): (Helm, &Limits), formats: bool) -> Explained {
    let walk = Walk {
        root: schema,
        formats,
        draft: draft(schema),
        helm,
        way: RefCell::default(),
        circular: Cell::new(false),
        effort: Effort::new(limits),
        known: RefCell::default(),
        size: size(schema),
    };
    let problem = walk.check(schema, values, "");
    let refusal = walk.effort.refusal();
    let reasons = problem.filter(|_| refusal.is_none()).map(written);
    Explained { reasons, circular: walk.circular.get(), refusal }
}

/// Whether no keyword stands in a schema that only the library knows.
pub(super) fn knows_all(schema: &Value) -> bool {
    const OTHERS: [&str; 8] = [
        "$dynamicAnchor",
        "$dynamicRef",
        "$recursiveAnchor",
        "$recursiveRef",
        "$vocabulary",
        "maxContains",
        "minContains",
        "unevaluatedItems",
    ];
    match schema {
        Value::Object(map) => {
            map.iter().all(|(keyword, value)| !OTHERS.contains(&keyword.as_str()) && knows_all(value))
        }
        Value::Array(items) => items.iter().all(knows_all),
        _ => true,
    }
}

/// Whether a schema is of a draft whose references hide everything beside them.
pub(super) fn is_before_2019(schema: &Value) -> bool {
    draft(schema) < 2019
}

/// The draft that a schema is written in: 4, 6, 7, 2019 or 2020.
fn draft(schema: &Value) -> u16 {
    const NAMES: [(&str, u16); 4] =
        [("draft-04", 4), ("draft-06", 6), ("draft-07", 7), ("draft/2019-09", 2019)];
    let dialect = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
    NAMES.iter().find(|(name, _)| dialect.contains(name)).map_or(2020, |(_, draft)| *draft)
}

struct Walk<'s> {
    root: &'s Value,
    /// Whether texts have to be what their format says; patterns are the only format that is looked at.
    formats: bool,
    /// Which keywords there are; before 2019-09, a reference hides everything beside it.
    draft: u16,
    helm: Helm,
    /// The schemas that are being checked, and where.
    way: RefCell<Vec<(&'s Value, String)>>,
    circular: Cell<bool>,
    effort: Effort,
    /// What references lead to.
    known: RefCell<HashMap<String, Option<&'s Value>>>,
    /// Values in the whole schema.
    size: u64,
}

impl<'s> Walk<'s> {
    /// Drafts before 2019-09.
    fn is_old(&self) -> bool {
        self.draft < 2019
    }

    fn check(&self, schema: &'s Value, value: &Value, place: &str) -> Option<Problem> {
        if let Some(cycle) = self.cycle(schema, place) {
            self.circular.set(true);
            return Some(Problem { place: place.to_owned(), kind: Kind::Words(cycle), causes: Vec::new() });
        }
        self.way.borrow_mut().push((schema, place.to_owned()));
        let found = self.effort.apply(|| self.check_new(schema, value, place));
        self.way.borrow_mut().pop();
        found.flatten()
    }

    /// What is said of a schema that is being checked at this place already.
    fn cycle(&self, schema: &'s Value, place: &str) -> Option<String> {
        let way = self.way.borrow();
        let here = way.iter().rev().take_while(|(_, at)| at == place).count();
        let first = way.iter().rposition(|(known, _)| std::ptr::eq(*known, schema))?;
        if !schema.is_object() || first < way.len() - here {
            return None;
        }
        // Where a schema stands is looked for in all of them.
        self.effort.spend(self.size / LOOKS);
        let mut schemas: Vec<&Value> = way.iter().map(|(known, _)| *known).collect();
        schemas.push(schema);
        let (now, before) = (self.keywords(&schemas), self.keywords(schemas.get(..=first)?));
        let target = pointer_to(self.root, schema, DEPTH).unwrap_or_default();
        Some(format!(
            "both {now} and {before} resolve to \"file:///values.schema.json#{target}\" causing reference cycle"
        ))
    }

    /// The keywords that lead from schema to schema.
    fn keywords(&self, way: &[&'s Value]) -> String {
        let step = |from: &'s Value, to: &'s Value| {
            let reference = from.get("$ref").and_then(Value::as_str).and_then(|name| self.resolve(name));
            let inside = || pointer_to(from, to, 2).filter(|path| !path.is_empty());
            match reference {
                Some(target) if std::ptr::eq(target, to) => None,
                _ => inside(),
            }
        };
        let steps = way.windows(2).map(|pair| match pair {
            [from, to] => step(from, to).unwrap_or_else(|| "/$ref".to_owned()),
            _ => String::new(),
        });
        steps.collect()
    }

    fn check_new(&self, schema: &'s Value, value: &Value, place: &str) -> Option<Problem> {
        let words = |words: String| {
            Some(Problem { place: place.to_owned(), kind: Kind::Words(words), causes: Vec::new() })
        };
        let schema = match schema {
            Value::Bool(false) => return words("false schema".to_owned()),
            Value::Object(schema) => schema,
            _ => return None,
        };
        let reference = schema.get("$ref").and_then(Value::as_str);
        if let (Some(reference), true) = (reference, self.is_old()) {
            return self.referred(reference, value, place);
        }
        if let Some(problem) = mismatch(schema, value, self.draft).or_else(|| self.misformed(schema, value)) {
            return words(problem);
        }
        let mut found = Found { place, problems: Vec::new() };
        for keyword in ["$ref", "$recursiveRef", "$dynamicRef"] {
            let reference = schema.get(keyword).and_then(Value::as_str);
            found.problems.extend(reference.and_then(|reference| self.referred(reference, value, place)));
        }
        match value {
            Value::Object(object) => self.object(schema, object, &mut found),
            Value::Array(items) => self.array(schema, items, &mut found),
            Value::String(text) => {
                self.string(schema, text, &mut found);
                if self.formats && schema.get("format").is_some_and(|format| format == "regex") {
                    found.problems.extend(patterns::unreadable(text).map(|words| Problem {
                        place: place.to_owned(),
                        kind: Kind::Words(words),
                        causes: Vec::new(),
                    }));
                }
            }
            Value::Number(number) => number_bounds(schema, number.as_f64().unwrap_or_default(), &mut found),
            Value::Null | Value::Bool(_) => {}
        }
        self.combined(schema, value, &mut found);
        if let Value::Object(object) = value {
            self.left_over(schema, value, object, &mut found);
        }
        let (place, mut problems) = (place.to_owned(), found.problems);
        match problems.len() {
            0 | 1 => problems.pop(),
            _ => Some(Problem { place, kind: Kind::Group, causes: problems }),
        }
    }

    /// A text without its format; drafts since 2019-09 only note formats.
    fn misformed(&self, schema: &Map<String, Value>, value: &Value) -> Option<String> {
        let (format, text) = (schema.get("format")?.as_str()?, value.as_str()?);
        let why = format_words::check(format, text).err().filter(|_| self.is_old())?;
        Some(format!("{} is not valid {format}: {why}", quote(text)))
    }

    fn referred(&self, reference: &str, value: &Value, place: &str) -> Option<Problem> {
        let problem = self.check(self.resolve(reference)?, value, place)?;
        Some(Problem { place: place.to_owned(), kind: Kind::Reference, causes: problem.unfold() })
    }

    /// The schema a reference inside the same document names.
    fn resolve(&self, reference: &str) -> Option<&'s Value> {
        if let Some(known) = self.known.borrow().get(reference) {
            return *known;
        }
        let found = self.search(reference);
        self.known.borrow_mut().insert(reference.to_owned(), found);
        found
    }

    fn search(&self, reference: &str) -> Option<&'s Value> {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = if document.is_empty() { self.root } else { find(self.root, "$id", document, 0)? };
        let fragment = percent_encoding::percent_decode_str(fragment).decode_utf8_lossy();
        if fragment.is_empty() || fragment.starts_with('/') {
            return base.pointer(&fragment);
        }
        let anchor = |keyword| find(base, keyword, &fragment, 0);
        anchor("$anchor")
            .or_else(|| anchor("$dynamicAnchor"))
            .or_else(|| find(base, "$id", &format!("#{fragment}"), 0))
    }

    fn object(&self, schema: &'s Map<String, Value>, object: &Map<String, Value>, found: &mut Found<'_>) {
        bound(schema, "minProperties", object.len(), std::cmp::Ordering::Less, found);
        bound(schema, "maxProperties", object.len(), std::cmp::Ordering::Greater, found);
        let missing = missing(schema.get("required"), object);
        match missing.as_slice() {
            [] => {}
            [one] => found.say(format!("missing property {}", quote(one))),
            more => found.say(format!("missing properties {}", quoted(more))),
        }
        self.dependents(schema, object, &["dependencies"], found);
        let mut extra = Vec::new();
        for (name, value) in object {
            if !self.property(schema, name, value, found) {
                extra.push(name.as_str());
            }
        }
        if !extra.is_empty() {
            found.say(format!("additional properties {} not allowed", quoted(&extra)));
        }
        if self.draft >= 6 {
            self.names(schema, object, found);
        }
        if !self.is_old() {
            self.dependents(schema, object, &["dependentSchemas", "dependentRequired"], found);
        }
    }

    /// Checks one property; `false` when it is one too many.
    fn property(
        &self,
        schema: &'s Map<String, Value>,
        name: &str,
        value: &Value,
        found: &mut Found<'_>,
    ) -> bool {
        let place = format!("{}/{}", found.place, name.replace('~', "~0").replace('/', "~1"));
        let mut known = false;
        let own = schema.get("properties").and_then(|properties| properties.get(name));
        let patterns = schema.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
        let matching = patterns.filter(|(pattern, _)| self.matches(pattern, name)).map(|(_, schema)| schema);
        for schema in own.into_iter().chain(matching) {
            known = true;
            found.problems.extend(self.check(schema, value, &place));
        }
        match schema.get("additionalProperties") {
            Some(Value::Bool(false)) => known,
            Some(schema) if !known => {
                found.problems.extend(self.check(schema, value, &place));
                true
            }
            _ => true,
        }
    }

    /// Properties that nothing else in the schema speaks of.
    fn left_over(
        &self,
        schema: &'s Map<String, Value>,
        whole: &Value,
        object: &Map<String, Value>,
        found: &mut Found<'_>,
    ) {
        let Some(rule) = schema.get("unevaluatedProperties").filter(|_| !self.is_old()) else { return };
        for (name, value) in object {
            if !self.speaks_of(schema, name, whole, found.place) {
                let place = format!("{}/{}", found.place, name.replace('~', "~0").replace('/', "~1"));
                found.problems.extend(self.check(rule, value, &place));
            }
        }
    }

    /// Whether a schema, or one that it applies and that the value fits, has a rule for a property.
    fn speaks_of(&self, schema: &'s Map<String, Value>, name: &str, whole: &Value, place: &str) -> bool {
        let has = |key: &str| schema.get(key).and_then(Value::as_object);
        let own = has("properties").is_some_and(|own| own.contains_key(name))
            || has("patternProperties")
                .is_some_and(|own| own.keys().any(|pattern| self.matches(pattern, name)))
            || schema.contains_key("additionalProperties");
        own || self.applied(schema, whole, place).into_iter().any(|inner| {
            let fits = self.check(inner, whole, place).is_none();
            let speaks = |inner: &'s Map<String, Value>| {
                inner.contains_key("unevaluatedProperties") || self.speaks_of(inner, name, whole, place)
            };
            fits && !self.effort.is_spent() && inner.as_object().is_some_and(speaks)
        })
    }

    /// The schemas that a schema applies to the same value.
    fn applied(&self, schema: &'s Map<String, Value>, whole: &Value, place: &str) -> Vec<&'s Value> {
        let list = |key: &str| schema.get(key).and_then(Value::as_array).into_iter().flatten();
        let mut all: Vec<_> = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(list).collect();
        all.extend(schema.get("$ref").and_then(Value::as_str).and_then(|name| self.resolve(name)));
        if let Some(condition) = schema.get("if") {
            let fits = self.check(condition, whole, place).is_none();
            all.push(condition);
            all.extend(schema.get(if fits { "then" } else { "else" }));
        }
        let dependent = schema.get("dependentSchemas").and_then(Value::as_object).into_iter().flatten();
        all.extend(dependent.filter(|(name, _)| whole.get(name).is_some()).map(|(_, inner)| inner));
        all
    }

    fn names(&self, schema: &'s Map<String, Value>, object: &Map<String, Value>, found: &mut Found<'_>) {
        if let Some(names) = schema.get("propertyNames") {
            for name in object.keys() {
                if let Some(problem) = self.check(names, &Value::String(name.clone()), "") {
                    let kind = Kind::Words(format!("invalid propertyName {}", quote(name)));
                    let causes = problem.unfold();
                    let place = if self.helm.places_property_names() { found.place } else { "" };
                    found.problems.push(Problem { place: place.to_owned(), kind, causes });
                }
            }
        }
    }

    fn dependents(
        &self,
        schema: &'s Map<String, Value>,
        object: &Map<String, Value>,
        keywords: &[&str],
        found: &mut Found<'_>,
    ) {
        let whole = Value::Object(object.clone());
        for keyword in keywords {
            let entries = schema.get(*keyword).and_then(Value::as_object).into_iter().flatten();
            for (name, dependency) in entries.filter(|(name, _)| object.contains_key(*name)) {
                if dependency.is_array() {
                    let missing = missing(Some(dependency), object);
                    if !missing.is_empty() {
                        found.say(format!(
                            "properties {} required, if {} exists",
                            quoted(&missing),
                            quote(name)
                        ));
                    }
                } else {
                    found.problems.extend(self.check(dependency, &whole, found.place));
                }
            }
        }
    }

    fn string(&self, schema: &Map<String, Value>, text: &str, found: &mut Found<'_>) {
        let length = text.chars().count();
        bound(schema, "minLength", length, std::cmp::Ordering::Less, found);
        bound(schema, "maxLength", length, std::cmp::Ordering::Greater, found);
        if let Some(pattern) =
            schema.get("pattern").and_then(Value::as_str).filter(|pattern| !self.matches(pattern, text))
        {
            found.say(format!("{} does not match pattern {}", quote(text), quote(pattern)));
        }
    }

    /// Patterns that can't be read were told before.
    fn matches(&self, pattern: &str, text: &str) -> bool {
        self.effort.patterns.matches(pattern, text, readable).unwrap_or(true)
    }

    fn array(&self, schema: &'s Map<String, Value>, items: &[Value], found: &mut Found<'_>) {
        bound(schema, "minItems", items.len(), std::cmp::Ordering::Less, found);
        bound(schema, "maxItems", items.len(), std::cmp::Ordering::Greater, found);
        if schema.get("uniqueItems").and_then(Value::as_bool) == Some(true)
            && let Some((first, second)) = twins(items)
        {
            found.say(format!("items at {first} and {second} are equal"));
        }
        let prefix = if self.draft >= 2020 { "prefixItems" } else { "items" };
        let prefix = schema.get(prefix).and_then(Value::as_array);
        let rest = match schema.get("items") {
            Some(Value::Array(_)) => schema.get("additionalItems"),
            other => other,
        };
        let prefixed = prefix.map_or(0, Vec::len);
        if rest == Some(&Value::Bool(false)) && items.len() > prefixed && prefix.is_some() && self.is_old() {
            let extra = items.len() - prefixed;
            found.say(format!("last {} additionalItem(s) not allowed", grouped(extra as f64)));
            return;
        }
        for (index, item) in items.iter().enumerate() {
            let place = format!("{}/{index}", found.place);
            let schema = prefix.and_then(|prefix| prefix.get(index)).or(rest);
            found.problems.extend(schema.and_then(|schema| self.check(schema, item, &place)));
        }
        if let Some(wanted) = schema.get("contains").filter(|_| self.draft >= 6) {
            let all = items.iter().enumerate();
            let problems: Vec<_> = all
                .map(|(index, item)| self.check(wanted, item, &format!("{}/{index}", found.place)))
                .collect();
            if problems.iter().all(Option::is_some) {
                found.because("no items match contains schema", problems.into_iter().flatten().collect());
            }
        }
    }

    fn combined(&self, schema: &'s Map<String, Value>, value: &Value, found: &mut Found<'_>) {
        let check = |schema: &'s Value| self.check(schema, value, found.place);
        let list =
            |key: &str| schema.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let negated = schema.get("not").is_some_and(|not| check(not).is_none());
        let all: Vec<_> = list("allOf").iter().filter_map(check).collect();
        let any: Vec<_> = list("anyOf").iter().map(check).collect();
        let one: Vec<_> = list("oneOf").iter().map(check).collect();
        let condition = schema.get("if").filter(|_| self.draft >= 7);
        let branch = condition.and_then(|condition| match check(condition) {
            None => schema.get("then"),
            Some(_) => schema.get("else"),
        });
        let branch = branch.and_then(check);
        if negated {
            found.say("'not' failed");
        }
        if !all.is_empty() {
            found.because("'allOf' failed", all);
        }
        if !any.is_empty() && any.iter().all(Option::is_some) {
            found.because("'anyOf' failed", any.into_iter().flatten().collect());
        }
        let matched: Vec<_> = one.iter().enumerate().filter(|(_, problem)| problem.is_none()).collect();
        match matched.as_slice() {
            [] if !one.is_empty() => {
                found.because("'oneOf' failed, none matched", one.into_iter().flatten().collect());
            }
            [(first, _), (second, _), ..] => {
                found.say(format!("'oneOf' failed, subschemas {first}, {second} matched"));
            }
            _ => {}
        }
        found.problems.extend(branch);
    }
}

/// The JSON pointer to a value inside another, by identity.
fn pointer_to(from: &Value, to: &Value, depth: usize) -> Option<String> {
    if std::ptr::eq(from, to) {
        return Some(String::new());
    }
    let inner = |key: &str, value: &Value| {
        let rest = pointer_to(value, to, depth.checked_sub(1)?)?;
        Some(format!("/{}{rest}", key.replace('~', "~0").replace('/', "~1")))
    };
    match from {
        Value::Object(map) => map.iter().find_map(|(key, value)| inner(key, value)),
        Value::Array(items) => items.iter().enumerate().find_map(|(n, value)| inner(&n.to_string(), value)),
        _ => None,
    }
}

/// A schema of the document by its `$id` or `$anchor`.
fn find<'s>(schema: &'s Value, key: &str, name: &str, depth: usize) -> Option<&'s Value> {
    if depth > DEPTH {
        return None;
    }
    match schema {
        Value::Object(map) if map.get(key).and_then(Value::as_str) == Some(name) => Some(schema),
        Value::Object(map) => map.values().find_map(|inner| find(inner, key, name, depth + 1)),
        Value::Array(items) => items.iter().find_map(|inner| find(inner, key, name, depth + 1)),
        _ => None,
    }
}

/// Number of values within a value, itself included.
fn size(value: &Value) -> u64 {
    1 + match value {
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(map) => map.values().map(size).sum(),
        _ => 0,
    }
}

fn missing<'r>(required: Option<&'r Value>, object: &Map<String, Value>) -> Vec<&'r str> {
    let names = required.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    names.filter(|name| !object.contains_key(*name)).collect()
}

/// A pattern of Go's, where it is one.
fn readable(pattern: &str) -> Option<Regex> {
    crate::go::pattern::translate(pattern).ok().and_then(|own| Regex::new(&own.text).ok())
}
