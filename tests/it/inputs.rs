//! Malformed input from outside: exit code 1, and an error that names file, line and what to do.

use std::path::Path;
use std::process::{Command, Output};

#[expect(clippy::disallowed_methods, reason = "the program is tested from outside")]
fn seatrial(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seatrial"));
    command.args(arguments).current_dir(directory);
    command.env_remove("SEATRIAL_CHARTS_CACHE").env_remove("KUBECONFIG").output().unwrap()
}

/// Standard error of a command that has to end with exit code 1 and one error.
fn refused(directory: &Path, arguments: &[&str]) -> String {
    let output = seatrial(directory, arguments);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {text}");
    assert_eq!(text.matches("error: ").count(), 1, "{arguments:?}: {text}");
    assert!(!text.contains("panicked"), "{arguments:?}: {text}");
    text
}

fn standin(side: &str) -> String {
    format!("{}/examples/standin/{side}", env!("CARGO_MANIFEST_DIR"))
}

/// Texts of states, and what is said about them.
const STATES: &[(&str, &str)] = &[
    ("hello\n", "s.yaml:1: document 1: a text, not a Kubernetes object"),
    ("{apiVersion: v1, kind: ConfigMap}\n", "s.yaml:1: document 1: metadata is missing"),
    ("apiVersion: v1\nkind: List\nitems: {a: b}\n", "s.yaml:3: document 1: items is a mapping, not a list"),
    (
        "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: List, items: []}\n",
        "s.yaml:4: document 1, item 1: a List inside of a list",
    ),
    (
        "apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: a, namespace: b}\n- metadata: {name: a, namespace: b}\n",
        "s.yaml:5: document 1, item 2: ConfigMap a in b is there twice, as in s.yaml:4: document 1, item 1",
    ),
    (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b}\nspec: 5\n",
        "s.yaml:4: document 1: CustomResourceDefinition \"a.b\" can't be decoded",
    ),
    (
        "{apiVersion: v1, kind: Node, metadata: {name: a, namespace: b}}\n",
        "s.yaml:1: document 1: Node \"a\" has the namespace \"b\", and lives outside of all",
    ),
    // The stand-in chart's definition says where its kind lives.
    (
        "---\n{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, metadata: {name: a}}\n",
        "s.yaml:2: document 1: TrainJob \"a\" has no metadata.namespace, and lives in one",
    ),
];

#[test]
fn malformed_states_are_refused_with_their_place() {
    let directory = tempfile::tempdir().unwrap();
    let (before, after) = (standin("before"), standin("after"));
    for (text, wanted) in STATES {
        std::fs::write(directory.path().join("s.yaml"), text).unwrap();
        for command in ["verify", "rehearse"] {
            let told = refused(
                directory.path(),
                &[command, &before, &after, "--actor", "helm3", "--state", "s.yaml"],
            );
            assert!(told.contains(wanted), "{command}: {text}: {told}");
            assert!(told.contains("hint: "), "{command}: {text}: {told}");
        }
    }
}

/// An object whose owner nobody has.
const ORPHAN: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: orphan, namespace: default, ownerReferences: [{apiVersion: v1, kind: Secret, name: gone, uid: abc}]}}\n";

#[test]
fn objects_that_the_garbage_collector_takes_are_told() {
    let directory = tempfile::tempdir().unwrap();
    let (before, after) = (standin("before"), standin("after"));
    std::fs::write(directory.path().join("s.yaml"), ORPHAN).unwrap();
    let arguments = ["verify", &before, &after, "--actor", "helm3", "--state", "s.yaml", "-o", "json"];
    let output = seatrial(directory.path(), &arguments);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let lines = report["not_checked"].as_array().unwrap();
    let wanted = "ConfigMap/default/orphan: deleted at once by the garbage collector";
    let told = |line: &&serde_json::Value| line.as_str().is_some_and(|line| line.starts_with(wanted));
    assert_eq!(lines.iter().filter(told).count(), 1, "{lines:?}");
    let scenario = format!(
        "charts: {{b: {before}}}\nrelease: r\nstart: {{population: none, state: s.yaml}}\nsteps:\n- install: {{chart: b}}\n"
    );
    std::fs::write(directory.path().join("scenario.yaml"), scenario).unwrap();
    let output = seatrial(directory.path(), &["rehearse", "--scenario", "scenario.yaml", "-o", "json"]);
    let played: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let note = played["notes"][0].as_str().unwrap();
    assert!(note.starts_with("start.state: ConfigMap/default/orphan: deleted at once"), "{note}");
}

