//! Scalars: plain, quoted, literal and folded, borrowed from the text wherever nothing has to be joined.
//!
//! Behaviour: go.yaml.in/yaml v2.4.4, `scannerc.go`.

use std::borrow::Cow;

use super::problem::Problem;
use super::scanner::{Kind, Scanner};

/// Line breaks between two pieces of a folded scalar.
#[derive(Default)]
struct Fold {
    first: &'static str,
    more: String,
}

impl Fold {
    /// Appends what the breaks come to and forgets them: one break is a space, further ones stay.
    fn join(&mut self, out: &mut String) {
        match (self.first, self.more.as_str()) {
            ("\n", "") => out.push(' '),
            ("\n", more) => out.push_str(more),
            (first, more) => {
                out.push_str(first);
                out.push_str(more);
            }
        }
        self.first = "";
        self.more.clear();
    }
}

/// Bytes at which a plain scalar may end: 1 everywhere, 2 in flow context only.
static PLAIN_STOPS: [u8; 256] = {
    let mut table = [0; 256];
    let stops = [0, b' ', b'\t', b'\n', b'\r', b':', 0xC2, 0xE2];
    let mut i = 0;
    while i < stops.len() {
        table[stops[i] as usize] = 1;
        i += 1;
    }
    let flow = [b',', b'?', b'[', b']', b'{', b'}'];
    i = 0;
    while i < flow.len() {
        table[flow[i] as usize] = 2;
        i += 1;
    }
    table
};

impl<'a> Scanner<'a> {
    // Plain scalars.

