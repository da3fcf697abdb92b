//! Sprig v3.3.0, family by family: what `TxtFuncMap` holds, without `env` and `expandenv`, which Helm takes away.

use super::{
    Func, Registry, crypto, dates, defaults, dicts, encoding, lists, math, paths, random, regex, semver,
    strings, types, urls,
};

/// The families, in the order of the documentation.
pub static FAMILIES: &[(&str, &[Func])] = &[
    ("Strings", strings::FUNCS),
    ("Lists", lists::FUNCS),
    ("Dictionaries", dicts::FUNCS),
    ("Defaults", defaults::FUNCS),
    ("Math", math::FUNCS),
    ("Encoding", encoding::FUNCS),
    ("Dates", dates::FUNCS),
    ("Semantic versions", semver::FUNCS),
    ("Regular expressions", regex::FUNCS),
    ("Paths", paths::FUNCS),
    ("URLs", urls::FUNCS),
    ("Types", types::FUNCS),
    ("Checksums and passwords", crypto::FUNCS),
    ("Randomness and network", random::FUNCS),
];

/// Functions of Sprig that are still missing here; a template that names one does not parse.
pub static LACKING: &[&str] = &[
    "bcrypt",
    "buildCustomCert",
    "decryptAES",
    "encryptAES",
    "genCA",
    "genCAWithKey",
    "genPrivateKey",
    "genSelfSignedCert",
    "genSelfSignedCertWithKey",
    "genSignedCert",
    "genSignedCertWithKey",
    "htpasswd",
];

/// Adds all of Sprig to a registry.
#[must_use]
pub fn add_to(registry: Registry) -> Registry {
    FAMILIES.iter().fold(registry, |registry, (_, family)| registry.with(family)).lacking(LACKING)
}

#[cfg(test)]
mod tests;
