//! Conditions of what comes after an upgrade, in fewer words: how the upgrade went, and what happens then.

use super::when;
use crate::report::model::distinct;

/// How a condition is made of the upgrade's and its own: `after an upgrade in which A; B`.
fn parts(condition: &str) -> Option<(&str, &str)> {
    condition.rsplit_once("; ").filter(|(upgrade, _)| upgrade.starts_with("after "))
}

/// Clauses for conditions of one end, among `all` of its operation: where all that can follow an upgrade ends so, only the
/// upgrade is named, and where it ends so after all upgrades, only what follows.
pub(super) fn clauses(own: &[&str], all: &[&str]) -> Vec<String> {
    let covers = |is_part: &dyn Fn(&str) -> bool| {
        all.iter().filter(|condition| is_part(condition)).all(|condition| own.contains(condition))
    };
    let after = |upgrade: &str| covers(&|one: &str| parts(one).is_some_and(|(of, _)| of == upgrade));
    let then = |event: &str| covers(&|one: &str| parts(one).is_some_and(|(_, of)| of == event));
    let clause = |condition: &&str| match parts(condition) {
        Some((upgrade, _)) if after(upgrade) => upgrade.to_owned(),
        Some((_, event)) if then(event) => when(event),
        _ => when(condition),
    };
    distinct(own.iter().map(clause))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [&str; 4] = [
        "after an upgrade in which a; the hook works",
        "after an upgrade in which a; the hook fails",
        "after an upgrade in which b; the hook works",
        "after an upgrade in which b; the hook fails",
    ];

    #[test]
    fn what_makes_no_difference_is_not_named() {
        assert_eq!(clauses(&[ALL[0], ALL[1]], &ALL), ["after an upgrade in which a"]);
        assert_eq!(clauses(&[ALL[1], ALL[3]], &ALL), ["when the hook fails"]);
        assert_eq!(clauses(&[ALL[0]], &ALL), [ALL[0]]);
        let three = ["after an upgrade in which a", "when the hook works"];
        assert_eq!(clauses(&[ALL[0], ALL[1], ALL[2]], &ALL), three);
    }

    #[test]
    fn conditions_of_an_upgrade_stay_as_they_are() {
        let all = ["the hook fails", "the hook fails; certificates are renewed"];
        assert_eq!(clauses(&all[1..], &all), ["when the hook fails; certificates are renewed"]);
    }
}
