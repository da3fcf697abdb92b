//! Execution: walks the parse tree and writes the output (`text/template/exec.go`).

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use super::ast::{At, Branch, Call, List, Node, Pipe, Source, Span, Template};
use super::budget::TREE;
use super::error::{Error, Place, Stage};
use super::funcs::{Engine, Fault, Host};
use super::object::Named;
use super::operand::Operand;
use super::parser::parse;
use super::printf::{print_to, sprintf};
use super::set::{MissingKey, Set, add};
use super::stack;
use super::value::{GoStr, Value};
use crate::go::quote;
use crate::limits::{Limits, Watch};

/// Deepest chain of `{{template}}` calls (`maxExecDepth`).
const MAX_DEPTH: usize = 100_000;

/// A chain of `{{template}}` calls that is this long ends as in Go, a shorter one for the texts around it.
const ENDLESS: usize = 2_000;

/// Texts of [`Engine::execute_text`] whose parse trees are kept.
const KEPT_TEXTS: usize = 4_096;

/// Steps between two looks at the clock.
const LOOK_EVERY: u64 = 1_024;

pub(crate) type Done<T> = Result<T, Box<Error>>;

/// One render over a set: budget, counters and output.
pub struct Exec<'s> {
    pub(crate) set: &'s Set,
    pub(crate) host: &'s mut dyn Host,
    pub(crate) limits: &'s Limits,
    /// Definitions of the texts that are being executed, innermost last.
    overlays: Vec<BTreeMap<GoStr, Arc<Template>>>,
    texts: HashMap<GoStr, Arc<[Arc<Template>]>>,
    counters: HashMap<GoStr, u64>,
    steps: u64,
    /// The step at which limits are looked at again.
    next_look: u64,
    watch: Watch,
    /// Bytes of the values that functions have made.
    pub(crate) made: u64,
    out: Vec<u8>,
    /// Bytes in the outputs that wait for an inner one.
    waiting: usize,
}

/// The state of one template's execution.
pub(crate) struct Frame<'t> {
    pub(crate) template: &'t Template,
    pub(crate) variables: Vec<(&'t [u8], Operand)>,
    /// The node that errors speak of.
    pub(crate) at: At<'t>,
    depth: usize,
}

impl<'t> Frame<'t> {
    fn new(template: &'t Template, dot: &Operand, depth: usize) -> Self {
        let variables = vec![(b"$".as_slice(), dot.clone())];
        Self { template, variables, at: At::List(&template.root), depth }
    }

    /// The text its nodes are cut from.
    pub(crate) fn source(&self) -> &'t Source {
        &self.template.source
    }

    /// An error at the current node.
    pub(crate) fn error<T>(&self, message: impl Into<String>) -> Done<T> {
        Err(self.fault(Fault::new(message)))
    }

    /// An error at the current node with the words and cause of a failure.
    pub(crate) fn fault(&self, mut fault: Fault) -> Box<Error> {
        if let Some(met) = fault.cause.take_if(|cause| cause.stage == Stage::Limit) {
            fault = match self.shortened(fault, met) {
                Ok(shortened) => shortened,
                Err(met) => return met,
            };
        }
        let source = &self.template.source;
        let (line, column) = source.position(self.at.pos());
        let place = Place {
            file: Arc::from(source.name.lossy()),
            line,
            column: Some(column),
            executing: Arc::from(self.template.name.lossy()),
            context: self.at.print(source),
        };
        Box::new(Error {
            stage: fault.stage,
            place: Some(place),
            name: Arc::from(self.template.name.lossy()),
            message: fault.message,
            cause: fault.cause,
        })
    }

    /// A bound that was met further in: told from where it was met and from the outermost file, for the way between
    /// them may be as long as the bound is high. `Err` is the error as it is.
    fn shortened(&self, fault: Fault, met: Box<Error>) -> Result<Fault, Box<Error>> {
        let mut root = met;
        let direct = root.cause.is_none();
        while let Some(inner) = root.cause.take() {
            root = inner;
        }
        match &root.place {
            None => Ok(Fault { stage: Stage::Limit, ..Fault::new(root.message) }),
            Some(place) if direct && place.file.as_bytes() == self.template.source.name.as_bytes() => {
                Err(root)
            }
            Some(_) => Ok(Fault { cause: Some(root), ..fault }),
        }
    }

    pub(crate) fn variable(&self, name: &[u8]) -> Done<Operand> {
        match self.variables.iter().rev().find(|(other, _)| *other == name) {
            Some((_, operand)) => Ok(operand.clone()),
            None => self.error(format!("undefined variable: {}", String::from_utf8_lossy(name))),
        }
    }

    fn assign(&mut self, name: Span, operand: Operand) -> Done<()> {
        let name = self.source().bytes(name);
        match self.variables.iter_mut().rev().find(|(other, _)| *other == name) {
            Some((_, old)) => *old = operand,
            None => return self.error(format!("undefined variable: {}", String::from_utf8_lossy(name))),
        }
        Ok(())
    }

    /// Sets the variable that was declared `back` declarations ago.
    fn set_top(&mut self, back: usize, operand: Operand) {
        let at = self.variables.len().checked_sub(back);
        if let Some((_, old)) = at.and_then(|at| self.variables.get_mut(at)) {
            *old = operand;
        }
    }

    /// Gives the pipeline's variables its value.
    pub(crate) fn bind(&mut self, pipe: &Pipe, operand: &Operand) -> Done<()> {
        for &name in &pipe.variables {
            if pipe.assign {
                self.assign(name, operand.clone())?;
            } else {
                self.variables.push((self.source().bytes(name), operand.clone()));
            }
        }
        Ok(())
    }
}

