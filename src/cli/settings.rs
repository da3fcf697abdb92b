//! From what was typed to what is meant: sources, limits, defaults.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::args::{Global, LimitFlags};
use crate::limits::Limits;
use crate::source::Sources;

/// The charts cache that `pull` makes when none is named.
pub(crate) const CHARTS_CACHE: &str = "charts-cache";

/// Where charts may come from.
pub(crate) fn sources(global: &Global) -> Sources {
    Sources {
        caches: caches(&global.charts_cache, Path::new(CHARTS_CACHE)),
        offline: global.offline,
        plain_http: global.plain_http,
        limits: limits(&global.limits),
    }
}

/// The caches that are named, or the usual one where there is one.
fn caches(named: &[PathBuf], usual: &Path) -> Vec<PathBuf> {
    if named.is_empty() && usual.is_dir() { vec![usual.to_owned()] } else { named.to_vec() }
}

/// The clock of the machine, from when it is first looked at.
fn since_start() -> Duration {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    BEGIN.get_or_init(Instant::now).elapsed()
}

/// The limits of this run.
pub(crate) fn limits(flags: &LimitFlags) -> Limits {
    Limits {
        file_bytes: flags.limit_file_bytes,
        chart_bytes: flags.limit_chart_bytes,
        chart_files: flags.limit_chart_files,
        yaml_depth: flags.limit_yaml_depth,
        yaml_nodes: flags.limit_yaml_nodes,
        template_depth: flags.limit_template_depth,
        template_steps: flags.limit_template_steps,
        render_seconds: flags.limit_render_seconds,
        clock: Some(since_start),
        value_bytes: flags.limit_value_bytes,
        output_bytes: flags.limit_output_bytes,
        scenario_steps: flags.limit_scenario_steps,
        scenario_seconds: flags.limit_scenario_seconds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_cache_counts_where_none_is_named() {
        let there = tempfile::tempdir().unwrap();
        let named = vec![PathBuf::from("mine")];
        assert_eq!(caches(&named, there.path()), named);
        assert_eq!(caches(&[], there.path()), [there.path()]);
        assert!(caches(&[], &there.path().join("missing")).is_empty());
    }
}
