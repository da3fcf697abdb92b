//! Addresses and ports that a Service asks for: whether there are such, and whether another one has them.
//!
//! Source: Kubernetes v1.34, `pkg/registry/core/service/storage/alloc.go`; addresses that the server has no range for
//! are not refused, since clusters differ in their ranges.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::rules;
use crate::cluster::simulated::Simulated;
use crate::k8s::At as _;
use crate::k8s::text;
use crate::schema::FieldError;

/// Ports of nodes that the server gives away.
const NODE_PORTS: std::ops::RangeInclusive<i64> = 30_000..=32_767;

/// The spec of a Service as a client sent it, before the server chooses what was left open.
pub(super) struct Asked {
    spec: Value,
    dry_run: bool,
}

/// What was found to be wrong so far.
type Errors = Vec<FieldError>;

impl Asked {
    /// What a Service that is to be created asks for; nothing in the case of other kinds.
    pub(super) fn of(object: &Value, dry_run: bool) -> Option<Self> {
        if text(object, "/kind") != "Service" || text(object, "/apiVersion") != "v1" {
            return None;
        }
        let mut spec = object.get("spec").cloned().unwrap_or_else(|| json!({}));
        let address = text(&spec, "/clusterIP").to_owned();
        if !address.is_empty() && spec.get("clusterIPs").is_none_or(|all| *all == json!([])) {
            spec["clusterIPs"] = json!([address]);
        }
        Some(Self { spec, dry_run })
    }

    fn is(&self, kind: &str) -> bool {
        text(&self.spec, "/type") == kind
    }

    /// A Service without selector and address belongs to no cluster, so it may be of any family.
    fn is_free(&self) -> bool {
        let selector = self.spec.get("selector").and_then(Value::as_object);
        text(&self.spec, "/clusterIP") == "None" && selector.is_none_or(serde_json::Map::is_empty)
    }
}

impl Simulated {
    /// What stands against it; the server says so before it looks at anything else in the Service.
    pub(super) fn refused(&self, asked: &Asked) -> Vec<FieldError> {
        let mut errors = rules::asked_addresses(&asked.spec);
        let steps: [fn(&Self, &Asked, &mut Errors); 4] =
            [Self::counts, Self::families, Self::address_taken, Self::port_taken];
        for step in steps {
            if errors.is_empty() {
                step(self, asked, &mut errors);
            }
        }
        errors
    }

    /// Clusters have IPv4 alone, unless a Service shows that this one has IPv6.
    fn has_v6(&self) -> bool {
        let families = |service: &Value| {
            let families = service.at("/spec/ipFamilies").and_then(Value::as_array);
            let headless = text(service, "/spec/clusterIP") == "None";
            !headless && families.is_some_and(|all| all.contains(&json!("IPv6")))
        };
        self.list("", "Service", "").any(|service| families(service))
    }

    /// How many addresses and families go with the policy, and whether there is a range for each address.
    ///
    /// Source: `initIPFamilyFields`.
    fn counts(&self, asked: &Asked, errors: &mut Errors) {
        if asked.is("ExternalName") {
            return;
        }
        counts(asked, errors);
        let addresses = crate::k8s::items(&asked.spec, "/clusterIPs").filter_map(Value::as_str);
        let families = crate::k8s::items(&asked.spec, "/ipFamilies").count();
        for (at, address) in addresses.enumerate().skip(families) {
            if address.contains(':') && !self.has_v6() {
                let field = format!("spec.clusterIPs[{at}]");
                let shown = asked.spec.get("clusterIPs").unwrap_or(&Value::Null);
                errors.push(FieldError::invalid(field, shown, "IPv6 is not configured on this cluster"));
            }
        }
    }

