//! Tries of one command, gathered into outcomes.

use crate::upgrade::outcome::{Outcome, Verdict, worst_first};
use crate::upgrade::stuck::stuck;
use crate::upgrade::trace::Step;

/// One try: its conditions in words and what happened.
pub(super) struct Try {
    /// When: what was tried, and what can't go another way.
    pub(super) conditions: Vec<String>,
    /// What happened.
    pub(super) step: Step,
}

impl Try {
    /// How it ended.
    pub(super) fn verdict(&self) -> Verdict {
        Verdict::of_step(&self.step)
    }

    /// How the command ended, whatever controllers make of it.
    pub(super) fn command_verdict(&self) -> Verdict {
        Verdict::of_command(&self.step)
    }

    /// Whether two tries ended alike for the reader.
    fn ends_like(&self, other: &Self) -> bool {
        let (a, b) = (&self.step, &other.step);
        a.exit_code == b.exit_code
            && a.lost_objects == b.lost_objects
            && a.stderr == b.stderr
            && self.verdict() == other.verdict()
            && stuck(a).into_keys().eq(stuck(b).into_keys())
    }
}

/// Outcomes, worst first; conditions are only named where they make a difference.
pub(super) fn gather(tries: Vec<Try>) -> Vec<Outcome> {
    let mut groups: Vec<Vec<Try>> = Vec::new();
    for one in tries {
        match groups.iter_mut().find(|group| group.first().is_some_and(|first| first.ends_like(&one))) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    let alone = groups.len() == 1;
    let mut outcomes: Vec<Outcome> = groups.into_iter().filter_map(|group| outcome(group, alone)).collect();
    worst_first(&mut outcomes);
    outcomes
}

/// The first of tries that end alike, with what any of them rewrote or set back.
fn joined(mut first: Step, other: Step) -> Step {
    add(&mut first.rewritten, other.rewritten);
    add(&mut first.undone, other.undone);
    first
}

fn add<T: PartialEq>(to: &mut Vec<T>, more: Vec<T>) {
    for one in more {
        if !to.contains(&one) {
            to.push(one);
        }
    }
}

fn outcome(group: Vec<Try>, alone: bool) -> Option<Outcome> {
    let verdict = group.first()?.verdict();
    let conditions = group.iter().flat_map(|one| &one.conditions).filter(|condition| !condition.is_empty());
    let mut conditions: Vec<String> = conditions.cloned().collect();
    conditions.dedup();
    let step = group.into_iter().map(|one| one.step).reduce(joined)?;
    let lost = step.lost_objects.clone();
    let (condition, also) = match (alone, conditions.split_first()) {
        (true, _) | (_, None) => (String::new(), Vec::new()),
        (false, Some((first, rest))) => (first.clone(), rest.to_vec()),
    };
    Some(Outcome { condition, also, verdict, lost, steps: vec![step] })
}
