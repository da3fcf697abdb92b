//! Programs that print what they are given.

use super::Flow;
use super::builtins::flags;
use super::execution::Shell;
use super::streams::Streams;
use super::tools::{all_exist, input};

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

pub(super) fn unescape(text: &str) -> String {
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

pub(super) fn format_once(format: &str, values: &mut &[String]) -> String {
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

pub(super) fn verb_text(verb: char, value: &str, spec: &str) -> String {
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

pub(super) fn pad(text: &str, spec: &str) -> String {
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
