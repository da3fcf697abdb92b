//! Where in the rehearsals something was met, in words for findings.

use std::collections::{BTreeMap, BTreeSet};

use super::Context;
use super::rehearsal_failed::UNDOING;
use crate::upgrade::outcome::{Operation, Outcome, Verdict, Way};
use crate::upgrade::trace::Step;

/// One end of one operation on one way of an actor.
#[derive(Clone, Copy)]
pub(super) struct Met<'s> {
    pub(super) actor: &'s str,
    pub(super) way: &'s Way,
    pub(super) operation: &'s Operation,
    pub(super) outcome: &'s Outcome,
    /// Ways of the actor on which the same command changes something.
    ways: usize,
}

/// Every end of every operation with its last step.
pub(super) fn ends<'s>(context: &Context<'s>) -> Vec<(Met<'s>, &'s Step)> {
    let mut ends = Vec::new();
    for rehearsal in context.scene.rehearsals {
        for way in &rehearsal.ways {
            for operation in &way.operations {
                let last = operation.outcomes.iter().filter_map(|one| Some((one, one.steps.last()?)));
                let actor = rehearsal.actor.as_str();
                let met = |outcome| Met { actor, way, operation, outcome, ways: 0 };
                ends.extend(last.map(|(outcome, step)| (met(outcome), step)));
            }
        }
    }
    counted(ends)
}

/// Every end with the number of ways on which its command changes something.
fn counted<'s>(mut ends: Vec<(Met<'s>, &'s Step)>) -> Vec<(Met<'s>, &'s Step)> {
    let mut ways: BTreeMap<(&str, String), BTreeSet<*const Way>> = BTreeMap::new();
    for (met, _) in ends.iter().filter(|(met, _)| met.outcome.verdict != Verdict::Refused) {
        ways.entry((met.actor, met.command())).or_default().insert(met.way);
    }
    for (met, _) in &mut ends {
        met.ways = ways.get(&(met.actor, met.command())).map_or(0, BTreeSet::len);
    }
    ends
}

impl Met<'_> {
    /// Whether it is on the road forward, without a flag that undoes the upgrade.
    pub(super) fn is_forward(&self) -> bool {
        let undoes = self.operation.flags.iter().any(|flag| UNDOING.contains(&flag.as_str()));
        matches!(self.operation.name.as_str(), "upgrade" | "upgrade again") && !undoes
    }

    /// The operation with its own flags.
    fn command(&self) -> String {
        std::iter::once(self.operation.title()).chain(self.flags()).collect::<Vec<_>>().join(" ")
    }

    /// The operation's flags beyond those of the way.
    fn flags(&self) -> impl Iterator<Item = &str> {
        let own = self.operation.flags.iter().filter(|flag| !self.way.flags.contains(flag));
        own.map(String::as_str)
    }
}

/// `helm3, helm4 upgrade: plain / take ownership; helm4 rollback: every way`.
pub(super) fn listed(all: &[Met<'_>]) -> String {
    let mut places: Vec<Place<'_>> = Vec::new();
    for (actor, command, ways) in by_command(all) {
        // Actors that fare alike are told together, and so are commands.
        match places.iter_mut().find(|place| place.ways == ways && place.commands == [command.as_str()]) {
            Some(place) => place.actors.push(actor),
            None => places.push(Place { actors: vec![actor], commands: vec![command], ways }),
        }
    }
    let mut merged: Vec<Place<'_>> = Vec::new();
    for place in places {
        match merged.iter_mut().find(|other| other.ways == place.ways && other.actors == place.actors) {
            Some(other) => other.commands.extend(place.commands),
            None => merged.push(place),
        }
    }
    merged.iter().map(Place::text).collect::<Vec<_>>().join("; ")
}

/// Commands of actors, and the ways on which they do the same.
struct Place<'m> {
    actors: Vec<&'m str>,
    commands: Vec<String>,
    ways: String,
}

impl Place<'_> {
    fn text(&self) -> String {
        format!("{} {}: {}", self.actors.join(", "), self.commands.join(" / "), self.ways)
    }
}

/// Each command of each actor with the names of its ways, or with the word for all of them.
fn by_command<'m>(all: &[Met<'m>]) -> Vec<(&'m str, String, String)> {
    let mut found: BTreeMap<(String, &str), Vec<&Met<'m>>> = BTreeMap::new();
    for met in all {
        found.entry((met.command(), met.actor)).or_default().push(met);
    }
    let told = found.into_values().filter_map(|same| {
        let first = *same.first()?;
        let ways: BTreeSet<*const Way> = same.iter().map(|met| std::ptr::from_ref(met.way)).collect();
        let everywhere = ways.len() > 1 && ways.len() >= first.ways;
        let names = || names(&same).join(" / ");
        Some((first.actor, first.command(), if everywhere { "every way".to_owned() } else { names() }))
    });
    told.collect()
}

/// The names of the ways, each once, in their order.
fn names<'m>(same: &[&Met<'m>]) -> Vec<&'m str> {
    let mut names: Vec<&str> = Vec::new();
    for met in same {
        if !names.contains(&met.way.name.as_str()) {
            names.push(&met.way.name);
        }
    }
    names
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

/// Most conditions that are named.
const NAMED: usize = 4;

/// The conditions under which it happens, unless it happens somewhere under none.
pub(super) fn condition(all: &[Met<'_>]) -> Option<String> {
    let always = all.iter().any(|met| met.outcome.condition.is_empty());
    let conditions: BTreeSet<&str> = all.iter().flat_map(|met| met.outcome.conditions()).collect();
    // What happens under the shorter condition of an upgrade happens after it as well.
    let mut conditions: Vec<&str> = conditions.into_iter().collect();
    conditions.sort_by_key(|condition| condition.contains("; "));
    let more = conditions.len().saturating_sub(NAMED);
    let named = conditions.iter().take(NAMED).copied().collect::<Vec<_>>().join(", or ");
    let rest =
        if more == 0 { String::new() } else { format!(", or under {more} more of the conditions tried") };
    (!always).then_some(named + &rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upgrade::sample;

    fn way(name: &str) -> Way {
        let upgrade = |name: &str, condition: &str| Operation {
            name: name.to_owned(),
            flags: Vec::new(),
            outcomes: vec![Outcome::of(condition.to_owned(), Vec::new())],
        };
        Way {
            name: name.to_owned(),
            made_by: String::new(),
            ..sample::way(vec![upgrade("upgrade", "a"), upgrade("upgrade again", "b; c")])
        }
    }

    fn met<'s>(actor: &'s str, way: &'s Way, at: usize) -> Met<'s> {
        let operation = &way.operations[at];
        Met { actor, way, operation, outcome: &operation.outcomes[0], ways: 2 }
    }

    #[test]
    fn what_is_alike_is_told_together() {
        let (one, other) = (way("plain"), way("keep"));
        let mut all = Vec::new();
        for actor in ["helm3", "helm4"] {
            all.extend([met(actor, &one, 0), met(actor, &other, 0), met(actor, &one, 1)]);
        }
        assert_eq!(listed(&all), "helm3, helm4 upgrade: every way; helm3, helm4 upgrade again: plain");
        all.extend([met("helm3", &other, 1), met("helm4", &other, 1)]);
        assert_eq!(listed(&all), "helm3, helm4 upgrade / upgrade again: every way");
        assert_eq!(listed(&all[..1]), "helm3 upgrade: plain");
        assert_eq!(condition(&all).as_deref(), Some("a, or b; c"));
    }
}
