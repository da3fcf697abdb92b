//! A kind cluster made for one rehearsal and deleted at its end, whatever that end is.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::Unreachable;
use super::live::Live;

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
}

/// A running kind cluster; dropping it deletes it, also while a panic unwinds.
#[derive(Debug)]
pub struct Kind {
    settings: Settings,
}

/// Phases told to a progress display.
pub type Progress<'a> = &'a mut dyn FnMut(&str);

impl Kind {
    /// Creates the cluster, waits until its node is Ready and loads images.
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
    /// When its kubeconfig makes no client.
    pub fn connect(&self) -> Result<Live, Unreachable> {
        Live::connect(Some(&self.settings.kubeconfig), None)
    }

    /// The commands that delete this cluster by hand, for people who keep it and for signal handlers.
    #[must_use]
    pub fn delete_arguments(settings: &Settings) -> Vec<String> {
        let kubeconfig = settings.kubeconfig.display().to_string();
        ["delete", "cluster", "--name", &settings.name, "--kubeconfig", &kubeconfig].map(str::to_owned).into()
    }

    fn run(&self, arguments: &[String]) -> Result<(), Unreachable> {
        let output = start(&self.settings.program, arguments)?;
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
    let _ = start(&settings.program, &Kind::delete_arguments(settings));
    let _ = std::fs::remove_file(&settings.kubeconfig);
}

#[expect(
    clippy::disallowed_methods,
    reason = "the kind engine is one of the places that may start processes"
)]
fn start(program: &Path, arguments: &[String]) -> Result<Output, Unreachable> {
    Command::new(program).args(arguments).stdin(Stdio::null()).output().map_err(|error| {
        Unreachable(format!(
            "can't run `{}`: {error}; install kind, or use `--engine sim`",
            program.display()
        ))
    })
}

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
}
