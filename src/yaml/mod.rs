//! go-yaml as Helm and `sigs.k8s.io/yaml` use it: YAML 1.1 text to JSON values and back, byte for byte.
//!
//! Plain data is a [`serde_json::Value`]; Go's reference semantics live in [`crate::template::value`].

use serde_json::{Map, Value};

use crate::limits::{Limits, stack};

use decode::{Decoder, Mode};
use emitter::Emitter;
use input::Input;
use parser::{Document, Parser};
use problem::Problem;
use scanner::Scanner;

pub use documents::{documents, try_documents, values_of_documents};

pub mod json;

mod analysis;
mod decode;
mod detour;
mod documents;
mod emitter;
mod input;
mod locate;
mod number;
mod order;
mod parser;
mod problem;
mod properties;
mod resolve;
mod scalars;
mod scanner;
mod quick;
mod skim;
mod syntax;
mod timestamp;
mod tree;
mod typed;

pub use tree::Tree;
pub use typed::{read, value};

/// A reading error in go-yaml's words, e.g. `yaml: line 3: mapping values are not allowed in this context`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// go-yaml's text, with the prefixes that `sigs.k8s.io/yaml` adds.
    pub message: String,
    /// Line, counted from 1; 0 when unknown.
    pub line: usize,
}

/// What `sigs.k8s.io/yaml` puts before an error of go-yaml (`yaml.go`, `unmarshal`).
const CONVERTING: &str = "error converting YAML to JSON: ";

impl Error {
    /// The text without the prefix of `Unmarshal`: what `YAMLToJSON` and go-yaml itself say.
    #[must_use]
    pub fn bare(&self) -> &str {
        self.message.strip_prefix(CONVERTING).unwrap_or(&self.message)
    }

    /// [`Self::bare`] without go-yaml's line, which counts from the document's first and is missing where the whole
    /// document is meant; who names the line from [`Self::line`] puts it before this.
    #[must_use]
    pub fn without_line(&self) -> String {
        let message = self.bare();
        let told = message.strip_prefix("yaml: line ").and_then(|rest| rest.split_once(": "));
        let text = told.map_or_else(|| message.to_owned(), |(_, problem)| format!("yaml: {problem}"));
        text.replace("\n ", "")
    }
}

/// Reads the first document; integers stay integers, floats are floats, duplicate keys are tolerated (last wins).
///
/// An empty text is `null`.
///
/// # Errors
/// Whatever `Unmarshal` of `sigs.k8s.io/yaml` refuses, in its words, and texts beyond `limits`.
pub fn to_json(text: &[u8], limits: &Limits) -> Result<Value, Error> {
    decode(&Input::read(text), limits, Mode::default())
}

/// Checks the first document as [`to_json`] does, but of a map only the entries are built whose keys are wanted.
///
/// # Errors
/// Those of [`to_json`].
pub fn to_json_partly(text: &[u8], wanted: fn(&str) -> bool, limits: &Limits) -> Result<Value, Error> {
    let mode = Mode { wanted: Some(wanted), ..Mode::default() };
    let input = Input::read(text);
    let part = skim::entries(&input, wanted, limits);
    let read = |part: String| {
        let quick = quick::entries(&part, false, limits);
        quick.or_else(|| decode(&Input::read(part.as_bytes()), limits, mode).ok())
    };
    match part.and_then(read) {
        // None of the wanted keys is there.
        Some(Value::Null) => Ok(Value::Object(Map::new())),
        Some(part) => Ok(part),
        None => decode(&input, limits, mode),
    }
}

/// Like [`to_json`], and a duplicate key is an error.
///
/// # Errors
/// Whatever `UnmarshalStrict` of `sigs.k8s.io/yaml` refuses, in its words, and texts beyond `limits`.
pub fn to_json_strict(text: &[u8], limits: &Limits) -> Result<Value, Error> {
    decode(&Input::read(text), limits, Mode { strict: true, ..Mode::default() })
}

/// Like [`to_json`], and every number is a float, as Go decodes into `interface{}`.
///
/// # Errors
/// Those of [`to_json`].
pub fn to_floats(text: &[u8], limits: &Limits) -> Result<Value, Error> {
    let input = Input::read(text);
    match quick::whole(&input, true, limits) {
        Some(value) => Ok(value),
        None => decode(&input, limits, Mode { floats: true, ..Mode::default() }),
    }
}

