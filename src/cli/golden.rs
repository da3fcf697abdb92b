//! `seatrial golden`: rendered releases compared with files that were agreed on.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::args::{Global, Golden, GoldenFlags, ValuesFlags};
use super::charts::{self, Loaded};
use super::exit::{Error, Exit};
use super::golden_difference::difference;
use super::{settings, state, terminal};
use crate::chart::Helm;
use crate::k8s::form;
use crate::limits::Limits;
use crate::render::{self, Options, PrintOptions};
use crate::source::directory::read_file;
use crate::source::lock::digest;

/// The file that describes the releases.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Config {
    /// Where golden files live, relative to this file.
    #[serde(default = "default_directory")]
    directory: PathBuf,
    /// The releases.
    releases: Vec<Release>,
}

fn default_directory() -> PathBuf {
    "golden".into()
}

/// One release to render.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Release {
    /// Release name, also the name of its golden files.
    name: String,
    /// Chart reference; a path is relative to the config file.
    chart: String,
    #[serde(default = "default_namespace")]
    namespace: String,
    /// Values files, relative to the config file.
    #[serde(default)]
    values: Vec<PathBuf>,
    #[serde(default)]
    set: Vec<String>,
    /// Helm versions, `3.22` and `4.3`; one golden file each.
    #[serde(default = "default_helm")]
    helm: Vec<String>,
    kube_version: Option<String>,
    #[serde(default)]
    api_versions: Vec<String>,
    #[serde(default)]
    include_crds: bool,
    /// Files of objects that `lookup` finds, relative to the config file.
    #[serde(default)]
    state: Vec<PathBuf>,
}

fn default_namespace() -> String {
    "default".to_owned()
}

fn default_helm() -> Vec<String> {
    vec!["4.3".to_owned()]
}

/// Checks or updates every golden file of the config.
pub(crate) fn run(command: &Golden, global: &Global) -> Result<Exit, Error> {
    let (flags, update) = match command {
        Golden::Check(flags) => (flags, false),
        Golden::Update(flags) => (flags, true),
    };
    let config = load(flags, global)?;
    let base = flags.config.parent().unwrap_or(Path::new("")).to_owned();
    let directory = base.join(&config.directory);
    let (mut passed, mut failed) = (0, 0);
    let mut wanted = BTreeSet::new();
    for release in &config.releases {
        for helm in &release.helm {
            let path = directory.join(format!("{}.helm-{helm}.yaml", file_name(&release.name)?));
            let text = rendered(release, helm, &base, global)?;
            let same = if update { write(&path, &text)? } else { compare(&path, &text, global)? };
            if same {
                passed += 1;
            } else {
                failed += 1;
            }
            if !wanted.insert(path.clone()) {
                return Err(Error::new(format!("{}: two releases write this file", path.display()))
                    .hint("Give the releases different names."));
            }
        }
    }
    for path in stale(&directory, &wanted)? {
        leave(&path, update)?;
        failed += 1;
    }
    let summary = if update {
        format!("{passed} unchanged, {failed} written\n")
    } else {
        format!("{passed} passed, {failed} failed\n")
    };
    terminal::print(summary.as_bytes())?;
    Ok(if update || failed == 0 { Exit::Safe } else { Exit::Findings })
}

/// Golden files that no release of the config makes (any more).
fn stale(directory: &Path, wanted: &BTreeSet<PathBuf>) -> Result<Vec<PathBuf>, Error> {
    let failed = |error: std::io::Error| Error::new(format!("{}: {error}", directory.display()));
    let mut found = Vec::new();
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(found),
        entries => entries.map_err(failed)?,
    };
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let ours = name.contains(".helm-") && name.ends_with(".yaml") && !wanted.contains(&path);
        // Whatever else lies there is not ours to judge.
        if ours && fs::read_to_string(&path).is_ok_and(|text| text.starts_with(MARK)) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Tells of a stale file, or takes it away.
fn leave(path: &Path, update: bool) -> Result<(), Error> {
    let shown = path.display();
    if !update {
        let line = format!("{shown}: no release makes this file; `seatrial golden update` deletes it\n");
        return terminal::print(line.as_bytes());
    }
    fs::remove_file(path).map_err(|error| Error::new(format!("can't delete {shown}: {error}")))?;
    terminal::print(format!("deleted {shown}\n").as_bytes())
}

/// The first line of every golden file.
const MARK: &str = "# seatrial golden: do not edit, `seatrial golden update` writes it\n";

