//! Compiling `openAPIV3Schema` into a tree of [`Node`]s.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::schema::error::FieldError;
use crate::schema::formats;
use crate::schema::node::{Additional, Kind, ListType, Node, Pattern, Rule, Values};
use crate::schema::path::Path;
use crate::schema::version::KubeVersion;

/// Deepest nesting of a schema: every walk recurses along it.
const MAX_DEPTH: usize = 160;

/// A compiled schema of one version of a CustomResourceDefinition.
#[derive(Debug)]
pub struct Structural {
    /// The schema of the whole object.
    pub root: Node,
    /// The Kubernetes version whose behaviour is followed.
    pub version: KubeVersion,
}

impl Structural {
    /// Compiles a schema; regular expressions and CEL programs wait until they are needed.
    ///
    /// Whether the API server would accept the definition is not asked here: [`crate::schema::crd`] does that.
    ///
    /// # Errors
    /// When the schema is not an object, names an unknown type, or is nested too deep to be walked.
    pub fn compile(open_api_v3_schema: &Value, version: KubeVersion) -> Result<Arc<Self>, Vec<FieldError>> {
        let mut compiler = Compiler { version, errors: Vec::new() };
        let at = Path::ROOT.field("openAPIV3Schema");
        let root = compiler.node(open_api_v3_schema, &at, 0);
        if compiler.errors.is_empty() { Ok(Arc::new(Self { root, version })) } else { Err(compiler.errors) }
    }

    /// A schema that keeps everything, as a version without a schema does.
    #[must_use]
    pub fn open(version: KubeVersion) -> Arc<Self> {
        let root = Node { kind: Some(Kind::Object), preserve_unknown: true, ..Node::default() };
        Arc::new(Self { root, version })
    }
}

struct Compiler {
    version: KubeVersion,
    errors: Vec<FieldError>,
}

impl Compiler {
    fn node(&mut self, schema: &Value, at: &Path<'_>, depth: usize) -> Node {
        let Value::Object(schema) = schema else {
            self.errors.push(FieldError::invalid(at.to_string(), schema, "must be a schema"));
            return Node::default();
        };
        if depth > MAX_DEPTH {
            self.errors.push(FieldError::forbidden(
                at.to_string(),
                &format!("nested deeper than {MAX_DEPTH} levels"),
            ));
            return Node::default();
        }
        let mut node = Node { kind: self.kind(schema, at), ..flags(schema) };
        node.properties = self.properties(schema, at, depth);
        node.additional = self.additional(schema, at, depth);
        node.items =
            schema.get("items").map(|items| Box::new(self.node(items, &at.field("items"), depth + 1)));
        node.default = schema
            .get("default")
            .filter(|default| !default.is_null())
            .map(|default| Box::new(default.clone()));
        node.values = self.values(schema, at, depth).map(Box::new);
        node.rules = rules(schema);
        summarise(&mut node);
        node
    }

    fn kind(&mut self, schema: &Map<String, Value>, at: &Path<'_>) -> Option<Kind> {
        let name = schema.get("type")?.as_str().filter(|name| !name.is_empty())?;
        let kind = Kind::named(name);
        if kind.is_none() {
            let names = ["array", "boolean", "integer", "number", "object", "string"].map(str::to_owned);
            let error = FieldError::not_supported(at.field("type").to_string(), &Value::from(name), &names);
            self.errors.push(error);
        }
        kind
    }

    fn properties(
        &mut self,
        schema: &Map<String, Value>,
        at: &Path<'_>,
        depth: usize,
    ) -> Box<[(Box<str>, Node)]> {
        let Some(Value::Object(properties)) = schema.get("properties") else { return Box::default() };
        let at = at.field("properties");
        let mut nodes: Vec<(Box<str>, Node)> = properties
            .iter()
            .map(|(name, schema)| (name.as_str().into(), self.node(schema, &at.key(name), depth + 1)))
            .collect();
        nodes.sort_by(|(a, _), (b, _)| a.cmp(b));
        nodes.into_boxed_slice()
    }

    fn additional(
        &mut self,
        schema: &Map<String, Value>,
        at: &Path<'_>,
        depth: usize,
    ) -> Option<Box<Additional>> {
        match schema.get("additionalProperties")? {
            Value::Null => None,
            Value::Bool(allowed) => Some(Box::new(Additional::Allowed(*allowed))),
            schema => {
                let node = self.node(schema, &at.field("additionalProperties"), depth + 1);
                Some(Box::new(Additional::Schema(node)))
            }
        }
    }

