//! Go's runes and string literals, as packages `unicode`, `utf8` and `strconv` have them: what is copied from Go quotes with
//! them.

pub mod quote;
mod unicode;

pub use quote::quote;
pub(crate) use unicode::{count, decode, is_alphanumeric, is_print, is_space, runes};
