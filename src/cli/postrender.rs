//! Post-renderers: a program that the user names changes the manifest after it was rendered.
//!
//! Rendering itself starts nothing. Helm 3 runs a program, as Helm v3.22.0 `pkg/postrender/exec.go` does; Helm 4 knows
//! only plugins, and of those none is ever found here.

use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::chart::Helm;
use crate::go::quote;
use crate::source::directory::{absolute, in_go_words};

/// How long a post-renderer may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// How often is looked whether it has ended.
const PAUSE: Duration = Duration::from_millis(10);

/// Most bytes of its standard error that are told.
const SAID: u64 = 64 << 10;

/// The program behind a name; `None` for the empty name.
///
/// # Errors
/// In the words of Go 1.26 `os/exec` `LookPath`, and of Helm 4's search for plugins.
pub(crate) fn find(name: &str, helm: Helm) -> Result<Option<PathBuf>, String> {
    if name.is_empty() {
        return Ok(None);
    }
    if helm.takes_plugins_alone() {
        return Err(format!("plugin: {{Name:{name} Type:postrenderer/v1}} not found"));
    }
    let found = if name.contains('/') {
        executable(Path::new(name)).map(|()| PathBuf::from(name))
    } else {
        search(name).ok_or_else(|| "executable file not found in $PATH".to_owned())
    };
    let found =
        found.map_err(|error| format!("unable to find binary at {name}: exec: {}: {error}", quote(name)))?;
    Ok(Some(PathBuf::from(absolute(&found))))
}

fn search(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    // A relative folder of the path is refused by Go, too.
    let mut found =
        std::env::split_paths(&folders).filter(|folder| folder.is_absolute()).map(|folder| folder.join(name));
    found.find(|path| executable(path).is_ok())
}

fn executable(path: &Path) -> Result<(), String> {
    let metadata = std::fs::metadata(path)
        .map_err(|error| format!("stat {}: {}", path.display(), in_go_words(&error)))?;
    match metadata.is_dir() {
        true => Err("is a directory".to_owned()),
        false if !may_run(&metadata) => Err("permission denied".to_owned()),
        false => Ok(()),
    }
}

#[cfg(unix)]
fn may_run(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn may_run(_: &std::fs::Metadata) -> bool {
    true
}

/// Gives the manifest to the program and answers with what it prints, at most `limit` bytes.
///
/// # Errors
/// In Helm's words: it can't be started, fails, takes too long or prints too much.
pub(crate) fn run(
    program: &Path,
    arguments: &[&str],
    manifest: String,
    limit: usize,
) -> Result<String, String> {
    run_for(PATIENCE, program, arguments, manifest, limit)
}

fn run_for(
    patience: Duration,
    program: &Path,
    arguments: &[&str],
    manifest: String,
    limit: usize,
) -> Result<String, String> {
    let failed = |said: &str, error: &str| {
        let program = program.display();
        format!(
            "error while running post render on files: error while running command {program}. error output:\n{said}: {error}"
        )
    };
    let mut running = Running::start(program, arguments, manifest, limit)
        .map_err(|error| failed("", &format!("fork/exec {}: {}", program.display(), in_go_words(&error))))?;
    let ended = running.wait(patience, limit);
    let said = running.said();
    match ended {
        Ok((status, out)) if status.success() => Ok(String::from_utf8_lossy(&out).into_owned()),
        Ok((status, _)) => Err(failed(&said, &go_status(status))),
        Err(error) => Err(failed(&said, &error)),
    }
}

/// Go's `os.ProcessState.String`.
fn go_status(status: ExitStatus) -> String {
    let text = status.to_string();
    match status.code() {
        Some(code) => format!("exit status {code}"),
        None => text.split_once("SIG").map_or(text.clone(), |_| signal(&text)),
    }
}

/// The signal's name as Go has it, of the text `signal: 9 (SIGKILL)`.
fn signal(text: &str) -> String {
    let names = [
        ("SIGKILL", "killed"),
        ("SIGTERM", "terminated"),
        ("SIGSEGV", "segmentation fault"),
        ("SIGABRT", "aborted"),
        ("SIGINT", "interrupt"),
        ("SIGHUP", "hangup"),
        ("SIGPIPE", "broken pipe"),
    ];
    let name = names.iter().find(|(own, _)| text.contains(own)).map_or(text, |(_, name)| name);
    format!("signal: {name}")
}

/// A program at work, its streams read aside so that none of them stops it.
struct Running {
    child: Child,
    out: Receiver<Vec<u8>>,
    err: Receiver<Vec<u8>>,
}

impl Running {
    #[expect(clippy::disallowed_methods, reason = "the user named the program on the command line")]
    fn start(program: &Path, arguments: &[&str], manifest: String, limit: usize) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let input = child.stdin.take();
        // A program need not read to the end; that is no failure.
        thread::Builder::new().spawn(move || input.map(|mut input| input.write_all(manifest.as_bytes())))?;
        let out = drain(child.stdout.take(), (limit as u64).saturating_add(1), Rest::Unread)?;
        let err = drain(child.stderr.take(), SAID, Rest::Thrown)?;
        Ok(Self { child, out, err })
    }

    /// Waits for the end of the program and of what it prints.
    fn wait(&mut self, patience: Duration, limit: usize) -> Result<(ExitStatus, Vec<u8>), String> {
        let end = Instant::now() + patience;
        let late = || format!("no end after {} seconds", patience.as_secs());
        let waited = self.out.recv_timeout(patience);
        let Ok(out) = waited else {
            self.stop();
            return Err(if waited == Err(RecvTimeoutError::Timeout) {
                late()
            } else {
                "no output".to_owned()
            });
        };
        if out.len() > limit {
            self.stop();
            return Err(format!(
                "more than {limit} bytes of output; raise --limit-output-bytes if that is right"
            ));
        }
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Ok((status, out)),
                Ok(None) if Instant::now() < end => thread::sleep(PAUSE),
                Ok(None) => {
                    self.stop();
                    return Err(late());
                }
                Err(error) => return Err(in_go_words(&error)),
            }
        }
    }

    fn stop(&mut self) {
        // It may have ended by itself in between.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// What it wrote to standard error; children of its own may keep that open for longer.
    fn said(&self) -> String {
        let said = self.err.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
        String::from_utf8_lossy(&said).into_owned()
    }
}

