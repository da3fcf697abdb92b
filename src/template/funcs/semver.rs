//! Semantic versions in templates.

use std::cmp::Ordering;
use std::rc::Rc;

use super::lists::NIL_POINTER;
use super::{Fault, Func, Output, Param};
use crate::func;
use crate::template::object::{Method, Object};
use crate::template::types::Type;
use crate::template::value::Value;
use crate::version::{Constraint, Release, Version};

/// Rows of this family, sorted by name.
pub(super) static FUNCS: &[Func] = &[func!("semver", semver), func!("semverCompare", semver_compare)];

/// The same as up to 3.3 of the library.
pub(super) static FUNCS_3_3: &[Func] = &[func!("semver", semver_3_3), func!("semverCompare", compare_3_3)];

/// The same as in 3.4.
pub(super) static FUNCS_3_4: &[Func] = &[func!("semverCompare", compare_3_4)];

/// The version as an object with `.Major`, `.Minor`, `.Patch`, `.Prerelease`, `.Metadata` and `.Original`.
///
/// ```tmpl
/// {{ (semver "v1.29.3-gke.1").Minor }} → 29
/// {{ semver "1.2" }} → 1.2.0
/// ```
fn semver(text: &str) -> Result<SemVer, Fault> {
    read(text, Release::V3_5)
}

fn semver_3_3(text: &str) -> Result<SemVer, Fault> {
    read(text, Release::V3_3)
}

fn read(text: &str, release: Release) -> Result<SemVer, Fault> {
    Version::parse_lenient(text)
        .map(|version| SemVer { version, type_name: POINTER })
        .map_err(|error| Fault::new(error.words(release)))
}

/// Whether a version (second) satisfies a constraint; prereleases only where the constraint names one.
///
/// ```tmpl
/// {{ semverCompare ">=1.25.0-0" "v1.29.1-gke.100" }} → true
/// {{ semverCompare "^1.2" "2.0.0" }} → false
/// ```
fn semver_compare(constraint: &str, version: &str) -> Result<bool, Fault> {
    compare_as(constraint, version, Release::V3_5)
}

fn compare_3_4(constraint: &str, version: &str) -> Result<bool, Fault> {
    compare_as(constraint, version, Release::V3_4)
}

fn compare_3_3(constraint: &str, version: &str) -> Result<bool, Fault> {
    compare_as(constraint, version, Release::V3_3)
}

fn compare_as(constraint: &str, version: &str, release: Release) -> Result<bool, Fault> {
    let fault = |error: crate::version::Error| Fault::new(error.words(release));
    let constraint = Constraint::parse(constraint).map_err(fault)?;
    let version = Version::parse_lenient(version).map_err(fault)?;
    Ok(constraint.check_as(&version, release))
}

/// `*semver.Version`, or `semver.Version` where a method makes a new one.
#[derive(Debug)]
struct SemVer {
    version: Version,
    type_name: &'static str,
}

const POINTER: &str = "*semver.Version";
const STRUCT: &str = "semver.Version";

impl Object for SemVer {
    fn type_name(&self) -> &'static str {
        self.type_name
    }

    fn methods(&self) -> &'static [Method] {
        if self.type_name == POINTER { METHODS } else { STRUCT_METHODS }
    }

    fn text(&self) -> Option<String> {
        Some(self.version.to_string())
    }

    // All that it has is private.
    fn copy(&self) -> Option<Value> {
        Some(Value::from(Rc::new(Self { version: Version::default(), type_name: self.type_name })))
    }
}

impl Output for SemVer {
    const TYPE: Type = Type::Object(POINTER);

    fn output(self) -> Result<Value, Fault> {
        Ok(Value::from(Rc::new(self)))
    }
}

/// A receiver or argument of type `*semver.Version`, which may be nil.
#[derive(Clone, Copy, Debug)]
struct This<'a>(Option<&'a Version>);

impl<'a> This<'a> {
    fn get(self) -> Result<&'a Version, Fault> {
        self.0.ok_or_else(|| Fault::new(NIL_POINTER))
    }
}

impl Param for This<'_> {
    const TYPE: Type = Type::Object(POINTER);
    type Arg<'a> = This<'a>;

    fn take<'a>(arguments: &mut &'a [Value]) -> This<'a> {
        let Some((first, rest)) = arguments.split_first() else { return This(None) };
        *arguments = rest;
        This(first.object::<SemVer>().map(|object| &object.version))
    }
}

macro_rules! methods {
    ($($name:literal => $function:expr),+ $(,)?) => {
        &[$(Method { name: $name, func: func!($name, $function) }),+]
    };
}

