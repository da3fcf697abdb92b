//! Parser of shell scripts: text to [`syntax`](super::syntax), by recursive descent over characters.

use std::sync::Arc;

use super::syntax::{AndOr, Command, Kind, List, Part, Pipeline, Word};

mod words;
mod redirects;

/// How deep commands and substitutions may nest.
const DEPTH: usize = 100;

/// A script that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub(super) struct SyntaxError {
    /// Line, counted from 1.
    pub(super) line: usize,
    /// What is wrong.
    pub(super) message: String,
}

type Parsed<T> = Result<T, SyntaxError>;

/// Parses a whole script.
///
/// # Errors
/// When the script is not valid shell or nests too deeply.
pub(super) fn parse(script: &str) -> Parsed<List> {
    let mut parser = Parser { text: script.chars().collect(), at: 0, depth: 0, resume: None };
    let list = parser.list(&[])?;
    if parser.at < parser.text.len() {
        return parser.fail(&format!("unexpected `{}`", parser.text[parser.at]));
    }
    Ok(list)
}

struct Parser {
    text: Vec<char>,
    at: usize,
    depth: usize,
    /// Where reading goes on after the end of the line, behind the here-documents that begin there.
    resume: Option<usize>,
}

impl Parser {
    fn fail<T>(&self, message: &str) -> Parsed<T> {
        let line = 1 + self.text.iter().take(self.at).filter(|c| **c == '\n').count();
        Err(SyntaxError { line, message: message.to_owned() })
    }

    fn line(&self) -> usize {
        1 + self.text.iter().take(self.at).filter(|c| **c == '\n').count()
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn ahead(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(i, c)| self.text.get(self.at + i) == Some(&c))
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.ahead(text);
        if found {
            self.at += text.chars().count();
        }
        found
    }

    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEPTH {
            return self.fail("commands nest too deeply");
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Skips blanks, continued lines and comments.
    fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\r') => self.at += 1,
                Some('\\') if self.text.get(self.at + 1) == Some(&'\n') => self.at += 2,
                Some('#') if self.starts_word() => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    fn starts_word(&self) -> bool {
        self.at == 0 || self.text.get(self.at - 1).is_none_or(|c| c.is_whitespace() || ";&|()".contains(*c))
    }

    fn newline(&mut self) -> bool {
        if self.peek() != Some('\n') {
            return false;
        }
        self.at = self.resume.take().unwrap_or(self.at + 1);
        true
    }

    fn newlines(&mut self) {
        loop {
            self.blanks();
            if !self.newline() {
                return;
            }
        }
    }

    /// Commands up to one of the reserved words, `)`, `;;` or the end.
    fn list(&mut self, until: &[&str]) -> Parsed<List> {
        self.nested(|parser| parser.list_items(until))
    }

    fn list_items(&mut self, until: &[&str]) -> Parsed<List> {
        let mut list = List::default();
        loop {
            self.newlines();
            if self.peek().is_none() || self.ahead(")") || self.ahead(";;") || self.at_reserved(until) {
                return Ok(list);
            }
            let item = self.and_or()?;
            self.blanks();
            let background = !self.ahead("&&") && self.eat("&");
            list.items.push((item, background));
            if !background && !self.ahead(";;") {
                self.eat(";");
            }
            self.blanks();
            if self.peek().is_some_and(|c| c == '|' || c == '}' && !self.at_reserved(until)) {
                return self.fail(&format!("unexpected `{}`", self.text[self.at]));
            }
        }
    }

    fn at_reserved(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.ahead_word(word))
    }

    fn ahead_word(&self, word: &str) -> bool {
        self.ahead(word)
            && self.text.get(self.at + word.len()).is_none_or(|c| c.is_whitespace() || ";&|()<>".contains(*c))
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.ahead_word(word);
        if found {
            self.at += word.len();
        }
        found
    }

