//! The files of a registry's client: Helm reads them before it looks at the chart, also of a chart on disk.
//!
//! Source: Helm v3.22.0 `cmd/helm/root.go` and `internal/tlsutil/tls.go`, Helm v4.3.1 `pkg/cmd/root.go` and
//! `internal/tlsutil/tls.go`. Of certificates and keys only that they are there and are PEM is looked at.

use std::io;
use std::path::Path;

use super::args::Template;
use crate::chart::Helm;
use crate::source::directory;

/// Largest certificate or key, in bytes; more than any has.
const LARGEST: u64 = 1 << 20;

/// Whether Helm could make its client for a registry.
///
/// # Errors
/// In Helm's words.
pub(crate) fn client(arguments: &Template, helm: Helm) -> Result<(), String> {
    let [cert, key, ca] =
        ["cert-file", "key-file", "ca-file"].map(|name| arguments.flags.last(name).unwrap_or_default());
    let asked = !cert.is_empty() && !key.is_empty() || !ca.is_empty();
    if !asked && !arguments.flags.on("insecure-skip-tls-verify") {
        return Ok(());
    }
    let made = if helm.reads_keys_alone() { four(cert, key, ca) } else { three(cert, key, ca) };
    made.map_err(|why| format!("missing registry client: can't create TLS config for client: {why}"))
}

fn three(cert: &str, key: &str, ca: &str) -> Result<(), String> {
    if !cert.is_empty() && !key.is_empty() {
        let failed = |why: String| format!("can't load key pair from cert {cert} and key {key}: {why}");
        let (cert, key) = (read(cert).map_err(failed)?, read(key).map_err(failed)?);
        pair(&cert, &key).map_err(|why| failed(why.to_owned()))?;
    }
    if ca.is_empty() {
        return Ok(());
    }
    let pool = read(ca).map_err(|_| format!("can't read CA file: {ca}"))?;
    if has_certificate(&pool) {
        Ok(())
    } else {
        Err(format!("failed to append certificates from file: {ca}"))
    }
}

fn four(cert: &str, key: &str, ca: &str) -> Result<(), String> {
    let named = |what: &str, path: &str| {
        read(path).map_err(|why| format!("{what}: {}: {why}", crate::go::quote(path)))
    };
    let both = if cert.is_empty() && key.is_empty() {
        Ok((Vec::new(), Vec::new()))
    } else {
        named("unable to read cert file", cert)
            .and_then(|cert| Ok((cert, named("unable to read key file", key)?)))
    };
    let pool = if ca.is_empty() { Ok(Vec::new()) } else { named("can't read CA file", ca) };
    let (both, pool) = match (both, pool) {
        (Ok(both), Ok(pool)) => (both, pool),
        (both, pool) => {
            let failed: Vec<String> = [both.err(), pool.err()].into_iter().flatten().collect();
            return Err(failed.join("\n"));
        }
    };
    if !both.0.is_empty() && !both.1.is_empty() {
        pair(&both.0, &both.1).map_err(|why| format!("unable to load cert from key pair: {why}"))?;
    }
    if pool.is_empty() || has_certificate(&pool) {
        return Ok(());
    }
    Err("failed to append certificates from pem block".to_owned())
}

/// Go's `tls.X509KeyPair`, as far as there is PEM at all.
fn pair(cert: &[u8], key: &[u8]) -> Result<(), &'static str> {
    if !has(cert, b"-----BEGIN ") {
        return Err("tls: failed to find any PEM data in certificate input");
    }
    if !has(key, b"-----BEGIN ") {
        return Err("tls: failed to find any PEM data in key input");
    }
    Ok(())
}

fn has_certificate(pem: &[u8]) -> bool {
    has(pem, b"-----BEGIN CERTIFICATE-----")
}

fn has(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// A file, or why it can't be read as Go says it.
fn read(path: &str) -> Result<Vec<u8>, String> {
    let told = |error: &io::Error| match error.kind() {
        io::ErrorKind::NotFound => format!("open {path}: no such file or directory"),
        io::ErrorKind::PermissionDenied => format!("open {path}: permission denied"),
        io::ErrorKind::NotADirectory => format!("open {path}: not a directory"),
        _ => format!("open {path}: {error}"),
    };
    let metadata = std::fs::metadata(path).map_err(|error| told(&error))?;
    if metadata.is_dir() {
        return Err(format!("read {path}: is a directory"));
    }
    std::fs::File::open(path).map_err(|error| told(&error))?;
    directory::read_file(Path::new(path), LARGEST).map_err(|error| error.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_not_there_are_told_as_helm_tells_them() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().display().to_string();
        let text = format!("{folder}/text");
        std::fs::write(&text, "no certificate\n").unwrap();
        // As both Helms print them (3.22.0, 4.3.1).
        assert_eq!(three("", "", "/nonexist"), Err("can't read CA file: /nonexist".to_owned()));
        assert_eq!(
            three("/nonexist", "/other", ""),
            Err("can't load key pair from cert /nonexist and key /other: open /nonexist: no such file or directory".to_owned())
        );
        assert_eq!(three("", "", &text), Err(format!("failed to append certificates from file: {text}")));
        assert_eq!(three("/nonexist", "", ""), Ok(()));
        assert_eq!(
            four("/nonexist", "/other", "/third"),
            Err("unable to read cert file: \"/nonexist\": open /nonexist: no such file or directory\ncan't read CA file: \"/third\": open /third: no such file or directory".to_owned())
        );
        assert_eq!(
            four("", "", &folder),
            Err(format!("can't read CA file: \"{folder}\": read {folder}: is a directory"))
        );
        assert_eq!(four("", "", &text), Err("failed to append certificates from pem block".to_owned()));
        assert_eq!(four("", "", ""), Ok(()));
        assert!(four(&text, &text, "").is_err_and(|why| why.contains("failed to find any PEM data")));
    }
}
