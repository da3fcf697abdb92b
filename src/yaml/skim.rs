//! A quick look at documents in the plain style that most manifests are written in: block maps and lists, scalars that are
//! plain, quoted or in blocks, comments.
//!
//! It accepts only what [`super::decode`] accepts and gives up on everything else: anchors, tags, flow collections, tabs,
//! odd indentation, keys that are no text. Whoever asks reads such a document in full, which finds its faults as well.

use std::ops::Range;

use memchr::{memchr, memchr2, memchr2_iter};

use super::input::Input;
use super::resolve::{self, Scalar};
use crate::limits::Limits;

/// Blocks in blocks that are followed.
pub(super) const DEPTH: usize = 64;

/// Bytes of a key that surely is short enough to go without `?` (libyaml: 1024 characters).
const KEY: usize = 1000;

/// The text of a root map's entries whose keys are wanted; `None` when the full reader has to look.
pub(super) fn entries(input: &Input<'_>, wanted: fn(&str) -> bool, limits: &Limits) -> Option<String> {
    let text = &*input.text;
    // Each byte may be a scalar, and an empty value beside.
    let nodes = text.len().saturating_mul(2).saturating_add(2);
    if input.problem.is_some() || !input.unix || nodes > limits.yaml_nodes || limits.yaml_depth < 2 * DEPTH {
        return None;
    }
    let tabs = memchr(b'\t', text.as_bytes()).is_some();
    let (blocks, found) = (Vec::new(), Vec::new());
    let mut skim = Skim { text, tabs, at: 0, marked: false, blocks, open: Open::No, wanted, found };
    while skim.at < text.len() {
        skim.line()?;
    }
    skim.end_entry(text.len());
    let found = skim.found.into_iter().filter_map(|range| text.get(range));
    (!skim.blocks.is_empty()).then(|| found.collect())
}

/// What the next line may go on with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    /// Nothing: the last entry is complete.
    No,
    /// The last entry has no value yet.
    Value,
    /// The last value is plain and may have further lines.
    Plain,
}

/// A block map or list.
#[derive(Clone, Copy)]
struct Block {
    indent: usize,
    list: bool,
}

struct Skim<'t> {
    text: &'t str,
    tabs: bool,
    at: usize,
    /// Whether the mark that begins a document is past.
    marked: bool,
    blocks: Vec<Block>,
    open: Open,
    wanted: fn(&str) -> bool,
    /// Entries of the root that are wanted; the last one has no end while the next key has not come.
    found: Vec<Range<usize>>,
}

impl<'t> Skim<'t> {
    /// Looks at the line here and steps behind it.
    fn line(&mut self) -> Option<()> {
        let start = self.at;
        let line = self.rest_of_line();
        self.at = start + line.len() + 1;
        let content = line.trim_start_matches(' ');
        let indent = line.len() - content.len();
        match content.as_bytes() {
            [] => return Some(()),
            [b'#', ..] => {
                if self.open == Open::Plain {
                    self.open = Open::No;
                }
                return Some(());
            }
            _ if self.tabs && memchr(b'\t', content.as_bytes()).is_some() => return None,
            b"---" if indent == 0 && self.blocks.is_empty() && !self.marked => {
                self.marked = true;
                return Some(());
            }
            [b'-', b'-', b'-', ..] | [b'.', b'.', b'.', ..] | [b'%', ..] if indent == 0 => return None,
            _ => {}
        }
        self.close(indent);
        self.content(start, indent, content)
    }

