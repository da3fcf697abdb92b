//! What a rehearsal says: per actor the ways through the upgrade, per way the operations, per operation every outcome.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::chart::Values;
use crate::finding::ObjectName;
use crate::upgrade::fate::wrote;
use crate::upgrade::secrets::Secrets;
use crate::upgrade::stuck::stuck;
use crate::upgrade::trace::Step;

/// How an operation ends, mildest first; the order decides which outcome is the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The command succeeds and every user-visible object keeps its UID.
    Keeps,
    /// The command ends with an error and has changed nothing but the release's own records.
    Refused,
    /// The command ends with an error after it has changed objects, or leaves objects that their controller can't bring on;
    /// nothing user-visible is lost.
    Breaks,
    /// User-visible objects are deleted or come back with another UID, whatever the exit code says.
    Loses,
}

impl Verdict {
    /// How a command ended, whatever controllers make of it.
    #[must_use]
    pub fn of_command(step: &Step) -> Self {
        Self::of(step.exit_code, wrote(&step.events), &step.lost_objects)
    }

    /// How a step ended: objects that their controller can't bring on when it is over make it break, whatever the command
    /// said, and also where the command was refused and an earlier one left them so; the worst counts.
    #[must_use]
    pub fn of_step(step: &Step) -> Self {
        let command = Self::of_command(step);
        if stuck(step).is_empty() { command } else { command.max(Self::Breaks) }
    }

    /// Judges a run: exit code, whether anything but the release's own records changed, and what was lost.
    #[must_use]
    pub fn of(exit_code: i32, wrote: bool, lost: &[ObjectName]) -> Self {
        match (lost.is_empty(), exit_code, wrote) {
            (false, _, _) => Self::Loses,
            (true, 0, _) => Self::Keeps,
            (true, _, true) => Self::Breaks,
            (true, _, false) => Self::Refused,
        }
    }
}

/// One possible end of an operation and what it hangs on.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// When this happens, e.g. `the installer hook fails`; empty when it does not hang on anything.
    pub condition: String,
    /// Other conditions that end the same way.
    pub also: Vec<String>,
    /// How it ends.
    pub verdict: Verdict,
    /// User-visible objects that were deleted or came back with another UID, over all steps.
    pub lost: Vec<ObjectName>,
    /// The commands in order, each settled.
    pub steps: Vec<Step>,
}

impl Outcome {
    /// What several commands in a row come to.
    #[must_use]
    pub fn of(condition: String, steps: Vec<Step>) -> Self {
        let lost: BTreeSet<ObjectName> =
            steps.iter().flat_map(|step| step.lost_objects.iter().cloned()).collect();
        let lost: Vec<ObjectName> = lost.into_iter().collect();
        let verdict = steps.iter().map(Verdict::of_step).max().unwrap_or(Verdict::Keeps);
        Self { condition, also: Vec::new(), verdict, lost, steps }
    }

    /// Objects that their controller can't bring on when the last command is over.
    #[must_use]
    pub fn stuck(&self) -> Vec<ObjectName> {
        self.steps.last().map(stuck).unwrap_or_default().into_keys().collect()
    }

    /// Whether every command succeeds.
    #[must_use]
    pub fn succeeds(&self) -> bool {
        self.steps.iter().all(|step| step.exit_code == 0)
    }

    /// The condition, and others that end the same way.
    pub fn conditions(&self) -> impl Iterator<Item = &str> {
        let all = std::iter::once(&self.condition).chain(&self.also);
        all.map(String::as_str).filter(|condition| !condition.is_empty())
    }
}

/// How an upgrade that undoes itself hangs on `--timeout`, for hooks that never end.
///
/// Seen on real control planes: with 30 s and more everything was lost, with 10 s the undoing met runtimes that were still
/// being deleted, stopped there and left the definitions alone.
pub const CUT_OFF: &str = "An upgrade with --atomic or --rollback-on-failure whose hook never ends is undone when --timeout is over. With 30 s or more the new controller leads by then and the undoing gets to its deletions; with as little as 10 s it can stop before them, but what the upgrade deleted stays lost. No timeout makes it safe: leave the flag out.";

/// The upgrade with `--reuse-values`, which nobody asked for: told, but not judged.
pub const REUSING: &str = "reuse values";

/// What people read for [`DROP`].
const DROP_TITLE: &str = "drop CRDs";

/// A later upgrade that takes the chart's definitions out of the release by its switch.
pub const DROP: &str = "crds off";

/// One thing a person or a tool does, with every way it can end.
#[derive(Clone, Debug, Serialize)]
pub struct Operation {
    /// `upgrade`, `upgrade again`, `rollback`, `uninstall`, [`DROP`], [`REUSING`]; programs know it by this word.
    pub name: String,
    /// Flags beyond the plain command.
    pub flags: Vec<String>,
    /// Every outcome that was found, worst first; never empty.
    pub outcomes: Vec<Outcome>,
}

impl Operation {
    /// What people read: a word that no way has in its name.
    #[must_use]
    pub fn title(&self) -> &str {
        if self.name == DROP { DROP_TITLE } else { &self.name }
    }

