//! Certificates and private keys; what they are made of comes from the engine's clock and dice.

use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::encoding::decode_base64;
use super::keys::{self, Key, Kind, generate};
use super::pem::{self, bits, element, expect, integer, sequence, tag};
use super::{Engine, Fault, Func, Output, Param};
use crate::func;
use crate::go::quote;
use crate::template::object::{Field, Object};
use crate::template::types::Type;
use crate::template::value::{GoStr, List, Value};

/// Rows of this family, sorted by name.
pub(super) static FUNCS: &[Func] = &[
    func!("buildCustomCert", build_custom_cert),
    func!(engine "genCA", gen_ca),
    func!(engine "genCAWithKey", gen_ca_with_key),
    func!(engine "genPrivateKey", gen_private_key),
    func!(engine "genSelfSignedCert", gen_self_signed_cert),
    func!(engine "genSelfSignedCertWithKey", gen_self_signed_cert_with_key),
    func!(engine "genSignedCert", gen_signed_cert),
    func!(engine "genSignedCertWithKey", gen_signed_cert_with_key),
];

/// Sprig's `certificate`: a certificate and its key, both as PEM.
struct Certificate {
    fields: Vec<Field>,
}

impl Certificate {
    fn new(cert: impl Into<Value>, key: impl Into<Value>) -> Self {
        Self { fields: vec![Field::new("Cert", cert), Field::new("Key", key)] }
    }

    /// A field's text.
    fn text(&self, at: usize) -> &[u8] {
        self.fields.get(at).and_then(|field| field.value.as_str()).map_or(&[], |text| text.as_bytes())
    }
}

impl Object for Certificate {
    fn type_name(&self) -> &'static str {
        "sprig.certificate"
    }

    fn fields(&self) -> &[Field] {
        &self.fields
    }
}

impl Output for Certificate {
    const TYPE: Type = Type::Object("sprig.certificate");

    fn output(self) -> Result<Value, Fault> {
        Ok(Value::Object(Rc::new(self)))
    }
}

/// A certificate as an argument: its PEM and that of its key.
#[derive(Clone, Debug)]
struct Authority {
    cert: Vec<u8>,
    key: Vec<u8>,
}

impl Param for Authority {
    const TYPE: Type = Type::Object("sprig.certificate");
    type Arg<'a> = Authority;

    fn take(arguments: &mut &[Value]) -> Self {
        let Some((first, rest)) = arguments.split_first() else { return Self { cert: vec![], key: vec![] } };
        *arguments = rest;
        let text = |at| first.object::<Certificate>().map(|own| own.text(at).to_vec()).unwrap_or_default();
        Self { cert: text(0), key: text(1) }
    }
}

/// A private key in PEM: `rsa` (4096 bits), `dsa`, `ecdsa` (P-256) or `ed25519`.
///
/// ```tmpl
/// {{ genPrivateKey "ed25519" | trunc 27 }} → -----BEGIN PRIVATE KEY-----
/// ```
fn gen_private_key(engine: &mut dyn Engine, kind: &str) -> Result<String, Fault> {
    let kind = match kind {
        "" | "rsa" => Kind::Rsa(4096),
        "dsa" => Kind::Dsa,
        "ecdsa" => Kind::P256,
        "ed25519" => Kind::Ed25519,
        unknown => return Ok(format!("Unknown type {unknown}")),
    };
    generate(engine, kind)?.pem()
}

/// A certificate authority with a key of its own (RSA, 2048 bits), valid for so many days.
///
/// ```tmpl
/// {{ (genCA "an-authority" 365).Cert | trunc 27 }} → -----BEGIN CERTIFICATE-----
/// ```
fn gen_ca(engine: &mut dyn Engine, name: &[u8], days: i64) -> Result<Certificate, Fault> {
    let key = generate(engine, Kind::Rsa(2048))?;
    issue(engine, &Wanted::authority(name, days), &key, None)
}

