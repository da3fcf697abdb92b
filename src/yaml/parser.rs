//! Tokens become a document: a flat list of nodes, each followed by its children.
//!
//! Behaviour: go.yaml.in/yaml v2.4.4, `parserc.go` and the parser half of `decode.go`.

use std::borrow::Cow;
use std::collections::HashMap;

use super::problem::Problem;
use super::scanner::{Kind, Scanner};

mod collections;

/// What a node is; collections also say where they end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Scalar,
    Sequence,
    Mapping,
    /// Index of the node it stands for.
    Alias(u32),
}

/// One node of a document.
#[derive(Clone, Debug)]
pub(super) struct Node<'a> {
    pub(super) shape: Shape,
    /// Text of a scalar, name of an alias.
    pub(super) value: Cow<'a, str>,
    /// Index into the document's tags, counted from 1; 0 for none.
    tag: u32,
    /// Line, counted from 0.
    pub(super) line: u32,
    /// Index of the first node after this one and its children.
    pub(super) end: u32,
    /// Whether a scalar's type follows from its text (plain, or tagged `!`).
    pub(super) implicit: bool,
}

/// One parsed document; the root is node 0.
#[derive(Debug, Default)]
pub(super) struct Document<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    tags: Vec<String>,
}

impl<'a> Document<'a> {
    /// The explicit tag of a scalar; empty for none.
    pub(super) fn tag(&self, node: &Node<'a>) -> &str {
        (node.tag as usize).checked_sub(1).and_then(|i| self.tags.get(i)).map_or("", String::as_str)
    }

    pub(super) fn node(&self, index: u32) -> Option<&Node<'a>> {
        self.nodes.get(index as usize)
    }

    /// The indices of a collection's children.
    pub(super) fn children(&self, index: u32) -> Children<'_, 'a> {
        let end = self.node(index).map_or(index, |n| n.end);
        Children { document: self, next: index + 1, end }
    }
}

/// Walks over the children of a node.
pub(super) struct Children<'d, 'a> {
    document: &'d Document<'a>,
    next: u32,
    end: u32,
}

impl Iterator for Children<'_, '_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let index = self.next;
        if index >= self.end {
            return None;
        }
        self.next = self.document.node(index)?.end;
        Some(index)
    }
}

/// Where the grammar stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    DocumentEnd,
    BlockNode,
    BlockNodeOrIndentlessSequence,
    FlowNode,
    BlockSequenceEntry,
    IndentlessSequenceEntry,
    BlockMappingKey,
    BlockMappingValue,
    FlowSequenceFirstEntry,
    FlowSequenceEntry,
    FlowSequencePairKey,
    FlowSequencePairValue,
    FlowSequencePairEnd,
    FlowMappingFirstKey,
    FlowMappingKey,
    FlowMappingValue,
    FlowMappingEmptyValue,
}

/// Tag and anchor before a node.
#[derive(Default)]
struct Properties<'a> {
    anchor: Option<&'a str>,
    tag: Option<String>,
    line: Option<u32>,
}

/// Reads documents from a scanner.
pub(super) struct Parser<'a> {
    scanner: Scanner<'a>,
    states: Vec<State>,
    /// Lines on which the open collections began, for messages.
    marks: Vec<u32>,
    handles: Vec<(String, String)>,
    document: Document<'a>,
    open: Vec<u32>,
    anchors: HashMap<&'a str, u32>,
    depth_limit: usize,
    started: bool,
}

const SECONDARY_PREFIX: &str = "tag:yaml.org,2002:";

/// Bytes of text for each node in definitions, which are most of what is read: 74 to 90, and some room.
const BYTES_OF_A_NODE: usize = 64;

impl<'a> Parser<'a> {
    pub(super) fn new(scanner: Scanner<'a>, depth_limit: usize) -> Self {
        // Room at once for what a document of this length usually has: growing touches memory twice.
        let nodes = Vec::with_capacity(scanner.length() / BYTES_OF_A_NODE);
        Self {
            scanner,
            states: Vec::new(),
            marks: Vec::new(),
            handles: Vec::new(),
            document: Document { nodes, tags: Vec::new() },
            open: Vec::new(),
            anchors: HashMap::new(),
            depth_limit,
            started: false,
        }
    }

