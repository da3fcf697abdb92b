//! Findings that differ in the names of their objects only, told as one.

use crate::finding::{Finding, ObjectName};
use crate::report::model::{distinct, grouped};

/// Stands for the name of what a finding is about; no text that is shown has it.
const NAME: char = '\0';

/// What one or several findings say, with the names of all that they say it of.
pub(super) struct Told<'f> {
    /// The message.
    pub(super) message: String,
    /// The findings.
    pub(super) findings: Vec<&'f Finding>,
}

/// Findings whose messages and conditions differ in the name of their first object only as one each. Messages are cut
/// behind a word where they have more than `longest` characters besides that name.
pub(super) fn told<'f>(findings: &[&'f Finding], longest: usize) -> Vec<Told<'f>> {
    let said = findings.iter().map(|finding| {
        let (message, subject) = nameless(finding);
        ((cut(&message, longest), finding.condition.as_deref()), (subject, *finding))
    });
    let told = grouped(said).into_iter().map(|((message, _), said)| {
        let (subjects, findings): (Vec<Subject<'_>>, Vec<&Finding>) = said.into_iter().unzip();
        Told { message: message.replacen(NAME, &listed(&subjects), 1), findings }
    });
    told.collect()
}

/// An object as a message names it: its kind, where that stands before the name, and the name.
type Subject<'f> = (&'f str, String);

/// A message without the first name in it, and that name.
fn nameless(finding: &Finding) -> (String, Subject<'_>) {
    let message = finding.message.replace(NAME, " ");
    let Some(object) = finding.objects.first() else { return (message, ("", String::new())) };
    let ObjectName { kind, namespace, name } = object;
    let placed = format!("{namespace}/{name}");
    for form in [&placed, name] {
        for (kind, text) in [(kind.as_str(), format!("{kind} {form}")), ("", form.clone())] {
            if let Some(at) = word(&message, &text) {
                let rest = message.get(at + text.len()..).unwrap_or_default();
                return (format!("{}{NAME}{rest}", &message[..at]), (kind, form.clone()));
            }
        }
    }
    (message, ("", String::new()))
}

/// `Deployment a, b, Service c`: each once.
fn listed(subjects: &[Subject<'_>]) -> String {
    let kinds = grouped(subjects.iter().map(|(kind, name)| (*kind, name.as_str())));
    let kinds = kinds.into_iter().map(|(kind, names)| {
        format!("{kind} {}", distinct(names.into_iter()).join(", ")).trim_start().to_owned()
    });
    kinds.collect::<Vec<_>>().join(", ")
}

/// A text that ends behind a word where it is longer.
pub(super) fn cut(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let beginning: String = text.chars().take(longest).collect();
    format!("{} …", beginning.rsplit_once(' ').map_or(beginning.as_str(), |(words, _)| words))
}

/// A text about a finding without the names of the finding's objects.
pub(super) fn masked(finding: &Finding, text: &str) -> String {
    let mut text = text.to_owned();
    for object in &finding.objects {
        let mut masked = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(at) = word(rest, &object.name) {
            masked.push_str(&rest[..at]);
            masked.push(NAME);
            rest = rest.get(at + object.name.len()..).unwrap_or_default();
        }
        masked.push_str(rest);
        text = masked;
    }
    text
}

/// Where a name stands in a text, and not as a part of a word.
pub(super) fn word(text: &str, name: &str) -> Option<usize> {
    let joins = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let found = text.match_indices(name).find(|(at, _)| {
        !joins(text[..*at].chars().next_back()) && !joins(text[at + name.len()..].chars().next())
    });
    found.map(|(at, _)| at).filter(|_| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Evidence, Severity};

    fn finding(kind: &str, name: &str, message: &str) -> Finding {
        let object = ObjectName { kind: kind.into(), namespace: "n".into(), name: name.into() };
        Finding {
            check: "unexplained",
            severity: Severity::Notes,
            message: message.into(),
            evidence: vec![Evidence::State { object: object.clone(), detail: String::new() }],
            objects: vec![object],
            advice: Vec::new(),
            operations: Vec::new(),
            condition: None,
        }
    }

    fn messages(findings: &[Finding], longest: usize) -> Vec<String> {
        let findings: Vec<&Finding> = findings.iter().collect();
        told(&findings, longest).into_iter().map(|told| told.message).collect()
    }

    #[test]
    fn what_is_said_of_several_names_all_of_them() {
        let findings = [
            finding("Deployment", "a", "Deployment a changes: spec"),
            finding("Service", "c", "Service c changes: spec"),
            finding("Deployment", "b", "Deployment n/b changes: spec"),
            finding("Deployment", "d", "Deployment d changes: metadata"),
            finding("CustomResourceDefinition", "x", "CRD x moves"),
            finding("CustomResourceDefinition", "y", "CRD y moves"),
        ];
        let wanted = [
            "Deployment a, n/b, Service c changes: spec",
            "Deployment d changes: metadata",
            "CRD x, y moves",
        ];
        assert_eq!(messages(&findings, 100), wanted);
    }

    #[test]
    fn what_is_cut_off_names_its_object_all_the_same() {
        let long = |name: &str| format!("the field that a person wrote into {name} goes, and more of {name}");
        let findings = ["first", "second"].map(|name| finding("Widget", name, &long(name)));
        let whole = ["first", "second"].map(long);
        assert_eq!(messages(&findings, 100), whole);
        assert_eq!(messages(&findings, 45), ["the field that a person wrote into first, second goes, …"]);
    }

    #[test]
    fn names_are_masked_as_words_only() {
        let done = finding("TrainJob", "done", "");
        assert_eq!(masked(&done, "seed done-snapshot, abandoned"), "seed \0-snapshot, abandoned");
    }
}
