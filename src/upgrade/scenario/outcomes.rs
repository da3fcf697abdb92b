//! Every way in which a scenario can go: what its file leaves open is tried, as far as it comes into play.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::play::Player;
use super::{Inputs, Played, Scenario, ScenarioError};
use crate::cluster::simulated::conditions::{Certificates, Consulted, HookOutcome, LeaderTiming, Retries};
use crate::cluster::simulated::{Conditions, Simulated};
use crate::finding::ObjectName;
use crate::k8s::text;
use crate::upgrade::actors::Workshop;
use crate::upgrade::course::Course;
use crate::upgrade::fate::Snapshot;
use crate::upgrade::outcome::Outcome;
use crate::upgrade::secrets::{Attentive, Secrets};
use crate::upgrade::trace::{Action, Step};

/// How many webhook calls may get through before renewed certificates stop the next one.
const CALLS: u32 = 8;

/// What a condition does to the others.
type Change = Box<dyn Fn(&mut Conditions)>;

/// One value of a condition that the file leaves open.
struct Choice {
    /// Key of the condition in the file.
    key: &'static str,
    /// When, in words.
    words: String,
    change: Change,
}

impl Choice {
    fn new(key: &'static str, words: impl Into<String>, change: impl Fn(&mut Conditions) + 'static) -> Self {
        Self { key, words: words.into(), change: Box::new(change) }
    }
}

/// What can be different where nothing is said; `jobs` are the names of all TrainJobs.
fn choices(scenario: &Scenario, jobs: &BTreeSet<String>) -> Vec<Choice> {
    let mut choices = vec![
        Choice::new("leader", "the new controller leads before the hook runs", |c| {
            c.leader = LeaderTiming::BeforeHook;
        }),
        Choice::new("leader", "the new controller leads at once", |c| c.leader = LeaderTiming::AtOnce),
        Choice::new("leader", "the new controller leads just before it is replaced", |c| {
            c.leader = LeaderTiming::AtLast;
        }),
        Choice::new("hooks", "the hook fails", |c| c.hooks.default = HookOutcome::Fails),
        Choice::new("hooks", "the hook never ends", |c| c.hooks.default = HookOutcome::Hangs),
        Choice::new("retries", "a controller tries again as soon as a runtime is back", |c| {
            c.retries = Retries::Prompt;
        }),
    ];
    choices.extend((0..=CALLS).map(|calls| {
        let words = match calls {
            0 => "webhook certificates are being renewed".to_owned(),
            1 => "webhook certificates are renewed after 1 call".to_owned(),
            calls => format!("webhook certificates are renewed after {calls} calls"),
        };
        Choice::new("certificates", words, move |c| {
            c.certificates = Certificates::Rotating;
            c.calls_before_renewal = calls;
        })
    }));
    for job in jobs {
        let words = format!("the new controller looks at TrainJob {job} before it lets its runtime go");
        let first = BTreeSet::from([job.clone()]);
        choices.push(Choice::new("jobsFirst", words, move |c| c.jobs_first.clone_from(&first)));
    }
    let all = jobs.clone();
    let words = "the new controller looks at all TrainJobs before it lets their runtimes go";
    choices.push(Choice::new("jobsFirst", words, move |c| c.jobs_first.clone_from(&all)));
    choices.retain(|choice| !scenario.fixed.contains(choice.key));
    choices
}

/// A run under some choices.
struct Run {
    conditions: Conditions,
    consulted: Consulted,
    looks: Vec<Arc<Snapshot>>,
}

