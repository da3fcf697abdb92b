//! What differs between a golden file and what is rendered now, object by object.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use similar::TextDiff;

use crate::finding::ObjectName;
use crate::k8s;
use crate::limits::Limits;

/// Most lines that are shown of one object, and of all of a file together.
const LINES: usize = 40;
const ALL: usize = 400;

/// Tells what differs between the text of a golden file and another, the summary at the end.
pub(super) fn difference(name: &str, golden: &str, now: &str, limits: &Limits) -> String {
    let (old_head, old) = documents(golden, limits);
    let (new_head, new) = documents(now, limits);
    let mut text = format!("--- {name}\n+++ rendered now\n");
    let mut left = ALL;
    hunks("", old_head, new_head, &mut left, &mut text);
    let mut told = Told::default();
    for (key, was) in &old {
        match new.get(key) {
            Some(is) if is == was => {}
            Some(is) => {
                hunks(&key.to_string(), was, is, &mut left, &mut text);
                told.differ.push(key.to_string());
            }
            None => told.gone.push(key.to_string()),
        }
    }
    told.new = new.keys().filter(|key| !old.contains_key(key)).map(Key::to_string).collect();
    text + &told.summary(name)
}

/// What an object is known by: its name, and how many of that name stand before it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    name: String,
    before: usize,
}

impl std::fmt::Display for Key {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, before } = self;
        if *before == 0 { out.write_str(name) } else { write!(out, "{name} (number {})", before + 1) }
    }
}

/// The lines above the first document, and each document.
fn documents<'t>(text: &'t str, limits: &Limits) -> (&'t str, BTreeMap<Key, &'t str>) {
    let (head, body) = text.split_once(BREAK).unwrap_or((text, ""));
    let mut found = BTreeMap::new();
    for document in apart(body).into_iter().filter(|document| !document.trim().is_empty()) {
        let mut key = Key { name: called(document, limits), before: 0 };
        while found.contains_key(&key) {
            key.before += 1;
        }
        found.insert(key, document.trim_end_matches('\n'));
    }
    (head, found)
}

/// What stands between documents.
const BREAK: &str = "\n---\n";

/// Documents of a stream. Files of `crds/` may begin with a break of their own; the line that says where they come from
/// stands before it then, and belongs to what follows.
fn apart(body: &str) -> Vec<&str> {
    let says_nothing = |text: &str| text.lines().all(|line| line.trim().is_empty() || line.starts_with('#'));
    let (mut found, mut begin) = (Vec::new(), 0);
    for (at, _) in body.match_indices(BREAK) {
        // A break may begin with the line break that ended the one before.
        if let Some(document) = body.get(begin..at).filter(|document| !says_nothing(document)) {
            found.push(document);
            begin = at + BREAK.len();
        }
    }
    found.push(body.get(begin..).unwrap_or_default());
    found
}

/// Kind, namespace and name; where a document is no object, the file it comes from.
fn called(document: &str, limits: &Limits) -> String {
    let read = crate::yaml::to_json(document.as_bytes(), limits).ok();
    let object = read.as_ref().map(k8s::object_name).filter(|object| !object.name.is_empty());
    let source = || document.lines().find(|line| line.starts_with('#')).unwrap_or("a document");
    object.map_or_else(
        || source().to_owned(),
        |ObjectName { kind, namespace, name }| match namespace.as_str() {
            "" => format!("{kind} {name}"),
            _ => format!("{kind} {namespace}/{name}"),
        },
    )
}

/// The lines that differ, below the name of what they are in, as far as there is room.
fn hunks(name: &str, was: &str, is: &str, left: &mut usize, text: &mut String) {
    if was == is || *left == 0 {
        return;
    }
    let (was, is) = (format!("{was}\n"), format!("{is}\n"));
    let difference = TextDiff::from_lines(was.as_str(), is.as_str());
    let shown = difference.unified_diff().context_radius(3).to_string();
    let lines: Vec<&str> = shown.lines().collect();
    let room = LINES.min(*left);
    *left -= room.min(lines.len());
    if !name.is_empty() {
        let _ = writeln!(text, "{name}");
    }
    lines.iter().take(room).for_each(|line| text.push_str(&format!("{line}\n")));
    if lines.len() > room {
        let _ = writeln!(text, "… and {} more lines", lines.len() - room);
    }
}

