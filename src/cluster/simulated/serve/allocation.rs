//! Addresses and ports that a Service asks for and another one has.
//!
//! Source: Kubernetes v1.34, `pkg/registry/core/service/storage/alloc.go`.

use serde_json::{Value, json};

use crate::cluster::simulated::Simulated;
use crate::k8s::At as _;
use crate::k8s::text;
use crate::schema::FieldError;

/// What a Service asks for before the server chooses what it left open.
pub(super) struct Asked {
    address: Option<String>,
    /// Node ports with their place among the ports.
    ports: Vec<(usize, i64)>,
}

impl Asked {
    /// What a Service that is to be created asks for; nothing in the case of other kinds.
    pub(super) fn of(object: &Value) -> Option<Self> {
        if text(object, "/kind") != "Service" || text(object, "/apiVersion") != "v1" {
            return None;
        }
        let address =
            Some(text(object, "/spec/clusterIP")).filter(|address| !matches!(*address, "" | "None"));
        Some(Self { address: address.map(str::to_owned), ports: node_ports(object).collect() })
    }
}

fn node_ports(service: &Value) -> impl Iterator<Item = (usize, i64)> {
    let ports = service.at("/spec/ports").and_then(Value::as_array).into_iter().flatten();
    ports.enumerate().filter_map(|(at, port)| Some((at, port.get("nodePort")?.as_i64()?)))
}

impl Simulated {
    /// What other Services have of that.
    pub(super) fn taken(&self, asked: &Asked) -> Vec<FieldError> {
        let others = || self.list("", "Service", "");
        let address = asked
            .address
            .iter()
            .filter(|address| others().any(|one| text(one, "/spec/clusterIP") == *address));
        let addresses = address.map(|address| {
            let why = format!("failed to allocate IP {address}: provided IP is already allocated");
            FieldError::invalid("spec.clusterIPs", &json!([address]), &why)
        });
        let has = |port: i64| others().any(|one| node_ports(one).any(|(_, taken)| taken == port));
        let ports = asked.ports.iter().filter(|(_, port)| *port != 0 && has(*port)).map(|(at, port)| {
            let field = format!("spec.ports[{at}].nodePort");
            FieldError::invalid(field, &json!(port), "provided port is already allocated")
        });
        addresses.chain(ports).take(1).collect()
    }
}
