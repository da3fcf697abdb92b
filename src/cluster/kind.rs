//! A kind cluster made for one rehearsal and deleted at its end, whatever that end is.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use super::live::Live;
use super::{Cluster, Request, Resource, Unreachable};
use crate::k8s::At as _;
use crate::k8s::text;

/// How long an interrupted `kind` gets to end before it is deleted around.
const ENDING: Duration = Duration::from_secs(10);
/// What `kind` had started when it was interrupted may still bring a node up this much later.
const AFTERMATH: Duration = Duration::from_secs(3);

/// What a kind cluster is made with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The `kind` program; found on PATH by its bare name.
    pub program: PathBuf,
    /// Node image; `None` is kind's own default.
    pub image: Option<String>,
    /// Container images loaded into the node first.
    pub preload: Vec<String>,
    /// Whether the cluster stays afterwards.
    pub keep: bool,
    /// Where the kubeconfig of the cluster is written; never the user's own file.
    pub kubeconfig: PathBuf,
    /// Unique name of the cluster.
    pub name: String,
    /// The `kind` process that runs at the moment; shared with the handler of interrupts.
    pub at_work: AtWork,
}

/// The process of a cluster's `kind` command, as long as it runs.
#[derive(Clone, Debug, Default)]
pub struct AtWork {
    process: Arc<AtomicU32>,
    interrupted: Arc<AtomicBool>,
}

impl AtWork {
    /// Ends the running command and all that it has started, and waits until it is gone.
    ///
    /// `kind` has no handling of signals of its own: left alone it would go on creating what is being deleted.
    pub fn interrupt(&self) {
        let process = self.process.load(Ordering::SeqCst);
        if process == 0 {
            return;
        }
        self.interrupted.store(true, Ordering::SeqCst);
        signal_group("-TERM", process);
        let mut left = ENDING;
        while self.process.load(Ordering::SeqCst) == process && !left.is_zero() {
            std::thread::sleep(Duration::from_millis(50));
            left = left.saturating_sub(Duration::from_millis(50));
        }
        if left.is_zero() {
            signal_group("-KILL", process);
        }
    }
}

// Commands run in a process group of their own, which has the number of its first process.
#[expect(
    clippy::disallowed_methods,
    reason = "the kind engine is one of the places that may start processes"
)]
fn signal_group(signal: &str, group: u32) {
    let _ = Command::new("kill").args([signal, "--", &format!("-{group}")]).stderr(Stdio::null()).status();
}

/// A running kind cluster; dropping it deletes it, also while a panic unwinds.
#[derive(Debug)]
pub struct Kind {
    settings: Settings,
}

/// Phases told to a progress display.
pub type Progress<'a> = &'a mut dyn FnMut(&str);

impl Kind {
    /// Creates the cluster, gives its node time to get Ready, and loads images.
    ///
    /// # Errors
    /// When `kind` is not there or fails; its last words are in the error, and what it left is deleted.
    pub fn create(settings: Settings, progress: Progress<'_>) -> Result<Self, Unreachable> {
        progress(&format!("creating kind cluster {}", settings.name));
        let kind = Self { settings };
        kind.run(&kind.create_arguments())?;
        for image in &kind.settings.preload {
            progress(&format!("loading image {image}"));
            kind.run(&["load", "docker-image", image, "--name", &kind.settings.name].map(str::to_owned))?;
        }
        Ok(kind)
    }

    fn create_arguments(&self) -> Vec<String> {
        let kubeconfig = self.settings.kubeconfig.display().to_string();
        let mut arguments: Vec<String> = [
            "create",
            "cluster",
            "--name",
            &self.settings.name,
            "--kubeconfig",
            &kubeconfig,
            "--wait",
            "180s",
        ]
        .map(str::to_owned)
        .into();
        if let Some(image) = &self.settings.image {
            arguments.extend(["--image".to_owned(), image.clone()]);
        }
        arguments
    }

    /// Connects to the cluster's API server.
    ///
    /// # Errors
    /// When its kubeconfig makes no client, the server does not answer, or a node is not Ready: `kind` only warns when
    /// its own wait runs out.
    pub fn connect(&self) -> Result<Live, Unreachable> {
        let mut live = Live::connect(Some(&self.settings.kubeconfig), None)?;
        ready(&mut live)?;
        Ok(live)
    }

    /// The commands that delete this cluster by hand, for people who keep it and for signal handlers.
    #[must_use]
    pub fn delete_arguments(settings: &Settings) -> Vec<String> {
        let kubeconfig = settings.kubeconfig.display().to_string();
        ["delete", "cluster", "--name", &settings.name, "--kubeconfig", &kubeconfig].map(str::to_owned).into()
    }

    fn run(&self, arguments: &[String]) -> Result<(), Unreachable> {
        let output = start(&self.settings, arguments)?;
        if output.status.success() {
            Ok(())
        } else {
            Err(failure(&self.settings.program, arguments, &output))
        }
    }
}

impl Drop for Kind {
    fn drop(&mut self) {
        if !self.settings.keep {
            delete(&self.settings);
        }
    }
}

/// Deletes a cluster; used by `Drop` and by the handler of interrupts. Failing leaves nothing better to do than to go on.
pub fn delete(settings: &Settings) {
    let arguments = Kind::delete_arguments(settings);
    let _ = start(settings, &arguments);
    if settings.at_work.interrupted.load(Ordering::SeqCst) {
        std::thread::sleep(AFTERMATH);
        let _ = start(settings, &arguments);
    }
    let _ = std::fs::remove_file(&settings.kubeconfig);
}

