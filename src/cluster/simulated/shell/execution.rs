//! The executor: walks a script's tree, with the order, the statuses and the `set -e` rules of POSIX.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use super::builtins;
use super::expansion::{TEXT, too_much_text};
use super::files::{self, Files};
use super::parser::{self, BOTH};
use super::streams::{Sink, Streams, append};
use super::syntax::{AndOr, Command, Kind, List, Pipeline, Redirect, Target, Word};
use super::{Ending, Flow, Host, Program, Run, Stop, pattern};

/// Commands and loop turns that one run may take.
const STEPS: u64 = 200_000;

/// Most calls of kubectl by a script: each is an answer that is remembered, as the script is run anew after every pause.
const CALLS: u64 = 2_000;
/// How deep functions may call each other.
const DEPTH: usize = 100;

/// Options of `set`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Options {
    /// `-e`
    pub(super) errexit: bool,
    /// `-u`
    pub(super) nounset: bool,
    /// `-x`
    pub(super) xtrace: bool,
    /// `-f`
    pub(super) noglob: bool,
    /// `-o pipefail`
    pub(super) pipefail: bool,
}

/// What a subshell gets a copy of.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// Variables by name.
    pub(super) variables: BTreeMap<String, String>,
    /// Names of exported variables.
    pub(super) exported: BTreeSet<String>,
    /// `$1`, `$2` …
    pub(super) positional: Vec<String>,
    /// `$0`
    pub(super) zero: String,
    /// Functions by name.
    pub(super) functions: BTreeMap<String, Arc<Command>>,
    /// `$?`
    pub(super) status: i32,
    /// Options.
    pub(super) options: Options,
    /// Working directory.
    pub(super) directory: String,
    /// What the functions that run have to put back: names declared `local` with their outer values.
    pub(super) locals: Vec<BTreeMap<String, Option<String>>>,
    /// The command of `trap … EXIT`.
    pub(super) at_exit: String,
}

/// A running shell.
pub(super) struct Shell<'h> {
    /// The world outside.
    pub(super) host: &'h mut dyn Host,
    /// What is run.
    pub(super) program: &'h Program,
    /// Virtual files.
    pub(super) files: Files,
    /// What a subshell copies.
    pub(super) state: State,
    /// How many conditions enclose what runs: `set -e` sleeps inside them.
    guarded: usize,
    steps: u64,
    /// Calls of kubectl.
    calls: u64,
    depth: usize,
}

/// Runs a program from its beginning.
pub(super) fn run(program: &Program, host: &mut dyn Host) -> Run {
    let output = Rc::new(RefCell::new(String::new()));
    let streams = Streams::joined(&output);
    let mut shell = Shell::new(program, host);
    let flow = shell.start(&streams);
    let flow = shell.finish(flow, &streams);
    let ending = match flow {
        Err(Stop::Pause(pause)) => Ending::Paused(pause),
        Err(Stop::Unknown(what)) => Ending::Unknown(what),
        Ok(status) | Err(Stop::Exit(status) | Stop::Return(status)) => Ending::Exited(status),
        Err(Stop::Break(_) | Stop::Continue(_)) => Ending::Exited(0),
    };
    let (output, steps) = (output.borrow().clone(), shell.steps);
    Run { ending, output, steps }
}

impl<'h> Shell<'h> {
    fn new(program: &'h Program, host: &'h mut dyn Host) -> Self {
        let state = State {
            variables: program.environment.clone(),
            exported: program.environment.keys().cloned().collect(),
            directory: "/".to_owned(),
            zero: "sh".to_owned(),
            ..State::default()
        };
        Self {
            host,
            program,
            files: Files::new(&program.files),
            state,
            guarded: 0,
            steps: 0,
            calls: 0,
            depth: 0,
        }
    }

    /// Starts what the container says: a shell with its script, or a program itself.
    fn start(&mut self, streams: &Streams) -> Flow {
        let words = &self.program.words;
        match words.first().map(|first| first.rsplit('/').next().unwrap_or(first)) {
            Some("sh" | "bash" | "ash" | "dash") => self.shell(&words[1..], streams),
            Some(_) => self.call(words, streams),
            None => Err(Stop::Unknown("the image's own entry point".to_owned())),
        }
    }

