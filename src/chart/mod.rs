//! Stage 2: bytes become a [`Chart`]: archives, `.helmignore`, Chart.yaml, dependencies, values.

use std::sync::Arc;

use serde_json::{Map, Value};

/// Values as Helm holds them: numbers of values files are floats, numbers of `--set` are integers, nulls stay.
pub type Values = Map<String, Value>;

/// One file of a chart; the path is relative to the chart's own root and uses `/`.
#[derive(Clone, Debug)]
pub struct File {
    /// Relative path, e.g. `templates/deployment.yaml`.
    pub path: String,
    /// Contents, a UTF-8 byte order mark already removed.
    pub data: Arc<[u8]>,
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
    /// Every other key (description, home, sources, keywords, maintainers, icon, condition, tags, deprecated, annotations).
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
}
