//! Defaults of Services and network policies; cluster IPs and node ports.

use serde_json::{Value, json};

use super::{each, set};
use crate::k8s::At as _;
use crate::k8s::text;

/// A Service; addresses are kept on updates and drawn from the UID on creation, so that rehearsals repeat.
pub(super) fn service(object: &mut Value, old: Option<&Value>) {
    let uid = text(object, "/metadata/uid").to_owned();
    let Some(spec) = object.get_mut("spec").filter(|s| s.is_object()) else { return };
    set(Some(spec), "sessionAffinity", json!("None"));
    set(Some(spec), "type", json!("ClusterIP"));
    if text(spec, "/sessionAffinity") == "ClientIP" {
        set(Some(spec), "sessionAffinityConfig", json!({ "clientIP": { "timeoutSeconds": 10_800 } }));
    }
    let kind = text(spec, "/type").to_owned();
    for port in each(spec, "/ports") {
        set(Some(port), "protocol", json!("TCP"));
        if let Some(number) = port.get("port").cloned().filter(|_| kind != "ExternalName") {
            set(Some(port), "targetPort", number);
        }
    }
    if kind == "ExternalName" {
        return;
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

fn addresses(spec: &mut Value, old: Option<&Value>, uid: &str) {
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
