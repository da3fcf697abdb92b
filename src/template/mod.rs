//! Go's `text/template`: lexer, parser, executor and printing; knows nothing of Helm.
//!
//! A [`set::Set`] parses texts into trees and [`exec::Exec`] walks them over a [`value::Value`]. What templates may
//! call stands in [`funcs`]; [`stack::deep`] gives a render the stack that Go would have.

pub mod set;
pub mod exec;
pub mod error;
pub mod value;
pub mod types;
pub mod object;
pub mod json;
pub mod funcs;
pub mod printf;
pub mod float;
pub mod stack;
pub mod ast;
pub mod number;
pub mod operand;
mod parser;
mod lexer;
mod eval;
mod budget;
mod call;
mod format;

#[cfg(test)]
mod tests;
