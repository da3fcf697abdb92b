//! Virtual files of a script, by absolute path.

use std::collections::BTreeMap;

/// The most bytes that files and streams of one script may hold.
pub(super) const BYTES: usize = 64 << 20;

/// The files of one script; directories exist where files lie, or where they were made.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    contents: BTreeMap<String, String>,
    directories: Vec<String>,
}

impl Files {
    /// Starts with these contents.
    pub(super) fn new(contents: &BTreeMap<String, String>) -> Self {
        Self { contents: contents.clone(), directories: ["/", "/tmp", "/dev"].map(str::to_owned).to_vec() }
    }

    /// A file's content.
    pub(super) fn read(&self, path: &str) -> Option<&str> {
        if path == "/dev/null" {
            return Some("");
        }
        self.contents.get(path).map(String::as_str)
    }

    /// Whether a path names a directory.
    pub(super) fn is_directory(&self, path: &str) -> bool {
        let inside = format!("{}/", path.trim_end_matches('/'));
        self.directories.iter().any(|d| d == path) || self.contents.keys().any(|f| f.starts_with(&inside))
    }

    /// Writes or extends a file.
    pub(super) fn write(&mut self, path: &str, text: &str, append: bool) {
        if path.starts_with("/dev/") || self.size() + text.len() > BYTES {
            return;
        }
        let file = self.contents.entry(path.to_owned()).or_default();
        if !append {
            file.clear();
        }
        file.push_str(text);
    }

    fn size(&self) -> usize {
        self.contents.values().map(String::len).sum()
    }

    /// Makes a directory.
    pub(super) fn make_directory(&mut self, path: &str) {
        self.directories.push(path.to_owned());
    }

    /// Removes a file, or a directory with what lies in it; whether there was something.
    pub(super) fn remove(&mut self, path: &str) -> bool {
        let inside = format!("{}/", path.trim_end_matches('/'));
        let before = self.contents.len() + self.directories.len();
        self.contents.retain(|f, _| f != path && !f.starts_with(&inside));
        self.directories.retain(|d| d != path && !d.starts_with(&inside));
        before != self.contents.len() + self.directories.len()
    }

    /// The files below a directory, by full path.
    pub(super) fn below(&self, directory: &str) -> Vec<String> {
        let inside = format!("{}/", directory.trim_end_matches('/'));
        self.contents.keys().filter(|f| f.starts_with(&inside)).cloned().collect()
    }

    /// Names directly inside a directory, sorted.
    pub(super) fn names(&self, directory: &str) -> Vec<String> {
        let inside = format!("{}/", directory.trim_end_matches('/'));
        let paths = self.contents.keys().chain(self.directories.iter());
        let mut names: Vec<String> = paths
            .filter_map(|f| f.strip_prefix(&inside))
            .filter_map(|rest| rest.split('/').next())
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect();
        names.sort();
        names.dedup();
        names
    }
}

/// A path made absolute, without `.` and `..`.
pub(super) fn absolute(directory: &str, path: &str) -> String {
    let joined = if path.starts_with('/') { path.to_owned() } else { format!("{directory}/{path}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_directories() {
        let mut files = Files::default();
        files.write("/manifests/a.yaml", "a", false);
        files.write("/manifests/a.yaml", "b", true);
        files.write("/manifests/deep/c.yaml", "c", false);
        assert_eq!(files.read("/manifests/a.yaml"), Some("ab"));
        assert!(files.is_directory("/manifests") && !files.is_directory("/manifests/a.yaml"));
        assert_eq!(files.names("/manifests"), ["a.yaml", "deep"]);
        assert!(files.remove("/manifests/deep") && files.read("/manifests/deep/c.yaml").is_none());
        assert_eq!(absolute("/srv/dir", "../x/./y"), "/srv/x/y");
    }
}
