//! Bringing a cluster to where a check begins, and doing what the check says.

use std::sync::Arc;

use seatrial::chart::{Chart, Helm, Values};
use seatrial::checks::{self, Compared, Context, Scene};
use seatrial::cluster::simulated::{Conditions, Simulated};
use seatrial::cluster::{Cluster, PatchType};
use seatrial::finding::Finding;
use seatrial::k8s::{self, Gvk};
use seatrial::limits::Limits;
use seatrial::render::{Options, Render};
use seatrial::upgrade::actors::helm::{Flags, Forge, template_options};
use seatrial::upgrade::actors::{Command, Renderer, Subject, Workshop};
use seatrial::upgrade::course::{Course, Order};
use seatrial::upgrade::kubectl::Apply;
use seatrial::upgrade::link::{Address, Link};
use seatrial::upgrade::outcome::{Operation, Outcome, Rehearsal, Start, Verdict, Way};
use seatrial::upgrade::rehearse::values_in_force;
use seatrial::upgrade::release::{ApplyMethod, Release, Status};
use seatrial::upgrade::renders::{Engines, Renders};
use seatrial::upgrade::storage::{Records, Storage};
use seatrial::upgrade::trace::Step;
use seatrial::upgrade::world::{World, simulated};
use serde_json::{Value, json};

use super::case::{Check, Tool, chart_of};
use crate::hand::by_hand;

/// What a check came to.
pub(super) struct Played {
    pub(super) step: Option<Step>,
    pub(super) after: Vec<Arc<Value>>,
    pub(super) findings: Vec<Finding>,
}

const BY_FORCE: Apply = Apply { server_side: true, force_conflicts: true, lenient: false };

const KUBERNETES: &str = "v1.34.3";

struct Stage<'s> {
    check: &'s Check,
    tool: &'s Tool,
    maker: Tool,
    course: Course<Simulated>,
    workshop: &'s Workshop<'s>,
    subject: Subject,
}

pub(super) fn play(check: &Check, tool: &Tool) -> Result<Played, String> {
    let (renders, records, forge) =
        (Renders::new(Engines, Limits::default()), Records::default(), Forge::default());
    let workshop = Workshop { renderer: &renders, records: &records, forge: &forge };
    let told = check.before();
    // What is told of the past may name who made the release.
    let maker = match told.contains("installed by Helm 3") {
        true => Tool {
            actor: "helm3",
            dialect: seatrial::upgrade::actors::helm::Dialect { helm: Helm::V3 },
            server_side: None,
        },
        false => tool.clone(),
    };
    let mut world = simulated(KUBERNETES);
    world.assume(&conditions(told));
    let subject = Subject { release: check.release(), namespace: check.namespace() };
    let mut stage = Stage { check, tool, maker, course: Course::new(world), workshop: &workshop, subject };
    stage.prepare()?;
    stage.perform()
}

/// What the words about the past say of the surroundings.
fn conditions(told: &str) -> Conditions {
    let mut conditions = Conditions::default();
    if told.contains("nothing answers") {
        conditions.images.insert(":".to_owned());
    }
    conditions
}

