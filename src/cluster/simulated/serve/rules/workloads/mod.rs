//! Workloads: selectors, templates, strategies, and what may not change in them.
//!
//! Source: Kubernetes 1.34.3, `pkg/apis/apps/validation/validation.go`; errors come in its order.

use serde_json::{Value, json};

use super::place::{Errors, Place};
use super::{immutable, pods};
use crate::k8s::At as _;
use crate::k8s::names;
use crate::k8s::selector::Selector;
use crate::schema::{Cause, FieldError};

mod jobs;
mod schedule;

pub(super) fn validate(kind: &str, object: &Value, old: Option<&Value>, errors: &mut Errors) {
    let spec = Place::top(object.get("spec"), "spec");
    match kind {
        "Deployment" => deployment(object, &spec, errors),
        "ReplicaSet" => {
            spec.field("replicas").not_negative(errors);
            spec.field("minReadySeconds").not_negative(errors);
            if selector(&spec, "deployment", "invalid label selector", errors) {
                replicated_template(object, errors);
            }
        }
        "DaemonSet" => daemon_set(object, &spec, old, errors),
        "StatefulSet" => stateful_set(object, &spec, errors),
        "Job" => jobs::job(object, old, errors),
        "CronJob" => jobs::cron_job(object, old, errors),
        "ControllerRevision" => immutable(object, old, "/data", "data", errors),
        _ => {}
    }
    match kind {
        "Deployment" | "ReplicaSet" => immutable(object, old, "/spec/selector", "spec.selector", errors),
        "StatefulSet" => fixed_parts(object, old, errors),
        _ => {}
    }
}

/// Looks at the selector; false where pods can't be told by it.
fn selector(spec: &Place<'_>, kind: &str, unreadable: &str, errors: &mut Errors) -> bool {
    let place = spec.field("selector");
    if !place.is_set() {
        place.required("", errors);
        return true;
    }
    let before = errors.len();
    place.selector(errors);
    if is_empty(place.value) {
        place.invalid(&format!("empty selector is invalid for {kind}"), errors);
        return true;
    }
    let is_sound = errors.len() == before;
    if !is_sound {
        place.invalid(unreadable, errors);
    }
    is_sound
}

fn is_empty(selector: &Value) -> bool {
    ["matchLabels", "matchExpressions"].iter().all(|field| match selector.get(*field) {
        Some(Value::Object(labels)) => labels.is_empty(),
        Some(Value::Array(list)) => list.is_empty(),
        _ => true,
    })
}

/// The labels of the template must be those that the selector looks for; without a selector nothing is found.
fn matches(object: &Value, errors: &mut Errors) {
    let selector = object.at("/spec/selector");
    let labels = object.at("/spec/template/metadata/labels");
    let everything = selector.is_some_and(is_empty);
    if everything || selector.is_some() && Selector::of(selector).matches(labels) {
        return;
    }
    let shown = labels.unwrap_or(&Value::Null);
    let field = "spec.template.metadata.labels";
    errors.push(FieldError::invalid(field, shown, "`selector` does not match template `labels`"));
}

/// The template of a ReplicaSet, or of a Deployment that makes some.
fn replicated_template(object: &Value, errors: &mut Errors) {
    matches(object, errors);
    pods::template(object, "/spec/template", "spec.template", errors);
    always_restarted(object, "ReplicaSet", errors);
}

/// Pods of workloads that go on have no end.
fn always_restarted(object: &Value, kind: &str, errors: &mut Errors) {
    let spec = Place::top(object.at("/spec/template/spec"), "spec.template.spec");
    spec.field("restartPolicy").one_of(&["Always"], errors);
    let deadline = spec.field("activeDeadlineSeconds");
    if deadline.is_set() {
        deadline.forbidden(&format!("activeDeadlineSeconds in {kind} is not Supported"), errors);
    }
}

fn deployment(object: &Value, spec: &Place<'_>, errors: &mut Errors) {
    spec.field("replicas").not_negative(errors);
    if selector(spec, "deployment", "invalid label selector", errors) {
        replicated_template(object, errors);
    }
    strategy(&spec.field("strategy"), errors);
    let ready = spec.field("minReadySeconds");
    ready.not_negative(errors);
    spec.field("revisionHistoryLimit").not_negative(errors);
    let deadline = spec.field("progressDeadlineSeconds");
    deadline.not_negative(errors);
    if deadline.number().is_some_and(|seconds| seconds <= ready.number().unwrap_or(0)) {
        deadline.invalid("must be greater than minReadySeconds", errors);
    }
}

