//! Webhook certificates: managers fill their emptied Secrets again, and serve the new ones once their mounts follow.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::super::api::{Api, Controller};
use super::super::conditions;
use super::managers::{self, Manager, Obstacle, Program};
use super::turn::{Turn, sooner};
use super::{pods, trainer};
use crate::cluster::{PatchType, Request, Resource};
use crate::k8s::At as _;
use crate::k8s::text;

/// The keys that a manager keeps in its certificate Secret.
const KEYS: [&str; 4] = ["ca.crt", "ca.key", "tls.crt", "tls.key"];
/// What a certificate made here says before the moment of its making.
const MADE: &str = "made at second ";

/// The certificate rotators inside the managers.
#[derive(Clone, Debug, Default)]
pub(super) struct Certificates {
    turn: Turn,
    /// Since when each Secret is empty, by namespace and name.
    empty_since: BTreeMap<String, f64>,
}

impl Controller for Certificates {
    fn name(&self) -> &'static str {
        "cert-rotator"
    }

    fn run(&mut self, api: &mut Api<'_>) -> Option<f64> {
        let watched = ["Pod", "Secret", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"];
        if self.turn.idle(api, &watched) {
            return self.turn.due();
        }
        let mut due = None;
        let mut seen = Vec::new();
        for program in [Program::Trainer, Program::JobSet] {
            for manager in managers::running(api, program) {
                let Some(secret) = secret_of(&manager) else { continue };
                if started(api, &manager) && !seen.contains(&secret) {
                    due = sooner(due, self.fill(api, &manager, &secret));
                    seen.push(secret);
                }
            }
        }
        self.turn.end(due)
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

/// Whether a manager's program runs at all.
fn started(api: &Api<'_>, manager: &Manager) -> bool {
    let pullable = pods::images(&manager.pod).all(|image| api.pullable(image));
    pullable && !trainer::crashes(api, manager)
}

/// Namespace and name of the Secret whose certificates a manager serves.
pub(super) fn secret_of(manager: &Manager) -> Option<(String, String)> {
    let volumes = manager.pod.at("/spec/volumes").and_then(Value::as_array)?;
    let serving = |volume: &&Value| text(volume, "/name").contains("cert");
    let name =
        volumes.iter().filter(serving).map(|v| text(v, "/secret/secretName")).find(|n| !n.is_empty())?;
    Some((text(&manager.pod, "/metadata/namespace").to_owned(), name.to_owned()))
}

fn filled(secret: &Value) -> bool {
    secret
        .get("data")
        .and_then(|d| d.get("tls.crt"))
        .and_then(Value::as_str)
        .is_some_and(|crt| !crt.is_empty())
}

/// Managers wait for their certificates.
pub(super) fn obstacle(api: &Api<'_>, manager: &Manager) -> Option<Obstacle> {
    let (namespace, name) = secret_of(manager)?;
    let secret = api.get("", "Secret", &namespace, &name)?;
    (!filled(secret)).then_some(Obstacle::Soon)
}

impl Certificates {
    fn fill(
        &mut self,
        api: &mut Api<'_>,
        manager: &Manager,
        (namespace, name): &(String, String),
    ) -> Option<f64> {
        let key = format!("{namespace}/{name}");
        let secret = api.get("", "Secret", namespace, name)?.clone();
        if filled(&secret) {
            self.empty_since.remove(&key);
            bundle(api, manager, &secret);
            return None;
        }
        let since = *self.empty_since.entry(key.clone()).or_insert(api.now());
        let due = since + api.conditions().timing.secret_refill;
        if api.now() < due {
            return Some(due);
        }
        self.empty_since.remove(&key);
        let made = format!("{MADE}{:.3} for {key}", api.now());
        let mut changed = Value::clone(&secret);
        for field in KEYS {
            changed["data"][field] = json!(STANDARD.encode(format!("{field} {made}\n")));
        }
        let owner = match manager.program {
            Program::JobSet => "jobset",
            // The name of its program, `/manager`.
            Program::Trainer => "manager",
        };
        let resource = Resource::new("", "v1", "secrets");
        let changed = Arc::new(changed);
        api.send(&Request::update(&resource, namespace, changed.clone()).by(owner));
        bundle(api, manager, &changed);
        None
    }
}

/// Writes the authority of a Secret into the webhook configurations that call the manager's service.
fn bundle(api: &mut Api<'_>, manager: &Manager, secret: &Value) {
    let authority = secret.at("/data/ca.crt").cloned().unwrap_or(Value::Null);
    let namespace = text(&manager.pod, "/metadata/namespace").to_owned();
    for (kind, plural) in [
        ("MutatingWebhookConfiguration", "mutatingwebhookconfigurations"),
        ("ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
    ] {
        let group = "admissionregistration.k8s.io";
        let configurations: Vec<Arc<Value>> = api.list(group, kind, "").cloned().collect();
        for configuration in configurations {
            if let Some(patch) = bundle_patch(api, &configuration, manager, &namespace, &authority) {
                let name = text(&configuration, "/metadata/name");
                let resource = Resource::new(group, "v1", plural);
                api.send(&Request::patch(&resource, "", name, PatchType::Json, Arc::new(patch)));
            }
        }
    }
}

fn bundle_patch(
    api: &Api<'_>,
    configuration: &Value,
    manager: &Manager,
    namespace: &str,
    authority: &Value,
) -> Option<Value> {
    let hooks = configuration.get("webhooks").and_then(Value::as_array)?;
    let mut operations = Vec::new();
    for (index, hook) in hooks.iter().enumerate() {
        let service = text(hook, "/clientConfig/service/name");
        let own = text(hook, "/clientConfig/service/namespace") == namespace
            && selects(api, namespace, service, manager);
        if own && hook.at("/clientConfig/caBundle") != Some(authority) {
            let path = format!("/webhooks/{index}/clientConfig/caBundle");
            operations.push(json!({"op": "add", "path": path, "value": authority}));
        }
    }
    (!operations.is_empty()).then_some(Value::Array(operations))
}

/// Whether a service selects the manager's pod, ready or not.
fn selects(api: &Api<'_>, namespace: &str, service: &str, manager: &Manager) -> bool {
    let selector = api.get("", "Service", namespace, service).and_then(|s| s.at("/spec/selector"));
    let labels = manager.pod.at("/metadata/labels");
    let selector = selector.and_then(Value::as_object).filter(|s| !s.is_empty());
    selector.is_some_and(|s| s.iter().all(|(key, value)| labels.and_then(|l| l.get(key)) == Some(value)))
}

/// Whether a webhook call to this manager meets an outdated certificate at this moment.
pub(super) fn rotating(api: &Api<'_>, manager: &Manager) -> bool {
    if !renewed(api, manager) {
        return false;
    }
    api.consulted().certificates();
    api.conditions().certificates == conditions::Certificates::Rotating
}

/// Whether a manager's certificate is so new that its pods may not serve it yet.
fn renewed(api: &Api<'_>, manager: &Manager) -> bool {
    let Some((namespace, name)) = secret_of(manager) else { return false };
    let Some(secret) = api.get("", "Secret", &namespace, &name) else { return false };
    if !filled(secret) {
        return true;
    }
    let decoded = STANDARD.decode(text(secret, "/data/tls.crt")).unwrap_or_default();
    let decoded = String::from_utf8_lossy(&decoded).into_owned();
    let made = decoded.split_once(MADE).and_then(|(_, rest)| rest.split(' ').next()?.parse::<f64>().ok());
    // A certificate that was there before the rehearsal is in place.
    made.is_some_and(|made| {
        api.now() < made + api.conditions().timing.secret_refresh && !mounted_since(manager, made)
    })
}

/// Whether the manager's pod mounted the Secret after this moment.
fn mounted_since(manager: &Manager, made: f64) -> bool {
    let started = text(&manager.pod, "/status/startTime");
    // Both are whole seconds in the same notation, so that texts compare as moments do.
    !started.is_empty() && started >= super::super::clock::timestamp(made).as_str()
}
