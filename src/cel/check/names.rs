//! Names of functions and variables, and since when they are known.

use crate::cel::functions::{self, Shape};

/// Functions of the standard library and of cel-go's string extension in version 2.
pub(super) const KNOWN: &[&str] = &[
    "bool",
    "bytes",
    "charAt",
    "contains",
    "double",
    "duration",
    "dyn",
    "endsWith",
    "format",
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getFullYear",
    "getHours",
    "getMilliseconds",
    "getMinutes",
    "getMonth",
    "getSeconds",
    "hasValue",
    "includes",
    "indexOf",
    "int",
    "join",
    "lastIndexOf",
    "lowerAscii",
    "matches",
    "none",
    "of",
    "ofNonZeroValue",
    "optFlatMap",
    "optMap",
    "optional.none",
    "optional.of",
    "optional.ofNonZeroValue",
    "or",
    "orValue",
    "quote",
    "replace",
    "size",
    "split",
    "startsWith",
    "string",
    "strings.quote",
    "substring",
    "timestamp",
    "trim",
    "type",
    "uint",
    "unwrap",
    "unwrapOpt",
    "upperAscii",
    "value",
    "allowed",
    "authorizer",
    "check",
    "error",
    "errored",
    "fieldSelector",
    "group",
    "labelSelector",
    "name",
    "namespace",
    "path",
    "reason",
    "resource",
    "serviceAccount",
    "subresource",
];

/// Functions of cel-go's list extension.
pub(super) const LISTS: &[&str] =
    &["distinct", "flatten", "lists.range", "reverse", "slice", "sort", "sortBy"];

/// Names that are types or namespaces.
pub(super) const NAMES: &[&str] = &[
    "bool",
    "bytes",
    "double",
    "duration",
    "format",
    "google",
    "int",
    "ip",
    "list",
    "map",
    "math",
    "net",
    "null_type",
    "optional",
    "sets",
    "string",
    "strings",
    "timestamp",
    "type",
    "uint",
    "kubernetes",
    "optional_type",
    "jsonpatch",
];

/// Whether new rules may call a function: a library may be used one release after it came.
///
/// As `k8s.io/apiserver` 1.34 `pkg/cel/environment/base.go`.
pub(super) fn is_known(name: &str, minor: u16) -> bool {
    if KNOWN.contains(&name) {
        return true;
    }
    if LISTS.contains(&name) {
        return minor >= 35;
    }
    let Some(overload) = functions::all().find(|overload| overload.name == name) else { return false };
    let of = |names: &[&'static str]| {
        names.iter().any(|shape| {
            overload.takes.contains(&Shape::Opaque(shape)) || overload.gives == Shape::Opaque(shape)
        })
    };
    let since = if of(&["kubernetes.Semver"]) || name == "isSemver" {
        34
    } else if of(&["kubernetes.NamedFormat"]) || name == "format.named" {
        32
    } else if of(&["net.IP", "net.CIDR"]) || matches!(name, "isIP" | "isCIDR" | "ip.isCanonical") {
        31
    } else if name.starts_with("sets.") {
        30
    } else {
        0
    };
    // Names shared with an older library are known through that one.
    minor >= since || functions::all().filter(|other| other.name == name).count() > 2
}
