//! Scenario files: charts, a starting state and ordered steps, played against a cluster; described in `docs/scenarios.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::chart::Values;
use crate::cluster::simulated::Conditions;
use crate::k8s::manifests;
use crate::upgrade::fate::Snapshot;
use crate::upgrade::outcome::Outcome;
use crate::upgrade::trace::Step;

mod lines;
mod outcomes;
mod play;
mod vet;
mod written;

pub use outcomes::explore;
pub use play::{Inputs, Typed, play, play_through};

/// A scenario that can't be read or played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ScenarioError {
    /// What is wrong, and where.
    pub message: String,
    /// What to do about it; empty when the message says it.
    pub hint: &'static str,
}

impl ScenarioError {
    /// An error whose message says all.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: "" }
    }

    fn hint(self, hint: &'static str) -> Self {
        Self { hint, ..self }
    }
}

impl From<manifests::Error> for ScenarioError {
    fn from(error: manifests::Error) -> Self {
        Self { message: error.message, hint: error.hint }
    }
}

/// One scenario file.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Scenario {
    /// Name, repeated in the result.
    #[serde(default)]
    pub name: String,
    /// One sentence for the reader.
    #[serde(default)]
    pub summary: String,
    /// Charts by the names that steps use; a chart is named as on the command line.
    pub charts: BTreeMap<String, String>,
    /// Release name.
    pub release: String,
    /// Release namespace.
    #[serde(default = "default_namespace")]
    pub namespace: String,
    /// Actor of every step that names none: `helm3`, `helm4`.
    #[serde(default = "default_actor")]
    pub actor: String,
    /// Version of the cluster.
    #[serde(default)]
    pub kubernetes: Option<String>,
    /// What chance decides in every step that does not say otherwise.
    #[serde(default)]
    pub conditions: Conditions,
    /// What there is before the first step.
    #[serde(default)]
    pub start: Start,
    /// What is done, in order.
    pub steps: Vec<Stage>,
    /// Keys of the conditions that the file fixes for the scenario or one of its steps.
    #[serde(skip)]
    pub fixed: BTreeSet<String>,
    /// Names in conditions that should be met by something.
    #[serde(skip)]
    wanted: Vec<vet::Wanted>,
}

/// What there is before the first step.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Start {
    /// Steps that lead to the starting state; they are not part of the result.
    pub steps: Vec<Stage>,
    /// Objects that users have.
    pub population: Population,
    /// File with further objects, as `kubectl get -o yaml` prints them.
    pub state: Option<String>,
}

/// Which objects users have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Population {
    /// The population that the program carries.
    #[default]
    BuiltIn,
    /// Nothing.
    None,
}

/// One step: what is done, and who does it under which conditions where that differs from the scenario's.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Stage {
    /// Where it begins in its file, from 1.
    #[serde(skip)]
    pub line: usize,
    /// Actor, e.g. `helm3`, or a version of it, e.g. `helm3.17`.
    #[serde(default)]
    pub actor: Option<String>,
    /// What chance decides from this step on.
    #[serde(default)]
    pub conditions: Option<Conditions>,
    /// A step of the start that may end with an error.
    #[serde(default)]
    pub may_fail: bool,
    /// `helm install`.
    #[serde(default)]
    pub install: Option<Deployment>,
    /// `helm upgrade`.
    #[serde(default)]
    pub upgrade: Option<Deployment>,
    /// `helm rollback`.
    #[serde(default)]
    pub rollback: Option<Rollback>,
    /// `helm uninstall`.
    #[serde(default)]
    pub uninstall: Option<Uninstall>,
    /// `kubectl apply`.
    #[serde(default)]
    pub apply: Option<Apply>,
    /// `kubectl create`.
    #[serde(default)]
    pub create: Option<Create>,
    /// `kubectl annotate --overwrite`.
    #[serde(default)]
    pub annotate: Option<Tagging>,
    /// `kubectl label --overwrite`.
    #[serde(default)]
    pub label: Option<Tagging>,
    /// `kubectl patch`.
    #[serde(default)]
    pub patch: Option<Patch>,
    /// `kubectl delete`.
    #[serde(default)]
    pub delete: Option<Delete>,
    /// Brings the built-in population; without such a step it comes after the steps of the start.
    #[serde(default)]
    pub populate: Option<Nothing>,
    /// Saves the runtime of every unfinished TrainJob as its snapshot.
    #[serde(default)]
    pub seed_snapshots: Option<Nothing>,
    /// Lets so many seconds pass.
    #[serde(default)]
    pub wait: Option<f64>,
}

