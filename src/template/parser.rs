//! From tokens to parse trees, with the checks and error texts of Go's `text/template/parse`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ast::{Branch, Callee, Command, List, Node, Pipe, Source, Template, Term, TermKind};
use super::error::{Error, Place, Stage};
use super::funcs::{Registry, go};
use super::lexer::{Kind, Lexer, Token};
use super::number::Number;
use super::quote::{quote, unquote};
use super::stack;
use super::value::GoStr;

/// Deepest nesting of parentheses (`maxStackDepth`).
const MAX_DEPTH: usize = 10_000;

type Parsed<T> = Result<T, Box<Error>>;

/// Parses a text: the templates it defines, the text itself as `name` last.
///
/// # Errors
/// The text is no template, in Go's words.
pub(crate) fn parse(name: &GoStr, text: &Arc<[u8]>, registry: &Registry) -> Parsed<Vec<Template>> {
    let source = Arc::new(Source { name: name.clone(), text: Arc::clone(text) });
    let _guard = stack::Guard::new();
    let mut parser = Parser::new(source, text, registry);
    parser.text()?;
    Ok(parser.defined)
}

/// What belongs to the definition that is being parsed.
#[derive(Debug)]
struct Scope {
    /// Variables in sight.
    variables: Vec<GoStr>,
    /// Open parentheses.
    depth: usize,
    /// Open `range`s.
    ranges: usize,
    /// Line on which the current action began; 0 outside.
    action_line: usize,
}

impl Default for Scope {
    fn default() -> Self {
        Self { variables: vec![GoStr::from("$")], depth: 0, ranges: 0, action_line: 0 }
    }
}

/// What a list may hold or end with.
enum Piece {
    Node(Node),
    End,
    Else(usize),
}

struct Parser<'t> {
    source: Arc<Source>,
    lexer: Lexer<'t>,
    registry: &'t Registry,
    /// Look-ahead; the first is the token read last.
    tokens: [Token; 3],
    peeked: usize,
    scope: Scope,
    defined: Vec<Template>,
    /// Where each name stands in `defined`.
    places: BTreeMap<GoStr, usize>,
}

impl<'t> Parser<'t> {
    fn new(source: Arc<Source>, text: &'t [u8], registry: &'t Registry) -> Self {
        let mut lexer = Lexer::new(text);
        lexer.break_ok = registry.find("break").is_none();
        lexer.continue_ok = registry.find("continue").is_none();
        let none = Token { kind: Kind::Eof, start: 0, end: 0, line: 0 };
        Self {
            source,
            lexer,
            registry,
            tokens: [none; 3],
            peeked: 0,
            scope: Scope::default(),
            defined: Vec::new(),
            places: BTreeMap::new(),
        }
    }

    // Tokens.

    fn token(&self, at: usize) -> Token {
        self.tokens.get(at).copied().unwrap_or(self.tokens[0])
    }

    fn next(&mut self) -> Token {
        if self.peeked > 0 {
            self.peeked -= 1;
        } else {
            self.tokens[0] = self.lexer.next_token();
        }
        self.token(self.peeked)
    }

    fn peek(&mut self) -> Token {
        if self.peeked == 0 {
            self.peeked = 1;
            self.tokens[0] = self.lexer.next_token();
        }
        self.token(self.peeked - 1)
    }

    fn backup(&mut self) {
        self.peeked += 1;
    }

    /// Puts back a token before the one read last.
    fn backup2(&mut self, before: Token) {
        self.tokens[1] = before;
        self.peeked = 2;
    }

    /// Puts back two tokens before the one read last.
    fn backup3(&mut self, first: Token, second: Token) {
        self.tokens[1] = second;
        self.tokens[2] = first;
        self.peeked = 3;
    }

    fn next_non_space(&mut self) -> Token {
        loop {
            let token = self.next();
            if token.kind != Kind::Space {
                return token;
            }
        }
    }

    fn peek_non_space(&mut self) -> Token {
        let token = self.next_non_space();
        self.backup();
        token
    }

