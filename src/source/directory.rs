//! Charts on disk: a directory's files in the order Helm walks them, single files under a size limit.

use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

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

fn entries(directory: &Path) -> Result<Vec<(String, PathBuf)>, Error> {
    let list = fs::read_dir(directory).map_err(|error| unreadable(directory, &error))?;
    let mut entries = Vec::new();
    for entry in list {
        let entry = entry.map_err(|error| unreadable(directory, &error))?;
        entries.push((entry.file_name().to_string_lossy().into_owned(), entry.path()));
    }
    entries.sort();
    Ok(entries)
}

/// How long a pipe or device may take to be read.
const PATIENCE: Duration = Duration::from_secs(60);

/// Reads one file of at most `limit` bytes; a pipe, which may be that of a shell's `<(…)`, has a minute to end.
///
/// # Errors
/// When it can't be read, is larger, or never ends.
pub fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    read_within(PATIENCE, path, limit)
}

fn read_within(patience: Duration, path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    // Opening a pipe waits for its other end.
    if fs::metadata(path).is_ok_and(|metadata| metadata.is_file() || metadata.is_dir()) {
        return open_and_read(path, limit);
    }
    let (give, take) = mpsc::channel();
    let own = path.to_owned();
    // Nobody waits any more once the receiver is gone.
    let reader = thread::Builder::new().spawn(move || _ = give.send(open_and_read(&own, limit)));
    reader.map_err(|error| failed("read", path, &error))?;
    take.recv_timeout(patience).unwrap_or_else(|_| {
        Err(Error::new(format!("read {}: no end after {} seconds", path.display(), patience.as_secs()))
            .hint("Something has to write to a pipe and to close it."))
    })
}

fn failed(word: &str, path: &Path, error: &std::io::Error) -> Error {
    Error::new(format!("{word} {}: {}", path.display(), in_go_words(error)))
}

fn open_and_read(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    let file = fs::File::open(path).map_err(|error| failed("open", path, &error))?;
    let size = file.metadata().map_or(0, |metadata| metadata.len().min(limit));
    gather(file, size, path, limit)
}

/// Reads what a path or standard input holds, at most `limit` bytes.
///
/// # Errors
/// When it can't be read or is larger.
pub fn bounded(source: impl Read, path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    gather(source, 0, path, limit)
}

/// `size` is what there most likely is; with room for it nothing is moved while it is read.
fn gather(source: impl Read, size: u64, path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    // One byte more shows the end without another allocation.
    let mut data = Vec::with_capacity(usize::try_from(size).unwrap_or(0).saturating_add(1));
    let read = source.take(limit.saturating_add(1)).read_to_end(&mut data);
    read.map_err(|error| failed("read", path, &error))?;
    if data.len() as u64 > limit {
        return Err(Error::new(format!("{}: larger than {limit} bytes", path.display()))
            .hint("Raise `--limit-file-bytes` (or `--limit-chart-bytes` for an archive) if it is really that large."));
    }
    Ok(data)
}

/// Symbolic links below a directory, by relative paths in the order of a walk, and what they lead to in the end.
///
/// What can't be read is left out: [`walk`] has told it.
#[must_use]
pub fn links(root: &Path, limits: &Limits) -> Vec<(String, String)> {
    let mut found = Vec::new();
    follow(root, "", 0, limits.chart_files, &mut found);
    found
}

fn follow(directory: &Path, prefix: &str, depth: usize, most: usize, found: &mut Vec<(String, String)>) {
    for (name, path) in entries(directory).unwrap_or_default() {
        if depth > DEPTH || found.len() >= most {
            return;
        }
        let relative = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        if path.is_symlink()
            && let Ok(target) = fs::canonicalize(&path)
        {
            found.push((relative.clone(), target.display().to_string()));
        }
        if path.is_dir() {
            follow(&path, &relative, depth + 1, most, found);
        }
    }
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
    clean(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned())).display().to_string()
}

/// Go's `filepath.Clean`.
#[must_use]
pub fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match (part, clean.components().next_back()) {
            (Component::CurDir, _) | (Component::ParentDir, Some(Component::RootDir)) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => _ = clean.pop(),
            (part, _) => clean.push(part),
        }
    }
    clean
}

fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    Error::new(format!("{}: {}", path.display(), in_go_words(error)))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn pipes_are_read_and_never_waited_for_without_end() {
        let dir = tempfile::tempdir().unwrap();
        // Each has its own: a reader that gave up still stands at the first.
        let (idle, used) = (dir.path().join("idle"), dir.path().join("used"));
        #[expect(clippy::disallowed_methods, reason = "the standard library makes no pipes with names")]
        let made = std::process::Command::new("mkfifo").args([&idle, &used]).status();
        if !made.is_ok_and(|status| status.success()) {
            return;
        }
        let error = read_within(Duration::from_millis(200), &idle, 9).unwrap_err();
        assert!(error.message.ends_with("idle: no end after 0 seconds"), "{error}");
        let writer = used.clone();
        let writer = thread::spawn(move || fs::write(writer, "a: 1"));
        assert_eq!(read_within(PATIENCE, &used, 9).unwrap(), b"a: 1");
        writer.join().unwrap().unwrap();
        assert!(read_file(Path::new("/dev/zero"), 9).unwrap_err().message.contains("larger than 9 bytes"));
        assert!(read_file(Path::new("/dev/null"), 9).unwrap().is_empty());
    }

    #[test]
    fn paths_are_cleaned_as_go_cleans_them() {
        let cases = [
            ("./a/./b", "a/b"),
            ("a/../b", "b"),
            ("../a", "../a"),
            ("/../a", "/a"),
            ("a//b/", "a/b"),
            ("../../a/..", "../.."),
        ];
        for (path, wanted) in cases {
            assert_eq!(clean(Path::new(path)), Path::new(wanted), "{path}");
        }
    }

    #[test]
    fn links_are_told_in_the_order_of_the_walk() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("chart/b")).unwrap();
        fs::create_dir(root.join("other")).unwrap();
        fs::write(root.join("other/file"), "x").unwrap();
        for (link, target) in
            [("b/z", "../a"), ("a", "../other/file"), ("c", "../other"), ("gone", "nowhere")]
        {
            std::os::unix::fs::symlink(target, root.join("chart").join(link)).unwrap();
        }
        let file = root.join("other/file").display().to_string();
        let wanted = [("a", &file), ("b/z", &file), ("c", &root.join("other").display().to_string())]
            .map(|(a, b)| (a.to_owned(), b.clone()));
        assert_eq!(links(&root.join("chart"), &Limits::default()), wanted);
    }
}
