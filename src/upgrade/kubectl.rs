//! What people do between Helm's commands: apply, annotate, label, patch, delete, as kubectl asks for it.
//!
//! Source: k8s.io/kubectl, `pkg/cmd/{apply,annotate,label,patch,delete}`.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::cluster::{ApiResource, PatchType, Propagation};
use crate::finding::ObjectName;
use crate::k8s::{self, Gvk};
use crate::upgrade::actors::Terminal;
use crate::upgrade::actors::helm::{is_typed, strategic_three_way, three_way_merge};
use crate::upgrade::link::{Address, Fault, Link};

/// Annotation in which client-side apply remembers what it applied last.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// How objects are applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Apply {
    /// `--server-side`.
    pub server_side: bool,
    /// `--force-conflicts`.
    pub force_conflicts: bool,
}

/// A part of metadata that holds strings by key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// `kubectl annotate`.
    Annotations,
    /// `kubectl label`.
    Labels,
}

/// One kubectl run: what it prints, and whether anything failed.
pub struct Kubectl<'k, 'c> {
    link: &'k mut Link<'c>,
    terminal: Terminal,
}

impl<'k, 'c> Kubectl<'k, 'c> {
    /// A run over a line to the server.
    pub fn new(link: &'k mut Link<'c>) -> Self {
        Self { link, terminal: Terminal::default() }
    }

    /// What is on the terminal at the end.
    #[must_use]
    pub fn finish(self) -> Terminal {
        self.terminal
    }

    /// `kubectl apply` of objects in their order; namespaced ones without a namespace go to `namespace`.
    pub fn apply(&mut self, objects: &[Arc<Value>], namespace: &str, how: Apply) {
        self.link.manager(if how.server_side { "kubectl" } else { "kubectl-client-side-apply" });
        for object in objects {
            let Some((address, api)) = self.address_of(object, namespace) else { continue };
            let object = placed(object, &address);
            let result = if how.server_side {
                self.link.apply(&address, object, how.force_conflicts).map(|_| "serverside-applied")
            } else {
                self.apply_client_side(&address, &object)
            };
            self.told(&api, &address.name, result);
        }
    }

