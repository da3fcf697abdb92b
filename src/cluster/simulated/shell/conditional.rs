//! Conditions: `test`, `[ … ]` and `[[ … ]]`.

use super::execution::Shell;
use super::pattern::{self, Atom};
use super::streams::Streams;
use super::{Flow, files};

/// `test …`
pub(super) fn test(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let mut reader = Reader { shell, words: arguments, at: 0, patterns: false, depth: 0 };
    let result = reader.either();
    let result = if reader.at < arguments.len() && result.is_ok() {
        Err("unexpected operand".to_owned())
    } else {
        result
    };
    match result {
        Ok(true) => Ok(0),
        Ok(false) => Ok(1),
        Err(message) => shell.complain(streams, &format!("sh: test: {message}"), 2),
    }
}

/// `[ … ]`
pub(super) fn bracket(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    match arguments.split_last() {
        Some((last, inner)) if last == "]" => test(shell, inner, streams),
        _ => shell.complain(streams, "sh: [: missing ]", 2),
    }
}

/// `[[ … ]]`
pub(super) fn double_bracket(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let inner = arguments.split_last().map_or(&[][..], |(_, inner)| inner);
    let mut reader = Reader { shell, words: inner, at: 0, patterns: true, depth: 0 };
    match reader.either() {
        Ok(true) => Ok(0),
        Ok(false) => Ok(1),
        Err(message) => shell.complain(streams, &format!("sh: [[: {message}"), 2),
    }
}

struct Reader<'a, 'h> {
    shell: &'a Shell<'h>,
    words: &'a [String],
    at: usize,
    /// Whether `==` compares with a pattern, as in `[[`.
    patterns: bool,
    depth: usize,
}

type Answer = Result<bool, String>;

impl Reader<'_, '_> {
    fn peek(&self, ahead: usize) -> Option<&str> {
        self.words.get(self.at + ahead).map(String::as_str)
    }

    fn eat(&mut self, words: [&str; 2]) -> bool {
        let found = self.peek(0).is_some_and(|w| words.contains(&w));
        self.at += usize::from(found);
        found
    }

    fn either(&mut self) -> Answer {
        let mut value = self.both()?;
        while self.eat(["-o", "||"]) {
            let right = self.both()?;
            value = value || right;
        }
        Ok(value)
    }

    fn both(&mut self) -> Answer {
        let mut value = self.negated()?;
        while self.eat(["-a", "&&"]) {
            let right = self.negated()?;
            value = value && right;
        }
        Ok(value)
    }

    fn negated(&mut self) -> Answer {
        // `! = x` compares the text `!`.
        let comparison = self.peek(1).is_some_and(is_comparison) && self.peek(2).is_some();
        if !comparison && self.peek(0) == Some("!") && self.peek(1).is_some() {
            self.at += 1;
            return self.nested(Self::negated).map(|v| !v);
        }
        if !comparison && self.peek(0) == Some("(") {
            self.at += 1;
            let value = self.nested(Self::either)?;
            return if self.eat([")", ")"]) { Ok(value) } else { Err("`)` expected".to_owned()) };
        }
        self.primary()
    }

    fn nested(&mut self, inner: fn(&mut Self) -> Answer) -> Answer {
        if self.depth > 50 {
            return Err("nests too deeply".to_owned());
        }
        self.depth += 1;
        let value = inner(self);
        self.depth -= 1;
        value
    }

    fn primary(&mut self) -> Answer {
        let Some(first) = self.peek(0).map(str::to_owned) else { return Ok(false) };
        if let (Some(operator), Some(right)) = (self.peek(1), self.peek(2))
            && is_comparison(operator)
        {
            let value = self.compare(&first, operator, right);
            self.at += 3;
            return value;
        }
        let unary = first.len() == 2 && first.starts_with('-');
        if unary && let Some(operand) = self.peek(1) {
            let value = self.unary(&first, operand);
            self.at += 2;
            return value;
        }
        self.at += 1;
        Ok(!first.is_empty())
    }

    fn compare(&self, left: &str, operator: &str, right: &str) -> Answer {
        let numbers = || -> Result<(i64, i64), String> { Ok((integer(left)?, integer(right)?)) };
        Ok(match operator {
            "=" | "==" => self.same(left, right),
            "!=" => !self.same(left, right),
            "=~" => regex::Regex::new(right).map_err(|e| e.to_string())?.is_match(left),
            "<" => left < right,
            ">" => left > right,
            "-eq" => numbers().map(|(l, r)| l == r)?,
            "-ne" => numbers().map(|(l, r)| l != r)?,
            "-lt" => numbers().map(|(l, r)| l < r)?,
            "-le" => numbers().map(|(l, r)| l <= r)?,
            "-gt" => numbers().map(|(l, r)| l > r)?,
            _ => numbers().map(|(l, r)| l >= r)?,
        })
    }

    fn same(&self, left: &str, right: &str) -> bool {
        if !self.patterns {
            return left == right;
        }
        let atoms: Vec<Atom> = pattern::active(right).collect();
        let chars: Vec<char> = left.chars().collect();
        pattern::matches(&atoms, &chars)
    }

    fn unary(&self, operator: &str, operand: &str) -> Answer {
        let path = files::absolute(&self.shell.state.directory, operand);
        let content = self.shell.files.read(&path);
        let directory = self.shell.files.is_directory(&path);
        Ok(match operator {
            "-n" => !operand.is_empty(),
            "-z" => operand.is_empty(),
            "-f" => content.is_some(),
            "-d" => directory,
            "-e" | "-r" | "-w" | "-x" => content.is_some() || directory,
            "-s" => content.is_some_and(|c| !c.is_empty()),
            "-v" => self.shell.state.variables.contains_key(operand),
            "-t" | "-L" | "-h" | "-p" | "-S" => false,
            _ => return Err(format!("{operator}: unknown operand")),
        })
    }
}

fn is_comparison(word: &str) -> bool {
    matches!(word, "=" | "==" | "!=" | "=~" | "<" | ">" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")
}

fn integer(text: &str) -> Result<i64, String> {
    text.trim().parse().map_err(|_| format!("{text}: bad number"))
}