    /// `sh` with its arguments.
    pub(super) fn shell(&mut self, arguments: &[String], streams: &Streams) -> Flow {
        let mut rest = arguments;
        let mut command = false;
        while let Some((first, more)) = rest.split_first().filter(|(first, _)| first.starts_with(['-', '+']))
        {
            rest = more;
            if first == "-o" {
                let name = more.first().map_or("", String::as_str);
                self.option_named(name, true);
                rest = more.get(1..).unwrap_or(&[]);
                continue;
            }
            if !first.starts_with("--") {
                command |= first.contains('c');
                self.options(first.strip_prefix('-').unwrap_or(""), true);
            }
        }
        let Some((first, more)) = rest.split_first() else {
            let script = streams.read_all();
            if script.trim().is_empty() {
                return Err(Stop::Unknown("a script from standard input that nobody knows".to_owned()));
            }
            return self.script(&script, streams);
        };
        let text = if command { first.clone() } else { self.file(first)? };
        let arguments = if command { more.get(1..).unwrap_or(&[]) } else { more };
        self.state.zero = if command { more.first().map_or("sh", String::as_str) } else { first }.to_owned();
        self.state.positional = arguments.to_vec();
        self.script(&text, streams)
    }

    fn file(&self, path: &str) -> Flow<String> {
        let path = files::absolute(&self.state.directory, path);
        let text = self.files.read(&path).map(str::to_owned);
        text.ok_or_else(|| Stop::Unknown(format!("script {path}, which is part of the image")))
    }

    /// Parses and runs a text.
    pub(super) fn script(&mut self, text: &str, streams: &Streams) -> Flow {
        match parser::parse(text) {
            Ok(list) => self.list(&list, streams),
            Err(error) => {
                self.write(streams, 2, &format!("sh: syntax error: {error}\n"));
                Ok(2)
            }
        }
    }

    fn finish(&mut self, flow: Flow, streams: &Streams) -> Flow {
        let status = match flow {
            Ok(status) | Err(Stop::Exit(status) | Stop::Return(status)) => status,
            Err(stop) => return Err(stop),
        };
        let trap = std::mem::take(&mut self.state.at_exit);
        if trap.is_empty() {
            return Ok(status);
        }
        self.state.status = status;
        match self.script(&trap, streams) {
            Ok(_) | Err(Stop::Return(_)) => Ok(status),
            other => other,
        }
    }

    /// Switches options by letter.
    pub(super) fn options(&mut self, letters: &str, on: bool) {
        for letter in letters.chars() {
            match letter {
                'e' => self.state.options.errexit = on,
                'u' => self.state.options.nounset = on,
                'x' => self.state.options.xtrace = on,
                'f' => self.state.options.noglob = on,
                _ => {}
            }
        }
    }

    /// Switches an option by name.
    pub(super) fn option_named(&mut self, name: &str, on: bool) {
        match name {
            "errexit" => self.options("e", on),
            "nounset" => self.options("u", on),
            "xtrace" => self.options("x", on),
            "noglob" => self.options("f", on),
            "pipefail" => self.state.options.pipefail = on,
            _ => {}
        }
    }

    /// Writes to a descriptor.
    pub(super) fn write(&mut self, streams: &Streams, descriptor: u32, text: &str) {
        match streams.sink(descriptor) {
            Sink::Null => {}
            Sink::Buffer(buffer) => append(&buffer, text),
            Sink::File(path) => self.files.write(&path, text, true),
        }
    }

    /// Says what went wrong and gives the status.
    pub(super) fn complain(&mut self, streams: &Streams, text: &str, status: i32) -> Flow {
        self.write(streams, 2, &format!("{text}\n"));
        Ok(status)
    }

    /// Counts one step.
    pub(super) fn step(&mut self) -> Flow<()> {
        self.steps += 1;
        if self.steps > STEPS {
            return Err(Stop::Unknown(format!("more than {STEPS} commands")));
        }
        let variables = self.state.variables.values().map(String::len).sum::<usize>();
        if variables > TEXT { Err(too_much_text()) } else { Ok(()) }
    }

    /// Counts one call of kubectl.
    pub(super) fn called(&mut self) -> Flow<()> {
        self.calls += 1;
        if self.calls > CALLS {
            return Err(Stop::Unknown(format!("more than {CALLS} calls of kubectl")));
        }
        Ok(())
    }

