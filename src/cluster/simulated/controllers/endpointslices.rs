//! EndpointSlices: the pods behind each Service, with the ports that its targets come to.
//!
//! Behaviour of kube-controller-manager 1.34, `pkg/controller/endpointslice`; one slice per Service, with the pods that
//! have every target port by name.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::api::{Api, Controller};
use super::turn::{Seen, Turn, version};
use super::{owner, pods, services};
use crate::cluster::{Request, Resource};
use crate::k8s::At as _;
use crate::k8s::text;

const GROUP: &str = "discovery.k8s.io";
const SERVICE: &str = "kubernetes.io/service-name";

/// The EndpointSlice controller.
#[derive(Clone, Debug, Default)]
pub(super) struct EndpointSlices {
    turn: Turn,
    seen: Seen,
}

impl Controller for EndpointSlices {
    fn name(&self) -> &'static str {
        "endpointslice-controller"
    }

    fn run(&mut self, api: &mut Api<'_>) -> Option<f64> {
        if self.turn.idle(api, &["Service", "Pod"]) {
            return None;
        }
        let selecting =
            |service: &&Arc<Value>| services::selector(service).is_some() && !owner::terminating(service);
        let all: Vec<Arc<Value>> = api.list("", "Service", "").filter(selecting).cloned().collect();
        for service in all {
            let behind = services::selected(api, &service);
            let versions =
                std::iter::once(version(&service)).chain(behind.iter().map(|pod| version(pod))).collect();
            self.seen.look(api, &service, versions, |api| {
                sync(api, &service, &behind);
                None
            });
        }
        self.turn.end(None)
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

fn sync(api: &mut Api<'_>, service: &Value, behind: &[Arc<Value>]) {
    let (namespace, name) =
        (text(service, "/metadata/namespace").to_owned(), text(service, "/metadata/name").to_owned());
    let endpoints: Vec<Value> = behind.iter().map(|pod| endpoint(pod)).collect();
    let ports = ports(service, behind.first().map(Arc::as_ref));
    let own = |slice: &&Arc<Value>| text(slice, "/metadata/labels/kubernetes.io~1service-name") == name;
    let current = api.list(GROUP, "EndpointSlice", &namespace).find(own).cloned();
    let resource = Resource::new(GROUP, "v1", "endpointslices");
    if let Some(current) = current {
        if current.get("endpoints") == Some(&json!(endpoints)) && current.get("ports") == Some(&ports) {
            return;
        }
        let mut slice = Value::clone(&current);
        slice["endpoints"] = json!(endpoints);
        slice["ports"] = ports;
        api.send(&Request::update(&resource, &namespace, Arc::new(slice)));
        return;
    }
    let slice = json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
        "metadata": {
            "name": format!("{name}-{}", owner::suffix(text(service, "/metadata/uid"))), "namespace": namespace,
            "labels": {SERVICE: name, "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io"},
            "ownerReferences": [owner::reference(service)],
        },
        "endpoints": endpoints, "ports": ports,
    });
    api.send(&Request::create(&resource, &namespace, Arc::new(slice)));
}

fn endpoint(pod: &Value) -> Value {
    let ready = pods::ready(pod);
    let address = match text(pod, "/status/podIP") {
        "" => owner::address(text(pod, "/metadata/uid")),
        address => address.to_owned(),
    };
    json!({
        "addresses": [address], "conditions": {"ready": ready, "serving": ready, "terminating": false},
        "targetRef": {
            "kind": "Pod", "name": text(pod, "/metadata/name"), "namespace": text(pod, "/metadata/namespace"),
            "uid": text(pod, "/metadata/uid"),
        },
    })
}

/// The ports of a Service as the pods behind it have them.
fn ports(service: &Value, pod: Option<&Value>) -> Value {
    let list = service.at("/spec/ports").and_then(Value::as_array);
    let resolved = list.into_iter().flatten().map(|entry| {
        let protocol = match text(entry, "/protocol") {
            "" => "TCP",
            protocol => protocol,
        };
        let number = services::target(pod, entry);
        json!({"name": text(entry, "/name"), "port": number, "protocol": protocol})
    });
    Value::Array(resolved.collect())
}
