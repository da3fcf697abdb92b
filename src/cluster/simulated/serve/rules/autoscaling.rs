//! Horizontal pod autoscalers, in both of their versions.
//!
//! Source: Kubernetes 1.34.3, `pkg/apis/autoscaling/validation/validation.go` and
//! `pkg/registry/autoscaling/horizontalpodautoscaler/strategy.go`.

use serde_json::Value;

use super::asked;
use super::place::{Errors, Place};
use crate::k8s::At as _;
use crate::k8s::items;
use crate::k8s::names;

/// Which versions of what is referred to are not looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    /// It must name a group.
    WithGroup,
    /// It may be the one of the core.
    Any,
    /// The stored one is wrong or the same.
    Unchecked,
}

/// An autoscaler.
pub(super) fn autoscaler(object: &Value, old: Option<&Value>, errors: &mut Errors) {
    let spec = Place::top(object.get("spec"), "spec");
    replicas(&spec, old, errors);
    let target = spec.field("scaleTargetRef");
    reference(&target, target_version(&target, old), errors);
    metrics(&spec, old, errors);
    let behavior = spec.field("behavior");
    for direction in ["scaleUp", "scaleDown"] {
        scaling_rules(&behavior.field(direction), errors);
    }
}

fn replicas(spec: &Place<'_>, old: Option<&Value>, errors: &mut Errors) {
    let (least, most) = (spec.field("minReplicas"), spec.field("maxReplicas"));
    let was_zero = old.and_then(|old| old.at("/spec/minReplicas")?.as_i64()) == Some(0);
    let bound = i64::from(!was_zero);
    if least.number().is_some_and(|number| number < bound) {
        least.invalid(&format!("must be greater than or equal to {bound}"), errors);
    }
    if most.number_or_zero() < 1 {
        most.invalid_number("must be greater than 0", errors);
    }
    if least.number().is_some_and(|least| most.number_or_zero() < least) {
        most.invalid_number("must be greater than or equal to `minReplicas`", errors);
    }
}

fn target_version(target: &Place<'_>, old: Option<&Value>) -> Version {
    let old = Place::top(old.and_then(|old| old.at("/spec/scaleTargetRef")), "old");
    let same = |field: &str| old.field(field).text() == target.field(field).text();
    match target.field("kind").text() {
        _ if old.is_set() && same("apiVersion") && same("kind") => Version::Unchecked,
        "ReplicationController" => Version::Any,
        _ => Version::WithGroup,
    }
}

/// Source: `ValidateCrossVersionObjectReference`.
fn reference(place: &Place<'_>, version: Version, errors: &mut Errors) {
    place.field("kind").needed_named(names::segment_faults, errors);
    place.field("name").needed_named(names::segment_faults, errors);
    if version != Version::Unchecked
        && let Some(fault) = version_fault(place.field("apiVersion").text(), version)
    {
        place.field("apiVersion").invalid_text(&fault, errors);
    }
}

fn version_fault(text: &str, version: Version) -> Option<String> {
    if text.matches('/').count() > 1 {
        return Some(format!("unexpected GroupVersion string: {text}"));
    }
    let group = text.split_once('/').map_or("", |(group, _)| group);
    let lacks = version == Version::WithGroup && group.is_empty();
    lacks.then(|| "apiVersion must specify API group".to_owned())
}

/// The metrics; autoscaling/v1 has one in a field of its own, which the server takes for the first in a list.
fn metrics(spec: &Place<'_>, old: Option<&Value>, errors: &mut Errors) {
    let cpu = spec.field("targetCPUUtilizationPercentage");
    if cpu.number().is_some_and(|number| number < 1) {
        let field = "spec.metrics[0].resource.target.averageUtilization";
        Place::top(Some(cpu.value), field).invalid("must be greater than 0", errors);
    }
    let version = described_version(old);
    let list = spec.field("metrics");
    list.items().for_each(|metric| metric_spec(&metric, version, errors));
    let kind = |metric: &Value| matches!(crate::k8s::text(metric, "/type"), "Object" | "External");
    let from_outside = items(spec.value, "/metrics").any(kind);
    if spec.field("minReplicas").number() == Some(0) && !from_outside {
        let detail =
            "must specify at least one Object or External metric to support scaling to zero replicas";
        list.forbidden(detail, errors);
    }
}

/// Once a stored metric describes an object in a version that none may have, new ones may too.
fn described_version(old: Option<&Value>) -> Version {
    let metrics = old.into_iter().flat_map(|old| items(old, "/spec/metrics"));
    let described = metrics.filter_map(|metric| metric.at("/object/describedObject"));
    let wrong =
        |object: &Value| version_fault(crate::k8s::text(object, "/apiVersion"), Version::Any).is_some();
    if described.into_iter().any(wrong) { Version::Unchecked } else { Version::Any }
}

const SOURCES: &[&str] = &["object", "external", "pods", "resource", "containerResource"];

