//! Defaults of workloads: Deployments and their like, Jobs, autoscalers.

use serde_json::{Value, json};

use super::{each, part, pods, set};
use crate::k8s::At as _;
use crate::k8s::text;

pub(super) fn defaults(kind: &str, object: &mut Value, old: Option<&Value>) {
    match kind {
        "CronJob" => cron_job(object),
        "ControllerRevision" => {}
        "Job" => {
            let shared = labels_from_template(object);
            pods::template(object.pointer_mut("/spec/template"));
            job(object, old);
            // A Job without labels of its own has those of its template, with what is added to them.
            if shared && let Some(labels) = object.at("/spec/template/metadata/labels").cloned() {
                object["metadata"]["labels"] = labels;
            }
        }
        _ => {
            pods::template(object.pointer_mut("/spec/template"));
            replicated(kind, object, old);
        }
    }
}

fn replicated(kind: &str, object: &mut Value, old: Option<&Value>) {
    let Some(spec) = object.get_mut("spec") else { return };
    if kind != "DaemonSet" {
        set(Some(spec), "replicas", json!(1));
    }
    match kind {
        "Deployment" => {
            set(Some(spec), "revisionHistoryLimit", json!(10));
            set(Some(spec), "progressDeadlineSeconds", json!(600));
            rolling(spec, "strategy", &json!({ "maxUnavailable": "25%", "maxSurge": "25%" }));
        }
        "StatefulSet" => stateful(spec),
        "DaemonSet" => {
            set(Some(spec), "revisionHistoryLimit", json!(10));
            rolling(spec, "updateStrategy", &json!({ "maxUnavailable": 1, "maxSurge": 0 }));
            template_generation(object, old);
        }
        _ => {
            labels_from_template(object);
        }
    }
}

fn stateful(spec: &mut Value) {
    set(Some(spec), "podManagementPolicy", json!("OrderedReady"));
    set(Some(spec), "revisionHistoryLimit", json!(10));
    rolling(spec, "updateStrategy", &json!({ "partition": 0 }));
    set(Some(spec), "persistentVolumeClaimRetentionPolicy", json!({}));
    let policy = spec.get_mut("persistentVolumeClaimRetentionPolicy");
    if let Some(policy) = policy {
        set(Some(policy), "whenDeleted", json!("Retain"));
        set(Some(policy), "whenScaled", json!("Retain"));
    }
    for claim in each(spec, "/volumeClaimTemplates") {
        set(Some(claim), "apiVersion", json!("v1"));
        set(Some(claim), "kind", json!("PersistentVolumeClaim"));
        set(claim.get_mut("spec"), "volumeMode", json!("Filesystem"));
        claim["status"] = json!({ "phase": "Pending" });
    }
}

fn rolling(spec: &mut Value, field: &str, parameters: &Value) {
    let Some(strategy) = part(spec, field) else { return };
    let kind = strategy.entry("type").or_insert_with(|| json!("RollingUpdate"));
    if kind != "RollingUpdate" {
        return;
    }
    let rolling = strategy.entry("rollingUpdate").or_insert_with(|| json!({}));
    for (name, value) in parameters.as_object().into_iter().flatten() {
        set(Some(rolling), name, value.clone());
    }
}

/// The annotation in which a DaemonSet counts the generations of its template.
fn template_generation(object: &mut Value, old: Option<&Value>) {
    const KEY: &str = "deprecated.daemonset.template.generation";
    let generation = match old {
        None => 1,
        Some(old) => {
            let before = crate::k8s::annotation(old, KEY).and_then(|g| g.parse::<i64>().ok()).unwrap_or(1);
            before + i64::from(old.at("/spec/template") != object.at("/spec/template"))
        }
    };
    if let Some(annotations) = object.get_mut("metadata").and_then(|m| part(m, "annotations")) {
        annotations.insert(KEY.to_owned(), json!(generation.to_string()));
    }
}

/// Gives an object without labels those of its template; whether it did.
fn labels_from_template(object: &mut Value) -> bool {
    let Some(labels) = object.at("/spec/template/metadata/labels").cloned() else { return false };
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return false };
    let bare = metadata.get("labels").and_then(Value::as_object).is_none_or(serde_json::Map::is_empty);
    if bare {
        metadata.insert("labels".to_owned(), labels);
    }
    bare
}

