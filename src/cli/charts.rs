//! From references and values flags to loaded charts and values.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::args::{Global, ReleaseFlags, ValuesFlags};
use super::exit::Error;
use super::settings;
use crate::chart::helm::differences::moved;
use crate::chart::notice::record;
use crate::chart::{Chart, Contents, File, Helm, Values, archive, damage, detect, ignore, values_input};
use crate::limits::Limits;
use crate::render::Options;
use crate::report::model::ChartInfo;
use crate::source::directory::{absolute, bounded, links, read_file};
use crate::source::lock::digest;
use crate::source::{Content, Fetched};
use crate::upgrade::words::ValuesWords;

/// A chart and where it came from.
pub(crate) struct Loaded {
    pub(crate) info: ChartInfo,
    content: Content,
    limits: Limits,
    /// As Helm 4 reads it, once somebody asked.
    read: OnceLock<Arc<Chart>>,
    /// The files of an archive, once somebody took it apart.
    unpacked: OnceLock<Vec<File>>,
    /// Whether definitions below `crds/` stay in the archive until somebody reads them.
    lazy: bool,
}

impl Loaded {
    /// Fetches a chart without looking inside.
    pub(crate) fn open(reference: &str, global: &Global) -> Result<Self, Error> {
        let fetched = settings::sources(global).fetch(reference)?;
        Ok(Self::of(fetched, settings::limits(&global.limits)))
    }

    /// A fetched chart, without looking inside.
    pub(crate) fn of(fetched: Fetched, limits: Limits) -> Self {
        let Fetched { reference, content, .. } = fetched;
        let info = ChartInfo { reference, ..ChartInfo::default() };
        Self { info, content, limits, read: OnceLock::new(), unpacked: OnceLock::new(), lazy: false }
    }

    /// The same, for somebody who most likely won't look at what is below `crds/`.
    pub(crate) fn lazily(self, lazy: bool) -> Self {
        Self { lazy, ..self }
    }

    /// Fetches a chart and reads its name and version.
    pub(crate) fn fetch(reference: &str, global: &Global) -> Result<Self, Error> {
        Self::open(reference, global)?.named()
    }

    /// A chart whose files are carried by the program.
    pub(crate) fn carried(name: &str, files: Vec<(String, Vec<u8>)>, limits: Limits) -> Result<Self, Error> {
        let (reference, content) = (name.to_owned(), Content::Files(files, Vec::new()));
        Self::of(Fetched { reference, origin: String::new(), content }, limits).named()
    }

    fn named(self) -> Result<Self, Error> {
        let mut loaded = self;
        let chart = loaded.chart(Helm::V4)?;
        loaded.info.name.clone_from(&chart.metadata.name);
        loaded.info.version.clone_from(&chart.metadata.version);
        if let Content::Archive(bytes) = &loaded.content {
            loaded.info.digest = digest(bytes);
        }
        Ok(loaded)
    }

    /// Digest of the archive, or of the files that Helm reads of a directory, each by path and contents.
    pub(crate) fn digest(&self) -> String {
        let files = match &self.content {
            Content::Archive(bytes) => return digest(bytes),
            Content::Files(files, _) => files,
        };
        let files = files.iter().map(|(path, data)| File { path: path.clone(), data: data.clone().into() });
        let mut visible = ignore::visible(files.collect()).unwrap_or_default();
        visible.sort_by(|a, b| a.path.cmp(&b.path));
        let lines: String =
            visible.iter().map(|file| format!("{} {}\n", digest(&file.data), file.path)).collect();
        digest(lines.as_bytes())
    }

    /// The chart as a Helm version loads it.
    pub(crate) fn chart(&self, helm: Helm) -> Result<Arc<Chart>, Error> {
        if let Some(known) = self.read.get().filter(|_| helm == Helm::V4) {
            return Ok(Arc::clone(known));
        }
        let chart = self.read(helm).map_err(|error| self.refused(&error))?;
        Ok(if helm == Helm::V4 { Arc::clone(self.read.get_or_init(|| chart)) } else { chart })
    }

    /// Helm's refusal, and what it does not say about an archive that is cut off or damaged.
    fn refused(&self, error: &crate::chart::Error) -> Error {
        let reference = &self.info.reference;
        let damage = match &self.content {
            Content::Archive(bytes) if !error.message.contains("--limit-") => {
                damage::damage(bytes, &self.limits)
            }
            _ => None,
        };
        match damage {
            Some(damage) => {
                Error::new(format!("chart `{reference}`: {error}: {}", damage.message)).hint(damage.hint)
            }
            None => Error::new(format!("chart `{reference}`: {error}{}", self.reason(error))),
        }
    }

