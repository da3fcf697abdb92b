//! Schemas held against what real API servers answered: recorded requests and field cases.

mod cases;
mod definitions;
mod real;
mod recorded;
mod server;

use crate::shared::shared;

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
