//! Admission: webhooks, and what their configurations say about them.

use std::sync::Arc;

use serde_json::{Value, json};

use super::write::Write;
use crate::cluster::simulated::Simulated;
use crate::cluster::simulated::api::Api;
use crate::cluster::simulated::discovery::Target;
use crate::cluster::simulated::status::Refusal;
use crate::cluster::simulated::webhooks::{WebhookAnswer, WebhookCall};
use crate::cluster::{Request, Resource};
use crate::k8s::At as _;
use crate::k8s::selector::Selector;
use crate::k8s::text;

const GROUP: &str = "admissionregistration.k8s.io";

/// One webhook that a write has to pass.
struct Matched {
    hook: Value,
    mutating: bool,
}

impl Simulated {
    /// Calls the mutating webhooks that a create or update matches; they may change the object.
    ///
    /// Source: Kubernetes v1.34, `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/{create,patch}.go`: mutating admission
    /// comes first, then the server's own validation, then validating admission.
    pub(super) fn admit(
        &mut self,
        write: Write<'_>,
        old: Option<&Value>,
        object: &mut Value,
        warnings: &mut Vec<String>,
    ) -> Result<(), Refusal> {
        let operation = operation(old);
        for matched in self.matching(write, true, operation, Some(object), old) {
            let call = call(write, &matched, operation, Some(object.clone()), old.cloned());
            if let Some(patch) = self.ask(&matched, &call, warnings)? {
                let _ = crate::k8s::patch::json(object, &patch);
            }
        }
        Ok(())
    }

    /// Calls the validating webhooks that a create or update matches.
    pub(super) fn approve(
        &mut self,
        write: Write<'_>,
        old: Option<&Value>,
        object: &Value,
        warnings: &mut Vec<String>,
    ) -> Result<(), Refusal> {
        let operation = operation(old);
        for matched in self.matching(write, false, operation, Some(object), old) {
            let call = call(write, &matched, operation, Some(object.clone()), old.cloned());
            self.ask(&matched, &call, warnings)?;
        }
        Ok(())
    }

    /// Calls the webhooks that a deletion matches.
    pub(super) fn admit_delete(
        &mut self,
        write: Write<'_>,
        old: &Value,
        warnings: &mut Vec<String>,
    ) -> Result<(), Refusal> {
        for mutating in [true, false] {
            for matched in self.matching(write, mutating, "DELETE", None, Some(old)) {
                let call = call(write, &matched, "DELETE", None, Some(old.clone()));
                self.ask(&matched, &call, warnings)?;
            }
        }
        Ok(())
    }

    fn matching(
        &self,
        Write { target, request, .. }: Write<'_>,
        mutating: bool,
        operation: &str,
        new: Option<&Value>,
        old: Option<&Value>,
    ) -> Vec<Matched> {
        if target.group == GROUP {
            return Vec::new();
        }
        let mut found = Vec::new();
        let kind = if mutating { "MutatingWebhookConfiguration" } else { "ValidatingWebhookConfiguration" };
        for configuration in self.store.list(GROUP, kind, "") {
            let hooks = configuration.get("webhooks").and_then(Value::as_array);
            for hook in hooks.into_iter().flatten() {
                if self.matches(hook, target, request, operation, new, old) {
                    found.push(Matched { hook: hook.clone(), mutating });
                }
            }
        }
        found
    }

    fn matches(
        &self,
        hook: &Value,
        target: &Target,
        request: &Request,
        operation: &str,
        new: Option<&Value>,
        old: Option<&Value>,
    ) -> bool {
        let rules = hook.get("rules").and_then(Value::as_array);
        if !rules.into_iter().flatten().any(|rule| rule_matches(rule, target, request, operation)) {
            return false;
        }
        let selector = Selector::of(hook.get("objectSelector"));
        let labels =
            |object: Option<&Value>| object.is_some_and(|o| selector.matches(o.at("/metadata/labels")));
        if !labels(new) && !labels(old) {
            return false;
        }
        let namespaces = Selector::of(hook.get("namespaceSelector"));
        let namespace = if target.group.is_empty() && target.kind == "Namespace" {
            new.or(old).and_then(|o| o.at("/metadata/labels")).cloned()
        } else if target.namespaced {
            let namespace = self.store.get("", "Namespace", "", &request.namespace);
            namespace.and_then(|n| n.at("/metadata/labels")).cloned()
        } else {
            return true;
        };
        namespaces.matches(namespace.as_ref())
    }

