//! The rules of a definition: whether they compile and what may be used in them.

use serde_json::{Map, Value};

use crate::cel;
use crate::schema::crd::structure::{MAX_DEPTH, below, listed, members};
use crate::schema::crd::text;
use crate::schema::error::FieldError;
use crate::schema::outcome::Outcome;
use crate::schema::path::Path;
use crate::schema::version::KubeVersion;

/// Judges every rule of a schema that is otherwise sound.
pub(super) fn check(schema: &Value, at: &Path<'_>, kube: KubeVersion, outcome: &mut Outcome) {
    if let Value::Object(schema) = schema {
        let mut walk = Walk { kube, outcome };
        walk.node(schema, at, None, 0);
    }
}

struct Walk<'o> {
    kube: KubeVersion,
    outcome: &'o mut Outcome,
}

impl Walk<'_> {
    /// `uncorrelated` is the path of the nearest list or map whose parts have no old value.
    fn node(&mut self, schema: &Map<String, Value>, at: &Path<'_>, uncorrelated: Option<&str>, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        let path = at.field("x-kubernetes-validations");
        for (i, rule) in listed(schema, "x-kubernetes-validations") {
            self.rule(rule, &path.index(i), uncorrelated);
        }
        let here = at.to_string();
        if let Some(items) = below(schema, "items") {
            let keyed = text(schema, "x-kubernetes-list-type") == "map";
            let uncorrelated = uncorrelated.or((!keyed).then_some(here.as_str()));
            self.node(items, &at.field("items"), uncorrelated, depth + 1);
        }
        if let Some(additional) = below(schema, "additionalProperties") {
            self.node(additional, &at.field("additionalProperties"), uncorrelated, depth + 1);
        }
        let properties = at.field("properties");
        for (name, property) in members(schema, "properties") {
            self.node(property, &properties.key(name), uncorrelated, depth + 1);
        }
    }

    fn rule(&mut self, rule: &Map<String, Value>, at: &Path<'_>, uncorrelated: Option<&str>) {
        let source = text(rule, "rule");
        let uses_old = match cel::Program::compile(source) {
            Ok(program) => program.names("oldSelf"),
            Err(why) => {
                let words = format!("compilation failed: {why}");
                self.outcome.errors.push(shown(rule, at.field("rule").to_string(), &words));
                return;
            }
        };
        if uses_old {
            if let Some(within) = uncorrelated {
                let words = format!(
                    "oldSelf cannot be used on the uncorrelatable portion of the schema within {within}"
                );
                let error = FieldError::invalid(at.field("rule").to_string(), &Value::from(source), &words);
                self.outcome.errors.push(error);
            }
        } else if let Some(optional) = rule.get("optionalOldSelf").filter(|optional| !optional.is_null()) {
            let words = "may not be set if oldSelf is not used in rule";
            self.outcome.errors.push(FieldError::invalid(
                at.field("optionalOldSelf").to_string(),
                optional,
                words,
            ));
        }
        let _ = self.kube;
    }
}

/// An error that quotes the rule as the server does: its Go struct as JSON.
fn shown(rule: &Map<String, Value>, at: String, words: &str) -> FieldError {
    let json = |key: &str| crate::schema::error::go_json(&Value::from(text(rule, key)));
    let or_null = |key: &str| rule.get(key).map_or("null".to_owned(), Value::to_string);
    let quoted = format!(
        "{{\"Rule\":{},\"Message\":{},\"MessageExpression\":{},\"Reason\":{},\"FieldPath\":{},\"OptionalOldSelf\":{}}}",
        json("rule"),
        json("message"),
        json("messageExpression"),
        or_null("reason"),
        json("fieldPath"),
        or_null("optionalOldSelf"),
    );
    FieldError {
        body: format!("Invalid value: {quoted}: {words}"),
        ..FieldError::invalid(at, &Value::Null, "")
    }
}
