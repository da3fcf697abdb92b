//! PersistentVolumeClaims: bound at once.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::api::{Api, Controller};
use super::status;
use super::turn::Turn;
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
        if self.turn.idle(api, &["PersistentVolumeClaim"]) {
            return None;
        }
        let open = |claim: &&Arc<Value>| text(claim, "/status/phase") != "Bound";
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
