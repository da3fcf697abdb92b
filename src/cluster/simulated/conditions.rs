//! Conditions of a rehearsal: everything that chance or the outside world decides, fixed beforehand.
//!
//! A real upgrade hangs on races (which manager leads when the hook applies, whether a certificate is being
//! renewed) and on the surroundings (an image that can't be pulled). A rehearsal takes them as data, so that each
//! outcome can be reached on purpose; scenario files write them under `conditions`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// What chance and the outside world decide in one rehearsal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Conditions {
    /// When a freshly rolled out manager takes the lead, relative to the hooks.
    pub leader: LeaderTiming,
    /// What becomes of hook Jobs.
    pub hooks: Hooks,
    /// Whether webhook calls meet certificates that are being renewed.
    pub certificates: Certificates,
    /// Webhook calls that still get through after a certificate's reset, where certificates rotate.
    pub calls_before_renewal: u32,
    /// TrainJobs, by name, that a new manager looks at before it lets go of runtimes that are being deleted.
    pub jobs_first: BTreeSet<String>,
    /// When a manager tries again what failed for want of a runtime.
    pub retries: Retries,
    /// Parts of image references that can't be pulled; an image is unpullable when it contains one of them.
    pub images: BTreeSet<String>,
    /// How long things take.
    pub timing: Timing,
}

impl Conditions {
    /// Whether an image can be pulled.
    #[must_use]
    pub fn pullable(&self, image: &str) -> bool {
        !self.images.iter().any(|part| !part.is_empty() && image.contains(part.as_str()))
    }
}

/// Which conditions came into play so far: those where another answer would have changed the course of things.
///
/// Two runs whose conditions differ only in what never came into play are one and the same run.
#[derive(Debug, Default)]
pub struct Consulted {
    leader: AtomicBool,
    hooks: AtomicBool,
    certificates: AtomicBool,
    lease: AtomicBool,
    jobs_first: AtomicBool,
    retries: AtomicBool,
    /// Images of which somebody asked whether they can be pulled.
    images: Mutex<BTreeSet<String>>,
}

impl Consulted {
    /// Notes that an image was to be pulled.
    pub(super) fn image(&self, image: &str) {
        let mut images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        if !images.contains(image) {
            images.insert(image.to_owned());
        }
    }