    /// Why an archive is refused, where Helm 4 keeps to itself what Helm 3 says.
    fn reason(&self, error: &crate::chart::Error) -> String {
        let Content::Archive(bytes) = &self.content else { return String::new() };
        let told = archive::unpack(bytes, Helm::V3, &self.limits).err();
        let new = told.filter(|told| !error.message.contains(&told.message));
        new.map_or_else(String::new, |told| format!(": {told}"))
    }

    /// What Helm says about symbolic links in a directory, where it walks (Helm v4.3.1 `internal/sympath/walk.go`).
    pub(crate) fn links(&self, helm: Helm) -> Vec<String> {
        let root = Path::new(&self.info.reference);
        if !root.is_dir() {
            return Vec::new();
        }
        let rules = match &self.content {
            Content::Files(files, _) => files.iter().find(|(path, _)| path == ".helmignore"),
            Content::Archive(_) => None,
        };
        let rules = rules.map_or_else(String::new, |(_, data)| String::from_utf8_lossy(data).into_owned());
        let Ok(rules) = ignore::Rules::parse(&rules) else { return Vec::new() };
        let seen = |path: &str| {
            let parents = path.match_indices('/').map(|(at, _)| path.get(..at).unwrap_or_default());
            !parents.into_iter().any(|parent| rules.ignores(parent, true))
        };
        let root = absolute(root);
        let links = links(Path::new(&root), &self.limits).into_iter().filter(|(path, _)| seen(path));
        links.map(|(path, target)| link_line(&format!("{root}/{path}"), &target, helm)).collect()
    }

    /// The same, refused in Helm's words alone.
    pub(crate) fn read(&self, helm: Helm) -> Result<Arc<Chart>, crate::chart::Error> {
        let chart = match &self.content {
            Content::Archive(bytes) => self.read_archive(bytes, helm)?,
            Content::Files(files, irregular) => {
                let root = absolute(Path::new(&self.info.reference));
                let wanted =
                    files.iter().find(|(path, _)| path == "Chart.yaml").map(|(_, data)| data.as_slice());
                detect::directory(&root, wanted, helm, &self.limits)?;
                from_directory((files, irregular), &root, helm, &self.limits)?
            }
        };
        Ok(Arc::new(chart))
    }

    fn read_archive(&self, bytes: &Arc<Vec<u8>>, helm: Helm) -> Result<Chart, crate::chart::Error> {
        let path = Path::new(&self.info.reference);
        let seen = match path.is_file() {
            true => detect::archive(
                &absolute(path),
                bytes,
                || self.take_apart(bytes, helm),
                (helm, &self.limits),
            )?,
            false => None,
        };
        let _ = seen.map(|files| self.unpacked.set(files));
        let chart = Chart::from_files(self.unpack(bytes, helm)?, helm, &self.limits)?;
        detect::format(&chart.metadata.api_version, helm)?;
        Ok(chart)
    }

    fn unpack(&self, bytes: &Arc<Vec<u8>>, helm: Helm) -> Result<Vec<File>, crate::chart::Error> {
        let suits = |files: &&Vec<File>| archive::suits(files, helm, &self.limits);
        if let Some(files) = self.unpacked.get().filter(suits) {
            return Ok(files.clone());
        }
        let files = self.take_apart(bytes, helm)?;
        let _ = self.unpacked.set(files.clone());
        Ok(files)
    }

    fn take_apart(&self, bytes: &Arc<Vec<u8>>, helm: Helm) -> Result<Vec<File>, crate::chart::Error> {
        match self.lazy {
            true => archive::unpack_lazily(bytes, helm, &self.limits),
            false => archive::unpack(bytes, helm, &self.limits),
        }
    }
}

/// Reads a directory's files as a chart, `.helmignore` applied.
pub(crate) fn from_directory(
    (files, irregular): (&[(String, Vec<u8>)], &[String]),
    root: &str,
    helm: Helm,
    limits: &Limits,
) -> Result<Chart, crate::chart::Error> {
    let files = files.iter().map(|(path, data)| File { path: path.clone(), data: without_mark(data).into() });
    let empty = irregular.iter().map(|path| File { path: path.clone(), data: Contents::from([]) });
    let visible = ignore::visible(files.chain(empty).collect())?;
    match visible.iter().find(|file| irregular.contains(&file.path)) {
        Some(File { path, .. }) => Err(crate::chart::Error::new(format!(
            "cannot load irregular file {root}/{path} as it has file mode type bits set"
        ))),
        None => Chart::from_files(visible, helm, limits),
    }
}

