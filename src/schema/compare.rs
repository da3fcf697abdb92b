//! What changed between two schemas, place by place.

use std::fmt;

use serde_json::Value;

use crate::schema::node::{Additional, ListType, Node, Rule, Values};
use crate::schema::same::same;
use crate::schema::structural::Structural;

/// One change at one place.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The place, e.g. `spec.trainer.numNodes`; items are `[*]`, members of maps `.*`.
    pub path: String,
    /// What changed there.
    pub change: Change,
}

/// What changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// The field is gone; `pruned` when stored values of it disappear.
    Removed {
        /// Whether the server drops the field from objects from now on.
        pruned: bool,
    },
    /// The field is new.
    Added,
    /// The type changed, e.g. from `integer,string` to `integer`.
    Type {
        /// Type before; empty for any.
        before: &'static str,
        /// Type after; empty for any.
        after: &'static str,
    },
    /// `nullable` changed.
    Nullable(bool),
    /// The field became required or optional.
    Required(bool),
    /// The default changed.
    Default {
        /// Default before.
        before: Option<Value>,
        /// Default after.
        after: Option<Value>,
    },
    /// Values of the enum came or went; an enum that comes or goes as a whole has only one side.
    Enum {
        /// Allowed before, not any more; with no enum before, empty.
        gone: Vec<Value>,
        /// Allowed from now on.
        new: Vec<Value>,
        /// Whether something that was allowed may not be any more.
        tighter: bool,
    },
    /// A bound changed, e.g. `minimum` or `maxLength`.
    Bound {
        /// Name in the schema.
        name: &'static str,
        /// Bound before.
        before: Option<f64>,
        /// Bound after.
        after: Option<f64>,
        /// Whether less is allowed than before.
        tighter: bool,
    },
    /// `pattern` or `format` changed.
    Text {
        /// Name in the schema.
        name: &'static str,
        /// Before; empty for none.
        before: String,
        /// After; empty for none.
        after: String,
    },
    /// `anyOf`, `oneOf`, `allOf` or `not` changed.
    Alternatives(&'static str),
    /// A rule is new.
    RuleAdded {
        /// The CEL expression.
        rule: String,
        /// Its message.
        message: String,
    },
    /// A rule is gone.
    RuleRemoved {
        /// The CEL expression.
        rule: String,
    },
    /// Message, reason or place of a rule changed, not the rule.
    RuleReworded {
        /// The CEL expression.
        rule: String,
    },
    /// `x-kubernetes-list-type` or its keys changed.
    List {
        /// Before, with the keys.
        before: String,
        /// After, with the keys.
        after: String,
    },
    /// `x-kubernetes-preserve-unknown-fields` changed.
    PreserveUnknown(bool),
    /// Another switch changed: map type, embedded resource.
    Switch {
        /// Name in the schema.
        name: &'static str,
        /// Its value now.
        now: bool,
    },
}

