//! JSON as Go's `encoding/json` writes it; reading is in [`decode`], [`decode_map`] and [`decode_list`].
//!
//! Behaviour: Go 1.26, `encoding/json`, `encode.go`.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::Error;
use super::number;

mod scan;

/// `json.Marshal`: compact, keys sorted, `<`, `>`, `&`, U+2028 and U+2029 escaped.
#[must_use]
pub fn encode(value: &Value) -> String {
    Encoder { out: String::new(), html: true, indent: None, level: 0 }.finish(value)
}

/// `json.Encoder` with `SetEscapeHTML(false)`, without its final line break.
#[must_use]
pub fn encode_raw(value: &Value) -> String {
    Encoder { out: String::new(), html: false, indent: None, level: 0 }.finish(value)
}

/// `json.MarshalIndent(value, "", indent)`.
#[must_use]
pub fn encode_pretty(value: &Value, indent: &str) -> String {
    Encoder { out: String::new(), html: true, indent: Some(indent), level: 0 }.finish(value)
}

/// `json.Unmarshal` into `interface{}`: every number is a float.
///
/// # Errors
/// A syntax error in Go's words, e.g. `unexpected end of JSON input`.
pub fn decode(text: &[u8]) -> Result<Value, Error> {
    scan::decode(text).map_err(|message| Error { message, line: 0 })
}

/// A file of one JSON value, read by `json.Decoder` with `UseNumber`: integers stay integers.
///
/// # Errors
/// A syntax error in Go's words, e.g. `unexpected EOF`.
pub fn decode_file(text: &[u8]) -> Result<Value, Error> {
    scan::decode_file(text).map_err(|message| Error { message, line: 0 })
}

/// The first value of a text that may go on behind it, by `json.Decoder`: every number is a float. Also how many bytes were
/// read; none where there is no value.
///
/// # Errors
/// A syntax error in Go's words, e.g. `unexpected EOF`.
pub fn decode_first(text: &[u8]) -> Result<Option<(Value, usize)>, Error> {
    scan::decode_first(text).map_err(|message| Error { message, line: 0 })
}

/// `json.Unmarshal` into `map[string]interface{}`; `null` is an empty map.
///
/// # Errors
/// Those of [`decode`], and a value that is no object.
pub fn decode_map(text: &[u8]) -> Result<Map<String, Value>, Error> {
    match decode(text)? {
        Value::Object(map) => Ok(map),
        Value::Null => Ok(Map::new()),
        other => Err(mismatch(&other, GO_MAP, "")),
    }
}

/// `json.Unmarshal` into `[]interface{}`; `null` is an empty list.
///
/// # Errors
/// Those of [`decode`], and a value that is no array.
pub fn decode_list(text: &[u8]) -> Result<Vec<Value>, Error> {
    match decode(text)? {
        Value::Array(items) => Ok(items),
        Value::Null => Ok(Vec::new()),
        other => Err(mismatch(&other, GO_LIST, "")),
    }
}

/// Go's name for the type of Helm's values.
pub(super) const GO_MAP: &str = "map[string]interface {}";

/// Go's name for a list of anything.
pub(super) const GO_LIST: &str = "[]interface {}";

/// Go's refusal to decode a value into another type.
pub(super) fn mismatch(value: &Value, go_type: &str, prefix: &str) -> Error {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    Error {
        message: format!("{prefix}json: cannot unmarshal {kind} into Go value of type {go_type}"),
        line: 0,
    }
}

struct Encoder<'i> {
    out: String,
    html: bool,
    indent: Option<&'i str>,
    level: usize,
}

impl Encoder<'_> {
    fn finish(mut self, value: &Value) -> String {
        self.value(value);
        self.out
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(b) => self.out.push_str(if *b { "true" } else { "false" }),
            Value::Number(n) => match n.as_f64().filter(|_| n.is_f64()) {
                Some(float) => self.out.push_str(&number::format_json(float)),
                None => {
                    let _ = write!(self.out, "{n}");
                }
            },
            Value::String(text) => self.text(text),
            Value::Array(items) => self.array(items),
            Value::Object(map) => self.object(map),
        }
    }

    fn array(&mut self, items: &[Value]) {
        self.out.push('[');
        self.level += 1;
        for (nth, item) in items.iter().enumerate() {
            self.separate(nth);
            self.value(item);
        }
        self.close(items.is_empty());
        self.out.push(']');
    }

    fn object(&mut self, map: &Map<String, Value>) {
        let mut entries: Vec<(&String, &Value)> = map.iter().collect();
        if !entries.is_sorted_by_key(|&(key, _)| key) {
            entries.sort_unstable_by_key(|&(key, _)| key);
        }
        self.out.push('{');
        self.level += 1;
        for (nth, (key, value)) in entries.into_iter().enumerate() {
            self.separate(nth);
            self.text(key);
            self.out.push_str(if self.indent.is_some() { ": " } else { ":" });
            self.value(value);
        }
        self.close(map.is_empty());
        self.out.push('}');
    }

    fn separate(&mut self, nth: usize) {
        if nth > 0 {
            self.out.push(',');
        }
        self.line_break();
    }

    fn close(&mut self, empty: bool) {
        self.level -= 1;
        if !empty {
            self.line_break();
        }
    }

    fn line_break(&mut self) {
        if let Some(indent) = self.indent {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(indent, self.level));
        }
    }

    fn text(&mut self, text: &str) {
        self.out.push('"');
        let mut rest = text;
        while let Some(at) = rest.find(|c| self.is_escaped(c)) {
            let (plain, from) = rest.split_at(at);
            self.out.push_str(plain);
            let mut chars = from.chars();
            if let Some(c) = chars.next() {
                self.escape(c);
            }
            rest = chars.as_str();
        }
        self.out.push_str(rest);
        self.out.push('"');
    }

    const fn is_escaped(&self, c: char) -> bool {
        match c {
            '"' | '\\' | '\0'..='\x1F' | '\u{2028}' | '\u{2029}' => true,
            '<' | '>' | '&' => self.html,
            _ => false,
        }
    }

    fn escape(&mut self, c: char) {
        match c {
            '"' | '\\' => self.out.extend(['\\', c]),
            '\x08' => self.out.push_str("\\b"),
            '\x0C' => self.out.push_str("\\f"),
            '\n' => self.out.push_str("\\n"),
            '\r' => self.out.push_str("\\r"),
            '\t' => self.out.push_str("\\t"),
            _ => {
                let _ = write!(self.out, "\\u{:04x}", u32::from(c));
            }
        }
    }
}
