//! Functions on regular expressions, in Go's RE2 syntax.

use std::rc::Rc;

use super::regexp::{self, Regexp};
use super::{Fault, Func};
use crate::func;
use crate::go::quote::{can_backquote, quote};
use crate::template::types::STRINGS;
use crate::template::value::{GoStr, List, Value};

/// Rows of this family, sorted by name.
pub(super) static FUNCS: &[Func] = &[
    func!("mustRegexFind", must_regex_find),
    func!("mustRegexFindAll", must_regex_find_all),
    func!("mustRegexMatch", must_regex_match),
    func!("mustRegexReplaceAll", must_regex_replace_all),
    func!("mustRegexReplaceAllLiteral", must_regex_replace_all_literal),
    func!("mustRegexSplit", must_regex_split),
    func!("regexFind", regex_find),
    func!("regexFindAll", regex_find_all),
    func!("regexMatch", regex_match),
    func!("regexQuoteMeta", regex_quote_meta),
    func!("regexReplaceAll", regex_replace_all),
    func!("regexReplaceAllLiteral", regex_replace_all_literal),
    func!("regexSplit", regex_split),
];

/// `regexp.Compile`: the error as it is.
fn compile(pattern: &[u8]) -> Result<Rc<Regexp>, Fault> {
    regexp::compile(pattern).map_err(|error| Fault::new(error.to_string()))
}

/// `regexp.MustCompile`: the error with the pattern before it.
fn must_compile(pattern: &[u8]) -> Result<Rc<Regexp>, Fault> {
    regexp::compile(pattern).map_err(|error| {
        let raw = can_backquote(pattern);
        let quoted = if raw { format!("`{}`", String::from_utf8_lossy(pattern)) } else { quote(pattern) };
        Fault::new(format!("regexp: Compile({quoted}): {error}"))
    })
}

/// Like `regexFind`; an error speaks of the pattern alone.
///
/// ```tmpl
/// {{ mustRegexFind "[a-z]+" "1ab2" }} → ab
/// ```
fn must_regex_find(pattern: &[u8], text: &[u8]) -> Result<GoStr, Fault> {
    Ok(found(&*compile(pattern)?, text))
}

/// Like `regexFindAll`; an error speaks of the pattern alone.
///
/// ```tmpl
/// {{ mustRegexFindAll "a." "ab ac" -1 }} → [ab ac]
/// ```
fn must_regex_find_all(pattern: &[u8], text: &[u8], n: i64) -> Result<Value, Fault> {
    Ok(all_found(&*compile(pattern)?, text, n))
}

/// Like `regexMatch`; an error is not swallowed.
///
/// ```tmpl
/// {{ mustRegexMatch "^a" "abc" }} → true
/// ```
fn must_regex_match(pattern: &[u8], text: &[u8]) -> Result<bool, Fault> {
    Ok(compile(pattern)?.is_match(text))
}

/// Like `regexReplaceAll`; an error speaks of the pattern alone.
///
/// ```tmpl
/// {{ mustRegexReplaceAll "a(x*)b" "-axxb-" "${1}W" }} → -xxW-
/// ```
fn must_regex_replace_all(pattern: &[u8], text: &[u8], template: &[u8]) -> Result<GoStr, Fault> {
    Ok(GoStr::from(compile(pattern)?.replace_all(text, template)))
}

/// Like `regexReplaceAllLiteral`; an error speaks of the pattern alone.
///
/// ```tmpl
/// {{ mustRegexReplaceAllLiteral "a" "banana" "$1" }} → b$1n$1n$1
/// ```
fn must_regex_replace_all_literal(pattern: &[u8], text: &[u8], literal: &[u8]) -> Result<GoStr, Fault> {
    Ok(GoStr::from(compile(pattern)?.replace_all_literal(text, literal)))
}

/// Like `regexSplit`; an error speaks of the pattern alone.
///
/// ```tmpl
/// {{ mustRegexSplit "z+" "pizza" -1 }} → [pi a]
/// ```
fn must_regex_split(pattern: &[u8], text: &[u8], n: i64) -> Result<Value, Fault> {
    Ok(pieces(&*compile(pattern)?, text, n))
}

/// The leftmost match of a pattern, or an empty string.
///
/// ```tmpl
/// {{ regexFind "[a-z]+" "1ab2" }} → ab
/// ```
fn regex_find(pattern: &[u8], text: &[u8]) -> Result<GoStr, Fault> {
    Ok(found(&*must_compile(pattern)?, text))
}

fn found(regexp: &Regexp, text: &[u8]) -> GoStr {
    GoStr::from(regexp.find(text).unwrap_or_default())
}

/// The first `n` matches of a pattern, all of them when negative.
///
/// ```tmpl
/// {{ regexFindAll "[2,4,6,8]" "123456789" -1 }} → [2 4 6 8]
/// ```
fn regex_find_all(pattern: &[u8], text: &[u8], n: i64) -> Result<Value, Fault> {
    Ok(all_found(&*must_compile(pattern)?, text, n))
}

fn all_found(regexp: &Regexp, text: &[u8], n: i64) -> Value {
    let found = regexp.find_all(text, n);
    if found.is_empty() {
        return Value::List(List::nil(&STRINGS));
    }
    Value::strings(found.into_iter().map(|range| text.get(range).unwrap_or_default()))
}

/// Whether a pattern matches somewhere; a faulty pattern does not.
///
/// ```tmpl
/// {{ regexMatch "^v[0-9]+" "v12" }} → true
/// {{ regexMatch "(" "(" }} → false
/// ```
fn regex_match(pattern: &[u8], text: &[u8]) -> bool {
    regexp::compile(pattern).is_ok_and(|regexp| regexp.is_match(text))
}

/// The text as a pattern that matches nothing else.
///
/// ```tmpl
/// {{ regexQuoteMeta "1.2.3" }} → 1\.2\.3
/// ```
fn regex_quote_meta(text: &[u8]) -> GoStr {
    let escaped = |b: &u8| if br"\.+*?()|[]{}^$".contains(b) { vec![b'\\', *b] } else { vec![*b] };
    GoStr::from(text.iter().flat_map(escaped).collect::<Vec<u8>>())
}

/// Replaces every match of a pattern; `$1` and `${name}` stand for groups, `$1x` for the group named `1x`.
///
/// ```tmpl
/// {{ regexReplaceAll "a(x*)b" "-ab-axxb-" "${1}W" }} → -W-xxW-
/// ```
fn regex_replace_all(pattern: &[u8], text: &[u8], template: &[u8]) -> Result<GoStr, Fault> {
    Ok(GoStr::from(must_compile(pattern)?.replace_all(text, template)))
}

/// Replaces every match of a pattern by a text as it stands.
///
/// ```tmpl
/// {{ regexReplaceAllLiteral "a(x*)b" "-ab-axxb-" "${1}" }} → -${1}-${1}-
/// ```
fn regex_replace_all_literal(pattern: &[u8], text: &[u8], literal: &[u8]) -> Result<GoStr, Fault> {
    Ok(GoStr::from(must_compile(pattern)?.replace_all_literal(text, literal)))
}

/// The pieces between matches, at most `n` of them, all when negative.
///
/// ```tmpl
/// {{ regexSplit "z+" "pizza" -1 }} → [pi a]
/// ```
fn regex_split(pattern: &[u8], text: &[u8], n: i64) -> Result<Value, Fault> {
    Ok(pieces(&*must_compile(pattern)?, text, n))
}

fn pieces(regexp: &Regexp, text: &[u8], n: i64) -> Value {
    regexp.split(text, n).map_or_else(|| Value::List(List::nil(&STRINGS)), Value::strings)
}
