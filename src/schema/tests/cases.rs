//! Cases from the field: what they say about creating, updating and reading objects, and about definitions.

use std::path::Path;

use serde_json::Value;

use crate::k8s::At as _;
use crate::limits::Limits;
use crate::schema::tests::server::{json_patch, merge, schema_of, write};
use crate::schema::tests::{Score, shared};
use crate::schema::{KubeVersion, crd};

/// The checks of one case file that a schema alone can answer.
const DO: &[&str] = &["create", "update", "read", "create crd", "update crd"];

#[test]
fn the_field_cases_come_out_as_recorded() {
    let Some(shared) = shared() else { return };
    let mut folders: Vec<_> = std::fs::read_dir(shared.join("cases"))
        .expect("cases")
        .map(|entry| entry.expect("entry").path())
        .filter(|path| path.join("case.yaml").is_file())
        .collect();
    folders.sort();
    let mut score = Score::default();
    for folder in folders {
        let case = load(&folder, "case.yaml");
        let id = case["id"].as_str().unwrap_or_default().to_owned();
        for check in case["checks"].as_array().into_iter().flatten() {
            let action = check["do"].as_str().unwrap_or_default();
            if !DO.contains(&action) || check["crd"].is_null() && check["new"].is_null() {
                score.skipped += 1;
                continue;
            }
            let name = format!("{id} {}", check["name"].as_str().unwrap_or_default());
            score.take(&name, judge(&folder, check, action));
        }
    }
    score.finish("field cases");
}

fn load(folder: &Path, file: &str) -> Value {
    let text = std::fs::read(folder.join(file)).unwrap_or_else(|why| panic!("{file}: {why}"));
    crate::yaml::to_json(&text, &Limits::default()).unwrap_or_else(|why| panic!("{file}: {why}"))
}

fn named(folder: &Path, check: &Value, key: &str) -> Option<Value> {
    check[key].as_str().map(|file| load(folder, file))
}

fn judge(folder: &Path, check: &Value, action: &str) -> Result<(), String> {
    let expect = &check["expect"];
    match action {
        "create crd" | "update crd" => judge_crd(folder, check, expect),
        "read" => judge_read(folder, check, expect),
        _ => judge_write(folder, check, expect),
    }
}

/// Ratcheting as in the version that a check speaks of.
fn kube_of(expect: &Value) -> KubeVersion {
    match expect["kubernetes"].as_str() {
        Some("<1.30") => KubeVersion::new(1, 29),
        _ => KubeVersion::RECORDED,
    }
}

fn judge_write(folder: &Path, check: &Value, expect: &Value) -> Result<(), String> {
    let crd = named(folder, check, "crd").expect("crd");
    let kube = kube_of(expect);
    let old = named(folder, check, "old");
    let mut object = named(folder, check, "object").or_else(|| named(folder, check, "new"));
    if object.is_none() {
        let mut patched = old.clone().expect("old");
        merge(&mut patched, &check["patch"]);
        object = Some(patched);
    }
    let mut object = object.expect("object");
    let version =
        object["apiVersion"].as_str().and_then(|v| v.split_once('/')).expect("version").1.to_owned();
    let schema = schema_of(&crd, &version, kube);
    let mode = check["field_validation"].as_str().unwrap_or("Warn");
    if !check["webhook_patch"].is_null() {
        // What a webhook adds is pruned without a word; the strict check was made before.
        json_patch(&mut object, &check["webhook_patch"]).expect("webhook patch");
        return compare(&write(&schema, &object, old.as_ref(), "Ignore"), expect);
    }
    let old = old.map(|mut old| {
        schema.coerce(&mut old).expect("stored metadata");
        schema.default(&mut old);
        old
    });
    compare(&write(&schema, &object, old.as_ref(), mode), expect)
}

