//! Validation of values against a schema, rules apart.
//!
//! As `k8s.io/kube-openapi` `pkg/validation/validate` (schema.go, type.go, object_validator.go, slice_validator.go,
//! schema_props.go, values.go) and apiextensions-apiserver 1.34 `pkg/apiserver/validation`.

use serde_json::Value;

use crate::go::quote;
use crate::schema::embedded;
use crate::schema::error::{Cause, FieldError, go_float};
use crate::schema::formats;
use crate::schema::lists;
use crate::schema::node::{Additional, Kind, Node, Values};
use crate::schema::outcome::Outcome;
use crate::schema::path::Path;
use crate::schema::ratchet::Pair;
use crate::schema::rules;
use crate::schema::structural::Structural;

impl Structural {
    /// Validates an object that was coerced and defaulted: on create without, on update with the stored object.
    ///
    /// `earlier` are errors already found in metadata; they come first and may keep rules from being run.
    /// As apiextensions-apiserver 1.34 `pkg/registry/customresource/strategy.go`.
    #[must_use]
    pub fn validate(&self, new: &Value, old: Option<&Value>, earlier: Vec<FieldError>) -> Outcome {
        let pair = old.filter(|_| self.version.ratchets()).map(|old| Pair { new, old, node: &self.root });
        let mut errors = earlier;
        errors.extend(check(new, &self.root, &Path::ROOT, pair).errors.into_iter().map(|found| found.error));
        errors.extend(embedded::check(new, &self.root));
        if old.is_none_or(|old| lists::duplicates(old, &self.root).is_empty()) {
            errors.extend(lists::duplicates(new, &self.root));
        }
        let mut outcome = Outcome { errors, ..Outcome::default() };
        if self.root.has_rules && self.version.has_rules() {
            self.judge_rules(new, old, &mut outcome);
        }
        outcome
    }

    /// Validates a value that is not a whole object, such as a default; `at` names it in errors.
    pub(super) fn validate_part(&self, value: &Value, at: &str) -> Vec<FieldError> {
        let found = check(value, &self.root, &Path::ROOT, None).errors.into_iter().map(|found| found.error);
        let place = |field: String| if field == "<nil>" { at.to_owned() } else { format!("{at}.{field}") };
        found.map(|error| FieldError { field: place(error.field), ..error }).collect()
    }

    fn judge_rules(&self, new: &Value, old: Option<&Value>, outcome: &mut Outcome) {
        if outcome.errors.iter().any(|error| error.cause.blocks_rules()) {
            outcome.errors.push(FieldError::invalid("<nil>", &Value::Null, NOT_CHECKED));
        } else {
            rules::judge(self, new, old, outcome);
        }
    }
}

const NOT_CHECKED: &str = "some validation rules were not checked because the object was invalid; \
     correct the existing errors to complete validation";

/// An error with the message that decides whether it was said before.
#[derive(Debug)]
struct Found {
    said: String,
    error: FieldError,
}

/// Errors, and how many checks were made: the best of several failing alternatives is the one with most checks.
#[derive(Debug, Default)]
struct Tally {
    errors: Vec<Found>,
    checks: usize,
}

impl Tally {
    fn passes(&self) -> bool {
        self.errors.is_empty()
    }

    fn add(&mut self, said: String, error: FieldError) {
        if !self.errors.iter().any(|found| found.said == said) {
            self.errors.push(Found { said, error });
        }
    }

    fn merge(&mut self, other: Self) {
        self.checks += other.checks;
        for found in other.errors {
            self.add(found.said, found.error);
        }
    }

    /// `Invalid value` with the message as detail.
    fn invalid(&mut self, at: &Path<'_>, value: &Value, said: String) {
        let error = FieldError::invalid(at.or_nil(), value, &said);
        self.add(said, error);
    }

    /// Errors of alternatives name no field: the server loses it.
    fn composite(&mut self, said: String) {
        let error = FieldError::invalid("<nil>", &Value::from(""), &said);
        self.add(said, error);
    }

    fn wrong_type(&mut self, at: &Path<'_>, wanted: &str, got: &str) {
        let said = format!("{at} in body must be of type {wanted}: {}", quote(got));
        let error = FieldError::new(Cause::TypeInvalid, at.or_nil(), &Value::from(got), &said);
        self.add(said, error);
    }
}

/// Validates a value; with a pair, errors at an unchanged value are forgiven.
fn check(value: &Value, node: &Node, at: &Path<'_>, pair: Option<Pair<'_>>) -> Tally {
    let mut tally = check_as_new(value, node, at, pair);
    if !tally.passes() && pair.is_some_and(Pair::unchanged) {
        tally.errors.clear();
    }
    tally
}

