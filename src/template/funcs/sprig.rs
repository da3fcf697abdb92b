//! Sprig v3.3.0, family by family: what `TxtFuncMap` holds, without `env` and `expandenv`, which Helm takes away.

use super::{
    Func, Registry, certs, cipher, crypto, dates, defaults, dicts, encoding, lists, math, paths, random,
    regex, semver, strings, types, urls,
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
    ("Passwords and encryption", cipher::FUNCS),
    ("Certificates and keys", certs::FUNCS),
    ("Randomness and network", random::FUNCS),
];

/// Adds all of Sprig to a registry.
#[must_use]
pub fn add_to(registry: Registry) -> Registry {
    let families: Vec<&[Func]> = FAMILIES.iter().map(|(_, family)| *family).collect();
    registry.with(&families.concat())
}

#[cfg(test)]
mod tests;
