//! The releases of Helm whose behaviour can be asked for; where they part ways is in [`differences`].

pub mod differences;

use std::fmt;

use crate::version::Release as Semver;

/// The release of Helm whose behaviour is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Helm {
    /// 3 or 4.
    pub major: u8,
    /// Minor version.
    pub minor: u8,
    /// Patch release.
    pub patch: u8,
}

/// One minor version.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// The newest patch release that is known.
    newest: Helm,
    /// The minor version of Kubernetes that its released programs take for granted.
    kubernetes: u8,
}

const fn line(newest: (u8, u8, u8), kubernetes: u8) -> Line {
    Line { newest: Helm::new(newest.0, newest.1, newest.2), kubernetes }
}

/// The minor versions, oldest first.
const LINES: &[Line] = &[
    line((3, 14, 4), 29),
    line((3, 15, 4), 30),
    line((3, 16, 4), 31),
    line((3, 17, 4), 32),
    line((3, 18, 6), 33),
    line((3, 19, 5), 34),
    line((3, 20, 2), 35),
    line((3, 21, 4), 36),
    line((3, 22, 0), 37),
    line((4, 0, 5), 34),
    line((4, 1, 4), 35),
    line((4, 2, 4), 36),
    line((4, 3, 1), 37),
];

impl Helm {
    /// Helm 3.22.
    pub const V3: Self = Self::new(3, 22, 0);
    /// Helm 4.3.
    pub const V4: Self = Self::new(4, 3, 1);

    /// The versions that can be asked for, in words.
    pub const KNOWN: &'static str = "3.14 to 3.22 and 4.0 to 4.3, also with a patch digit";

    /// Newer patch releases than those that were compared; their sources differ in nothing that is printed here.
    const LATER: &'static [Self] = &[Self::new(4, 3, 2)];

    const fn new(major: u8, minor: u8, patch: u8) -> Self {
        Self { major, minor, patch }
    }

    fn line(major: u8, minor: u8) -> Option<&'static Line> {
        LINES.iter().find(|line| (line.newest.major, line.newest.minor) == (major, minor))
    }

    /// The newest patch release of a minor version.
    #[must_use]
    pub fn known(major: u8, minor: u8) -> Option<Self> {
        Self::line(major, minor).map(|line| line.newest)
    }

    /// Reads `3.18`, which is its newest patch release, or `3.18.4`, with or without a `v`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.trim_start_matches('v').split('.').map(str::parse);
        let mut next = || numbers.next().transpose().ok();
        let (major, minor, patch) = (next()??, next()??, next()?);
        let newest = Self::known(major, minor).filter(|_| next() == Some(None))?;
        let patch = patch.unwrap_or(newest.patch);
        let later = Self::LATER.contains(&Self { patch, ..newest });
        (later || patch <= newest.patch).then_some(Self { patch, ..newest })
    }

    /// The minor version of Kubernetes that is taken for granted without a cluster.
    #[must_use]
    pub fn default_kubernetes(self) -> u8 {
        Self::line(self.major, self.minor).map_or(37, |line| line.kubernetes)
    }

    /// The release of Masterminds semver that is built in.
    #[must_use]
    pub fn semver(self) -> Semver {
        match (self.opens_groups_to_prereleases(), self.quotes_constraints()) {
            (false, _) => Semver::V3_3,
            (_, false) => Semver::V3_4,
            _ => Semver::V3_5,
        }
    }

    /// The version in full, as the program calls itself.
    #[must_use]
    pub fn full(self) -> String {
        format!("v{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl fmt::Display for Helm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_with_and_without_a_patch() {
        for (text, wanted) in [
            ("3.22", Some(Helm::V3)),
            ("v4.3", Some(Helm::V4)),
            ("3.18", Some(Helm::new(3, 18, 6))),
            ("3.18.4", Some(Helm::new(3, 18, 4))),
            ("3.18.7", None),
            ("4.3.2", Some(Helm::new(4, 3, 2))),
            ("4.3.3", None),
            ("3.13", None),
            ("4.4", None),
            ("3", None),
            ("3.18.4.1", None),
            ("3.18.x", None),
            ("x", None),
        ] {
            assert_eq!(Helm::parse(text), wanted, "{text}");
        }
        assert_eq!((Helm::V3.to_string(), Helm::V3.full()), ("3.22".to_owned(), "v3.22.0".to_owned()));
    }

    #[test]
    fn defaults_are_those_of_the_newest() {
        assert_eq!((Helm::known(3, 22), Helm::known(4, 3)), (Some(Helm::V3), Some(Helm::V4)));
        assert_eq!((Helm::V3.default_kubernetes(), Helm::new(3, 17, 3).default_kubernetes()), (37, 32));
    }
}
