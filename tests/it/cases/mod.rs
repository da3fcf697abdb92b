//! Cases from the field: their installs, upgrades, comparisons and lints, played on the simulated server and judged by
//! the checks. Renders of the cases are in `tests/golden.rs`, plain writes in `src/schema/tests`.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::shared::shared;

mod case;
mod play;
mod verdict;

use case::Check;

/// Checks that do not come out as recorded, each with the reason; the test fails when one of them begins to pass.
const KNOWN_GAPS: &[(&str, &str)] = &[
    (
        "B05 control chart, upgraded again and again",
        "the case says that the hook's Job keeps its UID; Helm's default policy deletes and creates it, the record shows only its name",
    ),
    ("D08 versions", "which versions of other products fit together is no input of verify"),
];

/// What is judged here; the other words are judged elsewhere.
const DO: &[&str] = &["install", "upgrade", "uninstall", "sync", "compare", "lint", "update crd"];

#[test]
fn field_cases_come_out_as_recorded() {
    let Some(shared) = shared() else { return };
    let only = std::env::var("CASE").unwrap_or_default();
    let (mut passed, mut failures, mut elsewhere) = (0, Vec::new(), BTreeSet::new());
    for folder in case::folders(&shared.join("cases")) {
        for check in case::checks(&folder).into_iter().filter(|check| DO.contains(&check.deed())) {
            for run in check.runs() {
                let label = format!("{} {}", check.label(), run.label());
                if !label.contains(&only) {
                    continue;
                }
                let Some(tool) = run.tool() else {
                    elsewhere.insert(run.by.clone());
                    continue;
                };
                let complaints = judge(&check, tool.as_ref()).err().unwrap_or_default();
                match (known(&label), complaints.is_empty()) {
                    (None, true) | (Some(_), false) => passed += 1,
                    (None, false) => failures.push(format!("{label}:\n  {}", complaints.join("\n  "))),
                    (Some(reason), true) => {
                        failures.push(format!("{label}: passes now, take it from the list ({reason})"));
                    }
                }
            }
        }
    }
    eprintln!("field cases: {passed} as expected; tools that are not modelled: {elsewhere:?}");
    assert!(
        failures.is_empty(),
        "{} of {}:\n{}",
        failures.len(),
        failures.len() + passed,
        failures.join("\n")
    );
    assert!(passed > 0, "no case was played");
}

fn known(label: &str) -> Option<&'static str> {
    KNOWN_GAPS.iter().find(|(name, _)| label.starts_with(name)).map(|(_, reason)| *reason)
}

fn judge(check: &Check, tool: Option<&case::Tool>) -> Result<(), Vec<String>> {
    let outcome = match tool {
        Some(tool) => play::play(check, tool),
        None => play::compare(check),
    };
    let complaints = match outcome {
        Ok(played) => verdict::complaints(check, &played),
        Err(error) => vec![error],
    };
    if complaints.is_empty() { Ok(()) } else { Err(complaints) }
}

fn yaml(path: &Path) -> Value {
    let text = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    seatrial::yaml::to_json(&text, &seatrial::limits::Limits::default())
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every list of known gaps names something that there is.
#[test]
fn known_gaps_are_of_cases_that_exist() {
    let Some(shared) = shared() else { return };
    let labels: Vec<String> = case::folders(&shared.join("cases"))
        .iter()
        .flat_map(|folder| case::checks(folder))
        .flat_map(|check| {
            check
                .runs()
                .into_iter()
                .map(|run| format!("{} {}", check.label(), run.label()))
                .collect::<Vec<_>>()
        })
        .collect();
    for (name, _) in KNOWN_GAPS {
        assert!(labels.iter().any(|label| label.starts_with(name)), "no check is called {name:?}");
    }
}
