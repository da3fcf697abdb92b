//! Reading a case: its checks, whom each is for, its charts and objects.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use seatrial::chart::{Chart, File, Helm, Values, archive, ignore, values_input};
use seatrial::limits::Limits;
use seatrial::upgrade::actors::helm::Dialect;
use seatrial::upgrade::record::manifests_from;
use serde_json::Value;

use super::yaml;

pub(super) fn folders(cases: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(cases)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("case.yaml").is_file())
        .collect();
    folders.sort();
    folders
}

/// One check of a case, with the ones before it, to which it may refer.
pub(super) struct Check {
    pub(super) folder: PathBuf,
    id: String,
    checks: Arc<Vec<Value>>,
    position: usize,
}

pub(super) fn checks(folder: &Path) -> Vec<Check> {
    let case = yaml(&folder.join("case.yaml"));
    let id = case["id"].as_str().unwrap().to_owned();
    let checks = Arc::new(case["checks"].as_array().unwrap().clone());
    let of =
        |position| Check { folder: folder.to_owned(), id: id.clone(), checks: Arc::clone(&checks), position };
    (0..checks.len()).map(of).collect()
}

/// One tool's turn at a check.
pub(super) struct Run {
    pub(super) by: String,
}

/// A version of Helm and how it writes.
#[derive(Clone, Debug)]
pub(super) struct Tool {
    pub(super) actor: &'static str,
    pub(super) dialect: Dialect,
    pub(super) server_side: Option<bool>,
}

impl Tool {
    /// Whether its own releases are written by server-side apply.
    pub(super) fn applies(&self) -> bool {
        self.dialect.is_v4() && self.server_side != Some(false)
    }
}

impl Run {
    pub(super) fn label(&self) -> String {
        format!("({})", self.by)
    }

    /// `Some(None)` for checks that need no tool, `None` for tools that are not modelled.
    pub(super) fn tool(&self) -> Option<Option<Tool>> {
        if self.by.is_empty() {
            return Some(None);
        }
        let (actor, helm) = match self.by.get(..6)? {
            "helm 3" => ("helm3", Helm::V3),
            "helm 4" => ("helm4", Helm::V4),
            _ => return None,
        };
        let server_side = if self.by.contains("client-side") {
            Some(false)
        } else {
            self.by.contains("server-side").then_some(true)
        };
        Some(Some(Tool { actor, dialect: Dialect { helm }, server_side }))
    }
}

impl Check {
    pub(super) fn value(&self) -> &Value {
        &self.checks[self.position]
    }

    pub(super) fn expect(&self) -> &Value {
        &self.value()["expect"]
    }

    pub(super) fn deed(&self) -> &str {
        self.value()["do"].as_str().unwrap_or_default()
    }

    pub(super) fn label(&self) -> String {
        format!("{} {}", self.id, self.value()["name"].as_str().unwrap_or_default())
    }

    pub(super) fn runs(&self) -> Vec<Run> {
        let by = self.value()["by"].as_array();
        match by.filter(|_| ["install", "upgrade", "uninstall", "sync"].contains(&self.deed())) {
            Some(by) => by.iter().map(|by| Run { by: by.as_str().unwrap().to_owned() }).collect(),
            None => vec![Run { by: String::new() }],
        }
    }

    /// What happened earlier, in the words of the check that says it.
    pub(super) fn before(&self) -> &str {
        let told =
            self.checks[..=self.position].iter().rev().map(|check| check["before"].as_str().unwrap_or(""));
        told.take_while(|text| !text.is_empty()).find(|text| *text != "as above").unwrap_or("")
    }

    /// The check that this one goes on from.
    pub(super) fn predecessor(&self) -> Option<Self> {
        let position = self.position.checked_sub(1).filter(|_| self.before().contains("the check above"))?;
        Some(Self {
            folder: self.folder.clone(),
            id: self.id.clone(),
            checks: Arc::clone(&self.checks),
            position,
        })
    }

    fn arguments(&self) -> Vec<String> {
        let argv = self.value()["argv"].as_array().into_iter().flatten();
        argv.map(|argument| argument.as_str().unwrap().to_owned()).collect()
    }

    pub(super) fn namespace(&self) -> String {
        let arguments = self.arguments();
        let flag = arguments.iter().position(|argument| argument == "-n" || argument == "--namespace");
        flag.and_then(|at| arguments.get(at + 1).cloned()).unwrap_or_else(|| "team-a".to_owned())
    }

