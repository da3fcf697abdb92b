//! Rendered files become documents: splitting, hooks against manifests, kind order.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::head::Head;
use super::{Checked, DeletePolicy, Excerpt, Helm, Hook, HookEvent, Lazy, Manifest, parallel};
use crate::chart::Error;
use crate::limits::{Limits, Watch};
use crate::yaml;

/// Kinds in the order in which Helm installs them (Helm v4.3.1 `pkg/release/v1/util/kind_sorter.go`).
const INSTALL_ORDER: &[&str] = &[
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
];

/// Kinds that only Helm 4 knows; they come after all others it knows.
const HELM4_ORDER: &[&str] = &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

/// The rank of a kind in install order; kinds without a rank come last, by name.
#[must_use]
pub fn install_rank(kind: &str, helm: Helm) -> Option<usize> {
    let own = if helm.ranks_webhooks() { HELM4_ORDER } else { &[] };
    INSTALL_ORDER.iter().chain(own).position(|known| *known == kind)
}

/// How install order compares two kinds.
#[must_use]
pub fn compare_kinds(left: &str, right: &str, helm: Helm) -> std::cmp::Ordering {
    match (install_rank(left, helm), install_rank(right, helm)) {
        (Some(left), Some(right)) => left.cmp(&right),
        (Some(_), None) => std::cmp::Ordering::Less,
        (None, Some(_)) => std::cmp::Ordering::Greater,
        (None, None) => left.cmp(right),
    }
}

/// Rendered files by path.
pub(super) type Rendered = BTreeMap<String, Text>;

/// What a template printed.
#[derive(Debug, Default)]
pub(super) struct Text {
    /// As text; bytes that are no UTF-8 are U+FFFD.
    pub(super) shown: Arc<String>,
    /// The bytes, where they are not the same.
    bytes: Option<Vec<u8>>,
}

impl From<Vec<u8>> for Text {
    fn from(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(shown) => Self { shown: Arc::new(shown), bytes: None },
            Err(error) => {
                let shown = String::from_utf8_lossy(error.as_bytes()).into_owned();
                Self { shown: Arc::new(shown), bytes: Some(error.into_bytes()) }
            }
        }
    }
}

impl Text {
    /// The bytes of a part of the text.
    fn bytes_of<'t>(&'t self, part: &'t str) -> Cow<'t, [u8]> {
        let Some(bytes) = &self.bytes else { return part.as_bytes().into() };
        let start = part.as_ptr().addr().saturating_sub(self.shown.as_ptr().addr());
        let (mut at, mut out) = (0, Vec::new());
        for chunk in bytes.utf8_chunks() {
            for byte in chunk.valid().bytes() {
                out.extend((start..start + part.len()).contains(&at).then_some(byte));
                at += 1;
            }
            if !chunk.invalid().is_empty() {
                let inside = (start..start + part.len()).contains(&at);
                out.extend(chunk.invalid().iter().filter(|_| inside));
                at += '\u{fffd}'.len_utf8();
            }
        }
        out.into()
    }
}

/// The documents of a render.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    pub(super) manifests: Vec<Manifest>,
    pub(super) hooks: Vec<Hook>,
    pub(super) notices: Vec<String>,
}

/// Splits and sorts all documents.
///
/// As Helm v4.3.1 `pkg/release/v1/util/manifest_sorter.go` `SortManifests`.
pub(super) fn sort(
    files: &Rendered,
    helm: Helm,
    limits: &Limits,
    checked: Option<&Checked>,
) -> Result<Sorted, Error> {
    let documents = documents(files, helm);
    let texts: Vec<Cow<'_, [u8]>> = documents
        .iter()
        .map(|(path, text)| files.get(*path).map_or(text.as_bytes().into(), |file| file.bytes_of(text)))
        .collect();
    let texts: Vec<&[u8]> = texts.iter().map(AsRef::as_ref).collect();
    let watch = Watch::start(limits);
    let heads = parallel::map(&texts, |text| {
        let slow = |why| Error::new(format!("{why} (--limit-{})", Watch::FLAG));
        watch.check().map_err(slow).and_then(|()| head(text, helm, limits, checked))
    });
    let mut sorter = Sorter { helm, limits, generic: Vec::new(), hooks: Vec::new(), notices: Vec::new() };
    for ((path, text), head) in documents.into_iter().zip(heads) {
        match head {
            Ok(head) => {
                let text = files.get(path).map_or_else(|| text.into(), |file| Excerpt::of(&file.shown, text));
                sorter.take(path, text, head);
            }
            Err(error) => {
                let error = error.wrap(&format!("YAML parse error on {path}"));
                return Err(Error { notices: sorter.notices, ..error });
            }
        }
    }
    Ok(sorter.finish())
}

