//! A script that runs in a pod: executed step by step by running it again with a record of its answers.

use std::sync::Arc;

use super::{Ending, Host, Pause, Program, Run};
use crate::cluster::simulated::api::Api;
use crate::cluster::{ApiResource, Request, Response};
use crate::k8s::At as _;
use crate::k8s::text;

/// Most commands that the runs of one script may take together.
const SPENT: u64 = 1_000_000;

/// What the world answered at one point of the script.
#[derive(Clone, Debug)]
enum Entry {
    Answer(Response),
    Discovery(Arc<Vec<ApiResource>>),
    Alias(Option<(String, String)>),
    Slept(f64),
    /// The server asked to come again (429).
    Retry(f64),
    Downloaded(bool),
}

/// A running script.
#[derive(Clone, Debug)]
pub(in crate::cluster::simulated) struct Process {
    program: Arc<Program>,
    record: Vec<Entry>,
    started: f64,
    /// Commands that all its runs took.
    spent: u64,
    /// What it fetched from outside the cluster.
    downloads: Vec<String>,
}

impl Process {
    /// Starts a program.
    pub(in crate::cluster::simulated) fn new(program: Program, now: f64) -> Self {
        Self { program: Arc::new(program), record: Vec::new(), started: now, spent: 0, downloads: Vec::new() }
    }

    /// Runs the script as far as it comes at this moment.
    pub(in crate::cluster::simulated) fn run(&mut self, api: &mut Api<'_>) -> Run {
        if self.spent > SPENT {
            let ending = Ending::Unknown(format!("more than {SPENT} commands, those before each pause anew"));
            return Run { ending, output: String::new(), steps: 0 };
        }
        let program = self.program.clone();
        let clock = self.started;
        self.downloads.clear();
        let mut replay = Replay { process: self, api, at: 0, clock };
        let run = super::run(&program, &mut replay);
        self.spent += run.steps;
        run
    }

    /// What the script fetched from outside the cluster.
    pub(in crate::cluster::simulated) fn downloads(&self) -> &[String] {
        &self.downloads
    }

    /// The first words of the command.
    pub(in crate::cluster::simulated) fn user(&self) -> &str {
        &self.program.user
    }
}

/// The host that answers from the record first.
struct Replay<'a, 'b> {
    process: &'a mut Process,
    api: &'a mut Api<'b>,
    at: usize,
    clock: f64,
}

impl Replay<'_, '_> {
    fn recorded(&mut self) -> Option<Entry> {
        let entry = self.process.record.get(self.at).cloned();
        self.at += usize::from(entry.is_some());
        if entry.is_none() {
            self.clock = self.clock.max(self.api.now());
        }
        entry
    }

    fn keep(&mut self, entry: Entry) {
        self.process.record.push(entry);
        self.at += 1;
    }

    fn until(&mut self, moment: f64) -> Result<(), Pause> {
        if moment > self.api.now() {
            return Err(Pause { until: moment });
        }
        self.clock = self.clock.max(moment);
        Ok(())
    }
}

impl Host for Replay<'_, '_> {
    fn send(&mut self, request: Request) -> Result<Response, Pause> {
        loop {
            match self.recorded() {
                Some(Entry::Retry(moment)) => self.until(moment)?,
                Some(Entry::Answer(response)) => return Ok(response),
                _ => break,
            }
        }
        let response = self.api.send(&request);
        if response.status == 429 {
            let moment = self.api.now() + 1.0;
            self.keep(Entry::Retry(moment));
            return Err(Pause { until: moment });
        }
        let response = Response { body: self.api.unfolded(&response.body), ..response };
        self.keep(Entry::Answer(response.clone()));
        Ok(response)
    }

    fn discover(&mut self) -> Arc<Vec<ApiResource>> {
        if let Some(Entry::Discovery(resources)) = self.recorded() {
            return resources;
        }
        let resources = self.api.discover();
        self.keep(Entry::Discovery(resources.clone()));
        resources
    }

    fn sleep(&mut self, seconds: f64) -> Result<(), Pause> {
        let moment = match self.recorded() {
            Some(Entry::Slept(moment)) => moment,
            _ => {
                let moment = self.clock + seconds;
                self.keep(Entry::Slept(moment));
                moment
            }
        };
        self.until(moment)
    }

    fn download(&mut self, what: &str) -> Result<bool, Pause> {
        let seconds = self.api.conditions().timing.download;
        self.process.downloads.push(what.to_owned());
        self.sleep(seconds)?;
        if let Some(Entry::Downloaded(worked)) = self.recorded() {
            return Ok(worked);
        }
        self.keep(Entry::Downloaded(true));
        Ok(true)
    }

    fn alias(&mut self, name: &str) -> Option<(String, String)> {
        if let Some(Entry::Alias(alias)) = self.recorded() {
            return alias;
        }
        let alias = alias(self.api, name);
        self.keep(Entry::Alias(alias.clone()));
        alias
    }

    fn now(&self) -> f64 {
        self.clock.max(self.process.started)
    }
}

/// Looks a short or singular name up among the definitions of custom resources.
fn alias(api: &Api<'_>, name: &str) -> Option<(String, String)> {
    let definitions = api.list("apiextensions.k8s.io", "CustomResourceDefinition", "");
    let mut fitting = definitions.filter(|d| {
        let short = d.at("/spec/names/shortNames").and_then(serde_json::Value::as_array);
        text(d, "/spec/names/singular") == name
            || short.into_iter().flatten().any(|s| s.as_str() == Some(name))
    });
    let found = fitting.next()?;
    Some((text(found, "/spec/group").to_owned(), text(found, "/spec/names/plural").to_owned()))
}
