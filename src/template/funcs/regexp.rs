//! Go's `regexp.Regexp` on top of the `regex` crate: how matches follow each other, split and expand.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use regex::bytes::{Captures, Regex, RegexBuilder};

use crate::go::pattern::{self, SyntaxError};

/// Compiled patterns kept per thread; charts match the same few in loops.
const CACHED: usize = 256;

/// Largest compiled pattern, in bytes (Go stops at 128 MB of instructions).
const COMPILED_BYTES: usize = 32 << 20;

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Regexp {
    regex: Regex,
    names: Vec<String>,
    empty: bool,
}

thread_local! {
    static CACHE: RefCell<BTreeMap<Vec<u8>, Rc<Regexp>>> = const { RefCell::new(BTreeMap::new()) };
}

/// Compiles a pattern, or finds it among those compiled before.
///
/// # Errors
/// The error of Go's `regexp.Compile`.
pub(super) fn compile(pattern: &[u8]) -> Result<Rc<Regexp>, SyntaxError> {
    if let Some(known) = CACHE.with_borrow(|cache| cache.get(pattern).cloned()) {
        return Ok(known);
    }
    let compiled = Rc::new(Regexp::compile(pattern)?);
    CACHE.with_borrow_mut(|cache| {
        if cache.len() >= CACHED {
            cache.clear();
        }
        cache.insert(pattern.to_vec(), Rc::clone(&compiled));
    });
    Ok(compiled)
}

impl Regexp {
    fn compile(pattern: &[u8]) -> Result<Self, SyntaxError> {
        let text = std::str::from_utf8(pattern).map_err(|error| SyntaxError {
            code: "invalid UTF-8",
            expr: String::from_utf8_lossy(pattern.get(error.valid_up_to()..).unwrap_or_default())
                .into_owned(),
        })?;
        let translated = pattern::translate(text)?;
        let regex = RegexBuilder::new(&translated.text)
            .size_limit(COMPILED_BYTES)
            .nest_limit(10_000)
            .build()
            .map_err(|_| SyntaxError { code: pattern::LARGE, expr: text.to_owned() })?;
        Ok(Self { regex, names: translated.names, empty: pattern.is_empty() })
    }

    /// Whether the pattern matches somewhere.
    pub(super) fn is_match(&self, text: &[u8]) -> bool {
        self.regex.is_match(text)
    }

    /// The leftmost match.
    pub(super) fn find<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        self.regex.find(text).map(|found| found.as_bytes())
    }

    /// The first `n` matches (all when negative) that do not overlap; an empty one right behind another is left out.
    pub(super) fn find_all(&self, text: &[u8], n: i64) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let limit = usize::try_from(n).unwrap_or(usize::MAX);
        let (mut at, mut last_end) = (0, None);
        while found.len() < limit && at <= text.len() {
            let Some(range) = self.regex.find_at(text, at).map(|m| m.range()) else { break };
            let repeats = range.end == at && Some(range.start) == last_end;
            at = if range.end == at { at + character_width(text, at) } else { range.end };
            last_end = Some(range.end);
            if !repeats {
                found.push(range);
            }
        }
        found
    }

    /// The pieces between matches, at most `n` (all when negative); `None` for a nil slice.
    pub(super) fn split<'t>(&self, text: &'t [u8], n: i64) -> Option<Vec<&'t [u8]>> {
        if n == 0 {
            return None;
        }
        if !self.empty && text.is_empty() {
            return Some(vec![text]);
        }
        let limit = usize::try_from(n).unwrap_or(usize::MAX);
        let mut pieces = Vec::new();
        let (mut begin, mut end) = (0, 0);
        for found in self.find_all(text, n) {
            if pieces.len() + 1 == limit {
                break;
            }
            end = found.start;
            if found.end != 0 {
                pieces.push(text.get(begin..end).unwrap_or_default());
            }
            begin = found.end;
        }
        if end != text.len() {
            pieces.push(text.get(begin..).unwrap_or_default());
        }
        Some(pieces)
    }

    /// Replaces every match by `template`, in which `$1`, `${name}` and `$$` are expanded.
    pub(super) fn replace_all(&self, text: &[u8], template: &[u8]) -> Vec<u8> {
        self.replace(text, |captures, out| self.expand(template, captures, out))
    }

    /// Replaces every match by `literal` as it stands.
    pub(super) fn replace_all_literal(&self, text: &[u8], literal: &[u8]) -> Vec<u8> {
        self.replace(text, |_, out| out.extend_from_slice(literal))
    }

    /// As Go `Regexp.replaceAll`: no replacement of an empty match right behind another match.
    fn replace(&self, text: &[u8], mut write: impl FnMut(&Captures<'_>, &mut Vec<u8>)) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len());
        let (mut at, mut last_end) = (0, 0);
        while at <= text.len() {
            let Some(captures) = self.regex.captures_at(text, at) else { break };
            let Some(range) = captures.get(0).map(|m| m.range()) else { break };
            out.extend_from_slice(text.get(last_end..range.start).unwrap_or_default());
            if range.end > last_end || range.start == 0 {
                write(&captures, &mut out);
            }
            last_end = range.end;
            at = range.end.max(at + character_width(text, at));
        }
        out.extend_from_slice(text.get(last_end..).unwrap_or_default());
        out
    }

    /// As Go `Regexp.expand`: a `$` without a name stands for itself.
    fn expand(&self, template: &[u8], captures: &Captures<'_>, out: &mut Vec<u8>) {
        let mut rest = template;
        while let Some(dollar) = rest.iter().position(|b| *b == b'$') {
            out.extend_from_slice(rest.get(..dollar).unwrap_or_default());
            rest = rest.get(dollar + 1..).unwrap_or_default();
            if let Some(after) = rest.strip_prefix(b"$") {
                out.push(b'$');
                rest = after;
            } else if let Some((name, after)) = reference(rest) {
                out.extend_from_slice(self.group(name, captures).unwrap_or_default());
                rest = after;
            } else {
                out.push(b'$');
            }
        }
        out.extend_from_slice(rest);
    }

    fn group<'t>(&self, name: &str, captures: &Captures<'t>) -> Option<&'t [u8]> {
        let numeric = name.bytes().all(|b| b.is_ascii_digit()) && (name == "0" || !name.starts_with('0'));
        if numeric && let Ok(index) = name.parse() {
            return captures.get(index).map(|m| m.as_bytes());
        }
        let named = self.names.iter().enumerate().filter(|(_, own)| own.as_str() == name);
        named.filter_map(|(index, _)| captures.get(index)).map(|m| m.as_bytes()).next()
    }
}

/// The name after a `$`, longest first, and what follows it.
fn reference(text: &[u8]) -> Option<(&str, &[u8])> {
    let (body, braced) = text.strip_prefix(b"{").map_or((text, false), |rest| (rest, true));
    let valid = body.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let end = valid.find(|c: char| !(c.is_alphabetic() || c.is_numeric() || c == '_')).unwrap_or(valid.len());
    let name = valid.get(..end).filter(|name| !name.is_empty())?;
    let after = body.get(end..)?;
    if braced { Some((name, after.strip_prefix(b"}")?)) } else { Some((name, after)) }
}

/// Width of the character at a place, 1 for an invalid byte and at the end.
fn character_width(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let head = rest.get(..rest.len().min(4)).unwrap_or_default();
    head.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next()).map_or(1, char::len_utf8)
}
