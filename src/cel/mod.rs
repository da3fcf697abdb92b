//! CEL as Kubernetes speaks it: the `cel` crate's language plus the Kubernetes libraries, errors in cel-go's words.

mod error;
mod escape;
mod program;
mod values;

pub use ::cel::Value;
pub use error::EvalError;
pub use escape::{escape, is_reserved};
pub use program::Program;
pub use values::{decode_base64, duration, list, map, optional, text, timestamp};
