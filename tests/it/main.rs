//! One test binary for everything that looks at the project from outside.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "all of this crate is tests, helpers included"
)]

mod apiserver;
#[cfg(unix)]
mod control_plane;
#[cfg(unix)]
mod kubelet;
mod cases;
mod cli;
#[cfg(unix)]
mod edits;
mod hand;
mod honesty;
mod inputs;
mod laws;
mod layers;
#[cfg(unix)]
mod live;
mod scenarios;
mod shared;
mod state;
mod template;
mod validation;
