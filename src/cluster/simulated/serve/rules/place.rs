//! A value in an object, the place where it stands as the server names it, and what is asked of many values.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::asked;
use crate::k8s::names;
use crate::schema::FieldError;

/// What was found to be wrong so far.
pub(super) type Errors = Vec<FieldError>;

/// How a place is reached from the one around it.
#[derive(Clone, Copy, Debug)]
enum Step<'p> {
    Field(&'p str),
    Index(usize),
    Key(&'p str),
}

/// A value and where it stands; `Null` where there is none. The name is spelled out for errors alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'p> {
    pub(super) value: &'p Value,
    around: Option<&'p Place<'p>>,
    step: Step<'p>,
}

const ABSENT: &Value = &Value::Null;

impl<'p> Place<'p> {
    /// A value at the top of an object, or at a place that has this name.
    pub(super) fn top(value: Option<&'p Value>, name: &'p str) -> Self {
        Self { value: value.unwrap_or(ABSENT), around: None, step: Step::Field(name) }
    }

    /// A field.
    pub(super) fn field<'s>(&'s self, name: &'s str) -> Place<'s> {
        Place { value: self.value.get(name).unwrap_or(ABSENT), around: Some(self), step: Step::Field(name) }
    }

    /// The same value under the name of a field that is not there: the server names some places so.
    pub(super) fn called<'s>(&'s self, name: &'s str) -> Place<'s> {
        Place { value: self.value, around: Some(self), step: Step::Field(name) }
    }