/// Every document with the path of its file.
fn documents(files: &Rendered, helm: Helm) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for (path, content) in files {
        let base = path.rsplit('/').next().unwrap_or(path);
        let content = &content.shown;
        if base.starts_with('_') || content.trim().is_empty() {
            continue;
        }
        found.extend(split(content, helm).into_iter().map(|document| (path.as_str(), document)));
    }
    found
}

/// Checks a document and reads its head.
fn head(document: &[u8], helm: Helm, limits: &Limits, checked: Option<&Checked>) -> Result<Head, Error> {
    let read = |document: &[u8]| yaml::to_json_partly(document, Head::wants, limits);
    let object = match checked {
        Some(checked) => checked.part(document, read),
        None => read(document).map(Arc::new),
    };
    Head::read(&*object.map_err(|error| Error::new(error.message))?, helm)
}

/// A document that was checked; its object is read as the cluster gets it.
fn manifest(path: &str, text: Excerpt, is_hook: bool, limits: &Limits) -> Manifest {
    let (cut, limits) = (text.clone(), limits.clone());
    let object = move || {
        let read = |text: &str| yaml::to_json(text.as_bytes(), &limits);
        // Cutting took the line break at the end, the release's manifest puts one back, and a block scalar there has it in
        // its value. Hooks are sent one by one, as they were cut out.
        let whole = if is_hook { read(&cut) } else { read(&format!("{cut}\n")) };
        Arc::new(whole.or_else(|_| read(&cut)).unwrap_or_default())
    };
    Manifest { source: path.to_owned(), text, object: Lazy::new(object) }
}

struct Sorter<'a> {
    helm: Helm,
    limits: &'a Limits,
    generic: Vec<(String, Manifest)>,
    hooks: Vec<(String, Hook)>,
    notices: Vec<String>,
}

impl Sorter<'_> {
    fn take(&mut self, path: &str, document: Excerpt, head: Head) {
        let events = head.annotations.get("helm.sh/hook");
        let manifest = manifest(path, document, events.is_some(), self.limits);
        let Some(events) = events else {
            self.generic.push((head.kind, manifest));
            return;
        };
        let known: Option<Vec<_>> =
            events.split(',').map(|event| HookEvent::parse(&event.trim().to_lowercase())).collect();
        match known {
            Some(events) => self.hooks.push((head.kind.clone(), hook(&head, events, manifest))),
            None => self.skip(events),
        }
    }

    fn skip(&mut self, events: &str) {
        let mut notices = crate::chart::notice::Notices::new(self.helm);
        let quoted = crate::go::quote(events);
        if self.helm.logs_records() {
            notices.info("skipping unknown hooks", &[("hookTypes", events)]);
        } else {
            notices.log("manifest_sorter.go:199", &format!("info: skipping unknown hook: {quoted}"));
        }
        self.notices.extend(notices.into_lines());
    }

    fn finish(mut self) -> Sorted {
        let helm = self.helm;
        self.generic.sort_by(|(left, _), (right, _)| compare_kinds(left, right, helm));
        self.hooks.sort_by(|(left, _), (right, _)| compare_kinds(left, right, helm));
        Sorted {
            manifests: self.generic.into_iter().map(|(_, manifest)| manifest).collect(),
            hooks: self.hooks.into_iter().map(|(_, hook)| hook).collect(),
            notices: self.notices,
        }
    }
}

fn hook(head: &Head, events: Vec<HookEvent>, manifest: Manifest) -> Hook {
    let annotation = |name: &str| head.annotations.get(name).map(String::as_str);
    let policies = annotation("helm.sh/hook-delete-policy").unwrap_or_default();
    Hook {
        manifest,
        events,
        weight: annotation("helm.sh/hook-weight").and_then(|text| text.parse().ok()).unwrap_or_default(),
        delete_policies: policies
            .split(',')
            .filter_map(|policy| DeletePolicy::parse(&policy.trim().to_lowercase()))
            .collect(),
    }
}

impl HookEvent {
    /// All events with their names; `test-success` is an older name of `test`.
    pub const NAMES: &[(&str, Self)] = &[
        ("pre-install", Self::PreInstall),
        ("post-install", Self::PostInstall),
        ("pre-delete", Self::PreDelete),
        ("post-delete", Self::PostDelete),
        ("pre-upgrade", Self::PreUpgrade),
        ("post-upgrade", Self::PostUpgrade),
        ("pre-rollback", Self::PreRollback),
        ("post-rollback", Self::PostRollback),
        ("test", Self::Test),
        ("test-success", Self::Test),
    ];

    /// The event of a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, event)| *event)
    }

    /// The event's name in annotations.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, event)| *event == self).map_or("", |(name, _)| name)
    }
}