/// A strategy that is none, shown as the server's own type.
fn shown(strategy: &Place<'_>) -> String {
    let (kind, rolling) = (strategy.field("type"), strategy.field("rollingUpdate"));
    format!(r#"{{"Type":{},"RollingUpdate":{}}}"#, kind.value, rolling.value)
}

/// A strategy must be one of these.
fn unsupported(strategy: &Place<'_>, supported: &str, errors: &mut Errors) {
    let detail = format!("supported values: {supported}");
    errors.push(FieldError::showing(Cause::NotSupported, strategy.name(), &shown(strategy), &detail));
}

fn strategy(strategy: &Place<'_>, errors: &mut Errors) {
    let rolling = strategy.field("rollingUpdate");
    match strategy.field("type").text() {
        "Recreate" => {
            if rolling.is_set() {
                rolling.forbidden("may not be specified when strategy `type` is 'Recreate'", errors);
            }
        }
        "RollingUpdate" => {
            let (unavailable, surge) = (rolling.field("maxUnavailable"), rolling.field("maxSurge"));
            share(&unavailable, errors);
            share(&surge, errors);
            if amount(&unavailable) == 0 && amount(&surge) == 0 {
                unavailable.invalid("may not be 0 when `maxSurge` is 0", errors);
            }
            at_most_all(&unavailable, errors);
        }
        _ => unsupported(strategy, r#""Recreate", "RollingUpdate""#, errors),
    }
}

/// A number, or a share of all as a percentage.
fn share(place: &Place<'_>, errors: &mut Errors) {
    if place.value.is_string() && percentage(place).is_none() {
        let detail = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', \
                      regex used for validation is '[0-9]+%')";
        place.invalid(detail, errors);
    }
    place.not_negative(errors);
}

fn percentage(place: &Place<'_>) -> Option<i64> {
    let digits = place.text().strip_suffix('%')?;
    let is_plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    is_plain.then(|| digits.parse().unwrap_or(i64::MAX))
}

/// The number, or that of a percentage; 0 where there is none.
fn amount(place: &Place<'_>) -> i64 {
    place.number().or_else(|| percentage(place)).unwrap_or(0)
}

fn at_most_all(place: &Place<'_>, errors: &mut Errors) {
    if percentage(place).is_some_and(|share| share > 100) {
        place.invalid("must not be greater than 100%", errors);
    }
}

fn daemon_set(object: &Value, spec: &Place<'_>, old: Option<&Value>, errors: &mut Errors) {
    // On updates the server looks at what changed first.
    immutable(object, old, "/spec/selector", "spec.selector", errors);
    let (place, before) = (spec.field("selector"), errors.len());
    if !place.is_set() {
        place.required("", errors);
    }
    place.selector(errors);
    if errors.len() == before || !place.is_set() {
        matches(object, errors);
    }
    if place.is_set() && is_empty(place.value) {
        place.invalid("empty selector is invalid for daemonset", errors);
    }
    pods::template(object, "/spec/template", "spec.template", errors);
    always_restarted(object, "DaemonSet", errors);
    spec.field("minReadySeconds").not_negative(errors);
    daemon_strategy(&spec.field("updateStrategy"), errors);
    spec.field("revisionHistoryLimit").not_negative(errors);
}

fn daemon_strategy(strategy: &Place<'_>, errors: &mut Errors) {
    match strategy.field("type").text() {
        "OnDelete" => {}
        "RollingUpdate" => {
            let rolling = strategy.field("rollingUpdate");
            let (unavailable, surge) = (rolling.field("maxUnavailable"), rolling.field("maxSurge"));
            [&unavailable, &surge].iter().for_each(|one| share(one, errors));
            [&unavailable, &surge].iter().for_each(|one| at_most_all(one, errors));
            match (amount(&unavailable) != 0, amount(&surge) != 0) {
                (true, true) => surge.invalid("may not be set when maxUnavailable is non-zero", errors),
                (false, false) => unavailable.required("cannot be 0 when maxSurge is 0", errors),
                _ => {}
            }
        }
        _ => unsupported(strategy, r#""RollingUpdate", "OnDelete""#, errors),
    }
}

fn stateful_set(object: &Value, spec: &Place<'_>, errors: &mut Errors) {
    let policy = spec.field("podManagementPolicy");
    if !matches!(policy.text(), "" | "OrderedReady" | "Parallel") {
        policy.invalid("must be 'OrderedReady' or 'Parallel'", errors);
    }
    stateful_strategy(&spec.field("updateStrategy"), errors);
    let retention = spec.field("persistentVolumeClaimRetentionPolicy");
    for field in ["whenDeleted", "whenScaled"] {
        retention.field(field).one_of(&["Retain", "Delete"], errors);
    }
    claims(&spec.field("volumeClaimTemplates"), errors);
    spec.field("replicas").not_negative(errors);
    spec.field("minReadySeconds").not_negative(errors);
    spec.field("ordinals").field("start").not_negative(errors);
    spec.field("serviceName").named_if_any(names::label_faults, errors);
    if selector(spec, "statefulset", "", errors) {
        matches(object, errors);
        pods::template(&with_claims(object), "/spec/template", "spec.template", errors);
    }
    always_restarted(object, "StatefulSet", errors);
}

/// The claims that a set makes for its pods are volumes of theirs, and it names the pods itself.
fn with_claims(object: &Value) -> Value {
    let mut object = object.clone();
    let claims =
        object.at("/spec/volumeClaimTemplates").and_then(Value::as_array).cloned().unwrap_or_default();
    let names: Vec<&Value> = claims.iter().filter_map(|claim| claim.at("/metadata/name")).collect();
    let Some(spec) = object.pointer_mut("/spec/template/spec").and_then(Value::as_object_mut) else {
        return object;
    };
    spec.remove("hostname");
    spec.remove("subdomain");
    let own = spec.get("volumes").and_then(Value::as_array).into_iter().flatten();
    let own = own.filter(|volume| volume.get("name").is_none_or(|name| !names.contains(&name))).cloned();
    let made = names.iter().map(|name| json!({"name": name, "persistentVolumeClaim": {"claimName": name}}));
    let all: Vec<Value> = made.chain(own).collect();
    if !all.is_empty() {
        spec.insert("volumes".to_owned(), Value::Array(all));
    }
    object
}

fn claims(list: &Place<'_>, errors: &mut Errors) {
    for claim in list.items() {
        let spec = claim.field("spec");
        let modes = spec.field("accessModes");
        if modes.is_empty() {
            modes.required("at least 1 access mode is required", errors);
        }
        let known = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
        let shown = modes.name();
        modes.items().for_each(|mode| Place::top(Some(mode.value), &shown).one_of(&known, errors));
        if spec.value.at("/resources/requests/storage").is_none() {
            errors.push(FieldError::required(format!("{}.resources[storage]", spec.name()), ""));
        }
    }
}

fn stateful_strategy(strategy: &Place<'_>, errors: &mut Errors) {
    let rolling = strategy.field("rollingUpdate");
    match strategy.field("type").text() {
        "OnDelete" if rolling.is_set() => {
            let of = |field| rolling.field(field).value.to_string();
            let shown =
                format!(r#"{{"Partition":{},"MaxUnavailable":{}}}"#, of("partition"), of("maxUnavailable"));
            let detail = "only allowed for updateStrategy 'RollingUpdate'";
            errors.push(FieldError::showing(Cause::Invalid, rolling.name(), &shown, detail));
        }
        "" | "OnDelete" => {}
        "RollingUpdate" => {
            rolling.field("partition").not_negative(errors);
            let unavailable = rolling.field("maxUnavailable");
            share(&unavailable, errors);
            at_most_all(&unavailable, errors);
        }
        _ => {
            let detail = "must be 'RollingUpdate' or 'OnDelete'";
            errors.push(FieldError::showing(Cause::Invalid, strategy.name(), &shown(strategy), detail));
        }
    }
}

/// Everything in a StatefulSet's spec but these fields is fixed.
fn fixed_parts(object: &Value, old: Option<&Value>, errors: &mut Errors) {
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
