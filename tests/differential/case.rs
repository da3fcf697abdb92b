//! A chart with the user's values and flags: rendered here, or told as a request to the oracle.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use seatrial::chart::{Chart, File, Helm, archive, detect, ignore, values_input};
use seatrial::limits::Limits;
use seatrial::render::capabilities::KubeVersion;
use seatrial::render::host::Offline;
use seatrial::render::{Error, Options, PrintOptions, render, template_output};
use serde_json::{Value, json};

#[derive(Clone, Default)]
pub(crate) struct Case {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    pub(crate) values: Vec<Vec<u8>>,
    /// Flag and text: `set`, `set-string`, `set-json`, `set-literal`.
    pub(crate) set: Vec<(&'static str, String)>,
    /// `include-crds`, `no-hooks`, `skip-tests`, `is-upgrade`.
    pub(crate) flags: Vec<&'static str>,
    pub(crate) kube_version: String,
    pub(crate) api_versions: Vec<String>,
}

/// Standard output, standard error and exit code.
pub(crate) struct Printed {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) exit: i64,
}

impl Case {
    pub(crate) fn file(&mut self, path: impl Into<String>, text: impl Into<Vec<u8>>) {
        self.files.insert(path.into(), text.into());
    }

    fn texts(&self, flag: &str) -> Vec<String> {
        self.set.iter().filter(|(known, _)| *known == flag).map(|(_, text)| text.clone()).collect()
    }

    fn has(&self, flag: &str) -> bool {
        self.flags.contains(&flag)
    }

    pub(crate) fn request(&self, helm: Helm) -> Value {
        let files: BTreeMap<_, _> = self.files.iter().map(|(path, data)| (path, base64(data))).collect();
        let values: Vec<_> = self.values.iter().map(|data| base64(data)).collect();
        json!({
            "kind": "render", "helm": helm.major.to_string(), "files": files, "values": values,
            "set": self.texts("set"), "set_string": self.texts("set-string"),
            "set_json": self.texts("set-json"), "set_literal": self.texts("set-literal"),
            "kube_version": self.kube_version, "api_versions": self.api_versions,
            "include_crds": self.has("include-crds"), "no_hooks": self.has("no-hooks"),
            "skip_tests": self.has("skip-tests"), "is_upgrade": self.has("is-upgrade"),
        })
    }

    pub(crate) fn render(&self, helm: Helm) -> Printed {
        let mut err = String::new();
        match self.attempt(helm, &mut err) {
            Ok(out) => Printed { out, err, exit: 0 },
            Err(error) => Printed { out: String::new(), err: err + &error.stderr(), exit: 1 },
        }
    }

    fn attempt(&self, helm: Helm, warnings: &mut String) -> Result<String, Error> {
        let options = self.options(helm);
        if let Some(text) = &options.kube_version {
            KubeVersion::parse(text, helm)?;
        }
        let read = &mut |_: &str| Err("no files".to_owned());
        let config = values_input::merge(&self.input(), helm, &options.limits, read)?;
        detect::directory("", self.files.get("Chart.yaml").map(Vec::as_slice), helm, &options.limits)?;
        let chart = Chart::from_files(ignore::visible(self.chart_files())?, helm, &options.limits)?;
        let render = render(&chart, &config, &options)?;
        for line in &render.warnings {
            let _ = writeln!(warnings, "{line}");
        }
        Ok(template_output(&render, helm, &self.print())?)
    }

    fn chart_files(&self) -> Vec<File> {
        let file = |(path, data): (&String, &Vec<u8>)| File {
            path: path.clone(),
            data: archive::without_mark(data.clone()),
        };
        self.files.iter().map(file).collect()
    }

    fn input(&self) -> values_input::Input {
        let named = |(at, data): (usize, &Vec<u8>)| (format!("values{at}.yaml"), data.clone());
        values_input::Input {
            files: self.values.iter().enumerate().map(named).collect(),
            json: self.texts("set-json"),
            set: self.texts("set"),
            string: self.texts("set-string"),
            file: Vec::new(),
            literal: self.texts("set-literal"),
        }
    }

    fn options(&self, helm: Helm) -> Options {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |past| past.as_nanos());
        Options {
            helm,
            is_upgrade: self.has("is-upgrade"),
            kube_version: Some(self.kube_version.clone()).filter(|text| !text.is_empty()),
            api_versions: self.api_versions.clone(),
            limits: Limits::default(),
            answers: Arc::new(Offline { now: i128::try_from(now).unwrap_or_default(), seed: 0 }),
            ..Options::default()
        }
    }

    fn print(&self) -> PrintOptions {
        PrintOptions {
            include_crds: self.has("include-crds"),
            no_hooks: self.has("no-hooks"),
            skip_tests: self.has("skip-tests"),
            show_only: Vec::new(),
        }
    }
}

pub(crate) fn base64(data: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(data)
}

pub(crate) fn unbase64(text: &Value) -> String {
    let data = base64::engine::general_purpose::STANDARD.decode(text.as_str().unwrap_or_default());
    String::from_utf8_lossy(&data.expect("base64")).into_owned()
}