impl DeletePolicy {
    /// The policy of a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "before-hook-creation" => Some(Self::BeforeHookCreation),
            "hook-succeeded" => Some(Self::HookSucceeded),
            "hook-failed" => Some(Self::HookFailed),
            _ => None,
        }
    }

    /// The policy's name in annotations.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::BeforeHookCreation => "before-hook-creation",
            Self::HookSucceeded => "hook-succeeded",
            Self::HookFailed => "hook-failed",
        }
    }
}

/// Splits a rendered file into its documents.
///
/// Up to Helm 4.1 a document loses its surrounding blanks; since 4.2.4 only those before it.
#[must_use]
pub fn split(text: &str, helm: Helm) -> Vec<&str> {
    if helm.splits_by_lines() {
        split_by_lines(text)
    } else {
        split_by_blanks(text, helm.keeps_ends_of_files())
    }
}

/// The separator `(?:^|\s*\n)---\s*`, where `^` is the start of the text; what is left at the text's end may stay.
fn split_by_blanks(text: &str, keeps_end: bool) -> Vec<&str> {
    let trim = if keeps_end { str::trim_start } else { str::trim };
    let text = trim(text);
    let mut documents = Vec::new();
    let mut rest = match text.strip_prefix("---") {
        Some(rest) => trim_start_ascii(rest),
        None => text,
    };
    while let Some(at) = rest.find("\n---") {
        let (document, after) = rest.split_at(at);
        documents.push(document.trim_end_matches(SPACE));
        rest = trim_start_ascii(after.get("\n---".len()..).unwrap_or_default());
    }
    documents.push(rest);
    // What is left of blanks that the separator does not take is a document all the same.
    documents.into_iter().filter(|document| !document.is_empty()).map(trim).collect()
}

/// The separator `(?m)^---[ \t]*`.
fn split_by_lines(text: &str) -> Vec<&str> {
    let text = text.trim_start();
    let mut documents = Vec::new();
    let mut start = 0;
    let first = text.starts_with("---").then_some(0);
    let others = memchr::memmem::find_iter(text.as_bytes(), "\n---").map(|at| at + 1);
    for line in first.into_iter().chain(others) {
        documents.extend(text.get(start..line));
        let after = text.get(line + "---".len()..).unwrap_or_default();
        start = text.len() - after.trim_start_matches([' ', '\t']).len();
    }
    documents.extend(text.get(start..));
    documents.into_iter().map(str::trim_start).filter(|document| !document.is_empty()).collect()
}

/// What Go's `\s` matches.
const SPACE: [char; 5] = ['\t', '\n', '\u{c}', '\r', ' '];

fn trim_start_ascii(text: &str) -> &str {
    text.trim_start_matches(SPACE)
}

/// The documents of a file below `crds/`; what can't be read is left out, Helm does not look at it when rendering.
pub(super) fn crd_objects(data: &[u8], limits: &Limits) -> Vec<Arc<Value>> {
    let text = String::from_utf8_lossy(data);
    let objects =
        yaml::documents(&text).filter_map(|(_, document)| yaml::to_json(document.as_bytes(), limits).ok());
    objects.filter(Value::is_object).map(Arc::new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_as_each_helm_does() {
        for (text, helm3, helm4) in [
            ("a: 1\n", vec!["a: 1"], vec!["a: 1\n"]),
            ("---\na: 1\n---\n\nb: 2\n\n", vec!["a: 1", "b: 2"], vec!["a: 1\n", "b: 2\n\n"]),
            ("a: 1\n---b: 2\n", vec!["a: 1", "b: 2"], vec!["a: 1\n", "b: 2\n"]),
            ("a: |\n  ---\n  x\n", vec!["a: |\n  ---\n  x"], vec!["a: |\n  ---\n  x\n"]),
            ("a\n---\n---\nb\n", vec!["a", "---\nb"], vec!["a\n", "b\n"]),
            ("\n\n---\n# c\n--- # d\ne", vec!["# c", "# d\ne"], vec!["# c\n", "# d\ne"]),
            ("", vec![], vec![]),
        ] {
            assert_eq!(split(text, Helm::V3), helm3, "{text:?}");
            assert_eq!(split(text, Helm::V4), helm4, "{text:?}");
        }
    }

    #[test]
    fn kinds_sort_as_each_helm_does() {
        let mut kinds = vec!["Zebra", "ValidatingWebhookConfiguration", "Job", "Apple", "Namespace", ""];
        kinds.sort_by(|a, b| compare_kinds(a, b, Helm::V3));
        assert_eq!(kinds, ["Namespace", "Job", "", "Apple", "ValidatingWebhookConfiguration", "Zebra"]);
        kinds.sort_by(|a, b| compare_kinds(a, b, Helm::V4));
        assert_eq!(kinds, ["Namespace", "Job", "ValidatingWebhookConfiguration", "", "Apple", "Zebra"]);
    }
}
