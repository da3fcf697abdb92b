//! What can be typed: clap types whose comments are the help texts.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{Args, Parser, Subcommand, ValueEnum};

pub use super::helm_flags::HelmFlags;
use crate::chart::Helm;
use crate::k8s::form;
use crate::limits::Limits;
use crate::render::capabilities::KubeVersion;

/// Rehearse a Helm upgrade before your cluster does, and prove object by object what survives it.
///
/// Exit codes: 0 safe · 1 could not check (usage, input, unreachable, or something that decides could not be looked into) · 2 findings at or above the gate, or a difference in `golden check` and `diff --exit-code` · 3 a rehearsal lost an object; in `rehearse` also: left one broken, or a scenario can end halfway.
#[derive(Debug, Parser)]
#[command(
    name = "seatrial",
    version,
    propagate_version = true,
    max_term_width = 110,
    arg_required_else_help = true
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Flags that every command takes.
    #[command(flatten)]
    pub global: Global,
}

/// Flags that every command takes.
#[derive(Args, Clone, Debug)]
pub struct Global {
    /// Directory of chart archives (NAME-VERSION.tgz) and their lock; may be repeated. The first one is written to. Without it, ./charts-cache where that exists
    #[arg(
        long,
        value_name = "DIR",
        global = true,
        env = "SEATRIAL_CHARTS_CACHE",
        value_delimiter = ':',
        help_heading = "Sources"
    )]
    pub charts_cache: Vec<PathBuf>,
    /// Forbid the network: everything must be on disk
    #[arg(long, global = true, help_heading = "Sources")]
    pub offline: bool,
    /// Speak to registries without TLS
    #[arg(long, global = true, help_heading = "Sources")]
    pub plain_http: bool,
    /// When to use colour and progress bars; NO_COLOR is obeyed
    #[arg(long, value_enum, default_value_t = Color::Auto, global = true, alias = "colour", value_name = "WHEN", help_heading = "Output")]
    pub color: Color,
    /// Bounds on foreign input.
    #[command(flatten)]
    pub limits: LimitFlags,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Bounds on foreign input.
