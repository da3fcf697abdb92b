//! What may come after an upgrade: the same once more, a rollback, an uninstall, the switch of the definitions.

use super::{Explorer, Reached, Recipe};
use crate::cluster::Unreachable;
use crate::limits::parallel::side_by_side;
use crate::render::HookEvent;
use crate::upgrade::course::Order;
use crate::upgrade::outcome::{DROP, Operation};
use crate::upgrade::rehearse::gather::gather;
use crate::upgrade::rehearse::trial::{AFTERWARDS, Trial, departures, has_jobs, trials};
use crate::upgrade::trace::Step;

impl Explorer<'_> {
    /// What may come after an upgrade.
    pub(super) fn what_follows(&self, recipe: &Recipe, webhooks: bool) -> Vec<Next> {
        let before = |events| self.before.as_ref().is_some_and(|render| has_jobs(render, events));
        let back = before(&[HookEvent::PreRollback, HookEvent::PostRollback]);
        let leave = self.hooks(&[HookEvent::PreDelete, HookEvent::PostDelete]);
        let mut rollback = Next::new("rollback", Vec::new(), Act::Rollback).under(trials(back, webhooks));
        for force in self.actor.forces() {
            let flags = force.iter().map(|flag| (*flag).to_owned()).collect();
            let forced = Next::new("rollback", flags, Act::Rollback).under(trials(back, webhooks));
            rollback.if_it_fails.push(forced);
        }
        let mut next =
            vec![Next::new("upgrade again", recipe.flags.clone(), Act::Upgrade(recipe.clone())), rollback];
        let uninstall = Next::new("uninstall", Vec::new(), Act::Uninstall);
        next.push(if leave { uninstall.under(departures()) } else { uninstall });
        if let Some(gate) = self.gate.as_ref().filter(|_| recipe.sets.is_empty()) {
            let mut stripped = recipe.clone();
            stripped.flags.retain(|flag| flag == "--force-conflicts");
            let off = self.switched(stripped, gate);
            let flags = vec![format!("--set {}={}", gate.path, gate.value)];
            next.push(Next::new(DROP, flags, Act::Upgrade(off)));
        }
        next
    }

    /// What follows, and what a person tries next when it does not succeed.
    pub(super) fn insisting(&self, states: &[Reached], next: &Next) -> Result<Vec<Operation>, Unreachable> {
        let mut operations = vec![self.follow_up(states, next)?];
        let failed = |step: &Step| step.exit_code != 0;
        if operations.iter().flat_map(|operation| &operation.outcomes).flat_map(|o| &o.steps).any(failed) {
            for force in &next.if_it_fails {
                operations.push(self.follow_up(states, force)?);
            }
        }
        Ok(operations)
    }

    fn follow_up(&self, states: &[Reached], next: &Next) -> Result<Operation, Unreachable> {
        let tries = side_by_side(states, |(condition, course, ..)| {
            let prefix = if states.len() > 1 { format!("{AFTERWARDS}{condition}") } else { String::new() };
            self.ends(course, &next.trials, &self.next_order(next), &prefix, None)
        })?;
        let tries = tries.into_iter().flatten().map(|(_, one)| one).collect();
        Ok(Operation { name: next.name.to_owned(), flags: next.flags.clone(), outcomes: gather(tries) })
    }

    fn next_order(&self, next: &Next) -> Order<'_> {
        match &next.act {
            Act::Upgrade(recipe) => self.upgrade(recipe, &[]),
            Act::Rollback => self.rollback(&next.flags),
            Act::Uninstall => self.uninstall(),
        }
    }
}

/// One thing that may come after an upgrade.
pub(super) struct Next {
    pub(super) name: &'static str,
    pub(super) flags: Vec<String>,
    pub(super) act: Act,
    pub(super) trials: Vec<Trial>,
    /// What is tried after it when it does not succeed.
    pub(super) if_it_fails: Vec<Next>,
}

/// What is done.
pub(super) enum Act {
    Upgrade(Recipe),
    Rollback,
    Uninstall,
}

impl Next {
    fn new(name: &'static str, flags: Vec<String>, act: Act) -> Self {
        Self { name, flags, act, trials: vec![Trial::calm()], if_it_fails: Vec::new() }
    }

    fn under(self, trials: Vec<Trial>) -> Self {
        Self { trials, ..self }
    }
}
