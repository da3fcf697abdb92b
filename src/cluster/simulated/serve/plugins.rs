//! Admission plugins of the server itself that refuse pods for what these refer to.
//!
//! Source: Kubernetes v1.34, `plugin/pkg/admission/{serviceaccount,priority}/admission.go` and `plugin/pkg/admission/runtimeclass`.

use serde_json::Value;

use crate::cluster::Request;
use crate::cluster::simulated::Simulated;
use crate::cluster::simulated::discovery::Target;
use crate::cluster::simulated::status::Refusal;
use crate::k8s::references::{self, Reference};
use crate::k8s::text;

impl Simulated {
    /// Refuses a pod whose ServiceAccount, PriorityClass or RuntimeClass is gone.
    pub(super) fn plug(&self, target: &Target, request: &Request, object: &Value) -> Result<(), Refusal> {
        if !target.group.is_empty() || target.kind != "Pod" {
            return Ok(());
        }
        let spec = object.get("spec").unwrap_or(&Value::Null);
        let lacking = references::of_pod(&request.namespace, spec).into_iter().filter(|one| self.lacks(one));
        match lacking.filter_map(|one| refusal(&one)).next() {
            Some(why) => Err(Refusal::forbidden(target, text(object, "/metadata/name"), &why)),
            None => Ok(()),
        }
    }

    /// Whether what a pod refers to was there once and is gone, or is there without the key.
    pub(in crate::cluster::simulated) fn lacks(&self, reference: &Reference) -> bool {
        let Reference { group, kind, namespace, name, .. } = reference;
        match self.get(group, kind, namespace, name) {
            Some(object) => !reference.is_met_by(object),
            None => self.store.is_gone(group, kind, namespace, name),
        }
    }
}

fn refusal(reference: &Reference) -> Option<String> {
    let Reference { kind, namespace, name, .. } = reference;
    match *kind {
        "ServiceAccount" => Some(format!(
            "error looking up service account {namespace}/{name}: serviceaccount \"{name}\" not found"
        )),
        "PriorityClass" => Some(format!("no PriorityClass with name {name} was found")),
        "RuntimeClass" => Some(format!("pod rejected: RuntimeClass \"{name}\" not found")),
        _ => None,
    }
}
