//! Helm 4.

use super::Actor;
use crate::render::Helm;

/// Helm 4: server-side apply for releases that it made itself, client-side patches for those of Helm 3.
pub(super) struct Helm4;

impl Actor for Helm4 {
    fn id(&self) -> &'static str {
        "helm4"
    }

    fn title(&self) -> &'static str {
        "Helm 4"
    }

    fn version(&self) -> Helm {
        Helm::V4
    }

    fn forces(&self) -> &'static [&'static [&'static str]] {
        &[&["--server-side=true", "--force-conflicts"]]
    }

    fn undo_flag(&self) -> &'static str {
        "--rollback-on-failure"
    }
}
