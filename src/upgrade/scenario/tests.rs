use serde::de::DeserializeOwned;

use super::*;
use crate::cluster::simulated::conditions::{Hooks, Timing};
use crate::limits::Limits;
use crate::upgrade::actors::Workshop;
use crate::upgrade::actors::helm::Forge;
use crate::upgrade::renders::Engines;
use crate::upgrade::storage::Records;
use crate::upgrade::trace::Action;
use crate::yaml;

const SCHEMA: &str = include_str!("../../../docs/scenario.schema.json");

fn parse(value: &Value) -> Result<Scenario, String> {
    serde_json::from_value(value.clone()).map_err(|error| error.to_string())
}

fn deeds(stage: &Stage) -> Vec<&'static str> {
    stage.deeds().into_iter().filter(|(_, there)| *there).map(|(name, _)| name).collect()
}

#[test]
fn a_step_names_one_deed() {
    let scenario = parse(&serde_json::json!({
        "charts": {"before": "a"}, "release": "r",
        "steps": [{"upgrade": {"chart": "before", "flags": ["--atomic"]}, "conditions": {"leader": "before-hook"}}, {"wait": 5}]
    }))
    .expect("scenario");
    assert_eq!(scenario.steps.iter().map(deeds).collect::<Vec<_>>(), [vec!["upgrade"], vec!["wait"]]);
    assert_eq!(scenario.actor, "helm4");
}

#[test]
fn errors_name_the_line() {
    let error = |text: &str| {
        let text = format!("charts: {{}}\nrelease: r\nsteps:\n- wait: 1\n{text}");
        Scenario::parse(&text, &Limits::default()).expect_err("an error").message
    };
    for (text, wanted) in [
        ("- upgrade: {chart: b}\n", "line 5: no chart is named \"b\" in charts; known are "),
        (
            "- uninstall: {flags: [--atomic]}\n",
            "line 5: unknown flag of uninstall \"--atomic\"; known are --cascade, ",
        ),
        ("- {uninstall: {}, actor: helm5}\n", "line 5: unknown actor \"helm5\"; known are helm3, helm4"),
        (
            "- delete: {objects: [Pod/a/b], cascade: x}\n",
            "line 5: unknown cascade \"x\"; known are background, ",
        ),
        (
            "- patch: {object: Pod/a/b, kind: x, patch: {}}\n",
            "line 5: unknown kind of patch \"x\"; known are merge, ",
        ),
        (
            "- {uninstall: {}, actor: helm3.99}\n",
            "line 5: unknown actor \"helm3.99\"; known are helm3, helm4 and versions such as helm3.17, of Helm 3.14 to 3.22",
        ),
        ("- uninstall: {flags: [--timeout, -5s]}\n", "line 5: --timeout: no time above zero"),
        (
            "- patch: {object: Pod/a/b, kind: json, patch: [{op: foo, path: /a}]}\n",
            "line 5: unknown operation of patch.patch[0] \"foo\"; known are add, ",
        ),
        (
            "- patch: {object: Pod/a/b, kind: json, patch: [{op: move, path: /a}]}\n",
            "line 5: patch.patch[0].from is no path",
        ),
        (
            "- patch: {object: Pod/a/b, kind: json, patch: {a: b}}\n",
            "line 5: patch.patch is a mapping, not a list",
        ),
        ("- patch: {object: Pod/a/b, patch: [1]}\n", "line 5: patch.patch is a list, not a mapping"),
        (
            "- apply: {objects: [{apiVersion: v1, kind: List, items: [{kind: Pod}]}]}\n",
            "line 5: apply.objects[0]: apiVersion is missing",
        ),
        ("- wait: .nan\n", "line 5: "),
        ("- wait: *x\n", "line 5: yaml: unknown anchor 'x' referenced"),
        ("- label: {objects: [b], set: {a: b}}\n", "line 5: \"b\" is no object"),
        ("- label: {objects: [Pod/a/b]}\n", "line 5: label: without set"),
        ("- apply: {}\n", "line 5: apply: without file, objects or chart"),
        ("- upgrad: {}\n", "line 5: steps[1].upgrad: unknown field `upgrad`"),
        ("- wait: soon\n", "line 5: steps[1].wait: invalid type"),
        ("- wait: 1\n  uninstall: {}\n", "line 5: exactly one of"),
        (
            "- wait: 1\n  conditions:\n    leader: never\n",
            "line 7: steps[1].conditions.leader: unknown variant",
        ),
    ] {
        assert!(error(text).starts_with(wanted), "{}", error(text));
    }
    assert!(error("- a: [\n").starts_with("line 6: yaml: "), "{}", error("- a: [\n"));
}

