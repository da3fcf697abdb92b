//! Chart.yaml: decoding as Helm decodes it, and Helm's validation of it.

use serde_json::{Map, Value};

use super::go_json::{self, Place, kind, unmarshal};
use super::helm::Helm;
use super::{Dependency, Error, Metadata};
use crate::go::{is_print, quote};
use crate::limits::Limits;
use crate::version::Version;
use crate::yaml;

const STRINGS: &[&str] = &[
    "name",
    "home",
    "version",
    "description",
    "icon",
    "apiVersion",
    "condition",
    "tags",
    "appVersion",
    "kubeVersion",
    "type",
];

const FIELDS: &[&str] = &[
    "name",
    "home",
    "sources",
    "version",
    "description",
    "keywords",
    "maintainers",
    "icon",
    "apiVersion",
    "condition",
    "tags",
    "appVersion",
    "deprecated",
    "annotations",
    "kubeVersion",
    "dependencies",
    "type",
];

/// Strings of Chart.yaml that validation cleans; the name comes first.
const CLEANED: &[&str] = &["description", "home", "icon", "condition", "tags"];

/// A document as far as it was read; null items are told apart until validation.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    metadata: Metadata,
    dependencies: Vec<Option<Dependency>>,
    null_maintainer: bool,
}

impl Draft {
    /// Reads a document over what is there already, as `yaml.Unmarshal` into the same struct does.
    pub(super) fn read(&mut self, text: &[u8], helm: Helm, limits: &Limits) -> Result<(), Error> {
        let document = yaml::to_json(text, limits).map_err(|error| Error::new(error.message))?;
        match document {
            Value::Null => Ok(()),
            Value::Object(map) => map.iter().try_for_each(|(key, value)| self.fill(key, value, helm)),
            other => {
                let message = format!(
                    "cannot unmarshal {} into Go value of type {}.Metadata",
                    kind(&other),
                    package(helm)
                );
                Err(unmarshal(&message))
            }
        }
    }

    /// The `apiVersion` read so far.
    pub(super) fn api_version(&self) -> &str {
        &self.metadata.api_version
    }

    /// Charts without `apiVersion` are of the first format.
    pub(super) fn assume_first_format(&mut self) {
        if self.metadata.api_version.is_empty() {
            self.metadata.api_version = "v1".to_owned();
        }
    }

    fn fill(&mut self, key: &str, value: &Value, helm: Helm) -> Result<(), Error> {
        let Some(name) = go_json::field(FIELDS, key) else { return Ok(()) };
        let place = Place::new("Metadata", name);
        if STRINGS.contains(&name) {
            if let Some(text) = go_json::string(value, place)? {
                self.set_string(name, text);
            }
            return Ok(());
        }
        let filled = match name {
            "deprecated" => go_json::boolean(value, place)?.map(Value::Bool),
            "annotations" => go_json::string_map(value, place)?.map(Value::Object),
            "maintainers" => self.maintainers(value, helm)?,
            "dependencies" => {
                self.dependencies = dependencies(value, helm, std::mem::take(&mut self.dependencies))?;
                None
            }
            _ => go_json::strings(value, place)?.map(Value::from),
        };
        if let Some(filled) = filled {
            self.metadata.rest.insert(name.to_owned(), filled);
        }
        Ok(())
    }

    fn set_string(&mut self, name: &str, text: String) {
        let metadata = &mut self.metadata;
        match name {
            "name" => metadata.name = text,
            "version" => metadata.version = text,
            "apiVersion" => metadata.api_version = text,
            "appVersion" => metadata.app_version = text,
            "kubeVersion" => metadata.kube_version = text,
            "type" => metadata.kind = text,
            other => drop(metadata.rest.insert(other.to_owned(), Value::String(text))),
        }
    }

    fn maintainers(&mut self, value: &Value, helm: Helm) -> Result<Option<Value>, Error> {
        let wanted = format!("{}.Maintainer", package(helm));
        let items = match value {
            Value::Null => return Ok(None),
            Value::Array(items) => items,
            other => {
                return Err(Place::new("Metadata", "maintainers").refuse(other, &format!("[]*{wanted}")));
            }
        };
        let mut people = Vec::new();
        for item in items {
            match item {
                Value::Null => self.null_maintainer = true,
                Value::Object(map) => people.push(maintainer(map)?),
                other => return Err(Place::new("Metadata", "maintainers").refuse(other, &wanted)),
            }
        }
        Ok(Some(Value::Array(people)))
    }

    /// Cleans and checks everything, as Helm v4.3.1 `pkg/chart/v2/metadata.go` `Validate`.
    pub(super) fn validate(self) -> Result<Metadata, Error> {
        let mut metadata = self.metadata;
        clean(&mut metadata);
        check(&metadata)?;
        if self.null_maintainer {
            return Err(invalid("maintainers must not contain empty or null nodes"));
        }
        metadata.dependencies = checked_dependencies(self.dependencies)?;
        Ok(metadata)
    }
}

fn maintainer(map: &Map<String, Value>) -> Result<Value, Error> {
    let mut person = Map::new();
    for (key, value) in map {
        let Some(name) = go_json::field(&["name", "email", "url"], key) else { continue };
        let path = format!("maintainers.{name}");
        if let Some(text) = go_json::string(value, Place::new("Maintainer", &path))? {
            person.insert(name.to_owned(), Value::String(sanitize(&text)));
        }
    }
    Ok(Value::Object(person))
}

