//! The two charts of a command, their values and what they are rendered for.

use std::path::PathBuf;
use std::sync::Arc;

use super::args::{self, Global, ReleaseFlags, ValuesFlags};
use super::charts::{self, Loaded};
use super::exit::Error;
use super::{engine, standin};
use crate::chart::{Chart, Helm, Values};
use crate::limits::{Limits, stack};
use crate::render::host::Answers;
use crate::render::{self, Options, Render};
use crate::upgrade::words::ValuesWords;

/// Both charts and everything said about them on the command line.
pub(crate) struct Pair {
    pub(crate) before: Loaded,
    pub(crate) after: Loaded,
    release: ReleaseFlags,
    values: ValuesFlags,
    only_before: (Vec<PathBuf>, Vec<String>),
    only_after: (Vec<PathBuf>, Vec<String>),
}

/// Says of files that are not there which flag names them.
fn there(flag: &str, paths: &[PathBuf]) -> Result<(), Error> {
    let is_file = |path: &&PathBuf| !path.as_os_str().is_empty() && path.as_os_str() != "-";
    let absent = |path: &&PathBuf| {
        std::fs::metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
    };
    match paths.iter().filter(is_file).find(absent) {
        Some(path) => {
            Err(Error::new(format!("`{flag} {0}`: open {0}: no such file or directory", path.display())))
        }
        None => Ok(()),
    }
}

/// One side, as one Helm version sees it.
pub(crate) struct Side {
    pub(crate) chart: Arc<Chart>,
    pub(crate) values: Arc<Values>,
}

impl Pair {
    /// Fetches both charts.
    pub(crate) fn load(pair: &args::Pair, global: &Global) -> Result<Self, Error> {
        let files = [
            ("-f", &pair.values.values),
            ("--values-before", &pair.values_before),
            ("--values-after", &pair.values_after),
        ];
        files.iter().try_for_each(|(flag, paths)| there(flag, paths))?;
        let (before, after) = std::thread::scope(|scope| {
            let after = stack::spawn(scope, || Loaded::fetch(&pair.after, global));
            let before = Loaded::fetch(&pair.before, global);
            (before, engine::joined(after))
        });
        Ok(Self {
            before: before?,
            after: after?,
            release: pair.release.clone(),
            values: pair.values.clone(),
            only_before: (pair.values_before.clone(), pair.set_before.clone()),
            only_after: (pair.values_after.clone(), pair.set_after.clone()),
        })
    }

    /// The stand-ins that the program carries.
    pub(crate) fn carried(global: &Global) -> Result<Self, Error> {
        let limits = super::settings::limits(&global.limits);
        let load = |name: &str, files| Loaded::carried(name, standin::files(files), limits.clone());
        Ok(Self {
            before: load("examples/standin/before", standin::BEFORE)?,
            after: load("examples/standin/after", standin::AFTER)?,
            release: ReleaseFlags {
                namespace: Some("training".to_owned()),
                release: Some("standin".to_owned()),
                kube_version: None,
                api_versions: Vec::new(),
            },
            values: ValuesFlags::default(),
            only_before: (Vec::new(), Vec::new()),
            only_after: (Vec::new(), Vec::new()),
        })
    }

    /// Chart and values of both sides for one Helm version.
    pub(crate) fn sides(&self, helm: Helm, limits: &Limits) -> Result<(Side, Side), Error> {
        let side = |loaded: &Loaded, (files, sets): &(Vec<PathBuf>, Vec<String>)| {
            let values = charts::values(&self.values, (files, sets), helm, limits)?;
            Ok::<_, Error>(Side { chart: loaded.chart(helm)?, values })
        };
        Ok((side(&self.before, &self.only_before)?, side(&self.after, &self.only_after)?))
    }

    /// The values flags of BEFORE as the user gave them, for commands in a report.
    pub(crate) fn words_before(&self) -> ValuesWords {
        charts::words(&self.values, &self.only_before)
    }

    /// The values flags of AFTER as the user gave them, for commands in a report.
    pub(crate) fn words_after(&self) -> ValuesWords {
        charts::words(&self.values, &self.only_after)
    }

    /// Whether the namespace is the one that is taken where none is given.
    pub(crate) fn is_anywhere(&self) -> bool {
        self.release.namespace.as_deref().is_none_or(str::is_empty)
    }

    /// The release options of this pair; the name defaults to the new chart's.
    pub(crate) fn options(&self, helm: Helm, limits: &Limits) -> Options {
        charts::options(&self.release, &self.after.info.name, helm, limits)
    }

    /// Renders both sides, the old one as installed and the new one as upgraded to; `lookup` finds what somebody answers.
    pub(crate) fn render(
        &self,
        helm: Helm,
        limits: &Limits,
        state: Option<Arc<dyn Answers>>,
    ) -> Result<(Render, Render), Error> {
        let (before, after) = self.sides(helm, limits)?;
        let options = self.options(helm, limits);
        let answers = state.unwrap_or_else(|| Arc::clone(&options.answers));
        let options = Options { answers, ..options };
        let upgrade = Options { revision: 2, is_upgrade: true, ..options.clone() };
        let render = |side: &Side, options: &Options, loaded: &Loaded| {
            render::render(&side.chart, &side.values, options)
                .map_err(|error| Error::new(format!("chart `{}`: {error}", loaded.info.reference)))
        };
        Ok((render(&before, &options, &self.before)?, render(&after, &upgrade, &self.after)?))
    }
}
