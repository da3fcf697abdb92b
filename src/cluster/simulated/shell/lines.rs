//! Programs that go through lines: `wc`, `sort`, `uniq`, `cut`, `head`, `tail`, `tr`, `tee`.

use super::Flow;
use super::builtins::flags;
use super::execution::Shell;
use super::files::absolute;
use super::pattern::in_class;
use super::print::unescape;
use super::streams::Streams;
use super::tools::input;

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

pub(super) fn sort_key(line: &str, separator: Option<char>, field: usize) -> &str {
    if field == 0 {
        return line;
    }
    match separator {
        Some(c) => line.split(c).nth(field - 1).unwrap_or(""),
        None => line.split_whitespace().nth(field - 1).unwrap_or(""),
    }
}

pub(super) fn leading_number(text: &str) -> f64 {
    let text = text.trim_start();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(text.len());
    text.get(..end).and_then(|t| t.parse().ok()).unwrap_or(0.0)
}

pub(super) fn version_key(text: &str) -> Vec<(u64, String)> {
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

pub(super) fn ranges(text: &str) -> Vec<(usize, usize)> {
    let range = |part: &str| match part.split_once('-') {
        Some((from, to)) => (from.parse().unwrap_or(1), to.parse().unwrap_or(usize::MAX)),
        None => part.parse().map_or((1, 0), |n| (n, n)),
    };
    text.split(',').map(range).collect()
}

pub(super) fn within(ranges: &[(usize, usize)], index: usize) -> bool {
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
pub(super) fn line_count(arguments: &[String]) -> (String, Vec<String>) {
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
pub(super) fn characters(text: &str) -> Vec<char> {
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
