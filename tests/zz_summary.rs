//! Runs last and says which tests were skipped and why.

#![expect(clippy::print_stdout, reason = "printing is its work")]

use std::path::PathBuf;

fn main() {
    let notes = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/skipped");
    let mut skipped: Vec<(String, String)> = std::fs::read_dir(&notes)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let reason = std::fs::read_to_string(&path).ok()?;
            Some((path.file_name()?.to_str()?.to_owned(), reason))
        })
        .collect();
    skipped.sort();
    let _ = std::fs::remove_dir_all(&notes);
    println!("\n{} tests skipped", skipped.len());
    for (test, reason) in &skipped {
        println!("  skipped {test}: {reason}");
    }
    assert!(skipped.is_empty() || std::env::var_os("CI").is_none(), "nothing may be skipped under CI");
}
