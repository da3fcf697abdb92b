//! What validation says about an object.

use crate::schema::error::FieldError;

/// Errors refuse the object, warnings become `Warning` headers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Why the object is refused; empty when it passes.
    pub errors: Vec<FieldError>,
    /// Texts of `Warning` headers.
    pub warnings: Vec<String>,
    /// Rules that could not be judged here, each as `not checked: …`; the verdict holds only without them.
    pub unchecked: Vec<String>,
}

impl Outcome {
    /// Whether the object passes.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.errors.is_empty()
    }
}