/// Go fills entries that are there already, those of Chart.yaml when it reads requirements.yaml.
fn dependencies(
    value: &Value,
    helm: Helm,
    known: Vec<Option<Dependency>>,
) -> Result<Vec<Option<Dependency>>, Error> {
    let wanted = format!("{}.Dependency", package(helm));
    let place = Place::new("Metadata", "dependencies");
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => items
            .iter()
            .zip(known.into_iter().chain(std::iter::repeat(None)))
            .map(|(item, known)| match item {
                Value::Null => Ok(None),
                Value::Object(map) => dependency(map, known.unwrap_or_default()).map(Some),
                other => Err(place.refuse(other, &wanted)),
            })
            .collect(),
        other => Err(place.refuse(other, &format!("[]*{wanted}"))),
    }
}

fn dependency(map: &Map<String, Value>, mut entry: Dependency) -> Result<Dependency, Error> {
    const NAMES: &[&str] =
        &["name", "version", "repository", "condition", "tags", "enabled", "import-values", "alias"];
    for (key, value) in map {
        let Some(name) = go_json::field(NAMES, key) else { continue };
        let path = format!("dependencies.{name}");
        let place = Place::new("Dependency", &path);
        match name {
            "tags" => entry.tags = go_json::strings(value, place)?.unwrap_or_default(),
            "enabled" => entry.enabled = go_json::boolean(value, place)?,
            "import-values" => entry.import_values = import_values(value, place)?,
            _ => {
                let text = go_json::string(value, place)?.unwrap_or_default();
                match name {
                    "name" => entry.name = text,
                    "version" => entry.version = text,
                    "repository" => entry.repository = text,
                    "condition" => entry.condition = text,
                    _ => entry.alias = text,
                }
            }
        }
    }
    Ok(entry)
}

fn import_values(value: &Value, place: Place<'_>) -> Result<Vec<Value>, Error> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => Ok(items.clone()),
        other => Err(place.refuse(other, "[]interface {}")),
    }
}

/// The Go package whose name type errors show.
fn package(helm: Helm) -> &'static str {
    if helm.has_short_packages() { "v2" } else { "chart" }
}

fn clean(metadata: &mut Metadata) {
    for text in [&mut metadata.name, &mut metadata.app_version, &mut metadata.kube_version] {
        *text = sanitize(text);
    }
    for key in CLEANED {
        if let Some(Value::String(text)) = metadata.rest.get_mut(*key) {
            *text = sanitize(text);
        }
    }
    for key in ["sources", "keywords"] {
        let items = metadata.rest.get_mut(key).and_then(Value::as_array_mut);
        for item in items.into_iter().flatten() {
            *item = Value::String(sanitize(item.as_str().unwrap_or_default()));
        }
    }
}

fn check(metadata: &Metadata) -> Result<(), Error> {
    let name = &metadata.name;
    let problem = if metadata.api_version.is_empty() {
        "chart.metadata.apiVersion is required".to_owned()
    } else if name.is_empty() {
        "chart.metadata.name is required".to_owned()
    } else if matches!(name.as_str(), "." | "..") {
        format!("chart.metadata.name {} is not allowed", quote(name))
    } else if name.contains('/') {
        format!("chart.metadata.name {} is invalid", quote(name))
    } else if metadata.version.is_empty() {
        "chart.metadata.version is required".to_owned()
    } else if Version::parse_lenient(&metadata.version).is_err() {
        format!("chart.metadata.version {} is invalid", quote(&metadata.version))
    } else if !matches!(metadata.kind.as_str(), "" | "application" | "library") {
        "chart.metadata.type must be application or library".to_owned()
    } else {
        return Ok(());
    };
    Err(invalid(&problem))
}

fn checked_dependencies(drafts: Vec<Option<Dependency>>) -> Result<Vec<Dependency>, Error> {
    let mut entries: Vec<Dependency> = Vec::new();
    for draft in drafts {
        let Some(mut entry) = draft else {
            return Err(invalid("dependencies must not contain empty or null nodes"));
        };
        for text in [&mut entry.name, &mut entry.version, &mut entry.repository, &mut entry.condition] {
            *text = sanitize(text);
        }
        for tag in &mut entry.tags {
            *tag = sanitize(tag);
        }
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if !entry.alias.chars().all(allowed) {
            let name = quote(&entry.name);
            return Err(invalid(&format!("dependency {name} has disallowed characters in the alias")));
        }
        if entries.iter().any(|other| called(other) == called(&entry)) {
            let name = quote(called(&entry));
            return Err(invalid(&format!("more than one dependency with name or alias {name}")));
        }
        entries.push(entry);
    }
    Ok(entries)
}

/// The name under which a dependency's values stand.
fn called(entry: &Dependency) -> &str {
    if entry.alias.is_empty() { &entry.name } else { &entry.alias }
}

fn invalid(problem: &str) -> Error {
    Error::new(format!("validation: {problem}"))
}

/// Blanks become spaces, what can't be printed goes.
fn sanitize(text: &str) -> String {
    let clean = |c: char| match c {
        c if c.is_whitespace() => Some(' '),
        c => is_print(c).then_some(c),
    };
    text.chars().filter_map(clean).collect()
}
