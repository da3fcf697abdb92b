//! Upgrades that no rollback takes back.

use std::collections::BTreeSet;

use super::rehearsal_failed::{evidence, gist, objects};
use super::{Context, Findings};
use crate::finding::Severity;
use crate::upgrade::outcome::{Operation, Outcome, Rehearsal, Way};
use crate::upgrade::rehearse::is_natural;
use crate::upgrade::trace::Step;

declare_check! {
    /// No rehearsed rollback leads back from the upgrade, or only a forced one does.
    ///
    /// ## What breaks
    /// Nothing, as long as the new version does what it should. When it does not, `helm rollback` ends with the error quoted:
    /// the new version can't be written back to what the old one was (a field that never changes again, an object marked
    /// `immutable`), or a hook of the old version needs what the upgrade took away. The release is then `failed`, with some objects
    /// old and some new, and nobody has tried before what has to be done by hand.
    ///
    /// ## What to do
    /// Decide before the upgrade what going back would take: a copy of what it writes over, the commands that delete what
    /// stands in the way, a second upgrade to the old chart. Where only the forced rollback succeeds, use it, and read in the
    /// report what it replaces.
    ///
    /// ## Not reported
    /// Rollbacks that fail only when something outside goes wrong, such as an image that can't be pulled; the table of ways
    /// shows them.
    ///
    /// ## References
    /// - The trace in `-o json` and `-o html` has every request and answer that led there.
    severity: Breaks
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    let mut told = BTreeSet::new();
    for rehearsal in context.scene.rehearsals {
        for way in rehearsal.makers().into_iter().filter_map(|maker| rehearsal.best(maker)) {
            let Some((back, step)) = back(way) else { continue };
            if told.insert((&rehearsal.actor, &way.name, &step.stderr)) {
                say(context, (rehearsal, way), back, step, findings);
            }
        }
    }
}

/// How one gets back where the plain rollback does not do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Back<'w> {
    /// With these flags.
    Forced(&'w [String]),
    /// Not at all.
    Never,
}

/// How one gets back from a way, and the step that shows that a plain rollback does not; nothing where it does.
fn back(way: &Way) -> Option<(Back<'_>, &Step)> {
    let rollbacks = || way.operations.iter().filter(|operation| operation.name == "rollback");
    let plain = rollbacks().find(|operation| operation.flags.is_empty())?;
    let succeeds = |operation: &&Operation| natural(operation).any(Outcome::gets_back);
    if succeeds(&plain) {
        return None;
    }
    let failed = natural(plain).find_map(|outcome| outcome.steps.iter().find(|step| step.exit_code != 0))?;
    let forced = rollbacks().find(succeeds);
    Some((forced.map_or(Back::Never, |forced| Back::Forced(&forced.flags)), failed))
}

/// The outcomes in which nothing outside goes wrong.
fn natural(operation: &Operation) -> impl Iterator<Item = &Outcome> {
    let calm = |outcome: &&Outcome| {
        is_natural(&outcome.condition) || outcome.also.iter().any(|condition| is_natural(condition))
    };
    operation.outcomes.iter().filter(calm)
}

fn say(
    context: &Context<'_>,
    (rehearsal, way): (&Rehearsal, &Way),
    back: Back<'_>,
    step: &Step,
    findings: &mut Findings,
) {
    let (severity, what) = match back {
        Back::Never => (Severity::Breaks, "no rehearsed rollback leads back".to_owned()),
        Back::Forced(flags) => {
            (Severity::Risks, format!("only a rollback with {} leads back", flags.join(" ")))
        }
    };
    let message = format!("after the upgrade by {} ({}) {what}: {}", rehearsal.actor, way.name, gist(step));
    let objects = objects(context, step);
    findings
        .say(severity, message, evidence(context, step, &objects))
        .about_all(&objects)
        .during(&["rollback"]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upgrade::outcome::Verdict;
    use crate::upgrade::sample;

    fn rollback(flags: &[&str], ends: &[(&str, i32)]) -> Operation {
        let end = |(condition, exit_code): &(&str, i32)| Outcome {
            condition: (*condition).to_owned(),
            also: Vec::new(),
            verdict: if *exit_code == 0 { Verdict::Keeps } else { Verdict::Breaks },
            lost: Vec::new(),
            steps: vec![Step { exit_code: *exit_code, ..sample::step("rollback") }],
        };
        let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
        Operation { name: "rollback".into(), flags, outcomes: ends.iter().map(end).collect() }
    }

    fn told(operations: Vec<Operation>) -> Option<String> {
        let way = sample::way(operations);
        back(&way).map(|(back, _)| format!("{back:?}"))
    }

    #[test]
    fn a_plain_rollback_that_ends_well_is_a_way_back() {
        assert_eq!(told(vec![rollback(&[], &[("", 0)])]), None);
        assert_eq!(told(vec![rollback(&[], &[("", 1), ("", 0)])]), None);
        assert_eq!(told(Vec::new()), None, "none was rehearsed");
    }

    #[test]
    fn one_that_never_does_is_none() {
        assert_eq!(told(vec![rollback(&[], &[("", 1)])]).as_deref(), Some("Never"));
        let both = vec![rollback(&[], &[("", 1)]), rollback(&["--force"], &[("", 1)])];
        assert_eq!(told(both).as_deref(), Some("Never"));
    }

    #[test]
    fn a_forced_one_is_better_than_none() {
        let both = vec![rollback(&[], &[("", 1)]), rollback(&["--force"], &[("", 0)])];
        assert_eq!(told(both).as_deref(), Some(r#"Forced(["--force"])"#));
    }
}
