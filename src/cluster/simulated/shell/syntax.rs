//! Syntax tree of a shell script (POSIX Shell Command Language, with `[[` and `function` of bash).

use std::sync::Arc;

/// Commands in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct List {
    /// And-or lists; the flag says whether one runs in the background.
    pub(super) items: Vec<(AndOr, bool)>,
}

/// Pipelines joined by `&&` and `||`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AndOr {
    /// The first pipeline.
    pub(super) first: Pipeline,
    /// The others, each with whether it runs on success (`&&`) of what came before.
    pub(super) rest: Vec<(bool, Pipeline)>,
}

/// Commands joined by `|`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pipeline {
    /// Whether `!` turns the status around.
    pub(super) negated: bool,
    /// The commands.
    pub(super) commands: Vec<Command>,
}

/// One command with its redirections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// What is run.
    pub(super) kind: Kind,
    /// Redirections, in order.
    pub(super) redirects: Vec<Redirect>,
    /// Line of the script, counted from 1.
    pub(super) line: usize,
}

/// The forms of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Assignments and words.
    Simple {
        /// `name=value` before the first word.
        assignments: Vec<(String, Word)>,
        /// Program and arguments.
        words: Vec<Word>,
    },
    /// `{ …; }`
    Group(List),
    /// `( … )`
    Subshell(List),
    /// `if … then … elif … else … fi`
    If {
        /// Conditions and what they guard.
        branches: Vec<(List, List)>,
        /// `else`.
        otherwise: Option<List>,
    },
    /// `for name in words; do …; done`
    For {
        /// The loop variable.
        name: String,
        /// The words; `None` stands for `"$@"`.
        words: Option<Vec<Word>>,
        /// The body.
        body: List,
    },
    /// `while` and `until`.
    While {
        /// Whether it is `until`.
        until: bool,
        /// The condition.
        condition: List,
        /// The body.
        body: List,
    },
    /// `case word in pattern) …;; esac`
    Case {
        /// What is matched.
        word: Word,
        /// Patterns and what they guard.
        arms: Vec<(Vec<Word>, List)>,
    },
    /// `name() …`
    Function {
        /// The function's name.
        name: String,
        /// Its body.
        body: Arc<Command>,
    },
}

/// One redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Redirect {
    /// The file descriptor.
    pub(super) descriptor: u32,
    /// Where it goes.
    pub(super) target: Target,
}

/// Where a redirection leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// `< file`
    Read(Word),
    /// `> file`
    Write(Word),
    /// `>> file`
    Append(Word),
    /// `>&n` or `<&n`; `-` closes.
    Duplicate(Word),
    /// Text of a here-document or here-string.
    Text(Word),
}

/// A word before expansion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// Its parts, joined without blanks.
    pub(super) parts: Vec<Part>,
}

impl Word {
    /// The text of a word that consists of unquoted text alone.
    pub(super) fn plain(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Unquoted text: patterns are active.
    Text(String),
    /// Quoted text.
    Quoted(String),
    /// `"…"`
    Double(Vec<Part>),
    /// `$name`, `${name…}`
    Parameter(Box<Parameter>),
    /// `$(…)` or a pair of backticks.
    Substitution(Arc<List>),
    /// `$((…))`
    Arithmetic(Vec<Part>),
}

/// A parameter expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parameter {
    /// Name, digit or special character.
    pub(super) name: String,
    /// `${#name}`
    pub(super) length: bool,
    /// The operator with its word.
    pub(super) operator: Option<(Operator, Word)>,
}

/// Operators inside `${…}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// `-`, and `:-` when `empty` counts as unset.
    Default {
        /// Whether an empty value counts as unset.
        empty: bool,
    },
    /// `=`, `:=`
    Assign {
        /// Whether an empty value counts as unset.
        empty: bool,
    },
    /// `?`, `:?`
    Require {
        /// Whether an empty value counts as unset.
        empty: bool,
    },
    /// `+`, `:+`
    Alternative {
        /// Whether an empty value counts as unset.
        empty: bool,
    },
    /// `#`, `##`
    CutPrefix {
        /// Whether the longest match is cut.
        longest: bool,
    },
    /// `%`, `%%`
    CutSuffix {
        /// Whether the longest match is cut.
        longest: bool,
    },
}
