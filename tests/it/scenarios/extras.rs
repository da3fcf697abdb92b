//! What records tell beside events and commands, by the record's field; each is compared where a record has it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use seatrial::cluster::simulated::Simulated;
use seatrial::upgrade::scenario::{Scenario, Stage};
use seatrial::upgrade::trace::{Action, Step};
use serde_json::{Value, json};

/// Fields that tell of commands given after the events were taken.
pub(super) const AFTERWARDS: &[&str] = &["updates", "second_apply", "unsuspend_afterwards", "history"];

fn stage(stage: Value) -> Stage {
    serde_json::from_value(stage).unwrap()
}

/// Where each object's UID stood before the record's command.
fn uids_before(records: &Path, name: &str) -> BTreeMap<String, String> {
    let Ok(data) = fs::read(records.join(format!("{name}-before.json.gz"))) else { return BTreeMap::new() };
    let mut text = String::new();
    flate2::read::GzDecoder::new(&data[..]).read_to_string(&mut text).unwrap();
    let dump: Value = serde_json::from_str(&text).unwrap();
    let index = dump["index"].as_object().unwrap();
    index
        .iter()
        .map(|(object, seen)| (object.clone(), seen["uid"].as_str().unwrap_or("").to_owned()))
        .collect()
}

/// Appends what the record says was done to suspended jobs at the end: their JobSets deleted where they came back under
/// another UID, then the jobs unsuspended.
pub(super) fn extend(scenario: &mut Scenario, record: &Value, records: &Path) {
    let Some(jobs) = record["unsuspend_afterwards"].as_object() else { return };
    let before = uids_before(records, record["scenario"].as_str().unwrap());
    for (job, told) in jobs {
        let uid = told["jobset_uid"].as_str().unwrap_or("");
        let known = before.get(&format!("JobSet/team-a/{job}"));
        if known.is_some_and(|known| !known.starts_with(uid)) {
            scenario.steps.push(stage(json!({"delete": {"objects": [format!("JobSet/team-a/{job}")]}})));
        }
    }
    for job in jobs.keys() {
        let object = format!("TrainJob/team-a/{job}");
        scenario
            .steps
            .push(stage(json!({"patch": {"object": object, "patch": {"spec": {"suspend": false}}}})));
    }
}

/// The whole of what is compared.
pub(super) struct Seen<'s> {
    pub(super) record: &'s Value,
    pub(super) steps: &'s [Step],
    /// The step that stands for the record's command.
    pub(super) main: usize,
    /// The cluster at the end.
    pub(super) end: &'s Simulated,
}

