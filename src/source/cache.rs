//! Charts caches: directories of `NAME-VERSION.tgz` with a lock file that pins their digests.

use std::fs;
use std::path::{Path, PathBuf};

use super::Error;
use super::directory::read_file;
use super::lock::{Entry, Lock, digest};
use super::reference::Oci;
use crate::limits::Limits;

/// Finds `NAME-VERSION.tgz`, also with a `v` before the version, in the first cache that has it.
///
/// # Errors
/// When the archive is there but unreadable, or differs from its locked digest.
pub fn find(
    caches: &[PathBuf],
    name: &str,
    version: &str,
    limits: &Limits,
) -> Result<Option<(PathBuf, Vec<u8>)>, Error> {
    for cache in caches {
        for file in [format!("{name}-{version}.tgz"), format!("{name}-v{version}.tgz")] {
            let path = cache.join(&file);
            if path.is_file() {
                let bytes = read_file(&path, limits.chart_bytes)?;
                verify(&Lock::load(cache)?, &file, &path, &bytes)?;
                return Ok(Some((path, bytes)));
            }
        }
    }
    Ok(None)
}

/// Finds what was pulled by exactly this reference; the lock tells.
///
/// # Errors
/// As [`find`].
pub fn find_reference(
    caches: &[PathBuf],
    oci: &Oci,
    limits: &Limits,
) -> Result<Option<(PathBuf, Vec<u8>)>, Error> {
    let wanted = oci.to_string();
    for cache in caches {
        let lock = Lock::load(cache)?;
        let Some(entry) = lock.charts.iter().find(|entry| entry.reference == wanted) else { continue };
        let path = cache.join(&entry.file);
        if entry.file.contains(['/', '\\']) || !path.is_file() {
            continue;
        }
        let bytes = read_file(&path, limits.chart_bytes)?;
        verify(&lock, &entry.file, &path, &bytes)?;
        return Ok(Some((path, bytes)));
    }
    Ok(None)
}

fn verify(lock: &Lock, file: &str, path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let Some(entry) = lock.entry(file) else { return Ok(()) };
    let found = digest(bytes);
    if entry.digest == found {
        return Ok(());
    }
    Err(Error::new(format!(
        "{}: wrong digest: the lock says {}, the file has {found}",
        path.display(),
        entry.digest
    ))
    .hint(format!(
        "The archive was changed after it was pulled. Delete it and run `seatrial pull {}`.",
        entry.reference
    )))
}

/// Writes a pulled archive into the first cache and locks it; without a cache nothing is kept.
///
/// # Errors
/// When the cache can't be written.
pub fn store(caches: &[PathBuf], oci: &Oci, bytes: &[u8]) -> Result<Option<PathBuf>, Error> {
    let Some(cache) = caches.first() else { return Ok(None) };
    fs::create_dir_all(cache).map_err(|error| Error::new(format!("{}: {error}", cache.display())))?;
    let version =
        oci.tag.clone().or_else(|| oci.digest.as_ref().map(|d| d.replace(':', "-"))).unwrap_or_default();
    let file = format!("{}-{version}.tgz", oci.name());
    let path = cache.join(&file);
    write_atomically(cache, &path, bytes)?;
    let mut lock = Lock::load(cache)?;
    lock.put(Entry {
        file,
        reference: oci.to_string(),
        version,
        digest: digest(bytes),
        size: bytes.len() as u64,
    });
    lock.save(cache)?;
    Ok(Some(path))
}

// A pull that is interrupted must not leave half an archive under the final name.
fn write_atomically(cache: &Path, path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let partial = cache.join(format!(".{}.partial", std::process::id()));
    fs::write(&partial, bytes)
        .and_then(|()| fs::rename(&partial, path))
        .map_err(|error| Error::new(format!("{}: {error}", path.display())))
}

/// Charts of a name that lie in the caches, as they are named on the command line, in order.
#[must_use]
pub fn others(caches: &[PathBuf], name: &str) -> Vec<String> {
    let files = caches.iter().filter_map(|cache| fs::read_dir(cache).ok()).flatten().flatten();
    let version = |file: &str| {
        let version = file.strip_suffix(".tgz")?.strip_prefix(name)?.strip_prefix('-')?;
        let version = version.trim_start_matches('v');
        version.starts_with(|c: char| c.is_ascii_digit()).then(|| format!("{name}@{version}"))
    };
    let mut found: Vec<String> =
        files.filter_map(|file| version(&file.file_name().to_string_lossy())).collect();
    found.sort();
    found.dedup();
    found
}

/// The caches as a phrase for error messages.
#[must_use]
pub fn describe(caches: &[PathBuf]) -> String {
    if caches.is_empty() {
        return "no charts cache (none was given by `--charts-cache`)".to_owned();
    }
    caches.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", ")
}