/// A certificate authority with a given key.
///
/// ```tmpl
/// {{ (genCAWithKey "an-authority" 365 (genPrivateKey "ecdsa")).Key | trunc 30 }} → -----BEGIN EC PRIVATE KEY-----
/// ```
fn gen_ca_with_key(
    engine: &mut dyn Engine,
    name: &[u8],
    days: i64,
    key: &[u8],
) -> Result<Certificate, Fault> {
    let key = given(key)?;
    issue(engine, &Wanted::authority(name, days), &key, None)
}

/// A certificate that is signed by its own key (RSA, 2048 bits), for addresses and names.
///
/// ```tmpl
/// {{ (genSelfSignedCert "a.example" (list "10.0.0.1") (list "b.example") 365).Key | trunc 31 }} → -----BEGIN RSA PRIVATE KEY-----
/// ```
fn gen_self_signed_cert(
    engine: &mut dyn Engine,
    name: &[u8],
    addresses: &List,
    names: &List,
    days: i64,
) -> Result<Certificate, Fault> {
    let key = generate(engine, Kind::Rsa(2048))?;
    issue(engine, &Wanted::leaf(name, addresses, names, days)?, &key, None)
}

/// A certificate that is signed by its own, given key.
///
/// ```tmpl
/// {{ (genSelfSignedCertWithKey "a.example" nil nil 365 (genPrivateKey "ed25519")).Key | trunc 27 }} → -----BEGIN PRIVATE KEY-----
/// ```
fn gen_self_signed_cert_with_key(
    engine: &mut dyn Engine,
    name: &[u8],
    addresses: &List,
    names: &List,
    days: i64,
    key: &[u8],
) -> Result<Certificate, Fault> {
    let key = given(key)?;
    issue(engine, &Wanted::leaf(name, addresses, names, days)?, &key, None)
}

/// A certificate with a key of its own (RSA, 2048 bits) that an authority signs.
///
/// ```tmpl
/// {{ $ca := genCA "an-authority" 365 }}{{ (genSignedCert "a.example" nil nil 365 $ca).Cert | trunc 27 }} → -----BEGIN CERTIFICATE-----
/// ```
fn gen_signed_cert(
    engine: &mut dyn Engine,
    name: &[u8],
    addresses: &List,
    names: &List,
    days: i64,
    authority: Authority,
) -> Result<Certificate, Fault> {
    let key = generate(engine, Kind::Rsa(2048))?;
    signed_by(engine, authority, &key, || Wanted::leaf(name, addresses, names, days))
}

/// A certificate with a given key that an authority signs.
///
/// ```tmpl
/// {{ $key := genPrivateKey "ed25519" }}{{ $ca := genCAWithKey "an-authority" 365 $key }}{{ (genSignedCertWithKey "a.example" nil nil 365 $ca $key).Key | eq $key }} → true
/// ```
fn gen_signed_cert_with_key(
    engine: &mut dyn Engine,
    name: &[u8],
    addresses: &List,
    names: &List,
    days: i64,
    authority: Authority,
    key: &[u8],
) -> Result<Certificate, Fault> {
    let key = given(key)?;
    signed_by(engine, authority, &key, || Wanted::leaf(name, addresses, names, days))
}

/// A certificate that an authority signs; what is wrong with the authority is told before what is wrong with the wishes.
fn signed_by(
    engine: &mut dyn Engine,
    authority: Authority,
    key: &Key,
    wanted: impl FnOnce() -> Result<Wanted, Fault>,
) -> Result<Certificate, Fault> {
    let signer = Signer::read(authority)?;
    issue(engine, &wanted()?, key, Some(&signer))
}

/// A certificate and its key from base 64 of their PEM; refused when they are none.
///
/// ```tmpl
/// {{ $ca := genCAWithKey "an-authority" 365 (genPrivateKey "ed25519") }}{{ (buildCustomCert (b64enc $ca.Cert) (b64enc $ca.Key)).Cert | eq $ca.Cert }} → true
/// ```
fn build_custom_cert(cert: &[u8], key: &[u8]) -> Result<Certificate, Fault> {
    let cert = decode_base64(cert).map_err(|_| Fault::new("unable to decode base64 certificate"))?;
    let key = decode_base64(key).map_err(|_| Fault::new("unable to decode base64 private key"))?;
    parse(&cert, "decodedCert")?;
    keys::parse(&key).map_err(|error| Fault::new(format!("error parsing private key: {error}")))?;
    Ok(Certificate::new(GoStr::from(cert), GoStr::from(key)))
}

