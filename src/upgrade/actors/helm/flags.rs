//! The flags of `helm install`, `upgrade`, `rollback` and `uninstall` that change what happens to the cluster.

use super::dialect::Dialect;
use crate::cluster::Propagation;
use crate::go;

/// `--server-side`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerSide {
    /// As the revision before did it.
    #[default]
    Auto,
    /// Always server-side apply.
    Yes,
    /// Never.
    No,
}

/// `--wait`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wait {
    /// Only for hooks.
    #[default]
    HooksOnly,
    /// Until everything is ready by Helm 3's rules.
    Legacy,
    /// Until everything is current by kstatus' rules, custom resources included.
    Watcher,
}

/// Which values an upgrade starts from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reuse {
    /// The given ones; the last revision's when none are given.
    #[default]
    Default,
    /// `--reset-values`.
    Reset,
    /// `--reuse-values`.
    Reuse,
    /// `--reset-then-reuse-values`.
    ResetThenReuse,
}

/// Flags of one command.
#[derive(Clone, Debug, PartialEq)]
pub struct Flags {
    /// `--take-ownership`.
    pub take_ownership: bool,
    /// `--force` (Helm 3), `--force-replace`.
    pub force_replace: bool,
    /// `--force-conflicts`.
    pub force_conflicts: bool,
    /// `--server-side`.
    pub server_side: ServerSide,
    /// `--atomic` (Helm 3), `--rollback-on-failure`.
    pub atomic: bool,
    /// `--cleanup-on-fail`.
    pub cleanup_on_fail: bool,
    /// `--wait`.
    pub wait: Wait,
    /// `--wait-for-jobs`.
    pub wait_for_jobs: bool,
    /// `--timeout`, in seconds.
    pub timeout: f64,
    /// `--no-hooks`.
    pub no_hooks: bool,
    /// `--skip-crds`.
    pub skip_crds: bool,
    /// Which values to start from.
    pub reuse: Reuse,
    /// `--history-max`; 0 for no limit.
    pub history_max: usize,
    /// `--create-namespace`.
    pub create_namespace: bool,
    /// `--install` of `helm upgrade`.
    pub install: bool,
    /// `--replace` of `helm install`.
    pub replace: bool,
    /// `--keep-history` of `helm uninstall`.
    pub keep_history: bool,
    /// `--cascade` of `helm uninstall`.
    pub cascade: Propagation,
    /// `--skip-schema-validation`.
    pub skip_schema: bool,
    /// `--description`.
    pub description: String,
    /// What is said of the flags themselves before anything is done.
    pub notices: String,
}

impl Default for Flags {
    fn default() -> Self {
        Self {
            take_ownership: false,
            force_replace: false,
            force_conflicts: false,
            server_side: ServerSide::Auto,
            atomic: false,
            cleanup_on_fail: false,
            wait: Wait::HooksOnly,
            wait_for_jobs: false,
            timeout: 300.0,
            no_hooks: false,
            skip_crds: false,
            reuse: Reuse::Default,
            history_max: 10,
            create_namespace: false,
            install: false,
            replace: false,
            keep_history: false,
            cascade: Propagation::Background,
            skip_schema: false,
            description: String::new(),
            notices: String::new(),
        }
    }
}

/// A flag that the version does not know, or a value it does not take; the text is cobra's where it has one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FlagError(pub String);

