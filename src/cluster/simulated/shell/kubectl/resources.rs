//! Names of resources and objects on kubectl's command line.

use serde_json::Value;

use super::{Flow, Kubectl, Named, Stop};
use crate::cluster::{ApiResource, Request};
use crate::k8s::{Gvk, text};

/// Short names of built-in resources.
const SHORT: &[(&str, &str)] = &[
    ("cj", "cronjobs"),
    ("cm", "configmaps"),
    ("crd", "customresourcedefinitions"),
    ("crds", "customresourcedefinitions"),
    ("deploy", "deployments"),
    ("ds", "daemonsets"),
    ("ep", "endpoints"),
    ("ev", "events"),
    ("hpa", "horizontalpodautoscalers"),
    ("ing", "ingresses"),
    ("limits", "limitranges"),
    ("netpol", "networkpolicies"),
    ("no", "nodes"),
    ("ns", "namespaces"),
    ("pc", "priorityclasses"),
    ("pdb", "poddisruptionbudgets"),
    ("po", "pods"),
    ("pv", "persistentvolumes"),
    ("pvc", "persistentvolumeclaims"),
    ("quota", "resourcequotas"),
    ("rc", "replicationcontrollers"),
    ("rs", "replicasets"),
    ("sa", "serviceaccounts"),
    ("sc", "storageclasses"),
    ("sts", "statefulsets"),
    ("svc", "services"),
];

/// The most objects that one call may name.
const OBJECTS: usize = 10_000;

impl Kubectl<'_, '_> {
    /// The resource of a name: plural, singular, kind or short name, with or without version and group.
    pub(super) fn resource(&mut self, name: &str) -> Option<ApiResource> {
        let lower = name.to_lowercase();
        let (first, qualifier) = lower.split_once('.').unwrap_or((&lower, ""));
        let mut plural =
            SHORT.iter().find(|(short, _)| *short == first).map_or(first, |(_, plural)| plural).to_owned();
        let mut group = None;
        if let Some((alias_group, alias_plural)) = self.shell.host.alias(first) {
            group = Some(alias_group);
            plural = alias_plural;
        }
        self.resources
            .iter()
            .find(|r| {
                (r.resource.plural == plural || r.kind.to_lowercase() == plural)
                    && group.as_ref().is_none_or(|g| *g == r.resource.group)
                    && qualified(r, qualifier)
            })
            .cloned()
    }

    /// The resource that serves an object.
    pub(super) fn resource_of(&self, object: &Value) -> Option<ApiResource> {
        let gvk = Gvk::of(object);
        let served = |r: &&ApiResource| {
            r.kind == gvk.kind && r.resource.group == gvk.group && r.resource.version == gvk.version
        };
        self.resources.iter().find(served).cloned()
    }

    /// The name of an object that a manifest describes; the error is the status of the call.
    pub(super) fn named(&mut self, object: &Value, source: &str) -> Result<Named, i32> {
        let Some(resource) = self.resource_of(object) else {
            let gvk = Gvk::of(object);
            let line = format!(
                "error: resource mapping not found for name: \"{}\" namespace: \"{}\" from \"{source}\": no matches for \
                 kind \"{}\" in version \"{}\"\nensure CRDs are installed first",
                text(object, "/metadata/name"),
                text(object, "/metadata/namespace"),
                gvk.kind,
                gvk.api_version(),
            );
            return Err(self.fail(&line));
        };
        let own = text(object, "/metadata/namespace");
        let namespace = match (resource.namespaced, own) {
            (false, _) => String::new(),
            (true, "") => self.namespace(),
            (true, own) => own.to_owned(),
        };
        Ok(Named { resource, namespace, name: text(object, "/metadata/name").to_owned() })
    }

    fn unknown_resource(&mut self, name: &str) -> i32 {
        self.fail(&format!("error: the server doesn't have a resource type \"{name}\""))
    }

