//! A real control plane for one test: etcd, kube-apiserver and kube-controller-manager on loopback, gone with the test.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use seatrial::cluster::live::Live;
use seatrial::cluster::{Cluster as _, Request, Resource};

use crate::shared::needed;

/// Longest wait for one of the programs; on a busy machine the API server takes its time.
const PATIENCE: Duration = Duration::from_secs(90);

/// Controllers that run: what decides the fate of objects, and what Deployments and Jobs need to get pods.
const CONTROLLERS: &str = "garbage-collector-controller,namespace-controller,serviceaccount-controller,\
    deployment-controller,replicaset-controller,job-controller";

/// Where `scripts/oracle/*` put the real programs; without one that is asked for the test is skipped.
pub(crate) fn programs(names: &[&str]) -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let folder =
        std::env::var_os("SEATRIAL_ORACLES").map_or_else(|| root.join("target/oracles"), PathBuf::from);
    let missing: Vec<&str> = names.iter().copied().filter(|name| !folder.join(name).is_file()).collect();
    let reason = format!("no {} in {} (see scripts/oracle)", missing.join(", "), folder.display());
    needed(missing.is_empty().then_some(folder), &reason)
}

/// A running control plane; dropping it ends its programs and removes its folder.
pub(crate) struct ControlPlane {
    programs: PathBuf,
    folder: tempfile::TempDir,
    running: Vec<Leashed>,
}

impl ControlPlane {
    /// Starts one, when its programs are there.
    pub(crate) fn start() -> Option<Self> {
        let programs = programs(&["etcd", "kube-apiserver", "kube-controller-manager", "kubectl"])?;
        let mut plane = Self { programs, folder: tempfile::tempdir().unwrap(), running: Vec::new() };
        plane.etcd_and_server();
        plane.manager();
        Some(plane)
    }

    /// Kubeconfig of an administrator.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.path("kubeconfig")
    }

    /// A connection of its own.
    pub(crate) fn connect(&self) -> Live {
        Live::connect(Some(&self.kubeconfig()), None).unwrap()
    }

    /// One of the real programs.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }

    /// A place that goes with the control plane.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn etcd_and_server(&mut self) {
        let [client, peer, secure] = free_ports();
        let (client, peer) = (format!("http://127.0.0.1:{client}"), format!("http://127.0.0.1:{peer}"));
        fs::write(self.path("tokens.csv"), "token,admin,admin,system:masters\n").unwrap();
        fs::write(self.kubeconfig(), kubeconfig(secure, &self.path("certs/apiserver.crt"))).unwrap();
        let data = self.text("etcd");
        self.spawn(
            "etcd",
            &[
                ("data-dir", &data),
                ("listen-client-urls", &client),
                ("advertise-client-urls", &client),
                ("listen-peer-urls", &peer),
                ("initial-advertise-peer-urls", &peer),
                ("initial-cluster", &format!("default={peer}")),
                ("unsafe-no-fsync", "true"),
                ("log-level", "warn"),
            ],
        );
        // The server makes its serving certificate before it reads the key for service accounts, and any key will do.
        let (certs, tokens, key) =
            (self.text("certs"), self.text("tokens.csv"), self.text("certs/apiserver.key"));
        self.spawn(
            "kube-apiserver",
            &[
                ("etcd-servers", &client),
                ("secure-port", &secure.to_string()),
                ("bind-address", "127.0.0.1"),
                ("advertise-address", "127.0.0.1"),
                ("cert-dir", &certs),
                ("allow-privileged", "true"),
                ("authorization-mode", "RBAC"),
                ("token-auth-file", &tokens),
                ("service-account-issuer", "https://kubernetes.default.svc"),
                ("service-account-key-file", &key),
                ("service-account-signing-key-file", &key),
                ("service-cluster-ip-range", "10.0.0.0/24"),
            ],
        );
        // The first service account of a namespace is the sign that reads and writes work.
        self.until("kube-apiserver", |plane| plane.answers("namespaces", "", "kube-system"));
    }

    fn manager(&mut self) {
        let [secure] = free_ports();
        let (kubeconfig, key, certs) =
            (self.text("kubeconfig"), self.text("certs/apiserver.key"), self.text("certs-manager"));
        self.spawn(
            "kube-controller-manager",
            &[
                ("kubeconfig", &kubeconfig),
                ("authentication-kubeconfig", &kubeconfig),
                ("authorization-kubeconfig", &kubeconfig),
                ("leader-elect", "false"),
                ("service-account-private-key-file", &key),
                ("secure-port", &secure.to_string()),
                ("bind-address", "127.0.0.1"),
                ("cert-dir", &certs),
                ("controllers", CONTROLLERS),
            ],
        );
        self.until("kube-controller-manager", |plane| plane.answers("serviceaccounts", "default", "default"));
    }

    fn answers(&self, plural: &str, namespace: &str, name: &str) -> bool {
        let request = Request::get(&Resource::new("", "v1", plural), namespace, name);
        // Without its certificate there is no client yet.
        Live::connect(Some(&self.kubeconfig()), None)
            .and_then(|mut live| live.send(&request))
            .is_ok_and(|answer| answer.ok())
    }

    fn until(&self, program: &str, condition: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !condition(self) {
            assert!(begun.elapsed() < PATIENCE, "{program} does not get ready:\n{}", self.log(program));
            sleep(Duration::from_millis(200));
        }
    }

    fn log(&self, program: &str) -> String {
        let text = fs::read_to_string(self.path(&format!("{program}.log"))).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    fn spawn(&mut self, program: &str, flags: &[(&str, &str)]) {
        let flags = flags.iter().map(|(name, value)| format!("--{name}={value}"));
        let log = fs::File::create(self.path(&format!("{program}.log"))).unwrap();
        self.running.push(Leashed::new(&self.programs.join(program), flags, log));
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        // The last one first: a manager without its server complains for seconds.
        while self.running.pop().is_some() {}
    }
}

/// A process that ends when this value goes, or when the test binary does, however it ends.
struct Leashed(Child);

impl Leashed {
    fn new(program: &Path, arguments: impl Iterator<Item = String>, log: fs::File) -> Self {
        // The shell waits for the end of its input, which comes with the end of its parent.
        let script = r#""$@" </dev/null & program=$!; read -r _; kill "$program"; wait "$program""#;
        let child = command(Path::new("sh"))
            .args(["-c", script, "leash"])
            .arg(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        Self(child)
    }
}

impl Drop for Leashed {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// A program to start.
#[expect(clippy::disallowed_methods, reason = "real programs are what is compared with")]
pub(crate) fn command(program: &Path) -> Command {
    Command::new(program)
}

/// Ports that nobody used a moment ago.
fn free_ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

fn kubeconfig(port: u16, authority: &Path) -> String {
    let cluster =
        format!("{{server: 'https://127.0.0.1:{port}', certificate-authority: '{}'}}", authority.display());
    format!(
        "apiVersion: v1\nkind: Config\nclusters: [{{name: test, cluster: {cluster}}}]\n\
         users: [{{name: admin, user: {{token: token}}}}]\n\
         contexts: [{{name: test, context: {{cluster: test, user: admin}}}}]\ncurrent-context: test\n"
    )
}
