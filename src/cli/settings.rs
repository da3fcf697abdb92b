//! From what was typed to what is meant: sources, limits, defaults.

use super::args::{Global, LimitFlags};
use crate::limits::Limits;
use crate::source::Sources;

/// Where charts may come from.
pub(crate) fn sources(global: &Global) -> Sources {
    Sources {
        caches: global.charts_cache.clone(),
        offline: global.offline,
        plain_http: global.plain_http,
        limits: limits(&global.limits),
    }
}

/// The limits of this run.
pub(crate) fn limits(flags: &LimitFlags) -> Limits {
    let d = Limits::default();
    Limits {
        file_bytes: flags.limit_file_bytes.unwrap_or(d.file_bytes),
        chart_bytes: flags.limit_chart_bytes.unwrap_or(d.chart_bytes),
        chart_files: flags.limit_chart_files.unwrap_or(d.chart_files),
        yaml_depth: flags.limit_yaml_depth.unwrap_or(d.yaml_depth),
        yaml_nodes: flags.limit_yaml_nodes.unwrap_or(d.yaml_nodes),
        template_depth: flags.limit_template_depth.unwrap_or(d.template_depth),
        template_steps: flags.limit_template_steps.unwrap_or(d.template_steps),
        value_bytes: flags.limit_value_bytes.unwrap_or(d.value_bytes),
        output_bytes: flags.limit_output_bytes.unwrap_or(d.output_bytes),
    }
}