impl Stage<'_> {
    fn prepare(&mut self) -> Result<(), String> {
        let told = self.check.before();
        self.namespaces();
        if let Some(earlier) = self.check.predecessor() {
            self.deploy(&earlier, "from", true)?;
            self.live(&earlier.live());
            self.deploy(&earlier, "to", false)?;
        } else if self.check.manifest().is_some() {
            self.store()?;
        } else if self.check.has("from") {
            let step = self.deploy(self.check, "from", true)?;
            if step.exit_code != 0 && told.is_empty() {
                return Err(format!("the start fails: {}", step.stderr));
            }
        }
        self.live(&self.check.live());
        if told.contains("kubectl apply --server-side") {
            let namespace = self.subject.namespace.clone();
            let objects: Vec<Arc<Value>> = self.check.live().into_iter().map(Arc::new).collect();
            by_hand(&mut self.course, "", |kubectl| {
                kubectl.apply(&objects, &namespace, BY_FORCE);
            });
        }
        if told.contains("the upgrade before") {
            self.deploy(self.check, "from", false)?;
        }
        Ok(())
    }

    fn namespaces(&mut self) {
        let mut names: Vec<String> = vec![self.subject.namespace.clone()];
        names.extend(self.check.live().iter().map(|object| k8s::object_name(object).namespace));
        names.retain(|name| !name.is_empty());
        let objects: Vec<Arc<Value>> = names
            .iter()
            .map(|name| {
                Arc::new(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}))
            })
            .collect();
        by_hand(&mut self.course, "", |kubectl| {
            kubectl.apply(&objects, "", BY_FORCE);
        });
    }

    /// One command of the maker's, before the check itself.
    fn deploy(&mut self, check: &Check, side: &str, install: bool) -> Result<Step, String> {
        let maker = self.maker.clone();
        let (chart, values) = check.side(side, maker.dialect.helm)?;
        let command =
            if install { Command::Install { chart, values } } else { Command::Upgrade { chart, values } };
        self.run(&maker, command, &written_by(&maker))
    }

    fn run(&mut self, tool: &Tool, command: Command, flags: &[String]) -> Result<Step, String> {
        let flags = Flags::parse(flags, tool.dialect).map_err(|error| error.0)?;
        let line = format!("{} {}", tool.actor, command.word());
        let subject = self.subject.clone();
        let order =
            Order { actor: tool.actor, dialect: tool.dialect, subject: &subject, command, flags, line };
        self.course.run(self.workshop, &order).map_err(|error| error.0)
    }

    /// Writes a release whose manifest is given, and its objects as the server has them.
    fn store(&mut self) -> Result<(), String> {
        let manifests = self.check.manifest().unwrap_or_default();
        let objects: Vec<Value> = manifests.iter().map(|manifest| Value::clone(&manifest.object)).collect();
        let (release, namespace) = (self.subject.release.clone(), self.subject.namespace.clone());
        let chart = match self.check.side("to", self.tool.dialect.helm) {
            Ok((chart, _)) => chart,
            Err(_) => Arc::new(Chart::default()),
        };
        let render = Render {
            values: Arc::new(Values::new()),
            config: Arc::new(Values::new()),
            chart,
            crds: Vec::new(),
            manifests,
            hooks: Vec::new(),
            notes: None,
            warnings: Vec::new(),
        };
        let record = Release {
            name: release.clone(),
            namespace: namespace.clone(),
            revision: 1,
            status: Status::Deployed,
            description: "Install complete".to_owned(),
            render: Arc::new(render),
            rollback_revision: 0,
            apply_method: if self.maker.applies() { ApplyMethod::ServerSide } else { ApplyMethod::Unset },
            first_deployed: 0.0,
            last_deployed: 0.0,
        };
        let mut link = Link::new(&mut self.course.world, "helm", "helm");
        let writer = if self.maker.dialect.is_v4() { "helm4" } else { "helm3" };
        Storage::new(self.workshop.records, &namespace, writer).create(&mut link, &record, 10)?;
        for mut object in objects {
            object["metadata"]["labels"]["app.kubernetes.io/managed-by"] = json!("Helm");
            object["metadata"]["annotations"]["meta.helm.sh/release-name"] = json!(release);
            object["metadata"]["annotations"]["meta.helm.sh/release-namespace"] = json!(namespace);
            let (address, version) = served(&mut link, &object, &namespace)?;
            object["apiVersion"] = json!(version);
            link.create(&address, Arc::new(object)).map_err(|fault| fault.text)?;
        }
        Ok(())
    }

    /// Brings live objects: what there is gets changed by the managers that own its fields, the rest is made.
    fn live(&mut self, objects: &[Value]) {
        for object in objects {
            let mut plain = object.clone();
            let managers = managers(object);
            if let Some(metadata) = plain.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.remove("managedFields");
            }
            let of_helm = k8s::text(object, "/kind") == "CustomResourceDefinition" && managers.is_empty();
            let applied = of_helm && self.maker.applies();
            let namespace = self.subject.namespace.clone();
            let mut link = Link::new(&mut self.course.world, "user", "kubectl-create");
            if of_helm {
                link.manager("helm");
            }
            let (address, _) = served(&mut link, &plain, &namespace).unwrap();
            match link.get(&address) {
                Ok(_) if of_helm => {}
                Ok(_) => {
                    let managers =
                        if managers.is_empty() { vec!["kubectl-edit".to_owned()] } else { managers };
                    for manager in managers {
                        link.manager(&manager);
                        link.patch(&address, PatchType::Merge, plain.clone()).unwrap();
                    }
                }
                Err(_) if applied => drop(link.apply(&address, Arc::new(plain), false).unwrap()),
                Err(_) => drop(link.create(&address, Arc::new(plain)).unwrap()),
            }
            drop(link);
            self.course.world.wait(5.0).unwrap();
        }
        let world = self.course.world.clone();
        self.course = Course::new(world);
    }

    fn perform(&mut self) -> Result<Played, String> {
        let before = World::objects(&mut self.course.world).unwrap();
        let helm = self.tool.dialect.helm;
        let to = || self.check.side("to", helm);
        let command = match self.check.deed() {
            "install" => to().map(|(chart, values)| Command::Install { chart, values })?,
            "upgrade" => to().map(|(chart, values)| Command::Upgrade { chart, values })?,
            "uninstall" => Command::Uninstall,
            other => return Err(format!("{other} can't be played")),
        };
        let mut flags = self.check.flags();
        if self.check.deed() == "install" || self.tool.server_side.is_some() {
            flags.extend(
                written_by(self.tool).into_iter().filter(|flag| !flags.contains(flag)).collect::<Vec<_>>(),
            );
        }
        if self.check.deed() != "install" {
            flags.retain(|flag| flag != "--create-namespace");
        }
        if self.check.deed() == "uninstall" {
            flags.retain(|flag| !flag.starts_with("--server-side"));
        }
        let tool = self.tool.clone();
        let step = self.run(&tool, command, &flags)?;
        let after = World::objects(&mut self.course.world).unwrap();
        let rehearsal = self.rehearsal(&step, &flags);
        let findings = self.findings(&before, &rehearsal)?;
        Ok(Played { step: Some(step), after, findings })
    }

    /// What was played, as a rehearsal of one operation.
    fn rehearsal(&self, step: &Step, flags: &[String]) -> Rehearsal {
        let outcome = Outcome {
            condition: String::new(),
            also: Vec::new(),
            verdict: Verdict::of_command(step),
            lost: step.lost_objects.clone(),
            steps: vec![step.clone()],
        };
        let operation =
            Operation { name: self.check.deed().to_owned(), flags: flags.to_vec(), outcomes: vec![outcome] };
        Rehearsal {
            origins: Vec::new(),
            actor: self.tool.actor.to_owned(),
            version: String::new(),
            start: Start::State("case".to_owned()),
            population: Vec::new(),
            alive: Vec::new(),
            unserved: Vec::new(),
            doubts: Vec::new(),
            secrets: Default::default(),
            obstacle: String::new(),
            ways: vec![Way {
                name: "plain".to_owned(),
                summary: String::new(),
                made_by: if self.maker.applies() { "helm4" } else { "helm3" }.to_owned(),
                flags: flags.to_vec(),
                prepare: Vec::new(),
                afterwards: Vec::new(),
                loses_already: Vec::new(),
                numbered: true,
                values: None,
                operations: vec![operation],
            }],
        }
    }

    fn findings(&self, state: &[Arc<Value>], rehearsal: &Rehearsal) -> Result<Vec<Finding>, String> {
        let helm = self.tool.dialect.helm;
        let new = if self.check.has("to") { "to" } else { "from" };
        let old = if self.check.has("from") { "from" } else { "to" };
        let (chart_after, values_after) = self.check.side(new, helm)?;
        let (chart_before, values_before) = self.check.side(old, helm)?;
        let resets =
            self.check.deed() != "upgrade" || self.check.flags().iter().any(|flag| flag == "--reset-values");
        let mut pair = Pair::new(
            helm,
            &self.subject,
            (&chart_before, &values_before),
            (&chart_after, &values_after),
            resets,
        )?;
        if let Some(manifests) = self.check.manifest() {
            pair.before = Arc::new(Render { manifests, ..Render::clone(&pair.before) });
        }
        Ok(pair.findings(state, std::slice::from_ref(rehearsal)))
    }
}

