//! Schemas of CustomResourceDefinitions, each kept and compiled once for all forks of a rehearsal.
//!
//! The schema is nearly all of a definition, megabytes in some charts, and no request ever changes a part of it: lists of
//! versions are written as a whole. A cluster that folds definitions stores a reference in place of each schema, so that
//! reading, patching and comparing definitions costs what their few other fields cost.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::memory::Memory;
use crate::k8s::At as _;
use crate::k8s::text;
use crate::k8s::types::{Type, builtin, custom_resource};
use crate::schema::{KubeVersion, Structural};

/// What a reference begins with. The API server refuses `$ref` in schemas, so no real one looks like this.
const REFERENCE: &str = "seatrial:";
/// Length of a schema's JSON from which folding pays, in bytes.
const WORTHWHILE: usize = 4096;

/// The schemas that were seen; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Schemas {
    kept: Arc<Mutex<HashMap<String, Arc<Kept>>>>,
}

/// One schema and what is made of it.
#[derive(Debug)]
pub(super) struct Kept {
    schema: Arc<Value>,
    shape: OnceLock<Type>,
    structural: Mutex<Vec<(u32, Option<Arc<Structural>>)>>,
    /// Objects as they are read through it.
    shown: Memory<Arc<Value>>,
    /// Whether the server stores it exactly as it is written.
    settled: OnceLock<bool>,
}

impl Kept {
    /// The type that apply and patches go by.
    pub(super) fn shape(&self) -> &Type {
        self.shape.get_or_init(|| custom_resource(Some(&self.schema)))
    }

    /// The schema compiled for a minor version of Kubernetes; `None` when it can't be.
    pub(super) fn structural(&self, minor: u32) -> Option<Arc<Structural>> {
        let mut known = self.structural.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, compiled)) = known.iter().find(|(of, _)| *of == minor) {
            return compiled.clone();
        }
        let kube = KubeVersion::new(1, u16::try_from(minor).unwrap_or(u16::MAX));
        let compiled = Structural::compile(&self.schema, kube).ok();
        known.push((minor, compiled.clone()));
        compiled
    }

    /// A stored object as a minor version of Kubernetes reads it.
    pub(super) fn shown(
        &self,
        minor: u32,
        object: &Arc<Value>,
        read: impl FnOnce() -> Arc<Value>,
    ) -> Arc<Value> {
        self.shown.of(&[object], u64::from(minor), read)
    }

    fn settled(&self) -> bool {
        *self.settled.get_or_init(|| is_settled(&self.schema))
    }
}

impl Schemas {
    /// A definition with references in place of its schemas; every other object, and a schema that the server would not
    /// store as it is written, stays as it is.
    #[must_use]
    pub fn fold(&self, object: &Arc<Value>) -> Arc<Value> {
        if !is_definition(object) || !has_schemas(object) {
            return Arc::clone(object);
        }
        Arc::new(replace_schemas(object, &|schema| {
            let (id, bytes) = identity(schema);
            if bytes < WORTHWHILE || is_reference(schema) {
                return None;
            }
            self.keep(&id, schema).settled().then(|| json!({ "$ref": id }))
        }))
    }

    /// A definition with its schemas in place again.
    #[must_use]
    pub fn unfold(&self, object: &Arc<Value>) -> Arc<Value> {
        if !is_definition(object) || !has_schemas(object) {
            return Arc::clone(object);
        }
        Arc::new(replace_schemas(object, &|schema| {
            self.resolve(schema).map(|kept| Value::clone(&kept.schema))
        }))
    }

    /// The schema itself or the one that a reference stands for.
    pub(super) fn of(&self, schema: &Value) -> Arc<Kept> {
        self.resolve(schema).unwrap_or_else(|| self.keep(&identity(schema).0, schema))
    }

    fn resolve(&self, schema: &Value) -> Option<Arc<Kept>> {
        let id = schema.get("$ref").and_then(Value::as_str).filter(|_| is_reference(schema))?;
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    fn keep(&self, id: &str, schema: &Value) -> Arc<Kept> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.get(id) {
            return Arc::clone(known);
        }
        let new = Arc::new(Kept {
            schema: Arc::new(schema.clone()),
            shape: OnceLock::new(),
            structural: Mutex::default(),
            shown: Memory::default(),
            settled: OnceLock::new(),
        });
        kept.insert(id.to_owned(), Arc::clone(&new));
        new
    }
}

