//! One test binary for everything that looks at the project from outside.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "all of this crate is tests, helpers included"
)]

mod apiserver;
mod laws;
mod layers;
mod scenarios;
mod shared;
