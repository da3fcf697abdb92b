//! Evaluation of pipelines, commands, fields and constants.

use std::rc::Rc;

use super::ast::{At, Command, Pipe, Span, Term, TermKind};
use super::call::Arguments;
use super::exec::{Done, Exec, Frame};
use super::number::Number;
use super::object::{Field, Method, Object};
use super::operand::Operand;
use super::set::MissingKey;
use super::value::{Map, Value};
use crate::go::quote;

impl Exec<'_> {
    /// The value of a pipeline; its variables are declared or assigned.
    pub(crate) fn pipeline<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Operand,
        pipe: &'t Pipe,
    ) -> Done<Operand> {
        frame.at = At::Pipe(pipe);
        self.tick(frame)?;
        let mut last = None;
        for command in &pipe.commands {
            let operand = self.command(frame, dot, command, last)?;
            // An interface is looked into: a nil one becomes no value.
            last = Some(Operand::concrete(operand.value));
        }
        let operand = last.unwrap_or_default();
        frame.bind(pipe, &operand)?;
        Ok(operand)
    }

    fn command<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Operand,
        command: &'t Command,
        last: Option<Operand>,
    ) -> Done<Operand> {
        let Some((first, rest)) = command.terms.split_first() else { return Ok(Operand::default()) };
        let arguments = Arguments { terms: rest, last };
        match &first.kind {
            TermKind::Field(path) => self.field_term(frame, dot, first, *path, arguments),
            TermKind::Chain(inner, path) => self.chain(frame, dot, first, inner, *path, arguments),
            TermKind::Variable(path) => self.variable(frame, dot, first, *path, arguments),
            TermKind::Identifier(callee) => {
                frame.at = At::Term(first);
                self.call(frame, dot, *callee, At::Command(command), arguments)
            }
            TermKind::Pipe(pipe) => {
                not_a_function(frame, first, &arguments)?;
                self.pipeline(frame, dot, pipe)
            }
            _ => {
                frame.at = At::Term(first);
                not_a_function(frame, first, &arguments)?;
                constant(frame, dot, first)
            }
        }
    }

    /// The value of a term that stands alone.
    pub(crate) fn term<'t>(&mut self, frame: &mut Frame<'t>, dot: &Operand, term: &'t Term) -> Done<Operand> {
        frame.at = At::Term(term);
        let arguments = Arguments::default();
        match &term.kind {
            TermKind::Field(path) => self.field_term(frame, dot, term, *path, arguments),
            TermKind::Chain(inner, path) => self.chain(frame, dot, term, inner, *path, arguments),
            TermKind::Variable(path) => self.variable(frame, dot, term, *path, arguments),
            TermKind::Identifier(callee) => self.call(frame, dot, *callee, At::Term(term), arguments),
            TermKind::Pipe(pipe) => self.pipeline(frame, dot, pipe),
            _ => constant(frame, dot, term),
        }
    }

    fn field_term<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Operand,
        term: &'t Term,
        path: Span,
        arguments: Arguments<'t>,
    ) -> Done<Operand> {
        frame.at = At::Term(term);
        self.path(frame, dot, dot.clone(), term, path, arguments)
    }

    fn chain<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Operand,
        term: &'t Term,
        inner: &'t Term,
        path: Span,
        arguments: Arguments<'t>,
    ) -> Done<Operand> {
        frame.at = At::Term(term);
        if matches!(inner.kind, TermKind::Nil) {
            return frame
                .error(format!("indirection through explicit nil in {}", term.print(frame.source())));
        }
        let receiver = self.term(frame, dot, inner)?;
        self.path(frame, dot, receiver, term, path, arguments)
    }

    fn variable<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Operand,
        term: &'t Term,
        path: Span,
        arguments: Arguments<'t>,
    ) -> Done<Operand> {
        frame.at = At::Term(term);
        let name = frame.source().names(path).next().unwrap_or(&[]);
        let value = frame.variable(name)?;
        let path = path.behind(name.len());
        if path.is_empty() {
            not_a_function(frame, term, &arguments)?;
            return Ok(value);
        }
        self.path(frame, dot, value, term, path, arguments)
    }

    /// `.X.Y.Z` from a receiver; the last may be a method and takes the arguments.
    fn path<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Operand,
        mut receiver: Operand,
        term: &'t Term,
        path: Span,
        arguments: Arguments<'t>,
    ) -> Done<Operand> {
        let mut names = frame.source().names(path).peekable();
        let mut arguments = Some(arguments);
        while let Some(name) = names.next() {
            let given = if names.peek().is_none() { arguments.take() } else { None };
            receiver = self.field(frame, dot, &receiver, term, name, given.unwrap_or_default())?;
        }
        Ok(receiver)
    }

    fn field<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Operand,
        receiver: &Operand,
        term: &'t Term,
        name: &[u8],
        arguments: Arguments<'t>,
    ) -> Done<Operand> {
        if receiver.is_invalid() {
            if self.missing_key() == MissingKey::Error {
                return frame.error(format!("nil data; no entry for key {}", quote(name)));
            }
            return Ok(Operand::default());
        }
        let type_name = receiver.type_name();
        let shown = || String::from_utf8_lossy(name);
        match &receiver.value {
            Value::Nil => return frame.error(format!("nil pointer evaluating {type_name}.{}", shown())),
            Value::Object(object) => {
                if let Some((inner, method)) = find_method(&receiver.value, name) {
                    return self.method(frame, dot, inner, method, term, arguments);
                }
                if let Some(field) = find_field(object.as_ref(), name) {
                    return struct_field(frame, &field, name, &arguments);
                }
                if object.hidden().iter().any(|hidden| hidden.as_bytes() == name) {
                    let problem = format!("{} is an unexported field of struct type {type_name}", shown());
                    return frame.error(problem);
                }
                if object.is_nil() {
                    return frame.error(format!("nil pointer evaluating {type_name}.{}", shown()));
                }
            }
            Value::Map(map) => {
                if let Some(method) = Method::find(map.ty().methods, name) {
                    return self.method(frame, dot, receiver.value.clone(), method, term, arguments);
                }
                return self.entry(frame, map, name, &arguments);
            }
            Value::List(list) => {
                if let Some(method) = Method::find(list.ty().methods, name) {
                    return self.method(frame, dot, receiver.value.clone(), method, term, arguments);
                }
            }
            _ => {}
        }
        frame.error(format!("can't evaluate field {} in type {type_name}", shown()))
    }

    fn entry(&self, frame: &Frame<'_>, map: &Map, name: &[u8], arguments: &Arguments<'_>) -> Done<Operand> {
        if arguments.any() {
            return frame
                .error(format!("{} is not a method but has arguments", String::from_utf8_lossy(name)));
        }
        if let Some(value) = map.get(name) {
            return Ok(Operand::typed(value, &map.ty().elem));
        }
        match self.missing_key() {
            MissingKey::Invalid => Ok(Operand::default()),
            MissingKey::Zero => Ok(Operand::typed(Value::zero(&map.ty().elem), &map.ty().elem)),
            MissingKey::Error => frame.error(format!("map has no entry for key {}", quote(name))),
        }
    }
}

