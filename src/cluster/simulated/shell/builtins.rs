//! Commands of the shell itself, and the register of everything a script may call.

use std::collections::BTreeMap;

use super::execution::Shell;
use super::streams::Streams;
use super::{Flow, Stop, conditional, files, grep, kubectl, lines, print, sed, tools};

/// A command: arguments in, exit status out.
pub(super) type Builtin = fn(&mut Shell<'_>, &[String], &Streams) -> Flow;

/// Every command that a script may call, by name.
const REGISTER: &[(&str, Builtin)] = &[
    (":", nothing),
    (".", source),
    ("[", conditional::bracket),
    ("[[", conditional::double_bracket),
    ("apk", download),
    ("apt", download),
    ("apt-get", download),
    ("base64", tools::base64),
    ("basename", tools::basename),
    ("bash", shell),
    ("break", leave_loop),
    ("cat", print::cat),
    ("cd", change_directory),
    ("chmod", nothing),
    ("command", command),
    ("continue", next_turn),
    ("cp", tools::copy),
    ("curl", curl),
    ("cut", lines::cut),
    ("date", date),
    ("dirname", tools::dirname),
    ("dnf", download),
    ("echo", print::echo),
    ("env", env),
    ("eval", eval),
    ("exec", exec),
    ("exit", exit),
    ("export", export),
    ("expr", tools::expr),
    ("false", failure),
    ("git", download),
    ("grep", grep::grep),
    ("egrep", grep::egrep),
    ("fgrep", grep::fgrep),
    ("head", lines::head),
    ("hash", nothing),
    ("id", identity),
    ("kubectl", kubectl::main),
    ("local", local),
    ("ls", tools::list),
    ("microdnf", download),
    ("mkdir", tools::make_directory),
    ("mktemp", tools::temporary),
    ("mv", tools::rename),
    ("npm", download),
    ("pip", download),
    ("pip3", download),
    ("printf", print::printf),
    ("pwd", working_directory),
    ("read", read),
    ("readonly", export),
    ("return", give_back),
    ("rm", tools::remove),
    ("sed", sed::main),
    ("seq", tools::sequence),
    ("set", set),
    ("sh", shell),
    ("shift", shift),
    ("sleep", sleep),
    ("sort", lines::sort),
    ("tail", lines::tail),
    ("tee", lines::tee),
    ("test", conditional::test),
    ("timeout", timeout),
    ("touch", tools::touch),
    ("tr", lines::translate),
    ("trap", trap),
    ("true", nothing),
    ("type", which),
    ("umask", nothing),
    ("uniq", lines::unique),
    ("unset", unset),
    ("wait", nothing),
    ("wc", lines::count),
    ("wget", wget),
    ("which", which),
    ("xargs", tools::xargs),
    ("yum", download),
];

/// The command of a name.
pub(super) fn find(name: &str) -> Option<Builtin> {
    REGISTER.iter().find(|(known, _)| *known == name).map(|(_, builtin)| *builtin)
}

fn nothing(_: &mut Shell<'_>, _: &[String], _: &Streams) -> Flow {
    Ok(0)
}

fn failure(_: &mut Shell<'_>, _: &[String], _: &Streams) -> Flow {
    Ok(1)
}

fn shell(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    shell.subshell(|shell| shell.shell(arguments, streams))
}

fn source(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let Some(name) = arguments.first() else {
        return shell.complain(streams, "sh: .: file name expected", 2);
    };
    let path = files::absolute(&shell.state.directory, name);
    match shell.files.read(&path).map(str::to_owned) {
        Some(text) => shell.script(&text, streams),
        None => Err(Stop::Unknown(format!("script {path}, which is part of the image"))),
    }
}

/// Package managers and downloads: what they install is there already, what they fetch is not known.
fn download(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let what = arguments.iter().filter(|a| !a.starts_with('-')).cloned().collect::<Vec<_>>().join(" ");
    if shell.host.download(&what)? {
        return Ok(0);
    }
    shell.complain(streams, "temporary error (try again later)", 1)
}

/// Flags of `curl` that send something, or whose file decides what is sent; longer ones begin like these.
const CURL_SENDS: &[&str] =
    &["-d", "--data", "-F", "--form", "-T", "--upload-file", "--json", "-K", "--config"];

/// Flags of `wget` that send something.
const WGET_SENDS: &[&str] = &["--post-", "--body-"];

fn curl(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    web(shell, arguments, streams, CURL_SENDS)
}

fn wget(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    web(shell, arguments, streams, WGET_SENDS)
}

/// A request: reading leaves things as they are, what a server makes of another one is not known.
fn web(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams, sending: &[&str]) -> Flow {
    let sends = |word: &String| sending.iter().any(|flag| word.starts_with(flag));
    let apart =
        |pair: &[String]| matches!(pair, [flag, method] if METHOD.contains(&flag.as_str()) && !reads(method));
    let joined = |word: &String| {
        let method = ["-X", "--request=", "--method="].iter().find_map(|flag| word.strip_prefix(flag));
        method.is_some_and(|method| !method.is_empty() && !reads(method))
    };
    if arguments.iter().any(|word| sends(word) || joined(word)) || arguments.windows(2).any(apart) {
        return Err(Stop::Unknown(format!("a request that may change something: {}", arguments.join(" "))));
    }
    download(shell, arguments, streams)
}

/// Flags before the method of a request.
const METHOD: &[&str] = &["-X", "--request", "--method"];

fn reads(method: &str) -> bool {
    matches!(method, "GET" | "HEAD" | "OPTIONS")
}

fn leave_loop(_: &mut Shell<'_>, arguments: &[String], _: &Streams) -> Flow {
    Err(Stop::Break(number(arguments, 1)))
}

fn next_turn(_: &mut Shell<'_>, arguments: &[String], _: &Streams) -> Flow {
    Err(Stop::Continue(number(arguments, 1)))
}

fn number(arguments: &[String], otherwise: usize) -> usize {
    arguments.first().and_then(|a| a.parse().ok()).unwrap_or(otherwise)
}

fn change_directory(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let name = arguments.first().map_or("/root", String::as_str);
    let path = files::absolute(&shell.state.directory, name);
    if name != "/root" && !shell.files.is_directory(&path) {
        return shell.complain(streams, &format!("sh: cd: can't cd to {name}: No such file or directory"), 2);
    }
    shell.state.directory = path;
    Ok(0)
}

fn working_directory(shell: &mut Shell<'_>, _: &[String], streams: &Streams) -> Flow {
    let text = format!("{}\n", shell.state.directory);
    shell.write(streams, 1, &text);
    Ok(0)
}

fn command(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    match arguments.split_first() {
        Some((flag, names)) if flag == "-v" || flag == "-V" => which(shell, names, streams),
        _ => shell.call(arguments, streams),
    }
}

fn which(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let mut status = 0;
    for name in arguments {
        if find(name).is_some() || shell.state.functions.contains_key(name) {
            shell.write(streams, 1, &format!("{name}\n"));
        } else {
            status = 1;
        }
    }
    Ok(status)
}

/// The date counts from the beginning of the rehearsal; only seconds can be asked for.
fn date(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let seconds = shell.host.now() as i64;
    let format = arguments.iter().find_map(|a| a.strip_prefix('+')).unwrap_or("%s");
    let clock = format!("{:02}:{:02}:{:02}", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let text = format.replace("%s", &seconds.to_string()).replace("%T", &clock).replace("%H:%M:%S", &clock);
    shell.write(streams, 1, &format!("{text}\n"));
    Ok(0)
}

fn env(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let count = arguments.iter().take_while(|a| a.contains('=')).count();
    let (settings, rest) = arguments.split_at(count);
    if rest.is_empty() {
        let lines: String = shell
            .state
            .variables
            .iter()
            .filter(|(name, _)| shell.state.exported.contains(*name))
            .map(|(name, value)| format!("{name}={value}\n"))
            .collect();
        shell.write(streams, 1, &lines);
        return Ok(0);
    }
    shell.subshell(|shell| {
        for setting in settings {
            if let Some((name, value)) = setting.split_once('=') {
                shell.assign(name, value.to_owned());
            }
        }
        shell.call(rest, streams)
    })
}

fn eval(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    shell.script(&arguments.join(" "), streams)
}

fn exec(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    if arguments.is_empty() {
        return Ok(0);
    }
    let status = shell.call(arguments, streams)?;
    Err(Stop::Exit(status))
}

fn exit(shell: &mut Shell<'_>, arguments: &[String], _: &Streams) -> Flow {
    let status = arguments.first().map_or(shell.state.status, |a| a.parse().unwrap_or(2));
    Err(Stop::Exit(status & 0xff))
}

fn give_back(shell: &mut Shell<'_>, arguments: &[String], _: &Streams) -> Flow {
    let status = arguments.first().map_or(shell.state.status, |a| a.parse().unwrap_or(2));
    Err(Stop::Return(status & 0xff))
}

fn export(shell: &mut Shell<'_>, arguments: &[String], _: &Streams) -> Flow {
    for argument in arguments.iter().filter(|a| !a.starts_with('-')) {
        let (name, value) = argument.split_once('=').map_or((argument.as_str(), None), |(n, v)| (n, Some(v)));
        if let Some(value) = value {
            shell.assign(name, value.to_owned());
        }
        shell.state.exported.insert(name.to_owned());
    }
    Ok(0)
}

fn local(shell: &mut Shell<'_>, arguments: &[String], _: &Streams) -> Flow {
    for argument in arguments.iter().filter(|a| !a.starts_with('-')) {
        let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
        let outer = shell.state.variables.get(name).cloned();
        if let Some(scope) = shell.state.locals.last_mut() {
            scope.entry(name.to_owned()).or_insert(outer);
        }
        shell.assign(name, value.to_owned());
    }
    Ok(0)
}

fn identity(shell: &mut Shell<'_>, _: &[String], streams: &Streams) -> Flow {
    shell.write(streams, 1, "0\n");
    Ok(0)
}

fn read(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let raw = arguments.iter().any(|a| a == "-r");
    let names: Vec<&String> = arguments.iter().filter(|a| !a.starts_with('-')).collect();
    let Some((mut line, ended)) = streams.read_line() else {
        for name in names {
            shell.assign(name, String::new());
        }
        return Ok(1);
    };
    if !raw {
        line = line.replace('\\', "");
    }
    assign_fields(shell, &names, &line);
    Ok(i32::from(!ended))
}

fn assign_fields(shell: &mut Shell<'_>, names: &[&String], line: &str) {
    let separators = shell.state.variables.get("IFS").cloned().unwrap_or_else(|| " \t\n".to_owned());
    let blank = |c: char| separators.contains(c) && c.is_whitespace();
    let mut rest = line.trim_matches(blank);
    for (index, name) in names.iter().enumerate() {
        if index + 1 == names.len() {
            shell.assign(name, rest.to_owned());
            return;
        }
        let (value, more) = rest.split_once(|c| separators.contains(c)).unwrap_or((rest, ""));
        shell.assign(name, value.to_owned());
        rest = more.trim_start_matches(blank);
    }
    if names.is_empty() {
        shell.assign("REPLY", line.to_owned());
    }
}

fn set(shell: &mut Shell<'_>, arguments: &[String], _: &Streams) -> Flow {
    let mut rest = arguments;
    while let Some((first, more)) = rest.split_first() {
        let (on, letters) = match (first.strip_prefix('-'), first.strip_prefix('+')) {
            (Some("-"), _) => {
                shell.state.positional = more.to_vec();
                return Ok(0);
            }
            (Some(letters), _) => (true, letters),
            (_, Some(letters)) => (false, letters),
            _ => {
                shell.state.positional = rest.to_vec();
                return Ok(0);
            }
        };
        shell.options(letters, on);
        rest = more;
        if letters.ends_with('o')
            && let Some((name, more)) = rest.split_first()
        {
            shell.option_named(name, on);
            rest = more;
        }
    }
    Ok(0)
}

fn shift(shell: &mut Shell<'_>, arguments: &[String], _: &Streams) -> Flow {
    let count = number(arguments, 1);
    if count > shell.state.positional.len() {
        return Ok(1);
    }
    shell.state.positional.drain(..count);
    Ok(0)
}

fn sleep(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let mut seconds = 0.0;
    for argument in arguments {
        match duration(argument) {
            Some(value) => seconds += value,
            None => return shell.complain(streams, &format!("sleep: invalid number '{argument}'"), 1),
        }
    }
    shell.host.sleep(seconds)?;
    Ok(0)
}

/// A duration as `sleep` and `timeout` take it, in seconds.
fn duration(text: &str) -> Option<f64> {
    let (digits, factor) = match text.chars().last()? {
        's' => (text.strip_suffix('s')?, 1.0),
        'm' => (text.strip_suffix('m')?, 60.0),
        'h' => (text.strip_suffix('h')?, 3600.0),
        'd' => (text.strip_suffix('d')?, 86400.0),
        _ => (text, 1.0),
    };
    let value: f64 = digits.parse().ok()?;
    (value.is_finite() && value >= 0.0).then_some(value * factor)
}

/// Runs the command without watching the clock: what would end it early is not rehearsed.
fn timeout(shell: &mut Shell<'_>, arguments: &[String], streams: &Streams) -> Flow {
    let skip = arguments.iter().take_while(|a| a.starts_with('-')).count();
    shell.call(arguments.get(skip + 1..).unwrap_or(&[]), streams)
}

fn trap(shell: &mut Shell<'_>, arguments: &[String], _: &Streams) -> Flow {
    let Some((action, signals)) = arguments.split_first() else { return Ok(0) };
    if signals.iter().any(|s| s == "EXIT" || s == "0") {
        shell.state.at_exit = if action == "-" { String::new() } else { action.clone() };
    }
    Ok(0)
}

fn unset(shell: &mut Shell<'_>, arguments: &[String], _: &Streams) -> Flow {
    let functions = arguments.first().is_some_and(|a| a == "-f");
    for name in arguments.iter().filter(|a| !a.starts_with('-')) {
        if functions {
            shell.state.functions.remove(name);
        } else {
            shell.state.variables.remove(name);
        }
    }
    Ok(0)
}

/// Flags of a command in front of its operands, one letter each; `--` ends them.
#[derive(Debug, Default)]
pub(super) struct Flags {
    /// Letters without a value.
    pub(super) letters: Vec<char>,
    /// Letters with their values.
    pub(super) values: BTreeMap<char, Vec<String>>,
    /// What is left.
    pub(super) operands: Vec<String>,
}

impl Flags {
    /// Whether a letter was given.
    pub(super) fn has(&self, letter: char) -> bool {
        self.letters.contains(&letter)
    }

    /// The last value of a letter.
    pub(super) fn value(&self, letter: char) -> Option<&str> {
        self.values.get(&letter)?.last().map(String::as_str)
    }
}

/// Splits arguments; the letters of `valued` take a value, attached or as the next argument.
pub(super) fn flags(arguments: &[String], valued: &str) -> Flags {
    let mut flags = Flags::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == "--" {
            flags.operands.extend(rest.cloned());
            return flags;
        }
        let Some(letters) = argument.strip_prefix('-').filter(|l| !l.is_empty() && !l.starts_with('-'))
        else {
            if !argument.starts_with("--") {
                flags.operands.push(argument.clone());
            }
            continue;
        };
        for (at, letter) in letters.char_indices() {
            if !valued.contains(letter) {
                flags.letters.push(letter);
                continue;
            }
            let attached = letters.get(at + letter.len_utf8()..).unwrap_or("");
            let value = if attached.is_empty() {
                rest.next().cloned().unwrap_or_default()
            } else {
                attached.to_owned()
            };
            flags.values.entry(letter).or_default().push(value);
            break;
        }
    }
    flags
}
