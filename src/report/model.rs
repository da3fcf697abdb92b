//! What every format shows, in order: verdict, matrix, findings, ownership, what could not be checked.

use serde::Serialize;

use super::ends::Known;
use crate::finding::{Evidence, Finding, ObjectName, Severity};
use crate::upgrade::outcome::{Operation, Outcome, Rehearsal, Verdict, Way};
use crate::upgrade::secrets::{Redactor, hide_at};

/// Version of the JSON form; grows by one when a field changes its meaning or goes away.
pub const SCHEMA_VERSION: u32 = 1;

/// A whole report.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Name and version of the program that wrote it.
    pub generator: String,
    /// The judgement.
    pub verdict: Judgement,
    /// The chart that runs now.
    pub before: ChartInfo,
    /// The chart to upgrade to.
    pub after: ChartInfo,
    /// Release name.
    pub release: String,
    /// Namespace of the release.
    pub namespace: String,
    /// Kubernetes version that was rehearsed.
    pub kubernetes: String,
    /// `sim`, `kind` or `cluster`.
    pub engine: String,
    /// Where the starting objects come from, in words.
    pub start: String,
    /// What was rehearsed, one an actor.
    pub rehearsals: Vec<Rehearsal>,
    /// Findings, worst first.
    pub findings: Vec<Finding>,
    /// Who owns which CRD and default runtime before and after.
    pub ownership: Vec<Ownership>,
    /// What could not be checked and why; empty when everything was.
    pub not_checked: Vec<String>,
}

/// A chart in the report.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ChartInfo {
    /// As the user named it.
    pub reference: String,
    /// Chart name.
    pub name: String,
    /// Chart version.
    pub version: String,
    /// `sha256:…` of the archive, empty for a directory.
    pub digest: String,
}

/// Where one CRD or runtime lives before and after.
#[derive(Clone, Debug, Serialize)]
pub struct Ownership {
    /// The object.
    pub object: ObjectName,
    /// Place and owner before, e.g. `crds/ (nobody)`; empty when absent.
    pub before: String,
    /// Place and owner after.
    pub after: String,
    /// Whether `helm.sh/resource-policy: keep` protects it after.
    pub keep: bool,
}

/// The judgement: one word, one sentence, one exit code.
#[derive(Clone, Debug, Serialize)]
pub struct Judgement {
    /// `safe`, `findings`, `loses` or `not-checked`.
    pub level: &'static str,
    /// What a person needs to know, in one or two sentences.
    pub summary: String,
    /// "May I upgrade?" in one or two sentences: whether the plain command goes, and what the way to take comes to; empty
    /// when nothing could be rehearsed.
    pub answer: String,
    /// Names of the ways that alone were judged; empty where all were.
    pub ways: Vec<String>,
    /// Findings of this severity or worse fail the run.
    pub gate: Severity,
    /// Exit code of the run.
    pub exit_code: u8,
}

impl Report {
    /// Every outcome that loses something, over all actors and ways, the worst of each operation first.
    #[must_use]
    pub fn losing_outcomes(&self) -> Vec<Losing<'_>> {
        let ways = self.rehearsals.iter().flat_map(|r| r.ways.iter().map(move |way| (r, way)));
        ways.flat_map(|(rehearsal, way)| {
            way.operations.iter().flat_map(move |operation| {
                let losing = operation.outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Loses);
                losing.map(move |outcome| Losing { rehearsal, way, operation, outcome })
            })
        })
        .collect()
    }

    /// What lines on ends are told from.
    pub(super) fn known(&self) -> Known<'_> {
        Known::new(self.ownership.iter().map(|row| &row.object), &self.findings)
    }

    /// Findings that say more than the list of what is lost.
    pub fn causes(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| is_cause(finding))
    }

    /// Makes values of Secrets unreadable; a report is shown to more people than the cluster is.
    pub fn redact(&mut self) {
        let redactors: Vec<_> =
            self.rehearsals.iter().map(|rehearsal| rehearsal.secrets.redactor()).collect();
        for redactor in &redactors {
            redactor.lines(&mut self.verdict.summary);
            redactor.lines(&mut self.verdict.answer);
            self.not_checked.iter_mut().for_each(|line| redactor.lines(line));
        }
        for finding in &mut self.findings {
            if finding.objects.iter().any(|object| object.kind == "Secret") {
                finding.evidence.iter_mut().for_each(hide_contents);
            }
            redactors.iter().for_each(|redactor| redact(finding, redactor));
        }
    }

    /// The worst severity among the findings.
    #[must_use]
    pub fn worst_finding(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }
}

