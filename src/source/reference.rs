//! How a chart is named on the command line.

use std::path::{Path, PathBuf};

use super::Error;

/// A chart reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// A chart directory.
    Directory(PathBuf),
    /// A `.tgz` archive.
    Archive(PathBuf),
    /// A chart in an OCI registry.
    Oci(Oci),
    /// `NAME@VERSION`: looked up in the charts caches, then at the chart's known home.
    Named {
        /// Chart name.
        name: String,
        /// Exact version.
        version: String,
    },
}

/// A chart in an OCI registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Oci {
    /// Registry host, with port when given.
    pub host: String,
    /// Repository path; its last element is the chart's name.
    pub path: String,
    /// Tag, with `_` already turned back into `+`.
    pub tag: Option<String>,
    /// `sha256:…` of the manifest.
    pub digest: Option<String>,
}

/// Charts that can be named without a registry, and where they live.
///
/// Kubeflow Trainer publishes its chart there since 2.0 (kubeflow/trainer, `.github/workflows`).
pub const HOMES: &[(&str, &str)] = &[("kubeflow-trainer", "oci://ghcr.io/kubeflow/charts/kubeflow-trainer")];

/// The known home of a chart, without a tag.
#[must_use]
pub fn home(name: &str) -> Option<Oci> {
    let (_, url) = HOMES.iter().find(|(chart, _)| *chart == name)?;
    Oci::parse(url).ok()
}

impl Reference {
    /// Reads a reference; whether a path is a directory or an archive is asked of the disk.
    ///
    /// # Errors
    /// When the text is no reference, or names a path that does not exist.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.starts_with("oci://") {
            return Oci::parse(text).map(Self::Oci);
        }
        let path = Path::new(text);
        if path.is_dir() {
            return Ok(Self::Directory(path.to_owned()));
        }
        if path.is_file() {
            return Ok(Self::Archive(path.to_owned()));
        }
        match text.rsplit_once('@') {
            Some((name, version)) if is_name(name) && is_version(version) => {
                Ok(Self::Named { name: name.to_owned(), version: version.trim_start_matches('v').to_owned() })
            }
            Some((name, tag)) if is_name(name) && is_name(tag) => Err(Error::new(format!(
                "chart `{text}`: `{tag}` is no version"
            ))
            .hint(format!("Name one, such as `{name}@1.2.3`: what a tag stands for today would be another chart tomorrow."))),
            _ => Err(not_a_reference(text)),
        }
    }
}

fn not_a_reference(text: &str) -> Error {
    let why = if looks_like_path(text) { "no such file or directory" } else { "not a chart reference" };
    Error::new(format!("chart `{text}`: {why}")).hint(
        "Name a chart by a directory, a `.tgz`, `oci://HOST/PATH:TAG` (or `@sha256:…`), or `NAME@VERSION`.",
    )
}

fn looks_like_path(text: &str) -> bool {
    text.contains('/') || text.starts_with('.') || text.ends_with(".tgz")
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.' | b'_'))
}

fn is_version(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'+'))
}

impl Oci {
    /// Reads `oci://HOST/PATH[:TAG][@sha256:DIGEST]`.
    ///
    /// # Errors
    /// When host or path are missing, or the digest is malformed.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let invalid = |why: &str| {
            Error::new(format!("chart `{text}`: {why}"))
                .hint("Write `oci://HOST/PATH:TAG` or `oci://HOST/PATH@sha256:DIGEST`.")
        };
        let rest = text.strip_prefix("oci://").ok_or_else(|| invalid("not an OCI reference"))?;
        let (rest, digest) = match rest.split_once('@') {
            Some((rest, digest)) => {
                (rest, Some(valid_digest(digest).ok_or_else(|| invalid("malformed digest"))?))
            }
            None => (rest, None),
        };
        let (host, path) =
            rest.split_once('/').ok_or_else(|| invalid("no repository path after the host"))?;
        let (path, tag) = match path.rsplit_once(':') {
            Some((path, tag)) => (path, Some(tag.replace('_', "+"))),
            None => (path, None),
        };
        if host.is_empty() || path.is_empty() || path.split('/').any(|part| part.is_empty() || part == "..") {
            return Err(invalid("host or repository path is empty"));
        }
        if tag.as_deref().is_some_and(|tag| !is_tag(tag)) {
            return Err(invalid("malformed tag"));
        }
        Ok(Self { host: host.to_owned(), path: path.to_owned(), tag, digest })
    }

    /// The same repository at another tag.
    #[must_use]
    pub fn tagged(mut self, tag: &str) -> Self {
        self.tag = Some(tag.to_owned());
        self
    }

    /// The chart's name: the last element of the path.
    #[must_use]
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

fn is_tag(tag: &str) -> bool {
    !tag.is_empty()
        && tag.len() <= 128
        && tag.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'+'))
}

fn valid_digest(text: &str) -> Option<String> {
    let hex = text.strip_prefix("sha256:")?;
    (hex.len() == 64 && hex.bytes().all(|b| b.is_ascii_hexdigit())).then(|| text.to_ascii_lowercase())
}

impl std::fmt::Display for Oci {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "oci://{}/{}", self.host, self.path)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        match &self.digest {
            Some(digest) => write!(f, "@{digest}"),
            None => Ok(()),
        }
    }
}