/// Plays a scenario in its natural course, then under everything that it leaves open and that comes into play, until `enough`
/// says so; the result has the natural course as its steps and every different end, worst first.
///
/// # Errors
/// See [`super::play`].
pub fn explore(
    scenario: &Scenario,
    world: Simulated,
    workshop: &Workshop<'_>,
    inputs: &mut Inputs<'_>,
    enough: &mut dyn FnMut(&Outcome, &[Arc<Snapshot>]) -> bool,
) -> Result<(Played, Simulated), ScenarioError> {
    let secrets = Secrets::default();
    let renderer = &Attentive::new(workshop.renderer, &secrets);
    let workshop = &Workshop { renderer, ..*workshop };
    let mut course = Course::new(world);
    course.secrets = secrets.clone();
    let mut player = Player::started(scenario, course, workshop, inputs)?;
    let start = player.course.fork();
    let mut explorer =
        Explorer { scenario, player: &mut player, start, outcomes: Vec::new(), enough, over: false };
    let (natural, steps) = explorer.run(&[])?;
    let end = explorer.player.course.world.clone();
    explorer.all(&natural)?;
    let mut outcomes = explorer.outcomes;
    let redactor = secrets.redactor();
    let (name, looks) = (scenario.name.clone(), natural.looks.clone());
    let mut notes = std::mem::take(&mut player.notes);
    notes.extend(scenario.unmet(&player.seen, &looks));
    let mut played = Played { scenario: name, steps, looks, notes, outcomes: Vec::new() };
    played.steps.iter_mut().for_each(|step| redactor.step(step));
    outcomes.iter_mut().flat_map(|outcome| &mut outcome.steps).for_each(|step| redactor.step(step));
    outcomes.sort_by_key(|outcome| std::cmp::Reverse((outcome.verdict, outcome.lost.len())));
    played.outcomes = outcomes;
    Ok((played, end))
}

struct Explorer<'e, 'p, 'i> {
    scenario: &'e Scenario,
    player: &'e mut Player<'p, 'i, Simulated>,
    start: Course<Simulated>,
    outcomes: Vec<Outcome>,
    enough: &'e mut dyn FnMut(&Outcome, &[Arc<Snapshot>]) -> bool,
    over: bool,
}

impl Explorer<'_, '_, '_> {
    /// Tries every choice that comes into play, and with it every other that comes into play only then.
    fn all(&mut self, natural: &Run) -> Result<(), ScenarioError> {
        let jobs = self.start.world.list("trainer.kubeflow.org", "TrainJob", "");
        let jobs: BTreeSet<String> = jobs.map(|job| text(job, "/metadata/name").to_owned()).collect();
        let choices = choices(self.scenario, &jobs);
        let matters = |run: &Run, choice: &Choice| {
            let mut other = run.conditions.clone();
            (choice.change)(&mut other);
            run.consulted.tells_apart(&run.conditions, &other)
        };
        for first in choices.iter().filter(|choice| matters(natural, choice)) {
            if self.over {
                return Ok(());
            }
            let (run, _) = self.run(&[first])?;
            let only_then = |choice: &&Choice| {
                choice.key != first.key && matters(&run, choice) && !matters(natural, choice)
            };
            for second in choices.iter().filter(only_then) {
                if self.over {
                    return Ok(());
                }
                self.run(&[first, second])?;
            }
        }
        Ok(())
    }

    /// Plays all steps under some choices and takes in how they end.
    fn run(&mut self, under: &[&Choice]) -> Result<(Run, Vec<Step>), ScenarioError> {
        self.player.course = self.start.fork();
        let change =
            |conditions: &mut Conditions| under.iter().for_each(|choice| (choice.change)(conditions));
        let consulted = Consulted::default();
        let (steps, looks) = self.player.steps(&change, &mut |world| consulted.add(world.consulted()))?;
        let words: Vec<&str> = under.iter().map(|choice| choice.words.as_str()).collect();
        let outcome = Outcome::of(words.join("; "), steps.clone());
        self.over |= (self.enough)(&outcome, &looks);
        match self.outcomes.iter_mut().find(|known| alike(known, &outcome)) {
            Some(known) => known.also.push(outcome.condition),
            None => self.outcomes.push(outcome),
        }
        let mut conditions = self.scenario.conditions.clone();
        change(&mut conditions);
        Ok((Run { conditions, consulted, looks }, steps))
    }
}

/// Whether two ends are the same for who looks at them: how the commands ended and what became of which object.
fn alike(one: &Outcome, other: &Outcome) -> bool {
    let same =
        |(a, b): (&Step, &Step)| a.exit_code == b.exit_code && a.stderr == b.stderr && fates(a) == fates(b);
    one.verdict == other.verdict && one.steps.iter().zip(&other.steps).all(same)
}

/// What became of objects whose names nobody makes up.
fn fates(step: &Step) -> Vec<(Action, ObjectName)> {
    let named =
        step.events.iter().filter(|event| !matches!(event.object.kind.as_str(), "Pod" | "ReplicaSet"));
    named
        .filter(|event| event.action != Action::Unchanged)
        .map(|event| (event.action, event.object.clone()))
        .collect()
}