    fn expect(&mut self, kind: Kind, context: &str) -> Parsed<Token> {
        let token = self.next_non_space();
        if token.kind == kind { Ok(token) } else { self.unexpected(token, context) }
    }

    // Errors.

    fn fail<T>(&self, message: impl Into<String>) -> Parsed<T> {
        let file = Arc::from(self.source.name.lossy());
        let executing = Arc::from("");
        let place =
            Place { file, line: self.tokens[0].line, column: None, executing, context: String::new() };
        Err(Box::new(Error {
            stage: Stage::Parse,
            place: Some(place),
            name: Arc::from(""),
            message: message.into(),
            cause: None,
        }))
    }

    fn unexpected<T>(&self, token: Token, context: &str) -> Parsed<T> {
        if token.kind != Kind::Error {
            return self.fail(format!("unexpected {} in {context}", self.show(token)));
        }
        let message = self.lexer.message();
        let line = self.scope.action_line;
        if line == 0 || line == token.line {
            return self.fail(message);
        }
        // "unclosed action in action started" would say it twice.
        let link = if message.ends_with(" action") { "" } else { " in action" };
        self.fail(format!("{message}{link} started at {}:{line}", self.source.name))
    }

    fn show(&self, token: Token) -> String {
        let bytes = self.lexer.bytes(token);
        match token.kind {
            Kind::Eof => "EOF".to_owned(),
            kind if kind.is_keyword() => format!("<{}>", String::from_utf8_lossy(bytes)),
            _ if bytes.len() > 10 => {
                let head: usize = super::unicode::runes(bytes).take(10).map(|(_, width)| width).sum();
                format!("{}...", quote(bytes.get(..head).unwrap_or(bytes)))
            }
            _ => quote(bytes),
        }
    }

    // Lists and actions.

    /// The whole text, `define`s included.
    fn text(&mut self) -> Parsed<()> {
        let mut list = List { pos: self.peek().start, nodes: Vec::new() };
        while self.peek().kind != Kind::Eof {
            if self.peek().kind == Kind::LeftDelim {
                let delim = self.next();
                if self.next_non_space().kind == Kind::Define {
                    self.definition()?;
                    continue;
                }
                self.backup2(delim);
            }
            match self.text_or_action()? {
                Piece::Node(node) => list.nodes.push(node),
                Piece::End => return self.fail("unexpected {{end}}"),
                Piece::Else(_) => return self.fail("unexpected {{else}}"),
            }
        }
        let name = self.source.name.clone();
        self.define(name, list)
    }

    /// `{{define "name"}} … {{end}}`; the keyword is past.
    fn definition(&mut self) -> Parsed<()> {
        let outer = std::mem::take(&mut self.scope);
        let token = self.next_non_space();
        let name = self.template_name(token, "define clause")?;
        self.expect(Kind::RightDelim, "define clause")?;
        self.body(name, "define clause")?;
        self.scope = outer;
        Ok(())
    }

    /// The body of a definition up to its `{{end}}`.
    fn body(&mut self, name: GoStr, context: &str) -> Parsed<()> {
        match self.list()? {
            (list, Piece::Else(_)) => {
                drop(list);
                self.fail(format!("unexpected {{{{else}}}} in {context}"))
            }
            (list, _) => self.define(name, list),
        }
    }

    /// Adds a template; within one text only an empty one may be defined again.
    fn define(&mut self, name: GoStr, root: List) -> Parsed<()> {
        let template = Template { name, source: Arc::clone(&self.source), root };
        let at = *self.places.entry(template.name.clone()).or_insert(self.defined.len());
        match self.defined.get_mut(at) {
            None => self.defined.push(template),
            Some(old) if old.is_empty() => *old = template,
            Some(_) if template.is_empty() => {}
            Some(_) => {
                let name = quote(&template.name);
                return self.fail(format!("template: multiple definition of template {name}"));
            }
        }
        Ok(())
    }

