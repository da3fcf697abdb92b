//! The ways themselves: what each does before and in its upgrade.

use std::sync::Arc;

use super::{Explorer, RESET_THEN_REUSE};
use crate::chart::Values;
use crate::upgrade::rehearse::gate::Gate;

/// What a way does before and in its upgrade.
#[derive(Clone)]
pub(super) struct Recipe {
    pub(super) name: String,
    pub(super) summary: String,
    pub(super) flags: Vec<String>,
    pub(super) values: Arc<Values>,
    /// `--set` arguments that stand for the difference to the plain values.
    pub(super) sets: Vec<String>,
    /// Ownership metadata for live objects that the release takes in.
    pub(super) adopt: bool,
    /// `keep` for definitions that the release takes in and for what leaves it and holds users' things.
    pub(super) keep: bool,
    /// Snapshots of runtimes for jobs that have none.
    pub(super) seed: bool,
    /// The new chart's definitions applied by hand.
    pub(super) apply_crds: bool,
    /// Whether the same upgrade is tried with `--reuse-values` too.
    pub(super) reuse: bool,
}

impl Explorer<'_> {
    pub(super) fn plain(&self) -> Recipe {
        Recipe {
            name: "plain".to_owned(),
            summary: "the upgrade command without further flags".to_owned(),
            flags: Vec::new(),
            values: Arc::clone(&self.plan.values_after),
            sets: Vec::new(),
            adopt: false,
            keep: false,
            seed: false,
            apply_crds: false,
            reuse: true,
        }
    }

    /// What is advertised when definitions or custom objects leave the release.
    pub(super) fn keeping(&self) -> Recipe {
        Recipe {
            name: "keep".to_owned(),
            summary: "definitions, custom objects, volumes, claims and namespaces that leave the release get helm.sh/resource-policy=keep first".to_owned(),
            keep: true,
            reuse: false,
            ..self.plain()
        }
    }

    pub(super) fn forced(&self, recipe: &Recipe, stderr: &str) -> Option<Recipe> {
        let conflict = stderr.contains("conflict occurred while applying object");
        if !conflict || recipe.flags.iter().any(|flag| flag == "--force-conflicts") {
            return None;
        }
        let mut forced = Recipe { reuse: false, ..recipe.clone() };
        forced.flags.push("--force-conflicts".to_owned());
        forced.name = match recipe.name.as_str() {
            "plain" => "force conflicts".to_owned(),
            name => format!("{name}, force conflicts"),
        };
        forced.summary = format!("{}; fields of other managers are taken over", recipe.summary);
        Some(forced)
    }

    /// What is advertised when live objects do not belong to the release.
    pub(super) fn around_ownership(&self) -> Vec<Recipe> {
        let mut recipes = Vec::new();
        if self.dialect.knows_take_ownership() {
            recipes.push(Recipe {
                name: "take ownership".to_owned(),
                summary: "the release adopts every object that exists already".to_owned(),
                flags: vec!["--take-ownership".to_owned()],
                ..self.plain()
            });
        }
        // A release of server-side apply differs in its conflicts only; of the other ways those that are safe are shown.
        let of_helm3 = self.base.made_by == "helm3";
        if of_helm3 {
            recipes.push(Recipe {
                name: "adoption labels".to_owned(),
                summary: "the objects that exist already get the release's ownership metadata first"
                    .to_owned(),
                adopt: true,
                ..self.plain()
            });
        }
        recipes.push(Recipe {
            name: "adoption labels and keep".to_owned(),
            summary: "as with adoption labels; adopted definitions, and definitions and custom objects that leave the release, also get helm.sh/resource-policy=keep".to_owned(),
            adopt: true,
            keep: true,
            flags: self.same_values().then(|| RESET_THEN_REUSE.to_owned()).into_iter().collect(),
            ..self.plain()
        });
        if let Some(gate) = &self.gate {
            let off = Recipe {
                name: "CRDs switched off".to_owned(),
                summary: format!("the definitions stay outside the release by {}={}", gate.path, gate.value),
                ..self.switched(self.plain(), gate)
            };
            recipes.extend(of_helm3.then_some(off));
            recipes.push(Recipe {
                name: "CRDs outside the release".to_owned(),
                summary: format!("the new definitions are applied by hand, {}={} in this and every later upgrade, custom objects that leave the release get helm.sh/resource-policy=keep", gate.path, gate.value),
                keep: true,
                apply_crds: true,
                ..self.switched(self.plain(), gate)
            });
        }
        recipes
    }

    /// The recipe with the gate turned. A single `--set` makes Helm forget the values of the installed release, so they
    /// are asked for, unless the upgrade gives other ones.
    pub(super) fn switched(&self, recipe: Recipe, gate: &Gate) -> Recipe {
        let mut flags = recipe.flags;
        let reuses = self.plan.values_after.is_empty();
        let asks = (reuses || self.same_values()) && !flags.iter().any(|flag| flag == RESET_THEN_REUSE);
        flags.extend(asks.then(|| RESET_THEN_REUSE.to_owned()));
        Recipe {
            flags,
            values: Arc::clone(if reuses { &gate.alone } else { &gate.values }),
            sets: vec![format!("{}={}", gate.path, gate.value)],
            ..recipe
        }
    }
}
