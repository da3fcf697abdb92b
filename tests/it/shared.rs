//! Finds outside material for tests, or says why a test is skipped.

use std::path::PathBuf;

/// The folder of recorded outside answers, when it is there; under CI its absence is a failure.
pub(crate) fn shared() -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let candidates = [
        std::env::var_os("SEATRIAL_SHARED").map(PathBuf::from),
        Some(root.join("../shared")),
        Some(root.join("../../shared")),
    ];
    let found = candidates.into_iter().flatten().find(|path| path.join("charts-cache").is_dir());
    assert!(
        found.is_some() || std::env::var_os("CI").is_none(),
        "../shared is missing; under CI it must be there"
    );
    if found.is_none() {
        skip("../shared is not there (set SEATRIAL_SHARED)");
    }
    found
}

/// Notes that the calling test is skipped; the last test binary, `zz_summary`, prints the notes.
pub(crate) fn skip(reason: &str) {
    let test = std::thread::current().name().unwrap_or("test").to_owned();
    eprintln!("skipped: {test}: {reason}");
    let notes = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/skipped");
    let file = notes.join(test.replace("::", "."));
    let _ = std::fs::create_dir_all(&notes).and_then(|()| std::fs::write(file, reason));
}

#[test]
fn shared_material_is_found_or_skipped() {
    if let Some(path) = shared() {
        assert!(path.join("charts-cache").is_dir());
    }
}
