//! Private keys of certificates: made from random bytes, read from PEM and written to it, as Sprig does with Go's.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use dsa::{Components, KeySize};
use ed25519_dalek::Signer as _;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rsa::pkcs1::{DecodeRsaPrivateKey as _, EncodeRsaPrivateKey as _, EncodeRsaPublicKey as _};
use rsa::traits::PublicKeyParts as _;
use sha2::Sha256;

use super::pem::{self, Block, bits, element, expect, integer, sequence, tag};
use super::{Engine, Fault};

/// `rsaEncryption`, 1.2.840.113549.1.1.1
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
/// `sha256WithRSAEncryption`, 1.2.840.113549.1.1.11
const RSA_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b];
/// `ecPublicKey`, 1.2.840.10045.2.1
const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
/// `prime256v1`, 1.2.840.10045.3.1.7
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
/// `secp384r1`, 1.3.132.0.34
const P384: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x22];
/// `secp224r1`, 1.3.132.0.33
const P224: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x21];
/// `secp521r1`, 1.3.132.0.35
const P521: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x23];
/// `ecdsa-with-SHA256`, 1.2.840.10045.4.3.2
const EC_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
/// `ecdsa-with-SHA384`, 1.2.840.10045.4.3.3
const EC_SHA384: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x03];
/// `Ed25519`, 1.3.101.112
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];

/// A kind of key that can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// RSA of so many bits.
    Rsa(usize),
    /// DSA with 2048 and 256 bits.
    Dsa,
    /// The curve P-256.
    P256,
    /// Ed25519.
    Ed25519,
}

impl Kind {
    /// Steps of the budget that making one costs, by the time that it takes.
    fn steps(self) -> u64 {
        match self {
            Self::Rsa(bits) if bits > 2048 => 1 << 19,
            Self::Rsa(_) => 1 << 17,
            Self::Dsa => 1 << 19,
            Self::P256 | Self::Ed25519 => 1 << 10,
        }
    }
}

/// A private key.
pub(super) enum Key {
    Rsa(Box<rsa::PrivateKey>),
    /// The numbers p, q, g, y and x, which sign nothing here: Go takes no such key for a certificate.
    Dsa(Vec<Vec<u8>>),
    P256(p256::ecdsa::SigningKey),
    P384(p384::ecdsa::SigningKey),
    Ed25519(Box<ed25519_dalek::SigningKey>),
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a private key")
    }
}

/// Keys that were made, by their kind and the random bytes they follow from.
type Made = BTreeMap<(Kind, [u8; 32]), Arc<Key>>;

/// A chart is rendered many times over with the same random bytes, and primes take long to find.
static MADE: Mutex<Made> = Mutex::new(BTreeMap::new());

/// How many keys are kept.
const KEPT: usize = 256;

/// Makes a key from 32 bytes of the host's randomness.
pub(super) fn generate(engine: &mut dyn Engine, kind: Kind) -> Result<Arc<Key>, Fault> {
    engine.spend(kind.steps())?;
    let mut seed = [0; 32];
    engine.host().random(&mut seed);
    let known = MADE.lock().ok().and_then(|made| made.get(&(kind, seed)).cloned());
    if let Some(key) = known {
        return Ok(key);
    }
    let key = Arc::new(make(kind, seed).map_err(Fault::new)?);
    if let Ok(mut made) = MADE.lock() {
        if made.len() >= KEPT {
            made.clear();
        }
        made.insert((kind, seed), Arc::clone(&key));
    }
    Ok(key)
}

fn make(kind: Kind, seed: [u8; 32]) -> Result<Key, String> {
    let mut dice = StdRng::from_seed(seed);
    match kind {
        Kind::Rsa(bits) => {
            let key = rsa::PrivateKey::new(&mut dice, bits);
            key.map(|key| Key::Rsa(Box::new(key))).map_err(|error| error.to_string())
        }
        Kind::Dsa => dsa_numbers(&mut dice).map(Key::Dsa).map_err(|error| error.to_string()),
        // One seed in 2^32 is no scalar of the curve; its digest then is.
        Kind::P256 => curve_key(seed).map(Key::P256).ok_or_else(|| "no scalar".to_owned()),
        Kind::Ed25519 => Ok(Key::Ed25519(Box::new(ed25519_dalek::SigningKey::from_bytes(&seed)))),
    }
}