/// A step without parameters: `{}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// An install or an upgrade.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Deployment {
    /// Name of the chart in `charts`.
    pub chart: String,
    /// Values, as in a `-f` file.
    #[serde(default)]
    pub values: Values,
    /// Values, as behind `--set`.
    #[serde(default)]
    pub set: Vec<String>,
    /// Flags of the command.
    #[serde(default)]
    pub flags: Vec<String>,
}

/// A rollback.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Rollback {
    /// Revision; 0 is the one before the last.
    pub revision: u64,
    /// Flags of the command.
    pub flags: Vec<String>,
}

/// An uninstall.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Uninstall {
    /// Flags of the command.
    pub flags: Vec<String>,
}

/// An apply: of a file, of objects written here, or of parts of a chart.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Apply {
    /// File with YAML documents, beside the scenario file.
    pub file: Option<String>,
    /// Objects.
    pub objects: Vec<Value>,
    /// Name of the chart in `charts` that is rendered.
    pub chart: Option<String>,
    /// Values of that chart.
    pub values: Values,
    /// Values of that chart, as behind `--set`.
    pub set: Vec<String>,
    /// Whether the chart's hooks are applied as well, at the end, as `helm template` prints them.
    pub hooks: bool,
    /// Kinds to take from the render; empty means all. Files below `crds/` are part of it.
    pub kinds: Vec<String>,
    /// Names to take from the render; empty means all.
    pub names: Vec<String>,
    /// `--server-side`.
    pub server_side: bool,
    /// `--force-conflicts`.
    pub force_conflicts: bool,
}

/// Objects to create: from a file, or written here.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Create {
    /// File with YAML documents, beside the scenario file.
    pub file: Option<String>,
    /// Objects.
    pub objects: Vec<Value>,
}

/// Annotations or labels for objects.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Tagging {
    /// Objects as `Kind/namespace/name`; a name that ends with `*` means every object of the kind whose name begins so.
    pub objects: Vec<String>,
    /// Only objects with these labels.
    pub selector: BTreeMap<String, String>,
    /// Keys and values; `null` removes the key.
    pub set: BTreeMap<String, Option<String>>,
}

/// A patch of one object.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Patch {
    /// Object as `Kind/namespace/name`; a name that ends with `*` means every object whose name begins so.
    pub object: String,
    /// `merge`, `strategic` or `json`.
    #[serde(default = "default_patch")]
    pub kind: String,
    /// `--subresource`, e.g. `status`.
    #[serde(default)]
    pub subresource: String,
    /// The patch.
    pub patch: Value,
}

/// A deletion.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Delete {
    /// Objects as in [`Tagging::objects`].
    pub objects: Vec<String>,
    /// `background` (default), `foreground` or `orphan`.
    pub cascade: Option<String>,
}

/// What a played scenario gives.
#[derive(Clone, Debug, Serialize)]
pub struct Played {
    /// The scenario's name.
    pub scenario: String,
    /// The steps in the natural course of things, without those of the start.
    pub steps: Vec<Step>,
    /// How the cluster looked before the first step and after each.
    #[serde(skip)]
    pub looks: Vec<Arc<Snapshot>>,
    /// Words of the file that met nothing while it was played.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Every different end under what the file leaves open, worst first; empty when nobody looked for others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<Outcome>,
}

fn default_namespace() -> String {
    "default".to_owned()
}

fn default_actor() -> String {
    "helm4".to_owned()
}

fn default_patch() -> String {
    "merge".to_owned()
}

#[cfg(test)]
mod tests;
