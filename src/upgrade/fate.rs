//! The fate of every object between two looks at a cluster, by UID.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::finding::ObjectName;
use crate::k8s::At as _;
use crate::k8s::{self, Gvk};
use crate::upgrade::actors::helm::{HOOK, MANAGED_BY, RELEASE_NAME, is_typed_group};
use crate::upgrade::release::RECORD;
use crate::upgrade::secrets::LAST_APPLIED;
use crate::upgrade::trace::{Action, Event};

/// Kinds that a cluster writes for itself and nobody looks at.
const NOISE: &[&str] = &[
    "Event",
    "Lease",
    "Endpoints",
    "EndpointSlice",
    "ControllerRevision",
    "Node",
    "APIService",
    "IPAddress",
];

/// Built-in kinds that hold what users made and nothing makes anew.
pub const LASTING: &[&str] =
    &["CustomResourceDefinition", "Namespace", "PersistentVolume", "PersistentVolumeClaim"];

/// Further kinds besides custom ones whose loss a user notices: work that runs.
const WORK: &[&str] = &["Job", "Pod"];

/// All objects of a cluster at one moment.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    objects: BTreeMap<(String, ObjectName), Arc<Value>>,
}

impl Snapshot {
    /// Orders what a look at the cluster gave; noise is left out.
    #[must_use]
    pub fn new(objects: Vec<Arc<Value>>) -> Self {
        let counted = objects.into_iter().filter(|object| counts(object));
        Self {
            objects: counted
                .map(|object| ((Gvk::of(&object).group, k8s::object_name(&object)), object))
                .collect(),
        }
    }

    /// Names of all objects.
    pub fn names(&self) -> impl Iterator<Item = &ObjectName> {
        self.objects.keys().map(|(_, name)| name)
    }

    /// All objects.
    pub fn objects(&self) -> impl Iterator<Item = &Arc<Value>> {
        self.objects.values()
    }

    /// All Secrets.
    pub fn secrets(&self) -> impl Iterator<Item = &Arc<Value>> {
        self.core("Secret")
    }

    /// All Pods.
    pub fn pods(&self) -> impl Iterator<Item = &Arc<Value>> {
        self.core("Pod")
    }

    fn core(&self, kind: &'static str) -> impl Iterator<Item = &Arc<Value>> {
        let first = ObjectName { kind: kind.to_owned(), namespace: String::new(), name: String::new() };
        let own = self.objects.range((String::new(), first)..);
        own.take_while(move |((group, name), _)| group.is_empty() && name.kind == kind)
            .map(|(_, object)| object)
    }

    /// One object.
    #[must_use]
    pub fn find(&self, group: &str, name: &ObjectName) -> Option<&Arc<Value>> {
        self.objects.get(&(group.to_owned(), name.clone()))
    }

    /// All CustomResourceDefinitions.
    pub fn definitions(&self) -> impl Iterator<Item = &Arc<Value>> {
        self.objects.values().filter(|object| k8s::text(object, "/kind") == "CustomResourceDefinition")
    }

    /// Objects that live on under their UID and are not the very same, here and in a later look.
    pub fn living<'s>(
        &'s self,
        later: &'s Self,
    ) -> impl Iterator<Item = (&'s ObjectName, &'s Arc<Value>, &'s Arc<Value>)> {
        let uid = |object: &Value| k8s::text(object, "/metadata/uid").to_owned();
        let both = self.objects.iter().filter_map(|(key, old)| Some((&key.1, old, later.objects.get(key)?)));
        both.filter(move |(_, old, new)| !Arc::ptr_eq(old, new) && uid(old) == uid(new))
    }

    /// Groups and kinds that the cluster's CustomResourceDefinitions define.
    fn custom_kinds(&self) -> BTreeSet<(&str, &str)> {
        self.definitions()
            .map(|crd| (k8s::text(crd, "/spec/group"), k8s::text(crd, "/spec/names/kind")))
            .collect()
    }
}

