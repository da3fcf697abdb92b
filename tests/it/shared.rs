//! Finds outside material for tests, or says why a test is skipped.

use std::path::{Path, PathBuf};

/// The folder of recorded outside answers, when it is there; under CI its absence is a failure.
pub(crate) fn shared() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let candidates = [
        std::env::var_os("SEATRIAL_SHARED").map(PathBuf::from),
        Some(root.join("../shared")),
        Some(root.join("../../shared")),
    ];
    let found = candidates.into_iter().flatten().find(|path| path.join("charts-cache").is_dir());
    needed(found, "../shared is not there (set SEATRIAL_SHARED)")
}

/// What a test needs from outside; where it is missing the test fails under CI, and notes elsewhere that it is skipped.
pub(crate) fn needed<T>(found: Option<T>, missing: &str) -> Option<T> {
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "under CI nothing may be skipped: {missing}");
        note(missing);
    } else {
        // A run of this test alone may have left a note.
        let _ = std::fs::remove_file(notes().1);
    }
    found
}

/// Leaves a note for the last test binary, `zz_summary`, which prints all of them.
fn note(reason: &str) {
    let (folder, file) = notes();
    eprintln!("skipped: {}: {reason}", file.display());
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(file, reason));
    assert!(written.is_ok(), "no note of a skipped test: {written:?}");
}

/// Where notes are, and the one of this test.
fn notes() -> (PathBuf, PathBuf) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("test").replace("::", ".");
    let krate = module_path!().split("::").next().unwrap_or_default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/skipped");
    let file = folder.join(format!("{krate}.{test}"));
    (folder, file)
}

#[test]
fn shared_material_is_found_or_skipped() {
    if let Some(path) = shared() {
        assert!(path.join("charts-cache").is_dir());
    }
}
