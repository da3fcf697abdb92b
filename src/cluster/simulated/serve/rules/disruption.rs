//! Pod disruption budgets.
//!
//! Source: Kubernetes 1.34.3, `pkg/apis/policy/validation/validation.go`, `ValidatePodDisruptionBudgetSpec`.

use serde_json::Value;

use super::place::{Errors, Place};
use crate::k8s::At as _;
use crate::yaml::json;

/// A budget.
pub(super) fn budget(object: &Value, old: Option<&Value>, errors: &mut Errors) {
    let spec = Place::top(object.get("spec"), "spec");
    let (least, most) = (spec.field("minAvailable"), spec.field("maxUnavailable"));
    if least.is_set() && most.is_set() {
        spec.invalid_shown(&shown(&spec), "minAvailable and maxUnavailable cannot be both set", errors);
    }
    for bound in [&least, &most] {
        number_or_percent(bound, errors);
    }
    spec.field("selector").selector_after(old.and_then(|old| old.at("/spec/selector")), errors);
    spec.field("unhealthyPodEvictionPolicy").one_of(&["AlwaysAllow", "IfHealthyBudget"], errors);
}

/// A spec as the server's own type has it.
fn shown(spec: &Place<'_>) -> String {
    let shown = |field: &str| json::encode(spec.field(field).value);
    let selector = match spec.field("selector").value {
        Value::Object(selector) => {
            let part =
                |field: &str| selector.get(field).map(|value| format!("{field:?}:{}", json::encode(value)));
            let parts = ["matchLabels", "matchExpressions"].into_iter().filter_map(part);
            format!("{{{}}}", parts.collect::<Vec<_>>().join(","))
        }
        other => json::encode(other),
    };
    format!(
        "{{\"MinAvailable\":{},\"Selector\":{selector},\"MaxUnavailable\":{},\"UnhealthyPodEvictionPolicy\":{}}}",
        shown("minAvailable"),
        shown("maxUnavailable"),
        shown("unhealthyPodEvictionPolicy"),
    )
}

/// Source: `pkg/apis/apps/validation/validation.go`, `ValidatePositiveIntOrPercent`, `IsNotMoreThan100Percent`.
fn number_or_percent(place: &Place<'_>, errors: &mut Errors) {
    let Value::String(text) = place.value else { return place.not_negative(errors) };
    let digits = text.strip_suffix('%').filter(|digits| !digits.is_empty());
    let Some(digits) = digits.filter(|digits| digits.bytes().all(|b| b.is_ascii_digit())) else {
        let detail = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or \
                      '93%', regex used for validation is '[0-9]+%')";
        return place.invalid(detail, errors);
    };
    if digits.parse::<u64>().unwrap_or(u64::MAX) > 100 {
        place.invalid("must not be greater than 100%", errors);
    }
}
