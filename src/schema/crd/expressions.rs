//! The rules of a definition: whether they compile, what may be used in them, and what they may cost.
//!
//! As apiextensions-apiserver 1.34 `pkg/apis/apiextensions/validation/cel_validation.go` and `validation.go`.

use serde_json::{Value, json};

use crate::cel::{self, Decl};
use crate::schema::crd::types::decl;
use crate::schema::error::{FieldError, go_json};
use crate::schema::node::{ListType, Node, Rule};
use crate::schema::outcome::Outcome;
use crate::schema::path::Path;
use crate::schema::structural::Structural;
use crate::schema::version::KubeVersion;

/// The most that one rule may be estimated to cost, and all rules together.
const RULE_LIMIT: u64 = 10_000_000;
const TOTAL_LIMIT: u64 = 100_000_000;

/// Judges every rule of a schema that is otherwise sound.
pub(super) fn check(schema: &Value, at: &Path<'_>, kube: KubeVersion, outcome: &mut Outcome) {
    let Ok(compiled) = Structural::compile(schema, kube) else { return };
    if !compiled.root.has_rules {
        return;
    }
    let mut walk = Walk { kube, outcome, total: 0, costly: Vec::new() };
    walk.node(&compiled.root, at, Place { root: true, ..Place::default() });
    walk.finish(at);
}

/// Where a node stands.
#[derive(Clone, Copy)]
struct Place<'p> {
    root: bool,
    /// The path of the nearest list whose items have no old value.
    uncorrelated: Option<&'p str>,
    /// How often the node can occur in one object; `None` without a bound.
    times: Option<u64>,
}

impl Default for Place<'_> {
    fn default() -> Self {
        Self { root: false, uncorrelated: None, times: Some(1) }
    }
}

struct Walk<'o> {
    kube: KubeVersion,
    outcome: &'o mut Outcome,
    total: u64,
    costly: Vec<(u64, String)>,
}

