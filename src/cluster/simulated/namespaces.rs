//! The namespace controller: empties a namespace that is being deleted, then lets it go.

use super::api::{Api, Controller};
use crate::cluster::Request;
use crate::k8s::At as _;

/// The namespace controller.
#[derive(Clone, Debug, Default)]
pub(super) struct Namespaces;

impl Controller for Namespaces {
    fn name(&self) -> &'static str {
        "namespace-controller"
    }

    fn run(&mut self, api: &mut Api<'_>) -> Option<f64> {
        let terminating: Vec<String> = api
            .list("", "Namespace", "")
            .filter(|n| n.at("/metadata/deletionTimestamp").is_some())
            .map(|n| crate::k8s::text(n, "/metadata/name").to_owned())
            .collect();
        for namespace in terminating {
            empty(api, &namespace);
        }
        None
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

fn empty(api: &mut Api<'_>, namespace: &str) {
    for (key, object) in api.in_namespace(namespace) {
        if object.at("/metadata/deletionTimestamp").is_none()
            && let Some(served) = api.resource(&key.group, &key.kind)
        {
            api.send(&Request::delete(&served.resource, namespace, &key.name, None));
        }
    }
    if api.in_namespace(namespace).is_empty() {
        api.finish_namespace(namespace);
    }
}
