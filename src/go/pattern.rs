//! Go's regular expression syntax (RE2), checked as Go checks it and rewritten for the `regex` crate.
//!
//! The two dialects differ in braces, classes, flags and escapes, so nothing is passed through: every atom is parsed
//! and written anew with its flags spelt out. As Go 1.26 `regexp/syntax/parse.go`, flags `Perl`.

/// A translated pattern.
#[derive(Debug)]
pub(crate) struct Pattern {
    /// The pattern for the `regex` crate; groups carry no names there.
    pub(crate) text: String,
    /// Name of each group, group 0 first; empty for unnamed ones.
    pub(crate) names: Vec<String>,
}

/// Why a pattern is refused, as `regexp/syntax` says it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("error parsing regexp: {code}: `{expr}`")]
pub(crate) struct SyntaxError {
    /// What is wrong.
    pub(crate) code: &'static str,
    /// The part that is.
    pub(crate) expr: String,
}

const INVALID_CLASS_RANGE: &str = "invalid character class range";
const INVALID_ESCAPE: &str = "invalid escape sequence";
const INVALID_NAMED_CAPTURE: &str = "invalid named capture";
const INVALID_PERL_OP: &str = "invalid or unsupported Perl syntax";
const INVALID_REPEAT_OP: &str = "invalid nested repetition operator";
const INVALID_REPEAT_SIZE: &str = "invalid repeat count";
const MISSING_BRACKET: &str = "missing closing ]";
const MISSING_PAREN: &str = "missing closing )";
const MISSING_REPEAT_ARGUMENT: &str = "missing argument to repetition operator";
const TRAILING_BACKSLASH: &str = "trailing backslash at end of expression";
const UNEXPECTED_PAREN: &str = "unexpected )";
const NESTING_DEPTH: &str = "expression nests too deeply";
/// Code of a pattern that is too large to compile.
pub(crate) const LARGE: &str = "expression too large";

/// Deepest nesting of groups and repetitions, and the largest repeat count, as in Go.
const MAX_DEPTH: usize = 1000;
const MAX_REPEAT: u32 = 1000;

/// A class without members.
const NOTHING: &str = r"[^\x{0}-\x{10FFFF}]";

type Result<T> = std::result::Result<T, SyntaxError>;

fn error<T>(code: &'static str, expr: &str) -> Result<T> {
    Err(SyntaxError { code, expr: expr.to_owned() })
}

/// Rewrites a Go pattern.
///
/// # Errors
/// The error that Go's `regexp.Compile` gives.
pub(crate) fn translate(pattern: &str) -> Result<Pattern> {
    let mut parser = Parser {
        whole: pattern,
        rest: pattern,
        flags: Flags::default(),
        group: Group::default(),
        outer: Vec::new(),
        names: vec![String::new()],
    };
    let mut repeat = None;
    while !parser.rest.is_empty() {
        repeat = parser.step(repeat)?;
    }
    if !parser.outer.is_empty() {
        return error(MISSING_PAREN, pattern);
    }
    Ok(Pattern { text: parser.group.finish().text, names: parser.names })
}

#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    fold: bool,
    multi_line: bool,
    dot_newline: bool,
    lazy: bool,
}

/// One translated atom, with what Go's limits need to know of it.
#[derive(Debug, Default)]
struct Atom {
    text: String,
    /// Largest product of nested repeat counts.
    repeats: u32,
    depth: usize,
}

impl Atom {
    fn new(text: String) -> Self {
        Self { text, repeats: 1, depth: 1 }
    }
}

/// The group being read: finished alternatives and the atoms of the current one.
#[derive(Debug, Default)]
struct Group {
    prefix: &'static str,
    outer_flags: Flags,
    alternatives: Vec<Atom>,
    atoms: Vec<Atom>,
}

impl Group {
    fn alternative(&mut self) {
        let mut joined = Atom::new(String::new());
        for atom in self.atoms.drain(..) {
            joined.text.push_str(&atom.text);
            joined.repeats = joined.repeats.max(atom.repeats);
            joined.depth = joined.depth.max(atom.depth + 1);
        }
        self.alternatives.push(joined);
    }

    fn finish(mut self) -> Atom {
        self.alternative();
        let mut joined = Atom::new(String::new());
        for (i, atom) in self.alternatives.into_iter().enumerate() {
            joined.text.push_str(if i == 0 { "" } else { "|" });
            joined.text.push_str(&atom.text);
            joined.repeats = joined.repeats.max(atom.repeats);
            joined.depth = joined.depth.max(atom.depth);
        }
        joined
    }
}