impl Flags {
    /// Reads flags as typed on a command line. Flags about values are not read here.
    ///
    /// # Errors
    /// Unknown flags, bad values, and combinations that Helm refuses.
    pub fn parse<S: AsRef<str>>(arguments: &[S], dialect: Dialect) -> Result<Self, FlagError> {
        let mut flags = Self::default();
        let mut rest = arguments.iter().map(AsRef::as_ref);
        while let Some(argument) = rest.next() {
            let (name, inline) = match argument.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (argument, None),
            };
            flags.set(name, inline, &mut rest, dialect)?;
        }
        flags.consistent()
    }

    fn set<'a>(
        &mut self,
        name: &str,
        inline: Option<&'a str>,
        rest: &mut impl Iterator<Item = &'a str>,
        dialect: Dialect,
    ) -> Result<(), FlagError> {
        let mut value = || {
            inline.or_else(|| rest.next()).ok_or_else(|| FlagError(format!("flag needs an argument: {name}")))
        };
        match name {
            "--timeout" => self.timeout = seconds(value()?)?,
            "--history-max" => self.history_max = number(name, value()?)?,
            "--description" => self.description = value()?.to_owned(),
            "--cascade" => self.cascade = cascade(value()?)?,
            "--server-side" if dialect.is_v4() => self.server_side = server_side(inline.unwrap_or("true"))?,
            "--wait" => self.wait = wait(inline, dialect)?,
            "--reuse-values" | "--reset-values" | "--reset-then-reuse-values" => self.reuse(name, dialect)?,
            _ => return self.switch(name, inline, dialect),
        }
        Ok(())
    }

    fn reuse(&mut self, name: &str, dialect: Dialect) -> Result<(), FlagError> {
        let reuse = match name {
            "--reset-values" => Reuse::Reset,
            "--reuse-values" => Reuse::Reuse,
            _ if dialect.knows_reset_then_reuse() => Reuse::ResetThenReuse,
            _ => return Err(unknown(name)),
        };
        // Reset wins over reuse, reuse over reset-then-reuse, whatever their order.
        let rank = |reuse| match reuse {
            Reuse::Reset => 3,
            Reuse::Reuse => 2,
            Reuse::ResetThenReuse => 1,
            Reuse::Default => 0,
        };
        if rank(reuse) > rank(self.reuse) {
            self.reuse = reuse;
        }
        Ok(())
    }

    fn switch(&mut self, name: &str, inline: Option<&str>, dialect: Dialect) -> Result<(), FlagError> {
        let deprecated = DEPRECATED.iter().find(|(old, _)| *old == name).filter(|_| dialect.is_v4());
        if let Some((old, new)) = deprecated {
            self.notices.push_str(&format!("Flag {old} has been deprecated, use {new} instead\n"));
        }
        let on = inline.is_none_or(|value| matches!(value, "true" | "1" | "t" | "T" | "TRUE" | "True"));
        let place = match name {
            "--take-ownership" if dialect.knows_take_ownership() => &mut self.take_ownership,
            "--force" => &mut self.force_replace,
            "--force-replace" if dialect.is_v4() => &mut self.force_replace,
            "--force-conflicts" if dialect.is_v4() => &mut self.force_conflicts,
            "--atomic" => &mut self.atomic,
            "--rollback-on-failure" if dialect.is_v4() => &mut self.atomic,
            "--cleanup-on-fail" => &mut self.cleanup_on_fail,
            "--wait-for-jobs" => &mut self.wait_for_jobs,
            "--no-hooks" => &mut self.no_hooks,
            "--skip-crds" => &mut self.skip_crds,
            "--create-namespace" => &mut self.create_namespace,
            "--install" | "-i" => &mut self.install,
            "--replace" => &mut self.replace,
            "--keep-history" => &mut self.keep_history,
            "--skip-schema-validation" => &mut self.skip_schema,
            _ => return Err(unknown(name)),
        };
        *place = on;
        Ok(())
    }

    fn consistent(self) -> Result<Self, FlagError> {
        if self.force_replace && self.force_conflicts {
            return Err(FlagError(
                "if any flags in the group [force-replace force-conflicts] are set none of the others can be; [force-conflicts force-replace] were all set".to_owned(),
            ));
        }
        Ok(self)
    }
}

/// Flags of Helm 3 that Helm 4 takes under protest, with those that it wants instead.
const DEPRECATED: &[(&str, &str)] = &[("--atomic", "--rollback-on-failure"), ("--force", "--force-replace")];

