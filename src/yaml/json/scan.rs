//! Reads JSON and says what is wrong with it in the words of Go's `encoding/json`.
//!
//! Behaviour: Go 1.26, `encoding/json`, `scanner.go` and `decode.go`.

use serde_json::{Map, Value};

use crate::limits::stack;

const END: &str = "unexpected end of JSON input";

/// Reads one value and nothing after it but whitespace.
pub(super) fn decode(text: &[u8]) -> Result<Value, String> {
    let mut scanner = Scanner::new(text, false);
    let value = scanner.value()?;
    scanner.skip_space();
    if scanner.pos < text.len() {
        return Err(scanner.unexpected("after top-level value"));
    }
    scanner.out_of_range.map_or(Ok(value), Err)
}

/// Reads a file of one value by `json.Decoder` with `UseNumber`, as santhosh-tekuri/jsonschema v6.0.2 `loader.go`,
/// `UnmarshalJSON` does: integers stay integers, and the end of the text has other words.
pub(super) fn decode_file(text: &[u8]) -> Result<Value, String> {
    let mut scanner = Scanner::new(text, true);
    scanner.skip_space();
    if scanner.pos == text.len() {
        return Err("EOF".to_owned());
    }
    let value =
        scanner.value().map_err(|error| if error == END { "unexpected EOF".to_owned() } else { error })?;
    scanner.skip_space();
    let over = scanner.pos == text.len();
    if over { Ok(value) } else { Err("invalid character after top-level value".to_owned()) }
}

/// Reads the first value by `json.Decoder`; what follows is somebody else's.
pub(super) fn decode_first(text: &[u8]) -> Result<Option<(Value, usize)>, String> {
    let mut scanner = Scanner::new(text, false);
    scanner.skip_space();
    if scanner.pos == text.len() {
        return Ok(None);
    }
    let value =
        scanner.value().map_err(|error| if error == END { "unexpected EOF".to_owned() } else { error })?;
    scanner.out_of_range.map_or(Ok(Some((value, scanner.pos))), Err)
}

struct Scanner<'t> {
    bytes: &'t [u8],
    pos: usize,
    depth: usize,
    /// Whether numbers stay what they are; otherwise all become floats.
    exact: bool,
    /// The first number that no float can hold; Go says so only after the whole text was read.
    out_of_range: Option<String>,
}

