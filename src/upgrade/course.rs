//! The course of a rehearsal: commands one after the other, each settled and recorded as a [`Step`].

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::cluster::Unreachable;
use crate::finding::ObjectName;
use crate::render::host::Answers;
use crate::upgrade::actors::helm::{Dialect, Flags};
use crate::upgrade::actors::{self, Command, Subject, Terminal, Workshop};
use crate::upgrade::fate::{self, Snapshot};
use crate::upgrade::lookups;
use crate::upgrade::rewrites::{Rewrite, rewrites};
use crate::upgrade::rollout;
use crate::upgrade::secrets::Secrets;
use crate::upgrade::stuck;
use crate::upgrade::trace::Step;
use crate::upgrade::world::World;

/// A cluster under rehearsal and how it looked when the last step had settled.
pub struct Course<W> {
    /// The cluster.
    pub world: W,
    /// The values of Secrets that were met.
    pub secrets: Secrets,
    last: Option<Arc<Snapshot>>,
    /// What controllers said about objects that they could not bring on, and have not brought on since.
    troubles: Vec<String>,
    /// Objects that could not be brought on when it began.
    ailing: BTreeSet<ObjectName>,
    /// Workloads whose pods were not ready when it began.
    unready: Option<Arc<BTreeSet<ObjectName>>>,
    /// What was rewritten while the next command was prepared.
    rewritten: Vec<Rewrite>,
}

/// The operation of steps that no outcome shows; what they set going is told with the next.
pub const PREPARATION: &str = "prepare";

impl<W: World + Clone> Clone for Course<W> {
    fn clone(&self) -> Self {
        self.fork()
    }
}

impl<W: World + Clone> Course<W> {
    /// A copy that goes its own way from here.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self {
            world: self.world.clone(),
            secrets: self.secrets.clone(),
            last: self.last.clone(),
            troubles: self.troubles.clone(),
            ailing: self.ailing.clone(),
            unready: self.unready.clone(),
            rewritten: self.rewritten.clone(),
        }
    }
}

/// A command of an actor, ready to run.
pub struct Order<'o> {
    /// Id of the actor.
    pub actor: &'o str,
    /// Version.
    pub dialect: Dialect,
    /// What it is about.
    pub subject: &'o Subject,
    /// The command.
    pub command: Command,
    /// Its flags as read.
    pub flags: Flags,
    /// Its command line, for the reader.
    pub line: String,
}

impl<W: World> Course<W> {
    /// Begins with a cluster as it is.
    pub fn new(world: W) -> Self {
        Self {
            world,
            secrets: Secrets::default(),
            last: None,
            troubles: Vec::new(),
            ailing: BTreeSet::new(),
            unready: None,
            rewritten: Vec::new(),
        }
    }

    /// The cluster's objects when the last step had settled.
    ///
    /// # Errors
    /// When the server can't be reached.
    pub fn snapshot(&mut self) -> Result<Arc<Snapshot>, Unreachable> {
        if let Some(last) = &self.last {
            return Ok(Arc::clone(last));
        }
        let snapshot = Arc::new(Snapshot::new(self.world.objects()?));
        snapshot.secrets().for_each(|secret| self.secrets.add(secret));
        self.last = Some(Arc::clone(&snapshot));
        Ok(snapshot)
    }

    /// Answers to `lookup` as the cluster gave them when the last step had settled.
    #[must_use]
    pub fn answers(&self) -> Arc<dyn Answers> {
        self.last.as_ref().map_or_else(|| lookups::among(Vec::new()), |last| lookups::seen(last))
    }

    /// Runs a command of an actor.
    ///
    /// # Errors
    /// When the server can't be reached.
    pub fn run(&mut self, workshop: &Workshop<'_>, order: &Order<'_>) -> Result<Step, Unreachable> {
        let namespace = order.subject.namespace.clone();
        self.step(order.actor, order.command.word(), &order.line, &namespace, |world| {
            let finished =
                actors::run(world, workshop, order.dialect, order.subject, &order.command, &order.flags);
            Ok((finished.terminal, finished.exchanges))
        })
    }

    /// Runs anything that speaks to the cluster as one step.
    ///
    /// # Errors
    /// When the server can't be reached.
    pub fn step(
        &mut self,
        actor: &str,
        operation: &str,
        line: &str,
        release_namespace: &str,
        action: impl FnOnce(&mut W) -> Result<(Terminal, Vec<crate::cluster::Exchange>), Unreachable>,
    ) -> Result<Step, Unreachable> {
        let before = self.snapshot()?;
        let unready = self.unready_from(&before);
        self.world.take_exchanges();
        self.world.take_notes();
        self.world.speaks_for(actor);
        let (terminal, asked) = action(&mut self.world)?;
        let settling = self.world.settling_time();
        self.world.wait(settling)?;
        self.last = None;
        let after = self.snapshot()?;
        let events = fate::events(&before, &after);
        // A controller that has said what is wrong does not say it again: it counts until it says otherwise.
        let mut notes = std::mem::take(&mut self.troubles);
        let said = self.world.take_notes().into_iter();
        notes.extend(said.map(|note| stuck::as_before(note, &mut self.ailing)));
        notes.extend(fate::waiting(&after, &events));
        let workloads = rollout::unfinished(&after).into_iter().filter(|(name, _)| !unready.contains(name));
        notes.extend(workloads.map(|(name, reason)| rollout::note(&name, &reason)));
        let exchanges = self.world.take_exchanges().unwrap_or(asked);
        self.rewritten.extend(rewrites(&before, &after, &exchanges, actor));
        let rewritten = match operation {
            PREPARATION => Vec::new(),
            _ => std::mem::take(&mut self.rewritten),
        };
        let step = Step {
            operation: operation.to_owned(),
            actor: actor.to_owned(),
            command: line.to_owned(),
            exit_code: terminal.exit_code,
            stdout: terminal.stdout,
            stderr: terminal.stderr,
            lost_objects: fate::lost(&before, &events, release_namespace),
            events,
            exchanges,
            notes,
            rewritten,
        };
        self.troubles = stuck::remaining(&step);
        Ok(step)
    }

    /// Begins anew: what could not be brought on before is not the doing of what comes now.
    pub fn forget_troubles(&mut self) {
        let troubles = std::mem::take(&mut self.troubles);
        self.ails(&troubles);
        self.rewritten.clear();
        self.unready = None;
    }

    /// Objects that these notes tell to be in trouble were so before anything was done.
    pub fn ails(&mut self, notes: &[String]) {
        self.ailing.extend(stuck::in_trouble(notes).into_keys());
    }

    /// Workloads that were not ready when the course began, with this cluster if it has not yet.
    fn unready_from(&mut self, before: &Snapshot) -> Arc<BTreeSet<ObjectName>> {
        let begin = || Arc::new(rollout::unfinished(before).into_keys().collect());
        Arc::clone(self.unready.get_or_insert_with(begin))
    }
}