fn curve_key(seed: [u8; 32]) -> Option<p256::ecdsa::SigningKey> {
    use sha2::Digest as _;
    let tries = std::iter::successors(Some(seed), |seed| Some(Sha256::digest(seed).into()));
    tries.take(8).find_map(|seed| p256::ecdsa::SigningKey::from_slice(&seed).ok())
}

fn dsa_numbers(dice: &mut StdRng) -> Result<Vec<Vec<u8>>, dsa::signature::Error> {
    let size = KeySize::DSA_2048_256;
    let components = Components::try_generate_from_rng_with_key_size(dice, size)
        .map_err(|_| dsa::signature::Error::new())?;
    let key = dsa::SigningKey::try_generate_from_rng_with_components(dice, components)
        .map_err(|_| dsa::signature::Error::new())?;
    let public = key.verifying_key();
    let parts = public.components();
    Ok(vec![
        parts.p().to_be_bytes().to_vec(),
        parts.q().to_be_bytes().to_vec(),
        parts.g().to_be_bytes().to_vec(),
        public.y().to_be_bytes().to_vec(),
        key.x().to_be_bytes().to_vec(),
    ])
}

impl Key {
    /// The key as Sprig writes it: PKCS #1, SEC 1 or PKCS #8 by its kind.
    pub(super) fn pem(&self) -> Result<String, Fault> {
        let failed = |_| Fault::new("x509: failed to marshal private key");
        Ok(match self {
            Self::Rsa(key) => pem::encode("RSA PRIVATE KEY", key.to_pkcs1_der().map_err(failed)?.as_bytes()),
            Self::Dsa(numbers) => {
                let parts: Vec<_> = [vec![]].iter().chain(numbers).map(|number| integer(number)).collect();
                let parts: Vec<_> = parts.iter().map(Vec::as_slice).collect();
                pem::encode("DSA PRIVATE KEY", &element(tag::SEQUENCE, &parts))
            }
            Self::P256(key) => pem::encode("EC PRIVATE KEY", &sec1(&key.to_bytes(), P256, &self.public())),
            Self::P384(key) => pem::encode("EC PRIVATE KEY", &sec1(&key.to_bytes(), P384, &self.public())),
            Self::Ed25519(key) => {
                let algorithm = element(tag::SEQUENCE, &[&element(tag::OBJECT, &[ED25519])]);
                let inner = element(tag::OCTET_STRING, &[&element(tag::OCTET_STRING, &[key.as_bytes()])]);
                pem::encode("PRIVATE KEY", &element(tag::SEQUENCE, &[&integer(&[]), &algorithm, &inner]))
            }
        })
    }

    /// The public key's own bytes.
    pub(super) fn public(&self) -> Vec<u8> {
        match self {
            Self::Rsa(key) => {
                key.to_public_key().to_pkcs1_der().map(|der| der.as_bytes().to_vec()).unwrap_or_default()
            }
            Self::Dsa(_) => Vec::new(),
            Self::P256(key) => key.verifying_key().to_sec1_point(false).as_bytes().to_vec(),
            Self::P384(key) => key.verifying_key().to_sec1_point(false).as_bytes().to_vec(),
            Self::Ed25519(key) => key.verifying_key().as_bytes().to_vec(),
        }
    }

    /// `SubjectPublicKeyInfo` in DER.
    pub(super) fn public_info(&self) -> Vec<u8> {
        let object = |id: &[u8]| element(tag::OBJECT, &[id]);
        let algorithm = match self {
            Self::Rsa(_) => [object(RSA), element(tag::NULL, &[])].concat(),
            Self::P256(_) => [object(EC), object(P256)].concat(),
            Self::P384(_) => [object(EC), object(P384)].concat(),
            Self::Ed25519(_) | Self::Dsa(_) => object(ED25519),
        };
        element(tag::SEQUENCE, &[&element(tag::SEQUENCE, &[&algorithm]), &bits(&self.public())])
    }

