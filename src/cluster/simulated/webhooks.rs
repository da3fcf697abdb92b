//! Admission webhooks: what a rehearsal asks of the programs behind a webhook configuration.

use std::sync::Arc;

use serde_json::Value;

use super::api::Api;
use crate::cluster::Resource;

/// One call of one webhook.
#[derive(Clone, Debug)]
pub struct WebhookCall {
    /// Name of the webhook in its configuration, e.g. `validator.trainjob.trainer.kubeflow.org`.
    pub webhook: String,
    /// Whether the configuration is a mutating one.
    pub mutating: bool,
    /// Namespace of the service it names; empty for a URL.
    pub service_namespace: String,
    /// Name of the service; empty for a URL.
    pub service: String,
    /// The path the webhook is called at.
    pub path: String,
    /// Whether the configuration's `caBundle` has a value.
    pub ca_bundle: bool,
    /// `CREATE`, `UPDATE`, `DELETE`.
    pub operation: &'static str,
    /// The resource in the version that the rules match.
    pub resource: Resource,
    /// Subresource; empty for the object itself.
    pub subresource: String,
    /// Namespace of the object.
    pub namespace: String,
    /// Name of the object.
    pub name: String,
    /// The object as it would be stored; `None` for a deletion.
    pub object: Option<Arc<Value>>,
    /// The object as it is stored; `None` for a creation.
    pub old: Option<Arc<Value>>,
    /// Whether nothing will be stored.
    pub dry_run: bool,
}

/// What a webhook answers.
#[derive(Clone, Debug, PartialEq)]
pub enum WebhookAnswer {
    /// The write may go on, with these texts as warnings and this JSON patch (mutating webhooks only).
    Allowed {
        /// Texts of warnings.
        warnings: Vec<String>,
        /// A JSON patch of the object.
        patch: Option<Value>,
    },
    /// The write is refused with this message (without the server's `admission webhook … denied` frame).
    Denied(String),
    /// The call did not get through, with the client's text; `failurePolicy` decides.
    Unreachable(String),
}

impl WebhookAnswer {
    /// Allowed, without warnings or changes.
    #[must_use]
    pub fn allowed() -> Self {
        Self::Allowed { warnings: Vec::new(), patch: None }
    }
}

/// The programs behind webhooks.
pub trait Webhooks: Send + Sync {
    /// Answers one call; `None` when no program of this model stands behind the service.
    fn call(&mut self, call: &WebhookCall, api: &Api<'_>) -> Option<WebhookAnswer>;

    /// A copy for a fork of the cluster.
    fn fork(&self) -> Box<dyn Webhooks>;
}