fn given(pem: &[u8]) -> Result<Arc<Key>, Fault> {
    keys::parse(pem).map(Arc::new).map_err(|error| Fault::new(format!("parsing private key: {error}")))
}

/// What is read of an authority's certificate.
struct Subject {
    /// Its name, in DER.
    name: Vec<u8>,
    /// Its public key, in DER.
    public_info: Vec<u8>,
    /// The identifier of its key; empty when it has none.
    key_id: Vec<u8>,
}

/// Reads a certificate's PEM; `variable` is what Sprig's error calls it.
fn parse(text: &[u8], variable: &str) -> Result<Subject, Fault> {
    let block = pem::decode(text).ok_or_else(|| Fault::new("unable to decode certificate"))?;
    subject(&block.data).ok_or_else(|| {
        let problem = "x509: malformed certificate";
        Fault::new(format!("error parsing certificate: {variable}.Bytes: {problem}"))
    })
}

fn subject(der: &[u8]) -> Option<Subject> {
    let outer = sequence(der)?;
    let fields = sequence(outer.first()?.whole)?;
    // The version stands before the serial number, unless it is the first one.
    let skipped = usize::from(fields.first()?.tag == 0xa0);
    let field = |at: usize| fields.get(skipped + at).filter(|field| field.tag == tag::SEQUENCE);
    field(1)?;
    let mut extensions = fields.iter().find(|field| field.tag == 0xa3).map_or(&[][..], |field| field.content);
    let extensions = pem::take(&mut extensions).and_then(|list| sequence(list.whole)).unwrap_or_default();
    let key_id = extensions.iter().find_map(|extension| {
        let parts = sequence(extension.whole)?;
        let mut value =
            parts.last().filter(|_| parts.first().is_some_and(|id| id.content == SUBJECT_KEY))?.content;
        expect(&mut value, tag::OCTET_STRING)
    });
    Some(Subject {
        name: field(4)?.whole.to_vec(),
        public_info: field(5)?.whole.to_vec(),
        key_id: key_id.unwrap_or_default().to_vec(),
    })
}

/// An authority that signs.
struct Signer {
    subject: Subject,
    key: Key,
}

impl Signer {
    fn read(authority: Authority) -> Result<Self, Fault> {
        let Authority { cert, key } = authority;
        let subject = parse(&cert, "decodedSignerCert")?;
        let key = keys::parse(&key);
        let key = key.map_err(|error| Fault::new(format!("error parsing private key: {error}")))?;
        Ok(Self { subject, key })
    }
}

/// What a certificate shall say.
struct Wanted {
    name: Vec<u8>,
    addresses: Vec<IpAddr>,
    names: Vec<String>,
    days: i64,
    authority: bool,
}

impl Wanted {
    fn authority(name: &[u8], days: i64) -> Self {
        Self { name: name.to_vec(), addresses: vec![], names: vec![], days, authority: true }
    }

    fn leaf(name: &[u8], addresses: &List, names: &List, days: i64) -> Result<Self, Fault> {
        let addresses = addresses.iter().map(address).collect::<Result<_, _>>()?;
        let names = names.iter().map(alternate_name).collect::<Result<_, _>>()?;
        Ok(Self { name: name.to_vec(), addresses, names, days, authority: false })
    }
}

fn address(value: &Value) -> Result<IpAddr, Fault> {
    let Some(text) = value.as_str() else {
        let shown = shown(value);
        return Err(Fault::new(format!("error parsing ip: {shown} is not a string")));
    };
    let parsed = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    parsed.ok_or_else(|| Fault::new(format!("error parsing ip: {text}")))
}

