//! Golden answers of a real kube-apiserver 1.34.3, replayed against the simulated one.
//!
//! A topic's floor is what passes today; it may rise and must not fall.

use std::collections::BTreeMap;
use std::sync::Arc;

use seatrial::cluster::simulated::Simulated;
use seatrial::cluster::{Cluster, PatchType, Request, Resource, Response, Verb};
use serde_json::{Map, Value, json};

use crate::shared::shared;

/// Topics and the number of pairs of each that pass at least.
const FLOORS: &[(&str, usize)] = &[
    ("admission", 6),
    ("apply", 47),
    ("builtins", 51),
    ("concurrency", 25),
    ("crd-objects", 16),
    ("delete-gc", 51),
    ("errors", 4),
    ("list", 9),
    ("namespace", 16),
    ("patch", 38),
    ("rbac", 7),
    ("subresources", 22),
    ("validation-dryrun", 14),
    ("versions", 23),
];

#[test]
fn answers_as_the_real_server() {
    let Some(shared) = shared() else { return };
    let only = std::env::var("SEATRIAL_TOPIC").unwrap_or_default();
    let mut below = Vec::new();
    for (topic, floor) in FLOORS.iter().filter(|(topic, _)| only.is_empty() || *topic == only) {
        let text = std::fs::read_to_string(shared.join(format!("apiserver/handout/{topic}.json"))).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        let (mut passed, mut failed) = (0, 0);
        for sequence in file["sequences"].as_array().unwrap() {
            let (good, bad) = Replay::new(sequence).run(!only.is_empty());
            passed += good;
            failed += bad;
        }
        println!("{topic}: {passed} passed, {failed} failed");
        if passed < *floor {
            below.push(format!("{topic}: {passed} of at least {floor}"));
        }
    }
    assert!(below.is_empty(), "fewer answers are right than before: {below:?}");
}

/// One sequence under way.
struct Replay<'s> {
    cluster: Simulated,
    sequence: &'s Value,
    saved: BTreeMap<String, String>,
    ours: Normal,
}

impl<'s> Replay<'s> {
    fn new(sequence: &'s Value) -> Self {
        let mut cluster = Simulated::new("v1.34.3");
        cluster.actor = "conformance".to_owned();
        if let Some(namespace) = sequence["namespace"].as_str() {
            let object =
                json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": namespace } });
            let request = Request::create(&Resource::new("", "v1", "namespaces"), "", Arc::new(object));
            assert!(cluster.send(&request).unwrap().ok());
        }
        let definitions = Resource::new("apiextensions.k8s.io", "v1", "customresourcedefinitions");
        for crd in sequence["crds"].as_array().into_iter().flatten() {
            let response = cluster.send(&Request::create(&definitions, "", Arc::new(crd.clone()))).unwrap();
            if !response.ok() {
                println!("  CRD {}: {}", crd["metadata"]["name"], response.message());
            }
        }
        let keep = sequence["managed_fields"] == true;
        Self { cluster, sequence, saved: BTreeMap::new(), ours: Normal { keep, ..Normal::default() } }
    }

    fn run(mut self, verbose: bool) -> (usize, usize) {
        let (mut passed, mut failed) = (0, 0);
        for (at, pair) in self.sequence["pairs"].as_array().unwrap().iter().enumerate() {
            let verdict = self.pair(pair);
            if verdict.is_none() {
                passed += 1;
                continue;
            }
            failed += 1;
            if let Some(why) = verdict.filter(|_| verbose) {
                println!("  {}#{at} {} {}\n{why}", self.sequence["id"], pair["method"], pair["path"]);
            }
        }
        (passed, failed)
    }

