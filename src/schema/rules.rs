//! Running `x-kubernetes-validations`.
//!
//! As apiextensions-apiserver 1.34 `pkg/apiserver/schema/cel/validation.go`.

use serde_json::Value as Json;

use crate::cel::{EvalError, Value};
use crate::schema::bind::bind;
use crate::schema::error::{Cause, FieldError};
use crate::schema::node::{Node, Rule};
use crate::schema::outcome::Outcome;
use crate::schema::path::Path;
use crate::schema::ratchet::{OldItems, Pair};
use crate::schema::same::same;
use crate::schema::structural::Structural;
use crate::schema::version::KubeVersion;

/// Longest message that a message expression may give, in bytes.
const MAX_MESSAGE: usize = 5 << 10;

/// Runs every rule on the object and everything in it.
pub(super) fn judge(schema: &Structural, new: &Json, old: Option<&Json>, outcome: &mut Outcome) {
    let pair = old.filter(|_| schema.version.ratchets()).map(|old| Pair { new, old, node: &schema.root });
    let mut judge = Judge { version: schema.version, outcome };
    judge.value(
        new,
        Place { validation: &schema.root, node: &schema.root, resource: true },
        &Path::ROOT,
        Held { old, pair, parent: None },
    );
}

/// A schema node whose rules are run on a value that another node gives its types: they differ below `allOf`.
#[derive(Clone, Copy)]
struct Place<'n> {
    validation: &'n Node,
    node: &'n Node,
    resource: bool,
}

/// What a value is held against: its old value, and the pairs that decide about ratcheting.
#[derive(Clone, Copy)]
struct Held<'v> {
    old: Option<&'v Json>,
    pair: Option<Pair<'v>>,
    parent: Option<Pair<'v>>,
}

impl<'v> Held<'v> {
    /// Whether an error here is forgiven: nothing changed here, or in the nearest place that can be compared.
    fn forgives(self) -> bool {
        self.pair.or(self.parent).is_some_and(Pair::unchanged)
    }

    fn below(self, old: Option<&'v Json>, pair: impl FnOnce(Pair<'v>) -> Option<Pair<'v>>) -> Self {
        match self.pair {
            Some(here) => Self { old, pair: pair(here), parent: Some(here) },
            None => Self { old, ..self },
        }
    }
}

struct Judge<'o> {
    version: KubeVersion,
    outcome: &'o mut Outcome,
}

impl Judge<'_> {
    fn value(&mut self, value: &Json, place: Place<'_>, at: &Path<'_>, held: Held<'_>) {
        if value.is_null() || !place.validation.has_rules {
            return;
        }
        if !place.validation.rules.is_empty() {
            self.rules(value, place, at, held);
        }
        for alternative in place.validation.values.iter().flat_map(|values| &values.all_of) {
            self.value(value, Place { validation: alternative, ..place }, at, Held { pair: None, ..held });
        }
        match value {
            Json::Array(list) => self.items(list, place, at, held),
            Json::Object(map) => self.members(map, place, at, held),
            _ => {}
        }
    }

    fn items(&mut self, list: &[Json], place: Place<'_>, at: &Path<'_>, held: Held<'_>) {
        let (Some(validation), Some(node)) = (place.validation.items.as_deref(), place.node.items.as_deref())
        else {
            return;
        };
        let old_items = held.old.and_then(Json::as_array).and_then(|old| OldItems::of(old, place.node));
        for (i, item) in list.iter().enumerate() {
            let old = old_items.as_ref().and_then(|items| items.find(item));
            let below = held.below(old, |pair| pair.item(i, pair.old_items().as_ref()));
            let place = Place { validation, node, resource: node.embedded };
            self.value(item, place, &at.index(i), below);
        }
    }

    fn members(
        &mut self,
        map: &serde_json::Map<String, Json>,
        place: Place<'_>,
        at: &Path<'_>,
        held: Held<'_>,
    ) {
        for (name, member) in map {
            let below = self.held_below(name, at, held);
            if let (Some(validation), Some(node)) =
                (place.validation.additional_schema(), place.node.additional_schema())
            {
                let place = Place { validation, node, resource: node.embedded };
                self.value(member, place, &at.key(name), below);
            }
            if let (Some(validation), Some(node)) =
                (place.validation.property(name), place.node.property(name))
            {
                let place = Place { validation, node, resource: node.embedded };
                self.value(member, place, &at.field(name), below);
            }
        }
    }

    fn held_below<'v>(&self, name: &str, at: &Path<'_>, held: Held<'v>) -> Held<'v> {
        let old = held.old.and_then(|old| old.get(name));
        if at.is_root() && matches!(name, "apiVersion" | "kind") {
            return Held { old, pair: None, parent: None };
        }
        held.below(old, |pair| pair.key(name))
    }

    fn rules(&mut self, value: &Json, place: Place<'_>, at: &Path<'_>, held: Held<'_>) {
        let mut bound = Bound::new(value, held.old, place, self.version);
        for rule in &place.validation.rules {
            if rule.rule.trim().is_empty() {
                continue;
            }
            match rule.program() {
                Ok(program) => {
                    let uses_old = program.names("oldSelf");
                    if uses_old && held.old.is_none() && !rule.optional_old_self {
                        continue;
                    }
                    self.rule(rule, &mut bound, uses_old, at, held);
                }
                Err(why) => self.unchecked(rule, at, why),
            }
        }
    }

    fn rule(&mut self, rule: &Rule, bound: &mut Bound<'_>, uses_old: bool, at: &Path<'_>, held: Held<'_>) {
        match bound.evaluate(rule) {
            Ok(Value::Bool(true)) => {}
            Ok(Value::Bool(false)) => {
                let error = failed(rule, bound, at);
                if !uses_old && held.forgives() {
                    self.outcome.warnings.push(error.to_string());
                } else {
                    self.outcome.errors.push(error);
                }
            }
            Ok(other) => self.unchecked(rule, at, &format!("gave {other:?} instead of a boolean")),
            Err(EvalError::Failed(why)) => {
                let detail = format!("{why} evaluating rule: {}", said(rule));
                let shown = Json::from(bound.place.node.shown_type());
                self.outcome.errors.push(FieldError::invalid(at.or_nil(), &shown, &detail));
            }
            Err(EvalError::Unsupported(why)) => self.unchecked(rule, at, &why),
        }
    }

    fn unchecked(&mut self, rule: &Rule, at: &Path<'_>, why: &str) {
        self.outcome.unchecked.push(format!(
            "not checked: {}: rule `{}`: {why}",
            at.or_nil(),
            rule.rule.trim()
        ));
    }
}

