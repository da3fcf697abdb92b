//! The same driver on a real API server: nothing forks there and nothing decides chance, so one road is gone, as it goes.

use std::sync::Arc;

use super::{Plan, begun};
use crate::cluster::Unreachable;
use crate::upgrade::actors::helm::{Dialect, Flags, Forge};
use crate::upgrade::actors::{Actor, Command, Renderer, Workshop};
use crate::upgrade::course::{Course, Order};
use crate::upgrade::edits::edits;
use crate::upgrade::outcome::{Operation, Outcome, Rehearsal, Verdict, Way};
use crate::upgrade::population;
use crate::upgrade::secrets::{Attentive, Secrets};
use crate::upgrade::storage::Records;
use crate::upgrade::trace::Step;
use crate::upgrade::words::quoted;
use crate::upgrade::world::World;

/// What every outcome on a real server says of its conditions.
const AS_IT_WENT: &str = "as it went on this cluster";

/// Installs the old chart, populates, upgrades (taking ownership when the plain upgrade is refused), upgrades again,
/// rolls back and uninstalls.
///
/// # Errors
/// When the server can't be reached.
pub fn rehearse_real<W: World>(
    actor: &dyn Actor,
    plan: &Plan,
    renderer: &dyn Renderer,
    world: W,
) -> Result<Rehearsal, Unreachable> {
    let (records, forge) = (Records::real(), Forge::default());
    let secrets = Secrets::default();
    let mut rehearsal = begun(actor, plan, &secrets);
    let renderer = &Attentive::new(renderer, &secrets);
    let workshop = Workshop { renderer, records: &records, forge: &forge };
    let dialect = Dialect { helm: actor.version() };
    let mut course = Course::new(world);
    course.secrets = secrets.clone();
    let mut road = Road { actor, dialect, plan, workshop: &workshop, course };
    let installed = road.install()?;
    if installed.exit_code != 0 {
        installed.stderr.trim_end().clone_into(&mut rehearsal.obstacle);
        secrets.redact(&mut rehearsal);
        return Ok(rehearsal);
    }
    let snapshot = road.course.snapshot()?;
    rehearsal.population = snapshot.names().cloned().collect();
    rehearsal.alive = snapshot.objects().cloned().collect();
    let edits = edits(&mut road.course.world, &snapshot, &records, &plan.subject, &[])?;
    road.course.watch(edits);
    rehearsal.ways = road.ways()?;
    secrets.redact(&mut rehearsal);
    Ok(rehearsal)
}

struct Road<'r, W> {
    actor: &'r dyn Actor,
    dialect: Dialect,
    plan: &'r Plan,
    workshop: &'r Workshop<'r>,
    course: Course<W>,
}

impl<W: World> Road<'_, W> {
    fn install(&mut self) -> Result<Step, Unreachable> {
        let command = Command::Install {
            chart: Arc::clone(&self.plan.before),
            values: Arc::clone(&self.plan.values_before),
        };
        let rest = format!(" {}{}", self.plan.before_name, self.plan.words_before);
        let step = self.run(command, "install", &rest, &["--create-namespace"])?;
        if step.exit_code == 0 {
            self.course
                .step("user", "populate", "", "", |world| Ok((population::populate(world)?, Vec::new())))?;
        }
        Ok(step)
    }

    fn ways(&mut self) -> Result<Vec<Way>, Unreachable> {
        let mut plain = self.way("plain", "the upgrade command without further flags", &[]);
        let first = self.upgrade(&[])?;
        let refused = first.exit_code != 0 && first.stderr.contains("invalid ownership metadata");
        plain.operations.push(operation("upgrade", &[], first));
        if !refused {
            self.follow(&mut plain)?;
            return Ok(vec![plain]);
        }
        let flags = ["--take-ownership"];
        let mut taking =
            self.way("take ownership", "the release adopts every object that exists already", &flags);
        let step = self.upgrade(&flags)?;
        taking.operations.push(operation("upgrade", &flags, step));
        self.follow(&mut taking)?;
        Ok(vec![plain, taking])
    }

    fn way(&self, name: &str, summary: &str, flags: &[&str]) -> Way {
        Way {
            name: name.to_owned(),
            summary: summary.to_owned(),
            made_by: self.actor.id().to_owned(),
            flags: owned(flags),
            prepare: Vec::new(),
            afterwards: Vec::new(),
            loses_already: Vec::new(),
            numbered: false,
            values: None,
            operations: Vec::new(),
        }
    }

    // The harmless first: what a rollback or an uninstall takes away is not there for the next step.
    fn follow(&mut self, way: &mut Way) -> Result<(), Unreachable> {
        let again = self.upgrade(&[])?;
        way.operations.push(operation("upgrade again", &[], again));
        let back = self.run(Command::Rollback { revision: 1 }, "rollback", " 1", &[])?;
        way.operations.push(operation("rollback", &[], back));
        let gone = self.run(Command::Uninstall, "uninstall", "", &[])?;
        way.operations.push(operation("uninstall", &[], gone));
        Ok(())
    }

    fn upgrade(&mut self, flags: &[&str]) -> Result<Step, Unreachable> {
        let command = Command::Upgrade {
            chart: Arc::clone(&self.plan.after),
            values: Arc::clone(&self.plan.values_after),
        };
        let rest = format!(" {}{}", self.plan.after_name, self.plan.words_after);
        self.run(command, "upgrade", &rest, flags)
    }

    /// Runs a command whose line is `helm WORD RELEASE REST -n NAMESPACE FLAGS`.
    fn run(&mut self, command: Command, word: &str, rest: &str, flags: &[&str]) -> Result<Step, Unreachable> {
        let tail: String = flags.iter().map(|flag| format!(" {flag}")).collect();
        let subject = &self.plan.subject;
        let (release, namespace) = (quoted(&subject.release), quoted(&subject.namespace));
        let order = Order {
            actor: self.actor.id(),
            dialect: self.dialect,
            subject,
            command,
            flags: Flags::parse(&owned(flags), self.dialect).unwrap_or_default(),
            line: format!("helm {word} {release}{rest} -n {namespace}{tail}"),
        };
        self.course.run(self.workshop, &order)
    }
}

fn owned(flags: &[&str]) -> Vec<String> {
    flags.iter().map(|flag| (*flag).to_owned()).collect()
}

fn operation(name: &str, flags: &[&str], step: Step) -> Operation {
    let outcome = Outcome {
        condition: AS_IT_WENT.to_owned(),
        also: Vec::new(),
        verdict: Verdict::of_step(&step),
        lost: step.lost_objects.clone(),
        steps: vec![step],
    };
    Operation { name: name.to_owned(), flags: owned(flags), outcomes: vec![outcome] }
}
