//! Workloads: selectors, templates, and what may not change in them.

use serde_json::{Value, json};

use super::{immutable, pods};
use crate::k8s::At as _;
use crate::k8s::selector::Selector;
use crate::schema::FieldError;

pub(super) fn validate(kind: &str, object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    match kind {
        "Deployment" => {
            spec(object, errors);
            strategy(object, errors);
            immutable(object, old, "/spec/selector", "spec.selector", errors);
        }
        "ReplicaSet" => {
            spec(object, errors);
            immutable(object, old, "/spec/selector", "spec.selector", errors);
        }
        "DaemonSet" => {
            immutable(object, old, "/spec/selector", "spec.selector", errors);
            spec(object, errors);
        }
        "StatefulSet" => {
            spec(object, errors);
            stateful(object, old, errors);
        }
        "Job" => job(object, old, errors),
        "CronJob" => {
            pods::template(
                object,
                "/spec/jobTemplate/spec/template",
                "spec.jobTemplate.spec.template",
                errors,
            );
        }
        "ControllerRevision" => immutable(object, old, "/data", "data", errors),
        _ => {}
    }
}

fn spec(object: &Value, errors: &mut Vec<FieldError>) {
    if let Some(replicas) = object.at("/spec/replicas").filter(|r| r.as_i64().is_some_and(|n| n < 0)) {
        errors.push(FieldError::invalid("spec.replicas", replicas, "must be greater than or equal to 0"));
    }
    let selector = object.at("/spec/selector");
    match selector {
        None => errors.push(FieldError::required("spec.selector", "")),
        Some(selector) if is_empty(selector) => {
            let kind = crate::k8s::text(object, "/kind").to_lowercase();
            let detail = format!("empty selector is invalid for {kind}");
            errors.push(FieldError::invalid("spec.selector", &json!({}), &detail));
        }
        Some(_) => {}
    }
    let labels = object.at("/spec/template/metadata/labels");
    if selector.is_none_or(|s| !is_empty(s))
        && !(selector.is_some() && Selector::of(selector).matches(labels))
    {
        let field = "spec.template.metadata.labels";
        let shown = labels.unwrap_or(&Value::Null);
        errors.push(FieldError::invalid(field, shown, "`selector` does not match template `labels`"));
    }
    pods::template(object, "/spec/template", "spec.template", errors);
}

fn is_empty(selector: &Value) -> bool {
    ["matchLabels", "matchExpressions"].iter().all(|field| match selector.get(*field) {
        Some(Value::Object(labels)) => labels.is_empty(),
        Some(Value::Array(list)) => list.is_empty(),
        _ => true,
    })
}

fn strategy(object: &Value, errors: &mut Vec<FieldError>) {
    let recreate = crate::k8s::text(object, "/spec/strategy/type") == "Recreate";
    if recreate && object.at("/spec/strategy/rollingUpdate").is_some() {
        let detail = "may not be specified when strategy `type` is 'Recreate'";
        errors.push(FieldError::forbidden("spec.strategy.rollingUpdate", detail));
    }
}

/// Everything in a StatefulSet's spec but these fields is fixed.
fn stateful(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    const OPEN: &[&str] = &[
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
    ];
    let Some(old) = old else { return };
    let fixed = |object: &Value| {
        let mut spec = object.get("spec").cloned().unwrap_or_default();
        if let Some(spec) = spec.as_object_mut() {
            spec.retain(|field, _| !OPEN.contains(&field.as_str()));
        }
        spec
    };
    if fixed(object) != fixed(old) {
        let detail = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
                      'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and \
                      'minReadySeconds' are forbidden";
        errors.push(FieldError::forbidden("spec", detail));
    }
}

fn job(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    pods::template(object, "/spec/template", "spec.template", errors);
    let policy = crate::k8s::text(object, "/spec/template/spec/restartPolicy");
    if !matches!(policy, "Never" | "OnFailure") {
        let supported = ["OnFailure".to_owned(), "Never".to_owned()];
        let field = "spec.template.spec.restartPolicy";
        errors.push(FieldError::not_supported(field, &json!(policy), &supported));
    }
    let suspended = old.is_some_and(|old| {
        old.at("/spec/suspend") == Some(&json!(true)) && old.at("/status/startTime").is_none()
    });
    let elastic = crate::k8s::text(object, "/spec/completionMode") == "Indexed"
        && object.at("/spec/completions") == object.at("/spec/parallelism");
    if !elastic {
        immutable(object, old, "/spec/completions", "spec.completions", errors);
    }
    immutable(object, old, "/spec/selector", "spec.selector", errors);
    job_template(object, old, suspended, errors);
    for field in ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"]
    {
        immutable(object, old, &format!("/spec/{field}"), &format!("spec.{field}"), errors);
    }
}

/// A Job's template is fixed; while it is suspended and was never started its scheduling may change.
fn job_template(object: &Value, old: Option<&Value>, suspended: bool, errors: &mut Vec<FieldError>) {
    let Some(old) = old else { return };
    let (mut new, old) = (object.at("/spec/template").cloned().unwrap_or_default(), old.at("/spec/template"));
    let old = old.cloned().unwrap_or_default();
    if suspended {
        for part in [
            "/metadata/labels",
            "/metadata/annotations",
            "/spec/nodeSelector",
            "/spec/tolerations",
            "/spec/affinity",
            "/spec/schedulingGates",
        ] {
            overwrite(&mut new, &old, part);
        }
    }
    if new != old {
        let shown = object.at("/spec/template").unwrap_or(&Value::Null);
        errors.push(FieldError::invalid("spec.template", shown, "field is immutable"));
    }
}

fn overwrite(target: &mut Value, source: &Value, pointer: &str) {
    let Some((parent, field)) = pointer.rsplit_once('/') else { return };
    let Some(object) = target.pointer_mut(parent).and_then(Value::as_object_mut) else { return };
    match source.at(pointer) {
        Some(value) => object.insert(field.to_owned(), value.clone()),
        None => object.remove(field),
    };
}
