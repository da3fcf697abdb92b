//! Go's `text/template`: lexer, parser, executor and printing; knows nothing of Helm.

pub mod funcs;
pub mod types;
pub mod value;
pub mod object;
pub mod json;
pub mod error;
pub mod printf;
