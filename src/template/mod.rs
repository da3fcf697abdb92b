//! Go's `text/template`: lexer, parser, executor and printing; knows nothing of Helm.

pub mod funcs;
pub mod value;
