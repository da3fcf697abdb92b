//! A real API server behind the same trait.
