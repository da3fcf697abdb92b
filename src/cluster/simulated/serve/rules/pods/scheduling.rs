//! Where pods may run: affinity, tolerations, spreading.

use serde_json::Value;

use super::super::place::{Errors, Place};
use crate::k8s::names;
use crate::schema::FieldError;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

pub(super) fn affinity(affinity: &Place<'_>, errors: &mut Errors) {
    nodes(&affinity.field("nodeAffinity"), errors);
    for field in ["podAffinity", "podAntiAffinity"] {
        let pods = affinity.field(field);
        pods.field(REQUIRED).items().for_each(|term| pod_term(&term, errors));
        let preferred = pods.field(PREFERRED);
        for weighted in preferred.items() {
            weight(&weighted.field("weight"), errors);
            pod_term(&weighted.field("podAffinityTerm"), errors);
        }
    }
}

fn weight(place: &Place<'_>, errors: &mut Errors) {
    let number = place.number().unwrap_or(0);
    if !(1..=100).contains(&number) {
        let detail = "must be in the range 1-100";
        errors.push(FieldError::invalid(place.name(), &Value::from(number), detail));
    }
}

fn pod_term(term: &Place<'_>, errors: &mut Errors) {
    term.field("labelSelector").selector(errors);
    term.field("namespaceSelector").selector(errors);
    let key = term.field("topologyKey");
    if key.is_empty() {
        key.required("can not be empty", errors);
    }
    key.named(names::qualified_name_faults, errors);
}

fn nodes(nodes: &Place<'_>, errors: &mut Errors) {
    let required = nodes.field(REQUIRED);
    if required.is_set() {
        let terms = required.field("nodeSelectorTerms");
        if terms.is_empty() {
            terms.required("must have at least one node selector term", errors);
        }
        terms.items().for_each(|term| node_term(&term, true, errors));
    }
    let preferred = nodes.field(PREFERRED);
    for one in preferred.items() {
        weight(&one.field("weight"), errors);
        node_term(&one.field("preference"), false, errors);
    }
}

fn node_term(term: &Place<'_>, strict: bool, errors: &mut Errors) {
    let expressions = term.field("matchExpressions");
    for one in expressions.items() {
        node_requirement(&one, errors);
        one.field("key").named(names::qualified_name_faults, errors);
        if strict {
            one.field("values").items().for_each(|value| value.named(names::label_value_faults, errors));
        }
    }
}

fn node_requirement(one: &Place<'_>, errors: &mut Errors) {
    let (operator, values) = (one.field("operator"), one.field("values"));
    match operator.text() {
        "In" | "NotIn" if values.is_empty() => {
            values.required("must be specified when `operator` is 'In' or 'NotIn'", errors);
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            values.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'", errors);
        }
        "Gt" | "Lt" if values.items().count() != 1 => {
            values.required("must be specified single value when `operator` is 'Lt' or 'Gt'", errors);
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
        _ => operator.invalid_text("not a valid selector operator", errors),
    }
}

/// Source: `ValidateTolerations`.
pub(in crate::cluster::simulated::serve::rules) fn tolerations(list: &Place<'_>, errors: &mut Errors) {
    for one in list.items() {
        let (key, operator, effect) = (one.field("key"), one.field("operator"), one.field("effect"));
        key.named_if_any(names::qualified_name_faults, errors);
        if key.is_empty() && operator.text() != "Exists" {
            let detail =
                "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            operator.invalid_text(detail, errors);
        }
        if one.field("tolerationSeconds").is_set() && effect.text() != "NoExecute" {
            effect.invalid_text("effect must be 'NoExecute' when `tolerationSeconds` is set", errors);
        }
        tolerated(&one, errors);
        if !effect.is_empty() {
            effect.one_of(&["NoSchedule", "PreferNoSchedule", "NoExecute"], errors);
        }
    }
}

fn tolerated(one: &Place<'_>, errors: &mut Errors) {
    let (operator, value) = (one.field("operator"), one.value.get("value"));
    let name = operator.name();
    let value = Place::top(value, &name);
    match operator.text() {
        "" | "Equal" => {
            let faults = names::label_value_faults(value.text());
            if !faults.is_empty() {
                value.invalid_text(&faults.join(";"), errors);
            }
        }
        "Exists" if value.is_empty() => {}
        "Exists" => value.invalid("value must be empty when `operator` is 'Exists'", errors),
        _ => operator.one_of(&["Equal", "Exists"], errors),
    }
}

/// Source: `validateTopologySpreadConstraints`.
pub(super) fn spread(list: &Place<'_>, errors: &mut Errors) {
    let all: Vec<Place<'_>> = list.items().collect();
    for (at, one) in all.iter().enumerate() {
        positive(&one.field("maxSkew"), errors);
        let (key, when) = (one.field("topologyKey"), one.field("whenUnsatisfiable"));
        match key.is_empty() {
            true => key.required("can not be empty", errors),
            false => key.named(names::qualified_name_faults, errors),
        }
        when.one_of(&["DoNotSchedule", "ScheduleAnyway"], errors);
        let same = |other: &&Place<'_>| {
            ["topologyKey", "whenUnsatisfiable"]
                .iter()
                .all(|field| other.value.get(*field) == one.value.get(*field))
        };
        if all.iter().skip(at + 1).any(|other| same(&other)) {
            let shown = Value::from(format!("{{{}, {}}}", key.text(), when.text()));
            errors.push(FieldError::duplicate(
                format!("{}.{{topologyKey, whenUnsatisfiable}}", one.name()),
                &shown,
            ));
        }
        domains(one, when.text(), errors);
        for field in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            one.field(field).one_of(&["Honor", "Ignore"], errors);
        }
        one.field("labelSelector").selector(errors);
    }
}

fn positive(place: &Place<'_>, errors: &mut Errors) {
    let number = place.number().unwrap_or(0);
    if number <= 0 {
        errors.push(FieldError::invalid(place.name(), &Value::from(number), "must be greater than zero"));
    }
}

fn domains(one: &Place<'_>, when: &str, errors: &mut Errors) {
    let least = one.field("minDomains");
    if !least.is_set() {
        return;
    }
    positive(&least, errors);
    if when != "DoNotSchedule" {
        let detail = format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {when}");
        least.invalid(&detail, errors);
    }
}
