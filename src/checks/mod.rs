//! Stage 5: evidence becomes findings; one file per check.
//!
//! A check is a function with a doc comment. The comment is the text of `seatrial explain`, the page in docs/checks.md
//! and the test: each *Example* must give the finding shown, each *Not reported* must give none.

mod context;
mod findings;
mod met;

pub use context::{Compared, Context, Scene};
pub use findings::Findings;

use std::convert::Infallible;

use crate::finding::{Finding, Severity};
use crate::limits::parallel::side_by_side;

/// What a check is: its words and how bad its findings are at most.
pub struct Info {
    /// The doc comment, Markdown.
    pub doc: &'static str,
    /// The worst severity its findings can have.
    pub severity: Severity,
}

/// A check: id, words, code.
pub struct Check {
    /// Its id, the name of its file.
    pub id: &'static str,
    /// What it is.
    pub info: &'static Info,
    /// Looks and tells.
    pub run: fn(&Context<'_>, &mut Findings),
}

impl Check {
    /// The first sentence of its doc.
    #[must_use]
    pub fn title(&self) -> &'static str {
        self.info.doc.trim().lines().next().unwrap_or("").trim()
    }
}

macro_rules! declare_check {
    ($(#[doc = $doc:expr])+ severity: $severity:ident) => {
        pub(super) static INFO: $crate::checks::Info = $crate::checks::Info {
            doc: concat!($($doc, "\n",)+),
            severity: $crate::finding::Severity::$severity,
        };
    };
}

macro_rules! checks {
    ($($name:ident),+ $(,)?) => {
        &[$(Check { id: stringify!($name), info: &$name::INFO, run: $name::check }),+]
    };
}

mod api_removed;
mod bystander_changed;
mod conversion_unanswered;
mod crd_left_behind;
mod crd_moved;
mod crd_pruning_changed;
mod crd_schema_tightened;
mod crd_unprotected;
mod crd_version_dropped;
mod custom_field_unknown;
mod edit_set_back;
mod hook_cleanup_missing;
mod hook_deadline_missing;
mod hook_image_unpinned;
mod hook_network_needed;
mod hook_prunes_by_label;
mod hook_root_needed;
mod hook_undoes_release;
mod immutable_field_changed;
mod job_stuck;
mod kubernetes_too_old;
mod merge_key_repeated;
mod object_moved_to_hook;
mod object_rewritten;
mod ownership_missing;
mod rehearsal_failed;
mod rehearsal_lost;
mod rollback_impossible;
mod runtime_changed;
mod runtime_in_use_deleted;
mod secret_emptied;
mod size_limit_neared;
mod value_regenerated;
mod values_ignored;
mod values_reuse_broken;
mod values_reused;
mod workload_renamed;
mod unexplained;

/// Every check, in name order; the catch-all looks last, at what the others left.
pub static CHECKS: &[Check] = checks![
    api_removed,
    bystander_changed,
    conversion_unanswered,
    crd_left_behind,
    crd_moved,
    crd_pruning_changed,
    crd_schema_tightened,
    crd_unprotected,
    crd_version_dropped,
    custom_field_unknown,
    edit_set_back,
    hook_cleanup_missing,
    hook_deadline_missing,
    hook_image_unpinned,
    hook_network_needed,
    hook_prunes_by_label,
    hook_root_needed,
    hook_undoes_release,
    immutable_field_changed,
    job_stuck,
    kubernetes_too_old,
    merge_key_repeated,
    object_moved_to_hook,
    object_rewritten,
    ownership_missing,
    rehearsal_failed,
    rehearsal_lost,
    rollback_impossible,
    runtime_changed,
    runtime_in_use_deleted,
    secret_emptied,
    size_limit_neared,
    value_regenerated,
    values_ignored,
    values_reuse_broken,
    values_reused,
    workload_renamed,
    unexplained
];

/// The check with this id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Check> {
    CHECKS.iter().find(|check| check.id == id)
}

/// Runs every check, worst findings first.
#[must_use]
pub fn run(context: &Context<'_>) -> Vec<Finding> {
    let Some((last, others)) = CHECKS.split_last() else { return Vec::new() };
    let one = |check: &Check| {
        let mut findings = Findings::of(check.id);
        (check.run)(context, &mut findings);
        Ok::<_, Infallible>(findings)
    };
    let Ok(said) = side_by_side(others, one);
    let mut findings = said.into_iter().fold(Findings::of(last.id), Findings::with);
    (last.run)(context, &mut findings);
    findings.into_sorted()
}

#[cfg(test)]
mod tests;
