//! The impure answers a render may ask for: clock, randomness, cluster, name service.

use std::fmt;
use std::sync::Arc;

use jiff::tz::TimeZone;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::template::funcs::Host;
use crate::template::value::Value as GoValue;

/// Whoever answers a template's impure questions.
pub trait Answers: fmt::Debug + Send + Sync {
    /// Nanoseconds since 1970-01-01 UTC.
    fn now(&self) -> i128;

    /// Nanoseconds since the program began, which Go prints behind the present time.
    fn elapsed(&self) -> i128 {
        0
    }

    /// The local time zone.
    fn zone(&self) -> TimeZone {
        TimeZone::UTC
    }

    /// Random bytes; `position` counts the bytes this render was given before.
    fn random(&self, position: u64, buffer: &mut [u8]);

    /// Helm's `lookup`: an object, a list, or an empty map when nothing is there.
    ///
    /// # Errors
    /// The cluster's answer in Helm's words.
    fn lookup(&self, api_version: &str, kind: &str, namespace: &str, name: &str) -> Result<Value, String>;

    /// Sprig's `getHostByName`; empty when the name service is off, as it is by default.
    fn resolve(&self, _name: &str) -> String {
        String::new()
    }
}

/// No cluster, a clock that stands still and bytes that follow from a seed: the same render twice gives the same text.
#[derive(Clone, Debug, Default)]
pub struct Offline {
    /// Nanoseconds since 1970-01-01 UTC.
    pub now: i128,
    /// Where the bytes come from.
    pub seed: u64,
}

impl Offline {
    /// The answers of one render among several of the same templates: each comes an hour after the one before, and with
    /// other bytes.
    #[must_use]
    pub fn at(turn: u64) -> Self {
        Self { now: i128::from(turn) * 3_600_000_000_000, seed: turn }
    }
}

impl Answers for Offline {
    fn now(&self) -> i128 {
        self.now
    }

    fn random(&self, position: u64, buffer: &mut [u8]) {
        for (at, byte) in (position..).zip(buffer) {
            let mut digest = Sha256::new();
            digest.update(self.seed.to_le_bytes());
            digest.update((at / 32).to_le_bytes());
            let block = digest.finalize();
            *byte = usize::try_from(at % 32).ok().and_then(|at| block.get(at).copied()).unwrap_or_default();
        }
    }

    fn lookup(&self, _: &str, _: &str, _: &str, _: &str) -> Result<Value, String> {
        Ok(Value::Object(Map::new()))
    }
}

/// One render's view of its answers.
#[derive(Debug)]
pub(super) struct Session {
    answers: Arc<dyn Answers>,
    position: u64,
}

impl Session {
    pub(super) fn new(answers: Arc<dyn Answers>) -> Self {
        Self { answers, position: 0 }
    }
}

impl Host for Session {
    fn now(&mut self) -> i128 {
        self.answers.now()
    }

    fn elapsed(&mut self) -> i128 {
        self.answers.elapsed()
    }

    fn zone(&mut self) -> TimeZone {
        self.answers.zone()
    }

    fn random(&mut self, buffer: &mut [u8]) {
        self.answers.random(self.position, buffer);
        self.position += buffer.len() as u64;
    }

    fn lookup(
        &mut self,
        api_version: &str,
        kind: &str,
        namespace: &str,
        name: &str,
    ) -> Result<GoValue, String> {
        // Objects of a live cluster keep their integers apart, unlike values.
        Ok(GoValue::from_json_exact(&self.answers.lookup(api_version, kind, namespace, name)?))
    }

    fn resolve(&mut self, name: &str) -> String {
        self.answers.resolve(name)
    }
}