    /// Replays one pair; says what differs.
    fn pair(&mut self, pair: &Value) -> Option<String> {
        let pair = self.substituted(pair);
        let expected = &pair["response"];
        let Some(request) = request(&pair) else {
            return Some("    (not a request the trait has)".to_owned());
        };
        self.cluster.wait(pair["settle"].as_f64().unwrap_or(0.0) + 1.001).unwrap();
        let response = self.answer(&request, pair["until"]["code"].as_u64());
        for (name, path) in pair["save"].as_object().into_iter().flatten() {
            if let Some(Value::String(value)) = at_path(&response.body, path.as_str().unwrap()) {
                self.saved.insert(name.clone(), value);
            }
        }
        self.difference(&pair, expected, &response)
    }

    /// The answer, or where the real server was asked until it answered with a code, the first such one within a minute.
    fn answer(&mut self, request: &Request, until: Option<u64>) -> Response {
        let mut response = self.cluster.send(request).unwrap();
        for _ in 0..60 {
            if until.is_none_or(|code| u64::from(response.status) == code) {
                break;
            }
            self.cluster.wait(1.0).unwrap();
            response = self.cluster.send(request).unwrap();
        }
        response
    }

    fn difference(&mut self, pair: &Value, expected: &Value, response: &Response) -> Option<String> {
        if Some(u64::from(response.status)) != expected["code"].as_u64() {
            return Some(format!(
                "    code {} for {}: {}",
                response.status,
                expected["code"],
                response.message()
            ));
        }
        if pair["volatile"] == true {
            return None;
        }
        let warnings = json!(response.warnings);
        let wanted = expected.get("warnings").cloned().unwrap_or_else(|| json!([]));
        if warnings != wanted {
            return Some(format!("    warnings {warnings}\n    for      {wanted}"));
        }
        let wanted = expected.get("body")?;
        let mut found = Value::clone(&response.body);
        if let Some(pick) = pair["pick"].as_array() {
            found = pick
                .iter()
                .filter_map(Value::as_str)
                .map(|path| (path.to_owned(), at_path(&found, path).unwrap_or(Value::Null)))
                .collect::<Map<_, _>>()
                .into();
        }
        let mut wanted = wanted.clone();
        for path in pair["ignore"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            drop_path(&mut found, path);
            drop_path(&mut wanted, path);
        }
        let found = self.ours.walk(&found, "", false);
        (found != wanted).then(|| format!("    is  {found}\n    not {wanted}"))
    }

    fn substituted(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => json!(self.text(text)),
            Value::Array(items) => items.iter().map(|i| self.substituted(i)).collect(),
            Value::Object(object) => object
                .iter()
                .map(|(k, v)| (k.clone(), if k == "response" { v.clone() } else { self.substituted(v) }))
                .collect::<Map<_, _>>()
                .into(),
            other => other.clone(),
        }
    }

    fn text(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            let Some((name, tail)) = after.split_once('}') else { break };
            out.push_str(before);
            let parts: Vec<&str> = name.split(':').collect();
            match (parts.as_slice(), self.saved.get(name)) {
                (["repeat", what, times], _) => out.push_str(&what.repeat(times.parse().unwrap())),
                (_, Some(value)) => out.push_str(value),
                _ => out.push_str(&format!("${{{name}}}")),
            }
            rest = tail;
        }
        out + rest
    }
}

/// The request of a pair; `None` for what is no object request (discovery, raw bodies, watches).
fn request(pair: &Value) -> Option<Request> {
    if pair.get("request_raw").is_some() || pair.get("accept").is_some() {
        return None;
    }
    let parts: Vec<&str> = pair["path"].as_str()?.split('/').filter(|p| !p.is_empty()).collect();
    let (resource, rest) = match parts.as_slice() {
        ["api", version, rest @ ..] => (("", *version), rest),
        ["apis", group, version, rest @ ..] => ((*group, *version), rest),
        _ => return None,
    };
    let (namespace, rest) = match rest {
        ["namespaces", namespace, plural, rest @ ..] if !matches!(*plural, "status" | "finalize") => {
            (*namespace, [&[*plural], rest].concat())
        }
        rest => ("", rest.to_vec()),
    };
    let resource = Resource::new(resource.0, resource.1, rest.first()?);
    let mut request = Request::get(&resource, namespace, rest.get(1).copied().unwrap_or(""));
    request.subresource = rest.get(2..).unwrap_or_default().join("/");
    let collection = request.name.is_empty();
    request.verb = match (pair["method"].as_str()?, collection) {
        ("GET", true) => Verb::List,
        ("GET", false) => Verb::Get,
        ("POST", _) => Verb::Create,
        ("PUT", _) => Verb::Update,
        ("PATCH", _) => Verb::Patch,
        ("DELETE", true) => Verb::DeleteCollection,
        ("DELETE", false) => Verb::Delete,
        _ => return None,
    };
    request.body = pair.get("request").filter(|r| !r.is_null()).map(|r| Arc::new(r.clone()));
    options(&mut request, pair).then_some(request)
}