/// How a node was left.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
}

impl<'s> Exec<'s> {
    pub(crate) fn new(set: &'s Set, host: &'s mut dyn Host, limits: &'s Limits) -> Self {
        Self {
            set,
            host,
            limits,
            overlays: Vec::new(),
            texts: HashMap::new(),
            counters: HashMap::new(),
            steps: 0,
            next_look: LOOK_EVERY.min(limits.template_steps),
            watch: Watch::start(limits),
            made: 0,
            out: Vec::new(),
            waiting: 0,
        }
    }

    /// Executes a template of the set.
    ///
    /// # Errors
    /// As [`Engine::execute`].
    pub fn render(&mut self, name: &str, data: &Value) -> Result<Vec<u8>, Box<Error>> {
        let _guard = stack::Guard::new();
        let length = self.lookup(name.as_bytes()).map_or(0, |template| template.source.text.len());
        self.execute_named(name.as_bytes(), data, length)
    }

    fn lookup(&self, name: &[u8]) -> Option<Arc<Template>> {
        let overlay = self.overlays.iter().rev().find_map(|overlay| overlay.get(name));
        overlay.or_else(|| self.set.get(name)).cloned()
    }

    /// Executes a template of the set into an output of its own, which is as long as `expected` most likely.
    fn execute_named(&mut self, name: &[u8], data: &Value, expected: usize) -> Done<Vec<u8>> {
        let Some(template) = self.lookup(name) else {
            let message = format!(
                "template: no template {} associated with template {}",
                quote(name),
                quote(self.set.name())
            );
            return Err(unplaced(message));
        };
        self.run(&template, data, expected)
    }

    fn run(&mut self, template: &Template, data: &Value, expected: usize) -> Done<Vec<u8>> {
        let outer = std::mem::replace(&mut self.out, Vec::with_capacity(expected));
        self.waiting += outer.len();
        let dot = Operand::concrete(data.clone());
        let mut frame = Frame::new(template, &dot, 0);
        let result = self.list(&mut frame, &dot, &template.root);
        self.waiting -= outer.len();
        let inner = std::mem::replace(&mut self.out, outer);
        result.map(|_| inner)
    }

    /// Takes a step of the budget.
    pub(crate) fn tick(&mut self, frame: &Frame<'_>) -> Done<()> {
        self.pay(1).map_err(|fault| frame.fault(fault))?;
        if stack::exhausted() {
            return Err(frame.fault(Fault::limit("templates nest too deep for the stack", "template-depth")));
        }
        Ok(())
    }

