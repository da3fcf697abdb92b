//! PersistentVolumeClaims: bound at once, and let go when they are deleted and no pod uses them.
//!
//! Source of the second: kube-controller-manager 1.34, `pkg/controller/volume/pvcprotection`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::api::{Api, Controller};
use super::turn::Turn;
use super::{owner, pods, status};
use crate::k8s::At as _;
use crate::k8s::text;

/// The volume binder.
#[derive(Clone, Debug, Default)]
pub(super) struct Claims {
    turn: Turn,
}

impl Controller for Claims {
    fn name(&self) -> &'static str {
        "persistentvolume-binder"
    }

    fn run(&mut self, api: &mut Api<'_>) -> Option<f64> {
        if self.turn.idle(api, &["PersistentVolumeClaim", "Pod"]) {
            return None;
        }
        let doomed = |claim: &&Arc<Value>| owner::terminating(claim);
        let doomed: Vec<Arc<Value>> =
            api.list("", "PersistentVolumeClaim", "").filter(doomed).cloned().collect();
        for claim in doomed {
            if !in_use(api, &claim) {
                release(api, &claim);
            }
        }
        let open =
            |claim: &&Arc<Value>| text(claim, "/status/phase") != "Bound" && !owner::terminating(claim);
        let claims: Vec<Arc<Value>> =
            api.list("", "PersistentVolumeClaim", "").filter(open).cloned().collect();
        for claim in claims {
            let capacity = claim.at("/spec/resources/requests").cloned().unwrap_or_else(|| json!({}));
            let modes = claim.at("/spec/accessModes").cloned().unwrap_or_else(|| json!([]));
            status::write(api, &claim, json!({"phase": "Bound", "accessModes": modes, "capacity": capacity}));
        }
        self.turn.end(None)
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

/// What keeps a claim while a pod uses it.
const PROTECTION: &str = "kubernetes.io/pvc-protection";

/// Whether a pod that has not ended mounts a claim.
fn in_use(api: &Api<'_>, claim: &Value) -> bool {
    let name = text(claim, "/metadata/name");
    let mounts = |pod: &Arc<Value>| {
        let volumes = pod.at("/spec/volumes").and_then(Value::as_array).into_iter().flatten();
        volumes.into_iter().any(|volume| text(volume, "/persistentVolumeClaim/claimName") == name)
    };
    let pods = api.list("", "Pod", text(claim, "/metadata/namespace"));
    pods.filter(|pod| !pods::ended(pod)).any(mounts)
}

fn release(api: &mut Api<'_>, claim: &Value) {
    let mut freed = claim.clone();
    let Some(list) = freed.pointer_mut("/metadata/finalizers").and_then(Value::as_array_mut) else { return };
    let before = list.len();
    list.retain(|finalizer| finalizer != PROTECTION);
    if list.len() < before {
        api.update(Arc::new(freed), "");
    }
}
