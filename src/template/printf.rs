//! Go's package `fmt`: `Sprint`, `Sprintf` and `Sprintln` over template values.

use super::format::{Flags, Formatter};
use super::funcs::Fault;
use super::object::Object;
use super::stack;
use super::value::{GoStr, List, Map, Value};
use crate::go::decode;
use crate::limits::stack::levels;

/// Longest output of one call, in bytes.
const MAX_BYTES: usize = 256 << 20;

/// Largest width, precision and argument number that `fmt` takes.
const MAX_NUMBER: i64 = 1_000_000;

/// `fmt.Sprint`: values side by side, with a space between two that are no strings.
///
/// # Errors
/// The values nest too deep or the text grows too long.
pub fn sprint(values: &[Value]) -> Result<Vec<u8>, Fault> {
    let mut printer = Printer::default();
    let mut after_string = true;
    for value in values {
        let string = matches!(value, Value::String(_));
        if !string && !after_string {
            printer.formatter.text(" ");
        }
        printer.argument(value, 'v');
        after_string = string;
    }
    printer.finish()
}

/// `fmt.Sprintln`: values with spaces between them and a newline.
///
/// # Errors
/// As [`sprint`].
pub fn sprintln(values: &[Value]) -> Result<Vec<u8>, Fault> {
    let mut printer = Printer::default();
    for (at, value) in values.iter().enumerate() {
        printer.formatter.text(if at > 0 { " " } else { "" });
        printer.argument(value, 'v');
    }
    printer.formatter.text("\n");
    printer.finish()
}

/// `fmt.Sprintf`.
///
/// # Errors
/// As [`sprint`]; mistakes in the format become text, as in Go.
pub fn sprintf(format: &[u8], values: &[Value]) -> Result<Vec<u8>, Fault> {
    let mut printer = Printer::default();
    Verbs { format, at: 0, values, argument: 0, reordered: false, good: true, after_index: false }
        .run(&mut printer);
    printer.finish()
}

/// Appends a value as `fmt.Fprint` prints it.
///
/// # Errors
/// As [`sprint`].
pub fn print_to(out: &mut Vec<u8>, value: &Value) -> Result<(), Fault> {
    match value {
        Value::String(text) => out.extend_from_slice(text),
        Value::Int(n) | Value::Int64(n) => out.extend_from_slice(n.to_string().as_bytes()),
        other => {
            let mut printer = Printer::default();
            printer.formatter.out = std::mem::take(out);
            printer.argument(other, 'v');
            *out = printer.finish()?;
        }
    }
    Ok(())
}

/// The walk over a format string.
struct Verbs<'a> {
    format: &'a [u8],
    at: usize,
    values: &'a [Value],
    argument: usize,
    reordered: bool,
    good: bool,
    after_index: bool,
}

