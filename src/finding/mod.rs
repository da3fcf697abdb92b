//! What is said about an upgrade: severities, evidence, places and the finding that carries them.

use serde::Serialize;

/// How bad a finding is; the order is the order of the gate (`--gate`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth showing, no effect ("harmless").
    Notes,
    /// Passes, but something behaves otherwise than the user expects ("silent change").
    Risks,
    /// The operation stops with an error or is blocked ("upgrade fails").
    Breaks,
    /// Live objects are deleted or their content is lost for good ("loses objects").
    Loses,
}

/// A Kubernetes object named the way findings and traces name it: `Kind/namespace/name`, `Kind//name` when cluster-scoped.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectName {
    /// `kind` as in the manifest.
    pub kind: String,
    /// Namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
}

impl std::fmt::Display for ObjectName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.kind, self.namespace, self.name)
    }
}

impl Serialize for ObjectName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A place in a file that was read: a template, a values file, a manifest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Location {
    /// Path as the user or the chart names it.
    pub file: String,
    /// Line, counted from 1; 0 when only the file is known, and left out in JSON then.
    #[serde(skip_serializing_if = "is_unknown")]
    pub line: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_unknown(line: &usize) -> bool {
    *line == 0
}

/// What backs a finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Evidence {
    /// A request and what the (simulated or real) API server answered.
    Answer {
        /// The request as a person would type it, e.g. `DELETE /apis/…/crontabs`.
        request: String,
        /// HTTP status of the answer.
        status: u16,
        /// The message of the answer's Status, or a short word for success.
        message: String,
    },
    /// A field that differs between before and after.
    Change {
        /// Path in the object, e.g. `spec.selector.matchLabels.app`.
        path: String,
        /// Value before; `None` when absent.
        before: Option<serde_json::Value>,
        /// Value after; `None` when absent.
        after: Option<serde_json::Value>,
    },
    /// A place in a chart's files.
    Render(Location),
    /// An object that lives in the cluster state.
    State {
        /// The object.
        object: ObjectName,
        /// What about it matters.
        detail: String,
    },
    /// A computed figure, e.g. a size against its limit.
    Figure {
        /// What was measured.
        what: String,
        /// The measured value.
        value: u64,
        /// The limit it is compared with.
        limit: u64,
        /// Unit of both.
        unit: &'static str,
    },
}

/// One thing said about an upgrade.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Id of the check that says so.
    pub check: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// One sentence: what happens to which object.
    pub message: String,
    /// The objects it is about.
    pub objects: Vec<ObjectName>,
    /// What backs it; never empty (a law of the checks).
    pub evidence: Vec<Evidence>,
    /// What to do, with exact commands where there are any.
    pub advice: Vec<String>,
    /// The operations it concerns (`upgrade`, `rollback`, `uninstall`, …); empty means all.
    pub operations: Vec<&'static str>,
    /// Under which condition it holds, when the outcome hangs on a race or on what the user does next.
    pub condition: Option<String>,
}
