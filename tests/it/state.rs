//! `verify --state` on the real charts: a cluster on which the published safe procedure was followed, in the forms in which
//! people hand it in, against one on which it was not.

use std::path::{Path, PathBuf};
use std::process::{Command as Process, Output};
use std::sync::Arc;

use seatrial::chart::{Chart, Helm, Values};
use seatrial::cluster::simulated::Simulated;
use seatrial::finding::ObjectName;
use seatrial::k8s;
use seatrial::limits::Limits;
use seatrial::upgrade::actors::helm::{Dialect, Flags, Forge, template_options};
use seatrial::upgrade::actors::{Command, Renderer as _, Subject, Workshop};
use seatrial::upgrade::course::{Course, Order};
use seatrial::upgrade::inventory::{Place, inventory};
use seatrial::upgrade::kubectl::{Apply, Tag};
use seatrial::upgrade::renders::{Engines, Renders};
use seatrial::upgrade::storage::Records;
use seatrial::upgrade::world::{World, simulated};
use seatrial::upgrade::{population, snapshots};
use serde_json::{Value, json};

use crate::hand::by_hand;
use crate::shared::shared;

const RELEASE: &str = "kubeflow-trainer";
const NAMESPACE: &str = "kubeflow-system";
const BY_FORCE: Apply = Apply { server_side: true, force_conflicts: true, lenient: false };

struct Cluster {
    shared: PathBuf,
    course: Course<Simulated>,
}

fn subject() -> Subject {
    Subject { release: RELEASE.to_owned(), namespace: NAMESPACE.to_owned() }
}

fn chart(shared: &Path, version: &str) -> Arc<Chart> {
    let file = shared.join(format!("charts-cache/kubeflow-trainer-{version}.tgz"));
    Arc::new(Chart::from_archive(&std::fs::read(file).unwrap(), Helm::V3, &Limits::default()).unwrap())
}

fn values() -> Values {
    json!({"runtimes": {"defaultEnabled": true}}).as_object().unwrap().clone()
}

impl Cluster {
    /// 2.2.1 as Helm 3 installs it, with what users have; records are written in Helm's own format.
    fn new(shared: &Path) -> Self {
        let (renders, records, forge) =
            (Renders::new(Engines, Limits::default()), Records::real(), Forge::default());
        let workshop = Workshop { renderer: &renders, records: &records, forge: &forge };
        let mut course = Course::new(simulated("v1.34.3"));
        let command = Command::Install { chart: chart(shared, "2.2.1"), values: Arc::new(values()) };
        let order = Order {
            actor: "helm3",
            dialect: Dialect { helm: Helm::V3 },
            subject: &subject(),
            command,
            flags: Flags { create_namespace: true, ..Flags::default() },
            line: String::new(),
        };
        let step = course.run(&workshop, &order).unwrap();
        assert_eq!(step.exit_code, 0, "{}", step.stderr);
        let step =
            course.step("user", "populate", "", "", |world| Ok((population::populate(world)?, Vec::new())));
        let step = step.unwrap();
        assert_eq!(step.exit_code, 0, "{}", step.stderr);
        Self { shared: shared.to_owned(), course }
    }

    fn objects(&mut self) -> Vec<Arc<Value>> {
        World::objects(&mut self.course.world).unwrap()
    }

    /// Step 1 of both procedures: keep for the chart's runtimes.
    fn keep_runtimes(&mut self) {
        let runtimes: Vec<ObjectName> = self
            .objects()
            .iter()
            .filter(|object| k8s::text(object, "/kind") == "ClusterTrainingRuntime")
            .filter(|object| k8s::label(object, "app.kubernetes.io/instance") == Some(RELEASE))
            .map(|object| k8s::object_name(object))
            .collect();
        assert_eq!(runtimes.len(), 8);
        let keep = [("helm.sh/resource-policy".to_owned(), Some("keep".to_owned()))];
        by_hand(&mut self.course, NAMESPACE, |kubectl| kubectl.tag(&runtimes, Tag::Annotations, &keep));
    }

    /// Step 2: the runtime of every unfinished job as its snapshot.
    fn seed_snapshots(&mut self) {
        let seeds = snapshots::seeds(&self.objects());
        assert!(!seeds.is_empty());
        by_hand(&mut self.course, NAMESPACE, |kubectl| {
            kubectl.apply(
                &seeds,
                NAMESPACE,
                Apply { server_side: true, force_conflicts: false, lenient: false },
            );
        });
    }