    pub(crate) fn pay(&mut self, steps: u64) -> Result<(), Fault> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > self.next_look { self.look() } else { Ok(()) }
    }

    /// Whether there are steps and time left.
    #[cold]
    fn look(&mut self) -> Result<(), Fault> {
        let limit = self.limits.template_steps;
        if self.steps > limit {
            return Err(Fault::limit(
                format_args!("rendering takes more than {limit} steps"),
                "template-steps",
            ));
        }
        self.next_look = self.steps.saturating_add(LOOK_EVERY).min(limit);
        self.watch.check().map_err(|why| Fault::limit(format_args!("{why}"), Watch::FLAG))
    }

    fn check_output(&self, frame: &Frame<'_>) -> Done<()> {
        let limit = self.limits.output_bytes;
        if self.out.len() + self.waiting <= limit {
            return Ok(());
        }
        let what = format_args!("the output is longer than {limit} bytes");
        Err(frame.fault(Fault::limit(what, "output-bytes")))
    }

    fn list<'t>(&mut self, frame: &mut Frame<'t>, dot: &Operand, list: &'t List) -> Done<Flow> {
        frame.at = At::List(list);
        self.tick(frame)?;
        for node in &list.nodes {
            let flow = self.node(frame, dot, node)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn node<'t>(&mut self, frame: &mut Frame<'t>, dot: &Operand, node: &'t Node) -> Done<Flow> {
        frame.at = At::Node(node);
        match node {
            Node::Text(span) => {
                self.out.extend_from_slice(frame.source().bytes(*span));
                self.check_output(frame)?;
            }
            Node::Action(pipe) => self.action(frame, dot, node, pipe)?,
            Node::If(branch) => return self.branch(frame, dot, branch, false),
            Node::With(branch) => return self.branch(frame, dot, branch, true),
            Node::Range(branch) => return self.range(frame, dot, branch),
            Node::Template(call) => self.template(frame, dot, call)?,
            Node::Break(_) => return Ok(Flow::Break),
            Node::Continue(_) => return Ok(Flow::Continue),
        }
        Ok(Flow::Next)
    }

    fn action<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Operand,
        node: &'t Node,
        pipe: &'t Pipe,
    ) -> Done<()> {
        let operand = self.pipeline(frame, dot, pipe)?;
        if !pipe.variables.is_empty() {
            return Ok(());
        }
        frame.at = At::Node(node);
        match &operand.value {
            Value::Nil => self.out.extend_from_slice(b"<no value>"),
            Value::Func(_) => {
                let context = frame.at.print(&frame.template.source);
                return frame.error(format!("can't print {context} of type {}", operand.type_name()));
            }
            Value::Object(object) if !object.is_nil() && object.type_name().starts_with('*') => {
                self.print_pointed(frame, &operand.value)?;
            }
            Value::Object(object) if object.addressed_text().is_some() => {
                self.out.extend_from_slice(object.addressed_text().unwrap_or_default().as_bytes());
            }
            value => print_to(&mut self.out, value).map_err(|fault| frame.fault(fault))?,
        }
        self.check_output(frame)
    }

    /// Prints what a pointer points to: like `fmt`, without its ampersand.
    fn print_pointed(&mut self, frame: &Frame<'_>, value: &Value) -> Done<()> {
        let mut text = Vec::new();
        print_to(&mut text, value).map_err(|fault| frame.fault(fault))?;
        let stringer = matches!(value, Value::Object(object) if object.text().is_some());
        let skip = usize::from(!stringer && text.starts_with(b"&"));
        self.out.extend_from_slice(text.get(skip..).unwrap_or(&[]));
        Ok(())
    }

    /// `if` and `with`.
    fn branch<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Operand,
        branch: &'t Branch,
        with: bool,
    ) -> Done<Flow> {
        let mark = frame.variables.len();
        let operand = self.pipeline(frame, dot, &branch.pipe)?;
        let flow = match &branch.otherwise {
            _ if operand.value.truth() => self.list(frame, if with { &operand } else { dot }, &branch.list),
            Some(list) => self.list(frame, dot, list),
            None => Ok(Flow::Next),
        };
        frame.variables.truncate(mark);
        flow
    }

    fn range<'t>(&mut self, frame: &mut Frame<'t>, dot: &Operand, branch: &'t Branch) -> Done<Flow> {
        let mark = frame.variables.len();
        let operand = self.pipeline(frame, dot, &branch.pipe)?;
        let flow = match self.iterate(frame, branch, operand.value)? {
            Some(flow) => flow,
            None => match &branch.otherwise {
                Some(list) => self.list(frame, dot, list)?,
                None => Flow::Next,
            },
        };
        frame.variables.truncate(mark);
        Ok(flow)
    }

    /// Runs the body for each element; `None` when there is none.
    fn iterate<'t>(&mut self, frame: &mut Frame<'t>, branch: &'t Branch, value: Value) -> Done<Option<Flow>> {
        match value {
            Value::List(list) => {
                let elem = list.ty().elem;
                let items = list
                    .iter()
                    .enumerate()
                    .map(|(at, item)| (number(at), Operand::typed(item.clone(), &elem)));
                self.elements(frame, branch, items)
            }
            Value::Map(map) => {
                let elem = map.ty().elem;
                let items = map.snapshot().into_iter();
                let items = items
                    .map(|(key, item)| (Operand::concrete(Value::String(key)), Operand::typed(item, &elem)));
                self.elements(frame, branch, items)
            }
            Value::Bytes(bytes) => {
                let item = |(at, &byte): (usize, &u8)| (number(at), Operand::concrete(Value::Uint8(byte)));
                self.elements(frame, branch, bytes.iter().enumerate().map(item))
            }
            Value::Nil => Ok(None),
            other => match counter(&other) {
                Some(_) if branch.pipe.variables.len() > 1 => {
                    let shown = self.show(frame, &other)?;
                    frame.error(format!("can't use {shown} to iterate over more than one variable"))
                }
                Some((count, make)) => {
                    let item = |n| (Operand::default(), Operand::concrete(make(n)));
                    self.elements(frame, branch, (0..count).map(item))
                }
                None => {
                    let shown = self.show(frame, &other)?;
                    // Go looks behind the pointer first.
                    let pointer = matches!(other, Value::Object(_));
                    let shown = shown.strip_prefix('&').filter(|_| pointer).unwrap_or(&shown);
                    frame.error(format!("range can't iterate over {shown}"))
                }
            },
        }
    }

    fn show(&self, frame: &Frame<'_>, value: &Value) -> Done<String> {
        let text = sprintf(b"%v", std::slice::from_ref(value)).map_err(|fault| frame.fault(fault))?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn elements<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        branch: &'t Branch,
        items: impl Iterator<Item = (Operand, Operand)>,
    ) -> Done<Option<Flow>> {
        let mark = frame.variables.len();
        let mut any = false;
        for (index, item) in items {
            any = true;
            set_range_variables(frame, &branch.pipe, index, &item)?;
            let flow = self.list(frame, &item, &branch.list)?;
            frame.variables.truncate(mark);
            if flow == Flow::Break {
                break;
            }
        }
        Ok(any.then_some(Flow::Next))
    }

    fn template<'t>(&mut self, frame: &mut Frame<'t>, dot: &Operand, call: &'t Call) -> Done<()> {
        let Some(template) = self.lookup(&call.name) else {
            return frame.error(format!("template {} not defined", quote(&call.name)));
        };
        if frame.depth >= MAX_DEPTH || stack::scarce() {
            // Go's stack grows to this depth; a smaller one ends the same endless chain.
            let fault = Fault::new(format!("exceeded maximum template depth ({MAX_DEPTH})"));
            let stage = if frame.depth >= ENDLESS { Stage::Execute } else { Stage::Limit };
            return Err(frame.fault(Fault { stage, ..fault }));
        }
        let dot = match &call.pipe {
            Some(pipe) => self.pipeline(frame, dot, pipe)?,
            None => Operand::default(),
        };
        let mut inner = Frame::new(&template, &dot, frame.depth + 1);
        self.list(&mut inner, &dot, &template.root).map(|_| ())
    }

    /// The value of a missing key by the set's option.
    pub(crate) fn missing_key(&self) -> MissingKey {
        self.set.missing_key()
    }

    /// The parse trees of a text, parsed once.
    fn text(&mut self, text: &GoStr) -> Done<Arc<[Arc<Template>]>> {
        if let Some(known) = self.texts.get(text) {
            return Ok(Arc::clone(known));
        }
        self.make(text.len().saturating_mul(TREE)).map_err(limited)?;
        let parsed = parse(self.set.name(), &Arc::from(text.as_bytes()), self.set.registry())?;
        let parsed: Arc<[Arc<Template>]> = parsed.into_iter().map(Arc::new).collect();
        if self.texts.len() < KEPT_TEXTS {
            self.texts.insert(text.clone(), Arc::clone(&parsed));
        }
        Ok(parsed)
    }
}

