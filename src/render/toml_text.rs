//! TOML as Helm's `toToml` writes it.
//!
//! The form is that of BurntSushi/toml v1.6 `encode.go`: sorted keys, plain entries before tables, two spaces per level.

use crate::chart::go_text::float_g;
use crate::limits::stack::levels;
use crate::template::funcs::Fault;
use crate::template::object::Field;
use crate::template::stack;
use crate::template::value::{GoStr, List, Value};

/// Keys with their values, in order.
type Entries = Vec<(GoStr, Value)>;

/// Most that is written, in bytes: each table names all that are above it, so that depth counts twice.
const MOST: usize = 1 << 30;

/// Writes a value as a document.
///
/// # Errors
/// In the library's words: nil in an array, tables without a key.
pub(super) fn encode(value: &Value) -> Result<String, Fault> {
    if matches!(value, Value::Nil) {
        return Err(Fault::new("reflect: call of reflect.Value.Type on zero Value"));
    }
    let mut encoder = Encoder { out: String::new(), path: String::new(), depth: 0, inner: 0 };
    encoder.encode(None, value)?;
    Ok(encoder.out)
}

/// What an entry is for the order of output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Nil,
    Plain,
    Table,
    Tables,
}

struct Encoder {
    out: String,
    /// The tables that are open, as a header names them.
    path: String,
    /// How many tables are open.
    depth: usize,
    /// How many lists and inline tables are open.
    inner: usize,
}

impl Encoder {
    /// Writes a value below the open tables; `name` is the last of them, none for the document.
    fn encode(&mut self, name: Option<&GoStr>, value: &Value) -> Result<(), Fault> {
        self.bounded()?;
        match (shape(value)?, value) {
            (Shape::Nil, _) => Ok(()),
            (Shape::Tables, Value::List(list)) => self.tables(list),
            (Shape::Table, value) => self.table(&entries(value)),
            (_, value) => {
                if let Some(name) = name {
                    self.indent();
                    self.out.push_str(&bare_or_quoted(name));
                    self.out.push_str(" = ");
                    self.element(value)?;
                    self.newline();
                    return Ok(());
                }
                self.element(value)
            }
        }
    }

    /// Go has no bounds here but its memory.
    fn bounded(&self) -> Result<(), Fault> {
        if self.depth + self.inner > levels() || stack::exhausted() {
            return Err(Fault::new("toml: nested too deeply"));
        }
        if self.out.len() > MOST {
            return Err(Fault::new(format!("toml: more than {MOST} bytes")));
        }
        Ok(())
    }

    fn tables(&mut self, list: &List) -> Result<(), Fault> {
        if self.depth == 0 {
            return Err(Fault::new("toml: top-level values must be Go maps or structs"));
        }
        for item in list.iter() {
            self.newline();
            self.indent();
            self.out.push_str("[[");
            self.out.push_str(&self.path);
            self.out.push_str("]]");
            self.newline();
            self.map(&entries(item))?;
        }
        Ok(())
    }

    fn table(&mut self, entries: &[(GoStr, Value)]) -> Result<(), Fault> {
        if self.depth == 1 {
            self.newline();
        }
        if self.depth > 0 {
            self.indent();
            self.out.push('[');
            self.out.push_str(&self.path);
            self.out.push(']');
            self.newline();
        }
        self.map(entries)
    }

    fn map(&mut self, entries: &[(GoStr, Value)]) -> Result<(), Fault> {
        for tables in [false, true] {
            for (name, value) in entries {
                if is_table(value)? == tables {
                    self.below(name, value)?;
                }
            }
        }
        Ok(())
    }

    fn below(&mut self, name: &GoStr, value: &Value) -> Result<(), Fault> {
        let above = self.path.len();
        if self.depth > 0 {
            self.path.push('.');
        }
        self.path.push_str(&bare_or_quoted(name));
        self.depth += 1;
        self.encode(Some(name), value)?;
        self.depth -= 1;
        self.path.truncate(above);
        Ok(())
    }

    fn element(&mut self, value: &Value) -> Result<(), Fault> {
        match value {
            Value::String(text) => self.quoted(text),
            Value::Bool(flag) => self.out.push_str(if *flag { "true" } else { "false" }),
            Value::Float(number) => self.out.push_str(&float(*number)),
            Value::Uint64(number) => self.out.push_str(&number.to_string()),
            Value::Bytes(bytes) => {
                let items: Vec<_> = bytes.iter().map(u8::to_string).collect();
                self.out.push_str(&format!("[{}]", items.join(", ")));
            }
            Value::List(list) => return self.deeper(|encoder| encoder.array(list)),
            Value::Object(object) if object.type_name() == "time.Time" => {
                self.out.push_str(&crate::template::funcs::toml_time(value));
            }
            Value::Object(object) if object.type_name() == "time.Duration" => {
                self.quoted(&GoStr::from(object.text().unwrap_or_default()));
            }
            Value::Object(object) if object.number().is_some() => {
                return object.number().map_or(Ok(()), |number| self.element(number));
            }
            Value::Map(_) | Value::Object(_) => {
                return self.deeper(|encoder| encoder.inline(&entries(value)));
            }
            other => match other.as_int() {
                Some(number) => self.out.push_str(&number.to_string()),
                None => return Err(Fault::new(format!("unexpected type: {}", other.type_name()))),
            },
        }
        Ok(())
    }