    fn families(&self, asked: &Asked, errors: &mut Errors) {
        let families = asked.spec.get("ipFamilies").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let both = text(&asked.spec, "/ipFamilyPolicy") == "RequireDualStack";
        let wanted = both || families.contains(&json!("IPv6"));
        if asked.is("ExternalName") || asked.is_free() || !wanted || self.has_v6() {
            return;
        }
        if both {
            let detail = "this cluster is not configured for dual-stack services";
            errors.push(FieldError::invalid("spec.ipFamilyPolicy", &json!("RequireDualStack"), detail));
        }
        for (at, family) in families.iter().enumerate().filter(|(_, family)| *family == "IPv6") {
            let field = format!("spec.ipFamilies[{at}]");
            errors.push(FieldError::invalid(field, family, "not configured on this cluster"));
        }
    }

    fn address_taken(&self, asked: &Asked, errors: &mut Errors) {
        let address = text(&asked.spec, "/clusterIP");
        if asked.is("ExternalName") || matches!(address, "" | "None") {
            return;
        }
        if self.list("", "Service", "").any(|one| text(one, "/spec/clusterIP") == address) {
            let why = format!("failed to allocate IP {address}: provided IP is already allocated");
            errors.push(FieldError::invalid("spec.clusterIPs", &asked.spec["clusterIPs"], &why));
        }
    }

    /// Source: `initNodePorts`: ports of one number share the port of the nodes.
    fn port_taken(&self, asked: &Asked, errors: &mut Errors) {
        if !asked.is("NodePort") && !asked.is("LoadBalancer") {
            return;
        }
        let ports: Vec<&Value> = crate::k8s::items(&asked.spec, "/ports").collect();
        let mut own = BTreeSet::new();
        let mut shared = BTreeSet::new();
        for (at, port) in ports.iter().enumerate() {
            let wanted = if shared.insert(number(port, "port")) {
                let same = ports.iter().filter(|other| number(other, "port") == number(port, "port"));
                same.map(|other| number(other, "nodePort")).find(|port| *port != 0).unwrap_or(0)
            } else {
                number(port, "nodePort")
            };
            let again = own.contains(&(number(port, "port"), wanted));
            if wanted == 0 || again {
                continue;
            }
            if let Some(why) = self.port_fault(asked, wanted, own.iter().any(|(_, taken)| *taken == wanted)) {
                let field = format!("spec.ports[{at}].nodePort");
                return errors.push(FieldError::invalid(field, &json!(wanted), why));
            }
            own.insert((number(port, "port"), wanted));
        }
    }

    /// The range is looked at where a port is really taken, not in a dry run.
    fn port_fault(&self, asked: &Asked, port: i64, own: bool) -> Option<&'static str> {
        if !asked.dry_run && !NODE_PORTS.contains(&port) {
            return Some("provided port is not in the valid range. The range of valid ports is 30000-32767");
        }
        let has = |service: &Value| node_ports(service).any(|taken| taken == port);
        let taken = own || self.list("", "Service", "").any(|service| has(service));
        taken.then_some("provided port is already allocated")
    }
}

fn number(port: &Value, field: &str) -> i64 {
    port.get(field).and_then(Value::as_i64).unwrap_or(0)
}

fn node_ports(service: &Value) -> impl Iterator<Item = i64> {
    crate::k8s::items(service, "/spec/ports").map(|port| number(port, "nodePort"))
}

fn counts(asked: &Asked, errors: &mut Errors) {
    let spec = &asked.spec;
    let single = match text(spec, "/ipFamilyPolicy") {
        "" => !asked.is_free(),
        policy => policy == "SingleStack",
    };
    if !single {
        return;
    }
    let two = |field: &str| spec.get(field).and_then(Value::as_array).is_some_and(|all| all.len() == 2);
    for (field, what) in [("clusterIPs", "cluster IPs"), ("ipFamilies", "IP families")] {
        if two(field) {
            let detail =
                format!("must be 'RequireDualStack' or 'PreferDualStack' when multiple {what} are specified");
            errors.push(FieldError::invalid("spec.ipFamilyPolicy", &json!("SingleStack"), &detail));
        }
    }
}
