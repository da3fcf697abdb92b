//! Validation of built-in kinds: required fields that charts get wrong, and what may not change.
//!
//! Source: Kubernetes 1.34.3, `pkg/apis/*/validation` and the strategies in `pkg/registry`.

use serde_json::Value;

use super::super::discovery::Target;
use crate::k8s::At as _;
use crate::schema::FieldError;

mod aggregation;
mod asked;
mod autoscaling;
mod classes;
mod configuration;
mod definitions;
mod disruption;
mod ingresses;
mod place;
mod pods;
mod policies;
mod quotas;
mod rbac;
mod required;
mod services;
mod storage;
mod webhooks;
mod workloads;

use place::Errors;
pub(super) use services::asked_addresses;

/// What is wrong with a new state of a built-in object.
pub(super) fn validate(target: &Target, object: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let kind = target.kind.as_str();
    match (target.group.as_str(), kind) {
        ("", _) => core(kind, object, old, &mut errors),
        (
            "admissionregistration.k8s.io",
            "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration",
        ) => {
            webhooks::configuration(object, old, target.minor(), &mut errors);
        }
        ("apiextensions.k8s.io", _) => definitions::definition(object, old, &mut errors),
        ("apiregistration.k8s.io", _) => aggregation::service(object, &mut errors),
        ("apps" | "batch", _) => workloads::validate(kind, object, old, &mut errors),
        ("autoscaling", _) => autoscaling::autoscaler(object, old, &mut errors),
        ("discovery.k8s.io", "EndpointSlice") => {
            immutable(object, old, "/addressType", "addressType", &mut errors);
        }
        ("networking.k8s.io", "Ingress") => ingresses::ingress(object, old, &mut errors),
        ("networking.k8s.io", "IngressClass") => ingresses::class(object, old, &mut errors),
        ("networking.k8s.io", "NetworkPolicy") => policies::policy(object, old, &mut errors),
        ("node.k8s.io", "RuntimeClass") => classes::runtime(object, old, &mut errors),
        ("policy", "PodDisruptionBudget") => disruption::budget(object, old, &mut errors),
        ("rbac.authorization.k8s.io", _) => roles(kind, object, old, &mut errors),
        ("scheduling.k8s.io", "PriorityClass") => classes::priority(object, old, &mut errors),
        ("storage.k8s.io", "CSIDriver") => {
            immutable(object, old, "/spec/attachRequired", "spec.attachRequired", &mut errors);
        }
        ("storage.k8s.io", "StorageClass") => storage::class(object, old, &mut errors),
        _ => {}
    }
    required::fields(target, object, &mut errors);
    errors
}

fn core(kind: &str, object: &Value, old: Option<&Value>, errors: &mut Errors) {
    match kind {
        "ConfigMap" => configuration::config_map(object, old, errors),
        "LimitRange" => quotas::limit_range(object, errors),
        "PersistentVolume" => storage::volume(object, old, errors),
        "PersistentVolumeClaim" => storage::claim(object, old, errors),
        "Pod" => pods::pod(object, old, errors),
        "ResourceQuota" => quotas::quota(object, old, errors),
        "Secret" => configuration::secret(object, old, errors),
        "Service" => services::service(object, old, errors),
        _ => {}
    }
}

fn roles(kind: &str, object: &Value, old: Option<&Value>, errors: &mut Errors) {
    match kind {
        "ClusterRole" => rbac::cluster_role(object, old, errors),
        "ClusterRoleBinding" => rbac::binding(object, old, false, errors),
        "Role" => rbac::role(object, errors),
        "RoleBinding" => rbac::binding(object, old, true, errors),
        _ => {}
    }
}

/// Refuses a change of a field, showing its new value.
fn immutable(object: &Value, old: Option<&Value>, pointer: &str, field: &str, errors: &mut Vec<FieldError>) {
    let Some(old) = old else { return };
    let value = object.at(pointer);
    if value != old.at(pointer) {
        errors.push(FieldError::invalid(field, value.unwrap_or(&Value::Null), "field is immutable"));
    }
}
