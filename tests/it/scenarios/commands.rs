//! The commands of a record against the steps of its scenario: exit codes, error texts, and what kubectl printed.

use seatrial::upgrade::trace::Step;
use serde_json::Value;

use super::fates::same_text;

/// Words of command lines that change something.
const VERBS: &[&str] = &[
    "install",
    "upgrade",
    "rollback",
    "uninstall",
    "apply",
    "create",
    "annotate",
    "label",
    "patch",
    "delete",
];

/// Longest error text that records keep, in characters from its end.
const KEPT: usize = 6000;

/// The verb of a recorded command; `None` for those that only look.
fn verb(command: &Value) -> Option<&'static str> {
    let line = command["cmd"].as_str().unwrap_or("");
    let words: Vec<&str> = line.split(' ').filter(|word| !word.starts_with('-')).collect();
    let reads = ["get", "history", "status"].iter().any(|word| words.contains(word));
    if reads || line.contains("--dry-run") {
        return None;
    }
    VERBS.iter().find(|verb| words.contains(*verb)).copied()
}

/// Whether a step does what a recorded command did: the same verb, and for single objects the same names.
fn fits(step: &Step, command: &Value) -> bool {
    let line = command["cmd"].as_str().unwrap_or("");
    // The names stand behind the kind.
    let words = step.command.split(' ').filter(|word| *word != "--overwrite").skip(3);
    let mut names = words.take_while(|word| !word.starts_with('-') && !word.contains('='));
    let forced = |line: &str| line.contains("--force-conflicts");
    let same_flags = step.operation != "apply" || forced(&step.command) == forced(line);
    let single = matches!(step.operation.as_str(), "label" | "patch" | "delete");
    verb(command) == Some(step.operation.as_str())
        && same_flags
        && (!single || line.contains(" -l ") || names.all(|name| line.contains(name)))
}

/// Steps and the commands they stand for: as many as fit in their order. Commands may have no step where they only led
/// to the start; the record's own has one.
pub(super) fn paired<'r>(record: &'r Value, steps: &[Step]) -> Result<Vec<(usize, &'r Value)>, String> {
    let commands = record["commands"].as_array().map(Vec::as_slice).unwrap_or_default();
    let commands: Vec<&Value> = commands.iter().filter(|command| verb(command).is_some()).collect();
    let pairs = longest(steps, &commands);
    let own = |command: &&Value| command["cmd"] == record["command"];
    if commands.iter().any(own) && !pairs.iter().any(|(_, command)| own(command)) {
        return Err(format!("no step stands for {}", record["command"]));
    }
    Ok(pairs)
}

/// The longest common course of steps and commands; of several the last.
fn longest<'r>(steps: &[Step], commands: &[&'r Value]) -> Vec<(usize, &'r Value)> {
    let mut best: Vec<Vec<Vec<(usize, &Value)>>> =
        vec![vec![Vec::new(); commands.len() + 1]; steps.len() + 1];
    for (s, step) in steps.iter().enumerate() {
        for (c, command) in commands.iter().copied().enumerate() {
            let mut options = vec![best[s][c + 1].clone(), best[s + 1][c].clone()];
            if fits(step, command) {
                let mut with = best[s][c].clone();
                with.push((s, command));
                options.push(with);
            }
            best[s + 1][c + 1] = options.into_iter().max_by_key(Vec::len).unwrap();
        }
    }
    best.pop().and_then(|mut row| row.pop()).unwrap()
}

/// Helm tells the time when all went well; kubectl tells what it did.
fn same_output(step: &Step, command: &Value) -> bool {
    step.actor != "kubectl"
        || command["stdout"].as_str().is_none_or(|stdout| cut(stdout) == cut(&step.stdout))
}

/// Records of long outputs keep the end.
fn cut(text: &str) -> &str {
    let from = text.char_indices().rev().nth(KEPT - 1).map_or(0, |(at, _)| at);
    &text[from..]
}

/// What differs between one step and the command that was recorded.
pub(super) fn compare(step: &Step, command: &Value) -> Vec<String> {
    let mut complaints = Vec::new();
    let line = &step.command;
    if command["rc"].as_i64() != Some(i64::from(step.exit_code)) {
        let (rc, found) = (&command["rc"], step.exit_code);
        complaints.push(format!("{line}: rc {rc} expected, {found} found: {}", step.stderr.trim_end()));
    }
    let expected = command["stderr"].as_str().unwrap_or("");
    let found = if expected.chars().count() == KEPT { cut(&step.stderr) } else { &step.stderr };
    if !same_text(expected, found) {
        complaints.push(format!("{line}: stderr\n  - {expected}\n  + {found}"));
    }
    if !same_output(step, command) {
        complaints.push(format!("{line}: stdout\n  - {}\n  + {}", command["stdout"], step.stdout));
    }
    complaints
}
