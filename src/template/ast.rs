//! The parse tree and how its nodes print in error messages.

use std::fmt;
use std::ops::Range;
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

impl Source {
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
            Node::Text { range, .. } => {
                self.source.text.get(range.clone()).is_none_or(|text| text.trim_ascii().is_empty())
            }
            _ => false,
        })
    }
}

/// A sequence of nodes.
#[derive(Debug)]
pub struct List {
    /// Byte position in the source.
    pub pos: usize,
    /// The nodes in order.
    pub nodes: Vec<Node>,
}

/// A piece of text or an action.
#[derive(Debug)]
pub enum Node {
    /// Text, as a range of the source.
    Text {
        /// Bytes of the source.
        range: Range<usize>,
    },
    /// `{{pipeline}}`
    Action {
        /// Byte position.
        pos: usize,
        /// What is printed, or only declared.
        pipe: Pipe,
    },
    /// `{{if}}`
    If(Branch),
    /// `{{with}}`
    With(Branch),
    /// `{{range}}`
    Range(Branch),
    /// `{{template "name" pipeline}}`
    Template {
        /// Byte position.
        pos: usize,
        /// Name of the template that is called.
        name: GoStr,
        /// Its dot.
        pipe: Option<Pipe>,
    },
    /// `{{break}}`
    Break(usize),
    /// `{{continue}}`
    Continue(usize),
}

/// A control structure.
#[derive(Debug)]
pub struct Branch {
    /// Byte position.
    pub pos: usize,
    /// The condition or the collection.
    pub pipe: Pipe,
    /// The body.
    pub list: List,
    /// The body of `{{else}}`.
    pub otherwise: Option<List>,
}

/// Commands, each fed with the value of the one before.
#[derive(Debug)]
pub struct Pipe {
    /// Byte position.
    pub pos: usize,
    /// Whether the variables are assigned, not declared.
    pub assign: bool,
    /// Variables that take the value.
    pub variables: Vec<GoStr>,
    /// The commands in order.
    pub commands: Vec<Command>,
}

/// An operand with its arguments.
#[derive(Debug)]
pub struct Command {
    /// Byte position.
    pub pos: usize,
    /// The operand, then its arguments.
    pub terms: Vec<Term>,
}

/// What an identifier calls.
#[derive(Clone, Copy, Debug)]
pub enum Callee {
    /// One of Go's own functions.
    Builtin(&'static Builtin),
    /// A function of the registry.
    Func(Func),
}

/// An operand or argument.
#[derive(Debug)]
pub struct Term {
    /// Byte position.
    pub pos: usize,
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
    /// A string constant: as written, and its value.
    String(GoStr, GoStr),
    /// `.A.B`
    Field(Vec<GoStr>),
    /// `$x.A.B`; the first is the variable's name with `$`.
    Variable(Vec<GoStr>),
    /// A function.
    Identifier(GoStr, Callee),
    /// `(pipeline)`
    Pipe(Box<Pipe>),
    /// `(pipeline).A.B`, `function.A`
    Chain(Box<Term>, Vec<GoStr>),
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
        match self {
            Self::List(list) => list.pos,
            Self::Node(node) => node.pos(),
            Self::Pipe(pipe) => pipe.pos,
            Self::Command(command) => command.pos,
            Self::Term(term) => term.pos,
        }
    }

    /// The node as Go prints it.
    pub(crate) fn print(&self, source: &Source) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = match self {
            Self::List(list) => list.write(&mut out, source),
            Self::Node(node) => node.write(&mut out, source),
            Self::Pipe(pipe) => pipe.write(&mut out),
            Self::Command(command) => command.write(&mut out),
            Self::Term(term) => term.write(&mut out),
        };
        out
    }
}

impl List {
    fn write(&self, out: &mut String, source: &Source) -> fmt::Result {
        self.nodes.iter().try_for_each(|node| node.write(out, source))
    }
}

