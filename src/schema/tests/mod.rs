//! Schemas held against what real API servers answered: recorded requests and field cases.

mod cases;
mod definitions;
mod real;
mod recorded;
mod server;

use std::path::PathBuf;

/// The folder of outside answers; `None`, said on stderr, where it is not at hand.
fn shared() -> Option<PathBuf> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let named = std::env::var_os("SEATRIAL_SHARED").map(PathBuf::from);
    let found = named
        .into_iter()
        .chain([here.join("../shared"), here.join("../../shared")])
        .find(|path| path.is_dir());
    if found.is_none() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "the shared folder is missing");
        eprintln!("skipped: no shared folder (set SEATRIAL_SHARED)");
    }
    found
}

/// Counts of a data-driven test; its end fails when something failed.
#[derive(Default)]
struct Score {
    passed: usize,
    failed: Vec<String>,
    skipped: usize,
}

impl Score {
    fn take(&mut self, name: &str, verdict: Result<(), String>) {
        match verdict {
            Ok(()) => self.passed += 1,
            Err(why) => self.failed.push(format!("{name}: {why}")),
        }
    }

    fn finish(self, what: &str) {
        eprintln!("{what}: {} passed, {} failed, {} skipped", self.passed, self.failed.len(), self.skipped);
        assert!(self.failed.is_empty(), "{}", self.failed.join("\n"));
    }
}
