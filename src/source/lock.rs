//! The charts cache's lock file: what was pulled, from where, with which digest and size.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::Digest as _;

use super::Error;

/// Name of the lock file in a charts cache.
pub const FILE: &str = "seatrial.lock";

/// The lock file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// One entry a chart archive, sorted by file name.
    #[serde(default, rename = "chart")]
    pub charts: Vec<Entry>,
}

/// One pulled archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// File name in the cache.
    pub file: String,
    /// The reference it was pulled by.
    pub reference: String,
    /// Chart version.
    pub version: String,
    /// `sha256:…` of the archive.
    pub digest: String,
    /// Size of the archive in bytes.
    pub size: u64,
}

/// `sha256:…` of some bytes.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    let hash = sha2::Sha256::digest(bytes);
    hash.iter().fold(String::from("sha256:"), |mut text, byte| {
        text.push_str(&format!("{byte:02x}"));
        text
    })
}

impl Lock {
    /// Reads the lock of a cache; a cache without one has an empty lock.
    ///
    /// # Errors
    /// When the file is there but can't be read, or holds entries that lock nothing: keys that nobody knows, digests that
    /// are none, a file that is there twice.
    pub fn load(cache: &Path) -> Result<Self, Error> {
        let path = cache.join(FILE);
        match fs::read_to_string(&path) {
            Ok(text) => {
                let read = toml::from_str::<Self>(&text).map_err(|error| error.to_string());
                read.and_then(Self::sound).map_err(|problem| {
                    Error::new(format!("{}: {problem}", path.display()))
                        .hint("Delete the file and pull the charts again.")
                })
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(Error::new(format!("{}: {error}", path.display()))),
        }
    }

    fn sound(self) -> Result<Self, String> {
        let mut files = BTreeSet::new();
        for Entry { file, digest, .. } in &self.charts {
            let hash = digest.strip_prefix("sha256:").unwrap_or_default();
            if hash.len() != 64 || !hash.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)) {
                return Err(format!(
                    "{file}: {digest:?} is no digest such as sha256: and 64 hexadecimal digits"
                ));
            }
            if !files.insert(file) {
                return Err(format!("{file} is there twice"));
            }
        }
        Ok(self)
    }

    /// Writes the lock, entries sorted by file.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn save(&mut self, cache: &Path) -> Result<(), Error> {
        self.charts.sort_by(|a, b| a.file.cmp(&b.file));
        let path = cache.join(FILE);
        let text = toml::to_string_pretty(self)
            .map_err(|error| Error::new(format!("{}: {error}", path.display())))?;
        let note = "# Written by `seatrial pull`; commit it so that everyone renders the same bytes.\n\n";
        fs::write(&path, format!("{note}{text}"))
            .map_err(|error| Error::new(format!("{}: {error}", path.display())))
    }

    /// The entry of one file.
    #[must_use]
    pub fn entry(&self, file: &str) -> Option<&Entry> {
        self.charts.iter().find(|entry| entry.file == file)
    }

    /// Adds or replaces the entry of one file.
    pub fn put(&mut self, entry: Entry) {
        self.charts.retain(|old| old.file != entry.file);
        self.charts.push(entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_locks_nothing_is_refused() {
        let cache = tempfile::tempdir().unwrap();
        let entry = |digest: &str| {
            format!(
                "[[chart]]\nfile = \"a-1.tgz\"\nreference = \"a@1\"\nversion = \"1\"\ndigest = \"{digest}\"\nsize = 5\n"
            )
        };
        let sound = entry(&digest(b"a"));
        let load = |text: &str| {
            fs::write(cache.path().join(FILE), text).unwrap();
            Lock::load(cache.path()).map_err(|error| error.message)
        };
        assert_eq!(load(&sound).unwrap().charts.len(), 1);
        assert!(load("").unwrap().charts.is_empty());
        let told = |text: &str, wanted: &str| {
            let message = load(text).unwrap_err();
            assert!(message.contains(wanted), "{message}");
        };
        told(&sound.replace("[[chart]]", "[[charts]]"), "unknown field `charts`");
        told(&sound.replace("digest =", "digets ="), "unknown field `digets`");
        told(&entry("sha256:abc"), "a-1.tgz: \"sha256:abc\" is no digest");
        told(&format!("{sound}{sound}"), "a-1.tgz is there twice");
        told("hello", "seatrial.lock: ");
    }
}
