//! The parse tree and how its nodes print in error messages.

use std::sync::Arc;

use super::funcs::Func;
use super::funcs::go::Builtin;
use super::number::Number;
use super::value::GoStr;

/// A text under the name it was parsed by.
#[derive(Debug)]
pub struct Source {
    /// Name for error messages.
    pub name: GoStr,
    /// The template text.
    pub text: Arc<[u8]>,
}

/// Bytes of a source, which the parser keeps shorter than four gigabytes; trees are mostly made of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte behind the last.
    pub end: u32,
}

impl Span {
    /// What is left behind so many bytes.
    pub(crate) fn behind(self, bytes: usize) -> Self {
        let start = self.start.saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX)).min(self.end);
        Self { start, ..self }
    }

    /// Whether it holds nothing.
    pub(crate) fn is_empty(self) -> bool {
        self.start >= self.end
    }
}

impl Source {
    /// The bytes of a span.
    pub(crate) fn bytes(&self, span: Span) -> &[u8] {
        self.text.get(span.start as usize..span.end as usize).unwrap_or(&[])
    }

    /// The names of a path.
    pub(crate) fn names(&self, path: Span) -> impl Iterator<Item = &[u8]> {
        let bytes = self.bytes(path);
        bytes.strip_prefix(b".").unwrap_or(bytes).split(|&byte| byte == b'.')
    }

    /// The text of a span.
    fn lossy(&self, span: Span) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.bytes(span))
    }

    /// Line (from 1) and byte column as Go counts it (from 0).
    pub(crate) fn position(&self, pos: usize) -> (usize, usize) {
        let before = self.text.get(..pos).unwrap_or(&self.text);
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        (line, pos - start)
    }
}

/// A defined template.
#[derive(Debug)]
pub struct Template {
    /// The name it is called by.
    pub name: GoStr,
    /// Where its nodes come from.
    pub source: Arc<Source>,
    /// Its contents.
    pub root: List,
}

impl Template {
    /// Whether it holds nothing but space and definitions.
    pub fn is_empty(&self) -> bool {
        self.root.nodes.iter().all(|node| match node {
            Node::Text(span) => self.source.bytes(*span).trim_ascii().is_empty(),
            _ => false,
        })
    }
}

/// A sequence of nodes.
#[derive(Debug)]
pub struct List {
    /// Byte position in the source.
    pub pos: u32,
    /// The nodes in order.
    pub nodes: Box<[Node]>,
}

/// A piece of text or an action.
#[derive(Debug)]
pub enum Node {
    /// Text.
    Text(Span),
    /// `{{pipeline}}`: printed, or only declared.
    Action(Pipe),
    /// `{{if}}`
    If(Box<Branch>),
    /// `{{with}}`
    With(Box<Branch>),
    /// `{{range}}`
    Range(Box<Branch>),
    /// `{{template "name" pipeline}}`
    Template(Box<Call>),
    /// `{{break}}`
    Break(u32),
    /// `{{continue}}`
    Continue(u32),
}

/// A control structure.
#[derive(Debug)]
pub struct Branch {
    /// The condition or the collection.
    pub pipe: Pipe,
    /// The body.
    pub list: List,
    /// The body of `{{else}}`.
    pub otherwise: Option<List>,
}

/// A call of a template.
#[derive(Debug)]
pub struct Call {
    /// Byte position.
    pub pos: u32,
    /// Name of the template that is called.
    pub name: GoStr,
    /// Its dot.
    pub pipe: Option<Pipe>,
}

/// Commands, each fed with the value of the one before.
#[derive(Debug)]
pub struct Pipe {
    /// Byte position.
    pub pos: u32,
    /// Whether the variables are assigned, not declared.
    pub assign: bool,
    /// Variables that take the value, with their `$`.
    pub variables: Box<[Span]>,
    /// The commands in order.
    pub commands: Box<[Command]>,
}

/// An operand with its arguments.
#[derive(Debug)]
pub struct Command {
    /// Byte position.
    pub pos: u32,
    /// The operand, then its arguments.
    pub terms: Box<[Term]>,
}

/// What an identifier calls.
#[derive(Clone, Copy, Debug)]
pub enum Callee {
    /// One of Go's own functions.
    Builtin(&'static Builtin),
    /// A function of the registry.
    Func(&'static Func),
}

impl Callee {
    /// The name that templates call it by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Builtin(builtin) => builtin.name,
            Self::Func(func) => func.name,
        }
    }
}

/// An operand or argument.
#[derive(Debug)]
pub struct Term {
    /// Byte position that errors name, which is that of the second name in `.A.B`.
    pub pos: u32,
    /// The byte behind the token, for a string that errors show as it is written.
    pub end: u32,
    /// What it is.
    pub kind: TermKind,
}

/// The kinds of operands.
#[derive(Debug)]
pub enum TermKind {
    /// `.`
    Dot,
    /// `nil`
    Nil,
    /// `true`, `false`
    Bool(bool),
    /// A number or character constant.
    Number(Box<Number>),
    /// The value of a string constant.
    String(GoStr),
    /// `.A.B`, of which `Source::names` gives the names.
    Field(Span),
    /// `$x.A.B`; the first name begins with `$`.
    Variable(Span),
    /// A function.
    Identifier(Callee),
    /// `(pipeline)`
    Pipe(Box<Pipe>),
    /// `(pipeline).A.B`, `function.A`
    Chain(Box<Term>, Span),
}

