//! Functions that templates call: their Go signatures and how a Rust function becomes one.
//!
//! A family is one file with a slice of rows, each a plain Rust function named by [`func!`](crate::func):
//!
//! ```
//! use seatrial::template::funcs::Func;
//!
//! fn trunc(length: i64, text: &str) -> String {
//!     text.chars().take(usize::try_from(length).unwrap_or(0)).collect()
//! }
//!
//! static FUNCS: &[Func] = &[seatrial::func!("trunc", trunc)];
//! ```
//!
//! The executor checks number and types of arguments in Go's words before the function runs.

pub mod go;
pub mod sprig;
mod strings;
mod lists;
mod dicts;
mod math;
mod encoding;
mod dates;
mod semver;
mod regex;
mod paths;
mod urls;
mod types;
mod defaults;
mod crypto;
mod random;
mod certs;
mod cipher;
mod cast;
mod decimal;
pub(crate) mod duration;
pub mod json;
mod layout;
mod merge;
mod keys;
mod pem;
mod regexp;
mod scrypt;
mod time;
mod url;
mod words;
mod compare;
mod typed;

use std::any::Any;
use std::fmt;

use super::error::{Error, Stage};
use super::types::Type;
use super::value::{GoStr, Value};
use crate::limits::Limits;

pub(crate) use cast::{Int64, parse_float};
pub(crate) use dates::{time_at, toml_time};
pub use typed::{EngineFn, Output, Param, PlainFn, Signature, Strings};

/// What a function answers when it fails.
#[derive(Debug)]
pub struct Fault {
    /// Its own words, before the cause's.
    pub message: String,
    /// The error of a template it executed; its text follows the message.
    pub cause: Option<Box<Error>>,
    /// [`Stage::Limit`] when a bound was met.
    pub stage: Stage,
}

impl Fault {
    /// A failure in words.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), cause: None, stage: Stage::Execute }
    }

    /// A bound of [`Limits`] that was met; `flag` raises it.
    pub fn limit(what: impl fmt::Display, flag: &str) -> Self {
        Self { message: format!("{what} (--limit-{flag})"), cause: None, stage: Stage::Limit }
    }

    /// The same failure with words put before it, as `fmt.Errorf("…: %w", err)` does.
    #[must_use]
    pub fn context(mut self, words: &str) -> Self {
        self.message.insert_str(0, words);
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.cause.as_ref().map_or(Ok(()), |cause| write!(f, "{cause}"))
    }
}

impl std::error::Error for Fault {}

impl From<Box<Error>> for Fault {
    fn from(error: Box<Error>) -> Self {
        Self { message: String::new(), stage: error.stage, cause: Some(error) }
    }
}

/// What a function may ask of the engine that calls it.
pub trait Engine {
    /// Executes a defined template (`ExecuteTemplate` of the set).
    ///
    /// # Errors
    /// The template does not exist, fails, or meets a limit.
    fn execute(&mut self, name: &GoStr, data: &Value) -> Result<GoStr, Box<Error>>;

    /// Parses a text into a copy of the set under the name of the outermost template and executes it there; what
    /// it defines is gone afterwards. [`Error::stage`] tells whether parsing or executing failed.
    ///
    /// # Errors
    /// The text is no template, fails, or meets a limit.
    fn execute_text(&mut self, text: &GoStr, data: &Value) -> Result<GoStr, Box<Error>>;

    /// A counter that lives as long as the render, e.g. how often a name is being included.
    fn counter(&mut self, name: &GoStr) -> &mut u64;

    /// Pays for work that a small call can make large (`until`, `repeat`), in steps.
    ///
    /// # Errors
    /// The budget is spent.
    fn spend(&mut self, steps: u64) -> Result<(), Fault>;

    /// The bounds of this render.
    fn limits(&self) -> &Limits;

    /// The impure answers.
    fn host(&mut self) -> &mut dyn Host;
}

/// The impure answers that functions need: clock, randomness, cluster, name service.
pub trait Host: Any {
    /// Nanoseconds since 1970-01-01 UTC.
    fn now(&mut self) -> i128;

    /// Nanoseconds since the program began.
    fn elapsed(&mut self) -> i128 {
        0
    }

    /// The local time zone.
    fn zone(&mut self) -> jiff::tz::TimeZone {
        jiff::tz::TimeZone::UTC
    }

    /// Fills a buffer with random bytes.
    fn random(&mut self, buffer: &mut [u8]);

    /// Helm's `lookup`; an empty map when nothing is there or no cluster is asked.
    ///
    /// # Errors
    /// The cluster's answer in Helm's words.
    fn lookup(&mut self, api_version: &str, kind: &str, namespace: &str, name: &str)
    -> Result<Value, String>;

    /// Sprig's `getHostByName`; empty when name service is off.
    fn resolve(&mut self, name: &str) -> String;
}