    /// `AlgorithmIdentifier` of its signatures in DER.
    pub(super) fn signature_algorithm(&self) -> Vec<u8> {
        let object = |id: &[u8]| element(tag::OBJECT, &[id]);
        let parts = match self {
            Self::Rsa(_) => [object(RSA_SHA256), element(tag::NULL, &[])].concat(),
            Self::P256(_) => object(EC_SHA256),
            Self::P384(_) => object(EC_SHA384),
            Self::Ed25519(_) | Self::Dsa(_) => object(ED25519),
        };
        element(tag::SEQUENCE, &[&parts])
    }

    /// Signs bytes; errors in Go's words.
    pub(super) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, String> {
        match self {
            Self::Rsa(key) if key.n().bit_width_vartime() < 1024 => Err(format!(
                "crypto/rsa: {}-bit keys are insecure (see https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size)",
                key.n().bit_width_vartime()
            )),
            Self::Rsa(key) => key.pkcs1v15_sign::<Sha256>(message).map_err(|error| error.to_string()),
            Self::Dsa(_) => Err("x509: certificate private key does not implement crypto.Signer".to_owned()),
            Self::P256(key) => {
                let signature: p256::ecdsa::Signature = key.sign(message);
                Ok(signature.to_der().as_bytes().to_vec())
            }
            Self::P384(key) => {
                let signature: p384::ecdsa::Signature = key.sign(message);
                Ok(signature.to_der().as_bytes().to_vec())
            }
            Self::Ed25519(key) => Ok(key.sign(message).to_bytes().to_vec()),
        }
    }
}

/// `ECPrivateKey` in DER.
fn sec1(scalar: &[u8], curve: &[u8], public: &[u8]) -> Vec<u8> {
    let parts = [
        integer(&[1]),
        element(tag::OCTET_STRING, &[scalar]),
        element(0xa0, &[&element(tag::OBJECT, &[curve])]),
        element(0xa1, &[&bits(public)]),
    ];
    element(tag::SEQUENCE, &[&parts.concat()])
}

/// Reads a key from PEM (Sprig v3.3.0 `crypto.go` `parsePrivateKeyPEM`).
///
/// # Errors
/// Sprig's words.
pub(super) fn parse(text: &[u8]) -> Result<Key, String> {
    let block = pem::decode(text).ok_or("no PEM data in input")?;
    let Block { label, data } = &block;
    if label == "PRIVATE KEY" {
        return pkcs8(data).map_err(|error| format!("decoding PEM as PKCS#8: {error}"));
    }
    let Some(kind) = label.strip_suffix(" PRIVATE KEY") else {
        return Err(format!("no private key data in PEM block of type {label}"));
    };
    match kind {
        "RSA" => pkcs1(data).map_err(|error| format!("parsing RSA private key from PEM: {error}")),
        "EC" => ec(data, None).map_err(|error| format!("parsing EC private key from PEM: {error}")),
        "DSA" => dsa_key(data).ok_or_else(|| format!("parsing DSA private key from PEM: {BROKEN}")),
        _ => Err(format!("invalid private key type {label}")),
    }
}

/// Go tells in detail what it met instead; this is the most common of its complaints.
const BROKEN: &str =
    "asn1: structure error: tags don't match (16 vs {class:0 tag:0 length:0 isCompound:false})";

fn other(function: &str) -> String {
    format!("x509: failed to parse private key (use {function} instead for this key format)")
}

/// Which of the three forms a key has, by its structure.
fn form(der: &[u8]) -> Option<&'static str> {
    let parts = sequence(der)?;
    let tags: Vec<_> = parts.iter().map(|part| part.tag).collect();
    match tags.as_slice() {
        [tag::INTEGER, tag::SEQUENCE, tag::OCTET_STRING, ..] => Some("ParsePKCS8PrivateKey"),
        [tag::INTEGER, tag::OCTET_STRING, ..] => Some("ParseECPrivateKey"),
        [tag::INTEGER, rest @ ..] if rest.len() >= 8 => Some("ParsePKCS1PrivateKey"),
        _ => None,
    }
}

fn misplaced(der: &[u8]) -> String {
    form(der).map_or_else(|| BROKEN.to_owned(), other)
}

