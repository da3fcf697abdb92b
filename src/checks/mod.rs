//! Stage 5: evidence becomes findings; one file per check.
