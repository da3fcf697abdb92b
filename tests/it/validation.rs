//! What a real kube-apiserver says to objects with one mistake each, and what the simulated one says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use seatrial::cluster::simulated::Simulated;
use seatrial::cluster::{ApiResource, Cluster, Request};
use seatrial::k8s::{Gvk, text};
use serde_json::{Value, json};

use crate::control_plane::ControlPlane;

/// Lines of the golden file, by number, that are answered otherwise, with the reason.
const OTHERWISE: &[(usize, &str)] = &[
    (292, "clusters differ in the addresses that they give to Services, so none is refused"),
    (339, "decoding does not tell an empty list from an absent one"),
    (374, "decoding does not tell an empty list from an absent one"),
];

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/server/validation.jsonl")
}

/// Objects and the answers to their creation.
fn rows() -> Vec<Value> {
    let text = std::fs::read_to_string(golden()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Status and message that a server gives to a dry run; messages of objects that it takes are empty.
fn asked(server: &mut dyn Cluster, served: &[ApiResource], object: &Value) -> (u64, String) {
    let Gvk { group, version, kind } = Gvk::of(object);
    let own = |api: &&ApiResource| {
        let resource = &api.resource;
        (&resource.group, &resource.version, &api.kind) == (&group, &version, &kind)
            && !resource.plural.contains('/')
    };
    let api = served.iter().find(own).unwrap_or_else(|| panic!("{group}/{version} {kind} is not served"));
    let namespace = text(object, "/metadata/namespace");
    let create = Request::create(&api.resource, namespace, Arc::new(object.clone()));
    let answer = server.send(&Request { dry_run: true, ..create }).unwrap();
    let message = if answer.ok() { "" } else { answer.message() };
    (u64::from(answer.status), message.to_owned())
}

#[test]
fn mistakes_are_told_in_the_words_of_the_server() {
    let mut server = Simulated::new("v1.34.3");
    let served = server.discover().unwrap();
    let known: BTreeMap<usize, &str> = OTHERWISE.iter().copied().collect();
    let mut otherwise = BTreeSet::new();
    for (at, row) in rows().iter().enumerate() {
        let (status, message) = asked(&mut server, &served, &row["object"]);
        if (json!(status), json!(message)) != (row["status"].clone(), row["message"].clone()) {
            if !known.contains_key(&(at + 1)) {
                println!("line {}:\n  real {}\n  ours {status} {message}", at + 1, row["message"]);
            }
            otherwise.insert(at + 1);
        }
    }
    assert_eq!(otherwise, known.keys().copied().collect(), "lines that are answered otherwise");
}

#[test]
fn the_golden_answers_are_those_of_the_real_server() {
    let Some(plane) = ControlPlane::start() else { return };
    let mut live = plane.connect();
    let served = live.discover().unwrap();
    let old = rows();
    let ask = |row: &Value| {
        let (status, message) = asked(&mut live, &served, &row["object"]);
        json!({"object": row["object"], "status": status, "message": message})
    };
    let new: Vec<Value> = old.iter().map(ask).collect();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let lines: String = new.iter().map(|row| format!("{row}\n")).collect();
        std::fs::write(golden(), lines).unwrap();
    }
    // Go walks its maps in any order, so errors about several resources come in any order too.
    let parts = |row: &Value| {
        let mut parts: Vec<String> =
            row["message"].as_str().unwrap().split([' ', ',', '[', ']']).map(str::to_owned).collect();
        parts.sort();
        (row["status"].clone(), parts)
    };
    let changed = |(at, (old, new)): (usize, (&Value, &Value))| {
        (parts(old) != parts(new)).then(|| format!("line {}: {new}", at + 1))
    };
    let changed: Vec<String> = old.iter().zip(&new).enumerate().filter_map(changed).collect();
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}
