//! Living objects whose spec somebody other than the actor changed in the course of a step.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::cluster::Exchange;
use crate::finding::ObjectName;
use crate::k8s::{self, Gvk, catalogue};
use crate::upgrade::diff::{FieldChange, fields};
use crate::upgrade::fate::{Snapshot, is_terminating};
use crate::upgrade::secrets::LAST_APPLIED;

/// Whose name the writes of a hook's program carry.
const HOOK: &str = "hook";

/// Owners above an object that are looked at.
const GENERATIONS: usize = 8;

/// An object that lives on under its UID with parts of its spec lost or changed, or labels or annotations lost, which the
/// actor did not write, nor anything above it; or with whatever a hook changed in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Rewrite {
    /// The object.
    pub object: ObjectName,
    /// Who changed it.
    pub writer: Writer,
    /// Who owns it, the next one first.
    pub owners: Vec<ObjectName>,
    /// What differs, with paths from `spec` or `metadata` on, of objects that hooks wrote from their first member on; at
    /// least one field is lost or has another value, unless a hook wrote it.
    pub fields: Vec<FieldChange>,
}

/// What is known of who changed an object; nothing where nobody saw it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writer {
    /// Who wrote it.
    pub known: BTreeSet<String>,
    /// Whether its definition changed, which hides fields that are gone from it before anybody writes.
    pub redefined: bool,
    /// Whether a hook's program wrote it, or that of another Job.
    pub hook: bool,
}

/// What somebody other than `actor` changed between two looks; without `exchanges` of others nobody knows who.
#[must_use]
pub fn rewrites(before: &Snapshot, after: &Snapshot, exchanges: &[Exchange], actor: &str) -> Vec<Rewrite> {
    let look = Look { before, after, exchanges, actor };
    let hooks: Vec<&Exchange> = exchanges.iter().filter(|one| one.by == HOOK && one.status < 300).collect();
    let living = before.living(after).filter(|(_, _, new)| !is_terminating(new));
    let rewrite = |(name, old, new): (&ObjectName, &Arc<Value>, &Arc<Value>)| {
        let rewritten = differ(old, new).then(|| look.rewrite(name, old, new)).flatten();
        rewritten.or_else(|| look.hooked(&hooks, name, old, new))
    };
    living.filter_map(rewrite).collect()
}

fn spec(object: &Value) -> Option<&Value> {
    object.get("spec")
}

/// Labels and annotations, which are read like a spec; what others keep in them comes and goes with every write.
const TAGS: [&str; 2] = ["labels", "annotations"];

fn tags<'v>(object: &'v Value, part: &str) -> Option<&'v Value> {
    object.get("metadata")?.get(part).filter(|tags| tags.is_object())
}

fn differ(old: &Value, new: &Value) -> bool {
    spec(old) != spec(new) || TAGS.iter().any(|part| tags(old, part) != tags(new, part))
}

/// What differs between the specs, and labels and annotations that are gone.
fn differences(old: &Value, new: &Value) -> Vec<FieldChange> {
    let none = Value::Null;
    let below = |root: &str, old: Option<&Value>, new: Option<&Value>| {
        let mut found = fields(old.unwrap_or(&none), new.unwrap_or(&none));
        found.iter_mut().for_each(|field| field.path = joined(root, &field.path));
        found
    };
    let mut found = below("spec", spec(old), spec(new));
    let empty = Value::Object(Map::new());
    for part in TAGS {
        let gone = below(&format!("metadata.{part}"), tags(old, part), tags(new, part).or(Some(&empty)));
        found.extend(gone.into_iter().filter(|field| field.before.is_some() && field.after.is_none()));
    }
    found.retain(|field| !field.path.contains(LAST_APPLIED));
    found
}

/// Members of objects that are no contents.
const APART: &[&str] = &["kind", "metadata", "status"];

/// Annotations that controllers keep.
const KEPT: &[&str] = &[LAST_APPLIED, "deployment.kubernetes.io/revision"];

