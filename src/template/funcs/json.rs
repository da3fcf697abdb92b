//! JSON as Go's `encoding/json` writes and reads it, for functions that answer in its words.

use super::Fault;
use crate::go::quote::{Escape, quote, quote_rune};
use crate::limits::stack::levels;
use crate::template::float::format_float;
use crate::template::object::{Object, json_members};
use crate::template::value::{GoStr, Map, Value};

/// Deepest nesting, as in Go.
const DEPTH: usize = 10_000;

/// How JSON is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// Whether `<`, `>` and `&` are escaped.
    pub(super) html: bool,
    /// Whether every member has a line of its own, indented by two spaces.
    pub(super) pretty: bool,
}

/// Writes a value.
///
/// # Errors
/// Go's words for what JSON cannot hold.
pub(super) fn encode(value: &Value, style: Style) -> Result<Vec<u8>, Fault> {
    let mut writer = Writer { out: Vec::new(), style, depth: 0 };
    writer.value(value)?;
    Ok(writer.out)
}

/// `json.Marshal`.
///
/// # Errors
/// Go's words for what JSON cannot hold.
pub fn marshal(value: &Value) -> Result<GoStr, Fault> {
    encode(value, Style { html: true, pretty: false }).map(GoStr::from)
}

struct Writer {
    out: Vec<u8>,
    style: Style,
    depth: usize,
}

impl Writer {
    fn value(&mut self, value: &Value) -> Result<(), Fault> {
        match value {
            Value::Nil => self.text("null"),
            Value::Bool(b) => self.text(if *b { "true" } else { "false" }),
            Value::Float(f) => self.float(*f)?,
            Value::Uint64(n) => self.text(&n.to_string()),
            Value::String(text) => self.string(text),
            Value::Bytes(bytes) if bytes.is_nil() => self.text("null"),
            Value::Bytes(bytes) => {
                let encoded = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, bytes);
                self.string(encoded.as_bytes());
            }
            Value::List(list) if list.is_nil() => self.text("null"),
            Value::Map(map) if map.is_nil() => self.text("null"),
            Value::List(list) => self.members(b"[]", list.iter(), Self::value)?,
            Value::Map(map) => self.map(map)?,
            Value::Object(object) if value.kind() != "complex128" => self.object(object.as_ref())?,
            Value::Func(_) | Value::Object(_) => {
                return Err(Fault::new(format!("json: unsupported type: {}", value.type_name())));
            }
            number => self.text(&number.as_int().unwrap_or_default().to_string()),
        }
        Ok(())
    }

    fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn members<T>(
        &mut self,
        brackets: &[u8; 2],
        members: impl ExactSizeIterator<Item = T>,
        write: fn(&mut Self, T) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        if self.depth > DEPTH {
            return Err(Fault::new("json: unsupported value: encountered a cycle"));
        }
        let [open, close] = *brackets;
        let empty = members.len() == 0;
        self.out.push(open);
        self.depth += 1;
        for (at, member) in members.enumerate() {
            self.text(if at == 0 { "" } else { "," });
            self.line();
            write(self, member)?;
        }
        self.depth -= 1;
        if !empty {
            self.line();
        }
        self.out.push(close);
        Ok(())
    }

    fn line(&mut self) {
        if self.style.pretty {
            self.out.push(b'\n');
            self.out.resize(self.out.len() + 2 * self.depth, b' ');
        }
    }

    fn map(&mut self, map: &Map) -> Result<(), Fault> {
        self.members(b"{}", map.snapshot().into_iter(), |writer, (key, value)| writer.member(&key, &value))
    }

    fn member(&mut self, key: &[u8], value: &Value) -> Result<(), Fault> {
        self.string(key);
        self.text(if self.style.pretty { ": " } else { ":" });
        self.value(value)
    }

    fn object(&mut self, object: &dyn Object) -> Result<(), Fault> {
        if object.is_nil() {
            self.text("null");
        } else if let Some(number) = object.number() {
            self.value(number)?;
        } else if let Some(text) = object.json_text().filter(|_| object.fields().is_empty()) {
            let of = object.type_name();
            let refused = |why| Fault::new(format!("json: error calling MarshalJSON for type {of}: {why}"));
            self.string(text.map_err(refused)?.as_bytes());
        } else {
            self.members(b"{}", json_members(object).into_iter(), |writer, (name, value)| {
                writer.member(name.as_bytes(), &value)
            })?;
        }
        Ok(())
    }

    /// As ECMAScript prints numbers: an exponent below 1e-6 and from 1e21 on.
    fn float(&mut self, float: f64) -> Result<(), Fault> {
        if !float.is_finite() {
            let name = if float.is_nan() { "NaN" } else { ["-Inf", "+Inf"][usize::from(float > 0.0)] };
            return Err(Fault::new(format!("json: unsupported value: {name}")));
        }
        let magnitude = float.abs();
        let plain = magnitude == 0.0 || (1e-6..1e21).contains(&magnitude);
        let text = format_float(float, if plain { 'f' } else { 'e' }, None);
        // `1e-07` is cut to `1e-7`.
        self.text(&text.replace("e-0", "e-"));
        Ok(())
    }

    fn string(&mut self, text: &[u8]) {
        self.out.push(b'"');
        for chunk in text.utf8_chunks() {
            chunk.valid().chars().for_each(|c| self.character(c));
            chunk.invalid().iter().for_each(|_| self.text("\\ufffd"));
        }
        self.out.push(b'"');
    }

    fn character(&mut self, c: char) {
        match c {
            '"' => self.text("\\\""),
            '\\' => self.text("\\\\"),
            '\n' => self.text("\\n"),
            '\r' => self.text("\\r"),
            '\t' => self.text("\\t"),
            '\x08' => self.text("\\b"),
            '\x0c' => self.text("\\f"),
            '<' | '>' | '&' if self.style.html => self.text(&format!("\\u{:04x}", u32::from(c))),
            c if c < ' ' || matches!(c, '\u{2028}' | '\u{2029}') => {
                self.text(&format!("\\u{:04x}", u32::from(c)));
            }
            c => self.text(c.encode_utf8(&mut [0; 4])),
        }
    }
}