    pub(super) fn scan_plain(&mut self) -> Result<Kind<'a>, Problem> {
        let (start, start_line) = (self.pos, self.line);
        let indent = self.indent + 1;
        let mut end = start;
        let mut joined: Option<String> = None;
        let mut fold = Fold::default();
        let mut broken = false;
        while self.document_indicator().is_none() && self.at(0) != b'#' {
            let run = self.pos;
            self.skip_plain_run();
            if self.pos > run {
                if broken {
                    let out = joined.get_or_insert_with(|| self.slice(start, end).to_owned());
                    fold.join(out);
                    out.push_str(self.slice(run, self.pos));
                } else if let Some(out) = &mut joined {
                    out.push_str(self.slice(end, self.pos));
                }
                broken = false;
                end = self.pos;
            }
            if !self.blank(0) && self.break_len(0) == 0 {
                break;
            }
            self.skip_plain_blanks(&mut broken, &mut fold, indent, start_line)?;
            if broken && self.flow_level == 0 && (self.column() as isize) < indent {
                break;
            }
        }
        self.simple_key_allowed |= broken;
        let value = joined.map_or_else(|| Cow::Borrowed(self.slice(start, end)), Cow::Owned);
        Ok(Kind::Scalar { value, plain: true })
    }

    /// Steps over the characters that belong to a plain scalar, up to a blank or an indicator that ends it.
    fn skip_plain_run(&mut self) {
        let stops = 1 | (u8::from(self.flow_level > 0) << 1);
        loop {
            let stop = self.rest().iter().position(|&b| PLAIN_STOPS[usize::from(b)] & stops != 0);
            self.pos += stop.unwrap_or(self.rest().len());
            let ends = match self.at(0) {
                b':' => self.blank_or_end(1),
                // One space between two words; all else that a blank may mean is found out elsewhere.
                b' ' => self.at(1) == b'#' || PLAIN_STOPS[usize::from(self.at(1))] & stops != 0,
                0xC2 | 0xE2 => self.break_len(0) > 0,
                _ => true,
            };
            if ends || self.at_end() {
                return;
            }
            self.pos += 1;
        }
    }

    fn skip_plain_blanks(
        &mut self,
        broken: &mut bool,
        fold: &mut Fold,
        indent: isize,
        start_line: u32,
    ) -> Result<(), Problem> {
        loop {
            self.skip_spaces(usize::MAX);
            if self.blank(0) {
                if *broken && self.at(0) == b'\t' && (self.column() as isize) < indent {
                    return Err(self.problem("found a tab character that violates indentation", start_line));
                }
                self.pos += 1;
                continue;
            }
            let length = self.break_len(0);
            if length == 0 {
                return Ok(());
            }
            let counts_as = self.newline(length);
            if *broken {
                fold.more.push_str(counts_as);
            } else {
                fold.first = counts_as;
                *broken = true;
            }
        }
    }

    // Quoted scalars.

    pub(super) fn scan_quoted(&mut self) -> Result<Kind<'a>, Problem> {
        let quote = self.at(0);
        let start_line = self.line;
        self.pos += 1;
        let value = match self.quoted_on_one_line(quote) {
            Some(value) => Cow::Borrowed(value),
            None => Cow::Owned(self.quoted_in_pieces(quote, start_line)?),
        };
        self.pos += 1;
        Ok(Kind::Scalar { value, plain: false })
    }

    /// The common case: no escapes, no line breaks.
    fn quoted_on_one_line(&mut self, quote: u8) -> Option<&'a str> {
        let start = self.pos;
        let stop = self
            .rest()
            .iter()
            .position(|&b| b == quote || matches!(b, b'\\' | b'\n' | b'\r' | 0xC2 | 0xE2))?;
        let end = start + stop;
        let ends = self.at(stop) == quote && (quote == b'"' || self.at(stop + 1) != b'\'');
        ends.then(|| {
            self.pos = end;
            self.slice(start, end)
        })
    }

    fn quoted_in_pieces(&mut self, quote: u8, start_line: u32) -> Result<String, Problem> {
        let mut out = String::new();
        let mut fold = Fold::default();
        loop {
            if self.document_indicator().is_some() {
                return Err(self.problem("found unexpected document indicator", start_line));
            }
            if self.at_end() {
                return Err(self.problem("found unexpected end of stream", start_line));
            }
            let escaped_break = self.quoted_run(quote, &mut out, start_line)?;
            if self.at(0) == quote {
                return Ok(out);
            }
            self.quoted_blanks(escaped_break, &mut fold, &mut out);
        }
    }

    /// Copies characters up to a blank, a line break or the closing quote; tells whether a line break was escaped.
    fn quoted_run(&mut self, quote: u8, out: &mut String, start_line: u32) -> Result<bool, Problem> {
        loop {
            let from = self.pos;
            let plain =
                |&b: &u8| b == quote || matches!(b, b'\\' | b' ' | b'\t' | b'\n' | b'\r' | 0xC2 | 0xE2);
            self.pos += self.rest().iter().position(plain).unwrap_or(self.rest().len());
            out.push_str(self.slice(from, self.pos));
            match self.at(0) {
                b'\'' if quote == b'\'' && self.at(1) == b'\'' => {
                    out.push('\'');
                    self.pos += 2;
                }
                b'\\' if quote == b'"' && self.break_len(1) > 0 => {
                    self.pos += 1;
                    let length = self.break_len(0);
                    self.newline(length);
                    return Ok(true);
                }
                b'\\' if quote == b'"' => out.push(self.escape(start_line)?),
                byte if byte == quote || self.blank_or_end(0) => return Ok(false),
                b'\\' => {
                    out.push('\\');
                    self.pos += 1;
                }
                lead => {
                    let width = if lead == 0xC2 { 2 } else { 3 };
                    out.push_str(self.slice(self.pos, self.pos + width));
                    self.pos += width;
                }
            }
        }
    }

    /// Takes an escape sequence; the backslash is here.
    fn escape(&mut self, start_line: u32) -> Result<char, Problem> {
        let code = self.at(1);
        let length = match code {
            b'x' => 2,
            b'u' => 4,
            b'U' => 8,
            _ => {
                let c = named_escape(code)
                    .ok_or_else(|| self.problem("found unknown escape character", start_line))?;
                self.pos += 2;
                return Ok(c);
            }
        };
        self.pos += 2;
        let mut value: u32 = 0;
        for offset in 0..length {
            let digit = char::from(self.at(offset))
                .to_digit(16)
                .ok_or_else(|| self.problem("did not find expected hexdecimal number", start_line))?;
            value = (value << 4) | digit;
        }
        let c = char::from_u32(value)
            .ok_or_else(|| self.problem("found invalid Unicode character escape code", start_line))?;
        self.pos += length;
        Ok(c)
    }

    /// Takes blanks and line breaks inside a quoted scalar and appends what they come to.
    fn quoted_blanks(&mut self, escaped_break: bool, fold: &mut Fold, out: &mut String) {
        let mut broken = escaped_break;
        let from = self.pos;
        let mut blanks_end = self.pos;
        loop {
            let length = self.break_len(0);
            if length > 0 {
                let counts_as = self.newline(length);
                if broken {
                    fold.more.push_str(counts_as);
                } else {
                    fold.first = counts_as;
                    broken = true;
                }
            } else if self.blank(0) {
                self.pos += 1;
                if !broken {
                    blanks_end = self.pos;
                }
            } else {
                break;
            }
        }
        if broken { fold.join(out) } else { out.push_str(self.slice(from, blanks_end)) }
    }

    // Block scalars.

    pub(super) fn scan_block_scalar(&mut self) -> Result<Kind<'a>, Problem> {
        let literal = self.at(0) == b'|';
        let start_line = self.line;
        self.pos += 1;
        let (keep, increment) = self.block_header(start_line)?;
        if !self.skip_to_next_line() {
            return Err(self.problem("did not find expected comment or line break", start_line));
        }
        let mut indent = if increment > 0 { self.indent.max(0) as usize + increment } else { 0 };
        let mut breaks = String::new();
        self.block_breaks(&mut indent, &mut breaks, start_line)?;
        let mut out = String::new();
        let mut first_break = "";
        let mut after_blank = false;
        while self.column() == indent && !self.at_end() {
            let blank = self.blank(0);
            if !literal && !after_blank && !blank && first_break == "\n" {
                if breaks.is_empty() {
                    out.push(' ');
                }
            } else {
                out.push_str(first_break);
            }
            out.push_str(&breaks);
            breaks.clear();
            after_blank = blank;
            let from = self.pos;
            self.skip_rest_of_line();
            out.push_str(self.slice(from, self.pos));
            first_break = match self.break_len(0) {
                0 => "",
                length => self.newline(length),
            };
            self.block_breaks(&mut indent, &mut breaks, start_line)?;
        }
        if keep != Some(false) {
            out.push_str(first_break);
        }
        if keep == Some(true) {
            out.push_str(&breaks);
        }
        Ok(Kind::Scalar { value: Cow::Owned(out), plain: false })
    }

    /// Takes the chomping and indentation indicators, in either order: whether final breaks are kept, and the increment.
    fn block_header(&mut self, start_line: u32) -> Result<(Option<bool>, usize), Problem> {
        let mut keep = self.chomping();
        let mut increment = 0;
        if self.at(0).is_ascii_digit() {
            if self.at(0) == b'0' {
                return Err(self.problem("found an indentation indicator equal to 0", start_line));
            }
            increment = usize::from(self.at(0) - b'0');
            self.pos += 1;
            if keep.is_none() {
                keep = self.chomping();
            }
        }
        Ok((keep, increment))
    }

    fn chomping(&mut self) -> Option<bool> {
        let keep = match self.at(0) {
            b'+' => true,
            b'-' => false,
            _ => return None,
        };
        self.pos += 1;
        Some(keep)
    }

    /// Takes indentation and empty lines; finds out the indentation of the scalar when it isn't known (0).
    fn block_breaks(
        &mut self,
        indent: &mut usize,
        breaks: &mut String,
        start_line: u32,
    ) -> Result<(), Problem> {
        let mut deepest = 0;
        loop {
            let wanted = if *indent == 0 { usize::MAX } else { indent.saturating_sub(self.column()) };
            self.skip_spaces(wanted);
            let column = self.column();
            deepest = deepest.max(column);
            if (*indent == 0 || column < *indent) && self.at(0) == b'\t' {
                return Err(
                    self.problem("found a tab character where an indentation space is expected", start_line)
                );
            }
            match self.break_len(0) {
                0 => break,
                length => breaks.push_str(self.newline(length)),
            }
        }
        if *indent == 0 {
            *indent = deepest.max(usize::try_from(self.indent + 1).unwrap_or(0)).max(1);
        }
        Ok(())
    }
}

/// The escapes of a double-quoted scalar that stand for one fixed character.
const fn named_escape(code: u8) -> Option<char> {
    Some(match code {
        b'0' => '\0',
        b'a' => '\x07',
        b'b' => '\x08',
        b't' | b'\t' => '\t',
        b'n' => '\n',
        b'v' => '\x0B',
        b'f' => '\x0C',
        b'r' => '\r',
        b'e' => '\x1B',
        b' ' => ' ',
        b'"' => '"',
        b'\'' => '\'',
        b'\\' => '\\',
        b'N' => '\u{85}',
        b'_' => '\u{A0}',
        b'L' => '\u{2028}',
        b'P' => '\u{2029}',
        _ => return None,
    })
}
