//! The actors: tools that bring a chart to a cluster, each with its own idea of install, upgrade, rollback and uninstall.

use std::sync::Arc;

use crate::chart::{Chart, Values};
use crate::cluster::Cluster;
use crate::render::{Options, Render};
use crate::upgrade::actors::helm::Forge;
use crate::upgrade::storage::Records;

pub mod helm;
mod helm3;
mod helm4;

/// Every actor, in the order of reports.
pub const ACTORS: &[&dyn Actor] = &[&helm3::Helm3, &helm4::Helm4];

/// The actor with this id.
#[must_use]
pub fn find(id: &str) -> Option<&'static dyn Actor> {
    ACTORS.iter().copied().find(|actor| actor.id() == id)
}

/// A tool that acts on a cluster.
pub trait Actor: Sync {
    /// Id on the command line and in reports, e.g. `helm3`.
    fn id(&self) -> &'static str;

    /// Name in prose, e.g. `Helm 3`.
    fn title(&self) -> &'static str;

    /// The version whose behaviour is rehearsed when none is named.
    fn version(&self) -> crate::render::Helm;

    /// Flags that force a way past conflicts on rollback and upgrade, each a list of arguments.
    fn forces(&self) -> &'static [&'static [&'static str]];

    /// The flag that makes the upgrade undo itself when it fails.
    fn undo_flag(&self) -> &'static str;
}

/// Renders charts; the rehearsal's own keeps what it has rendered.
pub trait Renderer: Sync {
    /// Renders a chart with the user's values.
    ///
    /// # Errors
    /// The refusal, in Helm's words and without prefixes of the command line.
    fn render(
        &self,
        chart: &Arc<Chart>,
        config: &Arc<Values>,
        options: &Options,
    ) -> Result<Arc<Render>, String>;
}

/// What the commands of a rehearsal share: renders, records, prepared objects.
#[derive(Clone, Copy)]
pub struct Workshop<'w> {
    /// Renders charts.
    pub renderer: &'w dyn Renderer,
    /// Keeps release records.
    pub records: &'w Records,
    /// Keeps prepared objects.
    pub forge: &'w Forge,
}

/// One command of an actor.
#[derive(Clone, Debug)]
pub enum Command {
    /// `install`.
    Install {
        /// The chart.
        chart: Arc<Chart>,
        /// The user's values.
        values: Arc<Values>,
    },
    /// `upgrade`.
    Upgrade {
        /// The chart.
        chart: Arc<Chart>,
        /// The user's values.
        values: Arc<Values>,
    },
    /// `rollback`; revision 0 is the one before the last.
    Rollback {
        /// Revision to go back to.
        revision: u64,
    },
    /// `uninstall`.
    Uninstall,
}

impl Command {
    /// The word on the command line.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Install { .. } => "install",
            Self::Upgrade { .. } => "upgrade",
            Self::Rollback { .. } => "rollback",
            Self::Uninstall => "uninstall",
        }
    }
}

/// What a command leaves on the terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terminal {
    /// Exit code.
    pub exit_code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// A release that commands are about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Release name.
    pub release: String,
    /// Release namespace.
    pub namespace: String,
}

/// Runs one command of a Helm version against a cluster and records its requests there.
pub fn run(
    cluster: &mut dyn Cluster,
    workshop: &Workshop<'_>,
    dialect: helm::Dialect,
    subject: &Subject,
    command: &Command,
    flags: &helm::Flags,
) -> helm::Finished {
    helm::run(cluster, workshop, dialect, subject, command, flags)
}
