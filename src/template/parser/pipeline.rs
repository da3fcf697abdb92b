//! Pipelines: declarations, commands, operands.

use super::super::ast::{Callee, Command, Pipe, Span, Term, TermKind};
use super::super::lexer::{Kind, Token};
use super::super::number::Number;
use super::super::stack;
use super::{MAX_DEPTH, Parsed, Parser, offset, span};
use crate::go::quote;
use crate::template::funcs::go;

/// Variables that a pipeline declares or assigns.
#[derive(Default)]
pub(super) struct Declared {
    names: Vec<Span>,
    assign: bool,
}

impl Parser<'_> {
    // Pipelines.

    pub(super) fn pipeline(&mut self, context: &str, end: Kind) -> Parsed<Pipe> {
        let pos = offset(self.peek_non_space().start);
        let mark = self.open.commands.len();
        let mut declared = Declared::default();
        while self.declaration(&mut declared, context)? {}
        loop {
            let token = self.next_non_space();
            match token.kind {
                kind if kind == end => break,
                kind if begins_operand(kind) => {
                    self.backup();
                    let command = self.command()?;
                    self.open.commands.push(command);
                }
                _ => return self.unexpected(token, context),
            }
        }
        let commands = self.open.commands.drain(mark..).collect();
        self.check(Pipe { pos, assign: declared.assign, variables: declared.names.into(), commands }, context)
    }

    /// A variable that is declared or assigned; true when another must be looked for.
    pub(super) fn declaration(&mut self, declared: &mut Declared, context: &str) -> Parsed<bool> {
        let variable = self.peek_non_space();
        if variable.kind != Kind::Variable {
            return Ok(false);
        }
        self.next();
        // "$x foo" needs three tokens of look-ahead, for space is a token.
        let after = self.peek();
        let next = self.peek_non_space();
        match next.kind {
            Kind::Assign | Kind::Declare => {
                declared.assign = next.kind == Kind::Assign;
                self.next_non_space();
                self.declare(declared, variable);
                Ok(false)
            }
            Kind::Char if self.lexer.bytes(next) == b"," => {
                self.next_non_space();
                self.declare(declared, variable);
                self.second_variable(declared, context)
            }
            _ if after.kind == Kind::Space => {
                self.backup3(variable, after);
                Ok(false)
            }
            _ => {
                self.backup2(variable);
                Ok(false)
            }
        }
    }

    pub(super) fn declare(&mut self, declared: &mut Declared, token: Token) {
        declared.names.push(span(token));
        self.scope.variables.push(self.lexer.bytes(token));
    }

    pub(super) fn second_variable(&mut self, declared: &Declared, context: &str) -> Parsed<bool> {
        if context != "range" || declared.names.len() >= 2 {
            return self.fail(format!("too many declarations in {context}"));
        }
        match self.peek_non_space().kind {
            Kind::Variable | Kind::RightDelim | Kind::RightParen => Ok(true),
            _ => self.fail("range can only initialize variables"),
        }
    }

    pub(super) fn check(&self, pipe: Pipe, context: &str) -> Parsed<Pipe> {
        if pipe.commands.is_empty() {
            return self.fail(format!("missing value for {context}"));
        }
        for (at, command) in pipe.commands.iter().enumerate().skip(1) {
            if command.terms.first().is_some_and(|term| is_literal(&term.kind)) {
                return self.fail(format!("non executable command in pipeline stage {}", at + 1));
            }
        }
        Ok(pipe)
    }

    pub(super) fn command(&mut self) -> Parsed<Command> {
        let (pos, mark) = (offset(self.peek_non_space().start), self.open.terms.len());
        loop {
            self.peek_non_space();
            if let Some(term) = self.operand()? {
                self.open.terms.push(term);
            }
            let token = self.next();
            match token.kind {
                Kind::Space => continue,
                Kind::RightDelim | Kind::RightParen => self.backup(),
                Kind::Pipe => {}
                _ => return self.unexpected(token, "operand"),
            }
            break;
        }
        if self.open.terms.len() == mark {
            return self.fail("empty command");
        }
        Ok(Command { pos, terms: self.open.terms.drain(mark..).collect() })
    }

    /// A term and the fields behind it; `None` when the next token begins no term.
    pub(super) fn operand(&mut self) -> Parsed<Option<Term>> {
        let Some(mut term) = self.term()? else { return Ok(None) };
        if self.peek().kind != Kind::Field {
            return Ok(Some(term));
        }
        let first = span(self.peek());
        let mut end = first.end;
        while self.peek().kind == Kind::Field {
            end = span(self.next()).end;
        }
        match &mut term.kind {
            TermKind::Field(path) | TermKind::Variable(path) => path.end = end,
            kind if is_literal(kind) => {
                return self.fail(format!("unexpected . after term {}", quote(term.print(&self.source))));
            }
            _ => {
                let kind = TermKind::Chain(Box::new(term), Span { start: first.start, end });
                return Ok(Some(Term { pos: first.start, end, kind }));
            }
        }
        Ok(Some(Term { pos: first.start, ..term }))
    }

    pub(super) fn term(&mut self) -> Parsed<Option<Term>> {
        let token = self.next_non_space();
        let bytes = self.lexer.bytes(token);
        let kind = match token.kind {
            Kind::Identifier => self.identifier(bytes)?,
            Kind::Dot => TermKind::Dot,
            Kind::Nil => TermKind::Nil,
            Kind::Variable => self.variable(token)?,
            Kind::Field => TermKind::Field(span(token)),
            Kind::Bool => TermKind::Bool(bytes == b"true"),
            Kind::CharConstant | Kind::Complex | Kind::Number => self.number(token.kind, bytes)?,
            Kind::LeftParen => self.parenthesized()?,
            Kind::String | Kind::RawString => TermKind::String(self.unquote(token)?),
            _ => {
                self.backup();
                return Ok(None);
            }
        };
        let Span { start: pos, end } = span(token);
        Ok(Some(Term { pos, end, kind }))
    }

    pub(super) fn identifier(&self, bytes: &[u8]) -> Parsed<TermKind> {
        let name = std::str::from_utf8(bytes).unwrap_or_default();
        let callee = match self.registry.find(name) {
            Some(func) => Callee::Func(func),
            None => match go::find(name) {
                Some(builtin) => Callee::Builtin(builtin),
                None => return self.fail(format!("function {} not defined", quote(bytes))),
            },
        };
        Ok(TermKind::Identifier(callee))
    }

    pub(super) fn variable(&self, token: Token) -> Parsed<TermKind> {
        let bytes = self.lexer.bytes(token);
        if !self.scope.variables.contains(&bytes) {
            return self.fail(format!("undefined variable {}", quote(bytes)));
        }
        Ok(TermKind::Variable(span(token)))
    }

    pub(super) fn number(&self, kind: Kind, bytes: &[u8]) -> Parsed<TermKind> {
        let text = String::from_utf8_lossy(bytes);
        let number = match kind {
            Kind::CharConstant => Number::character(bytes),
            Kind::Complex => Number::complex(&text),
            _ => Number::parse(&text),
        };
        number.map(|number| TermKind::Number(Box::new(number))).or_else(|message| self.fail(message))
    }

    pub(super) fn parenthesized(&mut self) -> Parsed<TermKind> {
        if self.scope.depth >= MAX_DEPTH || stack::exhausted() {
            return self.fail("max expression depth exceeded");
        }
        self.scope.depth += 1;
        let pipe = self.pipeline("parenthesized pipeline", Kind::RightParen)?;
        self.scope.depth -= 1;
        Ok(TermKind::Pipe(Box::new(pipe)))
    }
}

pub(super) fn begins_operand(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Bool
            | Kind::CharConstant
            | Kind::Complex
            | Kind::Dot
            | Kind::Field
            | Kind::Identifier
            | Kind::Number
            | Kind::Nil
            | Kind::RawString
            | Kind::String
            | Kind::Variable
            | Kind::LeftParen
    )
}

/// Operands that cannot be called and have no fields.
pub(super) fn is_literal(kind: &TermKind) -> bool {
    matches!(
        kind,
        TermKind::Bool(_) | TermKind::Dot | TermKind::Nil | TermKind::Number(_) | TermKind::String(..)
    )
}
