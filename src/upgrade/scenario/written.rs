//! What a scenario writes down, as the rehearsal takes it: values and names of objects.

use serde_json::{Value, json};

use super::ScenarioError;
use crate::chart::Values;
use crate::chart::set::{Style, parse_into};
use crate::finding::ObjectName;
use crate::limits::Limits;
use crate::render::Helm;

/// Values as Helm would hold them: numbers of files are floats, `--set` is read on top.
pub(super) fn values(
    written: &Values,
    set: &[String],
    helm: Helm,
    limits: &Limits,
) -> Result<Values, ScenarioError> {
    let mut values: Values = written.iter().map(|(key, value)| (key.clone(), floats(value))).collect();
    for set in set {
        parse_into(set, Style::Typed, helm, limits, &mut values)
            .map_err(|error| ScenarioError::new(format!("failed parsing --set data: {error}")))?;
    }
    Ok(values)
}

fn floats(value: &Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().map_or_else(|| value.clone(), |number| json!(number)),
        Value::Array(list) => Value::Array(list.iter().map(floats).collect()),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (key.clone(), floats(value))).collect())
        }
        _ => value.clone(),
    }
}

/// Reads `Kind/namespace/name`; cluster-scoped objects may be written `Kind/name`.
pub(super) fn object_name(text: &str) -> Result<ObjectName, ScenarioError> {
    let parts: Vec<&str> = text.split('/').collect();
    let (kind, namespace, name) = match parts.as_slice() {
        [kind, namespace, name] => (*kind, *namespace, *name),
        [kind, name] => (*kind, "", *name),
        _ => return Err(ScenarioError::new(format!("{text:?} is no object; write Kind/namespace/name"))),
    };
    Ok(ObjectName { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned() })
}