struct Parser<'a> {
    whole: &'a str,
    rest: &'a str,
    flags: Flags,
    group: Group,
    outer: Vec<Group>,
    names: Vec<String>,
}

impl<'a> Parser<'a> {
    /// Reads one element; gives back where a repetition began if it was one, because two in a row are an error.
    fn step(&mut self, repeat: Option<&'a str>) -> Result<Option<&'a str>> {
        let before = self.rest;
        let Some(c) = before.chars().next() else { return Ok(None) };
        let after = before.get(c.len_utf8()..).unwrap_or_default();
        match c {
            '(' if after.starts_with('?') => self.perl_group()?,
            '(' => {
                self.rest = after;
                self.open("(")?;
                self.names.push(String::new());
            }
            '|' => {
                self.rest = after;
                self.group.alternative();
            }
            ')' => {
                self.rest = after;
                self.close()?;
            }
            '^' => self.atom(after, if self.flags.multi_line { "(?m:^)" } else { r"\A" }),
            '$' => self.atom(after, if self.flags.multi_line { "(?m:$)" } else { r"\z" }),
            '.' => self.atom(after, if self.flags.dot_newline { "(?s:.)" } else { "(?-s:.)" }),
            '[' => self.class()?,
            '*' => return self.repeat(0, None, before, after, repeat),
            '+' => return self.repeat(1, None, before, after, repeat),
            '?' => return self.repeat(0, Some(1), before, after, repeat),
            '{' => match counts(before) {
                Some((min, max, after)) => return self.counted(min, max, before, after, repeat),
                None => self.literal(after, '{'),
            },
            '\\' => self.backslash()?,
            c => self.literal(after, c),
        }
        Ok(None)
    }

    fn atom(&mut self, after: &'a str, text: &str) {
        self.rest = after;
        self.group.atoms.push(Atom::new(text.to_owned()));
    }

    fn literal(&mut self, after: &'a str, c: char) {
        self.rest = after;
        let text = self.folded(&regex::escape(c.encode_utf8(&mut [0; 4])));
        self.group.atoms.push(Atom::new(text));
    }

    fn folded(&self, text: &str) -> String {
        if self.flags.fold { format!("(?i:{text})") } else { text.to_owned() }
    }

    fn open(&mut self, prefix: &'static str) -> Result<()> {
        if self.outer.len() >= MAX_DEPTH {
            return error(NESTING_DEPTH, self.whole);
        }
        let group = Group { prefix, outer_flags: self.flags, ..Group::default() };
        self.outer.push(std::mem::replace(&mut self.group, group));
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        let Some(outer) = self.outer.pop() else { return error(UNEXPECTED_PAREN, self.whole) };
        let group = std::mem::replace(&mut self.group, outer);
        self.flags = group.outer_flags;
        let prefix = group.prefix;
        let inner = group.finish();
        let text = format!("{prefix}{})", inner.text);
        self.group.atoms.push(Atom { text, depth: inner.depth + 1, ..inner });
        Ok(())
    }

    fn counted(
        &mut self,
        min: u32,
        max: Option<u32>,
        before: &'a str,
        after: &'a str,
        last: Option<&'a str>,
    ) -> Result<Option<&'a str>> {
        if min > MAX_REPEAT || max.is_some_and(|max| max > MAX_REPEAT || min > max) {
            return error(INVALID_REPEAT_SIZE, up_to(before, after));
        }
        self.repeat_by(
            &format!("{{{min},{}}}", max.map(|m| m.to_string()).unwrap_or_default()),
            before,
            after,
            last,
        )?;
        let (count, top) = (max.unwrap_or(min), self.group.atoms.last_mut());
        let Some(top) = top else { return Ok(Some(before)) };
        top.repeats = if count == 0 { 1 } else { top.repeats.saturating_mul(count) };
        if (min >= 2 || count >= 2) && top.repeats > MAX_REPEAT {
            return error(INVALID_REPEAT_SIZE, up_to(before, self.rest));
        }
        Ok(Some(before))
    }