    fn rest_of_line(&self) -> &'t str {
        let rest = self.text.get(self.at..).unwrap_or("");
        rest.get(..memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len())).unwrap_or("")
    }

    /// Leaves the blocks that are deeper than a line.
    fn close(&mut self, indent: usize) {
        while self.blocks.last().is_some_and(|block| block.indent > indent) {
            self.blocks.pop();
            self.open = Open::No;
        }
    }

    fn content(&mut self, start: usize, indent: usize, content: &'t str) -> Option<()> {
        let item = is_item(content);
        match self.blocks.last() {
            None if indent > 0 || item => return None,
            None => self.enter(0, false)?,
            Some(block) if indent > block.indent => match self.open {
                Open::No => return None,
                Open::Plain => return self.plain(content),
                Open::Value if item => self.enter(indent, true)?,
                Open::Value if key(content).is_some() => self.enter(indent, false)?,
                Open::Value => return self.value(start + indent, content),
            },
            Some(block) if block.list && !item => {
                // A list may stand right below the key of its map.
                self.blocks.pop();
                self.blocks.last().filter(|map| map.indent == indent && !map.list)?;
            }
            Some(block) if !block.list && item => {
                (self.open == Open::Value).then_some(())?;
                self.enter(indent, true)?;
            }
            Some(_) => {}
        }
        if item { self.item(start, indent, content) } else { self.entry(start, indent, content) }
    }

    fn enter(&mut self, indent: usize, list: bool) -> Option<()> {
        self.blocks.push(Block { indent, list });
        (self.blocks.len() < DEPTH).then_some(())
    }

    /// An item of a list, with the lists and maps that begin on its line.
    fn item(&mut self, start: usize, indent: usize, content: &'t str) -> Option<()> {
        let (mut indent, mut content) = (indent, content);
        loop {
            let rest = content.get(1..).unwrap_or("").trim_start_matches(' ');
            indent += content.len() - rest.len();
            if rest.is_empty() || rest.starts_with('#') {
                self.open = Open::Value;
                return Some(());
            }
            if !is_item(rest) {
                if key(rest).is_none() {
                    return self.value(start + indent, rest);
                }
                self.enter(indent, false)?;
                return self.entry(start, indent, rest);
            }
            self.enter(indent, true)?;
            content = rest;
        }
    }

    /// An entry of a map.
    fn entry(&mut self, start: usize, indent: usize, content: &'t str) -> Option<()> {
        let (key, after) = key(content)?;
        if self.blocks.len() == 1 {
            self.end_entry(start);
            if (self.wanted)(key) {
                self.found.push(start..usize::MAX);
            }
        }
        let rest = after.trim_start_matches(' ');
        if rest.is_empty() || rest.starts_with('#') {
            self.open = Open::Value;
            return Some(());
        }
        self.value(start + indent + content.len() - rest.len(), rest)
    }

    /// The root's entry so far ends where the next one begins.
    fn end_entry(&mut self, at: usize) {
        if let Some(entry) = self.found.last_mut().filter(|entry| entry.end == usize::MAX) {
            entry.end = at;
        }
    }

    /// A scalar or an empty collection that begins at an offset; `rest` is what its line has of it.
    fn value(&mut self, start: usize, rest: &'t str) -> Option<()> {
        self.open = Open::No;
        match rest.as_bytes() {
            [b'"' | b'\'', ..] => self.quoted(start),
            [b'|' | b'>', header @ ..] => self.block(header),
            [b'{', b'}', after @ ..] => self.complete(after),
            [b'[', ..] => self.complete(flow(rest)?.1.as_bytes()),
            _ => self.plain(rest),
        }
    }

    /// Nothing but a comment may follow a value on its line.
    fn complete(&mut self, after: &[u8]) -> Option<()> {
        self.open = Open::No;
        let rest = after.trim_ascii_start();
        (rest.is_empty() || rest.len() < after.len() && rest.starts_with(b"#")).then_some(())
    }

    /// A line of a plain scalar.
    fn plain(&mut self, line: &str) -> Option<()> {
        let first = self.open != Open::Plain;
        if first && !may_begin_plain(line.as_bytes()) {
            return None;
        }
        let end = comment_or_key(line)?;
        let text = line.get(..end).unwrap_or("").trim_end_matches(' ');
        self.open = if end < line.len() { Open::No } else { Open::Plain };
        let number = first && matches!(text.as_bytes(), [b'.' | b'+' | b'-' | b'0'..=b'9', ..]);
        let endless = number && matches!(resolve::plain(text), Scalar::Float(float) if !float.is_finite());
        (!endless).then_some(())
    }

    /// A quoted scalar, which may have several lines.
    fn quoted(&mut self, start: usize) -> Option<()> {
        let text = self.text.get(start + 1..)?.as_bytes();
        let length =
            if self.text.as_bytes().get(start) == Some(&b'\'') { single(text) } else { double(text) }?;
        let inside = text.get(..length)?;
        let several = memchr(b'\n', inside).is_some();
        if several && (self.tabs || inside.windows(4).any(|part| matches!(part, b"\n---" | b"\n..."))) {
            return None;
        }
        self.at = start + length + 2;
        let after = self.rest_of_line();
        self.at += after.len() + 1;
        self.complete(after.as_bytes())
    }

    /// A block scalar, whose header without its first character is given.
    fn block(&mut self, header: &[u8]) -> Option<()> {
        let header = header.strip_prefix(b"-").or_else(|| header.strip_prefix(b"+")).unwrap_or(header);
        self.complete(header)?;
        let parent = self.blocks.last()?.indent;
        let (mut deepest, mut own) = (0, None);
        while self.at < self.text.len() {
            let line = self.rest_of_line();
            let content = line.trim_start_matches(' ');
            let indent = line.len() - content.len();
            match (content.as_bytes().first(), own) {
                (None, None) => deepest = deepest.max(indent),
                (None, Some(_)) => {}
                (Some(_), Some(own)) if indent >= own => {}
                (Some(b'\t'), _) => return None,
                (Some(_), None) if indent > parent && indent >= deepest => own = Some(indent),
                (Some(_), None) if indent > parent => return None,
                (Some(_), _) => break,
            }
            self.at += line.len() + 1;
        }
        Some(())
    }
}

