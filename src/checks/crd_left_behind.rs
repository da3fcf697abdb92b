//! CRDs in `crds/` that differ and that no upgrade touches.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::context::{Present, rendered};
use super::{Context, Findings};
use crate::finding::{Evidence, Severity};
use crate::k8s;
use crate::k8s::At as _;
use crate::schema::compare;
use crate::upgrade::diff::{ChangeKind, FieldChange, fields};
use crate::upgrade::inventory::{Item, Place};

declare_check! {
    /// A CRD in `crds/` of the chart or of a subchart differs from the one in force, or leaves the release without being deleted: Helm does not upgrade it.
    ///
    /// ## What breaks
    /// Helm creates what lies in `crds/` on install and never looks at it again. The new controller runs against the old
    /// definition: fields it writes are pruned or refused, rules it relies on are missing. The same goes for a CRD that the values
    /// switch off, or that leaves the templates while the live object says `helm.sh/resource-policy: keep`.
    ///
    /// ## What to do
    /// Apply the new definition before the upgrade: `kubectl apply --server-side --force-conflicts -f FILE`. Client-side apply
    /// fails for large definitions. Give `--state` with the live definitions: they need not be the old chart's. One that allows
    /// more than the new chart's is newer or was edited by hand; look what would go (`kubectl diff`) before you replace it.
    ///
    /// ## Example
    /// ```yaml before
    /// # Source: demo/crds/w.yaml
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
    /// # Source: demo/crds/w.yaml
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
    /// ```text finding
    /// risks: CRD widgets.example.test in crds/ differs from the old chart's and is not upgraded: spec.color: added
    /// ```
    ///
    /// The live definition decides where `--state` has it, be it older than the old chart's, newer or edited by hand:
    ///
    /// ```yaml before
    /// # Source: demo/crds/w.yaml
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
    /// ```yaml after
    /// # Source: demo/crds/w.yaml
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
    /// ```yaml state
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
    /// ```text finding
    /// risks: CRD widgets.example.test in crds/ differs from the live one and is not upgraded: spec.size: type: string -> integer; spec.color: added
    /// ```
    ///
    /// A definition that is new in `crds/` is not created:
    ///
    /// ```yaml before
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// # Source: demo/crds/w.yaml
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
    /// ```text finding
    /// risks: CRD widgets.example.test in crds/ is new, and no upgrade creates it
    /// ```
    ///
    /// ## Not reported
    /// ```yaml before
    /// # Source: demo/crds/w.yaml
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
    /// # Source: demo/crds/w.yaml
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
    ///
    /// The live one is already what the new chart has:
    ///
    /// ```yaml before
    /// # Source: demo/crds/w.yaml
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
    /// # Source: demo/crds/w.yaml
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
    /// ```yaml state
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
    ///   conversion: {strategy: None}
    /// ```
    ///
    /// ## References
    /// - Helm v4.3.1 `pkg/action/upgrade.go`: `crds/` is handled on install only
    severity: Risks
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    departures(context, findings);
    for item in context.crds_after().filter(|item| item.place == Place::Crds) {
        let Some(present) = context.present(item) else {
            say_missing(item, findings);
            continue;
        };
        if !goes(context, item) {
            compared(context, item, &present, findings);
        }
    }
}

/// Whether the upgrade deletes the definition, as it leaves the old manifest.
fn goes(context: &Context<'_>, item: &Item) -> bool {
    let owned = context.item_before(item).filter(|old| old.place == Place::Templates);
    owned.is_some_and(|old| !context.is_kept(old))
}

fn say_missing(item: &Item, findings: &mut Findings) {
    let message = format!("CRD {} in crds/ is new, and no upgrade creates it", item.name.name);
    let said = findings.say(Severity::Risks, message, rendered(item)).about(&item.name);
    said.during(&["upgrade"]).advise(application(item));
    findings.claim(&item.name, "");
}

fn compared(context: &Context<'_>, item: &Item, present: &Present<'_>, findings: &mut Findings) {
    let differences = differences(context, present.object, &item.object);
    let changed = context.changes.iter().any(|change| {
        change.kind == ChangeKind::Changed && change.object == item.name && !change.fields.is_empty()
    });
    if changed {
        findings.claim(&item.name, "");
    }
    let (severity, message) = match (differences.is_empty(), present.live || !changed) {
        (true, true) => return,
        (true, false) => (
            Severity::Notes,
            format!("CRD {} in crds/ differs from the old chart's in words only", item.name.name),
        ),
        (false, _) => (
            Severity::Risks,
            format!(
                "CRD {} in crds/ differs from the {} and is not upgraded{}",
                item.name.name,
                present.word(),
                shown(&differences)
            ),
        ),
    };
    let said = findings.say(severity, message, rendered(item)).about(&item.name).during(&["upgrade"]);
    let said = differences.iter().take(SHOWN).fold(said, |said, difference| {
        said.because(Evidence::State { object: item.name.clone(), detail: difference.words.clone() })
    });
    if severity > Severity::Notes {
        advice(item, present, &differences).into_iter().fold(said, super::findings::Said::advise);
    }
}

