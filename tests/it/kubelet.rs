//! A stand-in for the kubelet: pods of Jobs have their script run by the real shell and kubectl, all others just run.
//!
//! Nothing is isolated: a script gets a folder in the place of its mounts, a `kubectl` that speaks as the pod's
//! ServiceAccount, and package installers that do nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::Duration;

use seatrial::cluster::live::Live;
use seatrial::cluster::{Cluster as _, PatchType, Request, Resource};
use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, command};

/// Runs until it is dropped.
pub(crate) struct Kubelet {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Kubelet {
    /// Starts to look after the pods of a control plane.
    pub(crate) fn start(plane: &ControlPlane) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let mut node = Node {
            live: plane.connect(),
            kubeconfig: plane.kubeconfig(),
            kubectl: plane.program("kubectl"),
            folder: plane.path("kubelet"),
        };
        let stopped = Arc::clone(&stop);
        let thread = spawn(move || {
            while !stopped.load(Ordering::SeqCst) {
                node.look();
                sleep(Duration::from_millis(100));
            }
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Kubelet {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

struct Node {
    live: Live,
    kubeconfig: PathBuf,
    kubectl: PathBuf,
    folder: PathBuf,
}

impl Node {
    // The server may end before this thread does: what it does not answer is left.
    fn look(&mut self) {
        let Ok(answer) = self.live.send(&Request::list(&Resource::new("", "v1", "pods"), "")) else { return };
        for pod in answer.body["items"].as_array().into_iter().flatten() {
            if pod["status"]["phase"] != "Pending" || !pod["metadata"]["deletionTimestamp"].is_null() {
                continue;
            }
            let of_job = pod["metadata"]["ownerReferences"][0]["kind"] == "Job";
            let status = match of_job {
                false => {
                    json!({"phase": "Running", "conditions": [condition("Ready"), condition("ContainersReady")]})
                }
                true if self.run(pod) => json!({"phase": "Succeeded"}),
                true => json!({"phase": "Failed"}),
            };
            self.report(pod, &status);
        }
    }

    fn report(&mut self, pod: &Value, status: &Value) {
        let metadata = &pod["metadata"];
        let body = Arc::new(json!({"status": status}));
        let request = Request::patch(
            &Resource::new("", "v1", "pods"),
            metadata["namespace"].as_str().unwrap(),
            metadata["name"].as_str().unwrap(),
            PatchType::Merge,
            body,
        );
        let _ = self.live.send(&request.on("status"));
    }

    /// Runs the command of a pod's container and says whether it ended well.
    fn run(&mut self, pod: &Value) -> bool {
        let home = self.folder.join(pod["metadata"]["uid"].as_str().unwrap());
        let bin = home.join("bin");
        fs::create_dir_all(&bin).unwrap();
        executable(&bin.join("apk"), "exit 0");
        executable(&bin.join("kubectl"), &self.as_service_account(pod));
        let container = &pod["spec"]["containers"][0];
        let mounts = self.mount(pod, &home);
        let words = ["command", "args"].map(|key| container[key].as_array().cloned().unwrap_or_default());
        let words: Vec<String> = words
            .concat()
            .iter()
            .map(|word| {
                let word = word.as_str().unwrap().to_owned();
                mounts.iter().fold(word, |word, (path, folder)| word.replace(path, folder))
            })
            .collect();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let output =
            command(Path::new(&words[0])).args(&words[1..]).env("PATH", path).env("HOME", &home).output();
        let output = output.unwrap();
        if !output.status.success() {
            eprintln!("pod {}: {}", pod["metadata"]["name"], String::from_utf8_lossy(&output.stderr));
        }
        output.status.success()
    }

    fn as_service_account(&self, pod: &Value) -> String {
        let (namespace, account) = (&pod["metadata"]["namespace"], &pod["spec"]["serviceAccountName"]);
        format!(
            "exec '{}' --kubeconfig '{}' --namespace {} --as system:serviceaccount:{}:{} \"$@\"",
            self.kubectl.display(),
            self.kubeconfig.display(),
            namespace.as_str().unwrap(),
            namespace.as_str().unwrap(),
            account.as_str().unwrap()
        )
    }

    /// ConfigMap volumes as folders, each with the path that it stands for.
    fn mount(&mut self, pod: &Value, home: &Path) -> Vec<(String, String)> {
        let container = &pod["spec"]["containers"][0];
        let mut mounts = Vec::new();
        for volume in pod["spec"]["volumes"].as_array().into_iter().flatten() {
            let Some(map) = volume["configMap"]["name"].as_str() else { continue };
            let mount = container["volumeMounts"].as_array().into_iter().flatten();
            let Some(mount) = mount.clone().find(|mount| mount["name"] == volume["name"]) else { continue };
            let namespace = pod["metadata"]["namespace"].as_str().unwrap();
            let request = Request::get(&Resource::new("", "v1", "configmaps"), namespace, map);
            let answer = self.live.send(&request).unwrap();
            let folder = home.join(volume["name"].as_str().unwrap());
            fs::create_dir_all(&folder).unwrap();
            for (file, text) in answer.body["data"].as_object().into_iter().flatten() {
                fs::write(folder.join(file), text.as_str().unwrap()).unwrap();
            }
            mounts.push((mount["mountPath"].as_str().unwrap().to_owned(), folder.display().to_string()));
        }
        mounts
    }
}

fn condition(kind: &str) -> Value {
    json!({"type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"})
}

fn executable(path: &Path, script: &str) {
    fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
