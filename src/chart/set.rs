//! `--set`, `--set-string`, `--set-file`, `--set-json` and `--set-literal`: the grammar of Helm's `pkg/strvals`.

use serde_json::{Map, Value};

use super::helm::Helm;
use crate::go::quote;
use crate::go::quote::{Escape, quote_rune};
use crate::limits::Limits;
use crate::yaml::json;

/// Largest list index (Helm's `MaxIndex`).
const MAX_INDEX: usize = 65_536;

/// Deepest nesting of names (Helm's `MaxNestedNameLevel`).
const MAX_NESTED_NAMES: usize = 30;

/// Nodes of a YAML document that one item of a list counts as: `[65536]` is short, and its list is long.
const NODES: usize = 8;

/// Reads the file that a `--set-file` value names.
pub type ReadFile<'a> = dyn FnMut(&str) -> Result<String, String> + 'a;

/// How the text after `=` becomes a value.
pub enum Style<'a> {
    /// `--set`: booleans, null and integers are recognised.
    Typed,
    /// `--set-string`: always a string.
    String,
    /// `--set-file`: the contents of the file of that name.
    File(&'a mut ReadFile<'a>),
    /// `--set-json`: a JSON value.
    Json,
    /// `--set-literal`: everything up to the end, no escapes.
    Literal,
}

/// Applies one flag's text to the values.
///
/// As Helm v4.3.1 `pkg/strvals/parser.go` and `literal_parser.go`.
///
/// # Errors
/// In Helm's words, without the `failed parsing --set… data` before it; lists that grow beyond `limits`.
pub fn parse_into(
    text: &str,
    style: Style<'_>,
    helm: Helm,
    limits: &Limits,
    values: &mut Map<String, Value>,
) -> Result<(), String> {
    let most = limits.yaml_nodes / NODES;
    let mut parser = Parser { rest: text.chars().collect(), at: 0, style, helm, most, left: most };
    loop {
        match parser.key(values, 0) {
            Ok(()) => {}
            Err(Stop::End) => return Ok(()),
            Err(Stop::Error(message) | Stop::Panic(message)) => return Err(message),
        }
    }
}

/// Go's `%q` of a text that is held as a list of runes.
fn quote_runes(text: &str) -> String {
    let runes: Vec<_> = text.chars().map(|c| quote_rune(u32::from(c), Escape::Unprintable)).collect();
    format!("[{}]", runes.join(" "))
}

/// Why parsing stopped.
enum Stop {
    /// The text ended (Go's `io.EOF`).
    End,
    /// An error.
    Error(String),
    /// A failed type assertion, which the enclosing key turns into an error.
    Panic(String),
}

impl Stop {
    fn error(message: impl Into<String>) -> Self {
        Self::Error(message.into())
    }
}

struct Parser<'a> {
    rest: Vec<char>,
    at: usize,
    style: Style<'a>,
    helm: Helm,
    /// Items that the text may add to lists, and how many of them are left.
    most: usize,
    left: usize,
}

