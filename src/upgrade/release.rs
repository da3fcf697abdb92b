//! A Helm release: one revision with its manifest, hooks and status.

use std::sync::Arc;

use crate::render::Render;

/// The status of one revision, as `helm history` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Its objects are the ones in the cluster.
    Deployed,
    /// Uninstalled with its history kept.
    Uninstalled,
    /// Replaced by a later revision.
    Superseded,
    /// Ended with an error.
    Failed,
    /// An uninstall has begun.
    Uninstalling,
    /// An install has begun.
    PendingInstall,
    /// An upgrade has begun.
    PendingUpgrade,
    /// A rollback has begun.
    PendingRollback,
    /// Written by something that is not known here.
    Unknown,
}

const STATUSES: &[(Status, &str)] = &[
    (Status::Deployed, "deployed"),
    (Status::Uninstalled, "uninstalled"),
    (Status::Superseded, "superseded"),
    (Status::Failed, "failed"),
    (Status::Uninstalling, "uninstalling"),
    (Status::PendingInstall, "pending-install"),
    (Status::PendingUpgrade, "pending-upgrade"),
    (Status::PendingRollback, "pending-rollback"),
];

impl Status {
    /// The word that Helm stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        STATUSES.iter().find(|(status, _)| *status == self).map_or("unknown", |(_, word)| word)
    }

    /// Reads a stored word.
    #[must_use]
    pub fn parse(word: &str) -> Self {
        STATUSES.iter().find(|(_, known)| *known == word).map_or(Self::Unknown, |(status, _)| *status)
    }

    /// Whether another operation is under way.
    #[must_use]
    pub fn is_pending(self) -> bool {
        matches!(self, Self::PendingInstall | Self::PendingUpgrade | Self::PendingRollback)
    }
}

/// How a revision's objects were written; Helm 3 stores nothing, which counts as client-side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ApplyMethod {
    /// Not stored.
    #[default]
    Unset,
    /// Patches computed by Helm.
    ClientSide,
    /// Server-side apply.
    ServerSide,
}

impl ApplyMethod {
    /// The value of `apply_method`; empty when unset.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unset => "",
            Self::ClientSide => "csa",
            Self::ServerSide => "ssa",
        }
    }

    /// Reads `apply_method`.
    #[must_use]
    pub fn parse(word: &str) -> Self {
        match word {
            "ssa" => Self::ServerSide,
            "csa" => Self::ClientSide,
            _ => Self::Unset,
        }
    }
}

/// One revision of a release.
#[derive(Clone, Debug)]
pub struct Release {
    /// Release name.
    pub name: String,
    /// Release namespace.
    pub namespace: String,
    /// Revision, counted from 1.
    pub revision: u64,
    /// Status.
    pub status: Status,
    /// The last message about it.
    pub description: String,
    /// Chart, values, manifest and hooks.
    pub render: Arc<Render>,
    /// The revision that this one went back to, where the record says so (Helm 4); 0 for none.
    pub rollback_revision: u64,
    /// How its objects were written.
    pub apply_method: ApplyMethod,
    /// Seconds (rehearsal time) of the first deployment of the release.
    pub first_deployed: f64,
    /// Seconds (rehearsal time) of this revision.
    pub last_deployed: f64,
}

/// What the names of Helm's records begin with.
pub const RECORD: &str = "sh.helm.release.v1.";

/// What the names of a release's records begin with; the revision follows.
#[must_use]
pub fn records_of(release: &str) -> String {
    format!("{RECORD}{release}.v")
}

impl Release {
    /// The second revision of a release, as a first upgrade leaves it.
    #[must_use]
    pub fn upgraded(name: &str, namespace: &str, render: &Arc<Render>) -> Self {
        Self {
            name: name.to_owned(),
            namespace: namespace.to_owned(),
            revision: 2,
            status: Status::Deployed,
            description: "Upgrade complete".to_owned(),
            render: Arc::clone(render),
            rollback_revision: 0,
            apply_method: ApplyMethod::ClientSide,
            first_deployed: 0.0,
            last_deployed: 0.0,
        }
    }

    /// Name of the Secret that holds it.
    #[must_use]
    pub fn secret(&self) -> String {
        format!("{}{}", records_of(&self.name), self.revision)
    }
}