/// The Rust side of a function: arguments are checked and converted before.
pub type Call = fn(&mut dyn Engine, &mut [Value]) -> Result<Value, Fault>;

/// A function as templates see it.
#[derive(Clone, Copy)]
pub struct Func {
    /// The name templates use.
    pub name: &'static str,
    /// Its Go signature.
    pub signature: Signature,
    /// Its Rust side.
    pub call: Call,
}

impl fmt::Debug for Func {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A row of a family: the name and a plain Rust function, `func!("upper", upper)`; with `engine`, the function's
/// first parameter is `&mut dyn Engine`: `func!(engine "now", now)`.
#[macro_export]
macro_rules! func {
    (engine $name:literal, $function:expr) => {
        $crate::template::funcs::Func {
            name: $name,
            signature: $crate::template::funcs::engine_signature(&$function),
            call: |engine, arguments| $crate::template::funcs::call_engine($function, engine, arguments),
        }
    };
    ($name:literal, $function:expr) => {
        $crate::template::funcs::Func {
            name: $name,
            signature: $crate::template::funcs::plain_signature(&$function),
            call: |_, arguments| $crate::template::funcs::call_plain($function, arguments),
        }
    };
}

/// The signature of a plain function.
pub const fn plain_signature<M, F: PlainFn<M>>(_: &F) -> Signature {
    F::SIGNATURE
}

/// The signature of a function that takes the engine.
pub const fn engine_signature<M, F: EngineFn<M>>(_: &F) -> Signature {
    F::SIGNATURE
}

/// Calls a plain function with checked arguments.
///
/// # Errors
/// What the function answers.
pub fn call_plain<M, F: PlainFn<M>>(function: F, arguments: &mut [Value]) -> Result<Value, Fault> {
    function.call(arguments)
}

/// Calls a function that takes the engine with checked arguments.
///
/// # Errors
/// What the function answers.
pub fn call_engine<M, F: EngineFn<M>>(
    function: F,
    engine: &mut dyn Engine,
    arguments: &mut [Value],
) -> Result<Value, Fault> {
    function.call(engine, arguments)
}

/// The functions a set of templates may call: slices of rows, later slices win.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    rows: Vec<&'static Func>,
}

impl Registry {
    /// Go's own functions alone.
    pub fn go() -> Self {
        Self::default()
    }

    /// Adds a family; its names hide the ones already there.
    #[must_use]
    pub fn with(mut self, family: impl IntoIterator<Item = &'static Func>) -> Self {
        self.rows.extend(family);
        self.rows.reverse();
        self.rows.sort_by_key(|row| row.name);
        self.rows.dedup_by_key(|row| row.name);
        self
    }

    /// Takes a function away.
    #[must_use]
    pub fn without(mut self, names: &[&str]) -> Self {
        self.rows.retain(|row| !names.contains(&row.name));
        self
    }

    /// Finds a function by name.
    pub fn find(&self, name: &str) -> Option<&'static Func> {
        self.rows.binary_search_by_key(&name, |row| row.name).ok().and_then(|at| self.rows.get(at)).copied()
    }

    /// All functions, sorted by name.
    pub fn rows(&self) -> &[&'static Func] {
        &self.rows
    }

    /// The declared type of the result of a function, for documentation.
    pub fn result(&self, name: &str) -> Option<Type> {
        self.find(name).map(|row| row.signature.result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::types::Type;

    fn join(sep: &str, parts: &[Value]) -> String {
        parts
            .iter()
            .filter_map(Value::as_str)
            .map(|part| part.lossy().into_owned())
            .collect::<Vec<_>>()
            .join(sep)
    }

    fn spend(engine: &mut dyn Engine, steps: i64) -> Result<Value, Fault> {
        engine.spend(steps.unsigned_abs()).map(Value::from)
    }

    static FUNCS: &[Func] = &[crate::func!("join", join), crate::func!(engine "spend", spend)];

    #[test]
    fn a_plain_function_becomes_a_row() {
        let row = &FUNCS[0];
        assert_eq!(row.signature.params, [Type::String, Type::Interface]);
        assert!(row.signature.variadic);
        let joined = call_plain(join, &mut [Value::str("-"), Value::str("a"), Value::str("b")]);
        assert_eq!(joined.unwrap().as_str().unwrap(), "a-b");
        assert_eq!(FUNCS[1].signature.params, [Type::Int]);
        assert_eq!(FUNCS[1].signature.result, Type::Interface);
    }

    #[test]
    fn later_families_hide_earlier_ones() {
        static OLD: &[Func] = &[crate::func!("join", |_: &str| "old")];
        let registry = Registry::go().with(OLD).with(FUNCS);
        assert_eq!(registry.find("join").unwrap().signature.params.len(), 2);
        assert!(registry.without(&["join"]).find("join").is_none());
    }
}
