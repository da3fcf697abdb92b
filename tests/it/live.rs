//! Rehearsals on a real control plane: the same commands by the real Helm, by the drivers, and in the simulation.
//!
//! The charts are copies of `examples/standin` with two changes: no webhook, because no manager runs that could answer
//! it, and images by which the simulation does not take a pod for a manager that it knows. Pods belong to the stand-in
//! kubelet of `kubelet.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use seatrial::upgrade::actors::Terminal;
use seatrial::upgrade::course::Course;
use seatrial::upgrade::population;
use seatrial::upgrade::world::{Plain, World as _};
use serde_json::Value;

use crate::control_plane::{ControlPlane, command, programs};
use crate::kubelet::Kubelet;

/// Seconds a server of these tests gets after a command: nothing is pulled, nothing terminates slowly.
const SETTLE: u32 = 3;
const RELEASE: &str = "trainer";
const NAMESPACE: &str = "trainer-system";

/// What is rehearsed: an install, the built-in population, then these commands.
struct Play {
    values: &'static str,
    acts: &'static [Act],
}

/// One command: its word, its chart or revision, its flags.
type Act = (&'static str, &'static str, &'static [&'static str]);

/// With its runtimes: hooks run, and what they made is in the way of the rollback.
const WITH_RUNTIMES: Play = Play {
    values: "{}",
    acts: &[
        ("upgrade", "after", &[]),
        ("upgrade", "after", &["--take-ownership"]),
        ("rollback", "1", &[]),
        ("uninstall", "", &[]),
    ],
};

/// Without them nothing stops the rollback, and it takes the CRDs along.
const WITHOUT_RUNTIMES: Play = Play {
    values: "{ runtimes: null }",
    acts: &[
        ("upgrade", "after", &[]),
        ("upgrade", "after", &["--take-ownership", "--no-hooks"]),
        ("rollback", "1", &["--no-hooks"]),
    ],
};

/// A folder with the charts, their values and scenario files.
struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/standin");
        for chart in ["before", "after"] {
            copy(&examples.join(chart), &folder.path().join(chart));
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn scenario(&self, actor: &str, play: &Play) -> PathBuf {
        let deployment = |chart: &str, flags: &[&str]| {
            format!("{{ chart: {chart}, values: {}, flags: {flags:?} }}", play.values)
        };
        let mut text = format!(
            "charts: {{ before: before, after: after }}\nrelease: {RELEASE}\nnamespace: {NAMESPACE}\nactor: {actor}\n\
             start:\n  steps:\n    - {{ install: {} }}\nsteps:\n",
            deployment("before", &["--create-namespace"])
        );
        for (word, subject, flags) in play.acts {
            let act = match *word {
                "rollback" => format!("{{ revision: {subject}, flags: {flags:?} }}"),
                "uninstall" => format!("{{ flags: {flags:?} }}"),
                _ => deployment(subject, flags),
            };
            text.push_str(&format!("  - {{ {word}: {act} }}\n"));
        }
        let file = self.path(&format!("{actor}.yaml"));
        fs::write(&file, text).unwrap();
        file
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else if entry.file_name() != "webhook.yaml" {
            let text = fs::read_to_string(entry.path()).unwrap();
            let text = text.replace("trainer/trainer-controller-manager", "trainer/standin");
            fs::write(target, text.replace("jobset/jobset:", "jobset/standin:")).unwrap();
        }
    }
}

/// What is compared of one step.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    exit_code: i64,
    stderr: String,
    events: BTreeSet<String>,
    lost: BTreeSet<String>,
}

impl Seen {
    fn of(step: &Value) -> Self {
        let names =
            |list: &Value| list.as_array().unwrap().iter().map(|name| cut(name.as_str().unwrap())).collect();
        let events = step["events"].as_array().unwrap().iter();
        let events = events.filter(|event| event["action"] != "unchanged").map(|event| {
            format!("{} {}", event["action"].as_str().unwrap(), cut(event["object"].as_str().unwrap()))
        });
        Self {
            exit_code: step["exit_code"].as_i64().unwrap(),
            stderr: step["stderr"].as_str().unwrap().to_owned(),
            events: events.collect(),
            lost: names(&step["lost_objects"]),
        }
    }
}