fn load(flags: &GoldenFlags, global: &Global) -> Result<Config, Error> {
    let limits = settings::limits(&global.limits);
    let path = flags.config.display();
    let text = read_file(&flags.config, limits.file_bytes).map_err(|error| {
        Error::new(error.message).hint("Name the file by `--config`; docs/golden.md shows one.")
    })?;
    let read = crate::yaml::read(&text, &limits);
    let config: Config =
        read.map_err(|error| Error::new(format!("{path}: {error}")).hint("docs/golden.md lists the keys."))?;
    if let Some((pointer, problem)) = config.idle() {
        let text = String::from_utf8_lossy(&text);
        let line = crate::yaml::locate(&text, &pointer).unwrap_or(1);
        return Err(
            Error::new(format!("{path}: line {line}: {problem}")).hint("docs/golden.md lists the keys.")
        );
    }
    Ok(config)
}

impl Config {
    /// What would make no golden file, or one of a release that can't be there.
    fn idle(&self) -> Option<(String, String)> {
        if self.releases.is_empty() {
            return Some(("/releases".to_owned(), "releases: the list is empty".to_owned()));
        }
        self.releases.iter().enumerate().find_map(|(at, release)| {
            let problem = |key: &str, what: String| Some((format!("/releases/{at}/{key}"), what));
            if release.helm.is_empty() {
                return problem("helm", "helm: the list is empty".to_owned());
            }
            if !form::is_label(&release.namespace) {
                let namespace = &release.namespace;
                return problem("namespace", format!("namespace: {namespace:?}: {}", form::LABEL));
            }
            None
        })
    }
}

// The release's name becomes a file name; it may not become a path.
fn file_name(name: &str) -> Result<&str, Error> {
    let plain = !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_'));
    if plain { Ok(name) } else { Err(Error::new(format!("release name `{name}` can't name a file"))) }
}

fn rendered(release: &Release, helm: &str, base: &Path, global: &Global) -> Result<String, Error> {
    let line = charts::helm_version(helm)?;
    let beside = base.join(&release.chart);
    let reference = if beside.exists() { beside.display().to_string() } else { release.chart.clone() };
    let loaded = Loaded::fetch(&reference, global)?;
    let limits = settings::limits(&global.limits);
    let flags = ValuesFlags {
        values: release.values.iter().map(|path| base.join(path)).collect(),
        set: release.set.clone(),
        ..ValuesFlags::default()
    };
    let values = charts::values(&flags, (&[], &[]), line, &limits)?;
    let options = options(release, base, line, limits)?;
    let render = render::render(&*loaded.chart(line)?, &values, &options)
        .map_err(|error| Error::new(format!("release `{}`: {error}", release.name)))?;
    let print = PrintOptions { include_crds: release.include_crds, ..PrintOptions::default() };
    let body = render::template_output(&render, line, &print).map_err(|error| Error::new(error.message))?;
    let values_digest = digest(serde_json::to_string(&*values).unwrap_or_default().as_bytes());
    Ok(format!(
        "{MARK}# chart: {} {} {}\n# helm: {helm}\n# values: {values_digest}\n{body}",
        loaded.info.name,
        loaded.info.version,
        loaded.digest()
    ))
}

fn options(release: &Release, base: &Path, helm: Helm, limits: Limits) -> Result<Options, Error> {
    let standing = Options::default();
    let state: Vec<PathBuf> = release.state.iter().map(|path| base.join(path)).collect();
    Ok(Options {
        answers: state::answers(&state, &limits)?.unwrap_or(standing.answers),
        helm,
        release: release.name.clone(),
        namespace: release.namespace.clone(),
        kube_version: release.kube_version.clone(),
        api_versions: release.api_versions.clone(),
        limits,
        ..Options::default()
    })
}

fn write(path: &Path, text: &str) -> Result<bool, Error> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(true);
    }
    let failed = |error: std::io::Error| Error::new(format!("can't write {}: {error}", path.display()));
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    fs::write(path, text).map_err(failed)?;
    Ok(false)
}

fn compare(path: &Path, text: &str, global: &Global) -> Result<bool, Error> {
    let golden = match fs::read_to_string(path) {
        Ok(golden) => golden,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            terminal::print(
                format!("{}: no golden file; `seatrial golden update` writes it\n", path.display())
                    .as_bytes(),
            )?;
            return Ok(false);
        }
        Err(error) => return Err(Error::new(format!("{}: {error}", path.display()))),
    };
    if golden == text {
        return Ok(true);
    }
    let name = path.display().to_string();
    let shown = difference(&name, &golden, text, &settings::limits(&global.limits));
    terminal::print(terminal::printable(&shown).as_bytes())?;
    Ok(false)
}
