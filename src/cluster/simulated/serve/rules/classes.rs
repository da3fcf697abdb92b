//! Classes of priorities and of runtimes.
//!
//! Source: Kubernetes 1.34.3, `pkg/apis/scheduling/validation/validation.go`, `pkg/apis/node/validation/validation.go`.

use serde_json::Value;

use super::place::{Errors, Place};
use super::{asked, pods};
use crate::k8s::names;
use crate::k8s::text;
use crate::schema::{Cause, FieldError};

/// The highest priority that anybody but the server may give.
const HIGHEST: i64 = 1_000_000_000;

/// The priorities that the server itself makes.
const OF_SYSTEM: &[(&str, i64)] =
    &[("system-node-critical", 2_000_001_000), ("system-cluster-critical", 2_000_000_000)];

/// A class of priorities; nothing but its metadata can be changed.
pub(super) fn priority(object: &Value, old: Option<&Value>, errors: &mut Errors) {
    let top = |field: &'static str| Place::top(object.get(field), field);
    let (value, policy) = (top("value"), top("preemptionPolicy"));
    if let Some(old) = old {
        if value.number_or_zero() != Place::top(old.get("value"), "value").number_or_zero() {
            value.forbidden("may not be changed in an update.", errors);
        }
        return policy.unchanged(&Place::top(old.get("preemptionPolicy"), "preemptionPolicy"), errors);
    }
    if text(object, "/metadata/name").starts_with("system-") {
        system_priority(object, value.number_or_zero(), errors);
    } else if value.number_or_zero() > HIGHEST {
        let detail = format!("maximum allowed value of a user defined priority is {HIGHEST}");
        value.forbidden(&detail, errors);
    }
    match policy.is_empty() {
        true if policy.is_set() => policy.required("", errors),
        _ => policy.one_of(&["PreemptLowerPriority", "Never"], errors),
    }
}

/// Source: `pkg/apis/scheduling/v1/helpers.go`, `IsKnownSystemPriorityClass`.
fn system_priority(object: &Value, value: i64, errors: &mut Errors) {
    let name = text(object, "/metadata/name");
    let is_default = object.get("globalDefault") == Some(&Value::Bool(true));
    let why = match OF_SYSTEM.iter().find(|(known, _)| *known == name) {
        None => format!("{name} is not a known system priority class"),
        Some((_, own)) if *own != value => format!("value of {name} PriorityClass must be {own}"),
        Some(_) if is_default => format!("globalDefault of {name} PriorityClass must be false"),
        Some(_) => return,
    };
    let detail =
        format!("priority class names with 'system-' prefix are reserved for system use only. error: {why}");
    errors.push(FieldError::forbidden("metadata.name", &detail));
}

/// A class of runtimes; on updates the server looks at its handler alone.
pub(super) fn runtime(object: &Value, old: Option<&Value>, errors: &mut Errors) {
    let handler = Place::top(object.get("handler"), "handler");
    if let Some(old) = old {
        return handler.unchanged(&Place::top(old.get("handler"), "handler"), errors);
    }
    handler.named(names::label_faults, errors);
    overhead(&Place::top(object.get("overhead"), "overhead"), errors);
    let scheduling = Place::top(object.get("scheduling"), "scheduling");
    scheduling.field("nodeSelector").labels(errors);
    let tolerations = scheduling.field("tolerations");
    // The server names the field twice here.
    pods::tolerations(&tolerations.called("tolerations"), errors);
    same_tolerations(&tolerations, errors);
}

/// What pods of the class need besides their containers; the server calls it their limits.
fn overhead(overhead: &Place<'_>, errors: &mut Errors) {
    let fixed = overhead.field("podFixed");
    let limits = Place::top(Some(fixed.value), "overhead.limits");
    for (name, limit) in limits.entries() {
        asked::container_resource_name(name, &limit, errors);
        asked::amount(name, &limit, errors);
    }
    let has = |wanted: fn(&str) -> bool| limits.entries().any(|(name, _)| wanted(name));
    if has(asked::is_huge_page) && !has(|name| matches!(name, "cpu" | "memory")) {
        overhead.forbidden("HugePages require cpu or memory", errors);
    }
}

/// No two tolerate the same; the server shows its own type.
fn same_tolerations(tolerations: &Place<'_>, errors: &mut Errors) {
    const PARTS: [&str; 4] = ["key", "operator", "value", "effect"];
    let mut seen = std::collections::BTreeSet::new();
    for one in tolerations.items() {
        let parts = PARTS.map(|part| Value::from(one.field(part).text()).to_string());
        let [key, operator, value, effect] = &parts;
        let seconds = one.field("tolerationSeconds").value;
        let shown = format!(
            "{{\"Key\":{key},\"Operator\":{operator},\"Value\":{value},\"Effect\":{effect},\"TolerationSeconds\":{seconds}}}"
        );
        if !seen.insert(parts) {
            errors.push(FieldError::showing(Cause::Duplicate, one.name(), &shown, ""));
        }
    }
}
