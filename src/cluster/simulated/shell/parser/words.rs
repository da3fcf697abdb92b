//! Words of a script: quotes, parameters, substitutions.

use std::sync::Arc;

use super::super::syntax::{Operator, Parameter, Part, Word};
use super::{Parsed, Parser};

impl Parser {
    pub(super) fn word(&mut self) -> Parsed<Option<Word>> {
        let mut parts = Vec::new();
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => break,
                '\\' => self.escape(&mut parts),
                '\'' => parts.push(Part::Quoted(self.single()?)),
                '"' => {
                    self.at += 1;
                    parts.push(Part::Double(self.double(Some('"'))?));
                }
                '$' | '`' => self.dollar(&mut parts)?,
                _ => {
                    self.at += 1;
                    push_text(&mut parts, c);
                }
            }
        }
        Ok((!parts.is_empty()).then_some(Word { parts }))
    }

    pub(super) fn escape(&mut self, parts: &mut Vec<Part>) {
        self.at += 1;
        match self.peek() {
            Some('\n') => self.at += 1,
            Some(c) => {
                self.at += 1;
                parts.push(Part::Quoted(c.to_string()));
            }
            None => push_text(parts, '\\'),
        }
    }

    pub(super) fn single(&mut self) -> Parsed<String> {
        self.at += 1;
        let start = self.at;
        while let Some(c) = self.peek() {
            self.at += 1;
            if c == '\'' {
                return Ok(self.text[start..self.at - 1].iter().collect());
            }
        }
        self.fail("closing quote missing")
    }

    /// The parts between double quotes, or of a here-document when there is no closing character.
    pub(super) fn double(&mut self, close: Option<char>) -> Parsed<Vec<Part>> {
        let mut parts = Vec::new();
        while let Some(c) = self.peek() {
            match c {
                _ if Some(c) == close => {
                    self.at += 1;
                    return Ok(parts);
                }
                '\\' => self.double_escape(&mut parts, close),
                '$' | '`' => self.dollar(&mut parts)?,
                _ => {
                    self.at += 1;
                    push_text(&mut parts, c);
                }
            }
        }
        if close.is_some() { self.fail("closing quote missing") } else { Ok(parts) }
    }

    pub(super) fn double_escape(&mut self, parts: &mut Vec<Part>, close: Option<char>) {
        self.at += 1;
        match self.peek() {
            Some('\n') => self.at += 1,
            Some(c) if matches!(c, '$' | '`' | '\\') || Some(c) == close => {
                self.at += 1;
                push_text(parts, c);
            }
            _ => push_text(parts, '\\'),
        }
    }

    pub(super) fn dollar(&mut self, parts: &mut Vec<Part>) -> Parsed<()> {
        let part = if self.eat("`") {
            self.backticks()?
        } else if self.eat("$((") {
            self.arithmetic()?
        } else if self.eat("$(") {
            let list = self.list(&[])?;
            self.close(")")?;
            Part::Substitution(Arc::new(list))
        } else if self.eat("${") {
            self.braced()?
        } else {
            self.at += 1;
            match self.short_name() {
                Some(name) => parameter(name),
                None => {
                    push_text(parts, '$');
                    return Ok(());
                }
            }
        };
        parts.push(part);
        Ok(())
    }

    pub(super) fn short_name(&mut self) -> Option<String> {
        let c = self.peek()?;
        if c.is_ascii_digit() || "@*#?$!-".contains(c) {
            self.at += 1;
            return Some(c.to_string());
        }
        let mut name = String::new();
        while let Some(c) = self.peek().filter(|c| *c == '_' || c.is_ascii_alphanumeric()) {
            name.push(c);
            self.at += 1;
        }
        (!name.is_empty()).then_some(name)
    }

    pub(super) fn backticks(&mut self) -> Parsed<Part> {
        let mut script = String::new();
        while let Some(c) = self.peek() {
            self.at += 1;
            match c {
                '`' => {
                    let mut inner =
                        Parser { text: script.chars().collect(), at: 0, depth: self.depth + 1, resume: None };
                    return Ok(Part::Substitution(Arc::new(inner.list(&[])?)));
                }
                '\\' if self.peek().is_some_and(|c| "`\\$".contains(c)) => {
                    script.extend(self.peek());
                    self.at += 1;
                }
                _ => script.push(c),
            }
        }
        self.fail("closing backtick missing")
    }

    pub(super) fn arithmetic(&mut self) -> Parsed<Part> {
        let mut parts = Vec::new();
        let mut open = 0usize;
        loop {
            match self.peek() {
                None => return self.fail("`))` expected"),
                Some(')') if open == 0 => {
                    if !self.eat("))") {
                        return self.fail("`))` expected");
                    }
                    return Ok(Part::Arithmetic(parts));
                }
                Some('$' | '`') => self.dollar(&mut parts)?,
                Some(c) => {
                    open = if c == '(' { open + 1 } else { open - usize::from(c == ')') };
                    self.at += 1;
                    push_text(&mut parts, c);
                }
            }
        }
    }

    pub(super) fn braced(&mut self) -> Parsed<Part> {
        let length = self.ahead("#") && !self.ahead("#}") && self.eat("#");
        let Some(mut name) = self.short_name() else { return self.fail("name of a parameter expected") };
        while let Some(digit) =
            self.peek().filter(|c| c.is_ascii_digit() && name.starts_with(|c: char| c.is_ascii_digit()))
        {
            name.push(digit);
            self.at += 1;
        }
        if self.eat("}") {
            return Ok(Part::Parameter(Box::new(Parameter { name, length, operator: None })));
        }
        let Some(operator) = self.operator() else { return self.fail("operator in `${…}` not known") };
        let word = Word { parts: self.nested(Self::braced_word)? };
        Ok(Part::Parameter(Box::new(Parameter { name, length, operator: Some((operator, word)) })))
    }

    pub(super) fn operator(&mut self) -> Option<Operator> {
        let table = [
            (":-", Operator::Default { empty: true }),
            ("-", Operator::Default { empty: false }),
            (":=", Operator::Assign { empty: true }),
            ("=", Operator::Assign { empty: false }),
            (":?", Operator::Require { empty: true }),
            ("?", Operator::Require { empty: false }),
            (":+", Operator::Alternative { empty: true }),
            ("+", Operator::Alternative { empty: false }),
            ("##", Operator::CutPrefix { longest: true }),
            ("#", Operator::CutPrefix { longest: false }),
            ("%%", Operator::CutSuffix { longest: true }),
            ("%", Operator::CutSuffix { longest: false }),
        ];
        table.into_iter().find(|(text, _)| self.eat(text)).map(|(_, operator)| operator)
    }

    pub(super) fn braced_word(&mut self) -> Parsed<Vec<Part>> {
        let mut parts = Vec::new();
        loop {
            match self.peek() {
                None => return self.fail("`}` expected"),
                Some('}') => {
                    self.at += 1;
                    return Ok(parts);
                }
                Some('\\') => self.escape(&mut parts),
                Some('\'') => parts.push(Part::Quoted(self.single()?)),
                Some('"') => {
                    self.at += 1;
                    parts.push(Part::Double(self.double(Some('"'))?));
                }
                Some('$' | '`') => self.dollar(&mut parts)?,
                Some(c) => {
                    self.at += 1;
                    push_text(&mut parts, c);
                }
            }
        }
    }
}

pub(super) fn parameter(name: String) -> Part {
    Part::Parameter(Box::new(Parameter { name, length: false, operator: None }))
}

pub(super) fn push_text(parts: &mut Vec<Part>, c: char) {
    match parts.last_mut() {
        Some(Part::Text(text)) => text.push(c),
        _ => parts.push(Part::Text(c.to_string())),
    }
}
