//! What a container runs: its command, environment and files, gathered from the pod and the objects it mounts.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::super::api::Api;
use super::super::shell::Program;
use crate::k8s::At as _;
use crate::k8s::{items, text};

/// The program of one container; the error names what it reads and nobody has seen.
pub(super) fn program(api: &Api<'_>, pod: &Value, container: &Value) -> Result<Program, String> {
    let namespace = text(pod, "/metadata/namespace").to_owned();
    let environment = environment(api, pod, container)?;
    let files = files(api, pod, container)?;
    let words = words(container).into_iter().map(|word| substituted(&word, &environment)).collect();
    Ok(Program { words, environment, files, namespace, user: user(pod) })
}

/// As whom a pod's programs speak to the API server.
pub(super) fn user(pod: &Value) -> String {
    let account = Some(text(pod, "/spec/serviceAccountName")).filter(|a| !a.is_empty()).unwrap_or("default");
    format!("system:serviceaccount:{}:{account}", text(pod, "/metadata/namespace"))
}

fn strings(object: &Value, pointer: &str) -> Vec<String> {
    items(object, pointer).filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Command and arguments; images that are known for their entry point stand in for a missing command.
fn words(container: &Value) -> Vec<String> {
    let (command, arguments) = (strings(container, "/command"), strings(container, "/args"));
    if !command.is_empty() {
        return command.into_iter().chain(arguments).collect();
    }
    let image = text(container, "/image").rsplit('/').next().unwrap_or("");
    let image = image.split([':', '@']).next().unwrap_or("");
    if image.contains("kubectl") {
        return std::iter::once("kubectl".to_owned()).chain(arguments).collect();
    }
    // Base images start what they are given.
    if matches!(image, "alpine" | "busybox" | "debian" | "ubuntu" | "bash") { arguments } else { Vec::new() }
}

/// Replaces `$(NAME)` as the kubelet does; `$$` stands for a dollar sign.
fn substituted(word: &str, environment: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    let mut rest = word;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(more) = rest.strip_prefix('$') {
            out.push('$');
            rest = more;
            continue;
        }
        let reference = rest.strip_prefix('(').and_then(|r| r.split_once(')'));
        match reference.and_then(|(name, more)| Some((environment.get(name)?, more))) {
            Some((value, more)) => {
                out.push_str(value);
                rest = more;
            }
            None => out.push('$'),
        }
    }
    out.push_str(rest);
    out
}

