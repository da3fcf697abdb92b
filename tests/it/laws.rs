//! Laws of the project that no compiler checks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn walk(directory: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, into);
        } else {
            into.push(path);
        }
    }
}

#[test]
fn every_source_file_says_what_it_is_for() {
    let mut files = Vec::new();
    walk(&root().join("src"), &mut files);
    let silent: Vec<_> = files
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs"))
        .filter(|path| !fs::read_to_string(path).unwrap().starts_with("//!"))
        .collect();
    assert!(silent.is_empty(), "no `//!` line: {silent:?}");
}

/// Relative links of a Markdown text: `](path)`, without the anchor.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    let paths = targets.map(|target| target.split('#').next().unwrap_or(""));
    paths.filter(|path| !path.is_empty() && !path.contains("://") && !path.contains(' '))
}

#[test]
fn links_of_the_manuals_lead_somewhere() {
    let mut files = Vec::new();
    walk(&root().join("docs"), &mut files);
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "COMPATIBILITY.md", "CHANGELOG.md"] {
        files.push(root().join(name));
    }
    let mut dead = Vec::new();
    // Patterns in the manual of functions look like links.
    let manuals =
        |file: &&PathBuf| file.extension().is_some_and(|e| e == "md") && !file.ends_with("functions.md");
    for file in files.iter().filter(manuals) {
        let text = fs::read_to_string(file).unwrap();
        let missing = links(&text).filter(|link| !file.parent().unwrap().join(link).exists());
        dead.extend(missing.map(|link| format!("{}: {link}", file.display())));
    }
    assert!(dead.is_empty(), "{dead:#?}");
}

#[test]
fn no_module_is_a_drawer() {
    let mut files = Vec::new();
    walk(&root().join("src"), &mut files);
    let drawers = ["util", "utils", "common", "misc", "helpers", "imp", "core"];
    let found: Vec<_> = files
        .iter()
        .filter(|path| {
            path.iter().any(|part| drawers.contains(&part.to_str().unwrap().trim_end_matches(".rs")))
        })
        .collect();
    assert!(found.is_empty(), "{found:?}");
}

/// A merge that was not finished is found in texts as well as in code.
#[test]
fn no_merge_is_left_half_done() {
    let mut files = Vec::new();
    for folder in [".ci", "docs", "examples", "fuzz/src", "golden", "reports", "scripts", "src", "tests"] {
        walk(&root().join(folder), &mut files);
    }
    let beside = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    files.extend(beside.filter(|path| path.is_file()));
    let marks = ["<<<<<<< ", ">>>>>>> "];
    let marked = |text: String| text.lines().any(|line| marks.iter().any(|mark| line.starts_with(mark)));
    files.retain(|path| fs::read_to_string(path).is_ok_and(marked));
    assert!(files.is_empty(), "marks of a merge: {files:?}");
}

#[test]
fn architecture_stays_short() {
    let lines = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap().lines().count();
    assert!(lines <= 150, "ARCHITECTURE.md has {lines} lines");
}

/// Licences of every dependency are among those that deny.toml allows; cargo-deny says the same where it is installed.
#[test]
fn dependency_licences_are_allowed() {
    #[expect(clippy::disallowed_methods, reason = "cargo knows the dependencies")]
    let output = Command::new(env!("CARGO"))
        // Crates of other platforms are never downloaded, so the question is put for this one.
        .args(["metadata", "--format-version", "1", "--offline", "--locked", "--filter-platform"])
        .arg(format!("{}-unknown-linux-gnu", std::env::consts::ARCH))
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let deny: toml::Table = fs::read_to_string(root().join("deny.toml")).unwrap().parse().unwrap();
    let allowed: Vec<&str> =
        deny["licenses"]["allow"].as_array().unwrap().iter().filter_map(toml::Value::as_str).collect();
    let refused: Vec<String> = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|package| !licence_allowed(package["license"].as_str().unwrap_or(""), &allowed))
        .map(|package| format!("{} {}: {}", package["name"], package["version"], package["license"]))
        .collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

fn licence_allowed(expression: &str, allowed: &[&str]) -> bool {
    let plain = expression.replace(['(', ')'], " ").replace('/', " OR ");
    plain.split(" OR ").any(|choice| choice.split(" AND ").all(|part| allowed.contains(&part.trim())))
}
