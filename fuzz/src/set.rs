//! The `--set` family: any text, and texts that surely mean something.

use seatrial::chart::set::{Style, parse_into};
use seatrial::chart::{Helm, Values};
use seatrial::yaml::json;
use serde_json::Value;

use crate::{deep, helms, limits};

/// Takes the input for one flag's text, and for key and value of others.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    deep(|| {
        for helm in helms() {
            any(&text, helm);
            kept(&text, helm);
        }
        decoded(&text);
    });
}

fn apply(text: &str, style: usize, helm: Helm, values: &mut Values) -> Result<(), String> {
    let mut read =
        |path: &str| if path.len() % 2 == 0 { Ok(path.to_owned()) } else { Err("no such file".to_owned()) };
    let style = match style {
        0 => Style::Typed,
        1 => Style::String,
        2 => Style::File(&mut read),
        3 => Style::Json,
        _ => Style::Literal,
    };
    parse_into(text, style, helm, &limits(), values)
}

fn any(text: &str, helm: Helm) {
    for style in 0..5 {
        let (mut first, mut second) = (Values::new(), Values::new());
        let answer = apply(text, style, helm, &mut first);
        assert_eq!(answer, apply(text, style, helm, &mut second), "the same flag twice");
        assert_eq!(first, second, "the same flag twice");
        // What was there before is kept or replaced, and in nobody's way.
        let _ = apply(text, style, helm, &mut first);
        drop(json::encode(&Value::Object(first)));
    }
}

/// A key and a value whose every character is escaped are kept as they are.
fn kept(text: &str, helm: Helm) {
    if text.is_empty() {
        return;
    }
    let escaped: String = text.chars().flat_map(|c| ['\\', c]).collect();
    let mut values = Values::new();
    apply(&format!("{escaped}={escaped}"), 1, helm, &mut values).expect("escaped text");
    assert_eq!(values.get(text).and_then(Value::as_str), Some(text));
    let mut values = Values::new();
    apply(&format!("key={text}"), 4, helm, &mut values).expect("literal text");
    assert_eq!(values.get("key").and_then(Value::as_str), Some(text));
}

fn decoded(text: &str) {
    let Ok(value) = json::decode(text.as_bytes()) else { return };
    let mut values = Values::new();
    apply(&format!("key={text}"), 3, Helm::V4, &mut values).expect("JSON");
    assert_eq!(values.get("key"), Some(&value));
}