/// Takes in the query; false when it has a parameter that the trait lacks.
fn options(request: &mut Request, pair: &Value) -> bool {
    request.patch_type = match pair["content_type"].as_str().unwrap_or("") {
        "application/json-patch+json" => Some(PatchType::Json),
        "application/merge-patch+json" => Some(PatchType::Merge),
        "application/strategic-merge-patch+json" => Some(PatchType::Strategic),
        "application/apply-patch+yaml" => Some(PatchType::Apply),
        _ => None,
    };
    request.user = pair["impersonate"].as_str().unwrap_or("").to_owned();
    for (name, value) in pair["query"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or("");
        match name.as_str() {
            "fieldManager" => value.clone_into(&mut request.field_manager),
            "force" => request.force = value == "true",
            "labelSelector" => value.clone_into(&mut request.label_selector),
            "dryRun" if value == "All" => request.dry_run = true,
            "fieldValidation" => {
                request.field_validation = match value {
                    "Strict" => "Strict",
                    "Warn" => "Warn",
                    "Ignore" => "Ignore",
                    _ => return false,
                }
            }
            "propagationPolicy" => request.body = Some(Arc::new(json!({ "propagationPolicy": value }))),
            "orphanDependents" => {
                request.body = Some(Arc::new(json!({ "orphanDependents": value == "true" })));
            }
            _ => return false,
        }
    }
    true
}

/// Makes answers comparable as the recording tool does: UIDs and versions by first appearance, times by name.
#[derive(Default)]
struct Normal {
    keep: bool,
    uids: Vec<String>,
    versions: Vec<String>,
}

const TIMES: &[&str] = &[
    "creationTimestamp",
    "deletionTimestamp",
    "time",
    "lastTransitionTime",
    "lastUpdateTime",
    "startTime",
    "firstTimestamp",
    "lastTimestamp",
    "eventTime",
    "renewTime",
    "acquireTime",
];

fn number(seen: &mut Vec<String>, value: &str, kind: &str) -> String {
    let at = seen.iter().position(|s| s == value).unwrap_or_else(|| {
        seen.push(value.to_owned());
        seen.len() - 1
    });
    format!("<{kind}:{}>", at + 1)
}

impl Normal {
    fn walk(&mut self, value: &Value, key: &str, in_list: bool) -> Value {
        match value {
            Value::Object(object) => self.object(object, key, in_list),
            Value::Array(items) => items.iter().map(|i| self.walk(i, key, false)).collect(),
            Value::String(text) => json!(self.text(text)),
            other => other.clone(),
        }
    }

