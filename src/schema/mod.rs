//! Structural schemas of CustomResourceDefinitions with the API server's semantics: pruning, defaults, validation, ratcheting.
//!
//! A schema is compiled once into a [`Structural`]; its methods are the stages that an object passes on its way into
//! the API server: [`Structural::coerce`] (prune unknown fields, check metadata, drop nulls),
//! [`Structural::default`], [`Structural::validate`].

mod bind;
pub mod compare;
pub mod crd;
pub mod decode;
mod defaults;
mod embedded;
mod error;
mod formats;
mod lists;
mod node;
mod outcome;
mod path;
mod prune;
mod ratchet;
mod rules;
mod same;
mod structural;
mod validate;
mod version;

#[cfg(test)]
mod tests;

pub use compare::{Change, Difference, compare};
pub use decode::{Undecodable, undecodable};
pub(crate) use error::go_json;
pub use error::{Cause, FieldError, invalid_status};
pub use node::{Additional, Kind, ListType, Node, Rule, Values};
pub use outcome::Outcome;
pub use path::Path;
pub use same::same;
pub use structural::Structural;
pub use version::KubeVersion;
