//! `-o FORMAT[=PATH]`: which formats go where.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::exit::Error;
use super::terminal::{self, Terminal};
use crate::report::Style;

/// One wanted output: a format's name and a file, or standard output.
pub(crate) struct Target {
    pub(crate) format: String,
    path: Option<PathBuf>,
}

/// Reads `-o` flags; every format must be one of `known`.
pub(crate) fn targets(flags: &[String], known: &[&str]) -> Result<Vec<Target>, Error> {
    let mut targets = Vec::new();
    for flag in flags {
        let (format, path) = match flag.split_once('=') {
            Some((_, "")) => {
                return Err(Error::new(format!("`-o {flag}`: the path is empty"))
                    .hint("`-o FORMAT` writes to standard output, `-o FORMAT=PATH` to a file."));
            }
            Some((format, "-")) => (format, None),
            Some((format, path)) => (format, Some(PathBuf::from(path))),
            None => (flag.as_str(), None),
        };
        if !known.contains(&format) {
            return Err(Error::new(format!("`-o {flag}`: no such format"))
                .hint(format!("Formats are {}; `FORMAT=PATH` writes to a file.", known.join(", "))));
        }
        targets.push(Target { format: format.to_owned(), path });
    }
    if let Some(path) = written_twice(&targets) {
        return Err(Error::new(format!("two formats for {}", path.display()))
            .hint("The second would overwrite the first; give each a file of its own."));
    }
    if targets.iter().filter(|target| target.path.is_none()).count() > 1 {
        return Err(Error::new("two formats for standard output")
            .hint("Give all but one a file: `-o json=report.json`."));
    }
    Ok(targets)
}

/// A file that two targets name, by whatever path.
fn written_twice(targets: &[Target]) -> Option<&Path> {
    let paths: Vec<&Path> = targets.iter().filter_map(|target| target.path.as_deref()).collect();
    let is_second = |(n, path): (usize, &Path)| paths.iter().take(n).any(|first| same(first, path));
    paths.iter().enumerate().find(|(n, path)| is_second((*n, path))).map(|(_, path)| *path)
}

fn same(a: &Path, b: &Path) -> bool {
    place(a).is_some_and(|a| place(b) == Some(a))
}

/// Where a path leads, as far as it exists. What is no file, like `/dev/null`, can be written twice.
fn place(path: &Path) -> Option<PathBuf> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return None;
    }
    if let Ok(there) = path.canonicalize() {
        return Some(there);
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let parent = parent.canonicalize().or_else(|_| std::path::absolute(parent)).ok()?;
    Some(parent.join(path.file_name()?))
}

/// Writes every target, also behind one that can't be written.
///
/// # Errors
/// The first of theirs.
pub(crate) fn put_all(
    targets: &[Target],
    mut write: impl FnMut(&Target, &mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    let written: Vec<Result<(), Error>> =
        targets.iter().map(|target| target.put(|out| write(target, out))).collect();
    written.into_iter().collect()
}

impl Target {
    /// How text for this target may look.
    pub(crate) fn style(&self, terminal: Terminal) -> Style {
        let shown = self.path.is_none();
        let width = if shown { terminal.width() } else { terminal::WIDTH };
        Style { colored: shown && terminal.colors_stdout(), width, full: false }
    }

    /// Opens the file or standard output and lets somebody write there.
    fn put(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
        let Some(path) = &self.path else { return terminal::stream(write) };
        let written = File::create(path).and_then(|file| terminal::buffered(file, write));
        written.map_err(|error| Error::new(format!("can't write {}: {error}", path.display())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(flags: &[String]) -> bool {
        targets(flags, &["json", "html"]).is_err()
    }

    #[test]
    fn two_formats_never_share_a_place() {
        let dir = tempfile::tempdir().unwrap();
        let flag = |format: &str, name: &str| format!("{format}={}/{name}", dir.path().display());
        assert!(refused(&[flag("json", "a"), flag("html", "a")]));
        assert!(refused(&[flag("json", "a"), flag("html", "./a")]));
        assert!(refused(&["json".into(), "html".into()]));
        assert!(!refused(&[flag("json", "a"), flag("html", "b"), "html".into()]));
        assert!(!refused(&["json=/dev/null".into(), "html=/dev/null".into()]));
    }

    #[test]
    fn a_path_is_not_empty_and_a_format_is_known() {
        assert!(refused(&["json=".into()]));
        assert!(refused(&["xml".into()]));
    }
}