    /// Step 3 of procedure A: the new definitions by kubectl.
    fn apply_definitions(&mut self) {
        let chart = chart(&self.shared, "2.3.0");
        let options = template_options(Helm::V3, &subject());
        let render = Engines.render(&chart, &Arc::new(values()), &options).unwrap();
        let definitions: Vec<Arc<Value>> = inventory(&render)
            .into_iter()
            .filter(|item| matches!(item.place, Place::Crds | Place::Templates))
            .filter(|item| item.name.kind == "CustomResourceDefinition")
            .map(|item| item.object)
            .collect();
        assert_eq!(definitions.len(), 4);
        by_hand(&mut self.course, NAMESPACE, |kubectl| kubectl.apply(&definitions, NAMESPACE, BY_FORCE));
    }

    /// Step 3 of procedure B: Trainer's definitions handed to the release, with keep.
    fn adopt_definitions(&mut self) {
        let name = |plural: &str| ObjectName {
            kind: "CustomResourceDefinition".to_owned(),
            namespace: String::new(),
            name: format!("{plural}.trainer.kubeflow.org"),
        };
        let names = ["trainjobs", "trainingruntimes", "clustertrainingruntimes"].map(name);
        let pair = |key: &str, value: &str| (key.to_owned(), Some(value.to_owned()));
        let labels = [pair("app.kubernetes.io/managed-by", "Helm")];
        let annotations = [
            pair("meta.helm.sh/release-name", RELEASE),
            pair("meta.helm.sh/release-namespace", NAMESPACE),
            pair("helm.sh/resource-policy", "keep"),
        ];
        by_hand(&mut self.course, NAMESPACE, |kubectl| {
            kubectl.tag(&names, Tag::Labels, &labels);
            kubectl.tag(&names, Tag::Annotations, &annotations);
        });
    }
}

/// What of a cluster is written into the state.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// One List with everything, records of the release included.
    Everything,
    /// One List without Secrets and without managedFields, as most people make it.
    WithoutSecrets,
    /// A directory with a file for each of the kinds that the procedure is about.
    SomeKinds,
}

/// Kinds that a person would think of.
const SOME: &[&str] = &[
    "CustomResourceDefinition",
    "ClusterTrainingRuntime",
    "TrainingRuntime",
    "TrainJob",
    "JobSet",
    "ConfigMap",
];

fn write_state(objects: &[Arc<Value>], form: Form, at: &Path) {
    let list = |items: Vec<Value>| json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    let plain = |object: &Arc<Value>| {
        let mut object = Value::clone(object);
        object["metadata"].as_object_mut().unwrap().remove("managedFields");
        object
    };
    let of = |wanted: &dyn Fn(&str) -> bool| -> Vec<Value> {
        objects.iter().filter(|object| wanted(k8s::text(object, "/kind"))).map(plain).collect()
    };
    match form {
        Form::Everything => {
            let all = objects.iter().map(|object| Value::clone(object)).collect();
            std::fs::write(at, list(all)).unwrap();
        }
        Form::WithoutSecrets => std::fs::write(at, list(of(&|kind| kind != "Secret"))).unwrap(),
        Form::SomeKinds => {
            std::fs::create_dir(at).unwrap();
            for kind in SOME {
                std::fs::write(at.join(format!("{kind}.yaml")), list(of(&|found| found == *kind))).unwrap();
            }
        }
    }
}

/// Exit code and report of `verify` from 2.2.1 to 2.3.0 by one actor.
#[expect(clippy::disallowed_methods, reason = "the program is tested from outside")]
/// Runs the program on two versions with the state of a cluster.
fn run(cluster: &mut Cluster, form: Form, versions: [&str; 2], more: &[&str]) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state");
    write_state(&cluster.objects(), form, &state);
    let file = |version: &str| {
        cluster.shared.join(format!("charts-cache/kubeflow-trainer-{version}.tgz")).display().to_string()
    };
    let mut program = Process::new(env!("CARGO_BIN_EXE_seatrial"));
    program.arg("verify").args(versions.map(file)).args(["-n", NAMESPACE, "-o", "json"]).args(more);
    program.arg("--state").arg(&state).env_remove("KUBECONFIG").output().unwrap()
}

