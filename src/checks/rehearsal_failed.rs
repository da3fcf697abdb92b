//! Errors that a rehearsal met in the natural course of things.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Context, Findings};
use crate::cluster::Exchange;
use crate::finding::{Evidence, ObjectName, Severity};
use crate::k8s;
use crate::upgrade::inventory::Item;
use crate::upgrade::outcome::{Operation, Origin, Outcome, Rehearsal, Way};
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
pub(super) const UNDOING: &[&str] = &["--atomic", "--rollback-on-failure"];

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    let mut told = BTreeSet::new();
    for rehearsal in context.scene.rehearsals {
        for origin in rehearsal.origins.iter().filter(|origin| origin.reached) {
            say_detour(context, origin, findings);
        }
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
        operation.title(),
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

/// The old chart's install fails, and an upgrade of the failed release made what the rehearsal begins with.
fn say_detour(context: &Context<'_>, origin: &Origin, findings: &mut Findings) {
    let error = gist_of(&origin.error);
    let maker = &origin.made_by;
    let message = format!(
        "{maker} can't install the old chart in one step: its releases of it were made by an upgrade after a failed install: {error}"
    );
    let detail = format!("{maker} install: {error}");
    findings
        .say(Severity::Notes, message, Evidence::State { object: subject(context, &[]), detail })
        .during(&["install"]);
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

/// The error after `Error: `, on one line.
pub(super) fn gist(step: &Step) -> String {
    gist_of(&step.stderr)
}

fn gist_of(stderr: &str) -> String {
    let text = stderr.trim();
    let text = text.rfind("Error: ").map_or(text, |at| &text[at + "Error: ".len()..]);
    shortened(text, GIST)
}

/// A text on one line, cut behind its last whole word within a number of characters.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        length += word.chars().count() + 1;
        if length > most {
            line.push_str(" …");
            break;
        }
        line.push_str(if line.is_empty() { "" } else { " " });
        line.push_str(word);
    }
    line
}

/// The refused request whose answer the command repeats; else the error itself.
pub(super) fn evidence(context: &Context<'_>, step: &Step, objects: &[ObjectName]) -> Evidence {
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
pub(super) fn objects(context: &Context<'_>, step: &Step) -> Vec<ObjectName> {
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

/// Whether an error names an object: it has its kind (or resource), and its name in quotes (`jobs.batch "name"`), at the
/// end of a path (`Job/ns/name`) or as Helm's wait says it (`job name failed: …`). A name that stands bare may be any word.
fn names(text: &str, name: &ObjectName) -> bool {
    let (lower, kind) = (text.to_lowercase(), name.kind.to_lowercase());
    let told = |at: usize| {
        let (before, after) = (&text[..at], &text[at + name.name.len()..]);
        quoted(before, after, &kind) || ends_path(before, after, &kind) || fails(before, after, &kind)
    };
    !name.name.is_empty()
        && lower.contains(&kind)
        && text.match_indices(name.name.as_str()).any(|(at, _)| told(at))
}

fn quoted(before: &str, after: &str, kind: &str) -> bool {
    let mark = before.chars().next_back().filter(|c| matches!(c, '"' | '\'' | '`'));
    let Some(phrase) = mark.filter(|&mark| after.starts_with(mark)).map(|_| &before[..before.len() - 1])
    else {
        return false;
    };
    let phrase = phrase.trim_end().to_lowercase();
    // A namespace is quoted as the place of something else, or as the value of an annotation.
    let word = phrase.rsplit(char::is_whitespace).next().unwrap_or("");
    let place = ["in namespace", "in the namespace"].iter().any(|place| phrase.ends_with(place));
    !place && (kind != "namespace" || matches!(word, "namespace" | "namespaces"))
}

fn ends_path(before: &str, after: &str, kind: &str) -> bool {
    let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '/' | '_');
    let parent = before.strip_suffix('/').unwrap_or("").to_lowercase();
    // The dot may end a sentence.
    let dotted = after.strip_prefix('.').is_some_and(|rest| rest.starts_with(in_name));
    let whole = before.ends_with('/') && !after.starts_with(in_name) && !dotted;
    whole && (kind != "namespace" || parent.ends_with("namespace") || parent.ends_with("namespaces"))
}

fn fails(before: &str, after: &str, kind: &str) -> bool {
    let says = before.to_lowercase().strip_suffix(' ').is_some_and(|phrase| {
        let rest = phrase.strip_suffix(kind);
        rest.is_some_and(|rest| !rest.ends_with(|c: char| c.is_ascii_alphanumeric()))
    });
    says && after.starts_with(" failed")
}

fn refuses(item: &Item, text: &str) -> bool {
    let hooks = item.object.get("webhooks").and_then(Value::as_array).into_iter().flatten();
    let quoted = |hook: &Value| text.contains(&format!("webhook \"{}\"", k8s::text(hook, "/name")));
    item.name.kind.ends_with("WebhookConfiguration") && hooks.into_iter().any(quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(kind: &str, name: &str) -> ObjectName {
        ObjectName { kind: kind.into(), namespace: String::new(), name: name.into() }
    }

    #[test]
    fn an_error_names_whole_words_only() {
        let text = r#"jobs.batch "mig-schema" already exists"#;
        assert!(names(text, &name("Job", "mig-schema")));
        assert!(!names(text, &name("Job", "mig")));
        assert!(!names(text, &name("Service", "mig-schema")));
    }

    #[test]
    fn an_error_names_in_quotes_at_the_end_of_a_path_or_as_the_wait_does() {
        assert!(names("resource Job/ns/mig not ready. status: InProgress", &name("Job", "mig")));
        assert!(names("job mig failed: BackoffLimitExceeded", &name("Job", "mig")));
        assert!(names("DELETE /api/v1/namespaces/team-a", &name("Namespace", "team-a")));
        assert!(names(r#"namespaces "team-a" not found"#, &name("Namespace", "team-a")));
        assert!(names(r#"no Widget with the name "blue" found"#, &name("Widget", "blue")));
    }

    #[test]
    fn words_of_an_error_are_no_names() {
        let text = "UPGRADE FAILED: post-upgrade hooks failed: job failed: BackoffLimitExceeded";
        assert!(!names(text, &name("Job", "failed")));
        assert!(!names(text, &name("Job", "hooks")));
        assert!(!names("job failed to start", &name("Job", "failed")));
        assert!(!names("jobs in Job/team-a/plain.v1 and more", &name("Job", "plain")));
    }

    #[test]
    fn a_place_is_not_named() {
        let text = r#"Service "web" in namespace "shop" exists and cannot be imported: annotation "release-namespace" must equal "shop""#;
        assert!(names(text, &name("Service", "web")));
        assert!(!names(text, &name("Namespace", "shop")));
        assert!(!names("GET /api/v1/namespaces/shop/services/web", &name("Namespace", "shop")));
    }

    #[test]
    fn a_long_error_is_cut_behind_a_word() {
        assert_eq!(shortened("one\n\ttwo three", 20), "one two three");
        assert_eq!(shortened("one\n\ttwo three", 10), "one two …");
    }
}
