//! The program of `scripts/oracle/differ`: one process for each test, asked line by line.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::Value;

use crate::shared;

/// A proxy that is not there.
pub(crate) const NOWHERE: &str = "http://127.0.0.1:1";

pub(crate) struct Oracle {
    program: PathBuf,
    child: Child,
    into: ChildStdin,
    out: BufReader<ChildStdout>,
}

impl Oracle {
    /// The program, when it has been built.
    pub(crate) fn start() -> Option<Self> {
        let target = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/oracles");
        let folder = std::env::var_os("SEATRIAL_ORACLES").map_or(target, PathBuf::from);
        let program = folder.join("differ");
        let missing = format!("no {} (scripts/oracle/differ/build builds it)", program.display());
        Some(Self::of(shared::needed(program.exists().then_some(program), &missing)?))
    }

    fn of(program: PathBuf) -> Self {
        let mut command = command(&program);
        let mut child = command.spawn().expect("the oracle runs");
        let into = child.stdin.take().expect("its input");
        let out = BufReader::new(child.stdout.take().expect("its output"));
        Self { program, child, into, out }
    }

    /// The answer; none where Go itself gave up, which ends the process.
    pub(crate) fn ask(&mut self, request: &Value) -> Option<Value> {
        let mut line = String::new();
        let asked = writeln!(self.into, "{request}").and_then(|()| self.into.flush());
        if asked.is_err() || self.out.read_line(&mut line).unwrap_or_default() == 0 {
            eprintln!("the oracle ended over {request:.2000}");
            let _ = self.child.wait();
            *self = Self::of(self.program.clone());
            return None;
        }
        let answer: Value = serde_json::from_str(&line).expect("an answer");
        answer.get("panic").is_none().then_some(answer)
    }
}

#[expect(clippy::disallowed_methods, reason = "the program is what is compared with")]
fn command(program: &PathBuf) -> std::process::Command {
    let mut command = std::process::Command::new(program);
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() {
        command.env("TMPDIR", memory);
    }
    command.env("TZ", "UTC").env("GOGC", "400");
    // Nothing is fetched: addresses fail at once.
    command
        .env("HTTP_PROXY", NOWHERE)
        .env("HTTPS_PROXY", NOWHERE)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

impl Drop for Oracle {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
