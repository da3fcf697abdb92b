//! The text and file tools that scripts use, in the common part of their POSIX, BusyBox and GNU forms.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regex::{Regex, RegexBuilder};

use super::builtins::flags;
use super::execution::Shell;
use super::files::absolute;
use super::pattern::in_class;
use super::streams::Streams;
use super::{Flow, Stop};

/// What a tool reads: the named files, or its input.
pub(super) fn input(shell: &mut Shell<'_>, names: &[String], streams: &Streams) -> String {
    if names.is_empty() {
        return streams.read_all();
    }
    let mut text = String::new();
    for name in names {
        if name == "-" {
            text.push_str(&streams.read_all());
            continue;
        }
        let path = absolute(&shell.state.directory, name);
        match shell.files.read(&path) {
            Some(content) => text.push_str(content),
            None => shell.write(streams, 2, &format!("{name}: No such file or directory\n")),
        }
    }
    text
}

/// Whether all of these files exist.
fn all_exist(shell: &Shell<'_>, names: &[String]) -> bool {
    names.iter().all(|n| n == "-" || shell.files.read(&absolute(&shell.state.directory, n)).is_some())
}

/// A POSIX regular expression, basic or extended.
pub(super) fn regex(pattern: &str, extended: bool, insensitive: bool) -> Option<Regex> {
    let pattern = if extended { pattern.to_owned() } else { basic(pattern) };
    RegexBuilder::new(&pattern).case_insensitive(insensitive).size_limit(1 << 20).build().ok()
}

/// A basic regular expression in the extended language: there the backslash swaps its role on a few characters.
fn basic(pattern: &str) -> String {
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

fn bracket(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) {
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

/// `echo`
pub(super) fn echo(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let mut rest = arguments;
    let (mut end, mut escapes) = ("\n", false);
    while let Some((first, more)) = rest.split_first() {
        match first.as_str() {
            "-n" => end = "",
            "-e" => escapes = true,
            "-ne" | "-en" => (end, escapes) = ("", true),
            "-E" => escapes = false,
            _ => break,
        }
        rest = more;
    }
    let text = rest.join(" ");
    let text = if escapes { unescape(&text) } else { text };
    shell.write(streams, 1, &format!("{text}{end}"));
    Ok(0)
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('0') => out.push('\0'),
            Some(c @ ('\\' | '"' | '\'')) => out.push(c),
            Some(c) => out.extend(['\\', c]),
            None => out.push('\\'),
        }
    }
    out
}

/// `printf`
pub(super) fn printf(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let skip = usize::from(arguments.first().is_some_and(|a| a == "--"));
    let Some((format, values)) = arguments.get(skip..).and_then(<[String]>::split_first) else {
        return shell.complain(streams, "printf: format expected", 2);
    };
    let mut rest = values;
    loop {
        let before = rest.len();
        let text = format_once(format, &mut rest);
        shell.write(streams, 1, &text);
        shell.step()?;
        if rest.is_empty() || rest.len() == before {
            return Ok(0);
        }
    }
}

fn format_once(format: &str, values: &mut &[String]) -> String {
    let mut out = String::new();
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\\' {
            out.push_str(&unescape(&format!("\\{}", chars.next().map(String::from).unwrap_or_default())));
            continue;
        }
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut spec = String::new();
        while let Some(c) = chars.next_if(|c| "-+ #0123456789.".contains(*c)) {
            spec.push(c);
        }
        let Some(verb) = chars.next() else { break };
        if verb == '%' {
            out.push('%');
            continue;
        }
        let (value, more) = values.split_first().map_or(("", *values), |(v, more)| (v.as_str(), more));
        *values = more;
        out.push_str(&pad(&verb_text(verb, value, &spec), &spec));
    }
    out
}

fn verb_text(verb: char, value: &str, spec: &str) -> String {
    match verb {
        'd' | 'i' | 'u' => value.trim().parse::<i64>().unwrap_or(0).to_string(),
        'x' => format!("{:x}", value.trim().parse::<i64>().unwrap_or(0)),
        'b' => unescape(value),
        'c' => value.chars().take(1).collect(),
        'q' => format!("'{}'", value.replace('\'', "'\\''")),
        _ => match spec.split_once('.').and_then(|(_, precision)| precision.parse().ok()) {
            Some(precision) => value.chars().take(precision).collect(),
            None => value.to_owned(),
        },
    }
}

