//! One test binary for everything that looks at the project from outside.

mod apiserver;
mod laws;
mod layers;
mod scenarios;
mod shared;