/// What becomes of what a stream has beyond its limit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// It is read and thrown away: the writer goes on.
    Thrown,
    /// It is not read: whoever writes, children of the program too, ends by a broken pipe.
    Unread,
}

/// Reads a stream aside, at most so many bytes.
fn drain(
    stream: Option<impl Read + Send + 'static>,
    limit: u64,
    rest: Rest,
) -> io::Result<Receiver<Vec<u8>>> {
    let (give, take) = mpsc::channel();
    thread::Builder::new().spawn(move || {
        let mut data = Vec::new();
        if let Some(mut stream) = stream {
            let whole = stream.by_ref().take(limit).read_to_end(&mut data);
            // Nobody waits any more once the receiver is gone.
            let _ = whole.map(|_| give.send(data));
            if rest == Rest::Thrown {
                let _ = io::copy(&mut stream, &mut io::sink());
            }
        }
    })?;
    Ok(take)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn shell(script: &str, manifest: &str, limit: usize) -> Result<String, String> {
        run_for(Duration::from_secs(2), Path::new("/bin/sh"), &["-c", script], manifest.to_owned(), limit)
    }

    fn fault(script: &str, limit: usize) -> String {
        let error = shell(script, &"a\n".repeat(100_000), limit).unwrap_err();
        let head =
            "error while running post render on files: error while running command /bin/sh. error output:\n";
        error.strip_prefix(head).unwrap().to_owned()
    }

    #[test]
    fn a_program_changes_the_manifest() {
        assert_eq!(shell("sed s/a/b/", "a\nc\n", 100), Ok("b\nc\n".to_owned()));
        assert_eq!(shell("exit 0", &"x".repeat(1 << 20), 100), Ok(String::new()));
        let large = "a: 1\n".repeat(100_000);
        assert_eq!(shell("cat", &large, 1 << 20), Ok(large));
    }

    #[test]
    fn failures_are_told_and_bounded() {
        assert_eq!(fault("echo bad >&2; exit 3", 9), "bad\n: exit status 3");
        assert_eq!(fault("kill -9 $$", 9), ": signal: killed");
        assert_eq!(fault("sleep 60", 9), ": no end after 2 seconds");
        assert_eq!(fault("exec >&-; sleep 60", 9), ": no end after 2 seconds");
        assert!(fault("yes", 9).starts_with(": more than 9 bytes of output"));
        let absent = run(Path::new("/no/such/program"), &[], String::new(), 9).unwrap_err();
        assert!(absent.ends_with(": fork/exec /no/such/program: no such file or directory"), "{absent}");
    }

    #[test]
    fn programs_are_found_as_go_finds_them() {
        let find = |name: &str, helm| find(name, helm);
        let helm3 = Helm::V3;
        assert_eq!(find("", helm3), Ok(None));
        assert_eq!(find("", Helm::V4), Ok(None));
        assert_eq!(
            find("./bin/../sh", Helm::V4).unwrap_err(),
            "plugin: {Name:./bin/../sh Type:postrenderer/v1} not found"
        );
        assert_eq!(find("/bin/../bin/sh", helm3), Ok(Some("/bin/sh".into())));
        assert!(find("sh", helm3).unwrap().unwrap().is_absolute());
        let cases = [
            ("./none.sh", "stat ./none.sh: no such file or directory"),
            ("no-such-program", "executable file not found in $PATH"),
            ("/", "is a directory"),
            ("/etc/passwd", "permission denied"),
        ];
        for (name, wanted) in cases {
            let wanted = format!("unable to find binary at {name}: exec: \"{name}\": {wanted}");
            assert_eq!(find(name, helm3), Err(wanted));
        }
    }
}
