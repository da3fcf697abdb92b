//! The namespace controller: empties a namespace that is being deleted, then lets it go.
//!
//! Behaviour of kube-controller-manager 1.34, `pkg/controller/namespace/namespace_controller.go`.

use std::collections::BTreeMap;

use super::api::{Api, Controller};
use crate::cluster::Request;
use crate::k8s::At as _;

/// Seconds that a deletion rests before anything in the namespace is touched, so that every API server has heard of it
/// (`namespaceDeletionGracePeriod`). A command that deletes its release's own namespace last still writes its record.
const GRACE: f64 = 5.0;

/// The namespace controller.
#[derive(Clone, Debug, Default)]
pub(super) struct Namespaces {
    /// When each namespace that is being deleted may be emptied, by UID.
    due: BTreeMap<String, f64>,
}

impl Controller for Namespaces {
    fn name(&self) -> &'static str {
        "namespace-controller"
    }

    fn run(&mut self, api: &mut Api<'_>) -> Option<f64> {
        let now = api.now();
        let terminating: BTreeMap<String, String> = api
            .list("", "Namespace", "")
            .filter(|namespace| namespace.at("/metadata/deletionTimestamp").is_some())
            .map(|namespace| {
                ["/metadata/uid", "/metadata/name"].map(|at| crate::k8s::text(namespace, at).to_owned())
            })
            .map(|[uid, name]| (uid, name))
            .collect();
        self.due.retain(|uid, _| terminating.contains_key(uid));
        let mut next: Option<f64> = None;
        for (uid, name) in terminating {
            let due = *self.due.entry(uid).or_insert(now + GRACE);
            if now < due {
                next = Some(next.map_or(due, |other| other.min(due)));
            } else {
                empty(api, &name);
            }
        }
        next
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
