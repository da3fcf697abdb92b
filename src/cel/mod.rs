//! CEL as Kubernetes uses it: binding to schemas, the libraries, messages; parsing and evaluation come from the `cel` crate.
