//! Redirections and here-documents.

use super::super::syntax::{Part, Redirect, Target, Word};
use super::{BOTH, Parsed, Parser, unquoted};

impl Parser {
    pub(super) fn redirect(&mut self) -> Parsed<Option<Redirect>> {
        self.blanks();
        let start = self.at;
        let mut digits = String::new();
        while let Some(c) = self.peek().filter(char::is_ascii_digit) {
            digits.push(c);
            self.at += 1;
        }
        if digits.is_empty() && self.eat("&>") {
            return self.both().map(Some);
        }
        if !matches!(self.peek(), Some('<' | '>')) || !digits.is_empty() && digits.len() > 2 {
            self.at = start;
            return Ok(None);
        }
        let output = self.peek() == Some('>');
        let descriptor = digits.parse().unwrap_or(u32::from(output));
        let target = self.target()?;
        Ok(Some(Redirect { descriptor, target }))
    }

    /// `&> file` of bash. Standard error is not told from standard output there, which is what it asks for.
    pub(super) fn both(&mut self) -> Parsed<Redirect> {
        self.blanks();
        match self.word()? {
            Some(word) => Ok(Redirect { descriptor: BOTH, target: Target::Write(word) }),
            None => self.fail("file name expected"),
        }
    }

    pub(super) fn target(&mut self) -> Parsed<Target> {
        if self.eat("<<<") {
            return Ok(Target::Text(self.operand()?));
        }
        if self.eat("<<") {
            return self.here_document();
        }
        let make: fn(Word) -> Target = if self.eat("<&") || self.eat(">&") {
            Target::Duplicate
        } else if self.eat(">>") {
            Target::Append
        } else if self.eat(">|") || self.eat(">") {
            Target::Write
        } else {
            self.eat("<");
            Target::Read
        };
        Ok(make(self.operand()?))
    }

    pub(super) fn operand(&mut self) -> Parsed<Word> {
        self.blanks();
        match self.word()? {
            Some(word) => Ok(word),
            None => self.fail("word expected after the redirection"),
        }
    }

    pub(super) fn here_document(&mut self) -> Parsed<Target> {
        let strip = self.eat("-");
        let delimiter = self.operand()?;
        let quoted = !matches!(delimiter.parts.as_slice(), [Part::Text(_)]);
        let end = unquoted(&delimiter);
        let from = self.resume.unwrap_or_else(|| self.next_line());
        let (body, resume) = self.here_body(from, &end, strip);
        self.resume = Some(resume);
        if quoted {
            return Ok(Target::Text(Word { parts: vec![Part::Quoted(body)] }));
        }
        let mut inner = Parser { text: body.chars().collect(), at: 0, depth: self.depth + 1, resume: None };
        let parts = inner.double(None)?;
        Ok(Target::Text(Word { parts: vec![Part::Double(parts)] }))
    }

    pub(super) fn next_line(&self) -> usize {
        (self.at..self.text.len()).find(|i| self.text[*i] == '\n').map_or(self.text.len(), |i| i + 1)
    }

    pub(super) fn here_body(&self, from: usize, end: &str, strip: bool) -> (String, usize) {
        let mut body = String::new();
        let mut at = from;
        while at < self.text.len() {
            let stop = (at..self.text.len()).find(|i| self.text[*i] == '\n').unwrap_or(self.text.len());
            let line: String = self.text[at..stop].iter().collect();
            let line = if strip { line.trim_start_matches('\t') } else { line.as_str() };
            at = (stop + 1).min(self.text.len());
            if line == end {
                break;
            }
            body.push_str(line);
            body.push('\n');
        }
        (body, at)
    }
}
