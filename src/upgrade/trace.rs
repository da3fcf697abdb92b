//! What a rehearsal leaves behind: steps, exchanges with the API server, and the fate of every object by UID.

use serde::Serialize;

pub use crate::cluster::Exchange;
use crate::finding::ObjectName;
use crate::upgrade::edits::Undone;
use crate::upgrade::rewrites::Rewrite;

/// What became of one object between the start and the settled end of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It did not exist before.
    Created,
    /// Same UID, other content.
    Updated,
    /// Deleted and created again: another UID under the same name.
    Replaced,
    /// Gone.
    Deleted,
    /// Same UID, deletion requested, held by a finalizer.
    Terminating,
    /// Same UID, same content.
    Unchanged,
}

/// One object's fate in one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Event {
    /// What happened.
    pub action: Action,
    /// To which object.
    pub object: ObjectName,
    /// UID before the step.
    pub uid_before: Option<String>,
    /// UID after the step.
    pub uid_after: Option<String>,
    /// Parts that changed: `spec`, `labels`, `annotations`, `finalizers`, of custom objects `conditions`, of Pods `phase`.
    pub changed: Vec<&'static str>,
}

/// Words of notes on something that decides about objects and that nobody could look into.
const UNKNOWN: [&str; 3] =
    [crate::upgrade::fate::WAITS, crate::upgrade::dangling::UNSEEN, "could not be executed"];

impl Step {
    /// Notes because of which the step's outcome can't be called safe.
    pub fn unknowns(&self) -> impl Iterator<Item = &String> {
        self.notes.iter().filter(|note| decides(note))
    }
}

/// Whether a note is on something that decides about objects and that nobody could look into.
#[must_use]
pub fn decides(note: &str) -> bool {
    UNKNOWN.iter().any(|words| note.contains(words))
}

/// One step of a rehearsal, settled.
#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// What was done: `install`, `upgrade`, `rollback`, `uninstall`, `apply`, …
    pub operation: String,
    /// Who did it: `helm3`, `helm4`, `kubectl`.
    pub actor: String,
    /// The command line that does the same by hand.
    pub command: String,
    /// Exit code of that command.
    pub exit_code: i32,
    /// Standard output of that command; times are seconds of the rehearsal.
    pub stdout: String,
    /// Standard error of that command, in the actor's words.
    pub stderr: String,
    /// Objects and their fate; unchanged ones included.
    pub events: Vec<Event>,
    /// User-visible objects that were deleted or came back with another UID.
    pub lost_objects: Vec<ObjectName>,
    /// Requests and answers in order.
    pub exchanges: Vec<Exchange>,
    /// What was noticed on the way: leader changes, refused webhook calls, jobs that can't resume.
    pub notes: Vec<String>,
    /// Living objects whose spec somebody else changed, also in what was prepared for this step.
    #[serde(skip)]
    pub rewritten: Vec<Rewrite>,
    /// What was set back of what others had edited in objects of the release, also in what was prepared for this step.
    #[serde(skip)]
    pub undone: Vec<Undone>,
}