fn struct_field(frame: &Frame<'_>, field: &Field, name: &[u8], arguments: &Arguments<'_>) -> Done<Operand> {
    if arguments.any() {
        return frame.error(format!(
            "{} has arguments but cannot be invoked as function",
            String::from_utf8_lossy(name)
        ));
    }
    Ok(Operand { value: field.value.clone(), interface: field.interface })
}

/// A method of an object or of what it embeds, with its receiver.
fn find_method(value: &Value, name: &[u8]) -> Option<(Value, &'static Method)> {
    let Value::Object(object) = value else { return None };
    if let Some(method) = Method::find(object.methods(), name) {
        return Some((value.clone(), method));
    }
    let mut embedded = object.fields().iter().filter(|field| field.embedded);
    embedded.find_map(|field| find_method(&field.value, name))
}

/// A field of an object or of what it embeds.
fn find_field(object: &dyn Object, name: &[u8]) -> Option<Field> {
    if let Some(field) = object.fields().iter().find(|field| field.name.as_bytes() == name) {
        return Some(field.clone());
    }
    let mut embedded = object.fields().iter().filter(|field| field.embedded);
    embedded.find_map(|field| match &field.value {
        Value::Object(inner) => find_field(inner.as_ref(), name),
        _ => None,
    })
}

fn not_a_function(frame: &Frame<'_>, term: &Term, arguments: &Arguments<'_>) -> Done<()> {
    if arguments.any() {
        return frame.error(format!("can't give argument to non-function {}", term.print(frame.source())));
    }
    Ok(())
}

fn constant(frame: &Frame<'_>, dot: &Operand, term: &Term) -> Done<Operand> {
    match &term.kind {
        TermKind::Dot => Ok(dot.clone()),
        TermKind::Bool(b) => Ok(Operand::concrete(Value::Bool(*b))),
        TermKind::String(text) => Ok(Operand::concrete(Value::String(text.clone()))),
        TermKind::Number(number) => ideal(frame, number),
        TermKind::Nil => frame.error("nil is not a command"),
        _ => frame.error(format!("can't evaluate command {}", quote(term.print(frame.source())))),
    }
}

/// A number where no type is asked for: its syntax tells.
fn ideal(frame: &Frame<'_>, number: &Number) -> Done<Operand> {
    let text = number.text.as_str();
    let hex =
        text.len() > 2 && (text.starts_with("0x") || text.starts_with("0X")) && !text.contains(['p', 'P']);
    let fractional = !hex && !text.starts_with('\'') && text.contains(['.', 'e', 'E', 'p', 'P']);
    if let Some(complex) = number.complex {
        return Ok(Operand::concrete(Value::Object(Rc::new(complex))));
    }
    match (number.float, number.int) {
        (Some(float), _) if fractional => Ok(Operand::concrete(Value::Float(float))),
        (_, Some(int)) => Ok(Operand::concrete(Value::Int(int))),
        _ if number.uint.is_some() => frame.error(format!("{text} overflows int")),
        _ => Ok(Operand::default()),
    }
}