    fn expect_word(&mut self, word: &str) -> Parsed<()> {
        self.newlines();
        if self.eat_word(word) { Ok(()) } else { self.fail(&format!("`{word}` expected")) }
    }

    fn and_or(&mut self) -> Parsed<AndOr> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.blanks();
            let success = self.eat("&&");
            if !success && !self.eat("||") {
                return Ok(AndOr { first, rest });
            }
            self.newlines();
            rest.push((success, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Parsed<Pipeline> {
        self.blanks();
        let mut negated = false;
        while self.eat_word("!") {
            negated = !negated;
            self.blanks();
        }
        let mut commands = vec![self.command()?];
        loop {
            self.blanks();
            if self.ahead("||") || !self.eat("|") {
                return Ok(Pipeline { negated, commands });
            }
            self.newlines();
            commands.push(self.command()?);
        }
    }

    fn command(&mut self) -> Parsed<Command> {
        self.blanks();
        let line = self.line();
        let kind = self.nested(Self::compound)?;
        let Some(kind) = kind else { return self.simple(line) };
        let mut redirects = Vec::new();
        while let Some(redirect) = self.redirect()? {
            redirects.push(redirect);
        }
        Ok(Command { kind, redirects, line })
    }

    fn compound(&mut self) -> Parsed<Option<Kind>> {
        let kind = if self.eat("(") {
            let body = self.list(&[])?;
            self.close(")")?;
            Kind::Subshell(body)
        } else if self.eat_word("{") {
            Kind::Group(self.body("}")?)
        } else if self.eat_word("if") {
            self.if_command()?
        } else if self.eat_word("for") {
            self.for_command()?
        } else if self.ahead_word("while") || self.ahead_word("until") {
            self.while_command()?
        } else if self.eat_word("case") {
            self.case_command()?
        } else {
            return self.function();
        };
        Ok(Some(kind))
    }

    fn close(&mut self, text: &str) -> Parsed<()> {
        self.newlines();
        if self.eat(text) { Ok(()) } else { self.fail(&format!("`{text}` expected")) }
    }

    fn body(&mut self, end: &str) -> Parsed<List> {
        let body = self.list(&[end])?;
        self.expect_word(end)?;
        Ok(body)
    }

    fn if_command(&mut self) -> Parsed<Kind> {
        let mut branches = Vec::new();
        loop {
            let condition = self.body("then")?;
            branches.push((condition, self.list(&["elif", "else", "fi"])?));
            if !self.eat_word("elif") {
                break;
            }
        }
        let otherwise = if self.eat_word("else") { Some(self.list(&["fi"])?) } else { None };
        self.expect_word("fi")?;
        Ok(Kind::If { branches, otherwise })
    }

    fn for_command(&mut self) -> Parsed<Kind> {
        self.blanks();
        let name = self.name();
        if name.is_empty() {
            return self.fail("name of the loop variable expected");
        }
        self.newlines();
        let words = if self.eat_word("in") { Some(self.words()?) } else { None };
        self.blanks();
        self.eat(";");
        self.expect_word("do")?;
        Ok(Kind::For { name, words, body: self.body("done")? })
    }

    fn words(&mut self) -> Parsed<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.blanks();
            match self.word()? {
                Some(word) => words.push(word),
                None => return Ok(words),
            }
        }
    }

    fn while_command(&mut self) -> Parsed<Kind> {
        let until = self.eat_word("until");
        if !until {
            self.eat_word("while");
        }
        let condition = self.body("do")?;
        Ok(Kind::While { until, condition, body: self.body("done")? })
    }

    fn case_command(&mut self) -> Parsed<Kind> {
        self.blanks();
        let Some(word) = self.word()? else { return self.fail("word after `case` expected") };
        self.expect_word("in")?;
        let mut arms = Vec::new();
        loop {
            self.newlines();
            if self.eat_word("esac") {
                return Ok(Kind::Case { word, arms });
            }
            arms.push(self.arm()?);
        }
    }

