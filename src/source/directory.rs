//! Charts on disk: a directory's files in the order Helm walks them, single files under a size limit.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use super::Error;
use crate::limits::Limits;

/// Files by their relative paths.
pub type Files = Vec<(String, Vec<u8>)>;

/// Reads every regular file below a chart directory, paths relative and with `/`, in lexical order.
///
/// As Helm v4.3.1 `pkg/chart/loader/archive`, symbolic links are followed; a link back into a parent is an error here.
///
/// # Errors
/// When a file can't be read or a limit is met.
pub fn read(root: &Path, limits: &Limits) -> Result<Vec<(String, Vec<u8>)>, Error> {
    walk(root, limits).map(|(files, _)| files)
}

/// The same, and the paths of what is neither file nor directory: pipes, sockets and devices are never opened.
///
/// # Errors
/// Those of [`read`].
pub fn walk(root: &Path, limits: &Limits) -> Result<(Files, Vec<String>), Error> {
    let mut walk = Walk { limits, files: Vec::new(), irregular: Vec::new(), bytes: 0 };
    walk.descend(root, "", 0)?;
    Ok((walk.files, walk.irregular))
}

/// Deepest directory nesting; a loop of links is met long before it.
const DEPTH: usize = 64;

struct Walk<'a> {
    limits: &'a Limits,
    files: Vec<(String, Vec<u8>)>,
    irregular: Vec<String>,
    bytes: u64,
}

impl Walk<'_> {
    fn descend(&mut self, directory: &Path, prefix: &str, depth: usize) -> Result<(), Error> {
        if depth > DEPTH {
            return Err(Error::new(format!("{}: directories nest deeper than {DEPTH}", directory.display()))
                .hint("Look for a symbolic link that points back to a parent directory."));
        }
        for (name, path) in entries(directory)? {
            let relative = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
            let metadata = fs::metadata(&path).map_err(|error| astray(&path, &error))?;
            if metadata.is_dir() {
                self.descend(&path, &relative, depth + 1)?;
            } else if metadata.is_file() {
                self.take(relative, &path)?;
            } else {
                self.irregular.push(relative);
            }
        }
        Ok(())
    }

    fn take(&mut self, relative: String, path: &Path) -> Result<(), Error> {
        let data = read_file(path, self.limits.file_bytes)?;
        self.bytes += data.len() as u64;
        if self.bytes > self.limits.chart_bytes || self.files.len() >= self.limits.chart_files {
            return Err(Error::new(format!(
                "{}: the chart is larger than {} bytes or {} files",
                path.display(),
                self.limits.chart_bytes,
                self.limits.chart_files
            ))
            .hint(
                "Raise `--limit-chart-bytes` or `--limit-chart-files` if the chart is really that large.",
            ));
        }
        self.files.push((relative, data));
        Ok(())
    }
}

fn entries(directory: &Path) -> Result<Vec<(String, std::path::PathBuf)>, Error> {
    let list = fs::read_dir(directory).map_err(|error| unreadable(directory, &error))?;
    let mut entries = Vec::new();
    for entry in list {
        let entry = entry.map_err(|error| unreadable(directory, &error))?;
        entries.push((entry.file_name().to_string_lossy().into_owned(), entry.path()));
    }
    entries.sort();
    Ok(entries)
}

/// Reads one file of at most `limit` bytes.
///
/// # Errors
/// When it can't be read or is larger.
pub fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    let failed = |word: &str, error: &std::io::Error| {
        Error::new(format!("{word} {}: {}", path.display(), in_go_words(error)))
    };
    let file = fs::File::open(path).map_err(|error| failed("open", &error))?;
    let mut data = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut data).map_err(|error| failed("read", &error))?;
    if data.len() as u64 > limit {
        return Err(Error::new(format!("{}: larger than {limit} bytes", path.display()))
            .hint("Raise `--limit-file-bytes` (or `--limit-chart-bytes` for an archive) if it is really that large."));
    }
    Ok(data)
}

/// An error of the system as Go and Helm word it: `no such file or directory`.
#[must_use]
pub fn in_go_words(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// A path that leads nowhere, in Helm's words when it is a symbolic link.
fn astray(path: &Path, error: &std::io::Error) -> Error {
    let Ok(target) = fs::read_link(path) else { return unreadable(path, error) };
    let target = path.parent().unwrap_or(path).join(target);
    let (link, target) = (absolute(path), absolute(&target));
    Error::new(format!("error evaluating symlink {link}: lstat {target}: {}", in_go_words(error)))
}

/// An absolute path without `.` and `..`, as Go's `filepath.Abs` gives it.
#[must_use]
pub fn absolute(path: &Path) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut clean = std::path::PathBuf::new();
    for part in whole.components() {
        match part {
            std::path::Component::ParentDir => _ = clean.pop(),
            std::path::Component::CurDir => {}
            part => clean.push(part),
        }
    }
    clean.display().to_string()
}

fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    Error::new(format!("{}: {}", path.display(), in_go_words(error)))
}