impl Change {
    /// Whether objects that passed before may be refused or lose content now.
    #[must_use]
    pub fn tightens(&self) -> bool {
        match self {
            Self::Removed { pruned } => *pruned,
            Self::Type { after, .. } => !after.is_empty(),
            Self::Nullable(now) | Self::PreserveUnknown(now) => !now,
            Self::Required(now) => *now,
            Self::Enum { tighter, .. } | Self::Bound { tighter, .. } => *tighter,
            Self::Text { after, .. } => !after.is_empty(),
            Self::Alternatives(_) | Self::RuleAdded { .. } => true,
            Self::List { after, .. } => after.starts_with("set") || after.starts_with("map"),
            Self::Switch { now, name } => *now && *name == "x-kubernetes-embedded-resource",
            Self::Added | Self::Default { .. } | Self::RuleRemoved { .. } | Self::RuleReworded { .. } => {
                false
            }
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_none = |bound: &Option<f64>| bound.map_or("none".to_owned(), |bound| bound.to_string());
        match self {
            Self::Removed { pruned: true } => f.write_str("removed, stored values are pruned"),
            Self::Removed { pruned: false } => f.write_str("removed, unknown fields are kept"),
            Self::Added => f.write_str("added"),
            Self::Type { before, after } => write!(f, "type: {} -> {}", or_any(before), or_any(after)),
            Self::Nullable(now) => write!(f, "nullable: {} -> {now}", !now),
            Self::Required(true) => f.write_str("becomes required"),
            Self::Required(false) => f.write_str("becomes optional"),
            Self::Default { before, after } => write!(f, "default: {} -> {}", json(before), json(after)),
            Self::Enum { gone, new, .. } if gone.is_empty() => write!(f, "enum: now {}", values(new)),
            Self::Enum { gone, new, .. } if new.is_empty() => write!(f, "enum: no longer {}", values(gone)),
            Self::Enum { gone, new, .. } => {
                write!(f, "enum: no longer {}, now {}", values(gone), values(new))
            }
            Self::Bound { name, before, after, .. } => {
                write!(f, "{name}: {} -> {}", or_none(before), or_none(after))
            }
            Self::Text { name, before, after } => {
                write!(f, "{name}: {} -> {}", or_any(before), or_any(after))
            }
            Self::Alternatives(name) => write!(f, "{name} changed"),
            Self::RuleAdded { rule, .. } => write!(f, "new rule: {rule}"),
            Self::RuleRemoved { rule } => write!(f, "rule dropped: {rule}"),
            Self::RuleReworded { rule } => write!(f, "rule reworded: {rule}"),
            Self::List { before, after } => write!(f, "list type: {before} -> {after}"),
            Self::PreserveUnknown(now) => {
                write!(f, "unknown fields: {}", if *now { "kept" } else { "pruned" })
            }
            Self::Switch { name, now } => write!(f, "{name}: {} -> {now}", !now),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.change)
    }
}

fn or_any(text: &str) -> &str {
    if text.is_empty() { "any" } else { text }
}

fn json(value: &Option<Value>) -> String {
    value.as_ref().map_or("none".to_owned(), Value::to_string)
}

fn values(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}

/// What differs between two schemas, in the order of the paths.
#[must_use]
pub fn compare(before: &Structural, after: &Structural) -> Vec<Difference> {
    let mut comparison = Comparison { path: Vec::new(), found: Vec::new() };
    comparison.nodes(&before.root, &after.root);
    comparison.found
}

struct Comparison {
    path: Vec<String>,
    found: Vec<Difference>,
}

impl Comparison {
    fn say(&mut self, change: Change) {
        self.found.push(Difference { path: self.path.concat().trim_start_matches('.').to_owned(), change });
    }

    fn under(&mut self, step: String, work: impl FnOnce(&mut Self)) {
        self.path.push(step);
        work(self);
        self.path.pop();
    }

    fn nodes(&mut self, before: &Node, after: &Node) {
        self.flags(before, after);
        if before.default != after.default {
            let (before, after) = (before.default.as_deref().cloned(), after.default.as_deref().cloned());
            self.say(Change::Default { before, after });
        }
        let none = Values::default();
        self.values(before.values.as_deref().unwrap_or(&none), after.values.as_deref().unwrap_or(&none));
        self.required(before, after);
        self.rules(&before.rules, &after.rules);
        self.members(before, after);
        self.rest(before, after);
    }

    fn flags(&mut self, before: &Node, after: &Node) {
        if before.type_name() != after.type_name() {
            self.say(Change::Type { before: before.type_name(), after: after.type_name() });
        }
        if before.nullable != after.nullable {
            self.say(Change::Nullable(after.nullable));
        }
        if before.preserve_unknown != after.preserve_unknown {
            self.say(Change::PreserveUnknown(after.preserve_unknown));
        }
        for (name, before, after) in [
            ("x-kubernetes-embedded-resource", before.embedded, after.embedded),
            ("x-kubernetes-map-type: atomic", before.atomic_map, after.atomic_map),
        ] {
            if before != after {
                self.say(Change::Switch { name, now: after });
            }
        }
        let (before, after) = (list_words(before), list_words(after));
        if before != after {
            self.say(Change::List { before, after });
        }
    }

