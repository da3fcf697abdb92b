//! Ingresses and their classes.
//!
//! Source: Kubernetes 1.34.3, `pkg/apis/networking/validation/validation.go`.

use serde_json::{Value, json};

use super::asked;
use super::place::{Errors, Place};
use crate::k8s::names;
use crate::k8s::{annotation, items};
use crate::schema::FieldError;

/// What is not asked of a new state because the stored one is already wrong in that way.
#[derive(Clone, Copy)]
struct Leave {
    secret_names: bool,
    wildcard_rules: bool,
    numeric_services: bool,
}

impl Leave {
    fn of(old: Option<&Value>) -> Self {
        let Some(old) = old else {
            return Self { secret_names: false, wildcard_rules: false, numeric_services: false };
        };
        let secrets = || items(old, "/spec/tls").map(|tls| crate::k8s::text(tls, "/secretName"));
        Self {
            secret_names: secrets().any(|name| !name.is_empty() && !names::subdomain_faults(name).is_empty()),
            wildcard_rules: items(old, "/spec/rules").any(is_wrong_wildcard),
            numeric_services: items(old, "/spec/rules").any(has_numeric_service),
        }
    }
}

/// Whether a stored rule for all hosts of a domain has anything wrong behind its host.
fn is_wrong_wildcard(rule: &Value) -> bool {
    let mut errors = Errors::new();
    http(&Place::top(rule.get("http"), "http"), Leave::of(None), &mut errors);
    crate::k8s::text(rule, "/host").contains('*') && !errors.is_empty()
}

/// Whether a stored rule leads to a Service whose name begins with a digit.
fn has_numeric_service(rule: &Value) -> bool {
    items(rule, "/http/paths").any(|path| {
        let name = crate::k8s::text(path, "/backend/service/name");
        names::label_faults(name).is_empty() && !names::service_faults(name).is_empty()
    })
}

/// Source: `ValidateIngressCreate`, `ValidateIngressUpdate`.
pub(super) fn ingress(object: &Value, old: Option<&Value>, errors: &mut Errors) {
    const CLASS: &str = "kubernetes.io/ingress.class";
    let spec = Place::top(object.get("spec"), "spec");
    ingress_spec(&spec, Leave::of(old), errors);
    let class = spec.field("ingressClassName");
    if let Some(annotated) = annotation(object, CLASS)
        && old.is_none()
        && class.is_set()
        && class.text() != annotated
    {
        let detail = "must match `ingressClassName` when both are specified";
        errors.push(FieldError::invalid(format!("annotations.{CLASS}"), &json!(annotated), detail));
    }
}

fn ingress_spec(spec: &Place<'_>, leave: Leave, errors: &mut Errors) {
    let (backend, rules) = (spec.field("defaultBackend"), spec.field("rules"));
    if rules.is_empty() && !backend.is_set() {
        let detail = "either `defaultBackend` or `rules` must be specified";
        errors.push(FieldError::invalid(spec.name(), rules.value, detail));
    }
    if backend.is_set() {
        backend_of(&backend, leave, errors);
    }
    for rule in rules.items() {
        host(&rule.field("host"), errors);
        if !leave.wildcard_rules || !rule.field("host").text().contains('*') {
            http(&rule.field("http"), leave, errors);
        }
    }
    spec.field("tls").items().for_each(|tls| certificate(&tls, leave, errors));
    if spec.field("ingressClassName").is_set() {
        spec.field("ingressClassName").named(names::subdomain_faults, errors);
    }
}

fn host(host: &Place<'_>, errors: &mut Errors) {
    if asked::parse_address(host.text()).is_some() {
        host.invalid_text("must be a DNS name, not an IP address", errors);
    }
    if !host.is_empty() {
        host_name(host, errors);
    }
}

fn host_name(host: &Place<'_>, errors: &mut Errors) {
    let wild = host.text().contains('*');
    host.named(if wild { names::wildcard_faults } else { names::subdomain_faults }, errors);
}

fn certificate(tls: &Place<'_>, leave: Leave, errors: &mut Errors) {
    tls.field("hosts").items().for_each(|host| host_name(&host, errors));
    if !leave.secret_names {
        tls.field("secretName").named_if_any(names::subdomain_faults, errors);
    }
}

fn http(http: &Place<'_>, leave: Leave, errors: &mut Errors) {
    if !http.is_set() {
        return;
    }
    let paths = http.field("paths");
    paths.needed(errors);
    paths.items().for_each(|path| http_path(&path, leave, errors));
}

