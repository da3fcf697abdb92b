//! Schemas that allow less than before, tried on stored objects.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::context::{Present, called};
use super::{Context, Findings};
use crate::finding::{Evidence, ObjectName, Severity};
use crate::k8s;
use crate::k8s::At as _;
use crate::schema::compare::{self, Change, Difference};
use crate::schema::{Structural, decode};
use crate::upgrade::inventory::{Item, Place};

declare_check! {
    /// A CRD allows less than before: fields are removed, types change, rules are new.
    ///
    /// ## What breaks
    /// Stored objects stay as they are until somebody reads or writes them. A removed field is pruned on the next read and
    /// lost at the next write. A value of a type that the new client can't decode makes its whole list fail: the controller
    /// never syncs, and one object stops all. A new rule refuses updates of objects that break it, except where the value
    /// did not change (Kubernetes 1.30 and newer).
    ///
    /// ## What to do
    /// Look at the objects named, and convert or recreate them before the definition changes. Give `--state` so that the
    /// objects of your cluster are tried.
    ///
    /// ## Example
    /// ```yaml before
    /// # Source: demo/templates/w.yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata:
    ///   name: widgets.example.test
    /// spec:
    ///   group: example.test
    ///   names: {kind: Widget, plural: widgets}
    ///   scope: Namespaced
    ///   versions:
    ///   - name: v1
    ///     served: true
    ///     storage: true
    ///     schema:
    ///       openAPIV3Schema:
    ///         type: object
    ///         properties:
    ///           spec:
    ///             type: object
    ///             properties:
    ///               size: {x-kubernetes-int-or-string: true}
    ///               color: {type: string}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/w.yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata:
    ///   name: widgets.example.test
    /// spec:
    ///   group: example.test
    ///   names: {kind: Widget, plural: widgets}
    ///   scope: Namespaced
    ///   versions:
    ///   - name: v1
    ///     served: true
    ///     storage: true
    ///     schema:
    ///       openAPIV3Schema:
    ///         type: object
    ///         properties:
    ///           spec:
    ///             type: object
    ///             properties:
    ///               size: {type: integer}
    /// ```
    /// ```yaml state
    /// apiVersion: example.test/v1
    /// kind: Widget
    /// metadata: {name: a, namespace: ns}
    /// spec: {size: large, color: red}
    /// ```
    /// ```text finding
    /// breaks: CRD widgets.example.test: stored Widgets can't be decoded by the new client: spec.size
    /// risks: CRD widgets.example.test allows less: spec.color: removed, stored values are pruned (in use: Widget ns/a); spec.size: type: integer,string -> integer (in use: Widget ns/a)
    /// ```
    ///
    /// What objects use is named first, however much else goes; so it is with those of the built-in population:
    ///
    /// ```yaml before
    /// # Source: demo/templates/w.yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata:
    ///   name: widgets.example.test
    /// spec:
    ///   group: example.test
    ///   names: {kind: Widget, plural: widgets}
    ///   scope: Namespaced
    ///   versions:
    ///   - name: v1
    ///     served: true
    ///     storage: true
    ///     schema:
    ///       openAPIV3Schema:
    ///         type: object
    ///         properties:
    ///           spec:
    ///             type: object
    ///             properties:
    ///               a: {type: string}
    ///               b: {type: string}
    ///               c: {type: string}
    ///               d: {type: string}
    ///               e: {type: string}
    ///               size: {type: string}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/w.yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata:
    ///   name: widgets.example.test
    /// spec:
    ///   group: example.test
    ///   names: {kind: Widget, plural: widgets}
    ///   scope: Namespaced
    ///   versions:
    ///   - name: v1
    ///     served: true
    ///     storage: true
    ///     schema:
    ///       openAPIV3Schema:
    ///         type: object
    ///         properties:
    ///           spec:
    ///             type: object
    ///             properties:
    ///               size: {type: string}
    /// ```
    /// ```yaml alive before
    /// apiVersion: example.test/v1
    /// kind: Widget
    /// metadata: {name: blue, namespace: ns}
    /// spec: {size: large, e: "1"}
    /// ---
    /// apiVersion: example.test/v1
    /// kind: Widget
    /// metadata: {name: red, namespace: ns}
    /// spec: {e: "2"}
    /// ```
    /// ```text finding
    /// risks: CRD widgets.example.test allows less: spec.e: removed, stored values are pruned (in use: Widget ns/blue and 1 more); spec.a: removed, stored values are pruned; spec.b: removed, stored values are pruned; and 2 more
    /// ```
    ///
    /// ## Not reported
    /// ```yaml before
    /// # Source: demo/templates/w.yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata:
    ///   name: widgets.example.test
    /// spec:
    ///   group: example.test
    ///   names: {kind: Widget, plural: widgets}
    ///   scope: Namespaced
    ///   versions:
    ///   - name: v1
    ///     served: true
    ///     storage: true
    ///     schema:
    ///       openAPIV3Schema:
    ///         type: object
    ///         properties:
    ///           spec:
    ///             type: object
    ///             properties:
    ///               size: {type: integer}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/w.yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata:
    ///   name: widgets.example.test
    /// spec:
    ///   group: example.test
    ///   names: {kind: Widget, plural: widgets}
    ///   scope: Namespaced
    ///   versions:
    ///   - name: v1
    ///     served: true
    ///     storage: true
    ///     schema:
    ///       openAPIV3Schema:
    ///         type: object
    ///         properties:
    ///           spec:
    ///             type: object
    ///             properties:
    ///               size: {type: integer}
    ///               color: {type: string}
    /// ```
    ///
    /// ## References
    /// - kubernetes v1.34 `apiextensions-apiserver/pkg/apiserver/schema/pruning`, `…/validation/ratcheting.go`
    severity: Breaks
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    for item in context.crds_after() {
        let Some(old) = context.present(item) else { continue };
        let alive = context.alive(&item.object);
        for version in served(&item.object) {
            let (Some(before), Some(after)) =
                (context.structural(old.object, version), context.structural(&item.object, version))
            else {
                continue;
            };
            let all = compare::compare(&before, &after);
            let tighter = all.into_iter().filter(|difference| difference.change.tightens());
            let tighter = sorted(tighter.map(|difference| Tighter::of(difference, &alive)).collect());
            if !tighter.is_empty() {
                let touched = touched(&alive, &tighter, &before, &after);
                // What stays behind in crds/ is told apart; here it counts what the new controller's types do to objects.
                if item.place != Place::Crds || !touched.is_empty() {
                    say_tighter((item, &old), &tighter, &touched, findings);
                }
                say_undecodable(context, item, &before, &after, findings);
                findings.claim(&item.name, "spec");
            }
        }
    }
}