/// Reads a value; every number becomes a `float64`.
///
/// # Errors
/// Go's words for what is no JSON.
pub(super) fn decode(text: &[u8]) -> Result<Value, Fault> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    // Go checks the whole text before it makes a value of it, so syntax comes before range.
    let value = reader.value("looking for beginning of value")?;
    reader.space();
    match reader.peek() {
        Some(_) => reader.unexpected("after top-level value"),
        None => value.map_err(Fault::new),
    }
}

/// A value, or why it is out of range.
type Decoded = Result<Value, String>;

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn unexpected<T>(&self, context: &str) -> Result<T, Fault> {
        // At its end Go reads one more space, and complains of it only where no space may stand.
        let spaceless = context.starts_with("in ") && context != "in string literal";
        let byte = match self.peek() {
            Some(byte) => byte,
            None if spaceless || context.starts_with("after decimal point") => b' ',
            None => return Err(Fault::new("unexpected end of JSON input")),
        };
        let shown = match byte {
            b'\'' => r"'\''".to_owned(),
            b'"' => "'\"'".to_owned(),
            // Upstream takes the byte for a character.
            byte => {
                let quoted = quote(char::from(byte).to_string());
                format!("'{}'", quoted.trim_matches('"'))
            }
        };
        Err(Fault::new(format!("invalid character {shown} {context}")))
    }

    fn value(&mut self, context: &str) -> Result<Decoded, Fault> {
        self.space();
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => Ok(Ok(Value::str(self.string()?))),
            Some(b't') => self.literal("true", Value::Bool(true)),
            Some(b'f') => self.literal("false", Value::Bool(false)),
            Some(b'n') => self.literal("null", Value::Nil),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.unexpected(context),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Decoded, Fault>) -> Result<Decoded, Fault> {
        self.depth += 1;
        if self.depth > levels() {
            return Err(Fault::new("exceeded max depth"));
        }
        self.at += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn object(&mut self) -> Result<Decoded, Fault> {
        let map = Map::dict();
        let mut failure = None;
        self.space();
        if self.take(b'}') {
            return Ok(Ok(Value::Map(map)));
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return self.unexpected("looking for beginning of object key string");
            }
            let key = self.string()?;
            self.space();
            if !self.take(b':') {
                return self.unexpected("after object key");
            }
            match self.value("looking for beginning of value")? {
                Ok(value) => map.set(key, value),
                Err(reason) => failure = failure.or(Some(reason)),
            }
            self.space();
            if self.take(b'}') {
                return Ok(failure.map_or(Ok(Value::Map(map)), Err));
            }
            if !self.take(b',') {
                return self.unexpected("after object key:value pair");
            }
        }
    }

    fn array(&mut self) -> Result<Decoded, Fault> {
        let mut items: Vec<Decoded> = Vec::new();
        self.space();
        if self.take(b']') {
            return Ok(Ok(Value::list(Vec::new())));
        }
        loop {
            items.push(self.value("looking for beginning of value")?);
            self.space();
            if self.take(b']') {
                return Ok(items.into_iter().collect::<Result<Vec<_>, _>>().map(Value::list));
            }
            if !self.take(b',') {
                return self.unexpected("after array element");
            }
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn literal(&mut self, word: &str, value: Value) -> Result<Decoded, Fault> {
        for expected in word.bytes() {
            if !self.take(expected) {
                let expected = quote_rune(u32::from(expected), Escape::Unprintable);
                return self.unexpected(&format!("in literal {word} (expecting {expected})"));
            }
        }
        Ok(Ok(value))
    }

    fn number(&mut self) -> Result<Decoded, Fault> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits("in numeric literal")?;
        }
        if self.take(b'.') {
            self.digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits("in exponent of numeric literal")?;
        }
        let text = String::from_utf8_lossy(self.text.get(start..self.at).unwrap_or_default());
        let float = text.parse().unwrap_or(f64::INFINITY);
        let fits = Some(Value::Float(float)).filter(|_| float.is_finite());
        Ok(fits.ok_or_else(|| format!("json: cannot unmarshal number {text} into Go value of type float64")))
    }

    fn digits(&mut self, context: &str) -> Result<(), Fault> {
        if !self.peek().is_some_and(|b| b.is_ascii_digit()) {
            return self.unexpected(context);
        }
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    /// A string with its quotes; invalid bytes and halves of surrogate pairs become U+FFFD.
    fn string(&mut self) -> Result<String, Fault> {
        self.at += 1;
        let mut out = Vec::new();
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(String::from_utf8_lossy(&out).into_owned());
                }
                Some(b'\\') => {
                    let c = self.escape()?;
                    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
                Some(byte) if byte >= b' ' => {
                    self.at += 1;
                    out.push(byte);
                }
                _ => return self.unexpected("in string literal"),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fault> {
        self.at += 1;
        let c = match self.peek() {
            Some(b'b') => '\x08',
            Some(b'f') => '\x0c',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b @ (b'"' | b'\\' | b'/')) => char::from(b),
            Some(b'u') => return self.unicode_escape(),
            _ => return self.unexpected("in string escape code"),
        };
        self.at += 1;
        Ok(c)
    }

    fn unicode_escape(&mut self) -> Result<char, Fault> {
        let first = self.code_unit()?;
        let after = self.at;
        let low = |unit: u32| (0xDC00..0xE000).contains(&unit);
        if (0xD800..0xDC00).contains(&first)
            && self.text.get(self.at..).is_some_and(|t| t.starts_with(b"\\u"))
        {
            self.at += 1;
            let second = self.code_unit()?;
            if low(second) {
                let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = after;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    /// `u` and four hexadecimal digits.
    fn code_unit(&mut self) -> Result<u32, Fault> {
        self.at += 1;
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|b| char::from(b).to_digit(16));
            let Some(digit) = digit else { return self.unexpected("in \\u hexadecimal character escape") };
            unit = unit * 16 + digit;
            self.at += 1;
        }
        Ok(unit)
    }
}