    fn values(&mut self, before: &Values, after: &Values) {
        self.bounds(before, after);
        let pattern =
            |values: &Values| values.pattern.as_ref().map_or(String::new(), |p| p.source.to_string());
        let texts = [
            ("pattern", pattern(before), pattern(after)),
            ("format", before.written_format.to_string(), after.written_format.to_string()),
        ];
        for (name, before, after) in texts {
            if before != after {
                self.say(Change::Text { name, before, after });
            }
        }
        self.choices(&before.choices, &after.choices);
        let alternatives = [
            ("allOf", &before.all_of, &after.all_of),
            ("anyOf", &before.any_of, &after.any_of),
            ("oneOf", &before.one_of, &after.one_of),
        ];
        for (name, before, after) in alternatives {
            if before.len() != after.len() || before.iter().zip(after).any(|(b, a)| differs(b, a)) {
                self.say(Change::Alternatives(name));
            }
        }
        match (before.not.as_deref(), after.not.as_deref()) {
            (None, None) => {}
            (Some(before), Some(after)) if !differs(before, after) => {}
            _ => self.say(Change::Alternatives("not")),
        }
    }

    fn bounds(&mut self, before: &Values, after: &Values) {
        for ((name, lower, old), (_, _, new)) in bounds_of(before).into_iter().zip(bounds_of(after)) {
            if old != new {
                let tighter = match (old, new) {
                    (None, Some(_)) => true,
                    (Some(old), Some(new)) => (lower && new > old) || (!lower && new < old),
                    _ => false,
                };
                self.say(Change::Bound { name, before: old, after: new, tighter });
            }
        }
        for (name, old, new) in [
            ("exclusiveMinimum", before.exclusive_minimum, after.exclusive_minimum),
            ("exclusiveMaximum", before.exclusive_maximum, after.exclusive_maximum),
            ("uniqueItems", before.unique_items, after.unique_items),
        ] {
            if old != new {
                let number = |on: bool| on.then_some(1.0);
                self.say(Change::Bound { name, before: number(old), after: number(new), tighter: new });
            }
        }
    }

    fn choices(&mut self, before: &[Value], after: &[Value]) {
        let lacks = |list: &[Value], value: &Value| !list.iter().any(|other| same(other, value));
        let gone: Vec<Value> = before.iter().filter(|value| lacks(after, value)).cloned().collect();
        let new: Vec<Value> = after.iter().filter(|value| lacks(before, value)).cloned().collect();
        if gone.is_empty() && new.is_empty() {
            return;
        }
        let tighter = if before.is_empty() { true } else { !after.is_empty() && !gone.is_empty() };
        self.say(Change::Enum { gone, new, tighter });
    }

    fn required(&mut self, before: &Node, after: &Node) {
        let names = |node: &Node| -> Vec<Box<str>> {
            node.values.as_deref().map(|values| values.required.to_vec()).unwrap_or_default()
        };
        let (before, after) = (names(before), names(after));
        for (list, other, now) in [(&after, &before, true), (&before, &after, false)] {
            for name in list.iter().filter(|name| !other.contains(name)) {
                self.under(format!(".{name}"), |comparison| comparison.say(Change::Required(now)));
            }
        }
    }

    fn rules(&mut self, before: &[Rule], after: &[Rule]) {
        for rule in after {
            match before.iter().find(|old| old.rule.trim() == rule.rule.trim()) {
                None => {
                    let (rule, message) = (rule.rule.trim().to_owned(), rule.message.to_string());
                    self.say(Change::RuleAdded { rule, message });
                }
                Some(old) if words(old) != words(rule) => {
                    self.say(Change::RuleReworded { rule: rule.rule.trim().to_owned() });
                }
                Some(_) => {}
            }
        }
        for old in before {
            if !after.iter().any(|rule| old.rule.trim() == rule.rule.trim()) {
                self.say(Change::RuleRemoved { rule: old.rule.trim().to_owned() });
            }
        }
    }

    fn members(&mut self, before: &Node, after: &Node) {
        for (name, old) in &before.properties {
            self.under(format!(".{name}"), |comparison| match after.member(name) {
                Some(new) => comparison.nodes(old, new),
                None => comparison.say(Change::Removed { pruned: !keeps_unknown(after) }),
            });
        }
        for (name, _) in &after.properties {
            if before.member(name).is_none() {
                self.under(format!(".{name}"), |comparison| comparison.say(Change::Added));
            }
        }
    }

