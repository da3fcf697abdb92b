//! What is done by hand with kubectl before an upgrade.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::{Explorer, Recipe, care};
use crate::cluster::Unreachable;
use crate::cluster::simulated::Simulated;
use crate::finding::ObjectName;
use crate::render::Render;
use crate::upgrade::actors::helm::{MANAGED_BY, RELEASE_NAME, RELEASE_NAMESPACE, RESOURCE_POLICY};
use crate::upgrade::course::{Course, PREPARATION};
use crate::upgrade::fate::LASTING;
use crate::upgrade::inventory::{Item, Place, inventory};
use crate::upgrade::kubectl::{Apply, Kubectl, Tag};
use crate::upgrade::link::Link;
use crate::upgrade::snapshots;
use crate::upgrade::words::{documents, on_objects, quoted};

impl Explorer<'_> {
    /// Does by hand what the recipe asks for before the upgrade; answers the commands.
    pub(super) fn prepare(
        &self,
        course: &mut Course<Simulated>,
        recipe: &Recipe,
    ) -> Result<Vec<String>, Unreachable> {
        let Some(after) = &self.after else { return Ok(Vec::new()) };
        let incoming = self.incoming(course, after)?;
        let (release, namespace) = (&self.plan.subject.release, &self.plan.subject.namespace);
        let mut hand = Hand::default();
        if recipe.adopt {
            hand.tag(&incoming, Tag::Labels, &[(MANAGED_BY, "Helm")]);
            hand.tag(&incoming, Tag::Annotations, &[(RELEASE_NAME, release), (RELEASE_NAMESPACE, namespace)]);
        }
        if recipe.keep {
            let mut kept = self.outgoing(course)?;
            if recipe.adopt {
                kept.extend(incoming.iter().filter(|name| name.kind == "CustomResourceDefinition").cloned());
            }
            hand.tag(&kept, Tag::Annotations, &[(RESOURCE_POLICY, "keep")]);
        }
        if recipe.seed {
            hand.seed(care::unseeded(course));
        }
        if recipe.apply_crds {
            hand.apply(crds(after), &self.template());
        }
        hand.work(course, namespace)
    }

    /// Live objects that the new manifest has and the old has not.
    fn incoming(
        &self,
        course: &mut Course<Simulated>,
        after: &Render,
    ) -> Result<Vec<ObjectName>, Unreachable> {
        let old = self.before.as_ref().map(|render| names(render, Place::Templates)).unwrap_or_default();
        let new = names(after, Place::Templates);
        self.alive(course, new.difference(&old).cloned().collect())
    }

    /// Live definitions, custom objects and what holds users' things, that the old manifest has and the new has not.
    pub(super) fn outgoing(&self, course: &mut Course<Simulated>) -> Result<Vec<ObjectName>, Unreachable> {
        let (Some(before), Some(after)) = (&self.before, &self.after) else { return Ok(Vec::new()) };
        let new = names(after, Place::Templates);
        let builtin = |group: &str| crate::upgrade::actors::helm::is_typed_group(group);
        let leaving = inventory(before)
            .into_iter()
            .filter(|item| item.place == Place::Templates)
            .filter(|item| LASTING.contains(&item.name.kind.as_str()) || !builtin(&item.group));
        let leaving: BTreeSet<ObjectName> =
            leaving.map(|item| item.name).filter(|name| !new.contains(name)).collect();
        self.alive(course, leaving)
    }

    fn alive(
        &self,
        course: &mut Course<Simulated>,
        names: BTreeSet<ObjectName>,
    ) -> Result<Vec<ObjectName>, Unreachable> {
        let snapshot = course.snapshot()?;
        let live: BTreeSet<&ObjectName> = snapshot.names().collect();
        let namespaced =
            |name: &ObjectName| ObjectName { namespace: self.plan.subject.namespace.clone(), ..name.clone() };
        let found = names.into_iter().filter_map(|name| {
            let placed = namespaced(&name);
            if live.contains(&name) { Some(name) } else { live.contains(&placed).then_some(placed) }
        });
        Ok(found.collect())
    }
}

fn names(render: &Render, place: Place) -> BTreeSet<ObjectName> {
    inventory(render).into_iter().filter(|item| item.place == place).map(|item| item.name).collect()
}

/// The definitions of `crds/` and of the release.
fn crds(render: &Render) -> Vec<Arc<Value>> {
    let of_release = |item: &Item| {
        matches!(item.place, Place::Crds | Place::Templates) && item.name.kind == "CustomResourceDefinition"
    };
    inventory(render).into_iter().filter(of_release).map(|item| item.object).collect()
}

/// Keys of labels or annotations and what they become; `None` takes one away.
type TagValues = Vec<(String, Option<String>)>;

/// Work done with kubectl before an upgrade.
#[derive(Default)]
struct Hand {
    tags: Vec<(Vec<ObjectName>, Tag, TagValues)>,
    seeds: Vec<Arc<Value>>,
    applies: Vec<Vec<Arc<Value>>>,
    lines: Vec<String>,
}

impl Hand {
    fn tag(&mut self, names: &[ObjectName], tag: Tag, pairs: &[(&str, &str)]) {
        if names.is_empty() {
            return;
        }
        let values: TagValues =
            pairs.iter().map(|(key, value)| ((*key).to_owned(), Some((*value).to_owned()))).collect();
        let word = if tag == Tag::Labels { "label" } else { "annotate" };
        let assignments: String =
            pairs.iter().map(|(key, value)| format!(" {}", quoted(&format!("{key}={value}")))).collect();
        self.lines.extend(on_objects(&format!("{word} --overwrite"), names, &assignments));
        self.tags.push((names.to_vec(), tag, values));
    }

    fn seed(&mut self, seeds: Vec<Arc<Value>>) {
        if !seeds.is_empty() {
            self.lines.push(snapshots::command());
            self.seeds = seeds;
        }
    }

    fn apply(&mut self, objects: Vec<Arc<Value>>, template: &str) {
        if objects.is_empty() {
            return;
        }
        self.lines.push(format!(
            "{template} --include-crds | {} | kubectl apply --server-side --force-conflicts -f -",
            documents(&["CustomResourceDefinition"], &[])
        ));
        self.applies.push(objects);
    }

    fn work(self, course: &mut Course<Simulated>, namespace: &str) -> Result<Vec<String>, Unreachable> {
        if self.lines.is_empty() {
            return Ok(self.lines);
        }
        let line = self.lines.join(" && ");
        course.step("kubectl", PREPARATION, &line, namespace, |world| {
            let mut link = Link::new(world, "kubectl", "kubectl");
            let mut kubectl = Kubectl::new(&mut link);
            for (names, tag, values) in &self.tags {
                kubectl.tag(names, *tag, values);
            }
            kubectl.apply(&self.seeds, namespace, Apply { server_side: true, ..Apply::default() });
            for objects in &self.applies {
                kubectl.apply(
                    objects,
                    namespace,
                    Apply { server_side: true, force_conflicts: true, lenient: false },
                );
            }
            Ok((kubectl.finish(), Vec::new()))
        })?;
        Ok(self.lines)
    }
}