fn verify(cluster: &mut Cluster, form: Form, actor: &str, more: &[&str]) -> (i32, Value) {
    let flags = ["--actor", actor, "--set", "runtimes.defaultEnabled=true"];
    let output = run(cluster, form, ["2.2.1", "2.3.0"], &[&flags, more].concat());
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    (output.status.code().unwrap(), report)
}

/// The losses of a report, for messages.
fn losses(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap().iter();
    let lost = findings.filter(|finding| finding["check"] == "rehearsal_lost");
    lost.map(|finding| format!("{} {}", finding["message"], finding["condition"])).collect()
}

fn keeps_everything(cluster: &mut Cluster, form: Form, actor: &str, more: &[&str]) {
    let (code, report) = verify(cluster, form, actor, more);
    let told = format!("{form:?} {actor}: {}\n{}", report["verdict"], losses(&report).join("\n"));
    assert!(code == 0 || code == 2, "{code} {told}");
    let ways = report["rehearsals"][0]["ways"].as_array().unwrap();
    assert!(!ways.is_empty(), "{told}");
    let outcomes = ways[0]["operations"][0]["outcomes"].as_array().unwrap();
    let through = outcomes.iter().any(|outcome| outcome["steps"][0]["exit_code"] == 0);
    assert!(through, "the upgrade goes through: {told}");
}

#[test]
fn definitions_outside_the_release_keep_everything() {
    let Some(shared) = shared() else { return };
    let mut cluster = Cluster::new(&shared);
    cluster.keep_runtimes();
    cluster.seed_snapshots();
    cluster.apply_definitions();
    for (form, actor) in [
        (Form::Everything, "helm3"),
        (Form::WithoutSecrets, "helm3"),
        (Form::SomeKinds, "helm3"),
        (Form::Everything, "helm4"),
    ] {
        keeps_everything(&mut cluster, form, actor, &["--set-after", "crds.enabled=false"]);
    }
}

#[test]
fn a_state_of_another_chart_or_release_is_told() {
    let Some(shared) = shared() else { return };
    let mut cluster = Cluster::new(&shared);
    let other_chart = run(&mut cluster, Form::Everything, ["2.1.0", "2.3.0"], &["--actor", "helm3"]);
    let said = String::from_utf8_lossy(&other_chart.stderr).into_owned();
    assert_eq!(other_chart.status.code(), Some(1), "{said}");
    assert!(
        said.contains(
            "was made from chart kubeflow-trainer 2.2.1, and the old chart is kubeflow-trainer 2.1.0"
        ),
        "{said}"
    );
    let flags = ["--actor", "helm3", "--release", "other"];
    let other_release = run(&mut cluster, Form::Everything, ["2.2.1", "2.3.0"], &flags);
    let said = String::from_utf8_lossy(&other_release.stderr).into_owned();
    assert_eq!(other_release.status.code(), Some(1), "{said}");
    assert!(said.contains("no record of it, only of kubeflow-trainer in kubeflow-system"), "{said}");
}

#[test]
fn adopted_definitions_with_keep_keep_everything() {
    let Some(shared) = shared() else { return };
    let mut cluster = Cluster::new(&shared);
    cluster.keep_runtimes();
    cluster.seed_snapshots();
    cluster.adopt_definitions();
    for form in [Form::Everything, Form::WithoutSecrets] {
        keeps_everything(&mut cluster, form, "helm3", &[]);
    }
}

#[test]
fn without_the_procedure_objects_are_lost() {
    let Some(shared) = shared() else { return };
    let mut cluster = Cluster::new(&shared);
    let (code, report) = verify(&mut cluster, Form::Everything, "helm3", &[]);
    assert_eq!(code, 3, "{}", report["verdict"]);
}

#[test]
fn half_of_the_procedure_is_none() {
    let Some(shared) = shared() else { return };
    let mut cluster = Cluster::new(&shared);
    // Without keep on the runtimes those in use vanish.
    cluster.apply_definitions();
    let off = ["--set-after", "crds.enabled=false"];
    let (code, report) = verify(&mut cluster, Form::Everything, "helm3", &off);
    assert_eq!(code, 3, "{}", report["verdict"]);
    let lost = losses(&report);
    assert!(lost.iter().any(|line| line.contains("in upgrade (plain)")), "{lost:?}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the program is tested from outside")]