    /// Runs commands in order.
    pub(super) fn list(&mut self, list: &List, streams: &Streams) -> Flow {
        let mut status = 0;
        for (item, _) in &list.items {
            status = self.and_or(item, streams)?;
            self.state.status = status;
        }
        Ok(status)
    }

    fn and_or(&mut self, item: &AndOr, streams: &Streams) -> Flow {
        let last = item.rest.len();
        let mut status = self.and_or_part(&item.first, last > 0, streams)?;
        for (index, (success, pipeline)) in item.rest.iter().enumerate() {
            if (status == 0) == *success {
                status = self.and_or_part(pipeline, index + 1 < last, streams)?;
            }
        }
        Ok(status)
    }

    fn and_or_part(&mut self, pipeline: &Pipeline, guarded: bool, streams: &Streams) -> Flow {
        let guarded = guarded || pipeline.negated;
        self.guarded += usize::from(guarded);
        let flow = self.pipeline(pipeline, streams);
        self.guarded -= usize::from(guarded);
        let status = flow?;
        self.state.status = status;
        if status != 0 && !guarded && self.guarded == 0 && self.state.options.errexit {
            return Err(Stop::Exit(status));
        }
        Ok(status)
    }

    fn pipeline(&mut self, pipeline: &Pipeline, streams: &Streams) -> Flow {
        let status = match pipeline.commands.as_slice() {
            [single] => self.command(single, streams)?,
            commands => self.piped(commands, streams)?,
        };
        Ok(if pipeline.negated { i32::from(status == 0) } else { status })
    }

    fn piped(&mut self, commands: &[Command], streams: &Streams) -> Flow {
        let mut input: Option<String> = None;
        let (mut status, mut failed) = (0, 0);
        for (index, command) in commands.iter().enumerate() {
            let reading = input.take().map_or_else(|| streams.clone(), |text| streams.reading(text));
            if index + 1 == commands.len() {
                status = self.subshell(|shell| shell.command(command, &reading))?;
            } else {
                let buffer = Rc::new(RefCell::new(String::new()));
                let writing = reading.writing(1, Sink::Buffer(buffer.clone()));
                status = self.subshell(|shell| shell.command(command, &writing))?;
                input = Some(buffer.take());
            }
            failed = if status == 0 { failed } else { status };
        }
        Ok(if self.state.options.pipefail { failed } else { status })
    }

    /// Runs something on a copy of the state; an exit ends the copy alone.
    pub(super) fn subshell(&mut self, inner: impl FnOnce(&mut Self) -> Flow) -> Flow {
        let saved = self.state.clone();
        self.state.at_exit.clear();
        let flow = inner(self);
        self.state = saved;
        match flow {
            Err(Stop::Exit(status) | Stop::Return(status)) => Ok(status),
            Err(Stop::Break(_) | Stop::Continue(_)) => Ok(0),
            other => other,
        }
    }

    fn command(&mut self, command: &Command, streams: &Streams) -> Flow {
        self.step()?;
        if let Kind::Simple { assignments, words } = &command.kind {
            return self.simple(assignments, words, &command.redirects, streams);
        }
        let streams = match self.redirected(&command.redirects, streams)? {
            Ok(streams) => streams,
            Err(message) => return self.complain(streams, &message, 1),
        };
        match &command.kind {
            Kind::Simple { .. } => Ok(0),
            Kind::Group(list) => self.list(list, &streams),
            Kind::Subshell(list) => self.subshell(|shell| shell.list(list, &streams)),
            Kind::If { branches, otherwise } => self.if_command(branches, otherwise.as_ref(), &streams),
            Kind::For { name, words, body } => self.for_command(name, words.as_deref(), body, &streams),
            Kind::While { until, condition, body } => self.while_command(*until, condition, body, &streams),
            Kind::Case { word, arms } => self.case_command(word, arms, &streams),
            Kind::Function { name, body } => {
                self.state.functions.insert(name.clone(), body.clone());
                Ok(0)
            }
        }
    }

    fn condition(&mut self, list: &List, streams: &Streams) -> Flow {
        self.guarded += 1;
        let flow = self.list(list, streams);
        self.guarded -= 1;
        flow
    }

