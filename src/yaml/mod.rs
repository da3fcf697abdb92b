//! go-yaml as Helm and `sigs.k8s.io/yaml` use it: YAML 1.1 text to JSON values and back, byte for byte.
//!
//! Plain data is a [`serde_json::Value`]; Go's reference semantics live in [`crate::template::value`].

/// A reading error in go-yaml's words, e.g. `yaml: line 3: mapping values are not allowed in this context`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// go-yaml's text, with the prefixes that `sigs.k8s.io/yaml` adds.
    pub message: String,
    /// Line, counted from 1; 0 when unknown.
    pub line: usize,
}