impl Verbs<'_> {
    fn run(mut self, printer: &mut Printer) {
        while let Some(length) = self.format.get(self.at..).filter(|rest| !rest.is_empty()).map(plain_length)
        {
            printer
                .formatter
                .out
                .extend_from_slice(self.format.get(self.at..self.at + length).unwrap_or(&[]));
            self.at += length;
            if self.at >= self.format.len() {
                break;
            }
            self.at += 1;
            printer.formatter.flags = Flags::default();
            self.verb(printer);
        }
        self.extra(printer);
    }

    fn byte(&self) -> Option<u8> {
        self.format.get(self.at).copied()
    }

    /// One verb; its `%` is past.
    fn verb(&mut self, printer: &mut Printer) {
        self.good = true;
        self.after_index = false;
        self.flags(&mut printer.formatter.flags);
        self.index();
        self.width(printer);
        self.precision(printer);
        if !self.after_index {
            self.index();
        }
        let Some((verb, size)) = self.format.get(self.at..).and_then(decode) else {
            return printer.formatter.text("%!(NOVERB)");
        };
        self.at += size;
        match self.values.get(self.argument) {
            _ if verb == '%' => printer.formatter.text("%"),
            _ if !self.good => printer.formatter.text(&format!("%!{verb}(BADINDEX)")),
            None => printer.formatter.text(&format!("%!{verb}(MISSING)")),
            Some(value) => {
                if matches!(verb, 'v' | 'w') {
                    printer.formatter.flags.start_value();
                }
                printer.argument(value, verb);
                self.argument += 1;
            }
        }
    }

    fn flags(&mut self, flags: &mut Flags) {
        while let Some(byte) = self.byte() {
            match byte {
                b'#' => flags.sharp = true,
                b'0' => flags.zero = true,
                b'+' => flags.plus = true,
                b'-' => flags.minus = true,
                b' ' => flags.space = true,
                _ => return,
            }
            self.at += 1;
        }
    }

    /// An explicit argument index, `[3]`.
    fn index(&mut self) {
        self.after_index = false;
        if self.byte() != Some(b'[') {
            return;
        }
        self.reordered = true;
        let rest = self.format.get(self.at..).unwrap_or(&[]);
        let close = rest.iter().position(|&byte| byte == b']').filter(|_| rest.len() >= 3);
        let Some(close) = close else {
            self.good = false;
            self.at += 1;
            return;
        };
        self.at += close + 1;
        let number = rest.get(1..close).and_then(whole_number);
        self.after_index = number.is_some();
        match number.and_then(|number| number.checked_sub(1)).filter(|&index| index < self.values.len()) {
            Some(index) => self.argument = index,
            None => self.good = false,
        }
    }

    fn width(&mut self, printer: &mut Printer) {
        if self.byte() != Some(b'*') {
            printer.formatter.flags.width = self.number();
            if self.after_index && printer.formatter.flags.width.is_some() {
                self.good = false;
            }
            return;
        }
        self.at += 1;
        self.after_index = false;
        let Some(width) = self.star() else { return printer.formatter.text("%!(BADWIDTH)") };
        let flags = &mut printer.formatter.flags;
        flags.width = usize::try_from(width.unsigned_abs()).ok();
        if width < 0 {
            flags.minus = true;
            flags.zero = false;
        }
    }

    fn precision(&mut self, printer: &mut Printer) {
        if self.byte() != Some(b'.') || self.at + 1 >= self.format.len() {
            return;
        }
        self.at += 1;
        if self.after_index {
            self.good = false;
        }
        self.index();
        if self.byte() != Some(b'*') {
            printer.formatter.flags.precision = Some(self.number().unwrap_or(0));
            return;
        }
        self.at += 1;
        self.after_index = false;
        printer.formatter.flags.precision = self.star().and_then(|precision| usize::try_from(precision).ok());
        if printer.formatter.flags.precision.is_none() {
            printer.formatter.text("%!(BADPREC)");
        }
    }

    /// The integer argument of a `*`.
    fn star(&mut self) -> Option<i64> {
        let value = self.values.get(self.argument)?;
        self.argument += 1;
        value.integer().filter(|number| (-MAX_NUMBER..=MAX_NUMBER).contains(number))
    }

    fn number(&mut self) -> Option<usize> {
        let rest = self.format.get(self.at..).unwrap_or(&[]);
        let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = parse_number(rest.get(..length)?);
        // An overlong number swallows the rest of the format, as in Go.
        self.at = if number.is_none() && length > 0 { self.format.len() } else { self.at + length };
        number
    }

    /// Arguments that no verb took.
    fn extra(&self, printer: &mut Printer) {
        if self.reordered || self.argument >= self.values.len() {
            return;
        }
        printer.formatter.flags = Flags::default();
        printer.formatter.text("%!(EXTRA ");
        for (at, value) in self.values.iter().skip(self.argument).enumerate() {
            printer.formatter.text(if at > 0 { ", " } else { "" });
            if matches!(value, Value::Nil) {
                printer.formatter.text("<nil>");
                continue;
            }
            printer.formatter.text(value.type_name());
            printer.formatter.text("=");
            printer.argument(value, 'v');
        }
        printer.formatter.text(")");
    }
}

fn plain_length(rest: &[u8]) -> usize {
    rest.iter().position(|&byte| byte == b'%').unwrap_or(rest.len())
}

fn parse_number(digits: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(digits).ok().filter(|text| !text.is_empty())?;
    // Go stops before the digit that would follow a number above a million.
    let head = text.get(..text.len() - 1)?;
    let small = head.is_empty() || head.parse::<i64>().is_ok_and(|number| number <= MAX_NUMBER);
    text.parse().ok().filter(|_| small)
}

fn whole_number(digits: &[u8]) -> Option<usize> {
    digits.iter().all(u8::is_ascii_digit).then(|| parse_number(digits))?
}

impl Flags {
    /// `%+v` and `%#v` are formats of their own, not flags.
    fn start_value(&mut self) {
        self.sharp_v = std::mem::replace(&mut self.sharp, false);
        self.plus_v = std::mem::replace(&mut self.plus, false);
    }
}

/// Prints values; what is wrong with a verb becomes text.
#[derive(Default)]
struct Printer {
    formatter: Formatter,
    /// Set while a bad verb is reported, when methods are not called.
    erroring: bool,
    /// Set when a bound was met and printing stopped.
    overflow: bool,
}

impl Printer {
    fn finish(self) -> Result<Vec<u8>, Fault> {
        if self.overflow {
            return Err(Fault::limit("printing a value that nests too deep or is too long", "output-bytes"));
        }
        Ok(self.formatter.out)
    }

    fn flags(&self) -> &Flags {
        &self.formatter.flags
    }