    fn values(&mut self, schema: &Map<String, Value>, at: &Path<'_>, depth: usize) -> Option<Values> {
        if !schema.keys().any(|key| VALUE_KEYS.contains(&key.as_str())) {
            return None;
        }
        let mut values = bounds(schema);
        values.written_format = text(schema, "format");
        if formats::enforced(&values.written_format, self.version) {
            values.format = values.written_format.clone();
        }
        values.pattern = Some(text(schema, "pattern")).filter(|p| !p.is_empty()).map(|p| Pattern::new(&p));
        values.choices = schema.get("enum").and_then(Value::as_array).cloned().unwrap_or_default().into();
        values.required = strings(schema, "required");
        values.all_of = self.list(schema, "allOf", at, depth);
        values.any_of = self.list(schema, "anyOf", at, depth);
        values.one_of = self.list(schema, "oneOf", at, depth);
        values.not = schema.get("not").map(|not| Box::new(self.node(not, &at.field("not"), depth + 1)));
        Some(values)
    }

    fn list(&mut self, schema: &Map<String, Value>, key: &str, at: &Path<'_>, depth: usize) -> Box<[Node]> {
        let Some(Value::Array(list)) = schema.get(key) else { return Box::default() };
        let at = at.field(key);
        list.iter().enumerate().map(|(i, schema)| self.node(schema, &at.index(i), depth + 1)).collect()
    }
}

const VALUE_KEYS: &[&str] = &[
    "format",
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "uniqueItems",
    "pattern",
    "enum",
    "required",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
];

fn flags(schema: &Map<String, Value>) -> Node {
    let list_type = match schema.get("x-kubernetes-list-type").and_then(Value::as_str) {
        Some("atomic") => ListType::Atomic,
        Some("set") => ListType::Set,
        Some("map") => ListType::Map,
        _ => ListType::Unset,
    };
    Node {
        nullable: flag(schema, "nullable"),
        int_or_string: flag(schema, "x-kubernetes-int-or-string"),
        preserve_unknown: flag(schema, "x-kubernetes-preserve-unknown-fields"),
        embedded: flag(schema, "x-kubernetes-embedded-resource"),
        list_type,
        list_keys: strings(schema, "x-kubernetes-list-map-keys"),
        atomic_map: schema.get("x-kubernetes-map-type").and_then(Value::as_str) == Some("atomic"),
        ..Node::default()
    }
}

fn bounds(schema: &Map<String, Value>) -> Values {
    let number = |key| schema.get(key).and_then(Value::as_f64);
    let count = |key| schema.get(key).and_then(whole);
    Values {
        minimum: number("minimum"),
        exclusive_minimum: flag(schema, "exclusiveMinimum"),
        maximum: number("maximum"),
        exclusive_maximum: flag(schema, "exclusiveMaximum"),
        multiple_of: number("multipleOf"),
        min_length: count("minLength"),
        max_length: count("maxLength"),
        min_items: count("minItems"),
        max_items: count("maxItems"),
        min_properties: count("minProperties"),
        max_properties: count("maxProperties"),
        unique_items: flag(schema, "uniqueItems"),
        ..Values::default()
    }
}

/// A whole number, also when it is written as `1e3` or `1.0`.
fn whole(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_f64().filter(|f| f.fract() == 0.0 && f.abs() < 9e15).map(|f| f as i64))
}

fn rules(schema: &Map<String, Value>) -> Box<[Rule]> {
    let Some(Value::Array(list)) = schema.get("x-kubernetes-validations") else { return Box::default() };
    list.iter().filter_map(Value::as_object).map(rule).collect()
}

fn rule(entry: &Map<String, Value>) -> Rule {
    Rule {
        rule: text(entry, "rule"),
        message: text(entry, "message"),
        message_expression: text(entry, "messageExpression"),
        reason: text(entry, "reason"),
        field_path: text(entry, "fieldPath"),
        optional_old_self: flag(entry, "optionalOldSelf"),
        ..Rule::default()
    }
}

fn flag(map: &Map<String, Value>, key: &str) -> bool {
    map.get(key).and_then(Value::as_bool).unwrap_or(false)
}

fn text(map: &Map<String, Value>, key: &str) -> Box<str> {
    map.get(key).and_then(Value::as_str).unwrap_or("").into()
}

fn strings(map: &Map<String, Value>, key: &str) -> Box<[Box<str>]> {
    let Some(Value::Array(list)) = map.get(key) else { return Box::default() };
    list.iter().filter_map(Value::as_str).map(Into::into).collect()
}

/// Notes at each node what lies below it, so that walks can skip whole subtrees.
fn summarise(node: &mut Node) {
    let alternatives = node.values.as_deref().map(|values| values.all_of.iter().any(|node| node.has_rules));
    let below = || {
        let properties = node.properties.iter().map(|(_, node)| node);
        properties.chain(node.additional_schema()).chain(node.items.as_deref())
    };
    let has_rules =
        !node.rules.is_empty() || alternatives == Some(true) || below().any(|node| node.has_rules);
    let has_defaults = node.default.is_some() || below().any(|node| node.has_defaults);
    let unique = matches!(node.list_type, ListType::Set | ListType::Map);
    let has_unique_lists = unique || below().any(|node| node.has_unique_lists);
    let has_embedded = node.embedded || below().any(|node| node.has_embedded);
    node.has_rules = has_rules;
    node.has_defaults = has_defaults;
    node.has_unique_lists = has_unique_lists;
    node.has_embedded = has_embedded;
}