/// Flags that are modelled, each with the commands that have it.
///
/// Source: Helm v3.22.0 and v4.3.1, `pkg/cmd/{install,upgrade,rollback,uninstall}.go`.
const OFFERED: &[(&str, &[&str])] = &[
    ("--atomic", DEPLOYING),
    ("--cascade", &["uninstall"]),
    ("--cleanup-on-fail", &["upgrade", "rollback"]),
    ("--create-namespace", DEPLOYING),
    ("--description", &["install", "upgrade", "uninstall", "rollback"]),
    ("--force", &["install", "upgrade", "rollback"]),
    ("--force-conflicts", &["install", "upgrade", "rollback"]),
    ("--force-replace", &["install", "upgrade", "rollback"]),
    ("--history-max", &["upgrade", "rollback"]),
    ("--install", &["upgrade"]),
    ("-i", &["upgrade"]),
    ("--keep-history", &["uninstall"]),
    ("--no-hooks", &["install", "upgrade", "rollback", "uninstall"]),
    ("--replace", &["install"]),
    ("--reset-then-reuse-values", &["upgrade"]),
    ("--reset-values", &["upgrade"]),
    ("--reuse-values", &["upgrade"]),
    ("--rollback-on-failure", DEPLOYING),
    ("--server-side", &["install", "upgrade", "rollback"]),
    ("--skip-crds", DEPLOYING),
    ("--skip-schema-validation", DEPLOYING),
    ("--take-ownership", DEPLOYING),
    ("--timeout", &["install", "upgrade", "rollback", "uninstall"]),
    ("--wait", &["install", "upgrade", "rollback", "uninstall"]),
    ("--wait-for-jobs", &["install", "upgrade", "rollback"]),
];

const DEPLOYING: &[&str] = &["install", "upgrade"];

/// The flags of a command that are modelled for a version of Helm, in order.
#[must_use]
pub fn offered(command: &str, dialect: Dialect) -> Vec<&'static str> {
    let known = |name: &str| {
        // A flag that wants an argument complains about that, not about itself.
        !matches!(Flags::parse(&[name], dialect), Err(error) if error == unknown(name))
    };
    let described = |name: &str| name != "--description" || command != "rollback" || dialect.is_v4();
    let of_command = OFFERED
        .iter()
        .filter(|(name, commands)| commands.contains(&command) && known(name) && described(name));
    of_command.map(|(name, _)| *name).collect()
}

/// Whether the next word is the value of a flag as it is written.
#[must_use]
pub fn takes_value(flag: &str) -> bool {
    matches!(flag, "--timeout" | "--history-max" | "--description" | "--cascade")
}

fn unknown(name: &str) -> FlagError {
    FlagError(format!("unknown flag: {name}"))
}

fn number(name: &str, value: &str) -> Result<usize, FlagError> {
    value.parse().map_err(|_| {
        FlagError(format!("invalid argument \"{value}\" for \"{name}\" flag: not a whole number"))
    })
}

fn cascade(value: &str) -> Result<Propagation, FlagError> {
    match value {
        "background" => Ok(Propagation::Background),
        "foreground" => Ok(Propagation::Foreground),
        "orphan" => Ok(Propagation::Orphan),
        _ => Err(FlagError(format!(
            "invalid cascade value ({value}). Must be \"background\", \"foreground\", or \"orphan\""
        ))),
    }
}

fn server_side(value: &str) -> Result<ServerSide, FlagError> {
    match value {
        "auto" => Ok(ServerSide::Auto),
        "true" => Ok(ServerSide::Yes),
        "false" => Ok(ServerSide::No),
        _ => Err(FlagError(format!("invalid/unknown release server-side apply method: {value}"))),
    }
}

fn wait(value: Option<&str>, dialect: Dialect) -> Result<Wait, FlagError> {
    match value {
        None | Some("true") => Ok(if dialect.is_v4() { Wait::Watcher } else { Wait::Legacy }),
        Some("false") => Ok(Wait::HooksOnly),
        Some("watcher") if dialect.is_v4() => Ok(Wait::Watcher),
        Some("legacy") if dialect.is_v4() => Ok(Wait::Legacy),
        Some("hookOnly") if dialect.is_v4() => Ok(Wait::HooksOnly),
        Some(value) => Err(FlagError(format!("invalid argument \"{value}\" for \"--wait\" flag"))),
    }
}

