//! Tokens are put in line: keys found afterwards, indentation, one method per token.

use super::super::problem::Problem;
use super::{Kind, Scanner, SimpleKey, Token};

/// Deepest nesting of flow collections and of indentation that go-yaml accepts.
pub(super) const MAX_LEVEL: usize = 10_000;

/// Characters within which the `:` of a simple key has to follow its start.
pub(super) const KEY_LENGTH: usize = 1024;

/// Marks a token that can't begin a simple key.
pub(super) const NO_KEY: u32 = u32::MAX;

pub(super) const NO_COLON: &str = "could not find expected ':'";

impl<'a> Scanner<'a> {
    // Tokens, keys and indentation.

    pub(super) fn push(&mut self, kind: Kind<'a>, line: u32) {
        let key_level = std::mem::replace(&mut self.pending_key, NO_KEY);
        self.tokens.push_back(Token { kind, line, end_line: self.line, key_level });
    }

    /// Puts a token before the one numbered `number`, or last when that one was taken already.
    pub(super) fn insert(&mut self, number: Option<usize>, kind: Kind<'a>, line: u32) {
        let token = Token { kind, line, end_line: line, key_level: NO_KEY };
        match number.and_then(|n| n.checked_sub(self.taken)) {
            Some(at) if at <= self.tokens.len() => self.tokens.insert(at, token),
            _ => self.tokens.push_back(token),
        }
    }

    /// Whether the key noted at a flow level can still become one.
    pub(super) fn key_is_valid(&mut self, level: usize) -> Result<bool, Problem> {
        let column = self.column();
        let line = self.line;
        let Some(key) = self.keys.get_mut(level).filter(|k| k.possible) else { return Ok(false) };
        if key.line == line && key.column + KEY_LENGTH >= column {
            return Ok(true);
        }
        if key.required {
            return Err(Problem::scanner(NO_COLON, line, key.line));
        }
        key.possible = false;
        Ok(false)
    }

    /// Notes that a simple key may begin here.
    pub(super) fn save_key(&mut self) -> Result<(), Problem> {
        if !self.simple_key_allowed {
            return Ok(());
        }
        let column = self.column();
        let required = self.flow_level == 0 && self.indent == column as isize;
        self.forget_key()?;
        let number = self.taken + self.tokens.len();
        let line = self.line;
        if let Some(key) = self.keys.last_mut() {
            *key = SimpleKey { possible: true, required, tracked: true, number, line, column };
        }
        self.pending_key = u32::try_from(self.keys.len() - 1).unwrap_or(NO_KEY);
        Ok(())
    }

