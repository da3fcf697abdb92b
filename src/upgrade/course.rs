//! The course of a rehearsal: commands one after the other, each settled and recorded as a [`Step`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::cluster::Unreachable;
use crate::finding::ObjectName;
use crate::render::host::Answers;
use crate::upgrade::actors::helm::{Dialect, Flags};
use crate::upgrade::actors::{self, Command, Subject, Terminal, Workshop};
use crate::upgrade::dangling::{self, Dangling};
use crate::upgrade::edits::{Edit, Undone, undone};
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
    /// What was wrong with workloads when it began.
    beginning: Option<Arc<Beginning>>,
    /// What was rewritten while the next command was prepared.
    rewritten: Vec<Rewrite>,
    /// What was edited in objects of the release when it began.
    edits: Arc<[Edit]>,
    /// What of it was set back while the next command was prepared.
    undone: Vec<Undone>,
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
            beginning: self.beginning.clone(),
            rewritten: self.rewritten.clone(),
            edits: Arc::clone(&self.edits),
            undone: self.undone.clone(),
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
            beginning: None,
            rewritten: Vec::new(),
            edits: Arc::new([]),
            undone: Vec::new(),
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
        let beginning = self.beginning_with(&before);
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
        notes.extend(beginning.notes(&before, &after));
        let exchanges = self.world.take_exchanges().unwrap_or(asked);
        self.rewritten.extend(rewrites(&before, &after, &exchanges, actor));
        self.undone.extend(undone(&self.edits, &before, &after));
        let (rewritten, undone) = match operation {
            PREPARATION => (Vec::new(), Vec::new()),
            _ => (std::mem::take(&mut self.rewritten), std::mem::take(&mut self.undone)),
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
            undone,
        };
        self.troubles = stuck::remaining(&step);
        Ok(step)
    }

    /// What somebody has edited in objects of the release: steps tell what they set back of it.
    pub fn watch(&mut self, edits: Vec<Edit>) {
        self.edits = edits.into();
    }

    /// Begins anew: what could not be brought on before is not the doing of what comes now.
    pub fn forget_troubles(&mut self) {
        let troubles = std::mem::take(&mut self.troubles);
        self.ails(&troubles);
        self.rewritten.clear();
        self.beginning = None;
    }

    /// Objects that these notes tell to be in trouble were so before anything was done.
    pub fn ails(&mut self, notes: &[String]) {
        self.ailing.extend(stuck::in_trouble(notes).into_keys());
    }

    /// What was wrong with workloads when the course began, with this cluster if it has not yet.
    fn beginning_with(&mut self, before: &Arc<Snapshot>) -> Arc<Beginning> {
        Arc::clone(self.beginning.get_or_insert_with(|| Arc::new(Beginning::new(before))))
    }
}

/// What was wrong with workloads when a course began: nobody's doing.
struct Beginning {
    /// Their pods were not ready.
    unready: BTreeSet<ObjectName>,
    /// They referred to what was not there.
    open: dangling::Beginning,
}

impl Beginning {
    fn new(cluster: &Arc<Snapshot>) -> Self {
        let unready = rollout::unfinished(cluster).into_keys().collect();
        Self { unready, open: dangling::Beginning::new(cluster) }
    }

    /// What is wrong with workloads after a step and was not when the course began.
    fn notes(&self, before: &Snapshot, after: &Snapshot) -> Vec<String> {
        let Dangling { gone, unseen } = self.open.dangling(before, after);
        // What the kubelet says of pods is more exact than what follows from their template.
        let workloads: BTreeMap<_, _> = gone.into_iter().chain(rollout::unfinished(after)).collect();
        let new = workloads.into_iter().filter(|(name, _)| !self.unready.contains(name));
        new.map(|(name, reason)| rollout::note(&name, &reason)).chain(unseen).collect()
    }
}
