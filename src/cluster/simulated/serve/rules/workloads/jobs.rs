//! Jobs and CronJobs.
//!
//! Source: Kubernetes 1.34.3, `pkg/apis/batch/validation/validation.go`.

use serde_json::{Value, json};

use super::super::place::{Errors, Place};
use super::super::{immutable, pods};
use super::schedule;
use crate::k8s::At as _;
use crate::k8s::selector::Selector;
use crate::schema::{Cause, FieldError};

pub(super) fn job(object: &Value, old: Option<&Value>, errors: &mut Errors) {
    let spec = Place::top(object.get("spec"), "spec");
    if !spec.field("manualSelector").is_true() {
        generated(object, &spec, errors);
    }
    job_spec(object, "/spec", &spec, errors);
    let selector = spec.field("selector");
    match selector.is_set() {
        true => selector.selector(errors),
        false => selector.required("", errors),
    }
    let labels = object.at("/spec/template/metadata/labels");
    let found = object.at("/spec/selector");
    if found.is_none() || !Selector::of(found).matches(labels) {
        let shown = labels.unwrap_or(&Value::Null);
        let field = "spec.template.metadata.labels";
        errors.push(FieldError::invalid(field, shown, "`selector` does not match template `labels`"));
    }
    kept(object, old, errors);
}

/// A selector that was given by hand without saying so.
fn generated(object: &Value, spec: &Place<'_>, errors: &mut Errors) {
    let selector = spec.field("selector");
    let (uid, name) = (object.at("/metadata/uid"), object.at("/metadata/name"));
    let own = json!({
        "controller-uid": uid, "batch.kubernetes.io/controller-uid": uid,
        "job-name": name, "batch.kubernetes.io/job-name": name,
    });
    if selector.is_set() && !Selector::of(Some(selector.value)).matches(Some(&own)) {
        selector.invalid("`selector` not auto-generated", errors);
    }
}

/// What may not change in a Job.
fn kept(object: &Value, old: Option<&Value>, errors: &mut Errors) {
    let suspended = old.is_some_and(|old| {
        old.at("/spec/suspend") == Some(&json!(true)) && old.at("/status/startTime").is_none()
    });
    let elastic = crate::k8s::text(object, "/spec/completionMode") == "Indexed"
        && object.at("/spec/completions") == object.at("/spec/parallelism");
    if !elastic {
        immutable(object, old, "/spec/completions", "spec.completions", errors);
    }
    immutable(object, old, "/spec/selector", "spec.selector", errors);
    kept_template(object, old, suspended, errors);
    for field in ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"]
    {
        immutable(object, old, &format!("/spec/{field}"), &format!("spec.{field}"), errors);
    }
}

/// A Job's template is fixed; while it is suspended and was never started its scheduling may change.
fn kept_template(object: &Value, old: Option<&Value>, suspended: bool, errors: &mut Errors) {
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

/// The spec of a Job, here or in a template.
fn job_spec(object: &Value, pointer: &str, spec: &Place<'_>, errors: &mut Errors) {
    for field in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ] {
        spec.field(field).not_negative(errors);
    }
    let (per_index, failed) = (spec.field("backoffLimitPerIndex"), spec.field("maxFailedIndexes"));
    if failed.is_set() && !per_index.is_set() {
        per_index.required("when maxFailedIndexes is specified", errors);
    }
    manager(&spec.field("managedBy"), errors);
    completion(spec, errors);
    policies(spec, errors);
    spec.field("podReplacementPolicy").one_of(&["Failed", "TerminatingOrFailed"], errors);
    pods::template(object, &format!("{pointer}/template"), &spec.field("template").name(), errors);
    restarts(spec, errors);
}

/// Source: apimachinery, `pkg/util/validation/validation.go`, `IsDomainPrefixedPath`.
fn manager(place: &Place<'_>, errors: &mut Errors) {
    let is_path = |(domain, path): (&str, &str)| !domain.is_empty() && !path.is_empty();
    if place.is_set() && !place.text().split_once('/').is_some_and(is_path) {
        place.invalid("must be a domain-prefixed path (such as \"acme.io/foo\")", errors);
    }
}

fn completion(spec: &Place<'_>, errors: &mut Errors) {
    let mode = spec.field("completionMode");
    mode.one_of(&["NonIndexed", "Indexed"], errors);
    match mode.text() {
        "Indexed" => {
            let (completions, failed) = (spec.field("completions"), spec.field("maxFailedIndexes"));
            if !completions.is_set() {
                completions.required("when completion mode is Indexed", errors);
            }
            let most = completions.number().unwrap_or(i64::MAX);
            if failed.number().is_some_and(|failed| failed > most) {
                failed.invalid("must be less than or equal to completions", errors);
            }
        }
        "" | "NonIndexed" => {
            for field in ["backoffLimitPerIndex", "maxFailedIndexes"] {
                let field = spec.field(field);
                if field.is_set() {
                    field.invalid("requires indexed completion mode", errors);
                }
            }
        }
        _ => {}
    }
}

fn policies(spec: &Place<'_>, errors: &mut Errors) {
    let rules = spec.field("podFailurePolicy");
    let rules = rules.field("rules");
    rules.items().for_each(|rule| failure_rule(spec, &rule, errors));
    let success = spec.field("successPolicy");
    if !success.is_set() {
        return;
    }
    if spec.field("completionMode").text() != "Indexed" {
        let detail = "requires indexed completion mode";
        errors.push(FieldError::showing(Cause::Invalid, success.name(), &in_go(&success), detail));
    } else if success.field("rules").is_empty() {
        let detail = "at least one rules must be specified when the successPolicy is specified";
        success.field("rules").required(detail, errors);
    }
}