fn advice(item: &Item, present: &Present<'_>, differences: &[Difference]) -> Vec<String> {
    let more = present.live && differences.iter().any(|difference| difference.takes);
    let look = more.then(|| {
        format!(
            "the live definition allows what {} does not: see whether it is newer or was edited by hand before you replace it: kubectl diff --server-side --force-conflicts -f {}",
            item.source, item.source
        )
    });
    look.into_iter().chain([application(item)]).collect()
}

fn application(item: &Item) -> String {
    format!(
        "before the upgrade, with {} unpacked from the chart: kubectl apply --server-side --force-conflicts -f {}",
        item.source, item.source
    )
}

/// CRDs that neither the new manifest nor its `crds/` have, and that nothing deletes.
fn departures(context: &Context<'_>, findings: &mut Findings) {
    let gone = context.changes.iter().filter(|change| change.kind == ChangeKind::Removed);
    for change in gone.filter(|change| change.object.kind == "CustomResourceDefinition") {
        let old = context.before.iter().find(|item| item.name == change.object);
        let Some(old) = old.filter(|old| old.place == Place::Crds || context.is_kept(old)) else { continue };
        let message = format!(
            "CRD {} is not in the new release and stays in the cluster as it is: nothing updates it any more",
            old.name.name
        );
        findings.say(Severity::Risks, message, rendered(old)).about(&old.name).during(&["upgrade"]).advise(
            "apply the definition that goes with the new version by hand, now and with every later version",
        );
        findings.claim(&old.name, "");
    }
}

/// Most differences named in one finding.
const SHOWN: usize = 8;

fn shown(differences: &[Difference]) -> String {
    let words: Vec<&str> = differences.iter().take(3).map(|difference| difference.words.as_str()).collect();
    match differences.len() {
        0..=3 => format!(": {}", words.join("; ")),
        more => format!(": {}; and {} more", words.join("; "), more - 3),
    }
}

/// One thing in which the new definition is not the one that stays.
struct Difference {
    words: String,
    /// Whether the new one allows less.
    takes: bool,
}

/// What differs in behaviour: words for the reader and what the server fills in do not count.
fn differences(context: &Context<'_>, old: &Arc<Value>, new: &Arc<Value>) -> Vec<Difference> {
    let (before, after) = (versions(old), versions(new));
    let mut found = Vec::new();
    for version in &after {
        if !before.contains(version) {
            found.push(Difference { words: format!("version {version} comes"), takes: false });
        } else if let (Some(before), Some(after)) =
            (context.structural(old, version), context.structural(new, version))
        {
            let schemas = compare::compare(&before, &after).into_iter();
            found.extend(schemas.map(|one| Difference {
                words: one.to_string(),
                takes: one.change.tightens() || matches!(one.change, compare::Change::Removed { .. }),
            }));
        }
    }
    let gone = before.iter().filter(|version| !after.contains(version));
    found.extend(gone.map(|version| Difference { words: format!("version {version} goes"), takes: true }));
    let rest = fields(&shape(old), &shape(new)).into_iter().filter(|field| !is_version(&field.path));
    found.extend(rest.map(|field| Difference { takes: field.after.is_none(), words: told(&field) }));
    found
}

/// Whether a path is a whole version: that is told apart.
fn is_version(path: &str) -> bool {
    path.strip_prefix("spec.versions[").is_some_and(|rest| rest.find(']') == Some(rest.len() - 1))
}

fn told(field: &FieldChange) -> String {
    let json = |value: &Option<Value>| value.as_ref().map_or("none".to_owned(), Value::to_string);
    format!("{}: {} -> {}", field.path, json(&field.before), json(&field.after))
}

fn versions(crd: &Value) -> Vec<&str> {
    let list = crd.at("/spec/versions").and_then(Value::as_array);
    list.into_iter().flatten().map(|version| k8s::text(version, "/name")).collect()
}

/// What a definition says besides its schemas, as the server completes it.
///
/// Source: kubernetes v1.34, `apiextensions-apiserver/pkg/apis/apiextensions/v1/defaults.go`.
fn shape(crd: &Value) -> Value {
    let mut spec = crd.get("spec").and_then(Value::as_object).map(without_schemas).unwrap_or_default();
    let kind = k8s::text(crd, "/spec/names/kind");
    if let Some(names) = spec.get_mut("names").and_then(Value::as_object_mut) {
        names.entry("singular").or_insert_with(|| kind.to_lowercase().into());
        names.entry("listKind").or_insert_with(|| format!("{kind}List").into());
    }
    spec.entry("conversion").or_insert_with(|| json!({"strategy": "None"}));
    if spec.get("preserveUnknownFields") == Some(&Value::Bool(false)) {
        spec.remove("preserveUnknownFields");
    }
    json!({ "spec": spec })
}

fn without_schemas(spec: &Map<String, Value>) -> Map<String, Value> {
    let plain = |version: &Value| -> Value {
        let fields = version.as_object().into_iter().flatten();
        fields.filter(|(key, _)| *key != "schema").map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    let versions = |list: &Value| list.as_array().into_iter().flatten().map(plain).collect::<Value>();
    let member = |(key, value): (&String, &Value)| {
        (key.clone(), if key == "versions" { versions(value) } else { value.clone() })
    };
    spec.iter().map(member).collect()
}