#[test]
fn scenarios_take_only_manifests() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("bad.yaml"), "- 1\n").unwrap();
    std::fs::write(directory.path().join("empty.yaml"), "# nothing\n").unwrap();
    let before = standin("before");
    let steps = [
        ("apply: {file: bad.yaml}", "line 5: bad.yaml:1: document 1: a list, not a Kubernetes object"),
        ("apply: {file: empty.yaml}", "line 5: empty.yaml: no Kubernetes object in it"),
        ("create: {file: bad.yaml}", "line 5: bad.yaml:1: document 1: a list, not a Kubernetes object"),
        ("apply: {objects: [{kind: A}]}", "line 5: apply.objects[0]: apiVersion is missing"),
        ("create: {objects: [5]}", "line 5: create.objects[0]: a number, not a Kubernetes object"),
    ];
    for (step, wanted) in steps {
        let text =
            format!("charts: {{b: {before}}}\nrelease: r\nstart: {{population: none}}\nsteps:\n- {step}\n");
        std::fs::write(directory.path().join("scenario.yaml"), text).unwrap();
        let told = refused(directory.path(), &["rehearse", "--scenario", "scenario.yaml"]);
        assert!(told.contains(wanted) && told.contains("hint: "), "{step}: {told}");
    }
}

#[test]
fn namespaces_that_can_not_be_there_are_one_error() {
    let directory = tempfile::tempdir().unwrap();
    let (before, after) = (standin("before"), standin("after"));
    for command in ["verify", "rehearse", "diff"] {
        let told = refused(directory.path(), &[command, &before, &after, "-n", "Bad_NS!"]);
        assert!(told.contains("'Bad_NS!' for '--namespace <NAMESPACE>': a namespace has 1 to 63"), "{told}");
    }
    // Helm renders for whatever it is given, and takes an empty namespace for none.
    std::fs::create_dir(directory.path().join("c")).unwrap();
    std::fs::create_dir(directory.path().join("c/templates")).unwrap();
    std::fs::write(directory.path().join("c/Chart.yaml"), "apiVersion: v2\nname: c\nversion: 1.0.0\n")
        .unwrap();
    std::fs::write(directory.path().join("c/templates/a.yaml"), "x: {{ .Release.Namespace }}\n").unwrap();
    for (given, shown) in [("Bad_NS!", "x: Bad_NS!"), ("", "x: default")] {
        let output = seatrial(directory.path(), &["template", "r", "c", "-n", given]);
        assert!(String::from_utf8_lossy(&output.stdout).contains(shown), "{output:?}");
    }
}

#[test]
fn archives_that_are_cut_off_say_where() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("cut.tgz"), [&b"\x1f\x8b\x08\0\0\0\0\0\0\x03"[..]].concat())
        .unwrap();
    std::fs::write(directory.path().join("empty.tgz"), "").unwrap();
    for (name, wanted) in [
        ("cut.tgz", "unable to load chart archive: the archive ends after 10 bytes, before its first file"),
        ("empty.tgz", "the file is empty"),
    ] {
        for command in ["verify", "diff"] {
            let told = refused(directory.path(), &[command, name, &standin("after")]);
            assert!(told.contains(wanted) && told.contains("fetch it again"), "{told}");
        }
    }
}

#[test]
fn golden_configurations_that_check_nothing_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let before = standin("before");
    for (text, wanted) in [
        ("directory: g\nreleases: []\n".to_owned(), "golden.yaml: line 2: releases: the list is empty"),
        (
            format!("releases:\n- name: a\n  chart: {before}\n  helm: []\n"),
            "golden.yaml: line 4: helm: the list is empty",
        ),
        (
            format!("releases:\n- name: a\n  chart: {before}\n  namespace: Bad_NS!\n"),
            "golden.yaml: line 4: namespace: \"Bad_NS!\": a namespace has 1 to 63",
        ),
    ] {
        std::fs::write(directory.path().join("golden.yaml"), text).unwrap();
        for command in ["check", "update"] {
            let told = refused(directory.path(), &["golden", command, "--config", "golden.yaml"]);
            assert!(told.contains(wanted) && told.contains("hint: "), "{told}");
        }
    }
}