impl Walk<'_> {
    fn node(&mut self, node: &Node, at: &Path<'_>, place: Place<'_>) {
        if !node.has_rules {
            return;
        }
        if !node.rules.is_empty()
            && let Some((own, least)) = decl(node, place.root, self.kube)
        {
            // Without bounds above, as many as fit into one request.
            let place = Place { times: place.times.or(Some(cel::MAX_REQUEST / (least + 1))), ..place };
            let path = at.field("x-kubernetes-validations");
            for (i, rule) in node.rules.iter().enumerate() {
                self.rule(rule, &own, &path.index(i), place);
            }
        }
        let here = at.to_string();
        let values = node.values.as_deref();
        if let Some(items) = node.items.as_deref() {
            let correlated = node.list_type == ListType::Map;
            let uncorrelated =
                if correlated { place.uncorrelated } else { Some(place.uncorrelated.unwrap_or(&here)) };
            let times = times(place.times, values.and_then(|values| values.max_items));
            self.node(items, &at.field("items"), Place { root: false, uncorrelated, times });
        }
        if let Some(extra) = node.additional_schema() {
            let times = times(place.times, values.and_then(|values| values.max_properties));
            self.node(extra, &at.field("additionalProperties"), Place { root: false, times, ..place });
        }
        let properties = at.field("properties");
        for (name, property) in &node.properties {
            self.node(property, &properties.key(name), Place { root: false, ..place });
        }
    }

    fn rule(&mut self, rule: &Rule, own: &Decl, at: &Path<'_>, place: Place<'_>) {
        let rule_at = at.field("rule").to_string();
        let program = match rule.program() {
            Ok(program) => program,
            Err(why) => {
                self.refuse(rule, rule_at, &format!("compilation failed: {why}"));
                return;
            }
        };
        let uses_old = program.names("oldSelf");
        match cel::check(program, &variables(own, rule), self.kube.minor) {
            Err(faults) => self.refuse(rule, rule_at.clone(), &format!("compilation failed: {faults}")),
            Ok(checked) if !matches!(checked.result, Decl::Bool | Decl::Dyn { .. }) => {
                self.refuse(rule, rule_at.clone(), "cel expression must evaluate to a bool");
            }
            Ok(checked) => {
                let cost = place.times.map_or(u64::MAX, |times| checked.cost.saturating_mul(times));
                self.charge(cost, cost, "estimated rule cost", rule_at.clone());
                self.message(rule, own, at);
            }
        }
        if uses_old {
            if let Some(within) = place.uncorrelated {
                let words = format!(
                    "oldSelf cannot be used on the uncorrelatable portion of the schema within {within}"
                );
                self.outcome.errors.push(FieldError::invalid(rule_at, &Value::from(&*rule.rule), &words));
            }
        } else if rule.optional_old_self {
            let words = "may not be set if oldSelf is not used in rule";
            let at = at.field("optionalOldSelf").to_string();
            self.outcome.errors.push(FieldError::invalid(at, &Value::Bool(true), words));
        }
    }

    fn message(&mut self, rule: &Rule, own: &Decl, at: &Path<'_>) {
        let source = rule.message_expression.trim();
        if source.is_empty() {
            return;
        }
        let at = at.field("messageExpression").to_string();
        let checked = cel::Program::compile(source)
            .and_then(|program| cel::check(&program, &variables(own, rule), self.kube.minor));
        match checked {
            Err(faults) => self.refuse(rule, at, &format!("messageExpression compilation failed: {faults}")),
            Ok(checked) if !matches!(checked.result, Decl::Text { .. } | Decl::Dyn { .. }) => {
                self.refuse(rule, at, "messageExpression must evaluate to a string");
            }
            Ok(checked) => self.charge(checked.cost, checked.cost, "estimated messageExpression cost", at),
        }
    }

    fn charge(&mut self, cost: u64, observed: u64, what: &str, at: String) {
        if cost > RULE_LIMIT {
            self.outcome
                .errors
                .push(FieldError::forbidden(at.as_str(), &over_budget(what, cost, RULE_LIMIT)));
        }
        self.total = self.total.saturating_add(observed);
        if observed >= TOTAL_LIMIT / 100 {
            self.costly.push((observed, at));
        }
    }

    fn refuse(&mut self, rule: &Rule, at: String, words: &str) {
        self.outcome.errors.push(shown(rule, at, words));
    }

    /// Names the four most expensive rules when all together are too much.
    fn finish(mut self, at: &Path<'_>) {
        if self.total <= TOTAL_LIMIT {
            return;
        }
        self.costly.sort_by(|(a, _), (b, _)| b.cmp(a));
        for (_, rule) in self.costly.drain(..).take(4) {
            let words =
                "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
            self.outcome.errors.push(FieldError::forbidden(rule, words));
        }
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        self.outcome
            .errors
            .push(FieldError::forbidden(at.to_string(), &over_budget(what, self.total, TOTAL_LIMIT)));
    }
}

fn times(outer: Option<u64>, bound: Option<i64>) -> Option<u64> {
    Some(outer?.saturating_mul(u64::try_from(bound?).unwrap_or(0)))
}

/// `self`, and `oldSelf` of the same type or optional.
fn variables(own: &Decl, rule: &Rule) -> [(&'static str, Decl); 2] {
    let old = if rule.optional_old_self { Decl::Optional(own.clone().into()) } else { own.clone() };
    [("self", own.clone()), ("oldSelf", old)]
}

fn over_budget(what: &str, cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    let factor = if factor > 100.0 {
        "more than 100x".to_owned()
    } else if factor < 1.5 {
        format!("{factor:.6}x")
    } else {
        format!("{factor:.1}x")
    };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and \
         maxLength where arrays, maps, and strings are declared)"
    )
}

/// An error that quotes the rule as the server does: its Go struct as JSON.
fn shown(rule: &Rule, at: String, words: &str) -> FieldError {
    let text = |text: &str| go_json(&json!(text));
    let reason = if rule.reason.is_empty() { "null".to_owned() } else { text(&rule.reason) };
    let optional = if rule.optional_old_self { "true" } else { "null" };
    let quoted = format!(
        "{{\"Rule\":{},\"Message\":{},\"MessageExpression\":{},\"Reason\":{reason},\"FieldPath\":{},\"OptionalOldSelf\":{optional}}}",
        text(&rule.rule),
        text(&rule.message),
        text(&rule.message_expression),
        text(&rule.field_path),
    );
    FieldError {
        body: format!("Invalid value: {quoted}: {words}"),
        ..FieldError::invalid(at, &Value::Null, "")
    }
}
