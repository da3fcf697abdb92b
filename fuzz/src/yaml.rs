//! YAML: every way of reading agrees on what a text says, and what is written reads back.

use seatrial::yaml::{self, Error};
use serde_json::Value;

use crate::numbers::same;
use crate::{deep, limits};

/// Reads the input, and what is made of it.
pub fn run(data: &[u8]) {
    deep(|| {
        let read = yaml::to_json(data, &limits());
        in_part(data, &read);
        in_other_ways(data, &read);
        streams(&String::from_utf8_lossy(data));
        if let Ok(value) = &read {
            write(value);
            places(&String::from_utf8_lossy(data), value);
        }
    });
}

/// Keys that somebody may want of a document.
const WANTED: [fn(&str) -> bool; 4] =
    [|key| matches!(key, "apiVersion" | "kind" | "metadata"), |key| key.len() % 2 == 0, |_| false, |_| true];

fn in_part(data: &[u8], read: &Result<Value, Error>) {
    for wanted in WANTED {
        let expected = read.clone().map(|value| match value {
            Value::Object(map) => Value::Object(map.into_iter().filter(|(key, _)| wanted(key)).collect()),
            other => other,
        });
        assert_eq!(yaml::to_json_partly(data, wanted, &limits()), expected, "read in part");
    }
}

fn in_other_ways(data: &[u8], read: &Result<Value, Error>) {
    if let Ok(strict) = yaml::to_json_strict(data, &limits()) {
        assert_eq!(read.as_ref(), Ok(&strict), "read strictly");
    }
    match (yaml::to_floats(data, &limits()), read) {
        (Ok(floats), Ok(value)) => assert!(same(&floats, value), "{floats} is not {value}"),
        (floats, read) => assert_eq!(floats.err(), read.clone().err(), "read with floats"),
    }
    assert_eq!(yaml::value(data, &limits()).is_ok(), read.is_ok(), "read as a type");
    let _ = yaml::to_values(data, &limits());
    let _ = yaml::to_list(data, &limits());
}

fn streams(text: &str) {
    let mut last = 0;
    for (line, document) in yaml::documents(text) {
        assert!(line > last && text.contains(document), "document at {line} after {last}");
        last = line;
    }
    let _ = yaml::values_of_documents(text, &limits());
    let _ = yaml::beyond(text);
}

/// What both encoders write is read back as the same value.
pub(crate) fn write(value: &Value) {
    let keeps = !is_strange(value);
    if let Ok(text) = yaml::try_from_json(value) {
        read_back(value, &text, keeps);
    }
    read_back(value, &yaml::from_json_indented(value, 2), keeps);
}

/// Whether go-yaml itself writes a value as something else than it read: line breaks of other systems and scripts, keys that
/// look like those that merge, and blocks that begin with a tab.
fn is_strange(value: &Value) -> bool {
    let breaks = ['\r', '\u{85}', '\u{2028}', '\u{2029}'];
    let strange = |text: &str| text.contains(breaks) || text.contains('\n') && text.contains('\t');
    match value {
        Value::String(text) => strange(text),
        Value::Array(items) => items.iter().any(is_strange),
        Value::Object(map) => map.iter().any(|(key, value)| key == "<<" || strange(key) || is_strange(value)),
        _ => false,
    }
}

fn read_back(value: &Value, text: &str, keeps: bool) {
    match yaml::to_json(text.as_bytes(), &limits()) {
        _ if !keeps => {}
        Ok(back) => assert!(same(&back, value), "{value} is written as {text:?} and read as {back}"),
        Err(error) => panic!("{value} is written as {text:?}: {error}"),
    }
}

fn places(text: &str, value: &Value) {
    let Value::Object(map) = value else { return };
    let lines = text.split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']).count();
    for key in map.keys().take(20) {
        let pointer = format!("/{}", key.replace('~', "~0").replace('/', "~1"));
        let line = yaml::locate(text, &pointer);
        assert!(line.is_none_or(|line| (1..=lines).contains(&line)), "{key:?} at {line:?} of {lines}");
    }
}