impl Parser<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.get(self.at).copied();
        self.at += usize::from(c.is_some());
        c
    }

    fn is_literal(&self) -> bool {
        matches!(self.style, Style::Literal)
    }

    /// Reads up to one of the stops: what was read and the stop, `None` at the end of the text.
    fn until(&mut self, stops: &[char]) -> (String, Option<char>) {
        let escapes = !self.is_literal();
        let mut text = String::new();
        while let Some(c) = self.next() {
            if stops.contains(&c) {
                return (text, Some(c));
            }
            match c {
                '\\' if escapes => match self.next() {
                    Some(escaped) => text.push(escaped),
                    None => return (text, None),
                },
                c => text.push(c),
            }
        }
        (text, None)
    }

    fn key(&mut self, data: &mut Map<String, Value>, depth: usize) -> Result<(), Stop> {
        self.key_inner(data, depth).map_err(|stop| match stop {
            Stop::Panic(message) => Stop::error(format!("unable to parse key: {message}")),
            other => other,
        })
    }

    fn key_inner(&mut self, data: &mut Map<String, Value>, depth: usize) -> Result<(), Stop> {
        let stops: &[char] = if self.is_literal() { &['=', '[', '.'] } else { &['=', '[', ',', '.'] };
        match self.until(stops) {
            (name, None) if name.is_empty() => Err(Stop::End),
            (name, Some('[')) => self.indexed(data, name, depth),
            (name, Some('=')) => self.assign(data, name),
            (name, Some('.')) => self.nested(data, name, depth),
            (name, Some(_)) => {
                let message = format!("key {} has no value (cannot end with ,)", quote(&name));
                set(data, name, Value::String(String::new()));
                Err(Stop::Error(message))
            }
            (name, None) => Err(Stop::error(format!("key {} has no value", quote(&name)))),
        }
    }

    fn indexed(&mut self, data: &mut Map<String, Value>, name: String, depth: usize) -> Result<(), Stop> {
        let index = self.index()?;
        let list = match data.get(&name) {
            None => Vec::new(),
            Some(Value::Array(list)) => list.clone(),
            Some(other) => return Err(assertion(other, "[]interface {}")),
        };
        let (list, result) = self.list_item(list, index, depth);
        set(data, name, list.map_or(Value::Null, Value::Array));
        result
    }

    fn assign(&mut self, data: &mut Map<String, Value>, name: String) -> Result<(), Stop> {
        match self.value() {
            (Some(value), result) => {
                set(data, name, value);
                result
            }
            (None, result) => result,
        }
    }

    fn nested(&mut self, data: &mut Map<String, Value>, name: String, depth: usize) -> Result<(), Stop> {
        if depth + 1 > MAX_NESTED_NAMES {
            return Err(Stop::error(format!(
                "value name nested level is greater than maximum supported nested level of {MAX_NESTED_NAMES}"
            )));
        }
        let mut inner = match data.get(&name) {
            None => Map::new(),
            Some(Value::Object(map)) => map.clone(),
            Some(other) => return Err(assertion(other, "map[string]interface {}")),
        };
        let result = self.key(&mut inner, depth + 1);
        if result.is_ok() && inner.is_empty() {
            return Err(Stop::error(format!("key map {} has no value", quote(&name))));
        }
        if !inner.is_empty() {
            set(data, name, Value::Object(inner));
        }
        result
    }

    /// Reads the value after `=`; `None` when nothing is to be set.
    fn value(&mut self) -> (Option<Value>, Result<(), Stop>) {
        match self.style {
            Style::Json => self.json(),
            Style::Literal => {
                let (text, _) = self.until(&[]);
                (Some(Value::String(text)), Ok(()))
            }
            _ => self.list_or_scalar(),
        }
    }

    fn list_or_scalar(&mut self) -> (Option<Value>, Result<(), Stop>) {
        match self.rest.get(self.at) {
            None => (Some(Value::String(String::new())), Err(Stop::End)),
            Some('{') => {
                self.at += 1;
                match self.list() {
                    Ok(list) => (Some(Value::Array(list)), Ok(())),
                    Err(stop) => (None, Err(stop)),
                }
            }
            Some(_) => {
                let (text, _) = self.until(&[',']);
                match self.convert(text) {
                    Ok(value) => (Some(value), Ok(())),
                    Err(stop) => (Some(Value::Null), Err(stop)),
                }
            }
        }
    }

    fn list(&mut self) -> Result<Vec<Value>, Stop> {
        let mut list = Vec::new();
        loop {
            let (text, stop) = self.until(&[',', '}']);
            match stop {
                None => return Err(Stop::error("list must terminate with '}'")),
                Some(_) => list.push(self.convert(text)?),
            }
            if stop == Some('}') {
                self.at += usize::from(self.rest.get(self.at) == Some(&','));
                return Ok(list);
            }
        }
    }

    fn convert(&mut self, text: String) -> Result<Value, Stop> {
        match &mut self.style {
            Style::File(read) => read(&text).map(Value::String).map_err(Stop::Error),
            Style::Typed => Ok(typed(text)),
            Style::String | Style::Json | Style::Literal => Ok(Value::String(text)),
        }
    }

    fn json(&mut self) -> (Option<Value>, Result<(), Stop>) {
        if self.skip_blanks() {
            return (Some(Value::Null), Ok(()));
        }
        let text: String = self.rest.get(self.at..).unwrap_or_default().iter().collect();
        match json::decode_first(text.as_bytes()) {
            Ok(Some((value, consumed))) => {
                self.at += text.get(..consumed).map_or(0, |read| read.chars().count());
                self.skip_blanks();
                (Some(value), Ok(()))
            }
            Ok(None) => (None, Err(Stop::End)),
            Err(error) => (None, Err(Stop::Error(error.message))),
        }
    }

    /// Skips blanks and one comma; whether the value turned out to be empty.
    fn skip_blanks(&mut self) -> bool {
        while let Some(c) = self.rest.get(self.at) {
            if *c != ',' && !c.is_whitespace() {
                return false;
            }
            self.at += 1;
            if *c == ',' {
                return true;
            }
        }
        true
    }

    fn index(&mut self) -> Result<i64, Stop> {
        let (text, stop) = self.until(&[']']);
        if stop.is_none() {
            // Helm 4 wraps the end of the text so that it still counts as the end.
            return Err(match self.helm.ends_at_open_index() {
                false => Stop::error("error parsing index: EOF"),
                true => Stop::End,
            });
        }
        text.parse().map_err(|_| {
            let digits = text.strip_prefix(['+', '-']).unwrap_or(&text);
            let other = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            let (number, rest) = digits.split_at(other);
            // Go stops at the digit that is too much, before it sees what follows.
            let numeric = !number.is_empty() && (rest.is_empty() || number.parse::<u64>().is_err());
            let reason = if numeric { "value out of range" } else { "invalid syntax" };
            Stop::error(format!("error parsing index: strconv.Atoi: parsing {}: {reason}", quote(&text)))
        })
    }

    /// Sets one item: the list as far as it got (`None`: Go's nil) and how it ended.
    fn list_item(
        &mut self,
        mut list: Vec<Value>,
        index: i64,
        depth: usize,
    ) -> (Option<Vec<Value>>, Result<(), Stop>) {
        let Ok(place) = usize::try_from(index) else {
            return (Some(list), Err(negative(index)));
        };
        match self.until(&['[', '.', '=']) {
            (text, _) if !text.is_empty() => {
                let message = format!("unexpected data at end of array index: {}", quote_runes(&text));
                (Some(list), Err(Stop::Error(message)))
            }
            (_, Some('=')) => self.item_value(list, place),
            (_, Some('[')) => self.item_list(list, place, depth),
            (_, Some(_)) => {
                let mut inner = match list.get(place) {
                    Some(Value::Object(map)) => map.clone(),
                    _ => Map::new(),
                };
                if let Some(slot) = list.get_mut(place).filter(|slot| !slot.is_object()) {
                    *slot = Value::Object(Map::new());
                }
                let result = self.key(&mut inner, depth);
                if result.is_err() {
                    // Go's map is shared with the list: what was set before the error stays.
                    if let Some(slot) = list.get_mut(place) {
                        *slot = Value::Object(inner);
                    }
                    return (Some(list), result);
                }
                self.put(list, place, Value::Object(inner))
            }
            (_, None) => (Some(list), Err(Stop::End)),
        }
    }

    fn item_value(&mut self, list: Vec<Value>, place: usize) -> (Option<Vec<Value>>, Result<(), Stop>) {
        match self.value() {
            (Some(value), Ok(()) | Err(Stop::End)) => self.put(list, place, value),
            (_, result) => (Some(list), result),
        }
    }

    fn put(
        &mut self,
        mut list: Vec<Value>,
        place: usize,
        value: Value,
    ) -> (Option<Vec<Value>>, Result<(), Stop>) {
        if place > MAX_INDEX {
            let message = format!("index of {place} is greater than maximum supported index of {MAX_INDEX}");
            return (Some(list), Err(Stop::Error(message)));
        }
        if list.len() <= place {
            let Some(left) = self.left.checked_sub(place + 1 - list.len()) else {
                return (Some(list), Err(self.too_long()));
            };
            self.left = left;
            list.resize(place + 1, Value::Null);
        }
        if let Some(slot) = list.get_mut(place) {
            *slot = value;
        }
        (Some(list), Ok(()))
    }

    fn too_long(&self) -> Stop {
        Stop::error(format!(
            "lists get more than {} items, each of which counts as {NODES} nodes (--limit-yaml-nodes)",
            self.most
        ))
    }

    fn item_list(
        &mut self,
        list: Vec<Value>,
        place: usize,
        depth: usize,
    ) -> (Option<Vec<Value>>, Result<(), Stop>) {
        let index = match self.index() {
            Ok(index) => index,
            Err(stop) => return (Some(list), Err(stop)),
        };
        let current = match list.get(place) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(items)) => items.clone(),
            Some(other) => return (Some(list.clone()), Err(assertion(other, "[]interface {}"))),
        };
        match self.list_item(current, index, depth) {
            (items, Ok(())) => self.put(list, place, items.map_or(Value::Null, Value::Array)),
            (_, Err(stop)) => (Some(list), Err(stop)),
        }
    }
}

fn set(data: &mut Map<String, Value>, name: String, value: Value) {
    if !name.is_empty() {
        data.insert(name, value);
    }
}

fn negative(index: i64) -> Stop {
    Stop::error(format!("negative {index} index not allowed"))
}

/// The text of Go's failed type assertion.
fn assertion(found: &Value, wanted: &str) -> Stop {
    let found = match found {
        Value::Null => "nil",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() || number.is_u64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    };
    Stop::Panic(format!("interface conversion: interface {{}} is {found}, not {wanted}"))
}

/// What `--set` makes of a word.
fn typed(text: String) -> Value {
    for (word, value) in
        [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null), ("0", 0.into())]
    {
        if text.eq_ignore_ascii_case(word) {
            return value;
        }
    }
    match text.parse::<i64>() {
        Ok(integer) if !text.starts_with('0') => integer.into(),
        _ => Value::String(text),
    }
}

#[cfg(test)]
mod tests;