    fn repeat(
        &mut self,
        min: u32,
        max: Option<u32>,
        before: &'a str,
        after: &'a str,
        last: Option<&'a str>,
    ) -> Result<Option<&'a str>> {
        let operator = match (min, max) {
            (0, None) => "*",
            (_, None) => "+",
            _ => "?",
        };
        self.repeat_by(operator, before, after, last)
    }

    fn repeat_by(
        &mut self,
        operator: &str,
        before: &'a str,
        after: &'a str,
        last: Option<&'a str>,
    ) -> Result<Option<&'a str>> {
        let (after, marked) = after.strip_prefix('?').map_or((after, false), |rest| (rest, true));
        self.rest = after;
        if let Some(last) = last {
            return error(INVALID_REPEAT_OP, up_to(last, after));
        }
        let Some(top) = self.group.atoms.last_mut() else {
            return error(MISSING_REPEAT_ARGUMENT, up_to(before, after));
        };
        let lazy = if self.flags.lazy == marked { "" } else { "?" };
        top.text = format!("(?:{}){operator}{lazy}", top.text);
        top.depth += 1;
        if top.depth > MAX_DEPTH {
            return error(NESTING_DEPTH, self.whole);
        }
        Ok(Some(before))
    }

    /// `(?…`: a named capture, a group without capture, or flags.
    fn perl_group(&mut self) -> Result<()> {
        let text = self.rest;
        let name =
            text.strip_prefix("(?P<").filter(|rest| !rest.is_empty()).or_else(|| text.strip_prefix("(?<"));
        if let Some(name) = name.filter(|_| text.len() > 3) {
            return self.named_group(text, name);
        }
        let mut flags = self.flags;
        let (mut negative, mut seen) = (false, false);
        let body = text.get(2..).unwrap_or_default();
        for (at, c) in body.char_indices() {
            match c {
                'i' => flags.fold = !negative,
                'm' => flags.multi_line = !negative,
                's' => flags.dot_newline = !negative,
                'U' => flags.lazy = !negative,
                '-' if !negative => negative = true,
                ':' | ')' if !negative || seen => {
                    self.rest = body.get(at + 1..).unwrap_or_default();
                    if c == ':' {
                        self.open("(?:")?;
                    }
                    self.flags = flags;
                    return Ok(());
                }
                _ => return error(INVALID_PERL_OP, text.get(..2 + at + c.len_utf8()).unwrap_or_default()),
            }
            seen = c != '-';
        }
        error(INVALID_PERL_OP, text)
    }

    fn named_group(&mut self, text: &str, rest: &'a str) -> Result<()> {
        let Some((name, after)) = rest.split_once('>') else { return error(INVALID_NAMED_CAPTURE, text) };
        if name.is_empty() || !name.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric()) {
            return error(INVALID_NAMED_CAPTURE, up_to(text, after));
        }
        self.open("(")?;
        self.names.push(name.to_owned());
        self.rest = after;
        Ok(())
    }

    /// `\…` outside of a class.
    fn backslash(&mut self) -> Result<()> {
        let text = self.rest;
        let after = text.get(2..).unwrap_or_default();
        match text.as_bytes().get(1) {
            Some(b'A') => self.atom(after, r"\A"),
            Some(b'b') => self.atom(after, r"(?-u:\b)"),
            Some(b'B') => self.atom(after, r"(?-u:\B)"),
            Some(b'z') => self.atom(after, r"\z"),
            Some(b'C') => return error(INVALID_ESCAPE, r"\C"),
            Some(b'Q') => {
                let (quoted, after) = after.split_once(r"\E").unwrap_or((after, ""));
                quoted.chars().for_each(|c| self.literal(after, c));
                self.rest = after;
            }
            _ => {
                if let Some((class, after)) = class_escape(text)? {
                    let text = self.folded(&format!("[{class}]"));
                    self.atom(after, &text);
                } else {
                    let (code, after) = escape(text)?;
                    match char::from_u32(code) {
                        Some(c) => self.literal(after, c),
                        None => self.atom(after, NOTHING),
                    }
                }
            }
        }
        Ok(())
    }

    /// `[…]`
    fn class(&mut self) -> Result<()> {
        let whole = self.rest;
        let mut rest = whole.get(1..).unwrap_or_default();
        let mut text = String::from("[");
        if let Some(after) = rest.strip_prefix('^') {
            rest = after;
            text.push('^');
        }
        let mut first = true;
        while first || !rest.starts_with(']') {
            first = false;
            rest = class_item(rest, whole, &mut text)?;
        }
        text.push(']');
        let text = self.folded(&text);
        self.atom(rest.get(1..).unwrap_or_default(), &text);
        Ok(())
    }
}

