//! Values that every upgrade makes anew.

use super::context::{first_few, rendered};
use super::{Context, Findings};
use crate::finding::Severity;
use crate::upgrade::diff::{Change, ChangeKind, diff};
use crate::upgrade::inventory::{Item, Place};

declare_check! {
    /// Every upgrade gives a value anew, whether or not anything in the chart has changed.
    ///
    /// ## What breaks
    /// Templates that ask chance or the clock (`randAlphaNum`, `genCA`, `now`, …) answer otherwise in every revision. A password
    /// in a Secret is another one after the upgrade: who has read the old one, and a database that was set up with it, can't
    /// tell. A certificate is another one before the pods that serve it have seen it. A name is another object, and the old one is
    /// deleted. In the template of pods it makes a workload roll out with every upgrade.
    ///
    /// ## What to do
    /// Give the value yourself (`--set`, a values file, an existing Secret), so that it stays. As the author of the chart, take
    /// what is there: `lookup` the object first, and make a value only where there is none.
    ///
    /// ## Example
    /// ```yaml before
    /// # Source: demo/templates/secret.yaml
    /// apiVersion: v1
    /// kind: Secret
    /// metadata: {name: login}
    /// stringData: {user: admin, password: {{ randAlphaNum 12 | quote }}}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/secret.yaml
    /// apiVersion: v1
    /// kind: Secret
    /// metadata: {name: login}
    /// stringData: {user: admin, password: {{ randAlphaNum 12 | quote }}}
    /// ```
    /// ```text finding
    /// breaks: Secret login: every upgrade makes stringData.password anew
    /// ```
    ///
    /// What only makes pods roll out is told, and no more:
    ///
    /// ```yaml before
    /// # Source: demo/templates/web.yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: web}
    /// spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}, annotations: {rollme: {{ now | date "150405" | quote }}}}, spec: {containers: [{name: c, image: "a:1"}]}}}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/web.yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: web}
    /// spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}, annotations: {rollme: {{ now | date "150405" | quote }}}}, spec: {containers: [{name: c, image: "a:1"}]}}}
    /// ```
    /// ```text finding
    /// notes: Deployment web: every upgrade makes spec.template.metadata.annotations.rollme anew
    /// ```
    ///
    /// ## Not reported
    /// Values that are there already and are taken from there:
    ///
    /// ```yaml before
    /// # Source: demo/templates/secret.yaml
    /// apiVersion: v1
    /// kind: Secret
    /// metadata: {name: login}
    /// stringData: {password: {{ "fixed" | quote }}}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/secret.yaml
    /// apiVersion: v1
    /// kind: Secret
    /// metadata: {name: login}
    /// stringData: {password: {{ "fixed" | quote }}, made: {{ if false }}{{ randAlphaNum 12 }}{{ end }}}
    /// ```
    ///
    /// ## References
    /// - Sprig's documentation, "Strings" and "Cryptographic functions"; Helm's chart best practices on `lookup`
    severity: Breaks
}

/// Where a change does nothing but make pods anew.
const ROLLS_OUT: &str = "spec.template.metadata.annotations";

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    let Some(again) = context.scene.again else { return };
    for change in diff(context.scene.after, again) {
        let Some(item) = context.after.iter().find(|item| is_of(item, &change)) else { continue };
        let what = match change.kind {
            ChangeKind::Changed => {
                let paths: Vec<String> = change.fields.iter().map(|field| field.path.clone()).collect();
                format!("every upgrade makes {} anew", first_few(&paths))
            }
            _ => "every upgrade makes it anew under another name, and deletes this one".to_owned(),
        };
        let message = format!("{} {}: {what}", item.name.kind, item.name.name);
        findings
            .say(severity(item, &change), message, rendered(item))
            .about(&item.name)
            .during(&["upgrade"])
            .advise("give the value yourself, in the values or in an object that the chart takes instead of its own");
        change.fields.iter().for_each(|field| findings.claim(&item.name, &field.path));
    }
}

fn is_of(item: &Item, change: &Change) -> bool {
    (&item.name, &item.group) == (&change.object, &change.group) && item.place != Place::Crds
}

fn severity(item: &Item, change: &Change) -> Severity {
    let only_rolls =
        !change.fields.is_empty() && change.fields.iter().all(|field| field.path.starts_with(ROLLS_OUT));
    match item.name.kind.as_str() {
        _ if only_rolls => Severity::Notes,
        "Secret" => Severity::Breaks,
        _ => Severity::Risks,
    }
}