    /// Gives up the key noted at the current flow level.
    pub(super) fn forget_key(&mut self) -> Result<(), Problem> {
        let line = self.line;
        match self.keys.last_mut() {
            Some(key) if key.possible && key.required => Err(Problem::scanner(NO_COLON, line, key.line)),
            Some(key) => {
                key.possible = false;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Opens a block collection when `column` lies deeper than the current indentation.
    pub(super) fn roll_indent(
        &mut self,
        column: usize,
        number: Option<usize>,
        kind: Kind<'a>,
        line: u32,
    ) -> Result<(), Problem> {
        if self.flow_level > 0 || self.indent >= column as isize {
            return Ok(());
        }
        self.indents.push(self.indent);
        self.indent = column as isize;
        if self.indents.len() > MAX_LEVEL {
            let context = self.keys.last().map_or(0, |k| k.line);
            return Err(self.problem(format!("exceeded max depth of {MAX_LEVEL}"), context));
        }
        self.insert(number, kind, line);
        Ok(())
    }

    /// Closes the block collections that lie deeper than `column`.
    pub(super) fn unroll_indent(&mut self, column: isize) {
        while self.flow_level == 0 && self.indent > column {
            self.push(Kind::BlockEnd, self.line);
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    // Fetchers: one per kind of token.

    pub(super) fn fetch_stream_end(&mut self) -> Result<(), Problem> {
        if self.column() != 0 {
            self.line += 1;
            (self.column, self.column_pos) = (0, self.pos);
        }
        self.leave_block_context()?;
        self.push(Kind::StreamEnd, self.line);
        Ok(())
    }

    pub(super) fn leave_block_context(&mut self) -> Result<(), Problem> {
        self.unroll_indent(-1);
        self.forget_key()?;
        self.simple_key_allowed = false;
        Ok(())
    }

    pub(super) fn fetch_directive(&mut self) -> Result<(), Problem> {
        self.leave_block_context()?;
        let line = self.line;
        let kind = self.scan_directive()?;
        self.push(kind, line);
        Ok(())
    }

    pub(super) fn fetch_document_indicator(&mut self, kind: Kind<'a>) -> Result<(), Problem> {
        self.leave_block_context()?;
        self.pos += 3;
        self.push(kind, self.line);
        Ok(())
    }

    pub(super) fn fetch_flow_start(&mut self, kind: Kind<'a>) -> Result<(), Problem> {
        self.save_key()?;
        let number = self.taken + self.tokens.len();
        self.keys.push(SimpleKey { number, line: self.line, ..SimpleKey::default() });
        self.flow_level += 1;
        if self.flow_level > MAX_LEVEL {
            return Err(self.problem(format!("exceeded max depth of {MAX_LEVEL}"), self.line));
        }
        self.simple_key_allowed = true;
        self.indicator(kind);
        Ok(())
    }

    pub(super) fn fetch_flow_end(&mut self, kind: Kind<'a>) -> Result<(), Problem> {
        self.forget_key()?;
        if self.flow_level > 0 {
            self.flow_level -= 1;
            let closed = self.keys.pop().unwrap_or_default();
            if let Some(around) = self.keys.last_mut().filter(|k| k.number == closed.number) {
                around.tracked = false;
            }
        }
        self.simple_key_allowed = false;
        self.indicator(kind);
        Ok(())
    }

    pub(super) fn fetch_flow_entry(&mut self) -> Result<(), Problem> {
        self.forget_key()?;
        self.simple_key_allowed = true;
        self.indicator(Kind::FlowEntry);
        Ok(())
    }

    pub(super) fn fetch_block_entry(&mut self) -> Result<(), Problem> {
        if self.flow_level == 0 {
            if !self.simple_key_allowed {
                return Err(self.problem("block sequence entries are not allowed in this context", self.line));
            }
            let column = self.column();
            self.roll_indent(column, None, Kind::BlockSequenceStart, self.line)?;
        }
        self.forget_key()?;
        self.simple_key_allowed = true;
        self.indicator(Kind::BlockEntry);
        Ok(())
    }

    pub(super) fn fetch_key(&mut self) -> Result<(), Problem> {
        if self.flow_level == 0 {
            self.open_mapping("mapping keys are not allowed in this context")?;
        }
        self.forget_key()?;
        self.simple_key_allowed = self.flow_level == 0;
        self.indicator(Kind::Key);
        Ok(())
    }

    pub(super) fn fetch_value(&mut self) -> Result<(), Problem> {
        let level = self.keys.len() - 1;
        if self.key_is_valid(level)? {
            let key = self.keys.get(level).copied().unwrap_or_default();
            self.insert(Some(key.number), Kind::Key, key.line);
            self.roll_indent(key.column, Some(key.number), Kind::BlockMappingStart, key.line)?;
            self.forget_found_key();
            self.simple_key_allowed = false;
        } else {
            if self.flow_level == 0 {
                self.open_mapping("mapping values are not allowed in this context")?;
            }
            self.simple_key_allowed = self.flow_level == 0;
        }
        self.indicator(Kind::Value);
        Ok(())
    }

    pub(super) fn forget_found_key(&mut self) {
        if let Some(key) = self.keys.last_mut() {
            key.possible = false;
        }
    }

    pub(super) fn open_mapping(&mut self, refusal: &'static str) -> Result<(), Problem> {
        if !self.simple_key_allowed {
            return Err(self.problem(refusal, self.line));
        }
        let column = self.column();
        self.roll_indent(column, None, Kind::BlockMappingStart, self.line)
    }

    /// Takes an indicator of one character.
    pub(super) fn indicator(&mut self, kind: Kind<'a>) {
        self.pos += 1;
        self.push(kind, self.line);
    }

    /// Fetches a token that may begin a simple key and that none may follow.
    pub(super) fn fetch_with_key(
        &mut self,
        scan: fn(&mut Self) -> Result<Kind<'a>, Problem>,
    ) -> Result<(), Problem> {
        self.save_key()?;
        self.simple_key_allowed = false;
        let line = self.line;
        let kind = scan(self)?;
        self.push(kind, line);
        Ok(())
    }

    pub(super) fn fetch_plain(&mut self) -> Result<(), Problem> {
        self.fetch_with_key(Self::scan_plain)
    }

    pub(super) fn fetch_block_scalar(&mut self) -> Result<(), Problem> {
        self.forget_key()?;
        self.simple_key_allowed = true;
        let line = self.line;
        let kind = self.scan_block_scalar()?;
        self.push(kind, line);
        Ok(())
    }
}
