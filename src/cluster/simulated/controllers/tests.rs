//! Controllers together.
