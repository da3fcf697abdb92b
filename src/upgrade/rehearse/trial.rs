//! Conditions under which one command is tried, and why a try under others can't end differently.

use crate::cluster::simulated::Conditions;
use crate::cluster::simulated::conditions::{Certificates, HookOutcome, LeaderTiming};
use crate::k8s;
use crate::render::{HookEvent, Render};
use crate::upgrade::fate::Snapshot;

/// One set of conditions and its name.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    /// When, in words; empty for the calm course of things.
    pub(super) condition: String,
    /// The conditions.
    pub(super) conditions: Conditions,
}

impl Trial {
    fn new(condition: &str, change: impl FnOnce(&mut Conditions)) -> Self {
        let mut conditions = Conditions::default();
        change(&mut conditions);
        Self { condition: condition.to_owned(), conditions }
    }

    /// Everything goes its natural way.
    pub(super) fn calm() -> Self {
        Self::new("", |_| {})
    }
}

/// Conditions under which nothing outside goes wrong.
const NATURAL: &[&str] = &["", HOOK_ENDS_FIRST, HOOK_WORKS, CERTIFICATES_SETTLED];

const HOOK_ENDS_FIRST: &str = "the hook ends before the new controller leads";

const HOOK_WORKS: &str = "the hook does its work";

const CERTIFICATES_SETTLED: &str = "webhook certificates are in place";

/// How the states are named that follow-ups begin from.
pub(super) const AFTERWARDS: &str = "after an upgrade in which ";

/// Whether a condition, as outcomes name it, is the natural course of things.
#[must_use]
pub fn is_natural(condition: &str) -> bool {
    condition.split("; ").all(|part| NATURAL.contains(&part.strip_prefix(AFTERWARDS).unwrap_or(part)))
}

/// Whether a render has hooks that run to an end at one of these events.
pub(super) fn has_jobs(render: &Render, events: &[HookEvent]) -> bool {
    render.hooks.iter().any(|hook| {
        let runs = matches!(k8s::text(&hook.manifest.object, "/kind"), "Job" | "Pod");
        runs && hook.events.iter().any(|event| events.contains(event))
    })
}

/// Whether anybody guards writes with a webhook.
pub(super) fn has_webhooks(snapshot: &Snapshot) -> bool {
    snapshot.names().any(|name| name.kind.ends_with("WebhookConfiguration"))
}

/// Trials of a command that runs hooks (or not) in a cluster with webhooks (or without).
pub(super) fn trials(hooks: bool, webhooks: bool) -> Vec<Trial> {
    let mut trials = if hooks {
        vec![
            Trial::new(HOOK_ENDS_FIRST, |_| {}),
            Trial::new("the new controller leads before the hook runs", |c| {
                c.leader = LeaderTiming::BeforeHook;
            }),
            Trial::new("the hook fails", |c| c.hooks.default = HookOutcome::Fails),
            Trial::new("the hook never ends", |c| c.hooks.default = HookOutcome::Hangs),
        ]
    } else {
        vec![Trial::new(CERTIFICATES_SETTLED, |_| {})]
    };
    if webhooks {
        trials.push(Trial::new("webhook certificates are being renewed", |c| {
            c.certificates = Certificates::Rotating;
        }));
    }
    trials
}

/// Trials of an uninstall that runs hooks.
pub(super) fn departures() -> Vec<Trial> {
    vec![
        Trial::new(HOOK_WORKS, |_| {}),
        Trial::new("the hook fails", |c| c.hooks.default = HookOutcome::Fails),
    ]
}

/// A hook that hangs is cut off by the command, and only then the upgrade is undone: how far it came by then hangs on it.
const CUT_OFF: &str = "the hook never ends and --timeout (5m0s here) is over";

/// Trials of an upgrade that undoes itself: only what makes it fail matters.
pub(super) fn failures(hooks: bool, webhooks: bool, new_images: &[String]) -> Vec<Trial> {
    let mut trials = Vec::new();
    if hooks {
        trials.push(Trial::new("the hook fails", |c| c.hooks.default = HookOutcome::Fails));
        trials.push(Trial::new(CUT_OFF, |c| c.hooks.default = HookOutcome::Hangs));
    }
    if !new_images.is_empty() {
        trials
            .push(Trial::new("a new image can't be pulled", |c| c.images.extend(new_images.iter().cloned())));
    }
    if webhooks && hooks {
        trials.push(Trial::new("the hook fails while webhook certificates are being renewed", |c| {
            c.hooks.default = HookOutcome::Fails;
            c.certificates = Certificates::Rotating;
        }));
    }
    trials
}