fn job_spec(spec: &mut Value) {
    if spec.get("completions").is_none() && spec.get("parallelism").is_none() {
        set(Some(spec), "completions", json!(1));
    }
    set(Some(spec), "parallelism", json!(1));
    let per_index = spec.get("backoffLimitPerIndex").is_some();
    set(Some(spec), "backoffLimit", if per_index { json!(i32::MAX) } else { json!(6) });
    set(Some(spec), "completionMode", json!("NonIndexed"));
    set(Some(spec), "suspend", json!(false));
    let policy = if spec.get("podFailurePolicy").is_some() { "Failed" } else { "TerminatingOrFailed" };
    set(Some(spec), "podReplacementPolicy", json!(policy));
    for rule in each(spec, "/podFailurePolicy/rules") {
        for pattern in each(rule, "/onPodConditions") {
            set(Some(pattern), "status", json!("True"));
        }
    }
}

/// A Job finds its pods by its own UID, unless its selector is managed by hand.
fn job(object: &mut Value, old: Option<&Value>) {
    let (uid, name) = (text(object, "/metadata/uid").to_owned(), text(object, "/metadata/name").to_owned());
    let Some(spec) = object.get_mut("spec").filter(|s| s.is_object()) else { return };
    job_spec(spec);
    if spec.get("manualSelector") == Some(&json!(true)) || uid.is_empty() {
        return;
    }
    if let Some(old) = old {
        if let Some(selector) = old.at("/spec/selector") {
            set(Some(spec), "selector", selector.clone());
        }
        return;
    }
    let metadata =
        part(spec, "template").and_then(|t| t.entry("metadata").or_insert_with(|| json!({})).as_object_mut());
    let labels = metadata.and_then(|m| m.entry("labels").or_insert_with(|| json!({})).as_object_mut());
    if let Some(labels) = labels {
        for (key, value) in [
            ("batch.kubernetes.io/controller-uid", &uid),
            ("batch.kubernetes.io/job-name", &name),
            ("controller-uid", &uid),
            ("job-name", &name),
        ] {
            labels.insert(key.to_owned(), json!(value));
        }
    }
    set(Some(spec), "selector", json!({ "matchLabels": { "batch.kubernetes.io/controller-uid": uid } }));
}

fn cron_job(object: &mut Value) {
    pods::template(object.pointer_mut("/spec/jobTemplate/spec/template"));
    let Some(spec) = object.get_mut("spec") else { return };
    set(Some(spec), "concurrencyPolicy", json!("Allow"));
    set(Some(spec), "suspend", json!(false));
    set(Some(spec), "successfulJobsHistoryLimit", json!(3));
    set(Some(spec), "failedJobsHistoryLimit", json!(1));
}

pub(super) fn autoscaler(object: &mut Value, version: &str) {
    let Some(spec) = object.get_mut("spec") else { return };
    set(Some(spec), "minReplicas", json!(1));
    if version == "v1" {
        set(Some(spec), "targetCPUUtilizationPercentage", json!(80));
        return;
    }
    let cpu = json!({ "name": "cpu", "target": { "type": "Utilization", "averageUtilization": 80 } });
    set(Some(spec), "metrics", json!([{ "type": "Resource", "resource": cpu }]));
    for (direction, policies) in [
        (
            "scaleUp",
            json!([
                { "type": "Pods", "value": 4, "periodSeconds": 15 }, { "type": "Percent", "value": 100, "periodSeconds": 15 },
            ]),
        ),
        ("scaleDown", json!([{ "type": "Percent", "value": 100, "periodSeconds": 15 }])),
    ] {
        if let Some(behavior) = spec.get_mut("behavior") {
            let Some(rules) = part(behavior, direction) else { continue };
            rules.entry("selectPolicy").or_insert_with(|| json!("Max"));
            rules.entry("policies").or_insert(policies);
            if direction == "scaleUp" {
                rules.entry("stabilizationWindowSeconds").or_insert_with(|| json!(0));
            }
        }
    }
}
