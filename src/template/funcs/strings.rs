//! Functions on strings.

use super::cast::{display, strval};
use super::words;
use super::{Engine, Fault, Func};
use crate::func;
use crate::template::value::{GoStr, Value};

/// Rows of this family, sorted by name.
pub(super) static FUNCS: &[Func] = &[
    func!("abbrev", abbrev),
    func!("abbrevboth", abbrevboth),
    func!("camelcase", camelcase),
    func!("cat", cat),
    func!("contains", contains),
    func!("hasPrefix", has_prefix),
    func!("hasSuffix", has_suffix),
    func!("hello", hello),
    func!(engine "indent", indent),
    func!("initials", initials),
    func!("kebabcase", kebabcase),
    func!("lower", lower),
    func!(engine "nindent", nindent),
    func!("nospace", nospace),
    func!("plural", plural),
    func!("quote", quote),
    func!(engine "repeat", repeat),
    func!(engine "replace", replace),
    func!("snakecase", snakecase),
    func!("squote", squote),
    func!("substr", substr),
    func!("swapcase", swapcase),
    func!("title", title),
    func!("toString", to_string),
    func!("trim", trim),
    func!("trimAll", trim_all),
    func!("trimPrefix", trim_prefix),
    func!("trimSuffix", trim_suffix),
    func!("trimall", trim_all),
    func!("trunc", trunc),
    func!("untitle", untitle),
    func!("upper", upper),
    func!("wrap", wrap),
    func!("wrapWith", wrap_with),
];

/// Shortens to at most `width` bytes, the last three of them dots.
///
/// ```tmpl
/// {{ abbrev 8 "hello world" }} → hello...
/// {{ abbrev 3 "hello world" }} → hello world
/// ```
fn abbrev(width: i64, text: &[u8]) -> GoStr {
    if width < 4 { GoStr::from(text) } else { abbreviate(text, 0, width) }
}

/// Shortens on both sides: what stands around byte `left` remains, at most `right` bytes with the dots.
///
/// ```tmpl
/// {{ abbrevboth 5 10 "1234 5678 9123" }} → ...5678...
/// ```
fn abbrevboth(left: i64, right: i64, text: &[u8]) -> GoStr {
    if right < 4 || left > 0 && right < 7 { GoStr::from(text) } else { abbreviate(text, left, right) }
}

/// As goutils v1.1.1 `AbbreviateFull`; `width` is at least 4.
fn abbreviate(text: &[u8], left: i64, width: i64) -> GoStr {
    let length = i64::try_from(text.len()).unwrap_or(i64::MAX);
    if length <= width {
        return GoStr::from(text);
    }
    let kept = usize::try_from(width - 3).unwrap_or(0);
    let left = left.min(length).min(length - width + 3).max(0);
    let start = usize::try_from(left).unwrap_or(0);
    let head = |text: &[u8], kept: usize| [text.get(..kept).unwrap_or(text), b"..."].concat();
    if left <= 4 {
        GoStr::from(head(text, kept))
    } else if left + width - 3 < length {
        let rest = text.get(start..).unwrap_or_default();
        let inner = if rest.len() <= kept { rest.to_vec() } else { head(rest, kept.saturating_sub(3)) };
        GoStr::from([b"...", inner.as_slice()].concat())
    } else {
        GoStr::from([b"...", text.get(text.len() - kept..).unwrap_or_default()].concat())
    }
}

/// Joins words to one with capitals: `foo_bar` becomes `FooBar`.
///
/// ```tmpl
/// {{ camelcase "http_server" }} → HttpServer
/// ```
fn camelcase(text: &str) -> String {
    words::pascal_case(text, true)
}

fn camelcase_3_2(text: &str) -> String {
    words::pascal_case(text, false)
}

/// What Sprig 3.2.3 had otherwise.
pub(super) static FUNCS_3_2: &[Func] = &[func!("camelcase", camelcase_3_2)];

/// Joins arguments with spaces; nil is left out.
///
/// ```tmpl
/// {{ cat "a" nil 1 true }} → a 1 true
/// ```
fn cat(parts: &[Value]) -> Result<GoStr, Fault> {
    let printed = present(parts).map(display).collect::<Result<Vec<_>, _>>()?;
    Ok(GoStr::from(printed.join(&b' ')))
}

/// The arguments that are not nil.
fn present(parts: &[Value]) -> impl Iterator<Item = &Value> {
    parts.iter().filter(|part| !matches!(part, Value::Nil))
}

