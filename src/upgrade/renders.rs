//! Renders that a rehearsal has made, so that the same chart with the same values is rendered once.
//!
//! Revision, install-or-upgrade and the API list count only for charts whose templates mention them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::Value;

use crate::chart::{Chart, Values};
use crate::cluster::simulated::schemas::Schemas;
use crate::render::{CrdFile, Lazy, Manifest, Options, Render};
use crate::upgrade::actors::Renderer;

/// What a render may depend on besides chart, values and names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sensitivity {
    revision: bool,
    is_upgrade: bool,
    api_versions: bool,
    cluster: bool,
}

/// A renderer with a memory.
pub struct Renders<R> {
    inner: R,
    charts: Mutex<Vec<(Arc<Chart>, Sensitivity)>>,
    kept: Mutex<Vec<Kept>>,
}

struct Kept {
    chart: Arc<Chart>,
    config: Arc<Values>,
    options: Options,
    result: Arc<OnceLock<Rendered>>,
}

/// A render, or why there is none.
type Rendered = Result<Arc<Render>, String>;

impl<R: Renderer> Renders<R> {
    /// A memory around a renderer.
    pub fn new(inner: R) -> Self {
        Self { inner, charts: Mutex::default(), kept: Mutex::default() }
    }

    fn sensitivity(&self, chart: &Arc<Chart>) -> Sensitivity {
        let mut charts = self.charts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = charts.iter().find(|(known, _)| Arc::ptr_eq(known, chart)) {
            return *known;
        }
        let sensitivity = of_chart(chart);
        charts.push((Arc::clone(chart), sensitivity));
        sensitivity
    }

    /// The place of a render; whoever comes second to it waits for who came first.
    fn place(
        &self,
        chart: &Arc<Chart>,
        config: &Arc<Values>,
        options: &Options,
        sensitivity: Sensitivity,
    ) -> Arc<OnceLock<Rendered>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let hit = kept.iter().find(|kept| {
            Arc::ptr_eq(&kept.chart, chart)
                && same_options(&kept.options, options, sensitivity)
                && (Arc::ptr_eq(&kept.config, config) || kept.config == *config)
        });
        if let Some(hit) = hit {
            return Arc::clone(&hit.result);
        }
        let result = Arc::default();
        kept.push(Kept {
            chart: Arc::clone(chart),
            config: Arc::clone(config),
            options: options.clone(),
            result: Arc::clone(&result),
        });
        result
    }
}

impl<R: Renderer> Renderer for Renders<R> {
    fn render(&self, chart: &Arc<Chart>, config: &Arc<Values>, options: &Options) -> Rendered {
        let mut sensitivity = self.sensitivity(chart);
        sensitivity.add(&serde_json::to_string(config).unwrap_or_default());
        if sensitivity.cluster {
            return self.inner.render(chart, config, options);
        }
        let place = self.place(chart, config, options, sensitivity);
        place.get_or_init(|| self.inner.render(chart, config, options)).clone()
    }
}

/// A renderer whose definitions are folded, for clusters that fold theirs. Documents that several renders share are read
/// once.
pub struct Folding<'r> {
    inner: &'r dyn Renderer,
    schemas: Schemas,
    made: Mutex<Vec<(Arc<Render>, Arc<Render>)>>,
    documents: Mutex<HashMap<Arc<str>, Lazy<Arc<Value>>>>,
    files: Mutex<HashMap<Arc<[u8]>, Lazy<Vec<Arc<Value>>>>>,
}

impl<'r> Folding<'r> {
    /// Folds what a renderer makes; the schemas go into `schemas`.
    #[must_use]
    pub fn new(inner: &'r dyn Renderer, schemas: &Schemas) -> Self {
        Self {
            inner,
            schemas: schemas.clone(),
            made: Mutex::default(),
            documents: Mutex::default(),
            files: Mutex::default(),
        }
    }

    fn fold(&self, render: &Render) -> Render {
        let mut folded = render.clone();
        let manifests = folded.manifests.iter_mut();
        let hooks = folded.hooks.iter_mut().map(|hook| &mut hook.manifest);
        for manifest in manifests.chain(hooks) {
            manifest.object = self.document(manifest);
        }
        for file in &mut folded.crds {
            file.objects = self.file(file);
        }
        folded
    }