    /// Nodes up to `{{end}}` or `{{else}}`, which is returned.
    fn list(&mut self) -> Parsed<(List, Piece)> {
        let mut list = List { pos: self.peek_non_space().start, nodes: Vec::new() };
        while self.peek_non_space().kind != Kind::Eof {
            match self.text_or_action()? {
                Piece::Node(node) => list.nodes.push(node),
                end => return Ok((list, end)),
            }
        }
        self.fail("unexpected EOF")
    }

    fn text_or_action(&mut self) -> Parsed<Piece> {
        let token = self.next_non_space();
        match token.kind {
            Kind::Text => Ok(Piece::Node(Node::Text { range: token.start..token.end })),
            Kind::LeftDelim => {
                self.scope.action_line = token.line;
                let piece = self.action()?;
                self.scope.action_line = 0;
                Ok(piece)
            }
            _ => self.unexpected(token, "input"),
        }
    }

    fn action(&mut self) -> Parsed<Piece> {
        if stack::exhausted() {
            return self.fail("max expression depth exceeded");
        }
        let token = self.next_non_space();
        Ok(Piece::Node(match token.kind {
            Kind::Block => self.block()?,
            Kind::Break => {
                self.leave("{{break}}")?;
                Node::Break(token.start)
            }
            Kind::Continue => {
                self.leave("{{continue}}")?;
                Node::Continue(token.start)
            }
            Kind::Else => return self.else_action(),
            Kind::End => return self.expect(Kind::RightDelim, "end").map(|_| Piece::End),
            Kind::If => Node::If(self.control("if")?),
            Kind::Range => Node::Range(self.control("range")?),
            Kind::Template => self.call()?,
            Kind::With => Node::With(self.control("with")?),
            _ => {
                self.backup();
                let pos = self.peek().start;
                Node::Action { pos, pipe: self.pipeline("command", Kind::RightDelim)? }
            }
        }))
    }

    fn leave(&mut self, action: &str) -> Parsed<()> {
        self.expect(Kind::RightDelim, action)?;
        if self.scope.ranges == 0 {
            return self.fail(format!("{action} outside {{{{range}}}}"));
        }
        Ok(())
    }

    /// `{{else}}`; before `if` and `with` their keyword is left for the control structure around.
    fn else_action(&mut self) -> Parsed<Piece> {
        let peek = self.peek_non_space();
        if matches!(peek.kind, Kind::If | Kind::With) {
            return Ok(Piece::Else(peek.start));
        }
        self.expect(Kind::RightDelim, "else").map(|token| Piece::Else(token.start))
    }

    /// `if`, `with` and `range`; the keyword is past.
    fn control(&mut self, context: &'static str) -> Parsed<Branch> {
        if stack::exhausted() {
            return self.fail("max expression depth exceeded");
        }
        let visible = self.scope.variables.len();
        let pipe = self.pipeline(context, Kind::RightDelim)?;
        self.scope.ranges += usize::from(context == "range");
        let (list, end) = self.list()?;
        self.scope.ranges -= usize::from(context == "range");
        let otherwise = match end {
            Piece::Else(pos) => Some(self.otherwise(context, pos)?),
            _ => None,
        };
        self.scope.variables.truncate(visible);
        Ok(Branch { pos: pipe.pos, pipe, list, otherwise })
    }

    /// What follows `{{else}}`: a list, or for `{{else if}}` one node that shares the `{{end}}`.
    fn otherwise(&mut self, context: &str, pos: usize) -> Parsed<List> {
        let next = self.peek().kind;
        let node = match (context, next) {
            ("if", Kind::If) => {
                self.next();
                Node::If(self.control("if")?)
            }
            ("with", Kind::With) => {
                self.next();
                Node::With(self.control("with")?)
            }
            _ => {
                return match self.list()? {
                    (list, Piece::End) => Ok(list),
                    _ => self.fail("expected end; found {{else}}"),
                };
            }
        };
        Ok(List { pos, nodes: vec![node] })
    }

    /// `{{block "name" pipeline}} … {{end}}`; the keyword is past.
    fn block(&mut self) -> Parsed<Node> {
        let context = "block clause";
        let token = self.next_non_space();
        let name = self.template_name(token, context)?;
        let pipe = self.pipeline(context, Kind::RightDelim)?;
        let outer = std::mem::take(&mut self.scope);
        self.body(name.clone(), context)?;
        self.scope = outer;
        Ok(Node::Template { pos: token.start, name, pipe: Some(pipe) })
    }

