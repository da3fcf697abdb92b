//! What `verify` does for one actor: the upgrade, the ways around what stops it, and from every state reached what may
//! come next, under every condition that chance decides.

use std::borrow::Borrow;
use std::sync::Arc;

use serde_json::Value;

use crate::chart::{Chart, Values};
use crate::cluster::Unreachable;
use crate::limits::parallel::side_by_side;
use crate::upgrade::actors::helm::Dialect;
use crate::upgrade::actors::{Actor, Subject, Workshop};
use crate::upgrade::edits::edits;
use crate::upgrade::outcome::{Rehearsal, Start};
use crate::upgrade::secrets::{Attentive, Secrets};
use crate::upgrade::words::ValuesWords;

mod base;
mod gate;
mod gather;
mod real;
mod roads;
mod trial;

pub use base::{Shared, recorded, releases};
pub use gate::gates;
pub use real::rehearse_real;
pub use trial::is_natural;

/// What is to be rehearsed.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The installed chart.
    pub before: Arc<Chart>,
    /// The chart to upgrade to.
    pub after: Arc<Chart>,
    /// The installed chart as commands name it.
    pub before_name: String,
    /// The new chart as commands name it.
    pub after_name: String,
    /// The values flags that the installed release was made with.
    pub words_before: ValuesWords,
    /// The values flags of the upgrade.
    pub words_after: ValuesWords,
    /// The user's values of the installed release.
    pub values_before: Arc<Values>,
    /// The user's values for the upgrade.
    pub values_after: Arc<Values>,
    /// Release and namespace.
    pub subject: Subject,
    /// Version of the cluster, e.g. `v1.34.3`.
    pub kubernetes: String,
    /// Objects that already live in the cluster; without them the built-in population is used.
    pub state: Option<State>,
}

/// The values that an upgrade without flags renders with: those of the installed release when none are given.
///
/// Source: Helm v4.3.1, `pkg/action/upgrade.go`, `reuseValues`.
#[must_use]
pub fn values_in_force<'v, V: Borrow<Values>>(installed: &'v V, given: &'v V) -> &'v V {
    if given.borrow().is_empty() { installed } else { given }
}

/// Objects that the user handed in.
#[derive(Clone, Debug)]
pub struct State {
    /// Where they come from.
    pub name: String,
    /// The objects.
    pub objects: Vec<Value>,
}

/// Rehearses one actor. What it says may quote Secrets until [`Secrets::redact`] was there; the values are known when all
/// actors of a run are through.
///
/// # Errors
/// Never for the simulated server, which always answers.
pub fn rehearse(actor: &dyn Actor, plan: &Plan, shared: &Shared<'_>) -> Result<Rehearsal, Unreachable> {
    let secrets = shared.secrets.clone();
    let mut rehearsal = begun(actor, plan, &secrets);
    if let Some(obstacle) = base::obstacle(plan, shared)? {
        rehearsal.obstacle = obstacle;
        return Ok(rehearsal);
    }
    let renderer = &Attentive::new(shared.workshop.renderer, &secrets);
    let workshop = Workshop { renderer, ..shared.workshop };
    let dialect = Dialect { helm: actor.version() };
    let mut bases = Vec::new();
    for (origin, base) in base::bases(actor, plan, &workshop, shared)? {
        rehearsal.origins.extend(origin);
        let Some(mut base) = base else { continue };
        base.course.secrets = secrets.clone();
        base.course.snapshot()?.secrets().for_each(|secret| secrets.add(secret));
        if rehearsal.population.is_empty() {
            let snapshot = base.course.snapshot()?;
            rehearsal.population = snapshot.names().cloned().collect();
            rehearsal.alive = snapshot.objects().cloned().collect();
        }
        let (alive, mut scratch) = (base.course.snapshot()?, base.course.world.clone());
        let given = plan.state.as_ref().map(|state| state.objects.as_slice()).unwrap_or_default();
        let edits = edits(&mut scratch, &alive, workshop.records, &plan.subject, given)?;
        base.course.watch(edits);
        rehearsal.unserved.extend(base.unserved.iter().cloned());
        rehearsal.doubts.extend(base.doubts.iter().cloned());
        bases.push(base);
    }
    rehearsal.unserved.sort();
    rehearsal.unserved.dedup();
    let explored = side_by_side(&bases, |base| roads::explore(actor, dialect, plan, &workshop, base))?;
    rehearsal.ways = explored.into_iter().flatten().collect();
    if rehearsal.ways.is_empty() {
        let first = rehearsal.origins.first();
        rehearsal.obstacle = first.map(|origin| origin.error.clone()).unwrap_or_default();
    }
    Ok(rehearsal)
}

/// A rehearsal of which nothing is known but its start.
fn begun(actor: &dyn Actor, plan: &Plan, secrets: &Secrets) -> Rehearsal {
    let helm = actor.version();
    let given = plan.state.as_ref().map(|state| state.objects.as_slice()).unwrap_or_default();
    given.iter().for_each(|object| secrets.add(object));
    Rehearsal {
        actor: actor.id().to_owned(),
        version: format!("{}.{}", helm.major, helm.minor),
        start: plan.state.as_ref().map_or(Start::BuiltIn, |state| Start::State(state.name.clone())),
        population: Vec::new(),
        alive: Vec::new(),
        unserved: Vec::new(),
        doubts: Vec::new(),
        origins: Vec::new(),
        obstacle: String::new(),
        ways: Vec::new(),
        secrets: secrets.clone(),
    }
}
