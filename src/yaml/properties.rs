//! What surrounds nodes: anchors, aliases, tags and directives.
//!
//! Behaviour: go.yaml.in/yaml v2.4.4, `scannerc.go`.

use super::problem::Problem;
use super::scanner::{Kind, Scanner};

/// Digits a number of a `%YAML` directive may have.
const VERSION_DIGITS: usize = 2;

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

const fn is_uri(byte: u8) -> bool {
    is_word(byte)
        || matches!(
            byte,
            b';' | b'/' | b'?' | b':' | b'@' | b'&' | b'=' | b'+' | b'$' | b',' | b'.' | b'!' | b'~' | b'*'
        )
        || matches!(byte, b'\'' | b'(' | b')' | b'[' | b']' | b'%')
}

impl<'a> Scanner<'a> {
    /// Takes letters, digits, `_` and `-`.
    fn word(&mut self) -> &'a str {
        let from = self.pos;
        self.pos += self.rest().iter().take_while(|&&b| is_word(b)).count();
        self.slice(from, self.pos)
    }

    pub(super) fn scan_anchor(&mut self) -> Result<Kind<'a>, Problem> {
        let alias = self.at(0) == b'*';
        self.pos += 1;
        let name = self.word();
        let ended = self.blank_or_end(0)
            || matches!(self.at(0), b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`');
        if name.is_empty() || !ended {
            return Err(self.problem("did not find expected alphabetic or numeric character", self.line));
        }
        Ok(if alias { Kind::Alias(name) } else { Kind::Anchor(name) })
    }

    pub(super) fn scan_tag(&mut self) -> Result<Kind<'a>, Problem> {
        let tag = if self.at(1) == b'<' { self.verbatim_tag()? } else { self.shorthand_tag()? };
        if !self.blank_or_end(0) {
            return Err(self.problem("did not find expected whitespace or line break", self.line));
        }
        Ok(Kind::Tag(Box::new(tag)))
    }

    /// `!<uri>`: no handle.
    fn verbatim_tag(&mut self) -> Result<(String, String), Problem> {
        self.pos += 2;
        let suffix = self.uri(None)?;
        if self.at(0) != b'>' {
            return Err(self.problem("did not find the expected '>'", self.line));
        }
        self.pos += 1;
        Ok((String::new(), suffix))
    }

    /// `!suffix`, `!handle!suffix` or `!` alone, which stands as a suffix without handle.
    fn shorthand_tag(&mut self) -> Result<(String, String), Problem> {
        let handle = self.tag_handle(false)?;
        if handle.len() > 1 && handle.ends_with('!') {
            let suffix = self.uri(None)?;
            return Ok((handle.to_owned(), suffix));
        }
        let suffix = self.uri(Some(handle))?;
        if suffix.is_empty() { Ok((suffix, "!".to_owned())) } else { Ok(("!".to_owned(), suffix)) }
    }

    fn tag_handle(&mut self, directive: bool) -> Result<&'a str, Problem> {
        let missing = "did not find expected '!'";
        let from = self.pos;
        if self.at(0) != b'!' {
            return Err(self.problem(missing, self.line));
        }
        self.pos += 1;
        self.word();
        if self.at(0) == b'!' {
            self.pos += 1;
        } else if directive && self.pos > from + 1 {
            return Err(self.problem(missing, self.line));
        }
        Ok(self.slice(from, self.pos))
    }

    /// Takes the characters of a URI after `head`, whose leading `!` is dropped.
    fn uri(&mut self, head: Option<&str>) -> Result<String, Problem> {
        let mut uri = head.and_then(|h| h.get(1..)).unwrap_or("").as_bytes().to_vec();
        let mut found = head.is_some_and(|h| !h.is_empty());
        while is_uri(self.at(0)) {
            found = true;
            if self.at(0) == b'%' {
                self.uri_escape(&mut uri)?;
            } else {
                uri.push(self.at(0));
                self.pos += 1;
            }
        }
        if !found {
            return Err(self.problem("did not find expected tag URI", self.line));
        }
        Ok(String::from_utf8_lossy(&uri).into_owned())
    }

    /// Takes the escaped octets of one UTF-8 character.
    fn uri_escape(&mut self, uri: &mut Vec<u8>) -> Result<(), Problem> {
        let mut left = None;
        while left != Some(0) {
            let octet = self
                .escaped_octet()
                .ok_or_else(|| self.problem("did not find URI escaped octet", self.line))?;
            let width = match (left, octet) {
                (Some(n), 0x80..=0xBF) => n,
                (Some(_), _) => {
                    return Err(self.problem("found an incorrect trailing UTF-8 octet", self.line));
                }
                (None, 0..=0x7F) => 1,
                (None, 0xC0..=0xDF) => 2,
                (None, 0xE0..=0xEF) => 3,
                (None, 0xF0..=0xF7) => 4,
                (None, _) => return Err(self.problem("found an incorrect leading UTF-8 octet", self.line)),
            };
            uri.push(octet);
            self.pos += 3;
            left = Some(width - 1);
        }
        Ok(())
    }

    /// The value of `%xx` here.
    fn escaped_octet(&self) -> Option<u8> {
        let digits = (self.at(0) == b'%').then(|| self.slice(self.pos + 1, self.pos + 3))?;
        let hex = digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_hexdigit());
        hex.then(|| u8::from_str_radix(digits, 16).ok())?
    }

    pub(super) fn scan_directive(&mut self) -> Result<Kind<'a>, Problem> {
        let start_line = self.line;
        self.pos += 1;
        let name = self.word();
        if name.is_empty() {
            return Err(self.problem("could not find expected directive name", start_line));
        }
        if !self.blank_or_end(0) {
            return Err(self.problem("found unexpected non-alphabetical character", start_line));
        }
        let kind = match name {
            "YAML" => self.version_directive()?,
            "TAG" => self.tag_directive()?,
            _ => return Err(self.problem("found unknown directive name", start_line)),
        };
        if !self.skip_to_next_line() {
            return Err(self.problem("did not find expected comment or line break", start_line));
        }
        Ok(kind)
    }

    fn skip_blanks(&mut self) {
        while self.blank(0) {
            self.pos += 1;
        }
    }

    fn version_directive(&mut self) -> Result<Kind<'a>, Problem> {
        self.skip_blanks();
        let major = self.version_number()?;
        if self.at(0) != b'.' {
            return Err(self.problem("did not find expected digit or '.' character", self.line));
        }
        self.pos += 1;
        let minor = self.version_number()?;
        Ok(Kind::Version(major, minor))
    }

    fn version_number(&mut self) -> Result<u8, Problem> {
        let digits = self.rest().iter().take_while(|b| b.is_ascii_digit()).count();
        if digits > VERSION_DIGITS {
            return Err(self.problem("found extremely long version number", self.line));
        }
        let number = self.slice(self.pos, self.pos + digits).parse();
        self.pos += digits;
        number.map_err(|_| self.problem("did not find expected version number", self.line))
    }

    fn tag_directive(&mut self) -> Result<Kind<'a>, Problem> {
        self.skip_blanks();
        let handle = self.tag_handle(true)?.to_owned();
        if !self.blank(0) {
            return Err(self.problem("did not find expected whitespace", self.line));
        }
        self.skip_blanks();
        let prefix = self.uri(None)?;
        if !self.blank_or_end(0) {
            return Err(self.problem("did not find expected whitespace or line break", self.line));
        }
        Ok(Kind::TagDirective(Box::new((handle, prefix))))
    }
}
