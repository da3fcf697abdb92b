//! Objects that kubectl reads: `-f` with files, directories and standard input.

use serde_json::Value;

use super::super::files::absolute;
use super::{Flow, Kubectl, Stop};
use crate::limits::Limits;
use crate::yaml;

/// An object and the file it comes from.
pub(super) struct Manifest {
    /// File name as given.
    pub(super) source: String,
    /// The object.
    pub(super) object: Value,
}

impl Kubectl<'_, '_> {
    /// The objects of every `-f`; the inner error is the status of the call.
    pub(super) fn manifests(&mut self) -> Flow<Result<Vec<Manifest>, i32>> {
        if self.arguments.value("kustomize").is_some() {
            return Err(Stop::Unknown("kubectl with a kustomization".to_owned()));
        }
        let mut manifests = Vec::new();
        for names in self.arguments.values("filename") {
            for name in names.split(',') {
                for (source, text) in self.texts(name)?.into_iter() {
                    match objects(&text) {
                        Ok(objects) => {
                            manifests.extend(
                                objects.into_iter().map(|object| Manifest { source: source.clone(), object }),
                            );
                        }
                        Err(error) => {
                            let line = format!("error: error parsing {source}: {error}");
                            return Ok(Err(self.fail(&line)));
                        }
                    }
                }
            }
        }
        if manifests.is_empty() {
            return Ok(Err(self.fail("error: no objects passed")));
        }
        Ok(Ok(manifests))
    }

    fn texts(&mut self, name: &str) -> Flow<Vec<(String, String)>> {
        if name == "-" {
            return Ok(vec![("STDIN".to_owned(), self.streams.read_all())]);
        }
        if name.starts_with("http://") || name.starts_with("https://") {
            self.shell.host.download(name)?;
            return Err(Stop::Unknown(format!("content of {name}")));
        }
        let path = absolute(&self.shell.state.directory, name);
        if let Some(text) = self.shell.files.read(&path) {
            return Ok(vec![(name.to_owned(), text.to_owned())]);
        }
        let wanted = |file: &String| [".yaml", ".yml", ".json"].iter().any(|end| file.ends_with(end));
        let files: Vec<String> = self.shell.files.below(&path).into_iter().filter(wanted).collect();
        if files.is_empty() {
            self.fail(&format!("error: the path \"{name}\" does not exist"));
        }
        let read = |file: String| {
            let text = self.shell.files.read(&file).unwrap_or("").to_owned();
            (file, text)
        };
        Ok(files.into_iter().map(read).collect())
    }
}

/// The objects of a YAML or JSON text; lists are taken apart.
fn objects(text: &str) -> Result<Vec<Value>, String> {
    let limits = Limits::default();
    let mut objects = Vec::new();
    for (_, document) in yaml::documents(text) {
        let value = yaml::to_json(document.as_bytes(), &limits).map_err(|e| e.message)?;
        match value.get("items").and_then(Value::as_array) {
            Some(items) if value.get("kind").and_then(Value::as_str).is_some_and(|k| k.ends_with("List")) => {
                objects.extend(items.iter().cloned());
            }
            _ if value.is_null() => {}
            _ if value.get("kind").is_none() => return Err("Object 'Kind' is missing".to_owned()),
            _ => objects.push(value),
        }
    }
    Ok(objects)
}

/// A patch or another value given as YAML or JSON.
pub(super) fn value(text: &str) -> Result<Value, String> {
    yaml::to_json(text.as_bytes(), &Limits::default()).map_err(|e| e.message)
}
