//! `kubectl label`, `annotate`, `patch` and `scale`.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Flow, Kubectl, Named, manifests};
use crate::cluster::{PatchType, Request};

/// `kubectl label`
pub(super) fn label(kubectl: &mut Kubectl<'_, '_>) -> Flow {
    kubectl.metadata("labels", "kubectl-label", ["labeled", "unlabeled", "not labeled"])
}

/// `kubectl annotate`
pub(super) fn annotate(kubectl: &mut Kubectl<'_, '_>) -> Flow {
    kubectl.metadata("annotations", "kubectl-annotate", ["annotated", "annotated", "annotated"])
}

/// `kubectl patch`
pub(super) fn patch(kubectl: &mut Kubectl<'_, '_>) -> Flow {
    let text = match kubectl.arguments.value("patch-file").map(str::to_owned) {
        Some(name) => {
            let path = super::super::files::absolute(&kubectl.shell.state.directory, &name);
            kubectl.shell.files.read(&path).unwrap_or("").to_owned()
        }
        None => kubectl.arguments.value("patch").unwrap_or("").to_owned(),
    };
    let patch = match manifests::value(&text) {
        Ok(patch) if !patch.is_null() => Arc::new(patch),
        Ok(_) => {
            return Ok(kubectl
                .fail("error: must specify --patch or --patch-file containing the contents of the patch"));
        }
        Err(message) => return Ok(kubectl.fail(&format!("error: unable to parse \"{text}\": {message}"))),
    };
    let kind = match kubectl.arguments.value("type") {
        Some("json") => PatchType::Json,
        Some("merge") => PatchType::Merge,
        _ => PatchType::Strategic,
    };
    let operands = kubectl.arguments.operands.clone();
    let targets = match kubectl.targets_of(&operands)? {
        Ok(targets) => targets,
        Err(status) => return Ok(status),
    };
    let mut status = 0;
    for (named, _) in targets {
        status = kubectl.patch_one(&named, kind, &patch)?.max(status);
    }
    Ok(status)
}

/// `kubectl scale`
pub(super) fn scale(kubectl: &mut Kubectl<'_, '_>) -> Flow {
    let Some(replicas) = kubectl.arguments.value("replicas").and_then(|r| r.parse::<i64>().ok()) else {
        return Ok(kubectl.fail("error: The --replicas=COUNT flag is required"));
    };
    let operands = kubectl.arguments.operands.clone();
    let targets = match kubectl.targets_of(&operands)? {
        Ok(targets) => targets,
        Err(status) => return Ok(status),
    };
    let patch = Arc::new(json!({"spec": {"replicas": replicas}}));
    let mut status = 0;
    for (named, _) in targets {
        let resource = &named.resource.resource;
        let request =
            Request::patch(resource, &named.namespace, &named.name, PatchType::Merge, patch.clone());
        let response = kubectl.send(request.on("scale").by("kubectl-scale"))?;
        if response.ok() {
            kubectl.report(&named, &response.body, "scaled")?;
        } else {
            status = kubectl.refused(&response);
        }
    }
    Ok(status)
}

impl Kubectl<'_, '_> {
    /// Existing objects by `-f`, by name, or by selector; the inner error is the status of the call.
    pub(super) fn targets_of(&mut self, operands: &[String]) -> Flow<Result<Vec<(Named, Value)>, i32>> {
        let collection = self.arguments.value("selector").is_some() || self.arguments.on("all");
        if let [kinds] = operands
            && collection
        {
            return self.collection(kinds);
        }
        let names: Result<Vec<Named>, i32> = if self.arguments.value("filename").is_some() {
            match self.manifests()? {
                Ok(manifests) => manifests.iter().map(|m| self.named(&m.object, &m.source)).collect(),
                Err(status) => Err(status),
            }
        } else {
            self.operands(operands)
        };
        let names = match names {
            Ok(names) => names,
            Err(status) => return Ok(Err(status)),
        };
        let mut found = Vec::new();
        for named in names {
            let response = self.send(named.get())?;
            if !response.ok() {
                return Ok(Err(self.refused(&response)));
            }
            found.push((named, response.body.as_ref().clone()));
        }
        Ok(Ok(found))
    }

    fn patch_one(&mut self, named: &Named, kind: PatchType, patch: &Arc<Value>) -> Flow {
        if self.client_dry_run() {
            self.report(named, patch, "patched")?;
            return Ok(0);
        }
        let resource = &named.resource.resource;
        let subresource = self.arguments.value("subresource").unwrap_or("").to_owned();
        let request = Request::patch(resource, &named.namespace, &named.name, kind, patch.clone());
        let response = self.send(request.on(&subresource).by("kubectl-patch"))?;
        if !response.ok() {
            return Ok(self.refused(&response));
        }
        self.report(named, &response.body, "patched")?;
        Ok(0)
    }

    fn metadata(&mut self, field: &str, manager: &str, done: [&str; 3]) -> Flow {
        let is_change = |o: &String| o.contains('=') || o.len() > 1 && o.ends_with('-') && !o.contains('/');
        let (operands, mut changes): (Vec<String>, Vec<String>) = {
            let operands = self.arguments.operands.clone();
            let from = usize::from(self.arguments.value("filename").is_none()).min(operands.len());
            let (head, tail) = operands.split_at(from);
            let (changes, names): (Vec<String>, Vec<String>) =
                tail.iter().cloned().partition(|o| is_change(o) || o.ends_with('-'));
            (head.iter().cloned().chain(names).collect(), changes)
        };
        changes.dedup();
        if changes.is_empty() {
            return Ok(self.fail("error: at least one change is required"));
        }
        let targets = match self.targets_of(&operands)? {
            Ok(targets) => targets,
            Err(status) => return Ok(status),
        };
        let mut status = 0;
        for (named, live) in targets {
            status = self.set_metadata(&named, &live, field, &changes, manager, done)?.max(status);
        }
        Ok(status)
    }

    fn set_metadata(
        &mut self,
        named: &Named,
        live: &Value,
        field: &str,
        changes: &[String],
        manager: &str,
        done: [&str; 3],
    ) -> Flow {
        let current = live.get("metadata").and_then(|m| m.get(field)?.as_object());
        let mut patch = Map::new();
        let mut removed = false;
        for change in changes {
            let (key, value) = match change.split_once('=') {
                Some((key, value)) => (key, json!(value)),
                None => (change.trim_end_matches('-'), Value::Null),
            };
            let before = current.and_then(|c| c.get(key));
            let differs = before.is_some_and(|b| *b != value) && !value.is_null();
            if differs && !self.arguments.on("overwrite") {
                let line = format!(
                    "error: '{key}' already has a value ({}), and --overwrite is false",
                    shown(before)
                );
                return Ok(self.fail(&line));
            }
            removed |= value.is_null();
            if before.unwrap_or(&Value::Null) != &value {
                patch.insert(key.to_owned(), value);
            }
        }
        if patch.is_empty() || self.client_dry_run() {
            self.report(named, live, if patch.is_empty() { done[2] } else { done[0] })?;
            return Ok(0);
        }
        let body = Arc::new(json!({"metadata": {field: patch}}));
        let resource = &named.resource.resource;
        let request = Request::patch(resource, &named.namespace, &named.name, PatchType::Merge, body);
        let response = self.send(request.by(manager))?;
        if !response.ok() {
            return Ok(self.refused(&response));
        }
        self.report(named, &response.body, if removed { done[1] } else { done[0] })?;
        Ok(0)
    }
}

fn shown(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or("")
}