    fn images(&self) -> BTreeSet<String> {
        self.images.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How much has come into play so far; it only grows.
    #[must_use]
    pub fn count(&self) -> usize {
        let flags =
            [&self.leader, &self.hooks, &self.certificates, &self.lease, &self.jobs_first, &self.retries];
        let images = self.images.lock().unwrap_or_else(PoisonError::into_inner).len();
        images + flags.iter().filter(|flag| flag.load(Ordering::Relaxed)).count()
    }

    /// Notes that a hook met a change of the lead.
    pub(super) fn leader(&self) {
        self.leader.store(true, Ordering::Relaxed);
    }

    /// Notes that a hook Job ran.
    pub(super) fn hooks(&self) {
        self.hooks.store(true, Ordering::Relaxed);
    }

    /// Notes that a webhook was called while its certificate was new.
    pub(super) fn certificates(&self) {
        self.certificates.store(true, Ordering::Relaxed);
    }

    /// Notes that a manager waited for the lease of another.
    pub(super) fn lease(&self) {
        self.lease.store(true, Ordering::Relaxed);
    }

    /// Notes that a new manager met runtimes that are being deleted.
    pub(super) fn jobs_first(&self) {
        self.jobs_first.store(true, Ordering::Relaxed);
    }

    /// Notes that a runtime came back between two tries.
    pub(super) fn retries(&self) {
        self.retries.store(true, Ordering::Relaxed);
    }

    /// Adds what came into play in another stretch of the same run.
    pub(crate) fn add(&self, other: &Self) {
        let pairs = [
            (&self.leader, &other.leader),
            (&self.hooks, &other.hooks),
            (&self.certificates, &other.certificates),
            (&self.lease, &other.lease),
            (&self.jobs_first, &other.jobs_first),
            (&self.retries, &other.retries),
        ];
        for (own, other) in pairs {
            own.fetch_or(other.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        other.images().iter().for_each(|image| self.image(image));
    }

    /// Whether a run under `others` could have gone another way than the one under `own` that these notes are from.
    #[must_use]
    pub fn tells_apart(&self, own: &Conditions, others: &Conditions) -> bool {
        let noted = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        let lapses = |timing| matches!(timing, LeaderTiming::AtOnce | LeaderTiming::AtLast);
        let lease = (lapses(own.leader) || lapses(others.leader)) && noted(&self.lease);
        own.leader != others.leader && (noted(&self.leader) || lease)
            || own.jobs_first != others.jobs_first && noted(&self.jobs_first)
            || own.retries != others.retries && noted(&self.retries)
            || own.calls_before_renewal != others.calls_before_renewal && noted(&self.certificates)
            || own.hooks != others.hooks && noted(&self.hooks)
            || own.certificates != others.certificates && noted(&self.certificates)
            || own.images != others.images
                && self.images().iter().any(|image| own.pullable(image) != others.pullable(image))
            || own.timing != others.timing
    }
}

impl Clone for Consulted {
    fn clone(&self) -> Self {
        let copy = |flag: &AtomicBool| AtomicBool::new(flag.load(Ordering::Relaxed));
        Self {
            leader: copy(&self.leader),
            hooks: copy(&self.hooks),
            certificates: copy(&self.certificates),
            lease: copy(&self.lease),
            jobs_first: copy(&self.jobs_first),
            retries: copy(&self.retries),
            images: Mutex::new(self.images()),
        }
    }
}

/// When a freshly rolled out manager takes the lead, relative to the hooks of the same operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeaderTiming {
    /// The lease of the old manager lapses after the hook has done its work: the natural order, hooks start within
    /// seconds and the lease takes 15.
    #[default]
    AfterHook,
    /// Hooks are slow to start (an image pull, a busy cluster): the new manager leads before they do anything.
    BeforeHook,
    /// The rest is slow: the lease has lapsed when the new manager is Ready, and it leads at once.
    AtOnce,
    /// The lease lapses just when the new manager is about to be replaced by another: it leads for a moment.
    AtLast,
}

/// When a manager tries again what failed for want of a runtime: its pauses double, and nothing wakes it earlier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Retries {
    /// At the end of the pause.
    #[default]
    Late,
    /// The pause happens to end as soon as the runtime is back.
    Prompt,
}

/// What becomes of hook Jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Hooks {
    /// For every hook that is not named.
    pub default: HookOutcome,
    /// By name of the Job.
    pub named: BTreeMap<String, HookOutcome>,
}

impl Hooks {
    /// The outcome for one Job.
    #[must_use]
    pub fn outcome(&self, job: &str) -> HookOutcome {
        self.named.get(job).copied().unwrap_or(self.default)
    }
}

/// What becomes of one hook Job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookOutcome {
    /// Its pod starts and its script is executed with the rights of its ServiceAccount; what the script is refused
    /// it is refused. A program that can't be rehearsed is taken to end well.
    #[default]
    Succeeds,
    /// Its pod starts and fails before it has done anything, every time.
    Fails,
    /// Its pod starts and never ends, without having done anything.
    Hangs,
    /// Its pod is never scheduled or its image never pulled.
    NeverScheduled,
}

/// Whether webhook calls meet certificates that are being renewed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certificates {
    /// Renewed certificates are in place at once.
    #[default]
    Settled,
    /// From the moment a certificate Secret is reset until its pods serve the new one, webhook calls are refused
    /// with `x509: certificate signed by unknown authority`.
    Rotating,
}

