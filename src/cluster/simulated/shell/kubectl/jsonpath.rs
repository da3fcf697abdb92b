//! JSONPath as kubectl knows it: paths, ranges, filters and quoted texts in braces.
//!
//! Source of behaviour: client-go 0.34, `util/jsonpath`. A missing field gives nothing.

use serde_json::Value;

/// How deep filters and ranges may nest.
const DEPTH: usize = 20;

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Text(String),
    Path(Vec<Step>),
    Range(Vec<Step>, Vec<Node>),
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(String),
    Index(i64),
    Slice(Option<i64>, Option<i64>),
    All,
    Recursive,
    Filter(Operand, Option<(String, Operand)>),
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Path(Vec<Step>),
    Literal(Value),
}

/// Evaluates a template.
///
/// # Errors
/// What is wrong with the template.
pub(super) fn evaluate(template: &str, root: &Value) -> Result<String, String> {
    let mut reader = Reader { text: template.chars().collect(), at: 0, depth: 0 };
    let nodes = reader.nodes(false)?;
    let mut out = String::new();
    write_nodes(&nodes, root, &mut out);
    Ok(out)
}

/// The values of one path, such as `.status.phase` or `{.status.phase}`.
///
/// # Errors
/// What is wrong with the path.
pub(super) fn select<'v>(path: &str, root: &'v Value) -> Result<Vec<&'v Value>, String> {
    let path = path.trim().trim_start_matches('{').trim_end_matches('}');
    let path = if path.starts_with(['.', '[', '$']) { path.to_owned() } else { format!(".{path}") };
    let mut reader = Reader { text: path.chars().collect(), at: 0, depth: 0 };
    let steps = reader.path()?;
    if reader.at < reader.text.len() {
        return Err("unexpected character".to_owned());
    }
    Ok(walk(&steps, root))
}

fn write_nodes(nodes: &[Node], current: &Value, out: &mut String) {
    for node in nodes {
        match node {
            Node::Text(text) => out.push_str(text),
            Node::Path(steps) => {
                let texts: Vec<String> = walk(steps, current).into_iter().map(shown).collect();
                out.push_str(&texts.join(" "));
            }
            Node::Range(steps, body) => {
                for item in walk(steps, current) {
                    write_nodes(body, item, out);
                }
            }
        }
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn walk<'v>(steps: &[Step], from: &'v Value) -> Vec<&'v Value> {
    let mut values = vec![from];
    for step in steps {
        values = values.into_iter().flat_map(|value| take(step, value)).collect();
    }
    values
}

fn take<'v>(step: &Step, value: &'v Value) -> Vec<&'v Value> {
    match step {
        Step::Field(name) => value.get(name).into_iter().collect(),
        Step::Index(index) => at(value, *index).into_iter().collect(),
        Step::Slice(from, to) => slice(value, *from, *to),
        Step::All => match value {
            Value::Array(items) => items.iter().collect(),
            Value::Object(map) => map.values().collect(),
            _ => Vec::new(),
        },
        Step::Recursive => {
            let mut all = Vec::new();
            descend(value, &mut all);
            all
        }
        Step::Filter(left, comparison) => {
            let items = value.as_array().into_iter().flatten();
            items.filter(|item| holds(left, comparison.as_ref(), item)).collect()
        }
    }
}

fn at(value: &Value, index: i64) -> Option<&Value> {
    let items = value.as_array()?;
    let index = if index < 0 { index + i64::try_from(items.len()).ok()? } else { index };
    items.get(usize::try_from(index).ok()?)
}

fn slice(value: &Value, from: Option<i64>, to: Option<i64>) -> Vec<&Value> {
    let Some(items) = value.as_array() else { return Vec::new() };
    let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
    let clamp = |i: i64| (if i < 0 { i + length } else { i }).clamp(0, length);
    let (from, to) = (clamp(from.unwrap_or(0)), clamp(to.unwrap_or(length)));
    let skip = usize::try_from(from).unwrap_or(0);
    items.iter().skip(skip).take(usize::try_from(to - from).unwrap_or(0)).collect()
}

