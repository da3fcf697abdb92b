//! The flags of `helm template` that need no place of their own: read as pflag reads them, told in Helm's words.
//!
//! As Helm v3.22.0 `cmd/helm/template.go` and Helm v4.3.1 `pkg/cmd/template.go` with the flags of `install`. Most of them
//! mean something to an installation only; those that would change what is fetched or asked are refused where they would.

use clap::builder::ArgAction;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

use crate::chart::Helm;
use crate::go::quote;
use crate::template::funcs::duration;

use super::postrender;

/// What a flag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bool,
    Text,
    Int,
    Float,
    Duration,
    Labels,
    Wait,
    DryRun,
    PostRenderer,
}

/// One flag.
#[derive(Clone, Copy, Debug)]
struct Flag {
    name: &'static str,
    short: Option<char>,
    kind: Kind,
    /// Whether Helm 3 lacks it.
    new: bool,
    /// What Helm 4 says about its use.
    deprecated: &'static str,
    /// Whether it belongs to fetching, and counts only for charts that are fetched.
    fetch: bool,
    /// Whether it changes nothing that is printed, and is listed apart.
    aside: bool,
    help: &'static str,
}

const fn flag(name: &'static str, kind: Kind, help: &'static str) -> Flag {
    Flag { name, short: None, kind, new: false, deprecated: "", fetch: false, aside: false, help }
}

/// A flag that means nothing to `template`.
const fn idle(name: &'static str, kind: Kind) -> Flag {
    aside(flag(name, kind, "Taken for Helm's sake; no effect on what is printed"))
}

const fn fetching(name: &'static str, kind: Kind) -> Flag {
    let help = "Taken for charts on disk, where it has no effect; refused where a chart is fetched";
    Flag { fetch: true, ..aside(flag(name, kind, help)) }
}

const fn aside(flag: Flag) -> Flag {
    Flag { aside: true, ..flag }
}

const fn new(flag: Flag) -> Flag {
    Flag { new: true, ..flag }
}

const fn short(short: char, flag: Flag) -> Flag {
    Flag { short: Some(short), ..flag }
}

const fn deprecated(deprecated: &'static str, flag: Flag) -> Flag {
    Flag { deprecated, ..flag }
}

const NO_EFFECT: &str = "this flag has no effect for 'helm template' and will be removed in Helm 5";

static FLAGS: &[Flag] = &[
    flag("include-crds", Kind::Bool, "Print the files below crds/ too"),
    flag("skip-tests", Kind::Bool, "Leave out test hooks"),
    flag("no-hooks", Kind::Bool, "Leave out hooks"),
    flag("skip-crds", Kind::Bool, "Leave out files below crds/ (the default; kept for Helm's sake)"),
    flag("is-upgrade", Kind::Bool, "Set .Release.IsUpgrade instead of .Release.IsInstall"),
    short('g', flag("generate-name", Kind::Bool, "Use a generated name")),
    flag("skip-schema-validation", Kind::Bool, "Do not check values against values.schema.json"),
    flag("release-name", Kind::Bool, "Use the release name in the output directory"),
    aside(flag("debug", Kind::Bool, "Taken for Helm's sake")),
    flag("enable-dns", Kind::Bool, "Let templates ask the name service (getHostByName)"),
    flag(
        "post-renderer",
        Kind::PostRenderer,
        "Program that changes the manifest before it is printed (Helm 3)",
    ),
    flag("post-renderer-args", Kind::Text, "Argument of the post-renderer; may be repeated"),
    aside(flag(
        "dry-run",
        Kind::DryRun,
        "Taken for Helm's sake; `server` asks a cluster and is refused where one is needed",
    )),
    deprecated(
        "use '--dry-run=server' instead",
        aside(flag("validate", Kind::Bool, "Refused: no cluster is asked")),
    ),
    aside(flag("repo", Kind::Text, "Refused: chart repositories are not asked")),
    aside(flag("verify", Kind::Bool, "Refused: provenance is not checked")),
    flag("version", Kind::Text, "Version of a chart in a registry (oci://…); no effect on charts on disk"),
    deprecated(NO_EFFECT, idle("hide-notes", Kind::Bool)),
    deprecated(NO_EFFECT, idle("render-subchart-notes", Kind::Bool)),
    deprecated("use --rollback-on-failure instead", idle("atomic", Kind::Bool)),
    deprecated("use --force-replace instead", idle("force", Kind::Bool)),
    new(idle("rollback-on-failure", Kind::Bool)),
    new(idle("force-replace", Kind::Bool)),
    new(idle("force-conflicts", Kind::Bool)),
    new(idle("server-side", Kind::Bool)),
    new(idle("content-cache", Kind::Text)),
    idle("wait", Kind::Wait),
    idle("wait-for-jobs", Kind::Bool),
    idle("timeout", Kind::Duration),
    idle("create-namespace", Kind::Bool),
    idle("replace", Kind::Bool),
    idle("take-ownership", Kind::Bool),
    idle("description", Kind::Text),
    short('l', idle("labels", Kind::Labels)),
    idle("disable-openapi-validation", Kind::Bool),
    idle("dependency-update", Kind::Bool),
    fetching("devel", Kind::Bool),
    fetching("ca-file", Kind::Text),
    fetching("cert-file", Kind::Text),
    fetching("key-file", Kind::Text),
    fetching("insecure-skip-tls-verify", Kind::Bool),
    fetching("pass-credentials", Kind::Bool),
    fetching("username", Kind::Text),
    fetching("password", Kind::Text),
    fetching("registry-config", Kind::Text),
    idle("keyring", Kind::Text),
    idle("repository-cache", Kind::Text),
    idle("repository-config", Kind::Text),
    idle("burst-limit", Kind::Int),
    idle("qps", Kind::Float),
    idle("kubeconfig", Kind::Text),
    idle("kube-apiserver", Kind::Text),
    idle("kube-as-group", Kind::Text),
    idle("kube-as-user", Kind::Text),
    idle("kube-ca-file", Kind::Text),
    idle("kube-context", Kind::Text),
    idle("kube-insecure-skip-tls-verify", Kind::Bool),
    idle("kube-tls-server-name", Kind::Text),
    idle("kube-token", Kind::Text),
];