/// Flags that make a tool write as it is said to.
fn written_by(tool: &Tool) -> Vec<String> {
    match tool.server_side {
        Some(side) if tool.dialect.is_v4() => vec![format!("--server-side={side}")],
        _ => Vec::new(),
    }
}

/// Managers of fields that are not Helm.
fn managers(object: &Value) -> Vec<String> {
    let entries = object.pointer("/metadata/managedFields").and_then(Value::as_array).into_iter().flatten();
    entries.map(|entry| k8s::text(entry, "/manager").to_owned()).filter(|name| name != "helm").collect()
}

/// Where an object lives, in the version that the server has; also that version.
fn served(link: &mut Link<'_>, object: &Value, namespace: &str) -> Result<(Address, String), String> {
    let gvk = Gvk::of(object);
    let apis = link.discover().map_err(|fault| fault.text)?;
    let api = apis
        .iter()
        .find(|api| {
            api.kind == gvk.kind && api.resource.group == gvk.group && !api.resource.plural.contains('/')
        })
        .ok_or_else(|| format!("{} is not served", gvk.kind))?;
    let name = k8s::object_name(object);
    let namespace = match (api.namespaced, name.namespace.is_empty()) {
        (false, _) => String::new(),
        (true, true) => namespace.to_owned(),
        (true, false) => name.namespace,
    };
    let resource = &api.resource;
    let version = match resource.group.as_str() {
        "" => resource.version.clone(),
        group => format!("{group}/{}", resource.version),
    };
    Ok((Address { resource: resource.clone(), namespace, name: name.name }, version))
}

