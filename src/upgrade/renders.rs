//! Renders that a rehearsal has made, so that the same chart with the same values is rendered once.
//!
//! Revision, install-or-upgrade and the API list count only for charts whose templates mention them. Those that ask the clock
//! or chance get other answers in every revision, as they would on a machine.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::Value;

use crate::chart::{Chart, File, Values};
use crate::cluster::simulated::schemas::Schemas;
use crate::limits::Limits;
use crate::render::facts;
use crate::render::{Checked, CrdFile, Excerpt, Lazy, Manifest, Options, Render};
use crate::upgrade::actors::Renderer;
use crate::upgrade::lookups;

/// Helm's engines behind the rehearsal's trait.
#[derive(Debug)]
pub struct Engines;

impl Renderer for Engines {
    fn render(
        &self,
        chart: &Arc<Chart>,
        config: &Arc<Values>,
        options: &Options,
    ) -> Result<Arc<Render>, String> {
        crate::render::render(chart, config, options).map(Arc::new).map_err(|error| error.message)
    }
}

/// What a render may depend on besides chart, values and names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sensitivity {
    revision: bool,
    is_upgrade: bool,
    api_versions: ApiVersions,
    cluster: bool,
    /// The clock or chance.
    machine: bool,
}

/// Which API versions a template asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ApiVersions {
    /// These, by name.
    Named(BTreeSet<String>),
    /// Any.
    All,
}

impl Default for ApiVersions {
    fn default() -> Self {
        Self::Named(BTreeSet::new())
    }
}

impl ApiVersions {
    fn join(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::Named(own), Self::Named(more)) => own.extend(more),
            _ => *self = Self::All,
        }
    }

    /// Whether two clusters answer alike.
    fn same(&self, a: &[String], b: &[String]) -> bool {
        match self {
            Self::Named(names) => names.iter().all(|name| a.contains(name) == b.contains(name)),
            Self::All => a == b,
        }
    }
}

/// A renderer with a memory.
pub struct Renders<R> {
    inner: R,
    charts: Mutex<Vec<(Arc<Chart>, Sensitivity)>>,
    kept: Mutex<Vec<Kept>>,
    checked: Arc<Checked>,
    limits: Limits,
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
    /// A memory around a renderer; every render keeps the same limits, whatever its options say.
    pub fn new(inner: R, limits: Limits) -> Self {
        Self { inner, charts: Mutex::default(), kept: Mutex::default(), checked: Arc::default(), limits }
    }

    fn sensitivity(&self, chart: &Arc<Chart>) -> Sensitivity {
        let mut charts = self.charts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = charts.iter().find(|(known, _)| share_texts(known, chart)) {
            return known.clone();
        }
        let sensitivity = of_chart(chart);
        charts.push((Arc::clone(chart), sensitivity.clone()));
        sensitivity
    }