/// Makes every check that applies; the counts are those of the server's validators.
fn check_as_new(value: &Value, node: &Node, at: &Path<'_>, pair: Option<Pair<'_>>) -> Tally {
    let mut tally = Tally::default();
    let values = node.values.as_deref();
    if value.is_null() {
        check_null(node, at, &mut tally);
    } else {
        if node.kind.is_some() || node.int_or_string || values.is_some_and(|values| !values.format.is_empty())
        {
            check_type(value, node, at, &mut tally);
        }
        if let Some(values) = values {
            check_alternatives(value, values, at, &mut tally);
            check_scalar(value, values, at, &mut tally);
        }
        if let Value::Array(list) = value {
            check_items(list, node, at, pair, &mut tally);
        }
        tally.checks += 4 + count_of_scalar_checks(value);
    }
    if let Some(values) = values {
        check_choices(value, values, at, &mut tally);
    }
    if value.is_object() {
        check_members(value, node, at, pair, &mut tally);
    }
    tally
}

fn count_of_scalar_checks(value: &Value) -> usize {
    match value {
        Value::String(_) | Value::Object(_) => 1,
        Value::Number(_) | Value::Array(_) => 2,
        Value::Null | Value::Bool(_) => 0,
    }
}

fn check_null(node: &Node, at: &Path<'_>, tally: &mut Tally) {
    let typed = node.kind.is_some() || node.int_or_string;
    if typed && !node.nullable {
        tally.wrong_type(at, node.type_name(), "null");
    } else {
        tally.checks += 1;
    }
}

/// The JSON type of a value as messages name it.
pub(super) fn json_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.as_i64().is_some() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn check_type(value: &Value, node: &Node, at: &Path<'_>, tally: &mut Tally) {
    let got = json_kind(value);
    let has_format = node.values.as_deref().is_some_and(|values| !values.format.is_empty());
    let numeric = node.accepts(Kind::Number) || node.accepts(Kind::Integer);
    let textual = matches!(value, Value::String(_) | Value::Array(_));
    let fits = Kind::named(got).is_some_and(|kind| node.accepts(kind))
        || (got == "number" && node.accepts(Kind::Integer) && is_whole(value))
        || (got == "integer" && node.accepts(Kind::Number));
    if fits || (!numeric && has_format && textual) {
        tally.checks += 2;
    } else if has_format && !textual {
        let wanted = node.values.as_deref().map_or("", |values| &values.format);
        tally.wrong_type(at, wanted, go_format(got));
        tally.checks += 1;
    } else {
        tally.wrong_type(at, node.type_name(), got);
        tally.checks += 1;
    }
}

/// With a format the server names Go's formats instead of JSON types.
fn go_format(kind: &str) -> &'static str {
    match kind {
        "integer" => "int64",
        "number" => "float64",
        _ => "",
    }
}

/// Whether a float is a whole number that JSON can carry exactly (go-openapi/swag `IsFloat64AJSONInteger`).
fn is_whole(value: &Value) -> bool {
    value.as_f64().is_some_and(is_whole_float)
}

fn is_whole_float(float: f64) -> bool {
    const MAX_SAFE: f64 = 9_007_199_254_740_991.0;
    if !float.is_finite() || float.abs() > MAX_SAFE {
        return false;
    }
    let nearest = float.round();
    let difference = (float - nearest).abs();
    difference == 0.0 || difference / (float.abs() + nearest.abs()) < 1e-9
}

fn check_scalar(value: &Value, values: &Values, at: &Path<'_>, tally: &mut Tally) {
    match value {
        Value::String(text) => {
            check_string(text, values, at, tally);
            if !values.format.is_empty() && formats::known(&values.format) {
                check_format(text, values, at, tally);
            }
        }
        Value::Number(_) => check_number(value, values, at, tally),
        _ => {}
    }
}

fn check_string(text: &str, values: &Values, at: &Path<'_>, tally: &mut Tally) {
    let length = || text.chars().count() as i64;
    if let Some(limit) = values.max_length.filter(|limit| text.len() as i64 > *limit && length() > *limit) {
        let said = format!("{at} in body should be at most {limit} chars long");
        tally.add(said, FieldError::too_long(at.or_nil(), limit));
    } else if let Some(limit) = values.min_length.filter(|limit| length() < *limit) {
        let said = format!("{at} in body should be at least {limit} chars long");
        tally.invalid(at, &Value::from(text), said);
    } else if let Some(pattern) = &values.pattern {
        match pattern.regex() {
            Ok(regex) if regex.is_match(text) => {}
            Ok(_) => {
                let said = format!("{at} in body should match '{}'", pattern.source);
                tally.invalid(at, &Value::from(text), said);
            }
            Err(why) => {
                let said =
                    format!("{at} in body should match '{}, but pattern is invalid: {why}'", pattern.source);
                tally.invalid(at, &Value::from(text), said);
            }
        }
    }
}

