//! The Kubernetes version whose behaviour a schema is compiled for.

use std::fmt;

/// Major and minor version of an API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KubeVersion {
    /// Major version: 1.
    pub major: u16,
    /// Minor version, e.g. 34.
    pub minor: u16,
}

impl KubeVersion {
    /// The version whose answers were recorded: 1.34.
    pub const RECORDED: Self = Self::new(1, 34);

    /// A version from its two numbers.
    #[must_use]
    pub const fn new(major: u16, minor: u16) -> Self {
        Self { major, minor }
    }

    /// Reads `v1.34.3`, `1.34`, `v1.29.1-gke.100`; `None` when there are no two numbers.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().trim_start_matches('v').split('.');
        let major = parts.next()?.parse().ok()?;
        let minor = parts.next()?;
        let digits = minor.find(|c: char| !c.is_ascii_digit()).unwrap_or(minor.len());
        Some(Self { major, minor: minor.get(..digits)?.parse().ok()? })
    }

    /// Whether unchanged values are forgiven on update (`CRDValidationRatcheting`, on since 1.30).
    #[must_use]
    pub fn ratchets(self) -> bool {
        self >= Self::new(1, 30)
    }

    /// Whether CEL rules are enforced (`CustomResourceValidationExpressions`, on since 1.25).
    #[must_use]
    pub fn has_rules(self) -> bool {
        self >= Self::new(1, 25)
    }
}

impl Default for KubeVersion {
    fn default() -> Self {
        Self::RECORDED
    }
}

impl fmt::Display for KubeVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_forms_that_servers_report() {
        for (text, minor) in [("v1.34.3", 34), ("1.30", 30), ("v1.29.1-gke.100", 29), ("1.31+", 31)] {
            assert_eq!(KubeVersion::parse(text), Some(KubeVersion::new(1, minor)), "{text}");
        }
        assert_eq!(KubeVersion::parse("latest"), None);
    }
}
