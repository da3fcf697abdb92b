//! Constraints on versions: `>=1.2, <2 || ~3.1 || 4.0 - 4.5`.

use std::fmt;

use super::notation::{self, Parts};
use super::{Error, Release, Version};
use crate::go::quote;

/// Longest constraint that is read, in bytes.
const MAX_BYTES: usize = 512;

/// Most alternatives (`||`) of one constraint.
const MAX_GROUPS: usize = 32;

/// Alternatives, of each of which every comparison must hold.
#[derive(Clone, Debug)]
pub struct Constraint {
    groups: Vec<Group>,
}

/// One alternative.
#[derive(Clone, Debug)]
struct Group {
    comparisons: Vec<Comparison>,
    /// Whether a comparison names a prerelease, which opens the whole alternative to prereleases.
    prereleases: bool,
}

/// One operator with its version.
#[derive(Clone, Debug)]
struct Comparison {
    operator: &'static str,
    version: Version,
    original: String,
    wild: Wild,
}

/// Which part of a comparison's version was left open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wild {
    None,
    Major,
    Minor,
    Patch,
}

/// Why one comparison does not hold.
type Verdict = Result<(), String>;

impl Constraint {
    /// Reads a constraint.
    ///
    /// # Errors
    /// As Masterminds semver `NewConstraint`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.len() > MAX_BYTES {
            return Err(Error::ConstraintTooLong);
        }
        let text = rewrite_ranges(text);
        if text.split("||").count() > MAX_GROUPS {
            return Err(Error::TooManyGroups);
        }
        text.split("||").map(Group::parse).collect::<Result<_, _>>().map(|groups| Self { groups })
    }

    /// Whether `version` satisfies the constraint; a prerelease only does where the constraint names one.
    #[must_use]
    pub fn check(&self, version: &Version) -> bool {
        self.check_as(version, Release::default())
    }

    /// The same by a release's rules on prereleases.
    #[must_use]
    pub fn check_as(&self, version: &Version, release: Release) -> bool {
        let holds = |group: &Group, c: &Comparison| {
            let prereleases =
                if release == Release::V3_3 { c.takes_prereleases() } else { group.prereleases };
            c.check(version, prereleases).is_ok()
        };
        self.groups.iter().any(|group| group.comparisons.iter().all(|c| holds(group, c)))
    }

    /// Like [`Constraint::check`], with a reason for every comparison that does not hold.
    ///
    /// # Errors
    /// The reasons, in the order of the constraint.
    pub fn validate(&self, version: &Version) -> Result<(), Vec<String>> {
        let mut reasons = Vec::new();
        let mut prerelease_said = false;
        for group in &self.groups {
            let closed = !group.prereleases && !version.prerelease.is_empty();
            let before = reasons.len();
            if !closed {
                reasons.extend(
                    group.comparisons.iter().filter_map(|c| c.check(version, group.prereleases).err()),
                );
                if reasons.len() == before {
                    return Ok(());
                }
            } else if !prerelease_said {
                prerelease_said = true;
                reasons.push(only_releases(version));
            }
        }
        Err(reasons)
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, group) in self.groups.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { " || " })?;
            for (j, comparison) in group.comparisons.iter().enumerate() {
                f.write_str(if j == 0 { "" } else { " " })?;
                write!(f, "{}{}", comparison.operator, comparison.original)?;
            }
        }
        Ok(())
    }
}

impl Group {
    fn parse(text: &str) -> Result<Self, Error> {
        let written = comparisons_of(text).ok_or_else(|| Error::ImproperConstraint(text.to_owned()))?;
        let comparisons = written
            .into_iter()
            .map(|(op, v, parts)| Comparison::new(op, v, parts))
            .collect::<Result<Vec<_>, _>>()?;
        let prereleases = comparisons.iter().any(|c| !c.version.prerelease.is_empty());
        Ok(Self { comparisons, prereleases })
    }
}