    fn deeper(&mut self, write: impl FnOnce(&mut Self) -> Result<(), Fault>) -> Result<(), Fault> {
        self.bounded()?;
        self.inner += 1;
        write(self)?;
        self.inner -= 1;
        Ok(())
    }

    fn array(&mut self, list: &List) -> Result<(), Fault> {
        self.out.push('[');
        shape(&Value::List(list.clone()))?;
        for (index, item) in list.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            self.element(item)?;
        }
        self.out.push(']');
        Ok(())
    }

    fn inline(&mut self, entries: &[(GoStr, Value)]) -> Result<(), Fault> {
        self.out.push('{');
        let mut sorted = Vec::new();
        for tables in [false, true] {
            for (name, value) in entries {
                if is_table(value)? == tables {
                    sorted.push((name, value));
                }
            }
        }
        for (index, (name, value)) in sorted.iter().enumerate() {
            if shape(value)? == Shape::Nil {
                continue;
            }
            self.out.push_str(&bare_or_quoted(name));
            self.out.push_str(" = ");
            self.element(value)?;
            // Go leaves out what is nil, not the comma before it.
            if index + 1 < sorted.len() {
                self.out.push_str(", ");
            }
        }
        self.out.push('}');
        Ok(())
    }

    fn quoted(&mut self, text: &GoStr) {
        self.out.push_str(&quote(&text.lossy()));
    }

    fn indent(&mut self) {
        self.out.push_str(&"  ".repeat(self.depth.saturating_sub(1)));
    }

    fn newline(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
    }
}

/// What a table holds: a map by its keys, a struct by the order of its fields, those of embedded structs among them.
fn entries(value: &Value) -> Entries {
    match value {
        Value::Map(map) => map.snapshot(),
        Value::Object(object) => object.fields().iter().flat_map(fields).collect(),
        _ => Entries::new(),
    }
}

fn fields(field: &Field) -> Entries {
    if field.embedded { entries(&field.value) } else { vec![(GoStr::from(field.name), field.value.clone())] }
}

fn shape(value: &Value) -> Result<Shape, Fault> {
    Ok(match value {
        Value::Nil => Shape::Nil,
        Value::Map(map) if map.is_nil() => Shape::Nil,
        Value::Map(_) => Shape::Table,
        Value::Object(object) if object.number().is_some() || object.type_name() == "time.Time" => {
            Shape::Plain
        }
        Value::Object(object) => {
            if object.is_nil() {
                Shape::Nil
            } else {
                Shape::Table
            }
        }
        Value::List(list) if list.is_nil() => Shape::Nil,
        Value::List(list) => {
            let mut tables = !list.is_empty();
            for item in list.iter() {
                match shape(item)? {
                    Shape::Nil => return Err(Fault::new("toml: cannot encode array with nil element")),
                    inner => tables &= inner == Shape::Table,
                }
            }
            if tables { Shape::Tables } else { Shape::Plain }
        }
        _ => Shape::Plain,
    })
}

fn is_table(value: &Value) -> Result<bool, Fault> {
    Ok(matches!(shape(value)?, Shape::Table | Shape::Tables))
}

fn bare_or_quoted(name: &GoStr) -> String {
    let bare = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !name.is_empty() && name.iter().all(bare) { name.lossy().into_owned() } else { quote(&name.lossy()) }
}

pub(super) fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            c if c.is_ascii_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Every float has a point or an exponent.
fn float(number: f64) -> String {
    match number {
        n if n.is_nan() => "nan".to_owned(),
        n if n.is_infinite() => if n > 0.0 { "inf" } else { "-inf" }.to_owned(),
        n => {
            let text = float_g(n);
            if text.contains(['.', 'e']) { text } else { format!("{text}.0") }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_entries_come_before_tables() {
        let json = serde_json::json!({
            "a": {"b": 1, "c": "x", "deep": {"y": [1, 2]}},
            "d": true,
            "list": [{"k": 1}, {"k": 2}],
        });
        let text = encode(&Value::from_json_exact(&json)).unwrap();
        assert_eq!(
            text,
            "d = true\n\n[a]\n  b = 1\n  c = \"x\"\n  [a.deep]\n    y = [1, 2]\n\n[[list]]\n  k = 1\n\n[[list]]\n  k = 2\n"
        );
    }

    #[test]
    fn a_comma_stands_before_what_is_left_out() {
        let json = serde_json::json!({"v": ["x", {"a": 1, "b": null}, {"a": null}, {"a": null, "b": 2}]});
        let text = encode(&Value::from_json_exact(&json)).unwrap();
        assert_eq!(text, "v = [\"x\", {a = 1, }, {}, {b = 2}]\n");
    }

    #[test]
    fn floats_keep_a_point() {
        let text = encode(&Value::from_json(&serde_json::json!({"f": 1, "g": 2.5, "h": 1_000_000}))).unwrap();
        assert_eq!(text, "f = 1.0\ng = 2.5\nh = 1e+06\n");
    }

    #[test]
    fn tables_nest_as_deep_as_values() {
        let depth = 3_000;
        let text = crate::limits::stack::deep(|| {
            let json = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
            encode(&Value::from_json(&crate::yaml::json::decode(json.as_bytes()).unwrap())).unwrap()
        });
        let text = text.unwrap();
        assert!(text.ends_with("a = 1.0\n"));
        assert_eq!(text.matches("[a").count(), depth - 1);
    }
}