/// The check whose findings are the list of losses over again; programs read them in JSON.
const RESTATES: &str = "rehearsal_lost";

/// Whether a finding says more than the list of what is lost.
pub(super) fn is_cause(finding: &Finding) -> bool {
    finding.check != RESTATES
}

/// An operation that loses something.
#[derive(Clone, Copy)]
pub struct Losing<'r> {
    /// By whom.
    pub rehearsal: &'r Rehearsal,
    /// On which way.
    pub way: &'r Way,
    /// The operation.
    pub operation: &'r Operation,
    /// Its worst outcome.
    pub outcome: &'r Outcome,
}

impl Losing<'_> {
    /// Whether its operation can end no worse.
    #[must_use]
    pub fn is_worst(&self) -> bool {
        self.operation.outcomes.first().is_some_and(|worst| std::ptr::eq(worst, self.outcome))
    }

    /// Actor, who made the release, way, operation with its flags.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{}, {}", self.way_label(), self.operation_label())
    }

    /// Actor, who made the release, way.
    #[must_use]
    pub fn way_label(&self) -> String {
        format!("{}, {}", who(self.rehearsal, self.way), self.way.name)
    }

    /// The operation with its flags.
    #[must_use]
    pub fn operation_label(&self) -> String {
        let flags: String = self.operation.flags.iter().map(|flag| format!(" {flag}")).collect();
        format!("{}{flags}", self.operation.title())
    }
}

/// Pairs gathered by their first half, in order of first appearance.
pub(super) fn grouped<K: PartialEq, V>(pairs: impl Iterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// Each item once, in order of first appearance.
pub(super) fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    grouped(items.map(|item| (item, ()))).into_iter().map(|(item, _)| item).collect()
}

/// An actor, and who made the release where that was another.
pub(super) fn who(rehearsal: &Rehearsal, way: &Way) -> String {
    if way.made_by.is_empty() || way.made_by == rehearsal.actor {
        return rehearsal.actor.clone();
    }
    format!("{} (release of {})", rehearsal.actor, way.made_by)
}

fn hide_contents(evidence: &mut Evidence) {
    if let Evidence::Change { path, before, after } = evidence {
        [before, after].into_iter().flatten().for_each(|value| hide_at(path, value));
    }
}

fn redact(finding: &mut Finding, redactor: &Redactor) {
    let texts = finding.advice.iter_mut().chain(&mut finding.condition).chain([&mut finding.message]);
    texts.for_each(|text| redactor.lines(text));
    for evidence in &mut finding.evidence {
        match evidence {
            Evidence::Answer { request, message, .. } if request.contains("/secrets") => {
                redactor.on_secret(message);
            }
            Evidence::State { object, detail } if object.kind == "Secret" => redactor.on_secret(detail),
            Evidence::Answer { message: text, .. } | Evidence::State { detail: text, .. } => {
                redactor.lines(text);
            }
            Evidence::Change { before, after, .. } => {
                [before, after].into_iter().flatten().for_each(|value| redactor.value(value));
            }
            Evidence::Render(_) | Evidence::Figure { .. } => {}
        }
    }
}

/// `CustomResourceDefinition ×3, TrainJob ×8`: lost objects counted by kind, in the order of kinds.
#[must_use]
pub fn by_kind(objects: &[ObjectName]) -> String {
    let mut counts = std::collections::BTreeMap::new();
    for object in objects {
        *counts.entry(object.kind.as_str()).or_insert(0_usize) += 1;
    }
    let parts: Vec<String> = counts.into_iter().map(|(kind, n)| format!("{kind} ×{n}")).collect();
    parts.join(", ")
}
