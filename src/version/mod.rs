//! Semantic versions and the constraints on them, as Helm reads both.
//!
//! Behaviour and error texts follow Masterminds semver v3.5.0, `version.go` and `constraints.go`, which Helm 3 and 4
//! use for chart versions, dependencies, `kubeVersion` and the `semver` template functions.

use std::cmp::Ordering;
use std::fmt;

mod constraint;
mod notation;

pub use constraint::Constraint;

use crate::go::quote;
use notation::Parts;

/// Longest version that is read, in bytes.
pub const MAX_VERSION_BYTES: usize = 256;

/// The releases of Masterminds semver that differ in what constraints hold for and how faults are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Release {
    /// Up to 3.3: each comparison takes prereleases by itself, and `!=` takes all; faults have capitals.
    V3_3,
    /// 3.4: as now, but improper constraints are told without quotes.
    V3_4,
    /// 3.5.
    #[default]
    V3_5,
}

/// Why a version or a constraint could not be read, in the words that Helm's users know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Neither strict nor lenient reading makes sense of the text.
    #[error("invalid semantic version")]
    Invalid,
    /// The text is empty (strict reading only).
    #[error("version string empty")]
    Empty,
    /// The text is longer than [`MAX_VERSION_BYTES`].
    #[error("version string is too long (max {MAX_VERSION_BYTES} bytes)")]
    TooLong,
    /// A number holds something else than digits.
    #[error("invalid characters in version")]
    InvalidCharacters,
    /// A number has a leading zero.
    #[error("version segment starts with 0")]
    LeadingZero,
    /// The part after `+` is malformed.
    #[error("invalid metadata string")]
    InvalidMetadata,
    /// The part after `-` is malformed.
    #[error("invalid prerelease string")]
    InvalidPrerelease,
    /// A number does not fit; `context` is the prefix of lenient reading.
    #[error("{context}strconv.ParseUint: parsing \"{number}\": {reason}")]
    Number {
        /// Words before the error proper, empty for strict reading.
        context: &'static str,
        /// The digits.
        number: String,
        /// `value out of range` or `invalid syntax`.
        reason: &'static str,
    },
    /// A constraint is longer than 512 bytes.
    #[error("constraint string is too long (max 512 bytes)")]
    ConstraintTooLong,
    /// A constraint has more than 32 alternatives.
    #[error("too many constraint groups (max 32)")]
    TooManyGroups,
    /// The alternative of a constraint that cannot be read.
    #[error("improper constraint: {}", quote(.0))]
    ImproperConstraint(String),
    /// A constraint has the right shape, its version has not.
    #[error("constraint parser error")]
    ConstraintVersion,
}

impl Error {
    /// The words of a release.
    #[must_use]
    pub fn words(&self, release: Release) -> String {
        match (self, release) {
            (_, Release::V3_5) => self.to_string(),
            (Self::ImproperConstraint(text), _) => format!("improper constraint: {text}"),
            (_, Release::V3_4) => self.to_string(),
            (Self::Invalid, _) => "Invalid Semantic Version".to_owned(),
            (Self::InvalidMetadata, _) => "Invalid Metadata string".to_owned(),
            (Self::InvalidPrerelease, _) => "Invalid Prerelease string".to_owned(),
            (Self::ConstraintVersion, _) => "constraint Parser Error".to_owned(),
            (Self::Empty, _) => "Version string empty".to_owned(),
            (Self::InvalidCharacters, _) => "Invalid characters in version".to_owned(),
            (Self::LeadingZero, _) => "Version segment starts with 0".to_owned(),
            (_, _) => self.to_string(),
        }
    }
}

/// A semantic version; build metadata takes no part in comparisons.
#[derive(Clone, Debug, Default)]
pub struct Version {
    /// Major number.
    pub major: u64,
    /// Minor number.
    pub minor: u64,
    /// Patch number.
    pub patch: u64,
    /// What follows `-`, empty for a release.
    pub prerelease: String,
    /// What follows `+`, or empty.
    pub metadata: String,
    /// The text that was read.
    pub original: String,
}

