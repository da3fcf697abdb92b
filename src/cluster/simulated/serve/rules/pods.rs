//! Pods and pod templates: containers, and what may change in a pod.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::metadata::label_fault;
use crate::k8s::At as _;
use crate::k8s::text;
use crate::schema::FieldError;

pub(super) fn template(object: &Value, pointer: &str, field: &str, errors: &mut Vec<FieldError>) {
    let spec = object.at(pointer).and_then(|t| t.get("spec")).unwrap_or(&Value::Null);
    containers(spec, &format!("{field}.spec"), errors);
}

fn containers(spec: &Value, field: &str, errors: &mut Vec<FieldError>) {
    let list = spec.get("containers").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if list.is_empty() {
        errors.push(FieldError::required(format!("{field}.containers"), ""));
    }
    let mut names = BTreeSet::new();
    let inits = spec.get("initContainers").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for (kind, list) in [("containers", list), ("initContainers", inits)] {
        for (at, item) in list.iter().enumerate() {
            let field = format!("{field}.{kind}[{at}]");
            container(item, &field, errors);
            let name = text(item, "/name");
            if !name.is_empty() && !names.insert(name) {
                errors.push(FieldError::duplicate(format!("{field}.name"), &json!(name)));
            }
        }
    }
}

fn container(container: &Value, field: &str, errors: &mut Vec<FieldError>) {
    let name = text(container, "/name");
    if name.is_empty() {
        errors.push(FieldError::required(format!("{field}.name"), ""));
    } else if let Some(detail) = label_fault(name) {
        errors.push(FieldError::invalid(format!("{field}.name"), &json!(name), &detail));
    }
    if text(container, "/image").is_empty() {
        errors.push(FieldError::required(format!("{field}.image"), ""));
    }
    let list = |name: &str| container.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for (at, port) in list("ports").iter().enumerate() {
        let number = port.get("containerPort").and_then(Value::as_i64).unwrap_or(0);
        if !(1..=65535).contains(&number) {
            let field = format!("{field}.ports[{at}].containerPort");
            errors.push(FieldError::invalid(field, &json!(number), "must be between 1 and 65535, inclusive"));
        }
    }
    for (at, variable) in list("env").iter().enumerate() {
        if text(variable, "/name").is_empty() {
            errors.push(FieldError::required(format!("{field}.env[{at}].name"), ""));
        }
    }
}

/// A pod: in its spec only images, the deadline, tolerations and the grace period may change.
pub(super) fn pod(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    containers(object.get("spec").unwrap_or(&Value::Null), "spec", errors);
    let Some(old) = old else { return };
    let fixed = |pod: &Value| {
        let mut spec = pod.get("spec").cloned().unwrap_or_default();
        for list in ["containers", "initContainers"] {
            for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                if let Some(container) = container.as_object_mut() {
                    container.remove("image");
                }
            }
        }
        if let Some(spec) = spec.as_object_mut() {
            for open in
                ["activeDeadlineSeconds", "terminationGracePeriodSeconds", "tolerations", "schedulingGates"]
            {
                spec.remove(open);
            }
        }
        spec
    };
    if fixed(object) != fixed(old) {
        let detail = "pod updates may not change fields other than `spec.containers[*].image`,\
                      `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to \
                      existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was \
                      previously negative)";
        errors.push(FieldError::forbidden("spec", detail));
    }
}