    fn document(&self, manifest: &Manifest) -> Lazy<Arc<Value>> {
        let mut known = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        let (plain, schemas) = (manifest.object.clone(), self.schemas.clone());
        let fold = || Lazy::new(move || schemas.fold(&plain));
        known.entry(Arc::clone(&manifest.text)).or_insert_with(fold).clone()
    }

    fn file(&self, file: &CrdFile) -> Lazy<Vec<Arc<Value>>> {
        let mut known = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let (plain, schemas) = (file.objects.clone(), self.schemas.clone());
        let fold = || Lazy::new(move || plain.iter().map(|object| schemas.fold(object)).collect());
        known.entry(Arc::clone(&file.data)).or_insert_with(fold).clone()
    }
}

impl Renderer for Folding<'_> {
    fn render(
        &self,
        chart: &Arc<Chart>,
        config: &Arc<Values>,
        options: &Options,
    ) -> Result<Arc<Render>, String> {
        let plain = self.inner.render(chart, config, options)?;
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, folded)) = made.iter().find(|(known, _)| Arc::ptr_eq(known, &plain)) {
            return Ok(Arc::clone(folded));
        }
        let folded = Arc::new(self.fold(&plain));
        made.push((plain, Arc::clone(&folded)));
        Ok(folded)
    }
}

fn same_options(a: &Options, b: &Options, sensitivity: Sensitivity) -> bool {
    a.helm == b.helm
        && a.release == b.release
        && a.namespace == b.namespace
        && a.kube_version == b.kube_version
        && a.check_schema == b.check_schema
        && (!sensitivity.revision || a.revision == b.revision)
        && (!sensitivity.is_upgrade || a.is_upgrade == b.is_upgrade)
        && (!sensitivity.api_versions || a.api_versions == b.api_versions)
}

fn of_chart(chart: &Chart) -> Sensitivity {
    let mut sensitivity = Sensitivity::default();
    for file in &chart.templates {
        sensitivity.add(&String::from_utf8_lossy(&file.data));
    }
    sensitivity.add(&String::from_utf8_lossy(&chart.values_text));
    for dependency in &chart.dependencies {
        sensitivity.join(of_chart(dependency));
    }
    sensitivity
}

impl Sensitivity {
    fn join(&mut self, other: Self) {
        self.revision |= other.revision;
        self.is_upgrade |= other.is_upgrade;
        self.api_versions |= other.api_versions;
        self.cluster |= other.cluster;
    }

    /// Looks for what a template may read; a whole `.Release` or `.Capabilities` handed on counts as everything in it.
    fn add(&mut self, text: &str) {
        for (at, word) in text.match_indices(".Release") {
            match text.get(at + word.len()..).unwrap_or("") {
                rest if rest.starts_with(".Name") || rest.starts_with(".Service") => {}
                rest if rest.starts_with(".Revision") => self.revision = true,
                rest if rest.starts_with(".Is") => self.is_upgrade = true,
                _ => (self.revision, self.is_upgrade) = (true, true),
            }
        }
        for (at, word) in text.match_indices(".Capabilities") {
            let rest = text.get(at + word.len()..).unwrap_or("");
            let harmless = [".KubeVersion", ".HelmVersion"].iter().any(|known| rest.starts_with(known));
            self.api_versions |= !harmless;
        }
        self.cluster |= text.contains("lookup");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (bool, bool, bool) {
        let mut sensitivity = Sensitivity::default();
        sensitivity.add(text);
        (sensitivity.revision, sensitivity.is_upgrade, sensitivity.api_versions)
    }

    #[test]
    fn names_alone_make_no_difference() {
        assert_eq!(
            of("{{ .Release.Name }} {{ $.Release.Namespace }} {{ .Capabilities.KubeVersion.Minor }}"),
            (false, false, false)
        );
        assert_eq!(of("{{ .Release.Revision }}"), (true, false, false));
        assert_eq!(of("{{ if .Release.IsInstall }}"), (false, true, false));
        assert_eq!(of("{{ toYaml .Release }} {{ .Capabilities.APIVersions.Has \"x\" }}"), (true, true, true));
    }
}