pub(super) fn is_definition(object: &Value) -> bool {
    text(object, "/kind") == "CustomResourceDefinition"
        && text(object, "/apiVersion").starts_with("apiextensions.k8s.io/")
}

fn versions(object: &Value) -> impl Iterator<Item = &Value> {
    object.at("/spec/versions").and_then(Value::as_array).into_iter().flatten()
}

fn has_schemas(object: &Value) -> bool {
    versions(object).any(|version| version.at("/schema/openAPIV3Schema").is_some())
}

fn is_reference(schema: &Value) -> bool {
    text(schema, "/$ref").starts_with(REFERENCE) && schema.as_object().is_some_and(|map| map.len() == 1)
}

/// A schema's reference and the length of its JSON in bytes.
fn identity(schema: &Value) -> (String, usize) {
    let bytes = serde_json::to_vec(schema).unwrap_or_default();
    let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    (format!("{REFERENCE}{digest}"), bytes.len())
}

/// Whether decoding leaves a schema as it is, without unknown fields.
fn is_settled(schema: &Value) -> bool {
    let Some(shape) = builtin("apiextensions.k8s.io/v1", "CustomResourceDefinition") else { return false };
    let mut object = json!({ "spec": { "versions": [{ "schema": { "openAPIV3Schema": schema } }] } });
    let decoded = crate::k8s::decode::decode(&shape, &mut object);
    decoded.is_ok_and(|unknown| unknown.is_empty())
        && object.at("/spec/versions/0/schema/openAPIV3Schema") == Some(schema)
}

/// Copies a definition with some schemas replaced, without copying what is replaced.
fn replace_schemas(object: &Value, with: &dyn Fn(&Value) -> Option<Value>) -> Value {
    replace(object, &["spec", "versions"], &|versions| {
        let versions = versions.as_array().into_iter().flatten();
        let replaced = versions.map(|version| {
            replace(version, &["schema", "openAPIV3Schema"], &|schema| {
                with(schema).unwrap_or_else(|| schema.clone())
            })
        });
        Value::Array(replaced.collect())
    })
}

/// Copies a value with what lies at a path made anew.
fn replace(value: &Value, path: &[&str], make: &dyn Fn(&Value) -> Value) -> Value {
    let Some((first, rest)) = path.split_first() else { return make(value) };
    let Some(map) = value.as_object() else { return value.clone() };
    let copied = map.iter().map(|(key, child)| {
        let copy = if key == first { replace(child, rest, make) } else { child.clone() };
        (key.clone(), copy)
    });
    Value::Object(copied.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(schema: &Value) -> Arc<Value> {
        Arc::new(json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "spec": { "group": "x.io", "versions": [{ "name": "v1", "schema": { "openAPIV3Schema": schema } }] },
        }))
    }

    fn large(extra: &str) -> Value {
        let text = "words ".repeat(1000);
        json!({ "type": "object", "description": format!("{text}{extra}") })
    }

    #[test]
    fn folding_and_unfolding_gives_the_same_definition() {
        let schemas = Schemas::default();
        let crd = definition(&large("a"));
        let folded = schemas.fold(&crd);
        assert!(folded.to_string().len() < 500, "{folded}");
        assert_eq!(schemas.unfold(&folded), crd);
        assert_eq!(schemas.fold(&folded), folded);
        assert_ne!(schemas.fold(&definition(&large("b"))), folded);
    }

    #[test]
    fn what_the_server_would_store_otherwise_is_left_alone() {
        let schemas = Schemas::default();
        let mut unknown = large("a");
        unknown["x-unheard-of"] = json!(true);
        let crd = definition(&unknown);
        assert_eq!(schemas.fold(&crd), crd);
        let small = definition(&json!({ "type": "object" }));
        assert_eq!(schemas.fold(&small), small);
    }

    #[test]
    fn a_made_up_reference_stands_for_nothing() {
        let schemas = Schemas::default();
        let crd = definition(&json!({ "$ref": "seatrial:00" }));
        assert_eq!(schemas.unfold(&crd), crd);
    }
}
