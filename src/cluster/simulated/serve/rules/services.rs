//! Services: ports, addresses, and what goes with which type.
//!
//! Source: Kubernetes 1.34.3, `pkg/apis/core/validation/validation.go`, `validateService` and what it calls.

use std::collections::BTreeSet;
use std::net::IpAddr;

use serde_json::{Value, json};

use super::asked;
use super::place::{Errors, Place};
use crate::k8s::At as _;
use crate::k8s::annotation;
use crate::k8s::names;
use crate::schema::FieldError;

const FOR_BALANCERS: &str = "may only be used when `type` is 'LoadBalancer'";
const ONCE: &str = "may not change once set";
const RANGES: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";

/// The specs of a Service, the new one and the stored one.
#[derive(Clone, Copy)]
struct Service<'s> {
    object: &'s Value,
    spec: Place<'s>,
    old: Option<&'s Value>,
}

impl<'s> Service<'s> {
    fn is(&self, kind: &str) -> bool {
        self.kind() == kind
    }

    fn kind(&self) -> &'s str {
        self.spec.value.get("type").and_then(Value::as_str).unwrap_or_default()
    }

    fn is_headless(&self) -> bool {
        is_headless(self.spec.value)
    }

    /// Texts of a list of the stored Service: what it has may stay.
    fn before(&self, field: &str) -> Vec<&'s str> {
        let list = self.old.and_then(|old| old.at("/spec")?.get(field)?.as_array());
        list.into_iter().flatten().filter_map(Value::as_str).collect()
    }
}

fn is_headless(spec: &Value) -> bool {
    match spec.get("clusterIPs").and_then(Value::as_array).map(Vec::as_slice) {
        Some([only]) => only == "None",
        Some([_, ..]) => false,
        Some([]) | None => spec.get("clusterIP").is_some_and(|address| address == "None"),
    }
}

/// A Service, checked in the order in which the server does it.
pub(super) fn service(object: &Value, old: Option<&Value>, errors: &mut Errors) {
    let service = Service { object, spec: Place::top(object.get("spec"), "spec"), old };
    if let Some(old) = old {
        update(&service, Place::top(old.get("spec"), "spec"), errors);
    }
    topology(object, errors);
    if service.spec.field("ports").is_empty() && !service.is_headless() && !service.is("ExternalName") {
        service.spec.field("ports").required("", errors);
    }
    by_type(&service, errors);
    ports(&service, errors);
    service.spec.field("selector").labels(errors);
    affinity(&service.spec, errors);
    let before = service.before("clusterIPs");
    cluster_addresses(&service.spec, &before, errors);
    external_addresses(&service, errors);
    service.spec.field("type").supported(&["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"], errors);
    node_ports(&service, errors);
    same_ports(&service.spec, errors);
    source_ranges(&service, errors);
    if service.spec.field("allocateLoadBalancerNodePorts").is_set() && !service.is("LoadBalancer") {
        service.spec.field("allocateLoadBalancerNodePorts").forbidden(FOR_BALANCERS, errors);
    }
    balancer_class(&service, errors);
    external_traffic(&service, errors);
    service.spec.field("internalTrafficPolicy").one_of(&["Cluster", "Local"], errors);
    let distributions = ["PreferClose", "PreferSameZone", "PreferSameNode"];
    service.spec.field("trafficDistribution").one_of(&distributions, errors);
}

/// Two annotations that say the same thing must agree.
fn topology(object: &Value, errors: &mut Errors) {
    const MODE: &str = "service.kubernetes.io/topology-mode";
    const HINTS: &str = "service.kubernetes.io/topology-aware-hints";
    if let (Some(mode), Some(hints)) = (annotation(object, MODE), annotation(object, HINTS))
        && mode != hints
    {
        let field = format!("metadata.annotations[{MODE}]");
        let detail = format!("must match annotations[{HINTS}] when both are specified");
        errors.push(FieldError::invalid(field, &json!(mode), &detail));
    }
}

fn by_type(service: &Service<'_>, errors: &mut Errors) {
    let kind = service.kind();
    if matches!(kind, "LoadBalancer" | "NodePort") && service.is_headless() {
        let detail = format!("may not be set to 'None' for {kind} services");
        errors.push(FieldError::invalid("spec.clusterIPs[0]", &json!("None"), &detail));
    }
    if kind == "ExternalName" {
        external_name(&service.spec, errors);
    }
}

fn external_name(spec: &Place<'_>, errors: &mut Errors) {
    for field in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        let place = spec.field(field);
        if !place.is_empty() {
            place.forbidden("may not be set for ExternalName services", errors);
        }
    }
    let place = spec.field("externalName");
    let name = place.text().strip_suffix('.').unwrap_or(place.text());
    if name.is_empty() {
        place.required("", errors);
    }
    let faults = if name.is_empty() { Vec::new() } else { names::subdomain_faults(name) };
    faults.iter().for_each(|fault| place.invalid_as(name, fault, errors));
}