fn descend<'v>(value: &'v Value, all: &mut Vec<&'v Value>) {
    all.push(value);
    match value {
        Value::Array(items) => items.iter().for_each(|item| descend(item, all)),
        Value::Object(map) => map.values().for_each(|item| descend(item, all)),
        _ => {}
    }
}

fn holds(left: &Operand, comparison: Option<&(String, Operand)>, item: &Value) -> bool {
    let left = operand(left, item);
    let Some((operator, right)) = comparison else { return left.is_some() };
    let right = operand(right, item);
    let (Some(left), Some(right)) = (left, right) else { return operator == "!=" };
    let order = match (left.as_f64(), right.as_f64()) {
        (Some(l), Some(r)) => l.partial_cmp(&r),
        _ => Some(shown(&left).cmp(&shown(&right))),
    };
    order.is_some_and(|order| match operator.as_str() {
        "==" => order.is_eq(),
        "!=" => order.is_ne(),
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        _ => order.is_ge(),
    })
}

fn operand(operand: &Operand, item: &Value) -> Option<Value> {
    match operand {
        Operand::Literal(value) => Some(value.clone()),
        Operand::Path(steps) => walk(steps, item).first().map(|v| (*v).clone()),
    }
}

struct Reader {
    text: Vec<char>,
    at: usize,
    depth: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = text.chars().enumerate().all(|(i, c)| self.text.get(self.at + i) == Some(&c));
        self.at += if found { text.chars().count() } else { 0 };
        found
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    fn nodes(&mut self, inner: bool) -> Result<Vec<Node>, String> {
        if self.depth > DEPTH {
            return Err("nests too deeply".to_owned());
        }
        self.depth += 1;
        let mut nodes = Vec::new();
        while let Some(c) = self.peek() {
            if c != '{' {
                nodes.push(self.literal());
                continue;
            }
            self.at += 1;
            self.blanks();
            if self.eat("end") {
                self.close()?;
                self.depth -= 1;
                return if inner { Ok(nodes) } else { Err("unexpected end".to_owned()) };
            }
            self.action(&mut nodes)?;
        }
        self.depth -= 1;
        if inner { Err("range without end".to_owned()) } else { Ok(nodes) }
    }

    fn literal(&mut self) -> Node {
        let start = self.at;
        while self.peek().is_some_and(|c| c != '{') {
            self.at += 1;
        }
        Node::Text(self.text[start..self.at].iter().collect())
    }

    fn close(&mut self) -> Result<(), String> {
        self.blanks();
        if self.eat("}") { Ok(()) } else { Err("unclosed action".to_owned()) }
    }

    /// What stands between braces: a range, or paths and texts.
    fn action(&mut self, nodes: &mut Vec<Node>) -> Result<(), String> {
        if self.eat("range") {
            self.blanks();
            let steps = self.path()?;
            self.close()?;
            let body = self.nodes(true)?;
            nodes.push(Node::Range(steps, body));
            return Ok(());
        }
        loop {
            self.blanks();
            match self.peek() {
                Some('}') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(quote @ ('"' | '\'')) => nodes.push(Node::Text(self.quoted(quote)?)),
                Some(_) => nodes.push(Node::Path(self.path()?)),
                None => return Err("unclosed action".to_owned()),
            }
        }
    }

    fn quoted(&mut self, quote: char) -> Result<String, String> {
        self.at += 1;
        let mut out = String::new();
        while let Some(c) = self.peek() {
            self.at += 1;
            match c {
                c if c == quote => return Ok(out),
                '\\' => {
                    match self.peek() {
                        Some('n') => out.push('\n'),
                        Some('t') => out.push('\t'),
                        Some('r') => out.push('\r'),
                        Some(c) => out.push(c),
                        None => {}
                    }
                    self.at += 1;
                }
                c => out.push(c),
            }
        }
        Err("unclosed quote".to_owned())
    }

    fn path(&mut self) -> Result<Vec<Step>, String> {
        let start = self.at;
        let mut steps = Vec::new();
        self.at += usize::from(matches!(self.peek(), Some('$' | '@')));
        loop {
            match self.peek() {
                Some('.') => self.dotted(&mut steps)?,
                Some('[') => {
                    self.at += 1;
                    steps.push(self.bracket()?);
                }
                _ => break,
            }
        }
        if self.at == start { Err(format!("unexpected `{}`", self.peek().unwrap_or(' '))) } else { Ok(steps) }
    }

