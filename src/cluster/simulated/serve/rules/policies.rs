//! Network policies.
//!
//! Source: Kubernetes 1.34.3, `pkg/apis/networking/validation/validation.go`, `ValidateNetworkPolicySpec` and what it
//! calls.

use serde_json::Value;

use super::asked::{self, Network};
use super::place::{Errors, Place};
use crate::k8s::At as _;
use crate::k8s::items;

/// What the stored policy has: its networks may stay, and a wrong value in its selector lets others be wrong.
#[derive(Clone, Copy)]
struct Before<'o> {
    selector: Option<&'o Value>,
    networks: &'o [&'o str],
}

/// A network policy.
pub(super) fn policy(object: &Value, old: Option<&Value>, errors: &mut Errors) {
    let networks: Vec<&str> = old.into_iter().flat_map(networks_of).collect();
    let before = Before { selector: old.and_then(|old| old.at("/spec/podSelector")), networks: &networks };
    let spec = Place::top(object.get("spec"), "spec");
    spec.field("podSelector").selector_after(before.selector, errors);
    for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
        for rule in spec.field(direction).items() {
            rule.field("ports").items().for_each(|one| port(&one, errors));
            rule.field(peers).items().for_each(|one| peer(&one, before, errors));
        }
    }
    let kinds = spec.field("policyTypes");
    if kinds.items().count() > 2 {
        return kinds.invalid("may not specify more than two policyTypes", errors);
    }
    kinds.items().for_each(|kind| kind.supported(&["Ingress", "Egress"], errors));
}

fn networks_of(policy: &Value) -> Vec<&str> {
    let rules = |direction: &'static str, peers: &'static str| {
        items(policy, direction)
            .flat_map(move |rule| items(rule, peers))
            .filter_map(|peer| peer.get("ipBlock"))
    };
    let blocks = rules("/spec/ingress", "/from").chain(rules("/spec/egress", "/to"));
    let mut found = Vec::new();
    for block in blocks {
        found.push(crate::k8s::text(block, "/cidr"));
        found.extend(items(block, "/except").filter_map(Value::as_str));
    }
    found
}

/// Source: `ValidateNetworkPolicyPort`.
fn port(place: &Place<'_>, errors: &mut Errors) {
    let (protocol, port, end) = (place.field("protocol"), place.field("port"), place.field("endPort"));
    protocol.one_of(&["TCP", "UDP", "SCTP"], errors);
    match port.value {
        Value::Null if end.is_set() => {
            end.invalid("may not be specified when `port` is not specified", errors);
        }
        Value::Null => {}
        Value::String(_) => {
            if end.is_set() {
                end.invalid("may not be specified when `port` is non-numeric", errors);
            }
            port.port(errors);
        }
        _ => {
            port.port_number(errors);
            if end.is_set() {
                port_range(&port, &end, errors);
            }
        }
    }
}

/// The end of a range comes after its start, which is what the server shows.
fn port_range(port: &Place<'_>, end: &Place<'_>, errors: &mut Errors) {
    if end.number_or_zero() < port.number_or_zero() {
        let shown = port.number_or_zero().to_string();
        end.invalid_shown(&shown, "must be greater than or equal to `port`", errors);
    }
    end.port_number(errors);
}

/// Source: `ValidateNetworkPolicyPeer`.
fn peer(place: &Place<'_>, before: Before<'_>, errors: &mut Errors) {
    let selectors = [place.field("podSelector"), place.field("namespaceSelector")];
    let block = place.field("ipBlock");
    for selector in selectors.iter().filter(|selector| selector.is_set()) {
        selector.selector_after(before.selector, errors);
    }
    if block.is_set() {
        networks(&block, before.networks, errors);
    }
    let selected = selectors.iter().any(Place::is_set);
    if !selected && !block.is_set() {
        place.required("must specify a peer", errors);
    } else if selected && block.is_set() {
        place.forbidden("may not specify both ipBlock and another peer", errors);
    }
}

/// Source: `ValidateIPBlock`.
fn networks(block: &Place<'_>, before: &[&str], errors: &mut Errors) {
    let whole = block.field("cidr");
    if !whole.needed(errors) {
        return;
    }
    asked::network(&whole, whole.text(), before, errors);
    let Some(network) = Network::parse(whole.text()) else { return };
    for part in block.field("except").items() {
        asked::network(&part, part.text(), before, errors);
        if Network::parse(part.text()).is_some_and(|part| !network.strictly_contains(&part)) {
            part.invalid_text("must be a strict subset of `cidr`", errors);
        }
    }
}