impl Flag {
    fn arg(&self) -> Arg {
        let arg = Arg::new(self.name).long(self.name).help(self.help).action(ArgAction::Append);
        let arg = self.short.into_iter().fold(arg, Arg::short);
        let heading = self.aside.then_some("Of helm template");
        let arg = arg.help_heading(heading).hide_short_help(self.aside);
        let (value, missing) = match self.kind {
            Kind::Bool => ("BOOL", Some("true")),
            Kind::Wait => ("STRATEGY", Some("")),
            Kind::DryRun => ("WHERE", Some("")),
            Kind::Int | Kind::Float => ("N", None),
            Kind::Duration => ("DURATION", None),
            Kind::Labels => ("KEY=VALUE", None),
            Kind::PostRenderer => ("PROGRAM", None),
            Kind::Text => ("TEXT", None),
        };
        let arg = arg.value_name(value);
        match missing {
            Some(missing) => arg.num_args(0..=1).require_equals(true).default_missing_value(missing),
            None => arg.allow_hyphen_values(true),
        }
    }

    /// Whether a release knows it.
    fn is_there(&self, helm: Helm) -> bool {
        match self.name {
            "skip-schema-validation" | "hide-notes" => helm.has_flags_of_3_16(),
            "take-ownership" => helm.has_take_ownership(),
            "atomic" => !helm.lacks_atomic(),
            _ => !self.new || helm.has_new_flags(),
        }
    }

    /// The name by which pflag calls it in errors.
    fn shown(&self) -> String {
        self.short.map_or_else(|| format!("--{}", self.name), |short| format!("-{short}, --{}", self.name))
    }

    /// What is wrong with a value, in the words of its type.
    fn fault(&self, value: &str, helm: Helm) -> Option<String> {
        match self.kind {
            Kind::Bool => go_bool(value).err(),
            Kind::Wait if !helm.has_new_flags() => {
                go_bool(if value.is_empty() { "true" } else { value }).err()
            }
            Kind::Wait => wait_fault(value, helm),
            Kind::Int => int_fault(value),
            Kind::Float => float_fault(value),
            Kind::Duration => duration::parse(value).err(),
            Kind::Labels => pairs(value).err(),
            Kind::PostRenderer => postrender::find(value, helm).err(),
            Kind::Text | Kind::DryRun => None,
        }
    }
}

/// Go's `strconv.ParseBool`.
fn go_bool(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(format!("strconv.ParseBool: parsing {}: invalid syntax", quote(text))),
    }
}