/// Everything that differs between two objects, without what the server and controllers keep.
fn all_differences(old: &Value, new: &Value) -> Vec<FieldChange> {
    let contents = |object: &Value| {
        let mut contents = object.as_object().cloned().unwrap_or_default();
        contents.retain(|key, _| !APART.contains(&key.as_str()));
        let tags = TAGS.iter().filter_map(|part| Some(((*part).to_owned(), tags(object, part)?.clone())));
        contents.insert("metadata".to_owned(), Value::Object(tags.collect()));
        Value::Object(contents)
    };
    let mut found = fields(&contents(old), &contents(new));
    // The version says how rules are read, and is none of the contents.
    found.retain(|field| field.path != "apiVersion" && !KEPT.iter().any(|kept| field.path.contains(kept)));
    found
}

/// What came new is a default or a binding; a rewrite takes something away.
fn takes(field: &FieldChange) -> bool {
    field.before.is_some()
}

struct Look<'l> {
    before: &'l Snapshot,
    after: &'l Snapshot,
    exchanges: &'l [Exchange],
    actor: &'l str,
}

impl Look<'_> {
    fn rewrite(&self, name: &ObjectName, old: &Value, new: &Arc<Value>) -> Option<Rewrite> {
        let fields = differences(old, new);
        let owners = self.owners(new);
        if !fields.iter().any(takes) || self.is_own(new) || owners.iter().any(|owner| self.explains(owner)) {
            return None;
        }
        Some(Rewrite {
            object: name.clone(),
            writer: self.writer(new),
            owners: owners.iter().map(|owner| k8s::object_name(owner)).collect(),
            fields,
        })
    }

    /// What a hook's program changed in an object that the actor did not write.
    fn hooked(
        &self,
        hooks: &[&Exchange],
        name: &ObjectName,
        old: &Value,
        new: &Arc<Value>,
    ) -> Option<Rewrite> {
        // Most objects are named by none of them.
        let named = || hooks.iter().filter(|exchange| exchange.request.contains(&name.name));
        named().next()?;
        let place = self.place(new)?;
        named().find(|exchange| place.is_written(&exchange.request))?;
        let known: BTreeSet<String> = self.writers(new).map(str::to_owned).collect();
        if known.contains(self.actor) {
            return None;
        }
        let fields = all_differences(old, new);
        let owners = self.owners(new).iter().map(|owner| k8s::object_name(owner)).collect();
        let writer = Writer { known, hook: true, ..Writer::default() };
        (!fields.is_empty()).then(|| Rewrite { object: name.clone(), writer, owners, fields })
    }

    /// Whether the actor or a hook wrote an object.
    fn is_own(&self, object: &Value) -> bool {
        self.writers(object).any(|by| by == self.actor || by == HOOK)
    }

    /// Whether an owner was changed by the actor, so that what it owns follows.
    fn explains(&self, owner: &Arc<Value>) -> bool {
        let old = self.before.find(&Gvk::of(owner).group, &k8s::object_name(owner));
        self.is_own(owner) && old.is_none_or(|old| spec(old) != spec(owner))
    }

    fn owners(&self, object: &Arc<Value>) -> Vec<Arc<Value>> {
        let mut owners = Vec::new();
        let mut last = Arc::clone(object);
        while let Some(owner) = self.owner(&last).filter(|_| owners.len() < GENERATIONS) {
            owners.push(Arc::clone(owner));
            last = Arc::clone(owner);
        }
        owners
    }

    /// The owner that controls an object, where it is there.
    fn owner(&self, object: &Value) -> Option<&Arc<Value>> {
        let reference = k8s::controller(object)?;
        let (group, _) = k8s::split_api_version(k8s::text(reference, "/apiVersion"));
        let named = |namespace: &str| ObjectName {
            kind: k8s::text(reference, "/kind").to_owned(),
            namespace: namespace.to_owned(),
            name: k8s::text(reference, "/name").to_owned(),
        };
        let here = self.after.find(group, &named(k8s::text(object, "/metadata/namespace")));
        let owner = here.or_else(|| self.after.find(group, &named("")))?;
        (k8s::text(owner, "/metadata/uid") == k8s::text(reference, "/uid")).then_some(owner)
    }

    fn writer(&self, object: &Value) -> Writer {
        let known = self.writers(object).map(str::to_owned).collect();
        Writer { known, redefined: self.is_redefined(object), hook: false }
    }

    /// Whether the definition of an object's kind changed.
    fn is_redefined(&self, object: &Value) -> bool {
        let Some(new) = self.definition(object) else { return false };
        let old = self.before.find("apiextensions.k8s.io", &k8s::object_name(new));
        old.is_some_and(|old| spec(old) != spec(new))
    }

    fn definition(&self, object: &Value) -> Option<&Arc<Value>> {
        let gvk = Gvk::of(object);
        self.after.definitions().find(|crd| {
            k8s::text(crd, "/spec/group") == gvk.group && k8s::text(crd, "/spec/names/kind") == gvk.kind
        })
    }

    /// Who wrote an object, its status apart.
    fn writers(&self, object: &Value) -> impl Iterator<Item = &str> {
        let place = self.place(object);
        let writes = self.exchanges.iter().filter(move |exchange| {
            place.as_ref().is_some_and(|place| place.is_written(&exchange.request)) && exchange.status < 300
        });
        writes.map(|exchange| exchange.by.as_str())
    }

    fn place(&self, object: &Value) -> Option<Place> {
        let gvk = Gvk::of(object);
        let builtin = catalogue::by_kind(&gvk.group, &gvk.kind).map(|kind| kind.plural.to_owned());
        let custom = || Some(k8s::text(self.definition(object)?, "/spec/names/plural").to_owned());
        let name = k8s::object_name(object);
        Some(Place { group: gvk.group, plural: builtin.or_else(custom)?, name })
    }
}

