//! JSON for programs; docs/report.schema.json describes it.

use std::io::{self, BufWriter, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

use super::{Report, Style};

/// Values nested deeper than this stand on one line: the exchanges and events of a step, thousands of small objects.
const LINES: usize = 12;
/// Bytes that are handed on at a time.
const CHUNK: usize = 64 << 10;

pub(super) fn write(report: &Report, _: Style, out: &mut dyn Write) -> io::Result<()> {
    value(report, LINES, out)
}

/// Writes a value with a line for each member and item down to a depth, and a line break at its end.
///
/// # Errors
/// When the writer fails.
pub fn value<T: Serialize>(value: &T, lines: usize, out: &mut dyn Write) -> io::Result<()> {
    let layout = Layout { lines, depth: 0, filled: false };
    // Words go into a buffer whose type is known, which is much quicker than a call through the trait for each.
    let mut buffered = BufWriter::with_capacity(CHUNK, out);
    value.serialize(&mut Serializer::with_formatter(&mut buffered, layout)).map_err(io::Error::other)?;
    buffered.write_all(b"\n")?;
    buffered.flush()
}

/// Indented by two spaces down to a depth, flat below it.
struct Layout {
    lines: usize,
    depth: usize,
    /// Whether the array or object that is open has anything in it.
    filled: bool,
}

impl Layout {
    fn open<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.filled = false;
        out.write_all(bracket)
    }

    fn close<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        let breaks = self.filled && self.depth <= self.lines;
        self.depth -= 1;
        self.filled = true;
        if breaks {
            self.line(out)?;
        }
        out.write_all(bracket)
    }

    fn next<W: ?Sized + Write>(&self, out: &mut W, first: bool) -> io::Result<()> {
        let breaks = self.depth <= self.lines;
        out.write_all(match (first, breaks) {
            (true, _) => b"",
            (false, true) => b",",
            (false, false) => b", ",
        })?;
        if breaks { self.line(out) } else { Ok(()) }
    }

    fn line<W: ?Sized + Write>(&self, out: &mut W) -> io::Result<()> {
        out.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| out.write_all(b"  "))
    }
}

impl Formatter for Layout {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.next(out, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.next(out, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn written(of: &Value, lines: usize) -> String {
        let mut out = Vec::new();
        value(of, lines, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn deep_values_stand_on_one_line() {
        let of = json!({"a": [{"b": 1, "c": [2, {}]}, {"b": []}], "d": {}});
        let wanted =
            "{\n  \"a\": [\n    {\"b\": 1, \"c\": [2, {}]},\n    {\"b\": []}\n  ],\n  \"d\": {}\n}\n";
        assert_eq!(written(&of, 2), wanted);
    }

    #[test]
    fn without_depth_it_is_what_everybody_writes() {
        let of = json!({"a": [{"b": 1, "c": [2, {}, []]}], "d": {"e": "f"}});
        assert_eq!(written(&of, 100), serde_json::to_string_pretty(&of).unwrap() + "\n");
        assert_eq!(serde_json::from_str::<Value>(&written(&of, 0)).unwrap(), of);
    }
}
