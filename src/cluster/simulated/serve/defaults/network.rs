//! Defaults of Services and network policies; cluster IPs and node ports.

use serde_json::{Value, json};

use super::{each, set};
use crate::k8s::At as _;
use crate::k8s::text;

/// A Service; addresses are kept on updates and drawn from the UID on creation, so that rehearsals repeat.
pub(super) fn service(object: &mut Value, old: Option<&Value>) {
    let uid = text(object, "/metadata/uid").to_owned();
    let Some(spec) = object.get_mut("spec").filter(|s| s.is_object()) else { return };
    if let Some(before) = old.and_then(|old| old.get("spec")) {
        drop_unused(spec, before);
    }
    set(Some(spec), "sessionAffinity", json!("None"));
    set(Some(spec), "type", json!("ClusterIP"));
    affinity(spec);
    let kind = text(spec, "/type").to_owned();
    for port in each(spec, "/ports") {
        set(Some(port), "protocol", json!("TCP"));
        if let Some(number) = port.get("port").cloned()
            && port.get("targetPort").is_none_or(|target| *target == json!(0) || *target == json!(""))
        {
            port["targetPort"] = number;
        }
    }
    if kind == "ExternalName" {
        // No such Service is taken; what is said names the list.
        let address = text(spec, "/clusterIP").to_owned();
        if !address.is_empty() {
            set(Some(spec), "clusterIPs", json!([address]));
        }
        return;
    }
    if kind == "ClusterIP"
        && spec.get("externalIPs").and_then(Value::as_array).is_some_and(|all| !all.is_empty())
    {
        set(Some(spec), "externalTrafficPolicy", json!("Cluster"));
    }
    set(Some(spec), "internalTrafficPolicy", json!("Cluster"));
    if matches!(kind.as_str(), "NodePort" | "LoadBalancer") {
        set(Some(spec), "externalTrafficPolicy", json!("Cluster"));
        node_ports(spec, old, &uid);
    }
    if kind == "LoadBalancer" {
        set(Some(spec), "allocateLoadBalancerNodePorts", json!(true));
    }
    addresses(spec, old, &uid);
}

/// For how long clients stay with a pod; nobody asks where they don't.
fn affinity(spec: &mut Value) {
    const CONFIG: &str = "sessionAffinityConfig";
    let seconds = spec.at("/sessionAffinityConfig/clientIP/timeoutSeconds").is_some();
    match text(spec, "/sessionAffinity") {
        "ClientIP" if !seconds => spec[CONFIG] = json!({ "clientIP": { "timeoutSeconds": 10_800 } }),
        "None" => drop(spec.as_object_mut().and_then(|spec| spec.remove(CONFIG))),
        _ => {}
    }
}

/// What does not go with the new type, and was not changed, goes.
///
/// Source: `pkg/registry/core/service/strategy.go`, `dropTypeDependentFields`.
fn drop_unused(spec: &mut Value, old: &Value) {
    const DEFAULT: &str = "ClusterIP";
    let kind = |spec: &Value| spec.get("type").and_then(Value::as_str).unwrap_or(DEFAULT).to_owned();
    let (new_kind, old_kind) = (kind(spec), kind(old));
    let on_nodes = |kind: &str| matches!(kind, "NodePort" | "LoadBalancer");
    let mut gone: Vec<&str> = Vec::new();
    if old_kind != "ExternalName" && new_kind == "ExternalName" {
        gone.extend(["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"]);
    }
    if old_kind == "LoadBalancer" && new_kind != "LoadBalancer" {
        gone.extend(["allocateLoadBalancerNodePorts", "loadBalancerClass", "healthCheckNodePort"]);
    }
    if on_nodes(&old_kind) && !on_nodes(&new_kind) {
        gone.push("externalTrafficPolicy");
        let ports = |spec: &Value| -> Vec<Option<Value>> {
            crate::k8s::items(spec, "/ports").map(|port| port.get("nodePort").cloned()).collect()
        };
        if ports(spec) == ports(old) {
            each(spec, "/ports")
                .for_each(|port| drop(port.as_object_mut().and_then(|port| port.remove("nodePort"))));
        }
    }
    let Some(spec) = spec.as_object_mut() else { return };
    spec.retain(|field, value| !gone.contains(&field.as_str()) || old.get(field) != Some(value));
}

/// An address that is changed in its old field alone is changed in the list too.
///
/// Source: `pkg/registry/core/service/storage/storage.go`, `normalizeClusterIPs`.
fn follow(spec: &mut Value, before: &Value) {
    let address = text(spec, "/clusterIP").to_owned();
    let is_changed = !address.is_empty() && address != text(before, "/clusterIP");
    let unchanged = spec.get("clusterIPs") == before.get("clusterIPs");
    if let Some(first) = spec.pointer_mut("/clusterIPs/0").filter(|_| is_changed && unchanged) {
        *first = json!(address);
    }
}

fn addresses(spec: &mut Value, old: Option<&Value>, uid: &str) {
    if let Some(before) = old.and_then(|old| old.get("spec")) {
        follow(spec, before);
    }
    for field in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        if let Some(before) = old.and_then(|o| o.at("/spec")?.get(field)) {
            set(Some(spec), field, before.clone());
        }
    }
    let seed = seed(uid);
    let address = format!("10.96.{}.{}", 1 + (seed >> 8) % 250, 1 + seed % 250);
    set(Some(spec), "clusterIP", json!(address));
    let address = text(spec, "/clusterIP").to_owned();
    set(Some(spec), "clusterIPs", json!([address]));
    let family = if address.contains(':') { "IPv6" } else { "IPv4" };
    set(Some(spec), "ipFamilies", json!([family]));
    set(Some(spec), "ipFamilyPolicy", json!("SingleStack"));
}

fn node_ports(spec: &mut Value, old: Option<&Value>, uid: &str) {
    let before = old.and_then(|o| o.at("/spec/ports")?.as_array());
    for (at, port) in each(spec, "/ports").enumerate() {
        let same =
            |p: &&Value| p.get("port") == port.get("port") && p.get("protocol") == port.get("protocol");
        let kept = before.into_iter().flatten().find(same).and_then(|p| p.get("nodePort")).cloned();
        let offset = u64::try_from(at).unwrap_or(0);
        set(Some(port), "nodePort", kept.unwrap_or_else(|| json!(30_000 + (seed(uid) + offset) % 2_768)));
    }
}

/// The UID's counter, its last group of digits.
fn seed(uid: &str) -> u64 {
    uid.rsplit('-').next().and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(1)
}

pub(super) fn policy(object: &mut Value) {
    let Some(spec) = object.get_mut("spec").filter(|s| s.is_object()) else { return };
    let egress = spec.get("egress").and_then(Value::as_array).is_some_and(|e| !e.is_empty());
    set(Some(spec), "policyTypes", if egress { json!(["Ingress", "Egress"]) } else { json!(["Ingress"]) });
    for rules in ["/ingress", "/egress"] {
        for rule in each(spec, rules) {
            for port in each(rule, "/ports") {
                set(Some(port), "protocol", json!("TCP"));
            }
        }
    }
}