fn compare(answer: &crate::schema::tests::server::Answer, expect: &Value) -> Result<(), String> {
    if !answer.unchecked.is_empty() {
        return Err(format!("{:?}", answer.unchecked));
    }
    let accepted = answer.code < 300;
    let mut said: Vec<String> = answer.errors.iter().map(ToString::to_string).collect();
    said.push(answer.message.clone());
    if accepted != (expect["result"] == "accepted") {
        return Err(format!("accepted: {accepted}, {said:?}"));
    }
    let texts = |key: &str| {
        expect[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>()
    };
    for text in texts("errors") {
        if !said.iter().any(|error| error.contains(text)) {
            return Err(format!("lacks {text:?}: {said:?}"));
        }
    }
    for text in texts("errors_lack") {
        if said.iter().any(|error| error.contains(text)) {
            return Err(format!("has {text:?}: {said:?}"));
        }
    }
    for path in texts("paths") {
        if !answer.errors.iter().any(|error| error.field == path) {
            return Err(format!("no error at {path}: {said:?}"));
        }
    }
    if let Some(count) = expect["error_count"].as_u64()
        && answer.errors.len() as u64 != count
    {
        return Err(format!("{} errors, not {count}: {said:?}", answer.errors.len()));
    }
    for text in texts("warnings") {
        if !answer.warnings.iter().any(|warning| warning.contains(text)) {
            return Err(format!("no warning {text:?}: {:?}", answer.warnings));
        }
    }
    compare_stored(&answer.stored, expect)
}

fn compare_stored(stored: &Value, expect: &Value) -> Result<(), String> {
    if !expect["stored"].is_null() && !contains(stored, &expect["stored"]) {
        return Err(format!("stored {stored}, expected {}", expect["stored"]));
    }
    for path in expect["stored_lacks"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if stored.at(&format!("/{}", path.replace('.', "/"))).is_some() {
            return Err(format!("stored has {path}: {stored}"));
        }
    }
    Ok(())
}

/// Whether a value has all members of another; lists are compared whole.
fn contains(value: &Value, part: &Value) -> bool {
    match (value, part) {
        (Value::Object(map), Value::Object(part)) => {
            part.iter().all(|(name, part)| map.get(name).is_some_and(|value| contains(value, part)))
        }
        (value, part) => value == part,
    }
}

fn judge_read(folder: &Path, check: &Value, expect: &Value) -> Result<(), String> {
    let (Some(crd), Some(mut object)) = (named(folder, check, "crd"), named(folder, check, "object")) else {
        return Err("no input".to_owned());
    };
    let version =
        object["apiVersion"].as_str().and_then(|v| v.split_once('/')).expect("version").1.to_owned();
    let schema = schema_of(&crd, &version, KubeVersion::RECORDED);
    schema.coerce(&mut object)?;
    schema.default(&mut object);
    compare_stored(&object, expect)
}

fn judge_crd(folder: &Path, check: &Value, expect: &Value) -> Result<(), String> {
    let mut new = named(folder, check, "crd").or_else(|| named(folder, check, "new")).expect("definition");
    let mut old = named(folder, check, "old");
    if let Some(rule) = check["rule"].as_str() {
        let schema = new.pointer_mut("/spec/versions/0/schema/openAPIV3Schema").expect("schema");
        schema["x-kubernetes-validations"] = serde_json::json!([{"rule": rule}]);
    }
    if let Some(old) = &mut old {
        match named(folder, check, "status") {
            Some(status) => merge(
                old,
                &if status["status"].is_null() { serde_json::json!({"status": status}) } else { status },
            ),
            None => crd::prepare(old, None),
        }
        if check["before"].as_str().is_some_and(|before| before.contains("storedVersions")) {
            old["status"]["storedVersions"] = expect["stored_versions"].clone();
        }
        if check["how"] == "merge"
            && old["spec"]["preserveUnknownFields"] == true
            && new["spec"]["preserveUnknownFields"].is_null()
        {
            new["spec"]["preserveUnknownFields"] = Value::Bool(true);
        }
    }
    crd::prepare(&mut new, old.as_ref());
    let mut verdicts = vec![("result", "message", KubeVersion::RECORDED)];
    verdicts.push(("kubernetes_1_30", "message_1_30", KubeVersion::new(1, 30)));
    verdicts.push(("kubernetes_1_34", "message_1_34", KubeVersion::RECORDED));
    for (key, messages, kube) in verdicts {
        let Some(result) = expect[key].as_str() else { continue };
        let outcome = crd::validate(&new, old.as_ref(), kube);
        let said: Vec<String> = outcome.errors.iter().map(ToString::to_string).collect();
        if (result == "accepted") != said.is_empty() {
            return Err(format!("{key} {result}: {said:?}"));
        }
        for text in expect[messages].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !said.iter().any(|error| error.contains(text)) {
                return Err(format!("{key} lacks {text:?}: {said:?}"));
            }
        }
    }
    if let Some(stored) = expect["stored_versions"].as_array()
        && crd::stored_versions(&new) != stored.iter().filter_map(Value::as_str).collect::<Vec<_>>()
    {
        return Err(format!("stored versions {:?}", crd::stored_versions(&new)));
    }
    Ok(())
}
