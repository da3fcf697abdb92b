//! Defaults of pods and pod templates.

use serde_json::{Value, json};

use super::{each, part, set};
use crate::k8s::At as _;
use crate::k8s::text;

/// A pod: what a template has, and what only pods get.
pub(super) fn pod(object: &mut Value) {
    let spec = object.get_mut("spec");
    set(spec, "enableServiceLinks", json!(true));
    for container in each(object, "/spec/containers") {
        requests_from_limits(container);
    }
    for container in each(object, "/spec/initContainers") {
        requests_from_limits(container);
    }
    template(Some(object));
}

fn requests_from_limits(container: &mut Value) {
    let Some(Value::Object(limits)) = container.at("/resources/limits").cloned() else { return };
    if let Some(requests) = container.get_mut("resources").and_then(|r| part(r, "requests")) {
        for (name, limit) in limits {
            requests.entry(name).or_insert(limit);
        }
    }
}

/// A pod template, or anything else with a pod's `spec`.
pub(super) fn template(template: Option<&mut Value>) {
    let Some(spec) = template.and_then(|t| t.get_mut("spec")).filter(|s| s.is_object()) else { return };
    for (field, value) in [
        ("restartPolicy", json!("Always")),
        ("terminationGracePeriodSeconds", json!(30)),
        ("dnsPolicy", json!("ClusterFirst")),
        ("securityContext", json!({})),
        ("schedulerName", json!("default-scheduler")),
    ] {
        set(Some(spec), field, value);
    }
    let account = text(spec, "/serviceAccountName").to_owned();
    if !account.is_empty() {
        spec["serviceAccount"] = json!(account);
    } else if let Some(old) = spec.get("serviceAccount").cloned() {
        set(Some(spec), "serviceAccountName", old);
    }
    let host_network = spec.get("hostNetwork") == Some(&json!(true));
    for list in ["/containers", "/initContainers"] {
        for item in each(spec, list) {
            container(item, host_network);
        }
    }
    each(spec, "/volumes").for_each(volume);
    for constraint in each(spec, "/topologySpreadConstraints") {
        set(Some(constraint), "maxSkew", json!(1));
    }
}

fn container(container: &mut Value, host_network: bool) {
    let policy = if pulls_always(text(container, "/image")) { "Always" } else { "IfNotPresent" };
    set(Some(container), "imagePullPolicy", json!(policy));
    set(Some(container), "terminationMessagePath", json!("/dev/termination-log"));
    set(Some(container), "terminationMessagePolicy", json!("File"));
    for port in each(container, "/ports") {
        set(Some(port), "protocol", json!("TCP"));
        if host_network && let Some(number) = port.get("containerPort").cloned() {
            set(Some(port), "hostPort", number);
        }
    }
    for variable in each(container, "/env") {
        set(variable.pointer_mut("/valueFrom/fieldRef"), "apiVersion", json!("v1"));
    }
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(probe) = container.get_mut(name).filter(|p| p.is_object()) {
            probe_defaults(probe);
        }
    }
    for name in ["/lifecycle/postStart/httpGet", "/lifecycle/preStop/httpGet"] {
        http_get(container.pointer_mut(name));
    }
}

/// Whether an image has the tag `latest`, given or implied.
fn pulls_always(image: &str) -> bool {
    let last = image.rsplit('/').next().unwrap_or("");
    if last.contains('@') {
        return false;
    }
    last.split_once(':').is_none_or(|(_, tag)| tag == "latest")
}

fn probe_defaults(probe: &mut Value) {
    http_get(probe.get_mut("httpGet"));
    set(probe.get_mut("grpc"), "service", json!(""));
    for (field, value) in
        [("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3)]
    {
        set(Some(probe), field, json!(value));
    }
}

fn http_get(action: Option<&mut Value>) {
    if let Some(action) = action {
        set(Some(action), "path", json!("/"));
        set(Some(action), "scheme", json!("HTTP"));
    }
}

fn volume(volume: &mut Value) {
    for source in ["secret", "configMap", "projected", "downwardAPI"] {
        set(volume.get_mut(source), "defaultMode", json!(420));
    }
    for item in each(volume, "/downwardAPI/items") {
        set(item.get_mut("fieldRef"), "apiVersion", json!("v1"));
    }
    for source in each(volume, "/projected/sources") {
        set(source.get_mut("serviceAccountToken"), "expirationSeconds", json!(3600));
        for item in each(source, "/downwardAPI/items") {
            set(item.get_mut("fieldRef"), "apiVersion", json!("v1"));
        }
    }
    set(volume.get_mut("hostPath"), "type", json!(""));
    set(volume.pointer_mut("/ephemeral/volumeClaimTemplate/spec"), "volumeMode", json!("Filesystem"));
    if volume.as_object().is_some_and(|v| v.len() == 1 && v.contains_key("name")) {
        volume["emptyDir"] = json!({});
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pull_policy_follows_the_tag() {
        for (image, always) in [
            ("nginx", true),
            ("nginx:latest", true),
            ("nginx:1.2", false),
            ("registry.local:5000/nginx", true),
            ("registry.local:5000/nginx:1", false),
            ("nginx@sha256:00", false),
        ] {
            assert_eq!(pulls_always(image), always, "{image}");
        }
    }
}