/// What the full reader makes of a text that is sound.
fn read_in_full(text: &[u8], floats: bool, limits: &Limits) -> Option<Value> {
    decode(&Input::read(text), limits, Mode { floats, ..Mode::default() }).ok()
}

/// Reads the first document the way Go decodes into `map[string]interface{}`: every number is a float; an empty
/// text or `null` is an empty map.
///
/// # Errors
/// Those of [`to_json`], and a document that is no map.
pub fn to_values(text: &[u8], limits: &Limits) -> Result<Map<String, Value>, Error> {
    match to_floats(text, limits)? {
        Value::Object(map) => Ok(map),
        Value::Null => Ok(Map::new()),
        other => Err(json::mismatch(&other, json::GO_MAP, UNMARSHALING)),
    }
}

/// Like [`to_values`], for a list; an empty text or `null` is an empty list.
///
/// # Errors
/// Those of [`to_json`], and a document that is no list.
pub fn to_list(text: &[u8], limits: &Limits) -> Result<Vec<Value>, Error> {
    match to_floats(text, limits)? {
        Value::Array(items) => Ok(items),
        Value::Null => Ok(Vec::new()),
        other => Err(json::mismatch(&other, json::GO_LIST, UNMARSHALING)),
    }
}

/// What `sigs.k8s.io/yaml` puts before an error of Go's JSON decoder.
const UNMARSHALING: &str = "error unmarshaling JSON: while decoding JSON: ";

fn decode(input: &Input<'_>, limits: &Limits, mode: Mode) -> Result<Value, Error> {
    let depth = limits.yaml_depth.min(stack::levels());
    let document = first_document(input, depth).map_err(|p| p.into_error(CONVERTING))?;
    let Some(document) = document else { return Ok(Value::Null) };
    Decoder::new(&document, mode, limits, depth).root().map_err(|p| p.into_error(CONVERTING))
}

fn first_document<'a>(input: &'a Input<'a>, depth: usize) -> Result<Option<Document<'a>>, Problem> {
    Parser::new(Scanner::new(input), depth).document()
}

/// Writes a value as `Marshal` of `sigs.k8s.io/yaml` does, final line break included; empty when Go would fail.
///
/// Go goes through JSON, which it reads back as YAML: [`try_from_json`] tells what may go wrong on the way.
#[must_use]
pub fn from_json(value: &Value) -> String {
    try_from_json(value).unwrap_or_default()
}

/// Like [`from_json`].
///
/// # Errors
/// Go's error for values whose JSON is no YAML: control characters beyond ASCII's first 32, keys longer than 1024
/// characters.
pub fn try_from_json(value: &Value) -> Result<String, Error> {
    if !detour::is_needed(value) {
        return Ok(Emitter::v2().document(value));
    }
    let unlimited = Limits { yaml_nodes: usize::MAX, ..Limits::default() };
    let json = json::encode(value);
    let read = to_json(json.as_bytes(), &unlimited)
        .map_err(|e| Error { message: e.bare().to_owned(), line: e.line })?;
    Ok(Emitter::v2().document(&read))
}

/// Writes a value as the encoder of yaml.v3 does with `SetIndent(indent)`, final line break included.
#[must_use]
pub fn from_json_indented(value: &Value, indent: usize) -> String {
    Emitter::v3(indent).document(value)
}

/// Writes a Go value as [`from_json_indented`] does.
#[must_use]
pub fn from_tree(tree: &Tree, indent: usize) -> String {
    Emitter::v3(indent).document(tree)
}

/// The line (from 1) of the node that a JSON pointer names in the first document: the key's line in a map, the item's in
/// a list.
#[must_use]
pub fn locate(text: &str, pointer: &str) -> Option<usize> {
    let input = Input::read(text.as_bytes());
    let document = first_document(&input, stack::levels()).ok()??;
    locate::line(&document, pointer)
}

/// The line (from 1) on which something follows behind the first document, whose end `...` or a closed bracket marks;
/// [`to_json`] never gets there.
#[must_use]
pub fn beyond(text: &str) -> Option<usize> {
    let input = Input::read(text.as_bytes());
    let mut parser = Parser::new(Scanner::new(&input), stack::levels());
    parser.document().ok()??;
    match parser.document() {
        Ok(next) => Some(next?.node(0)?.line as usize + 1),
        Err(problem) => Some(problem.into_error("").line),
    }
}

#[cfg(test)]
mod tests;
