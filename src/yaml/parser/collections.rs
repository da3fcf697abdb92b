//! Entries of sequences and mappings, in blocks and in flow.

use super::super::problem::Problem;
use super::super::scanner::Kind;
use super::{Parser, Properties, Shape, State};

impl<'a> Parser<'a> {
    // Block collections.

    /// Ends a collection whose last token is next.
    pub(super) fn end(&mut self) -> Result<State, Problem> {
        self.scanner.next()?;
        self.marks.pop();
        self.close();
        Ok(self.pop())
    }

    pub(super) fn unexpected(&mut self, text: &'static str, line: u32) -> Problem {
        Problem::parser(text, line, self.marks.last().copied().unwrap_or(0))
    }

    pub(super) fn block_sequence_entry(&mut self) -> Result<State, Problem> {
        let token = self.scanner.peek()?;
        let line = token.line;
        match token.kind {
            Kind::BlockEntry => {}
            Kind::BlockEnd => return self.end(),
            _ => return Err(self.unexpected("did not find expected '-' indicator", line)),
        }
        let mark = self.scanner.next()?.end_line;
        if matches!(self.scanner.peek()?.kind, Kind::BlockEntry | Kind::BlockEnd) {
            self.empty_scalar(mark)?;
            return Ok(State::BlockSequenceEntry);
        }
        self.states.push(State::BlockSequenceEntry);
        Ok(State::BlockNode)
    }

    pub(super) fn indentless_sequence_entry(&mut self) -> Result<State, Problem> {
        if self.scanner.peek()?.kind != Kind::BlockEntry {
            self.close();
            return Ok(self.pop());
        }
        let mark = self.scanner.next()?.end_line;
        let kind = &self.scanner.peek()?.kind;
        if matches!(kind, Kind::BlockEntry | Kind::Key | Kind::Value | Kind::BlockEnd) {
            self.empty_scalar(mark)?;
            return Ok(State::IndentlessSequenceEntry);
        }
        self.states.push(State::IndentlessSequenceEntry);
        Ok(State::BlockNode)
    }

    /// After `?` or `:`: a node, or nothing, which is null.
    pub(super) fn block_mapping_node(&mut self, mark: u32, next: State) -> Result<State, Problem> {
        if matches!(self.scanner.peek()?.kind, Kind::Key | Kind::Value | Kind::BlockEnd) {
            self.empty_scalar(mark)?;
            return Ok(next);
        }
        self.states.push(next);
        Ok(State::BlockNodeOrIndentlessSequence)
    }

    pub(super) fn block_mapping_key(&mut self) -> Result<State, Problem> {
        let token = self.scanner.peek()?;
        let line = token.line;
        match token.kind {
            Kind::Key => {
                let mark = self.scanner.next()?.end_line;
                self.block_mapping_node(mark, State::BlockMappingValue)
            }
            Kind::BlockEnd => self.end(),
            _ => Err(self.unexpected("did not find expected key", line)),
        }
    }

    pub(super) fn block_mapping_value(&mut self) -> Result<State, Problem> {
        let token = self.scanner.peek()?;
        if token.kind != Kind::Value {
            let line = token.line;
            self.empty_scalar(line)?;
            return Ok(State::BlockMappingKey);
        }
        let mark = self.scanner.next()?.end_line;
        self.block_mapping_node(mark, State::BlockMappingKey)
    }

    // Flow collections.

    pub(super) fn flow_sequence_entry(&mut self, first: bool) -> Result<State, Problem> {
        let token = self.scanner.peek()?;
        if token.kind == Kind::FlowSequenceEnd {
            return self.end();
        }
        if !first {
            if token.kind != Kind::FlowEntry {
                let line = token.line;
                return Err(self.unexpected("did not find expected ',' or ']'", line));
            }
            self.scanner.next()?;
        }
        match self.scanner.peek()?.kind {
            Kind::Key => {
                let line = self.scanner.next()?.line;
                self.open(Shape::Mapping, &Properties::default(), line, State::FlowSequencePairKey)
            }
            Kind::FlowSequenceEnd => self.end(),
            _ => {
                self.states.push(State::FlowSequenceEntry);
                Ok(State::FlowNode)
            }
        }
    }

    pub(super) fn flow_pair_key(&mut self) -> Result<State, Problem> {
        let token = self.scanner.peek()?;
        if !matches!(token.kind, Kind::Value | Kind::FlowEntry | Kind::FlowSequenceEnd) {
            self.states.push(State::FlowSequencePairValue);
            return Ok(State::FlowNode);
        }
        let mark = self.scanner.next()?.end_line;
        self.empty_scalar(mark)?;
        Ok(State::FlowSequencePairValue)
    }

    pub(super) fn flow_pair_value(&mut self) -> Result<State, Problem> {
        self.flow_value(&Kind::FlowSequenceEnd, State::FlowSequencePairEnd)
    }

    /// A `:` and a node, either of which may be missing.
    pub(super) fn flow_value(&mut self, end: &Kind<'a>, next: State) -> Result<State, Problem> {
        let mut token = self.scanner.peek()?;
        if token.kind == Kind::Value {
            self.scanner.next()?;
            token = self.scanner.peek()?;
            if token.kind != Kind::FlowEntry && token.kind != *end {
                self.states.push(next);
                return Ok(State::FlowNode);
            }
        }
        let line = token.line;
        self.empty_scalar(line)?;
        Ok(next)
    }

    pub(super) fn flow_mapping_key(&mut self, first: bool) -> Result<State, Problem> {
        let token = self.scanner.peek()?;
        if token.kind == Kind::FlowMappingEnd {
            return self.end();
        }
        if !first {
            if token.kind != Kind::FlowEntry {
                let line = token.line;
                return Err(self.unexpected("did not find expected ',' or '}'", line));
            }
            self.scanner.next()?;
        }
        match self.scanner.peek()?.kind {
            Kind::Key => {
                self.scanner.next()?;
                self.flow_mapping_named_key()
            }
            Kind::FlowMappingEnd => self.end(),
            _ => {
                self.states.push(State::FlowMappingEmptyValue);
                Ok(State::FlowNode)
            }
        }
    }

    pub(super) fn flow_mapping_named_key(&mut self) -> Result<State, Problem> {
        let token = self.scanner.peek()?;
        if !matches!(token.kind, Kind::Value | Kind::FlowEntry | Kind::FlowMappingEnd) {
            self.states.push(State::FlowMappingValue);
            return Ok(State::FlowNode);
        }
        let line = token.line;
        self.empty_scalar(line)?;
        Ok(State::FlowMappingValue)
    }

    pub(super) fn flow_mapping_value(&mut self) -> Result<State, Problem> {
        self.flow_value(&Kind::FlowMappingEnd, State::FlowMappingKey)
    }
}