    /// The next document of the stream; `None` at its end.
    pub(super) fn document(&mut self) -> Result<Option<Document<'a>>, Problem> {
        let first = !self.started;
        if first {
            self.scanner.next()?;
            self.started = true;
        }
        let Some(mut state) = self.document_start(first)? else { return Ok(None) };
        self.states.push(State::DocumentEnd);
        loop {
            state = self.step(state)?;
            if state == State::DocumentEnd {
                self.document_end()?;
                self.anchors.clear();
                return Ok(Some(std::mem::take(&mut self.document)));
            }
        }
    }

    fn document_start(&mut self, first: bool) -> Result<Option<State>, Problem> {
        while !first && self.scanner.peek()?.kind == Kind::DocumentEnd {
            self.scanner.next()?;
        }
        let explicit = match self.scanner.peek()?.kind {
            Kind::StreamEnd => return Ok(None),
            Kind::Version(..) | Kind::TagDirective(_) | Kind::DocumentStart => true,
            _ => !first,
        };
        self.directives()?;
        if !explicit {
            return Ok(Some(State::BlockNode));
        }
        let token = self.scanner.peek()?;
        if token.kind != Kind::DocumentStart {
            return Err(Problem::parser("did not find expected <document start>", token.line, 0));
        }
        self.scanner.next()?;
        self.document_content().map(Some)
    }

    /// After `---`: a node, or nothing, which is null.
    fn document_content(&mut self) -> Result<State, Problem> {
        let token = self.scanner.peek()?;
        let empty = matches!(
            token.kind,
            Kind::Version(..)
                | Kind::TagDirective(_)
                | Kind::DocumentStart
                | Kind::DocumentEnd
                | Kind::StreamEnd
        );
        if !empty {
            return Ok(State::BlockNode);
        }
        let line = token.line;
        self.empty_scalar(line)?;
        Ok(State::DocumentEnd)
    }

    fn document_end(&mut self) -> Result<(), Problem> {
        self.states.clear();
        if self.scanner.peek()?.kind == Kind::DocumentEnd {
            self.scanner.next()?;
        }
        self.handles.clear();
        Ok(())
    }

    fn directives(&mut self) -> Result<(), Problem> {
        let mut version = false;
        loop {
            let token = self.scanner.peek()?;
            let line = token.line;
            match &token.kind {
                Kind::Version(..) if version => {
                    return Err(Problem::parser("found duplicate %YAML directive", line, 0));
                }
                Kind::Version(1, 1) => version = true,
                Kind::Version(..) => {
                    return Err(Problem::parser("found incompatible YAML document", line, 0));
                }
                Kind::TagDirective(directive) => {
                    if self.handles.iter().any(|(handle, _)| *handle == directive.0) {
                        return Err(Problem::parser("found duplicate %TAG directive", line, 0));
                    }
                    let directive = (**directive).clone();
                    self.handles.push(directive);
                }
                _ => break,
            }
            self.scanner.next()?;
        }
        for (handle, prefix) in [("!", "!"), ("!!", SECONDARY_PREFIX)] {
            if !self.handles.iter().any(|(known, _)| known == handle) {
                self.handles.push((handle.to_owned(), prefix.to_owned()));
            }
        }
        Ok(())
    }

    /// Takes tokens up to the next change of the document and tells where the grammar then stands.
    fn step(&mut self, state: State) -> Result<State, Problem> {
        match state {
            State::DocumentEnd => Ok(state),
            State::BlockNode => self.node(true, false),
            State::BlockNodeOrIndentlessSequence => self.node(true, true),
            State::FlowNode => self.node(false, false),
            State::BlockSequenceEntry => self.block_sequence_entry(),
            State::IndentlessSequenceEntry => self.indentless_sequence_entry(),
            State::BlockMappingKey => self.block_mapping_key(),
            State::BlockMappingValue => self.block_mapping_value(),
            State::FlowSequenceFirstEntry => self.flow_sequence_entry(true),
            State::FlowSequenceEntry => self.flow_sequence_entry(false),
            State::FlowSequencePairKey => self.flow_pair_key(),
            State::FlowSequencePairValue => self.flow_pair_value(),
            State::FlowSequencePairEnd => {
                self.close();
                Ok(State::FlowSequenceEntry)
            }
            State::FlowMappingFirstKey => self.flow_mapping_key(true),
            State::FlowMappingKey => self.flow_mapping_key(false),
            State::FlowMappingValue => self.flow_mapping_value(),
            State::FlowMappingEmptyValue => {
                let line = self.scanner.peek()?.line;
                self.empty_scalar(line)?;
                Ok(State::FlowMappingKey)
            }
        }
    }

    // Nodes.

    fn add(&mut self, shape: Shape, value: Cow<'a, str>, tag: u32, line: u32, implicit: bool) -> u32 {
        let index = u32::try_from(self.document.nodes.len()).unwrap_or(u32::MAX);
        self.document.nodes.push(Node { shape, value, tag, line, end: index + 1, implicit });
        index
    }

    fn empty_scalar(&mut self, line: u32) -> Result<(), Problem> {
        self.add(Shape::Scalar, Cow::Borrowed(""), 0, line, true);
        Ok(())
    }

    /// Opens a collection.
    fn open(
        &mut self,
        shape: Shape,
        properties: &Properties<'a>,
        line: u32,
        next: State,
    ) -> Result<State, Problem> {
        if self.open.len() >= self.depth_limit {
            let text = format!("nesting is deeper than {} levels (--limit-yaml-depth)", self.depth_limit);
            return Err(Problem::limit(text, line));
        }
        let index = self.add(shape, Cow::Borrowed(""), 0, line, false);
        self.anchor(properties, index);
        self.open.push(index);
        Ok(next)
    }

    fn close(&mut self) {
        let end = u32::try_from(self.document.nodes.len()).unwrap_or(u32::MAX);
        if let Some(node) = self.open.pop().and_then(|i| self.document.nodes.get_mut(i as usize)) {
            node.end = end;
        }
    }

    fn anchor(&mut self, properties: &Properties<'a>, index: u32) {
        if let Some(name) = properties.anchor {
            self.anchors.insert(name, index);
        }
    }

    fn pop(&mut self) -> State {
        self.states.pop().unwrap_or(State::DocumentEnd)
    }

    fn node(&mut self, block: bool, indentless: bool) -> Result<State, Problem> {
        if let Kind::Alias(name) = self.scanner.peek()?.kind {
            return self.alias(name);
        }
        let mut properties = self.properties()?;
        let token = self.scanner.peek()?;
        let line = properties.line.unwrap_or(token.line);
        let (shape, next) = match token.kind {
            Kind::Scalar { .. } => return self.scalar(properties, line),
            Kind::BlockEntry if indentless => (Shape::Sequence, State::IndentlessSequenceEntry),
            Kind::FlowSequenceStart => (Shape::Sequence, State::FlowSequenceFirstEntry),
            Kind::FlowMappingStart => (Shape::Mapping, State::FlowMappingFirstKey),
            Kind::BlockSequenceStart if block => (Shape::Sequence, State::BlockSequenceEntry),
            Kind::BlockMappingStart if block => (Shape::Mapping, State::BlockMappingKey),
            _ => {
                let token_line = token.line;
                if properties.anchor.is_none() && properties.tag.is_none() {
                    return Err(Problem::parser("did not find expected node content", token_line, line));
                }
                let implicit = properties.tag.is_none();
                return self.add_scalar(&mut properties, Cow::Borrowed(""), line, implicit);
            }
        };
        if next != State::IndentlessSequenceEntry {
            let begun = self.scanner.next()?.line;
            self.marks.push(begun);
        }
        self.open(shape, &properties, line, next)
    }

    fn alias(&mut self, name: &'a str) -> Result<State, Problem> {
        let line = self.scanner.next()?.line;
        let Some(&target) = self.anchors.get(name) else {
            return Err(Problem::unnumbered(format!("unknown anchor '{name}' referenced"), line));
        };
        self.add(Shape::Alias(target), Cow::Borrowed(name), 0, line, false);
        Ok(self.pop())
    }

    fn scalar(&mut self, mut properties: Properties<'a>, line: u32) -> Result<State, Problem> {
        let Kind::Scalar { value, plain } = self.scanner.next()?.kind else { return Ok(self.pop()) };
        let implicit = match properties.tag.as_deref() {
            None | Some("") => plain,
            Some(tag) => tag == "!",
        };
        self.add_scalar(&mut properties, value, line, implicit)
    }

    fn add_scalar(
        &mut self,
        properties: &mut Properties<'a>,
        value: Cow<'a, str>,
        line: u32,
        implicit: bool,
    ) -> Result<State, Problem> {
        let mut tag = 0;
        if let Some(name) = properties.tag.take() {
            self.document.tags.push(name);
            tag = u32::try_from(self.document.tags.len()).unwrap_or(0);
        }
        let index = self.add(Shape::Scalar, value, tag, line, implicit);
        self.anchor(properties, index);
        Ok(self.pop())
    }

    /// Takes an anchor and a tag, in either order.
    fn properties(&mut self) -> Result<Properties<'a>, Problem> {
        let mut found = Properties::default();
        let mut tag = None;
        loop {
            let token = self.scanner.peek()?;
            match token.kind {
                Kind::Anchor(name) if found.anchor.is_none() => found.anchor = Some(name),
                Kind::Tag(_) if tag.is_none() => {}
                _ => break,
            }
            let token = self.scanner.next()?;
            found.line.get_or_insert(token.line);
            if let Kind::Tag(parts) = token.kind {
                tag = Some((*parts, token.line));
            }
        }
        if let Some(((handle, suffix), line)) = tag {
            found.tag = Some(self.resolve_tag(&handle, suffix, line, found.line.unwrap_or(line))?);
        }
        Ok(found)
    }

    fn resolve_tag(&self, handle: &str, suffix: String, line: u32, start: u32) -> Result<String, Problem> {
        if handle.is_empty() {
            return Ok(suffix);
        }
        let prefix = self.handles.iter().find(|(known, _)| known == handle).map(|(_, prefix)| prefix);
        match prefix {
            Some(prefix) if !(prefix.is_empty() && suffix.is_empty()) => Ok(format!("{prefix}{suffix}")),
            _ => Err(Problem::parser("found undefined tag handle", line, start)),
        }
    }
}