/// The part of `text` before its suffix `rest`.
fn up_to<'a>(text: &'a str, rest: &str) -> &'a str {
    text.get(..text.len() - rest.len()).unwrap_or(text)
}

/// `{2}`, `{2,}`, `{2,5}`; anything else is a literal brace. Counts that do not fit become huge.
fn counts(text: &str) -> Option<(u32, Option<u32>, &str)> {
    let (min, rest) = count(text.strip_prefix('{')?)?;
    let (max, rest) = match rest.strip_prefix(',') {
        None => (Some(min), rest),
        Some(open) if open.starts_with('}') => (None, open),
        Some(rest) => count(rest).map(|(max, rest)| (Some(max), rest))?,
    };
    Some((min, max, rest.strip_prefix('}')?))
}

fn count(text: &str) -> Option<(u32, &str)> {
    let end = text.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    if digits.is_empty() || digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    Some((digits.parse().unwrap_or(u32::MAX), rest))
}

/// One member of a class, appended to `out` in the other notation.
fn class_item<'a>(text: &'a str, whole: &str, out: &mut String) -> Result<&'a str> {
    if let Some((class, rest)) = posix_class(text)? {
        out.push_str(class);
        return Ok(rest);
    }
    if text.starts_with('\\')
        && let Some((class, rest)) = class_escape(text)?
    {
        out.push_str(&class);
        return Ok(rest);
    }
    let (low, mut rest) = class_char(text, whole)?;
    let mut high = low;
    if let Some(after) = rest.strip_prefix('-').filter(|after| !after.is_empty() && !after.starts_with(']')) {
        (high, rest) = class_char(after, whole)?;
        if high < low {
            return error(INVALID_CLASS_RANGE, up_to(text, rest));
        }
    }
    push_range(out, low, high);
    Ok(rest)
}

/// Appends a range; surrogates, which no text holds, are cut off its ends.
fn push_range(out: &mut String, low: u32, high: u32) {
    let surrogates = 0xD800..=0xDFFF;
    let low = if surrogates.contains(&low) { 0xE000 } else { low };
    let high = if surrogates.contains(&high) { 0xD7FF } else { high };
    if low <= high {
        out.push_str(&format!("\\x{{{low:X}}}-\\x{{{high:X}}}"));
    } else {
        out.push_str(NOTHING);
    }
}

fn class_char<'a>(text: &'a str, whole: &str) -> Result<(u32, &'a str)> {
    if text.starts_with('\\') {
        return escape(text);
    }
    let Some(c) = text.chars().next() else { return error(MISSING_BRACKET, whole) };
    Ok((u32::from(c), text.get(c.len_utf8()..).unwrap_or_default()))
}

/// `[:alpha:]` and its kind inside a class.
fn posix_class(text: &str) -> Result<Option<(&'static str, &str)>> {
    let Some((name, rest)) = text.strip_prefix("[:").and_then(|t| t.split_once(":]")) else {
        return Ok(None);
    };
    let class = match name {
        "alnum" => "[0-9A-Za-z]",
        "^alnum" => "[^0-9A-Za-z]",
        "alpha" => "[A-Za-z]",
        "^alpha" => "[^A-Za-z]",
        "ascii" => r"[\x00-\x7F]",
        "^ascii" => r"[^\x00-\x7F]",
        "blank" => r"[\t\x20]",
        "^blank" => r"[^\t\x20]",
        "cntrl" => r"[\x00-\x1F\x7F]",
        "^cntrl" => r"[^\x00-\x1F\x7F]",
        "digit" => "[0-9]",
        "^digit" => "[^0-9]",
        "graph" => r"[\x21-\x7E]",
        "^graph" => r"[^\x21-\x7E]",
        "lower" => "[a-z]",
        "^lower" => "[^a-z]",
        "print" => r"[\x20-\x7E]",
        "^print" => r"[^\x20-\x7E]",
        "punct" => r"[\x21-\x2F\x3A-\x40\x5B-\x60\x7B-\x7E]",
        "^punct" => r"[^\x21-\x2F\x3A-\x40\x5B-\x60\x7B-\x7E]",
        "space" => r"[\x09-\x0D\x20]",
        "^space" => r"[^\x09-\x0D\x20]",
        "upper" => "[A-Z]",
        "^upper" => "[^A-Z]",
        "word" => "[0-9A-Za-z_]",
        "^word" => "[^0-9A-Za-z_]",
        "xdigit" => "[0-9A-Fa-f]",
        "^xdigit" => "[^0-9A-Fa-f]",
        _ => return error(INVALID_CLASS_RANGE, up_to(text, rest)),
    };
    Ok(Some((class, rest)))
}

