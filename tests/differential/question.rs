//! What both sides are asked, and what they answer: named texts that have to be equal.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use seatrial::chart::Helm;
use seatrial::chart::set::{Style, parse_into};
use seatrial::limits::Limits;
use seatrial::yaml::{self, json as go_json};
use serde_json::{Map, Value, json};

use super::case::{Case, Printed, base64, unbase64};
use super::known;
use super::oracle::Oracle;

#[derive(Clone)]
pub(crate) enum Question {
    /// What `helm template` prints, of both Helms.
    Render(Box<Case>),
    /// What go-yaml reads, and writes again.
    Yaml(Vec<u8>),
    /// What a flag of the `--set` family makes of texts, in both Helms.
    Set(&'static str, Vec<String>),
}

/// The file without which a folder is no chart.
const CHART: &str = "Chart.yaml";

pub(crate) type Answer = BTreeMap<String, String>;

const HELMS: [Helm; 2] = [Helm::V3, Helm::V4];

impl Question {
    /// What Go says; none where it panics.
    pub(crate) fn theirs(&self, oracle: &mut Oracle) -> Option<Answer> {
        match self {
            Self::Yaml(text) => {
                let answer = oracle.ask(&json!({ "kind": "yaml", "text": base64(text) }))?;
                let parts = ["json", "error", "strict", "yaml", "yaml3"].into_iter();
                let parts =
                    parts.filter_map(|part| Some((part.to_owned(), answer[part].as_str()?.to_owned())));
                Some(parts.filter(|(_, text)| !text.is_empty()).map(known::normal).collect())
            }
            Self::Render(case) => self.of_both(|helm| {
                let answer = oracle.ask(&case.request(helm))?;
                let exit = answer["exit"].as_i64().unwrap_or_default();
                Some(Printed { out: unbase64(&answer["out"]), err: unbase64(&answer["err"]), exit }.parts())
            }),
            Self::Set(flag, texts) => self.of_both(|helm| {
                let helm = helm.major.to_string();
                let answer =
                    oracle.ask(&json!({ "kind": "set", "helm": helm, "flag": flag, "texts": texts }))?;
                let part = if answer.get("error").is_some() { "error" } else { "json" };
                Some(vec![(part, answer[part].as_str().unwrap_or_default().to_owned())])
            }),
        }
    }

    /// What we say; a panic is an answer like another.
    pub(crate) fn ours(&self) -> Answer {
        let answered = catch_unwind(AssertUnwindSafe(|| match self {
            Self::Yaml(text) => yaml_parts(text).into_iter().map(known::normal).collect(),
            Self::Render(case) => self.of_both(|helm| Some(case.render(helm).parts())).unwrap_or_default(),
            Self::Set(flag, texts) => self.of_both(|helm| Some(set(flag, texts, helm))).unwrap_or_default(),
        }));
        answered.unwrap_or_else(|_| [("panic".to_owned(), "here".to_owned())].into())
    }

