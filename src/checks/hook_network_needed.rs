//! Hooks that fetch programs while they run.

use super::context::hook_place;
use super::{Context, Findings};
use crate::finding::Severity;

declare_check! {
    /// A hook installs or downloads something while it runs.
    ///
    /// ## What breaks
    /// In a cluster without egress, behind a proxy or with a default-deny network policy the hook fails, and with it the
    /// upgrade: everything of the chart is applied, what left the manifest is deleted, and the release is `failed`. With
    /// `--atomic` or `--rollback-on-failure` the rollback that follows may delete CRDs.
    ///
    /// ## What to do
    /// Use an image that already has the program, or run the upgrade with `--no-hooks` and do the hook's work by hand.
    ///
    /// ## Example
    /// ```yaml before
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/job.yaml
    /// apiVersion: batch/v1
    /// kind: Job
    /// metadata:
    ///   name: demo-setup
    ///   annotations:
    ///     helm.sh/hook: post-install,post-upgrade
    /// spec:
    ///   activeDeadlineSeconds: 120
    ///   template:
    ///     spec:
    ///       restartPolicy: Never
    ///       containers:
    ///       - name: c
    ///         image: alpine:3.21
    ///         command: [sh, -c, "apk add kubectl \u0026\u0026 kubectl get nodes"]
    /// ```
    /// ```text finding
    /// risks: hook Job demo-setup needs the network: apk add
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
    /// # Source: demo/templates/job.yaml
    /// apiVersion: batch/v1
    /// kind: Job
    /// metadata:
    ///   name: demo-setup
    ///   annotations:
    ///     helm.sh/hook: post-install,post-upgrade
    /// spec:
    ///   activeDeadlineSeconds: 120
    ///   template:
    ///     spec:
    ///       restartPolicy: Never
    ///       containers:
    ///       - name: c
    ///         image: alpine:3.21
    ///         command: [sh, -c, "kubectl get nodes"]
    /// ```
    severity: Risks
}

/// Commands that fetch: the word, then what must follow it.
const FETCHES: &[(&str, &[&str])] = &[
    ("apk", &["add", "update", "upgrade"]),
    ("apt", &["install", "update"]),
    ("apt-get", &["install", "update"]),
    ("curl", &[]),
    ("dnf", &["install"]),
    ("git", &["clone", "fetch", "pull"]),
    ("go", &["install", "get"]),
    ("helm", &["pull", "repo"]),
    ("microdnf", &["install"]),
    ("npm", &["install", "ci"]),
    ("pip", &["install"]),
    ("pip3", &["install"]),
    ("wget", &[]),
    ("yum", &["install"]),
];

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    for hook in &context.facts_after.hooks {
        let fetches: Vec<String> = hook.commands.iter().flat_map(|command| fetches(command)).collect();
        if !fetches.is_empty() {
            let message = format!(
                "hook {} {} needs the network: {}",
                hook.object.kind,
                hook.object.name,
                fetches.join(", ")
            );
            findings
                .say(Severity::Risks, message, hook_place(hook))
                .about(&hook.object)
                .when("the cluster has no way out, or the mirror does not answer")
                .advise("try the hook's pod in the release's namespace first, or upgrade with --no-hooks and do its work by hand");
        }
    }
}

/// Words before a program in a command line.
const LEADING: &[&str] =
    &["sh", "bash", "ash", "dash", "exec", "sudo", "then", "do", "else", "if", "while", "!", "{", "("];

/// Whether a word stands before the program: the shell itself, flags, assignments, keywords.
fn leads(word: &str) -> bool {
    let program = word.rsplit('/').next().unwrap_or(word);
    word.starts_with('-') || word.contains('=') || LEADING.contains(&program)
}

fn fetches(script: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for command in script.lines().flat_map(|line| line.split([';', '|', '&'])) {
        let mut words = command.split_whitespace().skip_while(|word| leads(word));
        let (Some(program), second) = (words.next(), words.find(|word| !word.starts_with('-'))) else {
            continue;
        };
        let program = program.rsplit('/').next().unwrap_or(program);
        let fetch = FETCHES.iter().find(|(name, verbs)| {
            *name == program && (verbs.is_empty() || second.is_some_and(|verb| verbs.contains(&verb)))
        });
        if let Some((name, verbs)) = fetch {
            let text = if verbs.is_empty() {
                (*name).to_owned()
            } else {
                format!("{name} {}", second.unwrap_or(""))
            };
            if !found.contains(&text) {
                found.push(text);
            }
        }
    }
    found
}
