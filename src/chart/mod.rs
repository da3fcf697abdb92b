//! Stage 2: bytes become a [`Chart`]: archives, `.helmignore`, Chart.yaml, dependencies, values.
//!
//! Nothing here touches a disk: [`archive::unpack`] and [`ignore::visible`] give the files that
//! [`Chart::from_files`] reads, [`values_input::merge`] the user's values. What Helm says on the way is collected in
//! [`notice::Notices`]; errors carry Helm's own words.

pub mod archive;
mod contents;
pub mod damage;
pub mod dependencies;
pub mod detect;
pub mod go_json;
pub mod go_text;
pub mod helm;
pub mod ignore;
mod loading;
mod metadata;
pub mod notice;
pub mod set;
pub mod values;
pub mod values_input;
pub mod values_schema;

use std::sync::Arc;

use serde_json::{Map, Value};

pub use contents::Contents;
pub use dependencies::process as process_dependencies;
pub use helm::Helm;
pub use values::coalesce;

/// Values as Helm holds them: numbers of values files are floats, numbers of `--set` are integers, nulls stay.
pub type Values = Map<String, Value>;

/// Why a chart or values can't be used; the text is Helm's, without the leading `Error: `.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The text.
    pub message: String,
    /// What Helm printed before, complete lines.
    pub notices: Vec<String>,
}

impl Error {
    /// An error with the given text.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), notices: Vec::new() }
    }

    /// The same error with a prefix, as Go wraps errors.
    #[must_use]
    pub fn wrap(self, context: &str) -> Self {
        Self { message: format!("{context}: {}", self.message), ..self }
    }
}

/// One file of a chart; the path is relative to the chart's own root and uses `/`.
#[derive(Clone, Debug)]
pub struct File {
    /// Relative path, e.g. `templates/deployment.yaml`.
    pub path: String,
    /// Contents, a UTF-8 byte order mark already removed.
    pub data: Contents,
}

/// A loaded chart with its subcharts, as Helm's loader leaves it (before conditions and tags are applied).
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// Chart.yaml.
    pub metadata: Metadata,
    /// values.yaml as text, byte for byte.
    pub values_text: Arc<[u8]>,
    /// values.yaml decoded.
    pub values: Values,
    /// values.schema.json.
    pub schema: Option<Arc<[u8]>>,
    /// Everything below `templates/`.
    pub templates: Vec<File>,
    /// Everything else that templates may read by `.Files`, `crds/` included.
    pub files: Vec<File>,
    /// Subcharts below `charts/`.
    pub dependencies: Vec<Chart>,
    /// Chart.lock, when there is one.
    pub lock: Option<Arc<[u8]>>,
    /// What Helm printed while it loaded the chart, complete lines.
    pub notices: Vec<String>,
    /// Full path of the parent where it is not the chart that holds this one: below an aliased subchart Helm leaves
    /// some charts pointing to the original.
    pub parent_path: Option<String>,
    /// The object that it is in Helm's memory, where others may share it; else 0.
    pub(crate) identity: u32,
}

impl Chart {
    /// Reads a chart from the files of its directory or archive, in their order.
    ///
    /// As Helm v4.3.1 `pkg/chart/v2/loader/load.go` `LoadFiles`; subcharts are kept in the order of their names, where
    /// Helm's order is random.
    ///
    /// # Errors
    /// In Helm's words: missing or invalid Chart.yaml, unreadable values.yaml, broken subcharts.
    pub fn from_files(files: Vec<File>, helm: Helm, limits: &crate::limits::Limits) -> Result<Self, Error> {
        loading::load(files, helm, limits, 0)
    }

    /// Reads a packaged chart.
    ///
    /// # Errors
    /// Those of [`archive::unpack`] and [`Chart::from_files`].
    pub fn from_archive(data: &[u8], helm: Helm, limits: &crate::limits::Limits) -> Result<Self, Error> {
        Self::from_files(archive::unpack(data, helm, limits)?, helm, limits)
    }

    /// The chart's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// Whether it is a library chart, which has no templates of its own.
    #[must_use]
    pub fn is_library(&self) -> bool {
        self.metadata.kind.eq_ignore_ascii_case("library")
    }

    /// The chart's path from the root chart, e.g. `parent/charts/child`; `parent` is the path of the chart that holds it.
    #[must_use]
    pub fn full_path(&self, parent: Option<&str>) -> String {
        match self.parent_path.as_deref().or(parent) {
            Some(parent) => format!("{parent}/charts/{}", self.metadata.name),
            None => self.metadata.name.clone(),
        }
    }

    /// The files below `crds/` of this chart and then of its subcharts, each with its path from the root chart.
    #[must_use]
    pub fn crd_files(&self) -> Vec<(String, Contents)> {
        let mut found = Vec::new();
        self.collect_crds(None, &mut found);
        found
    }

    fn collect_crds(&self, parent: Option<&str>, found: &mut Vec<(String, Contents)>) {
        let path = self.full_path(parent);
        for file in self.files.iter().filter(|file| is_crd_file(&file.path)) {
            found.push((format!("{path}/{}", file.path), file.data.clone()));
        }
        for subchart in &self.dependencies {
            subchart.collect_crds(Some(&path), found);
        }
    }
}

/// Whether Helm takes a file of a chart for CRDs.
fn is_crd_file(path: &str) -> bool {
    let extension = path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, end)| end);
    let manifest = |end: &str| ["yaml", "yml", "json"].iter().any(|known| known.eq_ignore_ascii_case(end));
    path.starts_with("crds/") && extension.is_some_and(manifest)
}

/// Chart.yaml as Helm decodes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata {
    /// `name`.
    pub name: String,
    /// `version`.
    pub version: String,
    /// `appVersion`.
    pub app_version: String,
    /// `apiVersion` of the chart format: `v1` or `v2`.
    pub api_version: String,
    /// `type`: `application` (also when empty) or `library`.
    pub kind: String,
    /// `kubeVersion`: a constraint on the cluster's version.
    pub kube_version: String,
    /// `dependencies`.
    pub dependencies: Vec<Dependency>,
    /// Every other key Helm knows (description, home, sources, keywords, maintainers, icon, condition, tags, deprecated,
    /// annotations), spelled as in Helm's documentation and coerced to its type.
    pub rest: Map<String, Value>,
}

/// One entry of `dependencies` in Chart.yaml.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dependency {
    /// `name`.
    pub name: String,
    /// `version`: a constraint.
    pub version: String,
    /// `repository`.
    pub repository: String,
    /// `condition`: comma-separated value paths.
    pub condition: String,
    /// `tags`.
    pub tags: Vec<String>,
    /// `enabled` as set in the file.
    pub enabled: Option<bool>,
    /// `import-values`, as written.
    pub import_values: Vec<Value>,
    /// `alias`.
    pub alias: String,
    /// The object that it is in Helm's memory, where others may share it; else 0.
    pub(crate) identity: u32,
}
