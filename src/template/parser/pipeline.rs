//! Pipelines: declarations, commands, operands.

use super::super::ast::{Callee, Command, Pipe, Term, TermKind};
use super::super::lexer::{Kind, Token};
use super::super::number::Number;
use super::super::stack;
use super::super::value::GoStr;
use super::{MAX_DEPTH, Parsed, Parser};
use crate::go::quote;
use crate::template::funcs::go;

impl<'t> Parser<'t> {
    // Pipelines.

    pub(super) fn pipeline(&mut self, context: &str, end: Kind) -> Parsed<Pipe> {
        let pos = self.peek_non_space().start;
        let mut pipe = Pipe { pos, assign: false, variables: Vec::new(), commands: Vec::new() };
        while self.declaration(&mut pipe, context)? {}
        loop {
            let token = self.next_non_space();
            match token.kind {
                kind if kind == end => break,
                kind if begins_operand(kind) => {
                    self.backup();
                    pipe.commands.push(self.command()?);
                }
                _ => return self.unexpected(token, context),
            }
        }
        self.check(pipe, context)
    }

    /// A variable that is declared or assigned; true when another must be looked for.
    pub(super) fn declaration(&mut self, pipe: &mut Pipe, context: &str) -> Parsed<bool> {
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
                pipe.assign = next.kind == Kind::Assign;
                self.next_non_space();
                self.declare(pipe, variable);
                Ok(false)
            }
            Kind::Char if self.lexer.bytes(next) == b"," => {
                self.next_non_space();
                self.declare(pipe, variable);
                self.second_variable(pipe, context)
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

    pub(super) fn declare(&mut self, pipe: &mut Pipe, token: Token) {
        let name = GoStr::from(self.lexer.bytes(token));
        pipe.variables.push(name.clone());
        self.scope.variables.push(name);
    }

    pub(super) fn second_variable(&mut self, pipe: &Pipe, context: &str) -> Parsed<bool> {
        if context != "range" || pipe.variables.len() >= 2 {
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
        let mut command = Command { pos: self.peek_non_space().start, terms: Vec::new() };
        loop {
            self.peek_non_space();
            command.terms.extend(self.operand()?);
            let token = self.next();
            match token.kind {
                Kind::Space => continue,
                Kind::RightDelim | Kind::RightParen => self.backup(),
                Kind::Pipe => {}
                _ => return self.unexpected(token, "operand"),
            }
            break;
        }
        if command.terms.is_empty() {
            return self.fail("empty command");
        }
        Ok(command)
    }

    /// A term and the fields behind it; `None` when the next token begins no term.
    pub(super) fn operand(&mut self) -> Parsed<Option<Term>> {
        let Some(mut term) = self.term()? else { return Ok(None) };
        if self.peek().kind != Kind::Field {
            return Ok(Some(term));
        }
        let pos = self.peek().start;
        let mut path = Vec::new();
        while self.peek().kind == Kind::Field {
            let token = self.next();
            path.push(field_name(self.lexer.bytes(token)));
        }
        match &mut term.kind {
            TermKind::Field(first) | TermKind::Variable(first) => {
                first.append(&mut path);
                term.pos = pos;
                Ok(Some(term))
            }
            kind if is_literal(kind) => self.fail(format!("unexpected . after term {}", quote(term.print()))),
            _ => Ok(Some(Term { pos, kind: TermKind::Chain(Box::new(term), path) })),
        }
    }

    pub(super) fn term(&mut self) -> Parsed<Option<Term>> {
        let token = self.next_non_space();
        let bytes = self.lexer.bytes(token);
        let kind = match token.kind {
            Kind::Identifier => self.identifier(bytes)?,
            Kind::Dot => TermKind::Dot,
            Kind::Nil => TermKind::Nil,
            Kind::Variable => self.variable(bytes)?,
            Kind::Field => TermKind::Field(vec![field_name(bytes)]),
            Kind::Bool => TermKind::Bool(bytes == b"true"),
            Kind::CharConstant | Kind::Complex | Kind::Number => self.number(token.kind, bytes)?,
            Kind::LeftParen => self.parenthesized()?,
            Kind::String | Kind::RawString => TermKind::String(GoStr::from(bytes), self.unquote(token)?),
            _ => {
                self.backup();
                return Ok(None);
            }
        };
        Ok(Some(Term { pos: token.start, kind }))
    }

    pub(super) fn identifier(&self, bytes: &[u8]) -> Parsed<TermKind> {
        let name = String::from_utf8_lossy(bytes);
        let callee = match self.registry.find(&name) {
            Some(func) => Callee::Func(*func),
            None => match go::find(&name) {
                Some(builtin) => Callee::Builtin(builtin),
                None => return self.fail(format!("function {} not defined", quote(bytes))),
            },
        };
        Ok(TermKind::Identifier(GoStr::from(bytes), callee))
    }

    pub(super) fn variable(&self, bytes: &[u8]) -> Parsed<TermKind> {
        if !self.scope.variables.iter().any(|name| name.as_bytes() == bytes) {
            return self.fail(format!("undefined variable {}", quote(bytes)));
        }
        Ok(TermKind::Variable(vec![GoStr::from(bytes)]))
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

/// A field token without its dot.
pub(super) fn field_name(bytes: &[u8]) -> GoStr {
    GoStr::from(bytes.strip_prefix(b".").unwrap_or(bytes))
}
