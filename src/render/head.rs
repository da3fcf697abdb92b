//! The head of a document: what Helm decodes to tell hooks from manifests.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::chart::go_json::{self, Place, kind, unmarshal};
use crate::chart::{Error, Helm};

/// How Go prints the type of `metadata`.
const METADATA_TYPE: &str =
    r#"struct { Name string "json:\"name\""; Annotations map[string]string "json:\"annotations\"" }"#;

/// `apiVersion` aside, everything that sorting looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) kind: String,
    pub(super) annotations: BTreeMap<String, String>,
}

/// The fields of `SimpleHead`.
const FIELDS: &[&str] = &["apiVersion", "kind", "metadata"];

impl Head {
    /// Whether a key of a document belongs to its head.
    pub(super) fn wants(key: &str) -> bool {
        go_json::field(FIELDS, key).is_some()
    }

    /// Decodes as Go decodes `SimpleHead` (Helm v4.3.1 `pkg/release/v1/util/manifest.go`).
    pub(super) fn read(object: &Value, helm: Helm) -> Result<Self, Error> {
        let mut head = Self::default();
        match object {
            Value::Null => {}
            Value::Object(map) => {
                for (key, value) in map {
                    head.fill(key, value)?;
                }
            }
            other => {
                let package = if helm.has_short_packages() { "util" } else { "releaseutil" };
                let message =
                    format!("cannot unmarshal {} into Go value of type {package}.SimpleHead", kind(other));
                return Err(unmarshal(&message));
            }
        }
        Ok(head)
    }

    fn fill(&mut self, key: &str, value: &Value) -> Result<(), Error> {
        match go_json::field(FIELDS, key) {
            Some("apiVersion") => {
                go_json::string(value, Place::new("SimpleHead", "apiVersion"))?;
            }
            Some("kind") => {
                if let Some(kind) = go_json::string(value, Place::new("SimpleHead", "kind"))? {
                    self.kind = kind;
                }
            }
            Some(_) => self.metadata(value)?,
            None => {}
        }
        Ok(())
    }

    fn metadata(&mut self, value: &Value) -> Result<(), Error> {
        let map = match value {
            // Go forgets what stood under the same name in other letters.
            Value::Null => {
                self.annotations.clear();
                return Ok(());
            }
            Value::Object(map) => map,
            other => return Err(Place::new("SimpleHead", "metadata").refuse(other, METADATA_TYPE)),
        };
        for (key, value) in map {
            match go_json::field(&["name", "annotations"], key) {
                Some("name") => {
                    go_json::string(value, Place::new("", "metadata.name"))?;
                }
                Some(_) => self.annotate(value)?,
                None => {}
            }
        }
        Ok(())
    }

    fn annotate(&mut self, value: &Value) -> Result<(), Error> {
        let annotations = go_json::string_map(value, Place::new("", "metadata.annotations"))?;
        if annotations.is_none() {
            self.annotations.clear();
        }
        for (key, value) in annotations.into_iter().flatten() {
            self.annotations.insert(key, value.as_str().unwrap_or_default().to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_in_gos_words() {
        let prefix = "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ";
        for (object, expected) in [
            (serde_json::json!("text"), "string into Go value of type util.SimpleHead"),
            (serde_json::json!({"kind": {}}), "object into Go struct field SimpleHead.kind of type string"),
            (
                serde_json::json!({"metadata": {"annotations": {"a": [1]}}}),
                "array into Go struct field .metadata.annotations of type string",
            ),
        ] {
            let error = Head::read(&object, Helm::V4).unwrap_err();
            assert_eq!(error.message, format!("{prefix}{expected}"));
        }
    }

    #[test]
    fn null_takes_back_what_other_spellings_gave() {
        for object in [
            serde_json::json!({"Metadata": {"annotations": {"a": "b"}}, "metadata": null}),
            serde_json::json!({"metadata": {"Annotations": {"a": "b"}, "annotations": null}}),
        ] {
            assert_eq!(Head::read(&object, Helm::V3).unwrap(), Head::default(), "{object}");
        }
    }

    #[test]
    fn coerces_scalars_of_annotations() {
        let object = serde_json::json!({"metadata": {"annotations": {"helm.sh/hook-weight": 5, "b": true, "n": null}}});
        let head = Head::read(&object, Helm::V4).unwrap();
        assert_eq!(head.annotations["helm.sh/hook-weight"], "5");
        assert_eq!(head.annotations["b"], "true");
    }
}
