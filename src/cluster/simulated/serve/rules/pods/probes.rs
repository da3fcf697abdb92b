//! Probes and lifecycle hooks, and what they do.

use serde_json::Value;

use super::super::place::{Errors, Place};
use crate::k8s::names;
use crate::schema::FieldError;

pub(super) fn probes(container: &Place<'_>, grace: Option<i64>, errors: &mut Errors) {
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let probe = container.field(name);
        if !probe.is_set() {
            continue;
        }
        one(&probe, grace, errors);
        let (threshold, own) =
            (probe.field("successThreshold"), probe.field("terminationGracePeriodSeconds"));
        if name == "readinessProbe" && own.is_set() {
            own.invalid("must not be set for readinessProbes", errors);
        }
        if name != "readinessProbe" && threshold.number() != Some(1) {
            threshold.invalid("must be 1", errors);
        }
    }
}

fn one(probe: &Place<'_>, grace: Option<i64>, errors: &mut Errors) {
    handler(probe, grace, errors);
    for field in
        ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"]
    {
        probe.field(field).not_negative(errors);
    }
    let own = probe.field("terminationGracePeriodSeconds");
    if own.number().is_some_and(|seconds| seconds <= 0) {
        own.invalid("must be greater than 0", errors);
    }
}

pub(super) fn lifecycle(lifecycle: &Place<'_>, grace: Option<i64>, errors: &mut Errors) {
    for field in ["postStart", "preStop"] {
        let hook = lifecycle.field(field);
        if hook.is_set() {
            handler(&hook, grace, errors);
        }
    }
}

/// Exactly one thing is done.
fn handler(place: &Place<'_>, grace: Option<i64>, errors: &mut Errors) {
    let mut found = 0;
    for (field, check) in HANDLERS {
        let action = place.field(field);
        if !action.is_set() {
            continue;
        }
        found += 1;
        match found {
            1 => check(&action, grace, errors),
            _ => action.forbidden("may not specify more than 1 handler type", errors),
        }
    }
    if found == 0 {
        place.required("must specify a handler type", errors);
    }
}

type Handler = fn(&Place<'_>, Option<i64>, &mut Errors);

const HANDLERS: [(&str, Handler); 5] = [
    ("exec", |action, _, errors| {
        action.field("command").needed(errors);
    }),
    ("httpGet", |action, _, errors| fetch(action, errors)),
    ("tcpSocket", |action, _, errors| action.field("port").port(errors)),
    ("grpc", |action, _, errors| action.field("port").port_number(errors)),
    ("sleep", sleep),
];

fn fetch(action: &Place<'_>, errors: &mut Errors) {
    action.field("path").needed(errors);
    action.field("port").port(errors);
    action.field("scheme").one_of(&["HTTP", "HTTPS"], errors);
    let (headers, shown) = (action.field("httpHeaders"), action.field("httpHeaders").name());
    for header in headers.items() {
        Place::top(header.value.get("name"), &shown).named(names::header_faults, errors);
    }
}

fn sleep(action: &Place<'_>, grace: Option<i64>, errors: &mut Errors) {
    let seconds = action.field("seconds").number().unwrap_or(0);
    let Some(grace) = grace.filter(|grace| !(0..=*grace).contains(&seconds)) else { return };
    let detail = format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
    errors.push(FieldError::invalid(action.name(), &Value::from(seconds), &detail));
}