/// A node, for error messages.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At<'t> {
    List(&'t List),
    Node(&'t Node),
    Pipe(&'t Pipe),
    Command(&'t Command),
    Term(&'t Term),
}

impl At<'_> {
    pub(crate) fn pos(&self) -> usize {
        let pos = match self {
            Self::List(list) => list.pos,
            Self::Node(node) => node.pos(),
            Self::Pipe(pipe) => pipe.pos,
            Self::Command(command) => command.pos,
            Self::Term(term) => term.pos,
        };
        pos as usize
    }

    /// The node as Go prints it.
    pub(crate) fn print(&self, source: &Source) -> String {
        let mut out = Writer { source, out: String::new() };
        match self {
            Self::List(list) => out.list(list),
            Self::Node(node) => out.node(node),
            Self::Pipe(pipe) => out.pipe(pipe),
            Self::Command(command) => out.command(command),
            Self::Term(term) => out.term(term),
        }
        out.out
    }
}

impl Node {
    fn pos(&self) -> u32 {
        match self {
            Self::Text(span) => span.start,
            Self::Action(pipe) => pipe.pos,
            Self::If(branch) | Self::With(branch) | Self::Range(branch) => branch.pipe.pos,
            Self::Template(call) => call.pos,
            Self::Break(pos) | Self::Continue(pos) => *pos,
        }
    }
}

impl Term {
    /// The term as Go prints it.
    pub(crate) fn print(&self, source: &Source) -> String {
        At::Term(self).print(source)
    }
}

/// Prints nodes as Go does.
struct Writer<'t> {
    source: &'t Source,
    out: String,
}

impl Writer<'_> {
    fn span(&mut self, span: Span) {
        self.out.push_str(&self.source.lossy(span));
    }

    fn list(&mut self, list: &List) {
        list.nodes.iter().for_each(|node| self.node(node));
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Text(span) => self.span(*span),
            Node::Action(pipe) => {
                self.out.push_str("{{");
                self.pipe(pipe);
                self.out.push_str("}}");
            }
            Node::If(branch) => self.branch("if", branch),
            Node::With(branch) => self.branch("with", branch),
            Node::Range(branch) => self.branch("range", branch),
            Node::Template(call) => self.call(call),
            Node::Break(_) => self.out.push_str("{{break}}"),
            Node::Continue(_) => self.out.push_str("{{continue}}"),
        }
    }

    fn call(&mut self, call: &Call) {
        self.out.push_str("{{template ");
        self.out.push_str(&crate::go::quote(&call.name));
        if let Some(pipe) = &call.pipe {
            self.out.push(' ');
            self.pipe(pipe);
        }
        self.out.push_str("}}");
    }

    fn branch(&mut self, name: &str, branch: &Branch) {
        self.out.push_str("{{");
        self.out.push_str(name);
        self.out.push(' ');
        self.pipe(&branch.pipe);
        self.out.push_str("}}");
        self.list(&branch.list);
        if let Some(list) = &branch.otherwise {
            self.out.push_str("{{else}}");
            self.list(list);
        }
        self.out.push_str("{{end}}");
    }

    fn pipe(&mut self, pipe: &Pipe) {
        for (at, name) in pipe.variables.iter().enumerate() {
            self.out.push_str(if at > 0 { ", " } else { "" });
            self.span(*name);
        }
        if !pipe.variables.is_empty() {
            self.out.push_str(if pipe.assign { " = " } else { " := " });
        }
        for (at, command) in pipe.commands.iter().enumerate() {
            self.out.push_str(if at > 0 { " | " } else { "" });
            self.command(command);
        }
    }

    fn command(&mut self, command: &Command) {
        for (at, term) in command.terms.iter().enumerate() {
            self.out.push_str(if at > 0 { " " } else { "" });
            self.operand(term);
        }
    }

    /// With the parentheses of a pipeline, which belong to the place it stands in.
    fn operand(&mut self, term: &Term) {
        let pipe = matches!(term.kind, TermKind::Pipe(_));
        self.out.push_str(if pipe { "(" } else { "" });
        self.term(term);
        self.out.push_str(if pipe { ")" } else { "" });
    }

    fn term(&mut self, term: &Term) {
        match &term.kind {
            TermKind::Dot => self.out.push('.'),
            TermKind::Nil => self.out.push_str("nil"),
            TermKind::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            TermKind::Number(number) => self.out.push_str(&number.text),
            TermKind::String(_) => self.span(Span { start: term.pos, end: term.end }),
            TermKind::Field(path) | TermKind::Variable(path) => self.span(*path),
            TermKind::Identifier(callee) => self.out.push_str(callee.name()),
            TermKind::Pipe(pipe) => self.pipe(pipe),
            TermKind::Chain(inner, path) => {
                self.operand(inner);
                self.span(*path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_small() {
        assert_eq!(size_of::<Node>(), 40);
        assert_eq!(size_of::<Term>(), 32);
        assert_eq!(size_of::<super::super::value::Value>(), 32);
    }
}
