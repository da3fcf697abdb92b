//! Why a rule gave no answer, in the words cel-go uses.

use ::cel::ExecutionError;

/// Why an expression gave no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvalError {
    /// The API server would fail the same way; its words.
    Failed(String),
    /// This program can't judge the expression: something is missing here.
    Unsupported(String),
}

impl EvalError {
    /// Translates the interpreter's error.
    pub(super) fn of(error: &ExecutionError) -> Self {
        match error {
            ExecutionError::NoSuchKey(key) => Self::Failed(format!("no such key: {key}")),
            ExecutionError::DivisionByZero(_) => Self::Failed("division by zero".to_owned()),
            ExecutionError::RemainderByZero(_) => Self::Failed("modulus by zero".to_owned()),
            ExecutionError::Overflow(..) => Self::Failed("integer overflow".to_owned()),
            ExecutionError::IndexOutOfBounds(index) => {
                Self::Failed(format!("index out of bounds: {}", plain(index)))
            }
            ExecutionError::FunctionError { message, .. } => Self::Failed(message.clone()),
            ExecutionError::UndeclaredReference(name) => Self::Unsupported(format!("unknown name `{name}`")),
            other => Self::Unsupported(other.to_string()),
        }
    }
}

/// A scalar as cel-go prints it in messages.
fn plain(value: &::cel::Value) -> String {
    match value {
        ::cel::Value::Int(i) => i.to_string(),
        ::cel::Value::UInt(u) => u.to_string(),
        ::cel::Value::String(s) => s.to_string(),
        other => format!("{other:?}"),
    }
}
