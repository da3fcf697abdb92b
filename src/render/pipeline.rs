//! The steps of `helm template`, in Helm's order and with Helm's errors.

use std::sync::Arc;

use super::capabilities::KubeVersion;
use super::manifests::{self, Rendered};
use super::{CrdFile, Error, Helm, Lazy, Options, Render, context, templates};
use crate::chart::notice::{Notices, attribute, record};
use crate::chart::{Chart, Values, dependencies, values, values_schema};
use crate::k8s::dns;
use crate::template::stack;

/// Renders a chart with the user's values.
///
/// # Errors
/// Whatever stops Helm, in its words, with what it printed before.
pub fn render(chart: &Chart, config: &Values, options: &Options) -> Result<Render, Error> {
    run(chart.clone(), config, options, false)
}

/// Renders a chart for a program that ends afterwards: what nobody needs any more is not given back.
///
/// # Errors
/// Those of [`render`].
pub fn render_once(chart: Chart, config: &Values, options: &Options) -> Result<Render, Error> {
    run(chart, config, options, true)
}

fn run(chart: Chart, config: &Values, options: &Options, ends: bool) -> Result<Render, Error> {
    stack::deep(|| Pipeline::new(options, ends).run(chart, config))
        .unwrap_or_else(|error| Err(Error::before(format!("cannot render: {error}"))))
}

struct Pipeline<'a> {
    options: &'a Options,
    helm: Helm,
    notices: Notices,
    /// Whether the program ends after it.
    ends: bool,
}

impl<'a> Pipeline<'a> {
    fn new(options: &'a Options, ends: bool) -> Self {
        Self { options, helm: options.helm, notices: Notices::new(options.helm), ends }
    }

    fn run(mut self, chart: Chart, config: &Values) -> Result<Render, Error> {
        self.notices.extend(&chart.notices);
        match self.steps(chart, config) {
            Ok(render) => Ok(Render { warnings: self.notices.into_lines(), ..render }),
            Err(mut error) => {
                self.notices.extend(&std::mem::take(&mut error.warnings));
                Err(Error { warnings: self.notices.into_lines(), ..error })
            }
        }
    }

    fn steps(&mut self, chart: Chart, config: &Values) -> Result<Render, Error> {
        let kube = self.kube_version()?;
        self.check_installable(&chart)?;
        self.check_name()?;
        let mut chart = chart;
        dependencies::process(&mut chart, config, &mut self.notices)
            .map_err(|error| self.dependencies_failed(&error))?;
        let merged = values::coalesce(&chart, config, &mut self.notices)?;
        if self.options.check_schema {
            values_schema::check(&chart, &merged, self.helm, &self.options.limits)?;
        }
        self.check_kube_version(&chart, &kube)?;
        let found = context::renderables(&chart, &merged, &kube, self.options);
        let mut rendered = templates::execute(found, self.options, self.ends)?;
        let notes = take_notes(&mut rendered, &chart);
        let sorted =
            manifests::sort(&rendered, self.helm, &self.options.limits, self.options.checked.as_deref())
                .map_err(|error| Error { rendering: true, ..error.into() })?;
        self.notices.extend(&sorted.notices);
        Ok(Render {
            crds: self.crds(&chart),
            chart: Arc::new(chart),
            values: Arc::new(merged),
            config: Arc::new(config.clone()),
            manifests: sorted.manifests,
            hooks: sorted.hooks,
            notes,
            warnings: Vec::new(),
        })
    }

    fn kube_version(&self) -> Result<KubeVersion, Error> {
        match self.options.kube_version.as_deref() {
            None | Some("") => Ok(KubeVersion::default_of(self.helm)),
            Some(text) => Ok(KubeVersion::parse(text, self.helm)?),
        }
    }

    fn check_installable(&mut self, chart: &Chart) -> Result<(), Error> {
        let kind = chart.metadata.kind.as_str();
        if !matches!(kind, "" | "application") {
            return Err(Error::before(format!("{kind} charts are not installable")));
        }
        if chart.metadata.rest.get("deprecated").and_then(serde_json::Value::as_bool) == Some(true) {
            self.notices.command_warning("This chart is deprecated", "this chart is deprecated");
        }
        let missing = dependencies::missing(chart);
        if missing.is_empty() {
            return Ok(());
        }
        let an = if self.helm.has_capital_errors() { "An" } else { "an" };
        let quote = if self.helm.quotes_commands_plainly() { '\'' } else { '`' };
        Err(Error::before(format!(
            "{an} error occurred while checking for chart dependencies. You may need to run {quote}helm dependency build{quote} to fetch missing dependencies: found in Chart.yaml, but missing in charts/ directory: {}",
            missing.join(", ")
        )))
    }

    fn check_name(&mut self) -> Result<(), Error> {
        let name = self.options.release.as_str();
        if name.len() <= 53 && dns::is_subdomain(name) {
            return Ok(());
        }
        let quoted = crate::go::quote(name);
        let problem = match name {
            "" => "no name provided".to_owned(),
            _ => format!(
                "invalid release name, must match regex {NAME_PATTERN} and the length must not be longer than 53"
            ),
        };
        let problem = format!("release name {quoted}: {problem}");
        Err(self.failed("release name check failed", &problem))
    }

    /// Helm 4 logs some errors before it wraps them.
    fn failed(&mut self, what: &str, problem: &str) -> Error {
        if !self.helm.logs_failures() {
            return Error::before(problem);
        }
        let line = match self.helm.logs_in_logs() {
            true => record("INFO", &format!("ERROR {what} error={}", attribute(problem)), &[]),
            false => record("ERROR", what, &[("error", problem)]),
        };
        self.notices.extend(&[line]);
        Error::before(format!("{what}: {problem}"))
    }

    fn dependencies_failed(&mut self, error: &crate::chart::Error) -> Error {
        self.failed("chart dependencies processing failed", &error.message)
    }

    fn check_kube_version(&self, chart: &Chart, kube: &KubeVersion) -> Result<(), Error> {
        let wanted = &chart.metadata.kube_version;
        if wanted.is_empty() || dependencies::is_compatible(wanted, &kube.normalized, self.helm) {
            return Ok(());
        }
        let shown = if self.helm.has_normalized_kube_version() { &kube.version } else { &kube.normalized };
        Err(Error::rendering(format!(
            "chart requires kubeVersion: {wanted} which is incompatible with Kubernetes {shown}"
        )))
    }

    fn crds(&self, chart: &Chart) -> Vec<CrdFile> {
        let files = chart.crd_files().into_iter();
        files
            .map(|(source, data)| {
                let (text, limits) = (data.clone(), self.options.limits.clone());
                let objects = Lazy::new(move || manifests::crd_objects(&text, &limits));
                CrdFile { source, data, objects }
            })
            .collect()
    }
}

const NAME_PATTERN: &str = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

/// Takes every NOTES.txt out; the root chart's own is kept.
fn take_notes(rendered: &mut Rendered, chart: &Chart) -> Option<String> {
    let own = format!("{}/templates/NOTES.txt", chart.name());
    let notes = rendered.remove(&own).map(|notes| Arc::unwrap_or_clone(notes.shown));
    rendered.retain(|path, _| !path.ends_with("NOTES.txt"));
    notes
}
