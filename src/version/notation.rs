//! The notation of one version inside a longer text: where it ends and what its parts are.

/// The parts of a version as written; `*`, `x` and `X` may stand for numbers in constraints.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts<'a> {
    /// First number.
    pub(super) major: &'a str,
    /// Second number, without its dot.
    pub(super) minor: Option<&'a str>,
    /// Third number, without its dot.
    pub(super) patch: Option<&'a str>,
    /// What follows `-`.
    pub(super) prerelease: Option<&'a str>,
    /// What follows `+`.
    pub(super) metadata: Option<&'a str>,
    /// Where the version ends, in bytes from the start of the text.
    pub(super) end: usize,
}

impl<'a> Parts<'a> {
    /// Reads the longest version at the start of `text`; `number` says what may stand in a number.
    pub(super) fn scan(text: &'a str, number: fn(u8) -> bool) -> Option<Self> {
        let mut rest = text.strip_prefix('v').unwrap_or(text);
        let major = take(&mut rest, number)?;
        let minor = take_after(&mut rest, '.', number);
        let patch = minor.and_then(|_| take_after(&mut rest, '.', number));
        let prerelease = take_identifiers(&mut rest, '-');
        let metadata = take_identifiers(&mut rest, '+');
        Some(Self { major, minor, patch, prerelease, metadata, end: text.len() - rest.len() })
    }
}

/// What a number of a version may hold.
pub(super) fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

/// What a number of a constraint may hold; upstream's character class has a `|` in it.
pub(super) fn is_digit_or_wildcard(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'x' | b'X' | b'*' | b'|')
}

/// What an identifier of a prerelease or of build metadata may hold.
pub(super) fn is_identifier_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

/// What counts as a space between constraints (RE2's `\s`).
pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0c')
}

/// Takes one or more bytes; the classes are ASCII, so the cut is on a character border.
fn take<'a>(rest: &mut &'a str, class: fn(u8) -> bool) -> Option<&'a str> {
    let end = rest.bytes().position(|b| !class(b)).unwrap_or(rest.len());
    let (taken, left) = rest.split_at_checked(end).filter(|(taken, _)| !taken.is_empty())?;
    *rest = left;
    Some(taken)
}

fn take_after<'a>(rest: &mut &'a str, mark: char, class: fn(u8) -> bool) -> Option<&'a str> {
    let mut after = rest.strip_prefix(mark)?;
    let taken = take(&mut after, class)?;
    *rest = after;
    Some(taken)
}

/// Takes `mark` and dot-separated identifiers, as many as there are.
fn take_identifiers<'a>(rest: &mut &'a str, mark: char) -> Option<&'a str> {
    let start = rest.strip_prefix(mark)?;
    let mut after = start;
    take(&mut after, is_identifier_byte)?;
    while take_after(&mut after, '.', is_identifier_byte).is_some() {}
    *rest = after;
    start.get(..start.len() - after.len())
}