    /// The elements of a list.
    pub(super) fn items<'s>(&'s self) -> impl Iterator<Item = Place<'s>> {
        let list = self.value.as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter().enumerate().map(|(at, value)| Place { value, around: Some(self), step: Step::Index(at) })
    }

    /// The entries of a map.
    pub(super) fn entries<'s>(&'s self) -> impl Iterator<Item = (&'s str, Place<'s>)> {
        let entries = self.value.as_object().into_iter().flatten();
        entries.map(|(key, value)| (key.as_str(), Place { value, around: Some(self), step: Step::Key(key) }))
    }

    /// Whether there is nothing, as Go's decoding sees it: no value, or the zero of its type.
    pub(super) fn is_empty(&self) -> bool {
        match self.value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(list) => list.is_empty(),
            Value::Object(map) => map.is_empty(),
            _ => false,
        }
    }

    /// Whether a value stands here, be it an empty one.
    pub(super) fn is_set(&self) -> bool {
        !self.value.is_null()
    }

    /// The text; empty where there is none.
    pub(super) fn text(&self) -> &'p str {
        self.value.as_str().unwrap_or_default()
    }

    /// The whole number, if one stands here.
    pub(super) fn number(&self) -> Option<i64> {
        self.value.as_i64()
    }

    /// Whether `true` stands here.
    pub(super) fn is_true(&self) -> bool {
        self.value == &Value::Bool(true)
    }

    /// The name as the server spells it: `spec.containers[0].resources.limits[cpu]`.
    pub(super) fn name(&self) -> String {
        let mut name = String::new();
        self.spell(&mut name);
        name
    }

    fn spell(&self, name: &mut String) {
        if let Some(around) = self.around {
            around.spell(name);
        }
        // Writing to a string never fails.
        let _ = match self.step {
            Step::Field(field) if name.is_empty() => write!(name, "{field}"),
            Step::Field(field) => write!(name, ".{field}"),
            Step::Index(at) => write!(name, "[{at}]"),
            Step::Key(key) => write!(name, "[{key}]"),
        };
    }

    pub(super) fn invalid(&self, detail: &str, errors: &mut Errors) {
        errors.push(FieldError::invalid(self.name(), self.value, detail));
    }

    /// `Invalid value` of a text, empty where there is none.
    pub(super) fn invalid_text(&self, detail: &str, errors: &mut Errors) {
        errors.push(FieldError::invalid(self.name(), &json!(self.text()), detail));
    }

    pub(super) fn required(&self, detail: &str, errors: &mut Errors) {
        errors.push(FieldError::required(self.name(), detail));
    }

    pub(super) fn forbidden(&self, detail: &str, errors: &mut Errors) {
        errors.push(FieldError::forbidden(self.name(), detail));
    }

    pub(super) fn duplicate(&self, errors: &mut Errors) {
        errors.push(FieldError::duplicate(self.name(), self.value));
    }

    /// Something must stand here.
    pub(super) fn needed(&self, errors: &mut Errors) -> bool {
        if self.is_empty() {
            self.required("", errors);
        }
        !self.is_empty()
    }

    /// A text that stands here must be one of these.
    pub(super) fn one_of(&self, supported: &[&str], errors: &mut Errors) {
        if self.is_set() && !supported.contains(&self.text()) {
            let supported: Vec<String> = supported.iter().map(|one| (*one).to_owned()).collect();
            errors.push(FieldError::not_supported(self.name(), self.value, &supported));
        }
    }

    /// A number that stands here must not be below zero.
    pub(super) fn not_negative(&self, errors: &mut Errors) {
        if self.number().is_some_and(|number| number < 0) {
            self.invalid("must be greater than or equal to 0", errors);
        }
    }

    /// A number must be one of a port; none counts as zero.
    pub(super) fn port_number(&self, errors: &mut Errors) {
        let number = self.number().unwrap_or(0);
        if !(1..=65535).contains(&number) {
            let field = self.name();
            errors.push(FieldError::invalid(field, &json!(number), "must be between 1 and 65535, inclusive"));
        }
    }

    /// A number or a name of a port.
    pub(super) fn port(&self, errors: &mut Errors) {
        match self.value {
            Value::String(name) => self.port_name(name, errors),
            _ => self.port_number(errors),
        }
    }

    fn port_name(&self, name: &str, errors: &mut Errors) {
        names::port_name_faults(name).iter().for_each(|fault| self.invalid(fault, errors));
    }

    /// A text must look as a check of [`names`] wants it; an empty one is looked at too.
    pub(super) fn named(&self, faults: fn(&str) -> names::Faults, errors: &mut Errors) {
        faults(self.text()).iter().for_each(|fault| self.invalid_text(fault, errors));
    }

    /// A text must look as a check of [`names`] wants it, where there is one.
    pub(super) fn named_if_any(&self, faults: fn(&str) -> names::Faults, errors: &mut Errors) {
        if !self.is_empty() {
            self.named(faults, errors);
        }
    }

    /// The keys and values of labels, here or in a selector.
    pub(super) fn labels(&self, errors: &mut Errors) {
        let mut told = |text: &str, faults: names::Faults| {
            let told = faults.iter().map(|fault| FieldError::invalid(self.name(), &json!(text), fault));
            errors.extend(told);
        };
        for (key, value) in self.value.as_object().into_iter().flatten() {
            told(key, names::qualified_name_faults(key));
            let value = value.as_str().unwrap_or_default();
            told(value, names::label_value_faults(value));
        }
    }

    /// A label selector.
    ///
    /// Source: apimachinery 0.34.3, `pkg/apis/meta/v1/validation/validation.go`, `ValidateLabelSelector`.
    pub(super) fn selector(&self, errors: &mut Errors) {
        self.field("matchLabels").labels(errors);
        let expressions = self.field("matchExpressions");
        for one in expressions.items() {
            let (operator, values) = (one.field("operator"), one.field("values"));
            match (operator.text(), values.is_empty()) {
                ("In" | "NotIn", true) => {
                    values.required("must be specified when `operator` is 'In' or 'NotIn'", errors);
                }
                ("Exists" | "DoesNotExist", false) => {
                    let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                    values.forbidden(detail, errors);
                }
                ("In" | "NotIn", false) | ("Exists" | "DoesNotExist", true) => {}
                _ => operator.invalid_text("not a valid selector operator", errors),
            }
            one.field("key").named(names::qualified_name_faults, errors);
            values.items().for_each(|value| value.named(names::label_value_faults, errors));
        }
    }

    /// An address of the network.
    pub(super) fn address(&self, errors: &mut Errors) {
        asked::address(self, &[], errors);
    }

    /// The number of a user or a group.
    pub(super) fn identifier(&self, errors: &mut Errors) {
        if self.number().is_some_and(|number| !(0..=i64::from(i32::MAX)).contains(&number)) {
            self.invalid("must be between 0 and 2147483647, inclusive", errors);
        }
    }

    /// A path must not lead upwards.
    pub(super) fn no_way_up(&self, errors: &mut Errors) {
        if self.text().split('/').any(|part| part == "..") {
            self.invalid_text("must not contain '..'", errors);
        }
    }

    /// A path must lead from somewhere downwards.
    pub(super) fn descending_path(&self, errors: &mut Errors) {
        if self.text().starts_with('/') {
            self.invalid_text("must be a relative path", errors);
        }
        self.no_way_up(errors);
    }

    /// A path must lead downwards and not look like one that the kubelet makes for itself.
    pub(super) fn local_path(&self, errors: &mut Errors) {
        self.descending_path(errors);
        if self.text().starts_with("..") && !self.text().starts_with("../") {
            self.invalid_text("must not start with '..'", errors);
        }
    }
}