/// That every node is Ready; a server without nodes has none to wait for.
fn ready(cluster: &mut dyn Cluster) -> Result<(), Unreachable> {
    let answer = cluster.send(&Request::list(&Resource::new("", "v1", "nodes"), ""))?;
    let nodes = answer.body.get("items").and_then(serde_json::Value::as_array).into_iter().flatten();
    for node in nodes {
        let conditions =
            node.at("/status/conditions").and_then(serde_json::Value::as_array).into_iter().flatten();
        let condition = conditions.into_iter().find(|condition| text(condition, "/type") == "Ready");
        if condition.is_none_or(|condition| text(condition, "/status") != "True") {
            let why = condition.map_or("it has not reported", |condition| text(condition, "/message"));
            let name = text(node, "/metadata/name");
            return Err(Unreachable(format!("node {name} of the kind cluster is not Ready: {why}")));
        }
    }
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the kind engine is one of the places that may start processes"
)]
fn start(settings: &Settings, arguments: &[String]) -> Result<Output, Unreachable> {
    let program = &settings.program;
    let failed = |error: std::io::Error| {
        Unreachable(format!(
            "can't run `{}`: {error}; install kind, or use `--engine sim`",
            program.display()
        ))
    };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    own_group(&mut command);
    let child = command.spawn().map_err(failed)?;
    let process = child.id();
    settings.at_work.process.store(process, Ordering::SeqCst);
    let output = child.wait_with_output();
    // Another thread's command may have taken the place.
    let _ = settings.at_work.process.compare_exchange(process, 0, Ordering::SeqCst, Ordering::SeqCst);
    output.map_err(failed)
}

// Ctrl-C reaches the whole foreground group; what deletes a cluster must not be among it.
#[cfg(unix)]
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    command.process_group(0);
}

#[cfg(not(unix))]
fn own_group(_command: &mut Command) {}

fn failure(program: &Path, arguments: &[String], output: &Output) -> Unreachable {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = stderr.lines().rev().take(5).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    Unreachable(format!(
        "`{} {}` failed ({}): {}",
        program.display(),
        arguments.join(" "),
        output.status,
        last.join("\n")
    ))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn settings(dir: &Path, script: &str, keep: bool) -> Settings {
        let program = dir.join("kind");
        std::fs::write(&program, format!("#!/bin/sh\necho \"$@\" >> {}/log\n{script}\n", dir.display()))
            .unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        Settings {
            program,
            image: Some("node:1".into()),
            preload: vec!["app:1".into()],
            keep,
            kubeconfig: dir.join("kubeconfig"),
            name: "seatrial-test".into(),
            at_work: AtWork::default(),
        }
    }

    #[test]
    fn clusters_are_deleted_at_the_end_and_after_failures() {
        for (script, created) in
            [("exit 0", true), ("[ $1 = delete ] || { echo no engine >&2; exit 1; }", false)]
        {
            let dir = tempfile::tempdir().unwrap();
            let result = Kind::create(settings(dir.path(), script, false), &mut |_| ());
            assert_eq!(result.is_ok(), created);
            if let Err(error) = &result {
                assert!(error.0.contains("no engine"), "{error}");
            }
            drop(result);
            let log = std::fs::read_to_string(dir.path().join("log")).unwrap();
            assert!(log.starts_with("create cluster --name seatrial-test"), "{log}");
            assert!(log.lines().last().unwrap().starts_with("delete cluster --name seatrial-test"), "{log}");
        }
    }

    #[test]
    fn kept_clusters_stay() {
        let dir = tempfile::tempdir().unwrap();
        drop(Kind::create(settings(dir.path(), "exit 0", true), &mut |_| ()).unwrap());
        let log = std::fs::read_to_string(dir.path().join("log")).unwrap();
        assert!(!log.contains("delete"), "{log}");
        assert!(log.contains("load docker-image app:1"), "{log}");
    }

    #[test]
    fn missing_program_is_a_clear_error() {
        let dir = tempfile::tempdir().unwrap();
        let settings = Settings { program: "/nonexistent/kind".into(), ..settings(dir.path(), "", false) };
        assert!(Kind::create(settings, &mut |_| ()).unwrap_err().0.contains("can't run"));
    }

    #[test]
    fn interrupted_creations_end_at_once_and_are_deleted_twice() {
        let dir = tempfile::tempdir().unwrap();
        let settings = settings(dir.path(), "[ $1 = delete ] || sleep 60", false);
        let at_work = settings.at_work.clone();
        let creation = std::thread::spawn(move || Kind::create(settings, &mut |_| ()).is_err());
        while at_work.process.load(Ordering::SeqCst) == 0 || !dir.path().join("log").exists() {
            std::thread::sleep(Duration::from_millis(10));
        }
        at_work.interrupt();
        assert!(creation.join().unwrap());
        let log = std::fs::read_to_string(dir.path().join("log")).unwrap();
        assert_eq!(log.lines().filter(|line| line.starts_with("delete")).count(), 2, "{log}");
    }

    #[test]
    fn nodes_must_be_ready() {
        use crate::cluster::simulated::Simulated;
        let mut cluster = Simulated::new("v1.34.3");
        assert!(ready(&mut cluster).is_ok());
        let node = serde_json::json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}});
        let nodes = Resource::new("", "v1", "nodes");
        assert!(cluster.send(&Request::create(&nodes, "", Arc::new(node))).unwrap().ok());
        assert!(ready(&mut cluster).unwrap_err().0.contains("node n of the kind cluster is not Ready"));
    }
}
