//! Rendering against JobSets that the real managers made (golden: recorded cluster states in the shared folder).

use std::io::Read as _;

use serde_json::{Value, json};

use super::super::jobset::normal;
use super::rendering::{list, render};
use super::runtime_of;
use crate::k8s::text;
use crate::shared::shared;

/// The recorded objects of a state.
fn objects(path: &std::path::Path) -> Value {
    let file = std::fs::File::open(path).expect("a recorded state");
    let mut content = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut content).expect("a gzip file");
    let state: Value = serde_json::from_str(&content).expect("JSON");
    state["objects"].clone()
}

/// The rendered spec with what the server and JobSet's webhook add.
fn defaulted(set: &Value) -> Value {
    let mut spec = set["spec"].clone();
    for (field, value) in [
        ("successPolicy", json!({"operator": "All"})),
        ("startupPolicy", json!({"startupPolicyOrder": "AnyOrder"})),
        ("network", json!({})),
    ] {
        if spec.get(field).is_none() {
            spec[field] = value;
        }
    }
    for field in ["enableDNSHostnames", "publishNotReadyAddresses"] {
        if spec["network"].get(field).is_none() {
            spec["network"][field] = json!(true);
        }
    }
    for job in spec["replicatedJobs"].as_array_mut().into_iter().flatten() {
        job["template"]["spec"]["completionMode"] = json!("Indexed");
        let pod = &mut job["template"]["spec"]["template"]["spec"];
        if pod.get("restartPolicy").is_none() {
            pod["restartPolicy"] = json!("OnFailure");
        }
        for container in pod["containers"].as_array_mut().into_iter().flatten() {
            for port in container.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
                port["protocol"] = json!("TCP");
            }
        }
    }
    spec
}

#[test]
fn renders_what_the_managers_rendered() {
    let Some(shared) = shared() else { return };
    let mut compared = 0;
    for (file, version) in
        [("S2-helm3-takeown", (2, 2)), ("S2-helm4base-takeown", (2, 2)), ("S8-210-nopoison", (2, 1))]
    {
        let objects = objects(&shared.join(format!("lab/trainer/{file}-before.json.gz")));
        for (key, set) in
            objects.as_object().into_iter().flatten().filter(|(key, _)| key.starts_with("JobSet/"))
        {
            let job = &objects[key.replacen("JobSet", "TrainJob", 1)];
            let (kind, namespace, name) = runtime_of(job);
            let runtime = &objects[format!("{kind}/{namespace}/{name}")];
            if job.is_null() || runtime.is_null() {
                continue;
            }
            let rendered = render(version, job, runtime, None).expect("a JobSet").set;
            let wanted = normal(&set["spec"]);
            assert_eq!(normal(&defaulted(&rendered)), wanted, "{file} {}", text(set, "/metadata/name"));
            assert!(list(set, "/spec/replicatedJobs").count() > 0);
            compared += 1;
        }
    }
    assert!(compared >= 8, "only {compared} JobSets compared");
}
