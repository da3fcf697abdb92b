//! Takes a Helm upgrade out to sea before your cluster does.
//!
//! A chart reference goes in at [`source`] and leaves as a report at [`report`]; the stages between are
//!
//! 1. [`source`]: a chart reference becomes bytes (the only stage that touches disk and network),
//! 2. [`chart`]: bytes become a [`chart::Chart`] with its values,
//! 3. [`render`]: a chart, values and capabilities become manifests and hooks, exactly as Helm would print them,
//! 4. [`upgrade`]: two renders become an actor's requests, rehearsed against a [`cluster`],
//! 5. [`checks`]: renders, rehearsals and stored objects become findings,
//! 6. [`report`]: findings and outcomes become text, Markdown, JSON or HTML.
//!
//! Below the stages lie the languages they read ([`template`], [`yaml`], [`schema`], [`cel`], [`version`]), the nouns of
//! Kubernetes ([`k8s`]) and the currency that travels between all of them ([`finding`], [`limits`]) and Go's way with strings ([`go`]).
//! [`cli`] is the rim: the only place that prints, reads the environment or decides an exit code.

pub mod source;

pub mod chart;

pub mod render;

pub mod upgrade;

pub mod checks;

pub mod report;

pub mod cluster;

pub mod template;

pub mod cel;

pub mod schema;

pub mod yaml;

pub mod version;

pub mod k8s;

pub mod finding;

pub mod limits;

pub mod go;

pub mod cli;

#[cfg(test)]
#[path = "../tests/it/shared.rs"]
mod shared;