/// Whether anybody looks at such an object.
pub(super) fn counts(object: &Value) -> bool {
    let root_certificate = k8s::text(object, "/kind") == "ConfigMap"
        && k8s::text(object, "/metadata/name") == "kube-root-ca.crt";
    !NOISE.contains(&k8s::text(object, "/kind")) && !root_certificate
}

/// What became of every object, unchanged ones included, in order of kind, namespace and name.
#[must_use]
pub fn events(before: &Snapshot, after: &Snapshot) -> Vec<Event> {
    let keys: BTreeSet<_> = before.objects.keys().chain(after.objects.keys()).collect();
    let mut events: Vec<Event> = keys
        .into_iter()
        .filter_map(|key| {
            event(
                &key.1,
                before.objects.get(key).map(AsRef::as_ref),
                after.objects.get(key).map(AsRef::as_ref),
            )
        })
        .collect();
    events.sort_by(|a, b| a.object.cmp(&b.object));
    events
}

fn event(name: &ObjectName, before: Option<&Value>, after: Option<&Value>) -> Option<Event> {
    let uid = |object: Option<&Value>| object.map(|object| k8s::text(object, "/metadata/uid").to_owned());
    let (uid_before, uid_after) = (uid(before), uid(after));
    let changed = match (before, after) {
        (Some(before), Some(after)) if uid_before == uid_after => changed_parts(before, after),
        _ => Vec::new(),
    };
    let action = match (before, after) {
        (None, None) => return None,
        (None, Some(_)) => Action::Created,
        (Some(_), None) => Action::Deleted,
        (Some(_), Some(_)) if uid_before != uid_after => Action::Replaced,
        (Some(before), Some(after)) if is_terminating(after) && !is_terminating(before) => {
            Action::Terminating
        }
        _ if changed.is_empty() => Action::Unchanged,
        _ => Action::Updated,
    };
    Some(Event { action, object: name.clone(), uid_before, uid_after, changed })
}

/// What is still being deleted when everything has come to rest: whoever lifts its finalizers is not at work here.
#[must_use]
pub fn waiting(after: &Snapshot, events: &[Event]) -> Vec<String> {
    let waits = |event: &&Event| event.action == Action::Terminating;
    let names: BTreeSet<&ObjectName> = events.iter().filter(waits).map(|event| &event.object).collect();
    let objects = after.objects.iter().filter(|((_, name), _)| names.contains(name));
    objects
        .map(|((_, name), object)| {
            let list = object.at("/metadata/finalizers").and_then(Value::as_array).into_iter().flatten();
            let list: Vec<&str> = list.filter_map(Value::as_str).collect();
            format!("{name} {WAITS} ({}); nobody lifted them in the rehearsal", list.join(", "))
        })
        .collect()
}

/// How a note on an object begins that is neither kept nor gone.
pub const WAITS: &str = "is being deleted and waits for its finalizers";

/// Whether an object is being deleted.
pub(super) fn is_terminating(object: &Value) -> bool {
    object.at("/metadata/deletionTimestamp").is_some()
}

/// The parts that differ; of a status only what users look at: the conditions of custom objects, the phase of Pods.
fn changed_parts(before: &Value, after: &Value) -> Vec<&'static str> {
    if std::ptr::eq(before, after) {
        return Vec::new();
    }
    let mut parts = Vec::new();
    if body(before).ne(body(after)) {
        parts.push("spec");
    }
    // A ReplicaSet's revision says that it came back; a Deployment's follows from its spec.
    let revision =
        if k8s::text(before, "/kind") == "ReplicaSet" { "" } else { "deployment.kubernetes.io/revision" };
    for (part, ignored) in [("labels", ["modifiedAt", ""]), ("annotations", [revision, LAST_APPLIED])] {
        if table(before, part, ignored).ne(table(after, part, ignored)) {
            parts.push(part);
        }
    }
    if before.at("/metadata/finalizers") != after.at("/metadata/finalizers") {
        parts.push("finalizers");
    }
    if is_custom(before) && conditions(before).ne(conditions(after)) {
        parts.push("conditions");
    }
    if k8s::text(before, "/kind") == "Pod"
        && k8s::text(before, "/status/phase") != k8s::text(after, "/status/phase")
    {
        parts.push("phase");
    }
    parts
}