fn environment(api: &Api<'_>, pod: &Value, container: &Value) -> Result<BTreeMap<String, String>, String> {
    let namespace = text(pod, "/metadata/namespace");
    let mut environment = BTreeMap::from(
        [
            ("HOME", "/root"),
            ("PATH", "/usr/bin:/bin"),
            ("KUBERNETES_SERVICE_HOST", "10.96.0.1"),
            ("KUBERNETES_SERVICE_PORT", "443"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    environment.insert("HOSTNAME".to_owned(), text(pod, "/metadata/name").to_owned());
    for source in items(container, "/envFrom") {
        for (kind, field) in [("ConfigMap", "configMapRef"), ("Secret", "secretRef")] {
            let Some(reference) = source.get(field) else { continue };
            let data = data(api, kind, namespace, text(reference, "/name"), optional(reference))?;
            let prefix = text(source, "/prefix");
            environment.extend(data.into_iter().map(|(key, value)| (format!("{prefix}{key}"), value)));
        }
    }
    for variable in items(container, "/env") {
        if let Some(value) = value(api, pod, variable)? {
            let value = substituted(&value, &environment);
            environment.insert(text(variable, "/name").to_owned(), value);
        }
    }
    Ok(environment)
}

fn optional(reference: &Value) -> bool {
    reference.get("optional").and_then(Value::as_bool).unwrap_or(false)
}

fn value(api: &Api<'_>, pod: &Value, variable: &Value) -> Result<Option<String>, String> {
    let Some(source) = variable.get("valueFrom") else {
        return Ok(Some(text(variable, "/value").to_owned()));
    };
    if let Some(path) = source.at("/fieldRef/fieldPath").and_then(Value::as_str) {
        return Ok(Some(field(pod, path)));
    }
    for (kind, name) in [("ConfigMap", "configMapKeyRef"), ("Secret", "secretKeyRef")] {
        let Some(reference) = source.get(name) else { continue };
        let namespace = text(pod, "/metadata/namespace");
        let data = data(api, kind, namespace, text(reference, "/name"), optional(reference))?;
        return Ok(data.into_iter().find(|(key, _)| key == text(reference, "/key")).map(|(_, value)| value));
    }
    Ok(None)
}

fn field(pod: &Value, path: &str) -> String {
    if let Some((map, key)) = path.strip_suffix("']").and_then(|p| p.split_once("['")) {
        let pointer = format!("/{}", map.replace('.', "/"));
        return pod.at(&pointer).and_then(|m| m.get(key)?.as_str()).unwrap_or("").to_owned();
    }
    match path {
        "status.podIP" | "status.hostIP" => "10.244.0.10".to_owned(),
        "spec.nodeName" => "node".to_owned(),
        path => text(pod, &format!("/{}", path.replace('.', "/"))).to_owned(),
    }
}

/// What is said of an object that a program needs and nobody has seen.
pub(super) fn unseen(kind: &str, namespace: &str, name: &str) -> String {
    format!("{kind} {namespace}/{name} is not there when it runs, unless your cluster has it")
}

/// Keys and texts of a ConfigMap or Secret.
fn data(
    api: &Api<'_>,
    kind: &str,
    namespace: &str,
    name: &str,
    optional: bool,
) -> Result<Vec<(String, String)>, String> {
    let Some(object) = api.get("", kind, namespace, name) else {
        return if optional { Ok(Vec::new()) } else { Err(unseen(kind, namespace, name)) };
    };
    let entries = object.get("data").and_then(Value::as_object).into_iter().flatten();
    let decode = |value: &str| match kind {
        "Secret" => String::from_utf8_lossy(&STANDARD.decode(value).unwrap_or_default()).into_owned(),
        _ => value.to_owned(),
    };
    Ok(entries.map(|(key, value)| (key.clone(), decode(value.as_str().unwrap_or("")))).collect())
}

fn files(api: &Api<'_>, pod: &Value, container: &Value) -> Result<BTreeMap<String, String>, String> {
    let account = "/var/run/secrets/kubernetes.io/serviceaccount";
    let mut files = BTreeMap::from([
        (format!("{account}/namespace"), text(pod, "/metadata/namespace").to_owned()),
        (format!("{account}/token"), "token".to_owned()),
        (format!("{account}/ca.crt"), "certificate".to_owned()),
    ]);
    for mount in items(container, "/volumeMounts") {
        let Some(volume) = items(pod, "/spec/volumes").find(|v| text(v, "/name") == text(mount, "/name"))
        else {
            continue;
        };
        let path = text(mount, "/mountPath").trim_end_matches('/');
        for (name, content) in volume_files(api, pod, volume)? {
            match text(mount, "/subPath") {
                "" => files.insert(format!("{path}/{name}"), content),
                part if part == name => files.insert(path.to_owned(), content),
                _ => None,
            };
        }
    }
    Ok(files)
}

fn volume_files(api: &Api<'_>, pod: &Value, volume: &Value) -> Result<Vec<(String, String)>, String> {
    let mut files = Vec::new();
    let projected = items(volume, "/projected/sources");
    for source in std::iter::once(volume).chain(projected) {
        for (kind, field) in [("ConfigMap", "configMap"), ("Secret", "secret")] {
            let Some(reference) = source.get(field) else { continue };
            let name = [text(reference, "/name"), text(reference, "/secretName")].concat();
            let data = data(api, kind, text(pod, "/metadata/namespace"), &name, optional(reference))?;
            files.extend(
                data.into_iter().filter_map(|(key, value)| Some((item_path(reference, &key)?, value))),
            );
        }
        let fields = items(source, "/downwardAPI/items");
        files.extend(
            fields
                .map(|item| (text(item, "/path").to_owned(), field(pod, text(item, "/fieldRef/fieldPath")))),
        );
    }
    Ok(files)
}

/// Where a key of a volume lies: under its own name, or where `items` puts it.
fn item_path(reference: &Value, key: &str) -> Option<String> {
    if reference.get("items").is_none() {
        return Some(key.to_owned());
    }
    items(reference, "/items")
        .find(|item| text(item, "/key") == key)
        .map(|item| text(item, "/path").to_owned())
}
