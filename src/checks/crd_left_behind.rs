//! CRDs in `crds/` that differ and that no upgrade touches.

use super::context::rendered;
use super::crd_unprotected::keeps;
use super::{Context, Findings};
use crate::finding::Evidence;
use crate::finding::Severity;
use crate::k8s;
use crate::k8s::At as _;
use crate::schema::compare;
use crate::upgrade::diff::ChangeKind;
use crate::upgrade::inventory::{Item, Place};

declare_check! {
    /// A CRD in `crds/` of the chart or of a subchart differs, or leaves the release without being deleted: Helm does not upgrade it.
    ///
    /// ## What breaks
    /// Helm creates what lies in `crds/` on install and never looks at it again. The new controller runs against the old
    /// definition: fields it writes are pruned or refused, rules it relies on are missing. The same goes for a CRD that the values
    /// switch off, or that leaves the templates while the live object says `helm.sh/resource-policy: keep`.
    ///
    /// ## What to do
    /// Apply the new definition before the upgrade: `kubectl apply --server-side --force-conflicts -f FILE`. Client-side apply
    /// fails for large definitions.
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
    /// risks: CRD widgets.example.test in crds/ differs and is not upgraded: spec.color: added
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
    /// ## References
    /// - Helm v4.3.1 `pkg/action/upgrade.go`: `crds/` is handled on install only
    severity: Risks
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    departures(context, findings);
    for change in &context.changes {
        let in_place = change.kind == ChangeKind::Changed && change.object.kind == "CustomResourceDefinition";
        let item = context
            .after
            .iter()
            .find(|item| in_place && item.place == Place::Crds && item.name == change.object);
        let Some(item) = item else { continue };
        let Some(old) = context.item_before(item) else { continue };
        let differences = differences(context, old, item);
        let shown = shown(&differences);
        let message = format!("CRD {} in crds/ differs and is not upgraded{shown}", item.name.name);
        let said =
            findings.say(Severity::Risks, message, rendered(item)).about(&item.name).during(&["upgrade"]);
        let said = differences.iter().take(SHOWN).fold(said, |said, line| {
            said.because(Evidence::State { object: item.name.clone(), detail: line.clone() })
        });
        said.advise(format!(
            "before the upgrade, with {} unpacked from the chart: kubectl apply --server-side --force-conflicts -f {}",
            item.source, item.source
        ));
        findings.claim(&item.name, "");
    }
}

/// CRDs that neither the new manifest nor its `crds/` have, and that nothing deletes.
fn departures(context: &Context<'_>, findings: &mut Findings) {
    let gone = context.changes.iter().filter(|change| change.kind == ChangeKind::Removed);
    for change in gone.filter(|change| change.object.kind == "CustomResourceDefinition") {
        let old = context.before.iter().find(|item| item.name == change.object);
        let Some(old) = old.filter(|old| old.place == Place::Crds || kept(context, old)) else { continue };
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

/// Helm asks the live object, where it is known.
fn kept(context: &Context<'_>, item: &Item) -> bool {
    keeps(context.live(item).unwrap_or(&item.object))
}

/// Most differences named in one finding.
const SHOWN: usize = 8;

fn shown(differences: &[String]) -> String {
    match differences {
        [] => String::new(),
        some if some.len() <= 3 => format!(": {}", some.join("; ")),
        some => format!(": {}; and {} more", some[..3].join("; "), some.len() - 3),
    }
}

fn differences(context: &Context<'_>, old: &Item, new: &Item) -> Vec<String> {
    let versions = |item: &Item| -> Vec<String> {
        let list = item.object.at("/spec/versions").and_then(serde_json::Value::as_array);
        list.into_iter().flatten().map(|version| k8s::text(version, "/name").to_owned()).collect()
    };
    let mut lines = Vec::new();
    for version in versions(new) {
        let (Some(before), Some(after)) =
            (context.structural(&old.object, &version), context.structural(&new.object, &version))
        else {
            lines.push(format!("version {version} comes"));
            continue;
        };
        lines.extend(compare::compare(&before, &after).iter().map(ToString::to_string));
    }
    lines.extend(
        versions(old).iter().filter(|v| !versions(new).contains(v)).map(|v| format!("version {v} goes")),
    );
    lines
}
