//! Reads TOML as Helm's `fromToml` does, errors included.
//!
//! As BurntSushi/toml v1.6.0 `parse.go`, whose library both Helms use.

mod lexer;
mod scalar;

use std::collections::{BTreeMap, BTreeSet};

use lexer::{Kind, Lexer, Token, is_bare};

use crate::limits::stack::levels;
use crate::template::funcs::Fault;
use crate::template::stack;
use crate::template::types::{SliceType, Type};
use crate::template::value::{GoStr, List, Map, Value};

/// `[]map[string]interface {}`, which arrays of tables decode to.
static TABLES: SliceType = SliceType {
    name: "[]map[string]interface {}",
    elem: Type::Map(&crate::template::types::DICT),
    methods: &[],
};

/// Why a document is not read.
enum Stop {
    /// What is wrong with it.
    Refused(String),
    /// What the library takes for a fault of its own: it panics.
    Panic(String),
}

/// Reads a document; the inner error is what is wrong with it.
///
/// # Errors
/// The library gives up.
pub(super) fn decode(text: &[u8]) -> Result<Result<Map, String>, Fault> {
    match parse(text) {
        Ok(map) => Ok(Ok(map)),
        Err(Stop::Refused(words)) => Ok(Err(words)),
        Err(Stop::Panic(words)) => Err(Fault::new(words)),
    }
}

