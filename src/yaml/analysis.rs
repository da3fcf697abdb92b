//! Which styles a scalar's text allows when it is written.
//!
//! Behaviour: go.yaml.in/yaml v2.4.4 and v3.0.5, `emitterc.go`, `yaml_emitter_analyze_scalar`.

/// The styles that would read back as the same text in block context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Analysis {
    /// Holds line breaks.
    pub(super) multiline: bool,
    pub(super) plain: bool,
    pub(super) single_quoted: bool,
    pub(super) literal: bool,
}

/// Line breaks of YAML 1.1.
pub(super) const fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// What libyaml writes as it is; it knows no character beyond the basic plane.
pub(super) const fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{A0}'..='\u{FEFE}' | '\u{FF00}'..='\u{FFFD}')
}

const fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

/// Printable ASCII without `:` and `#`, from a letter or digit to something else than a space: any style will do.
fn is_ordinary(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last() != Some(&b' ')
        && bytes.iter().all(|b| matches!(b, b' '..=b'~') && !matches!(b, b':' | b'#'))
}

/// What was found in a text.
#[derive(Default)]
struct Found {
    indicators: bool,
    line_breaks: bool,
    special: bool,
    tabs: bool,
    outer_whitespace: bool,
    trailing_space: bool,
    break_space: bool,
    space_break: bool,
}

impl Analysis {
    /// Looks at a text; yaml.v3 (`tabs_allowed`) writes tabs in literal scalars, yaml.v2 escapes them.
    pub(super) fn of(text: &str, tabs_allowed: bool) -> Self {
        if text.is_empty() {
            return Self { multiline: false, plain: true, single_quoted: true, literal: false };
        }
        if is_ordinary(text) {
            return Self { multiline: false, plain: true, single_quoted: true, literal: true };
        }
        let found = Found::look(text, tabs_allowed);
        let quotable = !(found.space_break || found.special);
        Self {
            multiline: found.line_breaks,
            plain: quotable
                && !(found.outer_whitespace
                    || found.break_space
                    || found.line_breaks
                    || found.indicators
                    || found.tabs),
            single_quoted: quotable && !found.break_space && !found.tabs,
            literal: quotable && !found.trailing_space,
        }
    }
}

impl Found {
    fn look(text: &str, tabs_allowed: bool) -> Self {
        let mut found =
            Self { indicators: text.starts_with("---") || text.starts_with("..."), ..Self::default() };
        let mut previous = None;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let next = chars.peek().copied();
            found.indicator(c, previous, next);
            if c == '\t' && tabs_allowed {
                found.tabs = true;
            } else if !is_printable(c) {
                found.special = true;
            }
            found.whitespace(c, previous, next);
            previous = Some(c);
        }
        found
    }

    /// Characters that would mean something in block context.
    fn indicator(&mut self, c: char, previous: Option<char>, next: Option<char>) {
        let before_blank = next.is_none_or(is_blank);
        self.indicators |= match (c, previous) {
            (':', _) | ('?' | '-', None) => before_blank,
            ('#', Some(before)) => is_blank(before) || is_break(before) || before == '\0',
            (
                '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@'
                | '`',
                None,
            ) => true,
            _ => false,
        };
    }

    fn whitespace(&mut self, c: char, previous: Option<char>, next: Option<char>) {
        let outer = previous.is_none() || next.is_none();
        if c == ' ' {
            self.outer_whitespace |= outer;
            self.trailing_space |= next.is_none();
            self.break_space |= previous.is_some_and(is_break);
        } else if is_break(c) {
            self.line_breaks = true;
            self.outer_whitespace |= outer;
            self.space_break |= previous == Some(' ');
        }
    }
}