fn ports(service: &Service<'_>, errors: &mut Errors) {
    let ports = service.spec.field("ports");
    let several = ports.items().count() > 1;
    let mut seen = BTreeSet::new();
    for port in ports.items() {
        port_name(&port.field("name"), several, &mut seen, errors);
        port.field("port").port_number(errors);
        port.field("protocol").one_of(&["SCTP", "TCP", "UDP"], errors);
        if !service.is("ExternalName") || port.field("targetPort").is_set() {
            port.field("targetPort").port(errors);
        }
        if port.field("appProtocol").is_set() {
            port.field("appProtocol").named(names::qualified_name_faults, errors);
        }
    }
}

fn port_name(name: &Place<'_>, is_needed: bool, seen: &mut BTreeSet<String>, errors: &mut Errors) {
    if name.is_empty() {
        if is_needed {
            name.required("", errors);
        }
        return;
    }
    name.named(names::label_faults, errors);
    if !seen.insert(name.text().to_owned()) {
        name.duplicate(errors);
    }
}

/// Source: `validateClientIPAffinityConfig`.
fn affinity(spec: &Place<'_>, errors: &mut Errors) {
    let (kind, config) = (spec.field("sessionAffinity"), spec.field("sessionAffinityConfig"));
    kind.supported(&["ClientIP", "None"], errors);
    match kind.text() {
        "ClientIP" => {
            let client = config.field("clientIP");
            let seconds = client.field("timeoutSeconds");
            if !(1..=86_400).contains(&seconds.number_or_zero()) {
                seconds.invalid_number("must be greater than 0 and less than 86400", errors);
            }
        }
        "None" if config.is_set() => {
            config.forbidden("must not be set when session affinity is None", errors);
        }
        _ => {}
    }
}

/// What is wrong with the addresses in the spec of a new Service as a client sent it.
pub(in super::super) fn asked_addresses(spec: &Value) -> Vec<FieldError> {
    let mut errors = Errors::new();
    cluster_addresses(&Place::top(Some(spec), "spec"), &[], &mut errors);
    errors
}

/// Addresses, families, and the policy on how many of them there are.
///
/// Source: `ValidateServiceClusterIPsRelatedFields`.
fn cluster_addresses(spec: &Place<'_>, before: &[&str], errors: &mut Errors) {
    if spec.field("type").text() == "ExternalName" {
        return;
    }
    let (one, all) = (spec.field("clusterIP"), spec.field("clusterIPs"));
    let addresses = all.texts();
    match (one.text(), addresses.first()) {
        ("", Some(_)) => all.invalid("must be empty when `clusterIP` is not specified", errors),
        ("", None) => {}
        (_, None) => all.required("", errors),
        (text, Some(first)) if text != *first => all.invalid("first value must match `clusterIP`", errors),
        _ => {}
    }
    families(spec, errors);
    let fit = valid_addresses(&all, before, errors);
    if addresses.len() > 2 {
        all.invalid("may only hold up to 2 values", errors);
    }
    if fit {
        of_two_families(&all, errors);
        if !is_headless(spec.value) {
            of_their_families(spec, errors);
        }
    }
}

fn families(spec: &Place<'_>, errors: &mut Errors) {
    let mut seen = BTreeSet::new();
    let families = spec.field("ipFamilies");
    for family in families.items() {
        family.supported(&["IPv4", "IPv6"], errors);
        if !seen.insert(family.text().to_owned()) {
            family.duplicate(errors);
        }
    }
    let policies = ["PreferDualStack", "RequireDualStack", "SingleStack"];
    spec.field("ipFamilyPolicy").one_of(&policies, errors);
}

fn valid_addresses(all: &Place<'_>, before: &[&str], errors: &mut Errors) -> bool {
    let mut fit = true;
    for (at, address) in all.items().enumerate() {
        if at > 0 || address.text() != "None" {
            fit &= asked::address(&address, before, errors);
        } else if all.items().count() > 1 {
            all.invalid("'None' must be the first and only value", errors);
            fit = false;
        }
    }
    fit
}

fn is_v6(text: &str) -> bool {
    matches!(asked::parse_address(text), Some(IpAddr::V6(_)))
}

fn of_two_families(all: &Place<'_>, errors: &mut Errors) {
    let addresses = all.texts();
    let both = addresses.iter().any(|one| is_v6(one)) && addresses.iter().any(|one| !is_v6(one));
    if addresses.len() > 1 && !both {
        all.invalid("may specify no more than one IP for each IP family", errors);
    }
}

