//! Stage 4: two renders become an actor's requests, rehearsed step by step against a [`crate::cluster::Cluster`].

pub mod outcome;
pub mod trace;