fn number(at: usize) -> Operand {
    Operand::concrete(Value::Int(i64::try_from(at).unwrap_or(i64::MAX)))
}

/// Makes a number of the type that is ranged over.
type MakeNumber = Box<dyn Fn(i64) -> Value>;

/// The bound of a range over an integer and how its elements are made.
fn counter(value: &Value) -> Option<(i64, MakeNumber)> {
    Some(match value {
        Value::Int(n) => (*n, Box::new(Value::Int)),
        Value::Int64(n) => (*n, Box::new(Value::Int64)),
        Value::Int32(n) => (i64::from(*n), Box::new(|n| Value::Int32(i32::try_from(n).unwrap_or(i32::MAX)))),
        Value::Uint8(n) => (i64::from(*n), Box::new(|n| Value::Uint8(u8::try_from(n).unwrap_or(u8::MAX)))),
        Value::Uint64(n) => {
            (i64::try_from(*n).unwrap_or(i64::MAX), Box::new(|n| Value::Uint64(n.unsigned_abs())))
        }
        other => {
            let of = other.object::<Named>()?.of;
            (other.integer()?, Box::new(move |n| Value::Object(Rc::new(of(n)))))
        }
    })
}

fn set_range_variables(frame: &mut Frame<'_>, pipe: &Pipe, index: Operand, item: &Operand) -> Done<()> {
    match *pipe.variables {
        [] => {}
        [only] if pipe.assign => frame.assign(only, item.clone())?,
        [first, second, ..] if pipe.assign => {
            frame.assign(first, index)?;
            frame.assign(second, item.clone())?;
        }
        [_] => frame.set_top(1, item.clone()),
        _ => {
            frame.set_top(1, item.clone());
            frame.set_top(2, index);
        }
    }
    Ok(())
}