impl<'t> Scanner<'t> {
    fn new(bytes: &'t [u8], exact: bool) -> Self {
        Self { bytes, pos: 0, depth: 0, exact, out_of_range: None }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.pos).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.pos += 1;
        }
    }

    /// The complaint about the character here.
    fn unexpected(&self, context: &str) -> String {
        let Some(byte) = self.peek() else { return END.to_owned() };
        let shown = match byte {
            b'\'' => "\\'".to_owned(),
            b'"' => "\"".to_owned(),
            _ => crate::go::quote(char::from(byte).encode_utf8(&mut [0; 4])).trim_matches('"').to_owned(),
        };
        format!("invalid character '{shown}' {context}")
    }

    fn value(&mut self) -> Result<Value, String> {
        self.skip_space();
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal("true", Value::Bool(true)),
            Some(b'f') => self.literal("false", Value::Bool(false)),
            Some(b'n') => self.literal("null", Value::Null),
            _ => Err(self.unexpected("looking for beginning of value")),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value, String>) -> Result<Value, String> {
        self.depth += 1;
        if self.depth > stack::levels() {
            return Err(self.unexpected("exceeded max depth"));
        }
        self.pos += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    /// Whether `close` follows at once.
    fn closes(&mut self, close: u8) -> bool {
        self.skip_space();
        let closes = self.peek() == Some(close);
        self.pos += usize::from(closes);
        closes
    }

    /// Takes `,` (`true`) or `close` (`false`).
    fn continues(&mut self, close: u8, context: &str) -> Result<bool, String> {
        self.skip_space();
        let comma = match self.peek() {
            Some(b',') => true,
            Some(byte) if byte == close => false,
            _ => return Err(self.unexpected(context)),
        };
        self.pos += 1;
        Ok(comma)
    }

    fn object(&mut self) -> Result<Value, String> {
        let mut map = Map::new();
        if self.closes(b'}') {
            return Ok(Value::Object(map));
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("looking for beginning of object key string"));
            }
            let key = self.string()?;
            self.skip_space();
            if self.peek() != Some(b':') {
                return Err(self.unexpected("after object key"));
            }
            self.pos += 1;
            let value = self.value()?;
            map.insert(key, value);
            if !self.continues(b'}', "after object key:value pair")? {
                return Ok(Value::Object(map));
            }
        }
    }

    fn array(&mut self) -> Result<Value, String> {
        let mut items = Vec::new();
        if self.closes(b']') {
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value()?);
            if !self.continues(b']', "after array element")? {
                return Ok(Value::Array(items));
            }
        }
    }

    fn literal(&mut self, word: &str, value: Value) -> Result<Value, String> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                let context = format!("in literal {word} (expecting '{}')", char::from(expected));
                return Err(self.unexpected(&context));
            }
            self.pos += 1;
        }
        Ok(value)
    }

    fn digits(&mut self) -> usize {
        let from = self.pos;
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.pos += 1;
        }
        self.pos - from
    }

    fn number(&mut self) -> Result<Value, String> {
        let from = self.pos;
        self.pos += usize::from(self.peek() == Some(b'-'));
        match self.peek() {
            Some(b'0') => self.pos += 1,
            _ if self.digits() > 0 => {}
            _ => return Err(self.unexpected("in numeric literal")),
        }
        if self.peek() == Some(b'.') {
            self.pos += 1;
            if self.digits() == 0 {
                return Err(self.unexpected("after decimal point in numeric literal"));
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.pos += 1;
            self.pos += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            if self.digits() == 0 {
                return Err(self.unexpected("in exponent of numeric literal"));
            }
        }
        let text = self.bytes.get(from..self.pos).and_then(|b| std::str::from_utf8(b).ok()).unwrap_or("");
        if self.exact
            && let Ok(number) = text.parse::<i64>()
        {
            return Ok(Value::from(number));
        }
        let float = text.parse::<f64>().unwrap_or(f64::INFINITY);
        if float.is_infinite() {
            let complaint = format!("json: cannot unmarshal number {text} into Go value of type float64");
            self.out_of_range.get_or_insert(complaint);
        }
        // The nearest there is, where Go keeps the digits.
        Ok(Value::from(if self.exact { float.clamp(f64::MIN, f64::MAX) } else { float }))
    }

    fn string(&mut self) -> Result<String, String> {
        self.pos += 1;
        let mut out = Vec::new();
        loop {
            let from = self.pos;
            while self.peek().is_some_and(|b| b >= b' ' && b != b'"' && b != b'\\') {
                self.pos += 1;
            }
            out.extend_from_slice(self.bytes.get(from..self.pos).unwrap_or(&[]));
            match self.peek() {
                Some(b'"') => {
                    self.pos += 1;
                    return Ok(crate::yaml::decode::go_string(&out));
                }
                Some(b'\\') => {
                    self.pos += 1;
                    let c = self.escape()?;
                    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => return Err(self.unexpected("in string literal")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let c = match self.peek() {
            Some(b'b') => '\x08',
            Some(b'f') => '\x0C',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'u') => return self.unicode(),
            _ => return Err(self.unexpected("in string escape code")),
        };
        self.pos += 1;
        Ok(c)
    }

    /// Takes `uXXXX`, and the second half of a pair; half a pair is U+FFFD.
    fn unicode(&mut self) -> Result<char, String> {
        self.pos += 1;
        let first = self.hex()?;
        if let Some(c) = char::from_u32(first) {
            return Ok(c);
        }
        let after_first = self.pos;
        if first < 0xDC00 && self.bytes.get(self.pos..self.pos + 2) == Some(b"\\u") {
            self.pos += 2;
            let second = self.hex()?;
            if (0xDC00..0xE000).contains(&second) {
                let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
        self.pos = after_first;
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn hex(&mut self) -> Result<u32, String> {
        let mut value = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|b| char::from(b).to_digit(16));
            value =
                value << 4 | digit.ok_or_else(|| self.unexpected("in \\u hexadecimal character escape"))?;
            self.pos += 1;
        }
        Ok(value)
    }
}