/// How long things take, in virtual seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Timing {
    /// From a pod's creation until it is Ready.
    #[serde(deserialize_with = "seconds")]
    pub pod_ready: f64,
    /// From a pod's deletion until it is gone.
    #[serde(deserialize_with = "seconds")]
    pub pod_stop: f64,
    /// Length of a leader election lease; a new manager leads when the lease of the one that is gone has lapsed.
    #[serde(deserialize_with = "seconds")]
    pub lease: f64,
    /// From the reset of a certificate Secret until its owner has filled it again.
    #[serde(deserialize_with = "seconds")]
    pub secret_refill: f64,
    /// From a change of a Secret until running pods see it.
    #[serde(deserialize_with = "seconds")]
    pub secret_refresh: f64,
    /// From the creation of a hook's pod until its script runs.
    #[serde(deserialize_with = "seconds")]
    pub hook_start: f64,
    /// One installation of packages, or one download, by a script.
    #[serde(deserialize_with = "seconds")]
    pub download: f64,
}

/// Seconds that anything in a rehearsal may take.
const LONGEST: f64 = 1_000_000.0;

fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    if (0.0..=LONGEST).contains(&seconds) {
        return Ok(seconds);
    }
    Err(D::Error::custom(format!("{seconds} seconds are not between 0 and {LONGEST}")))
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            pod_ready: 3.0,
            pod_stop: 1.0,
            lease: 15.0,
            secret_refill: 2.0,
            secret_refresh: 60.0,
            hook_start: 2.0,
            download: 2.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_a_scenario_file_says() {
        let text = r#"{"leader":"before-hook","hooks":{"default":"fails","named":{"installer":"never-scheduled"}},
            "certificates":"rotating","images":["manager:v2"],"timing":{"lease":30}}"#;
        let conditions: Conditions = serde_json::from_str(text).expect("conditions");
        assert_eq!(conditions.leader, LeaderTiming::BeforeHook);
        assert_eq!(conditions.hooks.outcome("installer"), HookOutcome::NeverScheduled);
        assert_eq!(conditions.hooks.outcome("other"), HookOutcome::Fails);
        assert_eq!(conditions.certificates, Certificates::Rotating);
        assert!(!conditions.pullable("ghcr.io/x/manager:v2.3.0"));
        assert!(conditions.pullable("ghcr.io/x/manager:v1"));
        assert!((conditions.timing.lease - 30.0).abs() < f64::EPSILON);
        assert!((conditions.timing.hook_start - Timing::default().hook_start).abs() < f64::EPSILON);
    }

    #[test]
    fn only_what_came_into_play_tells_runs_apart() {
        let (own, met) = (Conditions::default(), Consulted::default());
        let others = [
            Conditions { leader: LeaderTiming::AtLast, ..Conditions::default() },
            Conditions { jobs_first: BTreeSet::from(["job".to_owned()]), ..Conditions::default() },
            Conditions { retries: Retries::Prompt, ..Conditions::default() },
        ];
        assert!(others.iter().all(|other| !met.tells_apart(&own, other)));
        let later = Consulted::default();
        later.lease();
        later.jobs_first();
        later.retries();
        met.add(&later);
        assert!(others.iter().all(|other| met.tells_apart(&own, other)));
        let before = Conditions { leader: LeaderTiming::BeforeHook, ..Conditions::default() };
        assert!(!met.tells_apart(&own, &before), "no hook met the change of the lead");
    }

    #[test]
    fn time_goes_forward_and_ends() {
        let read = |seconds: &str| {
            serde_json::from_str::<Conditions>(&format!(r#"{{"timing":{{"lease":{seconds}}}}}"#))
        };
        assert!(read("-1").is_err_and(|error| error.to_string().contains("not between 0 and 1000000")));
        assert!(read("1e300").is_err());
        assert!(read("0").is_ok());
    }

    #[test]
    fn refuses_unknown_names() {
        assert!(serde_json::from_str::<Conditions>(r#"{"leeder":"before-hook"}"#).is_err());
    }
}