#[derive(Args, Clone, Debug)]
pub struct LimitFlags {
    /// Largest file of a chart in bytes
    #[arg(long, global = true, value_name = "BYTES", default_value_t = Limits::default().file_bytes, hide_short_help = true, help_heading = "Limits")]
    pub limit_file_bytes: u64,
    /// Largest chart in bytes, after decompression
    #[arg(long, global = true, value_name = "BYTES", default_value_t = Limits::default().chart_bytes, hide_short_help = true, help_heading = "Limits")]
    pub limit_chart_bytes: u64,
    /// Largest number of files in a chart
    #[arg(long, global = true, value_name = "N", default_value_t = Limits::default().chart_files, hide_short_help = true, help_heading = "Limits")]
    pub limit_chart_files: usize,
    /// Deepest nesting of YAML
    #[arg(long, global = true, value_name = "N", default_value_t = Limits::default().yaml_depth, hide_short_help = true, help_heading = "Limits")]
    pub limit_yaml_depth: usize,
    /// Largest number of nodes in one YAML document, aliases expanded
    #[arg(long, global = true, value_name = "N", default_value_t = Limits::default().yaml_nodes, hide_short_help = true, help_heading = "Limits")]
    pub limit_yaml_nodes: usize,
    /// Deepest chain of texts that `tpl` executes in each other
    #[arg(long, global = true, value_name = "N", default_value_t = Limits::default().template_depth, hide_short_help = true, help_heading = "Limits")]
    pub limit_template_depth: usize,
    /// Most steps that rendering one chart may take
    #[arg(long, global = true, value_name = "N", default_value_t = Limits::default().template_steps, hide_short_help = true, help_heading = "Limits")]
    pub limit_template_steps: u64,
    /// Most seconds that rendering one chart may take
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = Limits::default().render_seconds, hide_short_help = true, help_heading = "Limits")]
    pub limit_render_seconds: u32,
    /// Most bytes of strings, lists and maps that rendering one chart may make
    #[arg(long, global = true, value_name = "BYTES", default_value_t = Limits::default().value_bytes, hide_short_help = true, help_heading = "Limits")]
    pub limit_value_bytes: u64,
    /// Largest rendered output in bytes
    #[arg(long, global = true, value_name = "BYTES", default_value_t = Limits::default().output_bytes, hide_short_help = true, help_heading = "Limits")]
    pub limit_output_bytes: usize,
    /// Most steps in a scenario file, those of its start included
    #[arg(long, global = true, value_name = "N", default_value_t = Limits::default().scenario_steps, hide_short_help = true, help_heading = "Limits")]
    pub limit_scenario_steps: usize,
    /// Most seconds that the waits of a scenario file take together
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = Limits::default().scenario_seconds, hide_short_help = true, help_heading = "Limits")]
    pub limit_scenario_seconds: u32,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Render two versions of a chart, rehearse every actor's upgrade, rollback and uninstall, and judge
    ///
    /// Example: seatrial verify kubeflow-trainer@2.2.1 kubeflow-trainer@2.3.0 -f values.yaml -n kubeflow-system --release kubeflow-trainer
    Verify(Verify),
    /// Print what `helm template` prints, byte for byte
    ///
    /// Example: seatrial template my-release ./chart -n prod -f values.yaml --include-crds
    #[command(args_override_self = true, disable_version_flag = true)]
    Template(Template),
    /// Show objects added, removed, changed field by field, or moved between crds/, templates, hooks and hook-applied ConfigMaps
    Diff(Diff),
    /// Run only the rehearsal and show its trace, from two charts or from a scenario file
    ///
    /// Example: seatrial rehearse kubeflow-trainer@2.2.1 kubeflow-trainer@2.3.0 --actor helm3
    ///
    /// Example: seatrial rehearse --scenario adopt.yaml -o json
    #[command(
        override_usage = "seatrial rehearse [OPTIONS] BEFORE AFTER\n       seatrial rehearse [OPTIONS] --scenario FILE"
    )]
    Rehearse(Rehearse),
    /// Fetch charts into the charts cache and write its lock
    Pull(Pull),
    /// Golden-file tests of rendered releases
    #[command(subcommand)]
    Golden(Golden),
    /// Say what a check means, why it matters and what to do; without a name, list the checks
    Explain(Explain),
    /// Verify the stand-in charts that the program carries inside, against the cluster state it carries inside
    Demo(Demo),
}

/// Values flags, as Helm has them.
#[derive(Args, Clone, Debug, Default)]
pub struct ValuesFlags {
    /// Values files, also several with commas; may be repeated, later ones win; `-` is standard input
    #[arg(short = 'f', long = "values", value_name = "FILE", value_delimiter = ',', help_heading = "Values", value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub values: Vec<PathBuf>,
    /// Set a value: key1=val1,key2=val2; may be repeated
    #[arg(long, value_name = "KEY=VAL", help_heading = "Values")]
    pub set: Vec<String>,
    /// Set a value that is always a string
    #[arg(long, value_name = "KEY=VAL", help_heading = "Values")]
    pub set_string: Vec<String>,
    /// Set a value from JSON
    #[arg(long, value_name = "KEY=JSON", help_heading = "Values")]
    pub set_json: Vec<String>,
    /// Set a value from a file's contents: key=path
    #[arg(long, value_name = "KEY=PATH", help_heading = "Values")]
    pub set_file: Vec<String>,
    /// Set a value to exactly this text, without escapes
    #[arg(long, value_name = "KEY=TEXT", help_heading = "Values")]
    pub set_literal: Vec<String>,
}

/// What two-chart commands share.
#[derive(Args, Clone, Debug)]
pub struct Pair {
    /// The chart that runs now: a directory, a .tgz, oci://HOST/PATH:TAG or NAME@VERSION
    #[arg(value_name = "BEFORE")]
    pub before: String,
    /// The chart to upgrade to
    #[arg(value_name = "AFTER")]
    pub after: String,
    /// The release both are rendered for.
    #[command(flatten)]
    pub release: ReleaseFlags,
    /// Values for both charts.
    #[command(flatten)]
    pub values: ValuesFlags,
    /// Values file for BEFORE only, applied after -f
    #[arg(long, value_name = "FILE", help_heading = "Values")]
    pub values_before: Vec<PathBuf>,
    /// Values file for AFTER only, applied after -f
    #[arg(long, value_name = "FILE", help_heading = "Values")]
    pub values_after: Vec<PathBuf>,
    /// --set for BEFORE only
    #[arg(long, value_name = "KEY=VAL", help_heading = "Values")]
    pub set_before: Vec<String>,
    /// --set for AFTER only
    #[arg(long, value_name = "KEY=VAL", help_heading = "Values")]
    pub set_after: Vec<String>,
}