    /// The place of a render; whoever comes second to it waits for who came first.
    fn place(
        &self,
        chart: &Arc<Chart>,
        config: &Arc<Values>,
        options: &Options,
        sensitivity: &Sensitivity,
    ) -> Arc<OnceLock<Rendered>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let hit = kept.iter().find(|kept| {
            same_chart(&kept.chart, chart)
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
        sensitivity.add(&serde_json::to_vec(config).unwrap_or_default());
        let mut options = options.clone();
        // Of two revisions each is made at its own time and with its own luck, whoever asks for it.
        if sensitivity.machine {
            options.answers = lookups::later(options.answers, options.revision);
        }
        let work = || {
            let (checked, limits) = (Some(Arc::clone(&self.checked)), self.limits.clone());
            self.inner.render(chart, config, &Options { checked, limits, ..options.clone() })
        };
        if sensitivity.cluster {
            return work();
        }
        self.place(chart, config, &options, &sensitivity).get_or_init(work).clone()
    }
}

/// The documents of one file.
type Documents = Lazy<Vec<Arc<Value>>>;

/// A renderer whose definitions are folded, for clusters that fold theirs. Documents that several renders share are read
/// once.
pub struct Folding<'r> {
    inner: &'r dyn Renderer,
    schemas: Schemas,
    made: Mutex<Vec<(Arc<Render>, Arc<Render>)>>,
    documents: Mutex<HashMap<Excerpt, Lazy<Arc<Value>>>>,
    files: Mutex<HashMap<Arc<[u8]>, Documents>>,
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
        known.entry(manifest.text.clone()).or_insert_with(fold).clone()
    }

    fn file(&self, file: &CrdFile) -> Documents {
        let mut known = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let (plain, schemas) = (file.objects.clone(), self.schemas.clone());
        let fold = || Lazy::new(move || plain.iter().map(|object| schemas.fold(object)).collect());
        known.entry(Arc::clone(file.data.shared())).or_insert_with(fold).clone()
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

fn same_options(a: &Options, b: &Options, sensitivity: &Sensitivity) -> bool {
    a.helm == b.helm
        && a.release == b.release
        && a.namespace == b.namespace
        && a.kube_version == b.kube_version
        && a.check_schema == b.check_schema
        && (!sensitivity.revision && !sensitivity.machine || a.revision == b.revision)
        && (!sensitivity.is_upgrade || a.is_upgrade == b.is_upgrade)
        && sensitivity.api_versions.same(&a.api_versions, &b.api_versions)
}

/// Whether one chart is the other, or a copy of it, with the same defaults.
fn same_chart(a: &Arc<Chart>, b: &Arc<Chart>) -> bool {
    Arc::ptr_eq(a, b) || a.metadata == b.metadata && a.values == b.values && share_texts(a, b)
}

/// Whether two charts have the very same files: copies that differ in their defaults share the bytes.
fn share_texts(a: &Chart, b: &Chart) -> bool {
    let shared = |a: &[File], b: &[File]| {
        let same = |(a, b): (&File, &File)| a.data.same(&b.data) && a.path == b.path;
        a.len() == b.len() && a.iter().zip(b).all(same)
    };
    Arc::ptr_eq(&a.values_text, &b.values_text)
        && shared(&a.templates, &b.templates)
        && shared(&a.files, &b.files)
        && a.dependencies.len() == b.dependencies.len()
        && a.dependencies.iter().zip(&b.dependencies).all(|(a, b)| share_texts(a, b))
}

fn of_chart(chart: &Chart) -> Sensitivity {
    let mut sensitivity = Sensitivity::default();
    for file in &chart.templates {
        sensitivity.add(&file.data);
    }
    sensitivity.add(&chart.values_text);
    // `tpl (.Files.Get …)` may execute any of them.
    for file in chart.files.iter().filter(|file| memchr::memmem::find(&file.data, b"lookup").is_some()) {
        sensitivity.add(&file.data);
    }
    for dependency in &chart.dependencies {
        sensitivity.join(of_chart(dependency));
    }
    sensitivity
}

impl Sensitivity {
    fn join(&mut self, other: Self) {
        self.revision |= other.revision;
        self.is_upgrade |= other.is_upgrade;
        self.api_versions.join(other.api_versions);
        self.cluster |= other.cluster;
        self.machine |= other.machine;
    }

    /// Looks for what the actions of a template may read; a whole `.Release` or `.Capabilities` handed on counts as
    /// everything in it.
    fn add(&mut self, text: &[u8]) {
        let opening = memchr::memmem::Finder::new("{{");
        let mut starts = opening.find_iter(text).peekable();
        while let Some(start) = starts.next() {
            let end = starts.peek().copied().unwrap_or(text.len());
            let action = text.get(start..end).unwrap_or_default();
            let close = memchr::memmem::find(action, b"}}").unwrap_or(action.len());
            self.action(&String::from_utf8_lossy(action.get(..close).unwrap_or_default()));
        }
    }

    fn action(&mut self, action: &str) {
        for rest in action.split(".Release").skip(1) {
            match rest {
                _ if rest.starts_with(".Name") || rest.starts_with(".Service") => {}
                _ if rest.starts_with(".Revision") => self.revision = true,
                _ if rest.starts_with(".Is") => self.is_upgrade = true,
                _ => (self.revision, self.is_upgrade) = (true, true),
            }
        }
        for rest in action.split(".Capabilities").skip(1) {
            self.capability(rest);
        }
        self.cluster |= action.contains("lookup");
        self.machine |= facts::is_impure(action);
    }

    fn capability(&mut self, rest: &str) {
        if [".KubeVersion", ".HelmVersion"].iter().any(|known| rest.starts_with(known)) {
            return;
        }
        let named = rest.strip_prefix(".APIVersions.Has \"").and_then(|name| name.split_once('"'));
        self.api_versions.join(match named {
            Some((name, _)) if !name.contains('\\') => ApiVersions::Named(BTreeSet::from([name.to_owned()])),
            _ => ApiVersions::All,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Sensitivity {
        let mut sensitivity = Sensitivity::default();
        sensitivity.add(text.as_bytes());
        sensitivity
    }

    fn named(names: &[&str]) -> ApiVersions {
        ApiVersions::Named(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn names_alone_make_no_difference() {
        let names = "lookup .Release {{ .Release.Name }} {{ $.Release.Namespace }} {{ .Capabilities.KubeVersion.Minor }}";
        assert_eq!(of(names), Sensitivity::default());
        let revision = Sensitivity { revision: true, ..Sensitivity::default() };
        assert_eq!(of("{{ .Release.Revision }}"), revision);
        let upgrade = Sensitivity { is_upgrade: true, ..Sensitivity::default() };
        assert_eq!(of("{{ if .Release.IsInstall }}"), upgrade);
        assert!(of("{{ lookup \"v1\" \"Secret\" }}").cluster);
        let whole = of("{{ toYaml .Release }}");
        assert!(whole.revision && whole.is_upgrade);
    }

    #[test]
    fn api_versions_count_by_the_names_that_are_asked_for() {
        let two = of(
            "{{ if or (.Capabilities.APIVersions.Has \"a/v1\") ($.Capabilities.APIVersions.Has \"b/v1\") }}",
        );
        assert_eq!(two.api_versions, named(&["a/v1", "b/v1"]));
        assert_eq!(of("{{ range .Capabilities.APIVersions }}").api_versions, ApiVersions::All);
        assert_eq!(of("{{ .Capabilities.APIVersions.Has .Values.x }}").api_versions, ApiVersions::All);
        let served = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert!(two.api_versions.same(&served(&["a/v1", "c/v1"]), &served(&["a/v1"])));
        assert!(!two.api_versions.same(&served(&["a/v1"]), &served(&[])));
    }
}
