//! Manifest files, read as kubectl reads them: documents, streams of JSON, lists; what kubectl would trip over or pass over
//! is an error with its place.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::form;
use crate::limits::Limits;
use crate::yaml;

/// A file that can't be read, or that holds something else than objects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// File, line, document and what is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: &'static str,
}

/// An object and where it stands.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The object; an item of a typed list has got its kind.
    pub object: Value,
    /// Its place.
    pub place: Place,
}

/// Where an object stands.
#[derive(Clone, Debug)]
pub struct Place {
    document: Arc<Document>,
    /// Position in a list, from 0.
    item: Option<usize>,
}

/// One document of a file.
#[derive(Debug)]
struct Document {
    file: String,
    text: String,
    /// From 1, empty ones not counted.
    number: usize,
    /// Line of the file on which the text begins, from 1.
    first_line: usize,
}

impl Place {
    /// File and line of a field of the object, or of the nearest one above it that is there.
    #[must_use]
    pub fn at(&self, pointer: &str) -> String {
        let of_item = self.item.map(|item| format!("/items/{item}")).unwrap_or_default();
        let mut pointer = format!("{of_item}{pointer}");
        loop {
            if let Some(line) = yaml::locate(&self.document.text, &pointer) {
                return self.document.line(line);
            }
            match pointer.rfind('/') {
                Some(end) => pointer.truncate(end),
                None => return self.document.line(1),
            }
        }
    }

    /// Which document of the file, and which item of its list.
    #[must_use]
    pub fn which(&self) -> String {
        let item = self.item.map(|item| format!(", item {}", item + 1)).unwrap_or_default();
        format!("document {}{item}", self.document.number)
    }

    /// The object's place in full.
    #[must_use]
    pub fn whole(&self) -> String {
        format!("{}: {}", self.at(""), self.which())
    }

    /// An error at a field of the object.
    #[must_use]
    pub fn fault(&self, fault: &form::Fault) -> Error {
        let message = format!("{}: {}: {}", self.at(&fault.pointer), self.which(), fault.message);
        Error { message, hint: fault.hint }
    }
}

impl Document {
    /// File and line of a line of this document.
    fn line(&self, line: usize) -> String {
        format!("{}:{}", self.file, (self.first_line + line).saturating_sub(1))
    }

    fn error(&self, line: usize, problem: &str, hint: &'static str) -> Error {
        Error { message: format!("{}: document {}: {problem}", self.line(line), self.number), hint }
    }
}

const YAML: &str = "Write it with `kubectl get KIND -A -o yaml`, or put the YAML right.";
const SEPARATOR: &str = "A line that begins with --- separates documents; nothing else stands on it.";
const BEYOND: &str = "Separate documents by a line with --- alone; kubectl would pass over what follows.";
const LIST: &str = "`items` of a list is a list of objects, as `kubectl get -o yaml` writes it.";
const NESTED: &str = "Put the inner list's items in its place; kubectl does not take lists apart twice.";
const PAGE: &str = "Ask for all of it, without `limit`; `kubectl get` does so by itself.";

/// Reads the objects of a file, called `file` in errors. Lists are taken apart, and items of typed lists such as `PodList`
/// that have neither kind nor apiVersion get their list's.
///
/// Source: Kubernetes 1.34.3, `k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/helpers.go`, `decodeToList`, and
/// `pkg/util/yaml/decoder.go`; what kubectl does with a list in a list was tried.
///
/// # Errors
/// What is no YAML, and documents that are neither objects nor lists of objects.
pub fn read(file: &str, data: &[u8], limits: &Limits) -> Result<Vec<Manifest>, Error> {
    let text = utf8(file, data)?;
    let (mut manifests, mut number) = (Vec::new(), 1);
    for piece in yaml::try_documents(text) {
        let (line, piece) = piece.map_err(|error| Error {
            message: format!("{file}:{}: {}", error.line, error.message),
            hint: SEPARATOR,
        })?;
        for (line, piece) in json_stream(line, piece) {
            let document =
                Document { file: file.to_owned(), text: piece.to_owned(), number, first_line: line };
            let before = manifests.len();
            number += usize::from(take(document, limits, &mut manifests)? || manifests.len() > before);
        }
    }
    Ok(manifests)
}

fn utf8<'d>(file: &str, data: &'d [u8]) -> Result<&'d str, Error> {
    std::str::from_utf8(data).map_err(|error| {
        let line = data.iter().take(error.valid_up_to()).filter(|byte| **byte == b'\n').count() + 1;
        let message = format!("{file}:{line}: the text is not UTF-8");
        Error { message, hint: "Save the file as UTF-8." }
    })
}

