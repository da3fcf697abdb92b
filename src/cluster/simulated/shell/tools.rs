//! The text and file tools that scripts use, in the common part of their POSIX, BusyBox and GNU forms.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::builtins::flags;
use super::execution::Shell;
use super::files::absolute;
use super::print::unescape;
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
pub(super) fn all_exist(shell: &Shell<'_>, names: &[String]) -> bool {
    names.iter().all(|n| n == "-" || shell.files.read(&absolute(&shell.state.directory, n)).is_some())
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
