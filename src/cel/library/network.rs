//! Addresses: `ip`, `cidr`, `url` and what can be asked of them.

use std::net::IpAddr;

use ::cel::Value;
use ::cel::objects::Opaque;

use crate::cel::functions::Shape::{self, Bool, Int, Map, Text};
use crate::cel::functions::{Overload, overload};
use crate::cel::library::{opaque, string, text, wrap};

const IP: Shape = Shape::Opaque("net.IP");
const CIDR: Shape = Shape::Opaque("net.CIDR");
const URL: Shape = Shape::Opaque("kubernetes.URL");

pub(in crate::cel) const OVERLOADS: &[Overload] = &[
    overload!("ip" (Text) -> IP, ip),
    overload!("isIP" (Text) -> Bool, is_ip),
    overload!("ip.isCanonical" (Text) -> Bool, is_canonical),
    overload!(member "family" (IP) -> Int, family),
    overload!(member "isUnspecified" (IP) -> Bool, is_unspecified),
    overload!(member "isLoopback" (IP) -> Bool, is_loopback),
    overload!(member "isLinkLocalMulticast" (IP) -> Bool, is_link_local_multicast),
    overload!(member "isLinkLocalUnicast" (IP) -> Bool, is_link_local_unicast),
    overload!(member "isGlobalUnicast" (IP) -> Bool, is_global_unicast),
    overload!("cidr" (Text) -> CIDR, cidr),
    overload!("isCIDR" (Text) -> Bool, is_cidr),
    overload!(member "containsIP" (CIDR, Text) -> Bool, contains_ip),
    overload!(member "containsIP" (CIDR, IP) -> Bool, contains_ip),
    overload!(member "containsCIDR" (CIDR, Text) -> Bool, contains_cidr),
    overload!(member "containsCIDR" (CIDR, CIDR) -> Bool, contains_cidr),
    overload!(member "ip" (CIDR) -> IP, cidr_ip),
    overload!(member "masked" (CIDR) -> CIDR, masked),
    overload!(member "prefixLength" (CIDR) -> Int, prefix_length),
    overload!("url" (Text) -> URL, url),
    overload!("isURL" (Text) -> Bool, is_url),
    overload!(member "getScheme" (URL) -> Text, scheme),
    overload!(member "getHost" (URL) -> Text, host),
    overload!(member "getHostname" (URL) -> Text, hostname),
    overload!(member "getPort" (URL) -> Text, port),
    overload!(member "getEscapedPath" (URL) -> Text, path),
    overload!(member "getQuery" (URL) -> Map, query),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ip(IpAddr);

impl Opaque for Ip {
    fn runtime_type_name(&self) -> &str {
        "net.IP"
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cidr {
    address: IpAddr,
    bits: u8,
}

impl Opaque for Cidr {
    fn runtime_type_name(&self) -> &str {
        "net.CIDR"
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Url(::url::Url);

impl Opaque for Url {
    fn runtime_type_name(&self) -> &str {
        "kubernetes.URL"
    }
}

/// An address; one of IPv4 in the clothes of IPv6 is refused.
fn parse_ip(source: &str) -> Result<IpAddr, String> {
    let address: IpAddr = source.parse().map_err(|_| format!("IP Address {source:?} parse error during conversion from string: ParseAddr({source:?}): unable to parse IP"))?;
    match address {
        IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() => {
            Err(format!("IPv4-mapped IPv6 address {source:?} is not allowed"))
        }
        address => Ok(address),
    }
}

fn ip(args: &[Value]) -> Result<Value, String> {
    parse_ip(text(args.first())?).map(|address| wrap(Ip(address)))
}

fn is_ip(args: &[Value]) -> Result<Value, String> {
    Ok(Value::Bool(parse_ip(text(args.first())?).is_ok()))
}

fn is_canonical(args: &[Value]) -> Result<Value, String> {
    let source = text(args.first())?;
    Ok(Value::Bool(parse_ip(source)?.to_string() == source))
}

fn of_ip(args: &[Value], ask: impl Fn(IpAddr) -> bool) -> Result<Value, String> {
    Ok(Value::Bool(ask(opaque::<Ip>(args.first())?.0)))
}

fn family(args: &[Value]) -> Result<Value, String> {
    Ok(Value::Int(if opaque::<Ip>(args.first())?.0.is_ipv4() { 4 } else { 6 }))
}

fn is_unspecified(args: &[Value]) -> Result<Value, String> {
    of_ip(args, |ip| ip.is_unspecified())
}

fn is_loopback(args: &[Value]) -> Result<Value, String> {
    of_ip(args, |ip| ip.is_loopback())
}

fn link_local_multicast(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => matches!(v4.octets(), [224, 0, 0, _]),
        IpAddr::V6(v6) => v6.segments().first().is_some_and(|first| first & 0xff0f == 0xff02),
    }
}

fn link_local_unicast(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    }
}

fn is_link_local_multicast(args: &[Value]) -> Result<Value, String> {
    of_ip(args, link_local_multicast)
}

fn is_link_local_unicast(args: &[Value]) -> Result<Value, String> {
    of_ip(args, link_local_unicast)
}

fn is_global_unicast(args: &[Value]) -> Result<Value, String> {
    let broadcast = |ip| matches!(ip, IpAddr::V4(v4) if v4.is_broadcast());
    of_ip(args, |ip| {
        !(ip.is_unspecified()
            || ip.is_loopback()
            || ip.is_multicast()
            || link_local_unicast(ip)
            || broadcast(ip))
    })
}

fn parse_cidr(source: &str) -> Result<Cidr, String> {
    let failed = || {
        format!("network address parse error during conversion from string: netip.ParsePrefix({source:?})")
    };
    let (address, bits) = source.split_once('/').ok_or_else(failed)?;
    let plain = bits == "0" || !bits.starts_with(['0', '+']);
    let bits: u8 = bits.parse().ok().filter(|_| plain).ok_or_else(failed)?;
    let address = parse_ip(address)?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    if bits > most { Err(failed()) } else { Ok(Cidr { address, bits }) }
}

/// The address with everything behind the prefix cleared, as a number with its width.
fn network(address: IpAddr, bits: u8) -> u128 {
    let (number, width) = match address {
        IpAddr::V4(v4) => (u128::from(u32::from(v4)), 32),
        IpAddr::V6(v6) => (u128::from(v6), 128),
    };
    let gone = 128_u32.min(width - u32::from(bits).min(width));
    number.checked_shr(gone).and_then(|kept| kept.checked_shl(gone)).unwrap_or(0)
}

fn holds(cidr: Cidr, address: IpAddr) -> bool {
    cidr.address.is_ipv4() == address.is_ipv4()
        && network(cidr.address, cidr.bits) == network(address, cidr.bits)
}

fn cidr(args: &[Value]) -> Result<Value, String> {
    parse_cidr(text(args.first())?).map(wrap)
}

fn is_cidr(args: &[Value]) -> Result<Value, String> {
    Ok(Value::Bool(parse_cidr(text(args.first())?).is_ok()))
}

fn contains_ip(args: &[Value]) -> Result<Value, String> {
    let address = match args.get(1) {
        Some(Value::String(source)) => parse_ip(source)?,
        other => opaque::<Ip>(other)?.0,
    };
    Ok(Value::Bool(holds(*opaque::<Cidr>(args.first())?, address)))
}

fn contains_cidr(args: &[Value]) -> Result<Value, String> {
    let other = match args.get(1) {
        Some(Value::String(source)) => parse_cidr(source)?,
        other => *opaque::<Cidr>(other)?,
    };
    let cidr = *opaque::<Cidr>(args.first())?;
    Ok(Value::Bool(other.bits >= cidr.bits && holds(cidr, other.address)))
}

fn cidr_ip(args: &[Value]) -> Result<Value, String> {
    Ok(wrap(Ip(opaque::<Cidr>(args.first())?.address)))
}

fn masked(args: &[Value]) -> Result<Value, String> {
    let cidr = *opaque::<Cidr>(args.first())?;
    let number = network(cidr.address, cidr.bits);
    let address = match cidr.address {
        IpAddr::V4(_) => IpAddr::V4(u32::try_from(number).unwrap_or_default().into()),
        IpAddr::V6(_) => IpAddr::V6(number.into()),
    };
    Ok(wrap(Cidr { address, ..cidr }))
}

fn prefix_length(args: &[Value]) -> Result<Value, String> {
    Ok(Value::Int(i64::from(opaque::<Cidr>(args.first())?.bits)))
}

/// An absolute URL, or an absolute path, as Go's `url.ParseRequestURI` takes them.
fn parse_url(source: &str) -> Result<::url::Url, String> {
    let failed =
        |why: &str| format!("URL parse error during conversion from string: parse {source:?}: {why}");
    if source.is_empty() {
        return Err(failed("empty url"));
    }
    if source.starts_with('/') {
        return ::url::Url::parse(&format!("path-only:{source}")).map_err(|why| failed(&why.to_string()));
    }
    if !source.contains(':') {
        return Err(failed("invalid URI for request"));
    }
    ::url::Url::parse(source).map_err(|why| failed(&why.to_string()))
}

fn url(args: &[Value]) -> Result<Value, String> {
    parse_url(text(args.first())?).map(|url| wrap(Url(url)))
}

fn is_url(args: &[Value]) -> Result<Value, String> {
    Ok(Value::Bool(parse_url(text(args.first())?).is_ok()))
}

fn of_url(args: &[Value], ask: impl Fn(&::url::Url) -> String) -> Result<Value, String> {
    Ok(string(ask(&opaque::<Url>(args.first())?.0)))
}

fn scheme(args: &[Value]) -> Result<Value, String> {
    of_url(args, |url| if url.scheme() == "path-only" { String::new() } else { url.scheme().to_owned() })
}

fn host(args: &[Value]) -> Result<Value, String> {
    of_url(args, |url| {
        let host = url.host_str().unwrap_or("");
        url.port().map_or(host.to_owned(), |port| format!("{host}:{port}"))
    })
}

fn hostname(args: &[Value]) -> Result<Value, String> {
    of_url(args, |url| url.host_str().unwrap_or("").trim_start_matches('[').trim_end_matches(']').to_owned())
}

fn port(args: &[Value]) -> Result<Value, String> {
    of_url(args, |url| url.port().map_or(String::new(), |port| port.to_string()))
}

fn path(args: &[Value]) -> Result<Value, String> {
    of_url(args, |url| url.path().to_owned())
}

fn query(args: &[Value]) -> Result<Value, String> {
    let url = &opaque::<Url>(args.first())?.0;
    let mut members: std::collections::BTreeMap<String, Vec<Value>> = std::collections::BTreeMap::new();
    for (name, value) in url.query_pairs() {
        members.entry(name.into_owned()).or_default().push(string(value));
    }
    Ok(crate::cel::map(members.into_iter().map(|(name, values)| (name, crate::cel::list(values)))))
}