/// Whether a CustomResourceDefinition serves an object's kind.
fn is_custom(object: &Value) -> bool {
    let group = Gvk::of(object).group;
    !is_typed_group(&group) && k8s::text(object, "/kind") != "CustomResourceDefinition"
}

/// What an object's conditions say, without the times.
fn conditions(object: &Value) -> impl Iterator<Item = [&str; 3]> {
    let list = object.at("/status/conditions").and_then(Value::as_array).into_iter().flatten();
    list.map(|condition| ["/type", "/status", "/reason"].map(|field| k8s::text(condition, field)))
}

/// Everything but identity, metadata and status.
fn body(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let fields = object.as_object().into_iter().flatten();
    fields.filter(|(key, _)| !matches!(key.as_str(), "apiVersion" | "kind" | "metadata" | "status"))
}

fn table<'v>(
    object: &'v Value,
    part: &str,
    ignored: [&'static str; 2],
) -> impl Iterator<Item = (&'v String, &'v Value)> {
    let entries = object.get("metadata").and_then(|metadata| metadata.get(part)).and_then(Value::as_object);
    entries.into_iter().flatten().filter(move |(key, _)| !ignored.contains(&key.as_str()))
}

/// User-visible objects that were deleted or came back with another UID.
///
/// Visible are CustomResourceDefinitions, custom objects, Jobs, Pods, volumes and namespaces; the release's own Pods and
/// Jobs are not, they come and go with every upgrade. Of other kinds what no release and no controller made is visible: a
/// user's Secret that a hook deletes, or that goes with its owner.
#[must_use]
pub fn lost(before: &Snapshot, events: &[Event], release_namespace: &str) -> Vec<ObjectName> {
    let custom = before.custom_kinds();
    let gone: BTreeSet<&ObjectName> = events
        .iter()
        .filter(|event| matches!(event.action, Action::Deleted | Action::Replaced))
        .map(|event| &event.object)
        .collect();
    let objects = before.objects.iter().filter(|((_, name), _)| gone.contains(name));
    let visible = objects.filter(|((group, name), object)| {
        custom.contains(&(group.as_str(), name.kind.as_str())) || is_visible(name, object, release_namespace)
    });
    visible.map(|((_, name), _)| name.clone()).collect::<BTreeSet<_>>().into_iter().collect()
}

fn is_visible(name: &ObjectName, object: &Value, release_namespace: &str) -> bool {
    let own = match name.kind.as_str() {
        "Pod" => name.namespace == release_namespace || is_replaceable(object),
        "Job" => k8s::annotation(object, HOOK).is_some() || k8s::annotation(object, RELEASE_NAME).is_some(),
        _ => false,
    };
    let kind = name.kind.as_str();
    (LASTING.contains(&kind) || WORK.contains(&kind)) && !own || is_foreign(name, object)
}

/// Whether a pod's controller makes another one in its place: what counts then is whether the workload lives.
fn is_replaceable(pod: &Value) -> bool {
    k8s::controller(pod)
        .is_some_and(|owner| matches!(k8s::text(owner, "/kind"), "ReplicaSet" | "StatefulSet" | "DaemonSet"))
}

