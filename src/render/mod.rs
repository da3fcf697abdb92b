//! Stage 3: a chart, values and capabilities become manifests, exactly as Helm would print them.
//!
//! [`render`] does what `helm template` does, [`print::template_output`] what it prints, [`facts`] reads from the
//! result what later stages ask about.

pub mod capabilities;
mod checked;
mod context;
mod durations;
pub mod error;
mod excerpt;
pub mod facts;
mod files;
pub mod functions;
mod glob;
mod head;
pub mod host;
mod lazy;
pub mod manifests;
mod parallel;
mod pipeline;
mod pretty;
pub mod print;
mod templates;
mod toml_read;
mod toml_text;

use std::sync::Arc;

use serde_json::Value;

use crate::chart::{Chart, Contents, Values};
use crate::k8s;

pub use crate::chart::Helm;
pub use checked::Checked;
pub use error::Error;
pub use excerpt::Excerpt;
pub use lazy::Lazy;
pub use pipeline::{render, render_once};
pub use print::{PrintOptions, pieces, template_output};
pub use templates::name;

/// When a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookEvent {
    /// `pre-install`.
    PreInstall,
    /// `post-install`.
    PostInstall,
    /// `pre-delete`.
    PreDelete,
    /// `post-delete`.
    PostDelete,
    /// `pre-upgrade`.
    PreUpgrade,
    /// `post-upgrade`.
    PostUpgrade,
    /// `pre-rollback`.
    PreRollback,
    /// `post-rollback`.
    PostRollback,
    /// `test` and its old name `test-success`.
    Test,
}

/// When a hook's object is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeletePolicy {
    /// `before-hook-creation`, also the default.
    BeforeHookCreation,
    /// `hook-succeeded`.
    HookSucceeded,
    /// `hook-failed`.
    HookFailed,
}

/// One document of the rendered release.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// Template it comes from, as in the `# Source:` comment.
    pub source: String,
    /// The document's text as Helm stores and prints it.
    pub text: Excerpt,
    /// The document as an object, read when it is asked for; `Value::Null` for a document that holds only comments.
    pub object: Lazy<Arc<Value>>,
}

/// A document with a `helm.sh/hook` annotation.
#[derive(Clone, Debug)]
pub struct Hook {
    /// The document.
    pub manifest: Manifest,
    /// Events it runs at.
    pub events: Vec<HookEvent>,
    /// `helm.sh/hook-weight`.
    pub weight: i64,
    /// `helm.sh/hook-delete-policy`; empty when the chart gives none.
    pub delete_policies: Vec<DeletePolicy>,
}

impl Manifest {
    /// The objects that Helm sends for this document: a `List` is taken apart.
    #[must_use]
    pub fn objects(&self) -> Vec<Arc<Value>> {
        k8s::members(&self.object)
    }
}

/// One file below a chart's `crds/`.
#[derive(Clone, Debug)]
pub struct CrdFile {
    /// Path as in the `# Source:` comment, e.g. `kubeflow-trainer/charts/jobset/crds/….yaml`.
    pub source: String,
    /// Contents, byte for byte.
    pub data: Contents,
    /// The documents in it, read when they are asked for.
    pub objects: Lazy<Vec<Arc<Value>>>,
}

/// What a render is made for.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whose behaviour.
    pub helm: Helm,
    /// `.Release.Name`.
    pub release: String,
    /// `.Release.Namespace`.
    pub namespace: String,
    /// `.Release.Revision`.
    pub revision: u64,
    /// `.Release.IsUpgrade`; `IsInstall` is its opposite.
    pub is_upgrade: bool,
    /// `.Capabilities.KubeVersion`, e.g. `v1.34.0`; `None` for the Helm version's default.
    pub kube_version: Option<String>,
    /// Additions to `.Capabilities.APIVersions`.
    pub api_versions: Vec<String>,
    /// Whether values are checked against `values.schema.json`.
    pub check_schema: bool,
    /// Bounds.
    pub limits: crate::limits::Limits,
    /// Who answers what a template asks of the outside world.
    pub answers: Arc<dyn host::Answers>,
    /// Documents that other renders of the same run, with the same limits, have checked.
    pub checked: Option<Arc<Checked>>,
}

impl Default for Options {
    /// What `helm template` assumes without flags, for the newest Helm.
    fn default() -> Self {
        Self {
            helm: Helm::V4,
            release: "release-name".to_owned(),
            namespace: "default".to_owned(),
            revision: 1,
            is_upgrade: false,
            kube_version: None,
            api_versions: Vec::new(),
            check_schema: true,
            limits: crate::limits::Limits::default(),
            answers: Arc::new(host::Offline::default()),
            checked: None,
        }
    }
}

/// A rendered release.
#[derive(Clone, Debug)]
pub struct Render {
    /// The chart after conditions, tags and aliases were applied.
    pub chart: Arc<Chart>,
    /// The values as templates saw them.
    pub values: Arc<Values>,
    /// The user's values (the release's `config`).
    pub config: Arc<Values>,
    /// Files below `crds/`, parent chart first.
    pub crds: Vec<CrdFile>,
    /// Documents in install order.
    pub manifests: Vec<Manifest>,
    /// Hooks in the order `helm template` prints them.
    pub hooks: Vec<Hook>,
    /// The rendered NOTES.txt.
    pub notes: Option<String>,
    /// Warnings for the terminal, in Helm's words.
    pub warnings: Vec<String>,
}
