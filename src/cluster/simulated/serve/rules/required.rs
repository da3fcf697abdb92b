//! Fields without which no object of a kind is taken.
//!
//! What kube-apiserver 1.34.3 answers to objects of each kind that have metadata alone; kinds that are looked into more
//! closely have theirs in the files beside this one.

use serde_json::Value;

use super::super::super::discovery::Target;
use crate::k8s::At as _;
use crate::schema::FieldError;

/// A field that a kind can't be without.
struct Required {
    group: &'static str,
    kind: &'static str,
    pointer: &'static str,
    /// As the server names it.
    field: &'static str,
    detail: &'static str,
}

const fn needs(
    group: &'static str,
    kind: &'static str,
    pointer: &'static str,
    field: &'static str,
    detail: &'static str,
) -> Required {
    Required { group, kind, pointer, field, detail }
}

const REQUIRED: &[Required] = &[
    needs("", "PodTemplate", "/template/spec/containers", "template.spec.containers", ""),
    needs("", "ReplicationController", "/spec/selector", "spec.selector", ""),
    needs("", "ReplicationController", "/spec/template", "spec.template", ""),
    needs("apps", "ControllerRevision", "/data", "data", "data is mandatory"),
    needs("batch", "CronJob", "/spec/schedule", "spec.schedule", ""),
    needs("discovery.k8s.io", "EndpointSlice", "/addressType", "addressType", ""),
];

/// Which of them are absent or empty.
pub(super) fn fields(target: &Target, object: &Value, errors: &mut Vec<FieldError>) {
    let of_kind = REQUIRED.iter().filter(|one| one.group == target.group && one.kind == target.kind);
    for one in of_kind.filter(|one| object.at(one.pointer).is_none_or(is_empty)) {
        errors.push(FieldError::required(one.field, one.detail));
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}
