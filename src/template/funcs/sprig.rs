//! Sprig v3.3.0, family by family: what `TxtFuncMap` holds, without `env` and `expandenv`, which Helm takes away.

use super::{
    Func, Registry, certs, cipher, crypto, dates, defaults, dicts, encoding, lists, math, paths, random,
    regex, semver, strings, types, urls,
};
use crate::version::Release;

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
    registry.with(FAMILIES.iter().flat_map(|(_, family)| *family))
}

/// The functions on versions as a release of semver has them.
#[must_use]
pub fn semver(release: Release) -> &'static [Func] {
    match release {
        Release::V3_3 => semver::FUNCS_3_3,
        Release::V3_4 => semver::FUNCS_3_4,
        Release::V3_5 => semver::FUNCS,
    }
}

/// What Sprig 3.2.3 and the libraries of its time had otherwise.
#[must_use]
pub fn before_3_3(registry: Registry) -> Registry {
    registry.without(&["sha512sum"]).with(strings::FUNCS_3_2).with(dicts::FUNCS_3_2)
}

#[cfg(test)]
mod tests;
