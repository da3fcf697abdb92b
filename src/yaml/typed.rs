//! The program's own files: read into a type, with errors that name the line and the key.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

use super::{Error, locate, to_json};
use crate::limits::Limits;

/// Reads the first document into a type.
///
/// # Errors
/// `line 3: ` and go-yaml's words for text that is no YAML; else `line 3: steps[0].upgrad: …` for the first key that does not fit.
pub fn read<T: DeserializeOwned>(text: &[u8], limits: &Limits) -> Result<T, Error> {
    let value = value(text, limits)?;
    serde_path_to_error::deserialize(value).map_err(|error| {
        let line = line(&String::from_utf8_lossy(text), error.path());
        let place = match error.path().to_string().as_str() {
            "." => String::new(),
            path => format!("{path}: "),
        };
        Error { message: format!("line {line}: {place}{}", error.inner()), line }
    })
}

/// The first document as JSON, with errors that name the line.
///
/// # Errors
/// `line 3: ` and go-yaml's words for text that is no YAML.
pub fn value(text: &[u8], limits: &Limits) -> Result<Value, Error> {
    to_json(text, limits).map_err(|error| {
        let line = error.line.max(1);
        Error { message: format!("line {line}: {}", error.without_line()), line }
    })
}

/// The line of the innermost node on a path that is in the text.
fn line(text: &str, path: &Path) -> usize {
    let mut pointers = vec![String::new()];
    for segment in path {
        let step = match segment {
            Segment::Seq { index } => index.to_string(),
            Segment::Map { key } => key.replace('~', "~0").replace('/', "~1"),
            Segment::Enum { .. } | Segment::Unknown => continue,
        };
        pointers.extend(pointers.last().map(|last| format!("{last}/{step}")));
    }
    pointers.iter().rev().find_map(|pointer| locate(text, pointer)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn errors_name_line_and_key() {
        type Wanted = BTreeMap<String, Vec<u8>>;
        let read = |text: &str| read::<Wanted>(text.as_bytes(), &Limits::default());
        assert_eq!(read("a: [1]\n").map(|map| map["a"].clone()), Ok(vec![1]));
        let error = read("a: [1]\n\nb:\n- 2\n- x\n").unwrap_err();
        assert_eq!((error.line, error.message.starts_with("line 5: b[1]: invalid type")), (5, true));
        assert!(read("a: [\n").unwrap_err().message.starts_with("line 2: yaml: "));
        for (text, line, words) in [
            ("a: [1]\nb: .nan\n", 2, "NaN"),
            ("a: [1]\n\nb: *x\n", 3, "unknown anchor"),
            ("a: &x [1]\nb:\n  - 1\n  - *y\n", 4, "unknown anchor"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.message.starts_with(&format!("line {line}: ")), "{text:?}: {}", error.message);
            assert!(error.message.contains(words), "{text:?}: {}", error.message);
        }
    }
}
