//! The catch-all: what changed and no other check explained.

use super::{Context, Findings};
use crate::finding::{Evidence, Location, Severity};
use crate::upgrade::diff::{Change, ChangeKind};

declare_check! {
    /// Something differs between the two renders that no other check explains.
    ///
    /// ## What breaks
    /// Nothing that is known of. It is listed so that nothing which changed goes unmentioned.
    ///
    /// ## What to do
    /// Read the difference: `seatrial diff BEFORE AFTER` shows every field.
    ///
    /// ## Example
    /// ```yaml before
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// data: {a: b}
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// data: {a: c}
    /// ```
    /// ```text finding
    /// notes: ConfigMap demo changes: data.a
    /// ```
    ///
    /// ## Not reported
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
    /// ```
    severity: Notes
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    for change in &context.changes {
        if findings.is_claimed(&change.object, "") {
            continue;
        }
        let Some((message, evidence)) = describe(change, findings) else { continue };
        let mut evidence = evidence.into_iter();
        let Some(first) = evidence.next() else { continue };
        let said = findings.say(Severity::Notes, message, first).about(&change.object);
        evidence.fold(said, super::findings::Said::because);
    }
}

fn describe(change: &Change, findings: &Findings) -> Option<(String, Vec<Evidence>)> {
    let name = format!("{} {}", change.object.kind, change.object.name);
    let source = change.source_after.clone().or_else(|| change.source_before.clone()).unwrap_or_default();
    let place = || vec![Evidence::Render(Location { file: source.clone(), line: 0 })];
    match change.kind {
        ChangeKind::Added => Some((format!("{name} is new"), place())),
        ChangeKind::Removed => Some((format!("{name} goes away"), place())),
        ChangeKind::Moved { from, to } => Some((format!("{name} moves from {from} to {to}"), place())),
        ChangeKind::Changed => changed(change, &name, findings),
    }
}

/// Most fields that one finding names.
const FIELDS: usize = 6;

fn changed(change: &Change, name: &str, findings: &Findings) -> Option<(String, Vec<Evidence>)> {
    let left: Vec<_> =
        change.fields.iter().filter(|field| !findings.is_claimed(&change.object, &field.path)).collect();
    if left.is_empty() {
        return None;
    }
    let paths: Vec<&str> = left.iter().take(FIELDS).map(|field| field.path.as_str()).collect();
    let more =
        if left.len() > FIELDS { format!(" and {} more fields", left.len() - FIELDS) } else { String::new() };
    let evidence = left.iter().take(FIELDS).map(|field| Evidence::Change {
        path: field.path.clone(),
        before: field.before.clone(),
        after: field.after.clone(),
    });
    Some((format!("{name} changes: {}{more}", paths.join(", ")), evidence.collect()))
}