    /// The objects that operands name: `type name…`, `type/name…`; the inner error is the status of the call.
    pub(super) fn operands(&mut self, operands: &[String]) -> Result<Vec<Named>, i32> {
        let mut found = Vec::new();
        if operands.iter().any(|o| o.contains('/')) {
            for operand in operands {
                let (kind, name) = operand.split_once('/').unwrap_or((operand, ""));
                found.push(self.one(kind, name)?);
            }
            return Ok(found);
        }
        let Some((kinds, names)) = operands.split_first() else { return Ok(found) };
        for kind in kinds.split(',') {
            for name in names {
                found.push(self.one(kind, name)?);
            }
        }
        Ok(found)
    }

    fn one(&mut self, kind: &str, name: &str) -> Result<Named, i32> {
        let Some(resource) = self.resource(kind) else { return Err(self.unknown_resource(kind)) };
        let namespace = if resource.namespaced { self.namespace() } else { String::new() };
        Ok(Named { resource, namespace, name: name.to_owned() })
    }

    /// The objects of collections, by `--selector` and `--field-selector` (on the name alone); the inner error is the
    /// status of the call.
    pub(super) fn collection(&mut self, kinds: &str) -> Flow<Result<Vec<(Named, Value)>, i32>> {
        let mut found = Vec::new();
        let everywhere = self.arguments.on("all-namespaces");
        let fields = self.arguments.value("field-selector").unwrap_or("").to_owned();
        for kind in kinds.split(',') {
            let Some(resource) = self.resource(kind) else { return Ok(Err(self.unknown_resource(kind))) };
            let namespace = if resource.namespaced && !everywhere { self.namespace() } else { String::new() };
            let mut request = Request::list(&resource.resource, &namespace);
            request.label_selector = self.arguments.value("selector").unwrap_or("").to_owned();
            let response = self.send(request)?;
            if !response.ok() {
                return Ok(Err(self.refused(&response)));
            }
            for object in
                response.body.get("items").and_then(Value::as_array).into_iter().flatten().take(OBJECTS)
            {
                if !selected(object, &fields)
                    .ok_or_else(|| Stop::Unknown(format!("field selector `{fields}`")))?
                {
                    continue;
                }
                let namespace = text(object, "/metadata/namespace").to_owned();
                let name = text(object, "/metadata/name").to_owned();
                let mut object = object.clone();
                identify(&mut object, &resource);
                found.push((Named { resource: resource.clone(), namespace, name }, object));
            }
        }
        Ok(Ok(found))
    }
}

/// Items of lists may come without their type.
fn identify(object: &mut Value, resource: &ApiResource) {
    let Some(map) = object.as_object_mut() else { return };
    let gvk = Gvk {
        group: resource.resource.group.clone(),
        version: resource.resource.version.clone(),
        kind: resource.kind.clone(),
    };
    map.entry("apiVersion").or_insert_with(|| gvk.api_version().into());
    map.entry("kind").or_insert_with(|| gvk.kind.into());
}

/// Whether `version.group` or `group` fits.
fn qualified(resource: &ApiResource, qualifier: &str) -> bool {
    let resource = &resource.resource;
    qualifier.is_empty()
        || qualifier == resource.group
        || qualifier.split_once('.').is_some_and(|(v, g)| v == resource.version && g == resource.group)
        || qualifier == resource.version && resource.group.is_empty()
}

/// Whether an object fulfils a field selector; `None` when the selector asks for more than plain fields.
fn selected(object: &Value, selector: &str) -> Option<bool> {
    for requirement in selector.split(',').filter(|r| !r.is_empty()) {
        let (path, value, wanted) = match requirement.split_once("!=") {
            Some((path, value)) => (path, value, false),
            None => {
                let (path, value) = requirement.split_once('=')?;
                (path, value.trim_start_matches('='), true)
            }
        };
        let pointer = format!("/{}", path.trim().replace('.', "/"));
        if (text(object, &pointer) == value) != wanted {
            return Some(false);
        }
    }
    Some(true)
}