fn http_path(path: &Place<'_>, leave: Leave, errors: &mut Errors) {
    let (kind, text) = (path.field("pathType"), path.field("path"));
    match kind.text() {
        _ if !kind.is_set() => return kind.required("pathType must be specified", errors),
        "Exact" | "Prefix" => {
            absolute(&text, errors);
            plain_path(&text, errors);
        }
        "ImplementationSpecific" if text.is_empty() => {}
        "ImplementationSpecific" => absolute(&text, errors),
        _ => kind.supported(&["Exact", "ImplementationSpecific", "Prefix"], errors),
    }
    backend_of(&path.field("backend"), leave, errors);
}

fn absolute(path: &Place<'_>, errors: &mut Errors) {
    if !path.text().starts_with('/') {
        path.invalid_text("must be an absolute path", errors);
    }
}

/// A path that is compared as text must not have a second spelling.
fn plain_path(path: &Place<'_>, errors: &mut Errors) {
    for part in ["//", "/./", "/../", "%2f", "%2F"].into_iter().filter(|part| path.text().contains(part)) {
        path.invalid_text(&format!("must not contain '{part}'"), errors);
    }
    for end in ["/..", "/."].into_iter().filter(|end| path.text().ends_with(end)) {
        path.invalid_text(&format!("cannot end with '{end}'"), errors);
    }
}

/// Source: `validateIngressBackend`.
fn backend_of(backend: &Place<'_>, leave: Leave, errors: &mut Errors) {
    let (resource, service) = (backend.field("resource"), backend.field("service"));
    match (resource.is_set(), service.is_set()) {
        (true, true) => backend.invalid_as("", "cannot set both resource and service backends", errors),
        (true, false) => reference(&resource, errors),
        (false, true) => service_backend(backend, &service, leave, errors),
        (false, false) => backend.invalid_as("", "resource or service backend is required", errors),
    }
}

fn service_backend(backend: &Place<'_>, service: &Place<'_>, leave: Leave, errors: &mut Errors) {
    let faults = if leave.numeric_services { names::label_faults } else { names::service_faults };
    service.field("name").needed_named(faults, errors);
    let port = service.field("port");
    let (name, number) = (port.field("name"), port.field("number"));
    match (!name.is_empty(), number.number_or_zero() != 0) {
        (true, true) => backend.invalid_as("", "cannot set both port name & port number", errors),
        (true, false) => name.port(errors),
        (false, true) => number.port_number(errors),
        (false, false) => backend.required("port name or number is required", errors),
    }
}

/// Source: `validateIngressTypedLocalObjectReference`.
fn reference(place: &Place<'_>, errors: &mut Errors) {
    if place.field("apiGroup").is_set() {
        place.field("apiGroup").named(names::subdomain_faults, errors);
    }
    place.field("kind").needed_named(names::segment_faults, errors);
    place.field("name").needed_named(names::segment_faults, errors);
}

/// Source: `ValidateIngressClass`, `ValidateIngressClassUpdate`.
pub(super) fn class(object: &Value, old: Option<&Value>, errors: &mut Errors) {
    let spec = Place::top(object.get("spec"), "spec");
    let controller = spec.field("controller");
    if let Some(old) = old {
        let old = Place::top(old.get("spec"), "spec");
        controller.unchanged(&old.field("controller"), errors);
    }
    if controller.text().len() > 250 {
        errors.push(FieldError::too_long(controller.name(), 250));
    }
    domain_path(&controller, errors);
    parameters(&spec.field("parameters"), errors);
}

/// A domain, a slash, and a path.
///
/// Source: apimachinery 0.34.3, `pkg/util/validation/validation.go`, `IsDomainPrefixedPath`.
fn domain_path(place: &Place<'_>, errors: &mut Errors) {
    if !place.needed(errors) {
        return;
    }
    let (domain, path) = place.text().split_once('/').unwrap_or_default();
    if domain.is_empty() || path.is_empty() {
        return place.invalid_text("must be a domain-prefixed path (such as \"acme.io/foo\")", errors);
    }
    names::subdomain_faults(domain).iter().for_each(|fault| place.invalid_as(domain, fault, errors));
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:".contains(&b);
    if !path.bytes().all(fits) {
        let detail = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
        place.invalid_as(path, detail, errors);
    }
}

/// Source: `validateIngressClassParametersReference`.
fn parameters(place: &Place<'_>, errors: &mut Errors) {
    if !place.is_set() {
        return;
    }
    reference(place, errors);
    let (scope, namespace) = (place.field("scope"), place.field("namespace"));
    match scope.text() {
        _ if !scope.is_set() => scope.required("", errors),
        "Namespace" if !namespace.is_set() => {
            namespace.required("`parameters.scope` is set to 'Namespace'", errors);
        }
        "Namespace" => namespace.named(names::label_faults, errors),
        "Cluster" if namespace.is_set() => {
            namespace.forbidden("`parameters.scope` is set to 'Cluster'", errors);
        }
        _ => scope.supported(&["Cluster", "Namespace"], errors),
    }
}
