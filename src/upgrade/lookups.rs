//! What templates learn from the cluster: answers to `lookup`, asked for by a render and remembered for the next one.
//!
//! A render can't reach the cluster by itself, so what it asked for and nobody knew is fetched, and it is made again.
//! Source: Helm v4.3.1, `pkg/engine/lookup_func.go`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::chart::{Chart, Values};
use crate::cluster::ApiResource;
use crate::k8s::{self, Gvk, catalogue, text};
use crate::render::host::{Answers, Offline};
use crate::render::{Manifest, Options, Render};
use crate::upgrade::actors::Renderer;
use crate::upgrade::fate::Snapshot;
use crate::upgrade::link::{Address, Fault, Link};

/// Renders that one chart may take: each may ask for what the answers of the one before made it ask for.
const ROUNDS: usize = 16;

/// What a template asks for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Query {
    api_version: String,
    kind: String,
    namespace: String,
    name: String,
}

/// An object, a list, or an empty map; or the refusal.
type Found = Result<Value, String>;

fn nothing() -> Found {
    Ok(Value::Object(Map::new()))
}

/// Answers that are known, and questions that were open.
#[derive(Debug, Default)]
struct Ledger {
    known: BTreeMap<Query, Found>,
    open: Mutex<BTreeSet<Query>>,
}

