//! `kubectl create` and `kubectl replace`.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::super::files::absolute;
use super::{Flow, Kubectl, Stop};
use crate::cluster::Request;
use crate::k8s::text;

/// `kubectl create`
pub(super) fn main(kubectl: &mut Kubectl<'_, '_>) -> Flow {
    if kubectl.arguments.value("filename").is_some() {
        let manifests = match kubectl.manifests()? {
            Ok(manifests) => manifests,
            Err(status) => return Ok(status),
        };
        let mut status = 0;
        for manifest in manifests {
            status = kubectl.create(manifest.object, &manifest.source)?.max(status);
        }
        return Ok(status);
    }
    let operands = kubectl.arguments.operands.clone();
    let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
    let object = match operands.as_slice() {
        ["configmap" | "cm", name] => kubectl.with_data("ConfigMap", name)?,
        ["secret", "generic", name] => kubectl.with_data("Secret", name)?,
        ["namespace" | "ns", name] => plain("Namespace", name),
        ["serviceaccount" | "sa", name] => plain("ServiceAccount", name),
        other => return Err(Stop::Unknown(format!("kubectl create {}", other.join(" ")))),
    };
    kubectl.create(object, "")
}

/// `kubectl replace`
pub(super) fn replace(kubectl: &mut Kubectl<'_, '_>) -> Flow {
    let manifests = match kubectl.manifests()? {
        Ok(manifests) => manifests,
        Err(status) => return Ok(status),
    };
    let mut status = 0;
    for manifest in manifests {
        status = kubectl.replace_one(manifest.object, &manifest.source)?.max(status);
    }
    Ok(status)
}

fn plain(kind: &str, name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}})
}

impl Kubectl<'_, '_> {
    fn create(&mut self, object: Value, source: &str) -> Flow {
        let named = match self.named(&object, source) {
            Ok(named) => named,
            Err(status) => return Ok(status),
        };
        if self.client_dry_run() {
            self.report(&named, &object, "created")?;
            return Ok(0);
        }
        let mut request = Request::create(&named.resource.resource, &named.namespace, Arc::new(object));
        request.field_validation = "Strict";
        let response = self.send(request.by("kubectl-create"))?;
        if !response.ok() {
            return Ok(self.refused(&response));
        }
        self.report(&named, &response.body, "created")?;
        Ok(0)
    }

    fn replace_one(&mut self, mut object: Value, source: &str) -> Flow {
        let named = match self.named(&object, source) {
            Ok(named) => named,
            Err(status) => return Ok(status),
        };
        if self.arguments.on("force") {
            let status = self.delete_and_wait(&named)?;
            return if status == 0 { self.create(object, source) } else { Ok(status) };
        }
        let live = self.send(named.get())?;
        if !live.ok() {
            return Ok(self.refused(&live));
        }
        if text(&object, "/metadata/resourceVersion").is_empty() {
            object["metadata"]["resourceVersion"] = json!(text(&live.body, "/metadata/resourceVersion"));
        }
        let request = Request::update(&named.resource.resource, &named.namespace, Arc::new(object));
        let response = self.send(request.by("kubectl-replace"))?;
        if !response.ok() {
            return Ok(self.refused(&response));
        }
        self.report(&named, &response.body, "replaced")?;
        Ok(0)
    }

    /// A ConfigMap or Secret from `--from-literal` and `--from-file`.
    fn with_data(&mut self, kind: &str, name: &str) -> Flow<Value> {
        let mut data = Map::new();
        for literal in self.arguments.values("from-literal") {
            let (key, value) = literal.split_once('=').unwrap_or((&literal, ""));
            data.insert(key.to_owned(), json!(value.trim_matches(['"', '\''])));
        }
        for source in self.arguments.values("from-file") {
            self.file_entries(&source, &mut data)?;
        }
        if self.arguments.value("from-env-file").is_some() {
            return Err(Stop::Unknown("kubectl create --from-env-file".to_owned()));
        }
        if kind == "Secret" {
            for value in data.values_mut() {
                *value = json!(STANDARD.encode(value.as_str().unwrap_or("")));
            }
        }
        let mut object = plain(kind, name);
        object["data"] = Value::Object(data);
        Ok(object)
    }

    fn file_entries(&mut self, source: &str, data: &mut Map<String, Value>) -> Flow<()> {
        let (key, name) = source.split_once('=').map_or((None, source), |(k, n)| (Some(k), n));
        let path = absolute(&self.shell.state.directory, name);
        let mut files = self.shell.files.below(&path);
        if self.shell.files.read(&path).is_some() {
            files = vec![path];
        }
        if files.is_empty() {
            return Err(Stop::Unknown(format!("file {name}, which is part of the image")));
        }
        for file in files {
            let base = file.rsplit('/').next().unwrap_or("");
            let text = self.shell.files.read(&file).unwrap_or("");
            data.insert(key.unwrap_or(base).to_owned(), json!(text));
        }
        Ok(())
    }
}