fn pad(text: &str, spec: &str) -> String {
    let width = spec.split('.').next().unwrap_or("");
    let left = width.contains('-');
    let zero = width.trim_start_matches(['-', '+', ' ', '#']).starts_with('0') && !left;
    let width: usize = width.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(0);
    let missing = width.min(1000).saturating_sub(text.chars().count());
    let fill = if zero { "0" } else { " " }.repeat(missing);
    if left { format!("{text}{fill}") } else { format!("{fill}{text}") }
}

/// `cat`
pub(super) fn cat(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let operands = flags(arguments, "").operands;
    let exist = all_exist(shell, &operands);
    let text = input(shell, &operands, streams);
    shell.write(streams, 1, &text);
    Ok(i32::from(!exist))
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

fn grep_as(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams, form: Option<char>) -> Flow {
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

fn matcher(pattern: &str, letters: &[char]) -> Option<Regex> {
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

fn grep_output(text: &str, lines: &[&str], matchers: &[Regex], letters: &[char]) -> String {
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

/// `wc`
pub(super) fn count(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let given = flags(arguments, "");
    let text = input(shell, &given.operands, streams);
    let figures = [
        ('l', text.matches('\n').count()),
        ('w', text.split_whitespace().count()),
        ('c', text.len()),
        ('m', text.chars().count()),
    ];
    let all = given.letters.is_empty();
    let wanted = figures.iter().filter(|(letter, _)| if all { *letter != 'm' } else { given.has(*letter) });
    let mut fields: Vec<String> = wanted.map(|(_, figure)| figure.to_string()).collect();
    fields.extend(given.operands.first().cloned());
    shell.write(streams, 1, &format!("{}\n", fields.join(" ")));
    Ok(0)
}

/// `sort`
pub(super) fn sort(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let given = flags(arguments, "kto");
    let text = input(shell, &given.operands, streams);
    let mut lines: Vec<&str> = text.lines().collect();
    let separator = given.value('t').and_then(|t| t.chars().next());
    let field: usize =
        given.value('k').and_then(|k| k.split([',', '.', 'n', 'r']).next()?.parse().ok()).unwrap_or(0);
    let numeric = given.has('n') || given.value('k').is_some_and(|k| k.contains('n'));
    let version = given.has('V');
    lines.sort_by(|left, right| {
        let (l, r) = (sort_key(left, separator, field), sort_key(right, separator, field));
        let by_number = || leading_number(l).total_cmp(&leading_number(r));
        let ordering = match (version, numeric) {
            (true, _) => version_key(l).cmp(&version_key(r)),
            (_, true) => by_number(),
            _ => l.cmp(r),
        };
        ordering.then_with(|| left.cmp(right))
    });
    if given.has('r') {
        lines.reverse();
    }
    if given.has('u') {
        lines.dedup();
    }
    let output: String = lines.iter().map(|line| format!("{line}\n")).collect();
    shell.write(streams, 1, &output);
    Ok(0)
}

fn sort_key(line: &str, separator: Option<char>, field: usize) -> &str {
    if field == 0 {
        return line;
    }
    match separator {
        Some(c) => line.split(c).nth(field - 1).unwrap_or(""),
        None => line.split_whitespace().nth(field - 1).unwrap_or(""),
    }
}

fn leading_number(text: &str) -> f64 {
    let text = text.trim_start();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(text.len());
    text.get(..end).and_then(|t| t.parse().ok()).unwrap_or(0.0)
}

fn version_key(text: &str) -> Vec<(u64, String)> {
    text.split(['.', '-', '+', '/'])
        .map(|p| (leading_number(p.trim_start_matches('v')) as u64, p.to_owned()))
        .collect()
}

/// `uniq`
pub(super) fn unique(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let given = flags(arguments, "");
    let text = input(shell, &given.operands, streams);
    let mut groups: Vec<(&str, usize)> = Vec::new();
    for line in text.lines() {
        match groups.last_mut() {
            Some((last, count)) if *last == line => *count += 1,
            _ => groups.push((line, 1)),
        }
    }
    groups.retain(|(_, count)| !(given.has('d') && *count == 1 || given.has('u') && *count > 1));
    let output: String = groups
        .iter()
        .map(|(line, count)| if given.has('c') { format!("{count:7} {line}\n") } else { format!("{line}\n") })
        .collect();
    shell.write(streams, 1, &output);
    Ok(0)
}

/// `cut`
pub(super) fn cut(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let given = flags(arguments, "dfcb");
    let delimiter = given.value('d').and_then(|d| d.chars().next()).unwrap_or('\t');
    let fields = given.value('f').map(ranges);
    let characters = given.value('c').or_else(|| given.value('b')).map(ranges);
    let text = input(shell, &given.operands, streams);
    let mut output = String::new();
    for line in text.lines() {
        let selected = match (&fields, &characters) {
            (Some(_), _) if !line.contains(delimiter) => {
                if given.has('s') {
                    continue;
                }
                line.to_owned()
            }
            (Some(ranges), _) => {
                let parts = line.split(delimiter).enumerate().filter(|(i, _)| within(ranges, i + 1));
                parts.map(|(_, part)| part).collect::<Vec<_>>().join(&delimiter.to_string())
            }
            (None, Some(ranges)) => {
                line.chars().enumerate().filter(|(i, _)| within(ranges, i + 1)).map(|(_, c)| c).collect()
            }
            (None, None) => return shell.complain(streams, "cut: list expected", 1),
        };
        output.push_str(&selected);
        output.push('\n');
    }
    shell.write(streams, 1, &output);
    Ok(0)
}

fn ranges(text: &str) -> Vec<(usize, usize)> {
    let range = |part: &str| match part.split_once('-') {
        Some((from, to)) => (from.parse().unwrap_or(1), to.parse().unwrap_or(usize::MAX)),
        None => part.parse().map_or((1, 0), |n| (n, n)),
    };
    text.split(',').map(range).collect()
}

fn within(ranges: &[(usize, usize)], index: usize) -> bool {
    ranges.iter().any(|(from, to)| (*from..=*to).contains(&index))
}

/// `head`
pub(super) fn head(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let (count, operands) = line_count(arguments);
    let count: usize = count.parse().unwrap_or(10);
    let text = input(shell, &operands, streams);
    let output: String = text.split_inclusive('\n').take(count).collect();
    shell.write(streams, 1, &output);
    Ok(0)
}

/// `tail`
pub(super) fn tail(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let (count, operands) = line_count(arguments);
    let text = input(shell, &operands, streams);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let skip = match count.strip_prefix('+') {
        Some(from) => from.parse().unwrap_or(1usize).saturating_sub(1),
        None => lines.len().saturating_sub(count.parse().unwrap_or(10)),
    };
    let output: String = lines.iter().skip(skip).copied().collect();
    shell.write(streams, 1, &output);
    Ok(0)
}

/// The count of `-n 5`, `-n5` and `-5`, and the operands.
fn line_count(arguments: &[String]) -> (String, Vec<String>) {
    let short = arguments.iter().find_map(|a| a.strip_prefix('-').filter(|n| n.parse::<usize>().is_ok()));
    let given = flags(arguments, "n");
    let count = given.value('n').or(short).unwrap_or("10").to_owned();
    (count, given.operands)
}

/// `tr`
pub(super) fn translate(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let given = flags(arguments, "");
    let first = given.operands.first().map(|t| characters(t)).unwrap_or_default();
    let second = given.operands.get(1).map(|t| characters(t)).unwrap_or_default();
    let complement = given.has('c') || given.has('C');
    let found = |c: char| first.iter().position(|f| *f == c);
    let mut output = String::new();
    let squeezed = if second.is_empty() { &first } else { &second };
    for c in streams.read_all().chars() {
        let hit = found(c).is_some() != complement;
        if hit && given.has('d') {
            continue;
        }
        let at = found(c).unwrap_or(usize::MAX).min(second.len().saturating_sub(1));
        let replaced = if hit { second.get(at).copied().unwrap_or(c) } else { c };
        let repeated = given.has('s') && output.ends_with(replaced) && squeezed.contains(&replaced);
        if !repeated {
            output.push(replaced);
        }
    }
    shell.write(streams, 1, &output);
    Ok(0)
}

/// The characters of a `tr` operand: escapes, ranges and classes.
fn characters(text: &str) -> Vec<char> {
    let text: Vec<char> = unescape(text).chars().collect();
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(c) = text.get(at) {
        let rest: String = text[at..].iter().collect();
        let class = rest.strip_prefix("[:").and_then(|r| r.split_once(":]"));
        if let Some((name, _)) = class {
            out.extend((0u8..128).map(char::from).filter(|c| in_class(name, *c)));
            at += name.len() + 4;
            continue;
        }
        match (text.get(at + 1), text.get(at + 2)) {
            (Some('-'), Some(high)) if high >= c => {
                out.extend(*c..=*high);
                at += 3;
            }
            _ => {
                out.push(*c);
                at += 1;
            }
        }
    }
    out
}

/// `tee`
pub(super) fn tee(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let given = flags(arguments, "");
    let text = streams.read_all();
    for name in &given.operands {
        let path = absolute(&shell.state.directory, name);
        shell.files.write(&path, &text, given.has('a'));
    }
    shell.write(streams, 1, &text);
    Ok(0)
}

/// `xargs`
pub(super) fn xargs(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let taken = xargs_flags(arguments);
    let (options, command) = arguments.split_at(taken);
    let given = flags(options, "nIdPLs");
    let mut command = command.to_vec();
    if command.is_empty() {
        command.push("echo".to_owned());
    }
    let text = streams.read_all();
    let items: Vec<String> = match (given.value('I'), given.has('0'), given.value('d')) {
        (Some(_), ..) => text.lines().map(|l| l.trim().to_owned()).filter(|l| !l.is_empty()).collect(),
        (_, true, _) => text.split('\0').filter(|l| !l.is_empty()).map(str::to_owned).collect(),
        (_, _, Some(d)) => text.split(&unescape(d)).filter(|l| !l.is_empty()).map(str::to_owned).collect(),
        _ => text.split_whitespace().map(|item| item.replace(['"', '\''], "")).collect(),
    };
    if items.is_empty() && (given.has('r') || given.value('I').is_some()) {
        return Ok(0);
    }
    let size: usize = match given.value('I') {
        Some(_) => 1,
        None => given
            .value('n')
            .or_else(|| given.value('L'))
            .and_then(|n| n.parse().ok())
            .unwrap_or(usize::MAX)
            .max(1),
    };
    let mut status = 0;
    let empty = items.is_empty().then_some(&[][..]);
    for chunk in items.chunks(size.min(items.len().max(1))).chain(empty) {
        let words = xargs_words(&command, chunk, given.value('I'));
        let inner = streams.reading(String::new());
        if shell.call(&words, &inner)? != 0 {
            status = 123;
        }
    }
    Ok(status)
}

/// How many of the arguments belong to `xargs` itself.
fn xargs_flags(arguments: &[String]) -> usize {
    let mut at = 0;
    while let Some(argument) = arguments.get(at).filter(|a| a.starts_with('-')) {
        let takes_value = argument.len() == 2 && "nIdPLs".contains(&argument[1..]);
        at += 1 + usize::from(takes_value);
    }
    at.min(arguments.len())
}

fn xargs_words(command: &[String], chunk: &[String], place: Option<&str>) -> Vec<String> {
    match place {
        Some(place) => {
            let item = chunk.first().map_or("", String::as_str);
            command.iter().map(|word| word.replace(place, item)).collect()
        }
        None => command.iter().chain(chunk).cloned().collect(),
    }
}

/// `seq`
pub(super) fn sequence(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let numbers: Vec<i64> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    let (from, step, to) = match numbers.as_slice() {
        [to] => (1, 1, *to),
        [from, to] => (*from, 1, *to),
        [from, step, to] if *step != 0 => (*from, *step, *to),
        _ => return shell.complain(streams, "seq: bad operand", 1),
    };
    let mut output = String::new();
    let mut value = from;
    while (step > 0 && value <= to || step < 0 && value >= to) && output.len() < 1 << 20 {
        output.push_str(&format!("{value}\n"));
        value = value.saturating_add(step);
    }
    shell.write(streams, 1, &output);
    Ok(0)
}

/// `basename`
pub(super) fn basename(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let path = arguments.first().map_or("", String::as_str).trim_end_matches('/');
    let name = path.rsplit('/').next().unwrap_or(path);
    let suffix = arguments.get(1).map_or("", String::as_str);
    let name = name.strip_suffix(suffix).filter(|n| !n.is_empty()).unwrap_or(name);
    shell.write(streams, 1, &format!("{name}\n"));
    Ok(0)
}

/// `dirname`
pub(super) fn dirname(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let path = arguments.first().map_or("", String::as_str);
    let directory = match path.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) => "/",
        Some((directory, _)) => directory,
        None => ".",
    };
    shell.write(streams, 1, &format!("{directory}\n"));
    Ok(0)
}

/// `base64`
pub(super) fn base64(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let given = flags(arguments, "w");
    let decode = given.has('d') || given.has('D') || arguments.iter().any(|a| a == "--decode");
    let text = input(shell, &given.operands, streams);
    if !decode {
        shell.write(streams, 1, &format!("{}\n", STANDARD.encode(text)));
        return Ok(0);
    }
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    match STANDARD.decode(compact) {
        Ok(bytes) => {
            shell.write(streams, 1, &String::from_utf8_lossy(&bytes));
            Ok(0)
        }
        Err(_) => shell.complain(streams, "base64: invalid input", 1),
    }
}

/// `expr` with two operands and one operator.
pub(super) fn expr(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let [left, operator, right] = arguments else {
        return Err(Stop::Unknown(format!("expr {}", arguments.join(" "))));
    };
    let text = if operator == "=" || operator == "!=" {
        i32::from((left == right) == (operator == "=")).to_string()
    } else {
        match super::arithmetic::evaluate(&format!("{left} {operator} {right}"), &|_| String::new()) {
            Ok(value) => value.to_string(),
            Err(message) => return shell.complain(streams, &format!("expr: {message}"), 2),
        }
    };
    shell.write(streams, 1, &format!("{text}\n"));
    Ok(i32::from(text == "0" || text.is_empty()))
}

/// `ls`
pub(super) fn list(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let given = flags(arguments, "");
    let mut operands = given.operands;
    if operands.is_empty() {
        operands.push(".".to_owned());
    }
    let mut status = 0;
    for name in operands {
        let path = absolute(&shell.state.directory, &name);
        if shell.files.read(&path).is_some() {
            shell.write(streams, 1, &format!("{name}\n"));
        } else if shell.files.is_directory(&path) {
            let names: String = shell.files.names(&path).iter().map(|n| format!("{n}\n")).collect();
            shell.write(streams, 1, &names);
        } else {
            status = shell.complain(streams, &format!("ls: {name}: No such file or directory"), 1)?;
        }
    }
    Ok(status)
}

/// `mkdir`
pub(super) fn make_directory(shell: &mut Shell<'_>, arguments: &[String], _: &Streams) -> Flow {
    for name in flags(arguments, "m").operands {
        let path = absolute(&shell.state.directory, &name);
        shell.files.make_directory(&path);
    }
    Ok(0)
}

/// `mktemp`
pub(super) fn temporary(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let taken: BTreeSet<String> = shell.files.names("/tmp").into_iter().collect();
    let name = (0..1000).map(|n| format!("tmp.{n:06}")).find(|n| !taken.contains(n)).unwrap_or_default();
    let path = format!("/tmp/{name}");
    if flags(arguments, "p").has('d') {
        shell.files.make_directory(&path);
    } else {
        shell.files.write(&path, "", false);
    }
    shell.write(streams, 1, &format!("{path}\n"));
    Ok(0)
}

/// `touch`
pub(super) fn touch(shell: &mut Shell<'_>, arguments: &[String], _: &Streams) -> Flow {
    for name in flags(arguments, "").operands {
        let path = absolute(&shell.state.directory, &name);
        shell.files.write(&path, "", true);
    }
    Ok(0)
}

/// `rm`
pub(super) fn remove(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let given = flags(arguments, "");
    let mut status = 0;
    for name in &given.operands {
        let path = absolute(&shell.state.directory, name);
        if !shell.files.remove(&path) && !given.has('f') {
            status = shell.complain(streams, &format!("rm: {name}: No such file or directory"), 1)?;
        }
    }
    Ok(status)
}

/// `cp`
pub(super) fn copy(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    transfer(shell, arguments, streams, false)
}

/// `mv`
pub(super) fn rename(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    transfer(shell, arguments, streams, true)
}

fn transfer(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams, gone: bool) -> Flow {
    let given = flags(arguments, "");
    let Some((target, sources)) = given.operands.split_last() else {
        return shell.complain(streams, "file names expected", 1);
    };
    let target = absolute(&shell.state.directory, target);
    for name in sources {
        let source = absolute(&shell.state.directory, name);
        let mut files = shell.files.below(&source);
        if shell.files.read(&source).is_some() {
            files.push(source.clone());
        }
        if files.is_empty() {
            return shell.complain(streams, &format!("{name}: No such file or directory"), 1);
        }
        let base = source.rsplit('/').next().unwrap_or("");
        let into =
            if shell.files.is_directory(&target) { format!("{target}/{base}") } else { target.clone() };
        for file in files {
            let text = shell.files.read(&file).unwrap_or("").to_owned();
            let path = format!("{into}{}", file.strip_prefix(&source).unwrap_or(""));
            shell.files.write(&path, &text, false);
        }
        if gone {
            shell.files.remove(&source);
        }
    }
    Ok(0)
}
