//! What people do between Helm's commands: apply, create, annotate, label, patch, delete, as kubectl asks for it.
//!
//! Source: k8s.io/kubectl v0.34.3, `pkg/cmd/{apply,create,annotate,label,patch,delete}`.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::cluster::{ApiResource, PatchType, Propagation};
use crate::finding::ObjectName;
use crate::k8s::{self, Gvk};
use crate::schema::go_json;
use crate::upgrade::actors::Terminal;
use crate::upgrade::actors::helm::{is_typed, strategic_three_way, three_way_merge};
use crate::upgrade::link::{Address, Fault, Link};

mod errors;

/// Annotation in which client-side apply remembers what it applied last.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// How objects are applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Apply {
    /// `--server-side`.
    pub server_side: bool,
    /// `--force-conflicts`.
    pub force_conflicts: bool,
    /// `--validate=ignore`: fields that the schema does not know are dropped; client-side apply only.
    pub lenient: bool,
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
    /// What went wrong, told at the end.
    faults: Vec<Fault>,
    /// How many of the server's warnings are on the terminal.
    warned: usize,
}

impl<'k, 'c> Kubectl<'k, 'c> {
    /// A run over a line to the server.
    pub fn new(link: &'k mut Link<'c>) -> Self {
        Self { link, terminal: Terminal::default(), faults: Vec::new(), warned: 0 }
    }

    /// What is on the terminal at the end.
    #[must_use]
    pub fn finish(mut self) -> Terminal {
        self.terminal.stderr.push_str(&errors::told(&self.faults));
        self.terminal.exit_code = i32::from(!self.faults.is_empty());
        self.terminal
    }

    /// `kubectl apply` of objects in their order; namespaced ones without a namespace go to `namespace`.
    pub fn apply(&mut self, objects: &[Arc<Value>], namespace: &str, how: Apply) {
        self.link.manager(if how.server_side { "kubectl" } else { "kubectl-client-side-apply" });
        self.link.validates(if how.lenient { "Ignore" } else { "Strict" });
        for (object, address, api) in self.placed(objects, namespace) {
            let result = if how.server_side {
                let applied = self.link.apply(&address, object, how.force_conflicts);
                applied.map(|_| "serverside-applied").map_err(errors::reviewed)
            } else {
                self.apply_client_side(&address, &api, &object)
            };
            self.told(&api, &address.name, result);
        }
    }

    /// `kubectl create` of objects in their order.
    pub fn create(&mut self, objects: &[Arc<Value>], namespace: &str) {
        self.link.manager("kubectl-create");
        self.link.validates("Strict");
        for (object, address, api) in self.placed(objects, namespace) {
            let created = self.link.create(&address, object);
            let result = created.map(|_| "created").map_err(|fault| errors::when("creating", fault));
            self.told(&api, &address.name, result);
        }
    }

    /// Where each object goes; those that go nowhere are told about. All are looked up before the first is sent.
    fn placed(&mut self, objects: &[Arc<Value>], namespace: &str) -> Vec<(Arc<Value>, Address, ApiResource)> {
        let found = objects.iter().filter_map(|object| {
            let (address, api) = self.address_of(object, namespace)?;
            Some((placed(object, &address), address, api))
        });
        found.collect()
    }

    fn apply_client_side(
        &mut self,
        address: &Address,
        api: &ApiResource,
        object: &Arc<Value>,
    ) -> Result<&'static str, Fault> {
        let annotated = with_last_applied(object);
        let gvk = Gvk::of(object);
        let live = match self.link.get(address) {
            Ok(live) => live,
            Err(fault) if fault.not_found() => {
                let created = self.link.create(address, Arc::new(annotated));
                return created.map(|_| "created").map_err(|fault| errors::when("creating", fault));
            }
            Err(fault) => {
                let object = errors::described(address, &gvk);
                let verb = format!("retrieving current configuration of:\n{object}\nfrom server for:");
                return Err(errors::when(&verb, fault));
            }
        };
        let original = k8s::annotation(&live, LAST_APPLIED);
        if original.is_none() {
            let warning = errors::unknown_origin(api, &address.name, LAST_APPLIED);
            self.terminal.stderr.push_str(&warning);
        }
        let original = original.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null);
        let (kind, patch) = if is_typed(&gvk) {
            (PatchType::Strategic, strategic_three_way(&original, &annotated, &live, &gvk.kind))
        } else {
            (PatchType::Merge, three_way_merge(&original, &annotated, &live))
        };
        if patch.as_object().is_some_and(Map::is_empty) {
            return Ok("unchanged");
        }
        let patched = self.link.patch(address, kind, patch.clone());
        patched.map(|_| "configured").map_err(|fault| errors::when_patching(&patch, address, &gvk, fault))
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

    /// `kubectl patch`, of the object itself or of a subresource.
    pub fn patch(&mut self, name: &ObjectName, subresource: &str, kind: PatchType, patch: &Value) {
        self.link.manager("kubectl-patch");
        let Some((address, api)) = self.address(name) else { return };
        let result = self.link.patch_on(&address, subresource, kind, patch.clone()).map(|_| "patched");
        self.told(&api, &address.name, result);
    }

    /// `kubectl delete`.
    pub fn delete(&mut self, names: &[ObjectName], propagation: Propagation) {
        for name in names {
            let Some((address, api)) = self.address(name) else { continue };
            let result = self.link.delete(&address, propagation);
            match result {
                Ok(_) if address.namespace.is_empty() => {
                    self.say(&format!("{} \"{}\" deleted", full_name(&api), address.name));
                }
                Ok(_) => {
                    let (name, namespace) = (&address.name, &address.namespace);
                    self.say(&format!("{} \"{name}\" deleted from {namespace} namespace", full_name(&api)));
                }
                Err(fault) => self.fail(fault),
            }
        }
    }

    fn told(&mut self, api: &ApiResource, name: &str, result: Result<&'static str, Fault>) {
        self.warn();
        match result {
            Ok(word) => self.say(&format!("{}/{name} {word}", full_name(api))),
            Err(fault) => self.fail(fault),
        }
    }

    fn say(&mut self, line: &str) {
        self.terminal.stdout.push_str(line);
        self.terminal.stdout.push('\n');
    }

    fn fail(&mut self, fault: Fault) {
        self.faults.push(fault);
    }

    /// The server's warnings go to the terminal as they come, ahead of all errors.
    fn warn(&mut self) {
        for warning in self.link.warnings.iter().skip(self.warned) {
            self.terminal.stderr.push_str(&format!("Warning: {warning}\n"));
        }
        self.warned = self.link.warnings.len();
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
        let missing = format!(
            "resource mapping not found for name: \"{}\" namespace: \"{}\" from \"STDIN\": no matches for kind \"{}\" in \
             version \"{}\"\nensure CRDs are installed first",
            name.name,
            k8s::text(object, "/metadata/namespace"),
            gvk.kind,
            gvk.api_version()
        );
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
                self.fail(fault);
                return None;
            }
        };
        let Some(api) = found else {
            self.fail(Fault::of_client(missing));
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
    let text = format!("{}\n", go_json(&copy));
    if let Some(Value::Object(annotations)) = copy.pointer_mut("/metadata/annotations") {
        annotations.insert(LAST_APPLIED.to_owned(), Value::from(text));
    }
    copy
}
