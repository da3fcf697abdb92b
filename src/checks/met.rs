//! Where in the rehearsals something was met, in words for findings.

use std::collections::{BTreeMap, BTreeSet};

use super::Context;
use super::rehearsal_failed::UNDOING;
use crate::upgrade::outcome::{Operation, Outcome, Way};
use crate::upgrade::trace::Step;

/// One end of one operation on one way of an actor.
#[derive(Clone, Copy)]
pub(super) struct Met<'s> {
    pub(super) actor: &'s str,
    pub(super) way: &'s Way,
    pub(super) operation: &'s Operation,
    pub(super) outcome: &'s Outcome,
}

/// Every end of every operation with its last step.
pub(super) fn ends<'s>(context: &Context<'s>) -> Vec<(Met<'s>, &'s Step)> {
    let mut ends = Vec::new();
    for rehearsal in context.scene.rehearsals {
        for way in &rehearsal.ways {
            for operation in &way.operations {
                let last = operation.outcomes.iter().filter_map(|one| Some((one, one.steps.last()?)));
                let actor = rehearsal.actor.as_str();
                ends.extend(last.map(|(outcome, step)| (Met { actor, way, operation, outcome }, step)));
            }
        }
    }
    ends
}

impl Met<'_> {
    /// Whether it is on the road forward, without a flag that undoes the upgrade.
    pub(super) fn is_forward(&self) -> bool {
        let undoes = self.operation.flags.iter().any(|flag| UNDOING.contains(&flag.as_str()));
        matches!(self.operation.name.as_str(), "upgrade" | "upgrade again") && !undoes
    }

    fn command(&self) -> String {
        let words = [self.actor, self.operation.name.as_str()];
        words.into_iter().chain(self.flags()).collect::<Vec<_>>().join(" ")
    }

    /// The operation's flags beyond those of the way.
    fn flags(&self) -> impl Iterator<Item = &str> {
        let own = self.operation.flags.iter().filter(|flag| !self.way.flags.contains(flag));
        own.map(String::as_str)
    }
}

/// `helm3 upgrade: plain / take ownership; helm4 upgrade: plain`.
pub(super) fn listed(all: &[Met<'_>]) -> String {
    let mut ways: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for met in all {
        let ways = ways.entry(met.command()).or_default();
        if !ways.contains(&met.way.name.as_str()) {
            ways.push(&met.way.name);
        }
    }
    let lines = ways.iter().map(|(command, ways)| format!("{command}: {}", ways.join(" / ")));
    lines.collect::<Vec<_>>().join("; ")
}

/// The word for what all of them are part of; none where they are part of several things.
pub(super) fn operations(all: &[Met<'_>]) -> &'static [&'static str] {
    let only = |name: &str| all.iter().all(|met| met.operation.name.starts_with(name));
    match () {
        () if only("upgrade") => &["upgrade"],
        () if only("rollback") => &["rollback"],
        () if only("uninstall") => &["uninstall"],
        () => &[],
    }
}

/// The conditions under which it happens, unless it happens somewhere under none.
pub(super) fn condition(all: &[Met<'_>]) -> Option<String> {
    let always = all.iter().any(|met| met.outcome.condition.is_empty());
    let conditions: BTreeSet<&str> = all.iter().flat_map(|met| met.outcome.conditions()).collect();
    (!always).then(|| conditions.into_iter().collect::<Vec<_>>().join(", or "))
}