    /// The worst outcome's verdict.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.outcomes.iter().map(|outcome| outcome.verdict).max().unwrap_or(Verdict::Keeps)
    }
}

/// One road through the upgrade: the plain command, or one of the advertised ways around what stops it.
#[derive(Clone, Debug, Serialize)]
pub struct Way {
    /// Short name, e.g. `plain`, `take ownership`, `adoption labels`, `CRDs switched off`.
    pub name: String,
    /// One sentence on what is done.
    pub summary: String,
    /// Who made the release: the id of an actor; it decides how later versions of Helm write.
    pub made_by: String,
    /// Flags added to the upgrade command.
    pub flags: Vec<String>,
    /// Commands that are run before the upgrade.
    pub prepare: Vec<String>,
    /// Commands after the upgrade for what it left stuck, each seen to help after the upgrade's natural course.
    pub afterwards: Vec<String>,
    /// User-visible objects that uninstalling the installed release deletes even without this upgrade.
    pub loses_already: Vec<ObjectName>,
    /// Whether the numbers of its revisions are the user's own, from records that were handed in.
    #[serde(skip)]
    pub numbered: bool,
    /// The values of the upgrade where they are others than those of the plain one.
    #[serde(skip)]
    pub values: Option<Arc<Values>>,
    /// The upgrade first, then what may follow it.
    pub operations: Vec<Operation>,
}

impl Way {
    /// The worst verdict of all its operations.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.operations.iter().map(Operation::verdict).max().unwrap_or(Verdict::Keeps)
    }

    /// The operation of that name without extra flags, else the first of that name.
    #[must_use]
    pub fn operation(&self, name: &str) -> Option<&Operation> {
        let of_name = || self.operations.iter().filter(|operation| operation.name == name);
        of_name().find(|operation| operation.flags.is_empty()).or_else(|| of_name().next())
    }
}

/// Where the objects that a rehearsal starts from come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// The population that the program carries, generated for the kinds that the old chart serves.
    BuiltIn,
    /// Objects that the user handed in.
    State(String),
}

/// What is said of a handed-in object that takes no part.
const UNSERVED: &str = "could not be loaded from the state, no definition or built-in kind fits it; hand its CustomResourceDefinition in too";
/// How a starting release came about, where installing the old chart did not simply work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// Who was to make the release.
    pub made_by: String,
    /// What the install answered.
    pub error: String,
    /// Whether the release came about all the same, by a second step; if not, no way begins from it.
    pub reached: bool,
}

/// Everything rehearsed for one actor.
#[derive(Clone, Debug, Serialize)]
pub struct Rehearsal {
    /// The actor's id: `helm3`, `helm4`.
    pub actor: String,
    /// The version whose behaviour is rehearsed, e.g. `3.22`.
    pub version: String,
    /// Where the starting objects come from.
    pub start: Start,
    /// Objects alive before the first step, the release's own included.
    pub population: Vec<ObjectName>,
    /// The objects of the population.
    #[serde(skip)]
    pub alive: Vec<Arc<Value>>,
    /// Handed-in objects that fit no kind that is served: they took no part.
    pub unserved: Vec<ObjectName>,
    /// What else about the objects alive before the first step could not be checked, as lines.
    #[serde(skip)]
    pub doubts: Vec<String>,
    /// Releases that installing the old chart did not simply make.
    pub origins: Vec<Origin>,
    /// Why nothing could be rehearsed (the old chart does not install); empty otherwise.
    pub obstacle: String,
    /// The ways, the plain one first.
    pub ways: Vec<Way>,
    /// The values that nothing said about it may show.
    #[serde(skip)]
    pub secrets: Secrets,
}

/// Operations that a user may have to run on this road; losing anything in one of them is a lost rehearsal.
pub const ROAD: &[&str] = &["upgrade", "upgrade again", "rollback"];

impl Way {
    /// Whether an upgrade can get through on this way and nothing that belongs to the road loses anything.
    #[must_use]
    pub fn keeps_on_the_road(&self) -> bool {
        let on_the_road = self.operations.iter().filter(|operation| ROAD.contains(&operation.name.as_str()));
        let upgrade = self.operations.first().map(|upgrade| upgrade.outcomes.as_slice()).unwrap_or_default();
        upgrade.iter().any(Outcome::gets_through)
            && on_the_road.into_iter().all(|operation| operation.verdict() != Verdict::Loses)
    }

    /// What it costs: operations that lose something, then operations that can end with an error.
    fn price(&self) -> (usize, usize) {
        let count = |verdict: Verdict| self.operations.iter().filter(|o| o.verdict() == verdict).count();
        (count(Verdict::Loses), count(Verdict::Breaks))
    }
}

impl Outcome {
    /// A rollback ends well, except for objects that need a hand.
    #[must_use]
    pub fn gets_back(&self) -> bool {
        self.succeeds() && self.verdict != Verdict::Loses
    }