impl Node {
    fn pos(&self) -> usize {
        match self {
            Self::Text { range } => range.start,
            Self::Action { pos, .. }
            | Self::Template { pos, .. }
            | Self::Break(pos)
            | Self::Continue(pos) => *pos,
            Self::If(branch) | Self::With(branch) | Self::Range(branch) => branch.pos,
        }
    }

    fn write(&self, out: &mut String, source: &Source) -> fmt::Result {
        use fmt::Write;
        match self {
            Self::Text { range } => {
                out.push_str(&String::from_utf8_lossy(source.text.get(range.clone()).unwrap_or(&[])));
                Ok(())
            }
            Self::Action { pipe, .. } => {
                out.push_str("{{");
                pipe.write(out)?;
                out.write_str("}}")
            }
            Self::If(branch) => branch.write("if", out, source),
            Self::With(branch) => branch.write("with", out, source),
            Self::Range(branch) => branch.write("range", out, source),
            Self::Template { name, pipe, .. } => {
                write!(out, "{{{{template {}", crate::go::quote(name))?;
                if let Some(pipe) = pipe {
                    out.push(' ');
                    pipe.write(out)?;
                }
                out.write_str("}}")
            }
            Self::Break(_) => out.write_str("{{break}}"),
            Self::Continue(_) => out.write_str("{{continue}}"),
        }
    }
}

impl Branch {
    fn write(&self, name: &str, out: &mut String, source: &Source) -> fmt::Result {
        out.push_str("{{");
        out.push_str(name);
        out.push(' ');
        self.pipe.write(out)?;
        out.push_str("}}");
        self.list.write(out, source)?;
        if let Some(list) = &self.otherwise {
            out.push_str("{{else}}");
            list.write(out, source)?;
        }
        out.push_str("{{end}}");
        Ok(())
    }
}

impl Pipe {
    fn write(&self, out: &mut String) -> fmt::Result {
        for (at, name) in self.variables.iter().enumerate() {
            out.push_str(if at > 0 { ", " } else { "" });
            out.push_str(&name.lossy());
        }
        if !self.variables.is_empty() {
            out.push_str(if self.assign { " = " } else { " := " });
        }
        for (at, command) in self.commands.iter().enumerate() {
            out.push_str(if at > 0 { " | " } else { "" });
            command.write(out)?;
        }
        Ok(())
    }
}

impl Command {
    fn write(&self, out: &mut String) -> fmt::Result {
        for (at, term) in self.terms.iter().enumerate() {
            out.push_str(if at > 0 { " " } else { "" });
            term.write_operand(out)?;
        }
        Ok(())
    }
}

fn write_path(path: &[GoStr], out: &mut String) {
    for name in path {
        out.push('.');
        out.push_str(&name.lossy());
    }
}

impl Term {
    /// With the parentheses of a pipeline, which belong to the place it stands in.
    fn write_operand(&self, out: &mut String) -> fmt::Result {
        let pipe = matches!(self.kind, TermKind::Pipe(_));
        out.push_str(if pipe { "(" } else { "" });
        self.write(out)?;
        out.push_str(if pipe { ")" } else { "" });
        Ok(())
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        match &self.kind {
            TermKind::Dot => out.push('.'),
            TermKind::Nil => out.push_str("nil"),
            TermKind::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            TermKind::Number(number) => out.push_str(&number.text),
            TermKind::String(quoted, _) => out.push_str(&quoted.lossy()),
            TermKind::Field(path) => write_path(path, out),
            TermKind::Variable(path) => {
                if let Some((name, path)) = path.split_first() {
                    out.push_str(&name.lossy());
                    write_path(path, out);
                }
            }
            TermKind::Identifier(name, _) => out.push_str(&name.lossy()),
            TermKind::Pipe(pipe) => pipe.write(out)?,
            TermKind::Chain(term, path) => {
                term.write_operand(out)?;
                write_path(path, out);
            }
        }
        Ok(())
    }

    /// The term as Go prints it.
    pub(crate) fn print(&self) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = self.write(&mut out);
        out
    }
}