fn check_format(text: &str, values: &Values, at: &Path<'_>, tally: &mut Tally) {
    if !formats::matches(&values.format, text) {
        tally.wrong_type(at, &values.format, text);
    }
    tally.checks += 1;
}

fn check_number(value: &Value, values: &Values, at: &Path<'_>, tally: &mut Tally) {
    let integer = value.as_i64();
    let float = value.as_f64().unwrap_or_default();
    if let Some(factor) = values.multiple_of {
        let fits = match integer {
            Some(integer) if factor as i64 > 0 => integer % factor as i64 == 0,
            _ if factor > 0.0 && factor < 1.0 => is_whole_float(1.0 / factor * float),
            _ => factor > 0.0 && is_whole_float(float / factor),
        };
        if !fits {
            tally.invalid(
                at,
                value,
                format!("{at} in body should be a multiple of {}", bound(factor, integer)),
            );
        }
    }
    if let Some(minimum) = values.minimum {
        let low = integer.map_or(float < minimum, |i| i < minimum as i64);
        let equal = integer.map_or(float == minimum, |i| i == minimum as i64);
        if low || (values.exclusive_minimum && equal) {
            let words = if values.exclusive_minimum { "greater than" } else { "greater than or equal to" };
            tally.invalid(at, value, format!("{at} in body should be {words} {}", bound(minimum, integer)));
        }
    }
    if let Some(maximum) = values.maximum {
        let high = integer.map_or(float > maximum, |i| i > maximum as i64);
        let equal = integer.map_or(float == maximum, |i| i == maximum as i64);
        if high || (values.exclusive_maximum && equal) {
            let words = if values.exclusive_maximum { "less than" } else { "less than or equal to" };
            tally.invalid(at, value, format!("{at} in body should be {words} {}", bound(maximum, integer)));
        }
    }
}

/// A bound as it is printed: as an integer when the value is one, else as Go prints floats.
fn bound(bound: f64, integer: Option<i64>) -> String {
    if integer.is_some() { (bound as i64).to_string() } else { go_float(bound) }
}

fn check_choices(value: &Value, values: &Values, at: &Path<'_>, tally: &mut Tally) {
    if !values.choices.is_empty() && !values.choices.iter().any(|choice| equal_choice(value, choice)) {
        let text = |choice: &Value| choice.as_str().map_or_else(|| choice.to_string(), str::to_owned);
        let supported: Vec<String> = values.choices.iter().map(text).collect();
        let said = format!("{at} in body should be one of {supported:?}");
        tally.add(said, FieldError::not_supported(at.or_nil(), value, &supported));
    }
}

/// Enum members are compared after conversion to the member's type: `1.0` is `1`.
fn equal_choice(value: &Value, choice: &Value) -> bool {
    match (value, choice) {
        (Value::Null, _) | (_, Value::Null) => false,
        (Value::Number(a), Value::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a == b,
            _ => a.as_f64() == b.as_f64(),
        },
        (value, choice) => value == choice,
    }
}

fn check_items(list: &[Value], node: &Node, at: &Path<'_>, pair: Option<Pair<'_>>, tally: &mut Tally) {
    if let Some(items) = node.items.as_deref() {
        let old_items = pair.and_then(Pair::old_items);
        for (i, item) in list.iter().enumerate() {
            let below = pair.and_then(|pair| pair.item(i, old_items.as_ref()));
            tally.merge(check(item, items, &at.index(i), below));
        }
    }
    if let Some(values) = node.values.as_deref() {
        check_list_size(list, values, at, tally);
    }
}

fn check_list_size(list: &[Value], values: &Values, at: &Path<'_>, tally: &mut Tally) {
    let size = list.len();
    if let Some(limit) = values.min_items.filter(|limit| (size as i64) < *limit) {
        tally.invalid(at, &Value::from(size), format!("{at} in body should have at least {limit} items"));
    }
    if let Some(limit) = values.max_items.filter(|limit| size as i64 > *limit) {
        let said = format!("{at} in body should have at most {limit} items");
        tally.add(said, FieldError::too_many(at.or_nil(), size, limit));
    }
    if values.unique_items && (1..size).any(|i| list.iter().take(i).any(|other| Some(other) == list.get(i))) {
        tally.invalid(at, &Value::from(""), format!("{at} in body shouldn't contain duplicates"));
    }
}

