//! Stage 4: two renders become an actor's requests, rehearsed step by step against a [`crate::cluster::Cluster`].

pub mod actors;
pub mod course;
pub mod dangling;
pub mod diff;
pub mod edits;
pub mod fate;
pub mod inventory;
pub mod kubectl;
pub mod link;
pub mod lookups;
pub mod outcome;
pub mod population;
pub mod record;
pub mod rehearse;
pub mod release;
pub mod renders;
pub mod rewrites;
#[cfg(test)]
pub(crate) mod sample;
pub mod scenario;
pub mod secrets;
pub mod sizes;
pub mod snapshots;
pub mod specimen;
pub mod storage;
pub mod rollout;
pub mod stuck;
pub mod tape;
pub mod trace;
pub mod words;
pub mod world;