    /// The commands succeed; at worst there are objects that need a hand afterwards.
    #[must_use]
    pub fn gets_through(&self) -> bool {
        self.verdict == Verdict::Keeps || self.verdict == Verdict::Breaks && self.succeeds()
    }
}

impl Rehearsal {
    /// Who made the releases that the ways begin from.
    #[must_use]
    pub fn makers(&self) -> Vec<&str> {
        let mut makers: Vec<&str> = self.ways.iter().map(|way| way.made_by.as_str()).collect();
        makers.dedup();
        makers
    }

    /// The way to take with a release of this maker: the cheapest that keeps every object; none where none does.
    #[must_use]
    pub fn best(&self, maker: &str) -> Option<&Way> {
        let ways = self.ways.iter().filter(|way| way.made_by == maker);
        // Of equals the last is taken: ways are listed from the plainest to the most careful.
        ways.rev().filter(|way| way.keeps_on_the_road()).min_by_key(|way| way.price())
    }

    /// Every step of every outcome.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        let operations = self.ways.iter().flat_map(|way| &way.operations);
        operations.flat_map(|operation| &operation.outcomes).flat_map(|outcome| &outcome.steps)
    }

    /// What decides about objects and could not be looked into, each said once.
    #[must_use]
    pub fn unknowns(&self) -> BTreeSet<String> {
        unknowns(std::slice::from_ref(self))
    }

    /// The worst verdict of all ways.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.ways.iter().map(Way::verdict).max().unwrap_or(Verdict::Keeps)
    }
}

/// What decides about objects and could not be looked into by anybody, each said once, with the operations where it was
/// met.
#[must_use]
pub fn unknowns(rehearsals: &[Rehearsal]) -> BTreeSet<String> {
    let mut met: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for rehearsal in rehearsals {
        for way in &rehearsal.ways {
            for operation in &way.operations {
                let steps = operation.outcomes.iter().flat_map(|outcome| &outcome.steps);
                for note in steps.flat_map(Step::unknowns) {
                    let flags: String = operation.flags.iter().map(|flag| format!(" {flag}")).collect();
                    let place = format!("{}{flags} by {} ({})", operation.title(), rehearsal.actor, way.name);
                    let places = met.entry(note).or_default();
                    if !places.contains(&place) {
                        places.push(place);
                    }
                }
            }
        }
    }
    let told = met.into_iter().map(|(note, places)| match places.as_slice() {
        [] => note.to_owned(),
        [only] => format!("{note}: in {only}"),
        [first, rest @ ..] => format!("{note}: in {first} and {} more", rest.len()),
    });
    let unserved = rehearsals.iter().flat_map(|rehearsal| &rehearsal.unserved);
    let doubts = rehearsals.iter().flat_map(|rehearsal| rehearsal.doubts.iter().cloned());
    told.chain(unserved.map(|name| format!("{name}: {UNSERVED}"))).chain(doubts).collect()
}

/// Sorts outcomes worst first: by verdict, then by number of losses, then by condition.
pub fn worst_first(outcomes: &mut [Outcome]) {
    outcomes.sort_by(|a, b| {
        let key = |outcome: &Outcome| (outcome.verdict, outcome.lost.len());
        key(b).cmp(&key(a)).then_with(|| a.condition.cmp(&b.condition))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upgrade::sample;

    fn outcome(condition: &str, verdict: Verdict) -> Outcome {
        Outcome {
            condition: condition.into(),
            also: Vec::new(),
            verdict,
            lost: Vec::new(),
            steps: Vec::new(),
        }
    }

    #[test]
    fn losses_outrank_errors_and_errors_outrank_success() {
        let lost = [ObjectName { kind: "Widget".into(), namespace: "a".into(), name: "w".into() }];
        assert_eq!(Verdict::of(0, true, &lost), Verdict::Loses);
        assert_eq!(Verdict::of(1, true, &[]), Verdict::Breaks);
        assert_eq!(Verdict::of(1, false, &[]), Verdict::Refused);
        assert_eq!(Verdict::of(0, true, &[]), Verdict::Keeps);
    }

    #[test]
    fn what_is_left_stuck_breaks_also_where_the_command_is_refused() {
        let step = |exit_code: i32, notes: &[&str]| Step {
            exit_code,
            notes: notes.iter().map(|note| (*note).to_owned()).collect(),
            ..sample::step("upgrade again")
        };
        let stuck = ["A n/x: A reconciliation failed: field is immutable"];
        assert_eq!(Verdict::of_step(&step(1, &[])), Verdict::Refused);
        assert_eq!(Verdict::of_step(&step(1, &stuck)), Verdict::Breaks);
        assert_eq!(Verdict::of_step(&step(0, &stuck)), Verdict::Breaks);
    }

    #[test]
    fn the_worst_outcome_comes_first() {
        let mut outcomes =
            [outcome("b", Verdict::Keeps), outcome("c", Verdict::Loses), outcome("a", Verdict::Keeps)];
        worst_first(&mut outcomes);
        let order: Vec<_> = outcomes.iter().map(|outcome| outcome.condition.as_str()).collect();
        assert_eq!(order, ["c", "a", "b"]);
    }
}