    fn if_command(&mut self, branches: &[(List, List)], otherwise: Option<&List>, streams: &Streams) -> Flow {
        for (condition, body) in branches {
            if self.condition(condition, streams)? == 0 {
                return self.list(body, streams);
            }
        }
        otherwise.map_or(Ok(0), |body| self.list(body, streams))
    }

    fn for_command(&mut self, name: &str, words: Option<&[Word]>, body: &List, streams: &Streams) -> Flow {
        let values = match words {
            Some(words) => self.fields(words, streams)?,
            None => self.state.positional.clone(),
        };
        // Every word is made anew in each run of the script.
        self.steps += values.len() as u64;
        let mut status = 0;
        for value in values {
            self.assign(name, value);
            match self.turn(body, streams)? {
                Turn::Next(result) => status = result,
                Turn::End(result) => return Ok(result),
            }
        }
        Ok(status)
    }

    fn while_command(&mut self, until: bool, condition: &List, body: &List, streams: &Streams) -> Flow {
        let mut status = 0;
        while (self.condition(condition, streams)? == 0) != until {
            self.step()?;
            match self.turn(body, streams)? {
                Turn::Next(result) => status = result,
                Turn::End(result) => return Ok(result),
            }
        }
        Ok(status)
    }

    /// One turn of a loop.
    fn turn(&mut self, body: &List, streams: &Streams) -> Flow<Turn> {
        match self.list(body, streams) {
            Ok(status) => Ok(Turn::Next(status)),
            Err(Stop::Break(levels)) if levels > 1 => Err(Stop::Break(levels - 1)),
            Err(Stop::Continue(levels)) if levels > 1 => Err(Stop::Continue(levels - 1)),
            Err(Stop::Break(_)) => Ok(Turn::End(0)),
            Err(Stop::Continue(_)) => Ok(Turn::Next(0)),
            Err(stop) => Err(stop),
        }
    }

    fn case_command(&mut self, word: &Word, arms: &[(Vec<Word>, List)], streams: &Streams) -> Flow {
        let text: Vec<char> = self.single(word, streams)?.chars().collect();
        for (patterns, body) in arms {
            for candidate in patterns {
                let atoms = self.pattern(candidate, streams)?;
                if pattern::matches(&atoms, &text) {
                    return self.list(body, streams);
                }
            }
        }
        Ok(0)
    }

    fn simple(
        &mut self,
        assignments: &[(String, Word)],
        words: &[Word],
        redirects: &[Redirect],
        streams: &Streams,
    ) -> Flow {
        let fields = self.fields(words, streams)?;
        let mut values = Vec::new();
        // The status of a bare assignment is that of the last command substitution in it.
        self.state.status = if fields.is_empty() { 0 } else { self.state.status };
        for (name, word) in assignments {
            values.push((name.clone(), self.single(word, streams)?));
        }
        let streams = match self.redirected(redirects, streams)? {
            Ok(streams) => streams,
            Err(message) => return self.complain(streams, &message, 1),
        };
        if self.state.options.xtrace {
            let line: Vec<String> =
                values.iter().map(|(n, v)| format!("{n}={v}")).chain(fields.clone()).collect();
            self.write(&streams, 2, &format!("+ {}\n", line.join(" ")));
        }
        if fields.is_empty() {
            for (name, value) in values {
                self.assign(&name, value);
            }
            return Ok(self.state.status);
        }
        self.with_environment(values, |shell| shell.call(&fields, &streams))
    }

    fn with_environment(
        &mut self,
        values: Vec<(String, String)>,
        inner: impl FnOnce(&mut Self) -> Flow,
    ) -> Flow {
        let mut before = Vec::new();
        for (name, value) in values {
            before.push((name.clone(), self.state.variables.insert(name, value)));
        }
        let flow = inner(self);
        for (name, value) in before.into_iter().rev() {
            match value {
                Some(value) => self.state.variables.insert(name, value),
                None => self.state.variables.remove(&name),
            };
        }
        flow
    }

    /// Sets a variable.
    pub(super) fn assign(&mut self, name: &str, value: String) {
        self.state.variables.insert(name.to_owned(), value);
    }

    /// A variable's value; empty when unset.
    pub(super) fn variable(&self, name: &str) -> &str {
        self.state.variables.get(name).map_or("", String::as_str)
    }