/// Helm v4.3.1 `pkg/cmd/helpers.go`: strategies, and the truth values of Helm 3.
fn wait_fault(value: &str, helm: Helm) -> Option<String> {
    let hooks = helm.waits_for_hooks_alone();
    let known = matches!(value, "" | "watcher" | "legacy" | "true" | "false") || hooks && value == "hookOnly";
    let hooks = if hooks { " hookOnly," } else { "" };
    let fault =
        || format!("invalid wait input {}. Valid inputs are watcher,{hooks} and legacy", quote(value));
    (!known).then(fault)
}

/// Go's `strconv.ParseInt` with the base that the text begins with.
fn int_fault(text: &str) -> Option<String> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text).to_ascii_lowercase();
    let bases = [("0x", 16), ("0o", 8), ("0b", 2), ("0", 8)];
    let (digits, base) = bases
        .iter()
        .find_map(|(prefix, base)| {
            Some((digits.strip_prefix(prefix).filter(|rest| !rest.is_empty())?, *base))
        })
        .unwrap_or((&digits, 10));
    let digits = digits.replace('_', "");
    let fault = |what: &str| Some(format!("strconv.ParseInt: parsing {}: {what}", quote(text)));
    match i64::from_str_radix(&digits, base) {
        Ok(_) => None,
        Err(_) if !digits.is_empty() && digits.chars().all(|c| c.is_digit(base)) => {
            fault("value out of range")
        }
        Err(_) => fault("invalid syntax"),
    }
}

fn float_fault(text: &str) -> Option<String> {
    let fault = |what: &str| Some(format!("strconv.ParseFloat: parsing {}: {what}", quote(text)));
    match text.parse::<f32>() {
        Ok(number) if number.is_infinite() && text.contains(|c: char| c.is_ascii_digit()) => {
            fault("value out of range")
        }
        Ok(_) => None,
        Err(_) => fault("invalid syntax"),
    }
}

/// pflag's `stringToString`.
fn pairs(text: &str) -> Result<Vec<(String, String)>, String> {
    let parts: Vec<&str> =
        if text.matches('=').count() > 1 { text.split(',').collect() } else { vec![text.trim_matches('"')] };
    let pair = |part: &str| {
        let pair = part.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
        pair.ok_or_else(|| format!("{part} must be formatted as key=value"))
    };
    parts.into_iter().map(pair).collect()
}

/// One use of a flag on the command line.
#[derive(Clone, Debug)]
struct Given {
    flag: &'static Flag,
    value: String,
    at: usize,
}

/// The flags as they were given, in order.
#[derive(Clone, Debug, Default)]
pub struct HelmFlags(Vec<Given>);