fn pkcs1(der: &[u8]) -> Result<Key, String> {
    if form(der) != Some("ParsePKCS1PrivateKey") {
        return Err(misplaced(der));
    }
    let key = rsa::PrivateKey::from_pkcs1_der(der);
    key.map(|key| Key::Rsa(Box::new(key))).map_err(|error| format!("crypto/rsa: {error}"))
}

/// An `ECPrivateKey`, whose curve may stand outside of it.
fn ec(der: &[u8], outside: Option<&[u8]>) -> Result<Key, String> {
    if form(der) != Some("ParseECPrivateKey") {
        return Err(misplaced(der));
    }
    let parts = sequence(der).unwrap_or_default();
    let inside = parts.iter().find(|part| part.tag == 0xa0).and_then(|part| {
        let mut content = part.content;
        expect(&mut content, tag::OBJECT)
    });
    let scalar = parts.get(1).map(|part| part.content).unwrap_or_default();
    let key = match outside.or(inside) {
        Some(P256) => p256::ecdsa::SigningKey::from_slice(&padded(scalar, 32)).map(Key::P256),
        Some(P384) => p384::ecdsa::SigningKey::from_slice(&padded(scalar, 48)).map(Key::P384),
        Some(P224 | P521) => {
            return Err("curves other than P-256 and P-384 are not supported yet by seatrial".to_owned());
        }
        _ => return Err("x509: unknown elliptic curve".to_owned()),
    };
    key.map_err(|_| "x509: invalid elliptic curve private key value".to_owned())
}

/// A number in so many bytes; leading zeros may be missing.
fn padded(number: &[u8], length: usize) -> Vec<u8> {
    let start = number.iter().position(|b| *b != 0).unwrap_or(number.len());
    let digits = number.get(start..).unwrap_or_default();
    [vec![0; length.saturating_sub(digits.len())], digits.to_vec()].concat()
}

fn pkcs8(der: &[u8]) -> Result<Key, String> {
    if form(der) != Some("ParsePKCS8PrivateKey") {
        return Err(misplaced(der));
    }
    let parts = sequence(der).unwrap_or_default();
    let (Some(algorithm), Some(inner)) = (parts.get(1), parts.get(2)) else { return Err(BROKEN.to_owned()) };
    let algorithm = sequence(algorithm.whole).unwrap_or_default();
    let parameter = algorithm.get(1).filter(|part| part.tag == tag::OBJECT).map(|part| part.content);
    match algorithm.first().map(|part| part.content) {
        Some(RSA) => pkcs1(inner.content)
            .map_err(|error| format!("x509: failed to parse RSA private key embedded in PKCS#8: {error}")),
        Some(EC) => ec(inner.content, parameter)
            .map_err(|error| format!("x509: failed to parse EC private key embedded in PKCS#8: {error}")),
        Some(ED25519) => {
            let mut content = inner.content;
            let seed = expect(&mut content, tag::OCTET_STRING).unwrap_or_default();
            let seed: [u8; 32] = seed
                .try_into()
                .map_err(|_| format!("x509: invalid Ed25519 private key length: {}", seed.len()))?;
            Ok(Key::Ed25519(Box::new(ed25519_dalek::SigningKey::from_bytes(&seed))))
        }
        Some(id) => {
            Err(format!("x509: PKCS#8 wrapping contained private key with unknown algorithm: {}", dotted(id)))
        }
        None => Err(BROKEN.to_owned()),
    }
}

/// An object identifier with its dots.
fn dotted(id: &[u8]) -> String {
    let mut numbers = Vec::new();
    let mut number = 0_u64;
    for byte in id {
        number = number << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            if numbers.is_empty() {
                let first = (number / 40).min(2);
                numbers.extend([first.to_string(), (number - first * 40).to_string()]);
            } else {
                numbers.push(number.to_string());
            }
            number = 0;
        }
    }
    numbers.join(".")
}

fn dsa_key(der: &[u8]) -> Option<Key> {
    let parts = sequence(der)
        .filter(|parts| parts.len() == 6 && parts.iter().all(|part| part.tag == tag::INTEGER))?;
    Some(Key::Dsa(parts.iter().skip(1).map(|part| part.content.to_vec()).collect()))
}