fn joined(root: &str, path: &str) -> String {
    match path {
        "" => root.to_owned(),
        path if path.starts_with('[') => format!("{root}{path}"),
        path => format!("{root}.{path}"),
    }
}

/// Where requests find an object.
struct Place {
    group: String,
    plural: String,
    name: ObjectName,
}

impl Place {
    /// Whether a request, method and path, writes the object itself.
    fn is_written(&self, request: &str) -> bool {
        let Some((method, path)) = request.split_once(' ') else { return false };
        if !matches!(method, "PUT" | "PATCH") {
            return false;
        }
        let mut parts = path.trim_start_matches('/').split('/');
        let group = match parts.next() {
            Some("apis") => parts.next().unwrap_or_default(),
            _ => "",
        };
        let rest: Vec<&str> = parts.skip(1).collect();
        let (namespace, rest) = match rest.as_slice() {
            ["namespaces", namespace, rest @ ..] if rest.len() > 1 => (*namespace, rest),
            rest => ("", rest),
        };
        let subresource = rest.get(2).copied().unwrap_or_default();
        group == self.group
            && namespace == self.name.namespace
            && rest.starts_with(&[&self.plural, &self.name.name])
            && subresource != "status"
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn widget(name: &str, spec: &Value) -> Arc<Value> {
        object("example.test/v1", "Widget", name, spec)
    }

    fn object(version: &str, kind: &str, name: &str, spec: &Value) -> Arc<Value> {
        let metadata = json!({"name": name, "namespace": "a", "uid": format!("{kind}-{name}")});
        Arc::new(json!({"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}))
    }

    fn owned(object: &Arc<Value>, owner: &Arc<Value>) -> Arc<Value> {
        let mut object = Value::clone(object);
        object["metadata"]["ownerReferences"] = json!([{"apiVersion": owner["apiVersion"], "kind": owner["kind"],
            "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"], "controller": true}]);
        Arc::new(object)
    }

    fn crd(version: &str) -> Arc<Value> {
        Arc::new(json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "widgets.example.test", "uid": "d"},
            "spec": {"group": "example.test", "names": {"kind": "Widget", "plural": "widgets"}, "versions": [version]}}))
    }

    fn known(by: &[&str]) -> Writer {
        Writer { known: by.iter().map(|by| (*by).to_owned()).collect(), ..Writer::default() }
    }

    fn wrote(by: &str, request: &str) -> Exchange {
        Exchange { at: 0.0, by: by.into(), request: request.into(), status: 200, message: String::new() }
    }

    fn seen(before: &[Arc<Value>], after: &[Arc<Value>], exchanges: &[Exchange]) -> Vec<Rewrite> {
        rewrites(&Snapshot::new(before.to_vec()), &Snapshot::new(after.to_vec()), exchanges, "helm3")
    }

    const PATCH: &str = "PATCH /apis/example.test/v1/namespaces/a/widgets/w";

