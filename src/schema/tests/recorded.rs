//! Requests on custom resources with the answers of kube-apiserver 1.34.3.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::schema::KubeVersion;
use crate::schema::tests::server::{Answer, json_patch, merge, schema_of, write};
use crate::schema::tests::{Score, shared};

const FILES: &[&str] = &["cel", "crd-defaults", "crd-lists", "crd-pruning", "crd-types", "ratcheting"];

#[test]
fn answers_as_the_server_did() {
    let Some(shared) = shared() else { return };
    let mut score = Score::default();
    for file in FILES {
        let text = std::fs::read_to_string(shared.join(format!("apiserver/handout/{file}.json")))
            .expect("recording");
        let recording: Value = serde_json::from_str(&text).expect("JSON");
        for sequence in recording["sequences"].as_array().expect("sequences") {
            replay(sequence, &mut score);
        }
    }
    score.finish("recorded answers");
}

fn replay(sequence: &Value, score: &mut Score) {
    let mut crds: Vec<Value> = sequence["crds"].as_array().expect("crds").clone();
    let mut stored: BTreeMap<String, Value> = BTreeMap::new();
    for (i, pair) in sequence["pairs"].as_array().expect("pairs").iter().enumerate() {
        let name = format!("{}[{i}]", sequence["id"].as_str().unwrap_or_default());
        let path = pair["path"].as_str().unwrap_or_default();
        if path.contains("/customresourcedefinitions/") {
            let crd = crds.first_mut().expect("crd");
            if pair["request"].is_array() {
                json_patch(crd, &pair["request"]).expect("patch of a definition");
            } else {
                merge(crd, &pair["request"]);
            }
            score.skipped += 1;
            continue;
        }
        let crd = crds.first().expect("crd");
        let Some((key, answer)) = perform(crd, &stored, pair, path) else {
            score.skipped += 1;
            continue;
        };
        score.take(&name, compare(&answer, pair));
        if answer.code < 300 {
            stored.insert(key, answer.stored);
        }
    }
}

fn perform(
    crd: &Value,
    stored: &BTreeMap<String, Value>,
    pair: &Value,
    path: &str,
) -> Option<(String, Answer)> {
    let raw = pair["request_raw"].as_str();
    let body = match raw {
        Some(raw) if raw.contains("\"int\":1,\"int\":2") => return None,
        Some(raw) => serde_json::from_str(raw).ok()?,
        None => pair["request"].clone(),
    };
    let mode = pair["query"]["fieldValidation"].as_str().unwrap_or_default();
    if mode == "Maybe" || pair["query"]["fieldManager"].is_string() {
        return None;
    }
    let schema = schema_of(crd, path.split('/').nth(3)?, KubeVersion::RECORDED);
    match pair["method"].as_str()? {
        "POST" => {
            let name = body["metadata"]["name"].as_str().unwrap_or_default();
            Some((format!("{path}/{name}"), write(&schema, &body, None, mode)))
        }
        "PUT" => {
            let old = stored.get(path)?;
            Some((path.to_owned(), write(&schema, &body, Some(old), mode)))
        }
        "PATCH" if mode != "Strict" => {
            let old = stored.get(path)?;
            let mut new = old.clone();
            if body.is_array() {
                json_patch(&mut new, &body)?;
            } else {
                merge(&mut new, &body);
            }
            Some((path.to_owned(), write(&schema, &new, Some(old), mode)))
        }
        _ => None,
    }
}

fn compare(answer: &Answer, pair: &Value) -> Result<(), String> {
    let response = &pair["response"];
    let code = response["code"].as_u64().unwrap_or_default();
    if !answer.unchecked.is_empty() {
        return Err(format!("{:?}", answer.unchecked));
    }
    if u64::from(answer.code) != code {
        return Err(format!(
            "{} {} {:?}, recorded {code} {}",
            answer.code, answer.message, answer.stored, response["body"]
        ));
    }
    let mut warnings: Vec<&str> =
        response["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut ours: Vec<&str> = answer.warnings.iter().map(String::as_str).collect();
    warnings.sort_unstable();
    ours.sort_unstable();
    if warnings != ours {
        return Err(format!("warnings {ours:?}, recorded {warnings:?}"));
    }
    if code < 300 {
        compare_stored(answer, &response["body"])
    } else {
        compare_errors(answer, &response["body"])
    }
}

fn compare_stored(answer: &Answer, body: &Value) -> Result<(), String> {
    for part in ["spec", "status"] {
        if body.get(part) != answer.stored.get(part) {
            return Err(format!("{part} {:?}, recorded {:?}", answer.stored.get(part), body.get(part)));
        }
    }
    Ok(())
}

fn compare_errors(answer: &Answer, body: &Value) -> Result<(), String> {
    let text = |cause: &Value| cause.to_string();
    let mut causes: Vec<String> =
        body["details"]["causes"].as_array().into_iter().flatten().map(text).collect();
    let mut ours: Vec<String> = answer.errors.iter().map(|error| text(&error.to_cause())).collect();
    causes.sort();
    ours.sort();
    if causes != ours {
        return Err(format!("causes\n  {}\nrecorded\n  {}", ours.join("\n  "), causes.join("\n  ")));
    }
    let message = body["message"].as_str().unwrap_or_default();
    if causes.len() < 2 && message != answer.message {
        return Err(format!("{}\nrecorded\n{message}", answer.message));
    }
    Ok(())
}
