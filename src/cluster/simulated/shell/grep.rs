//! `grep`, and the regular expressions of POSIX.

use regex::{Regex, RegexBuilder};

use super::builtins::flags;
use super::execution::Shell;
use super::streams::Streams;
use super::tools::{all_exist, input};
use super::{Flow, Stop};

/// A POSIX regular expression, basic or extended.
pub(super) fn regex(pattern: &str, extended: bool, insensitive: bool) -> Option<Regex> {
    let pattern = if extended { pattern.to_owned() } else { basic(pattern) };
    RegexBuilder::new(&pattern).case_insensitive(insensitive).size_limit(1 << 20).build().ok()
}

/// A basic regular expression in the extended language: there the backslash swaps its role on a few characters.
pub(super) fn basic(pattern: &str) -> String {
    let mut out = String::new();
    let mut chars = pattern.chars().peekable();
    let mut start = true;
    while let Some(c) = chars.next() {
        let was_start = std::mem::replace(&mut start, false);
        match c {
            '\\' => match chars.next() {
                Some(c @ ('(' | ')' | '{' | '}' | '|' | '+' | '?')) => {
                    start = c == '(' || c == '|';
                    out.push(c);
                }
                Some(c) => out.extend(['\\', c]),
                None => out.push_str("\\\\"),
            },
            '(' | ')' | '{' | '}' | '|' | '+' | '?' => out.extend(['\\', c]),
            '*' if was_start => out.push_str("\\*"),
            '[' => bracket(&mut chars, &mut out),
            c => {
                start = was_start && c == '^';
                out.push(c);
            }
        }
    }
    out
}

pub(super) fn bracket(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) {
    out.push('[');
    if let Some('^') = chars.peek() {
        out.extend(chars.next());
    }
    let mut first = true;
    while let Some(c) = chars.next() {
        match c {
            ']' if !first => {
                out.push(']');
                return;
            }
            '[' if chars.peek() == Some(&':') => {
                out.push('[');
                for inner in chars.by_ref() {
                    out.push(inner);
                    if inner == ']' {
                        break;
                    }
                }
            }
            '[' | ']' | '\\' | '&' | '~' => out.extend(['\\', c]),
            c => out.push(c),
        }
        first = false;
    }
}

/// `grep`
pub(super) fn grep(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    grep_as(shell, arguments, streams, None)
}

/// `egrep`
pub(super) fn egrep(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    grep_as(shell, arguments, streams, Some('E'))
}

/// `fgrep`
pub(super) fn fgrep(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    grep_as(shell, arguments, streams, Some('F'))
}

pub(super) fn grep_as(
    shell: &mut Shell<'_>,
    arguments: &[String],
    streams: &Streams,
    form: Option<char>,
) -> Flow {
    let mut given = flags(arguments, "efmABC");
    given.letters.extend(form);
    for argument in arguments {
        match argument.as_str() {
            "--quiet" | "--silent" => given.letters.push('q'),
            "--ignore-case" => given.letters.push('i'),
            "--invert-match" => given.letters.push('v'),
            "--count" => given.letters.push('c'),
            "--fixed-strings" => given.letters.push('F'),
            "--line-regexp" => given.letters.push('x'),
            _ => {}
        }
    }
    let mut operands = given.operands.clone();
    let mut patterns = given.values.get(&'e').cloned().unwrap_or_default();
    if let Some(name) = given.value('f') {
        let text = input(shell, &[name.to_owned()], streams);
        patterns.extend(text.lines().map(str::to_owned));
    } else if patterns.is_empty() {
        if operands.is_empty() {
            return shell.complain(streams, "grep: pattern expected", 2);
        }
        patterns.extend(operands.remove(0).lines().map(str::to_owned));
    }
    let mut matchers = Vec::new();
    for pattern in &patterns {
        match matcher(pattern, &given.letters) {
            Some(regex) => matchers.push(regex),
            None => return Err(Stop::Unknown(format!("pattern `{pattern}`"))),
        }
    }
    // An empty pattern list can only come from an empty pattern, which matches every line.
    let every = patterns.is_empty() && given.value('f').is_none();
    let exist = all_exist(shell, &operands);
    let text = input(shell, &operands, streams);
    let matching = |line: &str| (every || matchers.iter().any(|m| m.is_match(line))) != given.has('v');
    let limit = given.value('m').and_then(|m| m.parse().ok()).unwrap_or(usize::MAX);
    let lines: Vec<&str> = text.lines().filter(|l| matching(l)).take(limit).collect();
    if !given.has('q') {
        let output = grep_output(&text, &lines, &matchers, &given.letters);
        shell.write(streams, 1, &output);
    }
    Ok(match (lines.is_empty(), exist) {
        (false, _) => 0,
        (true, true) => 1,
        (true, false) => 2,
    })
}

pub(super) fn matcher(pattern: &str, letters: &[char]) -> Option<Regex> {
    let has = |letter| letters.contains(&letter);
    let mut text = if has('F') {
        regex::escape(pattern)
    } else if has('E') || has('P') {
        pattern.to_owned()
    } else {
        basic(pattern)
    };
    if has('w') {
        text = format!(r"\b(?:{text})\b");
    }
    if has('x') {
        text = format!("^(?:{text})$");
    }
    regex(&text, true, has('i'))
}

pub(super) fn grep_output(text: &str, lines: &[&str], matchers: &[Regex], letters: &[char]) -> String {
    if letters.contains(&'c') {
        return format!("{}\n", lines.len());
    }
    if letters.contains(&'o') {
        let found = lines.iter().flat_map(|line| matchers.iter().flat_map(|m| m.find_iter(line)));
        return found.map(|m| format!("{}\n", m.as_str())).collect();
    }
    if letters.contains(&'n') {
        let numbered = text.lines().enumerate().filter(|(_, line)| lines.contains(line));
        return numbered.map(|(index, line)| format!("{}:{line}\n", index + 1)).collect();
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}