    #[test]
    fn what_another_one_takes_away_is_told_with_its_name() {
        let before = [crd("1"), widget("w", &json!({"size": 1, "pool": {"a": "b"}}))];
        let after = [crd("1"), widget("w", &json!({"size": 2, "new": true}))];
        let found = seen(&before, &after, &[wrote("operator", PATCH)]);
        assert_eq!(found[0].writer, known(&["operator"]));
        let paths: Vec<&str> = found[0].fields.iter().map(|field| field.path.as_str()).collect();
        assert_eq!(paths, ["spec.new", "spec.pool", "spec.size"]);
        assert!(seen(&before, &after, &[wrote("operator", PATCH), wrote("helm3", PATCH)]).is_empty());
        let hooked = Writer { hook: true, ..known(&["hook"]) };
        assert_eq!(seen(&before, &after, &[wrote("hook", PATCH)])[0].writer, hooked);
        assert!(seen(&before, &after, &[wrote("hook", PATCH), wrote("helm3", PATCH)]).is_empty());
        assert_eq!(seen(&before, &after, &[])[0].writer, known(&[]));
        let status = format!("{PATCH}/status");
        assert_eq!(seen(&before, &after, &[wrote("operator", &status)])[0].writer, known(&[]));
    }

    #[test]
    fn what_only_comes_or_stays_or_is_another_object_is_no_rewrite() {
        let small = widget("w", &json!({"size": 1}));
        let more = widget("w", &json!({"size": 1, "new": true}));
        assert!(seen(std::slice::from_ref(&small), &[more], &[]).is_empty());
        assert!(seen(std::slice::from_ref(&small), std::slice::from_ref(&small), &[]).is_empty());
        let mut other = Value::clone(&widget("w", &json!({})));
        other["metadata"]["uid"] = json!("another");
        assert!(seen(&[small], &[Arc::new(other)], &[]).is_empty());
    }

    #[test]
    fn labels_and_annotations_that_go_are_told_and_others_not() {
        let tagged = |tags: Value| {
            let mut one = Value::clone(&widget("w", &json!({"size": 1})));
            one["metadata"]["labels"] = tags["labels"].clone();
            one["metadata"]["annotations"] = tags["annotations"].clone();
            Arc::new(one)
        };
        let before =
            [tagged(json!({"labels": {"team": "a"}, "annotations": {"seen": "1", LAST_APPLIED: "{}"}}))];
        assert!(
            seen(&before, &[tagged(json!({"labels": {"team": "b"}, "annotations": {"seen": "2"}}))], &[])
                .is_empty()
        );
        let mut bare = Value::clone(&before[0]);
        bare["metadata"]["labels"].take();
        let found = seen(&before, &[Arc::new(bare)], &[]);
        assert_eq!(found[0].fields[0].path, "metadata.labels.team");
    }

    #[test]
    fn a_definition_that_loses_fields_takes_them_from_its_objects() {
        let before = [crd("1"), widget("w", &json!({"size": 1, "pool": 1}))];
        let after = [crd("2"), widget("w", &json!({"size": 1}))];
        let applied = [wrote(
            "helm3",
            "PATCH /apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.test",
        )];
        assert_eq!(seen(&before, &after, &applied)[0].writer, Writer { redefined: true, ..known(&[]) });
    }

    #[test]
    fn what_follows_from_an_owner_that_the_actor_changed_is_explained() {
        let deployment = |image: &str| object("apps/v1", "Deployment", "d", &json!({"image": image}));
        let set = |of: &Arc<Value>, n: u8| owned(&object("apps/v1", "ReplicaSet", "r", &json!({"n": n})), of);
        let patched = [wrote("helm3", "PATCH /apis/apps/v1/namespaces/a/deployments/d")];
        let (old, new) = (deployment("1"), deployment("2"));
        let before = [Arc::clone(&old), set(&old, 1)];
        assert!(seen(&before, &[Arc::clone(&new), set(&new, 0)], &patched).is_empty());
        // A write that changes nothing explains nothing.
        let found = seen(&before, &[Arc::clone(&old), set(&old, 0)], &patched);
        assert_eq!(found[0].owners[0].kind, "Deployment");
    }
}