/// Two renders and their charts.
struct Pair {
    before: Arc<Render>,
    after: Arc<Render>,
    charts: [Arc<Chart>; 2],
    values: Arc<Values>,
    subject: Subject,
}

impl Pair {
    fn new(
        helm: Helm,
        subject: &Subject,
        before: (&Arc<Chart>, &Arc<Values>),
        after: (&Arc<Chart>, &Arc<Values>),
        resets: bool,
    ) -> Result<Self, String> {
        let in_force = if resets { after.1 } else { values_in_force(before.1, after.1) };
        let options =
            Options { kube_version: Some(KUBERNETES.to_owned()), ..template_options(helm, subject) };
        let upgrade = Options { revision: 2, is_upgrade: true, ..options.clone() };
        Ok(Self {
            before: Engines.render(before.0, before.1, &options)?,
            after: Engines.render(after.0, in_force, &upgrade)?,
            charts: [Arc::clone(before.0), Arc::clone(after.0)],
            values: Arc::clone(after.1),
            subject: subject.clone(),
        })
    }

    fn findings(&self, state: &[Arc<Value>], rehearsals: &[Rehearsal]) -> Vec<Finding> {
        let scene = Scene {
            before: &self.before,
            after: &self.after,
            again: None,
            chart_before: &self.charts[0],
            chart_after: &self.charts[1],
            values: &self.values,
            release: &self.subject.release,
            namespace: &self.subject.namespace,
            kubernetes: KUBERNETES,
            state,
            rehearsals,
            sizes: &seatrial::upgrade::sizes::Sizes::default(),
        };
        checks::run(&Context::new(&scene, &Compared::new(scene.before, scene.after)))
    }
}

/// Checks that look without doing: two charts, two definitions, or one chart against itself.
pub(super) fn compare(check: &Check) -> Result<Played, String> {
    let helm = Helm::V4;
    let subject = Subject { release: check.release(), namespace: check.namespace() };
    let (before, after) = if check.has("chart") {
        (check.side("chart", helm)?, check.side("chart", helm)?)
    } else if check.has("from") {
        (check.side("from", helm)?, check.side("to", helm)?)
    } else if let (Some(old), Some(new)) = (check.file("old"), check.file("new")) {
        let none = Arc::new(Values::new());
        ((chart_of(&[old], "1.0.0", helm), Arc::clone(&none)), (chart_of(&[new], "2.0.0", helm), none))
    } else {
        return Err("nothing that verify can be given".to_owned());
    };
    let pair = Pair::new(helm, &subject, (&before.0, &before.1), (&after.0, &after.1), false)?;
    let mut state: Vec<Arc<Value>> = check.live().into_iter().map(Arc::new).collect();
    if let (Some(mut old), Some(status)) = (check.file("old"), check.file("status")) {
        let status = if status["status"].is_null() { json!({"status": status}) } else { status };
        k8s::patch::merge(&mut old, &status);
        state.push(Arc::new(old));
    }
    Ok(Played { step: None, after: Vec::new(), findings: pair.findings(&state, &[]) })
}