    /// Asks one webhook; returns its patch.
    fn ask(
        &mut self,
        matched: &Matched,
        call: &WebhookCall,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Value>, Refusal> {
        let answer = self.call_webhooks(call).unwrap_or_else(|| self.unanswered(&matched.hook, call));
        match answer {
            WebhookAnswer::Allowed { warnings: said, patch } => {
                warnings.extend(said);
                Ok(patch.filter(|_| matched.mutating))
            }
            WebhookAnswer::Denied(why) => {
                let what =
                    if why.is_empty() { " without explanation".to_owned() } else { format!(": {why}") };
                let message = format!("admission webhook \"{}\" denied the request{what}", call.webhook);
                let mut refusal = Refusal::new(403, "Forbidden", message, Value::Null);
                refusal.warnings.append(warnings);
                Err(refusal)
            }
            WebhookAnswer::Unreachable(_) if text(&matched.hook, "/failurePolicy") == "Ignore" => Ok(None),
            WebhookAnswer::Unreachable(why) => {
                let text =
                    format!("failed calling webhook \"{}\": failed to call webhook: {why}", call.webhook);
                let mut refusal = Refusal::internal(&text);
                refusal.warnings.append(warnings);
                Err(refusal)
            }
        }
    }

    fn call_webhooks(&mut self, call: &WebhookCall) -> Option<WebhookAnswer> {
        let mut models = std::mem::take(&mut self.webhooks);
        let api = Api { server: self, by: "webhook", changes: Vec::new() };
        let answer = models.iter_mut().find_map(|model| model.call(call, &api));
        self.webhooks = models;
        answer
    }

    /// What the server's client says when nothing stands behind a webhook.
    fn unanswered(&self, hook: &Value, call: &WebhookCall) -> WebhookAnswer {
        let seconds = hook.get("timeoutSeconds").and_then(Value::as_i64).unwrap_or(10);
        let url = text(hook, "/clientConfig/url");
        if !url.is_empty() {
            let address = url.split("://").nth(1).and_then(|r| r.split('/').next()).unwrap_or("");
            let why =
                format!("Post \"{url}?timeout={seconds}s\": dial tcp {address}: connect: connection refused");
            return WebhookAnswer::Unreachable(why);
        }
        let (service, namespace) = (&call.service, &call.service_namespace);
        let port = hook.at("/clientConfig/service/port").and_then(Value::as_i64).unwrap_or(443);
        let post =
            format!("Post \"https://{service}.{namespace}.svc:{port}{}?timeout={seconds}s\"", call.path);
        if self.store.get("", "Service", namespace, service).is_none() {
            return WebhookAnswer::Unreachable(format!("{post}: service \"{service}\" not found"));
        }
        WebhookAnswer::Unreachable(format!("{post}: no endpoints available for service \"{service}\""))
    }
}

fn rule_matches(rule: &Value, target: &Target, request: &Request, operation: &str) -> bool {
    let any = |field: &str, wanted: &str| {
        let list = rule.get(field).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).any(|v| v == "*" || v == wanted)
    };
    let resources = rule.get("resources").and_then(Value::as_array);
    let resource = resources.into_iter().flatten().filter_map(Value::as_str).any(|wanted| {
        let (resource, subresource) = wanted.split_once('/').unwrap_or((wanted, ""));
        (resource == "*" || resource == target.plural)
            && (subresource == request.subresource || subresource == "*" || wanted == "*/*")
    });
    let scope = match text(rule, "/scope") {
        "Cluster" => !target.namespaced,
        "Namespaced" => target.namespaced,
        _ => true,
    };
    // With the default matchPolicy a rule for another served version of the same resource matches as well.
    let version = any("apiVersions", &target.version)
        || target
            .custom
            .as_ref()
            .is_some_and(|c| c.versions.iter().any(|v| v.served && any("apiVersions", &v.name)));
    any("operations", operation) && any("apiGroups", &target.group) && version && resource && scope
}

fn operation(old: Option<&Value>) -> &'static str {
    if old.is_some() { "UPDATE" } else { "CREATE" }
}

fn call(
    write: Write<'_>,
    matched: &Matched,
    operation: &'static str,
    object: Option<Value>,
    old: Option<Value>,
) -> WebhookCall {
    let Write { target, request, .. } = write;
    let hook = &matched.hook;
    let of = object.as_ref().or(old.as_ref()).unwrap_or(&Value::Null);
    let path = text(hook, "/clientConfig/service/path");
    WebhookCall {
        webhook: text(hook, "/name").to_owned(),
        mutating: matched.mutating,
        service_namespace: text(hook, "/clientConfig/service/namespace").to_owned(),
        service: text(hook, "/clientConfig/service/name").to_owned(),
        path: if path.is_empty() { "/".to_owned() } else { path.to_owned() },
        ca_bundle: !text(hook, "/clientConfig/caBundle").is_empty(),
        operation,
        resource: Resource::new(&target.group, &target.version, &target.plural),
        subresource: request.subresource.clone(),
        namespace: request.namespace.clone(),
        name: text(of, "/metadata/name").to_owned(),
        object: object.map(Arc::new),
        old: old.map(Arc::new),
        dry_run: request.dry_run,
    }
}

impl Simulated {
    /// Whether the user of a request may make it; the administrator may do everything.
    pub(super) fn authorize(&self, target: &Target, request: &Request) -> Result<(), Refusal> {
        let allowed = super::access::allowed(&self.store, target, request);
        if request.user.is_empty() || allowed {
            return Ok(());
        }
        let verb = super::access::verb(request);
        let resource = if request.subresource.is_empty() {
            target.plural.clone()
        } else {
            format!("{}/{}", target.plural, request.subresource)
        };
        let scope = if target.namespaced && !request.namespace.is_empty() {
            format!("in the namespace \"{}\"", request.namespace)
        } else {
            "at the cluster scope".to_owned()
        };
        let why = format!(
            "User \"{}\" cannot {verb} resource \"{resource}\" in API group \"{}\" {scope}",
            request.user, target.group
        );
        let mut refusal = Refusal::forbidden(target, &request.name, &why);
        if refusal.body["details"].is_null() {
            refusal.body["details"] = json!({});
        }
        Err(refusal)
    }
}