fn jobs_that_a_left_behind_definition_stops_are_broken() {
    let Some(shared) = shared() else { return };
    let mut program = Process::new(env!("CARGO_BIN_EXE_seatrial"));
    program.args(["verify", "kubeflow-trainer@2.0.1", "kubeflow-trainer@2.3.0", "--actor", "helm3"]);
    program.args(["--offline", "-o", "json", "--charts-cache"]).arg(shared.join("charts-cache"));
    let output = program.env_remove("KUBECONFIG").output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let ways = report["rehearsals"][0]["ways"].as_array().unwrap();
    let taking = ways.iter().find(|way| way["name"] == "take ownership").unwrap();
    // Helm reports success, and no JobSet can be written any more (facts/lab.md, surprise 4).
    let outcome = &taking["operations"][0]["outcomes"][0];
    assert_eq!((&outcome["verdict"], &outcome["steps"][0]["exit_code"]), (&json!("breaks"), &json!(0)));
    let stuck = |finding: &&Value| finding["check"] == "job_stuck" && finding["severity"] == "breaks";
    let findings = report["findings"].as_array().unwrap();
    let messages: Vec<&str> =
        findings.iter().filter(stuck).map(|finding| finding["message"].as_str().unwrap()).collect();
    let wanted = "(team-a/susp-torch; jobset.x-k8s.io/v1alpha2, Kind=JobSet): .spec.replicatedJobs[name=\"node\"].groupName: field not declared in schema";
    assert!(messages.iter().any(|message| message.contains(wanted)), "{messages:#?}");
}

/// A chart of one definition, written to a directory.
fn write_chart(at: &Path, version: &str) {
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: gears.example.test}\nspec:\n  group: example.test\n  names: {kind: Gear, listKind: GearList, plural: gears, singular: gear}\n  scope: Namespaced\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema: {openAPIV3Schema: {type: object, required: [spec], properties: {spec: {type: object, required: [teeth], properties: {teeth: {type: integer, minimum: 3}}}}}}\n";
    std::fs::create_dir_all(at.join("templates")).unwrap();
    std::fs::write(at.join("templates/crd.yaml"), definition).unwrap();
    std::fs::write(at.join("Chart.yaml"), format!("apiVersion: v2\nname: gears\nversion: {version}\n"))
        .unwrap();
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the program is tested from outside")]
fn charts_of_other_kinds_get_objects_made_from_their_schemas() {
    let directory = tempfile::tempdir().unwrap();
    let (old, new) = (directory.path().join("old"), directory.path().join("new"));
    write_chart(&old, "1.0.0");
    write_chart(&new, "1.1.0");
    let mut program = Process::new(env!("CARGO_BIN_EXE_seatrial"));
    program.arg("verify").args([&old, &new]).args(["--actor", "helm3", "-o", "json"]);
    let output = program.env_remove("KUBECONFIG").output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let start = report["start"].as_str().unwrap();
    assert!(start.contains("one object each of Gear, made from the schema alone"), "{start}");
    let population = report["rehearsals"][0]["population"].as_array().unwrap();
    assert!(population.contains(&json!("Gear/team-a/sample")), "{population:?}");
    // Uninstalling takes the definition and with it what users made, but it did so before the upgrade.
    assert_eq!(output.status.code(), Some(2), "{}", report["verdict"]);
    let summary = report["verdict"]["summary"].as_str().unwrap();
    assert!(summary.contains("before this upgrade as after it"), "{summary}");
    assert!(losses(&report).iter().any(|line| line.contains("in uninstall")), "{:?}", losses(&report));
}

#[test]
fn a_state_of_another_simulation_comes_to_rest_on_the_wrong_old_chart() {
    let Some(shared) = shared() else { return };
    let mut cluster = Cluster::new(&shared);
    // Without records nothing tells that 2.2.1 is what runs: its objects are laid over those of 2.1.0.
    let output = run(&mut cluster, Form::WithoutSecrets, ["2.1.0", "2.3.0"], &["--actor", "helm3"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let notes = report["not_checked"].to_string();
    assert!(notes.contains("nodes and registries") && !notes.contains("come to rest"), "{notes}");
}
