//! The compiled tree: one node for each place in a schema, small and quick to walk.

use std::sync::OnceLock;

use regex::Regex;
use serde_json::Value;

use crate::cel;

/// The JSON type that a node asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// An object with properties, or a map.
    Object,
    /// A list.
    Array,
    /// A string.
    String,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A boolean.
    Boolean,
}

impl Kind {
    /// The type's name in a schema.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }

    /// The type of a name; `None` for an unknown one.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Object, Self::Array, Self::String, Self::Integer, Self::Number, Self::Boolean]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// `x-kubernetes-list-type`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ListType {
    /// Not said, which means atomic.
    #[default]
    Unset,
    /// One value.
    Atomic,
    /// Items are unique.
    Set,
    /// Items are found by their keys.
    Map,
}

/// `additionalProperties`.
#[derive(Debug)]
pub enum Additional {
    /// `true` or `false`.
    Allowed(bool),
    /// A schema for every other member.
    Schema(Node),
}

/// One place in a schema.
#[derive(Debug, Default)]
pub struct Node {
    /// The type; `None` when not said.
    pub kind: Option<Kind>,
    /// `nullable`.
    pub nullable: bool,
    /// `x-kubernetes-int-or-string`.
    pub int_or_string: bool,
    /// `x-kubernetes-preserve-unknown-fields`.
    pub preserve_unknown: bool,
    /// `x-kubernetes-embedded-resource`.
    pub embedded: bool,
    /// `x-kubernetes-list-type`.
    pub list_type: ListType,
    /// `x-kubernetes-list-map-keys`.
    pub list_keys: Box<[Box<str>]>,
    /// `x-kubernetes-map-type: atomic`.
    pub atomic_map: bool,
    /// `properties`, sorted by name.
    pub properties: Box<[(Box<str>, Node)]>,
    /// `additionalProperties`.
    pub additional: Option<Box<Additional>>,
    /// `items`.
    pub items: Option<Box<Node>>,
    /// `default`.
    pub default: Option<Box<Value>>,
    /// What a value must fulfil beyond its type.
    pub values: Option<Box<Values>>,
    /// `x-kubernetes-validations`.
    pub rules: Box<[Rule]>,
    /// Whether this node or one below has rules, logical alternatives included.
    pub has_rules: bool,
    /// Whether this node or one below has a default.
    pub has_defaults: bool,
    /// Whether this node or one below is a set or map list.
    pub has_unique_lists: bool,
    /// Whether this node or one below is an embedded resource.
    pub has_embedded: bool,
}

impl Node {
    /// The schema of a declared property.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&Self> {
        let at = self.properties.binary_search_by(|(known, _)| known.as_ref().cmp(name)).ok()?;
        self.properties.get(at).map(|(_, node)| node)
    }

    /// The schema of undeclared members, when there is one.
    #[must_use]
    pub fn additional_schema(&self) -> Option<&Self> {
        match self.additional.as_deref() {
            Some(Additional::Schema(node)) => Some(node),
            _ => None,
        }
    }

    /// The schema of a member: declared, or that of undeclared members.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&Self> {
        self.property(name).or_else(|| self.additional_schema())
    }

    /// The type as messages print it: `integer,string` for int-or-string, empty when not said.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        if self.int_or_string { "integer,string" } else { self.kind.map_or("", Kind::name) }
    }

    /// The type as errors of rules show it: empty for int-or-string.
    #[must_use]
    pub fn shown_type(&self) -> &'static str {
        self.kind.map_or("", Kind::name)
    }

    /// Whether the type list of the node has a type.
    #[must_use]
    pub fn accepts(&self, kind: Kind) -> bool {
        if self.int_or_string {
            matches!(kind, Kind::Integer | Kind::String)
        } else {
            self.kind == Some(kind)
        }
    }
}

/// What a value must fulfil beyond its type.
#[derive(Debug, Default)]
pub struct Values {
    /// `format`, if the server enforces it for the type; otherwise empty.
    pub format: Box<str>,
    /// `format` as written.
    pub written_format: Box<str>,
    /// `minimum`.
    pub minimum: Option<f64>,
    /// `exclusiveMinimum`.
    pub exclusive_minimum: bool,
    /// `maximum`.
    pub maximum: Option<f64>,
    /// `exclusiveMaximum`.
    pub exclusive_maximum: bool,
    /// `multipleOf`.
    pub multiple_of: Option<f64>,
    /// `minLength`, in code points.
    pub min_length: Option<i64>,
    /// `maxLength`, in code points.
    pub max_length: Option<i64>,
    /// `minItems`.
    pub min_items: Option<i64>,
    /// `maxItems`.
    pub max_items: Option<i64>,
    /// `minProperties`.
    pub min_properties: Option<i64>,
    /// `maxProperties`.
    pub max_properties: Option<i64>,
    /// `uniqueItems` (refused in definitions, yet enforced where stored).
    pub unique_items: bool,
    /// `pattern`.
    pub pattern: Option<Pattern>,
    /// `enum`.
    pub choices: Box<[Value]>,
    /// `required`.
    pub required: Box<[Box<str>]>,
    /// `allOf`.
    pub all_of: Box<[Node]>,
    /// `anyOf`.
    pub any_of: Box<[Node]>,
    /// `oneOf`.
    pub one_of: Box<[Node]>,
    /// `not`.
    pub not: Option<Box<Node>>,
}

/// A regular expression that is compiled when first needed.
#[derive(Debug)]
pub struct Pattern {
    /// The text in the schema.
    pub source: Box<str>,
    compiled: OnceLock<Result<Regex, String>>,
}

impl Pattern {
    /// A pattern, not yet compiled.
    #[must_use]
    pub fn new(source: &str) -> Self {
        Self { source: source.into(), compiled: OnceLock::new() }
    }

    /// The compiled expression.
    ///
    /// # Errors
    /// The `regex` crate's words when it refuses the expression.
    pub fn regex(&self) -> Result<&Regex, &str> {
        self.compiled
            .get_or_init(|| {
                regex::RegexBuilder::new(&self.source).size_limit(16 << 20).build().map_err(|e| e.to_string())
            })
            .as_ref()
            .map_err(String::as_str)
    }
}

/// One entry of `x-kubernetes-validations`; its programs are compiled when first needed.
#[derive(Debug, Default)]
pub struct Rule {
    /// `rule`.
    pub rule: Box<str>,
    /// `message`.
    pub message: Box<str>,
    /// `messageExpression`.
    pub message_expression: Box<str>,
    /// `reason`.
    pub reason: Box<str>,
    /// `fieldPath`.
    pub field_path: Box<str>,
    /// `optionalOldSelf`.
    pub optional_old_self: bool,
    pub(super) program: OnceLock<Result<cel::Program, String>>,
    pub(super) message_program: OnceLock<Option<cel::Program>>,
}

impl Rule {
    /// The compiled rule.
    ///
    /// # Errors
    /// Why the rule could not be compiled.
    pub fn program(&self) -> Result<&cel::Program, &str> {
        self.program.get_or_init(|| cel::Program::compile(&self.rule)).as_ref().map_err(String::as_str)
    }

    /// The compiled message expression; `None` when there is none or it could not be compiled.
    #[must_use]
    pub fn message_program(&self) -> Option<&cel::Program> {
        let compile = || match self.message_expression.trim() {
            "" => None,
            source => cel::Program::compile(source).ok(),
        };
        self.message_program.get_or_init(compile).as_ref()
    }
}
