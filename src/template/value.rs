//! Go values as `text/template` sees them.