fn parse(text: &[u8]) -> Result<Map, Stop> {
    let marks: [&[u8]; 3] = [b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf"];
    let text = marks.into_iter().find_map(|mark| text.strip_prefix(mark)).unwrap_or(text);
    if text.iter().take(6).any(|byte| *byte == 0) {
        let words = "files cannot contain NULL bytes; probably using UTF-16; TOML files must be UTF-8";
        return Err(Stop::Refused(format!("toml: line 1: {words}")));
    }
    let mut parser = Parser {
        lexer: Lexer::new(text),
        context: Key::new(),
        current: String::new(),
        line: 0,
        root: Table::new(),
        arrays: BTreeMap::new(),
        implicit: BTreeSet::new(),
        depth: 0,
    };
    loop {
        let token = parser.next()?;
        if token.kind == Kind::End {
            return Ok(parser.root.into_map());
        }
        parser.top_level(&token)?;
    }
}

/// A dotted key.
type Key = Vec<String>;

#[derive(Default)]
struct Table(BTreeMap<String, Node>);

enum Node {
    Value(Value),
    Table(Table),
    Tables(Vec<Table>),
}

impl Table {
    fn new() -> Self {
        Self::default()
    }

    fn into_map(self) -> Map {
        self.0.into_iter().map(|(key, node)| (GoStr::from(key), node.into_value())).collect()
    }
}

impl Node {
    fn into_value(self) -> Value {
        match self {
            Self::Value(value) => value,
            Self::Table(table) => Value::Map(table.into_map()),
            Self::Tables(tables) => {
                let maps = tables.into_iter().map(|table| Value::Map(table.into_map())).collect();
                Value::List(List::new(&TABLES, maps))
            }
        }
    }

    /// The table that keys below this one belong to: that of the node, or the last of several.
    fn table(&mut self) -> Option<&mut Table> {
        match self {
            Self::Value(_) => None,
            Self::Table(table) => Some(table),
            Self::Tables(tables) => tables.last_mut(),
        }
    }
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    /// The table in scope.
    context: Key,
    /// The key in it.
    current: String,
    /// Where the key began.
    line: usize,
    root: Table,
    /// Whether what a key holds was last said to be an array.
    arrays: BTreeMap<String, bool>,
    /// Tables that only longer keys speak of.
    implicit: BTreeSet<String>,
    depth: usize,
}

impl Parser<'_> {
    fn next(&mut self) -> Result<Token, Stop> {
        let token = self.lexer.token();
        if token.kind == Kind::Error { Err(self.refused(token.line, &token.text)) } else { Ok(token) }
    }

    fn refused(&self, line: usize, words: &str) -> Stop {
        let last = self.last_key();
        let place = if last.is_empty() {
            format!("toml: line {line}")
        } else {
            format!("toml: line {line} (last key {})", crate::go::quote(&last))
        };
        Stop::Refused(format!("{place}: {words}"))
    }

    fn last_key(&self) -> String {
        match (self.context.is_empty(), self.current.is_empty()) {
            (_, true) => written(&self.context),
            (true, false) => self.current.clone(),
            (false, false) => format!("{}.{}", written(&self.context), self.current),
        }
    }

    /// An error told at the line of the key.
    fn clash(&self, words: &str) -> Stop {
        self.refused(self.line, words)
    }

    fn top_level(&mut self, token: &Token) -> Result<(), Stop> {
        match token.kind {
            Kind::Comment => self.next().map(drop),
            Kind::Table | Kind::Tables => {
                let end = if token.kind == Kind::Table { Kind::TableEnd } else { Kind::TablesEnd };
                let key = self.key(end)?;
                self.enter(&key, token.kind == Kind::Tables)?;
                self.note("", false);
                Ok(())
            }
            Kind::Key => {
                let outer = self.context.clone();
                self.entry()?;
                self.context = outer;
                self.current.clear();
                Ok(())
            }
            _ => Err(bug("Unexpected type at top level")),
        }
    }

    /// Reads the parts of a key up to the token that ends it.
    fn key(&mut self, end: Kind) -> Result<Key, Stop> {
        let mut token = self.next()?;
        self.line = token.line;
        let mut key = Key::new();
        while token.kind != end && token.kind != Kind::End {
            key.push(self.key_part(&token)?);
            token = self.next()?;
        }
        Ok(key)
    }

    fn key_part(&self, token: &Token) -> Result<String, Stop> {
        match token.kind {
            Kind::Text => Ok(token.text.clone()),
            Kind::Str | Kind::Escaped | Kind::Lines | Kind::Raw | Kind::RawLines => self.string(token),
            _ => Err(bug("Unexpected key type")),
        }
    }

    /// A key with its value, in the table in scope: the key's other parts, and the value.
    fn entry(&mut self) -> Result<(Key, Value), Stop> {
        let mut key = self.key(Kind::KeyEnd)?;
        self.current = key.pop().unwrap_or_default();
        for part in &key {
            let mut table = self.context.clone();
            table.push(part.clone());
            self.implicit.insert(written(&table));
            self.enter(&table, false)?;
        }
        let token = self.next()?;
        let value = self.value(&token, false)?;
        let name = self.current.clone();
        self.set(&name, Node::Value(value.clone()))?;
        self.note(&name, token.kind == Kind::Array);
        Ok((key, value))
    }

    /// Brings a table into scope, or a further one of several.
    fn enter(&mut self, key: &[String], several: bool) -> Result<(), Stop> {
        let Some((last, parents)) = key.split_last() else { return Err(bug("A key without parts")) };
        let mut table = &mut self.root;
        for (at, part) in parents.iter().enumerate() {
            let above = parents.get(..=at).unwrap_or_default();
            if !table.0.contains_key(part) {
                self.implicit.insert(written(above));
                table.0.insert(part.clone(), Node::Table(Table::new()));
            }
            let Some(next) = table.0.get_mut(part).and_then(Node::table) else {
                return Err(self.clash(&format!("Key '{}' was already created as a hash.", written(above))));
            };
            table = next;
        }
        if !several {
            self.context = parents.to_vec();
            self.set(last, Node::Table(Table::new()))?;
        } else if let Node::Tables(tables) =
            table.0.entry(last.clone()).or_insert_with(|| Node::Tables(Vec::new()))
        {
            tables.push(Table::new());
            self.context = parents.to_vec();
        } else {
            self.context = parents.to_vec();
            let words = "was already created and cannot be used as an array.";
            return Err(self.clash(&format!("Key '{}' {words}", written(key))));
        }
        self.context.push(last.clone());
        Ok(())
    }

    /// Sets a key of the table in scope, which must be new unless longer keys alone have made it.
    fn set(&mut self, key: &str, node: Node) -> Result<(), Stop> {
        let mut path = self.context.clone();
        let mut table = &mut self.root;
        for (at, part) in path.iter().enumerate() {
            let Some(next) = table.0.get_mut(part).and_then(Node::table) else {
                let above = written(path.get(..=at).unwrap_or_default());
                return Err(self.clash(&format!("Key '{above}' has already been defined.")));
            };
            table = next;
        }
        path.push(key.to_owned());
        let name = written(&path);
        if table.0.contains_key(key) {
            let array = self.arrays.get(&name).copied().unwrap_or_default();
            if !self.implicit.remove(&name) {
                return Err(self.clash(&format!("Key '{name}' has already been defined.")));
            }
            if !array {
                return Ok(());
            }
        }
        table.0.insert(key.to_owned(), node);
        Ok(())
    }

    /// Notes whether a key of the table in scope, or that table, is an array.
    fn note(&mut self, key: &str, array: bool) {
        let mut path = self.context.clone();
        if !key.is_empty() || path.is_empty() {
            path.push(key.to_owned());
        }
        self.arrays.insert(written(&path), array);
    }

    fn value(&mut self, token: &Token, in_array: bool) -> Result<Value, Stop> {
        match token.kind {
            Kind::Str | Kind::Escaped | Kind::Lines | Kind::Raw | Kind::RawLines => {
                self.string(token).map(|text| Value::str(text.as_str()))
            }
            Kind::Integer => self.integer(token),
            Kind::Float => self.float(token),
            Kind::Bool => Ok(Value::Bool(token.text == "true")),
            Kind::Datetime => self.datetime(token),
            Kind::Array => self.deeper(Self::array),
            Kind::Inline => self.deeper(|parser| parser.inline(in_array)),
            _ => Err(bug("Unexpected value type")),
        }
    }

    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Result<Value, Stop>) -> Result<Value, Stop> {
        self.depth += 1;
        if self.depth > levels() || stack::exhausted() {
            return Err(Stop::Panic("toml: nested too deeply".to_owned()));
        }
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn array(&mut self) -> Result<Value, Stop> {
        let name = self.current.clone();
        self.note(&name, true);
        let mut items = Vec::new();
        loop {
            let token = self.next()?;
            match token.kind {
                Kind::ArrayEnd => return Ok(Value::list(items)),
                Kind::Comment => drop(self.next()?),
                _ => items.push(self.value(&token, true)?),
            }
        }
    }

    fn inline(&mut self, in_array: bool) -> Result<Value, Stop> {
        let top = Map::dict();
        let (outer, name) = (self.context.clone(), std::mem::take(&mut self.current));
        self.context.push(name.clone());
        let context = self.context.clone();
        self.implicit.insert(written(&context));
        self.enter(&context, in_array)?;
        let inside = self.context.clone();
        loop {
            match self.next()?.kind {
                Kind::InlineEnd => break,
                Kind::Comment => drop(self.next()?),
                _ => {
                    let (path, value) = self.entry()?;
                    self.put(&top, &path, value)?;
                    self.context.clone_from(&inside);
                }
            }
        }
        (self.context, self.current) = (outer, name);
        Ok(Value::Map(top))
    }

    /// Puts a value into the map of an inline table, below the first parts of its key.
    fn put(&self, top: &Map, path: &[String], value: Value) -> Result<(), Stop> {
        let mut map = top.clone();
        for part in path {
            let next = map.get(part).unwrap_or_else(|| {
                let next = Value::Map(Map::dict());
                map.set(part.as_str(), next.clone());
                next
            });
            let Value::Map(next) = next else {
                let table = crate::go::quote(written(&self.context));
                return Err(self.clash(&format!("{table} is not a table")));
            };
            map = next;
        }
        map.set(self.current.as_str(), value);
        Ok(())
    }
}

fn bug(words: &str) -> Stop {
    Stop::Panic(format!("BUG: {words}\n\n"))
}

/// A key as messages show it.
fn written(key: &[String]) -> String {
    let part = |part: &String| {
        if !part.is_empty() && part.chars().all(is_bare) {
            part.clone()
        } else {
            super::toml_text::quote(part)
        }
    };
    key.iter().map(part).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests;