impl FromArgMatches for HelmFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = Vec::new();
        for flag in FLAGS {
            let values = matches.get_many::<String>(flag.name).into_iter().flatten();
            let places = matches.indices_of(flag.name).into_iter().flatten();
            given.extend(values.zip(places).map(|(value, at)| Given { flag, value: value.clone(), at }));
        }
        given.sort_by_key(|given| given.at);
        Ok(Self(given))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for HelmFlags {
    fn augment_args(command: Command) -> Command {
        command.args(FLAGS.iter().map(Flag::arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Labels that a release has of its own (Helm v4.3.1 `pkg/storage/driver/util.go`).
const SYSTEM_LABELS: &[&str] = &["name", "owner", "status", "version", "createdAt", "modifiedAt"];

impl HelmFlags {
    /// The texts of a flag, in order.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        debug_assert!(FLAGS.iter().any(|flag| flag.name == name), "no flag {name}");
        self.0.iter().filter(move |given| given.flag.name == name).map(|given| given.value.as_str())
    }

    /// The last text of a flag, which wins.
    pub(crate) fn last<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.all(name).last()
    }

    /// Whether a switch is on.
    pub(crate) fn on(&self, name: &str) -> bool {
        self.last(name).is_some_and(|value| go_bool(value) == Ok(true))
    }

    /// The first flag that only counts for charts which are fetched.
    pub(crate) fn fetching(&self) -> Option<&'static str> {
        self.0.iter().find(|given| given.flag.fetch).map(|given| given.flag.name)
    }

    /// Whether a cluster is asked: always, or (in Helm 3) only by `lookup`.
    pub(crate) fn asks_cluster(&self, helm: Helm) -> bool {
        self.on("validate") || helm.has_new_flags() && self.last("dry-run") == Some("server")
    }

    /// What Helm says while it reads its flags: lines for standard error, and why it stops.
    pub(crate) fn check(&self, helm: Helm) -> (Vec<String>, Result<(), String>) {
        let mut lines = Vec::new();
        let checked = self.read(helm, &mut lines).and_then(|()| self.exclusive(helm));
        (lines, checked.and_then(|()| self.dry_run(helm)))
    }

    fn read(&self, helm: Helm, lines: &mut Vec<String>) -> Result<(), String> {
        for Given { flag, value, .. } in &self.0 {
            if !flag.is_there(helm) {
                return Err(format!("unknown flag: --{}", flag.name));
            }
            if let Some(fault) = flag.fault(value, helm) {
                let (value, shown) = (quote(value), flag.shown());
                return Err(format!("invalid argument {value} for \"{shown}\" flag: {fault}"));
            }
            if helm.has_new_flags() {
                lines.extend(remark(flag, value, helm));
            }
        }
        Ok(())
    }

    /// Groups of which only one flag may be given; cobra names the rest in alphabetical order.
    fn exclusive(&self, helm: Helm) -> Result<(), String> {
        let groups = [["validate", "dry-run"], ["force-replace", "force-conflicts"]];
        let both = |group: &&[&str; 2]| group.iter().all(|name| self.last(name).is_some());
        match groups.iter().filter(|_| helm.has_new_flags()).find(both) {
            None => Ok(()),
            Some(&[first, second]) => Err(format!(
                "if any flags in the group [{first} {second}] are set none of the others can be; [{second} {first}] were all set"
            )),
        }
    }

    fn dry_run(&self, helm: Helm) -> Result<(), String> {
        match (helm.has_new_flags(), self.last("dry-run")) {
            (_, None | Some("" | "client" | "server" | "true")) | (false, Some("false" | "none")) => Ok(()),
            (false, Some(_)) => {
                Err("Invalid dry-run flag. Flag must one of the following: false, true, none, client, server"
                    .to_owned())
            }
            (_, Some("unset")) => Ok(()),
            (_, Some(value)) => {
                let choice = if matches!(value, "false" | "none") { "" } else { "\"none\", " };
                let comma = if choice.is_empty() { "" } else { "," };
                let value = quote(value);
                Err(format!(
                    "invalid dry-run value ({value}). Must be {choice}\"server\"{comma} or \"client\""
                ))
            }
        }
    }

    /// Labels that a release can't have are refused once it is rendered.
    pub(crate) fn label_fault(&self, helm: Helm) -> Option<String> {
        let pairs = self.all("labels").filter_map(|text| pairs(text).ok()).flatten();
        pairs.into_iter().any(|(key, _)| SYSTEM_LABELS.contains(&key.as_str())).then(|| {
            let names = SYSTEM_LABELS.join(" ");
            let supplied = if helm.misspells_labels() { "suplied" } else { "supplied" };
            format!("user {supplied} labels contains system reserved label name. System labels: [{names}]")
        })
    }
}

/// What Helm 4 says about the use of a flag.
fn remark(flag: &Flag, value: &str, helm: Helm) -> Option<String> {
    let warn = |text: String| crate::chart::notice::record("WARN", &text, &[]);
    match (flag.kind, value) {
        (Kind::Wait, "true") => Some(warn(
            "--wait=true is deprecated (boolean value) and can be replaced with --wait=watcher".to_owned(),
        )),
        (Kind::Wait, "false") => Some(warn(format!(
            "--wait=false is deprecated (boolean value) and can be replaced {}",
            if helm.waits_for_hooks_alone() { "with --wait=hookOnly" } else { "by omitting the --wait flag" }
        ))),
        (Kind::DryRun, "" | "unset") => {
            Some(warn("--dry-run is deprecated and should be replaced with '--dry-run=client'".to_owned()))
        }
        (Kind::DryRun, "true") => Some(warn(
            "boolean '--dry-run=true' flag is deprecated and must be replaced with '--dry-run=client'"
                .to_owned(),
        )),
        _ if flag.deprecated.is_empty() => None,
        _ => Some(format!("Flag --{} has been deprecated, {}", flag.name, flag.deprecated)),
    }
}