/// Splits an alternative into operators and versions; commas or spaces separate them.
fn comparisons_of(text: &str) -> Option<Vec<(&'static str, &str, Parts<'_>)>> {
    let mut found = Vec::new();
    let mut rest = text.trim_start_matches(notation::is_space);
    loop {
        let (operator, after) = take_operator(rest);
        let after = after.trim_start_matches(notation::is_space);
        let parts = Parts::scan(after, notation::is_digit_or_wildcard)?;
        let (version, tail) = after.split_at_checked(parts.end)?;
        found.push((operator, version, parts));
        let next = tail.trim_start_matches(notation::is_space);
        if next.is_empty() {
            return Some(found);
        }
        let past_comma = next.strip_prefix(',');
        if past_comma.is_none() && next.len() == tail.len() {
            return None;
        }
        rest = past_comma.unwrap_or(next).trim_start_matches(notation::is_space);
    }
}

/// Longest first: of `>=1` the operator is not `>`.
const OPERATORS: &[&str] = &["!=", ">=", "=>", "<=", "=<", "~>", "=", ">", "<", "~", "^"];

fn take_operator(text: &str) -> (&'static str, &str) {
    OPERATORS.iter().find_map(|op| text.strip_prefix(op).map(|rest| (*op, rest))).unwrap_or(("", text))
}

/// Turns every `1.2 - 2.3` into two comparisons; what stands around it stays.
fn rewrite_ranges(text: &str) -> String {
    let mut out = text.to_owned();
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        if let Some((low, high, length)) = range_at(rest) {
            // Upstream replaces the first occurrence of the matched text, wherever that is.
            out = out.replacen(rest.get(..length).unwrap_or_default(), &format!(">= {low}, <= {high} "), 1);
            at += length;
        } else {
            let Some(skipped) = rest.chars().next() else { break };
            at += skipped.len_utf8();
        }
    }
    out
}

/// A hyphen range at the start of `text`: its two versions and its length with the spaces around it.
fn range_at(text: &str) -> Option<(&str, &str, usize)> {
    let space = notation::is_space;
    let start = text.trim_start_matches(space);
    let (low, rest) = start.split_at_checked(Parts::scan(start, notation::is_digit_or_wildcard)?.end)?;
    let hyphen = rest.trim_start_matches(space).strip_prefix('-').filter(|_| rest.starts_with(space))?;
    let second = hyphen.trim_start_matches(space);
    if second.len() == hyphen.len() {
        return None;
    }
    let (high, rest) = second.split_at_checked(Parts::scan(second, notation::is_digit_or_wildcard)?.end)?;
    Some((low, high, text.len() - rest.trim_start_matches(space).len()))
}

impl Comparison {
    fn new(operator: &'static str, original: &str, parts: Parts<'_>) -> Result<Self, Error> {
        let open = |part: Option<&str>| part.is_none_or(|p| matches!(p, "x" | "X" | "*"));
        let suffix = parts.prerelease.map(|p| format!("-{p}")).unwrap_or_default();
        let (major, minor) = (parts.major, parts.minor.unwrap_or_default());
        let (wild, text) = if open(Some(major)) {
            (Wild::Major, format!("0.0.0{suffix}"))
        } else if open(parts.minor) {
            (Wild::Minor, format!("{major}.0.0{suffix}"))
        } else if open(parts.patch) {
            (Wild::Patch, format!("{major}.{minor}.0{suffix}"))
        } else {
            (Wild::None, original.to_owned())
        };
        let version = Version::parse_lenient(&text).map_err(|_| Error::ConstraintVersion)?;
        Ok(Self { operator, version, original: original.to_owned(), wild })
    }

    /// Whether prereleases were looked at in it up to 3.3.
    fn takes_prereleases(&self) -> bool {
        !self.version.prerelease.is_empty() || self.operator == "!=" && self.wild == Wild::None
    }

