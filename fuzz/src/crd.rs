//! A CustomResourceDefinition, an object of its kind and what the object was before, divided from each other.

use seatrial::schema::crd::{prepare, validate};
use seatrial::schema::{KubeVersion, Structural};
use seatrial::yaml::to_json;
use serde_json::Value;

use crate::{deep, limits, parts};

/// Judges the definition, and leads the object through its schema as the API server does.
pub fn run(data: &[u8]) {
    let parts = parts(data);
    let read = |at: usize| to_json(parts.get(at).copied().unwrap_or_default(), &limits()).ok();
    deep(|| {
        let Some(mut crd) = read(0) else { return };
        prepare(&mut crd, None);
        let _ = validate(&crd, None, version());
        let versions = crd.pointer("/spec/versions").and_then(Value::as_array).into_iter().flatten();
        for schema in versions.filter_map(|version| version.pointer("/schema/openAPIV3Schema")).take(3) {
            check(schema, read(1), read(2));
        }
    });
}

fn version() -> KubeVersion {
    KubeVersion::default()
}

fn check(schema: &Value, object: Option<Value>, old: Option<Value>) {
    let (Ok(schema), Some(mut object)) = (Structural::compile(schema, version()), object) else { return };
    if schema.coerce(&mut object).is_err() {
        return;
    }
    assert_eq!(schema.unknown_fields(&object), Vec::<String>::new(), "pruned twice");
    schema.default(&mut object);
    let defaulted = object.clone();
    schema.default(&mut object);
    assert_eq!(object, defaulted, "defaulted twice");
    let once = || format!("{:?}", schema.validate(&object, old.as_ref(), Vec::new()));
    assert_eq!(once(), once(), "validated twice");
}