/// The values of a stream of JSON, each with its line; anything else as it is.
fn json_stream(line: usize, text: &str) -> Vec<(usize, &str)> {
    let mut pieces = Vec::new();
    if text.trim_start().starts_with('{') {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
        let (mut start, mut at) = (0, line);
        while let Some(Ok(_)) = values.next() {
            let piece = text.get(start..values.byte_offset()).unwrap_or_default();
            pieces.push((at, piece));
            at += piece.matches('\n').count();
            start = values.byte_offset();
        }
        // YAML in braces, or something behind the last value: both are for the YAML reader.
        if text.get(start..).is_some_and(|rest| !rest.trim().is_empty()) {
            pieces.clear();
        }
    }
    if pieces.is_empty() { vec![(line, text)] } else { pieces }
}

/// Takes the objects of one document; answers whether there is anything in it.
fn take(document: Document, limits: &Limits, manifests: &mut Vec<Manifest>) -> Result<bool, Error> {
    let value = yaml::to_json_strict(document.text.as_bytes(), limits)
        .map_err(|error| document.error(error.line.max(1), &error.without_line(), YAML))?;
    if let Some(line) = closed(&document.text).then(|| yaml::beyond(&document.text)).flatten() {
        return Err(document.error(line, "something follows behind the end of the document", BEYOND));
    }
    let document = Arc::new(document);
    match value {
        Value::Null => return Ok(false),
        Value::Object(map) if is_list(&map) => list(&document, map, manifests)?,
        object => {
            let place = Place { document, item: None };
            form::identity(&object).map_err(|fault| place.fault(&fault))?;
            manifests.push(Manifest { object, place });
        }
    }
    Ok(true)
}

/// Whether a document may end before its text does: only brackets and `...` close one.
fn closed(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) || text.contains("\n...")
}

/// Lists have a kind that says so, and no name; custom kinds may be called `AllowList`.
fn is_list(map: &Map<String, Value>) -> bool {
    let kind = map.get("kind").and_then(Value::as_str).unwrap_or_default();
    let unnamed = || map.get("metadata").and_then(|metadata| metadata.get("name")).is_none();
    kind.ends_with("List") && (map.contains_key("items") || unnamed())
}

fn list(
    document: &Arc<Document>,
    mut list: Map<String, Value>,
    manifests: &mut Vec<Manifest>,
) -> Result<(), Error> {
    let place = Place { document: Arc::clone(document), item: None };
    let refused = |pointer: &str, message: String, hint| {
        Err(place.fault(&form::Fault { pointer: pointer.to_owned(), message, hint }))
    };
    let head = Value::Object(list.iter().filter(|(key, _)| *key != "items").map(owned).collect());
    form::identity(&head).map_err(|fault| place.fault(&fault))?;
    if head.pointer("/metadata/continue").and_then(Value::as_str).is_some_and(|token| !token.is_empty()) {
        return refused("/metadata/continue", "metadata.continue: the list is only a part".to_owned(), PAGE);
    }
    match list.remove("items") {
        Some(Value::Array(items)) => {
            manifests.reserve(items.len());
            items.into_iter().enumerate().try_for_each(|(position, item)| {
                manifests.push(one(document, &head, position, item)?);
                Ok(())
            })
        }
        Some(Value::Null) => Ok(()),
        Some(other) => refused("/items", format!("items is {}, not a list", form::noun(&other)), LIST),
        None => refused("", format!("{} without items", super::text(&head, "/kind")), LIST),
    }
}

fn owned((key, value): (&String, &Value)) -> (String, Value) {
    (key.clone(), value.clone())
}

fn one(document: &Arc<Document>, head: &Value, position: usize, item: Value) -> Result<Manifest, Error> {
    let place = Place { document: Arc::clone(document), item: Some(position) };
    let mut object = item;
    if let Value::Object(map) = &mut object {
        if is_list(map) {
            let message = format!("a {} inside of a list", super::text(&object, "/kind"));
            return Err(place.fault(&form::Fault { pointer: String::new(), message, hint: NESTED }));
        }
        inherit(map, head);
    }
    form::identity(&object).map_err(|fault| place.fault(&fault))?;
    Ok(Manifest { object, place })
}

/// The kind of a typed list's items, where they don't say it themselves.
fn inherit(map: &mut Map<String, Value>, head: &Value) {
    let kind = super::text(head, "/kind").strip_suffix("List").filter(|kind| !kind.is_empty());
    let absent = |key: &str| map.get(key).is_none_or(|value| value.is_null() || value == "");
    if let Some(kind) = kind
        && absent("kind")
        && absent("apiVersion")
    {
        map.insert("kind".to_owned(), Value::from(kind));
        map.insert("apiVersion".to_owned(), Value::from(super::text(head, "/apiVersion")));
    }
}

#[cfg(test)]
mod tests;
