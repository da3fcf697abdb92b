//! Structural schemas of CustomResourceDefinitions: pruning, defaulting, validation, ratcheting.
