//! Helm 3.

use super::Actor;
use crate::render::Helm;

/// Helm 3 with client-side patches.
pub(super) struct Helm3;

impl Actor for Helm3 {
    fn id(&self) -> &'static str {
        "helm3"
    }

    fn title(&self) -> &'static str {
        "Helm 3"
    }

    fn version(&self) -> Helm {
        Helm::V3
    }

    fn forces(&self) -> &'static [&'static [&'static str]] {
        &[&["--force"]]
    }

    fn undo_flag(&self) -> &'static str {
        "--atomic"
    }
}
