//! The in-memory API server.

pub mod conditions;
