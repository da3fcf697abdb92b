//! Stage 6: findings and outcomes become bytes; one file per format.
