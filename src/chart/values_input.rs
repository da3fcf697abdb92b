//! The user's values: `-f` files and the `--set` family, merged in Helm's order whatever their order was.

use serde_json::Value;

use super::set::{self, ReadFile, Style};
use super::{Error, Helm, Values, values};
use crate::limits::Limits;
use crate::yaml;

/// What the command line gave, each list in its own order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// `-f`: the name for messages and the contents.
    pub files: Vec<(String, Vec<u8>)>,
    /// `--set-json`.
    pub json: Vec<String>,
    /// `--set`.
    pub set: Vec<String>,
    /// `--set-string`.
    pub string: Vec<String>,
    /// `--set-file`.
    pub file: Vec<String>,
    /// `--set-literal`.
    pub literal: Vec<String>,
}

/// Merges everything; `read` gives the contents of the files that `--set-file` names.
///
/// As Helm v4.3.1 `pkg/cli/values/options.go` `MergeValues`.
///
/// # Errors
/// In Helm's words, naming the file or the flag.
pub fn merge(input: &Input, helm: Helm, limits: &Limits, read: &mut ReadFile<'_>) -> Result<Values, Error> {
    let mut merged = Values::new();
    for (name, text) in &input.files {
        let decoded = values::decode(text, helm, limits);
        values::overlay(
            &mut merged,
            decoded.map_err(|error| error.wrap(&format!("failed to parse {name}")))?,
        );
    }
    for text in &input.json {
        set_json(text, helm, limits, &mut merged)?;
    }
    let failed = |flag: &str, message: String| Error::new(format!("failed parsing {flag} data: {message}"));
    for text in &input.set {
        set::parse_into(text, Style::Typed, helm, limits, &mut merged)
            .map_err(|error| failed("--set", error))?;
    }
    for text in &input.string {
        set::parse_into(text, Style::String, helm, limits, &mut merged)
            .map_err(|error| failed("--set-string", error))?;
    }
    for text in &input.file {
        let style = Style::File(&mut *read);
        set::parse_into(text, style, helm, limits, &mut merged)
            .map_err(|error| failed("--set-file", error))?;
    }
    for text in &input.literal {
        set::parse_into(text, Style::Literal, helm, limits, &mut merged)
            .map_err(|error| failed("--set-literal", error))?;
    }
    Ok(merged)
}

fn set_json(text: &str, helm: Helm, limits: &Limits, merged: &mut Values) -> Result<(), Error> {
    if helm.takes_whole_json() && text.trim().starts_with('{') {
        return match yaml::json::decode(text.trim().as_bytes()) {
            Ok(Value::Object(map)) => {
                values::overlay(merged, map);
                Ok(())
            }
            _ => Err(Error::new(format!("failed parsing --set-json data JSON: {text}"))),
        };
    }
    set::parse_into(text, Style::Json, helm, limits, merged)
        .map_err(|_| Error::new(format!("failed parsing --set-json data {text}")))
}
