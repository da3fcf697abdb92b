//! `--state`: objects that already live in the cluster, from one file or a directory of files.

use std::path::Path;

use serde_json::Value;

use super::exit::Error;
use crate::k8s::text;
use crate::limits::Limits;
use crate::source::directory;
use crate::upgrade::rehearse::State;
use crate::yaml;

/// Reads every object of a file or directory; lists are taken apart.
pub(crate) fn read(path: &Path, limits: &Limits) -> Result<State, Error> {
    let mut objects = Vec::new();
    if path.is_dir() {
        for (name, data) in directory::read(path, limits)? {
            if [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end)) {
                parse(&format!("{}/{name}", path.display()), &data, limits, &mut objects)?;
            }
        }
    } else {
        let data = directory::read_file(path, limits.chart_bytes)?;
        parse(&path.display().to_string(), &data, limits, &mut objects)?;
    }
    if objects.is_empty() {
        return Err(Error::new(format!("{}: no Kubernetes object in it", path.display()))
            .hint("Write it with `kubectl get KIND… -A -o yaml`."));
    }
    Ok(State { name: path.display().to_string(), objects })
}

fn parse(name: &str, data: &[u8], limits: &Limits, objects: &mut Vec<Value>) -> Result<(), Error> {
    let content = String::from_utf8_lossy(data);
    for (line, document) in yaml::documents(&content) {
        let value = yaml::to_json(document.as_bytes(), limits)
            .map_err(|error| Error::new(format!("{name}:{line}: {error}")))?;
        match value {
            Value::Null => {}
            Value::Object(_) if value.get("items").is_some_and(Value::is_array) => {
                let items = value.get("items").and_then(Value::as_array).into_iter().flatten();
                objects.extend(items.cloned());
            }
            Value::Object(_) if !text(&value, "/kind").is_empty() => objects.push(value),
            _ => {
                return Err(Error::new(format!("{name}:{line}: not a Kubernetes object"))
                    .hint("Each document needs apiVersion and kind, or is a List."));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_documents_are_read_and_nonsense_is_named_by_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.yaml");
        std::fs::write(&path, "kind: List\napiVersion: v1\nitems:\n- {kind: A, apiVersion: v1}\n- {kind: B, apiVersion: v1}\n---\nkind: C\napiVersion: v1\n").unwrap();
        assert_eq!(read(&path, &Limits::default()).unwrap().objects.len(), 3);
        assert_eq!(read(dir.path(), &Limits::default()).unwrap().objects.len(), 3);
        std::fs::write(&path, "kind: A\napiVersion: v1\n---\n[1, 2]\n").unwrap();
        let error = read(&path, &Limits::default()).unwrap_err();
        assert!(error.message.contains("state.yaml:4") || error.message.contains("state.yaml:3"), "{error}");
        std::fs::write(&path, "").unwrap();
        assert!(read(&path, &Limits::default()).is_err());
    }
}