/// Whether the second string holds the first.
///
/// ```tmpl
/// {{ contains "ell" "hello" }} → true
/// ```
fn contains(part: &[u8], text: &[u8]) -> bool {
    find(text, part).is_some()
}

/// Whether the second string begins with the first.
///
/// ```tmpl
/// {{ hasPrefix "he" "hello" }} → true
/// ```
fn has_prefix(prefix: &[u8], text: &[u8]) -> bool {
    text.starts_with(prefix)
}

/// Whether the second string ends with the first.
///
/// ```tmpl
/// {{ hasSuffix "lo" "hello" }} → true
/// ```
fn has_suffix(suffix: &[u8], text: &[u8]) -> bool {
    text.ends_with(suffix)
}

/// A greeting.
///
/// ```tmpl
/// {{ hello }} → Hello!
/// ```
fn hello() -> &'static str {
    "Hello!"
}

/// Puts spaces before every line.
///
/// ```tmpl
/// {{ indent 2 "a" }} →   a
/// ```
fn indent(engine: &mut dyn Engine, spaces: i64, text: &[u8]) -> Result<GoStr, Fault> {
    indented(engine, "", spaces, text)
}

/// Puts a line break before the text and spaces before every line.
///
/// ```tmpl
/// {{ nindent 2 "a" | quote }} → "\n  a"
/// ```
fn nindent(engine: &mut dyn Engine, spaces: i64, text: &[u8]) -> Result<GoStr, Fault> {
    indented(engine, "\n", spaces, text)
}

fn indented(engine: &mut dyn Engine, start: &str, spaces: i64, text: &[u8]) -> Result<GoStr, Fault> {
    let spaces = usize::try_from(spaces).map_err(|_| Fault::new("strings: negative Repeat count"))?;
    let lines = text.iter().filter(|b| **b == b'\n').count() + 1;
    reserve(engine, text.len().saturating_add(lines.saturating_mul(spaces)))?;
    let mut out = Vec::from(start);
    for (i, line) in text.split(|b| *b == b'\n').enumerate() {
        if i > 0 {
            out.push(b'\n');
        }
        out.resize(out.len() + spaces, b' ');
        out.extend_from_slice(line);
    }
    Ok(GoStr::from(out))
}

/// Asks for the bytes of a result that a small call can make large.
fn reserve(engine: &mut dyn Engine, bytes: usize) -> Result<(), Fault> {
    if bytes > engine.limits().output_bytes {
        return Err(Fault::limit("a string grows larger than the whole output may", "output-bytes"));
    }
    engine.spend(bytes as u64 / 64)
}

/// First letters of all words.
///
/// ```tmpl
/// {{ initials "First Try" }} → FT
/// ```
fn initials(text: &[u8]) -> String {
    let mut out = String::new();
    let mut gap = true;
    // Upstream takes bytes for characters.
    for c in text.iter().map(|b| char::from(*b)) {
        if !c.is_whitespace() && gap {
            out.push(c);
        }
        gap = c.is_whitespace();
    }
    out
}

/// Separates words by hyphens, in lower case.
///
/// ```tmpl
/// {{ kebabcase "FirstName" }} → first-name
/// ```
fn kebabcase(text: &[u8]) -> GoStr {
    words::lower_case(text, '-')
}

/// Lower case.
///
/// ```tmpl
/// {{ lower "HeLLo" }} → hello
/// ```
fn lower(text: &str) -> String {
    text.chars().map(words::lower).collect()
}

/// Removes all white space.
///
/// ```tmpl
/// {{ nospace "a b\tc" }} → abc
/// ```
fn nospace(text: &[u8]) -> GoStr {
    // Upstream takes bytes for characters, except where nothing is to be removed.
    if text.iter().any(|b| char::from(*b).is_whitespace()) {
        let kept = text.iter().map(|b| char::from(*b)).filter(|c| !c.is_whitespace());
        GoStr::from(kept.collect::<String>())
    } else {
        GoStr::from(text)
    }
}

/// The first string for one, the second for any other number.
///
/// ```tmpl
/// {{ plural "pod" "pods" 2 }} → pods
/// ```
fn plural<'a>(one: &'a [u8], many: &'a [u8], count: i64) -> GoStr {
    GoStr::from(if count == 1 { one } else { many })
}

