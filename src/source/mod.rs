//! Stage 1: a chart reference becomes bytes: directories, archives, charts caches, OCI registries.
//!
//! Nothing here knows what a chart is; [`crate::chart`] reads the bytes, and only this stage fetches them.

use std::path::PathBuf;
use std::sync::Arc;

pub mod cache;
pub mod directory;
pub mod lock;
pub mod oci;
pub mod reference;

pub use reference::Reference;

use crate::limits::Limits;

/// What went wrong while fetching, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// What failed, where and why.
    pub message: String,
    /// What to do next; empty when there is nothing better to say.
    pub hint: String,
}

impl Error {
    /// An error without a hint.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: String::new() }
    }

    /// The same error with advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}

/// A chart's bytes, not yet read as a chart.
#[derive(Clone, Debug)]
pub enum Content {
    /// A gzipped tar archive.
    Archive(Arc<Vec<u8>>),
    /// The files of a chart directory, in the order Helm walks them, `.helmignore` not yet applied; then the paths of what
    /// can't be read as a file.
    Files(Vec<(String, Vec<u8>)>, Vec<String>),
}

/// What was fetched and from where.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The reference as the user wrote it.
    pub reference: String,
    /// Where the bytes came from: a path or a URL with digest.
    pub origin: String,
    /// The bytes.
    pub content: Content,
}

impl Fetched {
    /// SHA-256 of an archive, `sha256:…`; `None` for directories.
    #[must_use]
    pub fn digest(&self) -> Option<String> {
        match &self.content {
            Content::Archive(bytes) => Some(lock::digest(bytes)),
            Content::Files(..) => None,
        }
    }
}

/// Where charts may come from in this run.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Charts caches, searched in this order; pulled charts are written to the first.
    pub caches: Vec<PathBuf>,
    /// Whether the network is forbidden.
    pub offline: bool,
    /// Whether registries are spoken to without TLS.
    pub plain_http: bool,
    /// Bounds on what is read.
    pub limits: Limits,
}

impl Sources {
    /// Fetches what a reference names: the disk is asked first, then the charts caches, then the registry.
    ///
    /// # Errors
    /// When nothing is found, a digest is wrong, or the registry can't be reached.
    pub fn fetch(&self, reference: &str) -> Result<Fetched, Error> {
        match Reference::parse(reference)? {
            Reference::Directory(path) => self.directory(reference, &path),
            Reference::Archive(path) => self.archive(reference, &path),
            Reference::Oci(oci) => self.registry(reference, &oci),
            Reference::Named { name, version } => self.named(reference, &name, &version),
        }
    }

    fn directory(&self, reference: &str, path: &std::path::Path) -> Result<Fetched, Error> {
        let (files, irregular) = directory::walk(path, &self.limits)?;
        Ok(Fetched {
            reference: reference.to_owned(),
            origin: path.display().to_string(),
            content: Content::Files(files, irregular),
        })
    }

    fn archive(&self, reference: &str, path: &std::path::Path) -> Result<Fetched, Error> {
        let bytes = directory::read_file(path, self.limits.chart_bytes)?;
        Ok(fetched(reference, path.display().to_string(), bytes))
    }

    fn named(&self, reference: &str, name: &str, version: &str) -> Result<Fetched, Error> {
        if let Some((path, bytes)) = cache::find(&self.caches, name, version, &self.limits)? {
            return Ok(fetched(reference, path.display().to_string(), bytes));
        }
        let Some(home) = reference::home(name) else {
            return Err(Error::new(format!(
                "no chart `{name}` in version `{version}`: searched {}",
                cache::describe(&self.caches)
            ))
            .hint(format!(
                "Name its registry, `oci://HOST/PATH/{name}:{version}`, or put `{name}-{version}.tgz` into a directory given by `--charts-cache`."
            )));
        };
        self.registry(reference, &home.tagged(version))
    }

    /// What the caches have of a chart, as a sentence; nothing where they have none.
    fn others(&self, name: &str) -> String {
        let others = cache::others(&self.caches, name);
        if others.is_empty() { String::new() } else { format!("There are {}. ", others.join(", ")) }
    }

    fn registry(&self, reference: &str, oci: &reference::Oci) -> Result<Fetched, Error> {
        if let Some((path, bytes)) = cache::find_reference(&self.caches, oci, &self.limits)? {
            return Ok(fetched(reference, path.display().to_string(), bytes));
        }
        if self.offline {
            return Err(Error::new(format!(
                "chart `{reference}` is not in a charts cache and `--offline` forbids the network: searched {}",
                cache::describe(&self.caches)
            ))
            .hint(format!(
                "{}Fetch it once with `seatrial pull {oci}`, or leave out `--offline`.",
                self.others(oci.path.rsplit('/').next().unwrap_or_default())
            )));
        }
        let bytes = oci::pull(oci, self.plain_http, &self.limits)?;
        let stored = cache::store(&self.caches, oci, &bytes)?;
        Ok(fetched(
            reference,
            stored.map_or_else(|| oci.to_string(), |path| path.display().to_string()),
            bytes,
        ))
    }
}

fn fetched(reference: &str, origin: String, bytes: Vec<u8>) -> Fetched {
    Fetched { reference: reference.to_owned(), origin, content: Content::Archive(Arc::new(bytes)) }
}

#[cfg(test)]
mod tests;