impl Seen<'_> {
    /// Everything that differs.
    pub(super) fn complaints(&self) -> Vec<String> {
        let all = [
            self.unsuspended("unsuspend_afterwards", |steps| steps.last().copied()),
            self.unsuspended("unsuspend", |steps| steps.first().copied()),
            self.unsuspended("unsuspend_after_repair", |steps| steps.last().copied()),
            self.read_differently(),
            self.stored_after(),
            self.events_seen(),
            self.history(),
            self.images(),
            self.sizes(),
            self.runtimes_left(),
        ];
        all.into_iter().flatten().collect()
    }

    /// What became of jobs when they were to run again.
    fn unsuspended(
        &self,
        field: &str,
        pick: impl for<'p> Fn(&[&'p Step]) -> Option<&'p Step>,
    ) -> Vec<String> {
        let jobs = self.record[field].as_object().into_iter().flatten();
        let told = jobs.flat_map(|(job, told)| {
            let start = format!("kubectl patch trainjob {job} -n team-a ");
            let steps: Vec<&Step> =
                self.steps.iter().filter(|step| step.command.starts_with(&start)).collect();
            match pick(&steps) {
                Some(step) => self.resumed(job, step, told),
                None => vec!["no such step".to_owned()],
            }
            .into_iter()
            .map(move |complaint| format!("{field} {job}: {complaint}"))
        });
        told.collect()
    }

    fn resumed(&self, job: &str, step: &Step, told: &Value) -> Vec<String> {
        let mut complaints = Vec::new();
        let mut same = |what: &str, expected: &Value, found: Value| {
            if *expected != found {
                complaints.push(format!("{what}: {expected} expected, {found} found"));
            }
        };
        same("rc", &told["rc"], json!(step.exit_code));
        same("stderr", &told["stderr"], json!(step.stderr));
        let set = format!("JobSet/team-a/{job}");
        let acted = |name: &str, action: Action| {
            step.events
                .iter()
                .filter(|e| e.action == action && e.object.to_string().starts_with(name))
                .count()
        };
        let pods = told["pods"].as_array().map_or(0, Vec::len);
        same("jobset_suspend", &told["jobset_suspend"], json!(acted(&set, Action::Updated) == 0));
        same("pods", &json!(pods), json!(acted(&format!("Pod/team-a/{job}-"), Action::Created)));
        let refused = told["events"].as_array().into_iter().flatten().filter_map(Value::as_str).next_back();
        let refused =
            refused.filter(|text| told["rc"] == 0 && told["jobset_suspend"] == true && !text.is_empty());
        if let Some(text) = refused {
            let said = step
                .notes
                .iter()
                .any(|note| note.starts_with(&format!("TrainJob team-a/{job}: {}", head(text))));
            same(&format!("{:?} said", head(text)), &json!(true), json!(said));
        }
        complaints
    }

    /// Which TrainJobs read otherwise than before, and how.
    fn read_differently(&self) -> Vec<String> {
        let Some(told) = self.record["read_differently"].as_object() else { return Vec::new() };
        let expected: BTreeSet<&str> = told.keys().map(String::as_str).collect();
        let events = &self.steps[self.main].events;
        let differs = events.iter().filter(|e| e.object.kind == "TrainJob" && e.changed.contains(&"spec"));
        let found: BTreeSet<&str> = differs.map(|event| event.object.name.as_str()).collect();
        let mut complaints = Vec::new();
        if expected != found {
            complaints.push(format!("read_differently: {expected:?} expected, {found:?} found"));
        }
        for (name, told) in told {
            let shown = self.end.shown().find(|object| is(object, "TrainJob", name));
            let mut spec = shown.map(|job| job["spec"].clone()).unwrap_or_default();
            spec.as_object_mut().unwrap().remove("managedBy");
            spec["suspend"] = told["after_api_read"]["suspend"].clone();
            if spec != told["after_api_read"] {
                complaints.push(format!("{name} reads {spec}, {} was read", told["after_api_read"]));
            }
        }
        complaints
    }

    /// What lies in the store at the end, which reads may not show.
    fn stored_after(&self) -> Vec<String> {
        let told = self.record["stored_after"].as_object().into_iter().flatten();
        let differing = told.filter_map(|(name, told)| {
            let stored = self.end.objects().find(|object| is(object, "TrainJob", name))?;
            let mut spec = stored["spec"].as_object().unwrap().clone();
            for left_out in ["managedBy", "runtimeRef", "suspend", "initializer"] {
                spec.remove(left_out);
            }
            let spec = Value::Object(spec);
            (spec != *told).then(|| format!("{name}: {told} was stored, {spec} is"))
        });
        differing.collect()
    }

    /// What controllers said about TrainJobs.
    fn events_seen(&self) -> Vec<String> {
        let pairs = self.record["events_seen"].as_array().into_iter().flatten();
        let mut pairs: Vec<(&str, &str)> =
            pairs.map(|pair| (pair[0].as_str().unwrap(), head(pair[1].as_str().unwrap()))).collect();
        let clash = self.record["clash_events"].as_array().into_iter().flatten().filter_map(Value::as_str);
        pairs.extend(clash.map(|text| ("clash", text.split_once(": ").unwrap().1)));
        let notes: Vec<&String> = self.steps.iter().flat_map(|step| &step.notes).collect();
        let said = |(job, text): &(&str, &str)| {
            notes.iter().any(|note| note.starts_with(&format!("TrainJob team-a/{job}: {text}")))
        };
        pairs
            .into_iter()
            .filter(|pair| !said(pair))
            .map(|(job, text)| format!("nobody said of {job}: {text}"))
            .collect()
    }

    /// Revisions and their states.
    fn history(&self) -> Vec<String> {
        let Some(history) = self.record["history"].as_str().filter(|text| !text.is_empty()) else {
            return Vec::new();
        };
        let states =
            ["deployed", "superseded", "failed", "pending-upgrade", "pending-rollback", "uninstalling"];
        let expected: BTreeSet<(String, String)> = history
            .lines()
            .filter_map(|line| {
                let fields: Vec<&str> = line.split('\t').map(str::trim).collect();
                let revision = fields.first()?.parse::<u64>().ok()?;
                let state = fields.iter().find(|field| states.contains(field))?;
                Some((revision.to_string(), (*state).to_owned()))
            })
            .collect();
        let first = expected.iter().map(|(revision, _)| revision.clone()).min().unwrap_or_default();
        let label =
            |secret: &Value, key: &str| secret["metadata"]["labels"][key].as_str().unwrap_or("").to_owned();
        let secrets = self.end.objects().filter(|object| object["type"] == "helm.sh/release.v1");
        let found: BTreeSet<(String, String)> =
            secrets.map(|secret| (label(secret, "version"), label(secret, "status"))).collect();
        // Long tables lost their first lines.
        let same =
            expected.is_subset(&found) && found.iter().filter(|e| e.0 >= first).count() == expected.len();
        if same { Vec::new() } else { vec![format!("history: {expected:?} expected, {found:?} found")] }
    }

    /// Images of a job's pods at the end.
    fn images(&self) -> Vec<String> {
        let fields = self.record.as_object().unwrap().iter();
        let told = fields.filter_map(|(field, told)| {
            let job = field.strip_suffix("_images").or_else(|| field.strip_suffix("_image"))?;
            let pods = self.end.objects().filter(|object| {
                object["kind"] == "Pod"
                    && object["metadata"]["name"].as_str().unwrap().starts_with(&format!("{job}-"))
            });
            let found: Vec<&Value> = pods.map(|pod| &pod["spec"]["containers"][0]["image"]).collect();
            let expected: Vec<&Value> = told.as_array()?.iter().collect();
            (expected != found).then(|| format!("{field}: {expected:?} expected, {found:?} found"))
        });
        told.collect()
    }

    /// Sizes of release records, within a percent.
    fn sizes(&self) -> Vec<String> {
        let told = self.record["sizes"].as_object().into_iter().flatten();
        let differing = told.filter_map(|(name, told)| {
            let expected = told.as_object()?.values().next()?.as_f64()?;
            let secret = self.end.objects().find(|object| is(object, "Secret", name));
            let data = secret.and_then(|secret| secret["data"]["release"].as_str()).unwrap_or("");
            #[expect(clippy::cast_precision_loss, reason = "sizes are small")]
            let found = STANDARD.decode(data).unwrap().len() as f64;
            let off = (found - expected).abs() / expected;
            (off > 0.01).then(|| format!("{name}: {expected} bytes recorded, {found} found"))
        });
        differing.collect()
    }

    /// Runtimes that are left at the end.
    fn runtimes_left(&self) -> Vec<String> {
        let Some(told) = self.record["h18_ctrs_after_all_off"].as_array() else { return Vec::new() };
        let runtimes = self.end.objects().filter(|object| object["kind"] == "ClusterTrainingRuntime");
        let found: Vec<&Value> = runtimes.map(|runtime| &runtime["metadata"]["name"]).collect();
        let same = told.iter().collect::<Vec<_>>() == found;
        if same { Vec::new() } else { vec![format!("runtimes: {told:?} expected, {found:?} found")] }
    }
}

fn is(object: &Arc<Value>, kind: &str, name: &str) -> bool {
    object["kind"] == kind && object["metadata"]["name"] == name
}

/// An error's text up to the value that it quotes: values are cut at other places.
fn head(text: &str) -> &str {
    text.split_once(": [").map_or(text, |(head, _)| head)
}
