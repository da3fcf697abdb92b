//! What was edited by hand in a release and what hooks do to other objects: what `verify` tells is what real Helms do.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use crate::control_plane::{ControlPlane, command, programs};

const NAMESPACE: &str = "shop";

/// A release with a value in every kind of place.
const OBJECTS: &str = r#"
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {tier: one}}
data: {mode: fast, level: "1", gone: here, note: "VERSION"}
---
apiVersion: v1
kind: Secret
metadata: {name: login}
stringData: {password: first-password}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {type: ClusterIP, selector: {app: web}, ports: [{name: web, port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: "busybox:1", env: [ENV], resources: {limits: {cpu: 1000m}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
"#;

/// What people do to it.
const EDITS: &[&[&str]] = &[
    &[
        "patch",
        "configmap",
        "settings",
        "--type=merge",
        "-p",
        r#"{"data":{"mode":"safe","gone":null,"own":"mine"}}"#,
    ],
    &["label", "configmap", "settings", "tier=two", "--overwrite"],
    &["patch", "secret", "login", "--type=merge", "-p", r#"{"stringData":{"password":"second-password"}}"#],
    &["patch", "service", "web", "--type=merge", "-p", r#"{"spec":{"type":"NodePort"}}"#],
    &["scale", "deployment", "web", "--replicas=3"],
    &["set", "image", "deployment/web", "main=busybox:2"],
    &["set", "env", "deployment/web", "A=9", "NEW=user", "OWN=stays"],
    &[
        "patch",
        "role",
        "reader",
        "--type=json",
        "-p",
        r#"[{"op":"add","path":"/rules/0/verbs/-","value":"list"}]"#,
    ],
];

/// Every edit but those that nobody takes back, and where the real object has it.
const SET_BACK: &[(&str, &str, &str)] = &[
    ("ConfigMap/settings", "data.gone", "/data/gone"),
    ("ConfigMap/settings", "data.mode", "/data/mode"),
    ("ConfigMap/settings", "metadata.labels.tier", "/metadata/labels/tier"),
    ("Deployment/web", "spec.replicas", "/spec/replicas"),
    (
        "Deployment/web",
        "spec.template.spec.containers[main].env[A].value",
        "/spec/template/spec/containers/0/env/0/value",
    ),
    (
        "Deployment/web",
        "spec.template.spec.containers[main].env[NEW]",
        "/spec/template/spec/containers/0/env/1",
    ),
    ("Deployment/web", "spec.template.spec.containers[main].image", "/spec/template/spec/containers/0/image"),
    ("Role/reader", "rules", "/rules"),
    ("Secret/login", "data.password", "/data/password"),
    // What the server fills in for the other type goes with it.
    ("Service/web", "spec.externalTrafficPolicy", "/spec/externalTrafficPolicy"),
    ("Service/web", "spec.ports[80,TCP].nodePort", "/spec/ports/0/nodePort"),
    ("Service/web", "spec.type", "/spec/type"),
];

fn write_chart(folder: &Path, version: &str, text: &str) -> PathBuf {
    let root = folder.join(version);
    fs::create_dir_all(root.join("templates")).unwrap();
    fs::write(root.join("Chart.yaml"), format!("apiVersion: v2\nname: demo\nversion: {version}\n")).unwrap();
    fs::write(root.join("templates/all.yaml"), text).unwrap();
    root
}

fn release(folder: &Path, version: &str, env: &str) -> PathBuf {
    write_chart(folder, version, &OBJECTS.replace("VERSION", version).replace("ENV", env))
}

struct Stage<'p> {
    plane: &'p ControlPlane,
    helm: PathBuf,
}

impl Stage<'_> {
    fn run(&self, program: &Path, arguments: &[&str]) -> Output {
        let mut command = command(program);
        command.args(arguments).args(["-n", NAMESPACE]).env("KUBECONFIG", self.plane.kubeconfig());
        command.env("HOME", self.plane.path("home")).output().unwrap()
    }

    fn kubectl(&self, arguments: &[&str]) -> Vec<u8> {
        let output = self.run(&self.plane.program("kubectl"), arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    fn helm(&self, arguments: &[&str]) {
        let output = self.run(&self.helm, arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// The release's objects, records included, as they are handed in.
    fn state(&self) -> Vec<u8> {
        let kinds = "configmaps,secrets,services,deployments,replicasets,roles,serviceaccounts";
        self.kubectl(&["get", kinds, "-o", "json", "--show-managed-fields"])
    }
}

fn by_name(state: &[u8]) -> BTreeMap<String, Value> {
    let state: Value = serde_json::from_slice(state).unwrap();
    let name = |object: &Value| {
        let text = |at: &str| object.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned();
        format!("{}/{}", text("/kind"), text("/metadata/name"))
    };
    state["items"].as_array().unwrap().iter().map(|object| (name(object), object.clone())).collect()
}

/// Findings of one check with object, paths and message.
fn findings(arguments: &[&str], check: &str) -> (Option<i32>, Vec<Value>) {
    let output = command(Path::new(env!("CARGO_BIN_EXE_seatrial")))
        .arg("verify")
        .args(arguments)
        .args(["-n", NAMESPACE, "--release", "demo", "-o", "json"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!String::from_utf8_lossy(&output.stdout).contains("second-password"));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
    let all = report["findings"].as_array().unwrap().iter();
    (output.status.code(), all.filter(|finding| finding["check"] == check).cloned().collect())
}

/// `Kind/name path` of every field that is told to be set back by a command of an actor.
fn told(findings: &[Value], actor: &str, place: &str) -> BTreeSet<String> {
    let message = |finding: &Value| finding["message"].as_str().unwrap().to_owned();
    let here = findings.iter().filter(|finding| {
        let message = message(finding);
        let places =
            message.split_once(" (").and_then(|(_, rest)| rest.split_once("): ")).unwrap().0.to_owned();
        places.split("; ").any(|one| one.contains(actor) && one.contains(place))
    });
    let paths = here.flat_map(|finding| {
        let object = finding["objects"][0].as_str().unwrap().replace(&format!("/{NAMESPACE}/"), "/");
        let changes = finding["evidence"].as_array().unwrap().iter().filter(|one| one["type"] == "change");
        changes.map(|one| format!("{object} {}", one["path"].as_str().unwrap())).collect::<Vec<_>>()
    });
    paths.collect()
}

fn compare(helm: &str, flags: &[&str], place: &str) {
    let Some(programs) = programs(&[helm]) else { return };
    let Some(plane) = ControlPlane::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let before = release(folder.path(), "1.0.0", r#"{name: A, value: "1"}"#);
    let after = release(folder.path(), "2.0.0", r#"{name: A, value: "1"}, {name: NEW, value: chart}"#);
    let [before, after] = [&before, &after].map(|path| path.to_str().unwrap());
    fs::create_dir_all(plane.path("bin")).unwrap();
    std::os::unix::fs::symlink(programs.join(helm), plane.path("bin/helm")).unwrap();
    let stage = Stage { helm: plane.path("bin/helm"), plane: &plane };
    stage.helm(&["install", "demo", before, "--create-namespace"]);
    EDITS.iter().for_each(|edit| drop(stage.kubectl(edit)));
    let edited = stage.state();
    let state = folder.path().join("state.json");
    fs::write(&state, &edited).unwrap();
    stage.helm(&[&["upgrade", "demo", after], flags].concat());
    let (edited, real) = (by_name(&edited), by_name(&stage.state()));
    for (object, path, pointer) in SET_BACK {
        let [edited, real] = [&edited, &real].map(|all| all[*object].pointer(pointer));
        assert_ne!(edited, real, "{helm} sets back {object} {path}");
    }
    for (pointer, kept) in [("/data/own", "mine"), ("/data/level", "1")] {
        assert_eq!(real["ConfigMap/settings"].pointer(pointer).and_then(Value::as_str), Some(kept));
    }
    let (_, found) = findings(&[before, after, "--state", state.to_str().unwrap()], "edit_set_back");
    let wanted: BTreeSet<String> =
        SET_BACK.iter().map(|(object, path, _)| format!("{object} {path}")).collect();
    assert_eq!(told(&found, helm, place), wanted, "{found:#?}");
}

#[test]
fn what_helm3_sets_back_is_told() {
    compare("helm3", &[], "plain");
}

#[test]
fn what_helm4_sets_back_by_force_is_told() {
    compare("helm4", &["--force-conflicts"], "helm4 upgrade");
}

#[test]
fn a_hook_that_writes_into_objects_of_users_is_never_safe() {
    let folder = tempfile::tempdir().unwrap();
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\ndata: {a: b}\n";
    let rights = "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: hand}\nrules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: hand}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: hand}\nsubjects: [{kind: ServiceAccount, name: default, namespace: shop}]\n";
    let state = folder.path().join("state.yaml");
    let objects = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: team-settings, namespace: team, labels: {own: 'yes', more: 'yes'}}\ndata: {key: important, other: kept}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: own, namespace: team}\nspec: {replicas: 0, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: 'x:1'}]}}}\n";
    fs::write(&state, objects).unwrap();
    let before = write_chart(folder.path(), "1.0.0", &format!("{config}{rights}"));
    let cases = [
        (
            "kubectl patch configmap team-settings -n team --type=merge -p '{\"data\":{\"key\":null}}'",
            Some(("ConfigMap/team/team-settings", "data.key")),
        ),
        (
            "kubectl label configmap team-settings -n team own-",
            Some(("ConfigMap/team/team-settings", "metadata.labels.own")),
        ),
        ("kubectl scale deployment own -n team --replicas=2", Some(("Deployment/team/own", "spec.replicas"))),
        ("kubectl get configmap team-settings -n team", None),
        ("kubectl label configmap team-settings -n team own=yes --overwrite", None),
    ];
    for (n, (script, wanted)) in cases.into_iter().enumerate() {
        let hook = format!(
            "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: hand\n  annotations: {{helm.sh/hook: pre-upgrade}}\nspec:\n  template:\n    spec:\n      restartPolicy: Never\n      containers:\n      - name: c\n        image: kubectl:1\n        command: [sh, -c]\n        args:\n        - |\n          {script}\n"
        );
        let after = write_chart(folder.path(), &format!("2.0.{n}"), &format!("{config}{rights}{hook}"));
        let arguments = [&before, &after].map(|path| path.to_str().unwrap());
        let all = [&arguments[..], &["--state", state.to_str().unwrap()]].concat();
        let (code, found) = findings(&all, "bystander_changed");
        let seen = found
            .first()
            .map(|one| (one["objects"][0].as_str().unwrap(), one["evidence"][2]["path"].as_str().unwrap()));
        assert_eq!(seen, wanted, "{script}: {found:#?}");
        assert_eq!(code == Some(0), wanted.is_none(), "{script}: {code:?}");
    }
}
