//! The command lines that a person types for the steps of a scenario: whole, quoted, ready to be copied.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Apply, Deployment, Patch, Tagging};
use crate::chart::Values;
use crate::finding::ObjectName;
use crate::k8s;
use crate::upgrade::actors::Subject;
use crate::upgrade::secrets::without_contents;
use crate::upgrade::words::{ValuesWords, documents, on_objects, quoted};

/// Longest text of objects that a line holds, in characters.
const OBJECTS: usize = 4000;

/// `install RELEASE CHART` with its values.
pub(super) fn deployment(word: &str, release: &str, chart: &str, deployment: &Deployment) -> String {
    format!("{word} {} {chart}{}", quoted(release), values(&deployment.values, &deployment.set))
}

/// Values as flags: those written in the file itself as JSON.
pub(super) fn values(written: &Values, set: &[String]) -> ValuesWords {
    let mut words = ValuesWords::default();
    written.iter().for_each(|(key, value)| words.json(&format!("{}={value}", escaped(key))));
    set.iter().for_each(|argument| words.set("--set", argument));
    words
}

/// A key that `--set-json` does not take apart.
fn escaped(key: &str) -> String {
    key.replace('\\', "\\\\").replace('.', "\\.").replace(',', "\\,").replace('=', "\\=")
}

/// Flags as a shell reads them back, each with a space before it.
pub(super) fn flags(flags: &[String]) -> String {
    flags.iter().map(|flag| format!(" {}", quoted(flag))).collect()
}

/// `kubectl apply` of files, of objects, and of a chart's render.
pub(super) fn apply(
    apply: &Apply,
    written: &[Arc<Value>],
    file: Option<&str>,
    chart: Option<&str>,
    subject: &Subject,
) -> String {
    let server = if apply.server_side { " --server-side" } else { "" };
    let force = if apply.force_conflicts { " --force-conflicts" } else { "" };
    let kubectl = format!("kubectl apply{server}{force} -n {}", quoted(&subject.namespace));
    let chart = chart.map(|chart| {
        let hooks = if apply.hooks { "" } else { " --no-hooks" };
        let (release, namespace) = (quoted(&subject.release), quoted(&subject.namespace));
        let values = values(&apply.values, &apply.set);
        let some = !apply.kinds.is_empty() || !apply.names.is_empty();
        let filter =
            if some { format!(" | {}", documents(&apply.kinds, &apply.names)) } else { String::new() };
        format!(
            "helm template {release} {chart} -n {namespace}{values} --include-crds{hooks}{filter} | {kubectl} -f -"
        )
    });
    let lines = [stdin(&kubectl, written), file.map(|file| format!("{kubectl} -f {}", quoted(file))), chart];
    lines.into_iter().flatten().collect::<Vec<_>>().join(" && ")
}

/// `kubectl create` of objects and files.
pub(super) fn create(written: &[Arc<Value>], file: Option<&str>, namespace: &str) -> String {
    let kubectl = format!("kubectl create -n {}", quoted(namespace));
    let lines = [stdin(&kubectl, written), file.map(|file| format!("{kubectl} -f {}", quoted(file)))];
    lines.into_iter().flatten().collect::<Vec<_>>().join(" && ")
}

/// A command that reads objects.
fn stdin(kubectl: &str, objects: &[Arc<Value>]) -> Option<String> {
    let shown: Vec<Value> = objects.iter().map(|object| shown(object)).collect();
    let text = match shown.as_slice() {
        [] => return None,
        [one] => one.to_string(),
        several => json!({"apiVersion": "v1", "kind": "List", "items": several}).to_string(),
    };
    if text.chars().count() > OBJECTS {
        return Some(format!("{kubectl} -f FILE-WITH-THE-{}-OBJECTS-OF-THIS-STEP", objects.len()));
    }
    Some(format!("echo {} | {kubectl} -f -", quoted(&text)))
}

fn shown(object: &Value) -> Value {
    if k8s::text(object, "/kind") == "Secret" { without_contents(object) } else { object.clone() }
}

/// `kubectl annotate`, `kubectl label`.
pub(super) fn tag(word: &str, tagging: &Tagging, names: &[ObjectName]) -> String {
    let pairs = tagging.set.iter().map(|(key, value)| match value {
        Some(value) => format!(" {}", quoted(&format!("{key}={value}"))),
        None => format!(" {}", quoted(&format!("{key}-"))),
    });
    let verb = format!("{word} --overwrite");
    objects(&verb, names, &tagging.objects, &tagging.selector, &pairs.collect::<String>())
}

/// `kubectl patch`, once for each object.
pub(super) fn patch(patch: &Patch, names: &[ObjectName], is_secret: bool) -> String {
    let text = if is_secret { without_contents(&patch.patch) } else { patch.patch.clone() };
    let on = match patch.subresource.as_str() {
        "" => String::new(),
        subresource => format!(" --subresource {}", quoted(subresource)),
    };
    let tail = format!("{on} --type {} -p {}", patch.kind, quoted(&text.to_string()));
    let each =
        names.iter().map(|name| objects("patch", std::slice::from_ref(name), &[], &BTreeMap::new(), &tail));
    let lines: Vec<String> = each.collect();
    if lines.is_empty() {
        format!("kubectl patch {}{tail}", quoted(&patch.object))
    } else {
        lines.join(" && ")
    }
}

/// `kubectl delete`.
pub(super) fn delete(written: &[String], cascade: Option<&str>, names: &[ObjectName]) -> String {
    let tail = cascade.map(|cascade| format!(" --cascade={cascade}")).unwrap_or_default();
    objects("delete", names, written, &BTreeMap::new(), &tail)
}

/// A command on objects by their names; as they are written where nothing has such a name.
fn objects(
    verb: &str,
    names: &[ObjectName],
    written: &[String],
    selector: &BTreeMap<String, String>,
    tail: &str,
) -> String {
    if names.is_empty() {
        let written: String = written.iter().map(|name| format!(" {}", quoted(name))).collect();
        let pairs: Vec<String> = selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let selector =
            if pairs.is_empty() { String::new() } else { format!(" -l {}", quoted(&pairs.join(","))) };
        return format!("kubectl {verb}{written}{selector}{tail}");
    }
    on_objects(verb, names, tail).join(" && ")
}
