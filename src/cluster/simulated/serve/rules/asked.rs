//! What rules of several kinds ask of values: names, resources, quantities, addresses, versions.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde_json::{Value, json};

use super::place::{Errors, Place};
use crate::k8s::names;
use crate::k8s::quantity::billionths;
use crate::schema::{Cause, FieldError};

/// What immutable fields hear.
pub(super) const IMMUTABLE: &str = "field is immutable";

impl<'p> Place<'p> {
    /// `Invalid value` that shows something else than what stands here, as JSON.
    pub(super) fn invalid_shown(&self, shown: &str, detail: &str, errors: &mut Errors) {
        errors.push(FieldError::showing(Cause::Invalid, self.name(), shown, detail));
    }

    /// `Invalid value` of some other text.
    pub(super) fn invalid_as(&self, shown: &str, detail: &str, errors: &mut Errors) {
        errors.push(FieldError::invalid(self.name(), &json!(shown), detail));
    }

    /// A text must be one of these, an absent one as well.
    pub(super) fn supported(&self, supported: &[&str], errors: &mut Errors) {
        if !supported.contains(&self.text()) {
            self.unsupported(&json!(self.text()), supported, errors);
        }
    }

    /// `Unsupported value` of any kind of value.
    pub(super) fn unsupported(&self, value: &Value, supported: &[&str], errors: &mut Errors) {
        let supported: Vec<String> = supported.iter().map(|one| (*one).to_owned()).collect();
        errors.push(FieldError::not_supported(self.name(), value, &supported));
    }

    /// A text must be there and look as a check of [`names`] wants it.
    pub(super) fn needed_named(&self, faults: fn(&str) -> names::Faults, errors: &mut Errors) {
        if self.needed(errors) {
            self.named(faults, errors);
        }
    }

    /// The number; zero where there is none.
    pub(super) fn number_or_zero(&self) -> i64 {
        self.number().unwrap_or(0)
    }

    /// `Invalid value` of a number, zero where there is none.
    pub(super) fn invalid_number(&self, detail: &str, errors: &mut Errors) {
        errors.push(FieldError::invalid(self.name(), &json!(self.number_or_zero()), detail));
    }

    /// The text as written, numbers too.
    pub(super) fn spelled(&self) -> String {
        self.value.as_str().map_or_else(|| self.value.to_string(), str::to_owned)
    }

    /// The quantity in billionths, if one stands here.
    pub(super) fn quantity(&self) -> Option<i128> {
        billionths(&self.spelled())
    }

    /// The texts of a list.
    pub(super) fn texts(&self) -> Vec<&'p str> {
        self.value.as_array().into_iter().flatten().map(|one| one.as_str().unwrap_or_default()).collect()
    }

    /// A selector of labels; values that are stored already may stay as they are.
    pub(super) fn selector_after(&self, old: Option<&Value>, errors: &mut Errors) {
        let mut found = Errors::new();
        self.selector(&mut found);
        if old.is_some_and(has_invalid_value) {
            let values = format!("{}.matchExpressions[", self.name());
            found.retain(|error| !(error.field.starts_with(&values) && error.field.contains("].values[")));
        }
        errors.append(&mut found);
    }

    /// Refuses a change of what stands here.
    pub(super) fn unchanged(&self, old: &Place<'_>, errors: &mut Errors) {
        if self.value != old.value {
            self.invalid(IMMUTABLE, errors);
        }
    }
}

/// Whether a stored selector has a value that none may have: then the new one may have such too.
///
/// Source: apimachinery 0.34.3, `pkg/apis/meta/v1/validation/validation.go`, `LabelSelectorHasInvalidLabelValue`.
pub(super) fn has_invalid_value(selector: &Value) -> bool {
    let expressions = selector.get("matchExpressions").and_then(Value::as_array).into_iter().flatten();
    let values = expressions.filter_map(|one| one.get("values")?.as_array()).flatten();
    values.filter_map(Value::as_str).any(|value| !names::label_value_faults(value).is_empty())
}

/// An address as the server reads it: zeros in front of its numbers do no harm, and IPv4 within IPv6 is IPv4.
pub(super) fn parse_address(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse::<Ipv6Addr>() {
        return Some(address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4));
    }
    let parts: Option<Vec<u8>> = text.split('.').map(octet).collect();
    let parts: [u8; 4] = parts?.try_into().ok()?;
    Some(IpAddr::V4(Ipv4Addr::from(parts)))
}

fn octet(part: &str) -> Option<u8> {
    let digits = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let plain = part.trim_start_matches('0');
    digits.then(|| if plain.is_empty() { Some(0) } else { plain.parse().ok() })?
}

/// A network: its address with the bits behind the prefix cleared, and the length of the prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Network {
    bits: u128,
    prefix: u32,
    is_v4: bool,
}

impl Network {
    /// Reads `address/prefix`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = text.split_once('/')?;
        let (bits, width, is_v4) = match parse_address(address)? {
            IpAddr::V4(address) if !address_is_long(text) => (u128::from(address.to_bits()), 32, true),
            IpAddr::V4(address) => (address.to_ipv6_mapped().to_bits(), 128, false),
            IpAddr::V6(address) => (address.to_bits(), 128, false),
        };
        let digits = !prefix.is_empty() && prefix.bytes().all(|b| b.is_ascii_digit());
        let prefix: u32 = digits.then(|| prefix.parse().ok())?.filter(|prefix| *prefix <= width)?;
        let host = 1_u128.checked_shl(width - prefix).map_or(u128::MAX, |size| size - 1);
        Some(Self { bits: bits & !host, prefix, is_v4 })
    }

    /// Whether the other network is a smaller one inside this one.
    pub(super) fn strictly_contains(&self, other: &Self) -> bool {
        let width = if self.is_v4 { 32 } else { 128 };
        let inside = |bits: u128| bits.checked_shr(width - self.prefix).unwrap_or(0);
        self.is_v4 == other.is_v4 && self.prefix < other.prefix && inside(self.bits) == inside(other.bits)
    }
}