/// Arguments in double quotes with Go's escapes, separated by spaces; nil is left out.
///
/// ```tmpl
/// {{ quote "a\"b" 1 }} → "a\"b" "1"
/// ```
fn quote(parts: &[Value]) -> Result<String, Fault> {
    let quoted =
        present(parts).map(|part| strval(part).map(crate::go::quote)).collect::<Result<Vec<_>, _>>()?;
    Ok(quoted.join(" "))
}

/// Repeats a string.
///
/// ```tmpl
/// {{ repeat 3 "ab" }} → ababab
/// ```
fn repeat(engine: &mut dyn Engine, count: i64, text: &[u8]) -> Result<GoStr, Fault> {
    let count = usize::try_from(count).map_err(|_| Fault::new("strings: negative Repeat count"))?;
    reserve(engine, count.saturating_mul(text.len()))?;
    Ok(GoStr::from(text.repeat(count)))
}

/// Replaces every occurrence of the first string by the second, in the third.
///
/// ```tmpl
/// {{ replace "." "-" "a.b.c" }} → a-b-c
/// ```
fn replace(engine: &mut dyn Engine, old: &[u8], new: &[u8], text: &[u8]) -> Result<GoStr, Fault> {
    reserve(engine, text.len().saturating_add(count(text, old).saturating_mul(new.len())))?;
    let mut out = Vec::with_capacity(text.len());
    if old.is_empty() {
        for piece in characters(text) {
            out.extend_from_slice(new);
            out.extend_from_slice(piece);
        }
        out.extend_from_slice(new);
        return Ok(GoStr::from(out));
    }
    let mut rest = text;
    while let Some(at) = find(rest, old) {
        out.extend_from_slice(rest.get(..at).unwrap_or_default());
        out.extend_from_slice(new);
        rest = rest.get(at + old.len()..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    Ok(GoStr::from(out))
}

/// Occurrences without overlap; an empty string stands between all characters.
fn count(text: &[u8], part: &[u8]) -> usize {
    if part.is_empty() {
        return characters(text).count() + 1;
    }
    let mut rest = text;
    let mut found = 0;
    while let Some(at) = find(rest, part) {
        found += 1;
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    found
}

/// The characters of a Go string; an invalid byte is one.
pub(super) fn characters(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.utf8_chunks().flat_map(|chunk| {
        let valid = chunk.valid();
        let pieces =
            valid.char_indices().filter_map(move |(at, c)| valid.as_bytes().get(at..at + c.len_utf8()));
        pieces.chain(chunk.invalid().chunks(1))
    })
}

/// Where a part first occurs.
pub(super) fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    if part.is_empty() {
        return Some(0);
    }
    text.windows(part.len()).position(|window| window == part)
}

/// Separates words by underscores, in lower case.
///
/// ```tmpl
/// {{ snakecase "FirstName" }} → first_name
/// ```
fn snakecase(text: &[u8]) -> GoStr {
    words::lower_case(text, '_')
}

/// Arguments in single quotes, without escapes, separated by spaces; nil is left out.
///
/// ```tmpl
/// {{ squote "a" 1 }} → 'a' '1'
/// ```
fn squote(parts: &[Value]) -> Result<GoStr, Fault> {
    let quoted = present(parts).map(|part| Ok([b"'", display(part)?.as_bytes(), b"'"].concat()));
    Ok(GoStr::from(quoted.collect::<Result<Vec<_>, Fault>>()?.join(&b' ')))
}

/// The bytes from `start` up to `end`; a negative `end` means the string's end.
///
/// ```tmpl
/// {{ substr 1 3 "hello" }} → el
/// ```
fn substr(start: i64, end: i64, text: &[u8]) -> Result<GoStr, Fault> {
    let length = i64::try_from(text.len()).unwrap_or(i64::MAX);
    let (from, to) = match (start, end) {
        (start, end) if start < 0 => (0, end),
        (start, end) if end < 0 || end > length => (start, length),
        whole => whole,
    };
    if to < 0 {
        return Err(Fault::new(format!("runtime error: slice bounds out of range [:{to}]")));
    }
    if to > length {
        return Err(Fault::new(format!(
            "runtime error: slice bounds out of range [:{to}] with length {length}"
        )));
    }
    if from > to {
        return Err(Fault::new(format!("runtime error: slice bounds out of range [{from}:{to}]")));
    }
    let range = usize::try_from(from).unwrap_or(0)..usize::try_from(to).unwrap_or(0);
    Ok(GoStr::from(text.get(range).unwrap_or_default()))
}

/// Swaps upper and lower case; a lower case letter at the start of a word becomes upper case too.
///
/// ```tmpl
/// {{ swapcase "Hello wOrld" }} → hELLO WoRLD
/// ```
fn swapcase(text: &str) -> String {
    let mut start = true;
    let swap = |c: char| {
        let swapped = if words::is_upper(c) {
            words::lower(c)
        } else if words::is_lower(c) {
            if start { words::title(c) } else { words::upper(c) }
        } else {
            start = c.is_whitespace();
            return c;
        };
        start = false;
        swapped
    };
    text.chars().map(swap).collect()
}

/// Capital first letters of all words; the others stay.
///
/// ```tmpl
/// {{ title "hello wORLD" }} → Hello WORLD
/// ```
fn title(text: &str) -> String {
    let mut before = ' ';
    let capital = |c: char| {
        let starts = words::is_separator(before);
        before = c;
        if starts { words::title(c) } else { c }
    };
    text.chars().map(capital).collect()
}

/// The value as text.
///
/// ```tmpl
/// {{ toString 1.5 }} → 1.5
/// ```
fn to_string(value: &Value) -> Result<GoStr, Fault> {
    strval(value)
}

/// Removes white space at both ends.
///
/// ```tmpl
/// {{ trim "  a b  " }} → a b
/// ```
fn trim(text: &[u8]) -> GoStr {
    match std::str::from_utf8(text) {
        Ok(text) => GoStr::from(text.trim()),
        Err(_) => GoStr::from(text.trim_ascii()),
    }
}

/// Removes all of the given characters from both ends.
///
/// ```tmpl
/// {{ trimAll "$" "$5.00" }} → 5.00
/// ```
fn trim_all(set: &str, text: &str) -> String {
    text.trim_matches(|c| set.contains(c)).to_owned()
}

/// Removes a prefix.
///
/// ```tmpl
/// {{ trimPrefix "v" "v1.2" }} → 1.2
/// ```
fn trim_prefix(prefix: &[u8], text: &[u8]) -> GoStr {
    GoStr::from(text.strip_prefix(prefix).unwrap_or(text))
}

/// Removes a suffix.
///
/// ```tmpl
/// {{ trimSuffix "-" "release-" }} → release
/// ```
fn trim_suffix(suffix: &[u8], text: &[u8]) -> GoStr {
    GoStr::from(text.strip_suffix(suffix).unwrap_or(text))
}

/// The first `length` bytes, or the last when negative.
///
/// ```tmpl
/// {{ trunc 3 "hello" }} → hel
/// {{ trunc -3 "hello" }} → llo
/// ```
fn trunc(length: i64, text: &[u8]) -> GoStr {
    let n = usize::try_from(length.unsigned_abs()).unwrap_or(usize::MAX);
    let cut = if length < 0 {
        text.len().checked_sub(n).filter(|start| *start > 0).and_then(|start| text.get(start..))
    } else {
        text.get(..n)
    };
    GoStr::from(cut.unwrap_or(text))
}

/// Small first letters of all words.
///
/// ```tmpl
/// {{ untitle "Hello World" }} → hello world
/// ```
fn untitle(text: &str) -> String {
    let mut start = true;
    let small = |c: char| {
        let lowered = if start && !c.is_whitespace() { words::lower(c) } else { c };
        start = c.is_whitespace();
        lowered
    };
    text.chars().map(small).collect()
}

/// Upper case.
///
/// ```tmpl
/// {{ upper "hello" }} → HELLO
/// ```
fn upper(text: &str) -> String {
    text.chars().map(words::upper).collect()
}

/// Breaks lines at spaces so that they are at most `width` bytes long; longer words stay whole.
///
/// ```tmpl
/// {{ wrap 5 "one two three" | quote }} → "one\ntwo\nthree"
/// ```
fn wrap(width: i64, text: &[u8]) -> GoStr {
    words::wrap(text, width, b"\n", false)
}

/// Breaks lines like `wrap`, with another line break, and breaks words that are too long.
///
/// ```tmpl
/// {{ wrapWith 5 "," "Hello World" }} → Hello,World
/// ```
fn wrap_with(width: i64, line_break: &[u8], text: &[u8]) -> GoStr {
    words::wrap(text, width, if line_break.is_empty() { b"\n" } else { line_break }, true)
}
