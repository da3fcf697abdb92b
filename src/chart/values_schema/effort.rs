//! What one check of values by a schema may take: references branch and lead back, and patterns are read once.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use regex::Regex;
use serde_json::Value;

use crate::limits::Limits;

/// Steps of a template that one application of a schema to a value counts as.
const STEPS: u64 = 10;

/// Deepest chain of schemas, against references that go in circles.
pub(super) const DEPTH: usize = 500;

/// Bytes that the library needs for a schema, for each character of its address, and for each value of which it keeps a copy
/// with every `not` around it; measured.
const SCHEMA: u64 = 2_000;
const ADDRESS: u64 = 3;
const COPY: u64 = 100;

/// Why a schema is too large to be prepared; nesting makes a short text large.
pub(super) fn too_large(schema: &Value, limits: &Limits) -> Option<String> {
    let most = limits.value_bytes;
    let mut left = most;
    let fits = fits(schema, 0, 0, &mut left);
    (!fits).then(|| format!("preparing the schema takes more than {most} bytes (--limit-value-bytes)\n"))
}

fn fits(schema: &Value, address: u64, nots: u64, left: &mut u64) -> bool {
    let own = if schema.is_object() || schema.is_boolean() { SCHEMA + ADDRESS * address } else { 0 };
    let Some(rest) = left.checked_sub(own + COPY * nots) else { return false };
    *left = rest;
    match schema {
        Value::Object(map) => map.iter().all(|(key, inner)| {
            let address = address + key.len() as u64 + 1;
            fits(inner, address, nots + u64::from(key == "not"), left)
        }),
        Value::Array(items) => items.iter().all(|inner| fits(inner, address + 2, nots, left)),
        _ => true,
    }
}

/// What is left of the bounds.
pub(super) struct Effort {
    most: u64,
    left: Cell<u64>,
    depth: Cell<usize>,
    endless: Cell<bool>,
    /// Those that the schema has.
    pub(super) patterns: Patterns,
}

/// Patterns, each of which is read once.
#[derive(Default)]
pub(super) struct Patterns(RefCell<HashMap<String, Option<Regex>>>);

impl Patterns {
    /// Whether a text has a match of a pattern; nothing where it can't be read.
    pub(super) fn matches(&self, pattern: &str, text: &str, read: fn(&str) -> Option<Regex>) -> Option<bool> {
        self.with(pattern, read, |pattern| pattern.is_match(text))
    }

    /// Whether a pattern can be read.
    pub(super) fn can_read(&self, pattern: &str, read: fn(&str) -> Option<Regex>) -> bool {
        self.with(pattern, read, |_| ()).is_some()
    }

    fn with<T>(
        &self,
        pattern: &str,
        read: fn(&str) -> Option<Regex>,
        job: impl FnOnce(&Regex) -> T,
    ) -> Option<T> {
        let mut known = self.0.borrow_mut();
        if !known.contains_key(pattern) {
            known.insert(pattern.to_owned(), read(pattern));
        }
        known.get(pattern)?.as_ref().map(job)
    }
}

impl Effort {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            most: limits.template_steps,
            left: Cell::new(limits.template_steps / STEPS),
            depth: Cell::new(0),
            endless: Cell::new(false),
            patterns: Patterns::default(),
        }
    }

    /// Applies a schema to a value; nothing where that would be one too many.
    pub(super) fn apply<T>(&self, job: impl FnOnce() -> T) -> Option<T> {
        let Some(left) = self.left.get().checked_sub(1).filter(|_| self.depth.get() < DEPTH) else {
            self.endless.set(true);
            // What branches on every level has no end either.
            self.left.set(0);
            return None;
        };
        self.left.set(left);
        self.depth.set(self.depth.get() + 1);
        let result = job();
        self.depth.set(self.depth.get() - 1);
        Some(result)
    }

    /// Takes what something costs besides; where there is less, no schema is applied any more.
    pub(super) fn spend(&self, cost: u64) {
        self.left.set(self.left.get().saturating_sub(cost));
    }

    /// Why the check was given up, if it was.
    pub(super) fn refusal(&self) -> Option<String> {
        self.endless.get().then(|| {
            format!(
                "checking values takes more than {} steps or {DEPTH} schemas within each other (--limit-template-steps)\n",
                self.most
            )
        })
    }

    /// Whether nothing is left.
    pub(super) fn is_spent(&self) -> bool {
        self.endless.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_makes_schemas_large() {
        let nested = |keyword: &str, levels| {
            let schema = |inner: Value, _| Value::Object([(keyword.to_owned(), inner)].into_iter().collect());
            (0..levels).fold(Value::Bool(true), schema)
        };
        let told =
            |schema: &Value| too_large(schema, &Limits { value_bytes: 100 << 20, ..Limits::default() });
        for (keyword, few, many) in [("not", 100, 2_000), ("unevaluatedProperties", 100, 3_000)] {
            assert_eq!(told(&nested(keyword, few)), None);
            assert!(told(&nested(keyword, many)).is_some_and(|told| told.contains("--limit-value-bytes")));
        }
    }
}
