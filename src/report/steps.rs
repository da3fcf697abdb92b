//! The numbered commands of a way; what an earlier way said already is not said again.

use crate::upgrade::outcome::Start;
use crate::upgrade::population::NAMESPACE;
use crate::upgrade::specimen::SPECIMEN;

/// A command, and whether it names objects that only the built-in population has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    text: String,
    is_example: bool,
}

impl Command {
    pub(super) fn of(text: &str, start: &Start) -> Self {
        let mut words = text.split(|c: char| c.is_whitespace() || c == '=');
        let named = words.any(|word| word == NAMESPACE || word == SPECIMEN);
        let is_example = *start == Start::BuiltIn && text.starts_with("kubectl ") && named;
        Self { text: text.to_owned(), is_example }
    }
}

/// One command with its number, or a run of them that somebody else was told before.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Number of the first, from one on.
    pub(super) first: usize,
    /// Number of the last.
    pub(super) last: usize,
    /// The command; empty where it was told before.
    pub(super) command: String,
    /// What is to be known of it; empty where there is nothing.
    pub(super) note: String,
}

/// What is said of objects that no user has.
const EXAMPLE: &str = "names of the example population; yours differ";

impl Step {
    /// `2.`, or `1. to 3.`
    pub(super) fn number(&self) -> String {
        if self.first == self.last {
            format!("{}.", self.first)
        } else {
            format!("{}. to {}.", self.first, self.last)
        }
    }

    /// The step in the words of a shell: the number is a comment.
    pub(super) fn shell(&self) -> String {
        let note = match (self.note.is_empty(), self.command.is_empty()) {
            (true, _) => String::new(),
            (false, true) => format!(" {}", self.note),
            (false, false) => format!(" ({})", self.note),
        };
        let head = format!("# {}{note}", self.number());
        if self.command.is_empty() { head } else { format!("{head}\n{}", self.command) }
    }
}

/// Numbers commands; those that one of `told` has at the same place are named by whom they were told. No run goes over
/// the first `before` commands, which the upgrade ends.
pub(super) fn steps(commands: &[Command], before: usize, told: &[(String, Vec<Command>)]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (n, command) in commands.iter().enumerate() {
        let number = n + 1;
        let earlier = told.iter().find(|(_, known)| known.get(n) == Some(command));
        let Some((who, _)) = earlier else {
            let note = if command.is_example { EXAMPLE } else { "" };
            let (command, note) = (command.text.clone(), note.to_owned());
            steps.push(Step { first: number, last: number, command, note });
            continue;
        };
        let note = format!("as for {who}");
        match steps.last_mut() {
            Some(run) if run.command.is_empty() && run.note == note && n != before => run.last = number,
            _ => steps.push(Step { first: number, last: number, command: String::new(), note }),
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(texts: &[&str]) -> Vec<Command> {
        texts.iter().map(|text| Command::of(text, &Start::BuiltIn)).collect()
    }

    #[test]
    fn what_was_told_before_is_named_by_whom() {
        let told = [("helm3".to_owned(), commands(&["a", "b", "helm upgrade", "c"]))];
        let found = steps(&commands(&["a", "b", "helm upgrade --force-conflicts", "c"]), 3, &told);
        let shown: Vec<String> = found.iter().map(Step::shell).collect();
        assert_eq!(
            shown,
            ["# 1. to 2. as for helm3", "# 3.\nhelm upgrade --force-conflicts", "# 4. as for helm3"]
        );
        let same = steps(&told[0].1, 3, &told);
        assert_eq!(same.iter().map(Step::number).collect::<Vec<_>>(), ["1. to 3.", "4."]);
    }

    #[test]
    fn names_of_the_built_in_population_are_marked_and_those_of_users_are_not() {
        let text = format!("kubectl delete jobset blue -n {NAMESPACE}");
        let example = steps(&[Command::of(&text, &Start::BuiltIn)], 1, &[]);
        assert_eq!(example[0].shell(), format!("# 1. ({EXAMPLE})\n{text}"));
        let own = steps(&[Command::of(&text, &Start::State("s.yaml".into()))], 1, &[]);
        assert_eq!(own[0].note, "");
        assert_eq!(steps(&commands(&["helm upgrade team -n a"]), 1, &[])[0].note, "");
    }
}
