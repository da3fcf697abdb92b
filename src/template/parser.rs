//! From tokens to parse trees, with the checks and error texts of Go's `text/template/parse`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ast::{Branch, Call, Command, List, Node, Source, Span, Template, Term};
use super::error::{Error, Place, Stage};
use super::funcs::Registry;
use super::lexer::{Kind, Lexer, Token};
use super::stack;
use super::value::GoStr;
use crate::go::quote::{quote, unquote};

mod pipeline;

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
    if u32::try_from(text.len()).is_err() {
        return parser.fail("template is longer than 4 GiB");
    }
    parser.text()?;
    Ok(parser.defined)
}

/// What belongs to the definition that is being parsed.
#[derive(Debug)]
struct Scope<'t> {
    /// Variables in sight.
    variables: Vec<&'t [u8]>,
    /// Open parentheses.
    depth: usize,
    /// Open `range`s.
    ranges: usize,
    /// Line on which the current action began; 0 outside.
    action_line: usize,
}

impl Default for Scope<'_> {
    fn default() -> Self {
        Self { variables: vec![b"$"], depth: 0, ranges: 0, action_line: 0 }
    }
}

/// What a list may hold or end with.
enum Piece {
    Node(Node),
    End,
    Else(usize),
}

#[derive(Default)]
struct Open {
    nodes: Vec<Node>,
    commands: Vec<Command>,
    terms: Vec<Term>,
}

struct Parser<'t> {
    source: Arc<Source>,
    lexer: Lexer<'t>,
    registry: &'t Registry,
    /// Look-ahead; the first is the token read last.
    tokens: [Token; 3],
    peeked: usize,
    scope: Scope<'t>,
    /// What waits for the end of its list, pipeline or command, which then takes no more room than it needs.
    open: Open,
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
            open: Open::default(),
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
                let head: usize = crate::go::runes(bytes).take(10).map(|(_, width)| width).sum();
                format!("{}...", quote(bytes.get(..head).unwrap_or(bytes)))
            }
            _ => quote(bytes),
        }
    }

    // Lists and actions.

    /// The whole text, `define`s included.
    fn text(&mut self) -> Parsed<()> {
        let pos = offset(self.peek().start);
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
                Piece::Node(node) => self.open.nodes.push(node),
                Piece::End => return self.fail("unexpected {{end}}"),
                Piece::Else(_) => return self.fail("unexpected {{else}}"),
            }
        }
        let name = self.source.name.clone();
        let nodes = self.open.nodes.drain(..).collect();
        self.define(name, List { pos, nodes })
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
        let (pos, mark) = (offset(self.peek_non_space().start), self.open.nodes.len());
        while self.peek_non_space().kind != Kind::Eof {
            match self.text_or_action()? {
                Piece::Node(node) => self.open.nodes.push(node),
                end => {
                    let nodes = self.open.nodes.drain(mark..).collect();
                    return Ok((List { pos, nodes }, end));
                }
            }
        }
        self.fail("unexpected EOF")
    }

    fn text_or_action(&mut self) -> Parsed<Piece> {
        let token = self.next_non_space();
        match token.kind {
            Kind::Text => Ok(Piece::Node(Node::Text(span(token)))),
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
                Node::Break(offset(token.start))
            }
            Kind::Continue => {
                self.leave("{{continue}}")?;
                Node::Continue(offset(token.start))
            }
            Kind::Else => return self.else_action(),
            Kind::End => return self.expect(Kind::RightDelim, "end").map(|_| Piece::End),
            Kind::If => Node::If(Box::new(self.control("if")?)),
            Kind::Range => Node::Range(Box::new(self.control("range")?)),
            Kind::Template => self.call()?,
            Kind::With => Node::With(Box::new(self.control("with")?)),
            _ => {
                self.backup();
                Node::Action(self.pipeline("command", Kind::RightDelim)?)
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
        Ok(Branch { pipe, list, otherwise })
    }

    /// What follows `{{else}}`: a list, or for `{{else if}}` one node that shares the `{{end}}`.
    fn otherwise(&mut self, context: &str, pos: usize) -> Parsed<List> {
        let next = self.peek().kind;
        let node = match (context, next) {
            ("if", Kind::If) => {
                self.next();
                Node::If(Box::new(self.control("if")?))
            }
            ("with", Kind::With) => {
                self.next();
                Node::With(Box::new(self.control("with")?))
            }
            _ => {
                return match self.list()? {
                    (list, Piece::End) => Ok(list),
                    _ => self.fail("expected end; found {{else}}"),
                };
            }
        };
        Ok(List { pos: offset(pos), nodes: Box::new([node]) })
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
        Ok(Node::Template(Box::new(Call { pos: offset(token.start), name, pipe: Some(pipe) })))
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
        Ok(Node::Template(Box::new(Call { pos: offset(token.start), name, pipe })))
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
}

/// A place in a text; [`parse`] refuses the ones that are too long.
fn offset(pos: usize) -> u32 {
    u32::try_from(pos).unwrap_or(u32::MAX)
}

fn span(token: Token) -> Span {
    Span { start: offset(token.start), end: offset(token.end) }
}