    /// Whether the comparison holds; `prereleases` says whether its alternative is open to them.
    fn check(&self, version: &Version, prereleases: bool) -> Verdict {
        if !version.prerelease.is_empty() && !prereleases {
            return Err(only_releases(version));
        }
        match self.operator {
            "!=" => self.differs(version),
            ">" => self.greater(version),
            "<" => self.expect(version < &self.version, version, "is greater than or equal to"),
            ">=" | "=>" => self.expect(version >= &self.version, version, "is less than"),
            "<=" | "=<" => self.at_most(version),
            "~" | "~>" => self.tilde(version),
            "^" => self.caret(version),
            _ if self.wild == Wild::None => self.expect(version == &self.version, version, "is not equal to"),
            _ => self.tilde(version),
        }
    }

    fn expect(&self, holds: bool, version: &Version, relation: &str) -> Verdict {
        if holds {
            Ok(())
        } else {
            Err(format!("{} {relation} {}", quote_version(version), quote(&self.original)))
        }
    }

    fn differs(&self, version: &Version) -> Verdict {
        let own = &self.version;
        let differs = match self.wild {
            _ if own.major != version.major && self.wild != Wild::None => true,
            Wild::Minor => false,
            Wild::Patch if own.minor != version.minor => true,
            Wild::Patch => super::cmp_prerelease(&version.prerelease, &own.prerelease).is_ne(),
            Wild::Major if (own.minor, own.patch) != (version.minor, version.patch) => true,
            Wild::Major | Wild::None => version != own,
        };
        self.expect(differs, version, "is equal to")
    }

    fn greater(&self, version: &Version) -> Verdict {
        let own = &self.version;
        let greater = match self.wild {
            Wild::None => version > own,
            _ if version.major != own.major => version.major > own.major,
            Wild::Minor => false,
            Wild::Patch => version.minor > own.minor,
            Wild::Major => version > own,
        };
        self.expect(greater, version, "is less than or equal to")
    }

    fn at_most(&self, version: &Version) -> Verdict {
        let own = &self.version;
        let holds = match self.wild {
            Wild::None => version <= own,
            Wild::Minor => version.major <= own.major,
            Wild::Major | Wild::Patch => (version.major, version.minor) <= (own.major, own.minor),
        };
        self.expect(holds, version, "is greater than")
    }

    /// `~1.2.3`: at least that, below the next minor version (`~1`: below the next major one).
    fn tilde(&self, version: &Version) -> Verdict {
        let own = &self.version;
        self.expect(version >= own, version, "is less than")?;
        let any =
            (own.major, own.minor, own.patch) == (0, 0, 0) && matches!(self.wild, Wild::None | Wild::Major);
        if any {
            return Ok(());
        }
        self.expect(version.major == own.major, version, "does not have same major version as")?;
        let same = version.minor == own.minor || self.wild == Wild::Minor;
        self.expect(same, version, "does not have same major and minor version as")
    }

    /// `^1.2.3`: at least that, with the first number that is not zero unchanged.
    fn caret(&self, version: &Version) -> Verdict {
        let own = &self.version;
        self.expect(version >= own, version, "is less than")?;
        if own.major > 0 || self.wild == Wild::Minor {
            return self.expect(version.major == own.major, version, "does not have same major version as");
        }
        self.expect(version.major == 0, version, "does not have same major version as")?;
        if own.minor > 0 || self.wild == Wild::Patch {
            let relation = "does not have same minor version as";
            return self.expect(version.minor == own.minor, version, relation).map_err(|reason| {
                reason + ". Expected minor versions to match when constraint major version is 0"
            });
        }
        self.expect(version.minor == 0, version, "does not have same minor version as")?;
        self.expect(version.patch == own.patch, version, "does not equal").map_err(|reason| {
            reason + ". Expect version and constraint to equal when major and minor versions are 0"
        })
    }
}

fn only_releases(version: &Version) -> String {
    format!(
        "{} is a prerelease version and the constraint is only looking for release versions",
        quote_version(version)
    )
}

fn quote_version(version: &Version) -> String {
    format!("\"{version}\"")
}
