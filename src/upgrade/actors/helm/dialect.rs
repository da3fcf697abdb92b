//! Where the Helm versions differ: words, defaults, and what they do with an object that no revision knows.

use crate::chart::notice::record;
use crate::go::quote;
use crate::render::Helm;

/// One Helm version's peculiarities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The version.
    pub helm: Helm,
}

impl Dialect {
    /// Whether it is Helm 4 or later.
    #[must_use]
    pub fn is_v4(self) -> bool {
        self.helm.major >= 4
    }

    fn at_least(self, v3: u8, v4: u8) -> bool {
        if self.is_v4() { self.helm.minor >= v4 } else { self.helm.minor >= v3 }
    }

    /// `Unable to continue with …`; Helm 4 begins in lower case.
    pub(crate) fn unable(self, what: &str, why: &str) -> String {
        let first = if self.is_v4() { "unable" } else { "Unable" };
        format!("{first} to continue with {what}: {why}")
    }

    /// Whether an object that is live but unknown to the old manifest is patched from its live state; older versions
    /// stop there. (3.22; 4.0.5 had it, 4.1 lost it, 4.2 has it again.)
    pub(crate) fn takes_live_as_baseline(self) -> bool {
        self.at_least(22, 2)
    }

    /// What versions without that say.
    pub(crate) fn no_original(self, kind: &str, name: &str) -> String {
        if self.is_v4() {
            format!("original object {kind} with the name \"{name}\" not found")
        } else {
            format!("no {kind} with the name \"{name}\" found")
        }
    }

    /// Whether `--take-ownership` exists (3.17).
    #[must_use]
    pub fn knows_take_ownership(self) -> bool {
        self.at_least(17, 0)
    }

    /// Whether `--reset-then-reuse-values` exists (3.14).
    #[must_use]
    pub fn knows_reset_then_reuse(self) -> bool {
        self.at_least(14, 0)
    }

    /// Whether uninstall leaves objects alone that do not carry the release's ownership metadata (4.3).
    pub(crate) fn uninstall_checks_ownership(self) -> bool {
        self.is_v4() && self.helm.minor >= 3
    }

    /// Whether an error while deleting what left the manifest fails the upgrade.
    pub(crate) fn delete_errors_count(self) -> bool {
        self.is_v4()
    }

    /// Whether deleting a hook's old object waits until it is gone even without `--wait`.
    pub(crate) fn hook_deletion_waits(self) -> bool {
        !self.is_v4()
    }

    /// Several errors that came up in parallel, as one text.
    /// Source: hashicorp/go-multierror (Helm 3), Go `errors.Join` (Helm 4).
    pub(crate) fn join(self, errors: &[String]) -> String {
        if self.is_v4() {
            return errors.join("\n");
        }
        let head = if errors.len() == 1 {
            "1 error occurred:".to_owned()
        } else {
            format!("{} errors occurred:", errors.len())
        };
        let points: Vec<String> = errors.iter().map(|error| format!("* {error}")).collect();
        format!("{head}\n\t{}\n\n", points.join("\n\t"))
    }

    /// The wording when an upgrade was undone because the flag says so.
    pub(crate) fn rolled_back(self, release: &str, error: &str) -> String {
        let flag = if self.is_v4() { "rollback-on-failure" } else { "atomic" };
        format!("release {release} failed, and has been rolled back due to {flag} being set: {error}")
    }

    /// The wording when an install was undone because the flag says so.
    pub(crate) fn uninstalled(self, release: &str, error: &str) -> String {
        let flag = if self.is_v4() { "rollback-on-failure" } else { "atomic" };
        format!("release {release} failed, and has been uninstalled due to {flag} being set: {error}")
    }
}

impl Dialect {
    /// A `Warning` header of the API server on stderr; time and process number are fixed.
    /// Source: k8s.io/client-go, `rest/warnings.go`, through klog (both lines since client-go 0.37).
    pub(crate) fn server_warning(self, text: &str) -> String {
        format!("I0101 00:00:00.000000       1 warnings.go:107] {}\n", quote(format!("Warning: {text}")))
    }
}

/// A line of Helm 4's log on stderr.
pub(crate) fn warn(message: &str, attributes: &[(&str, &str)]) -> String {
    format!("{}\n", record("WARN", message, attributes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_errors_as_the_libraries_do() {
        let errors = ["a".to_owned(), "b".to_owned()];
        assert_eq!(Dialect { helm: Helm::V3 }.join(&errors), "2 errors occurred:\n\t* a\n\t* b\n\n");
        assert_eq!(Dialect { helm: Helm::V3 }.join(&errors[..1]), "1 error occurred:\n\t* a\n\n");
        assert_eq!(Dialect { helm: Helm::V4 }.join(&errors), "a\nb");
    }

    #[test]
    fn log_lines_quote_what_needs_it() {
        let line = warn("upgrade failed", &[("name", "t"), ("namespace", ""), ("error", "a \"b\"\n- c")]);
        assert_eq!(
            line,
            "level=WARN msg=\"upgrade failed\" name=t namespace=\"\" error=\"a \\\"b\\\"\\n- c\"\n"
        );
    }

    #[test]
    fn the_live_baseline_came_and_went() {
        let with =
            |major, minor| Dialect { helm: Helm::known(major, minor).unwrap() }.takes_live_as_baseline();
        assert_eq!([with(3, 17), with(3, 22), with(4, 1), with(4, 3)], [false, true, false, true]);
    }
}