impl Ledger {
    fn open(&self) -> BTreeSet<Query> {
        std::mem::take(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Answers for Ledger {
    fn now(&self) -> i128 {
        Offline::default().now()
    }

    fn random(&self, position: u64, buffer: &mut [u8]) {
        Offline::default().random(position, buffer);
    }

    fn lookup(&self, api_version: &str, kind: &str, namespace: &str, name: &str) -> Found {
        let [api_version, kind, namespace, name] = [api_version, kind, namespace, name].map(str::to_owned);
        let query = Query { api_version, kind, namespace, name };
        self.known.get(&query).cloned().unwrap_or_else(|| {
            self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(query);
            nothing()
        })
    }
}

/// Renders with answers of the cluster behind a line.
///
/// # Errors
/// Those of [`Renderer::render`].
pub(super) fn render(
    link: &mut Link<'_>,
    renderer: &dyn Renderer,
    (chart, config): (&Arc<Chart>, &Arc<Values>),
    options: &Options,
) -> Result<Arc<Render>, String> {
    let mut known = BTreeMap::new();
    for _ in 0..ROUNDS {
        let ledger = Arc::new(Ledger { known: std::mem::take(&mut known), open: Mutex::default() });
        let answers = Arc::clone(&ledger) as Arc<dyn Answers>;
        let result = renderer.render(chart, config, &Options { answers, ..options.clone() });
        let open = ledger.open();
        if open.is_empty() {
            return result;
        }
        known.clone_from(&ledger.known);
        known.extend(open.into_iter().map(|query| {
            let found = fetch(link, &query);
            (query, found)
        }));
    }
    Err(format!("templates look up other objects in each of {ROUNDS} renders"))
}

fn fetch(link: &mut Link<'_>, query: &Query) -> Found {
    let served = link.discover().map_err(|fault| fault.text)?;
    let (group, version) = k8s::split_api_version(&query.api_version);
    let of_version =
        || served.iter().filter(|api| api.resource.group == group && api.resource.version == version);
    if of_version().next().is_none() {
        return Err(format!(
            "unable to get apiresource from unstructured: {group}/{version}, Kind={}: the server could not find the requested resource",
            query.kind
        ));
    }
    match of_version().find(|api| api.kind == query.kind && !api.resource.plural.contains('/')) {
        Some(api) => ask(link, api, query),
        None => nothing(),
    }
}

fn ask(link: &mut Link<'_>, api: &ApiResource, query: &Query) -> Found {
    let namespace = if api.namespaced { query.namespace.clone() } else { String::new() };
    let found = if query.name.is_empty() {
        link.collection(&api.resource, &namespace, "").map(|list| typed(&list))
    } else if api.namespaced && namespace.is_empty() {
        return nothing();
    } else {
        let address = Address { resource: api.resource.clone(), namespace, name: query.name.clone() };
        link.get(&address).map(|object| Value::clone(&object))
    };
    found.or_else(|fault: Fault| if fault.not_found() { nothing() } else { Err(fault.text) })
}

/// Items of lists of built-in kinds come without kind and version; clients add them.
fn typed(list: &Value) -> Value {
    let mut list = list.clone();
    let kind = text(&list, "/kind").trim_end_matches("List").to_owned();
    let version = text(&list, "/apiVersion").to_owned();
    let items = list.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten();
    for item in items.filter_map(Value::as_object_mut) {
        item.entry("kind").or_insert_with(|| Value::from(kind.as_str()));
        item.entry("apiVersion").or_insert_with(|| Value::from(version.as_str()));
    }
    list
}

/// Answers from objects at hand, for renders beside a rehearsal or without one.
#[derive(Debug)]
struct Seen(Vec<Arc<Value>>);

impl Seen {
    /// Whether a cluster with these objects serves a kind: a built-in one, one of theirs, or one that they define.
    fn serves(&self, group: &str, kind: &str) -> bool {
        let is_defined = |object: &Value| {
            text(object, "/kind") == "CustomResourceDefinition"
                && text(object, "/spec/group") == group
                && text(object, "/spec/names/kind") == kind
        };
        catalogue::by_kind(group, kind).is_some()
            || self.0.iter().any(|object| is(object, group, kind) || is_defined(object))
    }
}

fn is(object: &Value, group: &str, kind: &str) -> bool {
    let gvk = Gvk::of(object);
    gvk.group == group && gvk.kind == kind
}

/// Answers `lookup` from a look at a cluster.
#[must_use]
pub fn seen(snapshot: &Snapshot) -> Arc<dyn Answers> {
    among(snapshot.objects().cloned().collect())
}

/// Answers `lookup` from objects.
#[must_use]
pub fn among(objects: Vec<Arc<Value>>) -> Arc<dyn Answers> {
    Arc::new(Seen(objects))
}

/// The same answers at another time, and with other luck.
#[derive(Debug)]
struct Later {
    inner: Arc<dyn Answers>,
    machine: Offline,
}

/// Answers as somebody else does, but at another time and with other luck.
#[must_use]
pub(super) fn later(inner: Arc<dyn Answers>, turn: u64) -> Arc<dyn Answers> {
    Arc::new(Later { inner, machine: Offline::at(turn) })
}

impl Answers for Later {
    fn now(&self) -> i128 {
        self.machine.now()
    }

    fn random(&self, position: u64, buffer: &mut [u8]) {
        self.machine.random(position, buffer);
    }

    fn lookup(&self, api_version: &str, kind: &str, namespace: &str, name: &str) -> Found {
        self.inner.lookup(api_version, kind, namespace, name)
    }
}

/// Answers `lookup` where a release is installed among other objects.
#[must_use]
pub fn installed(state: &[Arc<Value>], release: &Render) -> Arc<dyn Answers> {
    let own = release.manifests.iter().flat_map(Manifest::objects).map(|object| stored(&object));
    // Of two of the same name the one that really lives is found first.
    among(state.iter().cloned().chain(own).collect())
}

/// A Secret as the server keeps it; everything else as it is.
fn stored(object: &Arc<Value>) -> Arc<Value> {
    let mut stored = Value::clone(object);
    let map = stored.as_object_mut().filter(|_| text(object, "/kind") == "Secret");
    let Some((map, Value::Object(plain))) =
        map.and_then(|map| map.remove("stringData").map(|plain| (map, plain)))
    else {
        return Arc::clone(object);
    };
    let mut data = map.get("data").and_then(Value::as_object).cloned().unwrap_or_default();
    let texts = plain.iter().filter_map(|(key, value)| Some((key.clone(), STANDARD.encode(value.as_str()?))));
    data.extend(texts.map(|(key, value)| (key, Value::from(value))));
    map.insert("data".to_owned(), Value::Object(data));
    Arc::new(stored)
}

impl Answers for Seen {
    fn now(&self) -> i128 {
        Offline::default().now()
    }

    fn random(&self, position: u64, buffer: &mut [u8]) {
        Offline::default().random(position, buffer);
    }

    fn lookup(&self, api_version: &str, kind: &str, namespace: &str, name: &str) -> Found {
        let (group, _) = k8s::split_api_version(api_version);
        let lives = |object: &&Arc<Value>| {
            let own = text(object, "/metadata/namespace");
            own.is_empty() || own == namespace || namespace.is_empty() && name.is_empty()
        };
        let mut found = self.0.iter().filter(|object| is(object, group, kind)).filter(lives);
        if name.is_empty() {
            let mut items: Vec<&Value> = found.map(AsRef::as_ref).collect();
            if items.is_empty() && !self.serves(group, kind) {
                return nothing();
            }
            // As a server lists them.
            items.sort_by_key(|item| (text(item, "/metadata/namespace"), text(item, "/metadata/name")));
            return Ok(
                json!({"apiVersion": api_version, "kind": format!("{kind}List"), "metadata": {}, "items": items}),
            );
        }
        found
            .find(|object| text(object, "/metadata/name") == name)
            .map_or_else(nothing, |o| Ok(Value::clone(o)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(kind: &str, namespace: &str, name: &str) -> Arc<Value> {
        Arc::new(
            json!({"apiVersion": "v1", "kind": kind, "metadata": {"namespace": namespace, "name": name}}),
        )
    }

    #[test]
    fn objects_at_hand_answer_as_the_cluster_does() {
        let all = vec![object("Secret", "a", "x"), object("Secret", "b", "x"), object("Namespace", "", "a")];
        let answers = among(all);
        let found =
            |kind: &str, namespace: &str, name: &str| answers.lookup("v1", kind, namespace, name).unwrap();
        assert_eq!(found("Secret", "b", "x")["metadata"]["namespace"], "b");
        assert_eq!(found("Secret", "", "x"), json!({}));
        assert_eq!(found("Secret", "c", "x"), json!({}));
        assert_eq!(found("Namespace", "any", "a")["kind"], "Namespace");
        assert_eq!(found("Secret", "", "")["items"].as_array().unwrap().len(), 2);
        assert_eq!(found("Secret", "a", "")["items"].as_array().unwrap().len(), 1);
        // Nothing of a kind that is served is an empty list, a kind that nobody serves is nothing.
        assert_eq!(found("ConfigMap", "a", "")["kind"], "ConfigMapList");
        assert_eq!(found("Widget", "a", ""), json!({}));
    }

    #[test]
    fn lists_come_in_the_order_of_a_server() {
        let all = [("b", "x"), ("a", "z"), ("a", "y")];
        let answers = among(all.iter().map(|(namespace, name)| object("Secret", namespace, name)).collect());
        let list = answers.lookup("v1", "Secret", "", "").unwrap();
        let names = list["items"].as_array().unwrap().iter().map(|item| text(item, "/metadata/name"));
        assert_eq!(names.collect::<String>(), "yzx");
    }

    #[test]
    fn what_nobody_knows_is_asked_for() {
        let ledger = Ledger::default();
        assert_eq!(ledger.lookup("v1", "Secret", "a", "x"), nothing());
        assert_eq!(ledger.open().len(), 1);
        assert!(ledger.open().is_empty());
    }
}