/// A namespace that can be there; an empty one is the default, as with Helm.
fn namespace(text: &str) -> Result<String, String> {
    if text.is_empty() || form::is_label(text) { Ok(text.to_owned()) } else { Err(form::LABEL.to_owned()) }
}

/// A version of Kubernetes as Helm reads it.
fn kubernetes(text: &str) -> Result<String, String> {
    let wanted = || "not a version of Kubernetes like 1.34 or v1.34.3".to_owned();
    let read = KubeVersion::parse(text, Helm::V4);
    read.map(|_| text.to_owned()).map_err(|_| wanted())
}

/// The release that is rendered.
#[derive(Args, Clone, Debug)]
pub struct ReleaseFlags {
    /// Namespace of the release (default: `default`)
    #[arg(short = 'n', long, value_name = "NAMESPACE", value_parser = namespace, help_heading = "Release")]
    pub namespace: Option<String>,
    /// Name of the release (default: the chart's name)
    #[arg(long, value_name = "NAME", help_heading = "Release")]
    pub release: Option<String>,
    /// Kubernetes version of the cluster, e.g. 1.34
    #[arg(long, value_name = "VERSION", value_parser = kubernetes, help_heading = "Release")]
    pub kube_version: Option<String>,
    /// API versions the cluster has beyond the built-in ones, e.g. monitoring.coreos.com/v1; may be repeated
    #[arg(short = 'a', long, value_name = "GROUP/VERSION", value_delimiter = ',', help_heading = "Release")]
    pub api_versions: Vec<String>,
}

/// Where a rehearsal runs and what it starts from.
#[derive(Args, Clone, Debug)]
pub struct EngineFlags {
    /// Who upgrades: helm3 (3.22), helm4 (4.3)
    #[arg(
        long,
        value_name = "ACTOR",
        value_delimiter = ',',
        default_value = "helm3,helm4",
        help_heading = "Rehearsal"
    )]
    pub actor: Vec<String>,
    /// Judge only this way of upgrading, by its name in the table: gate, exit code and headline are about nothing else; may be repeated
    #[arg(long, value_name = "NAME", help_heading = "Rehearsal")]
    pub way: Vec<String>,
    /// Objects that live in the cluster (YAML or JSON, one file or a directory); without it, a built-in population
    #[arg(long, value_name = "FILE|DIR", help_heading = "Rehearsal")]
    pub state: Option<PathBuf>,
    /// Where the rehearsal runs
    #[arg(long, value_enum, default_value_t = Engine::Sim, help_heading = "Rehearsal")]
    pub engine: Engine,
    /// Node image for `--engine kind`
    #[arg(long, value_name = "IMAGE", help_heading = "Rehearsal")]
    pub kind_image: Option<String>,
    /// Container image to load into the cluster of `--engine kind` first; may be repeated
    #[arg(long, value_name = "IMAGE", help_heading = "Rehearsal")]
    pub preload: Vec<String>,
    /// Keep the cluster of `--engine kind` afterwards
    #[arg(long, help_heading = "Rehearsal")]
    pub keep: bool,
    /// Kubeconfig for `--engine cluster`
    #[arg(long, value_name = "FILE", env = "KUBECONFIG", help_heading = "Rehearsal")]
    pub kubeconfig: Option<PathBuf>,
    /// Seconds that the cluster of `--engine cluster` or `kind` gets to settle after each command
    #[arg(long, value_name = "SECONDS", default_value_t = 20, help_heading = "Rehearsal")]
    pub settle: u32,
    /// Context of the kubeconfig for `--engine cluster`
    #[arg(long, value_name = "NAME", help_heading = "Rehearsal")]
    pub context: Option<String>,
}