/// `\d`, `\pL`, `\p{Greek}` and their kind, as members of a class.
fn class_escape(text: &str) -> Result<Option<(String, &str)>> {
    let class = match text.as_bytes().get(1) {
        Some(b'd') => "[0-9]",
        Some(b'D') => "[^0-9]",
        Some(b's') => r"[\t\n\x0C\r\x20]",
        Some(b'S') => r"[^\t\n\x0C\r\x20]",
        Some(b'w') => "[0-9A-Za-z_]",
        Some(b'W') => "[^0-9A-Za-z_]",
        Some(b'p' | b'P') => return unicode_class(text).map(Some),
        _ => return Ok(None),
    };
    Ok(Some((class.to_owned(), text.get(2..).unwrap_or_default())))
}

fn unicode_class(text: &str) -> Result<(String, &str)> {
    let body = text.get(2..).unwrap_or_default();
    let (name, rest) = match body.strip_prefix('{') {
        Some(braced) => match braced.split_once('}') {
            Some(split) => split,
            None => return error(INVALID_CLASS_RANGE, text),
        },
        None => {
            let end = body.chars().next().map_or(0, char::len_utf8);
            body.split_at_checked(end).unwrap_or((body, ""))
        }
    };
    let (name, flipped) = name.strip_prefix('^').map_or((name, false), |name| (name, true));
    let sign = if text.starts_with(r"\P") == flipped { 'p' } else { 'P' };
    let known = ["gc", "sc"].iter().map(|kind| format!(r"\{sign}{{{kind}={name}}}")).find(|class| {
        name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b' '))
            && regex::bytes::Regex::new(class).is_ok()
    });
    match known {
        Some(class) => Ok((class, rest)),
        None => error(INVALID_CLASS_RANGE, up_to(text, rest)),
    }
}

/// An escape of one character; gives its code point.
fn escape(text: &str) -> Result<(u32, &str)> {
    let mut rest = text.get(1..).unwrap_or_default();
    let Some(c) = next(&mut rest) else { return error(TRAILING_BACKSLASH, "") };
    let octal = |rest: &str| rest.starts_with(|c: char| c.is_digit(8));
    let code = match c {
        '0' => Some(octal_code(0, &mut rest)),
        '1'..='7' if octal(rest) => Some(octal_code(u32::from(c) - u32::from('0'), &mut rest)),
        'x' => hex_code(&mut rest),
        'a' => Some(0x07),
        'f' => Some(0x0C),
        'n' => Some(0x0A),
        'r' => Some(0x0D),
        't' => Some(0x09),
        'v' => Some(0x0B),
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => Some(u32::from(c)),
        _ => None,
    };
    match code {
        Some(code) => Ok((code, rest)),
        None => error(INVALID_ESCAPE, up_to(text, rest)),
    }
}

fn next(rest: &mut &str) -> Option<char> {
    let mut chars = rest.chars();
    let c = chars.next()?;
    *rest = chars.as_str();
    Some(c)
}

/// Up to two more octal digits.
fn octal_code(first: u32, rest: &mut &str) -> u32 {
    let mut code = first;
    for _ in 1..3 {
        let Some(digit) = rest.chars().next().and_then(|c| c.to_digit(8)) else { break };
        next(rest);
        code = code * 8 + digit;
    }
    code
}

/// Two digits, or any number of them in braces.
fn hex_code(rest: &mut &str) -> Option<u32> {
    let first = next(rest)?;
    if first != '{' {
        let second = next(rest)?;
        return Some(first.to_digit(16)? * 16 + second.to_digit(16)?);
    }
    let mut code = None;
    loop {
        match next(rest)? {
            '}' => return code,
            c => {
                let value = code.unwrap_or(0) * 16 + c.to_digit(16)?;
                code = Some(value).filter(|v| *v <= 0x10_FFFF);
                code?;
            }
        }
    }
}