/// An error of the engine itself, outside any template.
fn unplaced(message: String) -> Box<Error> {
    Box::new(Error { stage: Stage::Execute, place: None, name: Arc::from(""), message, cause: None })
}

/// A bound that was met outside any template; whoever called is its place.
fn limited(fault: Fault) -> Box<Error> {
    Box::new(Error { stage: Stage::Limit, ..*unplaced(fault.message) })
}

impl Engine for Exec<'_> {
    fn execute(&mut self, name: &GoStr, data: &Value) -> Result<GoStr, Box<Error>> {
        self.execute_named(name, data, 0).map(GoStr::from)
    }

    fn execute_text(&mut self, text: &GoStr, data: &Value) -> Result<GoStr, Box<Error>> {
        let most = self.limits.template_depth;
        if self.overlays.len() >= most {
            let what = format_args!("texts execute each other more than {most} levels deep");
            return Err(limited(Fault::limit(what, "template-depth")));
        }
        let parsed = self.text(text)?;
        let mut overlay = BTreeMap::new();
        for template in parsed.iter() {
            if !template.is_empty() || self.lookup(&template.name).is_none() {
                add(&mut overlay, Arc::clone(template));
            }
        }
        self.overlays.push(overlay);
        let result = match parsed.iter().find(|template| template.name == *self.set.name()) {
            Some(main) => self.run(main, data, 0),
            None => Ok(Vec::new()),
        };
        self.overlays.pop();
        result.map(GoStr::from)
    }

    fn counter(&mut self, name: &GoStr) -> &mut u64 {
        self.counters.entry(name.clone()).or_default()
    }

    fn spend(&mut self, steps: u64) -> Result<(), Fault> {
        self.pay(steps)
    }

    fn limits(&self) -> &Limits {
        self.limits
    }

    fn host(&mut self) -> &mut dyn Host {
        self.host
    }
}