/// Where a rehearsal runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// The embedded API server
    Sim,
    /// A kind cluster made for this run
    Kind,
    /// The cluster of the kubeconfig; objects are really created and deleted there
    Cluster,
}

impl Engine {
    /// The word on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sim => "sim",
            Self::Kind => "kind",
            Self::Cluster => "cluster",
        }
    }
}

/// The severity from which findings fail the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Gate {
    /// Objects are lost
    Loses,
    /// The upgrade stops with an error, or leaves objects that can't go on without help
    Breaks,
    /// Something silently behaves otherwise
    Risks,
    /// Anything at all
    Notes,
}

/// Arguments of `verify`.
#[derive(Args, Debug)]
pub struct Verify {
    /// The two charts.
    #[command(flatten)]
    pub pair: Pair,
    /// Engine and starting state.
    #[command(flatten)]
    pub engine: EngineFlags,
    /// Gate and output.
    #[command(flatten)]
    pub output: OutputFlags,
}

/// Gate and output of a judged run.
#[derive(Args, Clone, Debug)]
pub struct OutputFlags {
    /// Findings of this severity or worse fail the run with exit code 2; what a rehearsal loses ends it with 3 in any case
    #[arg(long, value_enum, default_value_t = Gate::Breaks, help_heading = "Output")]
    pub gate: Gate,
    /// Report format: text, json, markdown or html; with `=PATH` written to a file; may be repeated
    #[arg(
        short = 'o',
        long,
        value_name = "FORMAT[=PATH]",
        default_value = "text",
        help_heading = "Output",
        long_help = "Report format: text, json, markdown or html; with `=PATH` it is written to a file. May be repeated: -o text -o json=report.json -o html=report.html"
    )]
    pub output: Vec<String>,
    /// Text in full: also how every way ends and loses, and evidence and advice of findings below the gate
    #[arg(long, help_heading = "Output")]
    pub full: bool,
}

/// Arguments of `template`.
#[derive(Args, Debug)]
pub struct Template {
    /// The chart, or the release name and the chart
    #[arg(value_name = "[RELEASE] CHART", num_args = 1.., required = true)]
    pub names: Vec<String>,
    /// Namespace of the release (default: `default`)
    #[arg(short = 'n', long, value_name = "NAMESPACE")]
    pub namespace: Option<String>,
    /// Values.
    #[command(flatten)]
    pub values: ValuesFlags,
    /// Whose behaviour: Helm 3.14 to 3.22 or 4.0 to 4.3; 3.22 and 4.3 are compared with the real programs byte for byte
    #[arg(long, value_name = "VERSION", default_value = "4.3")]
    pub helm: String,
    /// Print only manifests of these templates; may be repeated
    #[arg(short = 's', long, value_name = "TEMPLATE")]
    pub show_only: Vec<String>,
    /// Kubernetes version of the cluster
    #[arg(long, value_name = "VERSION")]
    pub kube_version: Option<String>,
    /// API versions the cluster has; may be repeated
    #[arg(short = 'a', long, value_name = "GROUP/VERSION", value_delimiter = ',')]
    pub api_versions: Vec<String>,
    /// Name of the release; the same as the RELEASE argument's template form
    #[arg(long, value_name = "TEMPLATE")]
    pub name_template: Option<String>,
    /// Write files into this directory instead of printing
    #[arg(long, value_name = "DIR")]
    pub output_dir: Option<PathBuf>,
    /// Draw what templates leave to chance (passwords, keys, UUIDs) from this number: the same in every run, and no secret. The clock goes on, unless SOURCE_DATE_EPOCH says where it stands (certificates have dates)
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Objects that `lookup` finds (YAML or JSON, one file or a directory, as for `verify`); may be repeated. Without it, none
    #[arg(long, value_name = "FILE|DIR")]
    pub state: Vec<PathBuf>,
    /// Everything else that `helm template` takes.
    #[command(flatten)]
    pub flags: HelmFlags,
}