/// Whether an object was made by a user: no release has it, no hook, no controller, no cluster made it.
fn is_foreign(name: &ObjectName, object: &Value) -> bool {
    let of_release = [RELEASE_NAME, HOOK].iter().any(|key| k8s::annotation(object, key).is_some())
        || k8s::label(object, MANAGED_BY) == Some("Helm");
    let is_made = k8s::controller(object).is_some();
    let of_cluster = name.kind == "ServiceAccount" && name.name == "default"
        || k8s::text(object, "/type").starts_with("helm.sh/")
        || WORK.contains(&name.kind.as_str());
    !of_release && !is_made && !of_cluster
}

/// Whether anything but the release's own records changed.
#[must_use]
pub fn wrote(events: &[Event]) -> bool {
    events.iter().any(|event| event.action != Action::Unchanged && !event.object.name.starts_with(RECORD))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(kind: &str, name: &str, uid: &str, more: &Value) -> Arc<Value> {
        let mut object = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "a", "uid": uid}});
        crate::k8s::patch::merge(&mut object, more);
        Arc::new(object)
    }

    #[test]
    fn fates_go_by_uid() {
        let before = Snapshot::new(vec![
            object("ConfigMap", "same", "1", &json!({"data": {"a": "b"}})),
            object("ConfigMap", "changed", "2", &json!({"data": {"a": "b"}})),
            object("ConfigMap", "replaced", "3", &json!({})),
            object("ConfigMap", "gone", "4", &json!({})),
            object("ConfigMap", "held", "5", &json!({})),
        ]);
        let after = Snapshot::new(vec![
            object("ConfigMap", "same", "1", &json!({"data": {"a": "b"}, "status": {"x": 1}})),
            object(
                "ConfigMap",
                "changed",
                "2",
                &json!({"data": {"a": "c"}, "metadata": {"labels": {"l": "1"}}}),
            ),
            object("ConfigMap", "replaced", "33", &json!({})),
            object("ConfigMap", "held", "5", &json!({"metadata": {"deletionTimestamp": "now"}})),
            object("ConfigMap", "new", "6", &json!({})),
        ]);
        let events = events(&before, &after);
        let fates: Vec<_> = events.iter().map(|e| (e.object.name.as_str(), e.action)).collect();
        assert_eq!(
            fates,
            [
                ("changed", Action::Updated),
                ("gone", Action::Deleted),
                ("held", Action::Terminating),
                ("new", Action::Created),
                ("replaced", Action::Replaced),
                ("same", Action::Unchanged)
            ]
        );
        assert_eq!(events[0].changed, ["spec", "labels"]);
    }

    #[test]
    fn custom_objects_and_what_users_made_count_as_lost() {
        let crd = object(
            "CustomResourceDefinition",
            "widgets.x",
            "1",
            &json!({"spec": {"group": "x", "names": {"kind": "Widget"}}}),
        );
        let widget = object("Widget", "w", "2", &json!({"apiVersion": "x/v1"}));
        let pod = object("Pod", "p", "3", &json!({}));
        let secret = object("Secret", "s", "4", &json!({}));
        let owned = json!({"metadata": {"annotations": {"meta.helm.sh/release-name": "r"}}});
        let own = object("Secret", "own", "5", &owned);
        let made = object(
            "ConfigMap",
            "made",
            "6",
            &json!({"metadata": {"ownerReferences": [{"controller": true}]}}),
        );
        let rolled = json!({"metadata": {"ownerReferences": [{"kind": "ReplicaSet", "controller": true}]}});
        let rolled = object("Pod", "rolled", "7", &rolled);
        let before = Snapshot::new(vec![crd, widget, pod, secret, own, made, rolled]);
        let events = events(&before, &Snapshot::default());
        let names =
            |namespace| lost(&before, &events, namespace).iter().map(ToString::to_string).collect::<Vec<_>>();
        let crd = "CustomResourceDefinition/a/widgets.x";
        assert_eq!(names("release"), [crd, "Pod/a/p", "Secret/a/s", "Widget/a/w"]);
        assert_eq!(names("a"), [crd, "Secret/a/s", "Widget/a/w"]);
    }
}