/// Names of objects by what became of them.
#[derive(Default)]
struct Told {
    differ: Vec<String>,
    new: Vec<String>,
    gone: Vec<String>,
}

impl Told {
    fn summary(&self, name: &str) -> String {
        let Self { differ, new, gone } = self;
        if differ.is_empty() && new.is_empty() && gone.is_empty() {
            return format!("{name}: the same objects; their order or the lines above them differ\n");
        }
        let counts = [(differ.len(), "differ"), (new.len(), "new"), (gone.len(), "gone")];
        let counts = counts.iter().map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>();
        let mut text = format!("{name}: objects: {}\n", counts.join(", "));
        for (sign, names) in [("~", differ), ("+", new), ("-", gone)] {
            names.iter().for_each(|name| text.push_str(&format!("  {sign} {name}\n")));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(name: &str, lines: usize, value: &str) -> String {
        let data: String = (0..lines).map(|n| format!("  k{n}: {value}\n")).collect();
        format!(
            "---\n# Source: a/{name}.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n{data}"
        )
    }

    fn told(old: &[String], new: &[String]) -> String {
        let text = |maps: &[String]| format!("# golden\n# chart: a\n{}", maps.concat());
        difference("g.yaml", &text(old), &text(new), &Limits::default())
    }

    #[test]
    fn only_objects_of_one_name_are_compared_and_all_are_counted() {
        let text = told(
            &[map("a", 1, "x"), map("b", 1, "x"), map("c", 1, "x")],
            &[map("a", 1, "x"), map("c", 1, "y"), map("d", 1, "x")],
        );
        assert!(text.contains("-  k0: x\n+  k0: y\n"), "{text}");
        assert_eq!(text.matches("@@").count(), 2, "{text}");
        let end =
            "g.yaml: objects: 1 differ, 1 new, 1 gone\n  ~ ConfigMap c\n  + ConfigMap d\n  - ConfigMap b\n";
        assert!(text.ends_with(end), "{text}");
    }

    #[test]
    fn definitions_are_named_as_other_objects_also_where_their_files_begin_with_a_break() {
        let file = |name: &str, value: &str| {
            let object = map(name, 1, value);
            format!("---\n# Source: a/crds/{name}.yaml\n{object}")
        };
        let text = told(
            &[file("a", "x"), file("b", "x"), map("m", 1, "x")],
            &[file("b", "y"), file("c", "x"), map("m", 1, "x")],
        );
        let end =
            "g.yaml: objects: 1 differ, 1 new, 1 gone\n  ~ ConfigMap b\n  + ConfigMap c\n  - ConfigMap a\n";
        assert!(text.ends_with(end), "{text}");
        let moved = file("a", "x").replace("a/crds/", "a/crds/deep/");
        let text = told(&[file("a", "x"), map("m", 1, "x")], &[moved, map("m", 1, "x")]);
        assert!(
            text.contains("+# Source: a/crds/deep/a.yaml") && text.ends_with("  ~ ConfigMap a\n"),
            "{text}"
        );
    }

    #[test]
    fn long_differences_are_cut_and_still_named() {
        let many = |value: &str| (0..20).map(|n| map(&format!("m{n}"), 100, value)).collect::<Vec<_>>();
        let text = told(&many("x"), &many("y"));
        assert!(text.lines().count() < ALL + 80, "{}", text.lines().count());
        assert!(text.contains("… and ") && text.contains("objects: 20 differ, 0 new, 0 gone"), "{text}");
    }

    #[test]
    fn another_order_is_said_to_be_one() {
        let text = told(&[map("a", 1, "x"), map("b", 1, "x")], &[map("b", 1, "x"), map("a", 1, "x")]);
        assert!(
            text.ends_with("g.yaml: the same objects; their order or the lines above them differ\n"),
            "{text}"
        );
    }
}
