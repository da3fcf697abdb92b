//! What a careful upgrade needs besides its own command: snapshots before it, help for stuck jobs after it.

use std::sync::Arc;

use serde_json::Value;

use super::{Explorer, Recipe, Upgraded};
use crate::cluster::simulated::Simulated;
use crate::cluster::{Propagation, Unreachable};
use crate::finding::ObjectName;
use crate::k8s;
use crate::k8s::At as _;
use crate::upgrade::course::Course;
use crate::upgrade::kubectl::Kubectl;
use crate::upgrade::link::Link;
use crate::upgrade::rehearse::trial::Trial;
use crate::upgrade::snapshots;
use crate::upgrade::stuck::{refused, stuck};
use crate::upgrade::trace::Step;
use crate::upgrade::words::on_objects;

impl Explorer<'_> {
    /// The cluster when everything is prepared, and the commands for it. Where jobs could not go on after a careful
    /// upgrade, the snapshots are seeded that they are rendered from.
    pub(super) fn started(&self, recipe: &Recipe) -> Result<(Course<Simulated>, Vec<String>), Unreachable> {
        let plain = self.prepared(recipe)?;
        if !recipe.keep || unseeded(&plain.0).is_empty() || !self.wants_seeds()? {
            return Ok(plain);
        }
        self.prepared(&Recipe { seed: true, ..recipe.clone() })
    }

    fn prepared(&self, recipe: &Recipe) -> Result<(Course<Simulated>, Vec<String>), Unreachable> {
        let mut start = self.base.course.fork();
        let lines = self.prepare(&mut start, recipe)?;
        Ok((start, lines))
    }

    /// Whether jobs are stuck for want of snapshots: after every careful way or after none, so the first one tells.
    fn wants_seeds(&self) -> Result<bool, Unreachable> {
        let tried = self.seeds.get_or_init(|| {
            let Some(careful) = self.around_ownership().into_iter().find(|recipe| recipe.keep) else {
                return Ok(false);
            };
            let step = self.calm_upgrade(&careful)?;
            let step = match self.forced(&careful, &step.stderr) {
                Some(forced) => self.calm_upgrade(&forced)?,
                None => step,
            };
            Ok(stuck(&step).keys().any(|object| object.kind == "TrainJob"))
        });
        tried.clone()
    }

    fn calm_upgrade(&self, recipe: &Recipe) -> Result<Step, Unreachable> {
        let (mut course, _) = self.prepared(recipe)?;
        course.world.assume(&Trial::calm().conditions);
        course.run(self.workshop, &self.upgrade(recipe, &[]))
    }

    /// Commands for what a careful upgrade left stuck in its natural course, as far as they were seen to help: dependents
    /// that can't be changed are deleted, and their owners make them anew. That would kill work that runs, so only
    /// suspended owners are helped so.
    pub(super) fn helped(&self, recipe: &Recipe, upgraded: &Upgraded) -> Result<Vec<String>, Unreachable> {
        let Some((condition, end, ..)) = upgraded.reached.first().filter(|_| recipe.keep) else {
            return Ok(Vec::new());
        };
        let mut outcomes = upgraded.operation.outcomes.iter();
        let natural =
            outcomes.find(|one| one.condition.is_empty() || one.conditions().any(|c| c == condition));
        let Some(step) = natural.filter(|one| one.succeeds()).and_then(|one| one.steps.last()) else {
            return Ok(Vec::new());
        };
        let (mut course, mut deleted) = (end.fork(), Vec::new());
        for (owner, error) in stuck(step) {
            let Some((kind, name)) = refused(error) else { continue };
            if !is_suspended(&mut course, &owner)? {
                continue;
            }
            let kind = kind.split('.').next().unwrap_or(kind).to_owned();
            let dependent = ObjectName { kind, namespace: owner.namespace.clone(), name: name.to_owned() };
            let mut trial = course.fork();
            let done = self.delete(&mut trial, &dependent)?;
            if done.exit_code == 0 && !stuck(&done).contains_key(&owner) {
                course = trial;
                deleted.push(dependent);
            }
        }
        Ok(on_objects("delete", &deleted, ""))
    }

    fn delete(&self, course: &mut Course<Simulated>, object: &ObjectName) -> Result<Step, Unreachable> {
        course.step("kubectl", "delete", "", &self.plan.subject.namespace, |world| {
            let mut link = Link::new(world, "kubectl", "kubectl");
            let mut kubectl = Kubectl::new(&mut link);
            kubectl.delete(std::slice::from_ref(object), Propagation::Background);
            Ok((kubectl.finish(), Vec::new()))
        })
    }

    /// Whether the values given for the upgrade are those that the release was made with: then it changes nothing to ask
    /// for those as well, and what nobody told of them here is kept too.
    pub(super) fn same_values(&self) -> bool {
        let reusable = self.dialect.knows_reset_then_reuse();
        reusable && !self.plan.values_after.is_empty() && self.plan.values_after == self.plan.values_before
    }
}

/// Snapshots that jobs lack.
pub(super) fn unseeded(course: &Course<Simulated>) -> Vec<Arc<Value>> {
    let objects: Vec<Arc<Value>> = course.world.objects().cloned().collect();
    snapshots::missing(&objects)
}

fn is_suspended(course: &mut Course<Simulated>, owner: &ObjectName) -> Result<bool, Unreachable> {
    let snapshot = course.snapshot()?;
    let mut objects = snapshot.objects();
    Ok(objects.any(|object| {
        k8s::object_name(object) == *owner && object.at("/spec/suspend") == Some(&Value::Bool(true))
    }))
}