static METHODS: &[Method] = methods! {
    "Compare" => compare,
    "Equal" => equal,
    "GreaterThan" => greater,
    "GreaterThanEqual" => greater_equal,
    "IncMajor" => inc_major,
    "IncMinor" => inc_minor,
    "IncPatch" => inc_patch,
    "LessThan" => less,
    "LessThanEqual" => less_equal,
    "Major" => major,
    "Metadata" => metadata,
    "Minor" => minor,
    "Original" => original,
    "Patch" => patch,
    "Prerelease" => prerelease,
    "SetMetadata" => set_metadata,
    "SetPrerelease" => set_prerelease,
    "String" => string,
};

/// What a version has that is no pointer.
static STRUCT_METHODS: &[Method] = methods! {
    "IncMajor" => inc_major,
    "IncMinor" => inc_minor,
    "IncPatch" => inc_patch,
    "Major" => major,
    "Metadata" => metadata,
    "Minor" => minor,
    "Patch" => patch,
    "Prerelease" => prerelease,
    "SetMetadata" => set_metadata,
    "SetPrerelease" => set_prerelease,
    "String" => string,
};

fn ordering(a: This<'_>, b: This<'_>) -> Result<Ordering, Fault> {
    Ok(a.get()?.cmp(b.get()?))
}

fn compare(a: This<'_>, b: This<'_>) -> Result<i64, Fault> {
    ordering(a, b).map(|order| order as i64)
}

fn equal(a: This<'_>, b: This<'_>) -> Result<bool, Fault> {
    match (a.0, b.0) {
        (Some(a), Some(b)) => Ok(a == b),
        (a, b) => Ok(a.is_none() && b.is_none()),
    }
}

fn greater(a: This<'_>, b: This<'_>) -> Result<bool, Fault> {
    ordering(a, b).map(Ordering::is_gt)
}

fn greater_equal(a: This<'_>, b: This<'_>) -> Result<bool, Fault> {
    ordering(a, b).map(Ordering::is_ge)
}

fn less(a: This<'_>, b: This<'_>) -> Result<bool, Fault> {
    ordering(a, b).map(Ordering::is_lt)
}

fn less_equal(a: This<'_>, b: This<'_>) -> Result<bool, Fault> {
    ordering(a, b).map(Ordering::is_le)
}

fn major(this: This<'_>) -> Result<u64, Fault> {
    this.get().map(|version| version.major)
}

fn minor(this: This<'_>) -> Result<u64, Fault> {
    this.get().map(|version| version.minor)
}

fn patch(this: This<'_>) -> Result<u64, Fault> {
    this.get().map(|version| version.patch)
}

fn prerelease(this: This<'_>) -> Result<String, Fault> {
    this.get().map(|version| version.prerelease.clone())
}

fn metadata(this: This<'_>) -> Result<String, Fault> {
    this.get().map(|version| version.metadata.clone())
}

fn original(this: This<'_>) -> Result<String, Fault> {
    this.get().map(|version| version.original.clone())
}

fn string(this: This<'_>) -> Result<String, Fault> {
    this.get().map(Version::to_string)
}

fn inc_major(this: This<'_>) -> Result<SemVer, Fault> {
    let major = this.get()?.major.checked_add(1).ok_or_else(|| overflow("major"))?;
    changed(this, |version| (version.major, version.minor, version.patch) = (major, 0, 0))
}

fn inc_minor(this: This<'_>) -> Result<SemVer, Fault> {
    let minor = this.get()?.minor.checked_add(1).ok_or_else(|| overflow("minor"))?;
    changed(this, |version| (version.minor, version.patch) = (minor, 0))
}

/// A prerelease becomes its release.
fn inc_patch(this: This<'_>) -> Result<SemVer, Fault> {
    let step = u64::from(this.get()?.prerelease.is_empty());
    let patch = this.get()?.patch.checked_add(step).ok_or_else(|| overflow("patch"))?;
    changed(this, |version| version.patch = patch)
}

fn overflow(number: &str) -> Fault {
    Fault::new(format!("{number} version increment would overflow uint64"))
}

/// A release with other numbers; a leading `v` stays.
fn changed(this: This<'_>, change: impl FnOnce(&mut Version)) -> Result<SemVer, Fault> {
    let mut version = this.get()?.clone();
    version.prerelease.clear();
    version.metadata.clear();
    change(&mut version);
    Ok(renewed(version))
}

fn set_prerelease(this: This<'_>, text: &str) -> Result<SemVer, Fault> {
    let mut version = this.get()?.clone();
    text.clone_into(&mut version.prerelease);
    checked(version)
}

fn set_metadata(this: This<'_>, text: &str) -> Result<SemVer, Fault> {
    let mut version = this.get()?.clone();
    text.clone_into(&mut version.metadata);
    checked(version)
}

fn checked(version: Version) -> Result<SemVer, Fault> {
    Version::check(&version).map_err(|error| Fault::new(error.to_string()))?;
    Ok(renewed(version))
}

fn renewed(mut version: Version) -> SemVer {
    let prefix = if version.original.starts_with('v') { "v" } else { "" };
    version.original = format!("{prefix}{version}");
    SemVer { version, type_name: STRUCT }
}
