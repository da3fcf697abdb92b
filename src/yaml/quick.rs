//! Values built at once from documents in the plain style, without tokens and nodes between.
//!
//! Only what [`super::skim`] has accepted is read here, so it is sound; pieces that are written in other ways than on one line
//! (texts in blocks, quotes with escapes, texts of several lines) are given to the full reader one by one.

use serde_json::{Map, Value};

use super::decode;
use super::input::Input;
use super::resolve::{self, Scalar};
use super::skim::{self, DEPTH};
use crate::limits::Limits;

/// The whole of a document, where it is in the plain style; `None` when the full reader has to look.
pub(super) fn whole(input: &Input<'_>, floats: bool, limits: &Limits) -> Option<Value> {
    skim::entries(input, |_| false, limits)?;
    entries(&input.text, floats, limits)
}

/// The map that entries make which [`skim::entries`] found, or the map of a whole document that it accepted.
pub(super) fn entries(text: &str, floats: bool, limits: &Limits) -> Option<Value> {
    let mut lines = Lines { rest: text, head: None, floats, limits };
    let map = lines.map(0, 0)?;
    lines.peek().is_none().then_some(map)
}

/// What is left of a text, line by line.
struct Lines<'t> {
    rest: &'t str,
    /// What is left of a line that has begun, and the column where that stands.
    head: Option<Line<'t>>,
    floats: bool,
    limits: &'t Limits,
}

#[derive(Clone, Copy)]
struct Line<'t> {
    indent: usize,
    content: &'t str,
    /// What follows the line.
    after: &'t str,
}

impl<'t> Lines<'t> {
    /// The next line that is neither empty nor a comment.
    fn peek(&self) -> Option<Line<'t>> {
        if self.head.is_some() {
            return self.head;
        }
        let mut rest = self.rest;
        while !rest.is_empty() {
            let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
            let content = line.trim_start_matches(' ');
            // The mark that begins the document.
            let mark = line == "---";
            if !content.is_empty() && !content.starts_with('#') && !mark {
                return Some(Line { indent: line.len() - content.len(), content, after });
            }
            rest = after;
        }
        None
    }

    /// Goes behind a line.
    fn pass(&mut self, line: Line<'t>) {
        (self.rest, self.head) = (line.after, None);
    }

    /// The list or the map that begins with the next line.
    fn block(&mut self, line: Line<'t>, depth: usize) -> Option<Value> {
        match depth < DEPTH {
            true if skim::is_item(line.content) => self.list(line.indent, depth),
            true if skim::key(line.content).is_some() => self.map(line.indent, depth),
            _ => None,
        }
    }

    fn map(&mut self, own: usize, depth: usize) -> Option<Value> {
        let mut map = Map::new();
        while let Some(line) = self.peek().filter(|line| line.indent >= own) {
            if line.indent > own || skim::is_item(line.content) {
                return None;
            }
            let (key, rest) = skim::key(line.content)?;
            self.pass(line);
            let value = match self.beside(rest, own) {
                Some(value) => value,
                None if is_blank(rest) => self.below(own, true, depth)?,
                None => self.in_full(line, own, |whole| whole.as_object_mut()?.remove(key))?,
            };
            if map.insert(key.to_owned(), value).is_some() {
                return None;
            }
        }
        Some(Value::Object(map))
    }

    fn list(&mut self, own: usize, depth: usize) -> Option<Value> {
        let mut items = Vec::new();
        while let Some(line) = self.peek().filter(|line| line.indent == own && skim::is_item(line.content)) {
            self.pass(line);
            let rest = line.content.get(1..)?;
            items.push(match self.beside(rest, own) {
                Some(value) => value,
                None if is_blank(rest) => self.below(own, false, depth)?,
                None => self.compact(line, rest, depth)?,
            });
        }
        Some(Value::Array(items))
    }

    /// An item that is more than a scalar: a map that begins on its line, or something for the full reader.
    fn compact(&mut self, line: Line<'t>, rest: &'t str, depth: usize) -> Option<Value> {
        let content = rest.trim_start_matches(' ');
        if skim::key(content).is_none() {
            return self.in_full(line, line.indent, |whole| whole.as_array_mut()?.pop());
        }
        let head = Line { indent: line.indent + line.content.len() - content.len(), content, ..line };
        self.head = Some(head);
        self.block(head, depth + 1)
    }

    /// What stands below a key or a dash; a list may stand right below a key.
    fn below(&mut self, own: usize, key: bool, depth: usize) -> Option<Value> {
        let beneath =
            |line: &Line<'_>| line.indent > own || key && line.indent == own && skim::is_item(line.content);
        match self.peek().filter(beneath) {
            Some(line) => self.block(line, depth + 1),
            None => Some(Value::Null),
        }
    }

    /// A value that is complete on its line.
    fn beside(&self, rest: &'t str, own: usize) -> Option<Value> {
        let value = self.scalar(rest.trim_start_matches(' '))?;
        let goes_on = self.peek().is_some_and(|next| next.indent > own);
        (!goes_on).then_some(value)
    }

    fn scalar(&self, rest: &str) -> Option<Value> {
        match rest.as_bytes() {
            [quote @ (b'"' | b'\''), inside @ ..] => {
                let length = memchr::memchr2(*quote, b'\\', inside)?;
                let ends = inside.get(length) == Some(quote) && is_blank(rest.get(length + 2..)?);
                ends.then(|| Some(Value::String(rest.get(1..=length)?.to_owned())))?
            }
            [b'[', ..] => {
                let (items, after) = skim::flow(rest)?;
                let items: Option<Vec<Value>> = items.into_iter().map(|item| self.scalar(item)).collect();
                is_blank(after).then_some(Value::Array(items?))
            }
            [b'{', b'}', ..] => is_blank(rest.get(2..)?).then(|| Value::Object(Map::new())),
            _ => self.plain(rest),
        }
    }

    fn plain(&self, rest: &str) -> Option<Value> {
        let end = skim::comment_or_key(rest).filter(|_| skim::may_begin_plain(rest.as_bytes()))?;
        let scalar = resolve::plain(rest.get(..end)?.trim_end_matches(' '));
        let finite = !matches!(scalar, Scalar::Float(float) if !float.is_finite());
        finite.then(|| decode::of_scalar(scalar, self.floats))
    }

    /// Gives a line and all that is deeper to the full reader.
    fn in_full(
        &mut self,
        line: Line<'t>,
        own: usize,
        part: impl FnOnce(&mut Value) -> Option<Value>,
    ) -> Option<Value> {
        let mut piece = format!("{}{}\n", " ".repeat(own), line.content);
        while !self.rest.is_empty() {
            let (next, after) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
            let content = next.trim_start_matches(' ');
            if !content.is_empty() && next.len() - content.len() <= own {
                break;
            }
            piece.push_str(next);
            // A text that keeps its last line breaks has none behind the end of the document.
            piece.push_str(if self.rest.len() > next.len() { "\n" } else { "" });
            self.rest = after;
        }
        let mut whole = super::read_in_full(piece.as_bytes(), self.floats, self.limits)?;
        part(&mut whole)
    }
}

