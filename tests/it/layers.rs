//! Imports point one way: the table in ARCHITECTURE.md is the law, and `src/` is read to enforce it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn table() -> BTreeMap<String, BTreeSet<String>> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows = text.lines().skip_while(|line| !line.starts_with("| module | may import")).skip(2);
    rows.take_while(|line| line.starts_with('|')).map(row).collect()
}

fn row(line: &str) -> (String, BTreeSet<String>) {
    let mut cells = line.trim_matches('|').split('|').map(str::trim);
    let name = cells.next().unwrap().trim_matches('`').to_owned();
    let words = cells.next().unwrap().split([',', ' ']).map(|word| word.trim_matches('`'));
    (name, words.filter(|word| !word.is_empty() && *word != "—").map(str::to_owned).collect())
}

fn rust_files(directory: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

fn module_of(path: &Path) -> String {
    let relative = path.strip_prefix(root().join("src")).unwrap();
    relative.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned()
}

fn imports(text: &str) -> BTreeSet<String> {
    let code =
        text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        // `$crate::` in macros names the module that expands, and `oci_crate::` is no import of ours.
        if at > 0 && code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        if let Some(list) = rest.strip_prefix('{') {
            let names = list.split('}').next().unwrap().split(',');
            found.extend(names.map(|name| first_word(name.trim())));
        } else {
            found.insert(first_word(rest));
        }
    }
    found
}

fn first_word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[test]
fn imports_follow_the_layer_table() {
    let table = table();
    let mut files = Vec::new();
    rust_files(&root().join("src"), &mut files);
    let mut broken = Vec::new();
    for path in files {
        let module = module_of(&path);
        if module == "main" || module == "lib" {
            continue;
        }
        let Some(allowed) = table.get(&module) else {
            broken.push(format!("{}: module `{module}` is not in the layer table", path.display()));
            continue;
        };
        for import in imports(&fs::read_to_string(&path).unwrap()) {
            if import != module && table.contains_key(&import) && !allowed.contains(&import) {
                broken.push(format!("{}: `{module}` imports `{import}`", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn import_reader_sees_what_it_must() {
    let text = "use crate::{yaml, k8s::text};\nlet x = crate::cel::run();\n// crate::cli\nuse oci_crate::x;";
    assert_eq!(imports(text), ["cel", "k8s", "yaml"].map(str::to_owned).into());
}

#[test]
fn only_the_rim_touches_the_world() {
    let words = [
        "std::fs",
        "std::env",
        "TcpStream",
        "TcpListener",
        "UdpSocket",
        "std::process::Command",
        "SystemTime::now",
        "Instant::now",
        "tokio::",
    ];
    let allowed = |path: &str| {
        ["source/", "cli/", "cluster/live", "cluster/kind", "main.rs"]
            .iter()
            .any(|start| path.starts_with(start))
            || path.ends_with("tests.rs")
            || path.contains("/tests/")
    };
    let mut files = Vec::new();
    rust_files(&root().join("src"), &mut files);
    let mut broken = Vec::new();
    for path in files {
        let relative = path.strip_prefix(root().join("src")).unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        for word in words {
            if !allowed(&relative)
                && code.lines().any(|line| line.contains(word) && !line.trim_start().starts_with("//"))
            {
                broken.push(format!("src/{relative}: {word}"));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// What `only_the_rim_touches_the_world` leaves out because it is test code must be test code.
#[test]
fn modules_of_tests_are_no_part_of_the_program() {
    let mut files = Vec::new();
    rust_files(&root().join("src"), &mut files);
    let mut broken = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.trim().ends_with("mod tests;")) {
            let attributes = lines[..at].iter().rev().take_while(|line| line.starts_with("#["));
            if !attributes.into_iter().any(|line| *line == "#[cfg(test)]") {
                broken.push(format!("{}:{}: {line}", path.display(), at + 1));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
