//! Template functions, one file per family.