fn link_line(path: &str, target: &str, helm: Helm) -> String {
    if !helm.logs_records() {
        return format!(
            "{}: found symbolic link in path: {path} resolves to {target}. Contents of linked file included and used",
            moved("walk.go:75", helm)
        );
    }
    let message = "found symbolic link in path. Contents of linked file included and used";
    record("INFO", message, &[("path", path), ("resolved", target)])
}

fn without_mark(data: &[u8]) -> &[u8] {
    data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data)
}

/// Merges the values flags as one Helm version does; `more` are files and `--set` of one side only.
pub(crate) fn values(
    flags: &ValuesFlags,
    more: (&[PathBuf], &[String]),
    helm: Helm,
    limits: &Limits,
) -> Result<Arc<Values>, Error> {
    let mut input = values_input::Input {
        json: flags.set_json.clone(),
        set: [&flags.set[..], more.1].concat(),
        string: flags.set_string.clone(),
        file: flags.set_file.clone(),
        literal: flags.set_literal.clone(),
        ..values_input::Input::default()
    };
    let mut inputs = Inputs { limits, typed: false };
    // An empty name is none, as in a script's `-f "$MORE"`.
    for path in flags.values.iter().chain(more.0).filter(|path| !path.as_os_str().is_empty()) {
        input.files.push((path.display().to_string(), inputs.read(path)?));
    }
    let mut read = |path: &str| {
        let data = inputs.read(path.as_ref()).map_err(|error| error.message)?;
        Ok(String::from_utf8_lossy(&data).into_owned())
    };
    let merged = values_input::merge(&input, helm, limits, &mut read);
    merged.map(Arc::new).map_err(|error| Error::new(error.message))
}

/// Reads the files of one merge; `-` is standard input (Helm v4.3.1 `pkg/cli/values/options.go` `readFile`).
#[derive(Debug)]
struct Inputs<'a> {
    limits: &'a Limits,
    /// Whether standard input was read: there is no more of it.
    typed: bool,
}

impl Inputs<'_> {
    fn read(&mut self, path: &Path) -> Result<Vec<u8>, crate::source::Error> {
        // Values are merged once for each chart and Helm.
        static TYPED: OnceLock<Result<Vec<u8>, crate::source::Error>> = OnceLock::new();
        let limit = self.limits.file_bytes;
        if path.to_str().is_none_or(|path| path.trim() != "-") {
            return read_file(path, limit);
        }
        if std::mem::replace(&mut self.typed, true) {
            return Ok(Vec::new());
        }
        TYPED.get_or_init(|| bounded(std::io::stdin(), path, limit)).clone()
    }
}

/// The same flags as a command line of Helm has them, in the order in which Helm reads them.
pub(crate) fn words(flags: &ValuesFlags, (files, sets): &(Vec<PathBuf>, Vec<String>)) -> ValuesWords {
    let mut words = ValuesWords::default();
    let named = flags.values.iter().chain(files).filter(|path| !path.as_os_str().is_empty());
    named.for_each(|path| words.file(&path.display().to_string()));
    flags.set_json.iter().for_each(|argument| words.json(argument));
    flags.set.iter().chain(sets).for_each(|argument| words.set("--set", argument));
    flags.set_string.iter().for_each(|argument| words.set("--set-string", argument));
    flags.set_file.iter().for_each(|argument| words.flag("--set-file", argument));
    flags.set_literal.iter().for_each(|argument| words.literal("--set-literal", argument));
    words
}

/// A release's namespace: without a cluster to ask, Helm takes an empty one for `default`.
pub(crate) fn namespace(given: Option<&str>) -> String {
    given.filter(|given| !given.is_empty()).unwrap_or("default").to_owned()
}

/// What both sides of a pair are rendered for.
pub(crate) fn options(release: &ReleaseFlags, chart: &str, helm: Helm, limits: &Limits) -> Options {
    Options {
        helm,
        release: release.release.clone().unwrap_or_else(|| chart.to_owned()),
        namespace: namespace(release.namespace.as_deref()),
        revision: 1,
        is_upgrade: false,
        kube_version: release.kube_version.clone(),
        api_versions: release.api_versions.clone(),
        limits: limits.clone(),
        ..Options::default()
    }
}

/// Reads `3.22`, `4.3` or `3.18.4`.
pub(crate) fn helm_version(text: &str) -> Result<Helm, Error> {
    let unknown = || {
        Error::new(format!("`--helm {text}`: not a version that is known"))
            .hint(format!("Known are {}.", Helm::KNOWN))
    };
    Helm::parse(text).ok_or_else(unknown)
}