/// Whether nothing but a comment is left of a line, which has a space before it.
fn is_blank(rest: &str) -> bool {
    let content = rest.trim_start_matches(' ');
    content.is_empty() || content.starts_with('#') && content.len() < rest.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Option<Value> {
        whole(&Input::read(text.as_bytes()), true, &Limits::default())
    }

    #[test]
    fn values_files_are_read_at_once() {
        for text in [
            "# values\nreplicas: 1\nimage:\n  tag: \"1.2\" # of the day\n  pull: ~\n  empty:\nlist:\n- a\n- b: 1\n  c: 'd'\n- \n- e:\n  - f\n  g: h\nlast: true",
            "a:\n  - b: |\n      text\n       more\n\n    c: >-\n      folded\n      text\n  - \"d\\n\"\n  - 'it''s'\n  - one\n    two\ne: []\nf: {} # none\n",
            "a: one\n  two # three\nb: https://x/#y\nc: 0x1F\nd: 1_000\ne: 2001-01-01\nf: yes\n",
            "a: |+\n  x\n\n# c\nb: |\n  # text\n  y",
            "a: |+\n  x\n\n",
            "a: |\n  x",
            "a:\n- - b\n  - c\n- d\n",
            "# values\n---\n# first\na: [ \"x y\", 'z', /bin/sh, 1, true ] # c\nb:\n- [a]\n- [ ]\nc: [a, b]\n",
        ] {
            let whole = super::super::read_in_full(text.as_bytes(), true, &Limits::default());
            assert_eq!(read(text), whole, "{text}");
            assert!(whole.is_some(), "{text}");
        }
    }

    #[test]
    fn what_is_odd_is_left() {
        for text in [
            "a: 1\na: 2",
            "a: &x b",
            "a:\n  <<: b",
            "a: b: c",
            "1: a",
            "a: .inf",
            "",
            "a: \"\n",
            "- a",
            "---\n---\na: b",
            "a: [b: c]",
            "a: [b,c]",
            "a: [b, ]",
            "a: [b",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
    /// A value as people write it: its first line's rest, and the lines below with their indentation.
    #[derive(Clone, Debug)]
    enum Node {
        Scalar(&'static str),
        Block(&'static str, Vec<(usize, &'static str)>),
        Map(usize, Vec<(&'static str, Node, &'static str)>),
        List(usize, Vec<(Node, &'static str)>),
    }

    impl Node {
        fn write(&self, at: usize, beside: bool, out: &mut String) {
            let space = |indent: usize| " ".repeat(indent);
            match self {
                Self::Scalar(text) => *out += &format!(" {text}\n"),
                Self::Block(header, lines) => {
                    *out += &format!(" {header}\n");
                    lines
                        .iter()
                        .for_each(|(more, line)| *out += &format!("{}{line}\n", space(at + 1 + more)));
                }
                Self::Map(deeper, entries) => {
                    let indent = at + deeper;
                    *out += if beside { "" } else { "\n" };
                    for (n, (key, value, between)) in entries.iter().enumerate() {
                        let lead = if beside && n == 0 { space(deeper - 1) } else { space(indent) };
                        *out += &format!("{lead}{key}{n}:");
                        value.write(indent, false, out);
                        *out += between;
                    }
                }
                Self::List(deeper, items) => {
                    *out += if beside { "" } else { "\n" };
                    for (n, (item, between)) in items.iter().enumerate() {
                        let lead = if beside && n == 0 {
                            space(deeper.saturating_sub(1))
                        } else {
                            space(at + deeper)
                        };
                        *out += &format!("{lead}-");
                        item.write(at + deeper, true, out);
                        *out += between;
                    }
                }
            }
        }
    }

    fn node() -> impl Strategy<Value = Node> {
        let scalar = prop::sample::select(vec![
            "",
            "x",
            "'a' # b",
            "\"d\"",
            "\"a\\n\"",
            "[]",
            "{} # c",
            "x y # z",
            "http://x:1/#y",
            "a,b",
            ".5",
            "1e3",
            "+1",
            "=",
            "\"\"",
            "# c",
            "[a, b]",
            "[a , 'b', \"c\"] # d",
            "[1, ~]",
            "[a:b]",
            "[a, b",
            "&a x",
            "!t x",
            "x: y",
        ]);
        let lines = (0_usize..3, prop::sample::select(vec!["x", "# c", "", "a: b", "- c", "{{ d }}"]));
        let header = prop::sample::select(vec!["|", "|-", "|+", ">", ">-", ">+ # c", "", "x", "\"x"]);
        let leaf = prop_oneof![
            6 => scalar.prop_map(Node::Scalar),
            2 => prop::sample::select(skim::ONE_LINE).prop_map(Node::Scalar),
            1 => (header, prop::collection::vec(lines, 0..4)).prop_map(|(header, lines)| Node::Block(header, lines)),
        ];
        let between = prop::sample::select(vec!["", "", "", "", "\n", "# c\n", "   # c\n", "\n\n"]);
        let key = prop::sample::select(vec!["a", "b ", "'c", "d-e", "/f"]);
        leaf.prop_recursive(4, 24, 4, move |inner| {
            let entries = prop::collection::vec((key.clone(), inner.clone(), between.clone()), 1..4);
            let items = prop::collection::vec((inner, between.clone()), 1..4);
            prop_oneof![
                3 => (1_usize..5, entries).prop_map(|(deeper, entries)| Node::Map(deeper, entries)),
                1 => (0_usize..4, items).prop_map(|(deeper, items)| Node::List(deeper, items)),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_read_at_once_reads_alike_in_full(entries in prop::collection::vec(node(), 1..4)) {
            let mut text = String::new();
            for (n, entry) in entries.iter().enumerate() {
                text += &format!("k{n}:");
                entry.write(0, false, &mut text);
            }
            for floats in [false, true] {
                let quick = whole(&Input::read(text.as_bytes()), floats, &Limits::default());
                let full = super::super::read_in_full(text.as_bytes(), floats, &Limits::default());
                prop_assert!(quick.is_none() || quick == full, "{}: {:?}, {:?}", text, quick, full);
            }
        }
    }
}
