//! `--output-dir`: one file per template, documents appended in order.
//!
//! As Helm v3.22.0 and v4.3.1 `pkg/action/install.go` `writeToFile` and the loop over hooks in `cmd/helm/template.go`.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use super::terminal;
use crate::render::print::{document, hooks};
use crate::render::{Error, PrintOptions, Render};
use crate::source::directory::{clean, in_go_words};

/// Writes a render below a directory; what belongs to the release goes below `release` where that is given.
///
/// # Errors
/// In Go's words; files that were written before stay.
pub(crate) fn write(
    directory: &Path,
    release: Option<&str>,
    render: &Render,
    print: &PrintOptions,
) -> Result<(), Error> {
    let own = release.map_or_else(|| directory.to_owned(), |name| directory.join(name));
    let mut written = BTreeSet::new();
    for file in render.crds.iter().filter(|_| print.include_crds) {
        let again = !written.insert(file.source.as_str());
        put(directory, &file.source, &String::from_utf8_lossy(&file.data), again)
            .map_err(Error::rendering)?;
    }
    for manifest in &render.manifests {
        let again = !written.insert(manifest.source.as_str());
        put(&own, &manifest.source, &manifest.text, again).map_err(Error::rendering)?;
    }
    for hook in hooks(render, print) {
        // Files that an earlier run left are appended to as well.
        let there = own.join(&hook.manifest.source).exists();
        put(&own, &hook.manifest.source, &hook.manifest.text, there).map_err(Error::before)?;
    }
    Ok(())
}

fn put(directory: &Path, source: &str, text: &str, append: bool) -> Result<(), String> {
    // A chart names its own templates; none of them may leave the directory.
    if source.split(['/', '\\']).any(|part| part == "..") || source.starts_with('/') {
        return Err(format!("template `{source}` would be written outside {}", directory.display()));
    }
    let path = clean(&directory.join(source));
    make_directories(path.parent().unwrap_or(&path))?;
    let failed = |error: io::Error| format!("open {}: {}", path.display(), in_go_words(&error));
    let file = OpenOptions::new().write(true).create(!append).truncate(!append).append(append).open(&path);
    file.and_then(|mut file| file.write_all(document(source, text).as_bytes())).map_err(failed)?;
    terminal::print(format!("wrote {}\n", path.display()).as_bytes()).map_err(|error| error.message)
}

/// `os.MkdirAll`, whose error names the directory that could not be made.
fn make_directories(path: &Path) -> Result<(), String> {
    let mut above: Vec<&Path> = path.ancestors().filter(|path| !path.as_os_str().is_empty()).collect();
    above.reverse();
    for directory in above.into_iter().filter(|directory| !directory.is_dir()) {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => format!("mkdir {}: not a directory", directory.display()),
            _ => format!("mkdir {}: {}", directory.display(), in_go_words(&error)),
        };
        fs::create_dir(directory).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_the_way_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let wanted = format!("mkdir {}: not a directory", file.display());
        assert_eq!(make_directories(&file.join("below/it")), Err(wanted));
        assert!(put(dir.path(), "../x", "", false).unwrap_err().contains("outside"));
    }
}
