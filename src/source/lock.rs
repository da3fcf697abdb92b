//! The charts cache's lock file: what was pulled, from where, with which digest and size.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::Digest as _;

use super::Error;

/// Name of the lock file in a charts cache.
pub const FILE: &str = "seatrial.lock";

/// The lock file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// One entry a chart archive, sorted by file name.
    #[serde(default, rename = "chart")]
    pub charts: Vec<Entry>,
}

/// One pulled archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// When the file is there but can't be read.
    pub fn load(cache: &Path) -> Result<Self, Error> {
        let path = cache.join(FILE);
        match fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text).map_err(|error| {
                Error::new(format!("{}: {error}", path.display()))
                    .hint("Delete the file and pull the charts again.")
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(Error::new(format!("{}: {error}", path.display()))),
        }
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