    /// The release: as on the command line, else called like the case's chart.
    pub(super) fn release(&self) -> String {
        if let Some(name) = self.arguments().get(2) {
            return name.clone();
        }
        let sides = self.checks.iter().flat_map(|check| [&check["to"], &check["from"]]);
        let folder = sides.filter_map(|side| side["chart"].as_str()).next();
        folder.map_or_else(
            || "release".to_owned(),
            |chart| {
                let metadata = yaml(&self.folder.join(chart).join("Chart.yaml"));
                metadata["name"].as_str().unwrap().to_owned()
            },
        )
    }

    /// Flags of the command besides namespace and values.
    pub(super) fn flags(&self) -> Vec<String> {
        let mut flags = Vec::new();
        let mut rest = self.arguments().into_iter().skip(4);
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "-n" | "--namespace" | "--set" | "-f" | "--values" => drop(rest.next()),
                _ => flags.push(argument),
            }
        }
        flags
    }

    pub(super) fn has(&self, key: &str) -> bool {
        !self.value()[key].is_null()
    }

    /// A chart with the user's values, from `from`, `to` or `chart`.
    pub(super) fn side(&self, key: &str, helm: Helm) -> Result<(Arc<Chart>, Arc<Values>), String> {
        let side = &self.value()[key];
        let chart = match (side.as_str(), side["chart"].as_str(), side["manifest"].as_str()) {
            (Some(chart), ..) | (_, Some(chart), _) => load(&self.folder.join(chart), helm)?,
            (.., Some(_)) => Chart::default(),
            _ => return Err(format!("{key} names no chart")),
        };
        let mut input = values_input::Input::default();
        for name in side["values"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            input.files.push((name.to_owned(), std::fs::read(self.folder.join(name)).unwrap()));
        }
        for (path, value) in side["set"].as_object().into_iter().flatten() {
            input
                .set
                .push(format!("{path}={}", value.as_str().map_or_else(|| value.to_string(), str::to_owned)));
        }
        let read = &mut |name: &str| Err(format!("{name}: no such file"));
        let values =
            values_input::merge(&input, helm, &Limits::default(), read).map_err(|error| error.message)?;
        Ok((Arc::new(chart), Arc::new(values)))
    }

    /// The stored manifest of a release that no chart here renders.
    pub(super) fn manifest(&self) -> Option<Vec<seatrial::render::Manifest>> {
        let file = self.value()["from"]["manifest"].as_str()?;
        let text = std::fs::read_to_string(self.folder.join(file)).unwrap();
        Some(manifests_from(&text).unwrap())
    }

    /// The live objects, in their order.
    pub(super) fn live(&self) -> Vec<Value> {
        let files = self.value()["live"].as_array().into_iter().flatten().filter_map(Value::as_str);
        files.flat_map(|file| documents(&self.folder.join(file))).collect()
    }

    /// A single file of the check, e.g. `old`.
    pub(super) fn file(&self, key: &str) -> Option<Value> {
        self.value()[key].as_str().map(|file| yaml(&self.folder.join(file)))
    }
}

fn documents(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let documents = seatrial::yaml::documents(&text);
    let parsed = documents
        .into_iter()
        .map(|(_, document)| seatrial::yaml::to_json(document.as_bytes(), &Limits::default()).unwrap());
    parsed.filter(Value::is_object).collect()
}

fn load(path: &Path, helm: Helm) -> Result<Chart, String> {
    let mut files = Vec::new();
    walk(path, "", &mut files);
    let visible = ignore::visible(files).map_err(|error| error.message)?;
    Chart::from_files(visible, helm, &Limits::default()).map_err(|error| error.message)
}

fn walk(directory: &Path, prefix: &str, files: &mut Vec<File>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        if entry.path().is_dir() {
            walk(&entry.path(), &path, files);
        } else {
            files.push(File { path, data: archive::without_mark(std::fs::read(entry.path()).unwrap()) });
        }
    }
}

/// A chart whose only template is the text of these objects.
pub(super) fn chart_of(objects: &[Value], version: &str, helm: Helm) -> Arc<Chart> {
    let text: String = objects.iter().map(|object| format!("---\n{object}\n")).collect();
    // Braces of JSON in a row would be read as template actions.
    let text = text.replace("{{", "{ {").replace("}}", "} }");
    let file = |path: &str, data: String| File { path: path.to_owned(), data: data.into_bytes().into() };
    let files = vec![
        file("Chart.yaml", format!("apiVersion: v2\nname: case\nversion: {version}\n")),
        file("templates/all.yaml", text),
    ];
    Arc::new(Chart::from_files(files, helm, &Limits::default()).unwrap())
}
