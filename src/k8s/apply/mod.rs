//! Server-side apply: who owns which field, what merging and pruning follow from it, where owners conflict.
//!
//! Behaviour of structured-merge-diff 6.3 (`merge/update.go`, `typed/`, `fieldpath/`) and of apimachinery 0.34.3
//! (`pkg/util/managedfields/internal`).

mod check;
mod compare;
mod element;
mod managers;
mod merge;
mod of;
mod remove;
mod set;
mod stored;

pub use check::check;
pub use compare::{Comparison, compare};
pub use element::{Element, Key};
pub use managers::{Applied, Conflict, Identity, Managers, Operation, Refused};
pub use merge::merge;
pub use of::field_set;
pub use remove::remove;
pub use set::FieldSet;
pub use stored::update_stored;