/// A value as `%v` prints it.
fn shown(value: &Value) -> String {
    let mut out = Vec::new();
    match crate::template::printf::print_to(&mut out, value) {
        Ok(()) => String::from_utf8_lossy(&out).into_owned(),
        Err(fault) => fault.message,
    }
}

fn alternate_name(value: &Value) -> Result<String, Fault> {
    match value.as_str() {
        Some(text) => Ok(text.lossy().into_owned()),
        None => {
            let shown = shown(value);
            Err(Fault::new(format!("error processing alternate dns name: {shown} is not a string")))
        }
    }
}

/// Makes a certificate (Go 1.26 `crypto/x509` `CreateCertificate` as Sprig v3.3.0 `getCertAndKey` calls it).
fn issue(
    engine: &mut dyn Engine,
    wanted: &Wanted,
    key: &Key,
    signer: Option<&Signer>,
) -> Result<Certificate, Fault> {
    let failed = |error: String| Fault::new(format!("error creating certificate: {error}"));
    let mut serial = [0; 16];
    engine.host().random(&mut serial);
    let now = engine.host().now();
    let der = signed(wanted, &serial, now, key, signer).map_err(failed)?;
    Ok(Certificate::new(pem::encode("CERTIFICATE", &der), key.pem()?))
}

fn signed(
    wanted: &Wanted,
    serial: &[u8],
    now: i128,
    key: &Key,
    signer: Option<&Signer>,
) -> Result<Vec<u8>, String> {
    let signing = signer.map_or(key, |signer| &signer.key);
    if matches!(signing, Key::Dsa(_)) {
        return Err("x509: certificate private key does not implement crypto.Signer".to_owned());
    }
    if matches!(key, Key::Dsa(_)) {
        return Err("x509: unsupported public key type: *dsa.PublicKey".to_owned());
    }
    let subject = common_name(&wanted.name)?;
    let parent = signer.map(|signer| &signer.subject);
    if parent.is_some_and(|parent| parent.public_info != signing.public_info()) {
        return Err("x509: provided PrivateKey doesn't match parent's PublicKey".to_owned());
    }
    let issuer = parent.map_or(subject.as_slice(), |parent| &parent.name);
    let parent_key = parent.map_or(&[][..], |parent| &parent.key_id);
    let parent_key = if issuer == subject.as_slice() { &[] } else { parent_key };
    let algorithm = signing.signature_algorithm();
    let body = [
        element(0xa0, &[&integer(&[2])]),
        integer(serial),
        algorithm.clone(),
        issuer.to_vec(),
        validity(now, wanted.days)?,
        subject.clone(),
        key.public_info(),
        element(0xa3, &[&extensions(wanted, key, parent_key)?]),
    ];
    let body = element(tag::SEQUENCE, &[&body.concat()]);
    let signature = signing.sign(&body)?;
    Ok(element(tag::SEQUENCE, &[&body, &algorithm, &bits(&signature)]))
}

/// A name that consists of a common name alone; empty for an empty one.
fn common_name(text: &[u8]) -> Result<Vec<u8>, String> {
    if text.is_empty() {
        return Ok(element(tag::SEQUENCE, &[]));
    }
    let printable = |b: &u8| b.is_ascii_alphanumeric() || b" '()+,-./:=?".contains(b);
    let kind = match std::str::from_utf8(text) {
        Err(_) => return Err("asn1: string not valid UTF-8".to_owned()),
        Ok(_) if text.iter().all(printable) => tag::PRINTABLE,
        Ok(_) => tag::UTF8,
    };
    let pair = [element(tag::OBJECT, &[&[0x55, 4, 3]]), element(kind, &[text])].concat();
    Ok(element(tag::SEQUENCE, &[&element(tag::SET, &[&element(tag::SEQUENCE, &[&pair])])]))
}

/// From now on for so many days, as Go's durations overflow.
fn validity(now: i128, days: i64) -> Result<Vec<u8>, String> {
    const DAY: i64 = 86_400 * 1_000_000_000;
    let until = now + i128::from(DAY.wrapping_mul(days));
    Ok(element(tag::SEQUENCE, &[&moment(now)?, &moment(until)?]))
}