/// Whether a line is an item of a list.
pub(super) fn is_item(content: &str) -> bool {
    matches!(content.as_bytes(), [b'-'] | [b'-', b' ', ..])
}

/// A key that is text, and what follows its colon; `None` for lines without a key and for keys of other kinds.
pub(super) fn key(content: &str) -> Option<(&str, &str)> {
    let bytes = content.as_bytes();
    let (key, end, plain) = match bytes {
        [quote @ (b'"' | b'\''), inside @ ..] => {
            let length = memchr2(*quote, b'\\', inside)?;
            (inside.get(length) == Some(quote)).then_some(())?;
            (content.get(1..=length)?, length + 2, false)
        }
        _ => {
            let end = colon(bytes)?;
            (content.get(..end)?.trim_end_matches(' '), end, true)
        }
    };
    let after = content.get(end..)?.strip_prefix(':')?;
    let text = !plain || may_begin_plain(bytes) && matches!(resolve::plain(key), Scalar::Text(_));
    let ends = after.is_empty() || after.starts_with(' ');
    (ends && text && key != "<<" && end < KEY).then_some((key, after))
}

/// Where the colon is that makes a line's beginning a key.
fn colon(line: &[u8]) -> Option<usize> {
    memchr2_iter(b':', b'#', line).find(|&at| is_mark(line, at)).filter(|&at| line.get(at) == Some(&b':'))
}

/// Where a line of a plain scalar ends: at a comment or at its end; `None` when it has a key.
pub(super) fn comment_or_key(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    match memchr2_iter(b':', b'#', bytes).find(|&at| is_mark(bytes, at)) {
        Some(at) if bytes.get(at) == Some(&b':') => None,
        at => Some(at.unwrap_or(bytes.len())),
    }
}

/// Whether a colon or hash at an offset is more than a character of a plain scalar.
fn is_mark(line: &[u8], at: usize) -> bool {
    if line.get(at) == Some(&b'#') {
        at.checked_sub(1).is_some_and(|before| line.get(before) == Some(&b' '))
    } else {
        matches!(line.get(at + 1), None | Some(b' '))
    }
}

