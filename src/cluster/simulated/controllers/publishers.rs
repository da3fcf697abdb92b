//! What every namespace gets: the ServiceAccount `default` and the ConfigMap with the cluster's root certificate.
//!
//! Source: kubernetes v1.34, `pkg/controller/serviceaccount/serviceaccounts_controller.go`,
//! `pkg/controller/certificates/rootcacertpublisher/publisher.go`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::api::{Api, Controller};
use super::turn::Turn;
use crate::cluster::{Request, Resource};
use crate::k8s::At as _;
use crate::k8s::text;

/// The root certificate of a simulated cluster: its name says that nothing can be verified with it.
const CERTIFICATE: &str =
    "-----BEGIN CERTIFICATE-----\nc2VhdHJpYWwgc2ltdWxhdGVkIGNsdXN0ZXI=\n-----END CERTIFICATE-----\n";

/// The controllers that fill new namespaces; what is deleted comes back.
#[derive(Clone, Debug, Default)]
pub(super) struct Publishers {
    turn: Turn,
}

impl Controller for Publishers {
    fn name(&self) -> &'static str {
        "namespace-publishers"
    }

    fn run(&mut self, api: &mut Api<'_>) -> Option<f64> {
        if self.turn.idle(api, &["Namespace", "ServiceAccount", "ConfigMap"]) {
            return None;
        }
        let active = |namespace: &&Arc<Value>| namespace.at("/metadata/deletionTimestamp").is_none();
        let names: Vec<String> = api
            .list("", "Namespace", "")
            .filter(active)
            .map(|namespace| text(namespace, "/metadata/name").to_owned())
            .collect();
        for namespace in names {
            publish(api, &namespace, "serviceaccounts", service_account(&namespace));
            publish(api, &namespace, "configmaps", root_certificate(&namespace));
        }
        self.turn.end(None)
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

fn publish(api: &mut Api<'_>, namespace: &str, plural: &str, object: Value) {
    let (kind, name) = (text(&object, "/kind"), text(&object, "/metadata/name"));
    if api.get("", kind, namespace, name).is_none() {
        api.send(&Request::create(&Resource::new("", "v1", plural), namespace, Arc::new(object)));
    }
}

fn service_account(namespace: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": namespace}})
}

fn root_certificate(namespace: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "kube-root-ca.crt", "namespace": namespace},
        "data": {"ca.crt": CERTIFICATE},
    })
}
