//! Pods and pod templates: what their parts have to be, and what may change in a pod.
//!
//! Source: Kubernetes 1.34.3, `pkg/apis/core/validation/validation.go`, `ValidatePodSpec` and `ValidatePodTemplateSpec`; errors come
//! in its order. Windows, user namespaces and volume types that are hardly used any more are not looked into.

use serde_json::Value;

use super::place::{Errors, Place};
use crate::k8s::At as _;
use crate::k8s::names;
use crate::schema::FieldError;

mod containers;
mod environment;
mod probes;
mod resources;
mod scheduling;
mod security;
mod volumes;

pub(super) use scheduling::tolerations;

/// The template at a pointer, which the server calls `field`.
pub(super) fn template(object: &Value, pointer: &str, field: &str, errors: &mut Errors) {
    let template = Place::top(object.at(pointer), field);
    let metadata = template.field("metadata");
    let of = |field| metadata.value.get(field);
    let labels = format!("{field}.labels");
    Place::top(of("labels"), &labels).labels(errors);
    let annotations = format!("{field}.annotations");
    for key in of("annotations").and_then(Value::as_object).into_iter().flat_map(|map| map.keys()) {
        for fault in names::qualified_name_faults(&key.to_lowercase()) {
            errors.push(FieldError::invalid(&annotations, &Value::from(key.as_str()), &fault));
        }
    }
    spec(&template.field("spec"), Kind::Template, errors);
    let ephemeral = template.field("spec");
    let ephemeral = ephemeral.field("ephemeralContainers");
    if !ephemeral.is_empty() {
        ephemeral.forbidden("ephemeral containers not allowed in pod template", errors);
    }
}

/// What a spec belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pod,
    Template,
}

fn spec(spec: &Place<'_>, kind: Kind, errors: &mut Errors) {
    let volumes = volumes::volumes(&spec.field("volumes"), errors);
    let surroundings = containers::Surroundings::new(spec, volumes);
    containers::containers(spec, &surroundings, errors);
    containers::host_network(spec, kind == Kind::Pod, errors);
    spec.field("restartPolicy").one_of(&["Always", "OnFailure", "Never"], errors);
    let policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    spec.field("dnsPolicy").one_of(&policies, errors);
    spec.field("nodeSelector").labels(errors);
    security::of_pod(spec, errors);
    scheduling::affinity(&spec.field("affinity"), errors);
    dns(spec, errors);
    gates(spec, errors);
    scheduling::spread(&spec.field("topologySpreadConstraints"), errors);
    identity(spec, errors);
    scheduling::tolerations(&spec.field("tolerations"), errors);
    aliases(&spec.field("hostAliases"), errors);
    for field in ["priorityClassName", "runtimeClassName"] {
        spec.field(field).named_if_any(names::subdomain_faults, errors);
    }
    spec.field("preemptionPolicy").one_of(&["PreemptLowerPriority", "Never"], errors);
    let os = spec.field("os");
    Place::top(os.value.get("name"), &os.name()).one_of(&["linux", "windows"], errors);
}

/// Names that a pod has or goes by.
fn identity(spec: &Place<'_>, errors: &mut Errors) {
    for field in ["serviceAccountName", "nodeName"] {
        spec.field(field).named_if_any(names::subdomain_faults, errors);
    }
    let deadline = spec.field("activeDeadlineSeconds");
    if deadline.number().is_some_and(|seconds| !(1..=i64::from(i32::MAX)).contains(&seconds)) {
        deadline.invalid("must be between 1 and 2147483647, inclusive", errors);
    }
    for field in ["hostname", "subdomain"] {
        spec.field(field).named_if_any(names::label_faults, errors);
    }
}

fn dns(spec: &Place<'_>, errors: &mut Errors) {
    let config = spec.field("dnsConfig");
    let servers = config.field("nameservers");
    if spec.field("dnsPolicy").text() == "None" {
        if !config.is_set() {
            return config.required("must provide `dnsConfig` when `dnsPolicy` is None", errors);
        }
        if servers.is_empty() {
            let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            return servers.required(detail, errors);
        }
    }
    if servers.items().count() > 3 {
        servers.invalid("must not have more than 3 nameservers", errors);
    }
    servers.items().for_each(|server| server.address(errors));
    let options = config.field("options");
    for option in options.items().filter(|option| option.field("name").is_empty()) {
        option.required("must not be empty", errors);
    }
}

fn gates(spec: &Place<'_>, errors: &mut Errors) {
    let readiness = spec.field("readinessGates");
    for gate in readiness.items() {
        gate.field("conditionType").named(names::qualified_name_faults, errors);
    }
    let scheduling = spec.field("schedulingGates");
    let mut seen = Vec::new();
    for gate in scheduling.items() {
        let name = gate.value.get("name").and_then(Value::as_str).unwrap_or_default();
        let shown = Value::from(name);
        let place = gate.name();
        let place = Place::top(Some(&shown), &place);
        place.named(names::qualified_name_faults, errors);
        if seen.contains(&name) {
            place.duplicate(errors);
        }
        seen.push(name);
    }
}

fn aliases(aliases: &Place<'_>, errors: &mut Errors) {
    for alias in aliases.items() {
        alias.field("ip").address(errors);
        let names = alias.field("hostnames");
        names.items().for_each(|name| name.named(names::subdomain_faults, errors));
    }
}

/// A pod: in its spec only images, the deadline, tolerations and the grace period may change.
pub(super) fn pod(object: &Value, old: Option<&Value>, errors: &mut Errors) {
    spec(&Place::top(object.get("spec"), "spec"), Kind::Pod, errors);
    let Some(old) = old else { return };
    if fixed(object) != fixed(old) {
        let detail = "pod updates may not change fields other than `spec.containers[*].image`,\
                      `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to \
                      existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was \
                      previously negative)";
        errors.push(FieldError::forbidden("spec", detail));
    }
}

/// What of a pod's spec never changes.
fn fixed(pod: &Value) -> Value {
    let mut spec = pod.get("spec").cloned().unwrap_or_default();
    for list in ["containers", "initContainers"] {
        for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(container) = container.as_object_mut() {
                container.remove("image");
            }
        }
    }
    if let Some(spec) = spec.as_object_mut() {
        for open in
            ["activeDeadlineSeconds", "terminationGracePeriodSeconds", "tolerations", "schedulingGates"]
        {
            spec.remove(open);
        }
    }
    spec
}
