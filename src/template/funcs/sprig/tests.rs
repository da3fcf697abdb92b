//! What Sprig answered (`golden/template/sprig`) is what we answer; documentation and its examples hold.

use escapes::unescape;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{FAMILIES, add_to};
use crate::limits::Limits;
use crate::template::funcs::{Host, Registry};
use crate::template::set::{MissingKey, Set};
use crate::template::value::{Map, Value};

/// A host without world: the clock stands still, the dice always fall alike.
struct Still;

impl Host for Still {
    fn now(&mut self) -> i128 {
        1_800_000_000_000_000_000
    }

    fn random(&mut self, buffer: &mut [u8]) {
        buffer.fill(7);
    }

    fn lookup(&mut self, _: &str, _: &str, _: &str, _: &str) -> Result<Value, String> {
        Ok(Value::Map(Map::dict()))
    }

    fn resolve(&mut self, _: &str) -> String {
        String::new()
    }
}

fn render(text: &str, data: &Value) -> String {
    let mut set = Set::new("t", add_to(Registry::go()), MissingKey::Invalid);
    if let Err(error) = set.parse("t", text.as_bytes()) {
        return format!("error: {error}");
    }
    match set.exec(&mut Still, &Limits::default()).render("t", data) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => format!("error: {error}"),
    }
}

#[path = "../../../../tests/it/escapes.rs"]
mod escapes;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

/// Renders every row of one family and compares.
fn check(family: &str) {
    let data = std::fs::read_to_string(root().join("scripts/oracle/sprig/data.json")).unwrap();
    let data: serde_json::Value = serde_json::from_str(&data).unwrap();
    let table = std::fs::read(root().join(format!("golden/template/sprig/{family}.tsv"))).unwrap();
    let table = String::from_utf8_lossy(&table);
    let mut wrong = String::new();
    let mut count = 0;
    for line in table.lines().skip(1) {
        let (template, expected) = line.split_once('\t').unwrap();
        let (template, expected) = (unescape(template), unescape(expected));
        let found = render(&template, &Value::from_json(&data));
        if found != expected {
            count += 1;
            writeln!(wrong, "{template:?}\n  expected {expected:?}\n  found    {found:?}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{count} differ from {family}.tsv:\n{wrong}");
}

macro_rules! families {
    ($($name:ident),+) => {$(
        #[test]
        fn $name() {
            check(stringify!($name));
        }
    )+};
}

families!(crypto, dates, dicts, encoding, lists, math, paths, regex, strings, texts, times, types, urls);

#[test]
fn families_are_sorted_and_share_no_name() {
    let mut seen = BTreeMap::new();
    for (family, rows) in FAMILIES {
        assert!(rows.is_sorted_by_key(|row| row.name), "{family} is not sorted");
        for row in *rows {
            assert!(seen.insert(row.name, family).is_none(), "{} stands twice", row.name);
        }
    }
    assert_eq!(seen.len(), 209, "Sprig 3.3.0 has 211 names, two of which Helm takes away");
}

/// Documentation of one function.
struct Doc {
    text: String,
    examples: Vec<(String, String)>,
}

/// Doc comments of the functions that rows name, by the name in templates.
fn docs() -> BTreeMap<String, Doc> {
    let mut docs = BTreeMap::new();
    for entry in std::fs::read_dir(root().join("src/template/funcs")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let source = std::fs::read_to_string(path).unwrap();
        for line in source.lines().filter(|line| line.starts_with("    func!(")) {
            let name = line.split('"').nth(1).unwrap();
            let function = line.rsplit_once(", ").unwrap().1.trim_end_matches("),").trim_end_matches(')');
            docs.insert(name.to_owned(), doc_of(&source, function));
        }
        for row in source.split("func!(\"").skip(1).filter(|_| source.contains("= &[func!(")) {
            let (name, rest) = row.split_once('"').unwrap();
            let function = rest.trim_start_matches(", ").split(')').next().unwrap();
            docs.entry(name.to_owned()).or_insert_with(|| doc_of(&source, function));
        }
    }
    docs
}

fn doc_of(source: &str, function: &str) -> Doc {
    let at =
        [format!("\nfn {function}("), format!("\nfn {function}<")].iter().find_map(|head| source.find(head));
    let before = source.get(..at.unwrap_or_default()).unwrap_or_default();
    let mut lines: Vec<&str> = before.lines().rev().map_while(|line| line.strip_prefix("///")).collect();
    lines.reverse();
    let example = |line: &&str| line.trim_start().starts_with("{{");
    let split = |line: &str| line.trim_start().split_once(" → ").map(|(a, b)| (a.to_owned(), b.to_owned()));
    let text =
        lines.iter().map(|line| line.trim()).take_while(|line| !line.starts_with("```")).collect::<Vec<_>>();
    Doc {
        text: text.join(" ").trim().to_owned(),
        examples: lines.iter().copied().filter(example).filter_map(split).collect(),
    }
}

#[test]
fn every_function_has_an_example_that_holds() {
    let docs = docs();
    for row in FAMILIES.iter().flat_map(|(_, rows)| *rows) {
        let doc = docs.get(row.name).unwrap_or_else(|| panic!("{} has no documentation", row.name));
        assert!(!doc.text.is_empty() && !doc.examples.is_empty(), "{} lacks words or an example", row.name);
        for (template, expected) in &doc.examples {
            assert_eq!(render(template, &Value::Nil), *expected, "{template}");
        }
    }
}

#[test]
fn the_manual_is_fresh() {
    let docs = docs();
    let mut manual = String::from(
        "# Template functions\n\nGenerated from the documentation of the functions; \
         `UPDATE_DOCS=1 cargo test the_manual_is_fresh` writes it anew.\n",
    );
    for (family, rows) in FAMILIES {
        write!(manual, "\n## {family}\n").unwrap();
        for row in *rows {
            let doc = &docs[row.name];
            write!(manual, "\n### {}\n\n{}\n\n```tmpl\n", row.name, doc.text).unwrap();
            for (template, result) in &doc.examples {
                writeln!(manual, "{template} → {result}").unwrap();
            }
            manual += "```\n";
        }
    }
    let path = root().join("docs/functions.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(root().join("docs")).unwrap();
        std::fs::write(&path, &manual).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == manual, "docs/functions.md is stale: UPDATE_DOCS=1 cargo test the_manual_is_fresh");
}
