//! What a check expects against what was played.

use std::sync::Arc;

use seatrial::finding::{Finding, ObjectName, Severity};
use seatrial::k8s;
use seatrial::upgrade::trace::{Action, Step};
use serde_json::Value;

use super::case::Check;
use super::play::Played;

pub(super) fn complaints(check: &Check, played: &Played) -> Vec<String> {
    let expect = check.expect();
    let mut complaints = Vec::new();
    if let Some(step) = &played.step {
        result(expect, step, &mut complaints);
        fates(expect, step, &mut complaints);
        stored(expect, &played.after, &mut complaints);
    }
    if let Some(findings) = expect["findings"].as_array() {
        found(check.deed(), findings, &played.findings, &mut complaints);
    }
    complaints
}

fn texts<'v>(expect: &'v Value, key: &str) -> Vec<&'v str> {
    expect[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn result(expect: &Value, step: &Step, complaints: &mut Vec<String>) {
    let succeeds = step.exit_code == 0;
    match expect["result"].as_str() {
        Some("succeeds") if !succeeds => complaints.push(format!("fails: {}", step.stderr)),
        Some("fails") if succeeds => complaints.push("succeeds".to_owned()),
        _ => {}
    }
    for text in texts(expect, "message").into_iter().chain(texts(expect, "warnings")) {
        // Lines of logs escape quotes.
        if !step.stderr.contains(text) && !step.stderr.replace("\\\"", "\"").contains(text) {
            complaints.push(format!("does not say {text:?}: {}", step.stderr));
        }
    }
}

/// `Kind/name` or `Kind/namespace/name`.
fn is(name: &ObjectName, written: &str) -> bool {
    let parts: Vec<&str> = written.split('/').collect();
    match parts[..] {
        [kind, name_] => name.kind == kind && name.name == name_,
        [kind, namespace, name_] => name.kind == kind && name.namespace == namespace && name.name == name_,
        _ => false,
    }
}

fn fates(expect: &Value, step: &Step, complaints: &mut Vec<String>) {
    let fate =
        |written: &str| step.events.iter().find(|event| is(&event.object, written)).map(|event| event.action);
    let mut wants = |key: &str, fits: &dyn Fn(Option<Action>) -> bool| {
        for written in texts(expect, key) {
            if !fits(fate(written)) {
                complaints.push(format!("{written} should be {key}, is {:?}", fate(written)));
            }
        }
    };
    wants("gone", &|action| action == Some(Action::Deleted));
    wants("kept", &|action| matches!(action, Some(Action::Unchanged | Action::Updated)));
    wants("created", &|action| action == Some(Action::Created));
    wants("absent", &|action| action.is_none());
    wants("updated", &|action| action == Some(Action::Updated));
    wants("unchanged", &|action| action == Some(Action::Unchanged));
}

fn stored(expect: &Value, objects: &[Arc<Value>], complaints: &mut Vec<String>) {
    let Some(wanted) = expect["stored"].as_object() else { return };
    let (kind, name) =
        (expect["stored"]["kind"].as_str().unwrap(), expect["stored"]["name"].as_str().unwrap());
    let fits = |object: &&Arc<Value>| {
        k8s::text(object, "/kind") == kind && k8s::text(object, "/metadata/name") == name
    };
    let Some(object) = objects.iter().find(fits) else {
        complaints.push(format!("{kind} {name} is not there"));
        return;
    };
    for path in texts(&expect["stored"], "lacks") {
        if lookup(object, path).is_some() {
            complaints.push(format!("{kind} {name} has {path}: {object}"));
        }
    }
    for (path, value) in expect["stored"]["has"].as_object().into_iter().flatten() {
        if lookup(object, path) != Some(value) {
            complaints.push(format!("{kind} {name}: {path} is {:?}", lookup(object, path)));
        }
    }
    for (key, value) in
        wanted.iter().filter(|(key, _)| !["kind", "name", "lacks", "has"].contains(&key.as_str()))
    {
        if !contains(&object[key], value) {
            complaints.push(format!("{kind} {name}: {key} is {}", object[key]));
        }
    }
}

/// A dotted path whose parts may have dots themselves.
fn lookup<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    let map = value.as_object()?;
    map.iter().find_map(|(key, member)| match path.strip_prefix(key.as_str())? {
        "" => Some(member),
        rest => lookup(member, rest.strip_prefix('.')?),
    })
}

fn contains(value: &Value, part: &Value) -> bool {
    match (value, part) {
        (Value::Object(map), Value::Object(part)) => {
            part.iter().all(|(name, part)| map.get(name).is_some_and(|value| contains(value, part)))
        }
        (value, part) => value == part,
    }
}

fn severity(word: &str) -> Severity {
    match word {
        "loses objects" => Severity::Loses,
        "upgrade fails" => Severity::Breaks,
        "silent change" => Severity::Risks,
        "harmless" => Severity::Notes,
        other => panic!("unknown severity {other}"),
    }
}

/// Every expected finding must be there, in its severity and about its objects. Where none is expected, none may be
/// there that has an effect: the catch-all lists each difference of two renders by design.
fn found(deed: &str, expected: &[Value], findings: &[Finding], complaints: &mut Vec<String>) {
    let concerns = |finding: &&Finding| {
        finding.operations.is_empty()
            || !["install", "upgrade", "uninstall"].contains(&deed)
            || finding.operations.contains(&deed)
    };
    let findings: Vec<&Finding> = findings.iter().filter(concerns).collect();
    for wanted in expected {
        let grade = severity(wanted["severity"].as_str().unwrap());
        let objects = texts(wanted, "objects");
        let hit = findings.iter().any(|finding| {
            finding.severity == grade
                && objects.iter().all(|written| finding.objects.iter().any(|name| is(name, written)))
        });
        if !hit {
            complaints.push(format!(
                "not found: {} {objects:?} {}; there are\n{}",
                wanted["severity"],
                wanted["says"],
                listed(&findings)
            ));
        }
    }
    let noisy: Vec<&Finding> =
        findings.into_iter().filter(|finding| finding.severity > Severity::Notes).collect();
    if expected.is_empty() && !noisy.is_empty() {
        complaints.push(format!("nothing should be reported, there are\n{}", listed(&noisy)));
    }
}

fn listed(findings: &[&Finding]) -> String {
    let line = |finding: &&Finding| {
        let objects: Vec<String> = finding.objects.iter().map(ToString::to_string).collect();
        format!("    {:?} {}: {} {objects:?}\n", finding.severity, finding.check, finding.message)
    };
    findings.iter().map(line).collect()
}