    fn of_both(&self, mut ask: impl FnMut(Helm) -> Option<Vec<(&'static str, String)>>) -> Option<Answer> {
        let mut answer = Answer::new();
        for helm in HELMS {
            let named = |(part, text)| (format!("helm {} {part}", helm.major), text);
            answer.extend(ask(helm)?.into_iter().map(named).map(known::normal));
        }
        Some(answer)
    }

    /// The texts that may be made shorter.
    pub(crate) fn texts(&self) -> Vec<String> {
        let text = |data: &Vec<u8>| String::from_utf8_lossy(data).into_owned();
        match self {
            Self::Yaml(data) => vec![text(data)],
            Self::Set(_, texts) => texts.clone(),
            Self::Render(case) => {
                let set = case.set.iter().map(|(_, text)| text.clone());
                case.files.values().chain(&case.values).map(text).chain(set).collect()
            }
        }
    }

    /// Whether a text is one without which nothing else is looked at.
    pub(crate) fn is_fixed(&self, at: usize) -> bool {
        matches!(self, Self::Render(case) if case.files.keys().nth(at).is_some_and(|path| path == CHART))
    }

    /// The same question with another text in one place.
    pub(crate) fn with(&self, at: usize, text: &str) -> Self {
        let mut other = self.clone();
        match &mut other {
            Self::Yaml(data) => *data = text.into(),
            Self::Set(_, texts) => text.clone_into(&mut texts[at]),
            Self::Render(case) => {
                let behind = at.checked_sub(case.files.len() + case.values.len());
                let Case { files, values, set, .. } = &mut **case;
                match behind {
                    Some(at) => text.clone_into(&mut set[at].1),
                    None => *files.values_mut().chain(values).nth(at).expect("a text") = text.into(),
                }
            }
        }
        other
    }

    /// The same question with one part less, for every part that may go away.
    pub(crate) fn without(&self) -> Vec<Self> {
        let Self::Render(case) = self else { return Vec::new() };
        let less = |change: &dyn Fn(&mut Case)| {
            let mut case = case.clone();
            change(&mut case);
            Self::Render(case)
        };
        let files = case
            .files
            .keys()
            .filter(|path| *path != CHART)
            .map(|path| less(&|case| _ = case.files.remove(path)));
        let values = (0..case.values.len()).map(|at| less(&|case| _ = case.values.remove(at)));
        let set = (0..case.set.len()).map(|at| less(&|case| _ = case.set.remove(at)));
        let flags = (0..case.flags.len()).map(|at| less(&|case| _ = case.flags.remove(at)));
        files.chain(values).chain(set).chain(flags).collect()
    }
}

impl Printed {
    fn parts(self) -> Vec<(&'static str, String)> {
        vec![("out", self.out), ("err", self.err), ("exit", self.exit.to_string())]
    }
}

fn yaml_parts(text: &[u8]) -> Vec<(String, String)> {
    let limits = Limits::default();
    let named = |part: &str, text: String| (part.to_owned(), text);
    let value = match yaml::to_json(text, &limits) {
        Ok(value) => value,
        Err(error) => return vec![named("error", error.bare().to_owned())],
    };
    let mut parts = vec![named("json", go_json::encode(&value))];
    if let Err(error) = yaml::to_json_strict(text, &limits) {
        parts.push(named("strict", error.bare().to_owned()));
    }
    let again = yaml::try_from_json(&value).unwrap_or_else(|error| format!("error: {error}"));
    parts.push(named("yaml", again));
    let floats = yaml::to_floats(text, &limits).unwrap_or_default();
    parts.push(named("yaml3", yaml::from_json_indented(&floats, 2)));
    parts
}

fn set(flag: &str, texts: &[String], helm: Helm) -> Vec<(&'static str, String)> {
    let mut values = Map::new();
    for text in texts {
        let style = match flag {
            "set" => Style::Typed,
            "set-string" => Style::String,
            "set-json" => Style::Json,
            _ => Style::Literal,
        };
        if let Err(error) = parse_into(text, style, helm, &Limits::default(), &mut values) {
            return vec![("error", error)];
        }
    }
    vec![("json", go_json::encode(&Value::Object(values)))]
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Yaml(text) => write!(f, "YAML {:?}", String::from_utf8_lossy(text)),
            Self::Set(flag, texts) => write!(f, "--{flag} {texts:?}"),
            Self::Render(case) => {
                writeln!(f, "chart with {:?} {:?} {:?}", case.set, case.flags, case.kube_version)?;
                for (path, data) in &case.files {
                    writeln!(f, "  {path:?}: {:?}", String::from_utf8_lossy(data))?;
                }
                for data in &case.values {
                    writeln!(f, "  -f {:?}", String::from_utf8_lossy(data))?;
                }
                Ok(())
            }
        }
    }
}