/// A success policy as the server's own type shows it.
fn in_go(policy: &Place<'_>) -> String {
    let rules = policy.field("rules");
    let shown = rules.items().map(|rule| {
        let of = |field| rule.field(field).value.to_string();
        format!(
            r#"{{"SucceededIndexes":{},"SucceededCount":{}}}"#,
            of("succeededIndexes"),
            of("succeededCount")
        )
    });
    format!(r#"{{"Rules":[{}]}}"#, shown.collect::<Vec<_>>().join(","))
}

fn failure_rule(spec: &Place<'_>, rule: &Place<'_>, errors: &mut Errors) {
    let action = rule.field("action");
    match action.text() {
        "" => action.required(r#"valid values: ["Count" "FailIndex" "FailJob" "Ignore"]"#, errors),
        "FailIndex" if !spec.field("backoffLimitPerIndex").is_set() => {
            action.invalid("requires the backoffLimitPerIndex to be set", errors);
        }
        _ => action.one_of(&["Count", "FailIndex", "FailJob", "Ignore"], errors),
    }
    let (codes, conditions) = (rule.field("onExitCodes"), rule.field("onPodConditions"));
    if codes.is_set() {
        exit_codes(&codes, errors);
    }
    let detail = match (codes.is_set(), !conditions.is_empty()) {
        (true, true) => "specifying both OnExitCodes and OnPodConditions is not supported",
        (false, false) => "specifying one of OnExitCodes and OnPodConditions is required",
        _ => return,
    };
    errors.push(FieldError::bare(Cause::Invalid, rule.name(), detail));
}

fn exit_codes(codes: &Place<'_>, errors: &mut Errors) {
    let operator = codes.field("operator");
    match operator.text() {
        "" => operator.required(r#"valid values: ["In" "NotIn"]"#, errors),
        _ => operator.one_of(&["In", "NotIn"], errors),
    }
    let values = codes.field("values");
    if values.is_empty() {
        values.invalid("at least one value is required", errors);
    }
    let mut seen: Vec<i64> = Vec::new();
    for value in values.items() {
        let number = value.number().unwrap_or(0);
        if operator.text() == "In" && number == 0 {
            value.invalid("must not be 0 for the In operator", errors);
        }
        if seen.contains(&number) {
            value.duplicate(errors);
        }
        seen.push(number);
    }
    if !seen.is_sorted() {
        values.invalid("must be ordered", errors);
    }
}

fn restarts(spec: &Place<'_>, errors: &mut Errors) {
    let template = spec.field("template");
    let pod = template.field("spec");
    let policy = pod.field("restartPolicy");
    match policy.text() {
        "" | "Always" => policy.required(r#"valid values: "OnFailure", "Never""#, errors),
        "OnFailure" if spec.field("podFailurePolicy").is_set() => {
            policy.invalid("only \"Never\" is supported when podFailurePolicy is specified", errors);
        }
        _ => policy.one_of(&["OnFailure", "Never"], errors),
    }
}

pub(super) fn cron_job(object: &Value, old: Option<&Value>, errors: &mut Errors) {
    let spec = Place::top(object.get("spec"), "spec");
    when(&spec, old, errors);
    spec.field("startingDeadlineSeconds").not_negative(errors);
    let zone = spec.field("timeZone");
    if old.is_none_or(|old| old.at("/spec/timeZone") != Some(zone.value)) {
        schedule::zone(&zone, errors);
    }
    spec.field("concurrencyPolicy").one_of(&["Allow", "Forbid", "Replace"], errors);
    let template = spec.field("jobTemplate");
    let job = template.field("spec");
    job_spec(object, "/spec/jobTemplate/spec", &job, errors);
    let selector = job.field("selector");
    if selector.is_set() {
        selector.invalid("`selector` will be auto-generated", errors);
    }
    if job.field("manualSelector").is_true() {
        let supported = ["nil", "false"].map(str::to_owned);
        errors.push(FieldError::not_supported(job.field("manualSelector").name(), &json!(true), &supported));
    }
    spec.field("successfulJobsHistoryLimit").not_negative(errors);
    spec.field("failedJobsHistoryLimit").not_negative(errors);
    let name = crate::k8s::text(object, "/metadata/name");
    if old.is_none() && name.len() > 52 {
        let detail = "must be no more than 52 characters";
        errors.push(FieldError::invalid("metadata.name", &json!(name), detail));
    }
}

fn when(spec: &Place<'_>, old: Option<&Value>, errors: &mut Errors) {
    let schedule = spec.field("schedule");
    if schedule.is_empty() {
        return schedule.required("", errors);
    }
    if let Err(fault) = schedule::parse(schedule.text()) {
        schedule.invalid(&fault, errors);
    }
    // A zone in the schedule stays allowed where it stands already.
    let before = old.is_some_and(|old| crate::k8s::text(old, "/spec/schedule").contains("TZ"));
    match (schedule.text().contains("TZ"), before) {
        (true, false) => {
            schedule.invalid("cannot use TZ or CRON_TZ in schedule, use timeZone field instead", errors);
        }
        (true, true) if spec.field("timeZone").is_set() => {
            schedule.invalid("cannot use both timeZone field and TZ or CRON_TZ in schedule", errors);
        }
        _ => {}
    }
}