/// Source: `validateMetricSpec`.
fn metric_spec(metric: &Place<'_>, version: Version, errors: &mut Errors) {
    let kind = metric.field("type");
    if kind.is_empty() {
        kind.required("must specify a metric source type", errors);
    }
    kind.supported(&["ContainerResource", "External", "Object", "Pods", "Resource"], errors);
    let present: Vec<&str> = SOURCES.iter().copied().filter(|field| metric.field(field).is_set()).collect();
    if let Some(first) = present.first() {
        source(first, &metric.field(first), version, errors);
    }
    let expected = match kind.text() {
        "Object" => "object",
        "Pods" => "pods",
        "Resource" => "resource",
        "External" => "external",
        "ContainerResource" => "containerResource",
        _ => "",
    };
    if !expected.is_empty() && !metric.field(expected).is_set() {
        metric.field(expected).required("must populate information for the given metric source", errors);
    }
    if present.len() != 1 {
        for other in present.into_iter().filter(|field| *field != expected) {
            metric.field(other).forbidden("must populate the given metric source only", errors);
        }
    }
}

fn source(which: &str, place: &Place<'_>, version: Version, errors: &mut Errors) {
    match which {
        "object" => {
            reference(&place.field("describedObject"), version, errors);
            metric_name(place, errors);
        }
        "external" | "pods" => metric_name(place, errors),
        _ => resource(which, place, errors),
    }
    let target = place.field("target");
    metric_target(&target, errors);
    let (value, average) = (target.field("value"), target.field("averageValue"));
    let neither = !value.is_set() && !average.is_set();
    match which {
        "object" if neither => average.required("must set either a target value or averageValue", errors),
        "external" if neither => {
            average.required("must set either a target value for metric or a per-pod target", errors);
        }
        "external" if value.is_set() && average.is_set() => {
            value.forbidden("may not set both a target value for metric and a per-pod target", errors);
        }
        "pods" if !average.is_set() => {
            average.required("must specify a positive target averageValue", errors);
        }
        "resource" | "containerResource" => resource_target(&target, errors),
        _ => {}
    }
}

fn resource(which: &str, place: &Place<'_>, errors: &mut Errors) {
    let (name, container) = (place.field("name"), place.field("container"));
    if name.is_empty() {
        name.required("must specify a resource name", errors);
    }
    if which == "resource" {
        return;
    }
    if !name.is_empty() {
        asked::container_resource_name(name.text(), &name, errors);
    }
    if container.is_empty() {
        container.required("must specify a container", errors);
    }
    container.named_if_any(names::label_faults, errors);
}

fn resource_target(target: &Place<'_>, errors: &mut Errors) {
    let (share, average) = (target.field("averageUtilization"), target.field("averageValue"));
    match (share.is_set(), average.is_set()) {
        (false, false) => {
            share.required("must set either a target raw value or a target utilization", errors);
        }
        (true, true) => {
            average.forbidden("may not set both a target raw value and a target utilization", errors);
        }
        _ => {}
    }
}

/// Source: `validateMetricIdentifier`.
fn metric_name(place: &Place<'_>, errors: &mut Errors) {
    let metric = place.field("metric");
    let name = metric.field("name");
    if name.is_empty() {
        name.required("must specify a metric name", errors);
    }
    name.named_if_any(names::segment_faults, errors);
}

/// Source: `validateMetricTarget`.
fn metric_target(target: &Place<'_>, errors: &mut Errors) {
    let kind = target.field("type");
    if kind.is_empty() {
        kind.required("must specify a metric target type", errors);
    }
    if !matches!(kind.text(), "Utilization" | "Value" | "AverageValue") {
        kind.invalid_text("must be either Utilization, Value, or AverageValue", errors);
    }
    for field in ["value", "averageValue"] {
        let value = target.field(field);
        if value.quantity().is_some_and(|quantity| quantity <= 0) {
            value.invalid_as(&value.spelled(), "must be positive", errors);
        }
    }
    let share = target.field("averageUtilization");
    if share.number().is_some_and(|number| number < 1) {
        share.invalid("must be greater than 0", errors);
    }
}

/// Source: `validateScalingRules`.
fn scaling_rules(rules: &Place<'_>, errors: &mut Errors) {
    if !rules.is_set() {
        return;
    }
    let (window, policies) = (rules.field("stabilizationWindowSeconds"), rules.field("policies"));
    if window.number_or_zero() < 0 {
        window.invalid("must be greater than or equal to zero", errors);
    }
    if window.number_or_zero() > 3600 {
        window.invalid("must be less than or equal to 3600", errors);
    }
    rules.field("selectPolicy").one_of(&["Disabled", "Max", "Min"], errors);
    if policies.is_empty() {
        policies.required("must specify at least one Policy", errors);
    }
    for policy in policies.items() {
        policy.field("type").supported(&["Percent", "Pods"], errors);
        for field in ["value", "periodSeconds"] {
            if policy.field(field).number_or_zero() <= 0 {
                policy.field(field).invalid_number("must be greater than zero", errors);
            }
        }
        if policy.field("periodSeconds").number_or_zero() > 1800 {
            policy.field("periodSeconds").invalid("must be less than or equal to 1800", errors);
        }
    }
}