    fn rest(&mut self, before: &Node, after: &Node) {
        if let (Some(old), Some(new)) = (before.items.as_deref(), after.items.as_deref()) {
            self.under("[*]".to_owned(), |comparison| comparison.nodes(old, new));
        }
        match (before.additional_schema(), after.additional_schema()) {
            (Some(old), Some(new)) => self.under(".*".to_owned(), |comparison| comparison.nodes(old, new)),
            (Some(_), None) => {
                let pruned = !keeps_unknown(after);
                self.under(".*".to_owned(), |comparison| comparison.say(Change::Removed { pruned }));
            }
            (None, Some(_)) => self.under(".*".to_owned(), |comparison| comparison.say(Change::Added)),
            (None, None) => {}
        }
    }
}

fn keeps_unknown(node: &Node) -> bool {
    node.preserve_unknown || matches!(node.additional.as_deref(), Some(Additional::Schema(_)))
}

fn words(rule: &Rule) -> (&str, &str, &str, &str, bool) {
    (&rule.message, &rule.message_expression, &rule.reason, &rule.field_path, rule.optional_old_self)
}

fn list_words(node: &Node) -> String {
    match node.list_type {
        ListType::Unset | ListType::Atomic => "atomic".to_owned(),
        ListType::Set => "set".to_owned(),
        ListType::Map => format!("map by {}", node.list_keys.join(", ")),
    }
}

type NamedBound = (&'static str, bool, Option<f64>);

/// Every bound with its name and whether it is a lower one.
fn bounds_of(values: &Values) -> [NamedBound; 9] {
    let count = |bound: Option<i64>| bound.map(|bound| bound as f64);
    [
        ("minimum", true, values.minimum),
        ("maximum", false, values.maximum),
        ("multipleOf", true, values.multiple_of),
        ("minLength", true, count(values.min_length)),
        ("maxLength", false, count(values.max_length)),
        ("minItems", true, count(values.min_items)),
        ("maxItems", false, count(values.max_items)),
        ("minProperties", true, count(values.min_properties)),
        ("maxProperties", false, count(values.max_properties)),
    ]
}

/// Whether two alternatives differ in anything.
fn differs(before: &Node, after: &Node) -> bool {
    let mut comparison = Comparison { path: Vec::new(), found: Vec::new() };
    comparison.nodes(before, after);
    !comparison.found.is_empty()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::compare;
    use crate::schema::{KubeVersion, Structural};

    fn said(before: Value, after: Value) -> Vec<String> {
        let wrap = |spec| json!({"type": "object", "properties": {"spec": spec}});
        let compile = |schema| Structural::compile(&wrap(schema), KubeVersion::RECORDED).unwrap();
        compare(&compile(before), &compile(after))
            .iter()
            .map(|d| format!("{}{d}", if d.change.tightens() { "! " } else { "" }))
            .collect()
    }

    #[test]
    fn names_every_change() {
        let before = json!({"type": "object", "required": ["a"], "properties": {
            "a": {"type": "string", "enum": ["x", "y"]}, "gone": {"type": "string"},
            "n": {"x-kubernetes-int-or-string": true}, "l": {"type": "array", "items": {"type": "string"}},
            "m": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}}}});
        let after = json!({"type": "object", "required": ["n"], "properties": {
            "a": {"type": "string", "enum": ["x"], "x-kubernetes-validations": [{"rule": "self != ''"}]},
            "n": {"type": "integer", "format": "int32"}, "new": {"type": "string"},
            "l": {"type": "array", "items": {"type": "string", "maxLength": 3}, "x-kubernetes-list-type": "set"},
            "m": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}}}});
        let expected = [
            "! spec.n: becomes required",
            "spec.a: becomes optional",
            "! spec.a: enum: no longer \"y\"",
            "! spec.a: new rule: self != ''",
            "! spec.gone: removed, stored values are pruned",
            "! spec.l: list type: atomic -> set",
            "! spec.l[*]: maxLength: none -> 3",
            "! spec.m.*: minimum: 0 -> 1",
            "! spec.n: type: integer,string -> integer",
            "! spec.n: format: any -> int32",
            "spec.new: added",
        ];
        assert_eq!(said(before, after), expected);
    }

    #[test]
    fn says_nothing_about_equal_schemas() {
        let schema = json!({"type": "object", "oneOf": [{"required": ["a"]}], "properties": {"a": {"type": "string"}}});
        assert!(said(schema.clone(), schema).is_empty());
    }
}
