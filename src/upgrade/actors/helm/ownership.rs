//! Who owns a live object, and what happens to objects that exist before the release brings them.
//!
//! Source: Helm, `pkg/action/validate.go`.

use serde_json::Value;

use super::dialect::Dialect;
use super::objects::{MANAGED_BY, RELEASE_NAME, RELEASE_NAMESPACE, Target};
use crate::k8s;
use crate::upgrade::link::Link;

/// Checks that the live object carries this release's ownership metadata.
///
/// # Errors
/// What is missing or different, in Helm's words.
pub(crate) fn check(live: &Value, release: &str, namespace: &str) -> Result<(), String> {
    let wanted = [
        ("label", MANAGED_BY, "Helm", k8s::label(live, MANAGED_BY)),
        ("annotation", RELEASE_NAME, release, k8s::annotation(live, RELEASE_NAME)),
        ("annotation", RELEASE_NAMESPACE, namespace, k8s::annotation(live, RELEASE_NAMESPACE)),
    ];
    let errors: Vec<String> =
        wanted.into_iter().filter_map(|(what, key, value, live)| complaint(what, key, value, live)).collect();
    if errors.is_empty() { Ok(()) } else { Err(format!("invalid ownership metadata; {}", errors.join("; "))) }
}

fn complaint(what: &str, key: &str, wanted: &str, live: Option<&str>) -> Option<String> {
    match live {
        Some(value) if value == wanted => None,
        Some(value) => Some(format!(
            "{what} validation error: key \"{key}\" must equal \"{wanted}\": current value is \"{value}\""
        )),
        None => Some(format!("{what} validation error: missing key \"{key}\": must be set to \"{wanted}\"")),
    }
}

/// The objects that exist already and are to be adopted; without `take`, each must belong to the release.
///
/// # Errors
/// The first object that may not be adopted or can't be read.
pub(crate) fn adoptable(
    link: &mut Link<'_>,
    dialect: Dialect,
    fresh: &[Target],
    take: bool,
    (release, namespace): (&str, &str),
) -> Result<Vec<Target>, String> {
    let mut adopted = Vec::new();
    for target in fresh {
        // Helm 3 asks for every object by its name, also for those that have none yet.
        if dialect.is_v4() && generated(&target.object)? {
            continue;
        }
        match link.get(&target.address) {
            Ok(live) => {
                if !take {
                    check(&live, release, namespace).map_err(|why| {
                        format!(
                            "{} exists and cannot be imported into the current release: {why}",
                            target.describe()
                        )
                    })?;
                }
                adopted.push(target.clone());
            }
            Err(fault) if fault.not_found() => {}
            Err(fault) => {
                return Err(format!(
                    "could not get information about the resource {}: {}",
                    target.describe(),
                    fault.text
                ));
            }
        }
    }
    Ok(adopted)
}

/// Whether the server will make up the object's name.
fn generated(object: &Value) -> Result<bool, String> {
    let name = k8s::text(object, "/metadata/name");
    let prefix = k8s::text(object, "/metadata/generateName");
    match (name.is_empty(), prefix.is_empty()) {
        (true, false) => Ok(true),
        (false, false) => Err("metadata.name and metadata.generateName cannot both be set".to_owned()),
        (_, true) => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn says_what_is_missing_in_helms_words() {
        let bare = json!({"metadata": {"name": "x"}});
        let error = check(&bare, "rel", "ns").expect_err("no metadata");
        assert_eq!(
            error,
            "invalid ownership metadata; label validation error: missing key \"app.kubernetes.io/managed-by\": must be set to \"Helm\"; annotation validation error: missing key \"meta.helm.sh/release-name\": must be set to \"rel\"; annotation validation error: missing key \"meta.helm.sh/release-namespace\": must be set to \"ns\""
        );
    }

    #[test]
    fn another_release_is_named() {
        let other = json!({"metadata": {"labels": {MANAGED_BY: "Helm"}, "annotations": {RELEASE_NAME: "b", RELEASE_NAMESPACE: "ns"}}});
        let error = check(&other, "a", "ns").expect_err("another release");
        assert!(
            error.ends_with("key \"meta.helm.sh/release-name\" must equal \"a\": current value is \"b\""),
            "{error}"
        );
    }
}