impl Version {
    /// Reads a strict semantic version: three numbers, no leading `v`, no leading zeros.
    ///
    /// # Errors
    /// As Masterminds semver `StrictNewVersion`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        match text.len() {
            0 => return Err(Error::Empty),
            n if n > MAX_VERSION_BYTES => return Err(Error::TooLong),
            _ => {}
        }
        let mut numbers = text.splitn(3, '.');
        let (Some(major), Some(minor), Some(rest)) = (numbers.next(), numbers.next(), numbers.next()) else {
            return Err(Error::Invalid);
        };
        let (rest, metadata) = rest.split_once('+').map_or((rest, None), |(a, b)| (a, Some(b)));
        metadata.map_or(Ok(()), check_metadata)?;
        let (patch, prerelease) = rest.split_once('-').map_or((rest, None), |(a, b)| (a, Some(b)));
        prerelease.map_or(Ok(()), check_prerelease)?;
        [major, minor, patch].into_iter().try_for_each(check_number)?;
        Ok(Self {
            major: number(major, "")?,
            minor: number(minor, "")?,
            patch: number(patch, "")?,
            prerelease: prerelease.unwrap_or_default().to_owned(),
            metadata: metadata.unwrap_or_default().to_owned(),
            original: text.to_owned(),
        })
    }

    /// Reads a version generously: `v1`, `1.2` and `01.2.3` are taken too.
    ///
    /// # Errors
    /// As Masterminds semver `NewVersion` with its default settings.
    pub fn parse_lenient(text: &str) -> Result<Self, Error> {
        if text.len() > MAX_VERSION_BYTES {
            return Err(Error::TooLong);
        }
        let parts =
            Parts::scan(text, notation::is_digit).filter(|p| p.end == text.len()).ok_or(Error::Invalid)?;
        let version = Self {
            major: number(parts.major, LENIENT)?,
            minor: parts.minor.map_or(Ok(0), |n| number(n, LENIENT))?,
            patch: parts.patch.map_or(Ok(0), |n| number(n, LENIENT))?,
            prerelease: parts.prerelease.unwrap_or_default().to_owned(),
            metadata: parts.metadata.unwrap_or_default().to_owned(),
            original: text.to_owned(),
        };
        parts.prerelease.map_or(Ok(()), check_prerelease)?;
        parts.metadata.map_or(Ok(()), check_metadata)?;
        Ok(version)
    }
}

impl Version {
    /// Whether prerelease and metadata are well-formed, for versions that were put together.
    ///
    /// # Errors
    /// What is malformed about them.
    pub fn check(&self) -> Result<(), Error> {
        let filled = |text: &str, check: fn(&str) -> Result<(), Error>| {
            if text.is_empty() { Ok(()) } else { check(text) }
        };
        filled(&self.prerelease, check_prerelease)?;
        filled(&self.metadata, check_metadata)
    }
}

const LENIENT: &str = "error parsing version segment: ";

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if !self.prerelease.is_empty() {
            write!(f, "-{}", self.prerelease)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.major, self.minor, self.patch).cmp(&(other.major, other.minor, other.patch)).then_with(
            || match (self.prerelease.as_str(), other.prerelease.as_str()) {
                ("", "") => Ordering::Equal,
                ("", _) => Ordering::Greater,
                (_, "") => Ordering::Less,
                (a, b) => cmp_prerelease(a, b),
            },
        )
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Version {}

/// Compares two prereleases identifier by identifier; a missing identifier counts as lowest.
fn cmp_prerelease(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a.split('.'), b.split('.'));
    loop {
        let order = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (a, b) => cmp_identifier(a.unwrap_or_default(), b.unwrap_or_default()),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// Numbers come before words; a number too large for 64 bits counts as a word.
fn cmp_identifier(a: &str, b: &str) -> Ordering {
    if a.is_empty() || b.is_empty() {
        return a.cmp(b);
    }
    match (a.parse::<u64>(), b.parse::<u64>()) {
        (Ok(x), Ok(y)) => x.cmp(&y),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => a.cmp(b),
    }
}

fn number(digits: &str, context: &'static str) -> Result<u64, Error> {
    digits.parse().map_err(|_| Error::Number {
        context,
        number: digits.to_owned(),
        reason: if digits.is_empty() { "invalid syntax" } else { "value out of range" },
    })
}

fn check_number(digits: &str) -> Result<(), Error> {
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Error::InvalidCharacters);
    }
    if digits.len() > 1 && digits.starts_with('0') { Err(Error::LeadingZero) } else { Ok(()) }
}

fn check_prerelease(text: &str) -> Result<(), Error> {
    text.split('.').try_for_each(|identifier| match check_number(identifier) {
        _ if !is_identifier(identifier) => Err(Error::InvalidPrerelease),
        Err(Error::LeadingZero) => Err(Error::LeadingZero),
        _ => Ok(()),
    })
}

fn check_metadata(text: &str) -> Result<(), Error> {
    if text.split('.').all(is_identifier) { Ok(()) } else { Err(Error::InvalidMetadata) }
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(notation::is_identifier_byte)
}

#[cfg(test)]
mod tests;