#[test]
fn what_is_no_scenario_at_all_is_told_so() {
    for (text, wanted) in [
        ("", "line 1: the file is empty"),
        ("[]\n", "line 1: the file is a list"),
        ("hello\n", "line 1: the file is a single value"),
        ("charts: {}\nrelease: r\nsteps: []\n", "line 3: steps: the list is empty"),
        ("charts: {}\nsteps: []\n", "line 1: missing field `release`"),
    ] {
        let error = Scenario::parse(text, &Limits::default()).expect_err("an error");
        assert!(error.message.starts_with(wanted), "{error}");
        assert!(!error.hint.is_empty(), "{error}");
    }
}

#[test]
fn what_only_the_start_says_is_open() {
    let text = "charts: {}\nrelease: r\nconditions: {retries: prompt}\nstart:\n  steps:\n  - {wait: 1, conditions: {hooks: {}}}\n\
                steps:\n- {wait: 1, conditions: {leader: at-last}}\n";
    let scenario = Scenario::parse(text, &Limits::default()).expect("scenario");
    assert_eq!(scenario.fixed.iter().map(String::as_str).collect::<Vec<_>>(), ["leader", "retries"]);
}

/// The keys that a type takes, in its own words about one that it does not take.
fn keys<T: DeserializeOwned>() -> Vec<String> {
    let filled = serde_json::json!({"no such key": 0});
    let error = serde_json::from_value::<T>(filled).err().expect("an error").to_string();
    let list = error.split_once("expected ").expect("a list of keys").1;
    let mut keys: Vec<String> = list.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    keys.sort();
    keys
}

#[test]
fn the_published_schema_has_the_keys_of_the_types() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let published = |pointer: &str| -> Vec<String> {
        let properties = schema.pointer(&format!("{pointer}/properties")).and_then(Value::as_object);
        let mut keys: Vec<String> = properties.expect(pointer).keys().cloned().collect();
        keys.sort();
        keys
    };
    assert_eq!(published(""), keys::<Scenario>());
    assert_eq!(published("/$defs/start"), keys::<Start>());
    assert_eq!(published("/$defs/stage"), keys::<Stage>());
    assert_eq!(published("/$defs/deployment"), keys::<Deployment>());
    assert_eq!(published("/$defs/rollback"), keys::<Rollback>());
    assert_eq!(published("/$defs/uninstall"), keys::<Uninstall>());
    assert_eq!(published("/$defs/apply"), keys::<Apply>());
    assert_eq!(published("/$defs/create"), keys::<Create>());
    assert_eq!(published("/$defs/tagging"), keys::<Tagging>());
    assert_eq!(published("/$defs/patch"), keys::<Patch>());
    assert_eq!(published("/$defs/delete"), keys::<Delete>());
    assert_eq!(published("/$defs/conditions"), keys::<Conditions>());
    assert_eq!(published("/$defs/hooks"), keys::<Hooks>());
    assert_eq!(published("/$defs/timing"), keys::<Timing>());
}

/// Whether a scenario fits the schema; it has to when the program reads it.
fn fits(text: &str) -> Result<(), String> {
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let scenario = yaml::to_json(text.as_bytes(), &Limits::default()).expect("YAML");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    validator.validate(&scenario).map_err(|error| format!("{}: {error}", error.instance_path()))
}

#[test]
fn scenarios_that_are_read_fit_the_published_schema() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let manual = std::fs::read_to_string(root.join("docs/scenarios.md")).expect("the manual");
    let example = manual.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next());
    let mut texts = vec![example.expect("an example").to_owned()];
    for entry in std::fs::read_dir(root.join("tests/scenarios")).expect("scenarios") {
        texts.push(std::fs::read_to_string(entry.expect("a file").path()).expect("a scenario"));
    }
    for text in &texts {
        assert!(Scenario::parse(text, &Limits::default()).is_ok(), "{text}");
        assert_eq!(fits(text), Ok(()), "{text}");
    }
    assert!(fits("charts: {}\nrelease: r\nsteps: [{wait: 1, uninstall: {}}]\n").is_err());
    assert!(fits("charts: {}\nrelease: r\nsteps: [{upgrad: {}}]\n").is_err());
}

