//! Checksums and derived passwords.

use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use super::scrypt::{hmac, scrypt};
use super::{Engine, Fault, Func, Param};
use crate::func;
use crate::template::types::Type;
use crate::template::value::Value;

/// Rows of this family, sorted by name.
pub(super) static FUNCS: &[Func] = &[
    func!("adler32sum", adler32sum),
    func!(engine "derivePassword", derive_password),
    func!("sha1sum", sha1sum),
    func!("sha256sum", sha256sum),
    func!("sha512sum", sha512sum),
];

/// The Adler-32 checksum, in decimal.
///
/// ```tmpl
/// {{ adler32sum "hello" }} → 103547413
/// ```
fn adler32sum(text: &[u8]) -> String {
    const MODULUS: u32 = 65_521;
    let (mut a, mut b) = (1_u32, 0_u32);
    for byte in text {
        a = (a + u32::from(*byte)) % MODULUS;
        b = (b + a) % MODULUS;
    }
    (b << 16 | a).to_string()
}

/// The SHA-1 checksum, in hexadecimal.
///
/// ```tmpl
/// {{ sha1sum "hello" }} → aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d
/// ```
fn sha1sum(text: &[u8]) -> String {
    hexadecimal(&Sha1::digest(text))
}

/// The SHA-256 checksum, in hexadecimal.
///
/// ```tmpl
/// {{ sha256sum "hello" | trunc 12 }} → 2cf24dba5fb0
/// ```
fn sha256sum(text: &[u8]) -> String {
    hexadecimal(&Sha256::digest(text))
}

/// The SHA-512 checksum, in hexadecimal.
///
/// ```tmpl
/// {{ sha512sum "hello" | trunc 12 }} → 9b71d224bd62
/// ```
fn sha512sum(text: &[u8]) -> String {
    hexadecimal(&Sha512::digest(text))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Steps that deriving one password costs.
const DERIVATION_STEPS: u64 = 1 << 20;

/// The password of a user at a site, derived from a master password (the Master Password algorithm).
///
/// ```tmpl
/// {{ derivePassword 1 "pin" "password" "user" "example.com" | len }} → 4
/// ```
fn derive_password(
    engine: &mut dyn Engine,
    counter: Counter,
    kind: &str,
    password: &[u8],
    user: &[u8],
    site: &[u8],
) -> Result<String, Fault> {
    let Some((_, templates)) = TEMPLATES.iter().find(|(name, _)| *name == kind) else {
        return Ok(format!("cannot find password template {kind}"));
    };
    engine.spend(DERIVATION_STEPS)?;
    let length = |text: &[u8]| u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes();
    let key = scrypt(password, &[SEED, &length(user), user].concat());
    let seed = hmac(&key, &[SEED, &length(site), site, &counter.0.to_be_bytes()].concat());
    let (first, rest) = seed.split_first().map_or((0, &[][..]), |(first, rest)| (usize::from(*first), rest));
    let template = templates.get(first % templates.len()).copied().unwrap_or_default();
    let character = |(class, byte): (u8, &u8)| {
        let members = CHARACTERS.iter().find(|(name, _)| *name == class)?.1.as_bytes();
        members.get(usize::from(*byte) % members.len()).map(|b| char::from(*b))
    };
    Ok(template.bytes().zip(rest).filter_map(character).collect())
}

/// A `uint32`, in which template constants and `int` values arrive.
#[derive(Clone, Copy, Debug)]
struct Counter(u32);

impl Param for Counter {
    const TYPE: Type = Type::Int;
    type Arg<'a> = Counter;

    fn take(arguments: &mut &[Value]) -> Self {
        let Some((first, rest)) = arguments.split_first() else { return Self(0) };
        *arguments = rest;
        Self(first.as_int().and_then(|n| u32::try_from(n).ok()).unwrap_or(0))
    }
}

const SEED: &[u8] = b"com.lyndir.masterpassword";

/// Kinds of passwords, each with the shapes it may take.
static TEMPLATES: &[(&str, &[&str])] = &[
    ("maximum", &["anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno"]),
    (
        "long",
        &[
            "CvcvnoCvcvCvcv",
            "CvcvCvcvnoCvcv",
            "CvcvCvcvCvcvno",
            "CvccnoCvcvCvcv",
            "CvccCvcvnoCvcv",
            "CvccCvcvCvcvno",
            "CvcvnoCvccCvcv",
            "CvcvCvccnoCvcv",
            "CvcvCvccCvcvno",
            "CvcvnoCvcvCvcc",
            "CvcvCvcvnoCvcc",
            "CvcvCvcvCvccno",
            "CvccnoCvccCvcv",
            "CvccCvccnoCvcv",
            "CvccCvccCvcvno",
            "CvcvnoCvccCvcc",
            "CvcvCvccnoCvcc",
            "CvcvCvccCvccno",
            "CvccnoCvcvCvcc",
            "CvccCvcvnoCvcc",
            "CvccCvcvCvccno",
        ],
    ),
    ("medium", &["CvcnoCvc", "CvcCvcno"]),
    ("short", &["Cvcn"]),
    ("basic", &["aaanaaan", "aannaaan", "aaannaaa"]),
    ("pin", &["nnnn"]),
];

/// Classes of characters that the shapes name.
static CHARACTERS: &[(u8, &str)] = &[
    (b'V', "AEIOU"),
    (b'C', "BCDFGHJKLMNPQRSTVWXYZ"),
    (b'v', "aeiou"),
    (b'c', "bcdfghjklmnpqrstvwxyz"),
    (b'A', "AEIOUBCDFGHJKLMNPQRSTVWXYZ"),
    (b'a', "AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz"),
    (b'n', "0123456789"),
    (b'o', "@&%?,=[]_:-+*$#!'^~;()/."),
    (b'x', "AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()"),
];