/// A name without the parts that ReplicaSets, Deployments and Jobs make up.
fn cut(object: &str) -> String {
    let made_up = |name: &str, lengths: std::ops::RangeInclusive<usize>| {
        let (rest, word) = name.rsplit_once('-')?;
        let fits = lengths.contains(&word.len()) && !word.contains(['a', 'e', 'i', 'o', 'u']);
        fits.then(|| rest.to_owned())
    };
    let mut name = object.to_owned();
    if object.starts_with("Pod/") {
        name = name.rsplit_once('-').map_or(name.clone(), |(rest, _)| rest.to_owned());
    }
    if object.starts_with("Pod/") || object.starts_with("ReplicaSet/") {
        name = made_up(&name, 6..=10).unwrap_or(name);
    }
    name
}

/// The drivers, through the program.
fn driven(stage: &Stage, actor: &str, play: &Play, engine: &[&str]) -> Vec<Seen> {
    let scenario = stage.scenario(actor, play);
    let output =
        seatrial().arg("rehearse").arg("--scenario").arg(scenario).args(engine).args(["-o", "json"]).output();
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let played: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{actor}: {said}"));
    played["steps"].as_array().unwrap().iter().map(Seen::of).collect()
}

fn seatrial() -> Command {
    let mut seatrial = command(Path::new(env!("CARGO_BIN_EXE_seatrial")));
    seatrial.env_remove("KUBECONFIG").env("NO_COLOR", "1").stdin(Stdio::null());
    seatrial
}

/// The real Helm on a control plane.
struct Helm<'p> {
    plane: &'p ControlPlane,
    program: PathBuf,
    stage: &'p Stage,
}

impl<'p> Helm<'p> {
    /// The program's own name is written into managed fields, so it must be `helm`.
    fn new(plane: &'p ControlPlane, program: &Path, stage: &'p Stage) -> Self {
        let folder = plane.path("bin");
        fs::create_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink(program, folder.join("helm")).unwrap();
        Self { plane, program: folder.join("helm"), stage }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let home = self.plane.path("helm");
        command(&self.program)
            .args(arguments)
            .args(["-n", NAMESPACE])
            .current_dir(self.stage.folder.path())
            .env("KUBECONFIG", self.plane.kubeconfig())
            .env("HOME", &home)
            .output()
            .unwrap()
    }

    fn act(&self, (word, subject, flags): Act) -> Output {
        let mut arguments = vec![word, RELEASE];
        arguments.extend(Some(subject).filter(|subject| !subject.is_empty()));
        arguments.extend(flags);
        if matches!(word, "install" | "upgrade") {
            arguments.extend(["-f", "values.yaml"]);
        }
        self.run(&arguments)
    }

    fn play(&self, play: &Play) -> Vec<Seen> {
        fs::write(self.stage.path("values.yaml"), play.values).unwrap();
        let mut course = Course::new(Plain::new(self.plane.connect(), f64::from(SETTLE)));
        let install = self.act(("install", "before", &["--create-namespace"]));
        assert!(install.status.success(), "{}", String::from_utf8_lossy(&install.stderr));
        let populate =
            course.step("user", "populate", "", "", |world| Ok((population::populate(world)?, Vec::new())));
        let populate = populate.unwrap();
        assert_eq!(populate.exit_code, 0, "{}", populate.stderr);
        let mut act = |act: &Act| {
            let step =
                course.step("helm", act.0, "", NAMESPACE, |_| Ok((terminal(&self.act(*act)), Vec::new())));
            Seen::of(&serde_json::to_value(step.unwrap()).unwrap())
        };
        play.acts.iter().map(&mut act).collect()
    }

    fn records_unless_gone(&self, play: &Play) -> Vec<(Value, Vec<String>)> {
        let gone = play.acts.iter().any(|(word, ..)| *word == "uninstall");
        if gone { Vec::new() } else { self.records() }
    }

    /// Every revision as Helm itself reads it from the server: status, texts, manifest, hooks, values, notes.
    fn records(&self) -> Vec<(Value, Vec<String>)> {
        let history = self.run(&["history", RELEASE, "-o", "json"]);
        let history: Value = serde_json::from_slice(&history.stdout)
            .unwrap_or_else(|_| panic!("history: {}", String::from_utf8_lossy(&history.stderr)));
        let revisions = history.as_array().unwrap().iter().map(|entry| {
            let mut entry = entry.clone();
            entry.as_object_mut().unwrap().remove("updated");
            let revision = entry["revision"].to_string();
            let get = |what: &str| {
                let output = self.run(&["get", what, RELEASE, "--revision", &revision]);
                String::from_utf8_lossy(&output.stdout).into_owned()
            };
            let parts = ["manifest", "hooks", "values", "notes"].map(get).to_vec();
            (entry, parts)
        });
        revisions.collect()
    }
}

