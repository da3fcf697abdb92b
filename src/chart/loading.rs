//! Sorting a chart's files into Chart.yaml, values, templates, subcharts and the rest.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::metadata::Draft;
use super::notice::Notices;
use super::{Chart, Error, File, Helm, archive, values};
use crate::limits::Limits;
use crate::yaml;

/// Deepest nesting of charts in charts.
const DEPTH: usize = 64;

pub(super) fn load(files: Vec<File>, helm: Helm, limits: &Limits, depth: usize) -> Result<Chart, Error> {
    if depth > DEPTH {
        return Err(Error::new(format!("subcharts are nested deeper than {DEPTH} levels")));
    }
    let mut loader = Loader {
        helm,
        limits,
        draft: None,
        chart: Chart::default(),
        subcharts: BTreeMap::new(),
        notices: Notices::new(helm),
    };
    for file in files.iter().filter(|file| file.path == "Chart.yaml") {
        loader.read_metadata(file)?;
    }
    let loaded = files.into_iter().try_for_each(|file| loader.sort(file)).and_then(|()| loader.finish(depth));
    let mut notices = loader.notices.into_lines();
    match loaded {
        Ok(()) => Ok(Chart { notices, ..loader.chart }),
        Err(error) => {
            notices.extend(error.notices);
            Err(Error { notices, ..error })
        }
    }
}

struct Loader<'a> {
    helm: Helm,
    limits: &'a Limits,
    draft: Option<Draft>,
    chart: Chart,
    /// Files below `charts/`, by the first element of their path.
    subcharts: BTreeMap<String, Vec<File>>,
    notices: Notices,
}

impl Loader<'_> {
    fn read_metadata(&mut self, file: &File) -> Result<(), Error> {
        let draft = self.draft.get_or_insert_default();
        draft
            .read(&file.data, self.helm, self.limits)
            .map_err(|error| error.wrap("cannot load Chart.yaml"))?;
        draft.assume_first_format();
        Ok(())
    }

    fn sort(&mut self, file: File) -> Result<(), Error> {
        match file.path.as_str() {
            "Chart.yaml" => {}
            "Chart.lock" => self.lock(&file)?,
            "values.yaml" => self.values(&file)?,
            "values.schema.json" => self.chart.schema = Some(Arc::clone(file.data.shared())),
            "requirements.yaml" => self.requirements(file)?,
            "requirements.lock" => self.requirements_lock(file)?,
            path if path.starts_with("templates/") => self.chart.templates.push(file),
            path => match path.strip_prefix("charts/") {
                Some(inner) if !ends_in_prov(path) => {
                    let path = inner.to_owned();
                    let name = path.split('/').next().unwrap_or_default().to_owned();
                    self.subcharts.entry(name).or_default().push(File { path, data: file.data });
                }
                _ => self.chart.files.push(file),
            },
        }
        Ok(())
    }

    fn lock(&mut self, file: &File) -> Result<(), Error> {
        yaml::to_json(&file.data, self.limits)
            .map_err(|error| Error::new(format!("cannot load {}: {error}", file.path)))?;
        self.chart.lock = Some(Arc::clone(file.data.shared()));
        Ok(())
    }

    fn values(&mut self, file: &File) -> Result<(), Error> {
        let decoded = values::decode(&file.data, self.helm, self.limits);
        self.chart.values = decoded.map_err(|error| error.wrap("cannot load values.yaml"))?;
        self.chart.values_text = Arc::clone(file.data.shared());
        Ok(())
    }

    fn requirements(&mut self, file: File) -> Result<(), Error> {
        let draft = self.draft.get_or_insert_default();
        if draft.api_version() != "v1" {
            self.notices.log(
                "load.go:120",
                "Warning: Dependencies are handled in Chart.yaml since apiVersion \"v2\". We recommend migrating \
                 dependencies to Chart.yaml.",
            );
        }
        draft
            .read(&file.data, self.helm, self.limits)
            .map_err(|error| error.wrap("cannot load requirements.yaml"))?;
        if draft.api_version() == "v1" {
            self.chart.files.push(file);
        }
        Ok(())
    }

    fn requirements_lock(&mut self, file: File) -> Result<(), Error> {
        self.lock(&file)?;
        if self.draft.get_or_insert_default().api_version() == "v1" {
            self.chart.files.push(file);
        } else if self.helm.warns_of_old_locks() {
            self.notices.log(
                "load.go:138",
                "Warning: Dependency locking is handled in Chart.lock since apiVersion \"v2\". We recommend migrating \
                 to Chart.lock.",
            );
        }
        Ok(())
    }

    fn finish(&mut self, depth: usize) -> Result<(), Error> {
        let draft = self.draft.take().ok_or_else(|| Error::new("Chart.yaml file is missing"))?;
        self.chart.metadata = draft.validate()?;
        for (name, files) in std::mem::take(&mut self.subcharts) {
            if name.starts_with(['_', '.']) {
                continue;
            }
            let parent = &self.chart.metadata.name;
            let subchart = self.subchart(&name, files, depth).map_err(|error| match error {
                Broken::Inside(error) => error.wrap(&format!("error unpacking subchart {name} in {parent}")),
                Broken::Name(error) => error,
            })?;
            self.notices.extend(&subchart.notices);
            self.chart.dependencies.push(subchart);
        }
        Ok(())
    }

    fn subchart(&self, name: &str, files: Vec<File>, depth: usize) -> Result<Chart, Broken> {
        let inner = if name.ends_with(".tgz") {
            let Some(file) = files.into_iter().next().filter(|file| file.path == name) else {
                return Err(Broken::Name(Error::new(format!(
                    "error unpacking subchart tar in {}: expected {name}, got a directory of that name",
                    self.chart.metadata.name
                ))));
            };
            archive::unpack(&file.data, self.helm, self.limits).map_err(Broken::Inside)?
        } else {
            let inside = |file: File| {
                let path = file.path.split_once('/')?.1.to_owned();
                Some(File { path, data: file.data })
            };
            files.into_iter().filter_map(inside).collect()
        };
        load(inner, self.helm, self.limits, depth + 1).map_err(Broken::Inside)
    }
}

/// Why a subchart can't be read.
enum Broken {
    /// Its contents.
    Inside(Error),
    /// Its name.
    Name(Error),
}

/// Whether a file is a chart's signature, which is no subchart.
fn ends_in_prov(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.ends_with(".prov"))
}

#[cfg(test)]
mod tests;