/// The items of a list in brackets that is complete on its line, with their quotes, and what follows it; `None` for those
/// that hold more than words and texts without escapes.
pub(super) fn flow(line: &str) -> Option<(Vec<&str>, &str)> {
    let mut items = Vec::new();
    let mut rest = line.strip_prefix('[')?.trim_start_matches(' ');
    if let Some(after) = rest.strip_prefix(']') {
        return Some((items, after));
    }
    loop {
        let length = item(rest.as_bytes())?;
        items.push(rest.get(..length)?);
        rest = rest.get(length..)?.trim_start_matches(' ');
        if let Some(after) = rest.strip_prefix(']') {
            return (line.len() - after.len() < KEY).then_some((items, after));
        }
        rest = rest.strip_prefix(", ")?.trim_start_matches(' ');
    }
}

/// Length of a word, or of a text in quotes without escapes.
fn item(text: &[u8]) -> Option<usize> {
    match text {
        [quote @ (b'"' | b'\''), inside @ ..] => {
            let length = memchr2(*quote, b'\\', inside)?;
            (inside.get(length) == Some(quote)).then_some(length + 2)
        }
        [first, ..] if first.is_ascii_alphanumeric() || matches!(first, b'_' | b'/') => {
            let inner =
                |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'/' | b'.' | b'-');
            Some(text.iter().take_while(inner).count())
        }
        _ => None,
    }
}

/// Whether a plain scalar surely begins here.
pub(super) fn may_begin_plain(line: &[u8]) -> bool {
    match line {
        [b'-', next, ..] => *next != b' ' && next.is_ascii(),
        [first, ..] => first.is_ascii() && !b"-?:,[]{}#&*!|>'\"%@`".contains(first),
        [] => false,
    }
}

/// Length of a single-quoted scalar that begins here, behind its quote.
fn single(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr(b'\'', text.get(at..)?)?;
        if text.get(at + 1) != Some(&b'\'') {
            return Some(at);
        }
        at += 2;
    }
}

/// Length of a double-quoted scalar that begins here, behind its quote; only the commonest escapes are known.
fn double(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr2(b'"', b'\\', text.get(at..)?)?;
        match (text.get(at), text.get(at + 1)) {
            (Some(b'"'), _) => return Some(at),
            (_, Some(b'"' | b'\\' | b'n' | b't' | b'r')) => at += 2,
            _ => return None,
        }
    }
}