    /// Runs a function, a builtin or a tool.
    pub(super) fn call(&mut self, fields: &[String], streams: &Streams) -> Flow {
        self.step()?;
        let Some((name, arguments)) = fields.split_first() else { return Ok(0) };
        if let Some(body) = self.state.functions.get(name).cloned() {
            return self.function(&body, arguments, streams);
        }
        let name = name.rsplit('/').next().unwrap_or(name);
        match builtins::find(name) {
            Some(builtin) => builtin(self, arguments, streams),
            None => Err(Stop::Unknown(format!("program `{name}`"))),
        }
    }

    fn function(&mut self, body: &Arc<Command>, arguments: &[String], streams: &Streams) -> Flow {
        if self.depth >= DEPTH {
            return Err(Stop::Unknown(format!("functions nested deeper than {DEPTH}")));
        }
        self.depth += 1;
        let positional = std::mem::replace(&mut self.state.positional, arguments.to_vec());
        self.state.locals.push(BTreeMap::new());
        let flow = self.command(body, streams);
        for (name, value) in self.state.locals.pop().unwrap_or_default() {
            match value {
                Some(value) => self.state.variables.insert(name, value),
                None => self.state.variables.remove(&name),
            };
        }
        self.state.positional = positional;
        self.depth -= 1;
        match flow {
            Err(Stop::Return(status)) => Ok(status),
            other => other,
        }
    }

    /// Applies redirections; the inner error is a message for the user.
    fn redirected(&mut self, redirects: &[Redirect], streams: &Streams) -> Flow<Result<Streams, String>> {
        let mut streams = streams.clone();
        for redirect in redirects {
            match self.redirect(redirect, &streams)? {
                Ok(next) => streams = next,
                Err(message) => return Ok(Err(message)),
            }
        }
        Ok(Ok(streams))
    }

    fn redirect(&mut self, redirect: &Redirect, streams: &Streams) -> Flow<Result<Streams, String>> {
        let descriptor = redirect.descriptor;
        Ok(Ok(match &redirect.target {
            Target::Text(word) => {
                let mut text = self.single(word, streams)?;
                if !text.ends_with('\n') {
                    text.push('\n');
                }
                streams.reading(text)
            }
            Target::Read(word) => {
                let name = self.single(word, streams)?;
                let path = files::absolute(&self.state.directory, &name);
                match self.files.read(&path) {
                    Some(text) => streams.reading(text.to_owned()),
                    None => return Ok(Err(format!("sh: can't open {name}: no such file"))),
                }
            }
            Target::Write(word) | Target::Append(word) => {
                let name = self.single(word, streams)?;
                let sink = self.open(&name, matches!(redirect.target, Target::Append(_)), streams);
                match descriptor {
                    BOTH => streams.writing(1, sink.clone()).writing(2, sink),
                    descriptor => streams.writing(descriptor, sink),
                }
            }
            Target::Duplicate(word) => match self.single(word, streams)?.parse() {
                Ok(source) if descriptor != 0 => streams.writing(descriptor, streams.sink(source)),
                Ok(_) => streams.clone(),
                Err(_) => streams.writing(descriptor, Sink::Null),
            },
        }))
    }

    fn open(&mut self, name: &str, append: bool, streams: &Streams) -> Sink {
        let path = files::absolute(&self.state.directory, name);
        match path.as_str() {
            "/dev/null" => Sink::Null,
            "/dev/stdout" | "/proc/1/fd/1" => streams.sink(1),
            "/dev/stderr" | "/proc/1/fd/2" => streams.sink(2),
            _ => {
                self.files.write(&path, "", append);
                Sink::File(path)
            }
        }
    }

    /// Runs commands and gives what they write, without the line ends at its end.
    pub(super) fn substitute(&mut self, list: &List, streams: &Streams) -> Flow<String> {
        let buffer = Rc::new(RefCell::new(String::new()));
        let inner = streams.writing(1, Sink::Buffer(buffer.clone()));
        self.state.status = self.subshell(|shell| shell.list(list, &inner))?;
        Ok(buffer.take().trim_end_matches('\n').to_owned())
    }
}

/// How a turn of a loop ended.
enum Turn {
    /// The loop goes on.
    Next(i32),
    /// The loop ends.
    End(i32),
}