    fn arm(&mut self) -> Parsed<(Vec<Word>, List)> {
        self.eat("(");
        let mut patterns = Vec::new();
        loop {
            self.blanks();
            let Some(pattern) = self.word()? else { return self.fail("pattern expected") };
            patterns.push(pattern);
            self.blanks();
            if !self.eat("|") {
                break;
            }
        }
        self.close(")")?;
        let body = self.list(&["esac"])?;
        self.eat(";;");
        Ok((patterns, body))
    }

    /// `name() command` and `function name command`.
    fn function(&mut self) -> Parsed<Option<Kind>> {
        let start = self.at;
        let keyword = self.eat_word("function");
        self.blanks();
        let name = self.name();
        self.blanks();
        let parentheses = !name.is_empty() && self.eat("(") && {
            self.blanks();
            self.eat(")")
        };
        if name.is_empty() || !(parentheses || keyword) {
            self.at = start;
            return Ok(None);
        }
        self.newlines();
        let body = Arc::new(self.command()?);
        Ok(Some(Kind::Function { name, body }))
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(c) = self.peek() {
            let fits = c == '_' || c.is_ascii_alphabetic() || c.is_ascii_digit() && !name.is_empty();
            let inner = c == '-'
                && !name.is_empty()
                && self.text.get(self.at + 1).is_some_and(char::is_ascii_lowercase);
            if !fits && !inner {
                break;
            }
            name.push(c);
            self.at += 1;
        }
        name
    }

    fn simple(&mut self, line: usize) -> Parsed<Command> {
        let (mut assignments, mut words, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            self.blanks();
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
            } else if let Some(word) = self.word()? {
                match assignment(&word).filter(|_| words.is_empty()) {
                    Some(pair) => assignments.push(pair),
                    None if word.plain() == Some("[[") => self.conditional(word, &mut words)?,
                    None => words.push(word),
                }
            } else {
                break;
            }
        }
        if assignments.is_empty() && words.is_empty() && redirects.is_empty() {
            return self.fail(&match self.peek() {
                Some(c) => format!("command expected before `{c}`"),
                None => "command expected at the end".to_owned(),
            });
        }
        Ok(Command { kind: Kind::Simple { assignments, words }, redirects, line })
    }

    /// The words of `[[ … ]]`, where `&&`, `||`, `<`, `>` and parentheses are words.
    fn conditional(&mut self, open: Word, words: &mut Vec<Word>) -> Parsed<()> {
        words.push(open);
        loop {
            self.newlines();
            let operator = ["&&", "||", "<", ">", "(", ")"].into_iter().find(|op| self.ahead(op));
            if let Some(operator) = operator {
                self.eat(operator);
                words.push(Word { parts: vec![Part::Text(operator.to_owned())] });
                continue;
            }
            let Some(word) = self.word()? else { return self.fail("`]]` expected") };
            let end = word.plain() == Some("]]");
            words.push(word);
            if end {
                return Ok(());
            }
        }
    }
}

/// The descriptor that stands for standard output and standard error together.
pub(super) const BOTH: u32 = u32::MAX;

/// Splits `name=value` off a word.
fn assignment(word: &Word) -> Option<(String, Word)> {
    let Some(Part::Text(first)) = word.parts.first() else { return None };
    let (name, value) = first.split_once('=')?;
    let valid = name.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
        && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
    if !valid {
        return None;
    }
    let mut parts = word.parts.clone();
    if value.is_empty() {
        parts.remove(0);
    } else {
        parts[0] = Part::Text(value.to_owned());
    }
    Some((name.to_owned(), Word { parts }))
}

fn unquoted(word: &Word) -> String {
    fn text(part: &Part) -> String {
        match part {
            Part::Text(text) | Part::Quoted(text) => text.clone(),
            Part::Double(parts) => parts.iter().map(text).collect(),
            _ => String::new(),
        }
    }
    word.parts.iter().map(text).collect()
}