#[test]
fn nobody_waits_backwards() {
    let wait = |seconds: &str| {
        let text = format!("charts: {{}}\nrelease: r\nsteps: [{{wait: {seconds}}}]\n");
        Scenario::parse(&text, &Limits::default()).map_err(|error| error.message)
    };
    assert_eq!(wait("-1").err().as_deref(), Some("line 3: wait: -1 seconds are less than no time"));
    assert!(wait(".nan").is_err());
    assert!(wait("1e300").is_err());
    assert!(wait("5").is_ok());
}

#[test]
fn steps_and_waits_are_bounded_and_the_bound_has_a_flag() {
    let limits = Limits { scenario_steps: 2, scenario_seconds: 10, ..Limits::default() };
    let parse = |steps: &str| {
        let text = format!("charts: {{}}\nrelease: r\nstart: {{steps: [{{wait: 1}}]}}\nsteps:\n{steps}");
        Scenario::parse(&text, &limits).map(drop).map_err(|error| error.message)
    };
    assert_eq!(parse("- wait: 9\n"), Ok(()));
    let waits = "line 5: wait: more than 10 seconds in all (--limit-scenario-seconds)";
    assert_eq!(parse("- wait: 9.5\n"), Err(waits.to_owned()));
    let steps = "line 6: more than 2 steps (--limit-scenario-steps)";
    assert_eq!(parse("- wait: 1\n- wait: 1\n"), Err(steps.to_owned()));
}

#[test]
fn a_namespace_is_one_that_can_be_there() {
    let text = "charts: {}\nrelease: r\nnamespace: Bad_NS!\nsteps: [{wait: 1}]\n";
    let error = Scenario::parse(text, &Limits::default()).unwrap_err();
    assert_eq!(error.message, "line 3: namespace: \"Bad_NS!\" can't be the name of a namespace");
}

/// Plays a scenario without charts on the simulated server.
fn played(steps: &str) -> Played {
    let text = format!("charts: {{}}\nrelease: r\nstart: {{population: none}}\nsteps:\n{steps}");
    let scenario = Scenario::parse(&text, &Limits::default()).expect("a scenario");
    let (records, forge) = (Records::default(), Forge::default());
    let workshop = Workshop { renderer: &Engines, records: &records, forge: &forge };
    let limits = Limits::default();
    let mut inputs = Inputs {
        chart: &mut |_| Err("no chart".to_owned()),
        file: &mut |_| Err("no file".to_owned()),
        limits: &limits,
        typed: &|name, _| name.to_owned(),
    };
    play(&scenario, crate::upgrade::world::simulated("v1.34.3"), &workshop, &mut inputs).expect("played")
}

/// Names of what a step changed.
fn changed(step: &Step) -> Vec<&str> {
    let changed = step.events.iter().filter(|event| event.action != Action::Unchanged);
    changed.map(|event| event.object.name.as_str()).collect()
}

#[test]
fn a_first_step_that_is_refused_has_changed_nothing() {
    let played = played("- rollback: {}\n");
    assert_eq!((played.steps[0].exit_code, changed(&played.steps[0])), (1, Vec::new()));
    let outcome = Outcome::of(String::new(), played.steps);
    assert_eq!(outcome.verdict, crate::upgrade::outcome::Verdict::Refused);
}

#[test]
fn lists_are_taken_apart() {
    let map = |name: &str| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}}}");
    let list = format!("{{apiVersion: v1, kind: List, items: [{}, {}]}}", map("a"), map("b"));
    for word in ["apply", "create"] {
        let played = played(&format!("- {word}: {{objects: [{list}]}}\n"));
        let step = &played.steps[0];
        assert_eq!((step.exit_code, changed(step)), (0, vec!["a", "b"]), "{}", step.stderr);
    }
}
