//! Stage 1: a chart reference becomes bytes: directories, archives, charts caches, OCI registries.
