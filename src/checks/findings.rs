//! What the checks have said so far, and which changes they have explained.

use std::collections::BTreeSet;

use crate::finding::{Evidence, Finding, ObjectName, Severity};

/// The list of findings and of explained changes.
#[derive(Default)]
pub struct Findings {
    check: &'static str,
    list: Vec<Finding>,
    claimed: BTreeSet<(ObjectName, String)>,
}

impl Findings {
    /// For what one check says.
    pub(super) fn of(check: &'static str) -> Self {
        Self { check, ..Self::default() }
    }

    /// Takes in what another check has said.
    pub(super) fn with(mut self, other: Self) -> Self {
        self.list.extend(other.list);
        self.claimed.extend(other.claimed);
        self
    }

    /// Says something; without evidence nothing can be said.
    pub fn say(&mut self, severity: Severity, message: impl Into<String>, evidence: Evidence) -> Said<'_> {
        self.list.push(Finding {
            check: self.check,
            severity,
            message: message.into(),
            objects: Vec::new(),
            evidence: vec![evidence],
            advice: Vec::new(),
            operations: Vec::new(),
            condition: None,
        });
        let last = self.list.len() - 1;
        Said { finding: &mut self.list[last] }
    }

    /// Notes that a field of an object (or, with an empty path, the whole object) is explained by this check.
    pub fn claim(&mut self, object: &ObjectName, path: &str) {
        self.claimed.insert((object.clone(), path.to_owned()));
    }

    /// Whether a change was explained.
    #[must_use]
    pub fn is_claimed(&self, object: &ObjectName, path: &str) -> bool {
        self.claimed
            .range((object.clone(), String::new())..)
            .take_while(|(claimed, _)| claimed == object)
            .any(|(_, claimed)| path.starts_with(claimed.as_str()))
    }

    /// The findings, worst first, then by check and message.
    pub(super) fn into_sorted(mut self) -> Vec<Finding> {
        self.list.sort_by(|a, b| {
            b.severity.cmp(&a.severity).then_with(|| (a.check, &a.message).cmp(&(b.check, &b.message)))
        });
        self.list
    }
}

/// A finding just said, to be completed.
pub struct Said<'f> {
    finding: &'f mut Finding,
}

impl Said<'_> {
    /// About this object.
    pub fn about(self, object: &ObjectName) -> Self {
        if !self.finding.objects.contains(object) {
            self.finding.objects.push(object.clone());
        }
        self
    }

    /// About these objects.
    pub fn about_all<'o>(self, objects: impl IntoIterator<Item = &'o ObjectName>) -> Self {
        objects.into_iter().fold(self, Self::about)
    }

    /// Backed by this too.
    pub fn because(self, evidence: Evidence) -> Self {
        self.finding.evidence.push(evidence);
        self
    }

    /// What to do.
    pub fn advise(self, advice: impl Into<String>) -> Self {
        self.finding.advice.push(advice.into());
        self
    }

    /// Concerns these operations only.
    pub fn during(self, operations: &[&'static str]) -> Self {
        self.finding.operations.extend_from_slice(operations);
        self
    }

    /// Holds under this condition.
    pub fn when(self, condition: impl Into<String>) -> Self {
        self.finding.condition = Some(condition.into());
        self
    }
}
