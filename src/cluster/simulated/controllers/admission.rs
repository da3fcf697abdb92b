//! The programs behind webhooks: reached through their services, answered by the models of their managers.

use super::super::api::Api;
use super::super::webhooks::{WebhookAnswer, WebhookCall, Webhooks};
use super::managers::{self, Program};
use super::{certificates, jobset, services, trainer};

/// Webhooks of modelled managers; other programs are reached as well, and object to nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Admission {
    /// Calls since a certificate was reset that still got through.
    passed: u32,
}

impl Webhooks for Admission {
    fn call(&mut self, call: &WebhookCall, api: &Api<'_>) -> Option<WebhookAnswer> {
        let backends = services::backends(api, &call.service_namespace, &call.service, 443)?;
        let first = backends.first()?;
        let Some(manager) = managers::of_pod(api, first) else { return Some(WebhookAnswer::allowed()) };
        if !certificates::rotating(api, &manager) {
            self.passed = 0;
        } else if self.passed < api.conditions().calls_before_renewal {
            self.passed += 1;
        } else {
            return Some(WebhookAnswer::Unreachable(untrusted(call, manager.program)));
        }
        Some(match manager.program {
            Program::Trainer => trainer::answer(api, manager.version, call),
            Program::JobSet => jobset::answer(manager.version, call),
        })
    }

    fn fork(&self) -> Box<dyn Webhooks> {
        Box::new(self.clone())
    }
}

fn untrusted(call: &WebhookCall, program: Program) -> String {
    let (service, namespace, path) = (&call.service, &call.service_namespace, &call.path);
    let authority = match program {
        Program::Trainer => "kubeflow-trainer-ca",
        Program::JobSet => "jobset-ca",
    };
    format!(
        "Post \"https://{service}.{namespace}.svc:443{path}?timeout=10s\": tls: failed to verify certificate: x509: \
         certificate signed by unknown authority (possibly because of \"crypto/rsa: verification error\" while trying \
         to verify candidate authority certificate \"{authority}\")"
    )
}