/// Seconds of a Go duration such as `30s`, `5m`, `1h30m` or `-.5s`.
///
/// # Errors
/// Text that is no duration.
pub fn seconds(text: &str) -> Result<f64, FlagError> {
    let nanos = go::duration::parse(text)
        .map_err(|why| FlagError(format!("invalid argument \"{text}\" for \"--timeout\" flag: {why}")))?;
    #[expect(clippy::cast_precision_loss, reason = "nobody waits for so long that a nanosecond counts")]
    let nanos = nanos as f64;
    Ok(nanos / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::Helm;

    const V3: Dialect = Dialect { helm: Helm::V3 };
    const V4: Dialect = Dialect { helm: Helm::V4 };

    #[test]
    fn reads_what_people_type() {
        let flags = Flags::parse(&["--take-ownership", "--timeout", "1m30s", "--atomic", "--wait"], V3)
            .expect("flags");
        assert!(flags.take_ownership && flags.atomic);
        assert_eq!(flags.wait, Wait::Legacy);
        assert!((flags.timeout - 90.0).abs() < f64::EPSILON);
        let flags =
            Flags::parse(&["--server-side=true", "--force-conflicts", "--wait=legacy"], V4).expect("flags");
        assert_eq!(
            (flags.server_side, flags.force_conflicts, flags.wait),
            (ServerSide::Yes, true, Wait::Legacy)
        );
    }

    /// Each answer is that of `helm upgrade --timeout` (3.22.0 and 4.3.1).
    #[test]
    fn durations_are_gos() {
        for (text, wanted) in
            [("0", 0.0), ("+1s", 1.0), (".5s", 0.5), ("1us", 1e-6), ("-5s", -5.0), ("1h1m", 3660.0)]
        {
            let read = seconds(text).expect(text);
            assert!((read - wanted).abs() < 1e-9, "{text}: {read}");
        }
        for (text, wanted) in [
            ("5", "missing unit in duration \"5\""),
            ("5x", "unknown unit \"x\" in duration \"5x\""),
            ("1d", "unknown unit \"d\" in duration \"1d\""),
            ("x", "invalid duration \"x\""),
            ("", "invalid duration \"\""),
            ("-", "invalid duration \"-\""),
        ] {
            let error = seconds(text).expect_err(text).0;
            assert_eq!(error, format!("invalid argument \"{text}\" for \"--timeout\" flag: time: {wanted}"));
        }
    }

    #[test]
    fn each_version_knows_its_own_flags() {
        let old = Dialect { helm: Helm::known(3, 16).unwrap() };
        assert_eq!(
            Flags::parse(&["--take-ownership"], old).expect_err("3.17").to_string(),
            "unknown flag: --take-ownership"
        );
        assert!(Flags::parse(&["--server-side=true"], V3).is_err());
        assert!(Flags::parse(&["--force", "--force-conflicts"], V4).is_err());
        let notices = Flags::parse(&["--force"], V4).map(|flags| flags.notices);
        let wanted = "Flag --force has been deprecated, use --force-replace instead\n";
        assert_eq!(notices.as_deref(), Ok(wanted), "Helm 4.3.1");
    }

    #[test]
    fn each_command_has_its_own_flags() {
        for dialect in [V3, V4] {
            for command in ["install", "upgrade", "rollback", "uninstall"] {
                let flags = offered(command, dialect);
                assert!(flags.contains(&"--timeout") && flags.contains(&"--no-hooks"), "{flags:?}");
                assert_eq!(flags.contains(&"--take-ownership"), DEPLOYING.contains(&command));
                assert_eq!(flags.contains(&"--server-side"), dialect.is_v4() && command != "uninstall");
            }
        }
        assert!(
            !offered("upgrade", Dialect { helm: Helm::known(3, 16).unwrap() }).contains(&"--take-ownership")
        );
    }

    #[test]
    fn reset_wins_over_reuse() {
        let flags = Flags::parse(&["--reuse-values", "--reset-values"], V3).expect("flags");
        assert_eq!(flags.reuse, Reuse::Reset);
    }
}
