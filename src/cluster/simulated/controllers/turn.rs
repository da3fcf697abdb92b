//! When a controller has something to do: after writes to the kinds it watches, and at its due time.

use super::super::api::Api;

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