/// Arguments of `diff`.
#[derive(Args, Debug)]
pub struct Diff {
    /// The two charts.
    #[command(flatten)]
    pub pair: Pair,
    /// Whose rendering: Helm 3.14 to 3.22 or 4.0 to 4.3
    #[arg(long, value_name = "VERSION", default_value = "4.3")]
    pub helm: String,
    /// Output format: text or json, with `=PATH` written to a file
    #[arg(short = 'o', long, value_name = "FORMAT[=PATH]", default_value = "text", help_heading = "Output")]
    pub output: Vec<String>,
    /// Objects that `lookup` finds in both renders (YAML or JSON, one file or a directory); may be repeated. Without it, none
    #[arg(long, value_name = "FILE|DIR")]
    pub state: Vec<PathBuf>,
    /// Exit with 2 when anything differs
    #[arg(long, help_heading = "Output")]
    pub exit_code: bool,
}

/// Arguments of `rehearse`.
#[derive(Args, Debug)]
pub struct Rehearse {
    /// The chart that runs now
    #[arg(value_name = "BEFORE", required_unless_present = "scenario")]
    pub before: Option<String>,
    /// The chart to upgrade to
    #[arg(value_name = "AFTER", required_unless_present = "scenario")]
    pub after: Option<String>,
    /// Scenario file: charts, values, actor, flags, starting state and ordered steps (docs/scenarios.md, docs/scenario.schema.json)
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["before", "after", "actor", "way", "state", "namespace", "release", "kube_version",
            "api_versions", "values", "set", "set_string", "set_json", "set_file", "set_literal", "values_before",
            "values_after", "set_before", "set_after"]
    )]
    pub scenario: Option<PathBuf>,
    /// Release.
    #[command(flatten)]
    pub release: ReleaseFlags,
    /// Values for both charts.
    #[command(flatten)]
    pub values: ValuesFlags,
    /// Values file for BEFORE only
    #[arg(long, value_name = "FILE", help_heading = "Values")]
    pub values_before: Vec<PathBuf>,
    /// Values file for AFTER only
    #[arg(long, value_name = "FILE", help_heading = "Values")]
    pub values_after: Vec<PathBuf>,
    /// --set for BEFORE only
    #[arg(long, value_name = "KEY=VAL", help_heading = "Values")]
    pub set_before: Vec<String>,
    /// --set for AFTER only
    #[arg(long, value_name = "KEY=VAL", help_heading = "Values")]
    pub set_after: Vec<String>,
    /// Engine and starting state.
    #[command(flatten)]
    pub engine: EngineFlags,
    /// Output format: text or json, with `=PATH` written to a file
    #[arg(short = 'o', long, value_name = "FORMAT[=PATH]", default_value = "text", help_heading = "Output")]
    pub output: Vec<String>,
}

/// Arguments of `pull`.
#[derive(Args, Debug)]
pub struct Pull {
    /// Charts to fetch: oci://HOST/PATH:TAG, @sha256:… or NAME@VERSION
    #[arg(value_name = "REF", required = true)]
    pub references: Vec<String>,
}

/// Golden-file tests.
#[derive(Debug, Subcommand)]
pub enum Golden {
    /// Fail when a render differs from its golden file, with the lines that differ in each object and a summary at the end
    Check(GoldenFlags),
    /// Write the golden files anew
    Update(GoldenFlags),
}

/// Arguments of `golden check` and `golden update`.
#[derive(Args, Debug)]
pub struct GoldenFlags {
    /// The file that describes the releases
    #[arg(long, value_name = "FILE", default_value = "seatrial-golden.yaml")]
    pub config: PathBuf,
}

/// Arguments of `explain`.
#[derive(Args, Debug)]
pub struct Explain {
    /// A check's name
    #[arg(value_name = "CHECK")]
    pub check: Option<String>,
}

/// Arguments of `demo`.
#[derive(Args, Debug)]
pub struct Demo {
    /// Who upgrades: helm3 (3.22), helm4 (4.3)
    #[arg(long, value_name = "ACTOR", value_delimiter = ',', default_value = "helm3,helm4")]
    pub actor: Vec<String>,
    /// Judge only this way of upgrading, by its name in the table; may be repeated
    #[arg(long, value_name = "NAME")]
    pub way: Vec<String>,
    /// Gate and output.
    #[command(flatten)]
    pub output: OutputFlags,
}
