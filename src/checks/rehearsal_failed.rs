//! Errors that a rehearsal met in the natural course of things.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Context, Findings};
use crate::cluster::Exchange;
use crate::finding::{Evidence, ObjectName, Severity};
use crate::k8s;
use crate::upgrade::inventory::Item;
use crate::upgrade::outcome::{Operation, Outcome, Rehearsal, Way};
use crate::upgrade::rehearse::is_natural;
use crate::upgrade::trace::Step;

declare_check! {
    /// A rehearsed install, upgrade or uninstall ends with an error although nothing outside goes wrong.
    ///
    /// ## What breaks
    /// The command was run, request by request, against an API server with the controllers and webhooks that are known, no
    /// hook was made to fail and no image was withheld, and it still ended with the error quoted. Where it had written
    /// objects before, they stay written: the release is `failed`, half old and half new.
    ///
    /// ## What to do
    /// Read the error and the objects it names; other findings may say what stands behind it. The table of ways shows which
    /// command gets through.
    ///
    /// ## References
    /// - The trace in `-o json` and `-o html` has every request and answer that led there.
    severity: Breaks
}

/// Operations that are meant to go through.
const FORWARD: &[&str] = &["install", "upgrade", "upgrade again", "uninstall"];

/// Flags with which a failed upgrade undoes itself: it is tried with failures only.
const UNDOING: &[&str] = &["--atomic", "--rollback-on-failure"];

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    let mut told = BTreeSet::new();
    for rehearsal in context.scene.rehearsals {
        for way in &rehearsal.ways {
            for operation in way.operations.iter().filter(|operation| is_forward(operation)) {
                let Some(step) = failed(operation) else { continue };
                if told.insert((rehearsal.actor.clone(), operation.name.clone(), step.stderr.clone())) {
                    say(context, (rehearsal, way, operation), step, findings);
                }
            }
        }
    }
}

fn is_forward(operation: &Operation) -> bool {
    let undoes = operation.flags.iter().any(|flag| UNDOING.contains(&flag.as_str()));
    FORWARD.contains(&operation.name.as_str()) && !undoes
}

fn failed(operation: &Operation) -> Option<&Step> {
    let natural = |outcome: &&Outcome| {
        is_natural(&outcome.condition) || outcome.also.iter().any(|condition| is_natural(condition))
    };
    let steps = operation.outcomes.iter().filter(natural).filter_map(|outcome| outcome.steps.last());
    steps.into_iter().find(|step| step.exit_code != 0)
}

fn say(
    context: &Context<'_>,
    (rehearsal, way, operation): (&Rehearsal, &Way, &Operation),
    step: &Step,
    findings: &mut Findings,
) {
    let message = format!(
        "{} of {} ({}) ends with an error: {}",
        operation.name,
        rehearsal.actor,
        way.name,
        gist(step)
    );
    let objects = objects(context, step);
    findings
        .say(Severity::Breaks, message, evidence(context, step, &objects))
        .about_all(&objects)
        .during(word(&operation.name));
}

fn word(operation: &str) -> &'static [&'static str] {
    match operation {
        "install" => &["install"],
        "uninstall" => &["uninstall"],
        _ => &["upgrade"],
    }
}

/// Most characters of an error in a message; the trace has all of it.
const GIST: usize = 400;

fn gist(step: &Step) -> String {
    let text = step.stderr.trim();
    let text = text.rfind("Error: ").map_or(text, |at| &text[at + "Error: ".len()..]);
    let short: String = text.chars().take(GIST).collect();
    let lines: Vec<&str> = short.split_whitespace().collect();
    lines.join(" ")
}

/// The refused request whose answer the command repeats; else the error itself.
fn evidence(context: &Context<'_>, step: &Step, objects: &[ObjectName]) -> Evidence {
    let refused = |exchange: &&Exchange| exchange.status >= 400 && !exchange.message.is_empty();
    let quoted = |exchange: &&Exchange| step.stderr.contains(exchange.message.lines().next().unwrap_or(""));
    match step.exchanges.iter().filter(refused).find(quoted) {
        Some(exchange) => Evidence::Answer {
            request: exchange.request.clone(),
            status: exchange.status,
            message: exchange.message.clone(),
        },
        None => Evidence::State { object: subject(context, objects), detail: gist(step) },
    }
}

fn subject(context: &Context<'_>, objects: &[ObjectName]) -> ObjectName {
    objects.first().cloned().unwrap_or_else(|| ObjectName {
        kind: "Release".to_owned(),
        namespace: context.scene.namespace.to_owned(),
        name: context.scene.release.to_owned(),
    })
}

/// Objects that the error names, and the webhooks that it quotes.
fn objects(context: &Context<'_>, step: &Step) -> Vec<ObjectName> {
    let items = || context.before.iter().chain(&context.after);
    let mut named: BTreeSet<ObjectName> =
        items().map(|item| &item.name).filter(|name| names(&step.stderr, name)).cloned().collect();
    named.extend(
        step.events.iter().map(|event| &event.object).filter(|name| names(&step.stderr, name)).cloned(),
    );
    named.extend(items().filter(|item| refuses(item, &step.stderr)).map(|item| item.name.clone()));
    // A chart leaves the namespace out where the cluster has it.
    let placed: BTreeSet<(String, String)> = named
        .iter()
        .filter(|name| !name.namespace.is_empty())
        .map(|name| (name.kind.clone(), name.name.clone()))
        .collect();
    named.retain(|name| {
        !name.namespace.is_empty() || !placed.contains(&(name.kind.clone(), name.name.clone()))
    });
    named.into_iter().collect()
}

/// Whether an error names an object: its kind (or resource) and its name as a word.
fn names(text: &str, name: &ObjectName) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    let word = |at: usize| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.name.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    };
    let lower = text.to_lowercase();
    !name.name.is_empty()
        && lower.contains(&name.kind.to_lowercase())
        && text.match_indices(name.name.as_str()).any(|(at, _)| word(at))
}

fn refuses(item: &Item, text: &str) -> bool {
    let hooks = item.object.get("webhooks").and_then(Value::as_array).into_iter().flatten();
    let quoted = |hook: &Value| text.contains(&format!("webhook \"{}\"", k8s::text(hook, "/name")));
    item.name.kind.ends_with("WebhookConfiguration") && hooks.into_iter().any(quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_whole_words_only() {
        let name = |kind: &str, name: &str| ObjectName {
            kind: kind.into(),
            namespace: String::new(),
            name: name.into(),
        };
        let text = r#"jobs.batch "mig-schema" already exists"#;
        assert!(names(text, &name("Job", "mig-schema")));
        assert!(!names(text, &name("Job", "mig")));
        assert!(!names(text, &name("Service", "mig-schema")));
    }
}