fn check_members(value: &Value, node: &Node, at: &Path<'_>, pair: Option<Pair<'_>>, tally: &mut Tally) {
    let Value::Object(map) = value else { return };
    if let Some(values) = node.values.as_deref() {
        check_map_size(map.len(), values, at, tally);
    }
    for (name, member) in map {
        let below = pair.filter(|_| !(at.is_root() && is_type_field(name))).and_then(|pair| pair.key(name));
        if let Some(property) = node.property(name) {
            tally.merge(check(member, property, &at.field(name), below));
        } else {
            check_undeclared(name, member, node, at, below, tally);
        }
    }
    for name in node.values.iter().flat_map(|values| &values.required) {
        if !map.contains_key(name.as_ref()) {
            let path = at.field(name);
            tally.add(format!("{path} in body is required"), FieldError::required(path.to_string(), ""));
        }
    }
}

fn check_undeclared(
    name: &str,
    member: &Value,
    node: &Node,
    at: &Path<'_>,
    pair: Option<Pair<'_>>,
    tally: &mut Tally,
) {
    match node.additional.as_deref() {
        Some(Additional::Schema(schema)) => tally.merge(check(member, schema, &at.field(name), pair)),
        Some(Additional::Allowed(false)) => {
            let said = format!("{at}.{name} in body is a forbidden property");
            tally.invalid(at, &Value::from(name), said);
        }
        Some(Additional::Allowed(true)) | None => {}
    }
}

fn is_type_field(name: &str) -> bool {
    name == "apiVersion" || name == "kind"
}

fn check_map_size(size: usize, values: &Values, at: &Path<'_>, tally: &mut Tally) {
    if let Some(limit) = values.min_properties.filter(|limit| (size as i64) < *limit) {
        tally.invalid(
            at,
            &Value::from(size),
            format!("{at} in body should have at least {limit} properties"),
        );
    }
    if let Some(limit) = values.max_properties.filter(|limit| size as i64 > *limit) {
        let said = format!("{at} in body should have at most {limit} properties");
        tally.add(said, FieldError::too_many(at.or_nil(), size, limit));
    }
}

/// `anyOf`, `oneOf`, `allOf`, `not`; none of them ratchets by itself, only the value as a whole does.
fn check_alternatives(value: &Value, values: &Values, at: &Path<'_>, tally: &mut Tally) {
    if !values.any_of.is_empty() {
        check_any_of(value, &values.any_of, at, tally);
    }
    if !values.one_of.is_empty() {
        check_one_of(value, &values.one_of, at, tally);
    }
    if !values.all_of.is_empty() {
        check_all_of(value, &values.all_of, at, tally);
    }
    if values.not.as_deref().is_some_and(|not| check(value, not, at, None).passes()) {
        tally.composite(format!("{} must not validate the schema (not)", quote(at.to_string())));
    }
}

/// Keeps the failure with the most checks made.
fn keep_best(best: &mut Option<Tally>, failure: Tally) {
    if best.as_ref().is_none_or(|best| failure.checks > best.checks) {
        *best = Some(failure);
    }
}

fn check_any_of(value: &Value, alternatives: &[Node], at: &Path<'_>, tally: &mut Tally) {
    let mut best = None;
    for alternative in alternatives {
        let result = check(value, alternative, at, None);
        if result.passes() {
            tally.merge(result);
            return;
        }
        keep_best(&mut best, result);
    }
    tally.composite(format!("{} must validate at least one schema (anyOf)", quote(at.to_string())));
    best.into_iter().for_each(|best| tally.merge(best));
}

fn check_one_of(value: &Value, alternatives: &[Node], at: &Path<'_>, tally: &mut Tally) {
    let (mut best, mut first, mut valid) = (None, None, 0_usize);
    for alternative in alternatives {
        let result = check(value, alternative, at, None);
        if result.passes() {
            valid += 1;
            best = None;
            first.get_or_insert(result);
        } else if valid == 0 {
            keep_best(&mut best, result);
        }
    }
    if valid == 1 {
        first.into_iter().for_each(|first| tally.merge(first));
        return;
    }
    let found =
        if valid == 0 { "Found none valid".to_owned() } else { format!("Found {valid} valid alternatives") };
    tally.composite(format!(
        "{} must validate one and only one schema (oneOf). {found}",
        quote(at.to_string())
    ));
    best.into_iter().for_each(|best| tally.merge(best));
}

fn check_all_of(value: &Value, alternatives: &[Node], at: &Path<'_>, tally: &mut Tally) {
    let mut valid = 0;
    for alternative in alternatives {
        let result = check(value, alternative, at, None);
        valid += usize::from(result.passes());
        tally.merge(result);
    }
    if valid != alternatives.len() {
        let none = if valid == 0 { ". None validated" } else { "" };
        tally.composite(format!("{} must validate all the schemas (allOf){none}", quote(at.to_string())));
    }
}
