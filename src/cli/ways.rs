//! `--way NAME`: only what was rehearsed on these ways is shown and judged.

use std::sync::Arc;

use super::exit::Error;
use crate::chart::Values;
use crate::upgrade::outcome::{Rehearsal, Way};

/// Leaves only the named ways, all of them where none is named. Answers what is not judged therefore: releases from
/// which no way of these names begins.
///
/// # Errors
/// When nobody has a way of a name, or an actor has none of them.
pub(super) fn only(rehearsals: &mut [Rehearsal], names: &[String]) -> Result<Vec<String>, Error> {
    let known = known(rehearsals.iter());
    if names.is_empty() || known.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Error::new(format!("`--way {unknown}`: no way of this name was rehearsed"))
            .hint(format!("The ways are: {}.", quoted(&known))));
    }
    if let Some(without) = rehearsals.iter().find(|one| one.obstacle.is_empty() && !has(one, names)) {
        let actor = &without.actor;
        return Err(Error::new(format!("`--way {}`: {actor} has no such way", names.join("` `--way ")))
            .hint(format!(
                "Its ways are: {}. Name one of them too, or leave {actor} out by `--actor`.",
                quoted(&self::known(std::iter::once(without)))
            )));
    }
    let lines = rehearsals.iter_mut().flat_map(|rehearsal| leave(rehearsal, names));
    Ok(lines.collect())
}

/// Whether a way is one of these, or goes on from one of these by what its own words add: `plain, force conflicts`.
fn is_named(way: &Way, names: &[String]) -> bool {
    names.iter().any(|name| {
        let rest = way.name.strip_prefix(name.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(", "))
    })
}

/// Names in quotes, as some have commas in them.
fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
}

fn has(rehearsal: &Rehearsal, names: &[String]) -> bool {
    rehearsal.ways.iter().any(|way| is_named(way, names))
}

/// Names of ways, each once.
fn known<'r>(rehearsals: impl Iterator<Item = &'r Rehearsal>) -> Vec<&'r str> {
    let mut known: Vec<&str> = Vec::new();
    for way in rehearsals.flat_map(|rehearsal| &rehearsal.ways) {
        if !known.contains(&way.name.as_str()) {
            known.push(&way.name);
        }
    }
    known
}

fn leave(rehearsal: &mut Rehearsal, names: &[String]) -> Vec<String> {
    let makers: Vec<String> = rehearsal.makers().into_iter().map(str::to_owned).collect();
    rehearsal.ways.retain(|way| is_named(way, names));
    let left = rehearsal.makers();
    let missed = makers.iter().filter(|maker| !left.contains(&maker.as_str()));
    let actor = &rehearsal.actor;
    missed
        .map(|maker| format!("upgrades by {actor} of releases that {maker} made: they have no way of the names given by --way"))
        .collect()
}

/// The values that all these ways upgrade with, where they are others than those of the plain upgrade.
pub(super) fn values(rehearsals: &[Rehearsal]) -> Option<Arc<Values>> {
    let mut ways = rehearsals.iter().flat_map(|rehearsal| &rehearsal.ways);
    let first = ways.next()?.values.clone()?;
    ways.all(|way| way.values.as_ref() == Some(&first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upgrade::sample;

    fn rehearsals() -> Vec<Rehearsal> {
        let way = |name: &str, made_by: &str| Way {
            name: name.into(),
            made_by: made_by.into(),
            ..sample::way(Vec::new())
        };
        let of_helm3 = vec![way("plain", "helm3"), way("keep", "helm3")];
        let of_helm4 = vec![way("plain", "helm3"), way("keep", "helm3"), way("plain", "helm4")];
        let helm4 = Rehearsal { actor: "helm4".into(), ..sample::rehearsal(of_helm4) };
        vec![sample::rehearsal(of_helm3), helm4]
    }

    fn left(names: &[&str]) -> Result<(usize, Vec<String>), String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut rehearsals = rehearsals();
        let gaps =
            only(&mut rehearsals, &names).map_err(|error| format!("{}; {}", error.message, error.hint))?;
        Ok((rehearsals.iter().map(|rehearsal| rehearsal.ways.len()).sum(), gaps))
    }

    #[test]
    fn only_named_ways_are_left_and_releases_without_them_are_told() {
        assert_eq!(left(&[]), Ok((5, Vec::new())));
        assert_eq!(left(&["keep", "plain"]), Ok((5, Vec::new())));
        let (count, gaps) = left(&["keep"]).unwrap();
        assert_eq!((count, gaps.len()), (2, 1));
        assert!(gaps[0].contains("by helm4 of releases that helm4 made"), "{gaps:?}");
    }

    #[test]
    fn names_that_nobody_has_are_errors_that_list_the_known_ones() {
        let error = left(&["keep", "kept"]).unwrap_err();
        assert!(
            error.contains("`--way kept`") && error.contains("The ways are: 'plain', 'keep'."),
            "{error}"
        );
        let mut rehearsals = rehearsals();
        rehearsals[0].ways.remove(1);
        let error = only(&mut rehearsals, &["keep".to_owned()]).unwrap_err();
        assert!(error.message.contains("helm3 has no such way"), "{}", error.message);
    }

    #[test]
    fn values_are_those_of_all_ways_that_are_left() {
        let mut rehearsals = rehearsals();
        assert_eq!(values(&rehearsals), None);
        let other: Arc<Values> = Arc::new([("a".to_owned(), true.into())].into_iter().collect());
        rehearsals
            .iter_mut()
            .for_each(|one| one.ways.iter_mut().for_each(|way| way.values = Some(other.clone())));
        assert_eq!(values(&rehearsals), Some(other));
        rehearsals[1].ways[0].values = None;
        assert_eq!(values(&rehearsals), None);
    }
}
