//! Requests and limits of containers.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::asked;
use super::super::place::{Errors, Place};
use crate::k8s::quantity::canonical;
use crate::schema::{Cause, FieldError};

/// Source: `validateResourceRequirements`. Go walks its maps in any order; here it is that of the names.
pub(super) fn requirements(place: &Place<'_>, claims: &BTreeSet<&str>, errors: &mut Errors) {
    let (limits, requests) = (place.field("limits"), place.field("requests"));
    for (name, limit) in limits.entries() {
        entry(name, &limit, errors);
    }
    for (name, request) in requests.entries() {
        entry(name, &request, errors);
        against_limit(name, &request, (&limits, &requests), errors);
    }
    let any = |wanted: fn(&str) -> bool| {
        let mut names = limits.entries().chain(requests.entries()).map(|(name, _)| name);
        names.any(wanted)
    };
    if any(asked::is_huge_page) && !any(|name| matches!(name, "cpu" | "memory")) {
        place.forbidden("HugePages require cpu or memory", errors);
    }
    claim_names(&place.field("claims"), claims, errors);
}

fn entry(name: &str, place: &Place<'_>, errors: &mut Errors) {
    asked::container_resource_name(name, place, errors);
    asked::amount(name, place, errors);
}

fn against_limit(
    name: &str,
    request: &Place<'_>,
    (limits, requests): (&Place<'_>, &Place<'_>),
    errors: &mut Errors,
) {
    let limit = limits.field(name);
    if !limit.is_set() {
        if !asked::is_shared(name) {
            limits.required("Limit must be set for non overcommitable resources", errors);
        }
        return;
    }
    let word = match (request.quantity(), limit.quantity()) {
        (Some(asked), Some(most)) if asked != most && !asked::is_shared(name) => "equal to",
        (Some(asked), Some(most)) if asked > most => "less than or equal to",
        _ => return,
    };
    let [asked, most] = [request, &limit].map(|place| canonical(&place.spelled()).unwrap_or_default());
    requests.invalid_as(&asked, &format!("must be {word} {name} limit of {most}"), errors);
}

fn claim_names(list: &Place<'_>, known: &BTreeSet<&str>, errors: &mut Errors) {
    for claim in list.items() {
        let name = claim.value.get("name").and_then(Value::as_str).unwrap_or_default();
        if name.is_empty() {
            claim.required("", errors);
        } else if !known.contains(name) {
            let all: Vec<&str> = known.iter().copied().collect();
            let which =
                if all.is_empty() { " which is empty".to_owned() } else { format!(": {}", all.join(", ")) };
            let detail = format!("must be one of the names in pod.spec.resourceClaims{which}");
            errors.push(FieldError::new(Cause::NotFound, claim.name(), &Value::from(name), &detail));
        }
    }
}

/// Requests and limits that a variable or a file may show.
const SHOWN: &[&str] = &[
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

/// A request or limit of a container, to be shown in it.
pub(super) fn field(source: &Place<'_>, errors: &mut Errors) {
    let resource = source.field("resource");
    let huge = ["limits.hugepages-", "requests.hugepages-"];
    if resource.needed(errors) && !huge.iter().any(|prefix| resource.text().starts_with(prefix)) {
        resource.one_of(SHOWN, errors);
    }
}