/// Scalars of many kinds that stand on one line, for tests.
#[cfg(test)]
pub(super) const ONE_LINE: &[&str] = &["1", "-0.5", "0x1F", "1_0", "true", "~", "2001-01-01", "'it''s'"];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::quick;
    use super::*;

    fn wanted(key: &str) -> bool {
        matches!(key, "a" | "kind" | "metadata")
    }

    fn skim(text: &str) -> Option<String> {
        entries(&Input::read(text.as_bytes()), wanted, &Limits::default())
    }

    /// What is accepted must be what the full reader accepts, with the same entries.
    fn agrees(text: &str) -> bool {
        let Some(part) = skim(text) else { return false };
        let limits = Limits::default();
        let mut whole =
            super::super::to_json(text.as_bytes(), &limits).unwrap_or_else(|error| panic!("{error}: {text}"));
        for floats in [false, true] {
            let read = super::super::read_in_full(text.as_bytes(), floats, &limits);
            let quick = quick::whole(&Input::read(text.as_bytes()), floats, &limits);
            assert!(quick.is_none() || quick == read, "{text}: {quick:?}, {read:?}");
            let read = super::super::read_in_full(part.as_bytes(), floats, &limits);
            let quick = quick::entries(&part, floats, &limits);
            let none = quick == Some(serde_json::json!({})) && read == Some(serde_json::Value::Null);
            assert!(quick.is_none() || none || quick == read, "{part}: {quick:?}, {read:?}");
        }
        let part = super::super::to_json(part.as_bytes(), &limits).unwrap();
        whole.as_object_mut().unwrap().retain(|key, _| wanted(key));
        assert_eq!(part.as_object().cloned().unwrap_or_default(), *whole.as_object().unwrap(), "{text}");
        true
    }

    #[test]
    fn the_plain_style_is_accepted() {
        for text in [
            "kind: A\nmetadata:\n  name: x # y\n  annotations: {}\nspec:\n- a\n- b: 1\n  c: [] # d\n",
            "# first\nkind: A\nmetadata:\n    x: |-\n      text: {{\n\n        more\n    z: >+\n\n      z\n\n",
            "a: one\n  two\n\n  three: four\n".replace(": four", "").as_str(),
            "a:\n  one\n  - two\nb: \"x: \\\" #\"\nc: 'it''s\n  more'\nd: -1\n",
            "a:\n- - x\n  - y\n-\n  z: 1\n- |\n  text\n-   b: c\n    d: e\n\"k\": https://x/#y\n'q': .5",
            "a: |\nb:\nc:   \n  # only a comment\nkey with spaces : x",
        ] {
            assert!(agrees(text), "{text}");
        }
    }

    #[test]
    fn everything_else_is_left_to_the_full_reader() {
        for text in [
            "",
            "a",
            "- a",
            " a: b",
            "a: b: c",
            "a: &x b",
            "a: *x",
            "a: !t b",
            "a: {b: c}",
            ":",
            ": a",
            "a:\n- : b",
            "a: .inf",
            "a: -.Inf",
            "a:\tb",
            "a: b\n c: d",
            "a: 'b' c",
            "a: 'b'#c",
            "a: b\n  # c\n  d",
            "? a\n: b",
            "1: a",
            "~: a",
            "y: a",
            "<<: a",
            "a: b\n---\nc: d",
            "%YAML 1.1",
            "a: - b",
            "a: |2\n  b",
            "a: |\n     \n  b",
            "a:\n  b: c\n - d",
            "a: b\r\n",
            "a:\n    b: c\n  d: e",
            "a: \"\\x41\"",
            "a: 'b\n---\n'",
            "a: @b",
            "a: \"b",
            "a: | b",
            "- a: b\n c: d",
            "a: b\n- c",
            "a:\n  - b\n  c: d",
            "a: 'b': c",
            "a: x:",
            "a\nb: c",
            "a: |\n \tb",
            ":",
            ": a",
            "a:\n  : b",
        ] {
            assert_eq!(skim(text), None, "{text:?}");
        }
    }

    #[test]
    fn limits_are_left_to_the_full_reader() {
        let few = Limits { yaml_nodes: 10, ..Limits::default() };
        assert_eq!(entries(&Input::read(b"a: bbbbbb"), wanted, &few), None);
        assert_eq!(skim(&(0..100).map(|at| format!("{}a:\n", " ".repeat(at))).collect::<String>()), None);
    }

    /// A line of the pieces that documents are made of.
    fn line() -> impl Strategy<Value = String> {
        let lead = prop::sample::select(vec![
            "",
            "- ",
            "- - ",
            "a: ",
            "kind: ",
            "metadata:",
            "'q': ",
            "\"d\":",
            "? ",
            "<<: ",
            "1: ",
            "-",
            "b: ",
            "c: ",
            "two words: ",
            "- e: ",
            "- 'q': ",
        ]);
        let rest = prop::sample::select(vec![
            "",
            "x",
            "b: c",
            "b:",
            "- d",
            "'s'",
            "'s",
            "t'",
            "\"d\"",
            "\"e\\\"",
            "|",
            ">-",
            "|+ # c",
            "|1",
            "[]",
            "{}",
            "[x",
            "# c",
            "x # c",
            "x#",
            "x:",
            ":y",
            ".inf",
            "1e5",
            "-",
            "&a x",
            "*a",
            "!t x",
            "...",
            "---",
            "x\ty",
            "\u{e9}",
            "\u{85}",
            "@",
            "%",
            "\"d\" # c",
            "\"a\\n\"",
            "[] # c",
            ">",
            "|- # c",
            "b: # c",
            "{}#",
        ]);
        let rest = prop_oneof![rest, prop::sample::select(ONE_LINE)];
        (0_usize..7, lead, rest)
            .prop_map(|(indent, lead, rest)| format!("{}{lead}{rest}\n", " ".repeat(indent)))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn whatever_is_accepted_reads_alike(lines in prop::collection::vec(line(), 1..9)) {
            agrees(&format!("a: x\n{}", lines.concat()));
            agrees(&lines.concat());
        }
    }
}
