//! What of Go others rest on: runes and string literals, as packages `unicode`, `utf8` and `strconv` have them, calendars, durations and regular expressions.

pub(crate) mod calendar;
pub mod duration;
pub(crate) mod pattern;
pub mod quote;
mod unicode;

pub use quote::quote;
pub(crate) use unicode::{count, decode, is_alphanumeric, is_print, is_space, runes};