    /// `{{template "name" pipeline}}`; the keyword is past.
    fn call(&mut self) -> Parsed<Node> {
        let context = "template clause";
        let token = self.next_non_space();
        let name = self.template_name(token, context)?;
        let mut pipe = None;
        if self.next_non_space().kind != Kind::RightDelim {
            self.backup();
            pipe = Some(self.pipeline(context, Kind::RightDelim)?);
        }
        Ok(Node::Template { pos: token.start, name, pipe })
    }

    fn template_name(&mut self, token: Token, context: &str) -> Parsed<GoStr> {
        match token.kind {
            Kind::String | Kind::RawString => self.unquote(token),
            _ => self.unexpected(token, context),
        }
    }

    fn unquote(&self, token: Token) -> Parsed<GoStr> {
        match unquote(self.lexer.bytes(token)) {
            Some(text) => Ok(GoStr::from(text)),
            None => self.fail("invalid syntax"),
        }
    }

    // Pipelines.

    fn pipeline(&mut self, context: &str, end: Kind) -> Parsed<Pipe> {
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
    fn declaration(&mut self, pipe: &mut Pipe, context: &str) -> Parsed<bool> {
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

    fn declare(&mut self, pipe: &mut Pipe, token: Token) {
        let name = GoStr::from(self.lexer.bytes(token));
        pipe.variables.push(name.clone());
        self.scope.variables.push(name);
    }

    fn second_variable(&mut self, pipe: &Pipe, context: &str) -> Parsed<bool> {
        if context != "range" || pipe.variables.len() >= 2 {
            return self.fail(format!("too many declarations in {context}"));
        }
        match self.peek_non_space().kind {
            Kind::Variable | Kind::RightDelim | Kind::RightParen => Ok(true),
            _ => self.fail("range can only initialize variables"),
        }
    }

    fn check(&self, pipe: Pipe, context: &str) -> Parsed<Pipe> {
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

    fn command(&mut self) -> Parsed<Command> {
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
    fn operand(&mut self) -> Parsed<Option<Term>> {
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

    fn term(&mut self) -> Parsed<Option<Term>> {
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

    fn identifier(&self, bytes: &[u8]) -> Parsed<TermKind> {
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

    fn variable(&self, bytes: &[u8]) -> Parsed<TermKind> {
        if !self.scope.variables.iter().any(|name| name.as_bytes() == bytes) {
            return self.fail(format!("undefined variable {}", quote(bytes)));
        }
        Ok(TermKind::Variable(vec![GoStr::from(bytes)]))
    }

    fn number(&self, kind: Kind, bytes: &[u8]) -> Parsed<TermKind> {
        let text = String::from_utf8_lossy(bytes);
        let number = match kind {
            Kind::CharConstant => Number::character(bytes),
            Kind::Complex => Number::complex(&text),
            _ => Number::parse(&text),
        };
        number.map(|number| TermKind::Number(Box::new(number))).or_else(|message| self.fail(message))
    }

    fn parenthesized(&mut self) -> Parsed<TermKind> {
        if self.scope.depth >= MAX_DEPTH || stack::exhausted() {
            return self.fail("max expression depth exceeded");
        }
        self.scope.depth += 1;
        let pipe = self.pipeline("parenthesized pipeline", Kind::RightParen)?;
        self.scope.depth -= 1;
        Ok(TermKind::Pipe(Box::new(pipe)))
    }
}

fn begins_operand(kind: Kind) -> bool {
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
fn is_literal(kind: &TermKind) -> bool {
    matches!(
        kind,
        TermKind::Bool(_) | TermKind::Dot | TermKind::Nil | TermKind::Number(_) | TermKind::String(..)
    )
}

/// A field token without its dot.
fn field_name(bytes: &[u8]) -> GoStr {
    GoStr::from(bytes.strip_prefix(b".").unwrap_or(bytes))
}
