//! Services that answer for a version of a group.
//!
//! Source: Kubernetes 1.34.3, kube-aggregator `pkg/apis/apiregistration/validation/validation.go`,
//! `ValidateAPIService`; the name is looked at with the metadata.

use serde_json::Value;

use super::place::{Errors, Place};
use crate::k8s::names;
use crate::schema::FieldError;

/// An `APIService`; on updates the server looks at all of it again.
pub(super) fn service(object: &Value, errors: &mut Errors) {
    let spec = Place::top(object.get("spec"), "spec");
    let (group, version) = (spec.field("group"), spec.field("version"));
    if group.is_empty() && version.text() != "v1" {
        group.required("only v1 may have an empty group and it better be legacy kube", errors);
    }
    group.named_if_any(names::subdomain_faults, errors);
    version.named(names::service_faults, errors);
    for (field, most) in [("groupPriorityMinimum", 20_000), ("versionPriority", 1_000)] {
        let priority = spec.field(field);
        if !(1..=most).contains(&priority.number_or_zero()) {
            priority.invalid_number(&format!("must be positive and less than {most}"), errors);
        }
    }
    if spec.field("service").is_set() {
        remote(&spec, errors);
    } else {
        local(&spec, errors);
    }
}

/// What the server answers itself.
fn local(spec: &Place<'_>, errors: &mut Errors) {
    let (bundle, skips) = (spec.field("caBundle"), spec.field("insecureSkipTLSVerify"));
    if !bundle.is_empty() {
        let padding = bundle.text().bytes().rev().take_while(|b| *b == b'=').count();
        let bytes = (bundle.text().len() / 4 * 3).saturating_sub(padding);
        let detail = "local APIServices may not have a caBundle";
        errors.push(FieldError::invalid(bundle.name(), &Value::from(format!("{bytes} bytes")), detail));
    }
    if skips.is_true() {
        skips.invalid("local APIServices may not have insecureSkipTLSVerify", errors);
    }
}

fn remote(spec: &Place<'_>, errors: &mut Errors) {
    let service = spec.field("service");
    service.field("namespace").needed(errors);
    service.field("name").needed(errors);
    let port = service.field("port");
    if !(1..=65535).contains(&port.number_or_zero()) {
        port.invalid_number("port is not valid: must be between 1 and 65535, inclusive", errors);
    }
    let skips = spec.field("insecureSkipTLSVerify");
    if skips.is_true() && !spec.field("caBundle").is_empty() {
        skips.invalid("may not be true if caBundle is present", errors);
    }
}
