//! When a controller has something to do: after writes to the kinds it watches, and at its due time.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::api::Api;
use crate::k8s::text;

/// The longest pause between two tries, in seconds.
const LONGEST: f64 = 300.0;

/// A controller's memory of its last turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Turn {
    started: bool,
    due: Option<f64>,
}

impl Turn {
    /// Whether this turn has nothing to offer: no write to one of the kinds, and not due.
    pub(super) fn idle(&mut self, api: &Api<'_>, kinds: &[&str]) -> bool {
        let first = !std::mem::replace(&mut self.started, true);
        let due = self.due.is_some_and(|due| due <= api.now());
        !first && !due && !api.changes().iter().any(|c| kinds.contains(&&*c.key.kind))
    }

    /// When the next turn is due at the latest.
    pub(super) fn due(&self) -> Option<f64> {
        self.due
    }

    /// Ends a turn with the due time of the next.
    pub(super) fn end(&mut self, due: Option<f64>) -> Option<f64> {
        self.due = due;
        due
    }
}

/// The earlier of two due times.
pub(super) fn sooner(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// What was refused and when it is tried again: pauses double per object, as those of work queues do.
#[derive(Clone, Debug, Default)]
pub(super) struct Backoff {
    refused: BTreeMap<String, (i32, f64)>,
}

impl Backoff {
    /// Whether an object may be tried at this moment.
    pub(super) fn open(&self, uid: &str, now: f64) -> bool {
        self.next(uid).is_none_or(|next| now >= next)
    }

    /// The moment of the next try of an object that was refused.
    pub(super) fn next(&self, uid: &str) -> Option<f64> {
        self.refused.get(uid).map(|(_, next)| *next)
    }

    /// Takes in how a try ended; the moment of the next when it was refused.
    pub(super) fn tried(&mut self, uid: &str, refused: bool, now: f64) -> Option<f64> {
        if !refused {
            self.refused.remove(uid);
            return None;
        }
        let (tries, next) = self.refused.entry(uid.to_owned()).or_default();
        *next = now + 2_f64.powi(*tries).min(LONGEST);
        *tries = (*tries + 1).min(16);
        Some(*next)
    }

    /// Forgets objects that are gone.
    pub(super) fn keep(&mut self, alive: impl Fn(&str) -> bool) {
        self.refused.retain(|uid, _| alive(uid));
    }
}

/// The versions of everything that a controller looked at when it last had an object in hand: while none of them
/// changes and nothing is due, another look would end as the last one did.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    looks: BTreeMap<String, (Vec<u64>, Option<f64>)>,
}

impl Seen {
    /// Looks at an object unless that can't lead to anything; the moment at which something is due.
    pub(super) fn look(
        &mut self,
        api: &mut Api<'_>,
        object: &Value,
        versions: Vec<u64>,
        sync: impl FnOnce(&mut Api<'_>) -> Option<f64>,
    ) -> Option<f64> {
        let uid = text(object, "/metadata/uid");
        if let Some((known, due)) = self.looks.get(uid)
            && *known == versions
            && due.is_none_or(|due| api.now() < due)
        {
            return *due;
        }
        let due = sync(api);
        self.looks.insert(uid.to_owned(), (versions, due));
        due
    }
}

/// The resource version of an object.
pub(super) fn version(object: &Value) -> u64 {
    text(object, "/metadata/resourceVersion").parse().unwrap_or(0)
}
