//! Definitions that real charts ship: all of them are accepted by real servers, and compile fast.

use std::io::Read;

use serde_json::Value;

use crate::k8s::At as _;
use crate::limits::Limits;
use crate::schema::tests::{Score, shared};
use crate::schema::{KubeVersion, Structural, crd};

#[test]
fn definitions_of_real_charts_are_accepted() {
    let Some(shared) = shared() else { return };
    let mut score = Score::default();
    for folder in ["charts-cache", "corpus/charts"] {
        let mut archives: Vec<_> = std::fs::read_dir(shared.join(folder))
            .expect("charts")
            .map(|entry| entry.expect("entry").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "tgz"))
            .collect();
        archives.sort();
        for archive in archives {
            let name = archive.file_name().unwrap_or_default().to_string_lossy().into_owned();
            for (file, definition) in definitions(&archive) {
                score.take(&format!("{name} {file}"), judge(definition));
            }
        }
    }
    score.finish("definitions of real charts");
}

/// The definitions in an archive that are plain YAML.
fn definitions(archive: &std::path::Path) -> Vec<(String, Value)> {
    let bytes = std::fs::File::open(archive).expect("archive");
    let mut found = Vec::new();
    for entry in tar::Archive::new(flate2::read::GzDecoder::new(bytes)).entries().expect("entries") {
        let mut entry = entry.expect("entry");
        let path = entry.path().expect("path").to_string_lossy().into_owned();
        let mut text = String::new();
        if !path.ends_with(".yaml") || entry.read_to_string(&mut text).is_err() {
            continue;
        }
        if text.contains("kind: CustomResourceDefinition") && !text.contains("{{") {
            let documents =
                crate::yaml::documents(&text).map(|(_, document)| document.to_owned()).collect::<Vec<_>>();
            let values =
                documents.iter().filter_map(|d| crate::yaml::to_json(d.as_bytes(), &Limits::default()).ok());
            found.extend(
                values.filter(|v| v["kind"] == "CustomResourceDefinition").map(|v| (path.clone(), v)),
            );
        }
    }
    found.retain(|(_, definition)| definition["apiVersion"] == "apiextensions.k8s.io/v1");
    found
}

fn judge(mut definition: Value) -> Result<(), String> {
    for version in definition["spec"]["versions"].as_array().into_iter().flatten() {
        let Some(schema) = version.at("/schema/openAPIV3Schema") else { continue };
        let start = std::time::Instant::now();
        Structural::compile(schema, KubeVersion::RECORDED).map_err(|errors| format!("{errors:?}"))?;
        let took = start.elapsed();
        if took > std::time::Duration::from_millis(20) {
            eprintln!("slow: {took:?} {}", definition["metadata"]["name"]);
        }
    }
    crd::prepare(&mut definition, None);
    let outcome = crd::validate(&definition, None, KubeVersion::RECORDED);
    let said: Vec<String> =
        outcome.errors.iter().map(|error| error.to_string().chars().take(600).collect()).collect();
    if said.is_empty() { Ok(()) } else { Err(said.join("\n   ")) }
}