/// A time in two digits of the year where they do.
fn moment(nanos: i128) -> Result<Vec<u8>, String> {
    let refused = |_| "asn1: structure error: cannot represent time as GeneralizedTime".to_owned();
    let seconds = i64::try_from(nanos.div_euclid(1_000_000_000)).unwrap_or(i64::MAX);
    let time = jiff::Timestamp::from_second(seconds).map_err(refused)?;
    let year = time.strftime("%Y").to_string().parse().unwrap_or(0);
    let (kind, layout) = match year {
        1950..2050 => (tag::UTC_TIME, "%y%m%d%H%M%SZ"),
        _ => (tag::TIME, "%Y%m%d%H%M%SZ"),
    };
    Ok(element(kind, &[time.strftime(layout).to_string().as_bytes()]))
}

/// `subjectKeyIdentifier`, 2.5.29.14
const SUBJECT_KEY: &[u8] = &[0x55, 0x1d, 0x0e];

fn extensions(wanted: &Wanted, key: &Key, parent_key: &[u8]) -> Result<Vec<u8>, String> {
    let mut out = vec![
        extension(&[0x55, 0x1d, 0x0f], true, &key_usage(wanted.authority)),
        extension(&[0x55, 0x1d, 0x25], false, &both_usages()),
        extension(&[0x55, 0x1d, 0x13], true, &constraints(wanted.authority)),
    ];
    if wanted.authority {
        let digest = Sha256::digest(key.public());
        let id = element(tag::OCTET_STRING, &[digest.get(..20).unwrap_or_default()]);
        out.push(extension(SUBJECT_KEY, false, &id));
    }
    if !parent_key.is_empty() {
        let id = element(tag::SEQUENCE, &[&element(0x80, &[parent_key])]);
        out.push(extension(&[0x55, 0x1d, 0x23], false, &id));
    }
    if !(wanted.names.is_empty() && wanted.addresses.is_empty()) {
        out.push(extension(&[0x55, 0x1d, 0x11], wanted.name.is_empty(), &alternates(wanted)?));
    }
    Ok(element(tag::SEQUENCE, &[&out.concat()]))
}

fn extension(id: &[u8], critical: bool, value: &[u8]) -> Vec<u8> {
    let critical = if critical { element(tag::BOOLEAN, &[&[0xff]]) } else { Vec::new() };
    element(tag::SEQUENCE, &[&element(tag::OBJECT, &[id]), &critical, &element(tag::OCTET_STRING, &[value])])
}

/// Signatures and key encipherment, and for an authority also certificates.
fn key_usage(authority: bool) -> Vec<u8> {
    let usage: &[u8] = if authority { &[2, 0xa4] } else { &[5, 0xa0] };
    element(tag::BIT_STRING, &[usage])
}

/// Servers and clients.
fn both_usages() -> Vec<u8> {
    let usage = |last: u8| element(tag::OBJECT, &[&[0x2b, 6, 1, 5, 5, 7, 3, last]]);
    element(tag::SEQUENCE, &[&usage(1), &usage(2)])
}

fn constraints(authority: bool) -> Vec<u8> {
    let yes = if authority { element(tag::BOOLEAN, &[&[0xff]]) } else { Vec::new() };
    element(tag::SEQUENCE, &[&yes])
}

fn alternates(wanted: &Wanted) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    for name in &wanted.names {
        if !name.is_ascii() {
            let quoted = quote(name);
            return Err(format!("x509: {quoted} cannot be encoded as an IA5String"));
        }
        out.extend(element(0x82, &[name.as_bytes()]));
    }
    for address in &wanted.addresses {
        out.extend(match address.to_canonical() {
            IpAddr::V4(address) => element(0x87, &[&address.octets()]),
            IpAddr::V6(address) => element(0x87, &[&address.octets()]),
        });
    }
    Ok(element(tag::SEQUENCE, &[&out]))
}
