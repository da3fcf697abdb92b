//! Streams of several documents, split and merged as Kubernetes and Helm 4 do.

use serde_json::{Map, Value};

use super::{Error, to_values};
use crate::limits::Limits;

/// Splits a stream into documents as Kubernetes' YAML reader does; yields the line (from 1) each begins on and its text.
///
/// A line that begins with `---` ends a document. Where something else than a comment follows on that line, the stream ends
/// there: [`try_documents`] says so.
///
/// Behaviour: k8s.io/apimachinery, `pkg/util/yaml/decoder.go`, `YAMLReader.Read`.
pub fn documents(text: &str) -> impl Iterator<Item = (usize, &str)> {
    try_documents(text).map_while(Result::ok)
}

/// Like [`documents`].
///
/// # Errors
/// `invalid Yaml document separator: …`; nothing is yielded after it.
pub fn try_documents(text: &str) -> impl Iterator<Item = Result<(usize, &str), Error>> {
    Documents { text, pos: 0, line: 1, failed: false }
}

struct Documents<'t> {
    text: &'t str,
    pos: usize,
    /// Line of `pos`, counted from 1.
    line: usize,
    failed: bool,
}

impl<'t> Iterator for Documents<'t> {
    type Item = Result<(usize, &'t str), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let (start, first_line) = (self.pos, self.line);
        while !self.failed && self.pos < self.text.len() {
            let rest = self.text.get(self.pos..)?;
            let length = rest.find('\n').map_or(rest.len(), |at| at + 1);
            let (line, line_start) = (rest.get(..length)?, self.pos);
            self.pos += length;
            self.line += 1;
            let Some(after) = line.strip_prefix("---").map(str::trim) else { continue };
            if !after.is_empty() && !after.starts_with('#') {
                self.failed = true;
                let message = format!("invalid Yaml document separator: {after}");
                return Some(Err(Error { message, line: self.line - 1 }));
            }
            // A separator before anything else belongs to the document it opens.
            if line_start > start {
                return Some(Ok((first_line, self.text.get(start..line_start)?)));
            }
        }
        let last = self.text.get(start..).filter(|last| !last.is_empty() && !self.failed)?;
        Some(Ok((first_line, last)))
    }
}

/// Reads values as Helm 4 reads values files: every document, later ones over earlier ones, maps merged.
///
/// Behaviour: helm.sh/helm/v4 v4.3.1, `pkg/chart/v2/loader/load.go`, `LoadValues`.
///
/// # Errors
/// Those of [`to_values`] and [`try_documents`], with Helm's words before them.
pub fn values_of_documents(text: &str, limits: &Limits) -> Result<Map<String, Value>, Error> {
    let mut values = Map::new();
    for document in try_documents(text) {
        let (first_line, document) =
            document.map_err(|e| prefixed("error reading yaml document: ", &e, 1))?;
        let more = to_values(document.as_bytes(), limits)
            .map_err(|e| prefixed("cannot unmarshal yaml document: ", &e, first_line))?;
        merge(&mut values, more);
    }
    Ok(values)
}

fn prefixed(prefix: &str, error: &Error, first_line: usize) -> Error {
    let line = if error.line == 0 { 0 } else { error.line + first_line - 1 };
    Error { message: format!("{prefix}{}", error.message), line }
}

/// Puts `more` over `values`; maps are merged, everything else is replaced.
fn merge(values: &mut Map<String, Value>, more: Map<String, Value>) {
    for (key, value) in more {
        match (values.get_mut(&key), value) {
            (Some(Value::Object(old)), Value::Object(new)) => merge(old, new),
            (_, value) => {
                values.insert(key, value);
            }
        }
    }
}