    fn dotted(&mut self, steps: &mut Vec<Step>) -> Result<(), String> {
        self.at += 1;
        if self.eat(".") {
            steps.push(Step::Recursive);
        }
        if self.eat("*") {
            steps.push(Step::All);
            return Ok(());
        }
        let name = self.field();
        if !name.is_empty() {
            steps.push(Step::Field(name));
        }
        Ok(())
    }

    fn field(&mut self) -> String {
        let mut name = String::new();
        while let Some(c) = self.peek() {
            match c {
                '\\' => {
                    self.at += 1;
                    name.extend(self.peek());
                }
                '.' | '[' | ']' | '}' | '{' | ')' | '(' | '=' | '!' | '<' | '>' | '&' | '|' | ',' => break,
                c if c.is_whitespace() => break,
                c => name.push(c),
            }
            self.at += 1;
        }
        name
    }

    fn bracket(&mut self) -> Result<Step, String> {
        self.blanks();
        let step = match self.peek() {
            Some('*') => {
                self.at += 1;
                Step::All
            }
            Some(quote @ ('"' | '\'')) => Step::Field(self.quoted(quote)?),
            Some('?') => self.filter()?,
            _ => self.numbers()?,
        };
        self.blanks();
        if self.eat("]") { Ok(step) } else { Err("`]` expected".to_owned()) }
    }

    fn numbers(&mut self) -> Result<Step, String> {
        let first = self.integer();
        if !self.eat(":") {
            return first.map(Step::Index).ok_or_else(|| "index expected".to_owned());
        }
        Ok(Step::Slice(first, self.integer()))
    }

    fn integer(&mut self) -> Option<i64> {
        let start = self.at;
        while self.peek().is_some_and(|c| c == '-' || c.is_ascii_digit()) {
            self.at += 1;
        }
        self.text[start..self.at].iter().collect::<String>().parse().ok()
    }

    fn filter(&mut self) -> Result<Step, String> {
        if !self.eat("?(") {
            return Err("`?(` expected".to_owned());
        }
        let left = self.operand()?;
        self.blanks();
        let operator = ["==", "!=", "<=", ">=", "<", ">"].into_iter().find(|op| self.eat(op));
        let comparison = match operator {
            Some(operator) => Some((operator.to_owned(), self.operand()?)),
            None => None,
        };
        self.blanks();
        if self.eat(")") { Ok(Step::Filter(left, comparison)) } else { Err("`)` expected".to_owned()) }
    }

    fn operand(&mut self) -> Result<Operand, String> {
        self.blanks();
        match self.peek() {
            Some(quote @ ('"' | '\'')) => Ok(Operand::Literal(Value::String(self.quoted(quote)?))),
            Some('@' | '$' | '.') => Ok(Operand::Path(self.path()?)),
            _ => {
                let word = self.field();
                serde_json::from_str(&word).map(Operand::Literal).map_err(|_| format!("`{word}` not known"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn templates() {
        let root = json!({
            "items": [{"metadata": {"name": "a", "labels": {"x.y/z": "1"}}}, {"metadata": {"name": "b"}}],
            "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Other", "status": "False"}]},
            "data": {"tls.crt": "abc"}, "count": 3,
        });
        let table = [
            ("{.items[*].metadata.name}", "a b"),
            ("{range .items[*]}{.metadata.name}{\"\\n\"}{end}", "a\nb\n"),
            ("{.items[0].metadata.labels.x\\.y/z}", "1"),
            ("{.data['tls\\.crt']}{.data['tls.crt']}", "abcabc"),
            ("{.status.conditions[?(@.type==\"Ready\")].status}", "True"),
            ("{.items[-1:].metadata.name} {.count}", "b 3"),
            ("{..name}", "a b"),
            ("{.missing.field}", ""),
        ];
        for (template, expected) in table {
            assert_eq!(evaluate(template, &root).as_deref(), Ok(expected), "{template}");
        }
        assert!(evaluate("{range .items[*]}", &root).is_err());
        assert!(evaluate("{.a[?(}", &root).is_err());
    }
}