    /// An operand of the call itself.
    fn argument(&mut self, value: &Value, verb: char) {
        match (value, verb) {
            (Value::Nil, 'T' | 'v') => self.formatter.pad(b"<nil>"),
            (Value::Nil, _) => self.bad_verb(value, verb),
            (_, 'T') => self.formatter.string(value.type_name().as_bytes()),
            (Value::Bytes(_) | Value::List(_) | Value::Map(_) | Value::Object(_), 'p') => {
                self.pointer(value, verb);
            }
            (Value::Bytes(bytes), _) => self.byte_slice(bytes, verb, "[]byte"),
            _ => self.value(value, verb, 0),
        }
    }

    fn bad_verb(&mut self, value: &Value, verb: char) {
        let erroring = std::mem::replace(&mut self.erroring, true);
        self.formatter.text(&format!("%!{verb}("));
        if matches!(value, Value::Nil) {
            self.formatter.text("<nil>");
        } else {
            self.formatter.text(value.type_name());
            self.formatter.text("=");
            self.argument(value, 'v');
        }
        self.formatter.text(")");
        self.erroring = erroring;
    }

    fn value(&mut self, value: &Value, verb: char, depth: usize) {
        if depth > levels() || stack::exhausted() || self.formatter.out.len() > MAX_BYTES {
            self.overflow = true;
        }
        if self.overflow {
            return;
        }
        match value {
            Value::List(_) | Value::Map(_) | Value::Object(_) if verb == 'w' => self.bad_verb(value, verb),
            Value::Nil if self.flags().sharp_v => self.formatter.text("interface {}(nil)"),
            Value::Nil => self.formatter.text("<nil>"),
            Value::Bool(b) if matches!(verb, 't' | 'v') => self.formatter.boolean(*b),
            Value::Int(n) | Value::Int64(n) => self.integer(value, n.cast_unsigned(), true, verb),
            Value::Int32(n) => self.integer(value, i64::from(*n).cast_unsigned(), true, verb),
            Value::Uint8(n) => self.integer(value, u64::from(*n), false, verb),
            Value::Uint64(n) => self.integer(value, *n, false, verb),
            Value::Float(f) => self.float(value, *f, verb),
            Value::String(text) => self.string(value, text, verb),
            Value::Bytes(bytes) => self.byte_slice(bytes, verb, "[]uint8"),
            Value::List(list) => self.list(list, verb, depth),
            Value::Map(map) => self.map(map, verb, depth),
            Value::Object(object) => self.object(value, object.as_ref(), verb, depth),
            Value::Func(_) => self.pointer(value, verb),
            Value::Bool(_) => self.bad_verb(value, verb),
        }
    }

    fn integer(&mut self, value: &Value, bits: u64, signed: bool, verb: char) {
        match verb {
            'v' if self.flags().sharp_v && !signed => self.hex(bits, true),
            'v' | 'd' => self.formatter.integer(bits, 10, signed, verb),
            'b' => self.formatter.integer(bits, 2, signed, verb),
            'o' | 'O' => self.formatter.integer(bits, 8, signed, verb),
            'x' | 'X' => self.formatter.integer(bits, 16, signed, verb),
            'c' => self.formatter.rune(bits),
            'q' => self.formatter.quoted_rune(bits),
            'U' => self.formatter.unicode(bits),
            _ => self.bad_verb(value, verb),
        }
    }

    fn hex(&mut self, bits: u64, prefix: bool) {
        let sharp = std::mem::replace(&mut self.formatter.flags.sharp, prefix);
        self.formatter.integer(bits, 16, false, 'v');
        self.formatter.flags.sharp = sharp;
    }

    fn float(&mut self, value: &Value, float: f64, verb: char) {
        match verb {
            'v' => self.formatter.float(float, 'g', None),
            'b' | 'g' | 'G' | 'x' | 'X' => self.formatter.float(float, verb, None),
            'f' | 'e' | 'E' => self.formatter.float(float, verb, Some(6)),
            'F' => self.formatter.float(float, 'f', Some(6)),
            _ => self.bad_verb(value, verb),
        }
    }

    fn string(&mut self, value: &Value, text: &[u8], verb: char) {
        match verb {
            'v' if self.flags().sharp_v => self.formatter.quoted(text),
            'v' | 's' => self.formatter.string(text),
            'x' | 'X' => self.formatter.hex(text, verb),
            'q' => self.formatter.quoted(text),
            _ => self.bad_verb(value, verb),
        }
    }