fn address_is_long(text: &str) -> bool {
    text.contains(':')
}

/// An address must be one, unless the stored object has the same.
///
/// Source: apimachinery 0.34.3, `pkg/util/validation/ip.go`, `IsValidIPForLegacyField`, which is lenient in 1.34.
pub(super) fn address(place: &Place<'_>, before: &[&str], errors: &mut Errors) -> bool {
    let fits = before.contains(&place.text()) || parse_address(place.text()).is_some();
    if !fits {
        let detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
        place.invalid_text(detail, errors);
    }
    fits
}

/// A network must be one, unless the stored object has the same.
///
/// Source: apimachinery 0.34.3, `pkg/util/validation/ip.go`, `IsValidCIDRForLegacyField`, which is lenient in 1.34.
pub(super) fn network(place: &Place<'_>, text: &str, before: &[&str], errors: &mut Errors) {
    if !before.contains(&text) && Network::parse(text).is_none() {
        let detail = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
        place.invalid_as(text, detail, errors);
    }
}

/// Resources without a domain that a container may ask for; `hugepages-` come in any size.
const OF_CONTAINERS: &[&str] = &["cpu", "ephemeral-storage", "memory"];

/// Resources without a domain that a quota may limit; those of huge pages besides.
const OF_QUOTAS: &[&str] = &[
    "configmaps",
    "cpu",
    "ephemeral-storage",
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "memory",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
    "requests.storage",
    "resourcequotas",
    "secrets",
    "services",
    "services.loadbalancers",
    "services.nodeports",
];

/// Resources of which there are whole ones only.
const WHOLE: &[&str] = &[
    "configmaps",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "services",
    "services.loadbalancers",
    "services.nodeports",
];

/// Whether a resource is the size of huge pages.
pub(super) fn is_huge_page(name: &str) -> bool {
    name.starts_with("hugepages-")
}

fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// Whether more of a resource may be promised than there is.
pub(super) fn is_shared(name: &str) -> bool {
    is_native(name) && !is_huge_page(name)
}

fn is_extended(name: &str) -> bool {
    let in_quota = format!("requests.{name}");
    !is_native(name) && !name.starts_with("requests.") && names::qualified_name_faults(&in_quota).is_empty()
}

/// Whether a quota may limit a resource without a domain.
pub(super) fn is_of_quotas(name: &str) -> bool {
    OF_QUOTAS.contains(&name) || is_huge_page(name) || name.starts_with("requests.hugepages-")
}

/// The name of a resource, at the place that is named after it.
///
/// Source: Kubernetes 1.34.3 `pkg/apis/core/validation/validation.go`, `validateResourceName`.
pub(super) fn resource_name(name: &str, place: &Place<'_>, errors: &mut Errors) {
    let faults = names::qualified_name_faults(name);
    faults.iter().for_each(|fault| place.invalid_as(name, fault, errors));
    if faults.is_empty() && !name.contains('/') && name != "storage" && !is_of_quotas(name) {
        place.invalid_as(name, "must be a standard resource type or fully qualified", errors);
    }
}

/// The name of a resource of containers.
///
/// Source: `validateContainerResourceName`.
pub(super) fn container_resource_name(name: &str, place: &Place<'_>, errors: &mut Errors) {
    resource_name(name, place, errors);
    if !name.contains('/') {
        if !OF_CONTAINERS.contains(&name) && !is_huge_page(name) {
            place.invalid_as(name, "must be a standard resource for containers", errors);
        }
    } else if !is_native(name) && !is_extended(name) {
        place.invalid_as(name, "doesn't follow extended resource name standard", errors);
    }
}

/// How much of a resource: not less than nothing, and whole ones of what can't be parted.
///
/// Source: `ValidateResourceQuantityValue`.
pub(super) fn amount(name: &str, place: &Place<'_>, errors: &mut Errors) {
    let Some(value) = place.quantity() else { return };
    if value < 0 {
        place.invalid_as(&place.spelled(), "must be greater than or equal to 0", errors);
    }
    if (WHOLE.contains(&name) || is_extended(name)) && value % 1_000_000_000 != 0 {
        place.invalid_as(&place.spelled(), "must be an integer", errors);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_leniently() {
        for text in ["10.0.0.1", "010.002.3.4", "::1", "2001:db8::ffff", "::ffff:1.2.3.4"] {
            assert!(parse_address(text).is_some(), "{text}");
        }
        for text in ["", "foo", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.+4", "fe80::1%eth0"] {
            assert!(parse_address(text).is_none(), "{text}");
        }
    }

    #[test]
    fn networks_lie_within_each_other() {
        let network = |text: &str| Network::parse(text).unwrap();
        assert!(network("10.0.0.0/8").strictly_contains(&network("10.1.0.0/16")));
        assert!(!network("10.0.0.0/8").strictly_contains(&network("10.0.0.0/8")));
        assert!(!network("10.0.0.0/8").strictly_contains(&network("11.0.0.0/16")));
        assert!(network("0.0.0.0/0").strictly_contains(&network("192.168.0.0/16")));
        assert!(network("::/0").strictly_contains(&network("2001:db8::/64")));
        assert!(!network("::/0").strictly_contains(&network("10.0.0.0/8")));
        assert!(Network::parse("10.0.0.0/33").is_none() && Network::parse("10.0.0.0").is_none());
    }
}