fn of_their_families(spec: &Place<'_>, errors: &mut Errors) {
    let (all, families) = (spec.field("clusterIPs"), spec.field("ipFamilies"));
    for (at, (address, family)) in all.items().zip(families.texts()).enumerate() {
        if matches!(family, "IPv4" | "IPv6") && (family == "IPv6") != is_v6(address.text()) {
            let detail = format!("expected an {family} value as indicated by `ipFamilies[{at}]`");
            address.invalid_text(&detail, errors);
        }
    }
}

/// Source: `ValidateEndpointIP`.
fn external_addresses(service: &Service<'_>, errors: &mut Errors) {
    let (before, addresses) = (service.before("externalIPs"), service.spec.field("externalIPs"));
    for address in addresses.items() {
        if asked::address(&address, &before, errors) {
            public_address(&address, errors);
        }
    }
}

fn public_address(place: &Place<'_>, errors: &mut Errors) {
    let Some(address) = asked::parse_address(place.text()) else {
        place.invalid_text("must be a valid IP address", errors);
        return;
    };
    let unspecified = format!("may not be unspecified ({})", place.text());
    let (local, multicast) = match address {
        IpAddr::V4(v4) => (v4.is_link_local(), matches!(v4.octets(), [224, 0, 0, _])),
        IpAddr::V6(v6) => (v6.is_unicast_link_local(), matches!(v6.segments()[0] & 0xff0f, 0xff02)),
    };
    for (is_so, detail) in [
        (address.is_unspecified(), unspecified.as_str()),
        (address.is_loopback(), "may not be in the loopback range (127.0.0.0/8, ::1/128)"),
        (local, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"),
        (multicast, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"),
    ] {
        if is_so {
            place.invalid_text(detail, errors);
        }
    }
}

fn node_ports(service: &Service<'_>, errors: &mut Errors) {
    let ports = service.spec.field("ports");
    if service.is("ClusterIP") {
        for port in ports.items().filter(|port| port.field("nodePort").number_or_zero() != 0) {
            port.field("nodePort").forbidden("may not be used when `type` is 'ClusterIP'", errors);
        }
    }
    let mut seen = BTreeSet::new();
    for port in ports.items() {
        let number = port.field("nodePort").number_or_zero();
        if number != 0 && !seen.insert((port.field("protocol").text().to_owned(), number)) {
            port.field("nodePort").duplicate(errors);
        }
    }
}

/// No two ports have the same number and protocol; the server shows the port with these alone.
fn same_ports(spec: &Place<'_>, errors: &mut Errors) {
    let mut seen = BTreeSet::new();
    let ports = spec.field("ports");
    for port in ports.items() {
        let (protocol, number) = (port.field("protocol"), port.field("port").number_or_zero());
        if !seen.insert((protocol.text().to_owned(), number)) {
            let body = format!(
                "Duplicate value: {{\"Name\":\"\",\"Protocol\":{},\"AppProtocol\":null,\"Port\":{number},\
                 \"TargetPort\":0,\"NodePort\":0}}",
                json!(protocol.text())
            );
            let cause = crate::schema::Cause::Duplicate;
            errors.push(FieldError { cause, field: port.name(), body });
        }
    }
}

/// Whom a load balancer lets in: by a field, whose name the server spells with a capital, or by an annotation.
fn source_ranges(service: &Service<'_>, errors: &mut Errors) {
    let (ranges, before) =
        (service.spec.field("loadBalancerSourceRanges"), service.before("loadBalancerSourceRanges"));
    if ranges.is_empty() {
        return annotated_ranges(service, errors);
    }
    let named = Place::top(Some(ranges.value), "spec.LoadBalancerSourceRanges");
    if !service.is("LoadBalancer") {
        named.forbidden(FOR_BALANCERS, errors);
    }
    let before: Vec<&str> = before.into_iter().map(str::trim).collect();
    named.items().for_each(|range| asked::network(&range, range.text().trim(), &before, errors));
}

fn annotated_ranges(service: &Service<'_>, errors: &mut Errors) {
    let Some(ranges) = annotation(service.object, RANGES) else { return };
    let field = format!("metadata.annotations[{RANGES}]");
    let place = Place::top(None, &field);
    if !service.is("LoadBalancer") {
        place.forbidden(FOR_BALANCERS, errors);
    }
    let is_new = service.old.is_none_or(|old| annotation(old, RANGES) != Some(ranges));
    if is_new && !ranges.trim().is_empty() {
        ranges.trim().split(',').for_each(|range| asked::network(&place, range.trim(), &[], errors));
    }
}

fn balancer_class(service: &Service<'_>, errors: &mut Errors) {
    let class = service.spec.field("loadBalancerClass");
    match class.is_set() {
        true if service.is("LoadBalancer") => class.named(names::qualified_name_faults, errors),
        true => class.forbidden(FOR_BALANCERS, errors),
        false => {}
    }
}

/// Source: `validateServiceExternalTrafficPolicy`.
fn external_traffic(service: &Service<'_>, errors: &mut Errors) {
    let spec = &service.spec;
    let policy = spec.field("externalTrafficPolicy");
    let is_external = matches!(service.kind(), "LoadBalancer" | "NodePort")
        || service.is("ClusterIP") && !spec.field("externalIPs").is_empty();
    match (is_external, policy.is_empty()) {
        (false, false) => policy.invalid("may only be set for externally-accessible services", errors),
        (true, true) => policy.required("", errors),
        (true, false) => policy.supported(&["Cluster", "Local"], errors),
        (false, true) => {}
    }
    let port = spec.field("healthCheckNodePort");
    let number = port.number_or_zero();
    if needs_health_check(spec.value) {
        // The server chooses one where none is given, so none is never missed.
        if number != 0 {
            port.port_number(errors);
        }
    } else if number != 0 {
        let detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
        port.invalid(detail, errors);
    }
}

/// Whether a load balancer asks nodes for pods of this Service.
fn needs_health_check(spec: &Value) -> bool {
    let has = |field: &str, text: &str| spec.get(field).is_some_and(|value| value == text);
    has("type", "LoadBalancer") && has("externalTrafficPolicy", "Local")
}

/// Source: `ValidateServiceUpdate`.
fn update(service: &Service<'_>, old: Place<'_>, errors: &mut Errors) {
    let spec = &service.spec;
    let external = |spec: &Place<'_>| spec.field("type").text() == "ExternalName";
    if !external(spec) && !external(&old) {
        kept_addresses(spec, &old, errors);
        kept_families(spec, &old, errors);
    }
    let (class, before) = (spec.field("loadBalancerClass"), old.field("loadBalancerClass"));
    if service.is("LoadBalancer") && old.field("type").text() == "LoadBalancer" && class.value != before.value
    {
        class.invalid(ONCE, errors);
    }
    balancer_class(service, errors);
    let (port, before) = (spec.field("healthCheckNodePort"), old.field("healthCheckNodePort"));
    let checked = needs_health_check(spec.value) && needs_health_check(old.value);
    if checked && port.number_or_zero() != before.number_or_zero() {
        port.forbidden(asked::IMMUTABLE, errors);
    }
}

/// Source: `validateUpgradeDowngradeClusterIPs`.
fn kept_addresses(spec: &Place<'_>, old: &Place<'_>, errors: &mut Errors) {
    if is_headless(spec.value) && is_headless(old.value) {
        return;
    }
    let all = spec.field("clusterIPs");
    let (new, before) = (all.texts(), old.field("clusterIPs"));
    let before = before.texts();
    let mut told = |at: usize, detail: &str| {
        errors.push(FieldError::invalid(format!("spec.clusterIPs[{at}]"), all.value, detail));
    };
    if new.len() == before.len() {
        let changed = (0..new.len()).filter(|at| new.get(*at) != before.get(*at));
        changed.for_each(|at| told(at, ONCE));
        return;
    }
    if new.is_empty() {
        told(0, "primary clusterIP can not be unset");
    } else if !before.is_empty() && new.first() != before.first() {
        told(0, ONCE);
    }
    if before.len() > new.len() && new.len() == 1 {
        released(spec, "clusterIP", errors);
    }
}

/// Source: `validateUpgradeDowngradeIPFamilies`; some of its errors show the addresses.
fn kept_families(spec: &Place<'_>, old: &Place<'_>, errors: &mut Errors) {
    if is_headless(spec.value) || is_headless(old.value) {
        return;
    }
    let (all, before) = (spec.field("ipFamilies"), old.field("ipFamilies"));
    let (new, before) = (all.texts(), before.texts());
    let mut told = |shown: &Value| errors.push(FieldError::invalid("spec.ipFamilies[0]", shown, ONCE));
    if new.len() == before.len() {
        let changed = new.iter().zip(&before).filter(|(new, before)| new != before);
        changed.for_each(|_| told(all.value));
        return;
    }
    if !new.is_empty() && !before.is_empty() && new.first() != before.first() {
        told(spec.field("clusterIPs").value);
    }
    if before.len() > new.len() && new.len() == 1 {
        released(spec, "ipFamily", errors);
    }
}

/// Who gives the second address back says so by the policy.
fn released(spec: &Place<'_>, what: &str, errors: &mut Errors) {
    let policy = spec.field("ipFamilyPolicy");
    if policy.text() != "SingleStack" {
        let detail = format!("must be set to 'SingleStack' when releasing the secondary {what}");
        policy.invalid(&detail, errors);
    }
}
