//! Limits on foreign input: every reader of charts, values, YAML and templates takes its bounds from here.

pub mod parallel;
mod watch;
pub mod stack;

pub use watch::{Clock, Watch};

/// The bounds that one run works under; each has a flag of its own (`--limit-…`) and a place in the error that meets it.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Largest single file of a chart, in bytes (Helm: 5 MiB for archives).
    pub file_bytes: u64,
    /// Largest sum of all files of a chart after decompression, in bytes (Helm: 100 MiB).
    pub chart_bytes: u64,
    /// Largest number of files in a chart.
    pub chart_files: usize,
    /// Deepest nesting of YAML and JSON (go-yaml and Go: 10,000 levels); less on threads with an ordinary stack.
    pub yaml_depth: usize,
    /// Largest number of nodes one YAML document may expand to, aliases counted each time.
    pub yaml_nodes: usize,
    /// Deepest chain of texts that `tpl` executes in each other (Helm: until its stack ends).
    pub template_depth: usize,
    /// Steps (actions and loop turns) that rendering one chart may take.
    pub template_steps: u64,
    /// Seconds that executing a chart's templates, and then reading what they printed, may take each.
    pub render_seconds: u32,
    /// Who tells the time for that; without one, nothing is too slow.
    pub clock: Option<Clock>,
    /// Bytes of strings, lists and maps that the functions of one render may make.
    pub value_bytes: u64,
    /// Largest output of one render, in bytes.
    pub output_bytes: usize,
    /// Steps of a scenario file, those of its start included.
    pub scenario_steps: usize,
    /// Seconds that the waits of a scenario file may take together.
    pub scenario_seconds: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 5 << 20,
            chart_bytes: 100 << 20,
            chart_files: 20_000,
            yaml_depth: 10_000,
            yaml_nodes: 20_000_000,
            template_depth: 1_000,
            template_steps: 10_000_000,
            render_seconds: 60,
            clock: None,
            value_bytes: 1 << 30,
            output_bytes: 256 << 20,
            scenario_steps: 1_000,
            scenario_seconds: 1_000_000,
        }
    }
}