/// The values that the rules of one place see, bound when first needed.
struct Bound<'v> {
    value: &'v Json,
    old: Option<&'v Json>,
    place: Place<'v>,
    version: KubeVersion,
    self_value: Option<Value>,
    old_value: Option<Value>,
}

impl<'v> Bound<'v> {
    fn new(value: &'v Json, old: Option<&'v Json>, place: Place<'v>, version: KubeVersion) -> Self {
        Self { value, old, place, version, self_value: None, old_value: None }
    }

    fn evaluate(&mut self, rule: &Rule) -> Result<Value, EvalError> {
        // The commonest transition rule, compared without building CEL values of both sides.
        if rule.rule.trim() == "self == oldSelf"
            && !rule.optional_old_self
            && let Some(old) = self.old
            && same(self.value, old)
        {
            return Ok(Value::Bool(true));
        }
        let program = rule.program().map_err(|why| EvalError::Unsupported(why.to_owned()))?;
        self.run(program, rule.optional_old_self)
    }

    fn run(&mut self, program: &crate::cel::Program, optional_old: bool) -> Result<Value, EvalError> {
        let mut bindings = Vec::with_capacity(2);
        if program.names("self") {
            bindings.push(("self", self.self_value()?));
        }
        if program.names("oldSelf") {
            let old = self.old_value()?;
            if optional_old {
                bindings.push(("oldSelf", crate::cel::optional(old)));
            } else if let Some(old) = old {
                bindings.push(("oldSelf", old));
            }
        }
        program.evaluate(&bindings)
    }

    fn self_value(&mut self) -> Result<Value, EvalError> {
        if self.self_value.is_none() {
            self.self_value = Some(bind(self.value, self.place.node, self.place.resource, self.version)?);
        }
        Ok(self.self_value.clone().unwrap_or(Value::Null))
    }

    fn old_value(&mut self) -> Result<Option<Value>, EvalError> {
        if self.old_value.is_none()
            && let Some(old) = self.old.filter(|old| !old.is_null())
        {
            self.old_value = Some(bind(old, self.place.node, self.place.resource, self.version)?);
        }
        Ok(self.old_value.clone())
    }
}

/// The error of a rule that is not fulfilled.
fn failed(rule: &Rule, bound: &mut Bound<'_>, at: &Path<'_>) -> FieldError {
    let detail = message_of(rule, bound).unwrap_or_else(|| {
        if rule.message.is_empty() {
            format!("failed rule: {}", rule.rule.trim())
        } else {
            rule.message.trim().to_owned()
        }
    });
    let field = field_of(rule, at);
    let shown = Json::from(bound.place.node.shown_type());
    match &*rule.reason {
        "FieldValueForbidden" => FieldError::bare(Cause::Forbidden, field, &detail),
        "FieldValueRequired" => FieldError::required(field, &detail),
        "FieldValueDuplicate" => FieldError::duplicate(field, &shown),
        _ => FieldError::invalid(field, &shown, &detail),
    }
}

/// `fieldPath` appended: `.a.b`, with `['x']` written as `.x` where properties are declared.
fn field_of(rule: &Rule, at: &Path<'_>) -> String {
    let relative = normal_field_path(&rule.field_path);
    if relative.is_empty() {
        return at.or_nil();
    }
    let base = at.to_string();
    if base.is_empty() { relative } else { format!("{base}.{relative}") }
}

fn normal_field_path(path: &str) -> String {
    path.trim()
        .trim_start_matches('.')
        .replace("['", "[")
        .replace("']", "]")
        .trim_start_matches('[')
        .to_owned()
}

fn message_of(rule: &Rule, bound: &mut Bound<'_>) -> Option<String> {
    let program = rule.message_program()?;
    let Ok(Value::String(message)) = bound.run(program, rule.optional_old_self) else { return None };
    let message = message.trim();
    let fits = !message.is_empty() && message.len() <= MAX_MESSAGE && !message.contains('\n');
    fits.then(|| message.to_owned())
}

/// What names a rule in a run-time error.
fn said(rule: &Rule) -> &str {
    if rule.message.is_empty() { rule.rule.trim() } else { rule.message.trim() }
}
