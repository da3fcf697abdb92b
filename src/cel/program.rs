//! A compiled expression and the environment it runs in.

use std::sync::{Arc, LazyLock};

use ::cel::{Context, Env, Value};

use crate::cel::error::EvalError;
use crate::cel::{functions, macros};

/// Everything Kubernetes adds to the language; built once.
static ENV: LazyLock<Arc<Env>> = LazyLock::new(|| {
    let mut env = Env::stdlib();
    // A library that fails to register leaves its functions unknown, and unknown functions are reported as unchecked.
    let _ = env.add_extension(::cel::extensions::strings);
    let _ = env.add_extension(::cel::extensions::lists);
    let _ = env.add_extension(::cel::extensions::math);
    let _ = macros::register(&mut env);
    let _ = functions::register(&mut env);
    Arc::new(env)
});

/// A compiled expression.
#[derive(Debug)]
pub struct Program {
    inner: ::cel::Program,
}

impl Program {
    /// Parses an expression and expands its macros.
    ///
    /// # Errors
    /// The parser's message.
    pub fn compile(source: &str) -> Result<Self, String> {
        ENV.compile(source)
            .map(|inner| Self { inner })
            .map_err(|errors| errors.to_string().replace("\n| ", "\n | "))
    }

    /// Whether the expression names a variable.
    #[must_use]
    pub fn names(&self, variable: &str) -> bool {
        self.inner.references().has_variable(variable)
    }

    /// The expression tree.
    #[must_use]
    pub fn expression(&self) -> &::cel::IdedExpr {
        self.inner.expression()
    }

    /// Where the parts of the expression stand in its source.
    #[must_use]
    pub(super) fn source_info(&self) -> &::cel::common::ast::SourceInfo {
        self.inner.source_info()
    }

    /// Evaluates the expression with variables bound.
    ///
    /// # Errors
    /// When evaluation fails, or needs something this program lacks.
    pub fn evaluate(&self, bindings: &[(&str, Value)]) -> Result<Value, EvalError> {
        let mut context = Context::with_env(Arc::clone(&ENV));
        for (name, value) in bindings {
            context.add_variable_from_value(*name, value.clone());
        }
        self.inner.execute(&context).map_err(|error| EvalError::of(&error))
    }
}