    fn object(&mut self, object: &Map<String, Value>, key: &str, list_metadata: bool) -> Value {
        let is_list = object.get("items").is_some_and(Value::is_array);
        let mut out = Map::new();
        for (name, value) in ordered(object) {
            let new = match (name.as_str(), value) {
                ("managedFields", _) if !self.keep => continue,
                ("metadata", value) if is_list => self.walk(value, name, true),
                ("resourceVersion", Value::String(text)) if list_metadata && !text.is_empty() => {
                    json!("<rv>")
                }
                ("resourceVersion", Value::String(text)) if !matches!(text.as_str(), "" | "0") => {
                    json!(number(&mut self.versions, text, "rv"))
                }
                (name, Value::String(_)) if TIMES.contains(&name) => json!("<time>"),
                ("clusterIP", Value::String(text)) if !matches!(text.as_str(), "" | "None") => json!("<ip>"),
                ("clusterIPs", Value::Array(list)) if *list != [json!("None")] => {
                    list.iter().map(|_| json!("<ip>")).collect()
                }
                ("nodePort" | "healthCheckNodePort", Value::Number(_)) => json!("<port>"),
                (_, value) => self.walk(value, name, false),
            };
            out.insert(name.clone(), new);
        }
        if key == "metadata"
            && let (Some(prefix), Some(name)) = (object.get("generateName"), object.get("name"))
            && name.as_str().is_some_and(|n| n.starts_with(prefix.as_str().unwrap_or("")))
        {
            out.insert("name".to_owned(), json!(format!("{}<rand>", prefix.as_str().unwrap_or(""))));
        }
        Value::Object(out)
    }

    fn text(&mut self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = find_uid(rest) {
            out.push_str(&rest[..at]);
            out.push_str(&number(&mut self.uids, &rest[at..at + 36], "uid"));
            rest = &rest[at + 36..];
        }
        versions(&(out + rest))
    }
}

/// The order in which the recorder meets members: the server's own, where it decides the numbering.
fn ordered(object: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let first = ["kind", "apiVersion", "metadata", "name", "namespace", "uid", "resourceVersion"];
    let rank = |k: &str| first.iter().position(|f| *f == k).unwrap_or(first.len());
    let mut members: Vec<_> = object.iter().collect();
    members.sort_by_key(|(k, _)| rank(k));
    members
}

fn find_uid(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    (0..bytes.len().checked_sub(35)?).find(|at| {
        bytes[*at..*at + 36].iter().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => *b == b'-',
            _ => b.is_ascii_digit() || (b'a'..=b'f').contains(b),
        })
    })
}

fn versions(text: &str) -> String {
    let mut out = text.to_owned();
    for (before, after) in
        [("ResourceVersion in the precondition (", ")"), ("ResourceVersion in record (", ")")]
    {
        if let Some(start) = out.find(before).map(|at| at + before.len())
            && let Some(end) = out[start..].find(after)
        {
            out.replace_range(start..start + end, "<rv>");
        }
    }
    out
}

/// A dotted path of the recordings, e.g. `a.b[k=v].c`, `a.b[0]`, `a.@keys`.
fn at_path(value: &Value, path: &str) -> Option<Value> {
    let mut at = value.clone();
    for part in path.replace('[', ".[").split('.').filter(|p| !p.is_empty()) {
        at = if let Some(inner) = part.strip_prefix('[').and_then(|p| p.strip_suffix(']')) {
            match inner.split_once('=') {
                Some((k, v)) => at.as_array()?.iter().find(|x| plain(&x[k]) == v)?.clone(),
                None => at.get(inner.parse::<usize>().ok()?)?.clone(),
            }
        } else if part == "@keys" {
            let mut keys: Vec<&String> = at.as_object()?.keys().collect();
            keys.sort();
            json!(keys)
        } else if part == "@len" {
            json!(at.as_array().map(Vec::len).or_else(|| at.as_object().map(Map::len))?)
        } else {
            at.get(part.replace("~1", "."))?.clone()
        };
    }
    Some(at)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn drop_path(value: &mut Value, path: &str) {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    match (first, value) {
        ("*", Value::Array(items)) => items.iter_mut().for_each(|i| drop_path(i, rest)),
        ("*", Value::Object(object)) => object.values_mut().for_each(|v| drop_path(v, rest)),
        (_, Value::Object(object)) if rest.is_empty() => {
            object.remove(first);
        }
        (_, value) => {
            if let Some(inner) = value.get_mut(first) {
                drop_path(inner, rest);
            }
        }
    }
}
