//! `sed`: substitution, deletion, printing and quitting, with line numbers, `$` and patterns as addresses.

use regex::Regex;

use super::builtins::flags;
use super::execution::Shell;
use super::streams::Streams;
use super::{Flow, Stop, grep, tools};

/// Where a command applies.
enum Address {
    Line(usize),
    Last,
    Matching(Regex),
}

enum Action {
    Substitute { pattern: Regex, replacement: String, every: bool, print: bool },
    Delete,
    Print,
    Quit,
}

struct Instruction {
    from: Option<Address>,
    to: Option<Address>,
    negated: bool,
    action: Action,
    /// Whether a range has begun and not ended.
    inside: bool,
}

/// `sed [-n] [-E] [-i] script [file…]`
pub(super) fn main(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let given = flags(arguments, "ef");
    if given.values.contains_key(&'f') {
        return Err(Stop::Unknown("sed with a script file".to_owned()));
    }
    let mut operands = given.operands.clone();
    let mut scripts = given.values.get(&'e').cloned().unwrap_or_default();
    if scripts.is_empty() {
        if operands.is_empty() {
            return shell.complain(streams, "sed: no script", 1);
        }
        scripts.push(operands.remove(0));
    }
    let extended = given.has('E') || given.has('r');
    let mut instructions = Vec::new();
    for script in &scripts {
        match parse(script, extended) {
            Some(parsed) => instructions.extend(parsed),
            None => return Err(Stop::Unknown(format!("sed script `{script}`"))),
        }
    }
    if !given.has('i') {
        let input = tools::input(shell, &operands, streams);
        let text = edit(&mut instructions, &input, given.has('n'));
        shell.write(streams, 1, &text);
        return Ok(0);
    }
    for name in operands {
        let path = super::files::absolute(&shell.state.directory, &name);
        let Some(input) = shell.files.read(&path).map(str::to_owned) else {
            return shell.complain(streams, &format!("sed: {name}: No such file or directory"), 1);
        };
        let text = edit(&mut instructions, &input, given.has('n'));
        shell.files.write(&path, &text, false);
    }
    Ok(0)
}

fn edit(instructions: &mut [Instruction], input: &str, quiet: bool) -> String {
    let mut output = String::new();
    let lines: Vec<&str> = input.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        let mut space = (*line).to_owned();
        let (mut deleted, mut quit) = (false, false);
        for instruction in instructions.iter_mut() {
            if !applies(instruction, index + 1, lines.len(), &space) {
                continue;
            }
            match &instruction.action {
                Action::Delete => deleted = true,
                Action::Quit => quit = true,
                Action::Print => push_line(&mut output, &space),
                Action::Substitute { pattern, replacement, every, print } => {
                    let changed = pattern.is_match(&space);
                    let limit = if *every { 0 } else { 1 };
                    space = pattern.replacen(&space, limit, replacement.as_str()).into_owned();
                    if changed && *print {
                        push_line(&mut output, &space);
                    }
                }
            }
            if deleted || quit {
                break;
            }
        }
        if !deleted && !quiet {
            push_line(&mut output, &space);
        }
        if quit {
            break;
        }
    }
    output
}

fn push_line(output: &mut String, line: &str) {
    output.push_str(line);
    output.push('\n');
}

fn applies(instruction: &mut Instruction, line: usize, last: usize, space: &str) -> bool {
    let hit = match (&instruction.from, &instruction.to) {
        (None, _) => true,
        (Some(from), None) => at(from, line, last, space),
        (Some(_), Some(to)) if instruction.inside => {
            instruction.inside = !at(to, line, last, space);
            true
        }
        (Some(from), Some(to)) => {
            let begins = at(from, line, last, space);
            let ends_at_once = matches!(to, Address::Line(n) if *n <= line);
            instruction.inside = begins && !ends_at_once;
            begins
        }
    };
    hit != instruction.negated
}

fn at(address: &Address, line: usize, last: usize, space: &str) -> bool {
    match address {
        Address::Line(number) => *number == line,
        Address::Last => line == last,
        Address::Matching(pattern) => pattern.is_match(space),
    }
}

fn parse(script: &str, extended: bool) -> Option<Vec<Instruction>> {
    let mut reader = Reader { text: script.chars().collect(), at: 0, extended };
    let mut instructions = Vec::new();
    loop {
        while reader.peek().is_some_and(|c| c.is_whitespace() || c == ';') {
            reader.at += 1;
        }
        if reader.peek().is_none() {
            return Some(instructions);
        }
        instructions.push(reader.instruction()?);
    }
}

struct Reader {
    text: Vec<char>,
    at: usize,
    extended: bool,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += 1;
        c
    }

    fn instruction(&mut self) -> Option<Instruction> {
        let from = self.address()?;
        let to = if self.peek() == Some(',') {
            self.at += 1;
            self.address()?
        } else {
            None
        };
        let negated = self.peek() == Some('!');
        self.at += usize::from(negated);
        let action = match self.next()? {
            'd' => Action::Delete,
            'p' => Action::Print,
            'q' => Action::Quit,
            's' => self.substitution()?,
            _ => return None,
        };
        Some(Instruction { from, to, negated, action, inside: false })
    }

    /// An address if there is one; the outer `None` means that it can't be read.
    fn address(&mut self) -> Option<Option<Address>> {
        Some(match self.peek() {
            Some('$') => {
                self.at += 1;
                Some(Address::Last)
            }
            Some('/') => {
                self.at += 1;
                let pattern = self.until('/')?;
                Some(Address::Matching(grep::regex(&pattern, self.extended, false)?))
            }
            Some(c) if c.is_ascii_digit() => {
                let mut number = 0usize;
                while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
                    number = number.saturating_mul(10).saturating_add(digit as usize);
                    self.at += 1;
                }
                Some(Address::Line(number))
            }
            _ => None,
        })
    }

    /// Text up to a delimiter; an escaped delimiter is part of it.
    fn until(&mut self, delimiter: char) -> Option<String> {
        let mut text = String::new();
        loop {
            match self.next()? {
                c if c == delimiter => return Some(text),
                '\\' => {
                    let c = self.next()?;
                    if c != delimiter {
                        text.push('\\');
                    }
                    text.push(c);
                }
                c => text.push(c),
            }
        }
    }

    fn substitution(&mut self) -> Option<Action> {
        let delimiter = self.next()?;
        let pattern = self.until(delimiter)?;
        let replacement = replacement(&self.until(delimiter)?);
        let (mut every, mut print, mut insensitive) = (false, false, false);
        while let Some(c) = self.peek().filter(|c| !c.is_whitespace() && *c != ';') {
            match c {
                'g' => every = true,
                'p' => print = true,
                'i' | 'I' => insensitive = true,
                _ => return None,
            }
            self.at += 1;
        }
        let pattern = grep::regex(&pattern, self.extended, insensitive)?;
        Some(Action::Substitute { pattern, replacement, every, print })
    }
}

/// Turns `&` and `\1` into the replacement language of the regular expressions used here.
fn replacement(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '&' => out.push_str("${0}"),
            '$' => out.push_str("$$"),
            '\\' => match chars.next() {
                Some(digit) if digit.is_ascii_digit() => out.push_str(&format!("${{{digit}}}")),
                Some('n') => out.push('\n'),
                Some('$') => out.push_str("$$"),
                Some(c) => out.push(c),
                None => {}
            },
            c => out.push(c),
        }
    }
    out
}