fn served(crd: &Value) -> Vec<&str> {
    let versions = crd.at("/spec/versions").and_then(Value::as_array).into_iter().flatten();
    versions.map(|version| k8s::text(version, "/name")).collect()
}

/// A difference by which a schema allows less, and the objects that it concerns.
struct Tighter<'c> {
    difference: Difference,
    users: Vec<&'c Arc<Value>>,
}

impl<'c> Tighter<'c> {
    fn of(difference: Difference, alive: &[&'c Arc<Value>]) -> Self {
        let users = alive.iter().filter(|object| uses(object, &difference)).copied().collect();
        Self { difference, users }
    }

    /// What objects use stands before what they don't, and fields before rules, which concern all that have what they are
    /// about.
    fn rank(&self) -> u8 {
        match (&self.difference.change, self.users.is_empty()) {
            (_, true) => 2,
            (Change::RuleAdded { .. } | Change::Alternatives(_) | Change::List { .. }, _) => 1,
            _ => 0,
        }
    }

    /// The difference, with the first of the objects that use it.
    fn words(&self) -> String {
        let Some(first) = self.users.first() else { return self.difference.to_string() };
        let more = match self.users.len() {
            1 => String::new(),
            users => format!(" and {} more", users - 1),
        };
        format!("{} (in use: {}{more})", self.difference, called(&k8s::object_name(first)))
    }
}

fn sorted(mut tighter: Vec<Tighter<'_>>) -> Vec<Tighter<'_>> {
    tighter.sort_by_key(Tighter::rank);
    tighter
}

/// Whether an object has what a difference is about; a field that becomes required concerns those that lack it.
fn uses(object: &Value, difference: &Difference) -> bool {
    let path = &difference.path;
    match difference.change {
        Change::Required(_) => {
            let parent = path.rfind('.').map_or("", |end| &path[..end]);
            present(object, parent) && !present(object, path)
        }
        _ => present(object, path),
    }
}

/// Most differences named in one message.
const SHOWN: usize = 3;

/// Most differences that are evidence of one finding; what objects use comes first.
const MOST: usize = 20;

fn say_tighter(
    (item, old): (&Item, &Present<'_>),
    tighter: &[Tighter<'_>],
    touched: &[ObjectName],
    findings: &mut Findings,
) {
    let named: Vec<String> = tighter.iter().take(SHOWN).map(Tighter::words).collect();
    let more =
        if tighter.len() > SHOWN { format!("; and {} more", tighter.len() - SHOWN) } else { String::new() };
    let place = if item.place == Place::Crds { " in crds/" } else { "" };
    let than = if old.live { " than the live one" } else { "" };
    let message = format!("CRD {}{place} allows less{than}: {}{more}", item.name.name, named.join("; "));
    let evidence = |one: &Tighter<'_>| Evidence::State { object: item.name.clone(), detail: one.words() };
    let Some((first, rest)) = tighter.split_first() else { return };
    let said = findings.say(Severity::Risks, message, evidence(first)).about(&item.name);
    let said = rest.iter().take(MOST).fold(said, |said, one| said.because(evidence(one)));
    said.about_all(touched.iter().take(MOST)).advise(advice(&item.name.name, touched));
}

fn advice(crd: &str, touched: &[ObjectName]) -> String {
    let look = format!("kubectl get {crd} -A -o yaml > before.yaml");
    let what = match touched.len() {
        0 => "look for the fields named".to_owned(),
        1 => "change the object named".to_owned(),
        count => format!("change the {count} objects concerned"),
    };
    format!("before the upgrade: {look}; {what}, there and in the manifests that you apply")
}

/// Objects that lose a field, or that the new schema would refuse and the old one would not.
fn touched(
    alive: &[&Arc<Value>],
    tighter: &[Tighter<'_>],
    before: &Structural,
    after: &Structural,
) -> Vec<ObjectName> {
    let removed = tighter.iter().filter(|one| matches!(one.difference.change, Change::Removed { .. }));
    let losing: BTreeSet<ObjectName> =
        removed.flat_map(|one| &one.users).map(|object| k8s::object_name(object)).collect();
    let refused = |object: &Value| {
        let old = errors(before, object);
        errors(after, object).iter().any(|error| !old.contains(error))
    };
    let named = alive.iter().map(|object| (k8s::object_name(object), object));
    let touched = named.filter(|(name, object)| losing.contains(name) || refused(object));
    touched.map(|(name, _)| name).collect()
}

/// What a schema has against an object that is created.
fn errors(schema: &Structural, object: &Value) -> Vec<String> {
    let mut object = object.clone();
    schema.default(&mut object);
    schema.validate(&object, None, Vec::new()).errors.iter().map(ToString::to_string).collect()
}

// Whether an object has a value at a path; `[*]` and `.*` stand for any item and member.
fn present(value: &Value, path: &str) -> bool {
    let path = path.trim_start_matches('.');
    if path.is_empty() {
        return true;
    }
    if let Some(rest) = path.strip_prefix("[*]") {
        return value.as_array().is_some_and(|list| list.iter().any(|item| present(item, rest)));
    }
    let end = path.find(['.', '[']).unwrap_or(path.len());
    let (name, rest) = path.split_at(end);
    match value {
        Value::Object(map) if name == "*" => map.values().any(|member| present(member, rest)),
        Value::Object(map) => map.get(name).is_some_and(|member| present(member, rest)),
        _ => false,
    }
}

fn say_undecodable(
    context: &Context<'_>,
    item: &Item,
    before: &Structural,
    after: &Structural,
    findings: &mut Findings,
) {
    let stuck: Vec<_> = context
        .instances(&item.object)
        .filter(|object| decode::undecodable(before, object).is_empty())
        .map(|object| (k8s::object_name(object), decode::undecodable(after, object)))
        .filter(|(_, values)| !values.is_empty())
        .collect();
    let Some((object, values)) = stuck.first() else { return };
    let kind = k8s::text(&item.object, "/spec/names/kind");
    let paths: BTreeSet<&str> =
        stuck.iter().flat_map(|(_, values)| values).map(|value| value.path.as_str()).collect();
    let paths: Vec<&str> = paths.into_iter().collect();
    let message = format!(
        "CRD {}: stored {kind}s can't be decoded by the new client: {}",
        item.name.name,
        paths.join(", ")
    );
    let value = &values[0];
    let detail = format!("{} is {}, the client wants {}", value.path, value.value, value.wanted);
    findings
        .say(Severity::Breaks, message, Evidence::State { object: object.clone(), detail })
        .about(&item.name)
        .about_all(stuck.iter().map(|(object, _)| object))
        .advise("delete and recreate these objects with values of the new type before the upgrade (orphan their dependents to let them run on)");
}
