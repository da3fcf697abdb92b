//! The order in which the API server lists the versions of a resource.
//!
//! As `k8s.io/apimachinery` 1.34 `pkg/version/helpers.go`, `CompareKubeAwareVersionStrings`.

use std::cmp::Ordering;

/// Compares two versions, the preferred one first: `v10`, `v2`, `v1`, `v2beta1`, `v1alpha2`, then others by name.
#[must_use]
pub fn version_order(a: &str, b: &str) -> Ordering {
    match (parse(a), parse(b)) {
        (Some(a), Some(b)) => b.cmp(&a),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// Sorts versions by [`version_order`].
pub fn sort_versions(versions: &mut [String]) {
    versions.sort_by(|a, b| version_order(a, b));
}

/// Stability, major and minor number; `None` for names of another form.
fn parse(version: &str) -> Option<(u8, u64, u64)> {
    let rest = version.strip_prefix('v')?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (major, rest) = rest.split_at_checked(end)?;
    let major = number(major)?;
    if rest.is_empty() {
        return Some((2, major, 0));
    }
    let (stability, minor) = match (rest.strip_prefix("beta"), rest.strip_prefix("alpha")) {
        (Some(minor), _) => (1, minor),
        (_, Some(minor)) => (0, minor),
        _ => return None,
    };
    Some((stability, major, number(minor)?))
}

fn number(digits: &str) -> Option<u64> {
    if digits.starts_with('0') || !digits.bytes().all(|b| b.is_ascii_digit()) {
        None
    } else {
        digits.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::sort_versions;

    #[test]
    fn stable_versions_come_first() {
        let mut versions =
            ["v1alpha1", "foo", "v1", "v2alpha1", "v10", "v1beta1", "bar", "v1beta2"].map(str::to_owned);
        sort_versions(&mut versions);
        assert_eq!(versions, ["v10", "v1", "v1beta2", "v1beta1", "v2alpha1", "v1alpha1", "bar", "foo"]);
    }
}