fn terminal(output: &Output) -> Terminal {
    Terminal {
        exit_code: output.status.code().unwrap(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// What is left on a control plane, field by field, without what two servers can't have in common.
fn objects(plane: &ControlPlane) -> BTreeMap<String, Value> {
    let mut world = Plain::new(plane.connect(), 0.0);
    let objects = world.objects().unwrap();
    // The server's own Service has the port that the test found free.
    let kept = objects.iter().filter(|object| {
        !MADE_UP.contains(&object["kind"].as_str().unwrap()) && object["metadata"]["name"] != "kubernetes"
    });
    kept.map(|object| {
        let (kind, metadata) = (object["kind"].as_str().unwrap(), &object["metadata"]);
        let namespace = metadata["namespace"].as_str().unwrap_or("");
        (format!("{kind}/{namespace}/{}", metadata["name"].as_str().unwrap()), comparable(object))
    })
    .collect()
}

/// Kinds with made-up names or a life of their own.
const MADE_UP: &[&str] = &[
    "Event",
    "Lease",
    "Pod",
    "ReplicaSet",
    "Endpoints",
    "EndpointSlice",
    "APIService",
    "IPAddress",
    "FlowSchema",
    "PriorityLevelConfiguration",
    "ComponentStatus",
];

fn comparable(object: &Value) -> Value {
    let mut object = object.clone();
    object.as_object_mut().unwrap().remove("status");
    let is_record = object["type"] == "helm.sh/release.v1";
    if is_record {
        object.as_object_mut().unwrap().remove("data");
    }
    // Addresses are given by chance.
    if let Some(spec) = object["spec"].as_object_mut() {
        spec.retain(|key, _| !matches!(key.as_str(), "clusterIP" | "clusterIPs"));
    }
    let metadata = object["metadata"].as_object_mut().unwrap();
    metadata.retain(|key, _| !matches!(key.as_str(), "uid" | "resourceVersion" | "creationTimestamp"));
    if let Some(labels) = metadata.get_mut("labels").and_then(Value::as_object_mut) {
        labels.retain(|key, _| !is_record || !matches!(key.as_str(), "createdAt" | "modifiedAt"));
    }
    let managed = metadata.get_mut("managedFields").and_then(Value::as_array_mut);
    if let Some(managed) = managed {
        // What controllers manage comes when it comes.
        managed.retain(|entry| {
            entry["manager"] != "kube-controller-manager" && entry["manager"] != "kube-apiserver"
        });
        managed.iter_mut().for_each(|entry| drop(entry.as_object_mut().unwrap().remove("time")));
        managed.sort_by_key(Value::to_string);
    }
    object
}

fn unequal(real: &BTreeMap<String, Value>, ours: &BTreeMap<String, Value>) -> Vec<String> {
    let names: BTreeSet<&String> = real.keys().chain(ours.keys()).collect();
    let differing = names.into_iter().filter(|name| real.get(*name) != ours.get(*name));
    differing
        .map(|name| {
            let text = |objects: &BTreeMap<String, Value>| {
                objects
                    .get(name)
                    .map_or(String::new(), |object| serde_json::to_string_pretty(object).unwrap())
            };
            let (real, ours) = (text(real), text(ours));
            let diff = similar::TextDiff::from_lines(&real, &ours);
            format!("{name}:\n{}", diff.unified_diff().context_radius(3))
        })
        .collect()
}

/// Plays the same by all three and compares them step by step.
fn compare(actor: &str, play: &Play) -> Option<Vec<Seen>> {
    let folder = programs(&[actor])?;
    let stage = Stage::new();
    let plane = ControlPlane::start()?;
    let real = {
        let _kubelet = Kubelet::start(&plane);
        let helm = Helm::new(&plane, &folder.join(actor), &stage);
        let seen = helm.play(play);
        (seen, helm.records_unless_gone(play), objects(&plane))
    };
    drop(plane);
    let plane = ControlPlane::start()?;
    let kubelet = Kubelet::start(&plane);
    let (kubeconfig, settle) = (plane.kubeconfig().display().to_string(), SETTLE.to_string());
    let cluster = ["--engine", "cluster", "--kubeconfig", &kubeconfig, "--settle", &settle];
    let ours = driven(&stage, actor, play, &cluster);
    let left = objects(&plane);
    let records = Helm::new(&plane, &folder.join(actor), &stage).records_unless_gone(play);
    drop(kubelet);
    let simulated = driven(&stage, actor, play, &["--engine", "sim"]);
    let mut complaints = differences("driver on the real server", &real.0, &ours);
    complaints.extend(differences("simulation", &real.0, &simulated));
    complaints.extend(unequal(&real.2, &left));
    assert!(complaints.is_empty(), "{actor} is unlike the real program:\n{}", complaints.join("\n"));
    let (theirs, ours) = (format!("{:#?}", real.1), format!("{records:#?}"));
    let diff = similar::TextDiff::from_lines(&theirs, &ours);
    assert!(theirs == ours, "{actor}'s release records read otherwise:\n{}", diff.unified_diff());
    Some(real.0)
}

fn differences(who: &str, real: &[Seen], other: &[Seen]) -> Vec<String> {
    assert_eq!(real.len(), other.len());
    let steps = real.iter().zip(other).enumerate().filter(|(_, (real, other))| real != other);
    let tell = |(step, (real, other)): (usize, (&Seen, &Seen))| {
        let mut text = format!("step {} of the {who}:", step + 1);
        if (real.exit_code, &real.stderr) != (other.exit_code, &other.stderr) {
            text.push_str(&format!("\n  - {} {:?}", real.exit_code, real.stderr));
            text.push_str(&format!("\n  + {} {:?}", other.exit_code, other.stderr));
        }
        for (real, other) in [(&real.events, &other.events), (&real.lost, &other.lost)] {
            real.difference(other).for_each(|line| text.push_str(&format!("\n  - {line}")));
            other.difference(real).for_each(|line| text.push_str(&format!("\n  + {line}")));
        }
        text
    };
    steps.map(tell).collect()
}

fn with_runtimes(actor: &str) {
    let Some(seen) = compare(actor, &WITH_RUNTIMES) else { return };
    assert!(seen[0].stderr.contains("invalid ownership metadata"), "{:?}", seen[0]);
    assert!(seen[0].events.is_empty(), "{:?}", seen[0]);
    assert_eq!(seen[1].exit_code, 0, "{:?}", seen[1]);
    let adopted = "updated CustomResourceDefinition//trainjobs.trainer.kubeflow.org";
    assert!(seen[1].events.contains(adopted), "{:?}", seen[1]);
}

fn without_runtimes(actor: &str) {
    let Some(seen) = compare(actor, &WITHOUT_RUNTIMES) else { return };
    let rollback = &seen[2];
    assert_eq!(rollback.exit_code, 0, "{rollback:?}");
    for object in ["CustomResourceDefinition//trainjobs.trainer.kubeflow.org", "TrainJob/team-a/running"] {
        assert!(rollback.lost.contains(object), "{rollback:?}");
    }
}

#[test]
fn helm3_upgrades_with_runtimes_alike_everywhere() {
    with_runtimes("helm3");
}

#[test]
fn helm4_upgrades_with_runtimes_alike_everywhere() {
    with_runtimes("helm4");
}

#[test]
fn helm3_rolls_back_to_nothing_everywhere() {
    without_runtimes("helm3");
}

#[test]
fn helm4_rolls_back_to_nothing_everywhere() {
    without_runtimes("helm4");
}

/// A stand-in for the `kind` program: hands out a control plane's kubeconfig and writes down what it is asked.
struct Kind {
    folder: tempfile::TempDir,
}

impl Kind {
    fn new(kubeconfig: &Path, creation: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = format!(
            "#!/bin/sh\necho \"$@\" >> '{}'\n[ \"$1\" = create ] || exit 0\n{creation}\n\
             while [ $# -gt 0 ]; do [ \"$1\" = --kubeconfig ] && cp '{}' \"$2\"; shift; done\n",
            folder.path().join("log").display(),
            kubeconfig.display()
        );
        let program = folder.path().join("kind");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Self { folder }
    }

    fn rehearse(&self, arguments: &[&str]) -> Command {
        let mut seatrial = seatrial();
        seatrial
            .args(["rehearse", "--engine", "kind", "--settle", &SETTLE.to_string(), "-o", "json"])
            .args(arguments)
            .env("SEATRIAL_KIND", self.folder.path().join("kind"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        seatrial
    }

    fn log(&self) -> Vec<String> {
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// The unique name that the cluster was created under.
    fn name(&self) -> String {
        let log = self.log();
        let mut words = log[0].split(' ').skip_while(|word| *word != "--name");
        words.nth(1).unwrap().to_owned()
    }

    fn assert_deleted(&self) {
        let (log, name) = (self.log(), self.name());
        let wanted = format!("delete cluster --name {name} ");
        assert!(log.last().unwrap().starts_with(&wanted), "{log:?}");
        let kubeconfig = log[0].split(' ').skip_while(|word| *word != "--kubeconfig").nth(1).unwrap();
        assert!(!Path::new(kubeconfig).exists(), "{kubeconfig} is left");
    }

    /// Waits for a command of the log, interrupts the program, and gives its exit code.
    fn interrupt(&self, mut seatrial: Command, after: &str, delay: Duration) -> i32 {
        let mut running = seatrial.spawn().unwrap();
        let begun = Instant::now();
        while !self.log().iter().any(|line| line.starts_with(after)) {
            assert!(begun.elapsed() < Duration::from_secs(60), "{after} was never asked of kind");
            sleep(Duration::from_millis(50));
        }
        sleep(delay);
        let process = running.id().to_string();
        assert!(command(Path::new("kill")).args(["-INT", &process]).status().unwrap().success());
        running.wait().unwrap().code().unwrap()
    }
}

#[test]
fn kind_clusters_are_created_used_and_deleted() {
    let Some(plane) = ControlPlane::start() else { return };
    let _kubelet = Kubelet::start(&plane);
    let stage = Stage::new();
    let kind = Kind::new(&plane.kubeconfig(), "");
    let (before, after) = (stage.path("before"), stage.path("after"));
    let pair = [before.to_str().unwrap(), after.to_str().unwrap(), "--release", RELEASE, "-n", NAMESPACE];
    let arguments = ["--actor", "helm4", "--kind-image", "node:1", "--preload", "app:1"];
    let output = kind.rehearse(&[&pair[..], &arguments[..]].concat()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let rehearsals: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
    let ways = &rehearsals[0]["ways"];
    let refusal = &ways[0]["operations"][0]["outcomes"][0]["steps"][0]["stderr"];
    assert!(refusal.as_str().unwrap().contains("invalid ownership metadata"), "{refusal}");
    assert_eq!(ways[1]["operations"][0]["outcomes"][0]["steps"][0]["exit_code"], 0, "{}", ways[1]);
    assert!(
        said.contains("creating kind cluster seatrial-") && said.contains("loading image app:1"),
        "{said}"
    );
    let log = kind.log();
    assert!(
        log[0].starts_with("create cluster --name seatrial-") && log[0].ends_with("--image node:1"),
        "{log:?}"
    );
    assert_eq!(log[1], format!("load docker-image app:1 --name {}", kind.name()));
    kind.assert_deleted();
    assert_eq!(log.len(), 3, "{log:?}");
}

#[test]
fn kind_clusters_stay_or_go_whatever_ends_the_program() {
    let Some(plane) = ControlPlane::start() else { return };
    let stage = Stage::new();
    let scenario = stage.path("wait.yaml");
    let steps = "release: r\ncharts: {}\nstart: { population: none }\nsteps: [{ wait: SECONDS }]\n";
    fs::write(&scenario, steps.replace("SECONDS", "300")).unwrap();
    let arguments = ["--scenario", scenario.to_str().unwrap()];

    let kind = Kind::new(&plane.kubeconfig(), "");
    let code = kind.interrupt(kind.rehearse(&arguments), "create", Duration::from_secs(2));
    assert_eq!(code, 1);
    kind.assert_deleted();

    let slow = Kind::new(&plane.kubeconfig(), "sleep 300");
    let begun = Instant::now();
    let code = slow.interrupt(slow.rehearse(&arguments), "create", Duration::ZERO);
    assert_eq!(code, 1);
    assert!(begun.elapsed() < Duration::from_secs(60), "an interrupt does not wait for kind");
    slow.assert_deleted();

    fs::write(&scenario, steps.replace("SECONDS", "0")).unwrap();
    let kept = Kind::new(&plane.kubeconfig(), "");
    let output = kept.rehearse(&arguments).arg("--keep").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(kept.log().len(), 1, "{:?}", kept.log());
    assert!(said.contains(&format!("kind delete cluster --name {}", kept.name())), "{said}");
}

#[test]
fn without_the_kind_program_there_is_a_clear_error() {
    let stage = Stage::new();
    let (before, after) = (stage.path("before"), stage.path("after"));
    let output = seatrial()
        .args(["rehearse", "--engine", "kind"])
        .args([before, after])
        .env("SEATRIAL_KIND", "/nonexistent/kind")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("can't run `/nonexistent/kind`") && said.contains("--engine sim"), "{said}");
}