    fn byte_slice(&mut self, bytes: &GoStr, verb: char, type_name: &str) {
        match verb {
            'v' | 'd' if self.flags().sharp_v && bytes.is_nil() => {
                self.formatter.text(type_name);
                self.formatter.text("(nil)");
            }
            's' => self.formatter.string(bytes),
            'x' | 'X' => self.formatter.hex(bytes, verb),
            'q' => self.formatter.quoted(bytes),
            _ => {
                let items: Vec<Value> = bytes.iter().map(|&byte| Value::Uint8(byte)).collect();
                let type_name = if matches!(verb, 'v' | 'd') { type_name } else { "[]uint8" };
                self.items(type_name, &items, verb, 0);
            }
        }
    }

    fn list(&mut self, list: &List, verb: char, depth: usize) {
        if self.flags().sharp_v && list.is_nil() {
            self.formatter.text(list.ty().name);
            return self.formatter.text("(nil)");
        }
        self.items(list.ty().name, list, verb, depth);
    }

    fn items(&mut self, type_name: &str, items: &[Value], verb: char, depth: usize) {
        let sharp = self.flags().sharp_v;
        self.formatter.text(if sharp { type_name } else { "" });
        self.formatter.text(if sharp { "{" } else { "[" });
        for (at, item) in items.iter().enumerate() {
            self.separate(at);
            self.element(item, verb, depth);
        }
        self.formatter.text(if sharp { "}" } else { "]" });
    }

    fn separate(&mut self, at: usize) {
        let separator = if self.flags().sharp_v { ", " } else { " " };
        self.formatter.text(if at > 0 { separator } else { "" });
    }

    /// A value inside another; nil is an interface there.
    fn element(&mut self, value: &Value, verb: char, depth: usize) {
        self.value(value, verb, depth + 1);
    }

    fn map(&mut self, map: &Map, verb: char, depth: usize) {
        let sharp = self.flags().sharp_v;
        self.formatter.text(if sharp { map.ty().name } else { "map" });
        if sharp && map.is_nil() {
            return self.formatter.text("(nil)");
        }
        self.formatter.text(if sharp { "{" } else { "[" });
        for (at, (key, item)) in map.entries().iter().enumerate() {
            self.separate(at);
            self.element(&Value::String(key.clone()), verb, depth);
            self.formatter.text(":");
            self.element(item, verb, depth);
        }
        self.formatter.text(if sharp { "}" } else { "]" });
    }

    fn object(&mut self, value: &Value, object: &dyn Object, verb: char, depth: usize) {
        let method = !self.erroring && !self.flags().sharp_v && matches!(verb, 'v' | 's' | 'x' | 'X' | 'q');
        if let Some(text) = object.text().filter(|_| method && !object.is_nil()) {
            return self.string(value, text.as_bytes(), verb);
        }
        let go_text = || object.go_text().filter(|_| self.flags().sharp_v && !self.erroring);
        if let Some(text) = go_text() {
            return self.formatter.string(text.as_bytes());
        }
        if let Some(number) = object.number() {
            return self.number(value, number, verb);
        }
        match object.type_name().strip_prefix('*') {
            // Pointers print as addresses below the top, so that cycles end.
            Some(_) if depth > 0 || object.is_nil() => self.pointer(value, verb),
            Some(name) => {
                self.formatter.text("&");
                self.fields(object, name, verb, depth);
            }
            None => self.fields(object, object.type_name(), verb, depth),
        }
    }

    /// A named number; a wrong verb names its own type.
    fn number(&mut self, value: &Value, number: &Value, verb: char) {
        match number {
            Value::Int(n) | Value::Int64(n) => self.integer(value, n.cast_unsigned(), true, verb),
            other => self.value(other, verb, 0),
        }
    }

    fn fields(&mut self, object: &dyn Object, type_name: &str, verb: char, depth: usize) {
        let Flags { sharp_v, plus_v, .. } = *self.flags();
        self.formatter.text(if sharp_v { type_name } else { "" });
        self.formatter.text("{");
        for (at, field) in object.printed_fields().iter().enumerate() {
            self.separate(at);
            if sharp_v || plus_v {
                self.formatter.text(field.name);
                self.formatter.text(":");
            }
            self.element(&field.value, verb, depth);
        }
        self.formatter.text("}");
    }

    /// An address; always the same one, so that equal input prints equal output.
    fn pointer(&mut self, value: &Value, verb: char) {
        let address = if value.is_nil() { 0 } else { 0xc0_0000_0000 };
        match verb {
            'v' if self.flags().sharp_v => {
                let inside = if address == 0 { "nil".to_owned() } else { format!("{address:#x}") };
                self.formatter.text(&format!("({})({inside})", value.type_name()));
            }
            'v' if address == 0 => self.formatter.pad(b"<nil>"),
            'v' | 'p' => self.hex(address, !self.flags().sharp),
            'b' | 'o' | 'd' | 'x' | 'X' => self.integer(value, address, false, verb),
            _ => self.bad_verb(value, verb),
        }
    }
}