    fn apply_client_side(&mut self, address: &Address, object: &Arc<Value>) -> Result<&'static str, Fault> {
        let annotated = with_last_applied(object);
        let live = match self.link.get(address) {
            Ok(live) => live,
            Err(fault) if fault.not_found() => {
                return self.link.create(address, Arc::new(annotated)).map(|_| "created");
            }
            Err(fault) => return Err(fault),
        };
        let original = k8s::annotation(&live, LAST_APPLIED)
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or(Value::Null);
        let gvk = Gvk::of(object);
        let (kind, patch) = if is_typed(&gvk) {
            (PatchType::Strategic, strategic_three_way(&original, &annotated, &live, &gvk.kind))
        } else {
            (PatchType::Merge, three_way_merge(&original, &annotated, &live))
        };
        if patch.as_object().is_some_and(Map::is_empty) {
            return Ok("unchanged");
        }
        self.link.patch(address, kind, patch).map(|_| "configured")
    }

    /// `kubectl annotate` or `label` with `--overwrite`; a `None` removes the key.
    pub fn tag(&mut self, names: &[ObjectName], tag: Tag, values: &[(String, Option<String>)]) {
        let (part, manager, word) = match tag {
            Tag::Annotations => ("annotations", "kubectl-annotate", "annotated"),
            Tag::Labels => ("labels", "kubectl-label", "labeled"),
        };
        let entries: Map<String, Value> =
            values.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
        self.link.manager(manager);
        for name in names {
            let Some((address, api)) = self.address(name) else { continue };
            let patch = json!({"metadata": {part: entries}});
            let result = self.link.patch(&address, PatchType::Merge, patch).map(|_| word);
            self.told(&api, &address.name, result);
        }
    }

    /// `kubectl patch`.
    pub fn patch(&mut self, name: &ObjectName, kind: PatchType, patch: Value) {
        self.link.manager("kubectl-patch");
        let Some((address, api)) = self.address(name) else { return };
        let result = self.link.patch(&address, kind, patch).map(|_| "patched");
        self.told(&api, &address.name, result);
    }

    /// `kubectl delete`.
    pub fn delete(&mut self, names: &[ObjectName], propagation: Propagation) {
        for name in names {
            let Some((address, api)) = self.address(name) else { continue };
            let result = self.link.delete(&address, propagation);
            match result {
                Ok(_) => self.say(&format!("{} \"{}\" deleted", full_name(&api), address.name)),
                Err(fault) => self.fail(&fault),
            }
        }
    }

    fn told(&mut self, api: &ApiResource, name: &str, result: Result<&'static str, Fault>) {
        match result {
            Ok(word) => self.say(&format!("{}/{name} {word}", full_name(api))),
            Err(fault) => self.fail(&fault),
        }
    }

    fn say(&mut self, line: &str) {
        self.terminal.stdout.push_str(line);
        self.terminal.stdout.push('\n');
    }

    fn fail(&mut self, fault: &Fault) {
        let text = match fault.reason.as_str() {
            "" => format!("error: {}\n", fault.text),
            "Invalid" => format!("The {}\n", fault.text),
            reason => format!("Error from server ({reason}): {}\n", fault.text),
        };
        self.terminal.stderr.push_str(&text);
        self.terminal.exit_code = 1;
    }

    fn address_of(&mut self, object: &Value, namespace: &str) -> Option<(Address, ApiResource)> {
        let gvk = Gvk::of(object);
        let mut name = k8s::object_name(object);
        if name.namespace.is_empty() {
            namespace.clone_into(&mut name.namespace);
        }
        let fits = |api: &ApiResource| {
            api.kind == gvk.kind && api.resource.group == gvk.group && api.resource.version == gvk.version
        };
        let missing = format!("no matches for kind \"{}\" in version \"{}\"", gvk.kind, gvk.api_version());
        self.find(&name, fits, &missing)
    }

    fn address(&mut self, name: &ObjectName) -> Option<(Address, ApiResource)> {
        let missing = format!("the server doesn't have a resource type \"{}\"", name.kind);
        self.find(name, |api| api.kind == name.kind, &missing)
    }

    fn find(
        &mut self,
        name: &ObjectName,
        fits: impl Fn(&ApiResource) -> bool,
        missing: &str,
    ) -> Option<(Address, ApiResource)> {
        let found = match self.link.discover() {
            Ok(served) => served.iter().find(|api| !api.resource.plural.contains('/') && fits(api)).cloned(),
            Err(fault) => {
                self.fail(&fault);
                return None;
            }
        };
        let Some(api) = found else {
            self.terminal.stderr.push_str(&format!("error: {missing}\n"));
            self.terminal.exit_code = 1;
            return None;
        };
        let namespace = if api.namespaced { name.namespace.clone() } else { String::new() };
        Some((Address { resource: api.resource.clone(), namespace, name: name.name.clone() }, api))
    }
}

/// `kind.group` in lower case, as kubectl names what it changed.
fn full_name(api: &ApiResource) -> String {
    let kind = api.kind.to_lowercase();
    if api.resource.group.is_empty() { kind } else { format!("{kind}.{}", api.resource.group) }
}

fn placed(object: &Arc<Value>, address: &Address) -> Arc<Value> {
    if address.namespace.is_empty() || !k8s::text(object, "/metadata/namespace").is_empty() {
        return Arc::clone(object);
    }
    let mut copy = Value::clone(object);
    if let Some(metadata) = copy.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("namespace".to_owned(), Value::from(address.namespace.as_str()));
    }
    Arc::new(copy)
}

/// The object with itself, as compact JSON, in the annotation of client-side apply.
fn with_last_applied(object: &Value) -> Value {
    let mut copy = object.clone();
    let metadata = copy.get_mut("metadata").and_then(Value::as_object_mut);
    let annotations = metadata.map(|metadata| metadata.entry("annotations").or_insert_with(|| json!({})));
    let Some(Value::Object(annotations)) = annotations else { return copy };
    annotations.remove(LAST_APPLIED);
    let text = format!("{copy}\n");
    if let Some(Value::Object(annotations)) = copy.pointer_mut("/metadata/annotations") {
        annotations.insert(LAST_APPLIED.to_owned(), Value::from(text));
    }
    copy
}
